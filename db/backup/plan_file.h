// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes and decodes the file PLAN of a copy plan (make_plan.h), which lists what the plan's
// directory has, and holds the backup's catalog; FORMAT.md has its format. Its bytes are not
// trusted.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/backup/backup_meta.h"

namespace varve {

inline constexpr char kPlanFileName[] = "PLAN";

struct PlanContents {
  BackupMeta meta;            // Every file has a size and a checksum.
  std::string catalog_bytes;  // Encoded form of meta.
  // Indexes of those files of meta that the plan's directory has, ascending.
  std::vector<size_t> brought;
};

// Encodes the plan. Requires that all members are set.
std::string EncodePlan(const PlanContents& contents);

// Sets all members of *contents; after an error they are unspecified. `name` is for messages.
// Corruption: the text is not a plan, is damaged, or names a file that a plan cannot have.
// NotSupported: it has a later version.
Status DecodePlan(const Slice& text, const std::string& name, PlanContents* contents);

}  // namespace varve
