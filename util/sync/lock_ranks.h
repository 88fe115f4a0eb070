// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the order of util's mutexes: a thread that holds one takes only mutexes listed below it
// here. The parts of the heap on huge pages have no rank; they are leaves and all held over a
// fork().

#include "util/sync/mutex.h"

namespace varve::lock_ranks {

// These are held while an interface is called that a higher layer implements.
inline constexpr MutexRank kMemoryUsers = 100;                   // taken before databases' own
                                                                 // mutexes
inline constexpr MutexRank kCacheEntryStats = kTableRanks - 20;  // taken before a walk of a cache
inline constexpr MutexRank kCacheCharge = kTableRanks - 10;      // taken before insertions into a
                                                                 // cache

inline constexpr MutexRank kRateLimiter = kUtilRanks + 20;  // taken before the clock and statistics
inline constexpr MutexRank kThreadPool = kUtilRanks + 30;
inline constexpr MutexRank kStartedThreads = kUtilRanks + 31;
inline constexpr MutexRank kMemoryWaiters = kUtilRanks + 32;
inline constexpr MutexRank kTableSpace = kUtilRanks + 33;

// Mutexes of file systems.
inline constexpr MutexRank kMemFileSystem = kUtilRanks + 41;
inline constexpr MutexRank kMemFile = kUtilRanks + 42;
inline constexpr MutexRank kPosixLocks = kUtilRanks + 43;
inline constexpr MutexRank kIoRings = kUtilRanks + 44;

// Mutexes that every thread may take at any time.
inline constexpr MutexRank kSharedTimer = kUtilRanks + 80;
inline constexpr MutexRank kGiveWay = kUtilRanks + 81;
inline constexpr MutexRank kStatistics = kUtilRanks + 82;
inline constexpr MutexRank kThreadSlots = kUtilRanks + 83;
inline constexpr MutexRank kThreadRegistry = kUtilRanks + 84;
inline constexpr MutexRank kIdleThreads = kUtilRanks + 85;

}  // namespace varve::lock_ranks
