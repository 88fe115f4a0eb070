// SPDX-License-Identifier: Apache-2.0
#pragma once

// Callbacks for events of the engine's background work.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/advanced_options.h"
#include "varve/compaction_job_stats.h"
#include "varve/compression_type.h"
#include "varve/customizable.h"
#include "varve/export.h"
#include "varve/io_status.h"
#include "varve/status.h"
#include "varve/table_properties.h"
#include "varve/types.h"

namespace varve {

class ColumnFamilyHandle;
class DB;
struct ConfigOptions;

// ---- Reasons ----

enum class CompactionReason : int {
  kUnknown = 0,
  kLevelL0FilesNum,             // level0_file_num_compaction_trigger was reached.
  kLevelMaxLevelSize,           // A level exceeds its target size.
  kUniversalSizeAmplification,  // This and the next two: universal style.
  kUniversalSizeRatio,
  kUniversalSortedRunNum,
  kFIFOMaxSize,  // This and the next two: FIFO style.
  kFIFOReduceNumFiles,
  kFIFOTtl,
  kManualCompaction,
  kFilesMarkedForCompaction,  // SuggestCompactRange, or a collector requested it.
  kBottommostFiles,           // Last-level entries that no snapshot needs any more.
  kTtl,
  kFlush,                 // Not a compaction: a flush treated as one.
  kExternalSstIngestion,  // A file ingestion, not a compaction.
  kPeriodicCompaction,
  kChangeTemperature,
  kForcedBlobGC,
  kRoundRobinTtl,
  kRefitLevel,  // CompactRangeOptions::change_level.
  kNumOfReasons,
};
VARVE_EXPORT const char* GetCompactionReasonString(CompactionReason reason);

enum class FlushReason : int {
  kOthers = 0x00,
  kGetLiveFiles = 0x01,
  kShutDown = 0x02,
  kExternalFileIngestion = 0x03,
  kManualCompaction = 0x04,
  kWriteBufferManager = 0x05,
  kWriteBufferFull = 0x06,
  kTest = 0x07,
  kDeleteFiles = 0x08,
  kAutoCompaction = 0x09,
  kManualFlush = 0x0a,
  kErrorRecovery = 0x0b,
  kErrorRecoveryRetryFlush = 0x0c,
  kWalFull = 0x0d,
  kCatchUpAfterErrorRecovery = 0x0e,
  kMemtableMaxRangeDeletions = 0x0f,
};
VARVE_EXPORT const char* GetFlushReasonString(FlushReason reason);

// The operation in which a background error occurred.
enum class BackgroundErrorReason {
  kFlush,
  kCompaction,
  kWriteCallback,
  kMemTable,
  kManifestWrite,
  kFlushNoWAL,
  kManifestWriteNoWAL,
};

// ---- Files ----

struct FileCreationBriefInfo {
  FileCreationBriefInfo() = default;
  FileCreationBriefInfo(const std::string& db, const std::string& cf, const std::string& path,
                        int job)
      : db_name(db), cf_name(cf), file_path(path), job_id(job) {}

  std::string db_name;
  std::string cf_name;
  std::string file_path;
  int job_id = 0;
};

struct TableFileCreationBriefInfo : public FileCreationBriefInfo {
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

struct TableFileCreationInfo : public TableFileCreationBriefInfo {
  TableFileCreationInfo() = default;
  explicit TableFileCreationInfo(TableProperties&& prop) : table_properties(std::move(prop)) {}

  uint64_t file_size = 0;
  TableProperties table_properties;
  Status status;  // If not OK, the file is unusable.
  std::string file_checksum;
  std::string file_checksum_func_name;
};

struct FileDeletionInfo {
  FileDeletionInfo() = default;
  FileDeletionInfo(const std::string& db, const std::string& path, int job, const Status& s)
      : db_name(db), file_path(path), job_id(job), status(s) {}

  std::string db_name;
  std::string file_path;
  int job_id = 0;
  Status status;  // Result of the deletion.
};

struct TableFileDeletionInfo : public FileDeletionInfo {};

enum class FileOperationType {
  kRead,
  kWrite,
  kTruncate,
  kClose,
  kFlush,
  kSync,
  kFsync,
  kRangeSync,
  kAppend,
  kPositionedAppend,
  kOpen,
  kVerify,
};

// References are valid only during the callback.
struct FileOperationInfo {
  using Duration = std::chrono::nanoseconds;
  using SteadyTimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;
  using SystemTimePoint = std::chrono::time_point<std::chrono::system_clock, Duration>;
  using StartTimePoint = std::pair<SystemTimePoint, SteadyTimePoint>;
  using FinishTimePoint = SteadyTimePoint;

  FileOperationInfo(FileOperationType operation, const std::string& file_path,
                    const StartTimePoint& start, const FinishTimePoint& finish, const Status& s,
                    Temperature file_temperature = Temperature::kUnknown)
      : type(operation),
        path(file_path),
        temperature(file_temperature),
        duration(std::chrono::duration_cast<Duration>(finish - start.second)),
        start_ts(start.first),
        status(s) {}

  static StartTimePoint StartNow() {
    return {std::chrono::system_clock::now(), std::chrono::steady_clock::now()};
  }
  static FinishTimePoint FinishNow() { return std::chrono::steady_clock::now(); }

  FileOperationType type;
  const std::string& path;
  Temperature temperature;
  uint64_t offset = 0;
  size_t length = 0;
  const Duration duration;
  const SystemTimePoint& start_ts;
  Status status;
};

struct IOErrorInfo {
  IOErrorInfo(const IOStatus& s, FileOperationType op, const std::string& path, size_t len,
              uint64_t off)
      : io_status(s), operation(op), file_path(path), length(len), offset(off) {}

  IOStatus io_status;
  FileOperationType operation;
  std::string file_path;
  size_t length;
  uint64_t offset;
};

// Types of blob file callbacks, which are never called, as values are kept in tables.
struct BlobFileCreationBriefInfo : public FileCreationBriefInfo {
  BlobFileCreationReason reason = BlobFileCreationReason::kFlush;
};

struct BlobFileCreationInfo : public BlobFileCreationBriefInfo {
  uint64_t total_blob_count = 0;
  uint64_t total_blob_bytes = 0;
  Status status;
  std::string file_checksum;
  std::string file_checksum_func_name;
};

struct BlobFileDeletionInfo : public FileDeletionInfo {};

// ---- Jobs ----

struct FlushJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  std::string file_path;
  uint64_t file_number = 0;
  uint64_t oldest_blob_file_number = 0;  // Always 0.
  uint64_t thread_id = 0;
  int job_id = 0;
  bool triggered_writes_slowdown = false;
  bool triggered_writes_stop = false;
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  TableProperties table_properties;
  FlushReason flush_reason = FlushReason::kOthers;
  CompressionType blob_compression_type = kNoCompression;
};

struct CompactionFileInfo {
  int level = 0;
  uint64_t file_number = 0;
  uint64_t oldest_blob_file_number = 0;  // Always 0.
};

struct SubcompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  Status status;
  uint64_t thread_id = 0;
  int job_id = 0;
  int subcompaction_job_id = 0;  // Starts at 0 within the job.
  int base_input_level = 0;
  int output_level = 0;
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
};

struct CompactionJobInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  Status status;
  uint64_t thread_id = 0;
  int job_id = 0;
  int num_l0_files = 0;  // Number of L0 files when the job ended.
  int base_input_level = 0;
  int output_level = 0;
  bool aborted = false;
  std::vector<std::string> input_files;
  std::vector<CompactionFileInfo> input_file_infos;  // In the same order.
  std::vector<std::string> output_files;
  std::vector<CompactionFileInfo> output_file_infos;  // In the same order.
  TablePropertiesCollection table_properties;         // Properties of inputs and outputs.
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
};

// A flush requested by a call.
struct ManualFlushInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  FlushReason flush_reason = FlushReason::kOthers;
};

struct MemTableInfo {
  std::string cf_name;
  SequenceNumber first_seqno = 0;     // Sequence number of the first entry.
  SequenceNumber earliest_seqno = 0;  // No entry has a smaller one.
  uint64_t num_entries = 0;
  uint64_t num_deletes = 0;
  std::string newest_udt;  // Always empty.
};

struct ExternalFileIngestionInfo {
  std::string cf_name;
  std::string external_file_path;
  std::string internal_file_path;
  SequenceNumber global_seqno = 0;
  TableProperties table_properties;
};

// Result of a call that copied or moved whole files. Not in RocksDB.
struct DataMoveInfo {
  enum class Kind { kCheckpoint, kExport, kImport, kBackup, kRestore, kPromotion };

  Kind kind = Kind::kCheckpoint;
  std::string path;                   // Directory that was written or read.
  std::vector<std::string> families;  // Empty: all.
  uint64_t files = 0;                 // Files written, including linked ones.
  uint64_t bytes_copied = 0;
  uint64_t bytes_linked = 0;
  SequenceNumber sequence = 0;  // Last one contained; 0: not applicable.
  uint64_t micros = 0;
  Status status;
};

// Reports that the logs of a change stream's named position were lost. Not in RocksDB.
struct ChangeStreamExpiryInfo {
  std::string name;
  SequenceNumber first_lost = 0;
  SequenceNumber last_lost = 0;
};

struct WriteStallInfo {
  std::string cf_name;
  struct {
    WriteStallCondition cur = WriteStallCondition::kNormal;
    WriteStallCondition prev = WriteStallCondition::kNormal;
  } condition;
};

// Load of background jobs, excluding the job that just ended. Varve has one pool for compactions of
// all levels, so the numbers of the bottom pool are 0.
struct BackgroundJobPressure {
  int compaction_scheduled = 0;  // Jobs that wait for a thread.
  int compaction_running = 0;
  int compaction_low_scheduled = 0;
  int compaction_low_running = 0;
  int compaction_bottom_scheduled = 0;
  int compaction_bottom_running = 0;
  int flush_scheduled = 0;
  int flush_running = 0;

  // Distance of the nearest column family to the point at which writes are delayed, or stopped if
  // nothing delays them: from 0 (far) to 100; 100 or more: they are delayed or stopped.
  int write_stall_proximity_pct = 0;

  // Compactions are sped up because a stall is near.
  bool compaction_speedup_active = false;
};

struct BackgroundErrorRecoveryInfo {
  Status old_bg_error;  // The error before the recovery.
  Status new_bg_error;  // OK: recovered.
};

// Results of opening a database; also the property "varve.recovery", as text and as a map.
struct RecoveryInfo {
  std::string db_name;
  bool read_only = false;
  Status status;  // Not OK: the reason why the database was refused; nothing was changed.

  // Logs. Dropped bytes are those from the first damage in a log on that were not replayed, as far
  // as countable: after a crash, the incomplete end of the newest log.
  uint64_t logs_read = 0;
  uint64_t records_replayed = 0;
  uint64_t bytes_replayed = 0;
  uint64_t dropped_bytes = 0;
  // Minimum number of bytes that had been synced and are missing, which no crash causes.
  uint64_t synced_bytes_lost = 0;
  // First damage found; the path is empty if there was none.
  std::string first_bad_file;
  uint64_t first_bad_log = 0;  // Number of the log.
  uint64_t first_bad_offset = 0;
  std::string first_bad_reason;
  // First and last known sequence numbers of writes that were logged and not replayed; 0 if none is
  // known.
  SequenceNumber first_lost_sequence = 0;
  SequenceNumber last_lost_sequence = 0;
  SequenceNumber last_sequence = 0;  // Last one in use: new writes get larger ones.

  // With best_efforts_recovery: names of column families that were set back to an older state, and
  // paths of the tables that caused it, which are missing or differ from the MANIFEST.
  std::vector<std::string> families_set_back;
  std::vector<std::string> tables_missing;

  // Paths: of logs that are missing; of files moved to lost/, at their new place; of files that
  // could not be moved there.
  std::vector<std::string> files_missing;
  std::vector<std::string> files_set_aside;
  std::vector<std::string> files_not_moved;

  // Names of transactions that are prepared and undecided; and of decided ones that were not in the
  // logs, as they are in tables already (up to 100).
  std::vector<std::string> prepared_transactions;
  std::vector<std::string> unknown_decisions;

  // Microseconds of reading the MANIFEST; reading logs; writing tables, a log and a MANIFEST; in
  // total.
  uint64_t manifest_micros = 0;
  uint64_t logs_micros = 0;
  uint64_t install_micros = 0;
  uint64_t micros = 0;
};

// Callbacks run on the engine's threads, several at once, and block the work: they should be fast,
// keep no reference, and must not throw.
//
// Callbacks, like every function that users register, may call the DB. A call that would wait for
// the work it is made from returns Status::Busy with the callback's name and changes nothing; from
// another thread it is executed. This applies to:
//   in any callback            Close, unless the callback says that it blocks nothing
//   of a flush                 Flush (with wait) and calls that flush first (CompactRange and
//                              GetLiveFiles with data in memory, WaitForCompact with flush),
//                              WaitForCompact, PauseBackgroundWork, Resume; a write, while writes
//                              are stopped
//   of a compaction            WaitForCompact, PauseBackgroundWork, CompactRange that has to wait
//                              for it; a write or Flush, while writes are stopped
//   OnMemTableSealed           every write, Flush, LockWAL, CreateColumnFamily, DropColumnFamily
// CancelAllBackgroundWork and DisableManualCompaction do not wait for the work they are called
// from. Before DB::Open returns, only the callbacks of recovery (db/recovery/README.md) are called.
class VARVE_EXPORT EventListener : public Customizable {
 public:
  ~EventListener() override = default;

  static const char* Type() { return "EventListener"; }
  // Accepts a registered object: its name, or "id=name;option=value;...", with or without braces;
  // null for "" and "nullptr". NotSupported: no such name is registered.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<EventListener>* result);
  const char* Name() const override { return ""; }

  // Called before and after a flush.
  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) {}

  // Called by DB::Flush on its thread, before it waits for the flush of these column families.
  virtual void OnManualFlushScheduled(DB* /*db*/, const std::vector<ManualFlushInfo>& /*info*/) {}

  // Called before and after a compaction; Completed runs after its outputs are installed.
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionCompleted(const SubcompactionJobInfo& /*info*/) {}

  // Called before and after a table is written; Created runs when it is complete, before it is
  // installed, and not if writing failed. Deleted is also called for tables that were never
  // installed.
  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo& /*info*/) {}
  virtual void OnTableFileCreated(const TableFileCreationInfo& /*info*/) {}
  virtual void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) {}

  // Never called, as there are no blob files.
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}

  // A memtable became immutable. Called on a writer's thread, while all other writers are blocked.
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}

  // Called before DB::DestroyColumnFamilyHandle deletes the handle. Blocks nothing.
  virtual void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) {}
  // Called for each file, when readers see it.
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}

  // A checkpoint, export, import, backup, restore or promotion has ended, with or without success.
  // `db` is null after a restore. Blocks nothing. Not in RocksDB.
  virtual void OnDataMoved(DB* /*db*/, const DataMoveInfo& /*info*/) {}

  // Logs that a named position needs are about to be deleted because its limits are exceeded. Not
  // in RocksDB.
  virtual void OnChangeStreamExpired(DB* /*db*/, const ChangeStreamExpiryInfo& /*info*/) {}

  // Called before the database enters an error state. Setting *bg_error to OK suppresses the error,
  // which can lose data. A batch that was only partly inserted into memtables is an error
  // nevertheless.
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*bg_error*/) {}

  // A column family starts or stops slowing or stopping writes. Blocks only the thread's next work:
  // a flush, a compaction, or the call that changed the condition.
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}

  // A flush or a compaction on a background thread has ended, with or without success; also called
  // if nothing has changed since the previous call. Not called for jobs on a caller's thread.
  virtual void OnBackgroundJobPressureChanged(DB* /*db*/,
                                              const BackgroundJobPressure& /*pressure*/) {}

  // Called for each operation on a file of the database, except lines of its LOG, if
  // ShouldBeNotifiedOnFileIO() returned true when the database was opened. Logs are then written by
  // calls instead of stores into mapped files, and reads of one MultiGet are serial, which costs
  // speed. Exceptions thrown here are dropped.
  virtual void OnFileReadFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileWriteFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileFlushFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileRangeSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileTruncateFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileCloseFinish(const FileOperationInfo& /*info*/) {}
  virtual bool ShouldBeNotifiedOnFileIO() { return false; }

  // Called when automatic recovery from an error begins; if it sets *auto_recovery to false,
  // recovery is left to DB::Resume. Called once per error: the answer holds until the database has
  // recovered or has a worse error. A compaction that fails again when retried is the same error.
  virtual void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*bg_error*/,
                                    bool* /*auto_recovery*/) {}
  // The database has recovered, by itself or by DB::Resume; from an error of compactions when one
  // has succeeded or none is due any more. OnErrorRecoveryEnd follows.
  virtual void OnErrorRecoveryCompleted(Status /*old_bg_error*/) {}
  // Called after each attempt, with its result.
  virtual void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& /*info*/) {}

  // A database was opened, or was refused. Called before DB::Open returns, when there is no DB yet.
  // Not called if the open fails before the directory is read. Not in RocksDB.
  virtual void OnDatabaseRecovered(const RecoveryInfo& /*info*/) {}

  // An operation on a file failed, for listeners of file operations; or a verification pass found
  // damage.
  virtual void OnIOError(const IOErrorInfo& /*info*/) {}
};

}  // namespace varve
