// SPDX-License-Identifier: Apache-2.0
#include "db/compaction/sorted_runs.h"

#include <algorithm>
#include <utility>

#include "db/version/file_weights.h"
#include "util/base/assert.h"

namespace varve {

SortedRuns::SortedRuns(const Version& version) : version_(version) {
  const FileWeights weights(version);
  const int levels = std::min(version.non_empty_levels(), version.usable_levels());
  for (int level = 0; level < levels; level++) {
    const LevelFiles& files = version.level(level);
    for (size_t i = 0; i < files.size(); i++) {
      // In L0 each file begins a run; in deeper levels only the first file does, and the others
      // join it.
      if (level == 0 || i == 0) runs_.push_back({.level = level, .index = i});
      SortedRun& run = runs_.back();
      run.bytes += files[i]->size;
      run.weighted += weights.Weigh(level, *files[i]);
      run.busy |= files[i]->notes.being_compacted;
    }
  }
}

RunSpan SortedRuns::IdleToOldest() const {
  RunSpan span{runs_.size(), runs_.size()};
  while (span.newest > 0 && !runs_[span.newest - 1].busy) span.newest--;
  return span;
}

RunSpan SortedRuns::BelowL0(const RunSpan& span) const {
  RunSpan below = span;
  while (below.newest < below.end && runs_[below.newest].level == 0) below.newest++;
  return below;
}

std::vector<int> SortedRuns::LevelsOf(const RunSpan& span) const {
  std::vector<int> levels;
  const RunSpan below = BelowL0(span);
  for (size_t i = below.newest; i < below.end; i++) levels.push_back(runs_[i].level);
  return levels;
}

bool SortedRuns::IsBusy(const RunSpan& span) const {
  for (size_t i = span.newest; i < span.end; i++) {
    if (runs_[i].busy) return true;
  }
  return false;
}

uint64_t SortedRuns::BytesOf(const RunSpan& span) const {
  uint64_t bytes = 0;
  for (size_t i = span.newest; i < span.end; i++) bytes += runs_[i].bytes;
  return bytes;
}

uint64_t SortedRuns::BytesOlderThan(const RunSpan& span) const {
  return BytesOf({span.end, runs_.size()});
}

uint64_t SortedRuns::TotalBytes() const {
  return BytesOf({0, runs_.size()});
}

int SortedRuns::OutputLevel(const RunSpan& span, int last_level) const {
  VARVE_ASSERT(span.size() > 0 && span.end <= runs_.size());
  // Nothing older remains, so the output may take the last level, where tombstones can be dropped.
  if (span.end == runs_.size()) return last_level;
  // The level above the next older run is free: everything between that run and the span is empty
  // or an input. In L0 the epochs of the inputs keep the order instead.
  const int older = runs_[span.end].level;
  return older == 0 ? 0 : older - 1;
}

std::vector<CompactionInputLevel> SortedRuns::FilesOf(const RunSpan& span) const {
  std::vector<CompactionInputLevel> levels;
  for (size_t i = span.newest; i < span.end; i++) {
    const SortedRun& run = runs_[i];
    const std::vector<FileRef>& files = version_.level(run.level).files();
    if (run.level > 0) {
      levels.push_back({run.level, files});
      continue;
    }
    if (levels.empty()) levels.push_back({0, {}});
    levels.back().files.push_back(files[run.index]);
  }
  return levels;
}

}  // namespace varve
