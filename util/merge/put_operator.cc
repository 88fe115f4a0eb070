// SPDX-License-Identifier: Apache-2.0

// Implements the operator that replaces the value.

#include <memory>

#include "varve/utilities/merge_operators.h"

#include "util/merge/operator_forms.h"

namespace varve {

namespace {

class PutOperator final : public ChoosingOperator<PutOperator> {
 public:
  const char* Name() const override { return "PutOperator"; }
  const char* NickName() const override { return "put"; }

  template <typename Slices>
  Slice Choose(const Slice* /*base*/, const Slices& operands) const {
    return operands.back();
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreatePutOperator() {
  return std::make_shared<PutOperator>();
}

std::shared_ptr<MergeOperator> MergeOperators::CreateDeprecatedPutOperator() {
  return CreatePutOperator();
}

}  // namespace varve
