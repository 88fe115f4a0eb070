// SPDX-License-Identifier: Apache-2.0
#pragma once

// Batches of which the memtables have only a part: reads and flushes leave out what they have of
// them.

#include <atomic>
#include <cstddef>
#include <memory>

#include "varve/types.h"

#include "util/iter/internal_iterator.h"

namespace varve {

// Asks for memory only when it is made: sequences are added when there is none.
//
// Thread safety: Add from one thread at a time; the others from any thread.
class VoidedSequences {
 public:
  explicit VoidedSequences(size_t most_ranges);
  VoidedSequences(const VoidedSequences&) = delete;
  VoidedSequences& operator=(const VoidedSequences&) = delete;

  // Both ends are in. False, with nothing changed, when there is no room.
  bool Add(SequenceNumber first, SequenceNumber last);
  // Whatever was added before the call is known.
  [[nodiscard]] bool Contains(SequenceNumber seq) const;
  [[nodiscard]] bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

 private:
  struct Range {
    SequenceNumber first;
    SequenceNumber last;
  };

  const size_t most_;
  const std::unique_ptr<Range[]> ranges_;
  // Release publishes the ranges.
  std::atomic<size_t> count_{0};
};

// The walk without entries of these sequences.
std::unique_ptr<InternalIterator> NewIteratorWithout(std::unique_ptr<InternalIterator> walk,
                                                     std::shared_ptr<const VoidedSequences> voided);

}  // namespace varve
