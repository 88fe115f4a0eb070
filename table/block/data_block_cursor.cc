// SPDX-License-Identifier: Apache-2.0
#include "table/block/data_block_cursor.h"

#include <algorithm>

#include "util/metrics/perf_counters.h"

namespace varve {

void DataBlockCursor::Init(const Block* block, const InternalKeyComparator* icmp,
                           SequenceNumber override_seq) {
  block_ = block;
  icmp_ = icmp;
  override_seq_ = override_seq;
  limit_ = block->entries_end();
  next_ = limit_;
  valid_ = false;
  corrupt_ = false;
  cached_ = kNotCached;
  cached_entries_.clear();
  raw_ = Slice();
}

void DataBlockCursor::Clear() {
  block_ = nullptr;
  valid_ = false;
  corrupt_ = false;
  cached_ = kNotCached;
  cached_entries_.clear();
}

bool DataBlockCursor::Damaged() {
  valid_ = false;
  corrupt_ = true;
  next_ = limit_;
  return false;
}

void DataBlockCursor::GrowBuffer(size_t need, size_t keep) {
  const size_t capacity = std::max(need, capacity_ * 2);
  char* grown = new char[capacity];
  const bool was_raw = raw_.data() == buffer_;
  if (keep != 0) memcpy(grown, buffer_, keep);
  if (buffer_ != inline_) delete[] buffer_;
  buffer_ = grown;
  capacity_ = capacity;
  if (was_raw) raw_ = Slice(buffer_, raw_.size());
}

void DataBlockCursor::OverrideSequence() {
  overridden_.assign(raw_.data(), raw_.size());
  char* trailer = overridden_.data() + overridden_.size() - kInternalKeyTrailerBytes;
  EncodeFixed64(trailer, PackSequenceAndType(override_seq_, UnpackType(DecodeFixed64(trailer))));
  key_ = Slice(overridden_);
}

void DataBlockCursor::SeekToRestart(uint32_t restart) {
  corrupt_ = false;
  cached_ = kNotCached;
  raw_ = Slice();  // a restart entry that shares bytes is damage
  next_ = block_->entries_begin() + block_->RestartOffset(restart);
  ParseNext();
}

void DataBlockCursor::SeekToOffset(uint32_t offset) {
  const char* const goal = block_->entries_begin() + offset;
  SeekToRestart(block_->RestartBefore(offset));
  while (valid_ && current_ < goal) ParseNext();
  if (corrupt_ || !valid_ || current_ != goal) Damaged();
}

void DataBlockCursor::SeekToFirst() {
  SeekToRestart(0);
}

void DataBlockCursor::SeekToLast() {
  SeekToRestart(block_->restart_count() - 1);
  while (valid_ && next_ != limit_) ParseNext();
}

bool DataBlockCursor::RestartKey(uint32_t restart, Slice* key) const {
  BlockEntryHeader header;
  const char* unshared =
      DecodeBlockEntry(block_->entries_begin() + block_->RestartOffset(restart), limit_, &header);
  if (unshared == nullptr || header.shared != 0 || header.unshared < kInternalKeyTrailerBytes) {
    return false;
  }
  *key = Slice(unshared, header.unshared);
  return true;
}

void DataBlockCursor::Seek(const Slice& target) {
  corrupt_ = false;
  cached_ = kNotCached;
  if (block_->entries_size() == 0) {
    Ended();
    return;
  }
  SeekByRestarts(target);
}

void DataBlockCursor::SeekByRestarts(const Slice& target) {
  uint32_t low = 0;  // its key is < target, or it is the first
  uint32_t n = block_->restart_count();
  uint64_t comparisons = 0;
  while (n > 1) {
    const uint32_t half = n / 2;
    Slice key;
    if (!RestartKey(low + half, &key)) {
      Damaged();
      return;
    }
    comparisons++;
    // An overriding sequence number makes keys newer than they are stored, so that the stored order
    // errs towards an earlier restart point: safe.
    if (icmp_->Compare(key, target) < 0) low += half;
    n -= half;
  }
  SeekToRestart(low);
  while (valid_) {
    comparisons++;
    if (icmp_->Compare(key_, target) >= 0) break;
    ParseNext();
  }
  CountUserKeyComparisons(comparisons);
}

void DataBlockCursor::SeekForPrev(const Slice& target) {
  Seek(target);
  if (corrupt_) return;
  if (!valid_) {
    if (block_->entries_size() != 0) SeekToLast();
    return;
  }
  if (icmp_->Compare(key_, target) > 0) Prev();
}

void DataBlockCursor::ShowCached(size_t index) {
  const CachedEntry& entry = cached_entries_[index];
  cached_ = index;
  current_ = entry.start;
  raw_ = Slice(cached_keys_.data() + entry.key_pos, entry.key_size);
  key_ = raw_;
  value_ = entry.value;
  next_ = value_.data() + value_.size();
  valid_ = true;
  if (override_seq_ != kMaxSequenceNumber) OverrideSequence();
}

void DataBlockCursor::Prev() {
  if (cached_ != kNotCached && cached_ > 0) {
    ShowCached(cached_ - 1);
    return;
  }
  const char* const goal = current_;
  const uint32_t offset = entry_offset();
  if (offset == 0) {
    Ended();
    return;
  }
  // Entries only point forward: decode the interval before once, then step back through it.
  cached_entries_.clear();
  cached_keys_.clear();
  SeekToRestart(block_->RestartBefore(offset - 1));
  while (valid_ && current_ < goal) {
    cached_entries_.push_back(CachedEntry{current_, cached_keys_.size(), raw_.size(), value_});
    cached_keys_.append(raw_.data(), raw_.size());
    if (next_ >= goal) break;
    ParseNext();
  }
  if (corrupt_ || cached_entries_.empty() || next_ != goal) {
    Damaged();
    return;
  }
  ShowCached(cached_entries_.size() - 1);
}

}  // namespace varve
