// SPDX-License-Identifier: Apache-2.0

// Implements sections and lines of OPTIONS files.
//
// A file has a section of versions, one of the database's options, and for each column family one
// of its options and one of its table factory's; RocksDB's order and names. Lines that begin with
// "#+" are options that only this library reads. Remarks at the beginning say where the database,
// its logs and its tables lie, for people and for tools that have only the file.
//
// The file announces near its beginning that it has a last line, and a reader refuses a file with
// the announcement and without the line: it was cut off.

#include "util/options/options_file.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "varve/table.h"

#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/options/option_schema.h"
#include "util/options/table_kinds.h"

namespace varve {

namespace {

constexpr std::string_view kExtendedMark = "#+";
// The first is near the beginning of a file that ends in the second, so that truncation is
// detected. Files of RocksDB and of older Varve have neither.
constexpr std::string_view kEndPromise = "\n# The last line is \"# End of the options.\".\n";
constexpr std::string_view kEnd = "\n# End of the options.";
constexpr char kTooLong[] = "OPTIONS file longer than 1 GiB";
// Comments, for people who read the file from another working directory.
constexpr std::string_view kPlaceMark = "# It is in ";
constexpr std::string_view kLogDirectoryMark = "# Its logs are in ";
constexpr std::string_view kTableDirectoryMark = "# Its tables are in ";
// The sections before those of column families are shorter.
constexpr size_t kBeginningBytes = 64 << 10;

// ---- Writing ----

// A table with the defaults, created once.
struct Printed {
  const OptionTable& table;
  const std::shared_ptr<const void> defaults = table.MakeDefault();
};

const Printed& DbFields() {
  static const auto* const fields = new Printed{DbOptionTable()};
  return *fields;
}

const Printed& FamilyFields() {
  static const auto* const fields = new Printed{CfOptionTable()};
  return *fields;
}

const Printed& FieldsOf(const TableKind& kind) {
  static const auto* const all = [] {
    auto* const made = new std::vector<Printed>;
    for (const TableKind& k : TableKinds()) made->push_back(Printed{k.schema()});
    return made;
  }();
  // Every kind is an element of TableKinds(), and has its index there.
  return (*all)[static_cast<size_t>(&kind - TableKinds().data())];
}

// Writes plain options first and collects the extended ones behind them. For a struct with new
// fields the plain line keeps what 7.8.3 understands, and the extended line, which is read later,
// replaces it as a whole.
void AppendFields(const Printed& fields, const void* object, std::string* text) {
  const OptionPrintStyle plain = {.plain_names_only = true};
  const OptionPrintStyle full = {};
  std::string extended;
  for (const OptionRow& row : fields.table.rows()) {
    if (row.file == OptionFileForm::kNone || !row.HasText()) continue;
    const void* const field = row.Field(object);
    const bool is_default = row.type().equal(field, row.Field(fields.defaults.get()));
    const auto append = [&row](std::string_view begin, const std::string& value, std::string* to) {
      to->append(begin).append(row.name).append("=").append(value).append("\n");
    };
    if (row.file == OptionFileForm::kExtended) {
      if (!is_default) append("  #+ ", row.type().print(full, field), &extended);
      continue;
    }
    const std::string plain_value = row.type().print(plain, field);
    // A value is left out only if reading would restore it as the default.
    if (!plain_value.empty() || !is_default) append("  ", plain_value, text);
    if (is_default) continue;
    // A struct with a field that 7.8.3 lacks is written once without the field, and once whole.
    const std::string value = row.type().print(full, field);
    if (plain_value != value) append("  #+ ", value, &extended);
  }
  text->append(extended);
}

// ---- Reading ----

enum class SectionKind : uint8_t { kNone, kVersion, kDb, kColumnFamily, kTable };

// Returns `line` without a comment: up to the first '#' that is not escaped.
std::string_view WithoutComment(std::string_view line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '#') {
      return line.substr(0, i);
    }
  }
  return line;
}

// Builds the contents line by line.
class Parser {
 public:
  Parser(const ConfigOptions& config, const std::string& file_name)
      : config_(config), file_name_(file_name) {
    config_.input_strings_escaped = true;
  }

  Status ParseAll(std::string_view text);

  OptionsFileContents TakeContents() { return std::move(contents_); }

 private:
  Status ParseLine(std::string_view line);
  Status BeginSection(std::string_view header);
  Status BeginColumnFamily(const std::string& family);
  Status BeginTable(std::string_view factory, const std::string& family);
  Status SetField(std::string_view name, std::string_view value);
  Status SetVersion(std::string_view name, std::string_view value);

  // Checks that a file which announces its end has it.
  Status CheckWhole(std::string_view text);
  Status Corrupt(const std::string& what) const { return Status::Corruption(Where(), what); }
  std::string Where() const { return file_name_ + ":" + std::to_string(line_number_); }
  Status Located(const Status& s) const {
    if (s.ok()) return s;
    if (s.IsNotSupported()) return Status::NotSupported(Where(), s.getState());
    return Status::InvalidArgument(Where(), s.getState());
  }

  ConfigOptions config_;
  const std::string& file_name_;
  OptionsFileContents contents_;
  std::set<std::string> families_;
  size_t line_number_ = 0;
  SectionKind section_ = SectionKind::kNone;
  bool has_version_ = false;
  bool has_db_ = false;
  // The kind of tables of the last section of table options.
  const TableKind* table_kind_ = nullptr;
};

// Looks for the promise near the beginning only, so that a value deep in a file of RocksDB cannot
// be taken for it.
Status Parser::CheckWhole(std::string_view text) {
  if (text.substr(0, kBeginningBytes).find(kEndPromise) == std::string_view::npos ||
      text.rfind(kEnd) != std::string_view::npos) {
    return Status::OK();
  }
  line_number_ = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const size_t section = text.rfind("\n[");
  std::string last = "of the beginning";
  if (section != std::string_view::npos) {
    const std::string_view line = text.substr(section + 1);
    last = "of " + std::string(line.substr(0, std::min(line.find('\n'), size_t{60})));
  }
  return Corrupt("the file was cut: its last line is missing, the rest " + last +
                 ", and what came after that");
}

Status Parser::ParseAll(std::string_view text) {
  if (text.size() > kOptionsFileBytesMax) return Corrupt(kTooLong);
  VARVE_RETURN_IF_ERROR(CheckWhole(text));
  while (!text.empty()) {
    const size_t end = text.find('\n');
    ++line_number_;
    VARVE_RETURN_IF_ERROR(ParseLine(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (!has_db_) return Corrupt("no section [DBOptions]");
  if (contents_.column_families.empty()) return Corrupt("no section [CFOptions \"default\"]");
  return Status::OK();
}

Status Parser::ParseLine(std::string_view line) {
  line = TrimOptionText(line);
  // Only the mark at the beginning of a line is special; "#+" further on begins a comment like any
  // '#'.
  if (line.starts_with(kExtendedMark)) line.remove_prefix(kExtendedMark.size());
  line = TrimOptionText(WithoutComment(line));
  if (line.empty()) return Status::OK();
  if (line.front() == '[') return BeginSection(line);
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return Corrupt("neither [section] nor name=value");
  const std::string_view name = TrimOptionText(line.substr(0, equals));
  if (name.empty()) return Corrupt("no name before '='");
  return SetField(name, TrimOptionText(line.substr(equals + 1)));
}

Status Parser::BeginSection(std::string_view header) {
  if (header.size() < 2 || header.back() != ']') return Corrupt("section without ']'");
  std::string_view title = TrimOptionText(header.substr(1, header.size() - 2));
  std::string argument;
  const size_t quote = title.find('"');
  if (quote != std::string_view::npos) {
    if (title.back() != '"' || quote + 1 == title.size()) return Corrupt("quote not closed");
    argument = UnescapeOptionText(title.substr(quote + 1, title.size() - quote - 2));
    title = TrimOptionText(title.substr(0, quote));
  }
  if (title == "Version") {
    if (std::exchange(has_version_, true)) return Corrupt("second section [Version]");
    section_ = SectionKind::kVersion;
    return Status::OK();
  }
  if (title == "DBOptions") {
    if (std::exchange(has_db_, true)) return Corrupt("second section [DBOptions]");
    section_ = SectionKind::kDb;
    return Status::OK();
  }
  constexpr std::string_view kTablePrefix = "TableOptions/";
  if (title == "CFOptions") return BeginColumnFamily(argument);
  if (title.starts_with(kTablePrefix)) {
    return BeginTable(title.substr(kTablePrefix.size()), argument);
  }
  return Corrupt("unknown section " + std::string(title.substr(0, 60)));
}

// "default" comes first in every file of RocksDB, whose own reader refuses others.
Status Parser::BeginColumnFamily(const std::string& family) {
  auto& families = contents_.column_families;
  if (families.empty() && family != kDefaultColumnFamilyName) {
    return Corrupt("the first column family is not \"default\"");
  }
  if (!families_.insert(family).second) {
    return Corrupt("second section of column family " + family);
  }
  families.emplace_back(family, ColumnFamilyOptions());
  contents_.comparator_names.emplace_back();
  section_ = SectionKind::kColumnFamily;
  return Status::OK();
}

// Begins from defaults: a file need not name every option.
Status Parser::BeginTable(std::string_view factory, const std::string& family) {
  auto& families = contents_.column_families;
  if (families.empty() || families.back().name != family) {
    return Corrupt("table options do not follow their column family");
  }
  table_kind_ = FindTableKind(factory);
  if (table_kind_ == nullptr) {
    return Located(Status::NotSupported("table factory " + std::string(factory.substr(0, 60))));
  }
  families.back().options.table_factory = table_kind_->make(nullptr);
  section_ = SectionKind::kTable;
  return Status::OK();
}

Status Parser::SetField(std::string_view name, std::string_view value) {
  bool found = false;
  switch (section_) {
    case SectionKind::kNone:
      return Corrupt("option outside of a section");
    case SectionKind::kVersion:
      return SetVersion(name, value);
    case SectionKind::kDb:
      return Located(ApplyOption(DbOptionTable(), config_, name, value, OptionScope::kAll,
                                 &contents_.db_options, &found));
    case SectionKind::kColumnFamily:
      if (name == "comparator") contents_.comparator_names.back() = std::string(value);
      return Located(ApplyOption(CfOptionTable(), config_, name, value, OptionScope::kAll,
                                 &contents_.column_families.back().options, &found));
    case SectionKind::kTable:
      return Located(ApplyOption(
          table_kind_->schema(), config_, name, value, OptionScope::kAll,
          table_kind_->OptionsOf(contents_.column_families.back().options.table_factory.get()),
          &found));
  }
  return Status::OK();
}

// Minor versions add options only. A new major version may change the meaning of what is there.
Status Parser::SetVersion(std::string_view name, std::string_view value) {
  if (name == "options_file_version" && !value.starts_with("1.") && value != "1") {
    return Located(
        Status::NotSupported("options_file_version=" + std::string(value.substr(0, 60))));
  }
  return Status::OK();
}

// Returns the next line, trimmed. Requires that there is one.
std::string_view TakeLine(std::string_view* rest) {
  const size_t end = std::min(rest->find('\n'), rest->size() - 1);
  const std::string_view line = TrimOptionText(rest->substr(0, end + 1));
  rest->remove_prefix(end + 1);
  return line;
}

// If the line, without a comment, begins the section of a family, returns true and sets *family.
bool IsFamilyHeader(std::string_view line, std::string* family) {
  constexpr std::string_view kHead = "[CFOptions \"";
  constexpr std::string_view kTail = "\"]";
  if (!line.starts_with(kHead) || !line.ends_with(kTail) ||
      line.size() < kHead.size() + kTail.size()) {
    return false;
  }
  *family =
      UnescapeOptionText(line.substr(kHead.size(), line.size() - kHead.size() - kTail.size()));
  return true;
}

// Returns the name; empty if there is none. Settings after a name, as other engines write them, may
// contain characters that prevent splitting the text.
std::string ObjectName(std::string_view value) {
  constexpr std::string_view kId = "{id=";
  if (value.starts_with(kId)) {
    value.remove_prefix(kId.size());
    value = value.substr(0, value.find_first_of(";}"));
  }
  std::string id;
  return ObjectId(value, &id).ok() ? UnescapeOptionText(id) : "";
}

// Adds the file's name to the error of ReadFileToString, whose only Corruption is a file that is
// too long.
Status WithFile(const std::string& file_name, const IOStatus& s) {
  if (s.IsCorruption()) return Status::Corruption(file_name, kTooLong);
  return s;
}

}  // namespace

FamilyOptionsText::FamilyOptionsText(const ColumnFamilyOptions& family) {
  AppendFields(FamilyFields(), &family, &options);
  const TableFactory* const factory = family.table_factory.get();
  const TableKind* const kind = TableKindOf(factory);
  if (kind == nullptr) return;
  table_factory = kind->factory_name;
  AppendFields(FieldsOf(*kind), kind->OptionsOf(*factory), &table_options);
}

void FamilyOptionsText::AppendTo(const std::string& family, std::string* text) const {
  const std::string name = EscapeOptionText(family);
  text->append("\n[CFOptions \"").append(name).append("\"]\n").append(options);
  if (table_options.empty()) return;
  text->append("\n[TableOptions/").append(table_factory);
  text->append(" \"").append(name).append("\"]\n");
  text->append(table_options);
}

std::string OptionsFileBeginning(const DBOptions& db_options, const std::string& place,
                                 const std::string& log_directory) {
  std::string text = "# Options this database was last opened with.";
  text.append(kEndPromise);
  if (!place.empty()) {
    text.append(kPlaceMark).append(EscapeOptionText(place)).append("\n");
  }
  if (!log_directory.empty() && log_directory != db_options.wal_dir) {
    text.append(kLogDirectoryMark).append(EscapeOptionText(log_directory)).append("\n");
  }
  text +=
      "\n[Version]\n  rocksdb_version=7.8.3\n  options_file_version=1.1\n"
      "\n[DBOptions]\n";
  AppendFields(DbFields(), &db_options, &text);
  return text;
}

void AppendTableDirectories(const std::vector<std::string>& directories, std::string* text) {
  for (const std::string& directory : directories) {
    text->append("  ").append(kTableDirectoryMark).append(EscapeOptionText(directory)).append("\n");
  }
}

// Filters lines and parses nothing, so options that this library does not know are copied as well.
std::string OptionsOfCopy(std::string_view text, const std::vector<std::string>& families) {
  constexpr std::string_view kPlaces[] = {kPlaceMark, kLogDirectoryMark, kTableDirectoryMark,
                                          "wal_dir="};
  std::set<std::string> names;
  for (const std::string& family : families) names.insert(EscapeOptionText(family));
  std::string kept;
  kept.reserve(text.size());
  bool in_other_family = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const std::string_view content = TrimOptionText(line);
    // The name of a family stands between the quotes, and is compared in its escaped form.
    if (content.starts_with('[')) {
      const size_t quote = content.find('"');
      in_other_family =
          quote != std::string_view::npos && content.ends_with("\"]") &&
          !names.contains(std::string(content.substr(quote + 1, content.size() - quote - 3)));
    } else if (line.starts_with(kEnd.substr(1))) {
      // The last line of the file, which is kEnd without its line feed, belongs to no family.
      in_other_family = false;
    }
    const bool place = std::ranges::any_of(
        kPlaces, [&](std::string_view begin) { return content.starts_with(begin); });
    if (!place && !in_other_family) kept.append(line);
  }
  return kept;
}

std::string FormatOptionsFile(const DBOptions& db_options,
                              const std::vector<ColumnFamilyDescriptor>& column_families) {
  std::string text = OptionsFileBeginning(db_options, "", "");
  // The default family comes first: readers, this one included, refuse another order.
  for (const bool want_default : {true, false}) {
    for (const ColumnFamilyDescriptor& family : column_families) {
      if ((family.name == kDefaultColumnFamilyName) == want_default) {
        FamilyOptionsText(family.options).AppendTo(family.name, &text);
      }
    }
  }
  AppendOptionsFileEnd(&text);
  return text;
}

void AppendOptionsFileEnd(std::string* text) {
  text->append(kEnd).append("\n");
}

Status ParseOptionsFile(const ConfigOptions& config, const std::string& file_name,
                        std::string_view text, OptionsFileContents* contents) {
  Parser parser(config, file_name);
  VARVE_RETURN_IF_ERROR(parser.ParseAll(text));
  *contents = parser.TakeContents();
  return Status::OK();
}

Status WriteOptionsFile(FileSystem* fs, const std::string& dbname, uint64_t number,
                        const Slice& text) {
  if (text.size() > kOptionsFileBytesMax) return Status::InvalidArgument(dbname, kTooLong);
  const std::string final_name = OptionsFileBaseName(number);
  return WriteFileDurably(fs, dbname, final_name + ".dbtmp", final_name, text);
}

Status WriteOptionsFile(FileSystem* fs, const std::string& dbname, uint64_t number,
                        const DBOptions& db_options,
                        const std::vector<ColumnFamilyDescriptor>& column_families) {
  return WriteOptionsFile(fs, dbname, number, FormatOptionsFile(db_options, column_families));
}

// This and the other functions for single facts do not use the parser, which might refuse the file,
// for instance one of a newer RocksDB: a tool must find logs and tables all the same.
Status ReadLogDirectory(FileSystem* fs, const std::string& file_name, std::string* log_directory,
                        std::string* place) {
  std::unique_ptr<FSSequentialFile> file;
  VARVE_RETURN_IF_ERROR(fs->NewSequentialFile(file_name, FileOptions(), &file, nullptr));
  const auto scratch = std::make_unique<char[]>(kBeginningBytes);
  std::string text;
  for (Slice piece; text.size() < kBeginningBytes; text.append(piece.data(), piece.size())) {
    VARVE_RETURN_IF_ERROR(
        file->Read(kBeginningBytes - text.size(), IOOptions(), &piece, scratch.get(), nullptr));
    if (piece.empty()) break;
  }
  // The remark with the absolute path stands before the option, and ends the search; wal_dir itself
  // may be relative to the working directory of an earlier process, which is not recorded.
  log_directory->clear();
  place->clear();
  constexpr std::string_view kField = "wal_dir=";
  for (std::string_view rest = text; !rest.empty() && !rest.starts_with("[CFOptions");) {
    const std::string_view line = TakeLine(&rest);
    if (line.starts_with(kPlaceMark)) {
      *place = UnescapeOptionText(line.substr(kPlaceMark.size()));
    } else if (line.starts_with(kLogDirectoryMark)) {
      *log_directory = UnescapeOptionText(line.substr(kLogDirectoryMark.size()));
      break;
    }
    const std::string_view field = TrimOptionText(WithoutComment(line));
    if (field.starts_with(kField)) *log_directory = UnescapeOptionText(field.substr(kField.size()));
  }
  return Status::OK();
}

Status ReadOptionsFile(const ConfigOptions& config, FileSystem* fs, const std::string& file_name,
                       OptionsFileContents* contents) {
  std::string text;
  VARVE_RETURN_IF_ERROR(
      WithFile(file_name, ReadFileToString(fs, file_name, kOptionsFileBytesMax, &text)));
  return ParseOptionsFile(config, file_name, text, contents);
}

Status ReadTableDirectories(FileSystem* fs, const std::string& file_name,
                            std::map<std::string, std::vector<std::string>>* directories,
                            std::string* place) {
  directories->clear();
  place->clear();
  std::string text;
  VARVE_RETURN_IF_ERROR(
      WithFile(file_name, ReadFileToString(fs, file_name, kOptionsFileBytesMax, &text)));
  std::string family;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = TakeLine(&rest);
    if (IsFamilyHeader(line, &family)) continue;
    if (line.starts_with(kPlaceMark)) {
      *place = UnescapeOptionText(line.substr(kPlaceMark.size()));
    } else if (line.starts_with(kTableDirectoryMark)) {
      const std::string_view directory = line.substr(kTableDirectoryMark.size());
      (*directories)[family].push_back(UnescapeOptionText(directory));
    }
  }
  return Status::OK();
}

Status ReadMergeOperatorNames(FileSystem* fs, const std::string& file_name,
                              std::map<std::string, std::string>* names) {
  names->clear();
  std::string text;
  VARVE_RETURN_IF_ERROR(
      WithFile(file_name, ReadFileToString(fs, file_name, kOptionsFileBytesMax, &text)));
  constexpr std::string_view kField = "merge_operator=";
  std::string family;
  bool in_family = false;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = TrimOptionText(WithoutComment(TakeLine(&rest)));
    if (line.starts_with('[')) {
      in_family = IsFamilyHeader(line, &family);
    } else if (in_family && line.starts_with(kField)) {
      const std::string name = ObjectName(line.substr(kField.size()));
      if (!name.empty()) (*names)[family] = name;
    }
  }
  return Status::OK();
}

Status ListOptionsFiles(FileSystem* fs, const std::string& dbname, std::vector<uint64_t>* numbers) {
  numbers->clear();
  std::vector<std::string> names;
  const IOStatus s = fs->GetChildren(dbname, IOOptions(), &names, nullptr);
  if (IsMissing(s)) return Status::OK();
  VARVE_RETURN_IF_ERROR(s);
  for (const auto& [name, number, type] : FilesAmong(names, kOptionsFile)) {
    numbers->push_back(number);
  }
  std::sort(numbers->begin(), numbers->end(), std::greater<>());
  return Status::OK();
}

}  // namespace varve
