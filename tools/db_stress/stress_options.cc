// SPDX-License-Identifier: Apache-2.0

// Every opening draws new options, so files written under one set are read under another, and each
// set is described by a text that stands in the message of a finding. What is drawn must be valid
// together, and must not change what is expected: no option here makes the engine forget or expire
// data. A mode that may lose writes in a kill says so (SurvivesKill).

#include "tools/db_stress/stress_options.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>
#include <memory>
#include <utility>

#include "varve/cache.h"
#include "varve/comparator.h"
#include "varve/concurrent_task_limiter.h"
#include "varve/convenience.h"
#include "varve/filter_policy.h"
#include "varve/slice_transform.h"
#include "varve/sst_file_manager.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/utilities/merge_operators.h"

#include "tools/db_stress/flags.h"

namespace varve::stress {

namespace {

// "ordered" is there twice and has twice the chance.
constexpr const char* kModes[] = {"ordered", "pipelined",       "unordered", "two_queues",
                                  "no_log",  "mixed_log",       "serial",    "sync",
                                  "ordered", "manual_wal_flush"};

constexpr int64_t kDeleteRate = 1 << 20;  // bytes a second: some tables wait, and go

template <typename T, size_t N>
T One(Dice* dice, const T (&values)[N]) {
  return values[dice->Below(N)];
}

// Every branch but the last returns true; the assignments only happen to have a value that converts
// to it.
bool SetMode(const std::string& mode, StressOptions* options) {
  DBOptions& db = options->db;
  if (mode == "ordered") return true;
  if (mode == "pipelined") return db.enable_pipelined_write = true;
  if (mode == "unordered") return db.unordered_write = true;
  if (mode == "two_queues") return db.two_write_queues = true;
  if (mode == "manual_wal_flush") return db.manual_wal_flush = true;
  if (mode == "serial") {
    db.allow_concurrent_memtable_write = false;
    return true;
  }
  if (mode == "no_log") return (options->no_log_one_in = 1) != 0;
  if (mode == "mixed_log") return (options->no_log_one_in = 3) != 0;
  if (mode == "sync") return (options->sync_one_in = 4) != 0;
  std::fprintf(stderr, "--write_mode=%s: there is no such mode\n", mode.c_str());
  return false;
}

void DrawTable(Dice* dice, BlockBasedTableOptions* table) {
  using Table = BlockBasedTableOptions;
  const size_t block_sizes[] = {128, 512, 4096};
  const int restarts[] = {1, 3, 16};
  // Older versions stay in a database from earlier openings, so that one compaction reads several.
  const uint32_t versions[] = {5, 5, 7, 6, 4, 3, 2};
  const ChecksumType checksums[] = {kXXH3, kCRC32c, kxxHash64, kxxHash};
  table->block_size = One(dice, block_sizes);
  table->block_restart_interval = One(dice, restarts);
  table->format_version = One(dice, versions);
  table->checksum = One(dice, checksums);
  if (dice->OneIn(2)) {
    table->filter_policy.reset(dice->OneIn(3) ? NewRibbonFilterPolicy(10)
                                              : NewBloomFilterPolicy(10));
  }
  if (dice->OneIn(4)) table->data_block_index_type = Table::kDataBlockBinaryAndHash;
  if (dice->OneIn(3)) {
    table->index_type = Table::kTwoLevelIndexSearch;
    table->metadata_block_size = 256;
    table->partition_filters = table->filter_policy != nullptr && dice->OneIn(2);
  }
  table->cache_index_and_filter_blocks = dice->OneIn(3);
  const size_t caches[] = {16 << 10, 256 << 10, 8 << 20};
  table->block_cache = NewLRUCache(One(dice, caches), 2);
}

void DrawBlobs(Dice* dice, ColumnFamilyOptions* family) {
  const uint64_t limits[] = {0, 16, 64};
  const uint64_t sizes[] = {1 << 10, 32 << 10, 1 << 20};
  const CompressionType codecs[] = {kNoCompression, kSnappyCompression, kLZ4Compression, kZSTD};
  const double shares[] = {0, 0.3, 1};
  const int starts[] = {0, 0, 1};
  family->enable_blob_files = true;
  family->min_blob_size = One(dice, limits);
  family->blob_file_size = One(dice, sizes);
  family->blob_compression_type = One(dice, codecs);
  family->enable_blob_garbage_collection = dice->OneIn(2);
  family->punch_holes_in_blob_files = dice->OneIn(2);
  family->blob_garbage_collection_age_cutoff = One(dice, shares);
  family->blob_garbage_collection_force_threshold = One(dice, shares);
  family->blob_file_starting_level = One(dice, starts);
  if (dice->OneIn(3)) family->blob_compaction_readahead_size = 16 << 10;
  if (dice->OneIn(2)) {
    const size_t caches[] = {4 << 10, 256 << 10};
    family->blob_cache =
        NewLRUCache(One(dice, caches), 0, /*strict_capacity_limit=*/dice->OneIn(2));
    if (dice->OneIn(2)) family->prepopulate_blob_cache = PrepopulateBlobCache::kFlushOnly;
  }
}

void DrawFamily(Dice* dice, ColumnFamilyOptions* family) {
  const size_t buffers[] = {64 << 10, 256 << 10, 1 << 20};
  const size_t targets[] = {16 << 10, 128 << 10, 1 << 20};
  const CompressionType codecs[] = {kNoCompression, kSnappyCompression, kLZ4Compression, kZSTD};
  const int triggers[] = {2, 4};
  family->write_buffer_size = One(dice, buffers);
  family->target_file_size_base = One(dice, targets);
  // Four tables fill the first level: several levels hold data although there is little of it.
  family->max_bytes_for_level_base = 4 * family->target_file_size_base;
  family->max_bytes_for_level_multiplier = 4;
  family->compression = One(dice, codecs);
  family->level0_file_num_compaction_trigger = One(dice, triggers);
  family->level_compaction_dynamic_level_bytes = dice->OneIn(2);
  // FIFO forgets nothing here: there is no ttl, and the data stays far below the cap.
  const CompactionStyle styles[] = {kCompactionStyleLevel, kCompactionStyleLevel,
                                    kCompactionStyleUniversal, kCompactionStyleFIFO};
  const int levels[] = {2, 4, 7};
  family->compaction_style = One(dice, styles);
  family->num_levels = One(dice, levels);
  family->compaction_options_fifo.allow_compaction = true;
  family->max_write_buffer_number = dice->OneIn(2) ? 2 : 5;
  if (dice->OneIn(3)) family->prefix_extractor.reset(NewFixedPrefixTransform(7));
  if (dice->OneIn(4)) {
    family->memtable_prefix_bloom_size_ratio = 0.1;
    family->memtable_whole_key_filtering = true;
  }
  if (dice->OneIn(5)) family->memtable_protection_bytes_per_key = dice->OneIn(2) ? 1 : 8;
  if (dice->OneIn(5)) family->block_protection_bytes_per_key = 8;
  if (FLAGS_memtablerep.empty() && dice->OneIn(4)) {
    std::unique_ptr<MemTableRepFactory> plain;
    GetMemTableRepFactoryFromString("plain_skip_list", &plain).PermitUncheckedError();
    if (plain != nullptr) family->memtable_factory = std::move(plain);
  }
  if (dice->OneIn(4)) {
    const auto limit = static_cast<int32_t>(1 + dice->Below(2));
    family->compaction_thread_limiter.reset(NewConcurrentTaskLimiter("stress", limit));
  }
  BlockBasedTableOptions table;
  DrawTable(dice, &table);
  family->table_factory.reset(NewBlockBasedTableFactory(table));
}

// Requires that the options of the database are drawn, and that keys have no timestamps.
void DrawPlainTables(Dice* dice, StressOptions* options) {
  const EncodingType encodings[] = {kPlain, kPrefix};
  const size_t distances[] = {1, 3, 16};
  const int bits[] = {0, 10};
  PlainTableOptions table;
  table.encoding_type = One(dice, encodings);
  table.index_sparseness = One(dice, distances);
  table.bloom_bits_per_key = One(dice, bits);
  options->family.table_factory.reset(NewPlainTableFactory(table));
  options->db.allow_mmap_reads = !options->db.use_direct_reads && dice->OneIn(2);
  options->takes_ranges = false;
}

// True if the file system of the database opens files past its page cache. That of memory does not
// in kernels before 6.6.
bool SupportsDirectIo() {
  const std::string path = FLAGS_db + ".direct";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
  if (file < 0) return false;
  ::close(file);
  ::unlink(path.c_str());
  return true;
}

void DrawDatabase(Dice* dice, StressOptions* options) {
  DBOptions* const db = &options->db;
  db->avoid_flush_during_recovery = dice->OneIn(3);
  db->avoid_flush_during_shutdown = dice->OneIn(3);
  db->best_efforts_recovery = dice->OneIn(4);
  db->max_open_files = dice->OneIn(4) ? 30 : -1;
  db->max_subcompactions = dice->OneIn(3) ? 3 : 1;
  db->max_background_jobs = 1 + static_cast<int>(dice->Below(4));
  // The dice are thrown even if the answer is not used, so that a seed means the same options on
  // each file system.
  const bool direct_reads = dice->OneIn(4);
  const bool direct_writes = dice->OneIn(4);
  if (SupportsDirectIo()) {
    db->use_direct_reads = direct_reads;
    db->use_direct_io_for_flush_and_compaction = direct_writes;
  }
  if (dice->OneIn(4)) db->max_total_wal_size = 256 << 10;
  if (dice->OneIn(4)) db->max_manifest_file_size = 4 << 10;
  // The engine refuses writes without a log while logs are reused.
  if (options->no_log_one_in == 0 && dice->OneIn(4)) db->recycle_log_file_num = 2;
  if (dice->OneIn(5)) db->wal_compression = kZSTD;
  if (dice->OneIn(4)) db->wal_bytes_per_sync = 32 << 10;
  const uint64_t rooms[] = {0, 256 << 10, 2 << 20, UINT64_MAX};
  options->fast_bytes = One(dice, rooms);
  if (dice->OneIn(4)) {
    db->sst_file_manager.reset(NewSstFileManager(
        db->env, nullptr, "", kDeleteRate, /*delete_existing_trash=*/dice->OneIn(2),
        /*status=*/nullptr, /*max_trash_db_ratio=*/1.0, /*bytes_max_delete_chunk=*/16 << 10));
  }
  // The engine refuses atomic flushes with pipelined writes.
  if (!db->enable_pipelined_write && dice->OneIn(4)) db->atomic_flush = true;
  if (options->no_log_one_in == 0 && dice->OneIn(4)) {
    // One of the database's own families gets the writes of a job.
    db->statistics = CreateDBStatistics();
    db->persist_stats_to_disk = true;
    db->stats_persist_period_sec = 1;
  }
}

bool SetFromFlags(StressOptions* options) {
  ColumnFamilyOptions& family = options->family;
  std::unique_ptr<MemTableRepFactory> memtables;
  const std::string kind = FLAGS_memtablerep.empty() ? "skip_list" : FLAGS_memtablerep;
  const Status s = GetMemTableRepFactoryFromString(kind, &memtables);
  if (!s.ok()) {
    std::fprintf(stderr, "--memtablerep: %s\n", s.ToString().c_str());
    return false;
  }
  family.memtable_factory = std::move(memtables);
  family.write_buffer_size = FLAGS_write_buffer_size;
  family.target_file_size_base = FLAGS_target_file_size_base;
  family.max_bytes_for_level_base = 4 * FLAGS_target_file_size_base;
  family.enable_blob_files = FLAGS_enable_blob_files;
  family.min_blob_size = FLAGS_min_blob_size;
  family.blob_file_size = FLAGS_blob_file_size;
  family.enable_blob_garbage_collection = FLAGS_enable_blob_garbage_collection;
  family.punch_holes_in_blob_files = FLAGS_punch_holes_in_blob_files;
  family.blob_garbage_collection_age_cutoff = FLAGS_blob_garbage_collection_age_cutoff;
  family.blob_garbage_collection_force_threshold = FLAGS_blob_garbage_collection_force_threshold;
  // These two flags override what the write mode has set, even if the mode is drawn.
  if (FLAGS_sync) options->sync_one_in = 1;
  if (FLAGS_disable_wal) options->no_log_one_in = 1;
  const CompressionType codecs[] = {kNoCompression, kSnappyCompression, kLZ4Compression, kZSTD};
  const char* const names[] = {"none", "snappy", "lz4", "zstd"};
  for (size_t i = 0; i < std::size(names); i++) {
    if (FLAGS_compression_type != names[i]) continue;
    family.compression = codecs[i];
    return true;
  }
  std::fprintf(stderr, "--compression_type=%s: none, snappy, lz4 or zstd\n",
               FLAGS_compression_type.c_str());
  return false;
}

}  // namespace

DBOptions StressOptions::OfCopy() const {
  DBOptions copy = db;
  copy.create_if_missing = copy.create_missing_column_families = false;
  copy.best_efforts_recovery = copy.persist_stats_to_disk = false;
  copy.db_paths.clear();
  copy.sst_file_manager.reset();
  copy.max_open_files = -1;  // what a primary deletes stays open
  return copy;
}

WriteOptions StressOptions::DrawWriteOptions(uint64_t key, Dice* dice) const {
  WriteOptions write;
  write.disableWAL = no_log_one_in != 0 && key % no_log_one_in == 0;
  write.sync = !write.disableWAL && dice->OneIn(sync_one_in);
  return write;
}

WriteOptions StressOptions::DrawWideWriteOptions(Dice* dice) const {
  WriteOptions write;
  write.disableWAL = no_log_one_in == 1;
  write.sync = !write.disableWAL && dice->OneIn(sync_one_in);
  return write;
}

std::shared_ptr<MergeOperator> AppendOperator() {
  return MergeOperators::CreateStringAppendOperator("");
}

bool DrawOptions(Dice* dice, StressOptions* options) {
  *options = StressOptions();
  options->db.create_if_missing = true;
  options->db.create_missing_column_families = true;
  std::string mode = FLAGS_write_mode;
  if (mode.empty()) mode = FLAGS_random_options ? One(dice, kModes) : "ordered";
  // Transactions require ordered writes.
  if (mode == "unordered" && FLAGS_use_optimistic_txn) mode = "pipelined";
  if (!SetMode(mode, options)) return false;
  if (!SetFromFlags(options)) return false;
  if (FLAGS_random_options) {
    DrawDatabase(dice, options);
    DrawFamily(dice, &options->family);
    if (FLAGS_user_timestamp_size == 0 && dice->OneIn(6)) DrawPlainTables(dice, options);
    if (FLAGS_enable_blob_files || dice->OneIn(3)) DrawBlobs(dice, &options->family);
  }
  if (FLAGS_user_timestamp_size != 0) {
    options->family.comparator = BytewiseComparatorWithU64Ts();
    options->family.persist_user_defined_timestamps = FLAGS_persist_user_defined_timestamps;
    // Timestamps that are kept in memory only require one memtable of the family at a time.
    if (!FLAGS_persist_user_defined_timestamps) {
      options->family.enable_blob_files = false;  // values apart need timestamps in tables
      options->db.atomic_flush = false;
      options->db.allow_concurrent_memtable_write = false;
      options->db.unordered_write = false;
    }
  }
  options->family.merge_operator = AppendOperator();
  // Closing then does not flush, so writes without a log are lost.
  if (options->no_log_one_in != 0) options->db.avoid_flush_during_shutdown = false;
  options->description = "mode " + mode;
  if (options->db.use_direct_reads) options->description += ", direct reads";
  if (options->family.enable_blob_files) options->description += ", blob files";
  if (!options->takes_ranges) options->description += ", PlainTables";
  if (FLAGS_use_txn) options->description += ", transactions";
  if (FLAGS_use_optimistic_txn) options->description += ", optimistic transactions";
  return true;
}

}  // namespace varve::stress
