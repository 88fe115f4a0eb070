// SPDX-License-Identifier: Apache-2.0
#pragma once

// A merge operator of a user's over values with stamps.
//
// The chain of a key, its base and the operands on it, is gone through from the oldest to the
// newest: what was expired when the next operand was written is as if it had never been, and the
// result has the newest stamp. So a read gives the same whichever parts of the chain compactions
// have merged before; and they merge operands without a base only if the stamps are equal, as the
// others are needed to tell what the base had lived to see.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/merge_operator.h"

#include "db/ttl/ttl_state.h"

namespace varve {

// The part of a chain that counts.
class TtlChain {
 public:
  explicit TtlChain(int32_t ttl) : ttl_(ttl) {}

  // The next one, oldest first. False: it has no stamp.
  [[nodiscard]] bool Add(const Slice& stored);

  // Of those that were added, the first that counts. It is 0 for the base, if there is one.
  size_t first() const { return first_; }
  // Without stamps, from `first` on.
  const std::vector<Slice>& values() const { return values_; }
  uint32_t stamp() const { return stamp_; }

 private:
  const int32_t ttl_;
  size_t first_ = 0;
  std::vector<Slice> values_;
  uint32_t stamp_ = 0;
};

class TtlMergeOperator final : public MergeOperator {
 public:
  TtlMergeOperator(std::shared_ptr<MergeOperator> user, std::shared_ptr<TtlFamily> family)
      : user_(std::move(user)), family_(std::move(family)) {}

  static const char* kClassName() { return "TtlMergeOperator"; }
  const char* Name() const override { return kClassName(); }
  const Customizable* Inner() const override { return user_.get(); }
  const std::shared_ptr<MergeOperator>& user() const { return user_; }

  bool FullMergeV3(const MergeOperationInputV3& in, MergeOperationOutputV3* out) const override;
  bool PartialMerge(const Slice& key, const Slice& left, const Slice& right, std::string* result,
                    Logger* logger) const override;
  bool PartialMergeMulti(const Slice& key, const std::deque<Slice>& operands, std::string* result,
                         Logger* logger) const override;
  bool AllowSingleOperand() const override { return user_->AllowSingleOperand(); }
  bool ShouldMerge(const std::vector<Slice>& operands) const override;

 private:
  const std::shared_ptr<MergeOperator> user_;
  const std::shared_ptr<TtlFamily> family_;
};

}  // namespace varve
