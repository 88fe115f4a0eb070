// SPDX-License-Identifier: Apache-2.0

// Implements the operator that keeps the largest value.

#include <memory>

#include "varve/utilities/merge_operators.h"

#include "util/merge/operator_forms.h"

namespace varve {

namespace {

class MaxOperator final : public ChoosingOperator<MaxOperator> {
 public:
  const char* Name() const override { return "MaxOperator"; }
  const char* NickName() const override { return "max"; }

  template <typename Slices>
  Slice Choose(const Slice* base, const Slices& operands) const {
    auto operand = operands.begin();
    // The first operand is not compared with itself, which would read all of its bytes.
    Slice largest = base != nullptr ? *base : *operand++;
    for (; operand != operands.end(); ++operand) {
      if (largest.compare(*operand) < 0) largest = *operand;
    }
    return largest;
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateMaxOperator() {
  return std::make_shared<MaxOperator>();
}

}  // namespace varve
