// SPDX-License-Identifier: Apache-2.0

// Computes ranges, clean cuts and clusters.

#include "db/compaction/input_span.h"

#include <algorithm>

#include "util/base/assert.h"

namespace varve {

namespace {

// True if entries of one user key may lie in both of two neighbours. A file that ends in a range
// tombstone's exclusive end has no entry of that key.
bool ShareBorderKey(const InternalKeyComparator& icmp, const FileMetaData& left,
                    const FileMetaData& right) {
  if (!icmp.EqualKey(icmp.KeyOf(left.largest), icmp.KeyOf(right.smallest))) return false;
  return left.largest.sequence() != kMaxSequenceNumber || left.largest.type() != kTypeRangeDeletion;
}

}  // namespace

void KeyRange::Include(const InternalKeyComparator& icmp, const FileMetaData& file) {
  Include(icmp, RangeOf(icmp, file));
}

void KeyRange::Include(const InternalKeyComparator& icmp, const KeyRange& other) {
  if (!other.set) return;
  if (!set || icmp.CompareKey(other.smallest, smallest) < 0) smallest = other.smallest;
  if (!set || icmp.CompareKey(other.largest, largest) > 0) largest = other.largest;
  set = true;
}

bool KeyRange::Overlaps(const InternalKeyComparator& icmp, const KeyRange& other) const {
  return set && other.set && icmp.CompareKey(smallest, other.largest) <= 0 &&
         icmp.CompareKey(other.smallest, largest) <= 0;
}

KeyRange RangeOf(const InternalKeyComparator& icmp, const FileMetaData& file) {
  return KeyRange{true, icmp.KeyOf(file.smallest), icmp.KeyOf(file.largest)};
}

KeyRange RangeOf(const InternalKeyComparator& icmp, const CompactionPlan& plan) {
  KeyRange range;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) range.Include(icmp, *file);
  }
  return range;
}

FileSpan OverlappingSpan(const LevelFiles& files, const InternalKeyComparator& icmp,
                         const Slice* begin, const Slice* end) {
  FileSpan span;
  if (begin != nullptr) {
    span.first = files.Find(icmp.FirstInternalKey(*begin).Encode());
  }
  span.last = span.first;
  while (span.last < files.size() &&
         (end == nullptr || icmp.CompareKey(icmp.KeyOf(files[span.last]->smallest), *end) <= 0)) {
    span.last++;
  }
  return span;
}

// Versions of one user key in two files must be compacted together: otherwise the older one could
// end up above the newer one, or be found without it.
void GrowToCleanCut(const LevelFiles& files, const InternalKeyComparator& icmp, FileSpan* span) {
  VARVE_ASSERT(span->first <= span->last && span->last <= files.size());
  if (span->empty()) return;
  while (span->first > 0 && ShareBorderKey(icmp, *files[span->first - 1], *files[span->first])) {
    span->first--;
  }
  while (span->last < files.size() &&
         ShareBorderKey(icmp, *files[span->last - 1], *files[span->last])) {
    span->last++;
  }
}

KeyRange RangeOf(const LevelFiles& files, const InternalKeyComparator& icmp, const FileSpan& span) {
  VARVE_ASSERT(span.first <= span.last && span.last <= files.size());
  KeyRange range;
  if (span.empty()) return range;
  range.Include(icmp, *files[span.first]);
  range.Include(icmp, *files[span.last - 1]);
  return range;
}

bool AnyBeingCompacted(const LevelFiles& files, const FileSpan& span) {
  for (size_t i = span.first; i < span.last; i++) {
    if (files[i]->notes.being_compacted) return true;
  }
  return false;
}

uint64_t BytesOf(const LevelFiles& files, const FileSpan& span) {
  uint64_t bytes = 0;
  for (size_t i = span.first; i < span.last; i++) bytes += files[i]->size;
  return bytes;
}

std::vector<FileRef> FilesOf(const LevelFiles& files, const FileSpan& span) {
  VARVE_ASSERT(span.first <= span.last && span.last <= files.size());
  return {files.files().begin() + static_cast<ptrdiff_t>(span.first),
          files.files().begin() + static_cast<ptrdiff_t>(span.last)};
}

// Files of L0 overlap at will. One that overlaps a chosen file is drawn in, which may widen the
// range, until nothing changes.
KeyRange GrowL0Cluster(const LevelFiles& files, const InternalKeyComparator& icmp,
                       std::vector<bool>* chosen) {
  VARVE_ASSERT(chosen->size() == files.size());
  KeyRange range;
  for (size_t i = 0; i < files.size(); i++) {
    if ((*chosen)[i]) range.Include(icmp, *files[i]);
  }
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < files.size(); i++) {
      if ((*chosen)[i] || !range.Overlaps(icmp, RangeOf(icmp, *files[i]))) continue;
      (*chosen)[i] = true;
      range.Include(icmp, *files[i]);
      grown = true;
    }
  }
  return range;
}

}  // namespace varve
