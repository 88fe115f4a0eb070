// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a database must hold, as ordered maps: the oracle of the model tests.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "varve/comparator.h"
#include "varve/slice.h"

namespace varve::testing {

struct ComparatorLess {
  const Comparator* comparator = BytewiseComparator();
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator->Compare(a, b) < 0;
  }
};

using FamilyState = std::map<std::string, std::string, ComparatorLess>;

// One change of one key or range.
struct Change {
  enum Kind { kPut, kDelete, kSingleDelete, kDeleteRange } kind = kPut;
  std::string family;
  std::string key;    // begin of a range
  std::string value;  // end of a range
};

// All families at one moment. Plain data: a snapshot is a copy.
struct ReferenceState {
  std::map<std::string, FamilyState> families;

  void Apply(const Change& change) {
    FamilyState& state = families.at(change.family);
    switch (change.kind) {
      case Change::kPut:
        state[change.key] = change.value;
        break;
      case Change::kDelete:
      case Change::kSingleDelete:
        state.erase(change.key);
        break;
      case Change::kDeleteRange:
        state.erase(state.lower_bound(change.key), state.lower_bound(change.value));
        break;
    }
  }

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
