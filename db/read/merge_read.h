// SPDX-License-Identifier: Apache-2.0
#pragma once

// What becomes of the merge operands that a point read has met.

#include "varve/options.h"

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

class Statistics;

// Ends a search that was ended by no value and has operands: *value, which is reset, becomes what
// the operator makes of them. If that is one of them, and large, the value points at it where it
// lies, and holds the block, or the super-version.
//
// OK, with subcode kMergeOperandThresholdExceeded beyond merge_operand_count_threshold; else as
// MergeCaller::Full.
Status MergeForRead(const ReadOptions& options, const SuperVersion& super_version,
                    PointLookup* lookup, PinnableSlice* value, Statistics* statistics);

}  // namespace varve
