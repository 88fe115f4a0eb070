// SPDX-License-Identifier: Apache-2.0
#pragma once

// Conversion of options from and to text, and a few operations on a DB that are not methods.
//
// Text is "name=value;name={name=value;...};...". Values are numbers (with suffixes K, M, G, T for
// powers of 1024), true/false, names of enum values, lists "a:b:c", and structs in braces. Every
// function leaves its output unchanged if it fails.
//
//   varve::ColumnFamilyOptions options;
//   varve::Status s = varve::GetColumnFamilyOptionsFromString(
//       varve::ConfigOptions(), varve::ColumnFamilyOptions(),
//       "write_buffer_size=64M;compression=kZSTD;"
//       "block_based_table_factory={block_size=16K;cache_index_and_filter_blocks=true}",
//       &options);

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
struct EnvOptions;
struct Options;

// Says how options are read and written as text.
struct VARVE_EXPORT ConfigOptions {
  // Has the defaults below, and a new registry whose parent is the default one.
  ConfigOptions();
  // Does the same, with the Env of `db_options`.
  explicit ConfigOptions(const DBOptions& db_options);

  // The required agreement of two sets of options. kSanityLevelNone checks nothing. The two others
  // check the same: that there are the same column families, with the same comparators.
  enum SanityLevel : unsigned char {
    kSanityLevelNone = 0x01,
    kSanityLevelLooselyCompatible = 0x02,
    kSanityLevelExactMatch = 0xFF,
  };

  // Says how objects are printed. In the text of a column family's options the table factory has
  // its own options with kDepthDetailed, and is a name otherwise. Configurable::ToString prints the
  // name of an object alone with kDepthShallow.
  enum Depth {
    kDepthDefault,
    kDepthShallow,
    kDepthDetailed,
  };

  // Skips unknown names instead of returning InvalidArgument. Files of newer versions can be read
  // with it.
  bool ignore_unknown_options = false;

  // Skips objects that cannot be made from their name (comparators, factories ...). If false, such
  // a name is NotSupported.
  bool ignore_unsupported_options = true;

  // True if input has backslash escapes.
  bool input_strings_escaped = true;

  // Prepares objects (Configurable::PrepareOptions) after configuring them.
  bool invoke_prepare_options = true;

  // Includes only options that SetOptions and SetDBOptions may change, in printing. In parsing,
  // other options are InvalidArgument.
  bool mutable_options_only = false;

  // Separator between options in output.
  std::string delimiter = ";";

  // The depth of printing, and the strictness of CheckOptionsCompatibility.
  Depth depth = Depth::kDepthDefault;
  SanityLevel sanity_level = SanityLevel::kSanityLevelExactMatch;

  // Advisory (without effect): an OPTIONS file is read as a whole.
  size_t file_readahead_size = 512 * 1024;

  // Supplies the files that are read and written, and makes objects that need an Env. Not owned.
  Env* env = Env::Default();

  // Makes objects of the program's own classes (utilities/object_registry.h): a registry of its own
  // on top of the default one. nullptr: only built-in classes.
  std::shared_ptr<ObjectRegistry> registry;

  // Return what `depth` and `sanity_level` say.
  bool IsShallow() const { return depth == Depth::kDepthShallow; }
  bool IsDetailed() const { return depth == Depth::kDepthDetailed; }
  bool IsCheckDisabled() const { return sanity_level == SanityLevel::kSanityLevelNone; }
  bool IsCheckEnabled(SanityLevel level) const {
    return level > SanityLevel::kSanityLevelNone && level <= sanity_level;
  }
};

// ---- From a map of names to values, on top of base options ----
// *new_options becomes a copy of the base with the named options changed. Returns InvalidArgument
// for an unknown name or a value of the wrong type, and NotSupported for an object or a codec that
// this build does not have, as far as ConfigOptions does not skip these. Forms without
// ConfigOptions skip no objects, and unknown names only with ignore_unknown_options.

// Takes names of ColumnFamilyOptions, those of its nested structs as "name.field".
VARVE_EXPORT Status GetColumnFamilyOptionsFromMap(
    const ConfigOptions& config_options, const ColumnFamilyOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, ColumnFamilyOptions* new_options);
VARVE_EXPORT Status GetColumnFamilyOptionsFromMap(
    const ColumnFamilyOptions& base_options,
    const std::unordered_map<std::string, std::string>& opts_map, ColumnFamilyOptions* new_options,
    bool input_strings_escaped = false, bool ignore_unknown_options = false);

// Takes names of DBOptions.
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
// These parse the text into a map, and do the same as above.

VARVE_EXPORT Status GetColumnFamilyOptionsFromString(const ConfigOptions& config_options,
                                                     const ColumnFamilyOptions& base_options,
                                                     const std::string& opts_str,
                                                     ColumnFamilyOptions* new_options);
VARVE_EXPORT Status GetColumnFamilyOptionsFromString(const ColumnFamilyOptions& base_options,
                                                     const std::string& opts_str,
                                                     ColumnFamilyOptions* new_options);

// Takes names of DBOptions; a name of ColumnFamilyOptions is unknown here.
VARVE_EXPORT Status GetDBOptionsFromString(const ConfigOptions& config_options,
                                           const DBOptions& base_options,
                                           const std::string& opts_str, DBOptions* new_options);
VARVE_EXPORT Status GetDBOptionsFromString(const DBOptions& base_options,
                                           const std::string& opts_str, DBOptions* new_options);

// Takes names of BlockBasedTableOptions.
VARVE_EXPORT Status GetBlockBasedTableOptionsFromString(const ConfigOptions& config_options,
                                                        const BlockBasedTableOptions& table_options,
                                                        const std::string& opts_str,
                                                        BlockBasedTableOptions* new_table_options);
VARVE_EXPORT Status GetBlockBasedTableOptionsFromString(const BlockBasedTableOptions& table_options,
                                                        const std::string& opts_str,
                                                        BlockBasedTableOptions* new_table_options);

// Accept options of the database and of the column family. A name is looked up among the options of
// the database first.
VARVE_EXPORT Status GetOptionsFromString(const ConfigOptions& config_options,
                                         const Options& base_options, const std::string& opts_str,
                                         Options* new_options);
VARVE_EXPORT Status GetOptionsFromString(const Options& base_options, const std::string& opts_str,
                                         Options* new_options);

// Splits one level; nested braces stay in the values (without the outermost pair). InvalidArgument
// if the text is not a list of "name=value". Names are not checked.
VARVE_EXPORT Status StringToMap(const std::string& opts_str,
                                std::unordered_map<std::string, std::string>* opts_map);

// Accepts "skip_list", "plain_skip_list" or "vector", or the class name, each optionally followed
// by ":N"; a skip list also by ";blocked=false". InvalidArgument for an invalid N, NotSupported for
// other names.
VARVE_EXPORT Status GetMemTableRepFactoryFromString(
    const std::string& opts_str, std::unique_ptr<MemTableRepFactory>* new_mem_factory);

// ---- To text ----
// The text has all options, and the functions above read it. Options of the table factory are in it
// only with ConfigOptions::depth kDepthDetailed.

// These replace *opts_str and always return OK. The forms without ConfigOptions print with the
// default depth.
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

// Returns the codecs in this build, including kNoCompression. The others return NotSupported when a
// database is opened with them.
VARVE_EXPORT std::vector<CompressionType> GetSupportedCompressions();

// ---- Operations on a DB ----

// Ends all background work permanently; with `wait` returns when it has ended. Writes return
// ShutdownInProgress from then on, and reads go on. It does nothing for a read-only database. A
// call from a callback of background work does not wait.
VARVE_EXPORT void CancelAllBackgroundWork(DB* db, bool wait = false);

// Deletes tables below L0 that lie wholly within the range, even if snapshots still see them.
// include_end: `end` belongs to the range. Older entries hidden by such a table become visible
// again, so use it only for ranges that are no longer read, and DB::Excise otherwise. A null bound
// means that the range has no end on that side; others are user keys without timestamps.
VARVE_EXPORT Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family,
                                       const Slice* begin, const Slice* end,
                                       bool include_end = true);
VARVE_EXPORT Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family,
                                        const RangePtr* ranges, size_t n, bool include_end = true);

// Read a table file and compare all block checksums. Return Corruption for the first that differs,
// with the file and the offset, and IOError if the file cannot be read. `options` must have the
// comparator with which the table was written; its env, table_factory and prefix_extractor are used
// as well. `largest_seqno` is needed only for a table that was ingested: its entries have that
// sequence number, which is not in the file. 0 means that it is not given.
VARVE_EXPORT Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                          const std::string& file_path);
VARVE_EXPORT Status VerifySstFileChecksum(const Options& options, const EnvOptions& env_options,
                                          const ReadOptions& read_options,
                                          const std::string& file_path,
                                          const SequenceNumber& largest_seqno = 0);

}  // namespace varve
