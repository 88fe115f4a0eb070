// SPDX-License-Identifier: Apache-2.0
#include "db/ttl/ttl_merge_operator.h"

#include <algorithm>
#include <utility>

#include "db/ttl/ttl_stamp.h"

namespace varve {

bool TtlChain::Add(const Slice& stored) {
  Slice value;
  uint32_t stamp = 0;
  if (!SplitStamp(stored, &value, &stamp)) return false;
  if (!values_.empty() && IsExpired(stamp_, ttl_, stamp)) {
    first_ += values_.size();
    values_.clear();
    stamp_ = 0;
  }
  values_.push_back(value);
  stamp_ = std::max(stamp_, stamp);
  return true;
}

bool TtlMergeOperator::FullMergeV3(const MergeOperationInputV3& in,
                                   MergeOperationOutputV3* out) const {
  TtlChain chain(family_->ttl.load(std::memory_order_relaxed));
  const Slice* const base = std::get_if<Slice>(&in.existing_value);
  if (base != nullptr && !chain.Add(*base)) return false;
  for (const Slice& operand : in.operand_list) {
    if (!chain.Add(operand)) return false;
  }
  std::vector<Slice> operands = chain.values();
  MergeOperationInputV3::ExistingValue plain_base;
  if (base != nullptr && chain.first() == 0) {
    plain_base = operands.front();
    operands.erase(operands.begin());
  }
  const MergeOperationInputV3 plain(in.key, std::move(plain_base), operands, in.logger);
  MergeOperationOutputV3 result;
  result.op_failure_scope = out->op_failure_scope;
  const bool merged = user_->FullMergeV3(plain, &result);
  out->op_failure_scope = result.op_failure_scope;
  if (!merged) return false;
  std::string value;
  if (const Slice* const input = std::get_if<Slice>(&result.new_value)) {
    value.reserve(input->size() + kStampBytes);
    value.assign(input->data(), input->size());
  } else {
    value = std::move(std::get<std::string>(result.new_value));
  }
  AppendStamp(&value, chain.stamp());
  out->new_value = std::move(value);
  return true;
}

bool TtlMergeOperator::PartialMerge(const Slice& key, const Slice& left, const Slice& right,
                                    std::string* result, Logger* logger) const {
  Slice older;
  Slice newer;
  uint32_t stamp = 0;
  uint32_t newer_stamp = 0;
  if (!SplitStamp(left, &older, &stamp) || !SplitStamp(right, &newer, &newer_stamp) ||
      stamp != newer_stamp || !user_->PartialMerge(key, older, newer, result, logger)) {
    return false;
  }
  AppendStamp(result, stamp);
  return true;
}

bool TtlMergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operands,
                                         std::string* result, Logger* logger) const {
  std::deque<Slice> plain;
  uint32_t common = 0;
  for (const Slice& operand : operands) {
    Slice value;
    uint32_t stamp = 0;
    if (!SplitStamp(operand, &value, &stamp)) return false;
    if (!plain.empty() && stamp != common) return false;
    common = stamp;
    plain.push_back(value);
  }
  if (!user_->PartialMergeMulti(key, plain, result, logger)) return false;
  AppendStamp(result, common);
  return true;
}

bool TtlMergeOperator::ShouldMerge(const std::vector<Slice>& operands) const {
  std::vector<Slice> plain;
  plain.reserve(operands.size());
  for (const Slice& operand : operands) {
    Slice value;
    uint32_t stamp = 0;
    if (!SplitStamp(operand, &value, &stamp)) return false;
    plain.push_back(value);
  }
  return user_->ShouldMerge(plain);
}

}  // namespace varve
