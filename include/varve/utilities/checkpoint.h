// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checkpoints: a database as it is at one moment, in a directory of its own, made beside writes,
// flushes and compactions. And column families taken out of a database as files.

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

// Imports (DB::CreateColumnFamilyWithImport): every byte of each table is read, and what does not
// hold together is refused as Corruption, with nothing left of the import. The tables keep their
// levels; without move_files they are copied, with it linked and, once the family is there,
// unlinked where they were. *handle is the caller's; beside an error it is not null only if the
// family is there and the OPTIONS file could not be written. Errors: InvalidArgument: there are no
// files, the family exists, the comparator is another one, a level is beyond num_levels, keys of
// two exports overlap, or a table has range deletions and the metadata no bounds (`smallest`,
// `largest`) for them.
//
// What holds of every checkpoint, however it is asked for:
//
// - It is complete and durable under its name, or there is none of that name. Until then its files
//   are in `<dir>.tmp`; what a crash leaves there the next call with the same name removes.
// - It opens as a database in every recovery mode, with the options of the original but wal_dir,
//   db_paths and cf_paths, and shows a prefix of the writes: everything that had returned when the
//   call began, and undecided transactions that were prepared, too.
// - Nothing is held up. Tables, and logs that are finished, are hard links where the file system
//   has them, and copies elsewhere (EXDEV, EOPNOTSUPP, EMLINK, EPERM). Tables of several
//   directories come together in one.
//
// `log_size_for_flush`: families are flushed first if the live logs have at least so many bytes: 0
// always, UINT64_MAX never. Without a flush the logs have the rest, and a checkpoint takes
// milliseconds. Families with writes in memory that no log has (disableWAL) are flushed in any
// case. A database that is read only is not flushed.
//
// `sequence_number_ptr`, unless null, gets a sequence number that is surely contained; as a rule
// later ones are, too.
//
// Errors: InvalidArgument: the name is empty, or exists; a handle is null, of another database, or
//   of a dropped family; families of a read-only database are not open. Aborted: `<dir>.tmp` holds
//   what no checkpoint has; or a flush is needed, and LockWAL keeps it out. Busy: the same name is
//   being made, or the call would wait for what its own thread has to finish. ShutdownInProgress:
//   the database is being closed.
class VARVE_EXPORT Checkpoint {
 public:
  // `db`: also one that wraps another, as a TransactionDB does. It outlives the object, which the
  // caller owns. InvalidArgument: null; NotSupported: it is none of this library's.
  static Status Create(DB* db, Checkpoint** checkpoint_ptr);
  virtual ~Checkpoint() = default;

  // Of all families. Any thread; the directory's parent exists.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;

  // Of these families and the default one; of all if none is named.
  virtual Status CreateCheckpoint(const std::string& checkpoint_dir,
                                  const std::vector<ColumnFamilyHandle*>& column_families,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;

  // Writes the tables of one family, which is flushed, to a directory that does not exist, for
  // DB::CreateColumnFamilyWithImport. *metadata must be null, and is the caller's afterwards. The
  // file EXPORT in the directory says the same to ReadExport, and so does all that the directory
  // needs in order to be imported by another machine.
  virtual Status ExportColumnFamily(ColumnFamilyHandle* handle, const std::string& export_dir,
                                    ExportImportFilesMetaData** metadata) = 0;
};

// What the file EXPORT in a directory says that Checkpoint::ExportColumnFamily has written, also
// one that was brought here from elsewhere. *metadata must be null, and is the caller's afterwards.
// NotFound: there is no such file; Corruption: it is damaged. Varve's own.
VARVE_EXPORT Status ReadExport(Env* env, const std::string& export_dir,
                               ExportImportFilesMetaData** metadata);

struct CheckpointEngineOptions {
  bool use_link_file_when_available = true;          // False: files are copied.
  int max_background_operations = 1;                 // Threads that copy, the caller's among them.
  uint64_t io_buffer_size = 0;                       // Bytes, of each of them; 0: 1 MiB.
  uint64_t backup_rate_limit = 0;                    // Bytes copied a second; 0: no limit.
  std::shared_ptr<RateLimiter> backup_rate_limiter;  // Instead of backup_rate_limit.
};

// Makes checkpoints of any databases, with options of its own. Thread-safe.
class VARVE_EXPORT CheckpointEngine {
 public:
  // InvalidArgument: no place for the result, or fewer than one operation.
  static Status Open(const CheckpointEngineOptions& options,
                     std::unique_ptr<CheckpointEngine>* engine);
  virtual ~CheckpointEngine() = default;

  // As those of Checkpoint.
  virtual Status CreateCheckpoint(DB* db, const std::string& checkpoint_dir,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;
  virtual Status CreateCheckpoint(DB* db, const std::string& checkpoint_dir,
                                  const std::vector<ColumnFamilyHandle*>& column_families,
                                  uint64_t log_size_for_flush = 0,
                                  uint64_t* sequence_number_ptr = nullptr) = 0;
};

}  // namespace varve
