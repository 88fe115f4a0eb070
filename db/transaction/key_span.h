// SPDX-License-Identifier: Apache-2.0
#pragma once

// KeySpan and FamilyRange are ranges of keys of a column family, whose ends may lie between keys.
//
// An end has a key and a place. The place says if the end is right before the key (kBefore: the key
// itself is outside at an end, inside at a beginning), at the key (kAt, inclusive), or above all
// keys that begin with it (kAboveAllWithPrefix). With these three, point locks [k, k], the
// half-open ranges of DeleteRange [a, b), and the endpoints of GetRangeLock with their inf_suffix
// are all the same kind of span.
//
// Keys are without timestamps, and compared by the family's comparator.

#include <cstdint>
#include <string>

#include "varve/comparator.h"
#include "varve/slice.h"

namespace varve {

// One end of a range: at a key, or between keys.
struct RangeEnd {
  enum class Place { kBefore, kAt, kAboveAllWithPrefix };

  std::string key;
  Place place = Place::kAt;
};

// All keys of a family from `begin` to `end`. The bytes are borrowed. A single key is a range that
// begins and ends at it.
struct KeySpan {
  struct End {
    Slice key;
    RangeEnd::Place place = RangeEnd::Place::kAt;
  };

  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  End begin;
  End end;

  // Returns the span of a single key.
  static KeySpan OfKey(uint32_t family, const Comparator* comparator, const Slice& key) {
    return {family, comparator, {key, RangeEnd::Place::kAt}, {key, RangeEnd::Place::kAt}};
  }
  // Returns a negative number if the key lies before the range, a positive one if after it, 0 if in
  // it. Requires a key of the family.
  int SideOf(const Slice& key) const;
  // Compare the ends in the order of families and keys: negative if `a` is before `b`.
  static int CompareBegins(const KeySpan& a, const KeySpan& b);
  static int CompareEnds(const KeySpan& a, const KeySpan& b);
  // True if this range lies wholly before the other one. The ranges [a, b) and [b, c) do not
  // overlap.
  bool EndsBefore(const KeySpan& other) const;
  bool Overlaps(const KeySpan& other) const {
    return !EndsBefore(other) && !other.EndsBefore(*this);
  }
};

// A KeySpan that owns its bytes.
struct FamilyRange {
  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  RangeEnd begin;
  RangeEnd end;

  KeySpan span() const {
    return {family, comparator, {begin.key, begin.place}, {end.key, end.place}};
  }
  // True if the key lies in the range.
  bool Covers(uint32_t key_family, const Slice& key) const {
    return family == key_family && span().SideOf(key) == 0;
  }
  bool Overlaps(const FamilyRange& other) const { return span().Overlaps(other.span()); }
  // True if the end is not before the beginning.
  bool IsOrdered() const;
  // Returns the range of a single key.
  static FamilyRange OfKey(uint32_t family, const Comparator* comparator, const Slice& key) {
    return {family,
            comparator,
            {key.ToString(), RangeEnd::Place::kAt},
            {key.ToString(), RangeEnd::Place::kAt}};
  }
};

}  // namespace varve
