// SPDX-License-Identifier: Apache-2.0

// Decoding copies handles and separators into arrays and builds the words of the separators
// (SeparatorPrefixes). A search narrows the range by words, mostly to one entry, and compares whole
// separators only within what is left.

#include "table/index/decoded_index.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "util/base/assert.h"

namespace varve {

// Handles are checked against the file here, once, so that reading a block by this index needs no
// check. Separators out of order are no error: the index is then searched without words.
Status DecodedIndex::Decode(const Slice& block, const IndexForm& form,
                            const InternalKeyComparator& icmp, uint64_t limit, const Slice& where,
                            std::unique_ptr<DecodedIndex>* index) {
  std::unique_ptr<DecodedIndex> result(new DecodedIndex);
  result->form_ = form;
  IndexIterator entries(block, form);
  while (entries.Next()) {
    const BlockHandle& handle = entries.handle();
    if (!handle.FitsIn(limit) || handle.size > UINT32_MAX) {
      return Status::Corruption(
          "index points outside the file: offset " + std::to_string(handle.offset) + ", size " +
              std::to_string(handle.size) + ", limit " + std::to_string(limit),
          where);
    }
    const Slice key = entries.key();
    const size_t tail = form.user_keys ? 0 : kInternalKeyTrailerBytes;
    // Checked once here, so that searches may cut off trailer and timestamp without looking.
    if (key.size() < icmp.timestamp_size() + tail) {
      return Status::Corruption("an index key is shorter than its timestamp", where);
    }
    if (key.size() > UINT32_MAX - result->separators_.size()) {
      return Status::NotSupported("index with more than 4 GiB of keys", where);
    }
    result->separators_.append(key.data(), key.size());
    result->entries_.push_back(Entry{handle.offset, static_cast<uint32_t>(handle.size),
                                     static_cast<uint32_t>(result->separators_.size())});
  }
  if (entries.damage() != nullptr) return Status::Corruption(entries.damage(), where);
  result->separators_.shrink_to_fit();
  result->entries_.shrink_to_fit();

  if (BytesDecide(icmp.order())) {
    result->prefixes_.Build(result->size(), IsReverse(icmp.order()),
                            [&](size_t i) { return result->separator_key(i, icmp); });
  }
  *index = std::move(result);
  return Status::OK();
}

// The cache has a pointer to each slot that refers to a block, and would write to it on eviction.
DecodedIndex::~DecodedIndex() {
  for (BlockSlot& slot : slots_) slot_cache_->Detach(&slot);
}

// All slots begin empty: a block enters its slot when it is first read through the cache.
void DecodedIndex::MakeSlots(ClockCache* cache) {
  VARVE_ASSERT(slots_.empty() && cache != nullptr);
  slot_cache_ = cache;
  slots_ = std::vector<BlockSlot, HugeHeapAllocator<BlockSlot>>(size());
}

size_t DecodedIndex::CountCached() const {
  size_t count = 0;
  for (const BlockSlot& slot : slots_) {
    if (slot.load(std::memory_order_relaxed) != nullptr) count++;
  }
  return count;
}

bool DecodedIndex::Before(const InternalKeyComparator& icmp, size_t i, const Slice& target,
                          const Slice& target_user_key) const {
  return form_.user_keys ? icmp.CompareUserKey(separator(i), target_user_key) < 0
                         : icmp.Compare(separator(i), target) < 0;
}

size_t DecodedIndex::Seek(const InternalKeyComparator& icmp, const Slice& target) const {
  if (!prefixes_.built()) [[unlikely]]
    return SeekBetween(icmp, target, {0, size()});
  // The slot that is wanted next is one of two cache lines of slots.
  const auto near = [this](size_t first) {
    constexpr size_t kSlotsOfLine = 64 / sizeof(BlockSlot);
    for (size_t i = 0; i < SeparatorPrefixes::kNear; i += kSlotsOfLine) PrefetchSlot(first + i);
  };
  return SeekBetween(icmp, target, prefixes_.Find(icmp.KeyOf(target), near));
}

// The words of all targets are searched level by level; only what is left of each range is compared
// one target after the other.
void DecodedIndex::Seek(const InternalKeyComparator& icmp, std::span<const Slice> targets,
                        size_t* places) const {
  VARVE_ASSERT(targets.size() <= kSoughtMax);
  if (!prefixes_.built()) {
    for (size_t i = 0; i < targets.size(); i++) places[i] = Seek(icmp, targets[i]);
    return;
  }
  Slice keys[kSoughtMax];
  SeparatorPrefixes::Range ranges[kSoughtMax];
  for (size_t i = 0; i < targets.size(); i++) keys[i] = icmp.KeyOf(targets[i]);
  prefixes_.Find({keys, targets.size()}, ranges);
  for (size_t i = 0; i < targets.size(); i++) places[i] = SeekBetween(icmp, targets[i], ranges[i]);
}

// The range must be such that separators before it sort before the target, and those from its end
// on do not.
size_t DecodedIndex::SeekBetween(const InternalKeyComparator& icmp, const Slice& target,
                                 SeparatorPrefixes::Range range) const {
  const Slice user_key = ExtractUserKey(target);
  VARVE_ASSERT(range.begin <= range.end && range.end <= size());
  size_t low = range.begin;
  size_t high = range.end;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (Before(icmp, middle, target, user_key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

size_t DecodedIndex::MemoryUsage() const {
  return sizeof(*this) + prefixes_.MemoryUsage() + separators_.capacity() +
         HugeHeapAllocator<Entry>::OccupiedBytes(entries_.capacity()) +
         HugeHeapAllocator<BlockSlot>::OccupiedBytes(slots_.capacity());
}

}  // namespace varve
