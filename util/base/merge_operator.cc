// SPDX-License-Identifier: Apache-2.0

// Implements the default forms of a merge operator, made from the forms that the user did write.

#include "varve/merge_operator.h"

#include <deque>
#include <string>
#include <utility>
#include <variant>

namespace varve {

bool MergeOperator::FullMergeV3(const MergeOperationInputV3& merge_in,
                                MergeOperationOutputV3* merge_out) const {
  auto* const new_value = std::get_if<std::string>(&merge_out->new_value);
  if (new_value == nullptr) return false;
  Slice operand(nullptr, 0);
  const MergeOperationInput in(merge_in.key, std::get_if<Slice>(&merge_in.existing_value),
                               merge_in.operand_list, merge_in.logger);
  MergeOperationOutput out(*new_value, operand);
  const bool merged = FullMergeV2(in, &out);
  merge_out->op_failure_scope = out.op_failure_scope;
  if (merged && operand.data() != nullptr) merge_out->new_value = operand;
  return merged;
}

bool MergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                MergeOperationOutput* merge_out) const {
  std::deque<std::string> operands;
  for (const Slice& operand : merge_in.operand_list) operands.push_back(operand.ToString());
  return FullMerge(merge_in.key, merge_in.existing_value, operands, &merge_out->new_value,
                   merge_in.logger);
}

bool MergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operand_list,
                                      std::string* new_value, Logger* logger) const {
  if (operand_list.size() < 2) return false;
  std::string merged;
  Slice left = operand_list.front();
  for (auto right = operand_list.begin() + 1; right != operand_list.end(); ++right) {
    std::string next;
    if (!PartialMerge(key, left, *right, &next, logger)) return false;
    merged = std::move(next);
    left = merged;
  }
  // The output is set only now: after a failure it must be unchanged.
  *new_value = std::move(merged);
  return true;
}

bool AssociativeMergeOperator::FullMergeV2(const MergeOperationInput& merge_in,
                                           MergeOperationOutput* merge_out) const {
  std::string merged;
  Slice base;
  const Slice* existing = merge_in.existing_value;
  for (const Slice& operand : merge_in.operand_list) {
    std::string next;
    if (!Merge(merge_in.key, existing, operand, &next, merge_in.logger)) return false;
    merged = std::move(next);
    base = merged;
    existing = &base;
  }
  merge_out->new_value = std::move(merged);
  return true;
}

bool AssociativeMergeOperator::PartialMerge(const Slice& key, const Slice& left_operand,
                                            const Slice& right_operand, std::string* new_value,
                                            Logger* logger) const {
  return Merge(key, &left_operand, right_operand, new_value, logger);
}

}  // namespace varve
