// SPDX-License-Identifier: Apache-2.0
#include "db/version/level_shape.h"

// Targets grow by the multiplier from level to level. Statically they start with
// max_bytes_for_level_base at L1. Dynamically they are laid out backwards from the largest level,
// so that it holds about nine tenths of the data whatever its size is, and L0 is compacted straight
// into the first level whose target is worth having (the base level).

#include <algorithm>
#include <numeric>

#include "db/version/file_weights.h"

namespace varve {

namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;
// Dynamic levels: what is past its target by itself goes before what the levels above will push
// into it, whatever the ratios are.
constexpr double kOverTargetWeight = 10.0;

uint64_t Saturating(double bytes) {
  return bytes >= static_cast<double>(kNoLimit) ? kNoLimit
                                                : static_cast<uint64_t>(std::max(bytes, 0.0));
}

uint64_t AddSaturating(uint64_t a, uint64_t b) {
  return a > kNoLimit - b ? kNoLimit : a + b;
}

double Ratio(uint64_t a, uint64_t b) {
  return static_cast<double>(a) / static_cast<double>(std::max<uint64_t>(b, 1));
}

class ShapeComputer {
 public:
  ShapeComputer(const Version& version, const ColumnFamilyOptions& options)
      : version_(version),
        options_(options),
        weights_(version),
        levels_(version.num_levels()),
        multiplier_(std::max(1.0, options.max_bytes_for_level_multiplier)) {
    shape_.target_bytes.assign(Index(levels_), 0);
    shape_.scores.assign(Index(levels_), 0);
    shape_.l0_files = static_cast<int>(version.level(0).size());
  }

  LevelShape Run() {
    if (options_.level_compaction_dynamic_level_bytes) {
      SetDynamicTargets();
    } else {
      SetStaticTargets();
    }
    ScoreL0();
    ScoreDeeperLevels();
    EstimateDebt();
    const size_t inputs = levels_ > 1 ? Index(levels_ - 1) : 1;
    shape_.levels_by_score.resize(inputs);
    std::iota(shape_.levels_by_score.begin(), shape_.levels_by_score.end(), 0);
    std::stable_sort(
        shape_.levels_by_score.begin(), shape_.levels_by_score.end(),
        [this](int a, int b) { return shape_.scores[Index(a)] > shape_.scores[Index(b)]; });
    return std::move(shape_);
  }

 private:
  static size_t Index(int level) { return static_cast<size_t>(level); }
  uint64_t Bytes(int level) const { return version_.level(level).bytes(); }
  uint64_t& Target(int level) { return shape_.target_bytes[Index(level)]; }

  // Bytes of the files that no compaction is reading; weighted ones drive scores.
  uint64_t IdleWeightedBytes(int level) const {
    uint64_t total = 0;
    for (const FileRef& file : version_.level(level).files()) {
      if (!file->being_compacted) total = AddSaturating(total, weights_.Weigh(level, *file));
    }
    return total;
  }

  void SetStaticTargets() {
    shape_.base_level = levels_ > 1 ? 1 : 0;
    double target = static_cast<double>(options_.max_bytes_for_level_base);
    for (int level = 1; level < levels_; level++) {
      if (level > 1) {
        const auto& extra = options_.max_bytes_for_level_multiplier_additional;
        const size_t i = Index(level - 1);
        target *= options_.max_bytes_for_level_multiplier * (i < extra.size() ? extra[i] : 1);
      }
      Target(level) = Saturating(target);
    }
  }

  void SetDynamicTargets() {
    int first_used = 0;
    uint64_t largest = 0;
    for (int level = 1; level < levels_; level++) {
      if (Bytes(level) > 0 && first_used == 0) first_used = level;
      largest = std::max(largest, Bytes(level));
      Target(level) =
          kNoLimit;  // stands for levels above the base: nothing is compacted from there
    }
    if (first_used == 0) {
      // All data goes to the last level first.
      shape_.base_level = levels_ - 1;
      return;
    }
    const double base_max = static_cast<double>(options_.max_bytes_for_level_base);
    const double base_min = base_max / multiplier_;
    double target = static_cast<double>(largest);
    for (int level = levels_ - 2; level >= first_used; level--) target /= multiplier_;
    int base = first_used;
    if (target <= base_min) {
      target = base_min + 1;
    } else {
      for (; base > 1 && target > base_max; base--) target /= multiplier_;
      target = std::min(target, base_max);
    }
    shape_.base_level = base;
    for (int level = base; level < levels_; level++) {
      if (level > base) target *= multiplier_;
      // A small tree is not cut into levels smaller than the base: that would only add work.
      Target(level) = Saturating(std::max(target, base_max));
    }
  }

  void ScoreL0() {
    size_t idle_files = 0;
    for (const FileRef& file : version_.level(0).files()) idle_files += !file->being_compacted;
    const uint64_t idle_bytes = IdleWeightedBytes(0);
    double score =
        static_cast<double>(idle_files) / std::max(1, options_.level0_file_num_compaction_trigger);
    if (levels_ > 1) {
      const uint64_t base_max = options_.max_bytes_for_level_base;
      if (!options_.level_compaction_dynamic_level_bytes) {
        score = std::max(score, Ratio(idle_bytes, base_max));
      } else {
        // The debt counts an L0 this large, so it has to qualify.
        if (idle_bytes >= base_max) score = std::max(score, 1.01);
        const int base = shape_.base_level;
        if (idle_bytes > Target(base)) {
          // As urgent as it outweighs the base level, so that neither waits for the other for ever.
          const uint64_t below = std::max(IdleWeightedBytes(base), Target(base));
          score = std::max(score, Ratio(idle_bytes, below));
        }
        const bool urgent = idle_files >= UrgentL0Files() || idle_bytes >= base_max;
        if (score > 1 && urgent) score *= kOverTargetWeight;
      }
    }
    shape_.scores[0] = score;
  }

  // Dynamic levels: with fewer files, and fewer bytes than the base level may have, L0 lets levels
  // past their targets go first. Every byte too many in the base level would be rewritten with L0,
  // and the more files of L0 go down together, the less each costs. Halfway to slowing writers
  // down.
  size_t UrgentL0Files() const {
    const int trigger = std::max(1, options_.level0_file_num_compaction_trigger);
    const int slowdown = options_.level0_slowdown_writes_trigger;
    return static_cast<size_t>(slowdown > trigger ? trigger + (slowdown - trigger) / 2 : trigger);
  }

  void ScoreDeeperLevels() {
    const bool dynamic = options_.level_compaction_dynamic_level_bytes;
    uint64_t arriving = Bytes(0);  // what the levels above will push down
    for (int level = 1; level < levels_ - 1; level++) {
      const uint64_t idle = IdleWeightedBytes(level);
      const uint64_t target = Target(level);
      double score = Ratio(idle, target);
      if (dynamic && idle >= target) {
        score = Ratio(idle, AddSaturating(target, arriving)) * kOverTargetWeight;
      }
      shape_.scores[Index(level)] = score;
      if (Bytes(level) > target) arriving = AddSaturating(arriving, Bytes(level) - target);
    }
  }

  // Follows the bytes that are too many from L0 down. What leaves a level rewrites its share of the
  // next one too.
  void EstimateDebt() {
    if (levels_ < 2) return;
    const uint64_t l0_bytes = Bytes(0);
    const bool l0_due = shape_.l0_files >= options_.level0_file_num_compaction_trigger ||
                        l0_bytes >= options_.max_bytes_for_level_base;
    uint64_t debt = 0;
    uint64_t arriving = 0;
    if (l0_due && shape_.l0_files > 0) {
      debt = AddSaturating(l0_bytes, Bytes(shape_.base_level));
      arriving = l0_bytes;
    }
    for (int level = shape_.base_level; level < levels_ - 1; level++) {
      const uint64_t bytes = AddSaturating(Bytes(level), arriving);
      const uint64_t target = Target(level);
      arriving = bytes > target ? bytes - target : 0;
      const uint64_t below = Bytes(level + 1);
      if (arriving == 0 || below == 0) continue;
      const double fan_out = Ratio(below, bytes) + 1;
      debt = AddSaturating(debt, Saturating(static_cast<double>(arriving) * fan_out));
    }
    shape_.pending_compaction_bytes = debt;
  }

  const Version& version_;
  const ColumnFamilyOptions& options_;
  const FileWeights weights_;
  const int levels_;
  const double multiplier_;
  LevelShape shape_;
};

}  // namespace

LevelShape ComputeLevelShape(const Version& version, const ColumnFamilyOptions& options,
                             const ShapeMoment& moment) {
  if (version.num_levels() == 0) return LevelShape();
  LevelShape shape = ShapeComputer(version, options).Run();
  shape.due = FindDueFiles(version, options, moment);
  return shape;
}

}  // namespace varve
