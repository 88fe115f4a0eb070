// SPDX-License-Identifier: Apache-2.0
#include "tests/interop/combos.h"

#include <iterator>

namespace varve::testing {

namespace {

// Returns the i-th element of a list, cyclically. Lists of different lengths make different pairs
// meet.
template <size_t N>
std::string Pick(size_t i, const char* const (&values)[N]) {
  return values[i % N];
}

const char* const kChecksums[] = {"kCRC32c", "kXXH3", "kxxHash64", "kxxHash", "kNoChecksum"};
const char* const kVersions[] = {"5", "4", "3", "2"};
const char* const kBlockSizes[] = {"4096", "256", "1024"};
const char* const kRestarts[] = {"16", "1", "3"};
const char* const kIndexRestarts[] = {"1", "1", "4", "16"};
const char* const kDataIndexes[] = {"kDataBlockBinarySearch", "kDataBlockBinaryAndHash",
                                    "kDataBlockBinarySearch"};
const char* const kCodecs[] = {"kNoCompression", "kSnappyCompression", "kLZ4Compression", "kZSTD"};

Content ContentOf(size_t i) {
  Content content;
  content.seed = i + 1;
  if (i % 3 != 0) content.families.push_back("second");
  if (i % 3 == 2) content.families.push_back("third");
  content.pending = i % 2 == 1;
  content.range_deletes = i / 2 % 2 == 1;
  content.compactions = i / 3 % 2 == 1;
  content.single_deletes = i % 5 == 1;
  content.large_values = i % 6 == 5;
  content.snapshots = i % 7 == 3;
  return content;
}

std::string TableText(size_t i, const std::string& more) {
  // A hash index allows only one restart interval.
  const bool hash = more.find("kHashSearch") != std::string::npos;
  return "block_based_table_factory={format_version=" + Pick(i, kVersions) +
         ";checksum=" + Pick(i, kChecksums) + ";block_size=" + Pick(i / 2, kBlockSizes) +
         ";block_restart_interval=" + Pick(i / 3, kRestarts) +
         ";index_block_restart_interval=" + (hash ? "1" : Pick(i / 2, kIndexRestarts)) +
         ";data_block_index_type=" + Pick(i, kDataIndexes) + more + "}";
}

std::string FamilyText(size_t i, const std::string& table) {
  return "write_buffer_size=65536;target_file_size_base=16384;max_bytes_for_level_base=65536;"
         "level0_file_num_compaction_trigger=" +
         std::string(i % 4 == 0 ? "2" : "8") + ";compression=" + Pick(i / 3, kCodecs) + ";" + table;
}

// Dictionaries matter only for codecs that use them.
std::string DictionaryText(size_t i) {
  return i % 5 == 4 ? ";compression_opts={max_dict_bytes=4096;zstd_max_train_bytes=100000}" : "";
}

// Prefixes have up to two bytes: every key has one, as the hash index needs.
std::string PrefixText(const std::string& table) {
  const bool wanted = table.find("kHashSearch") != std::string::npos ||
                      table.find("whole_key") != std::string::npos;
  return wanted ? ";prefix_extractor=capped:2" : "";
}

const char* const kDbText =
    "create_if_missing=true;create_missing_column_families=true;max_background_jobs=2";

std::string Named(const char* who, size_t i, const Combo& combo) {
  std::string name = std::string(who) + " " + std::to_string(i) + " " + combo.db_options + " " +
                     combo.family_options +
                     " families=" + std::to_string(combo.content.families.size());
  if (!combo.fast_bytes.empty()) name += " fast_bytes=" + combo.fast_bytes;
  if (combo.content.pending) name += " pending";
  if (combo.content.range_deletes) name += " range_deletes";
  if (combo.content.compactions) name += " compactions";
  if (combo.content.single_deletes) name += " single_deletes";
  if (combo.content.large_values) name += " large_values";
  if (combo.content.snapshots) name += " snapshots";
  return name;
}

// Returns one of three styles with one of three numbers of levels. Others read the directory with
// the default style and 7 levels. FIFO compaction excludes several paths.
std::string TreeText(size_t i, bool several_paths) {
  static const char* const kStyles[] = {"kCompactionStyleLevel", "kCompactionStyleUniversal",
                                        "kCompactionStyleFIFO"};
  const size_t style = i % (several_paths ? 2 : 3);
  const char* const levels[] = {"7", "4", style == 0 ? "2" : "1"};
  return std::string(";compaction_style=") + kStyles[style] + ";num_levels=" + levels[i / 3 % 3];
}

}  // namespace

std::vector<Combo> OurCombos() {
  static const char* const kFilters[] = {
      "", ";filter_policy=bloomfilter:10:false", ";filter_policy=ribbonfilter:10:-1",
      ";filter_policy=bloomfilter:4.5:false", ";filter_policy=ribbonfilter:8:1"};
  static const char* const kIndexes[] = {
      "",
      ";index_type=kTwoLevelIndexSearch;metadata_block_size=256;partition_filters=true",
      ";index_type=kTwoLevelIndexSearch;metadata_block_size=256",
      ";index_type=kHashSearch",
      ";index_type=kBinarySearchWithFirstKey",
      ";whole_key_filtering=false",
      ";index_type=kTwoLevelIndexSearch;metadata_block_size=128;partition_filters=true;"
      "whole_key_filtering=false"};
  static const char* const kDbMore[] = {"",
                                        ";wal_compression=kZSTD",
                                        ";atomic_flush=true",
                                        ";recycle_log_file_num=2",
                                        ";max_manifest_file_size=1000",
                                        "",
                                        ";persist_stats_to_disk=true"};
  std::vector<Combo> combos;
  for (size_t i = 0; i < 48; i++) {
    Combo combo;
    combo.content = ContentOf(i);
    combo.db_options = kDbText + Pick(i, kDbMore);
    // Every other combination without compression has aligned blocks.
    const char* const aligned = i % 12 < 3 && i % 2 == 0 ? ";block_align=true" : "";
    const std::string more = Pick(i, kFilters) + Pick(i / 2, kIndexes) + aligned;
    combo.reading_options = TableText(i, more) + PrefixText(more);
    combo.family_options = FamilyText(i, combo.reading_options) + DictionaryText(i) +
                           (i % 4 == 1 ? ";memtable=plain_skip_list" : "");
    combo.ping_pongs = i % 12 == 5 ? 5 : 0;
    if (i % 12 == 5 || i % 12 == 8) combo.fast_bytes = i % 24 < 12 ? "150000" : "1";
    combo.family_options += TreeText(i, !combo.fast_bytes.empty());
    combo.name = Named("ours", i, combo);
    combos.push_back(combo);
  }
  return combos;
}

std::vector<Combo> TheirCombos() {
  static const char* const kFilters[] = {
      "", ";filter_policy=bloomfilter:10:false", ";filter_policy=ribbonfilter:10",
      ";filter_policy=ribbonfilter:8:-1", ";filter_policy=bloomfilter:10:true"};
  static const char* const kIndexes[] = {
      "",
      ";index_type=kTwoLevelIndexSearch;metadata_block_size=256",
      ";index_type=kTwoLevelIndexSearch;metadata_block_size=256;partition_filters=true",
      ";index_type=kHashSearch",
      ";index_type=kBinarySearchWithFirstKey",
      ";whole_key_filtering=false",
      ";enable_index_compression=false"};
  static const char* const kFamilyMore[] = {"", "", ";bottommost_compression=kZSTD",
                                            ";level_compaction_dynamic_level_bytes=true", ""};
  static const char* const kDbMore[] = {"",
                                        ";atomic_flush=true",
                                        ";recycle_log_file_num=2",
                                        ";max_manifest_file_size=1000",
                                        ";persist_stats_to_disk=true",
                                        ";wal_compression=kZSTD",
                                        ";max_subcompactions=3"};
  std::vector<Combo> combos;
  for (size_t i = 0; i < 48; i++) {
    Combo combo;
    combo.content = ContentOf(i);
    combo.db_options = kDbText + Pick(i, kDbMore);
    const std::string index = Pick(i / 2, kIndexes);
    combo.reading_options = TableText(i, Pick(i, kFilters) + index) + PrefixText(index);
    combo.family_options =
        FamilyText(i, combo.reading_options) + DictionaryText(i) + Pick(i, kFamilyMore);
    combo.ping_pongs = i % 12 == 7 ? 5 : 0;
    if (i % 12 == 7 || i % 12 == 10) combo.fast_bytes = i % 24 < 12 ? "150000" : "1";
    combo.family_options += TreeText(i, !combo.fast_bytes.empty());
    combo.name = Named("theirs", i, combo);
    combos.push_back(combo);
  }
  return combos;
}

}  // namespace varve::testing
