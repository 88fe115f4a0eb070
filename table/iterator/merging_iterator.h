// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges ordered iterators into one, with a binary heap whose root is replaced in place.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"

namespace varve {

// Says how far children may be ahead of the merged iterator.
enum class MergeAhead : uint8_t {
  kBatches,  // by a batch of entries each, decoded at once
  kNothing,  // not at all: IsKeyPinned() then describes exactly the current entry
};

// Returns an iterator that merges the children's entries in internal-key order. With one child
// returns that child; with none an empty iterator. Equal internal keys come out in the order of
// `children` (newer sources first). `icmp` must outlive the iterator. The first `memtables`
// children are memtables, the others tables, which alone SeekTables and SeekTablesForPrev move.
std::unique_ptr<InternalIterator> NewMergingIterator(
    const InternalKeyComparator* icmp, std::vector<std::unique_ptr<InternalIterator>> children,
    MergeAhead ahead = MergeAhead::kBatches, size_t memtables = 0);

// Returns an iterator without entries, with this status.
std::unique_ptr<InternalIterator> NewEmptyInternalIterator(Status status = Status::OK());

}  // namespace varve
