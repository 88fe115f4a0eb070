// SPDX-License-Identifier: Apache-2.0
#pragma once

// Records batches that were only partly added to memtables: reads and flushes leave out their
// entries.

#include <atomic>
#include <cstddef>
#include <memory>

#include "varve/types.h"

#include "util/iter/internal_iterator.h"

namespace varve {

// Allocates memory only at construction, because sequences are added when there is none.
//
// Thread safety: one thread at a time may call Add; the others may be called from any thread.
class InvalidatedSequences {
 public:
  // Makes an empty set with room for `most_ranges` ranges.
  explicit InvalidatedSequences(size_t most_ranges);
  InvalidatedSequences(const InvalidatedSequences&) = delete;
  InvalidatedSequences& operator=(const InvalidatedSequences&) = delete;

  // Adds a range, both ends included. Returns false, with nothing changed, if there is no room.
  bool Add(SequenceNumber first, SequenceNumber last);
  // True if an Add that covers the sequence has returned before the call.
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

// Returns the walk without entries of these sequences.
std::unique_ptr<InternalIterator> NewIteratorWithout(
    std::unique_ptr<InternalIterator> walk,
    std::shared_ptr<const InvalidatedSequences> invalidated);

}  // namespace varve
