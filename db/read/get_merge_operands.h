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
  SequenceNumber whole_through = 0;  // all writes up to it are in the memtables already
  const std::function<bool(Slice)>* continue_callback = nullptr;  // null: not called
  bool skip_memtables = false;                                    // see GetFromSuperVersion
};

// Stores the key's base value, if there is one, and then its operands, oldest first, into the first
// slices of `slices`, and their number into *count. The caller has reset all slices. Small operands
// are copied; the others share one reference-counted owner of the memory they point to. The owner
// is destroyed with the last of these slices, in whatever order and thread they are reset.
//
// Returns NotFound, with *count unchanged, if there are neither operands nor a base. If there are
// more than `slices` has room for, returns Incomplete with subcode
// KMergeOperandsInsufficientCapacity, stores their number in *count, and sets no slice. Calls no
// operator, and needs none to be configured.
Status GetOperandsFromSuperVersion(const ReadOptions& options, const SuperVersion& super_version,
                                   const OperandRequest& request, std::span<PinnableSlice> slices,
                                   int* count);

}  // namespace varve
