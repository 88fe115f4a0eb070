// SPDX-License-Identifier: Apache-2.0
#include "db/version/due_files.h"

// A tombstone, or a version beneath a newer one, can be dropped once no data lies under its file
// and no snapshot is older than it. A compaction that wrote the file while a snapshot existed had
// to keep such entries, and no other compaction would touch the file again, so the file itself is
// due once the snapshot is released.

#include <algorithm>
#include <utility>

#include "db/version/blob_victims.h"
#include "util/base/assert.h"

namespace varve {

namespace {

class DueFinder {
 public:
  DueFinder(const Version& version, const ColumnFamilyOptions& options, const ShapeMoment& moment)
      : version_(version), options_(options), moment_(moment) {}

  // Visits all files that no compaction is reading, and orders what it has found: the sinking ones
  // by what they free, the others by reason.
  DueFiles Run() {
    const int levels = std::min(version_.non_empty_levels(), version_.usable_levels());
    for (int level = 0; level < levels; level++) {
      for (size_t i = 0; i < version_.level(level).size(); i++) {
        if (!version_.level(level)[i]->notes.being_compacted) Visit(level, i);
      }
    }
    // A file's surplus of deletions over entries says how much lies beneath it that nobody can see.
    const auto frees = [this](const DueFile& due) {
      return version_.level(due.level)[due.index]->counts().SurplusDeletions();
    };
    std::stable_sort(due_.sinking.begin(), due_.sinking.end(),
                     [&frees](const DueFile& a, const DueFile& b) { return frees(a) > frees(b); });
    due_.files = std::move(settling_);
    due_.files.insert(due_.files.end(), expired_.begin(), expired_.end());
    due_.files.insert(due_.files.end(), periodic_.begin(), periodic_.end());
    return std::move(due_);
  }

 private:
  // Decides about one idle file. A file may be due for several reasons, and is then named for each.
  void Visit(int level, size_t index) {
    const FileMetaData& file = *version_.level(level)[index];
    const TableCounts& counts = file.counts();
    const bool dead = counts.deletions > 0 || counts.hidden > 0;
    if (dead) VisitDead(level, index);
    // Without a clock no file is old.
    if (moment_.now == 0) return;
    if (level + 1 < version_.usable_levels() && Passed(file.times.oldest_ancestor, options_.ttl)) {
      expired_.push_back({level, index, CompactionReason::kTtl});
    }
    const uint64_t written =
        file.times.created != 0 ? file.times.created : file.times.oldest_ancestor;
    if (Passed(written, options_.periodic_compaction_seconds)) {
      periodic_.push_back({level, index, CompactionReason::kPeriodicCompaction});
    }
  }

  // Decides about a file with tombstones or hidden entries: at the bottom it is rewritten in place,
  // above that it sinks towards what its tombstones delete.
  void VisitDead(int level, size_t index) {
    const FileMetaData& file = *version_.level(level)[index];
    VARVE_ASSERT(!file.notes.being_compacted);
    const InternalKeyComparator& icmp = *version_.icmp();
    const bool bottommost =
        level > 0 &&
        !version_.RangeMayExistFrom(level + 1, icmp.KeyOf(file.smallest), icmp.KeyOf(file.largest));
    const bool sinks =
        !bottommost && level + 1 < version_.usable_levels() && file.counts().SurplusDeletions() > 0;
    // Sinking ends, as the file goes one level deeper each time.
    if (!sinks && (!bottommost || file.counts().settled)) return;
    // Entries that a snapshot sees, and tombstones that hide entries from it, must stay for now.
    if (file.largest_seq > moment_.oldest_snapshot) {
      due_.waits_for_snapshot = std::min(due_.waits_for_snapshot, file.largest_seq);
      return;
    }
    if (sinks) {
      due_.sinking.push_back({level, index, CompactionReason::kFilesMarkedForCompaction});
      return;
    }
    // The delay gives snapshots of short readers time to go, so that files are not rewritten one by
    // one.
    const uint64_t delay = options_.bottommost_file_compaction_delay;
    if (delay > 0 && moment_.now != 0 && file.times.created != 0 &&
        !Passed(file.times.created, delay)) {
      return;
    }
    settling_.push_back({level, index, CompactionReason::kBottommostFiles});
  }

  // Returns true if `age` seconds have passed since `time`; if not, notes when they will have. A
  // value of 0 is unknown.
  bool Passed(uint64_t time, uint64_t age) {
    if (time == 0 || age == 0 || age > UINT64_MAX - time) return false;
    if (time + age < moment_.now) return true;
    VARVE_ASSERT(moment_.now != 0);
    due_.next_due = std::min(due_.next_due, time + age + 1);
    return false;
  }

  const Version& version_;
  const ColumnFamilyOptions& options_;
  const ShapeMoment& moment_;
  DueFiles due_;
  std::vector<DueFile> settling_;
  std::vector<DueFile> expired_;
  std::vector<DueFile> periodic_;
};

}  // namespace

DueFiles FindDueFiles(const Version& version, const ColumnFamilyOptions& options,
                      const ShapeMoment& moment) {
  DueFiles due = DueFinder(version, options, moment).Run();
  CoveredFiles covered = FindCoveredFiles(version, moment.oldest_snapshot);
  due.covered = std::move(covered.files);
  due.unopened = std::move(covered.unopened);
  due.waits_for_snapshot = std::min(due.waits_for_snapshot, covered.waits_for_snapshot);
  FindBlobVictims(version, options, &due);
  return due;
}

}  // namespace varve
