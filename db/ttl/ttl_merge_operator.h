// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlMergeOperator wraps a user's merge operator for values with stamps.
//
// The chain of a key, its base and the operands on it, is evaluated from the oldest to the newest:
// what was expired when the next operand was written counts as absent, and the result has the
// newest stamp. So a read gives the same result whichever parts of the chain compactions have
// merged before; and they merge operands without a base only if the stamps are equal, as unequal
// ones are needed to tell how long the base lived.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/merge_operator.h"

#include "db/ttl/ttl_state.h"

namespace varve {

// Collects those values of a chain that count: the ones after the last gap in which everything
// before had expired. The values are not copied, and must outlive this object. Thread safety: none.
class TtlChain {
 public:
  explicit TtlChain(int32_t ttl) : ttl_(ttl) {}

  // Adds the next newer value, with its stamp. Returns false, with nothing changed, if it has none.
  [[nodiscard]] bool Add(const Slice& stored);

  // Returns the index of the first added value that counts. It is 0 for the base, if there is one.
  size_t first() const { return first_; }
  // Returns the values without stamps, from `first` on.
  const std::vector<Slice>& values() const { return values_; }
  // Returns the newest stamp of these values; 0 if there are none.
  uint32_t stamp() const { return stamp_; }

 private:
  const int32_t ttl_;
  size_t first_ = 0;
  std::vector<Slice> values_;
  uint32_t stamp_ = 0;
};

// Thread safety: any thread, as far as the user's operator allows.
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
