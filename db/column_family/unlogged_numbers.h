// SPDX-License-Identifier: Apache-2.0
#pragma once

// UnloggedNumbers stores the sequence numbers of a family that may be in no log: those of memtables
// with unlogged writes, and of ingested tables. Change streams use it to name the families of a
// gap.

#include <algorithm>
#include <array>
#include <cstddef>

#include "varve/types.h"

#include "util/base/assert.h"

namespace varve {

// Thread safety: none; guarded by the DB mutex. Never throws.
class UnloggedNumbers {
 public:
  // Adds the span from `first` to `last`, both inclusive. It must not end before the last span. If
  // there are too many spans, the two oldest are merged, with the numbers between them.
  void Add(SequenceNumber first, SequenceNumber last) {
    VARVE_ASSERT(first <= last);
    if (count_ > 0 && first <= spans_[count_ - 1].last + 1) {
      spans_[count_ - 1].first = std::min(spans_[count_ - 1].first, first);
      spans_[count_ - 1].last = std::max(spans_[count_ - 1].last, last);
      return;
    }
    if (count_ == spans_.size()) {
      spans_[1].first = spans_[0].first;
      std::move(spans_.begin() + 1, spans_.end(), spans_.begin());
      count_--;
    }
    spans_[count_++] = {first, last};
  }

  // Returns true if one of the numbers from `first` to `last` may be unlogged.
  bool MayHold(SequenceNumber first, SequenceNumber last) const {
    return std::any_of(spans_.begin(), spans_.begin() + count_,
                       [&](const Span& span) { return span.first <= last && first <= span.last; });
  }

 private:
  // Maximum number of spans. Merging makes MayHold return true for more numbers, and never false
  // for an unlogged one.
  static constexpr size_t kSpansMax = 32;
  // A range of sequence numbers, both ends inclusive.
  struct Span {
    SequenceNumber first = 0;
    SequenceNumber last = 0;
  };
  std::array<Span, kSpansMax> spans_;  // ascending
  // Number of spans in use.
  size_t count_ = 0;
};

}  // namespace varve
