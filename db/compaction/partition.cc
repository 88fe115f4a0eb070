// SPDX-License-Identifier: Apache-2.0
#include "db/compaction/partition.h"

#include "db/compaction/input_span.h"

namespace varve {

std::unique_ptr<SstPartitioner> MakePartitioner(const CompactionPlan& plan,
                                                const InternalKeyComparator& icmp,
                                                const ColumnFamilyOptions& options) {
  const SstPartitionerFactory* const factory = options.sst_partitioner_factory.get();
  if (factory == nullptr || plan.inputs.empty()) return nullptr;
  const KeyRange range = RangeOf(icmp, plan);
  SstPartitioner::Context context;
  context.is_full_compaction = plan.TakesAll();
  context.is_manual_compaction = plan.is_manual;
  context.output_level = plan.output_level;
  context.smallest_user_key = range.smallest;
  context.largest_user_key = range.largest;
  return factory->CreatePartitioner(context);
}

// A move brings a table unread to a level where the partitioner would have cut it. If the user's
// code throws, the table is rewritten, which is always right.
bool PartitionerLetsMove(const CompactionPlan& plan, const InternalKeyComparator& icmp,
                         const ColumnFamilyOptions& options) noexcept try {
  const std::unique_ptr<SstPartitioner> partitioner = MakePartitioner(plan, icmp, options);
  if (partitioner == nullptr) return true;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      if (!partitioner->CanDoTrivialMove(icmp.KeyOf(file->smallest), icmp.KeyOf(file->largest))) {
        return false;
      }
    }
  }
  return true;
} catch (...) {
  return false;
}

}  // namespace varve
