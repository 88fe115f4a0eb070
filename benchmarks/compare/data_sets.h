// SPDX-License-Identifier: Apache-2.0
#pragma once

// The databases that rows begin with. Each library builds each of them once; rows get copies.

#include <string>

#include "benchmarks/compare/engine.h"
#include "benchmarks/compare/row.h"

namespace compare {

// Names of data sets.
inline constexpr char kLevel[] = "level";  // n keys in random order, as the engine leaves them
inline constexpr char kFull[] = "full";    // `level` after a compaction of everything
inline constexpr char kRuns[] = "runs";    // 2n writes of n keys as overlapping runs of 8 MiB
inline constexpr char kLog[] = "log";      // a quarter of n keys, only in the log
inline constexpr char kLarge[] = "large";  // LargeKeys() values of 1,000 bytes, compacted
inline constexpr char kYcsb[] = "ycsb";    // YcsbKeys() values of 1,000 bytes under scattered keys

uint64_t LargeKeys(const Scale& scale);
uint64_t YcsbKeys(const Scale& scale);

// Builds the data set in the folder `path`. Requires that the folder does not exist.
void BuildDataSet(const std::string& name, Engine* engine, const std::string& path,
                  const Scale& scale);

}  // namespace compare
