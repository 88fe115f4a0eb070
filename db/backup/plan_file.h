// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the bytes of the file PLAN; FORMAT.md describes them. They are hostile input.

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
  std::string catalog_bytes;  // What meta says.
  // The files of meta that the plan's directory has, by index, ascending.
  std::vector<size_t> brought;
};

// `contents.catalog_bytes` is set already.
std::string EncodePlan(const PlanContents& contents);

// `name` is for messages. Corruption: no such file, or one that names what a plan cannot have.
// NotSupported: of a later version.
Status DecodePlan(const Slice& text, const std::string& name, PlanContents* contents);

}  // namespace varve
