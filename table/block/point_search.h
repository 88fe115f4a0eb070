// SPDX-License-Identifier: Apache-2.0
#pragma once

// Point reads inside one data block.

#include <cstdint>

#include "varve/cleanable.h"

#include "table/block/block.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"

namespace varve {

// Keeps a block's bytes alive for values that are handed out. Renew puts a fresh share into the
// Cleanable when the last one was taken over.
class BlockPin {
 public:
  BlockPin() = default;
  BlockPin(const BlockPin&) = delete;
  BlockPin& operator=(const BlockPin&) = delete;

  // Null if the bytes cannot be pinned and must be copied.
  virtual Cleanable* Renew() = 0;

 protected:
  ~BlockPin() = default;
};

enum class BlockSearchResult : uint8_t {
  kFinished,    // the lookup is over
  kPassed,      // a larger key was met: no later block has entries of the key
  kEndOfBlock,  // entries of the key may go on in the next block
  kCorrupt,     // the block is malformed
};

// Offers the lookup the visible entries of its key in `block`. `override_seq` as for
// DataBlockCursor. *matched is set if an entry of the key was met, visible or not.
BlockSearchResult SearchBlock(const Block& block, const InternalKeyComparator& icmp,
                              SequenceNumber override_seq, PointLookup* lookup, BlockPin* pin,
                              bool* matched);

}  // namespace varve
