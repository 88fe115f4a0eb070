// SPDX-License-Identifier: Apache-2.0

// Searches a data block for one key. Four ways exist, from the fastest to the most general:
//
//    entry index    a cached block that was read twice: compares words, then one entry
//    prefix walk    bytewise order without timestamps: compares counts of shared bytes
//    cursor         every order: builds each key and compares it whole
//    a way that cannot decide (damage, another version of the key) leaves it to the next one
//
// The prefix walk uses what prefix compression stores anyway. Say that the entry before is smaller
// than the goal and first differs from the goal at byte m. A next entry that shares more than m
// bytes with the entry before differs from the goal at the same byte, and is smaller, too. One that
// shares fewer differs where the entry before equals the goal, and is larger. Only if exactly m
// bytes are shared are bytes compared. So most entries of an interval cost the decoding of their
// header.
//
// Invariant: all ways return the same result for the same block; damage is found by the last one,
// which reports it.

#include "table/block/point_search.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "table/block/data_block_cursor.h"
#include "util/base/assert.h"
#include "util/coding/fixed.h"
#include "util/mem/prefetch.h"
#include "util/metrics/perf_counters.h"

namespace varve {

namespace {

// Walks from the first entry that may be the key's.
BlockSearchResult SearchByWalk(DataBlockCursor* cursor, const InternalKeyComparator& icmp,
                               PointLookup* lookup, ValuePin* pin, bool* matched) {
  for (; cursor->Valid(); cursor->Next()) {
    if (!icmp.EqualKey(icmp.KeyOf(cursor->key()), lookup->key())) {
      return BlockSearchResult::kPassed;
    }
    *matched = true;
    const uint64_t trailer = ExtractTrailer(cursor->key());
    if (!lookup->Sees(ExtractUserKey(cursor->key()), trailer)) continue;
    if (lookup->Offer(trailer, cursor->value(), pin)) return BlockSearchResult::kFinished;
  }
  return cursor->corrupt() ? BlockSearchResult::kCorrupt : BlockSearchResult::kEndOfBlock;
}

// Walks a restart interval without building keys: the number of bytes that an entry shares with its
// predecessor determines its order against the goal, unless the walk has matched exactly as far.
//
// Only for bytewise order without timestamps. Invariant: the entry before is < goal and first
// differs from it at matched_, which lies inside that entry's user key.
class PrefixWalk {
 public:
  enum class Found : uint8_t { kEqual, kLarger, kEnd, kUnclear };

  PrefixWalk(const Block& block, const Slice& goal)
      : goal_(goal), next_(block.entries_begin()), end_(block.entries_end()) {}

  // Moves to the last restart point whose user key is < goal, or to the first.
  bool SeekToRestart(const Block& block);
  // Moves to the first entry with a user key >= goal. Returns kUnclear if only a walk with whole
  // keys can tell.
  Found Run();

  // Requires that Run returned kEqual.
  uint64_t trailer() const { return DecodeFixed64(value_.data() - kInternalKeyTrailerBytes); }
  const Slice& value() const { return value_; }

 private:
  Found Compare(const char* unshared, size_t user_bytes, bool* less);

  const Slice goal_;
  const char* next_;
  const char* const end_;
  bool first_ = true;  // first of the interval: it shares nothing
  size_t matched_ = 0;
  Slice value_;
};

// Finds the last restart point whose user key is smaller than the goal; the first one if none is.
// Returns false at a restart point that is damaged.
bool PrefixWalk::SeekToRestart(const Block& block) {
  uint32_t low = 0;
  uint32_t n = block.restart_count();
  uint64_t comparisons = 0;
  while (n > 1) {
    const uint32_t half = n / 2;
    BlockEntryHeader header;
    const char* start = block.entries_begin() + block.RestartOffset(low + half);
    const char* key = DecodeBlockEntry(start, end_, &header);
    if (key == nullptr || header.shared != 0 || header.unshared < kInternalKeyTrailerBytes) {
      return false;
    }
    comparisons++;
    const Slice user_key(key, header.unshared - kInternalKeyTrailerBytes);
    low += CompareBytes(user_key, goal_) < 0 ? half : 0;
    n -= half;
  }
  CountUserKeyComparisons(comparisons);
  next_ = block.entries_begin() + block.RestartOffset(low);
  return true;
}

// The head of this file explains the comparison. Each entry either is skipped by its shared bytes
// alone, or moves matched_ on, or ends the walk.
PrefixWalk::Found PrefixWalk::Run() {
  uint64_t comparisons = 0;
  Found found = Found::kEnd;
  while (next_ < end_) {
    BlockEntryHeader header;
    const char* unshared = DecodeBlockEntry(next_, end_, &header);
    // An entry that shares part of the trailer is another version of the previous key, whose bytes
    // this walk does not have.
    if (unshared == nullptr || header.unshared < kInternalKeyTrailerBytes) {
      found = Found::kUnclear;
      break;
    }
    const size_t user_bytes = header.unshared - kInternalKeyTrailerBytes;
    value_ = Slice(unshared + header.unshared, header.value_size);
    next_ = value_.data() + value_.size();
    // An interval begins with a whole key, or is damaged.
    if (first_ && header.shared != 0) {
      found = Found::kUnclear;
      break;
    }
    first_ = false;
    // If it shares more than was matched, it differs from the goal where its predecessor does.
    if (header.shared > matched_) continue;
    matched_ = header.shared;
    comparisons++;
    bool less = false;
    found = Compare(unshared, user_bytes, &less);
    if (!less) break;
  }
  CountUserKeyComparisons(comparisons);
  return found;
}

// Compares the rest of a user key with the rest of the goal, both from matched_ on. If the key is
// smaller, sets *less, moves matched_ to the first difference, and returns kEnd, which is the
// result of the walk if no entry follows.
PrefixWalk::Found PrefixWalk::Compare(const char* unshared, size_t user_bytes, bool* less) {
  VARVE_ASSERT(matched_ <= goal_.size());
  const char* const rest = goal_.data() + matched_;
  const size_t rest_bytes = goal_.size() - matched_;
  const size_t n = std::min(user_bytes, rest_bytes);
  size_t i = 0;
  while (i < n && unshared[i] == rest[i]) i++;
  if (i == n) {
    if (user_bytes == rest_bytes) return Found::kEqual;
    // The key is a prefix of the goal: the next entry may share trailer bytes, which are no key
    // bytes.
    return user_bytes < rest_bytes ? Found::kUnclear : Found::kLarger;
  }
  if (static_cast<unsigned char>(unshared[i]) > static_cast<unsigned char>(rest[i])) {
    return Found::kLarger;
  }
  matched_ += i;
  *less = true;
  return Found::kEnd;
}

// Returns false, with nothing offered to the lookup, if only the walk with whole keys can tell.
bool SearchByPrefix(const Block& block, PointLookup* lookup, ValuePin* pin, bool* matched,
                    BlockSearchResult* result) {
  PrefixWalk walk(block, lookup->key());
  if (!walk.SeekToRestart(block)) return false;
  switch (walk.Run()) {
    case PrefixWalk::Found::kLarger:
      *result = BlockSearchResult::kPassed;
      return true;
    case PrefixWalk::Found::kEnd:
      *result = BlockSearchResult::kEndOfBlock;
      return true;
    case PrefixWalk::Found::kEqual:
      // Entries below an operand need whole keys, and the walk with those takes the operand, too.
      if (UnpackType(walk.trailer()) == kTypeMerge || !lookup->Sees(Slice(), walk.trailer())) {
        return false;
      }
      *matched = true;
      *result = BlockSearchResult::kFinished;
      // An entry that is no operand ends the lookup, so that Offer returns true; but for one that a
      // tombstone covers in a family with timestamps, which the cursor offers again, to no effect.
      return lookup->Offer(walk.trailer(), walk.value(), pin);
    case PrefixWalk::Found::kUnclear:
      return false;
  }
  return false;
}

// Compares entries, found by the block's entry index, with one user key, without its timestamp.
// Builds no keys: an entry has the end of its key, and the bytes before are those of earlier
// entries.
class IndexedEntries {
 public:
  enum class Answer : uint8_t { kEqual, kDifferent, kUnclear };

  IndexedEntries(const Block& block, const Slice& key)
      : block_(block),
        goal_(key),
        timestamp_bytes_(block.index().tail_bytes() - kInternalKeyTrailerBytes) {}

  // Compares entry `i` with the goal; to be called for the entries with the goal's word in order.
  // After kEqual, the accessors below return the entry's parts. Returns kUnclear if the block is
  // damaged.
  Answer Compare(uint32_t i);
  uint64_t trailer() const { return trailer_; }
  const Slice& timestamp() const { return timestamp_; }
  const Slice& value() const { return value_; }

 private:
  bool StartsAlike(uint32_t i, size_t bytes) const;

  const Block& block_;
  const Slice goal_;
  const size_t timestamp_bytes_;
  bool before_was_equal_ = false;
  uint64_t trailer_ = 0;
  Slice timestamp_;
  char tail_[EntryIndex::kTailBytesMax];  // timestamp and trailer, if partly shared
  Slice value_;
};

// Three cases: a key of another length is another key; an entry that shares a part of the tail with
// the one before it is a version of that one's key; any other is compared byte by byte, its own
// bytes first.
IndexedEntries::Answer IndexedEntries::Compare(uint32_t i) {
  VARVE_ASSERT(timestamp_bytes_ + kInternalKeyTrailerBytes <= sizeof(tail_));
  const bool before_was_equal = std::exchange(before_was_equal_, false);
  BlockEntryHeader header;
  const char* const unshared = block_.IndexedEntry(i, &header);
  if (unshared == nullptr) return Answer::kUnclear;
  const size_t tail_bytes = timestamp_bytes_ + kInternalKeyTrailerBytes;
  if (size_t{header.shared} + header.unshared != goal_.size() + tail_bytes) {
    return Answer::kDifferent;
  }
  if (header.unshared < tail_bytes) [[unlikely]] {
    // This is another version of the previous key. It shares the beginning of the previous tail,
    // which timestamp_ and trailer_ still have; timestamp_ may lie in tail_ itself.
    if (!before_was_equal) return Answer::kDifferent;
    VARVE_ASSERT(timestamp_.size() == timestamp_bytes_);
    memmove(tail_, timestamp_.data(), timestamp_bytes_);
    EncodeFixed64(tail_ + timestamp_bytes_, trailer_);
    memcpy(tail_ + tail_bytes - header.unshared, unshared, header.unshared);
    timestamp_ = Slice(tail_, timestamp_bytes_);
    trailer_ = DecodeFixed64(tail_ + timestamp_bytes_);
  } else {
    const size_t key_bytes = header.unshared - tail_bytes;
    if (memcmp(unshared, goal_.data() + header.shared, key_bytes) != 0 ||
        !StartsAlike(i, header.shared)) {
      return Answer::kDifferent;
    }
    timestamp_ = Slice(unshared + key_bytes, timestamp_bytes_);
    trailer_ = DecodeFixed64(unshared + key_bytes + timestamp_bytes_);
  }
  value_ = Slice(unshared + header.unshared, header.value_size);
  before_was_equal_ = true;
  return Answer::kEqual;
}

// True if the goal starts with the first `bytes` bytes of entry `i`, which that entry shares with
// its predecessor.
bool IndexedEntries::StartsAlike(uint32_t i, size_t bytes) const {
  const EntryIndex& index = block_.index();
  const size_t prefix = index.shared_prefix();
  // The word has already compared the eight bytes after the prefix.
  if (index.exact() && bytes <= prefix + 8) bytes = std::min(bytes, prefix);
  return block_.VisitKeyStart(i, bytes, [this](size_t at, const char* data, size_t n) {
    return memcmp(data, goal_.data() + at, n) == 0;
  });
}

// A longer run of entries with equal words is searched by whole keys.
constexpr uint32_t kSamePrefixMax = 8;

// Requires a block with an entry index. Returns false, with nothing offered to the lookup, if the
// block must be searched in another way.
bool SearchByIndex(const Block& block, SequenceNumber override_seq, PointLookup* lookup,
                   ValuePin* pin, bool* matched, BlockSearchResult* result) {
  const Slice key = lookup->key();
  uint32_t begin = 0;
  uint32_t end = 0;
  block.index().Find(key, &begin, &end);
  if (end - begin > kSamePrefixMax) return false;
  // Unless the key is found, the block's separator tells if more may follow.
  *result = BlockSearchResult::kEndOfBlock;
  if (begin == end) return true;
  const char* const candidate = block.entries_begin() + block.index().offset(begin);
  PrefetchLine(candidate);
  PrefetchLine(candidate + 64);
  IndexedEntries entries(block, key);
  bool offered = false;
  for (uint32_t i = begin; i < end; i++) {
    const IndexedEntries::Answer answer = entries.Compare(i);
    if (answer == IndexedEntries::Answer::kUnclear) {
      // If nothing was offered yet, SearchBlock goes on to the other ways, which report the damage.
      // Otherwise they would offer entries twice.
      *result = BlockSearchResult::kCorrupt;
      return offered;
    }
    if (answer == IndexedEntries::Answer::kDifferent) continue;
    *matched = true;
    uint64_t trailer = entries.trailer();
    if (override_seq != kMaxSequenceNumber) [[unlikely]] {
      trailer = PackSequenceAndType(override_seq, UnpackType(trailer));
    }
    if (!lookup->Sees(entries.timestamp(), trailer)) continue;
    if (lookup->Offer(trailer, entries.value(), pin)) {
      *result = BlockSearchResult::kFinished;
      break;
    }
    offered = true;
  }
  CountUserKeyComparisons(end - begin);
  return true;
}

}  // namespace

// Tries the ways at the head of this file in turn. A way that gives up has offered nothing, so that
// no entry is offered twice.
BlockSearchResult SearchBlock(const Block& block, const InternalKeyComparator& icmp,
                              SequenceNumber override_seq, PointLookup* lookup, ValuePin* pin,
                              bool* matched) {
  BlockSearchResult indexed;
  if (block.index().size() != 0 &&
      SearchByIndex(block, override_seq, lookup, pin, matched, &indexed)) [[likely]] {
    return indexed;
  }
  if (icmp.order() == KeyOrder::kBytewise && override_seq == kMaxSequenceNumber) {
    BlockSearchResult found;
    if (SearchByPrefix(block, lookup, pin, matched, &found)) return found;
  }
  DataBlockCursor cursor;
  cursor.Init(&block, &icmp, override_seq);
  cursor.Seek(lookup->internal_key());
  if (cursor.corrupt()) return BlockSearchResult::kCorrupt;
  return SearchByWalk(&cursor, icmp, lookup, pin, matched);
}

}  // namespace varve
