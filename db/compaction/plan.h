// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes one compaction as plain data: chosen by a picker, executed by CompactionJob.

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

// Describes the files that a compaction writes.
struct OutputShape {
  uint32_t path_id = 0;  // index into the directories of the family's tables
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  uint64_t target_file_bytes = 64 << 20;
  uint64_t max_grandparent_overlap_bytes = UINT64_MAX;
  std::vector<FileRef> grandparents;  // files of the next level that overlap the inputs
};

struct CompactionPlan {
  // The start level comes first; the output level, if it takes part, last.
  std::vector<CompactionInputLevel> inputs;
  int start_level = 0;
  int output_level = 1;
  CompactionReason reason = CompactionReason::kUnknown;
  double score = 0;
  bool is_manual = false;
  // True: all inputs can be moved to the output level by an edit alone.
  bool trivial_move = false;
  // True: no deeper level overlaps the key range, so tombstones may be dropped and sequence numbers
  // zeroed.
  bool bottommost = false;
  // True: the input files are deleted without being read (manual deletion of whole files).
  bool deletion_only = false;
  OutputShape output;
  uint32_t max_subcompactions = 1;
  VersionRef version;  // the pick's version: keeps the inputs, and is asked for deeper overlaps

  uint64_t InputBytes() const;
  // True if every table of the version is an input. False if there is no version.
  bool TakesAll() const;
  std::string DebugString() const;
};

}  // namespace varve
