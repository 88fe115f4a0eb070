// SPDX-License-Identifier: Apache-2.0
#pragma once

// A point read that hands out the merge operands themselves.

#include <functional>
#include <span>

#include "varve/options.h"

#include "db/column_family/super_version.h"

namespace varve {

// What a read of operands is asked for.
struct OperandRequest {
  Slice key;  // without timestamp
  SequenceNumber sequence = 0;
  SequenceNumber whole_through = 0;  // no insertion up to it is under way
  const std::function<bool(Slice)>* continue_callback = nullptr;  // null: asks nobody
  bool skip_memtables = false;                                    // as for GetFromSuperVersion
};

// The key's operands, oldest first, a base value before them, into the first *count of `slices`,
// which are reset. They share one counted hold on what they lie in, which is released with the last
// of them, in whatever order they go. Small ones are copies.
//
// NotFound, with *count as it was: there are neither operands nor a base. Incomplete with subcode
// KMergeOperandsInsufficientCapacity: there are *count, more than `slices`, and none is set. No
// operator is asked, and none needs to be configured.
Status GetOperandsFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                                   const OperandRequest& request, std::span<PinnableSlice> slices,
                                   int* count);

}  // namespace varve
