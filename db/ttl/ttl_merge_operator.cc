// SPDX-License-Identifier: Apache-2.0

// Values come with stamps, the user's operator sees them without, and the result gets the newest
// stamp:
//
//      operands, oldest first    1@10  2@12  | 3@99  4@100       lifetime 60
//      TtlChain                  expired     | live              3@99 begins a new chain
//      result                                  merge(3, 4)@100
//
// A partial merge is made only for equal stamps: for others it is unknown whether the older operand
// will have counted, as the lifetime may change.

#include "db/ttl/ttl_merge_operator.h"

#include <algorithm>
#include <utility>

#include "db/ttl/ttl_stamp.h"

namespace varve {

bool TtlChain::Add(const Slice& stored) {
  Slice value;
  uint32_t stamp = 0;
  if (!SplitStamp(stored, &value, &stamp)) return false;
  // When this operand was written, everything before it was expired: its writer saw no value, so it
  // begins a new chain.
  if (!values_.empty() && IsExpired(stamp_, ttl_, stamp)) {
    first_ += values_.size();
    values_.clear();
    stamp_ = 0;
  }
  values_.push_back(value);
  stamp_ = std::max(stamp_, stamp);
  return true;
}

// Calls the user's operator with the part of the chain that counts, without stamps, and puts the
// newest stamp behind its result. Fails if a value has no stamp, or if an entity comes in or out.
bool TtlMergeOperator::FullMergeV3(const MergeOperationInputV3& in,
                                   MergeOperationOutputV3* out) const {
  // An entity has no stamp; it was not written through DBWithTTL.
  if (std::holds_alternative<WideColumns>(in.existing_value)) return false;
  TtlChain chain(family_->ttl.load(std::memory_order_relaxed));
  const Slice* const base = std::get_if<Slice>(&in.existing_value);
  if (base != nullptr && !chain.Add(*base)) return false;
  for (const Slice& operand : in.operand_list) {
    if (!chain.Add(operand)) return false;
  }
  std::vector<Slice> operands = chain.values();
  MergeOperationInputV3::ExistingValue plain_base;
  // The base counts only if no operand has begun a new chain. Otherwise it is among those that were
  // left out.
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
  // The stamp goes behind a copy of an input, or behind the value that the operator has made.
  std::string value;
  if (const Slice* const input = std::get_if<Slice>(&result.new_value)) {
    value.reserve(input->size() + kStampBytes);
    value.assign(input->data(), input->size());
  } else if (auto* const made = std::get_if<std::string>(&result.new_value)) {
    value = std::move(*made);
  } else {
    return false;  // The operator has made an entity, which can have no stamp.
  }
  // The newest stamp of the chain: the merged value lives as long as its youngest part would have.
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

// Merges only operands that all have the same stamp, which then is that of the result.
bool TtlMergeOperator::PartialMergeMulti(const Slice& key, const std::deque<Slice>& operands,
                                         std::string* result, Logger* logger) const {
  std::deque<Slice> plain;
  uint32_t common = 0;
  for (const Slice& operand : operands) {
    Slice value;
    uint32_t stamp = 0;
    if (!SplitStamp(operand, &value, &stamp)) return false;
    // Merging operands of two stamps would decide now if they are one chain, which depends on a
    // lifetime that may still change.
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
