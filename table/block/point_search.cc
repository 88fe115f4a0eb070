// SPDX-License-Identifier: Apache-2.0
#include "table/block/point_search.h"

#include <algorithm>

#include "table/block/data_block_cursor.h"
#include "util/coding/fixed.h"
#include "util/metrics/perf_counters.h"

namespace varve {

namespace {

// The pin is made only for a value that the lookup may want to keep.
constexpr size_t kNeverPinnedBytes = 256;

bool OfferEntry(PointLookup* lookup, uint64_t trailer, const Slice& value, BlockPin* pin) {
  return lookup->Offer(trailer, value, value.size() > kNeverPinnedBytes ? pin->Renew() : nullptr);
}

// From the first entry that may be the key's.
BlockSearchResult SearchByWalk(DataBlockCursor* cursor, const InternalKeyComparator& icmp,
                               PointLookup* lookup, BlockPin* pin, bool* matched) {
  const Slice user_key = lookup->user_key();
  for (; cursor->Valid(); cursor->Next()) {
    if (!icmp.EqualUserKey(ExtractUserKey(cursor->key()), user_key)) {
      return BlockSearchResult::kPassed;
    }
    *matched = true;
    const uint64_t trailer = ExtractTrailer(cursor->key());
    if (UnpackSequence(trailer) > lookup->snapshot()) continue;
    if (OfferEntry(lookup, trailer, cursor->value(), pin)) return BlockSearchResult::kFinished;
  }
  return cursor->corrupt() ? BlockSearchResult::kCorrupt : BlockSearchResult::kEndOfBlock;
}

// Walks a restart interval without building keys: the bytes that an entry shares with the one
// before it tell its order against the goal, except where the walk has matched exactly as far.
//
// Only for bytewise order. Invariant: the entry before is < goal and first differs from it at
// matched_, which lies inside that entry's user key.
class PrefixWalk {
 public:
  enum class Found : uint8_t { kEqual, kLarger, kEnd, kUnclear };

  PrefixWalk(const Block& block, const Slice& goal)
      : goal_(goal), next_(block.entries_begin()), end_(block.entries_end()) {}

  // Goes to the last restart point whose user key is < goal, or to the first.
  bool SeekToRestart(const Block& block);
  // To the first entry with a user key >= goal. kUnclear: only a walk with whole keys can tell.
  Found Run();

  // After kEqual.
  uint64_t trailer() const { return DecodeFixed64(value_.data() - kInternalKeyTrailerBytes); }
  const Slice& value() const { return value_; }

 private:
  Found Compare(const char* unshared, size_t user_bytes, bool* less);

  const Slice goal_;
  const char* next_;
  const char* const end_;
  bool first_ = true;  // of the interval: it shares nothing
  size_t matched_ = 0;
  Slice value_;
};

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

PrefixWalk::Found PrefixWalk::Run() {
  uint64_t comparisons = 0;
  Found found = Found::kEnd;
  while (next_ < end_) {
    BlockEntryHeader header;
    const char* unshared = DecodeBlockEntry(next_, end_, &header);
    // A trailer that is partly shared belongs to another version of the key before.
    if (unshared == nullptr || header.unshared < kInternalKeyTrailerBytes) {
      found = Found::kUnclear;
      break;
    }
    const size_t user_bytes = header.unshared - kInternalKeyTrailerBytes;
    value_ = Slice(unshared + header.unshared, header.value_size);
    next_ = value_.data() + value_.size();
    if (first_ && header.shared != 0) {
      found = Found::kUnclear;
      break;
    }
    first_ = false;
    // Shares more than was matched: differs from the goal where the entry before does.
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

// Compares the rest of a user key with the rest of the goal, both from matched_ on.
PrefixWalk::Found PrefixWalk::Compare(const char* unshared, size_t user_bytes, bool* less) {
  const char* const rest = goal_.data() + matched_;
  const size_t rest_bytes = goal_.size() - matched_;
  const size_t n = std::min(user_bytes, rest_bytes);
  size_t i = 0;
  while (i < n && unshared[i] == rest[i]) i++;
  if (i == n) {
    if (user_bytes == rest_bytes) return Found::kEqual;
    // A key that the goal continues: what follows it shares trailer bytes, which are no key bytes.
    return user_bytes < rest_bytes ? Found::kUnclear : Found::kLarger;
  }
  if (static_cast<unsigned char>(unshared[i]) > static_cast<unsigned char>(rest[i])) {
    return Found::kLarger;
  }
  matched_ += i;
  *less = true;
  return Found::kEnd;
}

}  // namespace

BlockSearchResult SearchBlock(const Block& block, const InternalKeyComparator& icmp,
                              SequenceNumber override_seq, PointLookup* lookup, BlockPin* pin,
                              bool* matched) {
  if (icmp.order() == KeyOrder::kBytewise && override_seq == kMaxSequenceNumber &&
      !block.has_hash_index()) {
    PrefixWalk walk(block, lookup->user_key());
    if (walk.SeekToRestart(block)) {
      switch (walk.Run()) {
        case PrefixWalk::Found::kLarger:
          return BlockSearchResult::kPassed;
        case PrefixWalk::Found::kEnd:
          return BlockSearchResult::kEndOfBlock;
        case PrefixWalk::Found::kEqual:
          if (UnpackSequence(walk.trailer()) <= lookup->snapshot()) {
            *matched = true;
            if (OfferEntry(lookup, walk.trailer(), walk.value(), pin)) {
              return BlockSearchResult::kFinished;
            }
          }
          break;
        case PrefixWalk::Found::kUnclear:
          break;
      }
    }
  }
  DataBlockCursor cursor;
  cursor.Init(&block, &icmp, override_seq);
  uint32_t restart = 0;
  // The stored hash speaks of byte-equal keys only.
  const Block::HashAnswer answer = icmp.order() == KeyOrder::kCustom
                                       ? Block::HashAnswer::kUnknown
                                       : block.LookupHash(lookup->user_key(), &restart);
  if (answer == Block::HashAnswer::kAbsent) return BlockSearchResult::kEndOfBlock;
  if (answer == Block::HashAnswer::kRestart) {
    const Slice goal = lookup->internal_key();
    for (cursor.SeekToRestart(restart); cursor.Valid(); cursor.Next()) {
      if (icmp.Compare(cursor.key(), goal) >= 0) break;
    }
    if (cursor.corrupt()) return BlockSearchResult::kCorrupt;
    const BlockSearchResult result = SearchByWalk(&cursor, icmp, lookup, pin, matched);
    // The bucket may be another key's: a larger key here proves nothing about the next block.
    return result == BlockSearchResult::kPassed && !*matched ? BlockSearchResult::kEndOfBlock
                                                             : result;
  }
  cursor.Seek(lookup->internal_key());
  if (cursor.corrupt()) return BlockSearchResult::kCorrupt;
  return SearchByWalk(&cursor, icmp, lookup, pin, matched);
}

}  // namespace varve
