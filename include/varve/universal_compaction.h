// SPDX-License-Identifier: Apache-2.0
#pragma once

// Settings of the universal (tiered) compaction style. A run is a table of L0 or all tables of a
// deeper level; runs that are neighbours in age are merged.

#include <climits>

namespace varve {

// Says when a merge that was started for the sizes of runs takes no further run.
enum CompactionStopStyle : int {
  // Stops if the next run's size differs too much from that of the last one taken.
  kCompactionStopStyleSimilarSize,
  // Stops if the next run exceeds the sum of those taken.
  kCompactionStopStyleTotalSize,
};

// Settings of universal compaction, which is considered once there are
// ColumnFamilyOptions::level0_file_num_compaction_trigger runs. DB::SetOptions changes them as one
// option, compaction_options_universal.
class CompactionOptionsUniversal {
 public:
  // Percent by which the next run may exceed the sizes that stop_style selects. Default: 1.
  unsigned int size_ratio = 1;

  // Minimum and maximum number of runs merged at once for their sizes or their number. Less than 2
  // counts as 2. Defaults: 2, unlimited.
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;

  // Percent of extra space allowed: everything is merged once the newer runs have this size
  // relative to the oldest. Default: 200.
  unsigned int max_size_amplification_percent = 200;

  // Percent of the data, oldest first, that is compressed; negative: all. Concerns merges for sizes
  // and for the number of runs. Default: -1.
  int compression_size_percent = -1;

  // Number of runs above which the newest are merged, whatever their sizes. -1:
  // level0_file_num_compaction_trigger; 0: as many as a tree of this size needs by size_ratio. Less
  // than -1, or a positive number below the trigger, is NotSupported. Default: -1.
  int max_read_amp = -1;

  // Selects the sizes that the next run is compared with. Default: the sum of those taken.
  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;

  // Moves instead of rewriting if inputs do not overlap. Default: false.
  bool allow_trivial_move = false;

  // Frees extra space step by step instead of merging everything: a step merges neighbouring tables
  // of the second oldest run, with what they overlap in the oldest one, of together about half of
  // max_compaction_bytes. Everything is merged nevertheless if the second oldest run lies in L0, or
  // if a step would rewrite 1.8 times as much for each byte. Steps are short and need little space
  // beside the data; together they write more. Default: false.
  bool incremental = false;

  // Advisory: a merge locks its inputs only when it runs. Default: true.
  bool reduce_file_locking = true;
};

}  // namespace varve
