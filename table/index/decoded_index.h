// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds one index block, decoded on load into arrays that are searched without further decoding.
//
//      i                 0         1         2         3
//      separators_     [ "c"    ][ "hk"   ][ "p"    ][ "zz"   ]
//      entries_        [ 0/4090 ][ 4095/..][ ...    ][ ...    ]   data blocks in the file, and
//      where
//                                                                 separators end
//      slots_          [ ->     ][ -      ][ ->     ][ -      ]   blocks in the cache now
//
// A look-up for "k" seeks the first separator that is not below it ("p", entry 2). If slot 2 refers
// to a cached block, the block is searched at once: no key of the cache is made, and no table of
// the cache is searched. What a look-up reads first lies on huge pages.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "table/cache/clock_cache.h"
#include "table/format/block_handle.h"
#include "table/index/index_iterator.h"
#include "table/index/separator_prefixes.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"
#include "util/mem/huge_heap.h"
#include "util/mem/prefetch.h"

namespace varve {

// Thread safety: immutable, except for the slots.
class DecodedIndex {
 public:
  DecodedIndex(const DecodedIndex&) = delete;
  DecodedIndex& operator=(const DecodedIndex&) = delete;
  // Clears the slots in the cache, which refers back to them.
  ~DecodedIndex();

  // Decodes an uncompressed index block; `block` is not needed afterwards. Checks that every handle
  // lies within the first `limit` bytes of the file. `where` names file and block in messages.
  // Corruption: an entry is malformed, its handle lies elsewhere, or its key is too short for a
  // timestamp. NotSupported: there are more than 4 GiB of keys. *index is set on success only.
  static Status Decode(const Slice& block, const IndexForm& form, const InternalKeyComparator& icmp,
                       uint64_t limit, const Slice& where, std::unique_ptr<DecodedIndex>* index);

  // Returns the number of entries.
  [[nodiscard]] size_t size() const { return entries_.size(); }
  // The calls below require i < size().
  [[nodiscard]] BlockHandle handle(size_t i) const {
    VARVE_ASSERT(i < size());
    return BlockHandle{entries_[i].offset, entries_[i].size};
  }
  // Returns the separator, a user key or an internal key according to form().user_keys.
  [[nodiscard]] Slice separator(size_t i) const {
    VARVE_ASSERT(i < size());
    const size_t begin = i == 0 ? 0 : entries_[i - 1].separator_end;
    return Slice(separators_.data() + begin, entries_[i].separator_end - begin);
  }
  [[nodiscard]] Slice separator_user_key(size_t i) const {
    return form_.user_keys ? separator(i) : ExtractUserKey(separator(i));
  }
  // Returns the separator's user key without its timestamp.
  [[nodiscard]] Slice separator_key(size_t i, const InternalKeyComparator& icmp) const {
    return icmp.WithoutTimestamp(separator_user_key(i));
  }
  // True if the separator's user key without timestamp is `bare_key`. If the words of the two
  // differ, only these are read, which a search has just done.
  [[nodiscard]] bool SeparatorIsOf(size_t i, const Slice& bare_key,
                                   const InternalKeyComparator& icmp) const {
    if (prefixes_.built() && !prefixes_.MayBe(i, bare_key)) return false;
    return icmp.EqualKey(separator_key(i, icmp), bare_key);
  }
  // Returns how the block was stored.
  [[nodiscard]] const IndexForm& form() const { return form_; }

  // Gives each entry a slot: a pointer to its block in `cache`, which sets it when the block is
  // read and clears it when the block is evicted (table/cache/cache_entry.h). Called at most once,
  // before the index is shared. The cache must outlive the index.
  void MakeSlots(ClockCache* cache);
  // Returns the entry's slot, or null if there are none. Requires i < size().
  [[nodiscard]] BlockSlot* slot(size_t i) const {
    VARVE_ASSERT(i < size());
    return slots_.empty() ? nullptr : &slots_[i];
  }

  // Returns how many entries have a block in the cache now, as far as their slots know.
  [[nodiscard]] size_t CountCached() const;

  // Drops the blocks that slots refer to from the cache, because the table is going away.
  void DropBlocks() const {
    if (!slots_.empty()) slot_cache_->Drop(slots_);
  }

  // Prefetches the slot itself. `i` may have any value, and there need not be slots: the address is
  // only computed.
  void PrefetchSlot(size_t i) const {
    const auto first = reinterpret_cast<uintptr_t>(slots_.data());
    PrefetchLine(reinterpret_cast<const void*>(first + i * sizeof(BlockSlot)));
  }
  // Prefetches the data of an entry, except its separator. Requires i < size().
  void PrefetchEntry(size_t i) const {
    PrefetchSlot(i);
    PrefetchLine(&entries_[i]);
  }

  // Returns the index of the first entry whose separator is >= `target` (an internal key), which
  // leads to the only block that may hold it; size() if there is none.
  [[nodiscard]] size_t Seek(const InternalKeyComparator& icmp, const Slice& target) const;
  // Sets places[k] to what Seek returns for targets[k]. Requires at most kSoughtMax targets.
  // Overlaps the waits for memory.
  static constexpr size_t kSoughtMax = SeparatorPrefixes::kSoughtMax;
  void Seek(const InternalKeyComparator& icmp, std::span<const Slice> targets,
            size_t* places) const;

  // Returns the bytes of all arrays, slots included.
  [[nodiscard]] size_t MemoryUsage() const;

 private:
  // A data block in the file, and the end of its separator in separators_.
  struct Entry {
    uint64_t offset;
    uint32_t size;
    uint32_t separator_end;
  };

  DecodedIndex() = default;
  // Searches a part of the index by comparisons in full.
  [[nodiscard]] size_t SeekBetween(const InternalKeyComparator& icmp, const Slice& target,
                                   SeparatorPrefixes::Range range) const;
  // True if separator i sorts before the target, an internal key with this user key.
  [[nodiscard]] bool Before(const InternalKeyComparator& icmp, size_t i, const Slice& target,
                            const Slice& target_user_key) const;

  IndexForm form_;
  // Prefixes of the separators' keys, without timestamps; not built if the comparator does not
  // order by bytes, or the block is out of order.
  SeparatorPrefixes prefixes_;
  std::vector<Entry, HugeHeapAllocator<Entry>> entries_;
  // All separators, one after the other.
  std::string separators_;
  ClockCache* slot_cache_ = nullptr;
  // One for each entry; empty if the cache has no slots. The cache writes to them at any time.
  mutable std::vector<BlockSlot, HugeHeapAllocator<BlockSlot>> slots_;
};

}  // namespace varve
