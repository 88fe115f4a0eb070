// SPDX-License-Identifier: Apache-2.0

// Computes sizes and texts of plans.

#include "db/compaction/plan.h"

namespace varve {

uint64_t CompactionPlan::InputBytes() const {
  uint64_t bytes = 0;
  for (const CompactionInputLevel& level : inputs) {
    for (const FileRef& file : level.files) bytes += file->size;
  }
  return bytes;
}

bool CompactionPlan::IsInPlace() const {
  return output_level > 0 && start_level == output_level && inputs.back().level == output_level;
}

bool CompactionPlan::TakesAll() const {
  if (version == nullptr) return false;
  size_t of_plan = 0;
  for (const CompactionInputLevel& level : inputs) of_plan += level.files.size();
  size_t of_version = 0;
  for (int level = 0; level < version->num_levels(); level++) {
    of_version += version->level(level).size();
  }
  return of_plan == of_version;
}

std::string CompactionPlan::DebugString() const {
  std::string text;
  for (const CompactionInputLevel& level : inputs) {
    text += "L" + std::to_string(level.level) + ":";
    for (const FileRef& file : level.files) text += " " + std::to_string(file->number);
    text += "; ";
  }
  text += "to L" + std::to_string(output_level);
  if (trivial_move) text += ", move";
  if (deletion_only) text += ", delete";
  if (bottommost) text += ", bottommost";
  return text;
}

}  // namespace varve
