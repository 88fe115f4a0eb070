// SPDX-License-Identifier: Apache-2.0
#pragma once

// Bugs that can be planted, one at a time, to see that the tools of proof catch them
// (tests/canaries). Only a build with VARVE_CANARIES has them: the environment's VARVE_CANARY says
// which. In every other build the question is a constant, and nothing of it is left.
//
//   if (VARVE_CANARY(kSkipLogSync)) return IOStatus::OK();
//
// In .cc files only: those that ask are the ones that are compiled with them.

#ifndef VARVE_CANARIES
#define VARVE_CANARY(name) false
#else
#define VARVE_CANARY(name) (::varve::PlantedCanary() == ::varve::Canary::name)

#include <cstdlib>

namespace varve {

// Numbers from 1 on, in this order.
enum class Canary : int {
  kNone,
  kSkipLogSync,
  kSkipDirectorySync,
  kSkipTableSync,
  kRenameBeforeSync,
  kIgnoreCloseError,
  kSkipBlockChecksum,
  kSkipFilterChecksum,
  kReplayPastHole,
  kReplayAfterDamage,
  kDropTombstoneEarly,
  kZeroUnderSnapshot,
  kMergeTwice,
  kRangeEndInclusive,
  kPublishBeforeInsert,
  kIteratorIgnoresStatus,
  kLostWakeUp,
  kRestartOffByOne,
  kAppendToFailedManifest,
  kDeleteUnexplained,
  kTimestampsDescending,
  kEditOutsideGroup,
  kReuseFileNumber,
  kForgetSnapshot,
  kDeleteLogEarly,
  kSyncCoversLater,
  kKeepHalfInsertion,
  kWasteBlockNumbers,
  kRefuseLargeBlocks,
  kListAcrossHoles,
  kCallsBesideClose,
  kForgetHistoryIterator,
  kLengthBeforeTables,
  kStopAtFirstSource,
  kFilterCountsTwice,
  kTearAtomicFlush,
  kForgetBuriedDelete,
  kForgetOutputs,
  kRefusePassedName,
  kCoverThroughSnapshot,
  kJumpTooFar,
  kJumpOverSnapshot,
  kFreeUnderReaders,
  kForgetReaders,
  kLimboWithoutEnd,
  kLoseBusyUpgrade,
  kKeepLockAtRollback,
  kLockRangeEnd,
  kUnlockBeforeCommit,
  kForgetStamps,
  kLeaveCommitLog,
  kForgetTraces,
  kLoseWhileLearning,
  kCoverThoughIgnored,
  kUnrecordedHasNone,
  kLeaveStampedLog,
  kForgetTableDirectories,
  kForeignHandle,
  kKeepRefusedLock,
  kRollbackDropsSnapshot,
  kLimitAdopted,
  kWalkAllRanges,
  kKeepFailedSleeper,
  kUnlockUndecided,
  kCacheForEachFamily,
  kKeepEveryHeader,
  kFlushInHighOnly,
  kWorkBeforeOpen,
  kWaitInCallback,
  kTellStallsInSwitch,
};

inline Canary PlantedCanary() {
  static const Canary planted = [] {
    const char* const number = std::getenv("VARVE_CANARY");
    return static_cast<Canary>(number == nullptr ? 0 : std::atoi(number));
  }();
  return planted;
}

}  // namespace varve
#endif
