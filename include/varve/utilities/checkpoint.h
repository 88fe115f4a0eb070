// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checkpoints are copies of a database at one moment, each in its own directory. They are made
// while writes, flushes and compactions go on. Column families can also be exported as files.
//
//   varve::Checkpoint* raw = nullptr;
//   varve::Status s = varve::Checkpoint::Create(db, &raw);
//   const std::unique_ptr<varve::Checkpoint> checkpoint(raw);
//   // The directory must not exist.
//   if (s.ok()) s = checkpoint->CreateCheckpoint("my.db.monday");

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/metadata.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

class ColumnFamilyHandle;
class DB;
class Env;
class RateLimiter;

// Makes checkpoints of one database. The following holds for every checkpoint:
//
// - It is complete and durable under its name, or does not exist under that name. Until then its
//   files are in `<dir>.tmp`; the next call with the same name removes what a crash left there.
// - It opens as a database in every recovery mode, with the options of the original except wal_dir,
//   db_paths and cf_paths. It shows a prefix of the writes: every write that had returned when the
//   call began, and prepared but undecided transactions.
// - It blocks no other work, except as said below of unlogged writes. Tables and finished logs are
//   hard-linked where the file system supports it, and copied elsewhere (EXDEV, EOPNOTSUPP, EMLINK,
//   EPERM). Tables of several directories are put into one.
//
// `log_size_for_flush`: families are flushed first if the live logs have at least this many bytes.
// 0 means always, UINT64_MAX never. Without a flush the checkpoint contains the logs instead and
// takes milliseconds. Families that have unlogged writes (disableWAL) in memory are always flushed;
// if such writes come again and again meanwhile, writers wait for the flush of the last of them. A
// read-only database is not flushed. NotSupported: a secondary has writes that are in no table;
// their logs belong to another process.
//
// `sequence_number_ptr`, unless null, is set to a sequence number up to which the checkpoint
// contains all writes; it usually contains later ones too.
//
// Errors: InvalidArgument: the name is empty, or exists; a handle is null, of another database, or
//   of a dropped family; families of a read-only database are not open. Aborted: `<dir>.tmp` holds
//   files of no checkpoint; or a flush is needed and LockWAL prevents it. Busy: another call is
//   making a checkpoint of that name, or the call would wait for work that its own thread has to
//   finish. ShutdownInProgress: the database is being closed.
//
// Imports: DB::CreateColumnFamilyWithImport reads every byte of each exported table, and an
// inconsistency is Corruption and leaves nothing of the import. The tables keep their levels. They
// are copied unless move_files is set; then they are hard-linked, and their old names are removed
// once the family exists. The caller owns *handle; beside an error it is not null only if the
// family exists but the OPTIONS file could not be written. InvalidArgument: there are no files, the
// family exists, the comparator is another one, a level is beyond num_levels and the family
// reserves its last one (cf_allow_ingest_behind), keys of two exports overlap, or a table has range
// deletions but the metadata has no bounds (`smallest`, `largest`) for them.
class VARVE_EXPORT Checkpoint {
 public:
  // `db` may wrap another database, as a TransactionDB does. It must outlive the new object, which
  // the caller owns. InvalidArgument: `db` is null; NotSupported: it is not a database of this
  // library.
  static Status Create(DB* db, Checkpoint** checkpoint_ptr);
  virtual ~Checkpoint() = default;

  // Creates a checkpoint of all families. Thread-safe. The parent of the directory must exist.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;

  // Creates a checkpoint of these families and the default one, or of all if the list is empty.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  const std::vector<ColumnFamilyHandle*>& column_families,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;

  // Flushes one family and writes its tables to a new directory, for
  // DB::CreateColumnFamilyWithImport. *metadata must be null; the caller owns it afterwards. The
  // file EXPORT in the directory stores the metadata for ReadExport, so that the directory can be
  // imported on another machine. NotSupported if values of the family are in blob files.
  virtual Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                                    ExportImportFilesMetaData** metadata) = 0;
};

// Reads the file EXPORT that Checkpoint::ExportColumnFamily has written to a directory, which may
// have been moved here from elsewhere. `env` must not be null. *metadata must be null; the caller
// owns it afterwards. NotFound: there is no such file; Corruption: it is damaged. Varve's own.
VARVE_EXPORT Status ReadExport(Env* env, const std::string& export_dir,
                               ExportImportFilesMetaData** metadata);

struct CheckpointEngineOptions {
  // If true, files are hard-linked where that is possible; otherwise they are copied.
  bool use_link_file_when_available = true;
  // Number of copying threads, including the caller's.
  int max_background_operations = 1;
  // Bytes of the buffer of each thread; 0: 1 MiB.
  uint64_t io_buffer_size = 0;
  // Bytes copied per second; 0: no limit.
  uint64_t backup_rate_limit = 0;
  // Replaces backup_rate_limit if it is set.
  std::shared_ptr<RateLimiter> backup_rate_limiter;
};

// Makes checkpoints of any databases, with its own options. Thread-safe.
class VARVE_EXPORT CheckpointEngine {
 public:
  // InvalidArgument: `engine` is null, or there is less than one background operation.
  static Status Open(const CheckpointEngineOptions& options,
                     std::unique_ptr<CheckpointEngine>* engine);
  virtual ~CheckpointEngine() = default;

  // Work like the calls of Checkpoint.
  virtual Status CreateCheckpoint(DB* db, const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;
  virtual Status CreateCheckpoint(DB* db, const std::string& checkpoint_dir,
                                  const std::vector<ColumnFamilyHandle*>& column_families,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;
};

}  // namespace varve
