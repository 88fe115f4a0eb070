// SPDX-License-Identifier: Apache-2.0

// Walks along the files of several levels at once. The head of merge_slices.h says why.

#include "db/compaction/merge_slices.h"

#include <algorithm>
#include <utility>

#include "db/version/file_bounds.h"
#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

namespace {

// The end of a part, as far as it is known.
struct PartEnd {
  Slice key;
  bool exclusive = false;
};

PartEnd EndOf(const FileMetaData& file, const InternalKeyComparator& icmp) {
  return {icmp.KeyOf(file.largest), LargestIsExclusive(file)};
}

// True if the file begins before the end.
bool BeginsBefore(const FileMetaData& file, const PartEnd& end, const InternalKeyComparator& icmp) {
  const int order = icmp.CompareKey(icmp.KeyOf(file.smallest), end.key);
  return order < 0 || (order == 0 && !end.exclusive);
}

// Walks along the levels from part to part.
class PartWalk {
 public:
  PartWalk(const Version& version, const std::vector<int>& levels)
      : icmp_(*version.icmp()), next_(levels.size(), 0) {
    for (const int level : levels) levels_.push_back(&version.level(level));
  }

  // Returns false if there are no more files.
  bool Next(MergePart* part) {
    const FileMetaData* const first = First();
    if (first == nullptr) return false;
    *part = MergePart();
    for (const size_t next : next_) part->spans.push_back({next, next});
    PartEnd end = EndOf(*first, icmp_);
    // A file that is taken may reach further, so that more files begin before the end.
    for (bool grown = true; grown;) {
      grown = false;
      for (size_t i = 0; i < levels_.size(); i++) grown |= Take(i, part, &end);
    }
    return true;
  }

 private:
  // Returns the file that begins first among those that no part has.
  const FileMetaData* First() const {
    const FileMetaData* first = nullptr;
    for (size_t i = 0; i < levels_.size(); i++) {
      if (next_[i] == levels_[i]->size()) continue;
      const FileMetaData* const file = (*levels_[i])[next_[i]];
      const bool earlier = first == nullptr || icmp_.CompareKey(icmp_.KeyOf(file->smallest),
                                                                icmp_.KeyOf(first->smallest)) < 0;
      if (earlier) first = file;
    }
    return first;
  }

  // Adds the files of a level that begin before the end, which they may move. Returns whether there
  // are any.
  bool Take(size_t i, MergePart* part, PartEnd* end) {
    const LevelFiles& files = *levels_[i];
    bool taken = false;
    for (; next_[i] < files.size(); next_[i]++) {
      const FileMetaData& file = *files[next_[i]];
      // The first file of all may itself end exclusively where it begins.
      const bool is_first = part->files == 0 && &file == First();
      if (!is_first && !BeginsBefore(file, *end, icmp_)) break;
      const bool oldest = i + 1 == levels_.size();
      // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
      if (!oldest || !VARVE_CANARY(kSliceAcrossHalfCut)) Include(EndOf(file, icmp_), end);
      part->spans[i].last++;
      part->bytes += file.size;
      part->files++;
      if (!oldest) part->newer_files++;
      taken = true;
    }
    return taken;
  }

  // Moves the end to the other one, if that lies behind it.
  void Include(const PartEnd& other, PartEnd* end) const {
    const int order = icmp_.CompareKey(other.key, end->key);
    if (order > 0) *end = other;
    if (order == 0) end->exclusive = end->exclusive && other.exclusive;
  }

  const InternalKeyComparator& icmp_;
  std::vector<const LevelFiles*> levels_;
  std::vector<size_t> next_;  // of each level, the first file that no part has
};

// Returns the largest number of the files [0, end).
uint64_t LargestNumber(const LevelFiles& files, size_t end) {
  uint64_t largest = 0;
  for (size_t i = 0; i < end; i++) largest = std::max(largest, files[i]->number);
  return largest;
}

// Returns how many files of the level end before the key, which has no timestamp.
size_t FilesBefore(const LevelFiles& files, const Slice& key, const InternalKeyComparator& icmp) {
  return files.Find(icmp.FirstInternalKey(key).Encode());
}

}  // namespace

std::vector<MergePart> FindParts(const Version& version, const std::vector<int>& levels) {
  VARVE_ASSERT(!levels.empty() && levels.front() > 0 && std::ranges::is_sorted(levels));
  std::vector<MergePart> parts;
  PartWalk walk(version, levels);
  for (MergePart part; walk.Next(&part);) parts.push_back(std::move(part));
  return parts;
}

// A slice ends before a part that nobody wants, as its outputs must not reach over the files there.
MergeSlice FirstSlice(const Version& version, const std::vector<int>& levels,
                      const std::vector<MergePart>& parts, const SliceRules& rules) {
  const auto moves = [&](const MergePart& part) {
    return part.IsAlone() && part.bytes >= rules.least_moved_bytes;
  };
  MergeSlice slice;
  for (const MergePart& part : parts) slice.wanted_bytes += rules.wants(part) ? part.bytes : 0;
  uint64_t left = slice.wanted_bytes;  // without the parts that were taken
  std::vector<FileSpan> spans(levels.size());
  uint64_t bytes = 0;
  size_t taken = 0;
  for (const MergePart& part : parts) {
    const bool wanted = rules.wants(part);
    if (!wanted && taken == 0) continue;
    if (!wanted || (taken > 0 && moves(part) != slice.moves)) break;
    slice.moves = moves(part);
    for (size_t i = 0; i < spans.size(); i++) {
      if (part.spans[i].empty()) continue;
      if (spans[i].empty()) spans[i].first = part.spans[i].first;
      spans[i].last = part.spans[i].last;
    }
    bytes += part.bytes;
    left -= part.bytes;
    taken++;
    // The slice is large enough, and what it leaves is enough for another one (invariant 4).
    if (!slice.moves && bytes >= rules.least_bytes && left >= rules.least_bytes) break;
  }
  slice.is_all = taken == parts.size();
  for (size_t i = 0; i < spans.size(); i++) {
    if (spans[i].empty()) continue;
    slice.inputs.push_back({levels[i], FilesOf(version.level(levels[i]), spans[i])});
  }
  return slice;
}

// For each level, from the deepest on, adds the newer ones as long as the level has a file to the
// left of all that they have, which is younger than they are.
std::vector<int> FindUnfinished(const Version& version, const std::vector<int>& levels) {
  const InternalKeyComparator& icmp = *version.icmp();
  for (size_t output = levels.size(); output-- > 1;) {
    const LevelFiles& target = version.level(levels[output]);
    size_t before = target.size();
    size_t newest = output;
    uint64_t largest = 0;
    uint64_t newer_bytes = 0;
    while (newest > 0) {
      const LevelFiles& files = version.level(levels[newest - 1]);
      VARVE_ASSERT(!files.empty());
      const size_t left =
          std::min(before, FilesBefore(target, icmp.KeyOf(files[0]->smallest), icmp));
      largest = std::max(largest, LargestNumber(files, files.size()));
      // Numbers ascend with time, so a larger one is of a table that a slice has written since.
      if (LargestNumber(target, left) <= largest) break;
      before = left;
      newer_bytes += files.bytes();
      newest--;
    }
    if (newest == output) continue;
    if (newer_bytes < BytesOf(target, {before, target.size()}) / 2) continue;
    return {levels.begin() + static_cast<ptrdiff_t>(newest),
            levels.begin() + static_cast<ptrdiff_t>(output) + 1};
  }
  return {};
}

}  // namespace varve
