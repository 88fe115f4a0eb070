// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a user's partitioner is asked of a compaction.

#include <memory>

#include "varve/options.h"
#include "varve/sst_partitioner.h"

#include "db/compaction/plan.h"
#include "util/key/internal_key.h"

namespace varve {

// Null: the column family has no partitioner, or none for this compaction. Throws what the factory
// throws.
std::unique_ptr<SstPartitioner> MakePartitioner(const CompactionPlan& plan,
                                                const InternalKeyComparator& icmp,
                                                const ColumnFamilyOptions& options);

// Whether the partitioner, if there is one, lets all inputs go to another level as they are. False
// if it throws.
bool PartitionerLetsMove(const CompactionPlan& plan, const InternalKeyComparator& icmp,
                         const ColumnFamilyOptions& options) noexcept;

}  // namespace varve
