// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges of user keys without timestamps, as arguments of calls. They do not own their keys, which
// must live until the call returns. The order is that of the column family's comparator. A Range
// whose limit is not after its start is empty; the calls that take a RangePtr or a RangeOpt say
// whether its limit belongs to it, and refuse a limit before its start or take it as empty.
//
//   const varve::Range fruit("apple", "cherry");  // apple, banana, ..., but not cherry
//   uint64_t bytes = 0;
//   varve::Status s = db->GetApproximateSizes(varve::SizeApproximationOptions(),
//                                             db->DefaultColumnFamily(), &fruit, 1, &bytes);

#include "varve/slice.h"

namespace varve {

// The range [start, limit): `start` belongs to it, `limit` does not.
struct Range {
  // Makes an empty range.
  Range() = default;
  Range(const Slice& s, const Slice& l) : start(s), limit(l) {}

  Slice start;
  Slice limit;
};

// A range with optional bounds; nullptr: unbounded on that side. The call says whether `limit`
// belongs to it.
struct RangePtr {
  // Makes a range without bounds.
  RangePtr() = default;
  // Borrows the slices and their bytes.
  RangePtr(const Slice* s, const Slice* l) : start(s), limit(l) {}

  const Slice* start = nullptr;
  const Slice* limit = nullptr;
};

// Like RangePtr, with optional slices; nullptr or absent means unbounded on that side.
struct RangeOpt {
  // Makes a range without bounds.
  RangeOpt() = default;
  RangeOpt(const OptSlice& s, const OptSlice& l) : start(s), limit(l) {}

  OptSlice start;
  OptSlice limit;
};

}  // namespace varve
