// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Small types shared by many headers: numbers with names, and the enums of files, entries, stalls
// and temperatures.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "varve/slice.h"

namespace varve {

struct TableProperties;

using ColumnFamilyId = uint32_t;

/// Place of a write in the order of all writes of a DB. 56 bits are usable; 0 means "older than
/// every write that can still be told apart".
using SequenceNumber = uint64_t;

/// The first number a transaction may be waiting on; 0 always counts as committed.
const SequenceNumber kMinUnCommittedSeq = 1;

/// Keyed by the table file's full path.
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

/// Why a table file is written.
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

/// What a file of a DB directory is, as told by its name. Values are persistent: append only.
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

/// The kind of an entry as user code sees it, e.g. in a TablePropertiesCollector. Append only.
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

/// An internal key taken apart. The slices point into the key it was parsed from.
struct ParsedEntryInfo {
  Slice user_key;
  Slice timestamp;
  SequenceNumber sequence;
  EntryType type;
};

/// What holds writes back. The *EnumMax values end a group: causes of one column family come
/// first, causes of the whole DB after them.
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

/// Where a file system should place a file. The gaps leave room for tiers in between.
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
