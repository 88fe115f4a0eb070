// SPDX-License-Identifier: Apache-2.0
#pragma once

// Callbacks for events of the engine's background work: what a program implements to log, to
// measure, or to react to flushes, compactions, stalls and errors.
//
// A listener derives from EventListener, overrides what it needs, and is set in
// DBOptions::listeners. It may serve several databases; the callbacks that get no DB name theirs
// in the structure, as far as it has a db_name.
//
// In all structures here: db_name is the name with which the database was opened; paths are those
// of the files; job_id numbers the jobs of one opening, and joins the events of one job; thread_id
// is Env::GetThreadID() of the thread that did the work. A field keeps its default where an event
// does not have it, as before a job has run. Sizes are bytes.
//
//   class Counter : public varve::EventListener {
//    public:
//     void OnFlushCompleted(varve::DB*, const varve::FlushJobInfo& info) override {
//       flushed_bytes_ += info.table_properties.data_size;
//     }
//     std::atomic<uint64_t> flushed_bytes_{0};
//   };
//   options.listeners.push_back(std::make_shared<Counter>());
//
// Exceptions that a callback throws are caught, written to the LOG and dropped.

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

// Reason for a compaction. The numbering is RocksDB's, for programs that store or print reasons.
enum class CompactionReason : int {
  // The default, before an event has set the reason.
  kUnknown = 0,
  // L0 has as many files as level0_file_num_compaction_trigger says.
  kLevelL0FilesNum,
  // A level has more bytes than its target size.
  kLevelMaxLevelSize,
  // Universal style: the whole column family was rewritten, as it takes too much space in relation
  // to its last run.
  kUniversalSizeAmplification,
  // Universal style: runs of similar sizes were merged (size_ratio).
  kUniversalSizeRatio,
  // Universal style: there were more runs than the trigger allows.
  kUniversalSortedRunNum,
  // FIFO style: the oldest tables were deleted, as all tables together exceed their limit.
  kFIFOMaxSize,
  // FIFO style: small tables of L0 were merged (CompactionOptionsFIFO::allow_compaction).
  kFIFOReduceNumFiles,
  // FIFO style: tables were deleted that are older than ColumnFamilyOptions::ttl.
  kFIFOTtl,
  // A call of CompactRange or CompactFiles asked for it.
  kManualCompaction,
  // A call of SuggestCompactRange, or a collector of table properties, marked the file.
  kFilesMarkedForCompaction,
  // Tables of the last level hold entries or sequence numbers that no snapshot needs any more.
  kBottommostFiles,
  // The oldest data of a file is older than ColumnFamilyOptions::ttl.
  kTtl,
  // Does not occur, as a flush is no compaction here.
  kFlush,
  // Does not occur, as an ingestion is no compaction here.
  kExternalSstIngestion,
  // The file was written longer ago than ColumnFamilyOptions::periodic_compaction_seconds.
  kPeriodicCompaction,
  // A table is rewritten so that it has another temperature.
  kChangeTemperature,
  // Old blob files have a larger share of garbage than blob_garbage_collection_force_threshold.
  kForcedBlobGC,
  // Do not occur: compactions for ttl have kTtl in every order, and changes of level by
  // CompactRange have kManualCompaction.
  kRoundRobinTtl,
  kRefitLevel,
  kNumOfReasons,
};
// Returns a text such as the name without its k; "Invalid" for a number out of range.
VARVE_EXPORT const char* GetCompactionReasonString(CompactionReason reason);

// Reason for a flush. The numbering is RocksDB's, for programs that store or print reasons.
enum class FlushReason : int {
  // An opening wrote the memtables that it had filled from logs.
  kOthers = 0x00,
  // GetLiveFiles, a checkpoint, an export or a backup needs the data in files.
  kGetLiveFiles = 0x01,
  // The database is closed, and no log has this data.
  kShutDown = 0x02,
  // A file is ingested whose key range overlaps a memtable.
  kExternalFileIngestion = 0x03,
  // A call of CompactRange includes data in memory.
  kManualCompaction = 0x04,
  // The limit of the WriteBufferManager, or db_write_buffer_size, is reached.
  kWriteBufferManager = 0x05,
  // The memtable has write_buffer_size bytes.
  kWriteBufferFull = 0x06,
  // Do not occur.
  kTest = 0x07,
  kDeleteFiles = 0x08,
  kAutoCompaction = 0x09,
  // A call of DB::Flush asked for it.
  kManualFlush = 0x0a,
  // The database recovers from a background error.
  kErrorRecovery = 0x0b,
  // Does not occur.
  kErrorRecoveryRetryFlush = 0x0c,
  // The logs have more bytes than max_total_wal_size allows.
  kWalFull = 0x0d,
  // Does not occur.
  kCatchUpAfterErrorRecovery = 0x0e,
  // The memtable has as many range deletions as memtable_max_range_deletions allows.
  kMemtableMaxRangeDeletions = 0x0f,
};
// Returns a text such as the name without its k; "Invalid" for a number out of range.
VARVE_EXPORT const char* GetFlushReasonString(FlushReason reason);

// The operation in which a background error occurred.
enum class BackgroundErrorReason {
  // Writing the table of a flush failed.
  kFlush,
  // Reading the inputs of a compaction or writing its outputs failed.
  kCompaction,
  // Writing or syncing a log failed.
  kWriteCallback,
  // Inserting into a memtable failed, or beginning a log and a memtable.
  kMemTable,
  // Writing or syncing the MANIFEST failed.
  kManifestWrite,
  // Does not occur.
  kFlushNoWAL,
  // Writing or syncing the MANIFEST failed for a flush that adds no table.
  kManifestWriteNoWAL,
};

// ---- Files ----

// A file that is being made.
struct FileCreationBriefInfo {
  FileCreationBriefInfo() = default;
  FileCreationBriefInfo(const std::string& db, const std::string& cf, const std::string& path,
                        int job)
      : db_name(db), cf_name(cf), file_path(path), job_id(job) {}

  // Name with which the database was opened.
  std::string db_name;
  // Column family for which the file is made.
  std::string cf_name;
  // Path of the file, which exists from the first write on.
  std::string file_path;
  // Number of the job that makes the file.
  int job_id = 0;
};

// A table whose writing begins.
struct TableFileCreationBriefInfo : public FileCreationBriefInfo {
  // Kind of the work that writes the table.
  TableFileCreationReason reason = TableFileCreationReason::kMisc;
};

// A table that was written, or could not be written.
struct TableFileCreationInfo : public TableFileCreationBriefInfo {
  TableFileCreationInfo() = default;
  explicit TableFileCreationInfo(TableProperties&& prop) : table_properties(std::move(prop)) {}

  // Size of the file in bytes as it was closed; 0 if it could not be written.
  uint64_t file_size = 0;
  // Properties as they are stored in the table; defaults if it could not be written.
  TableProperties table_properties;
  // Result of the writing. If it is not OK, the file is unusable.
  Status status;
  // Checksum of the whole file, and the name of its function; kUnknownFileChecksum without a
  // DBOptions::file_checksum_gen_factory.
  std::string file_checksum;
  std::string file_checksum_func_name;
};

// A file that was deleted, or could not be deleted.
struct FileDeletionInfo {
  FileDeletionInfo() = default;
  FileDeletionInfo(const std::string& db, const std::string& path, int job, const Status& s)
      : db_name(db), file_path(path), job_id(job), status(s) {}

  // Name with which the database was opened.
  std::string db_name;
  // Path of the file, which is gone unless `status` is an error.
  std::string file_path;
  // Number of the job that deleted the file.
  int job_id = 0;
  // Result of the deletion.
  Status status;
};

// A table that was deleted, or could not be deleted.
struct TableFileDeletionInfo : public FileDeletionInfo {};

// The call of the file system that an event is about.
enum class FileOperationType {
  // A read of any length at any offset.
  kRead,
  // Bytes were written at an offset of a file that was there before.
  kWrite,
  // The size of the file was set.
  kTruncate,
  // The file was closed.
  kClose,
  // Buffered bytes were passed to the operating system.
  kFlush,
  // Written bytes were made durable by WritableFile::Sync, or by Fsync.
  kSync,
  kFsync,
  // Write-back of a range of the file to the device was started.
  kRangeSync,
  // Bytes were written at the end, or with direct I/O at an offset.
  kAppend,
  kPositionedAppend,
  // Does not occur, as openings of files are not reported.
  kOpen,
  // A verification pass has read the file.
  kVerify,
};

// One operation on a file, with its result. References are valid only during the callback.
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

  // Returns the present in both clocks, for the constructor's `start`.
  static StartTimePoint StartNow() {
    return {std::chrono::system_clock::now(), std::chrono::steady_clock::now()};
  }
  // Returns the present of the steady clock, for the constructor's `finish`.
  static FinishTimePoint FinishNow() { return std::chrono::steady_clock::now(); }

  // Kind of the operation.
  FileOperationType type;
  // Path of the file.
  const std::string& path;
  // Always kUnknown, as the operations do not know the file's placement.
  Temperature temperature;
  // Offset in the file; 0 for operations without one.
  uint64_t offset = 0;
  // Bytes read or written; 0 after an error.
  size_t length = 0;
  // Time that the call of the file system took, by the steady clock.
  const Duration duration;
  // Wall clock when it began.
  const SystemTimePoint& start_ts;
  // Result of the call.
  Status status;
};

// An operation on a file that failed, or damage that a verification pass found (kVerify, with no
// offset and length).
struct IOErrorInfo {
  IOErrorInfo(const IOStatus& s, FileOperationType op, const std::string& path, size_t len,
              uint64_t off)
      : io_status(s), operation(op), file_path(path), length(len), offset(off) {}

  // Result of the operation; Corruption for damage.
  IOStatus io_status;
  // Kind of the operation.
  FileOperationType operation;
  // Path of the file.
  std::string file_path;
  // Bytes that the operation was asked to read or write, and its offset in the file; 0 if it has
  // none.
  size_t length;
  uint64_t offset;
};

// A new blob file, of a flush or a compaction.
struct BlobFileCreationBriefInfo : public FileCreationBriefInfo {
  // Kind of the work that writes the file.
  BlobFileCreationReason reason = BlobFileCreationReason::kFlush;
};

// A blob file that is complete and will be installed together with the table that refers to it.
struct BlobFileCreationInfo : public BlobFileCreationBriefInfo {
  // Number of values in the file, and bytes of their records.
  uint64_t total_blob_count = 0;
  uint64_t total_blob_bytes = 0;
  // Always OK, as only complete files are reported.
  Status status;
  // Checksum of the whole file, and the name of its function.
  std::string file_checksum;
  std::string file_checksum_func_name;
};

// A blob file that was deleted, or could not be deleted.
struct BlobFileDeletionInfo : public FileDeletionInfo {};

// A blob file in the description of a job.
struct BlobFileInfo {
  BlobFileInfo(std::string path, uint64_t number)
      : blob_file_path(std::move(path)), blob_file_number(number) {}

  // Path and number of the file.
  std::string blob_file_path;
  uint64_t blob_file_number;
};

// A blob file that a job has made. Bytes are those of its records, not of the file.
struct BlobFileAdditionInfo : public BlobFileInfo {
  BlobFileAdditionInfo(std::string path, uint64_t number, uint64_t count, uint64_t bytes)
      : BlobFileInfo(std::move(path), number), total_blob_count(count), total_blob_bytes(bytes) {}

  // Number of values in the file, and bytes of their records.
  uint64_t total_blob_count;
  uint64_t total_blob_bytes;
};

// Values of a blob file to which no table refers any more since a job.
struct BlobFileGarbageInfo : public BlobFileInfo {
  BlobFileGarbageInfo(std::string path, uint64_t number, uint64_t count, uint64_t bytes)
      : BlobFileInfo(std::move(path), number),
        garbage_blob_count(count),
        garbage_blob_bytes(bytes) {}

  // Number of values that became garbage, and bytes of their records.
  uint64_t garbage_blob_count;
  uint64_t garbage_blob_bytes;
};

// ---- Jobs ----

// A flush of one column family. OnFlushBegin has the fields up to job_id, and the reason.
struct FlushJobInfo {
  // Number and name of the column family.
  uint32_t cf_id = 0;
  std::string cf_name;
  // Path and number of the table that the flush has written.
  std::string file_path;
  uint64_t file_number = 0;
  // Number of the oldest blob file that the table refers to; 0 if it refers to none.
  uint64_t oldest_blob_file_number = 0;
  // The thread that ran the flush, and the number of the job.
  uint64_t thread_id = 0;
  int job_id = 0;
  // True if L0, with the new table, has as many files as level0_slowdown_writes_trigger, or as
  // level0_stop_writes_trigger. OnStallConditionsChanged tells of stalls for all reasons.
  bool triggered_writes_slowdown = false;
  bool triggered_writes_stop = false;
  // Sequence numbers in the table; both 0 if all of the memtables' entries were dropped.
  SequenceNumber smallest_seqno = 0;
  SequenceNumber largest_seqno = 0;
  // Properties of the table; defaults if none was written.
  TableProperties table_properties;
  // The reason for which the memtables were flushed.
  FlushReason flush_reason = FlushReason::kOthers;
  // Codec of values in blob files (ColumnFamilyOptions::blob_compression_type), and the blob files
  // that the flush has written.
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
};

// An input or an output of a compaction.
struct CompactionFileInfo {
  // Level of the table before the compaction (inputs) or after it (outputs).
  int level = 0;
  // Number of the table, which is also the number in its name.
  uint64_t file_number = 0;
  // Number of the oldest blob file that the table refers to; 0 if it refers to none.
  uint64_t oldest_blob_file_number = 0;
};

// A part of a compaction, which runs beside the others in a thread of its own.
struct SubcompactionJobInfo {
  // Number and name of the column family.
  uint32_t cf_id = 0;
  std::string cf_name;
  // Result of this part; OK at its begin.
  Status status;
  // The thread that ran the part, and the number of the whole compaction's job.
  uint64_t thread_id = 0;
  int job_id = 0;
  // Number of the part, from 0 on within the job.
  int subcompaction_job_id = 0;
  // Smallest level of the compaction's inputs, and the level of its outputs.
  int base_input_level = 0;
  int output_level = 0;
  // The reason for the compaction as a whole.
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  // Codec of the outputs.
  CompressionType compression = kNoCompression;
  // Counts the entries and bytes of the part; see compaction_job_stats.h for the fields that parts
  // have.
  CompactionJobStats stats;
  // Always kNoCompression: CompactionJobInfo has the codec of blob files.
  CompressionType blob_compression_type = kNoCompression;
};

// A compaction. OnCompactionBegin has its inputs, levels and reason.
struct CompactionJobInfo {
  // Number and name of the column family.
  uint32_t cf_id = 0;
  std::string cf_name;
  // Result of the compaction. After an error its outputs were removed and its inputs stay.
  Status status;
  // The thread that ran the compaction, and the number of the job.
  uint64_t thread_id = 0;
  int job_id = 0;
  // Number of files in L0 when the job ended.
  int num_l0_files = 0;
  // Smallest level of the inputs, and the level of the outputs.
  int base_input_level = 0;
  int output_level = 0;
  // True if the compaction was cancelled, or the database is being closed.
  bool aborted = false;
  // Paths of the inputs by level, the start level first, and their descriptions in the same order.
  std::vector<std::string> input_files;
  std::vector<CompactionFileInfo> input_file_infos;
  // Paths of the outputs, and their descriptions in the same order; empty if all entries were
  // dropped. For tables that only moved to another level they are the inputs.
  std::vector<std::string> output_files;
  std::vector<CompactionFileInfo> output_file_infos;
  // Properties of inputs and outputs by path. Inputs that cannot be opened are left out.
  TablePropertiesCollection table_properties;
  // The reason for which the inputs were chosen.
  CompactionReason compaction_reason = CompactionReason::kUnknown;
  // Codec of the outputs.
  CompressionType compression = kNoCompression;
  // Counts the entries and bytes of the compaction.
  CompactionJobStats stats;
  // Codec of values in blob files, the blob files that were written, and the values of older blob
  // files to which no table refers any more.
  CompressionType blob_compression_type = kNoCompression;
  std::vector<BlobFileAdditionInfo> blob_file_addition_infos;
  std::vector<BlobFileGarbageInfo> blob_file_garbage_infos;
};

// A flush requested by a call.
struct ManualFlushInfo {
  // Number and name of the column family.
  uint32_t cf_id = 0;
  std::string cf_name;
  // kManualFlush.
  FlushReason flush_reason = FlushReason::kOthers;
};

// A memtable that has become immutable.
struct MemTableInfo {
  // Name of the column family.
  std::string cf_name;
  // Sequence number of the first entry.
  SequenceNumber first_seqno = 0;
  // No entry of the memtable has a smaller sequence number.
  SequenceNumber earliest_seqno = 0;
  // Entries of the memtable, and those of them that are deletions of keys.
  uint64_t num_entries = 0;
  uint64_t num_deletes = 0;
  // Always empty, as the newest user timestamp is not tracked.
  std::string newest_udt;
};

// One file of an ingestion.
struct ExternalFileIngestionInfo {
  // Name of the column family that the file was added to.
  std::string cf_name;
  // Path of the file as the caller gave it, and of the table in the database.
  std::string external_file_path;
  std::string internal_file_path;
  // Sequence number of its entries; 0 if the file needed none.
  SequenceNumber global_seqno = 0;
  // Properties of the table, as the file has them.
  TableProperties table_properties;
};

// Result of a call that copied or moved whole files. Not in RocksDB.
struct DataMoveInfo {
  // The call that ended. kPromotion: a secondary took its primary's place (DB::Promote).
  enum class Kind { kCheckpoint, kExport, kImport, kBackup, kRestore, kPromotion };

  // Kind of the call.
  Kind kind = Kind::kCheckpoint;
  // Directory that was written or read.
  std::string path;
  // Names of the column families that a checkpoint, export or import has moved; empty for other
  // calls.
  std::vector<std::string> families;
  // Number of files written, including linked ones.
  uint64_t files = 0;
  // Bytes of files that were copied, and of files that were linked instead.
  uint64_t bytes_copied = 0;
  uint64_t bytes_linked = 0;
  // Last sequence number that the copy contains; 0 if the call has none.
  SequenceNumber sequence = 0;
  // Duration of the call in microseconds.
  uint64_t micros = 0;
  // Result of the call.
  Status status;
};

// Reports that the logs of a change stream's named position were lost. Not in RocksDB.
struct ChangeStreamExpiryInfo {
  // Name of the position (ChangeStreamOptions::name).
  std::string name;
  // First and last sequence number of the updates that the stream can no longer return.
  SequenceNumber first_lost = 0;
  SequenceNumber last_lost = 0;
};

// A change of a column family's stall condition, from `prev` to `cur`.
struct WriteStallInfo {
  // Name of the column family.
  std::string cf_name;
  // The present condition, and the one before the change.
  struct {
    WriteStallCondition cur = WriteStallCondition::kNormal;
    WriteStallCondition prev = WriteStallCondition::kNormal;
  } condition;
};

// Load of background jobs, excluding the job that just ended. Varve has one pool for compactions
// of all levels, so the numbers of the bottom pool are 0, and those of the low pool equal the
// totals.
struct BackgroundJobPressure {
  // Compactions that wait for a thread, and those that run.
  int compaction_scheduled = 0;
  int compaction_running = 0;
  // These equal the two numbers above, as all compactions run in the low pool.
  int compaction_low_scheduled = 0;
  int compaction_low_running = 0;
  // Always 0, as there is no pool of its own for the last level.
  int compaction_bottom_scheduled = 0;
  int compaction_bottom_running = 0;
  // Flushes that wait for a thread, and those that run.
  int flush_scheduled = 0;
  int flush_running = 0;

  // Nearness of the closest column family to the point at which writes are delayed, or stopped if
  // nothing delays them: from 0 (far) to 100; 100 or more: they are delayed or stopped.
  int write_stall_proximity_pct = 0;

  // True if compactions are sped up because a stall is near.
  bool compaction_speedup_active = false;
};

// The result of one attempt to recover from a background error.
struct BackgroundErrorRecoveryInfo {
  // The error from which the recovery was tried.
  Status old_bg_error;
  // OK if the database has recovered; otherwise the error that remains.
  Status new_bg_error;
};

// Results of opening a database; also the property "varve.recovery", as text and as a map.
struct RecoveryInfo {
  // Name with which the database was opened, and whether it was opened for reads only.
  std::string db_name;
  bool read_only = false;
  // Result of the opening. If it is not OK, it tells why the database was refused, and nothing was
  // changed.
  Status status;

  // Number of logs that were read, number and bytes of their records that were replayed into
  // memtables, and bytes that were not replayed, from the first damage in a log on, as far as they
  // can be counted. After a crash the latter are the incomplete end of the newest log.
  uint64_t logs_read = 0;
  uint64_t records_replayed = 0;
  uint64_t bytes_replayed = 0;
  uint64_t dropped_bytes = 0;
  // Minimum number of bytes that had been synced and are missing, which no crash causes.
  uint64_t synced_bytes_lost = 0;
  // First damage found; the path is empty if there was none.
  std::string first_bad_file;
  // Number of the log that the damage is in, its offset in bytes, and what is wrong there.
  uint64_t first_bad_log = 0;
  uint64_t first_bad_offset = 0;
  std::string first_bad_reason;
  // First and last known sequence numbers of writes that were logged and not replayed; 0 if none is
  // known.
  SequenceNumber first_lost_sequence = 0;
  SequenceNumber last_lost_sequence = 0;
  // Last sequence number in use; new writes get larger ones.
  SequenceNumber last_sequence = 0;

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

  // Called before and after a flush of one column family. A flush that fails has no
  // OnFlushCompleted.
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

  // Called for blob files as for tables.
  virtual void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& /*info*/) {}
  virtual void OnBlobFileCreated(const BlobFileCreationInfo& /*info*/) {}
  virtual void OnBlobFileDeleted(const BlobFileDeletionInfo& /*info*/) {}

  // Called when a memtable has become immutable, on a writer's thread, while all other writers are
  // blocked.
  virtual void OnMemTableSealed(const MemTableInfo& /*info*/) {}

  // Called as a handle that a user was given begins to be destroyed, by
  // DB::DestroyColumnFamilyHandle or by `delete`. Blocks nothing.
  virtual void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* /*handle*/) {}
  // Called for each file, when readers see it.
  virtual void OnExternalFileIngested(DB* /*db*/, const ExternalFileIngestionInfo& /*info*/) {}

  // Called when a checkpoint, export, import, backup, restore or promotion has ended, with or
  // without success. `db` is null after a restore. Blocks nothing. Not in RocksDB.
  virtual void OnDataMoved(DB* /*db*/, const DataMoveInfo& /*info*/) {}

  // Called when logs that a named position needs are about to be deleted because its limits are
  // exceeded. Not in RocksDB.
  virtual void OnChangeStreamExpired(DB* /*db*/, const ChangeStreamExpiryInfo& /*info*/) {}

  // Called before the database enters an error state. Setting *bg_error to OK suppresses the error,
  // which can lose data. A batch that was only partly inserted into memtables is an error
  // nevertheless.
  virtual void OnBackgroundError(BackgroundErrorReason /*reason*/, Status* /*bg_error*/) {}

  // Called when a column family starts or stops slowing or stopping writes. Blocks only the
  // thread's next work: a flush, a compaction, or the call that changed the condition.
  virtual void OnStallConditionsChanged(const WriteStallInfo& /*info*/) {}

  // Called when a flush or a compaction on a background thread has ended, with or without success;
  // also if nothing has changed since the previous call. Not called for jobs on a caller's thread.
  // Calls after different jobs may overlap; if they do, one more call follows, with the newest
  // state.
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

  // Called when automatic recovery from an error begins; if it sets *auto_recovery, which is true
  // unless another listener has changed it, to false, recovery is left to DB::Resume. Called once
  // per error: the answer holds until the database has recovered or has a worse error. A compaction
  // that fails again when retried is the same error.
  virtual void OnErrorRecoveryBegin(BackgroundErrorReason /*reason*/, Status /*bg_error*/,
                                    bool* /*auto_recovery*/) {}
  // Called when the database has recovered, by itself or by DB::Resume; from an error of
  // compactions when one has succeeded or none is due any more. OnErrorRecoveryEnd follows.
  virtual void OnErrorRecoveryCompleted(Status /*old_bg_error*/) {}
  // Called after each attempt, with its result.
  virtual void OnErrorRecoveryEnd(const BackgroundErrorRecoveryInfo& /*info*/) {}

  // Called when a database was opened, or was refused, before DB::Open returns, when there is no DB
  // yet. Not called if the open fails before the directory is read. Not in RocksDB.
  virtual void OnDatabaseRecovered(const RecoveryInfo& /*info*/) {}

  // Called when an operation on a file failed, for listeners of file operations, and when a
  // verification pass found damage.
  virtual void OnIOError(const IOErrorInfo& /*info*/) {}
};

}  // namespace varve
