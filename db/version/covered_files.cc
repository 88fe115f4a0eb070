// SPDX-License-Identifier: Apache-2.0

// A covered file is a table whose entries are all deleted by range tombstones of a newer table. It
// can leave the tree without being read or rewritten. So a large DeleteRange frees disk space as
// soon as the table with its tombstone is known, instead of after several compactions.
//
//     L0   table 33:       [d .. f], largest sequence number 95        newer than the tombstone
//          table 31:     [c ........ tombstone @ 90 ........ m)
//     L1   table 12:       [d .... h], 40                              covered by table 31
//          table 14:                             [k ........ p], 55    reaches beyond the tombstone
//
// The tombstones of one table are known as fragments: disjoint ranges, each with the sequence
// numbers at which it was deleted. They come from the table's open reader. For each file the search
// notes (FileMetaData::notes) from which sequence number on readers see nothing of it. A file whose
// number is not above the oldest snapshot is reported; if it is above, the file waits for that
// snapshot to be released.
//
// Invariants
// 1. Each key of a covered file lies in a fragment that is newer than every entry of the file. The
//    fragments are all of one table, and those that cover a file touch each other.
// 2. Tombstones count only within the bounds of their own table, which may hold longer ones.
// 3. A file is reported only if every reader sees the tombstones that cover it: none reads at a
//    sequence number below them.
// 4. Only tombstones of sources above a file are applied to it: of newer files of L0, and of files
//    of higher levels.
// 5. A covered file stays covered. A tombstone leaves the tree only when nothing that it covers is
//    beneath it, so notes only ever get better.
// 6. A file's own tombstones may leave with it. What they delete is older still, and lies beneath
//    the same newer tombstones.
// 7. A pair of tables is compared once, when the later of the two is added or opened; tables never
//    change. So a call costs a pass over the files' metadata, under the DB mutex and without I/O.
//    Tables that are not open are only named in the result.
// 8. Trees with timestamps have no covered files: their readers may ask for any past state.

#include "db/version/covered_files.h"

#include <algorithm>

#include "db/version/file_bounds.h"
#include "table/table_reader.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/key/range_tombstone.h"

namespace varve {

namespace {

// Maximum number of tombstones that together cover one file.
constexpr size_t kFragmentsMax = 256;

// True if the bounds of the file lie within those of the owner, outside of which its tombstones do
// not count (invariant 2).
bool LiesWithin(const FileMetaData& file, const FileMetaData& owner,
                const InternalKeyComparator& icmp) {
  if (icmp.CompareKey(icmp.KeyOf(file.smallest), icmp.KeyOf(owner.smallest)) < 0) return false;
  const int order = icmp.CompareKey(icmp.KeyOf(file.largest), icmp.KeyOf(owner.largest));
  return order < 0 || (order == 0 && (LargestIsExclusive(file) || !LargestIsExclusive(owner)));
}

// Returns the tombstones of a table that is open, or null. The reader belongs to the file's
// metadata, which the version keeps.
const FragmentedTombstones* TombstonesOf(const FileMetaData& file) {
  const TableReader* const reader = file.reader.load(std::memory_order_acquire);
  if (reader == nullptr || reader->tombstones() == nullptr || reader->tombstones()->empty()) {
    return nullptr;
  }
  return reader->tombstones().get();
}

// Tables do not change, so the effect of one table's tombstones on another file is determined once:
// new tombstones are compared with all files beneath them, and new files with the tombstones above
// them.
class CoveredFinder {
 public:
  CoveredFinder(const Version& version, SequenceNumber oldest_snapshot)
      : version_(version), icmp_(*version.icmp()), oldest_snapshot_(oldest_snapshot) {}

  // Three passes: find out whether any tombstones were applied by earlier calls, apply those that
  // were not (invariant 7), and compare with the earlier ones the files that are new since. The
  // notes in the files carry the findings from call to call.
  CoveredFiles Run() {
    bool any_applied = false;
    ForEachFile(
        [&](int, size_t, const FileMetaData& file) { any_applied |= file.notes.cover.applied; });
    ForEachFile([&](int level, size_t index, FileMetaData& file) {
      if (!file.notes.cover.applied) ApplyTombstones(level, index, &file);
    });
    ForEachFile([&](int level, size_t index, FileMetaData& file) {
      if (any_applied && !file.notes.cover.judged) LookAbove(level, index, &file);
      file.notes.cover.judged = true;
      Report(level, index, file);
    });
    return std::move(found_);
  }

 private:
  template <typename Visit>
  void ForEachFile(Visit visit) {
    for (int level = 0; level < version_.non_empty_levels(); level++) {
      for (size_t i = 0; i < version_.level(level).size(); i++) {
        visit(level, i, *version_.level(level)[i]);
      }
    }
  }

  void ApplyTombstones(int level, size_t index, FileMetaData* owner) {
    const TableCounts& counts = owner->counts();
    // Most tables are known to have no tombstones, and are not looked at again.
    if (counts.known() && counts.range_deletions == 0) return;
    if (owner->reader.load(std::memory_order_acquire) == nullptr) {
      if (counts.range_deletions != 0) NoteUnopened(level, index);
      return;
    }
    const FragmentedTombstones* const tombstones = TombstonesOf(*owner);
    if (tombstones == nullptr) return;
    LookBeneath(level, index, *owner, *tombstones);
    owner->notes.cover.applied = true;
  }

  // Names a table that should be opened, but only if older data lies in its range: opening all
  // tables would be costly, and most could cover nothing.
  void NoteUnopened(int level, size_t index) {
    const FileMetaData& owner = *version_.level(level)[index];
    const bool older_in_level = level == 0 && index + 1 < version_.level(0).size();
    if (older_in_level || version_.RangeMayExistFrom(level + 1, icmp_.KeyOf(owner.smallest),
                                                     icmp_.KeyOf(owner.largest))) {
      found_.unopened.push_back({level, index});
    }
  }

  // Looks at older files of L0, and at all overlapping files of deeper levels.
  void LookBeneath(int level, size_t index, const FileMetaData& owner,
                   const FragmentedTombstones& tombstones) {
    if (level == 0) {
      for (size_t i = index + 1; i < version_.level(0).size(); i++) {
        Judge(owner, tombstones, version_.level(0)[i]);
      }
    }
    for (int below = std::max(1, level + 1); below < version_.non_empty_levels(); below++) {
      LookThrough(owner, tombstones, version_.level(below));
    }
  }

  // Walks files and tombstones, which both ascend. Only a file that begins under a tombstone can be
  // covered, so the files that begin between two tombstones are skipped together, and so are the
  // tombstones before a file.
  void LookThrough(const FileMetaData& owner, const FragmentedTombstones& tombstones,
                   const LevelFiles& files) {
    const Slice first = icmp_.KeyOf(owner.smallest);
    const Slice last = icmp_.KeyOf(owner.largest);
    size_t i = FirstThatBeginsFrom(
        files, icmp_.CompareKey(first, tombstones.bound(0)) < 0 ? tombstones.bound(0) : first);
    while (i < files.size()) {
      const Slice begin = icmp_.KeyOf(files[i]->smallest);
      if (icmp_.CompareKey(begin, last) > 0) return;
      size_t at = tombstones.LowerBound(begin);
      if (at == tombstones.size()) return;
      const bool covered = tombstones.fragment(at).covered;
      if (covered && icmp_.CompareKey(tombstones.bound(at), begin) <= 0) {
        Judge(owner, tombstones, files[i]);
        i++;
        continue;
      }
      while (at < tombstones.size() && !tombstones.fragment(at).covered) at++;
      if (at == tombstones.size()) return;
      i = FirstThatBeginsFrom(files, tombstones.bound(at));
    }
  }

  // Returns the index of the first file whose smallest key is at or after `key`, which has no
  // timestamp.
  [[nodiscard]] size_t FirstThatBeginsFrom(const LevelFiles& files, const Slice& key) const {
    const size_t i = files.Find(icmp_.FirstInternalKey(key).Encode());
    const bool begins_before =
        i < files.size() && icmp_.CompareKey(icmp_.KeyOf(files[i]->smallest), key) < 0;
    return begins_before ? i + 1 : i;
  }

  // Compares a file that was added after tombstones were applied. It lies within the bounds of at
  // most one file per level.
  void LookAbove(int level, size_t index, FileMetaData* file) {
    const LevelFiles& newest = version_.level(0);
    for (size_t i = 0; i < (level == 0 ? index : newest.size()); i++) JudgeBy(*newest[i], file);
    const InternalKey first = icmp_.FirstInternalKey(icmp_.KeyOf(file->smallest));
    for (int above = 1; above < level; above++) {
      const LevelFiles& files = version_.level(above);
      // The first of two files that share the key may end with it.
      const size_t i = files.Find(first.Encode());
      for (size_t j = i; j < std::min(files.size(), i + 2); j++) JudgeBy(*files[j], file);
    }
  }

  void JudgeBy(const FileMetaData& owner, FileMetaData* file) {
    if (!owner.notes.cover.applied) return;
    const FragmentedTombstones* const tombstones = TombstonesOf(owner);
    if (tombstones != nullptr) Judge(owner, *tombstones, file);
  }

  void Judge(const FileMetaData& owner, const FragmentedTombstones& tombstones,
             FileMetaData* file) {
    VARVE_ASSERT(&owner != file);  // Invariant 4.
    const Cover cover = CoverOf(*file, owner, tombstones, oldest_snapshot_);
    file->notes.cover.covered_from = std::min(file->notes.cover.covered_from, cover.whole_from);
  }

  void Report(int level, size_t index, const FileMetaData& file) {
    const SequenceNumber from = file.notes.cover.covered_from;
    if (from == kMaxSequenceNumber || file.notes.being_compacted) return;
    VARVE_ASSERT(from > file.largest_seq);  // Invariant 1.
    if (from <= oldest_snapshot_ || VARVE_CANARY(kCoverThroughSnapshot)) {
      found_.files.push_back({level, index});
    } else {
      found_.waits_for_snapshot = std::min(found_.waits_for_snapshot, from);
    }
  }

  const Version& version_;
  const InternalKeyComparator& icmp_;
  const SequenceNumber oldest_snapshot_;
  CoveredFiles found_;
};

}  // namespace

// Walks over the fragments from the file's first key to its last. One that is not newer than the
// whole file, or a gap, ends the walk: the file is not covered.
Cover CoverOf(const FileMetaData& file, const FileMetaData& owner,
              const FragmentedTombstones& tombstones, SequenceNumber oldest_snapshot) {
  const InternalKeyComparator& icmp = tombstones.comparator();
  if (tombstones.max_seq() <= file.largest_seq || !LiesWithin(file, owner, icmp)) return {};
  const Slice last = icmp.KeyOf(file.largest);
  const size_t first = tombstones.LowerBound(icmp.KeyOf(file.smallest));
  Cover cover{false, 0};
  for (size_t i = first; i < tombstones.size() && i - first < kFragmentsMax; i++) {
    const FragmentedTombstones::Fragment fragment = tombstones.fragment(i);
    if (i == first && icmp.CompareKey(fragment.start, icmp.KeyOf(file.smallest)) > 0) return {};
    if (!fragment.covered || fragment.newest <= file.largest_seq) return {};
    // If several tombstones cover a fragment, the oldest that is newer than the file suffices. The
    // file is invisible from the newest of these on, as a reader must see one in each fragment.
    cover.whole_from = std::max(cover.whole_from, tombstones.OldestAbove(i, file.largest_seq));
    const int order = icmp.CompareKey(fragment.end, last);
    // The fragment ends before the file does, so the next one must continue it.
    if (order < 0 || (order == 0 && !LargestIsExclusive(file))) continue;
    cover.whole = cover.whole_from <= oldest_snapshot;
    return cover;
  }
  return {};
}

CoveredFiles FindCoveredFiles(const Version& version, SequenceNumber oldest_snapshot) {
  if (version.icmp()->timestamp_size() != 0) return {};
  return CoveredFinder(version, oldest_snapshot).Run();
}

}  // namespace varve
