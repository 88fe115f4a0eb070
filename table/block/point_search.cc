// SPDX-License-Identifier: Apache-2.0
#include "table/block/point_search.h"

#include "table/block/data_block_cursor.h"

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

}  // namespace

BlockSearchResult SearchBlock(const Block& block, const InternalKeyComparator& icmp,
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

}  // namespace varve
