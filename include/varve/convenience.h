// SPDX-License-Identifier: Apache-2.0
#pragma once

// Conversion of options from and to text, and a few operations on a DB that are not methods.
//
// Text is "name=value;name={name=value;...};...". Values are numbers (with suffixes K, M, G, T for
// powers of 1024), true/false, names of enum values, lists "a:b:c", and structs in braces. Every
// function leaves its output unchanged if it fails.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/compression_type.h"
#include "varve/db.h"
#include "varve/export.h"
#include "varve/status.h"
#include "varve/table.h"

namespace varve {

class Env;
class MemTableRepFactory;
class ObjectRegistry;
struct ColumnFamilyOptions;
struct DBOptions;
class ObjectRegistry;
struct EnvOptions;
struct Options;

// Says how options are read and written as text.
struct VARVE_EXPORT ConfigOptions {
  ConfigOptions();
  explicit ConfigOptions(const DBOptions& db_options);

  // The required agreement of two sets of options. kSanityLevelNone: no check; the others: there
  // are the same column families, with the same comparators.
  enum SanityLevel : unsigned char {
    kSanityLevelNone = 0x01,
    kSanityLevelLooselyCompatible = 0x02,
    kSanityLevelExactMatch = 0xFF,
  };

  // Says how deeply nested objects are printed with their own options.
  enum Depth {
    kDepthDefault,
    kDepthShallow,
    kDepthDetailed,
  };

  // Skips unknown names instead of returning InvalidArgument.
  bool ignore_unknown_options = false;

  // Skips objects that cannot be made from their name (comparators, factories ...).
  bool ignore_unsupported_options = true;

  // True if input has backslash escapes.
  bool input_strings_escaped = true;

  // Prepares objects (Configurable::PrepareOptions) after configuring them.
  bool invoke_prepare_options = true;

  // Includes only options that SetOptions and SetDBOptions may change.
  bool mutable_options_only = false;

  // Separator between options in output.
  std::string delimiter = ";";

  Depth depth = Depth::kDepthDefault;
  SanityLevel sanity_level = SanityLevel::kSanityLevelExactMatch;

  // Advisory: an OPTIONS file is read at once.
  size_t file_readahead_size = 512 * 1024;

  Env* env = Env::Default();  // Not owned.

  // Makes objects of the program's own classes (utilities/object_registry.h): a registry of its own
  // on top of the default one. nullptr: only built-in classes.
  std::shared_ptr<ObjectRegistry> registry;

  bool IsShallow() const { return depth == Depth::kDepthShallow; }
  bool IsDetailed() const { return depth == Depth::kDepthDetailed; }
  bool IsCheckDisabled() const { return sanity_level == SanityLevel::kSanityLevelNone; }
  bool IsCheckEnabled(SanityLevel level) const {
    return level > SanityLevel::kSanityLevelNone && level <= sanity_level;
  }
};

// ---- From a map of names to values, on top of base options ----

VARVE_EXPORT Status GetColumnFamilyOptionsFromMap(
    const ConfigOptions& config_options, const ColumnFamilyOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, ColumnFamilyOptions* new_options);
VARVE_EXPORT Status GetColumnFamilyOptionsFromMap(
    const ColumnFamilyOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, ColumnFamilyOptions* new_options,
    bool input_strings_escaped = false, bool ignore_unknown_options = false);

VARVE_EXPORT Status GetDBOptionsFromMap(
    const ConfigOptions& config_options, const DBOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, DBOptions* new_options);
VARVE_EXPORT Status GetDBOptionsFromMap(
    const DBOptions& base_options, const std::unordered_map<std::string, std::string>& opts_map,
    DBOptions* new_options, bool input_strings_escaped = false,
    bool ignore_unknown_options = false);

VARVE_EXPORT Status GetBlockBasedTableOptionsFromMap(
    const ConfigOptions& config_options, const BlockBasedTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    BlockBasedTableOptions* new_table_options);
VARVE_EXPORT Status GetBlockBasedTableOptionsFromMap(
    const BlockBasedTableOptions& table_options,
    const std::unordered_map<std::string, std::string>& opts_map,
    BlockBasedTableOptions* new_table_options, bool input_strings_escaped = false,
    bool ignore_unknown_options = false);

// ---- From one string ----

VARVE_EXPORT Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                                     const ColumnFamilyOptions& base_options,
                                                     const std::string& opts_str,
                                                     ColumnFamilyOptions* new_options);
VARVE_EXPORT Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base_options,
                                                     const std::string& opts_str,
                                                     ColumnFamilyOptions* new_options);

VARVE_EXPORT Status GetDBOptionsFromString(const ConfigOptions& config_options,
                                           const DBOptions& base_options,
                                           const std::string& opts_str, DBOptions* new_options);
VARVE_EXPORT Status GetDBOptionsFromString(const DBOptions& base_options,
                                           const std::string& opts_str, DBOptions* new_options);

VARVE_EXPORT Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config_options,
                                                        const BlockBasedTableOptions& table_options,
                                                        const std::string& opts_str,
                                                        BlockBasedTableOptions* new_table_options);
VARVE_EXPORT Status GetBlockBasedTableOptionsFromString(const BlockBasedTableOptions& table_options,
                                                        const std::string& opts_str,
                                                        BlockBasedTableOptions* new_table_options);

// Accept options of the database and of the column family.
VARVE_EXPORT Status GetOptionsFromString(const ConfigOptions& config_options,
                                         const Options& base_options, const std::string& opts_str,
                                         Options* new_options);
VARVE_EXPORT Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                                         Options* new_options);

// Splits one level; nested braces stay in the values (without the outermost pair).
VARVE_EXPORT Status StringToMap(const std::string& opts_str,
                                std::unordered_map<std::string, std::string>* opts_map);

// Accepts "skip_list", "plain_skip_list" or "vector", or the class name, each optionally followed
// by ":N"; a skip list also by ";blocked=false". InvalidArgument for an invalid N, NotSupported for
// other names.
VARVE_EXPORT Status GetMemTableRepFactoryFromString(
    const std::string& opts_str, std::unique_ptr<MemTableRepFactory>* new_mem_factory);

// ---- To text ----

VARVE_EXPORT Status GetStringFromDBOptions(const ConfigOptions& config_options,
                                           const DBOptions& db_options, std::string* opts_str);
VARVE_EXPORT Status GetStringFromDBOptions(std::string* opts_str, const DBOptions& db_options,
                                           const std::string& delimiter = ";  ");

VARVE_EXPORT Status GetStringFromColumnFamilyOptions(const ConfigOptions& config_options,
                                                     const ColumnFamilyOptions& cf_options,
                                                     std::string* opts_str);
VARVE_EXPORT Status GetStringFromColumnFamilyOptions(std::string* opts_str,
                                                     const ColumnFamilyOptions& cf_options,
                                                     const std::string& delimiter = ";  ");

// Returns "kLZ4Compression" etc. InvalidArgument for a number without a name.
VARVE_EXPORT Status GetStringFromCompressionType(std::string* compression_str,
                                                 CompressionType compression_type);

// Returns the codecs in this build, including kNoCompression.
VARVE_EXPORT std::vector<CompressionType> GetSupportedCompressions();

// ---- Operations on a DB ----

// Ends all background work permanently; with `wait` returns when it has ended.
VARVE_EXPORT void CancelAllBackgroundWork(DB* db, bool wait = false);

// Deletes tables below L0 that lie wholly within the range, even if snapshots still see them.
// include_end: `end` belongs to the range. Older entries hidden by such a table become visible
// again, so use it only for ranges that are no longer read, and DB::Excise otherwise.
VARVE_EXPORT Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family,
                                       const Slice* begin, const Slice* end,
                                       bool include_end = true);
VARVE_EXPORT Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family,
                                        const RangePtr* ranges, size_t n, bool include_end = true);

// Reads a table file and compares all block checksums.
VARVE_EXPORT Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                          const std::string& file_path);
VARVE_EXPORT Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                          const ReadOptions& read_options,
                                          const std::string& file_path,
                                          const SequenceNumber& largest_seqno = 0);

}  // namespace varve
