// SPDX-License-Identifier: Apache-2.0
#include "util/key/merge_caller.h"

#include <cstdint>
#include <exception>
#include <utility>
#include <variant>

#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/key/entry_limits.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// True if the slice lies in the base or in an operand, as a result that is given as a slice must: a
// slice of memory that the operator itself owns may be gone when the result is read. The check
// costs a pass over the operands, hence only in builds with assertions.
#ifndef NDEBUG
bool IsOneOf(const Slice& slice, const Slice* base, const std::vector<Slice>& operands) {
  const auto lies_in = [&slice](const Slice& whole) {
    return slice.data() >= whole.data() &&
           slice.data() + slice.size() <= whole.data() + whole.size();
  };
  if (base != nullptr && lies_in(*base)) return true;
  for (const Slice& operand : operands) {
    if (lies_in(operand)) return true;
  }
  return false;
}
#endif

using NewColumns = MergeOperator::MergeOperationOutputV3::NewColumns;

Status DecodeBase(const Slice& key, const Slice& entity, WideColumns* columns) {
  const Status s = DecodeEntity(entity, columns);
  return s.ok() ? s
                : Status::CopyAppendMessage(s, "; ", "merged onto, of key " + key.ToString(true));
}

// Adds the time of its scope to the statistics' total and to the thread's, if they record times.
struct MergeTimer {
  explicit MergeTimer(Statistics* statistics)
      : of_statistics(statistics, MERGE_OPERATION_TOTAL_TIME, kExceptDetailedTimers) {}
  const TickerTimer of_statistics;
  const PerfTimer<&PerfContext::merge_operator_time_nanos> of_thread;
};

}  // namespace

Status MergeCaller::Full(const Slice& key, const Slice* base, const std::vector<Slice>& operands,
                         std::string* buffer, Slice* result, ValueForm* form) const {
  if (operator_ == nullptr) {
    const std::string was = remembered_.empty() ? "" : ": it was " + remembered_;
    return Status::InvalidArgument(
        "merge: there are operands for key " + key.ToString(/*hex=*/true),
        "and ColumnFamilyOptions::merge_operator, which would merge them, is not set" + was);
  }
  using Operator = MergeOperator;
  Operator::MergeOperationInputV3::ExistingValue existing;
  if (base != nullptr && *form == ValueForm::kEntity) [[unlikely]] {
    VARVE_RETURN_IF_ERROR(DecodeBase(key, *base, &existing.emplace<WideColumns>()));
  } else if (base != nullptr) {
    existing = *base;
  }
  const Operator::MergeOperationInputV3 in(key, std::move(existing), operands, logger_);
  Operator::MergeOperationOutputV3 out;
  buffer->clear();
  out.new_value = std::move(*buffer);  // Keeps its capacity.
  try {
    const MergeTimer timer(statistics_);
    if (!operator_->FullMergeV3(in, &out)) return Failed(key, "failed");
  } catch (const std::exception& e) {
    return Failed(key, e.what());
  } catch (...) {
    return Failed(key, "threw what is no exception");
  }
  // The operator has chosen the form of its result by the alternative that it left in new_value.
  *form = ValueForm::kPlain;
  if (const auto* const columns = std::get_if<NewColumns>(&out.new_value); columns != nullptr)
      [[unlikely]] {
    *form = ValueForm::kEntity;
    VARVE_RETURN_IF_ERROR(Encode(key, *columns, buffer));
    *result = Slice(*buffer);
  } else if (const Slice* const operand = std::get_if<Slice>(&out.new_value); operand != nullptr) {
#ifndef NDEBUG
    if (!IsOneOf(*operand, base, operands)) {
      return Failed(key, "set existing_operand to what is none of its operands");
    }
#endif
    *result = *operand;
  } else {
    *buffer = std::move(std::get<std::string>(out.new_value));
    *result = Slice(*buffer);
  }
  if (!FitsAWrite(key.size(), result->size())) {
    return Failed(key, "made a value that is too large: of nearly 4 GiB, or more");
  }
  return Status::OK();
}

Status MergeCaller::Encode(const Slice& key, const NewColumns& columns, std::string* buffer) const {
  WideColumns slices;
  slices.reserve(columns.size());
  for (const auto& [name, value] : columns) slices.emplace_back(name, value);
  buffer->clear();
  const Status s = EncodeEntity(slices, buffer);
  return s.ok() ? s : Failed(key, ("made no entity: " + s.ToString()).c_str());
}

bool MergeCaller::WantsSingleOperand() const {
  try {
    return operator_ != nullptr && operator_->AllowSingleOperand();
  } catch (...) {
    return false;
  }
}

bool MergeCaller::Partial(const Slice& key, const std::deque<Slice>& operands,
                          std::string* result) const {
  if (operator_ == nullptr || operands.empty()) return false;
  if (operands.size() == 1 && !WantsSingleOperand()) return false;
  try {
    result->clear();
    const MergeTimer timer(statistics_);
    const bool merged = operator_->PartialMergeMulti(key, operands, result, logger_);
    if (VARVE_CANARY(kMergeTwice)) result->append(*result);
    return merged && FitsAWrite(key.size(), result->size());
  } catch (...) {
    // A read that needs the value meets the same error and reports it.
    return false;
  }
}

bool MergeCaller::ShouldMerge(const std::vector<Slice>& operands) const {
  try {
    return operator_ != nullptr && operator_->ShouldMerge(operands);
  } catch (...) {
    return false;
  }
}

Status MergeCaller::Failed(const Slice& key, const char* why) const {
  RecordTick(statistics_, NUMBER_MERGE_FAILURES);
  return Status::Corruption(Status::kMergeOperatorFailed,
                            std::string("merge operator ") + operator_->Name() + " " + why,
                            "key " + key.ToString(/*hex=*/true));
}

}  // namespace varve
