// SPDX-License-Identifier: Apache-2.0
#include "table/block/point_search.h"

#include <cstring>

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

uint64_t WithSequence(uint64_t trailer, SequenceNumber override_seq) {
  if (override_seq == kMaxSequenceNumber) [[likely]]
    return trailer;
  return PackSequenceAndType(override_seq, UnpackType(trailer));
}

// Walks with whole keys; right for every block.
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

BlockSearchResult SearchFromSeek(const Block& block, const InternalKeyComparator& icmp,
                                 SequenceNumber override_seq, PointLookup* lookup, BlockPin* pin,
                                 bool* matched) {
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

// What is known about the entry before the one under test.
struct PreviousEntry {
  bool equal = false;    // its user key is the lookup's
  uint64_t trailer = 0;  // as stored; valid if equal
};

enum class EntryMatch : uint8_t { kEqual, kDifferent, kUnknown };

// Whether the entry whose stored key bytes are `unshared` has the lookup's user key, given that the
// first `covered` bytes of both agree where both have them. Its trailer goes to *trailer.
EntryMatch MatchEntry(const BlockEntryHeader& header, const char* unshared, const Slice& user_key,
                      size_t covered, const PreviousEntry& previous, uint64_t* trailer) {
  const size_t key_size = user_key.size();
  const size_t shared = header.shared;
  if (shared + header.unshared != key_size + kInternalKeyTrailerBytes) {
    return EntryMatch::kDifferent;
  }
  if (shared > covered && !previous.equal) return EntryMatch::kUnknown;
  if (shared <= key_size) {
    if (memcmp(unshared, user_key.data() + shared, key_size - shared) != 0) {
      return EntryMatch::kDifferent;
    }
    *trailer = DecodeFixed64(unshared + (key_size - shared));
    return EntryMatch::kEqual;
  }
  if (!previous.equal) return EntryMatch::kUnknown;
  char bytes[kInternalKeyTrailerBytes];
  EncodeFixed64(bytes, previous.trailer);
  memcpy(bytes + (shared - key_size), unshared, header.unshared);
  *trailer = DecodeFixed64(bytes);
  return EntryMatch::kEqual;
}

}  // namespace

BlockSearchResult SearchBlock(const Block& block, const InternalKeyComparator& icmp,
                              SequenceNumber override_seq, PointLookup* lookup, BlockPin* pin,
                              bool* matched) {
  const BlockKeyIndex* index = block.key_index();
  if (index == nullptr) {
    return SearchFromSeek(block, icmp, override_seq, lookup, pin, matched);
  }
  const Slice user_key = lookup->user_key();
  uint64_t word = 0;
  const int side = index->Locate(user_key, &word);
  if (side < 0) return BlockSearchResult::kPassed;
  if (side > 0) return BlockSearchResult::kEndOfBlock;
  const size_t count = index->size();
  const size_t covered = index->prefix_size() + sizeof(word);
  CountUserKeyComparison();
  PreviousEntry previous;
  size_t i = index->LowerBound(word);
  for (; i < count && index->word(i) == word; i++) {
    BlockEntryHeader header;
    const char* const start = block.entries_begin() + index->offset(i);
    __builtin_prefetch(start + 64);
    __builtin_prefetch(start + 128);
    const char* unshared = DecodeBlockEntry(start, block.entries_end(), &header);
    if (unshared == nullptr) return BlockSearchResult::kCorrupt;
    uint64_t trailer = 0;
    switch (MatchEntry(header, unshared, user_key, covered, previous, &trailer)) {
      case EntryMatch::kUnknown:
        // Nothing of this block was offered yet: `previous` would be equal.
        return SearchFromSeek(block, icmp, override_seq, lookup, pin, matched);
      case EntryMatch::kDifferent:
        if (previous.equal) return BlockSearchResult::kPassed;
        continue;
      case EntryMatch::kEqual:
        break;
    }
    previous = PreviousEntry{true, trailer};
    *matched = true;
    trailer = WithSequence(trailer, override_seq);
    if (UnpackSequence(trailer) > lookup->snapshot()) continue;
    const Slice value(unshared + header.unshared, header.value_size);
    if (OfferEntry(lookup, trailer, value, pin)) return BlockSearchResult::kFinished;
  }
  return i == count ? BlockSearchResult::kEndOfBlock : BlockSearchResult::kPassed;
}

}  // namespace varve
