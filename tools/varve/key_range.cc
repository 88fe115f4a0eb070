// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/key_range.h"

namespace varve::tool {

namespace {

// Returns the first text after all that begin with `prefix`; empty: there is none.
std::string AfterPrefix(std::string prefix) {
  // A byte 0xff has no successor, so that the byte before it is raised: after "a\xff" comes "b". A
  // prefix of such bytes only has nothing after it.
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace

KeyRange::KeyRange(const Request& request)
    : prefix_(request.prefix.value_or("")),
      from_(request.from.value_or("")),
      to_(request.to.value_or("")),
      has_from_(request.from.has_value()),
      has_to_(request.to.has_value()) {}

void KeyRange::Apply(bool bytewise, ReadOptions* options) {
  // The prefix narrows the bounds that the user gave, and never widens them. In another order its
  // keys may lie anywhere, and the whole range is walked.
  if (bytewise && !prefix_.empty()) {
    if (!has_from_ || from_ < prefix_) from_ = prefix_;
    has_from_ = true;
    const std::string after = AfterPrefix(prefix_);
    if (!after.empty() && (!has_to_ || after < to_)) {
      to_ = after;
      has_to_ = true;
    }
  }
  from_slice_ = from_;
  to_slice_ = to_;
  if (has_from_) options->iterate_lower_bound = &from_slice_;
  if (has_to_) options->iterate_upper_bound = &to_slice_;
}

}  // namespace varve::tool
