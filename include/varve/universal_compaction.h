// SPDX-License-Identifier: Apache-2.0
#pragma once

// Settings of the universal (tiered) compaction style. That style is refused at open; the struct
// exists so that stored options can be read and checked.

#include <climits>

namespace varve {

enum CompactionStopStyle {
  kCompactionStopStyleSimilarSize,  // Stop when the next run differs too much in size.
  kCompactionStopStyleTotalSize,    // Stop when the next run outweighs all that was picked.
};

// Advisory: settings of universal compaction, a style that is refused at open.
class CompactionOptionsUniversal {
 public:
  // Percent by which the next run may exceed the picked ones. Default: 1.
  unsigned int size_ratio = 1;

  // Fewest and most runs merged at once. Defaults: 2, unlimited.
  unsigned int min_merge_width = 2;
  unsigned int max_merge_width = UINT_MAX;

  // Percent of extra space allowed over the oldest run. Default: 200.
  unsigned int max_size_amplification_percent = 200;

  // Percent of data, oldest first, that is compressed; negative: all. Default: -1.
  int compression_size_percent = -1;

  CompactionStopStyle stop_style = kCompactionStopStyleTotalSize;

  // Move instead of rewrite when inputs do not overlap. Default: false.
  bool allow_trivial_move = false;

  // Merge in slices of the key space. Default: false.
  bool incremental = false;
};

}  // namespace varve
