// SPDX-License-Identifier: Apache-2.0
#include "tests/model/option_sets.h"

#include <iterator>

#include "varve/cache.h"
#include "varve/filter_policy.h"
#include "varve/flush_block_policy.h"
#include "varve/slice_transform.h"
#include "varve/table.h"

#include "util/coding/hash.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

namespace {

// Records what was chosen, so that a failure can be repeated by hand.
class Chooser {
 public:
  Chooser(Random* random, std::string* description) : random_(random), description_(description) {}

  template <typename T, size_t N>
  T Of(const char* name, const T (&values)[N]) {
    const size_t i = random_->Below(N);
    *description_ += std::string(" ") + name + "#" + std::to_string(i);
    return values[i];
  }
  bool Flag(const char* name, uint64_t one_in) {
    const bool on = random_->OneIn(one_in);
    if (on) *description_ += std::string(" ") + name;
    return on;
  }

 private:
  Random* random_;
  std::string* description_;
};

// Ends blocks anywhere: after one entry, after very many, and between.
class EndAnywhere final : public FlushBlockPolicyFactory {
 public:
  const char* Name() const override { return "EndAnywhere"; }
  FlushBlockPolicy* NewFlushBlockPolicy(const BlockBasedTableOptions& /*table_options*/,
                                        const BlockBuilder& /*block*/) const override {
    return new Policy;
  }

 private:
  class Policy final : public FlushBlockPolicy {
   public:
    bool Update(const Slice& key, const Slice& /*value*/) override {
      if (left_ > 0) {
        left_--;
        return false;
      }
      const uint64_t hash = KeyHash64(key);
      left_ = hash % 8 == 0 ? 1000 : hash % 5;
      return true;
    }

   private:
    uint64_t left_ = 0;
  };
};

void SetFilter(Chooser* choose, BlockBasedTableOptions* table) {
  if (choose->Flag("ribbon", 3)) {
    const int bloom_before[] = {-1, 0, 2};
    table->filter_policy.reset(NewRibbonFilterPolicy(10, choose->Of("before", bloom_before)));
  } else {
    table->filter_policy.reset(NewBloomFilterPolicy(10));
  }
  table->detect_filter_construct_corruption = choose->Flag("check_filter", 4);
}

// A strict limit is never reached: other tests cover errors for lack of memory.
void SetCharges(Chooser* choose, BlockBasedTableOptions* table) {
  CacheUsageOptions& usage = table->cache_usage_options;
  if (choose->Flag("charge", 3)) usage.options.charged = CacheEntryRoleOptions::Decision::kEnabled;
  const struct {
    const char* name;
    CacheEntryRole role;
  } kRoles[] = {{"reader", CacheEntryRole::kBlockBasedTableReader},
                {"file", CacheEntryRole::kFileMetadata},
                {"filter", CacheEntryRole::kFilterConstruction},
                {"dictionary", CacheEntryRole::kCompressionDictionaryBuildingBuffer}};
  const CacheEntryRoleOptions::Decision decisions[] = {CacheEntryRoleOptions::Decision::kEnabled,
                                                       CacheEntryRoleOptions::Decision::kDisabled,
                                                       CacheEntryRoleOptions::Decision::kFallback};
  for (const auto& role : kRoles) {
    usage.options_overrides[role.role].charged =
        choose->Of((std::string("charge_") + role.name).c_str(), decisions);
  }
  if (choose->Flag("strict", 3)) {
    table->block_cache = NewLRUCache(256 << 20, 2, /*strict_capacity_limit=*/true);
  }
}

BlockBasedTableOptions TableOptions(Chooser* choose) {
  BlockBasedTableOptions table;
  const size_t block_sizes[] = {64, 256, 1024, 4096};
  const int restarts[] = {1, 2, 16};
  const uint32_t versions[] = {5, 5, 7, 6, 4, 3, 2};
  const ChecksumType checksums[] = {kXXH3, kCRC32c, kxxHash64, kxxHash, kNoChecksum};
  table.block_size = choose->Of("block_size", block_sizes);
  table.block_restart_interval = choose->Of("restart", restarts);
  table.index_block_restart_interval = choose->Of("index_restart", restarts);
  table.format_version = choose->Of("format_version", versions);
  table.checksum = choose->Of("checksum", checksums);
  if (choose->Flag("filter", 2)) SetFilter(choose, &table);
  if (choose->Flag("block_policy", 5)) {
    table.flush_block_policy_factory = std::make_shared<EndAnywhere>();
  }
  if (choose->Flag("hash_in_block", 4)) {
    table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  }
  if (choose->Flag("partitioned_index", 4)) {
    table.index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
    const uint64_t partitions[] = {64, 512, 4096};
    table.metadata_block_size = choose->Of("partition", partitions);
    table.partition_filters = choose->Flag("partitioned_filter", 2);
  }
  table.cache_index_and_filter_blocks = choose->Flag("cache_index", 3);
  if (choose->Flag("prepopulate", 5)) {
    table.prepopulate_block_cache = BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  }
  if (choose->Flag("no_cache", 6)) {
    table.no_block_cache = true;
    table.cache_index_and_filter_blocks = false;
  } else {
    const size_t capacities[] = {4 << 10, 64 << 10, 8 << 20};
    table.block_cache = NewLRUCache(choose->Of("cache", capacities), 2);
    SetCharges(choose, &table);
  }
  return table;
}

// Returns one of the modes that open today.
const WriteMode* RandomMode(Random* random, std::string* description) {
  const std::span<const WriteMode> modes = WriteModes();
  const WriteMode* mode = nullptr;
  do {
    mode = &modes[random->Below(modes.size())];
  } while (IsExpectedRefusal(*mode));
  *description += " mode:" + std::string(mode->name);
  return mode;
}

}  // namespace

std::unique_ptr<Env> RandomEnv(Random* random) {
  auto files = std::make_shared<MemFileSystem>();
  if (random->OneIn(2)) files->OfferMappedFiles();
  return NewCompositeEnv(files);
}

OptionSet RandomOptionSet(Random* random, Env* env) {
  OptionSet set;
  Chooser choose(random, &set.description);
  set.db.create_if_missing = true;
  set.db.create_missing_column_families = true;
  set.mode = RandomMode(random, &set.description);
  set.mode->Apply(&set.db, &set.family);
  set.db.env = env;
  set.db.atomic_flush |= !set.db.enable_pipelined_write && choose.Flag("atomic_flush", 4);
  set.db.avoid_flush_during_recovery = choose.Flag("avoid_flush_during_recovery", 3);
  set.db.best_efforts_recovery = choose.Flag("best_efforts_recovery", 4);
  set.db.max_open_files = choose.Flag("few_open_files", 4) ? 24 : -1;
  set.db.max_subcompactions = choose.Flag("subcompactions", 3) ? 4 : 1;
  const int jobs[] = {1, 2, 4, 16};  // 16: four flushes at once
  set.db.max_background_jobs = choose.Of("jobs", jobs);
  if (choose.Flag("small_logs", 4)) set.db.max_total_wal_size = 64 << 10;
  if (choose.Flag("small_manifest", 4)) set.db.max_manifest_file_size = 2 << 10;
  const uint64_t rooms[] = {UINT64_MAX, UINT64_MAX, 0, 8 << 10, 256 << 10};
  set.fast_bytes = choose.Of("fast", rooms);

  ColumnFamilyOptions& cf = set.family;
  const size_t buffers[] = {64 << 10, 64 << 10, 256 << 10, 4 << 20};
  const size_t targets[] = {1 << 10, 32 << 10, 1 << 20};
  const CompressionType codecs[] = {kNoCompression, kSnappyCompression, kLZ4Compression, kZSTD};
  const int triggers[] = {2, 4, 8};
  const int levels[] = {2, 4, 7};
  const int waiting[] = {2, 2, 6};
  cf.write_buffer_size = choose.Of("write_buffer", buffers);
  cf.max_write_buffer_number = choose.Of("memtables", waiting);
  cf.target_file_size_base = choose.Of("target_file", targets);
  cf.max_bytes_for_level_base = 4 * cf.target_file_size_base;
  cf.max_bytes_for_level_multiplier = 3;
  const uint32_t compressors[] = {0, 1, 3};
  cf.compression = choose.Of("compression", codecs);
  if (choose.Flag("dictionary", 5)) cf.compression_opts.max_dict_bytes = 2 << 10;
  cf.compression_opts.parallel_threads = choose.Of("compressors", compressors);
  cf.level0_file_num_compaction_trigger = choose.Of("l0_trigger", triggers);
  cf.num_levels = choose.Of("levels", levels);
  cf.level_compaction_dynamic_level_bytes = choose.Flag("dynamic_levels", 2);
  cf.disable_auto_compactions = choose.Flag("no_auto_compaction", 6);
  // FIFO forgets nothing here: there is no ttl, and the data stays far below the cap.
  const CompactionStyle styles[] = {kCompactionStyleLevel,     kCompactionStyleLevel,
                                    kCompactionStyleLevel,     kCompactionStyleUniversal,
                                    kCompactionStyleUniversal, kCompactionStyleFIFO};
  cf.compaction_style = choose.Of("style", styles);
  cf.compaction_options_fifo.allow_compaction = choose.Flag("fifo_merges", 2);
  CompactionOptionsUniversal& universal = cf.compaction_options_universal;
  const unsigned amplifications[] = {200, 25};
  universal.max_size_amplification_percent = choose.Of("amplification", amplifications);
  universal.allow_trivial_move = choose.Flag("universal_moves", 3);
  universal.stop_style = choose.Flag("similar_sizes", 3) ? kCompactionStopStyleSimilarSize
                                                         : kCompactionStopStyleTotalSize;
  const uint64_t skips[] = {0, 1, 8};
  cf.max_sequential_skip_in_iterations = choose.Of("skip", skips);
  if (choose.Flag("memtable_bloom", 4)) {
    cf.memtable_prefix_bloom_size_ratio = 0.1;
    cf.memtable_whole_key_filtering = true;
  }
  if (choose.Flag("blobs", 3)) {
    const uint64_t limits[] = {0, 20, 100};
    const uint64_t sizes[] = {500, 20 << 10, 1 << 28};
    const double cutoffs[] = {0, 0.3, 1};
    const int starts[] = {0, 0, 1, 3};
    cf.enable_blob_files = true;
    cf.min_blob_size = choose.Of("blob_limit", limits);
    cf.blob_file_size = choose.Of("blob_file_bytes", sizes);
    cf.blob_compression_type = choose.Of("blob_compression", codecs);
    cf.enable_blob_garbage_collection = choose.Flag("blob_gc", 2);
    cf.blob_garbage_collection_age_cutoff = choose.Of("blob_cutoff", cutoffs);
    cf.blob_garbage_collection_force_threshold = choose.Of("blob_threshold", cutoffs);
    cf.blob_file_starting_level = choose.Of("blob_level", starts);
    if (choose.Flag("blob_readahead", 3)) cf.blob_compaction_readahead_size = 4096;
  }
  const uint32_t protections[] = {0, 0, 0, 1, 8};
  cf.memtable_protection_bytes_per_key = choose.Of("protection", protections);
  const uint8_t block_protections[] = {0, 0, 0, 8};
  cf.block_protection_bytes_per_key = choose.Of("block_protection", block_protections);
  const uint64_t samples[] = {0, 0, 0, 2};
  cf.sample_for_compression = choose.Of("sample", samples);
  cf.paranoid_file_checks = choose.Flag("paranoid_file_checks", 6);
  cf.optimize_filters_for_hits = choose.Flag("filters_for_hits", 5);
  if (choose.Flag("reverse", 5)) cf.comparator = ReverseBytewiseComparator();
  BlockBasedTableOptions table = TableOptions(&choose);
  if (choose.Flag("prefix", 4)) {
    cf.prefix_extractor.reset(NewFixedPrefixTransform(3));
    table.whole_key_filtering = !choose.Flag("prefixes_only", 3);
    if (choose.Flag("hash_index", 3)) table.index_type = BlockBasedTableOptions::kHashSearch;
  }
  if (cf.enable_blob_files && choose.Flag("blob_cache", 2)) {
    const bool shares = table.block_cache != nullptr && choose.Flag("shared_blob_cache", 2);
    cf.blob_cache = shares ? table.block_cache
                           : NewLRUCache(16 << 10, /*num_shard_bits=*/0,
                                         /*strict_capacity_limit=*/choose.Flag("blob_strict", 2));
    // A cache cannot be charged to one that is smaller.
    const bool fits = !shares && table.block_cache != nullptr &&
                      table.block_cache->GetCapacity() >= cf.blob_cache->GetCapacity();
    if (fits && choose.Flag("charge_blobs", 2)) {
      table.cache_usage_options.options_overrides[CacheEntryRole::kBlobCache].charged =
          CacheEntryRoleOptions::Decision::kEnabled;
    }
    if (choose.Flag("blob_prepopulate", 2)) {
      cf.prepopulate_blob_cache = PrepopulateBlobCache::kFlushOnly;
    }
  }
  if (cf.compression == kNoCompression) table.block_align = choose.Flag("aligned", 3);
  cf.table_factory.reset(NewBlockBasedTableFactory(table));
  if (choose.Flag("temperatures", 4)) {
    cf.default_write_temperature = Temperature::kHot;
    cf.last_level_temperature = Temperature::kCold;
    cf.compaction_options_fifo.age_for_warm = 1;
  }
  if (choose.Flag("universal_windows", 4)) {
    universal.incremental = true;
    cf.max_compaction_bytes = 8 << 10;
  }
  if (cf.enable_blob_files) cf.punch_holes_in_blob_files = choose.Flag("blob_holes", 2);
  return set;
}

void MayUsePlainTables(Random* random, OptionSet* set) {
  Chooser choose(random, &set->description);
  if (!choose.Flag("plain_tables", 6)) return;
  PlainTableOptions table;
  const EncodingType encodings[] = {kPlain, kPrefix};
  const size_t distances[] = {16, 1, 3};
  const int bits[] = {10, 0};
  table.encoding_type = choose.Of("encoding", encodings);
  table.index_sparseness = choose.Of("sparseness", distances);
  table.bloom_bits_per_key = choose.Of("bits", bits);
  set->family.table_factory.reset(NewPlainTableFactory(table));
  if (set->family.prefix_extractor == nullptr && choose.Flag("capped_prefix", 2)) {
    set->family.prefix_extractor.reset(NewCappedPrefixTransform(4));
  }
  set->db.allow_mmap_reads = choose.Flag("mapped", 2);
  set->takes_ranges = false;
}

}  // namespace varve::testing
