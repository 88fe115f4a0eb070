// SPDX-License-Identifier: Apache-2.0
#pragma once

// Asks the user's partitioner (sst_partitioner_factory), which says between which keys tables must
// end, about one compaction.

#include <memory>

#include "varve/options.h"
#include "varve/sst_partitioner.h"

#include "db/compaction/plan.h"
#include "util/key/internal_key.h"

namespace varve {

// Returns null if the column family has no partitioner, or none for this compaction. Throws what
// the factory throws.
std::unique_ptr<SstPartitioner> MakePartitioner(const CompactionPlan& plan,
                                                const InternalKeyComparator& icmp,
                                                const ColumnFamilyOptions& options);

// True if the partitioner, if there is one, allows all inputs to be moved to another level
// unchanged. False if it throws. Pickers call this under the DB mutex.
bool PartitionerLetsMove(const CompactionPlan& plan, const InternalKeyComparator& icmp,
                         const ColumnFamilyOptions& options) noexcept;

}  // namespace varve
