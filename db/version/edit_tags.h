// SPDX-License-Identifier: Apache-2.0
#pragma once

// The stored numbers that precede the fields of a version edit (FORMAT.md).
//
//      record = { tag varint32, field }*
//      tag 7, 100, 102, 103   a new table; 103 ends with custom fields { tag, length, bytes }*
//      tag >= 2^13            if it is not known: a length, then bytes that are skipped
//
// Values are on disk and must never change. New ones of our own are far above RocksDB's, and
// ignorable wherever a reader that skips them still opens the database correctly.

#include <cstddef>
#include <cstdint>

namespace varve {

// Tags of the fields of an edit.
enum EditTag : uint32_t {
  kTagComparator = 1,
  kTagLogNumber = 2,
  kTagNextFileNumber = 3,
  kTagLastSequence = 4,
  kTagCompactCursor = 5,
  kTagDeletedFile = 6,
  kTagNewFile = 7,  // LevelDB's form, without sequence numbers
  kTagPrevLogNumber = 9,
  kTagMinLogNumberToKeep = 10,
  kTagNewFile2 = 100,
  kTagNewFile3 = 102,
  kTagNewFile4 = 103,  // the only form that is written
  // Family that the record is about; without it, the default one.
  kTagColumnFamily = 200,
  kTagColumnFamilyAdd = 201,
  kTagColumnFamilyDrop = 202,
  kTagMaxColumnFamily = 203,
  // Number of records of the group that follow this one.
  kTagInAtomicGroup = 300,
  kTagBlobFileAddition = 400,
  kTagBlobFileGarbage = 401,

  // An unknown tag with this bit is followed by a length and may be skipped.
  kTagIgnorableBit = 1 << 13,
  kTagDbId = kTagIgnorableBit + 1,
  kTagBlobFileAdditionOld = kTagIgnorableBit + 2,  // this and the next three have no length
  kTagBlobFileGarbageOld = kTagIgnorableBit + 3,
  kTagWalAdditionOld = kTagIgnorableBit + 4,
  kTagWalDeletionOld = kTagIgnorableBit + 5,
  kTagFullHistoryTsLow = kTagIgnorableBit + 6,
  kTagPersistTimestamps = kTagIgnorableBit + 9,
  // Our own tags, far above RocksDB's, which are counted from 1.
  kTagMergeOperator = kTagIgnorableBit + 0x1001,
  kTagGoneTables = kTagIgnorableBit + 0x1010,
  kTagUnreadLogs = kTagIgnorableBit + 0x1011,
  kTagTtlClock = kTagIgnorableBit + 0x1012,
  kTagChangePosition = kTagIgnorableBit + 0x1013,
};

// Tags of the fields of a log addition.
enum WalAdditionTag : uint32_t {
  kWalAdditionEnd = 1,
  kWalAdditionSyncedSize = 2,
};

// Tags of the custom fields of kTagNewFile4.
enum NewFileTag : uint32_t {
  kCustomEnd = 1,
  // Each custom field of a table is a tag, a length and as many bytes.
  kNeedsCompaction = 2,
  kMinLogNumberToKeepFixed = 3,
  kOldestBlobFile = 4,
  kOldestAncestorTime = 5,
  kFileCreationTime = 6,
  kFileChecksum = 7,
  kFileChecksumName = 8,
  kTemperature = 9,
  kUniqueId = 12,
  kEpochNumber = 13,
  kTailSize = 15,
  kTimestampsPersisted = 16,
  kPathId = 65,
  // An unknown field with this bit may not be skipped.
  kCustomMustUnderstandBit = 1 << 6,
  // Our own fields, far above RocksDB's, which are counted from 1.
  kTableCounts = 0x1001,
  kBlobShares = 0x1002,
  kNewestTime = 0x1003,
};

// Tag that ends the custom fields of kTagBlobFileAddition and kTagBlobFileGarbage.
inline constexpr uint32_t kBlobCustomEnd = 0;
// Our own field of kTagBlobFileAddition, without contents: BlobFileFacts::referred_once.
inline constexpr uint32_t kBlobReferredOnce = 0x1001;

inline constexpr size_t kUniqueIdBytes = 16;
// The id stored by writers that have none.
inline constexpr char kNullUniqueId[kUniqueIdBytes] = {};

}  // namespace varve
