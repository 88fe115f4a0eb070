// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Small types shared by many headers: named numbers, and enums of files, entries, stalls and
// temperatures.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "varve/slice.h"

namespace varve {

struct TableProperties;

using ColumnFamilyId = uint32_t;

/// Position of a write in the order of all writes of a DB. 56 bits are usable; 0 means older than
/// every write that can still be distinguished.
using SequenceNumber = uint64_t;

/// Smallest number of a transaction that may be uncommitted; 0 always counts as committed.
const SequenceNumber kMinUnCommittedSeq = 1;

/// Properties by the table file's full path.
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

/// Reason for writing a table file.
enum class TableFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
  kMisc,
};

enum class BlobFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
};

/// Type of a file in a DB directory, derived from its name. Values are persistent: append only.
enum FileType {
  kWalFile,
  kDBLockFile,
  kTableFile,
  kDescriptorFile,
  kCurrentFile,
  kTempFile,
  kInfoLogFile,
  kMetaDatabase,
  kIdentityFile,
  kOptionsFile,
  kBlobFile,
  kCompactionProgressFile
};

/// Kind of an entry as user code sees it, e.g. in a TablePropertiesCollector. Append only.
enum EntryType {
  kEntryPut,
  kEntryDelete,
  kEntrySingleDelete,
  kEntryMerge,
  kEntryRangeDeletion,
  kEntryBlobIndex,
  kEntryDeleteWithTimestamp,
  kEntryWideColumnEntity,
  kEntryTimedPut,
  kEntryOther,
};

/// A parsed internal key. The slices point into the key it was parsed from.
struct ParsedEntryInfo {
  Slice user_key;
  Slice timestamp;
  SequenceNumber sequence;
  EntryType type;
};

/// Cause of slowing or stopping writes. The *EnumMax values end a group: causes of one column
/// family come first, causes of the whole DB after them.
enum class WriteStallCause {
  kMemtableLimit,
  kL0FileCountLimit,
  kPendingCompactionBytes,
  kCFScopeWriteStallCauseEnumMax,
  kWriteBufferManagerLimit,
  kDBScopeWriteStallCauseEnumMax,
  kNone,
};

enum class WriteStallCondition {
  kDelayed,
  kStopped,
  kNormal,
};

/// Desired placement of a file by the file system. Gaps leave room for further tiers.
enum class Temperature : uint8_t {
  kUnknown = 0,
  kHot = 0x04,
  kWarm = 0x08,
  kCool = 0x0A,
  kCold = 0x0C,
  kIce = 0x10,
  kLastTemperature,
};

}  // namespace varve
