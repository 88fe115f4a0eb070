// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines base classes for operators whose operands are values themselves: they derive all forms of
// merging (all operands, two, many without a base) from one function that each operator writes.
//
//      FullMergeV2          base or none, operands    Fold(base, ...)    Choose(base, ...)
//      PartialMerge         two operands              Fold(null, ...)    Choose(null, ...)
//      PartialMergeMulti    several operands          Fold(null, ...)    Choose(null, ...)
//
// The result of a partial merge is an operand again. So the one function must be associative:
// merging some neighbours first must not change the final result. Addition, the maximum and
// appending with a delimiter satisfy that.
//
// The derived class is a template argument instead of an override, because Fold and Choose are
// templates over the container of the operands, which differs between the three forms.

#include <array>
#include <deque>
#include <string>
#include <utility>

#include "varve/merge_operator.h"
#include "varve/slice.h"

namespace varve {

// `Operator` has
//   template <typename Slices>
//   bool Fold(const Slice* base, const Slices& operands, std::string* merged, Logger*) const;
// which merges at least one operand, oldest first, onto the base (null for none) into *merged,
// which is empty before, and returns false if one of them is malformed.
template <typename Operator>
class FoldingOperator : public MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (self().Fold(in.existing_value, in.operand_list, &out->new_value, in.logger)) return true;
    // Only the bytes of one key are bad; a background merge can go on with other keys.
    out->op_failure_scope = OpFailureScope::kMustMerge;
    return false;
  }

  bool PartialMerge(const Slice& /*key*/, const Slice& left, const Slice& right,
                    std::string* new_value, Logger* logger) const override {
    // The left operand is the older one.
    return FoldAlone(std::array{left, right}, new_value, logger);
  }

  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* logger) const override {
    return FoldAlone(operands, new_value, logger);
  }

 private:
  const Operator& self() const { return static_cast<const Operator&>(*this); }

  template <typename Slices>
  bool FoldAlone(const Slices& operands, std::string* new_value, Logger* logger) const {
    // The result goes to the caller only if the merge succeeded.
    std::string merged;
    if (!self().Fold(nullptr, operands, &merged, logger)) return false;
    *new_value = std::move(merged);
    return true;
  }
};

// `Operator` has
//   template <typename Slices>
//   Slice Choose(const Slice* base, const Slices& operands) const;
// which returns the base or one of the operands, of which there is at least one, oldest first.
template <typename Operator>
class ChoosingOperator : public MergeOperator {
 public:
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    // The result is one of the inputs, so that no bytes are copied.
    out->existing_operand = self().Choose(in.existing_value, in.operand_list);
    return true;
  }

  bool PartialMerge(const Slice& /*key*/, const Slice& left, const Slice& right,
                    std::string* new_value, Logger* /*logger*/) const override {
    return Copy(self().Choose(nullptr, std::array{left, right}), new_value);
  }

  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* /*logger*/) const override {
    return Copy(self().Choose(nullptr, operands), new_value);
  }

 private:
  const Operator& self() const { return static_cast<const Operator&>(*this); }

  static bool Copy(const Slice& chosen, std::string* new_value) {
    new_value->assign(chosen.data(), chosen.size());
    return true;
  }
};

}  // namespace varve
