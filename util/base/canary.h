// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines bugs that can be planted, one at a time, to check that the tests catch them
// (tests/canaries). Only a build with VARVE_CANARIES contains them: the environment variable
// VARVE_CANARY selects one. In every other build the condition is the constant false and costs
// nothing.
//
//   if (VARVE_CANARY(kSkipLogSync)) return IOStatus::OK();
//
// Use the macro in .cc files only: the build compiles those that use it with VARVE_CANARIES.

#ifndef VARVE_CANARIES
#define VARVE_CANARY(name) false
#else
#define VARVE_CANARY(name) (::varve::PlantedCanary() == ::varve::Canary::name)

#include <cstdlib>

namespace varve {

// The values are numbered from 1 on, in this order.
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
  kRetireWithoutEnd,
  kLoseBusyUpgrade,
  kKeepLockAtRollback,
  kLockRangeEnd,
  kUnlockBeforeCommit,
  kForgetStamps,
  kLeaveCommitLog,
  kForgetEvidence,
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
