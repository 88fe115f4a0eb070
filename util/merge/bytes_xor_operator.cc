// SPDX-License-Identifier: Apache-2.0

// Implements the operator that merges by exclusive or.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/utilities/merge_operators.h"

#include "util/merge/operator_forms.h"

namespace varve {

namespace {

// XORs `value` into *merged, which grows to its size.
void XorInto(const Slice& value, std::string* merged) {
  if (merged->size() < value.size()) merged->resize(value.size(), '\0');
  for (size_t i = 0; i < value.size(); ++i) {
    (*merged)[i] = static_cast<char>((*merged)[i] ^ value[i]);
  }
}

class BytesXorOperator final : public FoldingOperator<BytesXorOperator> {
 public:
  const char* Name() const override { return "BytesXOR"; }
  const char* NickName() const override { return "bytesxor"; }

  template <typename Slices>
  bool Fold(const Slice* base, const Slices& operands, std::string* merged,
            Logger* /*logger*/) const {
    if (base != nullptr) XorInto(*base, merged);
    for (const Slice& operand : operands) XorInto(operand, merged);
    return true;
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateBytesXOROperator() {
  return std::make_shared<BytesXorOperator>();
}

}  // namespace varve
