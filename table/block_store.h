// SPDX-License-Identifier: Apache-2.0
#pragma once

// The blocks of one open table: out of the block cache, or from the file and then into it.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/options.h"
#include "varve/statistics.h"
#include "varve/status.h"

#include "table/block/block.h"
#include "table/block_fetcher.h"
#include "table/cache/block_cache_key.h"
#include "table/cache/held_block.h"
#include "table/filter/filter_block.h"
#include "table/index/decoded_index.h"
#include "util/env/random_access_file_reader.h"
#include "util/key/internal_key.h"

namespace varve {

class FilePrefetcher;

// How one caller reads blocks.
struct BlockReadContext {
  const ReadOptions* options = nullptr;
  FilePrefetcher* prefetcher = nullptr;
  uint64_t prefetch_limit = 0;
  bool fill_cache = true;
  // High priority in the cache, for indexes and filters.
  bool high_priority = false;
};

// Thread safety: const methods from any thread; it is filled in before it is shared.
// Lifetime: what is Held and came from the cache may outlive the store; the cache may not die
// first.
class BlockStore {
 public:
  // Set once, while the table is being opened.
  BlockFile file;
  std::shared_ptr<Cache> cache;  // null: every read goes to the file
  BlockCacheKeyBase cache_keys;
  const InternalKeyComparator* icmp = nullptr;
  Statistics* statistics = nullptr;
  IndexForm index_form;
  // Of the file's last bytes, while the table is being opened.
  Slice preread;
  uint64_t preread_offset = 0;

  // With read_tier kBlockCacheTier, Incomplete if the block is not in the cache. MemoryLimit if the
  // cache is full and its limit strict.
  Status Get(const BlockHandle& handle, const BlockReadContext& context, Held<Block>* block) const;
  Status Get(const BlockHandle& handle, const BlockReadContext& context,
             Held<DecodedIndex>* index) const;
  Status Get(const BlockHandle& handle, const BlockReadContext& context,
             Held<FilterBlock>* filter) const;

  // Past the cache, owned by the caller.
  Status Read(const BlockHandle& handle, const BlockReadContext& context,
              std::unique_ptr<DecodedIndex>* index) const;
  Status Read(const BlockHandle& handle, const BlockReadContext& context,
              std::unique_ptr<FilterBlock>* filter) const;

  // The bytes of a meta block.
  Status ReadContents(const BlockHandle& handle, const BlockReadContext& context,
                      BlockContents* contents) const;
  [[nodiscard]] BlockFetch MakeFetch(const BlockReadContext& context) const;
  // Reads a block and tests its checksum only.
  Status Verify(const BlockHandle& handle, const BlockReadContext& context) const;

 private:
  Status Read(const BlockHandle& handle, const BlockReadContext& context,
              std::unique_ptr<Block>* block) const;
  template <typename T>
  Status GetCached(const BlockHandle& handle, const BlockReadContext& context, Held<T>* held) const;
};

}  // namespace varve
