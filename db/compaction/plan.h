// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes one compaction as plain data: chosen by a picker, executed by RunCompaction
// (compaction_job.h).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/listener.h"
#include "varve/options.h"

#include "db/version/version.h"

namespace varve {

// The inputs of a compaction on one level.
struct CompactionInputLevel {
  int level = 0;
  std::vector<FileRef> files;  // L0: newest first; deeper: ascending
};

// Describes the files that a compaction writes.
struct OutputShape {
  uint32_t path_id = 0;  // index into the directories of the family's tables
  CompressionType compression = kNoCompression;
  CompressionOptions compression_opts;
  Temperature temperature = Temperature::kUnknown;
  uint64_t target_file_bytes = 64 << 20;
  uint64_t max_grandparent_overlap_bytes = UINT64_MAX;
  // A file with this many bytes ends where a grandparent does. 0: three quarters of the target.
  uint64_t border_file_bytes = 0;
  // Files of the level after the output's that overlap the inputs; or other files at whose ends
  // outputs should end, too (OutputSplitter). Ascending.
  std::vector<FileRef> grandparents;
};

// Says which values of old blob files a manual compaction writes anew (CompactRangeOptions).
struct BlobGarbageChoice {
  BlobGarbageCollectionPolicy policy = BlobGarbageCollectionPolicy::kUseDefault;
  double age_cutoff = -1;

  [[nodiscard]] bool Collects(const ColumnFamilyOptions& options) const {
    return policy == BlobGarbageCollectionPolicy::kForce ||
           (policy == BlobGarbageCollectionPolicy::kUseDefault &&
            options.enable_blob_garbage_collection);
  }
  [[nodiscard]] double AgeCutoff(const ColumnFamilyOptions& options) const {
    const bool own = age_cutoff >= 0 && age_cutoff <= 1;
    return own ? age_cutoff : options.blob_garbage_collection_age_cutoff;
  }
};

// One compaction that is to be done. While the plan is under way its inputs are marked
// (`being_compacted`), and the family lists it in running_compactions.
struct CompactionPlan {
  // Levels from the start level on, ascending, of any number; the output level, if it takes part,
  // is the last, unless tables of deeper levels come up (surplus_levels.h).
  std::vector<CompactionInputLevel> inputs;
  int start_level = 0;
  int output_level = 1;
  CompactionReason reason = CompactionReason::kUnknown;
  double score = 0;  // of the full level that the plan relieves (LevelShape::scores); else 0
  bool is_manual = false;
  // True: all inputs can be moved to the output level by an edit alone.
  bool trivial_move = false;
  // True: no deeper level overlaps the key range, so tombstones may be dropped and sequence numbers
  // zeroed.
  bool bottommost = false;
  // True: the input files are deleted without being read (manual deletion of whole files).
  bool deletion_only = false;
  // Blob files whose values an automatic compaction writes anew, by ascending number.
  std::vector<uint64_t> blob_victims;
  // The call of a manual compaction may say which garbage in blob files is collected.
  BlobGarbageChoice blob_garbage;
  OutputShape output;
  uint32_t max_subcompactions = 1;  // 0: as many as DBOptions::max_subcompactions allows
  VersionRef version;  // the pick's version: keeps the inputs, and is asked for deeper overlaps

  uint64_t InputBytes() const;
  // True if the files of one level below L0 are rewritten where they are.
  bool IsInPlace() const;
  // True if every table of the version is an input. False if there is no version.
  bool TakesAll() const;
  std::string DebugString() const;
};

}  // namespace varve
