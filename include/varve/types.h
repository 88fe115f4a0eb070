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

/// Number of a column family, which is unique in its DB for ever. The default one has 0.
using ColumnFamilyId = uint32_t;

/// Position of a write in the order of all writes of a DB. 56 bits are usable; 0 means older than
/// every write that can still be distinguished.
using SequenceNumber = uint64_t;

/// Smallest number of a transaction that may be uncommitted; 0 always counts as committed.
const SequenceNumber kMinUnCommittedSeq = 1;

/// Properties by the table file's full path.
using TablePropertiesCollection =
    std::unordered_map<std::string, std::shared_ptr<const TableProperties>>;

/// Reason for writing a table file, as listeners, filters and collectors get it.
enum class TableFileCreationReason {
  /// Memtables of an open DB are written to a table of L0.
  kFlush,
  /// A compaction writes a table from other tables.
  kCompaction,
  /// An opening or a repair replays logs and writes what they hold.
  kRecovery,
  /// None of the above is the case, as for SstFileWriter.
  kMisc,
};

/// Reason for writing a blob file.
enum class BlobFileCreationReason {
  kFlush,
  kCompaction,
  kRecovery,
};

/// Type of a file in a DB directory, derived from its name. Values are persistent: append only.
enum FileType {
  /// NNNNNN.log is a write-ahead log. It holds the writes that are in no table yet.
  kWalFile,
  /// LOCK is locked by the process that has the DB open for writing.
  kDBLockFile,
  /// NNNNNN.sst is a table. Tables of LevelDB, NNNNNN.ldb, are tables too.
  kTableFile,
  /// MANIFEST-NNNNNN is a log of the changes of which tables and blob files the DB has.
  kDescriptorFile,
  /// CURRENT has the name of the MANIFEST in force.
  kCurrentFile,
  /// *.dbtmp is a file that will be renamed once it is complete; *.sst.trash, *.ldb.trash and
  /// *.blob.trash are files that wait for their deletion at a limited rate.
  kTempFile,
  /// LOG has messages for people; LOG.old.* are those of earlier openings, or of files that were
  /// full.
  kInfoLogFile,
  /// METADB-NNNNNN is a name of RocksDB that no DB of this library has.
  kMetaDatabase,
  /// IDENTITY has the id of the DB.
  kIdentityFile,
  /// OPTIONS-NNNNNN has the options of the DB and of its column families as text.
  kOptionsFile,
  /// NNNNNN.blob has values that are kept apart from tables (enable_blob_files).
  kBlobFile,
  /// COMPACTION_PROGRESS-* is a name of RocksDB that no DB of this library has.
  kCompactionProgressFile
};

/// Kind of an entry as user code sees it, e.g. in a TablePropertiesCollector or in ParsedEntryInfo.
/// Append only.
enum EntryType {
  /// A value was put.
  kEntryPut,
  /// A key was deleted.
  kEntryDelete,
  /// A key that was put once was deleted (SingleDelete).
  kEntrySingleDelete,
  /// A merge operand was added.
  kEntryMerge,
  /// A range of keys was deleted; the entry's value is the end of the range.
  kEntryRangeDeletion,
  /// A value was put that is in a blob file; the entry's value is the reference to it.
  kEntryBlobIndex,
  /// A key was deleted in a column family with user timestamps.
  kEntryDeleteWithTimestamp,
  /// An entity of wide columns was put (PutEntity).
  kEntryWideColumnEntity,
  /// A value was put with a write time (RocksDB's TimedPut, which Varve does not write).
  kEntryTimedPut,
  /// The entry has a type that this enum does not name.
  kEntryOther,
};

/// A parsed internal key. The slices point into the key it was parsed from.
struct ParsedEntryInfo {
  /// The user key, without its timestamp.
  Slice user_key;
  /// The key's timestamp; empty if the comparator has no timestamps.
  Slice timestamp;
  /// The write's place in the order of all writes.
  SequenceNumber sequence;
  /// Kind of the entry.
  EntryType type;
};

/// Cause of slowing or stopping writes. The *EnumMax values end a group: causes of one column
/// family come first, causes of the whole DB after them.
enum class WriteStallCause {
  /// Memtables wait for a flush: as many as max_write_buffer_number, or a few less for a delay.
  kMemtableLimit,
  /// L0 has as many files as level0_slowdown_writes_trigger or level0_stop_writes_trigger allows.
  kL0FileCountLimit,
  /// Compactions have to rewrite more bytes than soft_ or hard_pending_compaction_bytes_limit
  /// allows.
  kPendingCompactionBytes,
  /// The number of causes of one column family. It is no cause itself.
  kCFScopeWriteStallCauseEnumMax,
  /// A WriteBufferManager with allow_stall has reached its limit.
  kWriteBufferManagerLimit,
  /// The end of the causes of the whole DB. It is no cause itself.
  kDBScopeWriteStallCauseEnumMax,
  /// Nothing slows or stops writes.
  kNone,
};

/// Effect of a stall on writes.
enum class WriteStallCondition {
  /// Writes share DBOptions::delayed_write_rate, or a rate derived from it.
  kDelayed,
  /// Writes wait until the cause has gone; those with WriteOptions::no_slowdown return Incomplete.
  kStopped,
  /// Writes are neither slowed nor stopped.
  kNormal,
};

/// Desired placement of a file by the file system. Gaps leave room for further tiers. Varve passes
/// it on as options say, stores it, counts reads by it, and moves no file for it.
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
