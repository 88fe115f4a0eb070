// SPDX-License-Identifier: Apache-2.0

// The counter operators add 8-byte little-endian numbers. Signed or not, the sum has the same bits;
// the two operators differ in how they treat values of another size.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/utilities/merge_operators.h"

#include "util/coding/fixed.h"
#include "util/env/info_log.h"
#include "util/merge/operator_forms.h"

namespace varve {

namespace {

constexpr size_t kNumberBytes = sizeof(uint64_t);

class UInt64AddOperator final : public FoldingOperator<UInt64AddOperator> {
 public:
  const char* Name() const override { return "UInt64AddOperator"; }
  const char* NickName() const override { return "uint64add"; }

  template <typename Slices>
  bool Fold(const Slice* base, const Slices& operands, std::string* merged, Logger* logger) const {
    uint64_t sum = base == nullptr ? 0 : Number(*base, logger);
    for (const Slice& operand : operands) sum += Number(operand, logger);
    PutFixed64(merged, sum);
    return true;
  }

 private:
  // Goes on with 0, as RocksDB does, instead of making the key unreadable.
  static uint64_t Number(const Slice& value, Logger* logger) {
    if (value.size() == kNumberBytes) return DecodeFixed64(value.data());
    LogError(logger, "uint64add: a value of %zu bytes, not 8, counts as 0", value.size());
    return 0;
  }
};

class Int64AddOperator final : public FoldingOperator<Int64AddOperator> {
 public:
  const char* Name() const override { return "Int64AddOperator"; }
  const char* NickName() const override { return "int64add"; }

  template <typename Slices>
  bool Fold(const Slice* base, const Slices& operands, std::string* merged,
            Logger* /*logger*/) const {
    uint64_t sum = 0;
    if (base != nullptr && !Add(*base, &sum)) return false;
    for (const Slice& operand : operands) {
      if (!Add(operand, &sum)) return false;
    }
    PutFixed64(merged, sum);
    return true;
  }

 private:
  static bool Add(const Slice& value, uint64_t* sum) {
    if (value.size() != kNumberBytes) return false;
    *sum += DecodeFixed64(value.data());
    return true;
  }
};

}  // namespace

std::shared_ptr<MergeOperator> MergeOperators::CreateUInt64AddOperator() {
  return std::make_shared<UInt64AddOperator>();
}

std::shared_ptr<MergeOperator> MergeOperators::CreateInt64AddOperator() {
  return std::make_shared<Int64AddOperator>();
}

}  // namespace varve
