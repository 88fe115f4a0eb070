// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns the bounds of a request into bounds of an iterator.

#include <string>

#include "varve/options.h"

#include "tools/varve/request.h"

namespace varve::tool {

// Holds what the options point to. A prefix means the keys that begin with these bytes, whatever
// the order of the family's keys is; where that is not the order of bytes, only Matches tells.
class KeyRange {
 public:
  explicit KeyRange(const Request& request);
  KeyRange(const KeyRange&) = delete;
  KeyRange& operator=(const KeyRange&) = delete;

  // `bytewise`: the family's keys are in the order of their bytes. The options borrow this object.
  void Apply(bool bytewise, ReadOptions* options);
  [[nodiscard]] bool Matches(const Slice& key) const { return key.starts_with(prefix_); }

 private:
  const std::string prefix_;
  std::string from_;
  std::string to_;
  bool has_from_;
  bool has_to_;
  Slice from_slice_;
  Slice to_slice_;
};

}  // namespace varve::tool
