// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines bugs that can be planted, one at a time, to check that the tests catch them
// (tests/canaries). Only a build with VARVE_CANARIES contains them: the environment variable
// VARVE_CANARY selects one. In every other build the condition is the constant false and costs
// nothing.
//
//    if (VARVE_CANARY(kSkipLogSync)) return IOStatus::OK();
//
// Use the macro in .cc files only: the build compiles those that use it with VARVE_CANARIES.
//
// Each bug is one that this code, or code like it, could have: a sync left out, a check forgotten,
// an order reversed. A suite that stays green with a canary planted has a hole. A new mechanism
// whose failure would lose data gets a canary with it, and the suite that must find it is named in
// tests/canaries.

#ifndef VARVE_CANARIES
#define VARVE_CANARY(name) false
#else
#define VARVE_CANARY(name) (::varve::PlantedCanary() == ::varve::Canary::name)

#include <cstdlib>

namespace varve {

// The values are numbered from 1 on, in this order.
enum class Canary : int {
  kNone,
  // Durability: something is not synced, or synced in the wrong order.
  //
  // A round of log syncs syncs no file, but reports that it has.
  kSkipLogSync,
  // Directories of new tables are not synced before the MANIFEST names the tables.
  kSkipDirectorySync,
  // A table's file is closed without a sync.
  kSkipTableSync,
  // A small file that is replaced by a rename is not synced before the rename.
  kRenameBeforeSync,
  // An error when a new table's file is closed is forgotten.
  kIgnoreCloseError,
  // Integrity: damage is not noticed, or replayed.
  //
  // The checksums of blocks are not compared.
  kSkipBlockChecksum,
  // The checksums of filter blocks are not compared.
  kSkipFilterChecksum,
  // A log's reader takes bytes that are not zero for the unwritten end of the log.
  kReplayPastHole,
  // A log behind a damaged one is replayed, although records before it are missing.
  kReplayAfterDamage,
  // Visibility: a reader sees too much, too little, or too early. The later ones, about mechanisms
  // of all kinds, follow in the order in which they were added.
  //
  // A compaction drops deletions while older entries of their keys lie deeper.
  kDropTombstoneEarly,
  // A compaction sets the sequence number to zero of an entry that a snapshot must not see.
  kZeroUnderSnapshot,
  // A partial merge returns its result twice over.
  kMergeTwice,
  // A range tombstone covers its end key, too.
  kRangeEndInclusive,
  // A write becomes visible before its updates are in the memtable.
  kPublishBeforeInsert,
  // An iterator that stopped at an error reports that it is at the end.
  kIteratorIgnoresStatus,
  // Threads that wait in the commit ring are not woken.
  kLostWakeUp,
  // A search in a data block starts one restart point too late.
  kRestartOffByOne,
  // Edits are appended to a MANIFEST whose last append or sync failed.
  kAppendToFailedManifest,
  // A purge deletes tables and blob files that no edit is known to have removed.
  kDeleteUnexplained,
  // Versions of a key are ordered by their timestamps the wrong way round.
  kTimestampsDescending,
  // The records of one change of the version set are written without the marks of a group.
  kEditOutsideGroup,
  // A compaction gives its output a number that was given out before.
  kReuseFileNumber,
  // A compaction does not know of the newest snapshot.
  kForgetSnapshot,
  // A purge deletes one log more than it may.
  kDeleteLogEarly,
  // A log's sync is said to cover records that were written while it ran.
  kSyncCoversLater,
  // The part of a write that was inserted before it failed stays visible.
  kKeepHalfInsertion,
  // The arena of entries takes blocks that are so small that it runs out of block numbers.
  kWasteBlockNumbers,
  // Blocks that are large, but allowed, are refused.
  kRefuseLargeBlocks,
  // A list of a key's operands is built although the look-up has not seen all of them.
  kListAcrossHoles,
  // Close does not wait for calls that other threads are in.
  kCallsBesideClose,
  // An iterator over versions is not counted among those that users hold.
  kForgetHistoryIterator,
  // The length of the MANIFEST grows before the versions that its edits make are current.
  kLengthBeforeTables,
  // A read with timestamps takes the first version it finds, though a newer timestamp lies deeper.
  kStopAtFirstSource,
  // An entry that a compaction filter turned into a deletion is counted twice.
  kFilterCountsTwice,
  // A flush of some families does not flush the others, although atomic_flush is set.
  kTearAtomicFlush,
  // A SingleDelete under a newer value is dropped as a Delete would be, although readers as of
  // older timestamps need it.
  kForgetBuriedDelete,
  // A manual compaction does not take over the outputs of compactions that ran beside it.
  kForgetOutputs,
  // A replay stops at an edit that a family refuses, although a later edit may make that harmless.
  kRefusePassedName,
  // Tables under a range tombstone are dropped, although a snapshot still sees their entries.
  kCoverThroughSnapshot,
  // A jump over covered entries also passes those of the tombstone's end key, which is not covered.
  kJumpTooFar,
  // A compaction jumps over covered entries that a snapshot still sees.
  kJumpOverSnapshot,
  // The cache frees entries that readers within an epoch may still use.
  kFreeUnderReaders,
  // The oldest epoch is computed without the threads that are inside one.
  kForgetReaders,
  // A cache shard retires entries without a limit on what waits to be freed.
  kRetireWithoutEnd,
  // An update that found a conflict after it had upgraded a lock reports success.
  kLoseBusyUpgrade,
  // RollbackToSavePoint keeps locks that only later updates needed.
  kKeepLockAtRollback,
  // A locked range without its end covers the end key, too.
  kLockRangeEnd,
  // A transaction gives its locks up before its updates are written.
  kUnlockBeforeCommit,
  // A write does not raise the stamps of its keys, by which conflicts are found.
  kForgetStamps,
  // The log of a prepare record is deleted before the committed updates are in tables.
  kLeaveCommitLog,
  // A compaction drops versions by which a transaction would have found a conflict.
  kForgetEvidence,
  // A memtable that copies its entries into another structure leaves the first one out.
  kLoseWhileLearning,
  // Range tombstones cover entries for a read that ignores range deletions.
  kCoverThoughIgnored,
  // A log that does not record the size of a family's timestamps is taken for one that does.
  kUnrecordedHasNone,
  // Close does not replace a stamped log by one that is not (db/engine/new_logs.h).
  kLeaveStampedLog,
  // The OPTIONS file does not name the directories in which a family's tables lie.
  kForgetTableDirectories,
  // A transaction does not check the handle of an update against its database.
  kForeignHandle,
  // An update that the batch refused keeps its lock.
  kKeepRefusedLock,
  // A rollback also gives up the transaction's snapshot.
  kRollbackDropsSnapshot,
  // The limit on the number of locks also counts those of recovered transactions.
  kLimitAdopted,
  // A search for a locked range looks at all of them instead of a path of the tree.
  kWalkAllRanges,
  // A transaction that waits for a lock goes on using a mutex of the program whose call failed.
  kKeepFailedSleeper,
  // A prepared transaction that is destroyed, neither committed nor rolled back, releases its
  // locks.
  kUnlockUndecided,
  // Every family gets a block cache of its own instead of a shared one.
  kCacheForEachFamily,
  // The information log repeats every header line that was ever written.
  kKeepEveryHeader,
  // Flushes wait for a thread of the high pool, even if it has none.
  kFlushInHighOnly,
  // Background work starts before the caller of Open has the database.
  kWorkBeforeOpen,
  // A call in a callback waits for the very work that it was called from.
  kWaitInCallback,
  // Listeners hear of stalls in the middle of a switch of memtables.
  kTellStallsInSwitch,
  // A mapped log is handed over while records before its end are still being copied.
  kSkipFrontierWait,
  // A finished copy of a database gets its name before its directory is synced.
  kPublishUnsynced,
  // A restore keeps the file of sync marks, which is about the replaced logs.
  kKeepSyncedMarks,
  // A staged table gets a number that is not yet taken from the counter.
  kReuseStagedNumber,
  // Ingested tables become visible to snapshots before they are in the version.
  kPublishIngestedEarly,
  // A secondary drops memtables whose entries are not in tables yet.
  kDropMemTableEarly,
  // A read-only instance deletes files when it is closed.
  kDeleteOnReadOnlyClose,
  // A copy leaves out the oldest log that it needs.
  kCopyWithoutOldestLog,
  // Backups delete shared files that other backups still need.
  kDeleteSharedFiles,
  // Ingested tables do not look for overlapping keys in memtables.
  kIngestBelowMemTables,
  // An import takes older tables for the newer ones.
  kImportReversesEpochs,
  // ClipColumnFamily keeps the last key, which is outside of the range.
  kClipKeepsLastKey,
  // A read at a snapshot judges lifetimes by the present time.
  kTtlReadsSnapshotsNow,
  // A change stream passes over a log.
  kStreamPassesLog,
  // A follower keeps its links to tables that no version names any more.
  kFollowerKeepsLinks,
  // A follower removes its links to tables that are still in use.
  kFollowerDropsLinks,
  // A follower does not repeat an attempt to catch up that failed.
  kFollowerTriesOnce,
  // A compaction drops deletions although the reserved last level may hold older entries.
  kDropAboveReserved,
  // Holes in blob files take whole blocks that neighbours of the garbage reach into.
  kHoleOverNeighbour,
  // The first reference that a compaction keeps is missing from the counts of its table.
  kForgetBlobReference,
  // A blob file is garbage although tables refer to it, unless it is the oldest one of a table.
  kBlobGarbageEarly,
  // A merge is cut within a file of its oldest run.
  kSliceAcrossHalfCut,
  // A compaction of the universal style moves its inputs, although they overlap.
  kMoveWithoutOverlapTest,
  // The output of a compaction gets the epoch of its newest input.
  kOldestEpochWrong,
  // A cached value is found by a later opening, which has another blob file of that number.
  kCachedBlobOfReusedNumber,
  // A plain read does not find an entity that has no default column.
  kDefaultColumnAbsent,
  // The checksum of a value in a blob file is not compared when the value is read.
  kSkipBlobChecksum,
};

// Returns the canary that the environment selects, or kNone. Reads the environment once.
inline Canary PlantedCanary() {
  static const Canary planted = [] {
    const char* const number = std::getenv("VARVE_CANARY");
    return static_cast<Canary>(number == nullptr ? 0 : std::atoi(number));
  }();
  return planted;
}

}  // namespace varve
#endif
