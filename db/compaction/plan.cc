// SPDX-License-Identifier: Apache-2.0

// Sizes and text of plans.

#include "db/compaction/plan.h"

namespace varve {

uint64_t CompactionPlan::InputBytes() const {
  uint64_t bytes = 0;
  for (const CompactionInputLevel& level : inputs) {
    for (const FileRef& file : level.files) bytes += file->size;
  }
  return bytes;
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
