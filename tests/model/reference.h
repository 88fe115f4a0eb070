// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the expected contents of a database in ordered maps: the oracle of the model tests.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/merge_operator.h"
#include "varve/slice.h"

namespace varve::testing {

struct ComparatorLess {
  const Comparator* comparator = BytewiseComparator();
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};

using FamilyState = std::map<std::string, std::string, ComparatorLess>;

// Describes one change of one key or range.
struct Change {
  enum Kind { kPut, kDelete, kSingleDelete, kDeleteRange, kMerge } kind = kPut;
  std::string family;
  std::string key;    // begin of a range
  std::string value;  // end of a range
};

// An operand is appended to the value or replaces it. The result does not depend on the grouping of
// operands.
class AppendOrReplace final : public AssociativeMergeOperator {
 public:
  static constexpr char kReplaces = '=';

  const char* Name() const override { return "test.AppendOrReplace"; }
  bool Merge(const Slice& /*key*/, const Slice* existing_value, const Slice& value,
             std::string* new_value, Logger* /*logger*/) const override {
    *new_value = Apply(existing_value == nullptr ? "" : existing_value->ToString(), value);
    return true;
  }
  static std::string Apply(const std::string& base, const Slice& operand) {
    return operand.starts_with(Slice(&kReplaces, 1)) ? operand.ToString()
                                                     : base + operand.ToString();
  }
};

// Like the class above, but the result points to the last operand if that is the answer.
class AppendOrReplaceInPlace final : public MergeOperator {
 public:
  const char* Name() const override { return "test.AppendOrReplace"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    const Slice& last = in.operand_list.back();
    if (last.starts_with(Slice(&AppendOrReplace::kReplaces, 1))) {
      out->existing_operand = last;
      return true;
    }
    std::string value = in.existing_value == nullptr ? "" : in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) value = AppendOrReplace::Apply(value, operand);
    out->new_value = std::move(value);
    return true;
  }
};

// Applies a change to its family.
inline void ApplyTo(FamilyState* family, const Change& change) {
  FamilyState& state = *family;
  switch (change.kind) {
    case Change::kPut:
      state[change.key] = change.value;
      break;
    case Change::kDelete:
    case Change::kSingleDelete:
      state.erase(change.key);
      break;
    case Change::kMerge:
      state[change.key] = AppendOrReplace::Apply(state[change.key], change.value);
      break;
    case Change::kDeleteRange:
      state.erase(state.lower_bound(change.key), state.lower_bound(change.value));
      break;
  }
}

// Holds all families at one moment. A snapshot is a copy.
struct ReferenceState {
  std::map<std::string, FamilyState> families;

  void Apply(const Change& change) { ApplyTo(&families.at(change.family), change); }

  void Apply(const std::vector<Change>& changes) {
    for (const Change& change : changes) Apply(change);
  }

  std::optional<std::string> Get(const std::string& family, const std::string& key) const {
    const FamilyState& state = families.at(family);
    auto it = state.find(key);
    if (it == state.end()) return std::nullopt;
    return it->second;
  }
};

}  // namespace varve::testing
