// SPDX-License-Identifier: Apache-2.0
#pragma once

// DB is a persistent ordered map from keys to values, divided into column families.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "varve/attribute_groups.h"
#include "varve/closed_database.h"
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
class Replayer;
class StatsHistoryIterator;
class TraceReader;
class TraceWriter;
class UserWriteCallback;
struct ChangeStreamOptions;
struct PromoteOptions;
struct SecondaryLag;

// All methods may be called by several threads at once unless they say otherwise. Calls without a
// column family use the default one. Keys and ends of ranges are user keys without timestamps. A
// column family whose comparator has timestamps requires one with each write (`ts`) and each read
// (ReadOptions::timestamp). InvalidArgument, with nothing done, if it is missing, has another size,
// or is given for a column family without timestamps.
//
// Timestamps of a key may be written in any order. A read at a timestamp sees what has been written
// so far with that timestamp or an older one, except versions that were written before a range
// deletion it sees. Among the rest the newest timestamp wins, and for equal timestamps the last
// write; merge operands apply to the next version in this order. Reads are fastest if timestamps
// never descend. Below full_history_ts_low they must not: of versions written out of order there,
// it is undefined which one remains.
//
// Subclasses implement the virtual methods; the others are shorthands for them.
class VARVE_EXPORT DB {
 public:
  // ---- Opening and closing ----

  // Opens the database in directory `name`. On success the caller owns *dbptr, here and below;
  // after an error it is null. Relative paths (`name`, wal_dir, db_log_dir) are resolved once, so
  // later changes of the working directory have no effect, if the Env supports absolute paths.
  static Status Open(const Options& options, const std::string& name, DB** dbptr);
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<DB>* dbptr) {
    return Adopt(dbptr, [&](DB** db) { return Open(options, name, db); });
  }

  // All existing families must be listed, also the default one; the first options of a name count.
  // Handles, one for each entry, are in that order. The caller deletes them; see Close.
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, DB** dbptr);
  static Status Open(const DBOptions& db_options, const std::string& name,
                     const std::vector<ColumnFamilyDescriptor>& column_families,
                     std::vector<ColumnFamilyHandle*>* handles, std::unique_ptr<DB>* dbptr) {
    return Adopt(dbptr,
                 [&](DB** db) { return Open(db_options, name, column_families, handles, db); });
  }

  // Opens the database and permanently removes all versions newer than `trim_ts`, which must have
  // the timestamp size of the column families that have timestamps; these are rewritten before the
  // call returns. NotSupported for FIFO; InvalidArgument with avoid_flush_during_recovery.
  static Status OpenAndTrimHistory(const DBOptions& db_options, const std::string& name,
                                   const std::vector<ColumnFamilyDescriptor>& column_families,
                                   std::vector<ColumnFamilyHandle*>* handles, DB** dbptr,
                                   std::string trim_ts);

  // Opens without changing any file; writes return NotSupported. A subset of the column families
  // may be listed. With error_if_wal_file_exists, a directory that holds logs is Corruption.
  // Options for writing, flushing and compacting that could be refused (unordered_write,
  // compaction_style etc.) take their defaults, in GetOptions too. Another process may write to the
  // database meanwhile: the DB shows a state not older than the call, and keeps all tables open for
  // later reads. With max_open_files other than -1 a later read may fail with IOError for a file
  // that the writer has deleted; the database must then be opened again.
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

  // Opens, for reads, a database that another process (its primary) writes, and follows it; see
  // varve/secondary.h. The LOG goes into `secondary_path`.
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

  // Opens, for reads, a database that another process (its leader) writes, and follows it by
  // itself; see varve/secondary.h. `name` is a directory of the follower's own.
  static Status OpenAsFollower(const Options& options, const std::string& name,
                               const std::string& leader_path, std::unique_ptr<DB>* dbptr);
  static Status OpenAsFollower(const DBOptions& db_options, const std::string& name,
                               const std::string& leader_path,
                               const std::vector<ColumnFamilyDescriptor>& column_families,
                               std::vector<ColumnFamilyHandle*>* handles,
                               std::unique_ptr<DB>* dbptr);

  // Lists the names of all column families of a database, which need not be open.
  static Status ListColumnFamilies(const DBOptions& db_options, const std::string& name,
                                   std::vector<std::string>* column_families);

  DB() = default;
  DB(const DB&) = delete;
  DB& operator=(const DB&) = delete;

  // Closes the database unless Close was called; the status is lost then.
  virtual ~DB() = default;

  // Ends background work, flushes unless avoid_flush_during_shutdown, syncs the log. Returns
  // Aborted while snapshots are held (the message counts all held objects) or LockWAL is in force.
  // Iterators and column family handles may outlive Close and the DB (RocksDB does not allow it).
  // Later calls return ShutdownInProgress.
  //
  // In a child process made by fork(), every call returns InvalidArgument (an empty result if it
  // has no Status) and touches no file; deleting the DB there only frees it. Its iterators must not
  // be used there. The child may open other databases.
  virtual Status Close() { return Status::NotSupported("Close"); }

  // Clears a recoverable error and restarts the count of automatic recovery attempts. OK: writes
  // work again, and failed compactions are retried. Busy while an automatic attempt runs.
  virtual Status Resume() { return Status::NotSupported("Resume"); }

  // ---- Column families ----

  // Creates a family. *handle is set even if the OPTIONS file then cannot be written, else null.
  virtual Status CreateColumnFamily(const ColumnFamilyOptions& options,
                                    const std::string& column_family_name,
                                    ColumnFamilyHandle** handle) = 0;

  // Create several families; stop at the first error. `handles` has those created before it.
  virtual Status CreateColumnFamilies(const ColumnFamilyOptions& options,
                                      const std::vector<std::string>& column_family_names,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;
  virtual Status CreateColumnFamilies(const std::vector<ColumnFamilyDescriptor>& column_families,
                                      std::vector<ColumnFamilyHandle*>* handles) = 0;

  // Drop families; their data stays readable through open handles and iterators. InvalidArgument,
  // with nothing dropped, if one handle is of another database or the default column family.
  virtual Status DropColumnFamily(ColumnFamilyHandle* column_family) = 0;
  virtual Status DropColumnFamilies(const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Deletes the handle. InvalidArgument, without deleting it, for DefaultColumnFamily() or a handle
  // of another database.
  virtual Status DestroyColumnFamilyHandle(ColumnFamilyHandle* column_family) = 0;

  // Returns the handle of the default column family, which the DB owns.
  virtual ColumnFamilyHandle* DefaultColumnFamily() const = 0;

  // ---- Writing ----
  //
  // `ts` is the user timestamp of the update. It is required, with the comparator's size, if the
  // column family has timestamps, and not allowed otherwise: InvalidArgument, with nothing logged.
  // WriteOptions says what a write promises that returned OK, or an error.

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

  // Sets the value of a key to an entity of these columns, in any order (varve/wide_columns.h).
  // Corruption if two columns have one name, InvalidArgument if the family has timestamps.
  virtual Status PutEntity(const WriteOptions& /*options*/, ColumnFamilyHandle* /*column_family*/,
                           const Slice& /*key*/, const WideColumns& /*columns*/) {
    return Status::NotSupported("PutEntity");
  }
  // Does so for each group in its column family, atomically. InvalidArgument also without a group.
  virtual Status PutEntity(const WriteOptions& /*options*/, const Slice& /*key*/,
                           const AttributeGroups& /*attribute_groups*/) {
    return Status::NotSupported("PutEntity");
  }

  // Deletes the key. Returns OK if the key was absent.
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

  // Deletes a key that was Put exactly once since its last deletion; else the result is undefined.
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

  // Deletes [begin_key, end_key). Returns InvalidArgument if end_key is before begin_key.
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

  // Adds an operand to the value; reads combine them. NotSupported without a merge operator.
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value) = 0;
  virtual Status Merge(const WriteOptions& options, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& ts, const Slice& value) = 0;
  Status Merge(const WriteOptions& options, const Slice& key, const Slice& value) {
    return Merge(options, DefaultColumnFamily(), key, value);
  }

  // Applies the batch atomically. The batch may be used again afterwards.
  virtual Status Write(const WriteOptions& options, WriteBatch* updates) = 0;

  // Like Write, with callbacks at its stages (varve/user_write_callback.h); `callback` may be null.
  virtual Status WriteWithCallback(const WriteOptions& /*options*/, WriteBatch* /*updates*/,
                                   UserWriteCallback* /*callback*/) {
    return Status::NotSupported("WriteWithCallback");
  }

  // ---- Reading ----

  // Returns NotFound if the key is absent. `timestamp` may be nullptr. A PinnableSlice, here and in
  // the other calls, may point into the database's memory: reset or destroy it before the database
  // is closed.
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
             std::string* value, std::string* timestamp);
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

  // Returns the key's columns: those of an entity, or the default column alone for a plain value.
  // Errors as for Get, and Corruption if the entity is ill-formed; *columns is then without
  // columns.
  virtual Status GetEntity(const ReadOptions& /*options*/, ColumnFamilyHandle* /*column_family*/,
                           const Slice& /*key*/, PinnableWideColumns* /*columns*/) {
    return Status::NotSupported("GetEntity");
  }
  // Reads one key from the column families that *result names, at one state. Each group has its
  // own status. Not OK only if `result` is null, or for all groups alike.
  virtual Status GetEntity(const ReadOptions& /*options*/, const Slice& /*key*/,
                           PinnableAttributeGroups* /*result*/) {
    return Status::NotSupported("GetEntity");
  }

  // Returns the key's merge operands, oldest first, after a base value if there is one; the base is
  // the default column of an entity. Incomplete, with the number needed in *number_of_operands, if
  // there are more than the options expect: `merge_operands` has expected_max_number_of_operands
  // elements. The slices may share memory, freed with the last one. InvalidArgument: a pointer is
  // null.
  virtual Status GetMergeOperands(const ReadOptions& options, ColumnFamilyHandle* column_family,
                                  const Slice& key, PinnableSlice* merge_operands,
                                  GetMergeOperandsOptions* get_merge_operands_options,
                                  int* number_of_operands) = 0;

  // Gets num_keys keys at one state of the database, common to all column families. `values` and
  // `statuses` (and `timestamps`, unless nullptr) have num_keys elements; each status is for its
  // key alone: OK, NotFound, or an error. Keys may repeat. sorted_input promises that keys ascend
  // within ascending column families; violations are detected and answered correctly, too.
  //
  // ReadOptions: past `deadline` the remaining keys get TimedOut, and so do keys whose blocks would
  // have to be read. Once the values exceed `value_size_soft_limit` the following keys, in order,
  // get Aborted.
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

  // Gets the columns of num_keys keys, with the meaning of MultiGet and GetEntity.
  virtual void MultiGetEntity(const ReadOptions& /*options*/, ColumnFamilyHandle* /*column_family*/,
                              size_t num_keys, const Slice* /*keys*/,
                              PinnableWideColumns* /*results*/, Status* statuses,
                              bool /*sorted_input*/ = false) {
    for (size_t i = 0; i < num_keys; i++) statuses[i] = Status::NotSupported("MultiGetEntity");
  }
  virtual void MultiGetEntity(const ReadOptions& /*options*/, size_t num_keys,
                              ColumnFamilyHandle** /*column_families*/, const Slice* /*keys*/,
                              PinnableWideColumns* /*results*/, Status* statuses,
                              bool /*sorted_input*/ = false) {
    for (size_t i = 0; i < num_keys; i++) statuses[i] = Status::NotSupported("MultiGetEntity");
  }
  // Reads key i from the column families that results[i] names.
  virtual void MultiGetEntity(const ReadOptions& /*options*/, size_t num_keys,
                              const Slice* /*keys*/, PinnableAttributeGroups* results) {
    for (size_t i = 0; i < num_keys; i++)
      for (auto& group : results[i]) group.SetStatus(Status::NotSupported("MultiGetEntity"));
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

  // Returns false if the key is surely absent, else true, also after an error. Does no I/O.
  // `value`, `timestamp` and `value_found` may be null. *value_found becomes true if *value was
  // filled in, else false.
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

  // Returns an unpositioned iterator, never nullptr: after an error its status is that error. The
  // caller owns it; see Close.
  virtual Iterator* NewIterator(const ReadOptions& options, ColumnFamilyHandle* column_family) = 0;
  Iterator* NewIterator(const ReadOptions& options) {
    return NewIterator(options, DefaultColumnFamily());
  }

  // Makes an iterator for each family, all over the same state of the database. The caller owns
  // them. After an error none is made.
  virtual Status NewIterators(const ReadOptions& options,
                              const std::vector<ColumnFamilyHandle*>& column_families,
                              std::vector<Iterator*>* iterators) = 0;

  // Make an iterator over several column families at one state, never null. The first shows the
  // columns of all together: a later family's column replaces those of its name in earlier ones.
  // The second shows the columns of each. The iterator's status is InvalidArgument if there is no
  // family, or if comparators differ.
  virtual std::unique_ptr<Iterator> NewCoalescingIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;
  virtual std::unique_ptr<AttributeGroupIterator> NewAttributeGroupIterator(
      const ReadOptions& options, const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Returns a state for ReadOptions::snapshot, to be released, not deleted. Returns nullptr if the
  // database is closed, or if a callback would have to wait for an ingestion.
  virtual const Snapshot* GetSnapshot() = 0;
  virtual void ReleaseSnapshot(const Snapshot* snapshot) = 0;

  // ---- Properties ----

  // Names for GetProperty etc. Those that end in "level" need a level number appended.
  struct Properties {
    inline static const std::string kNumFilesAtLevelPrefix = "rocksdb.num-files-at-level";
    // Bytes of keys and values per byte of the level's tables; -1 if unknown.
    inline static const std::string kCompressionRatioAtLevelPrefix =
        "rocksdb.compression-ratio-at-level";

    // Properties with readable text.
    inline static const std::string kStats = "rocksdb.stats";
    inline static const std::string kSSTables = "rocksdb.sstables";
    inline static const std::string kCFStats = "rocksdb.cfstats";  // Also a map.
    inline static const std::string kCFStatsNoFileHistogram = "rocksdb.cfstats-no-file-histogram";
    // Has no value, as the histogram is not kept.
    inline static const std::string kCFFileHistogram = "rocksdb.cf-file-histogram";
    inline static const std::string kCFWriteStallStats = "rocksdb.cf-write-stall-stats";
    inline static const std::string kDBWriteStallStats = "rocksdb.db-write-stall-stats";
    // Also a map, with totals of writes if DBOptions::statistics is set.
    inline static const std::string kDBStats = "rocksdb.dbstats";
    inline static const std::string kLevelStats = "rocksdb.levelstats";
    // Contents of the block cache by role, also as a map (BlockCacheEntryStatsMapKeys). The cache
    // is scanned at most every ten seconds, for the fast form every three minutes. No value without
    // a block cache.
    inline static const std::string kBlockCacheEntryStats = "rocksdb.block-cache-entry-stats";
    inline static const std::string kFastBlockCacheEntryStats =
        "rocksdb.fast-block-cache-entry-stats";
    inline static const std::string kOptionsStatistics = "rocksdb.options-statistics";
    // Sums over the properties of all tables, or of those of the level whose number is appended;
    // also maps (TableProperties::GetAggregatablePropertiesAsMap). Opens tables that are not open.
    // No value if that fails, or after Close.
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
    // Has no value, as tables do not know the age of their oldest key.
    inline static const std::string kEstimateOldestKeyTime = "rocksdb.estimate-oldest-key-time";
    // Bytes of tables: of all that are readable through any version, of the current version, and of
    // unreadable ones whose deletion has not begun.
    inline static const std::string kTotalSstFilesSize = "rocksdb.total-sst-files-size";
    inline static const std::string kLiveSstFilesSize = "rocksdb.live-sst-files-size";
    inline static const std::string kObsoleteSstFilesSize = "rocksdb.obsolete-sst-files-size";
    // The number of a Temperature is appended.
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
    // Always the largest number, as no table is kept because of its number.
    inline static const std::string kMinObsoleteSstNumberToKeep =
        "rocksdb.min-obsolete-sst-number-to-keep";

    // Numbers: caches.
    inline static const std::string kBlockCacheCapacity = "rocksdb.block-cache-capacity";
    inline static const std::string kBlockCacheUsage = "rocksdb.block-cache-usage";
    inline static const std::string kBlockCachePinnedUsage = "rocksdb.block-cache-pinned-usage";

    // These describe the family's blob files. Without a blob cache, its own have no value.
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

  // Returns false for an unknown name or, below, one that has no such form.
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

  // Sums over all column families; a value of the whole database counts once, and so does a block
  // cache that column families share.
  virtual bool GetAggregatedIntProperty(const Slice& property, uint64_t* value) = 0;

  // Resets the counters of kStats, not DBOptions::statistics.
  virtual Status ResetStats() { return Status::NotSupported("ResetStats"); }

  // Returns the records of DBOptions::statistics from `start_time` (inclusive) to `end_time`
  // (exclusive), in seconds since 1970 (stats_history.h, stats_persist_period_sec).
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
  friend SizeApproximationFlags operator&(SizeApproximationFlags a, SizeApproximationFlags b) {
    return static_cast<SizeApproximationFlags>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
  }
  friend SizeApproximationFlags operator|(SizeApproximationFlags a, SizeApproximationFlags b) {
    return static_cast<SizeApproximationFlags>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
  }

  // Sets sizes[i] to the approximate bytes stored for ranges[i], 0 <= i < n.
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

  // Estimates the entries and bytes in memtables within the range.
  virtual void GetApproximateMemTableStats(ColumnFamilyHandle* column_family, const Range& range,
                                           uint64_t* count, uint64_t* size) = 0;
  void GetApproximateMemTableStats(const Range& range, uint64_t* count, uint64_t* size) {
    GetApproximateMemTableStats(DefaultColumnFamily(), range, count, size);
  }

  // ---- Maintenance ----

  // Compacts [begin, end] down to the last level that has data; nullptr: unbounded on that side.
  virtual Status CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* column_family,
                              const Slice* begin, const Slice* end) = 0;
  Status CompactRange(const CompactRangeOptions& options, const Slice* begin, const Slice* end) {
    return CompactRange(options, DefaultColumnFamily(), begin, end);
  }

  // Compacts the named tables, and others that must be included, into output_level, in the
  // directory with index output_path_id of db_paths or cf_paths; -1: the level's own directory.
  // Directories in names are ignored. Appends the paths of the outputs to *output_file_names, and
  // describes the job in *compaction_job_info; both pointers may be null.
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

  // Marks the tables in the range for background compaction, except those of the last level that
  // has data; nullptr: unbounded on that side.
  virtual Status SuggestCompactRange(ColumnFamilyHandle* /*column_family*/, const Slice* /*begin*/,
                                     const Slice* /*end*/) {
    return Status::NotSupported("SuggestCompactRange");
  }

  // Waits until no flush and no compaction is due.
  virtual Status WaitForCompact(const WaitForCompactOptions& options) = 0;

  // Changes dynamic options, all of them, or none if an error is returned; exception: with
  // DBOptions::fail_if_options_file_error the error may concern the OPTIONS file, and says so.
  // Struct options are set by field ("compression_opts.level") or whole ("compression_opts" =
  // "{level=3;window_bits=-14}"). "block_based_table_factory" =
  // "{block_size=8192;filter_policy=bloomfilter:10:false}", or
  // "block_based_table_factory.block_size", applies to tables built later; options for reading and
  // caching tables (block_cache, no_block_cache, pinning, read-ahead) are InvalidArgument.
  virtual Status SetOptions(ColumnFamilyHandle* column_family,
                            const std::unordered_map<std::string, std::string>& new_options) = 0;
  Status SetOptions(const std::unordered_map<std::string, std::string>& new_options) {
    return SetOptions(DefaultColumnFamily(), new_options);
  }
  virtual Status SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) = 0;

  // Pause returns when all running jobs have ended, error recovery too; none starts before
  // Continue, unless Resume requires it. Calls nest.
  virtual Status PauseBackgroundWork() = 0;
  virtual Status ContinueBackgroundWork() = 0;

  // Sets disable_auto_compactions of these column families to false.
  virtual Status EnableAutoCompaction(
      const std::vector<ColumnFamilyHandle*>& column_family_handles) = 0;

  // Running and later CompactRange calls return Incomplete until there were as many Enable as
  // Disable calls; an Enable that comes first counts, too.
  virtual void DisableManualCompaction() = 0;
  virtual void EnableManualCompaction() = 0;

  // Return num_levels and level0_stop_writes_trigger of a family; 0 for an invalid handle.
  // MaxMemCompactionLevel is always 0: flushes write to L0.
  virtual int NumberLevels(ColumnFamilyHandle* column_family) = 0;
  int NumberLevels() { return NumberLevels(DefaultColumnFamily()); }
  virtual int MaxMemCompactionLevel(ColumnFamilyHandle* /*column_family*/) { return 0; }
  int MaxMemCompactionLevel() { return MaxMemCompactionLevel(DefaultColumnFamily()); }
  virtual int Level0StopWriteTrigger(ColumnFamilyHandle* column_family) = 0;
  int Level0StopWriteTrigger() { return Level0StopWriteTrigger(DefaultColumnFamily()); }

  // Return the name that Open was given, and the Env and the file system in use.
  virtual const std::string& GetName() const = 0;
  virtual Env* GetEnv() const = 0;
  virtual FileSystem* GetFileSystem() const = 0;

  // Return the options now in force.
  virtual Options GetOptions(ColumnFamilyHandle* column_family) const = 0;
  Options GetOptions() const { return GetOptions(DefaultColumnFamily()); }
  virtual DBOptions GetDBOptions() const = 0;

  // Flushes memtables to tables. With DBOptions::atomic_flush those of all column families are
  // flushed, whichever are named, so that batches stay atomic across them. ColumnFamilyDropped if
  // one was dropped; nothing is flushed then.
  virtual Status Flush(const FlushOptions& options, ColumnFamilyHandle* column_family) = 0;
  Status Flush(const FlushOptions& options) { return Flush(options, DefaultColumnFamily()); }
  virtual Status Flush(const FlushOptions& options,
                       const std::vector<ColumnFamilyHandle*>& column_families) = 0;

  // Writes the log's buffer to the system, and syncs it if `sync`. For manual_wal_flush.
  virtual Status FlushWAL(bool /*sync*/) { return Status::NotSupported("FlushWAL"); }
  virtual Status FlushWAL(const FlushWALOptions& options) { return FlushWAL(options.sync); }

  // Syncs the log to stable storage.
  virtual Status SyncWAL() = 0;

  // LockWAL waits for running writes, writes the log's buffer to the system, and blocks writes
  // until there were as many UnlockWAL as LockWAL calls. UnlockWAL returns Aborted if nothing is
  // locked.
  virtual Status LockWAL() { return Status::NotSupported("LockWAL"); }
  virtual Status UnlockWAL() { return Status::NotSupported("UnlockWAL"); }

  // Returns the number of the newest visible write; with unordered_write of the newest one begun.
  virtual SequenceNumber GetLatestSequenceNumber() const = 0;

  // Versions with timestamps below `ts_low`, except a key's newest one, may be dropped from now on,
  // and reads below it are refused. `ts_low` is durable when this returns. InvalidArgument: the
  // column family has no timestamps or another size, or `ts_low` is below the current one.
  // TryAgain: another call has raised it above `ts_low` meanwhile.
  virtual Status IncreaseFullHistoryTsLow(ColumnFamilyHandle* /*column_family*/,
                                          std::string /*ts_low*/) {
    return Status::NotSupported("IncreaseFullHistoryTsLow");
  }
  // Returns full_history_ts_low, empty if never set. InvalidArgument without timestamps.
  virtual Status GetFullHistoryTsLow(ColumnFamilyHandle* /*column_family*/,
                                     std::string* /*ts_low*/) {
    return Status::NotSupported("GetFullHistoryTsLow");
  }
  // Returns the newest timestamp written to a column family, empty if none was. Tables store only
  // that theirs are below full_history_ts_low; if data is only there, this is full_history_ts_low -
  // 1. Reads every key in memory. NotSupported unless persist_user_defined_timestamps is false;
  // InvalidArgument without timestamps.
  virtual Status GetNewestUserDefinedTimestamp(ColumnFamilyHandle* /*column_family*/,
                                               std::string* /*newest_timestamp*/) {
    return Status::NotSupported("GetNewestUserDefinedTimestamp");
  }

  // ---- Files ----

  // Stop and restart the deletion of files. It restarts after as many Enable as Disable calls.
  virtual Status DisableFileDeletions() = 0;
  virtual Status EnableFileDeletions() = 0;

  // Lists names relative to the database, with a leading slash. manifest_file_size: bytes to copy.
  virtual Status GetLiveFiles(std::vector<std::string>& files, uint64_t* manifest_file_size,
                              bool flush_memtable = true) = 0;

  // Lists logs, oldest first: archived ones (WAL_ttl_seconds), then those that recovery would read.
  // A read-only database lists, of the latter, those that its open has read, as far as it has read
  // them.
  virtual Status GetSortedWalFiles(VectorLogPtr& files) = 0;
  // Returns the log being written. NotSupported if the database is read-only.
  virtual Status GetCurrentWalFile(std::unique_ptr<LogFile>* /*current_log_file*/) {
    return Status::NotSupported("GetCurrentWalFile");
  }

  // Lists all files of the database at one moment. With the listed number of bytes of each, copied
  // to one directory, they open as a database in every recovery mode. Call DisableFileDeletions
  // before, and EnableFileDeletions after copying. Use replacement_contents where it is set.
  // Without a flush no write is waited for. After an error *files is empty. Aborted: a flush is
  // needed, but LockWAL is in force.
  virtual Status GetLiveFilesStorageInfo(const LiveFilesStorageInfoOptions& /*options*/,
                                         std::vector<LiveFileStorageInfo>* /*files*/) {
    return Status::NotSupported("GetLiveFilesStorageInfo");
  }

  // Replaces the list's contents by the table file checksums stored in the MANIFEST; tables without
  // one get kUnknownFileChecksum (file_checksum.h).
  virtual Status GetLiveFilesChecksumInfo(FileChecksumList* /*checksum_list*/) {
    return Status::NotSupported("GetLiveFilesChecksumInfo");
  }

  // Sets *iter to an iterator over the batches from the one that contains seq_number on; 0 means 1.
  // It may be invalid until the first can be read. NotFound, with *iter unchanged: seq_number is
  // above the latest sequence number, or no log has it (any more).
  virtual Status GetUpdatesSince(SequenceNumber seq_number,
                                 std::unique_ptr<TransactionLogIterator>* iter,
                                 const TransactionLogIterator::ReadOptions& read_options =
                                     TransactionLogIterator::ReadOptions()) = 0;

  // Sets *stream to the updates after a named, persistent position, which is created if missing
  // (change_stream.h). Not in RocksDB. NotFound: there is none, or, for a new one, `from` is not
  // written yet or no longer in a log. Busy: another stream uses the position. Expired: its logs
  // are gone. InvalidArgument: the name, or `from` before the position.
  virtual Status OpenChangeStream(const ChangeStreamOptions& /*options*/,
                                  std::unique_ptr<ChangeStream>* /*stream*/) {
    return Status::NotSupported("OpenChangeStream");
  }
  // Deletes a named position and releases its logs. NotFound: none is there. Busy: it is in use.
  virtual Status DropChangeStream(const std::string& /*name*/) {
    return Status::NotSupported("DropChangeStream");
  }

  // Returns the creation time of the oldest live table, in seconds since 1970. 0: that of some
  // table is unknown; the largest number: there are no tables.
  virtual Status GetCreationTimeOfOldestFile(uint64_t* /*creation_time*/) {
    return Status::NotSupported("GetCreationTimeOfOldestFile");
  }

  // Lists all tables of all column families. Here and below the result is empty after an error.
  virtual void GetLiveFilesMetaData(std::vector<LiveFileMetaData>* /*metadata*/) {}

  // Describe the tables of one column family, or of all, level by level (metadata.h).
  virtual void GetColumnFamilyMetaData(ColumnFamilyHandle* /*column_family*/,
                                       ColumnFamilyMetaData* /*metadata*/) {}
  void GetColumnFamilyMetaData(ColumnFamilyMetaData* metadata) {
    GetColumnFamilyMetaData(DefaultColumnFamily(), metadata);
  }
  virtual void GetAllColumnFamilyMetaData(std::vector<ColumnFamilyMetaData>* /*metadata*/) {}

  // Adds files of SstFileWriter as tables. Their entries are newer than all writes that ended
  // before the call (with ingest_behind: older than all data); a write made during the call may be
  // older or newer. Readers see all files or none; snapshots taken before see none. GetSnapshot
  // waits while the files are made visible.
  virtual Status IngestExternalFile(ColumnFamilyHandle* column_family,
                                    const std::vector<std::string>& external_files,
                                    const IngestExternalFileOptions& options) = 0;
  Status IngestExternalFile(const std::vector<std::string>& external_files,
                            const IngestExternalFileOptions& options) {
    return IngestExternalFile(DefaultColumnFamily(), external_files, options);
  }

  // Like IngestExternalFile for several column families, atomically. InvalidArgument also if one is
  // given twice, or checksums are given for only some files.
  virtual Status IngestExternalFiles(const std::vector<IngestExternalFileArg>& args) = 0;

  // The first of two steps, which does all slow work: stages the files in the database's directory,
  // syncs and checks them. Readers and writers see none of it, and source files stay where they
  // are. *handle is null after an error.
  virtual Status PrepareFileIngestion(const std::vector<IngestExternalFileArg>& /*args*/,
                                      std::unique_ptr<FileIngestionHandle>* /*handle*/) {
    return Status::NotSupported("PrepareFileIngestion");
  }
  Status PrepareFileIngestion(ColumnFamilyHandle* column_family,
                              const std::vector<std::string>& external_files,
                              const IngestExternalFileOptions& options,
                              std::unique_ptr<FileIngestionHandle>* handle);
  // Second step: installs one or several handles, all or none (external_file.h says what is left).
  virtual Status CommitFileIngestionHandles(const std::vector<FileIngestionHandle*>& /*handles*/) {
    return Status::NotSupported("CommitFileIngestionHandles");
  }
  // Commits a single handle.
  Status CommitFileIngestionHandle(FileIngestionHandle* handle);

  // Creates a family from tables of Checkpoint::ExportColumnFamily (checkpoint.h), atomically.
  // Exports must not overlap. *handle is set even if the OPTIONS file then cannot be written.
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
                                      ColumnFamilyHandle** handle);

  // Removes all keys outside [begin_key, end_key), at once, then from the files. Snapshots,
  // concurrent writes and timestamps are treated as by Excise.
  virtual Status ClipColumnFamily(ColumnFamilyHandle* /*column_family*/, const Slice& /*begin_key*/,
                                  const Slice& /*end_key*/) {
    return Status::NotSupported("ClipColumnFamily");
  }

  // Moves the tables of L0 to target_level without reading them. InvalidArgument: there is no such
  // level, it or one between has tables, or tables of L0 overlap or are being compacted.
  virtual Status PromoteL0(ColumnFamilyHandle* /*column_family*/, int /*target_level*/) {
    return Status::NotSupported("PromoteL0");
  }

  // Removes [start, limit), at once and durably. Tables within it are dropped unread unless a
  // snapshot is older, which keeps its view. A missing bound is that of the existing keys:
  // concurrent writes beyond it may remain. NotSupported with timestamps. After an error it may be
  // in force.
  virtual Status Excise(ColumnFamilyHandle* /*column_family*/, const RangeOpt& /*range*/) {
    return Status::NotSupported("Excise");
  }

  // Reads all tables and compares every block's checksum, also of blocks that no read uses.
  virtual Status VerifyChecksum(const ReadOptions& read_options) = 0;
  Status VerifyChecksum() { return VerifyChecksum(ReadOptions()); }
  // Like VerifyChecksum for whole-file checksums (file_checksum.h); tables without one are skipped.
  // Corruption names the file, the expected and the actual checksum. InvalidArgument without
  // DBOptions::file_checksum_gen_factory; NotSupported if it lacks a file's function.
  virtual Status VerifyFileChecksums(const ReadOptions& /*read_options*/) {
    return Status::NotSupported("VerifyFileChecksums");
  }

  // Return the identity of the database, and that of this open.
  virtual Status GetDbIdentity(std::string& identity) const = 0;
  virtual Status GetDbSessionId(std::string& session_id) const = 0;

  // Add the properties of the family's tables, or of those in the ranges, to *props, by path.
  virtual Status GetPropertiesOfAllTables(ColumnFamilyHandle* column_family,
                                          TablePropertiesCollection* props) = 0;
  Status GetPropertiesOfAllTables(TablePropertiesCollection* props) {
    return GetPropertiesOfAllTables(DefaultColumnFamily(), props);
  }
  virtual Status GetPropertiesOfTablesInRange(ColumnFamilyHandle* column_family, const Range* range,
                                              std::size_t n, TablePropertiesCollection* props) = 0;

  // Deletes tables that lie wholly within the ranges; see the warning in convenience.h.
  virtual Status DeleteFilesInRanges(ColumnFamilyHandle* /*column_family*/,
                                     const RangePtr* /*ranges*/, size_t /*n*/,
                                     bool /*include_end*/ = true) {
    return Status::NotSupported("DeleteFilesInRanges");
  }

  Status DeleteFilesInRanges(ColumnFamilyHandle* column_family, const RangeOpt* ranges, size_t n,
                             bool include_end = true);

  // Ends all background work permanently; see convenience.h.
  virtual void CancelAllBackgroundWork(bool /*wait*/) {}

  // Returns the innermost DB of wrappers.
  virtual DB* GetRootDB() { return this; }

  // For secondaries (varve/secondary.h; NotSupported elsewhere): catches up with the primary; takes
  // the place of a primary that is gone; returns the distance to the primary.
  virtual Status TryCatchUpWithPrimary() { return Status::NotSupported("TryCatchUpWithPrimary"); }
  virtual Status Promote(const PromoteOptions& /*options*/) {
    return Status::NotSupported("Promote");
  }
  virtual Status GetSecondaryLag(SecondaryLag* /*lag*/) {
    return Status::NotSupported("GetSecondaryLag");
  }

  // Record calls until EndTrace or Close, and make the calls of such a record again; see
  // varve/utilities/replayer.h.
  virtual Status StartTrace(const TraceOptions& /*options*/,
                            std::unique_ptr<TraceWriter>&& /*trace_writer*/) {
    return Status::NotSupported("StartTrace");
  }
  virtual Status EndTrace() { return Status::NotSupported("EndTrace"); }
  virtual Status NewDefaultReplayer(const std::vector<ColumnFamilyHandle*>& /*handles*/,
                                    std::unique_ptr<TraceReader>&& /*reader*/,
                                    std::unique_ptr<Replayer>* /*replayer*/) {
    return Status::NotSupported("NewDefaultReplayer");
  }
  // Return NotSupported: no other accesses are traced.
  virtual Status StartBlockCacheTrace(const TraceOptions& /*options*/,
                                      std::unique_ptr<TraceWriter>&& /*trace_writer*/) {
    return Status::NotSupported("StartBlockCacheTrace");
  }
  virtual Status EndBlockCacheTrace() { return Status::NotSupported("EndBlockCacheTrace"); }
  virtual Status StartIOTrace(const TraceOptions& /*options*/,
                              std::unique_ptr<TraceWriter>&& /*trace_writer*/) {
    return Status::NotSupported("StartIOTrace");
  }
  virtual Status EndIOTrace() { return Status::NotSupported("EndIOTrace"); }

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

}  // namespace varve
