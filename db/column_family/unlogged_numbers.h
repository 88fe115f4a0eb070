// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores which sequence numbers of a family may be in no log, so that a reader of the logs that
// meets a gap can tell whose it is: those of memtables with such writes, and of ingested tables.

#include <algorithm>
#include <array>
#include <cstddef>

#include "varve/types.h"

#include "util/base/assert.h"

namespace varve {

// Thread safety: none; the family guards it by the DB mutex. Never throws.
class UnloggedNumbers {
 public:
  // Adds a span, both inclusive, that does not end before the last one; it may begin before it. If
  // there are too many, the two oldest become one, with what lies between them.
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

  // True if one of these numbers may be in no log.
  bool MayHold(SequenceNumber first, SequenceNumber last) const {
    return std::any_of(spans_.begin(), spans_.begin() + count_,
                       [&](const Span& span) { return span.first <= last && first <= span.last; });
  }

 private:
  // Number of spans kept; more of them are merged, which can only make MayHold answer true too
  // often.
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
