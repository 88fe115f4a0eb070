// SPDX-License-Identifier: Apache-2.0

// Picks automatic compactions of the leveled style.
//
// Pick tries its rules in a fixed order and returns the first plan that is legal now:
//
//      PickCovered     tables that range tombstones delete wholly: costs no rewriting
//      full_levels     levels above their size or number of files, ordered by level_shape.cc
//      PickSurplus     levels beneath num_levels, after a change of options
//      PickSinking     files with many tombstones, if they free enough bytes
//      PickMarked      files that a property collector or SuggestCompactRange marked
//      PickDue         files older than ttl or periodic_compaction_seconds, and files of the
//                      bottommost data with entries that no snapshot needs any more
//      PickBlobGarbage tables that hide or keep too much garbage in blob files
//
// Invariants
// 1. Older entries of a key never come to lie above newer ones. Out of L0 goes a whole cluster: all
//    files that overlap the chosen one, and each other. Out of a level goes a span between clean
//    cuts (input_span.h), with everything it overlaps in the output level.
// 2. While any file of L0 is being compacted, no other compaction leads from L0 down. Only the
//    newest files, up to the first busy one, may be merged within L0 meanwhile.
// 3. A file that another plan has (being_compacted) is never chosen, and neither is a range of the
//    output level into which a running plan writes.
// 4. A picker that returns null does not wait: it is asked again when a job ends or a version
//    changes.

#include "db/compaction/leveled_picker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "db/compaction/candidate_order.h"
#include "db/compaction/input_span.h"
#include "db/compaction/plan_builder.h"
#include "db/compaction/surplus_levels.h"
#include "db/compaction/whole_files.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// Minimum number of files merged within L0. If n files are merged into one, each of the n - 1 that
// disappear costs n / (n - 1) files written. From four on, waiting for one more saves less than a
// tenth of that.
constexpr size_t kFewestWithinL0 = 4;
// Number of L0 files above its trigger before files are merged within L0.
constexpr size_t kSpareWithinL0 = 2;

// Compares what a compaction of tombstones frees with what it rewrites.
class SinkingGain {
 public:
  explicit SinkingGain(const Version& version) : version_(version) {}

  // True if probably at least half of the bytes that the plan reads will be gone afterwards. Files
  // with more deletions than other entries count as tombstones, and the others as values. Each
  // tombstone is taken to delete one value of average size, if that is in the inputs and not
  // deeper; and with no data beneath, the tombstones go as well.
  bool Worth(const CompactionPlan& plan) const {
    const double cost = static_cast<double>(plan.InputBytes());
    double deletions = 0;
    double own_bytes = 0;
    double values = 0;
    double value_bytes = 0;
    for (const CompactionInputLevel& level : plan.inputs) {
      for (const FileRef& file : level.files) {
        const TableCounts& counts = file->counts();
        if (counts.SurplusDeletions() > 0) {
          deletions += static_cast<double>(counts.SurplusDeletions());
          own_bytes += static_cast<double>(file->size);
        } else {
          values += static_cast<double>(counts.Values());
          value_bytes += static_cast<double>(file->size);
        }
      }
    }
    double freed = 0;
    if (values > 0) {
      const double hits = std::min(values, deletions * ShareOfLevel(plan, values));
      freed += hits * value_bytes / values;
    }
    if (plan.bottommost) freed += own_bytes;
    return freed * 2 >= cost;
  }

 private:
  // Returns the chance that an entry which a tombstone deletes is in the inputs and not deeper: the
  // inputs' share of all values in the plan's range.
  double ShareOfLevel(const CompactionPlan& plan, double values) const {
    if (plan.bottommost) return 1;
    double deeper = 0;
    for (int level = plan.output_level + 1; level < version_.num_levels(); level++) {
      const KeyRange range = RangeOf(*version_.icmp(), plan);
      const LevelFiles& files = version_.level(level);
      const FileSpan span =
          OverlappingSpan(files, *version_.icmp(), &range.smallest, &range.largest);
      for (size_t i = span.first; i < span.last; i++) {
        deeper += static_cast<double>(files[i]->counts().Values());
      }
    }
    return values / (values + deeper);
  }

  const Version& version_;
};

class Picker {
 public:
  Picker(const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
         const std::vector<const CompactionPlan*>& running)
      : version_ref_(version),
        version_(*version),
        icmp_(*version->icmp()),
        shape_(shape),
        options_(options),
        builder_(version, shape, options, running) {}

  // The most pressing work comes first: files that can be dropped unread, full levels in the order
  // that the shape gives, and then what only improves the tree. A level whose files are in use
  // gives way to the next.
  std::unique_ptr<CompactionPlan> Pick() {
    if (auto plan = PickCovered(version_ref_, shape_.due.covered)) return plan;
    for (const int level : shape_.full_levels) {
      std::unique_ptr<CompactionPlan> plan = level == 0 ? PickFromL0() : PickFromLevel(level);
      if (plan == nullptr) continue;
      plan->score = shape_.scores[static_cast<size_t>(level)];
      return plan;
    }
    if (auto plan = PickSurplus(version_ref_, builder_, CompactionReason::kLevelMaxLevelSize)) {
      return plan;
    }
    if (auto plan = PickSinking()) return plan;
    if (auto plan = PickMarked()) return plan;
    if (auto plan = PickDue()) return plan;
    return PickBlobGarbage();
  }

 private:
  // Down from L0 there are three ways, the cheapest first: a move, a merge with the base level,
  // and, while both are barred, a merge of the newest files within L0, which at least keeps reads
  // cheap and writers from being stalled.
  std::unique_ptr<CompactionPlan> PickFromL0() {
    const LevelFiles& files = version_.level(0);
    const bool busy = AnyBeingCompacted(files, {0, files.size()});
    // Only one compaction out of L0 runs at a time: two would have to agree on which files are
    // older.
    if (!busy && shape_.base_level > 0) {
      if (auto plan = PickL0Move()) return plan;
      if (auto plan = PickL0Cluster(CompactionReason::kLevelL0FilesNum)) return plan;
    }
    return PickWithinL0();
  }

  // Picks the oldest files that overlap neither each other nor the base level: they are moved down
  // unchanged. Newer files may overlap them. Returns null if they must be rewritten: tables of the
  // base level may lie between them, and an output must not reach over these.
  std::unique_ptr<CompactionPlan> PickL0Move() {
    const LevelFiles& files = version_.level(0);
    if (!builder_.SameCompression(0, shape_.base_level)) return nullptr;
    std::vector<FileRef> moved;
    for (size_t i = files.size(); i-- > 0;) {
      const KeyRange own = RangeOf(icmp_, *files[i]);
      const bool disjoint = std::none_of(moved.begin(), moved.end(), [&](const FileRef& file) {
        return own.Overlaps(icmp_, RangeOf(icmp_, *file));
      });
      // The walk goes from the oldest file to newer ones, and ends at the first that must stay: a
      // newer file must not pass an older one on the way down.
      if (!disjoint || !builder_.CanMoveInto(own, shape_.base_level)) break;
      moved.push_back(files.files()[i]);
    }
    if (moved.empty()) return nullptr;
    std::reverse(moved.begin(), moved.end());
    PlanInputs inputs;
    inputs.levels.push_back({0, std::move(moved)});
    inputs.output_level = shape_.base_level;
    inputs.reason = CompactionReason::kLevelL0FilesNum;
    auto plan = builder_.Build(std::move(inputs));
    if (!builder_.LetsMove(*plan)) return nullptr;
    plan->trivial_move = true;
    return plan;
  }

  // Picks the cluster of the oldest file that can be compacted now. Clusters do not overlap.
  std::unique_ptr<CompactionPlan> PickL0Cluster(CompactionReason reason) {
    const LevelFiles& files = version_.level(0);
    std::vector<bool> tried(files.size(), false);
    for (size_t seed = files.size(); seed-- > 0;) {
      // The cluster of this file was found, and refused, from another one.
      if (tried[seed]) continue;
      std::vector<bool> chosen(files.size(), false);
      chosen[seed] = true;
      GrowL0Cluster(files, icmp_, &chosen);
      for (size_t i = 0; i < files.size(); i++) tried[i] = tried[i] || chosen[i];
      if (auto plan = builder_.FromL0(chosen, shape_.base_level, reason)) return plan;
    }
    return nullptr;
  }

  // Merges the newest files while L0 cannot be compacted down, so that there are fewer files to
  // read meanwhile. Takes so many that their total is at least twice the largest of them, as in the
  // logarithmic method (Bentley and Saxe, 1980): a byte is rewritten within L0 only if the size of
  // its file at least doubles. Does nothing if there are hardly more files than a compaction needs,
  // as the way down may be free before this ends.
  std::unique_ptr<CompactionPlan> PickWithinL0() {
    const LevelFiles& files = version_.level(0);
    const int trigger = std::max(options_.level0_file_num_compaction_trigger, 1);
    if (files.size() < static_cast<size_t>(trigger) + kSpareWithinL0) return nullptr;
    uint64_t bytes = 0;
    uint64_t largest = 0;
    size_t count = 0;
    for (size_t i = 0; i < files.size() && !files[i]->notes.being_compacted; i++) {
      bytes += files[i]->size;
      largest = std::max(largest, files[i]->size);
      if (i > 0 && bytes > builder_.max_compaction_bytes()) break;
      if (bytes - largest >= largest) count = i + 1;
    }
    if (count < kFewestWithinL0) return nullptr;
    PlanInputs inputs;
    inputs.levels.push_back({0, FilesOf(files, {0, count})});
    inputs.output_level = 0;
    inputs.reason = CompactionReason::kLevelL0FilesNum;
    return builder_.Build(std::move(inputs));
  }

  // Picks the best candidate of a full level that can be compacted into the next one now.
  std::unique_ptr<CompactionPlan> PickFromLevel(int level) {
    if (level + 1 >= version_.usable_levels()) return nullptr;
    for (const size_t index : OrderCandidates(version_, level, options_.compaction_pri)) {
      if (version_.level(level)[index]->notes.being_compacted) continue;
      // FromLevel says no if a neighbour that must come along, or a file beneath, is busy; then
      // the next candidate in order is tried, so that several compactions of one level run at a
      // time.
      auto plan = builder_.FromLevel(level, {index, index + 1}, level + 1,
                                     CompactionReason::kLevelMaxLevelSize);
      if (plan == nullptr) continue;
      if (!plan->trivial_move) builder_.GrowStartLevel(plan.get());
      // With a partitioner a move is not extended: it would have to be asked about each further
      // file.
      const bool extends = plan->trivial_move && options_.sst_partitioner_factory == nullptr;
      if (extends) ExtendMove(level, plan.get());
      return plan;
    }
    return nullptr;
  }

  // Moves are nearly free: adds the following files until the level has its target size.
  void ExtendMove(int level, CompactionPlan* plan) {
    const LevelFiles& files = version_.level(level);
    const uint64_t target = shape_.target_bytes[static_cast<size_t>(level)];
    const uint64_t excess = files.bytes() > target ? files.bytes() - target : 0;
    std::vector<FileRef>& moved = plan->inputs.front().files;
    const auto at = std::find(files.files().begin(), files.files().end(), moved.back());
    uint64_t bytes = plan->InputBytes();
    for (auto i = static_cast<size_t>(at - files.files().begin()) + 1; i < files.size(); i++) {
      FileSpan next{i, i + 1};
      GrowToCleanCut(files, icmp_, &next);
      // A file that shares its border key with a neighbour would have to take that along.
      const bool clean = next.first == i && next.last == i + 1;
      bytes += files[i]->size;
      if (!clean || files[i]->notes.being_compacted || bytes > excess ||
          bytes > builder_.max_compaction_bytes() || files[i]->path_id != plan->output.path_id ||
          !builder_.CanMoveInto(RangeOf(icmp_, *files[i]), level + 1)) {
        break;
      }
      moved.push_back(files.files()[i]);
    }
    builder_.Complete(plan);
  }

  // Picks marked files of L0 and of levels with data beneath: elsewhere a file would be rewritten
  // for nothing.
  std::unique_ptr<CompactionPlan> PickMarked() {
    const LevelFiles& l0 = version_.level(0);
    for (size_t i = 0; i < l0.size(); i++) {
      if (!l0[i]->notes.marked_for_compaction) continue;
      auto plan = FromL0ClusterOf(i, CompactionReason::kFilesMarkedForCompaction);
      if (plan == nullptr) continue;
      plan->trivial_move = false;  // a move would not do what the file was marked for
      return plan;
    }
    const int levels = std::min(version_.non_empty_levels(), version_.usable_levels());
    for (int level = 1; level + 1 < levels; level++) {
      const LevelFiles& files = version_.level(level);
      for (size_t i = 0; i < files.size(); i++) {
        if (!files[i]->notes.marked_for_compaction || files[i]->notes.being_compacted) continue;
        auto plan = builder_.FromLevel(level, {i, i + 1}, level + 1,
                                       CompactionReason::kFilesMarkedForCompaction);
        if (plan == nullptr) continue;
        plan->trivial_move = false;
        return plan;
      }
    }
    return nullptr;
  }

  // Picks a cluster of L0 if L0 hides too much garbage in blob files; that may be a move, if
  // nothing lies beneath. Else picks tables that refer to a victim (db/version/blob_victims.h), and
  // rewrites them in their level, as many neighbours as possible at once, so that the victim's
  // values come together in one new file.
  std::unique_ptr<CompactionPlan> PickBlobGarbage() {
    const LevelFiles& l0 = version_.level(0);
    if (shape_.due.l0_hides_blob_garbage && shape_.base_level > 0 &&
        !AnyBeingCompacted(l0, {0, l0.size()})) {
      if (auto plan = PickL0Cluster(CompactionReason::kForcedBlobGC)) return plan;
    }
    const std::vector<DueFile>& tables = shape_.due.blob_tables;
    for (size_t i = 0; i < tables.size(); i++) {
      if (tables[i].index >= version_.level(tables[i].level).size()) continue;
      if (tables[i].level == 0) {
        auto plan = FromL0ClusterOf(tables[i].index, tables[i].reason);
        if (plan == nullptr) continue;
        plan->trivial_move = false;  // it would leave the victim as it is
        return plan;
      }
      if (auto plan = RewriteFrom(tables, i)) return plan;
    }
    return nullptr;
  }

  // Rewrites the due table at `first`, and those that follow in its level, with the tables in
  // between as long as these are smaller.
  std::unique_ptr<CompactionPlan> RewriteFrom(const std::vector<DueFile>& tables,
                                              size_t first) const {
    const DueFile& due = tables[first];
    const LevelFiles& files = version_.level(due.level);
    FileSpan span{due.index, due.index + 1};
    for (size_t i = first + 1; i < tables.size() && tables[i].level == due.level; i++) {
      const FileSpan longer{due.index, tables[i].index + 1};
      if (longer.last > files.size() || AnyBeingCompacted(files, longer)) break;
      if (BytesOf(files, longer) > builder_.max_compaction_bytes()) break;
      if (BytesOf(files, {span.last, tables[i].index}) > files[tables[i].index]->size) break;
      span = longer;
    }
    if (auto plan = builder_.FromLevel(due.level, span, due.level, due.reason)) return plan;
    return builder_.FromLevel(due.level, {due.index, due.index + 1}, due.level, due.reason);
  }

  // Picks tombstones if what they free is worth the bytes to be rewritten.
  std::unique_ptr<CompactionPlan> PickSinking() {
    if (shape_.due.sinking.empty()) return nullptr;
    const SinkingGain gain(version_);
    for (const DueFile& due : shape_.due.sinking) {
      auto plan = due.level == 0 ? FromL0ClusterOf(due.index, due.reason)
                                 : builder_.FromLevel(due.level, {due.index, due.index + 1},
                                                      due.level + 1, due.reason);
      if (plan == nullptr) continue;
      // If there is no data beneath, a move would achieve nothing.
      if (plan->bottommost) plan->trivial_move = false;
      if (plan->trivial_move || gain.Worth(*plan)) return plan;
    }
    return nullptr;
  }

  // Picks the first due file that can be compacted now. Files are named by their indexes in the
  // tree that was measured; an index that this version lacks is passed over.
  std::unique_ptr<CompactionPlan> PickDue() {
    for (const DueFile& due : shape_.due.files) {
      if (due.index >= version_.level(due.level).size()) continue;
      auto plan = PlanOfDue(due);
      if (plan != nullptr) return plan;
    }
    return nullptr;
  }

  // Plans the compaction of a due file. Below L0, a file due by ttl goes down a level, and others
  // are rewritten where they are. An L0 file goes down with its cluster, and is rewritten, not
  // moved, unless it is due by ttl.
  std::unique_ptr<CompactionPlan> PlanOfDue(const DueFile& due) const {
    if (due.level == 0) {
      auto plan = FromL0ClusterOf(due.index, due.reason);
      if (plan != nullptr && due.reason != CompactionReason::kTtl) plan->trivial_move = false;
      return plan;
    }
    const int output_level = due.reason == CompactionReason::kTtl ? due.level + 1 : due.level;
    return builder_.FromLevel(due.level, {due.index, due.index + 1}, output_level, due.reason);
  }

  // Plans the way down of an L0 file with its cluster. Returns null if there is no base level or
  // any file of L0 is being compacted (invariant 2).
  std::unique_ptr<CompactionPlan> FromL0ClusterOf(size_t index, CompactionReason reason) const {
    const LevelFiles& files = version_.level(0);
    if (shape_.base_level <= 0 || AnyBeingCompacted(files, {0, files.size()})) return nullptr;
    std::vector<bool> chosen(files.size(), false);
    chosen[index] = true;
    GrowL0Cluster(files, icmp_, &chosen);
    return builder_.FromL0(chosen, shape_.base_level, reason);
  }

  const VersionRef version_ref_;
  const Version& version_;
  const InternalKeyComparator& icmp_;
  const LevelShape& shape_;
  const ColumnFamilyOptions& options_;
  PlanBuilder builder_;
};

}  // namespace

// Repeats the conditions of Pick's rules without planning. It may say yes while all files that Pick
// would take are busy; then Pick returns null.
bool LeveledPicker::NeedsCompaction(const VersionRef& ref, const LevelShape& shape,
                                    const ColumnFamilyOptions& /*options*/,
                                    const std::vector<const CompactionPlan*>& /*running*/) const {
  const Version& version = *ref;
  if (!shape.full_levels.empty() || version.surplus_levels() > 0) return true;
  const DueFiles& due = shape.due;
  if (due.l0_hides_blob_garbage || !due.blob_tables.empty()) return true;
  if (!due.files.empty() || !due.sinking.empty() || !due.covered.empty() || !due.unopened.empty()) {
    return true;
  }
  const int levels = std::min(version.non_empty_levels(), version.usable_levels());
  for (int level = 0; level == 0 || level + 1 < levels; level++) {
    if (level >= version.num_levels()) break;
    for (const FileRef& file : version.level(level).files()) {
      if (file->notes.marked_for_compaction && !file->notes.being_compacted) return true;
    }
  }
  return false;
}

std::unique_ptr<CompactionPlan> LeveledPicker::Pick(
    const VersionRef& version, const LevelShape& shape, const ColumnFamilyOptions& options,
    const std::vector<const CompactionPlan*>& running) const {
  VARVE_ASSERT(shape.scores.size() == static_cast<size_t>(version->num_levels()));
  return Picker(version, shape, options, running).Pick();
}

}  // namespace varve
