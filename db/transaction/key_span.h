// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges of keys of a column family, with ends that may lie between keys.

#include <cstdint>
#include <string>

#include "varve/comparator.h"
#include "varve/slice.h"

namespace varve {

// One end of a range: a place between keys, or at one.
struct RangeEnd {
  enum class Place { kBefore, kAt, kAboveAllWithPrefix };

  std::string key;
  Place place = Place::kAt;
};

// All keys of a family from begin to end, whose bytes are somebody else's; a key is one at its ends
// as well.
struct KeySpan {
  struct End {
    Slice key;
    RangeEnd::Place place = RangeEnd::Place::kAt;
  };

  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  End begin;
  End end;

  static KeySpan OfKey(uint32_t family, const Comparator* comparator, const Slice& key) {
    return {family, comparator, {key, RangeEnd::Place::kAt}, {key, RangeEnd::Place::kAt}};
  }
  // Negative: the key lies before it; positive: after it; 0: in it. Of a key of the family.
  int SideOf(const Slice& key) const;
  // Where the ends lie in the order of families and keys: negative, `a` is before `b`.
  static int CompareBegins(const KeySpan& a, const KeySpan& b);
  static int CompareEnds(const KeySpan& a, const KeySpan& b);
  // Whether all of this lies before the other one. [a, b) and [b, c) meet in a place where no key
  // is.
  bool EndsBefore(const KeySpan& other) const;
  bool Overlaps(const KeySpan& other) const {
    return !EndsBefore(other) && !other.EndsBefore(*this);
  }
};

// The same with bytes of its own.
struct FamilyRange {
  uint32_t family = 0;
  const Comparator* comparator = nullptr;
  RangeEnd begin;
  RangeEnd end;

  KeySpan span() const {
    return {family, comparator, {begin.key, begin.place}, {end.key, end.place}};
  }
  bool Covers(uint32_t key_family, const Slice& key) const {
    return family == key_family && span().SideOf(key) == 0;
  }
  bool Overlaps(const FamilyRange& other) const { return span().Overlaps(other.span()); }
  // The end is not before the beginning.
  bool IsOrdered() const;
  static FamilyRange OfKey(uint32_t family, const Comparator* comparator, const Slice& key) {
    return {family,
            comparator,
            {key.ToString(), RangeEnd::Place::kAt},
            {key.ToString(), RangeEnd::Place::kAt}};
  }
};

}  // namespace varve
