// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges of user keys, as arguments of calls. None of them owns its keys.

#include "varve/slice.h"

namespace varve {

// [start, limit).
struct Range {
  Range() = default;
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}

  Slice start;
  Slice limit;
};

// nullptr: no limit on that side.
struct RangePtr {
  RangePtr() = default;
  RangePtr(const Slice* s, const Slice* l) : start(s), limit(l) {}

  const Slice* start = nullptr;
  const Slice* limit = nullptr;
};

// The same with optional limits: nullptr or absent means no limit on that side.
struct RangeOpt {
  RangeOpt() = default;
  RangeOpt(const OptSlice& s, const OptSlice& l) : start(s), limit(l) {}

  OptSlice start;
  OptSlice limit;
};

}  // namespace varve
