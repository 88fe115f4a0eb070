// SPDX-License-Identifier: Apache-2.0

// Plans of whole files, which an edit alone carries out: no entry is read. Each rule here therefore
// has to prove from bounds and sequence numbers that nobody needs the entries, or that they may lie
// elsewhere.

#include "db/compaction/whole_files.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "db/version/file_bounds.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

Status CannotPromote(const std::string& why) {
  return Status::InvalidArgument("PromoteL0", why);
}

// Sorts the files by key. Returns InvalidArgument, naming two that overlap.
Status SortDisjoint(const InternalKeyComparator& icmp, std::vector<FileRef>* files) {
  std::ranges::sort(*files, [&icmp](const FileRef& a, const FileRef& b) {
    return icmp.Compare(a->smallest.Encode(), b->smallest.Encode()) < 0;
  });
  for (size_t i = 1; i < files->size(); ++i) {
    const FileMetaData& before = *(*files)[i - 1];
    const FileMetaData& file = *(*files)[i];
    const int order = icmp.CompareKey(icmp.KeyOf(before.largest), icmp.KeyOf(file.smallest));
    if (order < 0 || (order == 0 && LargestIsExclusive(before))) continue;
    return CannotPromote("tables " + before.FileName() + " and " + file.FileName() +
                         " of L0 overlap; compact them instead");
  }
  return Status::OK();
}

// True if every entry and tombstone of the file lies in the range.
bool LiesIn(const FileMetaData& file, const DeletedRange& range,
            const InternalKeyComparator& icmp) {
  if (icmp.CompareKey(icmp.KeyOf(file.smallest), range.start) < 0) return false;
  const int order = icmp.CompareKey(icmp.KeyOf(file.largest), range.limit);
  return order < 0 || (order == 0 && (range.limit_included || LargestIsExclusive(file)));
}

}  // namespace

// Files of L0 that do not overlap may lie in any level in the order of keys. The levels down to the
// target must be empty, so that the files pass nothing that is older.
Status PickPromotion(const VersionRef& version, int target_level,
                     std::unique_ptr<CompactionPlan>* plan) {
  plan->reset();
  if (target_level < 1 || target_level >= version->usable_levels()) {
    return CannotPromote("level " + std::to_string(target_level) + " is none of 1 to " +
                         std::to_string(version->usable_levels() - 1));
  }
  std::vector<FileRef> files = version->level(0).files();
  for (const FileRef& file : files) {
    if (!file->notes.being_compacted) continue;
    return CannotPromote("table " + file->FileName() + " of L0 is being compacted");
  }
  VARVE_RETURN_IF_ERROR(SortDisjoint(*version->icmp(), &files));
  for (int level = 1; level <= target_level; ++level) {
    if (version->level(level).empty()) continue;
    return CannotPromote("level " + std::to_string(level) +
                         " has tables: those up to the target, " + std::to_string(target_level) +
                         ", must be empty");
  }
  if (files.empty()) return Status::OK();
  auto move = std::make_unique<CompactionPlan>();
  move->inputs.push_back({0, std::move(files)});
  move->output_level = target_level;
  move->reason = CompactionReason::kManualCompaction;
  move->is_manual = true;
  move->trivial_move = true;
  move->version = version;
  *plan = std::move(move);
  return Status::OK();
}

// A file that stays may have older entries of a key than a file that goes; the newer deletion,
// which is durable, covers both.
std::unique_ptr<CompactionPlan> PickDeleted(const VersionRef& version, const DeletedRange& range) {
  auto plan = std::make_unique<CompactionPlan>();
  plan->version = version;
  plan->is_manual = true;
  plan->deletion_only = true;
  plan->reason = CompactionReason::kManualCompaction;
  for (int level = 0; level < version->non_empty_levels(); ++level) {
    CompactionInputLevel input;
    input.level = level;
    for (const FileRef& file : version->level(level).files()) {
      if (file->notes.being_compacted || file->largest_seq > range.up_to) continue;
      if (LiesIn(*file, range, *version->icmp())) input.files.push_back(file);
    }
    if (input.files.empty()) continue;
    if (plan->inputs.empty()) plan->start_level = level;
    plan->output_level = level;
    plan->inputs.push_back(std::move(input));
  }
  return plan->inputs.empty() ? nullptr : std::move(plan);
}

// Due files are named by level and index in the version that was measured. A measurement may be
// older than this version only if the result is used to tell whether there is a plan
// (NeedsCompaction).
std::unique_ptr<CompactionPlan> PickDropped(const VersionRef& version,
                                            const std::vector<DueFile>& files) {
  std::vector<std::vector<size_t>> by_level(static_cast<size_t>(version->num_levels()));
  for (const DueFile& file : files) {
    const LevelFiles& level = version->level(file.level);
    if (file.index >= level.size() || level[file.index]->notes.being_compacted) continue;
    by_level[static_cast<size_t>(file.level)].push_back(file.index);
  }
  auto plan = std::make_unique<CompactionPlan>();
  plan->version = version;
  plan->deletion_only = true;
  if (!files.empty()) plan->reason = files.front().reason;
  for (int level = 0; level < version->num_levels(); ++level) {
    std::vector<size_t>& indexes = by_level[static_cast<size_t>(level)];
    if (indexes.empty()) continue;
    std::ranges::sort(indexes);
    if (plan->inputs.empty()) plan->start_level = level;
    plan->output_level = level;
    CompactionInputLevel& input = plan->inputs.emplace_back();
    input.level = level;
    for (const size_t index : indexes) input.files.push_back(version->level(level).files()[index]);
  }
  if (plan->inputs.empty()) return nullptr;
  return plan;
}

std::unique_ptr<CompactionPlan> PickCovered(const VersionRef& version,
                                            const std::vector<CoveredFile>& covered) {
  std::vector<DueFile> files;
  for (const CoveredFile& file : covered) {
    files.push_back({file.level, file.index, CompactionReason::kFilesMarkedForCompaction});
  }
  return PickDropped(version, files);
}

}  // namespace varve
