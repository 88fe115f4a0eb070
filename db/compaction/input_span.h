// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sets of input files that may legally be compacted together: spans of a level between clean cuts,
// which are borders between files with no user key on both sides; and clusters of L0, sets of files
// that no other file of L0 overlaps.

#include <cstddef>
#include <vector>

#include "db/compaction/plan.h"
#include "db/version/version.h"

namespace varve {

// Keys without timestamps, both inclusive. Slices point into files' bounds, so the version that has
// the files must outlive it. `set` is false for an empty range, which overlaps nothing.
struct KeyRange {
  bool set = false;
  Slice smallest;
  Slice largest;

  void Include(const InternalKeyComparator& icmp, const FileMetaData& file);
  void Include(const InternalKeyComparator& icmp, const KeyRange& other);
  bool Overlaps(const InternalKeyComparator& icmp, const KeyRange& other) const;
};

// Return the range of a file, and that of all inputs of a plan.
KeyRange RangeOf(const InternalKeyComparator& icmp, const FileMetaData& file);
KeyRange RangeOf(const InternalKeyComparator& icmp, const CompactionPlan& plan);

// Files [first, last) of a level >= 1, by their indexes in it.
struct FileSpan {
  size_t first = 0;
  size_t last = 0;
  bool empty() const { return first == last; }
};

// Returns the files of a level >= 1 that overlap the range from `begin` to `end`, which are keys
// without timestamps, both inclusive; null: open.
FileSpan OverlappingSpan(const LevelFiles& files, const InternalKeyComparator& icmp,
                         const Slice* begin, const Slice* end);
// Adds neighbours as long as they share the key at the border: older entries of a key must not stay
// above newer ones.
void GrowToCleanCut(const LevelFiles& files, const InternalKeyComparator& icmp, FileSpan* span);
KeyRange RangeOf(const LevelFiles& files, const InternalKeyComparator& icmp, const FileSpan& span);
// True if a file of the span is an input of a running compaction. Requires the DB mutex.
bool AnyBeingCompacted(const LevelFiles& files, const FileSpan& span);
uint64_t BytesOf(const LevelFiles& files, const FileSpan& span);
std::vector<FileRef> FilesOf(const LevelFiles& files, const FileSpan& span);

// Adds to `chosen` (indexed as L0) every L0 file that overlaps the chosen ones' range, until no
// other file does. Returns the range of the chosen ones.
KeyRange GrowL0Cluster(const LevelFiles& files, const InternalKeyComparator& icmp,
                       std::vector<bool>* chosen);

}  // namespace varve
