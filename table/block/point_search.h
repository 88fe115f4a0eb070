// SPDX-License-Identifier: Apache-2.0
#pragma once

// Point look-ups inside one data block.

#include <cstdint>

#include "table/block/block.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"
#include "util/mem/prefetch.h"

namespace varve {

// The outcome of searching one block for the versions of a key.
enum class BlockSearchResult : uint8_t {
  kFinished,    // the lookup is over
  kPassed,      // a larger key was met: no later block has entries of the key
  kEndOfBlock,  // the next block may have more entries of the key
  kCorrupt,     // the block is malformed
};

// Prefetches the entry that SearchBlock will look at first, if the block has an entry index. Used
// before many searches. `bare_key` is a user key without its timestamp.
inline void PrefetchEntry(const Block& block, const Slice& bare_key) {
  const EntryIndex& index = block.index();
  if (index.size() == 0) return;
  uint32_t begin = 0;
  uint32_t end = 0;
  index.Find(bare_key, &begin, &end);
  if (begin == end) return;
  // The first entry has the common prefix of all keys of the block.
  PrefetchLine<CacheLevel::kSecond>(block.entries_begin());
  const char* const entry = block.entries_begin() + index.offset(begin);
  PrefetchLine<CacheLevel::kSecond>(entry);
  PrefetchLine<CacheLevel::kSecond>(entry + 64);
  PrefetchLine<CacheLevel::kSecond>(entry + 128);
}

// Offers the lookup the visible entries of its key in `block`, newest first, until it is decided.
// An `override_seq` other than kMaxSequenceNumber replaces the sequence number of every entry.
// `pin` gives each value that the lookup takes without a copy a share in the block's memory. It
// must not be null: merge operands use it (MergeOperands::KeepOfBlock). The call does not keep
// `pin`; the shares that it has given outlive both. Sets *matched to true if an entry of the key
// was met, visible or not, and leaves it otherwise. Any number of threads may search a block.
BlockSearchResult SearchBlock(const Block& block, const InternalKeyComparator& icmp,
                              SequenceNumber override_seq, PointLookup* lookup, ValuePin* pin,
                              bool* matched);

}  // namespace varve
