// SPDX-License-Identifier: Apache-2.0

// Implements the default forms of a merge operator, made from the forms that the user did write.

#include "varve/merge_operator.h"

#include <deque>
#include <string>
#include <utility>
#include <variant>

namespace varve {

namespace {

// Merges onto the default column of an entity, or onto an empty value if it has none, and copies
// its other columns.
bool MergeDefaultColumn(const MergeOperator& merger,
                        const MergeOperator::MergeOperationInputV3& merge_in,
                        const WideColumns& columns,
                        MergeOperator::MergeOperationOutputV3* merge_out) {
  const bool has_default = !columns.empty() && columns.front().name() == kDefaultWideColumnName;
  const Slice base = has_default ? columns.front().value() : Slice();
  const MergeOperator::MergeOperationInput in(merge_in.key, &base, merge_in.operand_list,
                                              merge_in.logger);
  std::string merged;
  Slice operand(nullptr, 0);
  MergeOperator::MergeOperationOutput out(merged, operand);
  const bool ok = merger.FullMergeV2(in, &out);
  merge_out->op_failure_scope = out.op_failure_scope;
  if (!ok) return false;
  // The operator may have chosen an existing operand as the result, instead of filling `merged`.
  if (operand.data() != nullptr) merged.assign(operand.data(), operand.size());
  MergeOperator::MergeOperationOutputV3::NewColumns result;
  result.reserve(columns.size() + 1);
  result.emplace_back(kDefaultWideColumnName.ToString(), std::move(merged));
  for (size_t i = has_default ? 1 : 0; i < columns.size(); i++) {
    result.emplace_back(columns[i].name().ToString(), columns[i].value().ToString());
  }
  merge_out->new_value = std::move(result);
  return true;
}

}  // namespace

// The chain of defaults: V3 calls V2, V2 calls the oldest form with copies of the operands. A
// program overrides the newest form that it knows.
bool MergeOperator::FullMergeV3(const MergeOperationInputV3& merge_in,
                                MergeOperationOutputV3* merge_out) const {
  if (const auto* const columns = std::get_if<WideColumns>(&merge_in.existing_value)) {
    return MergeDefaultColumn(*this, merge_in, *columns, merge_out);
  }
  // A caller leaves new_value as an empty string, the alternative that it begins with. With another
  // one there is no string for FullMergeV2 to fill.
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
  // Folds from the oldest operand on; the order of operands must not change, but where they are
  // joined first may.
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
