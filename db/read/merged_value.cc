// SPDX-License-Identifier: Apache-2.0
#include "db/read/merged_value.h"

#include "util/base/assert.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

void MergedValue::Begin() {
  VARVE_ASSERT(!active_ && operands_.size() == 0);
  active_ = true;
  pinned_ = 0;
}

// Must be called before the source leaves the operands' batch. If the source cannot pin its bytes,
// they are copied.
void MergedValue::Pin(InternalIterator* source) {
  VARVE_ASSERT(pinned_ <= operands_.size());
  if (kCopyMergeOperands || !source->PinBatch(operands_.NewShare())) operands_.CopyFrom(pinned_);
  pinned_ = operands_.slices().size();
}

Status MergedValue::Merge(const MergeCaller& merger, const Slice& key, Statistics* statistics,
                          Slice* result, ValueForm* form) {
  const size_t n = operands_.size();
  VARVE_ASSERT(n > 0);
  AddPerfCount<&PerfContext::internal_merge_count>(n);
  RecordInHistogram(statistics, READ_NUM_MERGE_OPERANDS, n);
  if constexpr (kCopyMergeOperands) operands_.CopyFrom(pinned_);
  operands_.PutOldestFirst();
  *form = operands_.base_form();
  Status s = merger.Full(key, operands_.base(), operands_.slices(), &buffer_, result, form);
  if constexpr (kCopyMergeOperands) {
    if (s.ok()) *result = buffer_.assign(result->data(), result->size());
  }
  return s;
}

}  // namespace varve
