// SPDX-License-Identifier: Apache-2.0
#pragma once

// A position in a data block, the base of every walk inside a block. It has no virtual calls.
//
//      block  [restart: whole key][shared 4, "b"][shared 5, "x"] | [restart: whole key][...] ...
//                                        ^ current_     ^ next_                         limit_ ^
//      raw_: the current key, assembled from the bytes it shares with the key before, and its own
//
// Entries can be decoded forward only. A step back decodes the interval from the restart point
// before the current entry, and keeps its entries (cached_entries_) for the steps that follow. Keys
// that share nothing are shown where they lie in the block; others are assembled in buffer_.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "table/block/block.h"
#include "table/block/key_scratch.h"
#include "util/base/assert.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve {

// Walks a block's entries in both directions. Keys and the targets of seeks are internal keys.
//
// Bytes are not trusted: an entry that does not fit the block or its predecessor ends the walk with
// corrupt() true and Valid() false. Every walk ends, since each step moves by at least three bytes.
//
// Thread safety: none. Lifetime: block and comparator must outlive it; key() lives until the next
// move, value() as long as the block.
class DataBlockCursor {
 public:
  DataBlockCursor() = default;
  DataBlockCursor(const DataBlockCursor&) = delete;
  DataBlockCursor& operator=(const DataBlockCursor&) = delete;
  ~DataBlockCursor() {
    if (buffer_ != inline_) delete[] buffer_;
  }

  // Attaches the cursor to a block. An `override_seq` other than kMaxSequenceNumber replaces the
  // sequence number of every key.
  void Init(const Block* block, const InternalKeyComparator* icmp, SequenceNumber override_seq);
  // Detaches the cursor from its block.
  void Clear();

  // True if the cursor is on an entry.
  [[nodiscard]] bool Valid() const { return valid_; }
  // True if the walk has ended because of damage.
  [[nodiscard]] bool corrupt() const { return corrupt_; }
  // Return the internal key and the value of the current entry. Require Valid().
  [[nodiscard]] const Slice& key() const { return key_; }
  [[nodiscard]] const Slice& value() const { return value_; }
  [[nodiscard]] const Block* block() const { return block_; }
  // Returns the offset of the current entry within the block. Requires Valid().
  [[nodiscard]] uint32_t entry_offset() const {
    VARVE_ASSERT(current_ >= block_->entries_begin() && current_ < limit_);
    return static_cast<uint32_t>(current_ - block_->entries_begin());
  }
  // True if key() lives as long as the block.
  [[nodiscard]] bool KeyInBlock() const {
    return key_.data() >= block_->entries_begin() && key_.data() < block_->entries_end();
  }

  // Move to the first or the last entry; not Valid() if there is none.
  void SeekToFirst();
  void SeekToLast();
  // Moves to the first entry >= target.
  void Seek(const Slice& target);
  // Prefetches the entries that Seek(target) will go to, if the block has an index.
  void PrefetchSeek(const Slice& target) const;
  // Moves to the last entry <= target.
  void SeekForPrev(const Slice& target);
  // Moves to a restart point's entry. Requires restart < block()->restart_count().
  void SeekToRestart(uint32_t restart);
  // Moves to the next entry. Returns false at the end and for damage. Requires Valid().
  bool Next() {
    VARVE_ASSERT(valid_);
    cached_ = kNotCached;
    return ParseNext();
  }
  void Prev();  // requires Valid()

  // Moves over up to `max` entries at once, writes them to `out`, and stays on the last. Their keys
  // live until the next move. Returns 0 if none follows, because of the end or damage; then the
  // cursor does not move, and Next() tells the reason. Requires Valid() and max > 0.
  size_t NextBatch(BatchEntry* out, size_t max);
  // Does the same backward. If it returns 0, the cursor is not Valid(), and corrupt() tells the
  // reason.
  size_t PrevBatch(BatchEntry* out, size_t max);

 private:
  // Bytes of a key that need no allocation.
  static constexpr size_t kInlineBytes = 96;
  static constexpr size_t kNotCached = SIZE_MAX;
  // Bytes of each of rooms_: enough for the keys of a usual batch, as longer ones allocate.
  static constexpr size_t kRoomBytes = 480;

  // An entry of the restart interval that PrevBatch decoded last. Its same_key compares it with the
  // entry after it.
  struct CachedEntry {
    BatchEntry entry;
    const char* start;
  };

  // Moves to an entry that is stored whole.
  void StartAt(const char* entry);
  // Decodes the entry at next_, whose key may share bytes with raw_.
  bool ParseNext();
  // Decodes the entry at `p`, which follows one with the stored key `previous`; its key is
  // assembled in `room`. Returns the start of the next entry, or null for damage.
  const char* DecodeForBatch(const char* p, const Slice& previous, KeyScratch* room,
                             BatchEntry* out) const;
  // Returns the scratch buffer that the current key is not in, emptied.
  KeyScratch* FreshScratch();
  // Decodes the restart interval before the current entry. Returns false at the block's start or
  // for damage.
  bool CacheInterval();
  // Moves over one entry whose sequence number is replaced, for NextBatch.
  size_t NextOverridden(BatchEntry* out);
  // Ends the walk because of damage.
  bool Damaged();
  // Ends the walk.
  bool Ended() {
    valid_ = false;
    return false;
  }
  // Replaces buffer_ by one that holds `need` bytes, and copies the first `keep` of the old one.
  // Requires that `need` exceeds capacity_. The block bounds `need`, the size of a key: ParseNext
  // has compared the shared bytes with the key before, and GoToEntry says why it may allocate.
  void GrowBuffer(size_t need, size_t keep);
  // Shows the current key with override_seq_ instead of its own number.
  void OverrideSequence();
  // Seek by binary search over the restart points, or by the entry index.
  void SeekByRestarts(const Slice& target);
  void SeekByIndex(const Slice& target);
  // Moves to the entry with this number in the entry index. Requires that the block has one.
  void GoToEntry(uint32_t at);
  // Sets *key to the internal key stored whole at a restart point. Returns false if there is none.
  bool RestartKey(uint32_t restart, Slice* key) const;
  // Moves to an entry of the cached interval.
  void ShowCached(size_t index);

  // The first is true at an entry, the second after damage was met.
  bool valid_ = false;
  bool corrupt_ = false;
  bool bytes_decide_ = false;                   // keys with different bytes are different keys
  size_t key_tail_ = kInternalKeyTrailerBytes;  // bytes after a key: timestamp and trailer
  Slice key_;                                   // key that callers see
  Slice value_;
  Slice raw_;                    // stored key; the next entry's shared bytes refer to it
  const char* next_ = nullptr;   // the entry after the current one
  const char* limit_ = nullptr;  // end of entries
  const char* current_ = nullptr;
  char* buffer_ = inline_;
  size_t capacity_ = kInlineBytes;
  // The block that is walked, and the order of its keys; not owned.
  const Block* block_ = nullptr;
  const InternalKeyComparator* icmp_ = nullptr;
  SequenceNumber override_seq_ = kMaxSequenceNumber;
  // The current key with the replaced number.
  std::string overridden_;
  // The interval that the last backward step has decoded.
  std::vector<CachedEntry> cached_entries_;
  size_t cached_ = kNotCached;  // the current entry's index in cached_entries_
  // Keys of the last batch and of the one before, whose last key the next entry may refer to.
  std::unique_ptr<char[]> room_bytes_;  // room of both; null before the first batch
  KeyScratch rooms_[2];
  uint32_t room_ = 0;
  char inline_[kInlineBytes];
};

// A key that shares nothing is shown where it lies in the block. Another one is put together in
// buffer_, which has the key before already, or gets its shared bytes from the block. Returns false
// at the end, and at a damaged entry, which leaves the cursor invalid and corrupt().
inline bool DataBlockCursor::ParseNext() {
  const char* p = next_;
  VARVE_ASSERT(p >= block_->entries_begin() && p <= limit_);
  if (p == limit_) return Ended();
  BlockEntryHeader header;
  const char* unshared = DecodeBlockEntry(p, limit_, &header);
  if (unshared == nullptr) [[unlikely]] {
    return Damaged();
  }
  const size_t key_size = size_t{header.shared} + header.unshared;
  if (header.shared > raw_.size() || key_size < key_tail_) [[unlikely]] {
    return Damaged();
  }
  current_ = p;
  if (header.shared == 0) {
    raw_ = Slice(unshared, key_size);
  } else {
    if (key_size > capacity_) [[unlikely]] {
      GrowBuffer(key_size, raw_.data() == buffer_ ? header.shared : 0);
    }
    if (raw_.data() != buffer_) memcpy(buffer_, raw_.data(), header.shared);
    memcpy(buffer_ + header.shared, unshared, header.unshared);
    raw_ = Slice(buffer_, key_size);
  }
  key_ = raw_;
  value_ = Slice(unshared + header.unshared, header.value_size);
  next_ = unshared + header.unshared + header.value_size;
  valid_ = true;
  if (override_seq_ != kMaxSequenceNumber) [[unlikely]] {
    OverrideSequence();
  }
  return true;
}

}  // namespace varve
