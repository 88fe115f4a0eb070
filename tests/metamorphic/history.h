// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meaning of the lines of harness/history_text.h in these tests:
//
//   open a 0                      opens database a; 0: which of the option set's variations
//   family a/f1 reverse           makes a family; reverse: its order, filtered: what it holds
//   write a put f1 k v*300 ; del default x ; range f1 c d
//   write a fill f1 100 30 v      puts n000100 to n000129; wipe deletes as many
//   snap a s1
//   get a/f1 k snap=s1
//   write a@7 put timed1 k v      families called timed... have timestamps: 7
//   scan a/timed1@9 back          as of 9
//   ingest a put f1 k v ; range f1 c d   in files, to which as many changes go as they can hold
//   excise a/f1 c d               removes [c, d); clip: all but that
//   checkpoint a                  opens one, and compares; backup a: restores one
//   export a/f1                   imports what it has exported, and compares
//   secondary a                   opens a secondary, or lets it catch up, and compares
//   stream a                      begins to keep a replica by a change stream; streamed a: compares

#include <cstdint>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "tests/harness/history_text.h"
#include "tests/model/reference.h"

namespace varve::testing {

inline bool HasTimestamps(const Slice& family) {
  return family.starts_with("timed");
}

// Returns the n-th key of a "fill".
std::string NumberedKey(uint64_t n);

// Returns the changes of a line "write a ..." or "ingest a ...", in order. A note has none.
std::vector<Change> ChangesOf(const Line& line);
// The line "write" after which all reads as after an "ingest", an "excise" or a "clip".
Line AsWrite(const Line& line, bool reverse);

// Returns true if a compaction filter may remove the value at any time: it begins with "drop" or
// "purge". Filters may also turn the capital C of values that begin with "Chg" into c.
bool IsRemovable(const Slice& value);
// Returns true if a put without a timestamp writes an entity in Varve: its default column has the
// value, and another one the key. Plain reads cannot tell.
bool WritesEntity(const Change& change);
std::string Shown(const Slice& value);

}  // namespace varve::testing
