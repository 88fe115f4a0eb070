// SPDX-License-Identifier: Apache-2.0
#include "db/read/merge_read.h"

#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// A pin keeps a whole memtable, so smaller results are copied.
constexpr size_t kPinnedInMemTableMin = 4 << 10;

// Returns which entry `result` is a part of, in the numbers of MergeOperands::ShareOf: operands
// from the newest on, then the base.
size_t PlaceOf(const Slice& result, const MergeOperands& operands) {
  const auto has = [&result](const Slice& whole) {
    return result.data() >= whole.data() &&
           result.data() + result.size() <= whole.data() + whole.size();
  };
  const size_t n = operands.size();
  for (size_t i = 0; i < n; i++) {
    if (has(operands.slices()[n - 1 - i])) return i;
  }
  return n;
}

void UnrefSuperVersion(void* super_version, void* /*unused*/) {
  static_cast<SuperVersion*>(super_version)->Unref();
}

// Requires that the operands are in order, oldest first.
void Pin(const Slice& result, const SuperVersion& super_version, MergeOperands* operands,
         PinnableSlice* value) {
  const size_t place = PlaceOf(result, *operands);
  if (kCopyMergeOperands || result.size() < MergeOperands::kSharedBytesMin) {
    value->PinSelf(result);
  } else if (place >= operands->in_memtables()) {
    Cleanable* const share = operands->ShareOf(place);
    share != nullptr ? value->PinSlice(result, share) : value->PinSelf(result);
  } else if (result.size() < kPinnedInMemTableMin) {
    value->PinSelf(result);
  } else {
    // Only its reference count changes.
    auto* const counted = const_cast<SuperVersion*>(&super_version);
    counted->Ref();
    value->PinSlice(result, &UnrefSuperVersion, counted, nullptr);
  }
}

}  // namespace

Status MergeForRead(const ReadOptions& options, const SuperVersion& super_version,
                    PointLookup* lookup, PinnableSlice* value, Statistics* statistics) {
  MergeOperands* const operands = lookup->operands();
  VARVE_ASSERT(operands != nullptr);
  const size_t n = operands->size();
  AddPerfCount<&PerfContext::internal_merge_point_lookup_count>(n);
  RecordInHistogram(statistics, READ_NUM_MERGE_OPERANDS, n);
  operands->PutOldestFirst();
  std::string* const buffer = value->GetSelf();
  Slice result;
  VARVE_RETURN_IF_ERROR(super_version.merger().Full(lookup->key(), operands->base(),
                                                    operands->slices(), buffer, &result));
  if (result.data() == buffer->data()) {
    value->PinSelf();
  } else {
    Pin(result, super_version, operands, value);
  }
  const bool many = options.merge_operand_count_threshold.has_value() &&
                    n > *options.merge_operand_count_threshold;
  return many ? Status::OkMergeOperandThresholdExceeded() : Status::OK();
}

}  // namespace varve
