// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements a point read that returns the merge operands themselves.

#include <functional>
#include <span>

#include "varve/options.h"

#include "db/column_family/super_version.h"

namespace varve {

// Arguments of a read of operands.
struct OperandRequest {
  Slice key;  // has no timestamp
  SequenceNumber sequence = 0;
  SequenceNumber whole_through = 0;  // no insertion up to it is in progress
  const std::function<bool(Slice)>* continue_callback = nullptr;  // null: not called
  bool skip_memtables = false;                                    // see GetFromSuperVersion
};

// Stores the key's operands, oldest first, after a base value, into the first *count of `slices`,
// which are reset. They share one reference-counted hold on the memory they point to, released with
// the last of them, in any order. Small operands are copied.
//
// Returns NotFound, with *count unchanged, if there are neither operands nor a base. Returns
// Incomplete with subcode KMergeOperandsInsufficientCapacity if there are *count, more than
// `slices`; then none is set. Calls no operator, and needs none to be configured.
Status GetOperandsFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                                   const OperandRequest& request, std::span<PinnableSlice> slices,
                                   int* count);

}  // namespace varve
