// SPDX-License-Identifier: Apache-2.0
#pragma once

// The schema has one row for each field of each options struct. Parsing, printing, OPTIONS files,
// validation and the dynamic-change rules all read the rows; a field without a row fails a test.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "varve/convenience.h"
#include "varve/status.h"

#include "util/options/option_text.h"
#include "util/options/option_types.h"

namespace varve {

// Says when an option may be set.
enum class OptionChange : uint8_t {
  kAtOpen,
  kDynamic,  // SetOptions or SetDBOptions may change it, too.
};

// Says what this engine makes of an option.
enum class OptionSupport : uint8_t {
  kHonoured,
  kAdvisory,     // A hint for a mechanism that this engine lacks: accepted, changes no result.
  kDefaultOnly,  // Anything but the default is NotSupported.
};

// The form of a field in an OPTIONS file.
enum class OptionFileForm : uint8_t {
  kPlain,     // RocksDB 7.8.3 knows the name.
  kExtended,  // RocksDB 7.8.3 lacks the name: written, if set, in a comment that only Varve reads.
  kNone,      // Not written.
};

// Everything that is known of one option: one row of a schema. Rows are made by MakeOptionRow and
// refined by the functions below, which return changed copies, so a whole schema is a constant:
//
//    VARVE_ROW(max_background_jobs, "flushes and compactions at once").Dynamic().AtLeast(1)
struct OptionRow {
  // Name of the field, as in options text and OPTIONS files.
  std::string_view name;
  // Returns how values of the field's type are parsed, printed and compared.
  const OptionType& (*type)();
  // Returns the address of the field in an object of the table's struct.
  void* (*field)(void* object);
  // Size and alignment of the field, by which a test finds fields without a row.
  size_t size;
  size_t alignment;
  // A short description for listings.
  std::string_view help;

  OptionChange change = OptionChange::kAtOpen;
  OptionSupport support = OptionSupport::kHonoured;
  OptionFileForm file = OptionFileForm::kPlain;
  std::string_view reason = {};  // The reason why it is advisory or refused.
  // The smallest and the largest value allowed; other numbers are InvalidArgument.
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  // A further check of the value, or null. `name` begins the message.
  Status (*check)(const std::string& name, const void* field) = nullptr;

  // Returns the row with the member changed.
  template <typename T>
  constexpr OptionRow With(T OptionRow::*member, T value) const {
    OptionRow row = *this;
    row.*member = value;
    return row;
  }
  constexpr OptionRow Dynamic() const { return With(&OptionRow::change, OptionChange::kDynamic); }
  constexpr OptionRow Advisory(std::string_view why) const {
    return With(&OptionRow::support, OptionSupport::kAdvisory).With(&OptionRow::reason, why);
  }
  constexpr OptionRow DefaultOnly(std::string_view why) const {
    return With(&OptionRow::support, OptionSupport::kDefaultOnly).With(&OptionRow::reason, why);
  }
  constexpr OptionRow Between(double low, double high) const {
    return AtLeast(low).With(&OptionRow::max, high);
  }
  constexpr OptionRow AtLeast(double low) const { return With(&OptionRow::min, low); }
  constexpr OptionRow Check(Status (*more)(const std::string& name, const void* field)) const {
    return With(&OptionRow::check, more);
  }
  constexpr OptionRow Extended() const { return With(&OptionRow::file, OptionFileForm::kExtended); }
  constexpr OptionRow NotInFile() const { return With(&OptionRow::file, OptionFileForm::kNone); }

  // Returns the address of the field in a constant object.
  const void* Field(const void* object) const { return field(const_cast<void*>(object)); }
  // True if values have a text form; objects that text cannot name have none.
  bool HasText() const { return type().print != nullptr; }
};

// Reasons why rows have no effect, for DefaultOnly and Advisory.
inline constexpr char kNoFeature[] = "this engine does not have it";
inline constexpr char kNoKnob[] = "this engine needs no such setting";

// A function for Check that checks directories of tables. The MANIFEST has two bits for the index
// of a table's directory.
inline constexpr size_t kTablePathsMax = 4;
Status CheckPaths(const std::string& name, const void* field);

// A function for Check that rejects a null pointer.
template <typename T>
Status NotNull(const std::string& name, const void* field) {
  if (*static_cast<const T*>(field) != nullptr) return Status::OK();
  return Status::InvalidArgument(name + ": nullptr");
}

template <auto Member>
struct MemberType;
template <typename C, typename T, T C::*Member>
struct MemberType<Member> {
  using type = T;
};

// Returns a row for `Member`, which is a member of Struct or of a base of it.
template <typename Struct, auto Member>
constexpr OptionRow MakeOptionRow(std::string_view name, std::string_view help) {
  using T = typename MemberType<Member>::type;
  return {
      .name = name,
      .type = &OptionTypeOf<T>,
      .field = [](void* object) -> void* { return &(static_cast<Struct*>(object)->*Member); },
      .size = sizeof(T),
      .alignment = alignof(T),
      .help = help,
  };
}

// The rows of one struct. Immutable, and never destroyed.
class OptionTable {
 public:
  // Makes a table; `kDefaults` construct a Struct with all defaults.
  template <typename Struct, auto... kDefaults>
  static OptionTable Of(const char* struct_name, std::span<const OptionRow> rows) {
    return {struct_name, rows, sizeof(Struct), []() -> std::shared_ptr<const void> {
              return std::make_shared<const Struct>(kDefaults...);
            }};
  }

  const char* struct_name() const { return struct_name_; }
  std::span<const OptionRow> rows() const { return rows_; }
  size_t struct_size() const { return struct_size_; }

  // Returns nullptr if there is no row of that name.
  const OptionRow* Find(std::string_view name) const;

  // Returns a new object with all defaults.
  std::shared_ptr<const void> MakeDefault() const { return make_default_(); }

 private:
  OptionTable(const char* struct_name, std::span<const OptionRow> rows, size_t struct_size,
              std::shared_ptr<const void> (*make_default)());

  const char* const struct_name_;
  const std::span<const OptionRow> rows_;
  const size_t struct_size_;
  std::shared_ptr<const void> (*const make_default_)();
  std::unordered_map<std::string_view, const OptionRow*> by_name_;
};

const OptionTable& DbOptionTable();                   // DBOptions
const OptionTable& CfOptionTable();                   // ColumnFamilyOptions
const OptionTable& BlockBasedTableOptionTable();      // BlockBasedTableOptions
const OptionTable& PlainTableOptionTable();           // PlainTableOptions
const OptionTable& CompressionOptionTable();          // CompressionOptions
const OptionTable& UniversalCompactionOptionTable();  // CompactionOptionsUniversal
const OptionTable& FifoCompactionOptionTable();       // CompactionOptionsFIFO
const OptionTable& MetadataCacheOptionTable();        // MetadataCacheOptions

// The options that may be changed.
enum class OptionScope : uint8_t { kAll, kDynamicOnly };

// Sets the named fields of `object`, an object of the table's struct, to the values.
//
// Names that only RocksDB has are skipped if their value asks for nothing that Varve lacks. After
// an error `object` is partly changed: apply to a copy. Errors: InvalidArgument for an unknown name
// (unless config.ignore_unknown_options), an unreadable value, or a name that cannot be changed in
// this scope; NotSupported for a value that names an object that cannot be made (unless
// config.ignore_unsupported_options), or a RocksDB option that Varve lacks.
Status ApplyOptions(const OptionTable& table, const ConfigOptions& config, const OptionPairs& pairs,
                    OptionScope scope, void* object);

// Like ApplyOptions for one value. Sets *found to true if the table has the name, which may be that
// of one field of a struct, like "compression_opts.level".
Status ApplyOption(const OptionTable& table, const ConfigOptions& config, std::string_view name,
                   std::string_view value, OptionScope scope, void* object, bool* found);

// Returns "a=1;b=2;" with all fields that have a text form. Empty values are left out: no reader
// can distinguish them from a missing name.
std::string PrintOptions(const OptionTable& table, const OptionPrintStyle& style,
                         const void* object);

// Checks every field alone: meaning, range, support. `where` begins the message.
Status CheckOptions(const OptionTable& table, const std::string& where, const void* object);

// True if the fields of every row are equal.
bool EqualOptions(const OptionTable& table, const void* a, const void* b);

}  // namespace varve
