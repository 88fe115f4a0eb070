// SPDX-License-Identifier: Apache-2.0

// Implements the presets of options that make a block cache. The other presets are in util/options,
// which may not include caches.

#include <memory>

#include "varve/cache.h"
#include "varve/filter_policy.h"
#include "varve/options.h"
#include "varve/table.h"
#include "varve/write_buffer_manager.h"

namespace varve {

namespace {

constexpr size_t kSmallCacheBytes = 16 << 20;

// Returns `*cache` if there is one, else a new small one, which it also stores in *cache.
std::shared_ptr<Cache> CacheFor(std::shared_ptr<Cache>* cache) {
  if (cache != nullptr && *cache != nullptr) return *cache;
  std::shared_ptr<Cache> made = NewLRUCache(kSmallCacheBytes);
  if (cache != nullptr) *cache = made;
  return made;
}

}  // namespace

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  write_buffer_size = 2 << 20;
  target_file_size_base = 2 << 20;
  max_bytes_for_level_base = 10 << 20;
  soft_pending_compaction_bytes_limit = 256 << 20;
  hard_pending_compaction_bytes_limit = 1 << 30;
  // One cache holds what memory is spent on: data, indexes and filters, and by
  // DBOptions::OptimizeForSmallDb the charge of the memtables as well.
  BlockBasedTableOptions table;
  table.block_cache = CacheFor(cache);
  table.cache_index_and_filter_blocks = true;
  table_factory.reset(NewBlockBasedTableFactory(table));
  return this;
}

ColumnFamilyOptions* ColumnFamilyOptions::OptimizeForPointLookup(uint64_t block_cache_size_mb) {
  BlockBasedTableOptions table;
  table.data_block_index_type = BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  table.block_cache = NewLRUCache(static_cast<size_t>(block_cache_size_mb) << 20);
  table_factory.reset(NewBlockBasedTableFactory(table));
  // A filter of whole keys, which takes 2 % of the write buffer, spares look-ups in memtables as
  // the filters of tables do.
  memtable_prefix_bloom_size_ratio = 0.02;
  memtable_whole_key_filtering = true;
  return this;
}

DBOptions* DBOptions::OptimizeForSmallDb(std::shared_ptr<Cache>* cache) {
  max_file_opening_threads = 1;
  max_open_files = 5000;
  // Memtables are charged to the cache, without a limit of their own.
  write_buffer_manager = std::make_shared<WriteBufferManager>(0, CacheFor(cache));
  return this;
}

Options* Options::OptimizeForSmallDb() {
  std::shared_ptr<Cache> cache = NewLRUCache(kSmallCacheBytes);
  ColumnFamilyOptions::OptimizeForSmallDb(&cache);
  DBOptions::OptimizeForSmallDb(&cache);
  return this;
}

}  // namespace varve
