// SPDX-License-Identifier: Apache-2.0

// Flags that are named unlike the options that they set, or set several: one function for each part
// of the options, which judges only what the library cannot judge itself.
//
// Sources of an option, the stronger below:
//
//      default of the library
//      default of RocksDB's db_bench    (option_flags.cc, kDefaults)
//      flag of this file                (FLAGS_...)
//      --<name of the option>=<text>    (OptionFlags::Apply, for the second time)
//
// With --options_file none of these counts but the file. Only the flags that OptionsFromFlags
// handles itself, such as --statistics and --merge_operator, still apply.

#include "tools/db_bench/options_from_flags.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "varve/cache.h"
#include "varve/convenience.h"
#include "varve/file_checksum.h"
#include "varve/filter_policy.h"
#include "varve/merge_operator.h"
#include "varve/rate_limiter.h"
#include "varve/slice_transform.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/utilities/options_util.h"

#include "tools/db_bench/flags.h"
#include "util/compress/codec.h"

namespace varve::bench {

namespace {

constexpr std::array<std::pair<const char*, CompressionType>, 8> kCompressionNames = {{
    {"none", kNoCompression},
    {"snappy", kSnappyCompression},
    {"zlib", kZlibCompression},
    {"bzip2", kBZip2Compression},
    {"lz4", kLZ4Compression},
    {"lz4hc", kLZ4HCCompression},
    {"xpress", kXpressCompression},
    {"zstd", kZSTD},
}};

bool Refuse(const char* flag, const std::string& value, const char* why) {
  std::fprintf(stderr, "--%s=%s: %s\n", flag, value.c_str(), why);
  return false;
}

void SetKeys(Options* o) {
  // A validator admits only 0 and 8 bytes, the size of this comparator's timestamps.
  if (FLAGS_user_timestamp_size != 0) o->comparator = BytewiseComparatorWithU64Ts();
}

void SetMemtables(Options* o) {
  // 2 MiB is the size of a huge page on x86-64; 0 means ordinary pages.
  o->memtable_huge_page_size = FLAGS_memtable_use_huge_page ? size_t{2} << 20 : 0;
  o->memtable_prefix_bloom_size_ratio = FLAGS_memtable_bloom_size_ratio;
}

void SetLog(Options* o) {
  if (FLAGS_file_checksum) o->file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  o->wal_dir = FLAGS_wal_dir;
  o->WAL_ttl_seconds = FLAGS_wal_ttl_seconds;
  o->WAL_size_limit_MB = FLAGS_wal_size_limit_MB;
}

void SetFifo(Options* o) {
  CompactionOptionsFIFO& fifo = o->compaction_options_fifo;
  const uint64_t mebibytes = FLAGS_fifo_compaction_max_table_files_size_mb;
  if (mebibytes != 0) fifo.max_table_files_size = mebibytes << 20;
  fifo.allow_compaction = FLAGS_fifo_compaction_allow_compaction;
  fifo.age_for_warm = FLAGS_fifo_age_for_warm;
  if (FLAGS_fifo_compaction_ttl != 0) o->ttl = FLAGS_fifo_compaction_ttl;
}

// Checks the enumerations itself, because a number outside of them would become an enumerator that
// does not exist. All other values are judged by the library when the database is opened.
bool SetTree(Options* o) {
  if (FLAGS_compaction_style < 0 || FLAGS_compaction_style > 3) {
    return Refuse("compaction_style", std::to_string(FLAGS_compaction_style), "0 to 3");
  }
  if (FLAGS_compaction_pri < 0 || FLAGS_compaction_pri > 4) {
    return Refuse("compaction_pri", std::to_string(FLAGS_compaction_pri), "0 to 4");
  }
  o->compaction_style = static_cast<CompactionStyle>(FLAGS_compaction_style);
  o->compaction_pri = static_cast<CompactionPri>(FLAGS_compaction_pri);
  o->ttl = FLAGS_ttl_seconds;
  SetFifo(o);
  if (FLAGS_prefix_size > 0) {
    o->prefix_extractor.reset(NewFixedPrefixTransform(static_cast<size_t>(FLAGS_prefix_size)));
  }
  return true;
}

void SetUniversal(CompactionOptionsUniversal* u) {
  // A flag of 0 leaves the library's default, as published commands expect.
  const auto set = [](unsigned int* option, int32_t flag) {
    if (flag != 0) *option = static_cast<unsigned int>(flag);
  };
  set(&u->size_ratio, FLAGS_universal_size_ratio);
  set(&u->min_merge_width, FLAGS_universal_min_merge_width);
  set(&u->max_merge_width, FLAGS_universal_max_merge_width);
  set(&u->max_size_amplification_percent, FLAGS_universal_max_size_amplification_percent);
  u->compression_size_percent = FLAGS_universal_compression_size_percent;
  u->allow_trivial_move = FLAGS_universal_allow_trivial_move;
  u->incremental = FLAGS_universal_incremental;
  u->max_read_amp = FLAGS_universal_max_read_amp;
  u->stop_style = static_cast<CompactionStopStyle>(FLAGS_universal_stop_style);
  u->reduce_file_locking = FLAGS_universal_reduce_file_locking;
}

// Limits background work. The pools of threads belong to the environment and not to the options, so
// that they are set at once and last for the whole process.
void SetBackground(Options* o) {
  o->max_subcompactions = static_cast<uint32_t>(FLAGS_subcompactions);
  if (FLAGS_rate_limiter_bytes_per_sec > 0) {
    const auto mode =
        FLAGS_rate_limit_bg_reads ? RateLimiter::Mode::kAllIo : RateLimiter::Mode::kWritesOnly;
    o->rate_limiter.reset(NewGenericRateLimiter(
        static_cast<int64_t>(FLAGS_rate_limiter_bytes_per_sec), FLAGS_rate_limiter_refill_period_us,
        10, mode, FLAGS_rate_limiter_auto_tuned, FLAGS_rate_limiter_single_burst_bytes));
  }
  const auto set_threads = [o](int32_t threads, Env::Priority pool) {
    if (threads > 0) o->env->SetBackgroundThreads(threads, pool);
  };
  set_threads(FLAGS_num_high_pri_threads, Env::Priority::HIGH);
  set_threads(FLAGS_num_low_pri_threads, Env::Priority::LOW);
  set_threads(FLAGS_num_bottom_pri_threads, Env::Priority::BOTTOM);
}

void SetFiles(Options* o) {
  o->max_open_files = FLAGS_open_files;
  o->max_file_opening_threads = FLAGS_file_opening_threads;
  o->allow_mmap_reads = FLAGS_mmap_read;
  o->allow_mmap_writes = FLAGS_mmap_write;
}

bool SetCompression(Options* o) {
  if (!ParseCompression(FLAGS_compression_type, &o->compression)) return false;
  CompressionOptions& c = o->compression_opts;
  c.level = FLAGS_compression_level;
  c.max_dict_bytes = static_cast<uint32_t>(FLAGS_compression_max_dict_bytes);
  c.zstd_max_train_bytes = static_cast<uint32_t>(FLAGS_compression_zstd_max_train_bytes);
  c.use_zstd_dict_trainer = FLAGS_compression_use_zstd_dict_trainer;
  c.max_dict_buffer_bytes = FLAGS_compression_max_dict_buffer_bytes;
  c.parallel_threads = static_cast<uint32_t>(FLAGS_compression_parallel_threads);
  o->sample_for_compression = FLAGS_sample_for_compression;
  o->memtable_protection_bytes_per_key = FLAGS_memtable_protection_bytes_per_key;
  o->block_protection_bytes_per_key =
      static_cast<uint8_t>(std::min(FLAGS_block_protection_bytes_per_key, 255u));
  if (FLAGS_min_level_to_compress < 0) return true;
  for (int level = 0; level < o->num_levels; ++level) {
    o->compression_per_level.push_back(level < FLAGS_min_level_to_compress ? kNoCompression
                                                                           : o->compression);
  }
  return true;
}

// Leaves *cache null with --cache_size=0, which means that there is no block cache at all.
bool MakeCache(std::shared_ptr<Cache>* cache) {
  if (FLAGS_cache_size == 0) return true;
  const auto bytes = static_cast<size_t>(FLAGS_cache_size);
  const std::string& type = FLAGS_cache_type;
  if (type == "lru_cache") {
    LRUCacheOptions options(bytes, FLAGS_cache_numshardbits, false,
                            FLAGS_cache_high_pri_pool_ratio);
    options.low_pri_pool_ratio = FLAGS_cache_low_pri_pool_ratio;
    *cache = options.MakeSharedCache();
  } else if (type == "hyper_clock_cache" || type == "auto_hyper_clock_cache" ||
             type == "fixed_hyper_clock_cache") {
    *cache = HyperClockCacheOptions(bytes, 0, FLAGS_cache_numshardbits).MakeSharedCache();
  } else {
    return Refuse("cache_type", type, "not one of lru_cache and hyper_clock_cache");
  }
  if (*cache == nullptr) return Refuse("cache_type", type, "its options are out of range");
  return true;
}

bool SetBlobCache(const std::shared_ptr<Cache>& block_cache, Options* o) {
  if (FLAGS_prepopulate_blob_cache < 0 || FLAGS_prepopulate_blob_cache > 1) {
    return Refuse("prepopulate_blob_cache", std::to_string(FLAGS_prepopulate_blob_cache), "0 or 1");
  }
  o->prepopulate_blob_cache = static_cast<PrepopulateBlobCache>(FLAGS_prepopulate_blob_cache);
  if (!FLAGS_use_blob_cache) return true;
  o->blob_cache = FLAGS_use_shared_block_and_blob_cache
                      ? block_cache
                      : NewLRUCache(FLAGS_blob_cache_size, FLAGS_blob_cache_numshardbits);
  return o->blob_cache != nullptr ||
         Refuse("use_blob_cache", "true", "there is no such cache: see cache_size and the shards");
}

bool SetIndex(BlockBasedTableOptions* t) {
  if (FLAGS_index_shortening_mode < 0 || FLAGS_index_shortening_mode > 2) {
    return Refuse("index_shortening_mode", std::to_string(FLAGS_index_shortening_mode), "0 to 2");
  }
  using Shortening = BlockBasedTableOptions::IndexShorteningMode;
  t->index_shortening = static_cast<Shortening>(FLAGS_index_shortening_mode);
  if (FLAGS_use_hash_search) {
    if (FLAGS_prefix_size == 0) return Refuse("use_hash_search", "true", "needs --prefix_size");
    t->index_type = BlockBasedTableOptions::kHashSearch;
  } else if (FLAGS_partition_index || FLAGS_partition_index_and_filters) {
    t->index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
  } else if (FLAGS_index_with_first_key) {
    t->index_type = BlockBasedTableOptions::kBinarySearchWithFirstKey;
  }
  t->partition_filters = FLAGS_partition_index_and_filters;
  return true;
}

void SetFilter(BlockBasedTableOptions* t) {
  if (FLAGS_bloom_bits >= 0) {
    t->filter_policy.reset(FLAGS_use_ribbon_filter ? NewRibbonFilterPolicy(FLAGS_bloom_bits)
                                                   : NewBloomFilterPolicy(FLAGS_bloom_bits));
  }
}

void SetCharges(BlockBasedTableOptions* t) {
  const auto set = [t](CacheEntryRole role, bool charged) {
    t->cache_usage_options.options_overrides[role].charged =
        charged ? CacheEntryRoleOptions::Decision::kEnabled
                : CacheEntryRoleOptions::Decision::kDisabled;
  };
  set(CacheEntryRole::kCompressionDictionaryBuildingBuffer,
      FLAGS_charge_compression_dictionary_building_buffer);
  set(CacheEntryRole::kFileMetadata, FLAGS_charge_file_metadata);
  set(CacheEntryRole::kFilterConstruction, FLAGS_charge_filter_construction);
  set(CacheEntryRole::kBlockBasedTableReader, FLAGS_charge_table_reader);
  set(CacheEntryRole::kBlobCache, FLAGS_charge_blob_cache);
}

bool SetTable(const OptionFlags& flags, Options* o, BlockBasedTableOptions* t) {
  if (FLAGS_checksum_type < kNoChecksum || FLAGS_checksum_type > kXXH3) {
    return Refuse("checksum_type", std::to_string(FLAGS_checksum_type), "0 to 4");
  }
  // The block cache comes first: the blob cache and, below, the write buffer manager may share it.
  if (!MakeCache(&t->block_cache) || !SetBlobCache(t->block_cache, o) || !SetIndex(t)) return false;
  SetFilter(t);
  SetCharges(t);
  using Prepopulate = BlockBasedTableOptions::PrepopulateBlockCache;
  t->prepopulate_block_cache = static_cast<Prepopulate>(FLAGS_prepopulate_block_cache);
  t->no_block_cache = t->block_cache == nullptr;
  t->block_size = static_cast<uint64_t>(FLAGS_block_size);
  t->format_version = static_cast<uint32_t>(FLAGS_format_version);
  t->checksum = static_cast<ChecksumType>(FLAGS_checksum_type);
  if (FLAGS_use_data_block_hash_index) {
    t->data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  }
  if (FLAGS_cost_write_buffer_to_cache) {
    o->write_buffer_manager =
        std::make_shared<WriteBufferManager>(o->db_write_buffer_size, t->block_cache);
  }
  // Applied again, as an option that the command line names overrides all other flags.
  if (!flags.Apply(o, t)) return false;
  if (FLAGS_use_plain_table) {
    PlainTableOptions plain;
    if (FLAGS_bloom_bits >= 0) plain.bloom_bits_per_key = FLAGS_bloom_bits;
    if (FLAGS_prefix_size > 0) plain.encoding_type = kPrefix;
    o->table_factory.reset(NewPlainTableFactory(plain));
  } else {
    o->table_factory.reset(NewBlockBasedTableFactory(*t));
  }
  return true;
}

// The lookahead is part of the factory's text, as in "skip_list:16".
bool SetMemtableKind(Options* o) {
  std::string name = FLAGS_memtablerep;
  if (FLAGS_skip_list_lookahead > 0 && name.ends_with("skip_list")) {
    name += ":" + std::to_string(FLAGS_skip_list_lookahead);
  }
  std::unique_ptr<MemTableRepFactory> factory;
  const Status s = GetMemTableRepFactoryFromString(name, &factory);
  if (!s.ok()) return Refuse("memtablerep", name, s.ToString().c_str());
  o->memtable_factory = std::move(factory);
  return true;
}

bool FromFile(Options* options) {
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status s = LoadOptionsFromFile(ConfigOptions(), FLAGS_options_file, &db_options, &families);
  if (!s.ok()) return Refuse("options_file", FLAGS_options_file, s.ToString().c_str());
  *options = Options(db_options, families.at(0).options);
  return true;
}

bool FromFlags(const OptionFlags& flags, Options* options) {
  if (FLAGS_max_write_buffer_number_to_maintain != 0) {
    return Refuse("max_write_buffer_number_to_maintain",
                  std::to_string(FLAGS_max_write_buffer_number_to_maintain),
                  "use --max_write_buffer_size_to_maintain");
  }
  BlockBasedTableOptions table;
  if (!flags.Apply(options, &table)) return false;
  SetKeys(options);
  SetMemtables(options);
  SetUniversal(&options->compaction_options_universal);
  SetBackground(options);
  SetFiles(options);
  SetLog(options);
  return SetTree(options) && SetCompression(options) && SetMemtableKind(options) &&
         SetTable(flags, options, &table);
}

bool SetMergeOperator(Options* o) {
  if (FLAGS_merge_operator.empty()) return true;
  const Status s =
      MergeOperator::CreateFromString(ConfigOptions(), FLAGS_merge_operator, &o->merge_operator);
  if (!s.ok()) return Refuse("merge_operator", FLAGS_merge_operator, s.ToString().c_str());
  return true;
}

}  // namespace

bool OptionsFromFlags(const OptionFlags& flags, Options* options) {
  const bool made = FLAGS_options_file.empty() ? FromFlags(flags, options) : FromFile(options);
  if (!made || !SetMergeOperator(options)) return false;
  options->create_if_missing = !FLAGS_use_existing_db;
  options->create_missing_column_families = FLAGS_num_column_families > 1;
  if (FLAGS_thread_status_per_interval > 0) options->enable_thread_tracking = true;
  if (FLAGS_statistics) {
    if (FLAGS_stats_level < kDisableAll || FLAGS_stats_level > kAll) {
      return Refuse("stats_level", std::to_string(FLAGS_stats_level), "0 to 5");
    }
    options->statistics = CreateDBStatistics();
    options->statistics->set_stats_level(static_cast<StatsLevel>(FLAGS_stats_level));
  }
  return true;
}

ReadOptions ReadOptionsFromFlags() {
  ReadOptions options;
  options.verify_checksums = FLAGS_verify_checksum;
  options.total_order_seek = FLAGS_total_order_seek;
  options.prefix_same_as_start = FLAGS_prefix_same_as_start;
  options.auto_prefix_mode = FLAGS_auto_prefix_mode;
  options.tailing = FLAGS_use_tailing_iterator;
  options.readahead_size = static_cast<size_t>(FLAGS_readahead_size);
  options.adaptive_readahead = FLAGS_adaptive_readahead;
  options.auto_readahead_size = FLAGS_auto_readahead_size;
  options.async_io = FLAGS_async_io;
  options.optimize_multiget_for_io = FLAGS_optimize_multiget_for_io;
  if (FLAGS_rate_limit_user_ops) options.rate_limiter_priority = Env::IO_USER;
  return options;
}

WriteOptions WriteOptionsFromFlags() {
  WriteOptions options;
  options.sync = FLAGS_sync;
  options.disableWAL = FLAGS_disable_wal;
  options.low_pri = FLAGS_low_pri;
  options.protection_bytes_per_key = FLAGS_write_batch_protection_bytes_per_key;
  if (FLAGS_rate_limit_auto_wal_flush) options.rate_limiter_priority = Env::IO_USER;
  return options;
}

std::optional<CompressionType> CompressionNamed(const std::string& name) {
  for (const auto& [known, type] : kCompressionNames) {
    if (strcasecmp(name.c_str(), known) == 0) return type;
  }
  return std::nullopt;
}

bool ParseCompression(const std::string& name, CompressionType* type) {
  const std::optional<CompressionType> named = CompressionNamed(name);
  if (named.has_value()) {
    *type = *named;
  } else {
    std::fprintf(stderr, "Cannot parse compression type '%s'\n", name.c_str());
  }
  return named.has_value();
}

std::string CompressionText(CompressionType type) {
  return type == kNoCompression ? "NoCompression" : CompressionTypeName(type);
}

}  // namespace varve::bench
