// SPDX-License-Identifier: Apache-2.0
#pragma once

// DB: a persistent ordered map from keys to values, made of column families.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/column_family.h"
#include "varve/export.h"
#include "varve/external_file.h"
#include "varve/iterator.h"
#include "varve/listener.h"
#include "varve/metadata.h"
#include "varve/options.h"
#include "varve/range.h"
#include "varve/slice.h"
#include "varve/snapshot.h"
#include "varve/status.h"
#include "varve/transaction_log.h"
#include "varve/types.h"
#include "varve/write_batch.h"

namespace varve {

class ChangeStream;
class FileChecksumList;
class FileSystem;
class StatsHistoryIterator;
class UserWriteCallback;
struct ChangeStreamOptions;
struct PromoteOptions;
struct SecondaryLag;

// Names an open column family in calls. Delete it (or DestroyColumnFamilyHandle) before the DB.
// Calls that are given one of another database, or a snapshot of another, are InvalidArgument and
// change nothing; those without a status have no answer.
class VARVE_EXPORT ColumnFamilyHandle {
 public:
  virtual ~ColumnFamilyHandle() = default;

  virtual const std::string& GetName() const = 0;
  virtual uint32_t GetID() const = 0;

  // Current name and options, as far as these can be told.
  virtual Status GetDescriptor(ColumnFamilyDescriptor* desc) = 0;

  virtual const Comparator* GetComparator() const = 0;
};

// All methods may be called by several threads at once unless they say otherwise. Calls without a
// column family mean the default one. A family whose comparator has timestamps takes one with each
// write (`ts`) and each read (ReadOptions::timestamp): InvalidArgument, with nothing done, if there
// is none, if its size is another, or if a family without timestamps is given one.
//
// Timestamps of a key may be written in any order. A read as of a time sees what has been written
// so far with that timestamp or an older one, without the versions that a range deletion it sees
// was written after. Of the others the one with the newest timestamp stands, of one timestamp the
// one written last; merge operands apply to what comes next in this order. Reads are quickest where
// timestamps do not descend. Below full_history_ts_low they must not: which version is left of
// those that were written out of order is not defined there.
//
// Subclasses implement the virtual methods; the others are shorthands for them.
class VARVE_EXPORT DB {
 public:
  // ---- Opening and closing ----

  // Opens the database in directory `name`. On success *dbptr is the caller's to delete. Relative
  // paths (the name, wal_dir, db_log_dir) are looked up once: wherever the process goes afterwards,
  // the database stays where it was opened, if its Env knows of absolute paths.
  static Status Open(const Options& options, const std::string& name, DB** dbptr);
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr) {
    return Adopt(dbptr, [&](DB** db) { return Open(options, name, db); });
  }

  // All existing column families must be listed, the default one too. Handles come in that order
  // and must be released before the DB is deleted.
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) {
    return Adopt(dbptr,
                 [&](DB** db) { return Open(db_options, name, column_families, handles, db); });
  }

  // The same, and without the versions that are newer than `trim_ts`, for good: column families
  // with timestamps, which must be of its size, are rewritten before the call returns. NotSupported
  // with a single level.
  // InvalidArgument with avoid_flush_during_recovery.
  static Status OpenAndTrimHistory(const DBOptions& db_options, const std::string& name,
                                   const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                   std::string trim_ts);

  // Changes no file; writes return NotSupported. A subset of column families may be listed. Ways of
  // writing, flushing and compacting that could be refused (unordered_write, compaction_style and
  // the like) are taken as by default, in GetOptions too.
  // Another process may write to the database meanwhile: the opening shows a state of it that is
  // not older than the call, and keeps all tables open, so that later reads find them. With
  // max_open_files other than -1 a later read may fail with IOError of a file that the writer has
  // deleted; open it again then.
  static Status OpenForReadOnly(const Options& options, const std::string& name, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const Options& options, const std::string& name,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false) {
    return Adopt(dbptr, [&](DB** db) {
      return OpenForReadOnly(options, name, db, error_if_wal_file_exists);
    });
  }
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                bool error_if_wal_file_exists = false);
  static Status OpenForReadOnly(const DBOptions& db_options, const std::string& name,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr, bool error_if_wal_file_exists = false) {
    return Adopt(dbptr, [&](DB** db) {
      return OpenForReadOnly(db_options, name, column_families, handles, db,
                             error_if_wal_file_exists);
    });
  }

  // Opens, to be read, a database that another process, its primary, writes, and follows it; what
  // that is and is not: varve/secondary.h. The LOG goes into `secondary_path`.
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, DB** dbptr);
  static Status OpenAsSecondary(const Options& options, const std::string& name,
                                const std::string& secondary_path, std::unique_ptr<DB>* dbptr) {
    return Adopt(dbptr,
                 [&](DB** db) { return OpenAsSecondary(options, name, secondary_path, db); });
  }
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status OpenAsSecondary(const DBOptions& db_options, const std::string& name,
                                const std::string& secondary_path,
                                const std::vector<ColumnFamilyDescriptor>& column_families,
                                std::vector<ColumnFamilyHandle*>* handles,
                                std::unique_ptr<DB>* dbptr) {
    return Adopt(dbptr, [&](DB** db) {
      return OpenAsSecondary(db_options, name, secondary_path, column_families, handles, db);
    });
  }

  // NotSupported: following a database through hard links in a directory of one's own.
  static Status OpenAsFollower(const Options& options, const std::string& name,
                               const std::string& leader_path, std::unique_ptr<DB>* dbptr);
  static Status OpenAsFollower(const DBOptions& db_options, const std::string& name,
                               const std::string& leader_path,
                               const std::vector<ColumnFamilyDescriptor>& column_families,
                               std::vector<ColumnFamilyHandle*>* handles,
                               std::unique_ptr<DB>* dbptr);

  // Names of all column families of a database that need not be open.
  static Status ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                                   std::vector<std::string>* column_families);

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;

  // Closes if Close was not called; its status is lost then.
  virtual ~DB() = default;

  // Ends background work, flushes unless avoid_flush_during_shutdown, syncs the log. Aborted while
  // snapshots are held (the message counts all that is) or LockWAL is in force; iterators and
  // column family handles may outlive this and the DB. Later calls get ShutdownInProgress.
  //
  // In a child process that fork() made, every call gets InvalidArgument (or, if it has no status,
  // an empty answer) and touches no file; deleting the DB there forgets it. Its iterators must not
  // be used there. The child may open other databases.
  virtual Status Close() { return Status::NotSupported("Close"); }

  // Leaves an error state that allows it, and lets automatic recovery count its attempts anew. OK:
  // writes work, and compactions are tried again if they had failed. Busy while an attempt of
  // automatic recovery runs.
  virtual Status Resume() { return Status::NotSupported("Resume"); }

  // ---- Column families ----

  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options,
                                    const std::string& column_family_name,
                                    ColumnFamilyHandle** handle) = 0;

  // Stops at the first error; handles of those made before it are returned.
  virtual Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                                      const std::vector<std::string>& column_family_names,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;
  virtual Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;

  // The data can be read through open handles and iterators until these are gone. Of several
  // nothing is dropped if one is not this database's, or the default one: InvalidArgument.
  virtual Status DropColumnFamily(ColumnFamilyHandle* column_family) = 0;
  virtual Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Deletes the handle. InvalidArgument, and it is not deleted: DefaultColumnFamily(), or a handle
  // of another database.
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) = 0;

  // Owned by the DB.
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;

  // ---- Writing ----
  //
  // `ts` is the user timestamp of the update. A column family whose comparator has timestamps takes
  // calls with one of the comparator's size only, any other column family calls without:
  // InvalidArgument otherwise, with nothing logged.

  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& value) = 0;
  virtual Status Put(const WriteOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, const Slice& ts, const Slice& value) = 0;
  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) {
    return Put(options, DefaultColumnFamily(), key, value);
  }
  Status Put(const WriteOptions& options, const Slice& key, const Slice& ts, const Slice& value) {
    return Put(options, DefaultColumnFamily(), key, ts, value);
  }

  // OK if the key was absent.
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key) = 0;
  virtual Status Delete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                        const Slice& key, const Slice& ts) = 0;
  Status Delete(const WriteOptions& options, const Slice& key) {
    return Delete(options, DefaultColumnFamily(), key);
  }
  Status Delete(const WriteOptions& options, const Slice& key, const Slice& ts) {
    return Delete(options, DefaultColumnFamily(), key, ts);
  }

  // For a key that was Put exactly once since it was last deleted; anything else is undefined.
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key) = 0;
  virtual Status SingleDelete(const WriteOptions& options, ColumnFamilyHandle* column_family,
                              const Slice& key, const Slice& ts) = 0;
  Status SingleDelete(const WriteOptions& options, const Slice& key) {
    return SingleDelete(options, DefaultColumnFamily(), key);
  }
  Status SingleDelete(const WriteOptions& options, const Slice& key, const Slice& ts) {
    return SingleDelete(options, DefaultColumnFamily(), key, ts);
  }

  // Deletes [begin_key, end_key). InvalidArgument if the end comes before the beginning.
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key) = 0;
  virtual Status DeleteRange(const WriteOptions& options, ColumnFamilyHandle* column_family,
                             const Slice& begin_key, const Slice& end_key, const Slice& ts) = 0;
  Status DeleteRange(const WriteOptions& options, const Slice& begin_key, const Slice& end_key) {
    return DeleteRange(options, DefaultColumnFamily(), begin_key, end_key);
  }
  Status DeleteRange(const WriteOptions& options, const Slice& begin_key, const Slice& end_key,
                     const Slice& ts) {
    return DeleteRange(options, DefaultColumnFamily(), begin_key, end_key, ts);
  }

  // Adds an operand to whatever the key's value is; reads merge. InvalidArgument without a merge
  // operator.
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& ts, const Slice& value) = 0;
  Status Merge(const WriteOptions& options, const Slice& key, const Slice& value) {
    return Merge(options, DefaultColumnFamily(), key, value);
  }

  // Applies the batch as a whole. The batch may be used again afterwards.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;

  // Write with calls on its way (varve/user_write_callback.h); the callback may be null.
  virtual Status WriteWithCallback(const WriteOptions& /*options*/, WriteBatch* /*updates*/,
                                   UserWriteCallback* /*callback*/) {
    return Status::NotSupported("WriteWithCallback");
  }

  // ---- Reading ----

  // NotFound if there is no such key. `timestamp` may be nullptr. A PinnableSlice may point at what
  // the database keeps in memory, instead of a copy: it is to be reset, or destroyed, before the
  // database is closed. So are those of the other calls.
  virtual Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family,
                     const Slice& key, PinnableSlice* value, std::string* timestamp) = 0;
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             PinnableSlice* value) {
    return Get(options, column_family, key, value, nullptr);
  }
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
    return Get(options, DefaultColumnFamily(), key, value, nullptr);
  }
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value,
             std::string* timestamp) {
    return Get(options, DefaultColumnFamily(), key, value, timestamp);
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             std::string* value, std::string* timestamp) {
    PinnableSlice pinned(value);
    Status s = Get(options, column_family, key, &pinned, timestamp);
    if (s.ok() && pinned.IsPinned()) value->assign(pinned.data(), pinned.size());
    return s;
  }
  Status Get(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
             std::string* value) {
    return Get(options, column_family, key, value, nullptr);
  }
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) {
    return Get(options, DefaultColumnFamily(), key, value, nullptr);
  }
  Status Get(const ReadOptions& options, const Slice& key, std::string* value,
             std::string* timestamp) {
    return Get(options, DefaultColumnFamily(), key, value, timestamp);
  }

  // The key's merge operands, oldest first, a base value before them. Incomplete, with the number
  // needed in *number_of_operands, if there are more than the options expect. The slices may share
  // what they hold: it is freed with the last of them.
  virtual Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                  const Slice& key, PinnableSlice* merge_operands,
                                  GetMergeOperandsOptions* get_merge_operands_options,
                                  int* number_of_operands) = 0;

  // Get for num_keys keys at one state of the database, the same for all families. `values` and
  // `statuses` (and `timestamps`, unless nullptr) have num_keys elements; each status is about its
  // key alone: OK, NotFound, or why the answer is not known. A key may be given more than once.
  // sorted_input promises that keys ascend within ascending families; that is checked, and keys
  // that do not are answered as well.
  //
  // ReadOptions: past `deadline` the keys that are left get TimedOut, and so do those whose blocks
  // would have to be read. Once the values exceed `value_size_soft_limit` the keys after it, in
  // order, get Aborted.
  virtual void MultiGet(const ReadOptions& options, size_t num_keys,
                        ColumnFamilyHandle** column_families, const Slice* keys,
                        PinnableSlice* values, std::string* timestamps, Status* statuses,
                        bool sorted_input = false) = 0;
  virtual void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family,
                        size_t num_keys, const Slice* keys, PinnableSlice* values,
                        std::string* timestamps, Status* statuses, bool sorted_input = false) = 0;
  void MultiGet(const ReadOptions& options, size_t num_keys, ColumnFamilyHandle** column_families,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input = false) {
    MultiGet(options, num_keys, column_families, keys, values, nullptr, statuses, sorted_input);
  }
  void MultiGet(const ReadOptions& options, ColumnFamilyHandle* column_family, size_t num_keys,
                const Slice* keys, PinnableSlice* values, Status* statuses,
                bool sorted_input = false) {
    MultiGet(options, column_family, num_keys, keys, values, nullptr, statuses, sorted_input);
  }

  // Vector forms; `values` (and `timestamps`, unless nullptr) are resized to the number of keys.
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& column_families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values,
                               std::vector<std::string>* timestamps);
  std::vector<Status> MultiGet(const ReadOptions& options,
                               const std::vector<ColumnFamilyHandle*>& column_families,
                               const std::vector<Slice>& keys, std::vector<std::string>* values) {
    return MultiGet(options, column_families, keys, values, nullptr);
  }
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) {
    return MultiGet(options, keys, values, nullptr);
  }
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values,
                               std::vector<std::string>* timestamps) {
    return MultiGet(options, std::vector<ColumnFamilyHandle*>(keys.size(), DefaultColumnFamily()),
                    keys, values, timestamps);
  }

  // False: the key is surely absent. Does no I/O. *value_found tells whether *value was filled.
  virtual bool KeyMayExist(const ReadOptions& /*options*/, ColumnFamilyHandle* /*column_family*/,
                           const Slice& /*key*/, std::string* /*value*/, std::string* /*timestamp*/,
                           bool* value_found = nullptr) {
    if (value_found != nullptr) *value_found = false;
    return true;
  }
  bool KeyMayExist(const ReadOptions& options, ColumnFamilyHandle* column_family, const Slice& key,
                   std::string* value, bool* value_found = nullptr) {
    return KeyMayExist(options, column_family, key, value, nullptr, value_found);
  }
  bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                   bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, nullptr, value_found);
  }
  bool KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value,
                   std::string* timestamp, bool* value_found = nullptr) {
    return KeyMayExist(options, DefaultColumnFamily(), key, value, timestamp, value_found);
  }

  // Never nullptr; to be deleted by the caller before the DB. Not positioned at first.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) = 0;
  Iterator* NewIterator(const ReadOptions& options) {
    return NewIterator(options, DefaultColumnFamily());
  }

  // Iterators over one state of the database.
  virtual Status NewIterators(const ReadOptions& options,
                              const std::vector<ColumnFamilyHandle*>& column_families,
                              std::vector<Iterator*>* iterators) = 0;

  // A state to read from, for ReadOptions::snapshot. To be released, not deleted. nullptr if there
  // can be none: the database is closed, or it would wait for an ingestion, called from a callback.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // ---- Properties ----

  // Names for GetProperty and its kin. Those that end in "level" take a level number appended.
  struct Properties {
    inline static const std::string kNumFilesAtLevelPrefix = "rocksdb.num-files-at-level";
    // Bytes of keys and values for each byte of the level's tables; -1 where none tells.
    inline static const std::string kCompressionRatioAtLevelPrefix =
        "rocksdb.compression-ratio-at-level";

    // Text for people.
    inline static const std::string kStats = "rocksdb.stats";
    inline static const std::string kSSTables = "rocksdb.sstables";
    inline static const std::string kCFStats = "rocksdb.cfstats";  // Also as a map.
    inline static const std::string kCFStatsNoFileHistogram = "rocksdb.cfstats-no-file-histogram";
    // Not counted: no answer.
    inline static const std::string kCFFileHistogram = "rocksdb.cf-file-histogram";
    inline static const std::string kCFWriteStallStats = "rocksdb.cf-write-stall-stats";
    inline static const std::string kDBWriteStallStats = "rocksdb.db-write-stall-stats";
    // Also as a map, which has what writes came to if DBOptions::statistics counts.
    inline static const std::string kDBStats = "rocksdb.dbstats";
    inline static const std::string kLevelStats = "rocksdb.levelstats";
    // What is in the block cache, by role; also as a map (BlockCacheEntryStatsMapKeys). Found out
    // by a walk over the cache, at most every ten seconds; the fast form goes without for three
    // minutes. No answer without a block cache.
    inline static const std::string kBlockCacheEntryStats = "rocksdb.block-cache-entry-stats";
    inline static const std::string kFastBlockCacheEntryStats =
        "rocksdb.fast-block-cache-entry-stats";
    inline static const std::string kOptionsStatistics = "rocksdb.options-statistics";
    // Sums over the properties of all tables, and of those of a level, whose number is appended;
    // also as maps (TableProperties::GetAggregatablePropertiesAsMap). Tables that are not open are
    // opened. No answer if one cannot be, or after Close.
    inline static const std::string kAggregatedTableProperties =
        "rocksdb.aggregated-table-properties";
    inline static const std::string kAggregatedTablePropertiesAtLevel =
        "rocksdb.aggregated-table-properties-at-level";

    // Numbers: memtables.
    inline static const std::string kNumImmutableMemTable = "rocksdb.num-immutable-mem-table";
    inline static const std::string kNumImmutableMemTableFlushed =
        "rocksdb.num-immutable-mem-table-flushed";
    inline static const std::string kMemTableFlushPending = "rocksdb.mem-table-flush-pending";
    inline static const std::string kCurSizeActiveMemTable = "rocksdb.cur-size-active-mem-table";
    inline static const std::string kCurSizeAllMemTables = "rocksdb.cur-size-all-mem-tables";
    inline static const std::string kSizeAllMemTables = "rocksdb.size-all-mem-tables";
    inline static const std::string kNumEntriesActiveMemTable =
        "rocksdb.num-entries-active-mem-table";
    inline static const std::string kNumEntriesImmMemTables = "rocksdb.num-entries-imm-mem-tables";
    inline static const std::string kNumDeletesActiveMemTable =
        "rocksdb.num-deletes-active-mem-table";
    inline static const std::string kNumDeletesImmMemTables = "rocksdb.num-deletes-imm-mem-tables";

    // Numbers: background work.
    inline static const std::string kNumRunningFlushes = "rocksdb.num-running-flushes";
    inline static const std::string kCompactionPending = "rocksdb.compaction-pending";
    inline static const std::string kNumRunningCompactions = "rocksdb.num-running-compactions";
    inline static const std::string kNumRunningCompactionSortedRuns =
        "rocksdb.num-running-compaction-sorted-runs";
    inline static const std::string kBackgroundErrors = "rocksdb.background-errors";
    inline static const std::string kEstimatePendingCompactionBytes =
        "rocksdb.estimate-pending-compaction-bytes";
    inline static const std::string kActualDelayedWriteRate = "rocksdb.actual-delayed-write-rate";
    inline static const std::string kIsWriteStopped = "rocksdb.is-write-stopped";
    inline static const std::string kIsFileDeletionsEnabled = "rocksdb.is-file-deletions-enabled";

    // Numbers: contents.
    inline static const std::string kEstimateNumKeys = "rocksdb.estimate-num-keys";
    inline static const std::string kEstimateLiveDataSize = "rocksdb.estimate-live-data-size";
    inline static const std::string kEstimateTableReadersMem = "rocksdb.estimate-table-readers-mem";
    // Of families that drop tables by age, which there are none of: no answer.
    inline static const std::string kEstimateOldestKeyTime = "rocksdb.estimate-oldest-key-time";
    // Bytes of tables: of all that somebody may read, of those of now, and of those that nobody
    // can read any more and whose deletion has not begun.
    inline static const std::string kTotalSstFilesSize = "rocksdb.total-sst-files-size";
    inline static const std::string kLiveSstFilesSize = "rocksdb.live-sst-files-size";
    inline static const std::string kObsoleteSstFilesSize = "rocksdb.obsolete-sst-files-size";
    // A Temperature's number is appended.
    inline static const std::string kLiveSstFilesSizeAtTemperature =
        "rocksdb.live-sst-files-size-at-temperature";
    inline static const std::string kBaseLevel = "rocksdb.base-level";

    // Numbers: versions and snapshots.
    inline static const std::string kNumSnapshots = "rocksdb.num-snapshots";
    inline static const std::string kOldestSnapshotTime = "rocksdb.oldest-snapshot-time";
    inline static const std::string kOldestSnapshotSequence = "rocksdb.oldest-snapshot-sequence";
    inline static const std::string kNumLiveVersions = "rocksdb.num-live-versions";
    inline static const std::string kCurrentSuperVersionNumber =
        "rocksdb.current-super-version-number";
    inline static const std::string kMinLogNumberToKeep = "rocksdb.min-log-number-to-keep";
    // No table stays because of its number: always the largest there is.
    inline static const std::string kMinObsoleteSstNumberToKeep =
        "rocksdb.min-obsolete-sst-number-to-keep";

    // Numbers: caches.
    inline static const std::string kBlockCacheCapacity = "rocksdb.block-cache-capacity";
    inline static const std::string kBlockCacheUsage = "rocksdb.block-cache-usage";
    inline static const std::string kBlockCachePinnedUsage = "rocksdb.block-cache-pinned-usage";

    // Value files: none here, and no cache of their values, which gives no answer.
    inline static const std::string kNumBlobFiles = "rocksdb.num-blob-files";
    inline static const std::string kBlobStats = "rocksdb.blob-stats";
    inline static const std::string kTotalBlobFileSize = "rocksdb.total-blob-file-size";
    inline static const std::string kLiveBlobFileSize = "rocksdb.live-blob-file-size";
    inline static const std::string kLiveBlobFileGarbageSize =
        "rocksdb.live-blob-file-garbage-size";
    inline static const std::string kBlobCacheCapacity = "rocksdb.blob-cache-capacity";
    inline static const std::string kBlobCacheUsage = "rocksdb.blob-cache-usage";
    inline static const std::string kBlobCachePinnedUsage = "rocksdb.blob-cache-pinned-usage";
  };

  // False for an unknown name (or, below, one that has no such form).
  virtual bool GetProperty(ColumnFamilyHandle* column_family, const Slice& property,
                           std::string* value) = 0;
  bool GetProperty(const Slice& property, std::string* value) {
    return GetProperty(DefaultColumnFamily(), property, value);
  }
  virtual bool GetMapProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              std::map<std::string, std::string>* value) = 0;
  bool GetMapProperty(const Slice& property, std::map<std::string, std::string>* value) {
    return GetMapProperty(DefaultColumnFamily(), property, value);
  }
  virtual bool GetIntProperty(ColumnFamilyHandle* column_family, const Slice& property,
                              uint64_t* value) = 0;
  bool GetIntProperty(const Slice& property, uint64_t* value) {
    return GetIntProperty(DefaultColumnFamily(), property, value);
  }

  // Summed over all column families; a fact of the whole database is told once, and a block cache
  // counts once, however many families share it.
  virtual bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) = 0;

  // Zeroes what kStats counts (not DBOptions::statistics).
  virtual Status ResetStats() { return Status::NotSupported("ResetStats"); }

  // What was noted of DBOptions::statistics from `start_time` on and before `end_time`, in seconds
  // since 1970 (stats_history.h, stats_persist_period_sec).
  virtual Status GetStatsHistory(uint64_t /*start_time*/, uint64_t /*end_time*/,
                                 std::unique_ptr<StatsHistoryIterator>* /*stats_iterator*/) {
    return Status::NotSupported("GetStatsHistory");
  }

  // ---- Sizes ----

  enum class SizeApproximationFlags : uint8_t {
    NONE = 0,
    INCLUDE_MEMTABLES = 1 << 0,
    INCLUDE_FILES = 1 << 1,
  };

  // sizes[i]: bytes stored for ranges[i], 0 <= i < n.
  virtual Status GetApproximateSizes(const SizeApproximationOptions& options,
                                     ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                     uint64_t* sizes) = 0;
  Status GetApproximateSizes(
      ColumnFamilyHandle* column_family, const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES);
  Status GetApproximateSizes(
      const Range* ranges, int n, uint64_t* sizes,
      SizeApproximationFlags include_flags = SizeApproximationFlags::INCLUDE_FILES) {
    return GetApproximateSizes(DefaultColumnFamily(), ranges, n, sizes, include_flags);
  }

  // Entries and bytes in memtables within the range.
  virtual void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                           uint64_t* count, uint64_t* size) = 0;
  void GetApproximateMemTableStats(const Range& range, uint64_t* count, uint64_t* size) {
    GetApproximateMemTableStats(DefaultColumnFamily(), range, count, size);
  }

  // ---- Maintenance ----

  // Compacts [begin, end] down to the last level that has data; nullptr: from or to the edge.
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                              const Slice* begin, const Slice* end) = 0;
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }

  // Compacts the named tables (and what must go along) into output_level, and there into that one
  // of db_paths or cf_paths; -1: where the level's tables belong.
  virtual Status CompactFiles(const CompactionOptions& compact_options,
                              ColumnFamilyHandle* column_family,
                              const std::vector<std::string>& input_file_names, int output_level,
                              int output_path_id = -1,
                              std::vector<std::string>* output_file_names = nullptr,
                              CompactionJobInfo* compaction_job_info = nullptr) = 0;
  Status CompactFiles(const CompactionOptions& compact_options,
                      const std::vector<std::string>& input_file_names, int output_level,
                      int output_path_id = -1,
                      std::vector<std::string>* output_file_names = nullptr,
                      CompactionJobInfo* compaction_job_info = nullptr) {
    return CompactFiles(compact_options, DefaultColumnFamily(), input_file_names, output_level,
                        output_path_id, output_file_names, compaction_job_info);
  }

  // Marks the tables in the range for a compaction in the background.
  virtual Status SuggestCompactRange(ColumnFamilyHandle* /*column_family*/, const Slice* /*begin*/,
                                     const Slice* /*end*/) {
    return Status::NotSupported("SuggestCompactRange");
  }

  // Waits until nothing is left to flush or compact.
  virtual Status WaitForCompact(const WaitForCompactOptions& options) = 0;

  // Changes dynamic options: all of them, or none when an error is returned, but for one: with
  // DBOptions::fail_if_options_file_error the error may be that of the OPTIONS file, and says so.
  // Of a struct one field may be named: "compression_opts.level", or all that change together:
  // "compression_opts" = "{level=3;window_bits=-14}".
  // "block_based_table_factory" = "{block_size=8192;filter_policy=bloomfilter:10:false}", or
  // "block_based_table_factory.block_size", changes how tables are built from now on; what concerns
  // how they are read and cached (block_cache, no_block_cache, pinning, reading ahead) is
  // InvalidArgument.
  virtual Status SetOptions(ColumnFamilyHandle* column_family,
                            const std::unordered_map<std::string, std::string>& new_options) = 0;
  Status SetOptions(const std::unordered_map<std::string, std::string>& new_options) {
    return SetOptions(DefaultColumnFamily(), new_options);
  }
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) = 0;

  // Pause returns when running jobs have ended, also what gets back from an error; none begins
  // before Continue, unless Resume asks for it. Calls nest.
  virtual Status PauseBackgroundWork() = 0;
  virtual Status ContinueBackgroundWork() = 0;

  // Ends disable_auto_compactions for these column families.
  virtual Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& column_family_handles) = 0;

  // Running CompactRange calls end with Incomplete; further ones too until enabled again, as often
  // as they were disabled: an EnableManualCompaction that comes first counts as well.
  virtual void DisableManualCompaction() = 0;
  virtual void EnableManualCompaction() = 0;

  virtual int NumberLevels(ColumnFamilyHandle* column_family) = 0;
  int NumberLevels() { return NumberLevels(DefaultColumnFamily()); }
  virtual int MaxMemCompactionLevel(ColumnFamilyHandle* /*column_family*/) { return 0; }
  int MaxMemCompactionLevel() { return MaxMemCompactionLevel(DefaultColumnFamily()); }
  virtual int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) = 0;
  int Level0StopWriteTrigger() { return Level0StopWriteTrigger(DefaultColumnFamily()); }

  virtual const std::string& GetName() const = 0;
  virtual Env* GetEnv() const = 0;
  virtual FileSystem* GetFileSystem() const = 0;

  // Options in force now.
  virtual Options GetOptions(ColumnFamilyHandle* column_family) const = 0;
  Options GetOptions() const { return GetOptions(DefaultColumnFamily()); }
  virtual DBOptions GetDBOptions() const = 0;

  // Writes memtables to tables. With DBOptions::atomic_flush those of all column families,
  // whichever are named, as a batch over two is whole in tables only if both are flushed.
  // ColumnFamilyDropped: one is; nothing has been flushed.
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) = 0;
  Status Flush(const FlushOptions& options) { return Flush(options, DefaultColumnFamily()); }
  virtual Status Flush(const FlushOptions& options,
                       const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Hands the log's buffer to the system (and to stable storage if `sync`). For manual_wal_flush.
  virtual Status FlushWAL(bool /*sync*/) { return Status::NotSupported("FlushWAL"); }
  virtual Status FlushWAL(const FlushWALOptions& options) { return FlushWAL(options.sync); }

  // Brings what is in the log to stable storage.
  virtual Status SyncWAL() = 0;

  // Blocks writes until unlocked. Calls nest.
  virtual Status LockWAL() { return Status::NotSupported("LockWAL"); }
  virtual Status UnlockWAL() { return Status::NotSupported("UnlockWAL"); }

  virtual SequenceNumber GetLatestSequenceNumber() const = 0;

  // From now on versions of keys with timestamps below `ts_low` need not be kept, but for the
  // newest of them, and reads as of such a time are refused. `ts_low` is durable when this returns.
  // InvalidArgument: the column family has no timestamps, or of another size, or `ts_low` is below
  // the one in force. TryAgain: another call has raised it beyond `ts_low` meanwhile.
  virtual Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* /*column_family*/,
                                          std::string /*ts_low*/) {
    return Status::NotSupported("IncreaseFullHistoryTsLow");
  }
  // The full_history_ts_low in force; empty if there is none yet. InvalidArgument: there are no
  // timestamps.
  virtual Status GetFullHistoryTsLow(ColumnFamilyHandle* /*column_family*/,
                                     std::string* /*ts_low*/) {
    return Status::NotSupported("GetFullHistoryTsLow");
  }
  // The newest timestamp that was written to a column family, or empty if none was. Of what is in
  // tables all that is known is that it was below full_history_ts_low, so the answer then is
  // full_history_ts_low - 1. Reads every key in memory. NotSupported unless
  // persist_user_defined_timestamps is false; InvalidArgument: there are no timestamps.
  virtual Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* /*column_family*/,
                                               std::string* /*newest_timestamp*/) {
    return Status::NotSupported("GetNewestUserDefinedTimestamp");
  }

  // ---- Files ----

  // Calls nest: files are deleted again after as many Enable as Disable calls.
  virtual Status DisableFileDeletions() = 0;
  virtual Status EnableFileDeletions() = 0;

  // Names relative to the database, with a leading slash. manifest_file_size: bytes to copy.
  virtual Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                              bool flush_memtable = true) = 0;

  // Oldest first: those of the archive (WAL_ttl_seconds), then those that recovery would read. When
  // the database is read only, of the latter those that its opening has read, as far as it has read
  // them.
  virtual Status GetSortedWalFiles(VectorLogPtr& files) = 0;
  // The last of them, which is being written. NotSupported when the database is read only.
  virtual Status GetCurrentWalFile(std::unique_ptr<LogFile>* /*current_log_file*/) {
    return Status::NotSupported("GetCurrentWalFile");
  }

  // All files that are the database as it is at one moment: as many bytes of each as the list says,
  // in one directory, open as a database, in every recovery mode. Call DisableFileDeletions before,
  // and EnableFileDeletions after copying. Copy what has replacement_contents from there. Without a
  // flush it waits for no write. After an error *files is empty. Aborted: a flush is needed, and
  // LockWAL keeps it out.
  virtual Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& /*options*/,
                                         std::vector<LiveFileStorageInfo>* /*files*/) {
    return Status::NotSupported("GetLiveFilesStorageInfo");
  }

  // Replaces what the list has by the checksums of whole tables that the MANIFEST holds; those that
  // have none get kUnknownFileChecksum (file_checksum.h).
  virtual Status GetLiveFilesChecksumInfo(FileChecksumList* /*checksum_list*/) {
    return Status::NotSupported("GetLiveFilesChecksumInfo");
  }

  // Sets *iter to an iterator over what was written, from the batch that contains seq_number on;
  // 0 is taken as 1. It is not valid at first if that cannot be read yet. NotFound: seq_number is
  // above the latest sequence number, or no log has it (any more); *iter stays as it was.
  virtual Status GetUpdatesSince(SequenceNumber seq_number,
                                 std::unique_ptr<TransactionLogIterator>* iter,
                                 const TransactionLogIterator::ReadOptions& read_options =
                                     TransactionLogIterator::ReadOptions()) = 0;

  // Sets *stream to what was written from a position on that has a name and is kept, which is made
  // if it is not there (change_stream.h). Varve's own. NotFound: there is none, or, of a new one,
  // `from` is not written yet, or no log has it any more. Busy: another stream has the position.
  // Expired: it has lost its logs. InvalidArgument: the name, or a `from` before the position.
  virtual Status OpenChangeStream(const ChangeStreamOptions& /*options*/,
                                  std::unique_ptr<ChangeStream>* /*stream*/) {
    return Status::NotSupported("OpenChangeStream");
  }
  // Forgets a named position, and lets go of the logs that it held. NotFound: there is none. Busy:
  // a stream has it.
  virtual Status DropChangeStream(const std::string& /*name*/) {
    return Status::NotSupported("DropChangeStream");
  }

  // When the oldest of all live tables was made, in seconds since 1970. 0: of one it is not known;
  // the largest number: there are no tables.
  virtual Status GetCreationTimeOfOldestFile(uint64_t* /*creation_time*/) {
    return Status::NotSupported("GetCreationTimeOfOldestFile");
  }

  // All tables of all column families.
  virtual void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* /*metadata*/) {}

  virtual void GetColumnFamilyMetaData(ColumnFamilyHandle* /*column_family*/,
                                       ColumnFamilyMetaData* /*metadata*/) {}
  void GetColumnFamilyMetaData(ColumnFamilyMetaData* metadata) {
    GetColumnFamilyMetaData(DefaultColumnFamily(), metadata);
  }
  virtual void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* /*metadata*/) {}

  // Files of an SstFileWriter become tables, newer than all writes before the call; writes beside
  // it are newer, seen at once. Readers see all files or none, snapshots none; GetSnapshot waits.
  virtual Status IngestExternalFile(ColumnFamilyHandle* column_family,
                                    const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options) = 0;
  Status IngestExternalFile(const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) {
    return IngestExternalFile(DefaultColumnFamily(), external_files, options);
  }

  // The same over several column families, all or nothing. InvalidArgument besides: one is given
  // twice, or there are checksums for some files only.
  virtual Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) = 0;

  // The first of two steps: does all that takes time. Files are staged in the directory of the
  // database, synced, and looked into; no reader and no writer sees anything of it, and sources
  // stay. *handle is null after an error.
  virtual Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& /*args*/,
                                      std::unique_ptr<FileIngestionHandle>* /*handle*/) {
    return Status::NotSupported("PrepareFileIngestion");
  }
  Status PrepareFileIngestion(ColumnFamilyHandle* column_family,
                              const std::vector<std::string>& external_files,
                              const IngestExternalFileOptions& options,
                              std::unique_ptr<FileIngestionHandle>* handle) {
    IngestExternalFileArg arg;
    arg.column_family = column_family;
    arg.external_files = external_files;
    arg.options = options;
    return PrepareFileIngestion({arg}, handle);
  }
  // The second step, of one or of several, which come into force at once or not.
  virtual Status CommitFileIngestionHandles(const std::vector<FileIngestionHandle*>& /*handles*/) {
    return Status::NotSupported("CommitFileIngestionHandles");
  }
  // Commits a single handle.
  Status CommitFileIngestionHandle(FileIngestionHandle* handle) {
    return CommitFileIngestionHandles({handle});
  }

  // A new column family of the tables that Checkpoint::ExportColumnFamily has written, of several
  // exports only if their keys lie apart; all of it, or none (utilities/checkpoint.h says more).
  virtual Status CreateColumnFamilyWithImport(
      const ColumnFamilyOptions& /*options*/, const std::string& /*column_family_name*/,
      const ImportColumnFamilyOptions& /*import_options*/,
      const std::vector<const ExportImportFilesMetaData*>& /*metadatas*/,
      ColumnFamilyHandle** /*handle*/) {
    return Status::NotSupported("CreateColumnFamilyWithImport");
  }
  Status CreateColumnFamilyWithImport(const ColumnFamilyOptions& options,
                                      const std::string& column_family_name,
                                      const ImportColumnFamilyOptions& import_options,
                                      const ExportImportFilesMetaData& metadata,
                                      ColumnFamilyHandle** handle) {
    return CreateColumnFamilyWithImport(options, column_family_name, import_options,
                                        std::vector<const ExportImportFilesMetaData*>{&metadata},
                                        handle);
  }

  // Removes all keys outside of [begin_key, end_key), at once, then from the files. Snapshots,
  // other writes, timestamps: as Excise.
  virtual Status ClipColumnFamily(ColumnFamilyHandle* /*column_family*/, const Slice& /*begin_key*/,
                                  const Slice& /*end_key*/) {
    return Status::NotSupported("ClipColumnFamily");
  }

  // Moves the tables of L0 to a deeper level, without reading them. InvalidArgument: there is no
  // such level, it or one between has tables, or tables of L0 overlap or are being compacted.
  virtual Status PromoteL0(ColumnFamilyHandle* /*column_family*/, int /*target_level*/) {
    return Status::NotSupported("PromoteL0");
  }

  // Removes [start, limit), at once and durably; tables in it leave unread unless a snapshot is
  // older, which shows what it showed. Without a bound it is that of the keys there are: writes
  // beyond it may come after. NotSupported with timestamps. After an error it may be in force.
  virtual Status Excise(ColumnFamilyHandle* /*column_family*/, const RangeOpt& /*range*/) {
    return Status::NotSupported("Excise");
  }

  // Reads all tables and compares the checksum of every block, of those that no read uses, too.
  virtual Status VerifyChecksum(const ReadOptions& read_options) = 0;
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  // The same for whole files (file_checksum.h); tables without such a checksum are passed over.
  // Corruption names the file, the expected and the actual checksum. InvalidArgument without
  // DBOptions::file_checksum_gen_factory; NotSupported if that does not know a file's function.
  virtual Status VerifyFileChecksums(const ReadOptions& /*read_options*/) {
    return Status::NotSupported("VerifyFileChecksums");
  }

  // The database's own identity, and one of this opening.
  virtual Status GetDbIdentity(std::string& identity) const = 0;
  virtual Status GetDbSessionId(std::string& session_id) const = 0;

  virtual Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                          TablePropertiesCollection* props) = 0;
  Status GetPropertiesOfAllTables(TablePropertiesCollection* props) {
    return GetPropertiesOfAllTables(DefaultColumnFamily(), props);
  }
  virtual Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                              std::size_t n, TablePropertiesCollection* props) = 0;

  // Deletes tables that lie wholly within the ranges; see convenience.h, and the trap there.
  virtual Status DeleteFilesInRanges(ColumnFamilyHandle* /*column_family*/,
                                     const RangePtr* /*ranges*/, size_t /*n*/,
                                     bool /*include_end*/ = true) {
    return Status::NotSupported("DeleteFilesInRanges");
  }

  Status DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangeOpt* ranges, size_t n,
                             bool include_end = true) {
    std::vector<RangePtr> pointers;
    pointers.reserve(n);
    for (size_t i = 0; i < n; ++i) {
      pointers.emplace_back(ranges[i].start.AsPtr(), ranges[i].limit.AsPtr());
    }
    return DeleteFilesInRanges(column_family, pointers.data(), n, include_end);
  }

  // Ends all background work for good; see convenience.h.
  virtual void CancelAllBackgroundWork(bool /*wait*/) {}

  // The innermost DB of wrappers.
  virtual DB* GetRootDB() { return this; }

  // Of secondaries (varve/secondary.h; NotSupported elsewhere): to the newest state of the primary;
  // to the primary's place, when that is gone; how far it is behind.
  virtual Status TryCatchUpWithPrimary() { return Status::NotSupported("TryCatchUpWithPrimary"); }
  virtual Status Promote(const PromoteOptions& /*options*/) {
    return Status::NotSupported("Promote");
  }
  virtual Status GetSecondaryLag(SecondaryLag* /*lag*/) {
    return Status::NotSupported("GetSecondaryLag");
  }

 private:
  template <typename OpenRaw>
  static Status Adopt(std::unique_ptr<DB>* dbptr, OpenRaw open_raw) {
    dbptr->reset();
    DB* raw = nullptr;
    Status s = open_raw(&raw);
    dbptr->reset(raw);
    return s;
  }
};

inline DB::SizeApproximationFlags operator&(DB::SizeApproximationFlags a,
                                            DB::SizeApproximationFlags b) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}

inline DB::SizeApproximationFlags operator|(DB::SizeApproximationFlags a,
                                            DB::SizeApproximationFlags b) {
  return static_cast<DB::SizeApproximationFlags>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

inline Status DB::GetApproximateSizes(ColumnFamilyHandle* column_family, const Range* ranges, int n,
                                      uint64_t* sizes, SizeApproximationFlags include_flags) {
  const auto has = [include_flags](SizeApproximationFlags flag) {
    return (include_flags & flag) == flag;
  };
  SizeApproximationOptions options;
  options.include_memtables = has(SizeApproximationFlags::INCLUDE_MEMTABLES);
  options.include_files = has(SizeApproximationFlags::INCLUDE_FILES);
  return GetApproximateSizes(options, column_family, ranges, n, sizes);
}

inline std::vector<Status> DB::MultiGet(const ReadOptions& options,
                                        const std::vector<ColumnFamilyHandle*>& column_families,
                                        const std::vector<Slice>& keys,
                                        std::vector<std::string>* values,
                                        std::vector<std::string>* timestamps) {
  const size_t n = keys.size();
  std::vector<Status> statuses(n);
  values->assign(n, std::string());
  if (timestamps != nullptr) timestamps->assign(n, std::string());
  if (column_families.size() != n) {
    statuses.assign(n, Status::InvalidArgument("MultiGet: one column family per key needed"));
    return statuses;
  }
  std::vector<ColumnFamilyHandle*> families(column_families);
  std::vector<PinnableSlice> pinned;
  pinned.reserve(n);
  for (size_t i = 0; i < n; ++i) pinned.emplace_back(&(*values)[i]);
  MultiGet(options, n, families.data(), keys.data(), pinned.data(),
           timestamps == nullptr ? nullptr : timestamps->data(), statuses.data());
  for (size_t i = 0; i < n; ++i) {
    if (statuses[i].ok() && pinned[i].IsPinned()) {
      (*values)[i].assign(pinned[i].data(), pinned[i].size());
    }
  }
  return statuses;
}

// Deletes a database that is not open, with all its files, tables at the rate of sst_file_manager,
// which it waits for. OK if there is none. Of wal_dir only logs go, of db_paths and cf_paths only
// tables, and none where another database has its own directory.
VARVE_EXPORT Status DestroyDB(const std::string& name, const Options& options,
                              const std::vector<ColumnFamilyDescriptor>& column_families =
                                  std::vector<ColumnFamilyDescriptor>());

// Makes a database that cannot be opened openable again, and keeps what can be read; of a healthy
// one nothing is changed, and nothing is ever deleted: see varve/utilities/repair.h, which has a
// dry run and a report, too. Column families that are not listed get `unknown_cf_opts`; without
// those they are InvalidArgument. The last form uses the options for all column families.
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families);
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families,
                             const ColumnFamilyOptions& unknown_cf_opts);
VARVE_EXPORT Status RepairDB(const std::string& dbname, const Options& options);

}  // namespace varve
