// SPDX-License-Identifier: Apache-2.0

// Picks automatic compactions of the FIFO style, whose tree is a queue: flushes append tables at
// the new end, and tables are dropped whole at the old end. Nothing is sorted into levels, so a
// byte is written once, by the flush, unless the user asks for merges.
//
//      L0   newest [70] [69] [68] [67] ... [12] [11] oldest      epochs descend
//           '-- merged, if asked, --'           '- dropped first, unless
//      L1+  [ 9] [ 8] [ 5]                          older levels hold files
//           from another style: older than L0, dropped before it, the deepest level first
//
// A table is dropped for one of two reasons: its newest entry is older than `ttl` (MeasureFifo
// finds those, kFIFOTtl), or all tables together exceed the cap (PickOverCap, kFIFOMaxSize). If
// none is, merges are considered, of which there are two kinds, and then the copy of one file to
// the storage for its age (PickTemperature). PickSmall merges the newest files when there are as
// many as level0_file_num_compaction_trigger, so that a read has fewer files to look into.
// PickTier, with use_kv_ratio_compaction, merges neighbours of one size class at a time: with a cap
// of 64 GiB and a trigger of 8 the classes end at 8 GiB, 1 GiB, 128 MiB and so on down to 10 KiB,
// and a byte is rewritten at most about once for each class.
//
// Invariants
// 1. Files leave from the oldest on, without a gap. A newer file may hold the deletions of what an
//    older one holds, so dropping it first would bring deleted keys back. PickOverCap therefore
//    stops at the first file that is being compacted instead of passing it by.
// 2. Only neighbours in age are merged, and the output stays in L0 in their place.
// 3. One plan of a family runs at a time. Two of them would decide by the same total, and drop
//    twice what the cap asks for.
// 4. A merge never prolongs the life of data by more than a sixteenth of `ttl`: a merged file
//    expires with its newest entry (kTimeSlots).
// 5. Levels below L0 hold disjoint files, whose order in time is that of their newest entries
//    (ByTime).

#include "db/compaction/fifo_picker.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "db/compaction/input_span.h"
#include "db/compaction/plan_builder.h"
#include "db/compaction/whole_files.h"
#include "db/version/fifo_measure.h"

namespace varve {

namespace {

// A merge needs at least two files, whatever the trigger says: fewer would make no file disappear.
constexpr size_t kFewestMerged = 2;
// Bytes below which files count as equally small for merges by ratio.
constexpr uint64_t kSmallestTier = 10 << 10;
// Files are merged only if their newest data is so close in time that no data lives longer for it
// than by this share of `ttl`.
constexpr uint64_t kTimeSlots = 16;

class FifoPlanner {
 public:
  FifoPlanner(const VersionRef& version, const LevelShape& shape,
              const ColumnFamilyOptions& options, const std::vector<const CompactionPlan*>& running)
      : version_ref_(version),
        version_(*version),
        l0_(version->level(0)),
        shape_(shape),
        options_(options),
        fifo_(options.compaction_options_fifo),
        builder_(version, shape, options, running) {}

  // Files are dropped before any is merged or copied, as that would be work in vain.
  std::unique_ptr<CompactionPlan> Pick() {
    if (auto plan = PickDropped(version_ref_, shape_.due.files)) return plan;
    if (auto plan = PickOverCap()) return plan;
    if (fifo_.allow_compaction) {
      if (auto plan = MergesByRatio() ? PickTier() : PickSmall()) return plan;
    }
    return PickTemperature();
  }

 private:
  // Takes files from the oldest on until the rest is within the cap, or a file is busy. The files
  // of deeper levels come first, as they are older than all of L0.
  std::unique_ptr<CompactionPlan> PickOverCap() const {
    const uint64_t cap = FifoCap(options_);
    uint64_t total = version_.TotalBytes();
    std::vector<DueFile> oldest;
    const auto take = [&](int level, size_t index) {
      if (total <= cap || version_.level(level)[index]->notes.being_compacted) return false;
      total -= version_.level(level)[index]->size;
      oldest.push_back({level, index, CompactionReason::kFIFOMaxSize});
      return true;
    };
    for (int level = version_.non_empty_levels() - 1; level > 0; level--) {
      for (const size_t index : ByTime(level)) {
        if (!take(level, index)) return PickDropped(version_ref_, oldest);
      }
    }
    for (size_t i = l0_.size(); i-- > 0;) {
      if (!take(0, i)) break;
    }
    return PickDropped(version_ref_, oldest);
  }

  // Returns the indexes of the level's files, the one with the oldest data first.
  std::vector<size_t> ByTime(int level) const {
    const LevelFiles& files = version_.level(level);
    std::vector<size_t> order(files.size());
    for (size_t i = 0; i < order.size(); i++) order[i] = i;
    std::ranges::stable_sort(order, {},
                             [&files](size_t index) { return files[index]->times.Newest(); });
    return order;
  }

  // True if merges follow size classes. A trigger of 1 gives no classes: each would be as large as
  // the one before it.
  bool MergesByRatio() const {
    return fifo_.use_kv_ratio_compaction && fifo_.max_data_files_size != 0 && Trigger() >= 2;
  }

  // Returns the number of files from which on a merge is worth while; at least 1, whatever the
  // option says.
  size_t Trigger() const {
    return static_cast<size_t>(std::max(options_.level0_file_num_compaction_trigger, 1));
  }

  // Merges the newest files if there are as many as the trigger and each file that disappears costs
  // at most 1.1 write buffers of rewriting, as in RocksDB.
  std::unique_ptr<CompactionPlan> PickSmall() const {
    uint64_t bytes = 0;
    size_t count = 0;
    double cost = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < l0_.size() && Joins(0, i); i++) {
      bytes += l0_[i]->size;
      if (i == 0) continue;
      const double each = static_cast<double>(bytes) / static_cast<double>(i);
      // The cost is the bytes rewritten for each file that disappears. Once a further file raises
      // it, that file is large, and belongs to an earlier merge.
      if (each > cost || bytes > builder_.max_compaction_bytes()) break;
      cost = each;
      count = i + 1;
    }
    if (cost > static_cast<double>(options_.write_buffer_size) * 1.1) return nullptr;
    return Merge(0, count);
  }

  // Merges the oldest neighbours that are below the boundary of a tier, the smallest tier first.
  // Each tier is Trigger() times as large as the one before it, and a merge has at least so many
  // files, so that a byte is rewritten once for each tier.
  std::unique_ptr<CompactionPlan> PickTier() const {
    const uint64_t top = std::max(fifo_.max_data_files_size / Trigger(), kSmallestTier);
    std::vector<uint64_t> tiers;
    for (uint64_t tier = top; tier > kSmallestTier; tier /= Trigger()) tiers.push_back(tier);
    tiers.push_back(kSmallestTier);
    for (size_t i = tiers.size(); i-- > 0;) {
      if (auto plan = PickBelow(tiers[i])) return plan;
    }
    return nullptr;
  }

  // Finds the oldest stretch of files that are all smaller than `boundary`. A larger file, or one
  // too far away in time, ends a stretch; a stretch counts only if its output reaches the boundary,
  // so that the next class receives a full member.
  std::unique_ptr<CompactionPlan> PickBelow(uint64_t boundary) const {
    size_t end = l0_.size();  // index behind the oldest file of the stretch
    uint64_t bytes = 0;
    for (size_t i = l0_.size(); i-- > 0;) {
      if (l0_[i]->size >= boundary) {
        end = i;
        bytes = 0;
        continue;
      }
      if (end > i + 1 && !Joins(i, end - 1)) {
        end = i + 1;
        bytes = 0;
      }
      bytes += l0_[i]->size;
      if (end - i >= Trigger() && bytes >= boundary) return Merge(i, end - i);
    }
    return nullptr;
  }

  // True if the files' newest data is close in time, and neither is being compacted.
  bool Joins(size_t a, size_t b) const {
    if (l0_[a]->notes.being_compacted || l0_[b]->notes.being_compacted) return false;
    const auto [early, late] = std::minmax({l0_[a]->times.Newest(), l0_[b]->times.Newest()});
    return a == b || options_.ttl == 0 || late - early <= options_.ttl / kTimeSlots;
  }

  // Plans the merge of `count` files of L0 from index `first` on, if they are enough. The output
  // goes to L0, where its epoch puts it in the place of its inputs.
  std::unique_ptr<CompactionPlan> Merge(size_t first, size_t count) const {
    if (count < std::max(Trigger(), kFewestMerged)) return nullptr;
    PlanInputs inputs;
    inputs.levels.push_back({0, FilesOf(l0_, {first, first + count})});
    inputs.output_level = 0;
    inputs.reason = CompactionReason::kFIFOReduceNumFiles;
    return builder_.Build(std::move(inputs));
  }

  // Copies the file that is due for other storage (MeasureFifo has found it), unless it is busy.
  std::unique_ptr<CompactionPlan> PickTemperature() const {
    const std::optional<TemperatureChange>& change = shape_.due.temperature_change;
    // NeedsCompaction may ask with a measurement that is older than the tree.
    if (!change.has_value() || change->index >= l0_.size()) return nullptr;
    if (l0_[change->index]->notes.being_compacted) return nullptr;
    PlanInputs inputs;
    inputs.levels.push_back({0, FilesOf(l0_, {change->index, change->index + 1})});
    inputs.output_level = 0;
    inputs.reason = CompactionReason::kChangeTemperature;
    auto plan = builder_.Build(std::move(inputs));
    if (plan != nullptr) plan->output.temperature = change->temperature;
    return plan;
  }

  const VersionRef& version_ref_;
  const Version& version_;
  const LevelFiles& l0_;
  const LevelShape& shape_;
  const ColumnFamilyOptions& options_;
  const CompactionOptionsFIFO& fifo_;
  const PlanBuilder builder_;
};

}  // namespace

std::unique_ptr<CompactionPlan> FifoPicker::Pick(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const std::vector<const CompactionPlan*>& running) const {
  if (!running.empty()) return nullptr;
  return FifoPlanner(version, shape, options, running).Pick();
}

}  // namespace varve
