// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the order of memtable's locks: a thread takes them from the top down.

#include "util/sync/mutex.h"

namespace varve {

inline constexpr MutexRank kRangeDeletesRank = kMemtableRanks + 10;
inline constexpr MutexRank kOperandCacheRank = kMemtableRanks + 20;
inline constexpr MutexRank kPointIndexRank = kMemtableRanks + 30;
inline constexpr MutexRank kVectorSortRank = kMemtableRanks + 40;
inline constexpr MutexRank kVectorBlocksRank = kMemtableRanks + 50;
// A new root is a node, nodes come from slabs, and slabs from the arena.
inline constexpr MutexRank kListRootRank = kMemtableRanks + 60;
inline constexpr MutexRank kNodeSlabRank = kMemtableRanks + 70;
inline constexpr MutexRank kEntryArenaRank = kMemtableRanks + 80;

}  // namespace varve
