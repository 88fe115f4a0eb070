// SPDX-License-Identifier: Apache-2.0
#pragma once

// What one compaction is to do, as plain data: chosen by a picker, carried out by CompactionJob.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/listener.h"
#include "varve/options.h"

#include "db/version/version.h"

namespace varve {

struct CompactionInputLevel {
  int level = 0;
  std::vector<FileRef> files;  // L0: newest first; deeper: ascending
};

// What the files look like that a compaction writes.
struct OutputShape {
  uint32_t path_id = 0;  // of the directories of the family's tables
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  uint64_t target_file_bytes = 64 << 20;
  uint64_t max_grandparent_overlap_bytes = UINT64_MAX;
  std::vector<FileRef> grandparents;  // the level after theirs, as far as it overlaps the inputs
};

struct CompactionPlan {
  // Start level first; output level last if it takes part.
  std::vector<CompactionInputLevel> inputs;
  int start_level = 0;
  int output_level = 1;
  CompactionReason reason = CompactionReason::kUnknown;
  double score = 0;
  bool is_manual = false;
  // All inputs can be given to the output level by an edit alone.
  bool trivial_move = false;
  // No deeper level holds anything in the key range: tombstones may go, sequences may become zero.
  bool bottommost = false;
  // Delete the input files without reading them (manual deletion of whole files).
  bool deletion_only = false;
  OutputShape output;
  uint32_t max_subcompactions = 1;
  VersionRef version;  // of the pick: keeps the inputs, and answers "does anything deeper overlap"

  uint64_t InputBytes() const;
  // Whether every table of the version takes part. False if there is no version.
  bool TakesAll() const;
  std::string DebugString() const;
};

}  // namespace varve
