// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order of the mutexes of db/: a thread that holds one takes only such as stand below it here,
// whose ranks are larger. Debug builds check that. The mutexes of table/, memtable/ and util/ come
// after all of these. A mutex that is held over I/O mostly has no rank, because a user's file
// system may call the database while it is held. Transactions have a lock_ranks.h of their own.

#include "util/sync/mutex.h"

namespace varve::lock_ranks {

// Taken before the DB mutex.
inline constexpr MutexRank kSpaceReserve = kDbRanks + 10;  // held over I/O
inline constexpr MutexRank kCommitGate = kDbRanks + 20;
inline constexpr MutexRank kInsertOne = kDbRanks + 30;  // held over a whole insertion

inline constexpr MutexRank kDbMutex = kDbRanks + 100;

// Leaves: taken under the DB mutex or without it.
inline constexpr MutexRank kOpenCalls = kDbRanks + 200;
inline constexpr MutexRank kScrubber = kDbRanks + 210;
inline constexpr MutexRank kStatisticsHistory = kDbRanks + 220;
inline constexpr MutexRank kStagedIngestions = kDbRanks + 230;
// Ranks of wal, version, column_family and read.
inline constexpr MutexRank kFamilySet = kDbRanks + 300;
inline constexpr MutexRank kFamilyOptions = kDbRanks + 310;
inline constexpr MutexRank kIngestedRanges = kDbRanks + 315;  // held over users' comparators
inline constexpr MutexRank kSnapshots = kDbRanks + 320;
inline constexpr MutexRank kTombstoneRuns = kDbRanks + 330;  // held over users' comparators
inline constexpr MutexRank kPreparedTransactions = kDbRanks + 340;
inline constexpr MutexRank kChangePositions = kDbRanks + 345;
inline constexpr MutexRank kLogSet = kDbRanks + 350;
inline constexpr MutexRank kBufferedLog = kDbRanks + 360;
inline constexpr MutexRank kMappedLog = kDbRanks + 370;
inline constexpr MutexRank kLogSegments = kDbRanks + 380;  // held while a piece is mapped
// Taken when the last reference to a table's metadata is dropped, which may happen under any mutex
// except those of util/.
inline constexpr MutexRank kObsoleteFiles = kUtilRanks - 1;

}  // namespace varve::lock_ranks
