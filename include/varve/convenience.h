// SPDX-License-Identifier: Apache-2.0
#pragma once

// Options from and to text, and a few operations on a DB that need no method.
//
// Text is "name=value;name={name=value;...};...". Values: numbers (suffixes K, M, G, T for powers
// of 1024), true/false, names of enum values, lists "a:b:c", structs in braces. Every function
// leaves its output as it was when it fails.

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

// How to read and write options as text.
struct VARVE_EXPORT ConfigOptions {
  ConfigOptions();
  explicit ConfigOptions(const DBOptions& db_options);

  // How closely two sets of options must agree. kSanityLevelNone: not at all; the others: there are
  // the same column families, with the same comparators.
  enum SanityLevel : unsigned char {
    kSanityLevelNone = 0x01,
    kSanityLevelLooselyCompatible = 0x02,
    kSanityLevelExactMatch = 0xFF,
  };

  // Whether nested objects are printed with their own options.
  enum Depth {
    kDepthDefault,
    kDepthShallow,
    kDepthDetailed,
  };

  // Skip names that nobody knows instead of returning InvalidArgument.
  bool ignore_unknown_options = false;

  // Skip objects that cannot be made from their name (comparators, factories ...).
  bool ignore_unsupported_options = true;

  // Input has backslash escapes.
  bool input_strings_escaped = true;

  // Objects are prepared (Configurable::PrepareOptions) when they have been configured.
  bool invoke_prepare_options = true;

  // Only what SetOptions and SetDBOptions may change.
  bool mutable_options_only = false;

  // Between options in output.
  std::string delimiter = ";";

  Depth depth = Depth::kDepthDefault;
  SanityLevel sanity_level = SanityLevel::kSanityLevelExactMatch;

  // Advisory: an OPTIONS file is read at once.
  size_t file_readahead_size = 512 * 1024;

  Env* env = Env::Default();  // Not owned.

  // Makes objects of the program's own classes (utilities/object_registry.h): a registry of its own
  // above the default one. nullptr: there are the built-in classes alone.
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

// Names of both kinds together.
VARVE_EXPORT Status GetOptionsFromString(const ConfigOptions& config_options,
                                         const Options& base_options, const std::string& opts_str,
                                         Options* new_options);
VARVE_EXPORT Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                                         Options* new_options);

// Takes one level apart; nested braces stay in the values (without the outermost pair).
VARVE_EXPORT Status StringToMap(const std::string& opts_str,
                                std::unordered_map<std::string, std::string>* opts_map);

// "skip_list", "plain_skip_list" or "vector", or the name of the class, each alone or followed by
// ":N"; of a skip list, ";blocked=false" may follow.
// InvalidArgument for what is no such N, NotSupported for other names.
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

// "kLZ4Compression" and so on. InvalidArgument for a number without a name.
VARVE_EXPORT Status GetStringFromCompressionType(std::string* compression_str,
                                                 CompressionType compression_type);

// Codecs in this build, kNoCompression among them.
VARVE_EXPORT std::vector<CompressionType> GetSupportedCompressions();

// ---- Operations on a DB ----

// Ends all background work for good; `wait`: returns when it has ended.
VARVE_EXPORT void CancelAllBackgroundWork(DB* db, bool wait = false);

// Deletes tables, below L0, that lie wholly within the range, with whatever snapshots still see in
// them. include_end: `end` belongs to the range. What such a table hid in others shows again: this
// is for ranges that nobody reads any more, and DB::Excise for all others.
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
