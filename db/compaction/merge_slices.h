// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts a merge of sorted runs into slices: steps of a range of keys each, so that a merge of any
// size takes the space of one slice, and frees its inputs as it goes.
//
//      L4   [a  c]     [h   k]  [l     o]  [q       t]
//      L5   [a    e]   [g   k]  [l   n]    [p    r][s t]
//      L6   [a  d][e f][g   k]  [l     o]  [p       t]
//           '--part--' '-part-' '-part--'  '--part---'
//           '--- first slice -' '----- second slice ---'
//
// A part is what lies between two clean cuts: keys at which no file of any run goes on. Parts can
// be merged in any order, as no key and no range tombstone reaches from one into another. A slice
// is one or several of them, up to a size, from the left to the right. Parts are small because the
// outputs of all merges end where files of the oldest run do (OutputShape::border_file_bytes).
//
// Invariants
// 1. All slices of a merge write into the level that the whole merge would, which lies right above
//    the next older run, or is the last one. A slice takes all files of these runs in its range. So
//    after each slice the levels hold, from the newest down, what is newer for every key: the tree
//    is legal, for any engine that opens it.
// 2. A slice is a plan like any other, with a job and an edit of its own. When the edit is in
//    force, its inputs are free to be deleted.
// 3. Nothing is kept about a merge between two slices. What is left of it can be seen in the tree:
//    the output level has a file to the left of all files of the newer runs, and this file is
//    younger than they are (FindUnfinished). Normally a file in a deeper level is older. If the
//    sign is lost, or is there by chance, a picker wants less or more; the tree stays legal.
// 4. Every slice takes a file of a newer run away, or rewrites one for its age or for a call, so a
//    merge ends. What remains behind a slice is nothing, or enough for another.
//
// Files of L0 span the whole range, so they are not sliced.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "db/compaction/input_span.h"
#include "db/compaction/plan.h"
#include "db/version/version.h"

namespace varve {

// Files of several levels between two clean cuts.
struct MergePart {
  // Files of each level, indexed as the levels that FindParts got.
  std::vector<FileSpan> spans;
  uint64_t bytes = 0;
  size_t files = 0;
  // Number of files outside of the output level.
  size_t newer_files = 0;

  // True if nothing has to be merged: an edit may put the file into the output level.
  [[nodiscard]] bool IsAlone() const { return files == 1 && newer_files == 1; }
};

// Cuts all files of the levels into parts, ascending. `levels` are ascending and above 0; the last
// one is the output level, and may be empty.
std::vector<MergePart> FindParts(const Version& version, const std::vector<int>& levels);

// Says which parts a slice may have.
struct SliceRules {
  // A slice takes parts until it has so many bytes.
  uint64_t least_bytes = 0;
  // Parts that are alone make up slices of their own, of any size, which are moved, if they have so
  // many bytes. Small ones are merged with their neighbours, or small files would remain for ever.
  uint64_t least_moved_bytes = UINT64_MAX;
  // Says if a part has anything to be done.
  std::function<bool(const MergePart& part)> wants;
};

// One step of a merge.
struct MergeSlice {
  // Inputs by level; none if no part is wanted.
  std::vector<CompactionInputLevel> inputs;
  // True: nothing overlaps, so an edit may put the files into the output level as they are.
  bool moves = false;
  // True if it takes all files that the parts have.
  bool is_all = false;
  // Bytes of all parts that are wanted, in this slice and in others.
  uint64_t wanted_bytes = 0;
};

// Returns the first slice of the parts: neighbours that are wanted. `parts` is what FindParts has
// returned for the version and these levels.
MergeSlice FirstSlice(const Version& version, const std::vector<int>& levels,
                      const std::vector<MergePart>& parts, const SliceRules& rules);

// Returns the levels of a merge that was begun in slices, ascending, the output level last; empty
// if there is none. `levels` are the levels above 0 that have files, ascending. What is left of the
// newer runs must be at least half of what it would be merged with, so that a tree which only looks
// like this costs little.
std::vector<int> FindUnfinished(const Version& version, const std::vector<int>& levels);

}  // namespace varve
