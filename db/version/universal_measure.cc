// SPDX-License-Identifier: Apache-2.0
#include "db/version/universal_measure.h"

#include <algorithm>
#include <utility>

namespace varve {

namespace {

// Returns the age, in seconds, at which a file is rewritten; 0: none is.
uint64_t AgeLimit(const ColumnFamilyOptions& options) {
  if (options.ttl == 0) return options.periodic_compaction_seconds;
  if (options.periodic_compaction_seconds == 0) return options.ttl;
  return std::min(options.ttl, options.periodic_compaction_seconds);
}

// Finds the files that are older than `limit` seconds, and notes when the next one will be. A file
// whose time is unknown, or that is being compacted, is never due.
void FindAged(const Version& version, uint64_t now, uint64_t limit, DueFiles* due) {
  const int levels = std::min(version.non_empty_levels(), version.usable_levels());
  for (int level = 0; level < levels; level++) {
    for (size_t i = 0; i < version.level(level).size(); i++) {
      const FileMetaData& file = *version.level(level)[i];
      const uint64_t written =
          file.times.created != 0 ? file.times.created : file.times.oldest_ancestor;
      if (written == 0 || file.notes.being_compacted) continue;
      if (written < now && now - written > limit) {
        due->files.push_back({level, i, CompactionReason::kPeriodicCompaction});
      } else if (limit < UINT64_MAX - written) {
        due->next_due = std::min(due->next_due, written + limit + 1);
      }
    }
  }
}

}  // namespace

// A run is a file of L0 or a whole deeper level. Only their number makes a score: the picker
// decides which of them are merged.
LevelShape MeasureUniversal(const Version& version, const ColumnFamilyOptions& options,
                            const ShapeMoment& moment) {
  LevelShape shape;
  const auto levels = static_cast<size_t>(version.num_levels());
  shape.base_level = levels > 1 ? 1 : 0;
  shape.target_bytes.assign(levels, UINT64_MAX);
  shape.scores.assign(levels, 0);
  shape.runs = static_cast<int>(version.level(0).size());
  const int own_levels = std::min(version.non_empty_levels(), version.usable_levels());
  for (int level = 1; level < own_levels; level++) {
    if (!version.level(level).empty()) shape.runs++;
  }
  const int trigger = std::max(options.level0_file_num_compaction_trigger, 1);
  shape.scores[0] = static_cast<double>(shape.runs) / trigger;
  if (shape.runs >= trigger) shape.full_levels.push_back(0);
  CoveredFiles covered = FindCoveredFiles(version, moment.oldest_snapshot);
  shape.due.covered = std::move(covered.files);
  shape.due.unopened = std::move(covered.unopened);
  shape.due.waits_for_snapshot = covered.waits_for_snapshot;
  const uint64_t limit = AgeLimit(options);
  if (limit != 0 && moment.now != 0) FindAged(version, moment.now, limit, &shape.due);
  return shape;
}

}  // namespace varve
