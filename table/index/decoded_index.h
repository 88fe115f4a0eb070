// SPDX-License-Identifier: Apache-2.0
#pragma once

// One index block, taken apart on load into arrays that are searched without decoding anything.

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
#include "util/mem/prefetch.h"

namespace varve {

// Thread safety: immutable, but for the slots.
class DecodedIndex {
 public:
  DecodedIndex(const DecodedIndex&) = delete;
  DecodedIndex& operator=(const DecodedIndex&) = delete;
  ~DecodedIndex();

  // `block` is not needed afterwards. Every handle is checked to lie within the first `limit` bytes
  // of the file. Errors: Corruption with `where`, which names file and block.
  static Status Decode(const Slice& block, const IndexForm& form, const InternalKeyComparator& icmp,
                       uint64_t limit, const Slice& where, std::unique_ptr<DecodedIndex>* index);

  [[nodiscard]] size_t size() const { return offsets_.size(); }
  // These require i < size().
  [[nodiscard]] BlockHandle handle(size_t i) const {
    VARVE_ASSERT(i < size());
    return BlockHandle{offsets_[i], sizes_[i]};
  }
  // A user key or an internal key, as form().user_keys says.
  [[nodiscard]] Slice separator(size_t i) const {
    VARVE_ASSERT(i < size());
    const size_t begin = i == 0 ? 0 : separator_ends_[i - 1];
    return Slice(separators_.data() + begin, separator_ends_[i] - begin);
  }
  [[nodiscard]] Slice separator_user_key(size_t i) const {
    return form_.user_keys ? separator(i) : ExtractUserKey(separator(i));
  }
  // Without the timestamp.
  [[nodiscard]] Slice separator_key(size_t i, const InternalKeyComparator& icmp) const {
    return icmp.WithoutTimestamp(separator_user_key(i));
  }
  // Whether the separator is of `key`. Told by the words, which a search has just read, where they
  // differ.
  [[nodiscard]] bool SeparatorIsOf(size_t i, const Slice& key,
                                   const InternalKeyComparator& icmp) const {
    if (prefixes_.built() && !prefixes_.MayBe(i, key)) return false;
    return icmp.EqualKey(separator_key(i, icmp), key);
  }
  [[nodiscard]] const IndexForm& form() const { return form_; }

  // From now on each entry has a slot for its block in `cache`, which outlives the index.
  void MakeSlots(ClockCache* cache);
  // Null without slots. Requires i < size().
  [[nodiscard]] BlockSlot* slot(size_t i) const {
    VARVE_ASSERT(i < size());
    return slots_ != nullptr ? &slots_[i] : nullptr;
  }

  // Returns how many entries have a block in the cache now, as far as their slots know.
  [[nodiscard]] size_t CountCached() const;

  // The cache need not keep the blocks: the table is going.
  void DropBlocks() const {
    if (slots_ != nullptr) slot_cache_->Drop({slots_.get(), size()});
  }

  // Asks for the slot itself. Any `i`, and whether there are slots or not: an address is no more
  // than a number here.
  void PrefetchSlot(size_t i) const {
    const auto first = reinterpret_cast<uintptr_t>(slots_.get());
    PrefetchLine(reinterpret_cast<const void*>(first + i * sizeof(BlockSlot)));
  }
  // Asks for what is known of an entry, but for its separator. Requires i < size().
  void PrefetchEntry(size_t i) const {
    PrefetchSlot(i);
    PrefetchLine(&offsets_[i]);
    PrefetchLine(&sizes_[i]);
  }

  // Index of the first entry whose separator is >= `target` (an internal key): the only block that
  // may hold it. size() if there is none.
  [[nodiscard]] size_t Seek(const InternalKeyComparator& icmp, const Slice& target) const;
  // The same for each of at most kSoughtMax targets, so that the waits for memory overlap.
  static constexpr size_t kSoughtMax = SeparatorPrefixes::kSoughtMax;
  void Seek(const InternalKeyComparator& icmp, std::span<const Slice> targets,
            size_t* places) const;

  [[nodiscard]] size_t MemoryUsage() const;

 private:
  DecodedIndex() = default;
  [[nodiscard]] size_t SeekBetween(const InternalKeyComparator& icmp, const Slice& target,
                                   SeparatorPrefixes::Range range) const;
  [[nodiscard]] bool Before(const InternalKeyComparator& icmp, size_t i, const Slice& target,
                            const Slice& target_user_key) const;

  IndexForm form_;
  // Of the separators' keys, without timestamps; not built if the comparator does not order by
  // bytes, or the block is out of order.
  SeparatorPrefixes prefixes_;
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> sizes_;
  std::string separators_;
  std::vector<uint32_t> separator_ends_;
  ClockCache* slot_cache_ = nullptr;
  std::unique_ptr<BlockSlot[]> slots_;
};

}  // namespace varve
