// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges the operands that a point read has met.

#include "varve/options.h"

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

class Statistics;

// Ends a search that has operands and was not ended by a value: resets *value and sets it to the
// operator's result. If the result is one of the operands, and large, the value points to its
// memory, and holds the block or the super-version.
//
// Returns OK, with subcode kMergeOperandThresholdExceeded beyond merge_operand_count_threshold;
// otherwise errors as MergeCaller::Full.
Status MergeForRead(const ReadOptions& options, const SuperVersion& super_version,
                    PointLookup* lookup, PinnableSlice* value, Statistics* statistics);

}  // namespace varve
