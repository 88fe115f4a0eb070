// SPDX-License-Identifier: Apache-2.0
#pragma once

// Merges the operands that a point read has met.

#include "varve/options.h"

#include "db/column_family/super_version.h"
#include "util/key/point_lookup.h"

namespace varve {

class Statistics;

// Ends a search that has operands: sets *value, which must not be pinned, to the operator's result
// for the operands and the base below them, if there is one. If the result is one of the operands,
// and large, the value points to its memory, and keeps the block or the super-version alive. If the
// result is an entity, the value is its default column, unless the lookup asked for the whole; then
// lookup->form() says that *value is an entity.
//
// Returns OK, with subcode kMergeOperandThresholdExceeded if there are more operands than
// merge_operand_count_threshold. Otherwise errors as MergeCaller::Full, or as ReadReferenceOfBase
// (blob_read.h) if the base is in a blob file.
Status MergeForRead(const ReadOptions& options, const SuperVersion& super_version,
                    PointLookup* lookup, PinnableSlice* value, Statistics* statistics);

}  // namespace varve
