// SPDX-License-Identifier: Apache-2.0

// Merging into the largest value.

#include <memory>

#include "varve/utilities/merge_operators.h"

#include "util/merge/operator_forms.h"

namespace varve {

namespace {

class MaxOperator final : public ChoosingOperator<MaxOperator> {
 public:
  const char* Name() const override { return "MaxOperator"; }

  template <typename Slices>
  Slice Choose(const Slice* base, const Slices& operands) const {
    Slice largest = base != nullptr ? *base : operands.front();
    for (const Slice& operand : operands) {
      if (largest.compare(operand) < 0) largest = operand;
    }
    return largest;
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateMaxOperator() {
  return std::make_shared<MaxOperator>();
}

}  // namespace varve
