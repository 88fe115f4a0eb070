// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges of user keys, as arguments of calls. They do not own their keys.

#include "varve/slice.h"

namespace varve {

// The range [start, limit).
struct Range {
  Range() = default;
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}

  Slice start;
  Slice limit;
};

// A range with optional bounds; nullptr: unbounded on that side.
struct RangePtr {
  RangePtr() = default;
  RangePtr(const Slice* s, const Slice* l) : start(s), limit(l) {}

  const Slice* start = nullptr;
  const Slice* limit = nullptr;
};

// Like RangePtr, with optional slices; nullptr or absent means unbounded on that side.
struct RangeOpt {
  RangeOpt() = default;
  RangeOpt(const OptSlice& s, const OptSlice& l) : start(s), limit(l) {}

  OptSlice start;
  OptSlice limit;
};

}  // namespace varve
