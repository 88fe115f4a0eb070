// SPDX-License-Identifier: Apache-2.0
#pragma once

// Settings of the universal (tiered) compaction style. Opening with that style is refused; the
// struct exists so that stored options can be read and checked.

#include <climits>

namespace varve {

enum CompactionStopStyle {
  kCompactionStopStyleSimilarSize,  // Stop if the next run's size differs too much.
  kCompactionStopStyleTotalSize,    // Stop if the next run exceeds the picked total.
};

// Advisory: settings of universal compaction, a style that is refused at open.
class CompactionOptionsUniversal {
 public:
  // Percent by which the next run may exceed the picked ones. Default: 1.
  unsigned int size_ratio = 1;

  // Minimum and maximum number of runs merged at once. Defaults: 2, unlimited.
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;

  // Percent of extra space allowed relative to the oldest run. Default: 200.
  unsigned int max_size_amplification_percent = 200;

  // Percent of the data, oldest first, that is compressed; negative: all. Default: -1.
  int compression_size_percent = -1;

  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;

  // Moves instead of rewriting if inputs do not overlap. Default: false.
  bool allow_trivial_move = false;

  // Merges in slices of the key space. Default: false.
  bool incremental = false;
};

}  // namespace varve
