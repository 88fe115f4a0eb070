// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the ranks of this directory's mutexes, outermost first. The first is below all ranks of the
// database (db/lock_ranks.h), so that mutex may be held while the database is called. The others
// are above the rank of the DB mutex, so these may not.

#include "util/sync/mutex.h"

namespace varve {

inline constexpr MutexRank kTimestampedSnapshotsRank = kDbRanks + 1;

inline constexpr MutexRank kTransactionNamesRank = kDbRanks + 900;
inline constexpr MutexRank kDeadlockSearchRank = kDbRanks + 901;
inline constexpr MutexRank kLockRangesRank = kDbRanks + 902;
inline constexpr MutexRank kLockWaitsRank = kDbRanks + 903;
inline constexpr MutexRank kLockLimitRank = kDbRanks + 904;
inline constexpr MutexRank kLastWaitRank = kDbRanks + 905;
inline constexpr MutexRank kDeadlockHistoryRank = kDbRanks + 906;
inline constexpr MutexRank kLockSleepersRank = kDbRanks + 907;

}  // namespace varve
