// SPDX-License-Identifier: Apache-2.0
#pragma once

// Callbacks on what the engine does in the background.

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
  kLevelL0FilesNum,             // level0_file_num_compaction_trigger.
  kLevelMaxLevelSize,           // A level above its target size.
  kUniversalSizeAmplification,  // The next three: universal style.
  kUniversalSizeRatio,
  kUniversalSortedRunNum,
  kFIFOMaxSize,  // The next three: FIFO style.
  kFIFOReduceNumFiles,
  kFIFOTtl,
  kManualCompaction,
  kFilesMarkedForCompaction,  // SuggestCompactRange, or a collector asked for it.
  kBottommostFiles,           // Last-level entries that no snapshot needs any more.
  kTtl,
  kFlush,                 // Not a compaction: a flush treated as one.
  kExternalSstIngestion,  // Likewise.
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

// What was being done when a background error arose.
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
  Status status;  // Not OK: the file is not usable.
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
  Status status;  // Of the deletion.
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

// Of blobs, which this engine keeps in tables: the types of callbacks that are never called.
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
  int subcompaction_job_id = 0;  // From 0 within the job.
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
  int num_l0_files = 0;  // In L0 when the job ended.
  int base_input_level = 0;
  int output_level = 0;
  bool aborted = false;
  std::vector<std::string> input_files;
  std::vector<CompactionFileInfo> input_file_infos;  // Same order.
  std::vector<std::string> output_files;
  std::vector<CompactionFileInfo> output_file_infos;  // Same order.
  TablePropertiesCollection table_properties;         // Of inputs and outputs.
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  CompressionType compression = kNoCompression;
  CompactionJobStats stats;
  CompressionType blob_compression_type = kNoCompression;
};

// A flush that was asked for by a call.
struct ManualFlushInfo {
  uint32_t cf_id = 0;
  std::string cf_name;
  FlushReason flush_reason = FlushReason::kOthers;
};

struct MemTableInfo {
  std::string cf_name;
  SequenceNumber first_seqno = 0;     // Of the first entry.
  SequenceNumber earliest_seqno = 0;  // No entry is older.
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

// What a call that copies or moves whole files has done. Varve's own.
struct DataMoveInfo {
  enum class Kind { kCheckpoint, kExport, kImport, kBackup, kRestore, kPromotion };

  Kind kind = Kind::kCheckpoint;
  std::string path;                   // The directory that was written, or read.
  std::vector<std::string> families;  // Empty: all.
  uint64_t files = 0;                 // Written, linked ones too.
  uint64_t bytes_copied = 0;
  uint64_t bytes_linked = 0;
  SequenceNumber sequence = 0;  // That is contained; 0: does not apply.
  uint64_t micros = 0;
  Status status;
};

// A named position of a change stream has lost its logs. Varve's own.
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

// How busy background jobs are, without the one that is just over. Varve has one pool for
// compactions of all levels: the numbers of the bottom one are 0.
struct BackgroundJobPressure {
  int compaction_scheduled = 0;  // Jobs that wait for a thread.
  int compaction_running = 0;
  int compaction_low_scheduled = 0;
  int compaction_low_running = 0;
  int compaction_bottom_scheduled = 0;
  int compaction_bottom_running = 0;
  int flush_scheduled = 0;
  int flush_running = 0;

  // How far the nearest family has come on its way to where writes are delayed, or stopped where
  // nothing delays them: 0 nothing stands against them, 100 and more they are.
  int write_stall_proximity_pct = 0;

  // Compactions hurry, as a stall is near.
  bool compaction_speedup_active = false;
};

struct BackgroundErrorRecoveryInfo {
  Status old_bg_error;  // What was being recovered from.
  Status new_bg_error;  // OK: recovered.
};

// What an opening found and did about it; also the property "varve.recovery", as text and as a map.
struct RecoveryInfo {
  std::string db_name;
  bool read_only = false;
  Status status;  // Not OK: the database was refused, for this reason, and nothing was changed.

  // Logs. Dropped bytes are those from the first damage of a log on that were not replayed, as far
  // as they can be counted: after a crash that is the unfinished end of the newest log.
  uint64_t logs_read = 0;
  uint64_t records_replayed = 0;
  uint64_t bytes_replayed = 0;
  uint64_t dropped_bytes = 0;
  // Bytes that had been synced and are not there: no crash does that. At least so many.
  uint64_t synced_bytes_lost = 0;
  // The first damage met; the path is empty if there was none.
  std::string first_bad_file;
  uint64_t first_bad_log = 0;  // Its number.
  uint64_t first_bad_offset = 0;
  std::string first_bad_reason;
  // Sequence numbers of writes that were logged and not replayed, from the first to the last that
  // is known of; both 0 if none is.
  SequenceNumber first_lost_sequence = 0;
  SequenceNumber last_lost_sequence = 0;
  SequenceNumber last_sequence = 0;  // That was given out: new writes get larger ones.

  // With best_efforts_recovery: column families that are older than they were, by name, and paths
  // of tables that are the reason: missing, or not as the MANIFEST has them.
  std::vector<std::string> families_set_back;
  std::vector<std::string> tables_missing;

  // Paths. Logs that should have been there; what was moved to lost/, where it is now; and what
  // should have been moved there and could not be.
  std::vector<std::string> files_missing;
  std::vector<std::string> files_set_aside;
  std::vector<std::string> files_not_moved;

  // Transactions that are prepared and undecided; and names of decisions about ones that were not
  // in the logs, as they are in tables already (up to 100).
  std::vector<std::string> prepared_transactions;
  std::vector<std::string> unknown_decisions;

  // Microseconds: reading the MANIFEST; reading logs; writing tables, a log and a MANIFEST; all.
  uint64_t manifest_micros = 0;
  uint64_t logs_micros = 0;
  uint64_t install_micros = 0;
  uint64_t micros = 0;
};

// Callbacks run on the engine's threads, several at once, and hold the work up: be quick, keep no
// reference. No exceptions may escape.
//
// They may call the DB, as may every other function that users register. A call that would wait for
// the very work that it is made from is refused: Status::Busy, which names the callback, with
// nothing changed; from another thread it is made. That is
//   in any                     Close, unless the callback says that nothing is held up
//   of a flush                 Flush (with wait) and what flushes first (CompactRange and
//                              GetLiveFiles with data in memory, WaitForCompact with flush),
//                              WaitForCompact, PauseBackgroundWork, Resume; a write, while writes
//                              are stopped
//   of a compaction            WaitForCompact, PauseBackgroundWork, CompactRange that has to wait
//                              for it; a write or Flush, while writes are stopped
//   OnMemTableSealed           every write, Flush, LockWAL, CreateColumnFamily, DropColumnFamily
// CancelAllBackgroundWork and DisableManualCompaction do not wait there for what called them. None
// but those of the recovery (db/recovery/README.md) is called before DB::Open has given what it
// gives.
class VARVE_EXPORT EventListener : public Customizable {
 public:
  ~EventListener() override = default;

  static const char* Type() { return "EventListener"; }
  // A registered object: its name, or "id=name;option=value;...", in braces or not; null for ""
  // and "nullptr". NotSupported: no such name is registered.
  static Status CreateFromString(const ConfigOptions& config_options, const std::string& value,
                                 std::shared_ptr<EventListener>* result);
  const char* Name() const override { return ""; }

  // Around a flush.
  virtual void OnFlushBegin(DB* /*db*/, const FlushJobInfo& /*info*/) {}
  virtual void OnFlushCompleted(DB* /*db*/, const FlushJobInfo& /*info*/) {}

  // DB::Flush is about to have these families flushed, before it waits for that. On its thread.
  virtual void OnManualFlushScheduled(DB* /*db*/, const std::vector<ManualFlushInfo>& /*info*/) {}

  // Around a compaction; Completed after its outputs are installed.
  virtual void OnCompactionBegin(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnCompactionCompleted(DB* /*db*/, const CompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionBegin(const SubcompactionJobInfo& /*info*/) {}
  virtual void OnSubcompactionCompleted(const SubcompactionJobInfo& /*info*/) {}

  // Around the writing of a table; Created once it is whole, before it comes into force, and not
  // for one that could not be written. Deleted also if it did not come into force.
  virtual void OnTableFileCreationStarted(const TableFileCreationBriefInfo& /*info*/) {}
  virtual void OnTableFileCreated(const TableFileCreationInfo& /*info*/) {}
  virtual void OnTableFileDeleted(const TableFileDeletionInfo& /*info*/) {}

  // Never called: this engine writes no files of blobs.
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}

  // A memtable became immutable. Runs on a writer's thread, while no other writer is let in.
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}

  // DB::DestroyColumnFamilyHandle is about to delete it. Nothing is held up.
  virtual void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) {}
  // For each file, when readers see it.
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}

  // A checkpoint, export, import, backup, restore or promotion is over, whatever came of it. `db`
  // is null after a restore. Nothing is held up. Varve's own.
  virtual void OnDataMoved(DB* /*db*/, const DataMoveInfo& /*info*/) {}

  // Logs that a named position needs are about to be deleted, as its bounds say. Varve's own.
  virtual void OnChangeStreamExpired(DB* /*db*/, const ChangeStreamExpiryInfo& /*info*/) {}

  // Before the database turns to an error state. Setting *bg_error to OK suppresses that: only
  // for those who know what they lose. A batch that did not get into memory whole is an error all
  // the same.
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*bg_error*/) {}

  // A column family begins or ends slowing or stopping writes. Nothing but what the thread does
  // next is held up: a flush, a compaction, or the call that changed the condition.
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}

  // A flush or a compaction of a background thread is over, whatever came of it; also where nothing
  // has changed since the call before. Not told of those that run in a caller's thread.
  virtual void OnBackgroundJobPressureChanged(DB* /*db*/,
                                              const BackgroundJobPressure& /*pressure*/) {}

  // Each operation on a file of the database, but for the lines of its LOG, if
  // ShouldBeNotifiedOnFileIO() returns true when the database is opened. Logs are then written by
  // calls, not by stores into mapped files, and reads of one MultiGet follow each other: expect
  // that to cost. What is thrown here is dropped.
  virtual void OnFileReadFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileWriteFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileFlushFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileRangeSyncFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileTruncateFinish(const FileOperationInfo& /*info*/) {}
  virtual void OnFileCloseFinish(const FileOperationInfo& /*info*/) {}
  virtual bool ShouldBeNotifiedOnFileIO() { return false; }

  // Automatic recovery from an error; setting *auto_recovery to false leaves it to DB::Resume.
  // Asked once of each error: the answer counts until the database has recovered, or has a worse
  // error. A compaction that fails when it is tried again is the same error.
  virtual void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*bg_error*/,
                                    bool* /*auto_recovery*/) {}
  // The database has recovered, by itself or by DB::Resume: of an error of compactions, when one
  // has succeeded or none is due any more. OnErrorRecoveryEnd follows.
  virtual void OnErrorRecoveryCompleted(Status /*old_bg_error*/) {}
  // After each attempt, with what came of it.
  virtual void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& /*info*/) {}

  // A database was opened, or was found and refused. Runs before DB::Open returns; there is no DB
  // yet. Not told of openings that fail before the directory is read. Varve's own.
  virtual void OnDatabaseRecovered(const RecoveryInfo& /*info*/) {}

  // An operation on a file failed, for those who are notified of them; or a pass over all tables
  // has found damage.
  virtual void OnIOError(const IOErrorInfo& /*info*/) {}
};

}  // namespace varve
