// SPDX-License-Identifier: Apache-2.0

// Moves over the entries of a data block in both directions, and decodes several at a time.
//
// A key is stored as the number of bytes that it shares with its predecessor and the rest, so
// going back means starting from the restart point before and walking forward. A backward walk
// therefore decodes a whole interval at once and keeps it. Walks prefetch ahead of themselves: a
// block in the cache is mostly not in the processor's cache, and the processor's own prefetching
// begins too late for blocks of a few KiB.
//
// Everything that is decoded is checked against the end of the entries, as a block may be damaged
// although its checksum is right (it was written so): the cursor then stops, and says corrupt().

#include "table/block/data_block_cursor.h"

#include <algorithm>
#include <memory>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/mem/prefetch.h"
#include "util/metrics/perf_counters.h"

namespace varve {

namespace {

// Distance at which bytes are prefetched while entries are decoded: two lines per entry, as most
// entries are longer than one line, and a value is read as well as its header.
constexpr size_t kDecodeAheadBytes = 1024;

// The most bytes that a backward walk prefetches at once.
constexpr size_t kIntervalBytesAhead = 2048;

void PrefetchAhead(const char* p) {
  PrefetchLine(p + kDecodeAheadBytes);
  PrefetchLine(p + kDecodeAheadBytes + 64);
}

// True if the first eight bytes show that two internal keys, each with `tail` bytes after the key,
// are of different keys.
bool PrefixesDiffer(const Slice& a, const char* b, size_t b_size, size_t tail) {
  const size_t needed = tail + 8;
  return a.size() >= needed && b_size >= needed && DecodeFixed64(a.data()) != DecodeFixed64(b);
}

// Prefetches the lines that the next walk goes through; the processor's own prefetching starts too
// late.
template <CacheLevel level = CacheLevel::kFirst>
void PrefetchEntries(const char* p) {
  constexpr size_t kBytes = 512;
  for (size_t at = 64; at <= kBytes; at += 64) PrefetchLine<level>(p + at);
}

// Prefetches the interval before the one at `p`, which a backward walk decodes next, assuming it
// has as many bytes.
void PrefetchBefore(const char* begin, const char* p, size_t bytes) {
  bytes = std::min({bytes, static_cast<size_t>(p - begin), kIntervalBytesAhead});
  for (size_t at = 64; at < bytes + 64; at += 64) PrefetchLine(p - at);
}

SameKey NoIf(bool differs) {
  return differs ? SameKey::kNo : SameKey::kUnknown;
}

// Weakens "different" to "unknown": a user comparator may consider keys with different bytes equal.
SameKey WithoutDifference(SameKey same) {
  return same == SameKey::kNo ? SameKey::kUnknown : same;
}

}  // namespace

void DataBlockCursor::Init(const Block* block, const InternalKeyComparator* icmp,
                           SequenceNumber override_seq) {
  VARVE_ASSERT(block != nullptr && icmp != nullptr);
  block_ = block;
  icmp_ = icmp;
  bytes_decide_ = BytesDecide(icmp->order());
  key_tail_ = kInternalKeyTrailerBytes + icmp->timestamp_size();
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

// raw_ may point to the old buffer, and then points to the new one.
void DataBlockCursor::GrowBuffer(size_t need, size_t keep) {
  VARVE_ASSERT(need > capacity_ && keep <= capacity_);
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

void DataBlockCursor::StartAt(const char* entry) {
  corrupt_ = false;
  cached_ = kNotCached;
  raw_ = Slice();  // a restart entry that shares bytes is damaged
  next_ = entry;
  ParseNext();
}

void DataBlockCursor::SeekToRestart(uint32_t restart) {
  VARVE_ASSERT(restart < block_->restart_count());
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  if (VARVE_CANARY(kRestartOffByOne) && restart + 1 < block_->restart_count()) restart++;
  StartAt(block_->entries_begin() + block_->RestartOffset(restart));
}

// Does not read the restart points, which lie after all entries: the first is 0.
void DataBlockCursor::SeekToFirst() {
  StartAt(block_->entries_begin());
}

void DataBlockCursor::SeekToLast() {
  SeekToRestart(block_->restart_count() - 1);
  while (valid_ && next_ != limit_) ParseNext();
}

bool DataBlockCursor::RestartKey(uint32_t restart, Slice* key) const {
  BlockEntryHeader header;
  const char* unshared =
      DecodeBlockEntry(block_->entries_begin() + block_->RestartOffset(restart), limit_, &header);
  if (unshared == nullptr || header.shared != 0 || header.unshared < key_tail_) {
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
  // SeekByIndex shows keys as they are stored, without an overriding sequence number.
  if (block_->index().size() != 0 && override_seq_ == kMaxSequenceNumber) {
    SeekByIndex(target);
  } else {
    SeekByRestarts(target);
  }
}

void DataBlockCursor::PrefetchSeek(const Slice& target) const {
  const EntryIndex& index = block_->index();
  if (index.size() == 0) return;
  uint32_t at = 0;
  uint32_t end = 0;
  index.Find(icmp_->KeyOf(target), &at, &end);
  if (at == index.size()) return;
  const char* const entry = block_->entries_begin() + index.offset(at);
  PrefetchLine<CacheLevel::kSecond>(entry);
  PrefetchEntries<CacheLevel::kSecond>(entry);
}

// The entry index compares only the eight bytes after the prefix that all keys of the block share.
// So the target is compared with that prefix first: it may lie before or behind all keys.
void DataBlockCursor::SeekByIndex(const Slice& target) {
  const EntryIndex& index = block_->index();
  const Slice key = icmp_->KeyOf(target);
  BlockEntryHeader first;
  const char* const first_key = DecodeBlockEntry(block_->entries_begin(), limit_, &first);
  const size_t prefix = index.shared_prefix();
  if (first_key == nullptr || first.shared != 0 || first.unshared < prefix) {
    Damaged();
    return;
  }
  CountUserKeyComparison();
  const Slice start(key.data(), std::min(key.size(), prefix));
  const int order = CompareBytes(start, Slice(first_key, prefix));
  uint32_t at = 0;
  uint32_t end = order < 0 ? 0 : index.size();
  if (order == 0) index.Find(key, &at, &end);
  if (order > 0 || at == index.size()) {
    Ended();
    return;
  }
  PrefetchEntries(block_->entries_begin() + index.offset(at));
  GoToEntry(at);
  // Keys with the target's word come before or after the target; all later ones come after it.
  while (valid_ && at < end && icmp_->Compare(key_, target) < 0) {
    at++;
    ParseNext();
  }
}

// An entry in the middle of an interval lacks the bytes that it shares with those before it; the
// index leads to the entries that have them. A block has an entry index only if
// EntryIndexBuilder::ScanOffsets found that no entry shares more bytes than its predecessor has; so
// key_size, which is allocated here, is at most the size of the entries, less than 64 KiB.
void DataBlockCursor::GoToEntry(uint32_t at) {
  VARVE_ASSERT(at < block_->index().size());
  current_ = block_->entries_begin() + block_->index().offset(at);
  BlockEntryHeader header;
  const char* const unshared = DecodeBlockEntry(current_, limit_, &header);
  const size_t key_size = unshared == nullptr ? 0 : size_t{header.shared} + header.unshared;
  if (key_size < key_tail_) {
    Damaged();
    return;
  }
  if (header.shared == 0) {
    raw_ = Slice(unshared, key_size);
  } else {
    // raw_ may lie in buffer_, which is about to be replaced or overwritten.
    raw_ = Slice();
    if (key_size > capacity_) GrowBuffer(key_size, 0);
    CopyShort(buffer_ + header.shared, unshared, header.unshared);
    const auto copy = [this](size_t to, const char* data, size_t n) {
      CopyShort(buffer_ + to, data, n);
      return true;
    };
    if (!block_->VisitKeyStart(at, header.shared, copy)) {
      Damaged();
      return;
    }
    raw_ = Slice(buffer_, key_size);
  }
  key_ = raw_;
  value_ = Slice(unshared + header.unshared, header.value_size);
  next_ = value_.data() + value_.size();
  valid_ = true;
}

// Finds the last restart point before the target, and walks from there.
void DataBlockCursor::SeekByRestarts(const Slice& target) {
  uint32_t low = 0;  // its key is < target, or it is the first restart point
  uint32_t n = block_->restart_count();
  while (n > 1) {
    const uint32_t half = n / 2;
    Slice key;
    if (!RestartKey(low + half, &key)) {
      Damaged();
      return;
    }
    // An overriding sequence number makes keys newer than they are stored, so the stored order can
    // only lead to an earlier restart point, which is safe.
    if (icmp_->Compare(key, target) < 0) low += half;
    n -= half;
  }
  PrefetchEntries(block_->entries_begin() + block_->RestartOffset(low));
  SeekToRestart(low);
  while (valid_ && icmp_->Compare(key_, target) < 0) ParseNext();
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
  VARVE_ASSERT(index < cached_entries_.size());
  const CachedEntry& cached = cached_entries_[index];
  cached_ = index;
  current_ = cached.start;
  raw_ = cached.entry.key();
  key_ = raw_;
  value_ = cached.entry.value();
  next_ = value_.data() + value_.size();
  valid_ = true;
  if (override_seq_ != kMaxSequenceNumber) OverrideSequence();
}

KeyScratch* DataBlockCursor::FreshScratch() {
  if (room_bytes_ == nullptr) [[unlikely]] {
    room_bytes_ = std::make_unique_for_overwrite<char[]>(2 * kRoomBytes);
    rooms_[0].Init(room_bytes_.get(), kRoomBytes);
    rooms_[1].Init(room_bytes_.get() + kRoomBytes, kRoomBytes);
  }
  room_ ^= 1;
  rooms_[room_].Clear();
  return &rooms_[room_];
}

// Sets out->same_key as far as the shared bytes tell it: two keys of one size that differ only in
// the trailer are versions of one user key.
inline const char* DataBlockCursor::DecodeForBatch(const char* p, const Slice& previous,
                                                   KeyScratch* room, BatchEntry* out) const {
  BlockEntryHeader header;
  const char* const unshared = DecodeBlockEntry(p, limit_, &header);
  if (unshared == nullptr) [[unlikely]] {
    return nullptr;
  }
  const size_t shared = header.shared;
  const size_t key_size = shared + header.unshared;
  if (shared > previous.size() || key_size < key_tail_) [[unlikely]] {
    return nullptr;
  }
  // The first byte that is not shared differs, and lies before timestamp and trailer in both: if
  // bytes decide, which the callers consider, these are different keys.
  const bool differs =
      shared + key_tail_ < std::min(key_size, previous.size()) && previous[shared] != unshared[0];
  if (shared == 0) {
    out->key_data = unshared;
    out->same_key = NoIf(differs || PrefixesDiffer(previous, unshared, key_size, key_tail_));
  } else {
    char* const key = room->Take(key_size);
    CopyShort(key, previous.data(), shared);
    CopyShort(key + shared, unshared, header.unshared);
    out->key_data = key;
    const bool same = key_size == previous.size() && shared + kInternalKeyTrailerBytes >= key_size;
    out->same_key = same ? SameKey::kYes : NoIf(differs);
  }
  out->key_size = static_cast<uint32_t>(key_size);
  out->value_data = unshared + header.unshared;
  out->value_size = header.value_size;
  return out->value_data + header.value_size;
}

// Keys of this batch are assembled in one scratch buffer while the last key of the batch before
// lies in the other, as the first entry may share bytes with it. Damage ends the batch before it;
// the next single step meets it again, and reports it.
size_t DataBlockCursor::NextBatch(BatchEntry* out, size_t max) {
  VARVE_ASSERT(valid_ && max > 0);
  if (override_seq_ != kMaxSequenceNumber) [[unlikely]] {
    return NextOverridden(out);
  }
  KeyScratch* const room = FreshScratch();
  // The key before the first entry is not in the scratch buffer that the entries get.
  Slice previous = raw_;
  const char* p = next_;
  const char* last = nullptr;
  size_t n = 0;
  while (n < max && p != limit_) {
    PrefetchAhead(p);
    const char* const after = DecodeForBatch(p, previous, room, &out[n]);
    if (after == nullptr) [[unlikely]] {
      break;
    }
    previous = out[n].key();
    last = p;
    p = after;
    n++;
  }
  if (n == 0) {
    room_ ^= 1;  // the cursor stays, and the current key may lie in its room
    return 0;
  }
  cached_ = kNotCached;
  if (!bytes_decide_) {
    for (size_t i = 0; i < n; i++) out[i].same_key = WithoutDifference(out[i].same_key);
  }
  current_ = last;
  next_ = p;
  raw_ = previous;
  key_ = raw_;
  value_ = out[n - 1].value();
  return n;
}

// Keys with an overridden sequence number are returned one by one, as there is one buffer for a
// changed key. The entry is decoded on trial first, because Next would end the walk at damage, and
// NextBatch must leave the cursor where it is then.
size_t DataBlockCursor::NextOverridden(BatchEntry* out) {
  if (next_ == limit_) return 0;
  BatchEntry probe;
  if (DecodeForBatch(next_, raw_, FreshScratch(), &probe) == nullptr) {
    room_ ^= 1;  // as in NextBatch
    return 0;
  }
  Next();
  out->Set(key_, value_);
  return 1;
}

// Decodes from the restart point before the current entry up to it. If the entries do not end
// exactly there, the block is damaged.
bool DataBlockCursor::CacheInterval() {
  const char* const goal = current_;
  VARVE_ASSERT(valid_);
  const uint32_t offset = entry_offset();
  cached_entries_.clear();
  cached_ = kNotCached;
  if (offset == 0) return Ended();
  const Slice behind = raw_;  // the key of the current entry, which follows the interval's last one
  KeyScratch* const room = FreshScratch();
  Slice previous;
  const char* p =
      block_->entries_begin() + block_->RestartOffset(block_->RestartBefore(offset - 1));
  PrefetchEntries(p);
  PrefetchBefore(block_->entries_begin(), p, static_cast<size_t>(goal - p));
  while (p != nullptr && p < goal) {
    PrefetchAhead(p);
    CachedEntry cached;
    cached.start = p;
    p = DecodeForBatch(p, previous, room, &cached.entry);
    if (p == nullptr) break;
    previous = cached.entry.key();
    // The comparison of an entry with its predecessor is stored at the predecessor.
    if (!cached_entries_.empty()) {
      const SameKey same = cached.entry.same_key;
      cached_entries_.back().entry.same_key = bytes_decide_ ? same : WithoutDifference(same);
    }
    cached_entries_.push_back(cached);
  }
  if (p != goal || cached_entries_.empty()) return Damaged();
  cached_entries_.back().entry.same_key =
      NoIf(bytes_decide_ && PrefixesDiffer(previous, behind.data(), behind.size(), key_tail_));
  cached_ = cached_entries_.size();
  return true;
}

size_t DataBlockCursor::PrevBatch(BatchEntry* out, size_t max) {
  if (cached_ == kNotCached || cached_ == 0) {
    // Entries refer only backward, so the interval before is decoded once, then handed out in
    // reverse.
    if (!CacheInterval()) return 0;
  }
  const size_t n = override_seq_ == kMaxSequenceNumber ? std::min(max, cached_) : 1;
  for (size_t i = 0; i < n; i++) out[i] = cached_entries_[cached_ - 1 - i].entry;
  ShowCached(cached_ - n);
  if (override_seq_ != kMaxSequenceNumber) out->Set(key_, value_);
  return n;
}

void DataBlockCursor::Prev() {
  BatchEntry ignored;
  PrevBatch(&ignored, 1);
}

}  // namespace varve
