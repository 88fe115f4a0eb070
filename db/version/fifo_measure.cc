// SPDX-License-Identifier: Apache-2.0
#include "db/version/fifo_measure.h"

#include <algorithm>
#include <vector>

namespace varve {

namespace {

// Walks from the oldest files to the newest, and ends at the first that stays: a newer file may
// hold the deletions of what an older one holds. A file whose time is unknown goes once a newer
// file has expired, as its data are older still.
class ExpiryWalk {
 public:
  ExpiryWalk(uint64_t now, uint64_t ttl, DueFiles* due) : now_(now), ttl_(ttl), due_(*due) {}

  // Visits a file of L0. Returns false if it stays.
  bool VisitRun(size_t index, const FileMetaData& file) {
    const Fate fate = Judge(file);
    if (fate == Fate::kStays) return false;
    undecided_.push_back({0, index, CompactionReason::kFIFOTtl});
    if (fate == Fate::kExpires) TakeUndecided();
    return true;
  }

  // Visits the files of a deeper level. They have no key in common, so each decides for itself and
  // for the files of unknown time beneath the level. Returns false if one of them stays.
  bool VisitLevel(int level, const LevelFiles& files) {
    bool all = true;
    std::vector<DueFile> unknown;
    for (size_t i = 0; i < files.size(); i++) {
      const Fate fate = Judge(*files[i]);
      all &= fate != Fate::kStays;
      if (fate == Fate::kUnknown) unknown.push_back({level, i, CompactionReason::kFIFOTtl});
      if (fate != Fate::kExpires) continue;
      TakeUndecided();
      due_.files.push_back({level, i, CompactionReason::kFIFOTtl});
    }
    undecided_.insert(undecided_.end(), unknown.begin(), unknown.end());
    return all;
  }

 private:
  enum class Fate : uint8_t { kStays, kUnknown, kExpires };

  // Says whether a file expires now. If it will expire later, notes when. A file that is being
  // compacted stays, and with it all that is newer.
  Fate Judge(const FileMetaData& file) {
    if (file.notes.being_compacted) return Fate::kStays;
    const uint64_t newest = file.times.Newest();
    if (newest == 0) return Fate::kUnknown;
    if (newest < now_ && now_ - newest > ttl_) return Fate::kExpires;
    if (ttl_ < UINT64_MAX - newest) due_.next_due = std::min(due_.next_due, newest + ttl_ + 1);
    return Fate::kStays;
  }

  void TakeUndecided() {
    due_.files.insert(due_.files.end(), undecided_.begin(), undecided_.end());
    undecided_.clear();
  }

  const uint64_t now_;
  const uint64_t ttl_;
  DueFiles& due_;
  std::vector<DueFile> undecided_;  // visited files of unknown time, the oldest first
};

// Deeper levels exist if the family had another style before. Their data is older than that of L0,
// which may go only if all of them do.
void FindExpired(const Version& version, uint64_t now, uint64_t ttl, DueFiles* due) {
  ExpiryWalk walk(now, ttl, due);
  for (int level = version.non_empty_levels() - 1; level > 0; level--) {
    if (!walk.VisitLevel(level, version.level(level))) return;
  }
  const LevelFiles& files = version.level(0);
  for (size_t i = files.size(); i-- > 0;) {
    if (!walk.VisitRun(i, *files[i])) return;
  }
}

// Returns the thresholds of temperatures by age, ascending.
std::vector<FileTemperatureAge> TemperatureAges(const CompactionOptionsFIFO& options) {
  if (!options.file_temperature_age_thresholds.empty() || options.age_for_warm == 0) {
    return options.file_temperature_age_thresholds;
  }
  return {{Temperature::kWarm, options.age_for_warm}};
}

// Finds the oldest table of L0 whose age has reached a threshold for another temperature than it
// has, and notes when the next one will. A file without a time keeps its temperature, as its age is
// unknown. `ages` ascend.
void FindTemperatureChange(const LevelFiles& files, const std::vector<FileTemperatureAge>& ages,
                           uint64_t now, DueFiles* due) {
  for (size_t i = files.size(); i-- > 0;) {
    const FileMetaData& file = *files[i];
    const uint64_t newest = file.times.Newest();
    if (newest == 0 || file.notes.being_compacted) continue;
    const uint64_t age = now > newest ? now - newest : 0;
    const FileTemperatureAge* reached = nullptr;
    for (const FileTemperatureAge& threshold : ages) {
      if (age >= threshold.age) {
        reached = &threshold;
        continue;
      }
      if (threshold.age < UINT64_MAX - newest) {
        due->next_due = std::min(due->next_due, newest + threshold.age);
      }
      break;
    }
    if (reached == nullptr || reached->temperature == file.temperature) continue;
    due->temperature_change = TemperatureChange{i, reached->temperature};
    return;
  }
}

}  // namespace

uint64_t FifoCap(const ColumnFamilyOptions& options) {
  const CompactionOptionsFIFO& fifo = options.compaction_options_fifo;
  return fifo.max_data_files_size != 0 ? fifo.max_data_files_size : fifo.max_table_files_size;
}

// Tables go by size or by age, from the oldest on; no level has a target, and nothing is merged for
// its score.
LevelShape MeasureFifo(const Version& version, const ColumnFamilyOptions& options,
                       const ShapeMoment& moment) {
  LevelShape shape;
  const auto levels = static_cast<size_t>(version.num_levels());
  shape.base_level = 0;
  shape.target_bytes.assign(levels, UINT64_MAX);
  shape.scores.assign(levels, 0);
  shape.runs_per_flush = 0;
  const uint64_t cap = std::max<uint64_t>(FifoCap(options), 1);
  shape.scores[0] = static_cast<double>(version.TotalBytes()) / static_cast<double>(cap);
  if (version.TotalBytes() > cap) shape.full_levels.push_back(0);
  if (options.ttl != 0 && moment.now != 0) {
    FindExpired(version, moment.now, options.ttl, &shape.due);
  }
  const std::vector<FileTemperatureAge> ages = TemperatureAges(options.compaction_options_fifo);
  if (!ages.empty() && moment.now != 0) {
    FindTemperatureChange(version.level(0), ages, moment.now, &shape.due);
  }
  return shape;
}

}  // namespace varve
