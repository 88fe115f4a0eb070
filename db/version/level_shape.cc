// SPDX-License-Identifier: Apache-2.0
#include "db/version/level_shape.h"

// Measures trees of the leveled style.
//
// Implements what users rely on, from the documentation of these options in RocksDB:
// - level_compaction_dynamic_level_bytes off: L1 may have max_bytes_for_level_base, each level
//   below max_bytes_for_level_multiplier times as much, and its additional factor.
// - On: sizes are computed backwards from the largest level, so that it holds nine tenths of the
//   data whatever that is. L0 is compacted to the first level whose size is within the base (the
//   base level); the levels above that stay empty.
// - L0 is full with level0_file_num_compaction_trigger files, or with as many bytes as the base.
// - Pending bytes are those of a full L0 and its base level, and for each excess byte of a level,
//   that byte and its share of the next level.
//
// Full levels are ordered by the cost of a byte that moves down: the byte itself, and the data
// under it in the next level. In a level that is too large, each arriving byte meets more data, so
// levels are drained before more is put into them. L0 waits for that, too, and collects files
// meanwhile, which makes each of its bytes cheaper; but only until it is as large as the base, or
// halfway to the point where it slows writers down.

#include <algorithm>
#include <cmath>

#include "db/version/fifo_measure.h"
#include "db/version/file_weights.h"
#include "db/version/universal_measure.h"
#include "util/base/assert.h"

namespace varve {

namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

// Converts a computed size to bytes; sizes beyond 64 bits count as no limit, as large multipliers
// yield them for deep levels.
uint64_t Saturating(double bytes) {
  return bytes >= static_cast<double>(kNoLimit) ? kNoLimit
                                                : static_cast<uint64_t>(std::max(bytes, 0.0));
}

class ShapeComputer {
 public:
  ShapeComputer(const Version& version, const ColumnFamilyOptions& options)
      : version_(version),
        options_(options),
        levels_(version.usable_levels()),
        base_bytes_(static_cast<double>(options.max_bytes_for_level_base)),
        l0_trigger_(std::max(1, options.level0_file_num_compaction_trigger)),
        idle_bytes_(Index(levels_), 0) {
    shape_.target_bytes.assign(Index(version.num_levels()), 0);
    shape_.scores.assign(Index(version.num_levels()), 0);
    shape_.runs = static_cast<int>(version.level(0).size());
    SumIdleBytes();
  }

  LevelShape Run() {
    if (options_.level_compaction_dynamic_level_bytes) {
      LayOutBackwards();
    } else {
      LayOutFromBase();
    }
    ScoreLevels();
    OrderFullLevels();
    shape_.pending_compaction_bytes = EstimateDebt();
    VARVE_ASSERT(shape_.base_level >= 0 && shape_.base_level < levels_);
    return std::move(shape_);
  }

 private:
  static size_t Index(int level) { return static_cast<size_t>(level); }
  double Bytes(int level) const { return static_cast<double>(version_.level(level).bytes()); }
  double Target(int level) const { return static_cast<double>(shape_.target_bytes[Index(level)]); }
  double Idle(int level) const { return idle_bytes_[Index(level)]; }
  double& Score(int level) { return shape_.scores[Index(level)]; }

  // Sums the files that no compaction is reading; tombstones count by the bytes that they will
  // free.
  void SumIdleBytes() {
    const FileWeights weights(version_);
    for (int level = 0; level < levels_; level++) {
      for (const FileRef& file : version_.level(level).files()) {
        if (file->notes.being_compacted) continue;
        idle_bytes_[Index(level)] += static_cast<double>(weights.Weigh(level, *file));
        if (level == 0) idle_l0_files_++;
      }
    }
  }

  // Sets targets downwards from L1, whatever the tree holds.
  void LayOutFromBase() {
    shape_.base_level = levels_ > 1 ? 1 : 0;
    const std::vector<int>& more = options_.max_bytes_for_level_multiplier_additional;
    double target = base_bytes_;
    for (int level = 1; level < levels_; level++) {
      shape_.target_bytes[Index(level)] = Saturating(target);
      target *= options_.max_bytes_for_level_multiplier;
      if (Index(level) < more.size()) target *= more[Index(level)];
    }
  }

  // Sets targets upwards from the largest level, so that the upper levels stay a fixed share of the
  // data as it grows.
  void LayOutBackwards() {
    int first_used = levels_ - 1;  // all data of an empty tree goes to the last level
    double largest = 0;
    for (int level = levels_ - 1; level > 0; level--) {
      if (Bytes(level) > 0) first_used = level;
      largest = std::max(largest, Bytes(level));
    }
    // Levels above the base level are not compacted.
    std::fill(shape_.target_bytes.begin() + 1, shape_.target_bytes.end(), kNoLimit);
    shape_.base_level = first_used;
    if (largest == 0) return;
    const double multiplier = std::max(1.0, options_.max_bytes_for_level_multiplier);
    const auto share = [&](int level) {
      return largest / std::pow(multiplier, static_cast<double>(levels_ - 1 - level));
    };
    // The base level moves up as the tree grows, and never below a level that holds data.
    while (shape_.base_level > 1 && share(shape_.base_level) > base_bytes_) shape_.base_level--;
    double target = std::clamp(share(shape_.base_level), base_bytes_ / multiplier, base_bytes_);
    for (int level = shape_.base_level; level < levels_; level++) {
      // No level of a small tree is smaller than the base: that would only add work.
      shape_.target_bytes[Index(level)] = Saturating(std::max(target, base_bytes_));
      target *= multiplier;
    }
  }

  // Scores count idle bytes only: files that are being compacted will leave the level without a
  // further compaction.
  void ScoreLevels() {
    Score(0) = static_cast<double>(idle_l0_files_) / l0_trigger_;
    if (levels_ > 1) Score(0) = std::max(Score(0), Idle(0) / std::max(base_bytes_, 1.0));
    // The last level has no level to move data to.
    for (int level = 1; level < levels_ - 1; level++) {
      Score(level) = Idle(level) / std::max(Target(level), 1.0);
    }
  }

  // Orders the full levels, the most urgent first: L0 last if it may wait, the others by how far
  // they exceed their targets, together with what the levels above will push down into them.
  void OrderFullLevels() {
    struct Full {
      int level;
      bool waits;
      double urgency;
    };
    std::vector<Full> full;
    if (Score(0) >= 1) full.push_back({0, L0MayWait(), L0Urgency()});
    double arriving = Bytes(0);  // bytes that the levels above will push down
    for (int level = 1; level < levels_ - 1; level++) {
      if (Score(level) >= 1) {
        full.push_back({level, false, Idle(level) / (Target(level) + arriving)});
      }
      arriving += std::max(Bytes(level) - Target(level), 0.0);
    }
    std::stable_sort(full.begin(), full.end(), [](const Full& a, const Full& b) {
      return a.waits != b.waits ? b.waits : a.urgency > b.urgency;
    });
    for (const Full& entry : full) shape_.full_levels.push_back(entry.level);
  }

  // True while L0 is small enough to collect more files: below the base in bytes, and less than
  // halfway from its trigger to the number of files that slows writers down.
  bool L0MayWait() const {
    const int slowdown = options_.level0_slowdown_writes_trigger;
    const int most = l0_trigger_ + std::max(slowdown - l0_trigger_, 0) / 2;
    return shape_.runs < most && Idle(0) < base_bytes_;
  }

  // Returns the urgency of a full L0: the ratio of its files to the trigger, or of its bytes to
  // those of the base level if that is more, and at least 1. Both grow while L0 waits, so L0 does
  // not wait forever for a base level that stays full.
  double L0Urgency() const {
    const double files = static_cast<double>(idle_l0_files_) / l0_trigger_;
    const double below = std::max(levels_ > 1 ? Idle(shape_.base_level) : 0, base_bytes_);
    return std::max({1.0, files, Idle(0) / std::max(below, 1.0)});
  }

  // Estimates the bytes that must be rewritten until no level is full. Write stalls compare this
  // with soft_pending_compaction_bytes_limit and hard_pending_compaction_bytes_limit.
  uint64_t EstimateDebt() const {
    if (levels_ < 2) return 0;
    double debt = 0;
    double arriving = 0;
    if (shape_.runs >= l0_trigger_ || (shape_.runs > 0 && Bytes(0) >= base_bytes_)) {
      arriving = Bytes(0);
      debt = arriving + Bytes(shape_.base_level);
    }
    for (int level = shape_.base_level; level < levels_ - 1; level++) {
      const double bytes = Bytes(level) + arriving;
      arriving = std::max(bytes - Target(level), 0.0);
      // If the next level is empty, files only move.
      const double below = Bytes(level + 1);
      if (arriving > 0 && below > 0) debt += arriving * (1 + below / bytes);
    }
    return Saturating(debt);
  }

  const Version& version_;
  const ColumnFamilyOptions& options_;
  const int levels_;  // without a reserved one, which is not compacted
  const double base_bytes_;
  const int l0_trigger_;
  std::vector<double> idle_bytes_;  // indexed by level
  int idle_l0_files_ = 0;
  LevelShape shape_;
};

}  // namespace

LevelShape ComputeLevelShape(const Version& version, const ColumnFamilyOptions& options,
                             const ShapeMoment& moment) {
  if (version.num_levels() == 0) return LevelShape();
  if (options.compaction_style == kCompactionStyleUniversal) {
    return MeasureUniversal(version, options, moment);
  }
  if (options.compaction_style == kCompactionStyleFIFO) {
    return MeasureFifo(version, options, moment);
  }
  LevelShape shape = ShapeComputer(version, options).Run();
  shape.due = FindDueFiles(version, options, moment);
  return shape;
}

}  // namespace varve
