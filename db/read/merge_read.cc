// SPDX-License-Identifier: Apache-2.0
#include "db/read/merge_read.h"

#include "db/read/blob_read.h"
#include "db/version/entry_place.h"
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

// Requires that the operands are in order, oldest first. The operator may have returned one of the
// operands, or a part of one. Its bytes then need not be copied, if what they lie in can be kept
// alive: a block by its share, a memtable by its super-version.
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

// The base comes first, as it may have to be read from a blob file. The operator writes its result
// to the value's own buffer, or says that it is one of its arguments, which is then pinned instead
// of copied.
Status MergeForRead(const ReadOptions& options, const SuperVersion& super_version,
                    PointLookup* lookup, PinnableSlice* value, Statistics* statistics) {
  MergeOperands* const operands = lookup->operands();
  VARVE_ASSERT(operands != nullptr);
  const size_t n = operands->size();
  AddPerfCount<&PerfContext::internal_merge_point_lookup_count>(n);
  RecordInHistogram(statistics, READ_NUM_MERGE_OPERANDS, n);
  PinnableSlice base_of_blob;
  VARVE_RETURN_IF_ERROR(ReadReferenceOfBase(options, super_version, lookup, &base_of_blob));
  operands->PutOldestFirst();
  std::string* const buffer = value->GetSelf();
  Slice result;
  ValueForm form = operands->base_form();
  const Status merged = super_version.merger().Full(lookup->key(), operands->base(),
                                                    operands->slices(), buffer, &result, &form);
  if (!merged.ok()) [[unlikely]] {
    // The base may be an entity that is ill-formed.
    return NameTableOfEntry(merged, options, super_version.version(), super_version.table_cache(),
                            lookup->key(), lookup->snapshot());
  }
  if (form == ValueForm::kEntity) [[unlikely]] {
    VARVE_ASSERT(result.data() == buffer->data());
    if (!lookup->wants_entity()) VARVE_RETURN_IF_ERROR(DefaultColumnOf(result, &result));
    lookup->SetForm(lookup->wants_entity() ? form : ValueForm::kPlain);
    value->PinSelf(result);
  } else if (result.data() == buffer->data()) {
    value->PinSelf();
  } else if (lookup->base_is_reference()) {
    // The result may be a part of the base, which was read from a blob file and which no share
    // keeps: so it is copied.
    value->PinSelf(result);
  } else {
    Pin(result, super_version, operands, value);
  }
  const bool many = options.merge_operand_count_threshold.has_value() &&
                    n > *options.merge_operand_count_threshold;
  return many ? Status::OkMergeOperandThresholdExceeded() : Status::OK();
}

}  // namespace varve
