// SPDX-License-Identifier: Apache-2.0
#include "db/version/covered_files.h"

// A file may go when each of its keys lies under a tombstone that is newer than the whole file and
// that every reader sees. Its own tombstones may go with it: what they delete is older still, lies
// beneath the same tombstones, and these stay in the tree as long as anything beneath them does.

#include <algorithm>

#include "db/version/file_bounds.h"
#include "table/table_reader.h"
#include "util/base/canary.h"
#include "util/key/range_tombstone.h"

namespace varve {

namespace {

// Tombstones that cover one file together.
constexpr size_t kFragmentsMax = 256;

bool LiesWithin(const FileMetaData& file, const FileMetaData& owner,
                const InternalKeyComparator& icmp) {
  if (icmp.CompareKey(icmp.KeyOf(file.smallest), icmp.KeyOf(owner.smallest)) < 0) return false;
  const int order = icmp.CompareKey(icmp.KeyOf(file.largest), icmp.KeyOf(owner.largest));
  return order < 0 || (order == 0 && (LargestIsExclusive(file) || !LargestIsExclusive(owner)));
}

class CoveredFinder {
 public:
  CoveredFinder(const Version& version, SequenceNumber oldest_snapshot)
      : version_(version), icmp_(*version.icmp()), oldest_snapshot_(oldest_snapshot) {}

  CoveredFiles Run() {
    for (int level = 0; level < version_.non_empty_levels(); level++) {
      for (size_t i = 0; i < version_.level(level).size(); i++) {
        const FileMetaData& owner = *version_.level(level)[i];
        if (owner.counts().known() && owner.counts().range_deletions == 0) continue;
        const TableReader* const reader = owner.reader.load(std::memory_order_acquire);
        if (reader == nullptr) {
          if (owner.counts().range_deletions != 0) NoteUnopened(level, i);
        } else if (reader->tombstones() != nullptr && !reader->tombstones()->empty()) {
          LookBeneath(level, i, *reader->tombstones());
        }
      }
    }
    const auto before = [](const CoveredFile& a, const CoveredFile& b) {
      return a.level != b.level ? a.level < b.level : a.index < b.index;
    };
    const auto same = [](const CoveredFile& a, const CoveredFile& b) {
      return a.level == b.level && a.index == b.index;
    };
    std::sort(found_.files.begin(), found_.files.end(), before);
    found_.files.erase(std::unique(found_.files.begin(), found_.files.end(), same),
                       found_.files.end());
    return std::move(found_);
  }

 private:
  void NoteUnopened(int level, size_t index) {
    const FileMetaData& owner = *version_.level(level)[index];
    const bool older_in_level = level == 0 && index + 1 < version_.level(0).size();
    if (older_in_level || version_.RangeMayExistFrom(level + 1, icmp_.KeyOf(owner.smallest),
                                                     icmp_.KeyOf(owner.largest))) {
      found_.unopened.push_back({level, index});
    }
  }

  // Older files of L0, and all that overlaps in deeper levels.
  void LookBeneath(int level, size_t index, const FragmentedTombstones& tombstones) {
    const FileMetaData& owner = *version_.level(level)[index];
    if (level == 0) {
      for (size_t i = index + 1; i < version_.level(0).size(); i++) {
        LookAt(owner, tombstones, 0, i);
      }
    }
    // A file that is covered whole lies among the tombstones.
    Slice first = icmp_.KeyOf(owner.smallest);
    Slice last = icmp_.KeyOf(owner.largest);
    const Slice begin = tombstones.bound(0);
    const Slice end = tombstones.bound(tombstones.size());
    if (icmp_.CompareKey(first, begin) < 0) first = begin;
    if (icmp_.CompareKey(end, last) < 0) last = end;
    for (int below = std::max(1, level + 1); below < version_.non_empty_levels(); below++) {
      const LevelFiles& files = version_.level(below);
      size_t i = files.Find(icmp_.FirstInternalKey(first).Encode());
      for (; i < files.size() && icmp_.CompareKey(icmp_.KeyOf(files[i]->smallest), last) <= 0;
           i++) {
        LookAt(owner, tombstones, below, i);
      }
    }
  }

  void LookAt(const FileMetaData& owner, const FragmentedTombstones& tombstones, int level,
              size_t index) {
    const FileMetaData& file = *version_.level(level)[index];
    if (file.being_compacted) return;
    const Cover cover = CoverOf(file, owner, tombstones, oldest_snapshot_);
    if (cover.whole) {
      found_.files.push_back({level, index});
    } else {
      found_.waits_for_snapshot = std::min(found_.waits_for_snapshot, cover.whole_from);
    }
  }

  const Version& version_;
  const InternalKeyComparator& icmp_;
  const SequenceNumber oldest_snapshot_;
  CoveredFiles found_;
};

}  // namespace

Cover CoverOf(const FileMetaData& file, const FileMetaData& owner,
              const FragmentedTombstones& tombstones, SequenceNumber oldest_snapshot) {
  const InternalKeyComparator& icmp = tombstones.comparator();
  if (tombstones.max_seq() <= file.largest_seq || !LiesWithin(file, owner, icmp)) return {};
  const Slice last = icmp.KeyOf(file.largest);
  const size_t first = tombstones.LowerBound(icmp.KeyOf(file.smallest));
  Cover cover{true, 0};
  for (size_t i = first; i < tombstones.size() && i - first < kFragmentsMax; i++) {
    const FragmentedTombstones::Fragment fragment = tombstones.fragment(i);
    if (i == first && icmp.CompareKey(fragment.start, icmp.KeyOf(file.smallest)) > 0) return {};
    if (!fragment.covered || fragment.newest <= file.largest_seq) return {};
    const SequenceNumber seen = tombstones.NewestVisible(i, oldest_snapshot, {});
    if (seen <= file.largest_seq && !VARVE_CANARY(kCoverThroughSnapshot)) cover.whole = false;
    cover.whole_from = std::max(cover.whole_from, fragment.newest);
    const int order = icmp.CompareKey(fragment.end, last);
    if (order > 0 || (order == 0 && LargestIsExclusive(file))) return cover;
  }
  return {};
}

CoveredFiles FindCoveredFiles(const Version& version, SequenceNumber oldest_snapshot) {
  if (version.icmp()->timestamp_size() != 0) return {};
  return CoveredFinder(version, oldest_snapshot).Run();
}

}  // namespace varve
