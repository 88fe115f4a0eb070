// SPDX-License-Identifier: Apache-2.0
#pragma once

// The sorted runs of a tree, and plans that merge neighbours among them.
//
// A run is a set of tables that share no keys: a file of L0 alone, or all files of a deeper level.
// Runs are numbered by age, 0 being the newest, so a key's newest entry is in the run with the
// smallest number that has the key. Merging a span of neighbours keeps that order; merging runs
// with another one between them would not, as the output could only be on one side of it.
//
// The output of a span lies in the level right above the next older run:
//
//      before          span {1, 3}             after
//      L0 [a] [b]      b and c are merged      L0 [a]
//      L3 [c     ]     d lies in L5            L4 [b+c      ]
//      L5 [d          ]                        L5 [d          ]
//
// If the span reaches the oldest run, the output goes to the last level that compactions may write
// to.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "db/compaction/plan.h"
#include "db/version/version.h"

namespace varve {

// Describes a file of L0, or all files of a deeper level.
struct SortedRun {
  // Level of the run's files.
  int level = 0;
  size_t index = 0;  // in L0
  uint64_t bytes = 0;
  uint64_t weighted = 0;  // bytes by FileWeights: deletions count by the bytes that they will free
  bool busy = false;      // some file of it is being compacted
};

// Names runs that are neighbours in age.
struct RunSpan {
  // Index of the newest run of the span.
  size_t newest = 0;
  size_t end = 0;  // index behind the oldest
  [[nodiscard]] size_t size() const { return end - newest; }
};

// Thread safety: as for the pickers. The version must outlive it.
class SortedRuns {
 public:
  explicit SortedRuns(const Version& version);

  // Counts the runs, of which the first is the newest.
  [[nodiscard]] size_t size() const { return runs_.size(); }
  [[nodiscard]] bool empty() const { return runs_.empty(); }
  // Returns a run by its age; 0 is the newest.
  const SortedRun& operator[](size_t i) const { return runs_[i]; }

  // Returns the idle runs down to the oldest one; an empty span if that is busy.
  [[nodiscard]] RunSpan IdleToOldest() const;
  // Returns the runs of the span without those in L0.
  [[nodiscard]] RunSpan BelowL0(const RunSpan& span) const;
  // Returns the levels of the span's runs without L0, ascending.
  [[nodiscard]] std::vector<int> LevelsOf(const RunSpan& span) const;
  // True if a file of the span is being compacted.
  [[nodiscard]] bool IsBusy(const RunSpan& span) const;
  // Returns the bytes of the span's runs.
  [[nodiscard]] uint64_t BytesOf(const RunSpan& span) const;
  // Returns the bytes of the runs that are older than the span.
  [[nodiscard]] uint64_t BytesOlderThan(const RunSpan& span) const;
  // Returns the bytes of all runs, without those of surplus and reserved levels.
  [[nodiscard]] uint64_t TotalBytes() const;

  // Returns the level of what the runs are merged into: the last one if the oldest run takes part,
  // else the one above the next older run, which may be L0.
  [[nodiscard]] int OutputLevel(const RunSpan& span, int last_level) const;
  // Returns the files of the runs by level.
  [[nodiscard]] std::vector<CompactionInputLevel> FilesOf(const RunSpan& span) const;

 private:
  // The tree, borrowed.
  const Version& version_;
  // The runs of usable levels, newest first. Fixed after the constructor.
  std::vector<SortedRun> runs_;
};

}  // namespace varve
