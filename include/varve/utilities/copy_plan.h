// SPDX-License-Identifier: Apache-2.0
#pragma once

// CopyPlan: a backup of an open database as a list of objects, for programs that keep backups in an
// object store and upload the bytes themselves. RocksDB has no such class.
//
// A plan is a directory, best on the database's file system, so that tables are linked and not
// copied. It keeps the files of one moment while the database goes on, needs no open database, and
// survives the process. So a program
//
//   1. reads all catalogs that the store has (objects "meta/<id>"), and makes a plan with them
//      (Make): what they name is not uploaded again;
//   2. uploads the objects that the store lacks (FindMissing), in any order, by any number of
//      threads, and as often as it likes;
//   3. then uploads the catalog, as one object: the backup exists once the store has it;
//   4. deletes the plan (Discard).
//
// After an interruption it opens the plan again (Open), and goes on with 2. An interruption can
// leave garbage in the store, but never a backup that lacks a file.
//
// The objects are the files of a BackupEngine's directory under their names there. To restore a
// backup, download the objects that its catalog names (ListCatalog), and the catalog itself, into a
// directory, and open that with BackupEngineReadOnly. To delete one, delete its catalog first, and
// later what FindGarbage returns.
//
// Shared tables have names that tell databases apart; ids of backups do not. So each database needs
// a prefix or bucket of its own in the store, and one plan at a time.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "varve/env.h"
#include "varve/export.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/utilities/backup_engine.h"

namespace varve {

class DB;
class RateLimiter;

// Describes an object that is to be uploaded to the store.
struct CopyPlanObject {
  // Name in the store, of digits, letters, and "_-./".
  std::string name;
  // Path of the file whose bytes it has, from the first to the last.
  std::string path;
  // Size in bytes.
  uint64_t size = 0;
  // CRC-32C of all bytes, not masked.
  uint32_t crc32c = 0;
  // Temperature of the file in the database, as a hint for the store's class of storage.
  Temperature temperature = Temperature::kUnknown;
};

// Describes an object that a store has, or should have.
struct StoredObject {
  std::string name;
  // Size in bytes.
  uint64_t size = 0;
  // CRC-32C of all bytes; empty if it is not known.
  std::optional<uint32_t> crc32c;
};

// The object that lists the other objects of one backup. The backup exists while the store has it.
struct CopyPlanCatalog {
  // Name in the store: "meta/<id>".
  std::string name;
  // Content of the object: what BackupEngine writes with schema_version 2.
  std::string bytes;
};

struct CopyPlanOptions {
  // All catalogs that the store has. If one is left out, its objects are uploaded again; if it is
  // the newest, its id is used again as well, which damages its backup.
  std::vector<CopyPlanCatalog> previous;
  // Id of the new backup; 0 means the largest previous id plus one.
  BackupID backup_id = 0;
  // Bytes that BackupInfo returns; at most 1 MiB.
  std::string app_metadata;

  // Have the meaning that they have in CreateBackupOptions.
  bool flush_before_backup = false;
  bool atomic_flush = false;

  // Number of threads that link, copy and read, at least 1.
  int max_background_operations = 1;
  // Bytes of the buffer of each thread; 0: 1 MiB.
  uint64_t io_buffer_size = 0;
  // Limits the rate of copying and reading; null: no limit.
  std::shared_ptr<RateLimiter> rate_limiter;
};

// A complete plan, which never changes until it is discarded. Thread safety: const methods may be
// called concurrently.
class VARVE_EXPORT CopyPlan {
 public:
  // Makes a plan of `db` in the new directory `plan_dir`, whose parent must exist. Until the plan
  // is complete and durable, the directory is `<plan_dir>.tmp`. What a crash leaves there is
  // removed by the next Make with the same `plan_dir`. Tables are linked, or copied where that is
  // impossible; logs are copied. A new table without a checksum in the MANIFEST (DBOptions'
  // file_checksum_gen_factory) is read to compute one. Writes, flushes and compactions go on
  // meanwhile. `*plan` is null after an error.
  //
  // InvalidArgument: the directory exists; app_metadata is too long; a name in `previous` is not
  // "meta/<id>"; the id is a previous one's; max_background_operations is less than 1. Busy:
  // another call is making a plan in `plan_dir`. Corruption: a catalog is damaged, two of them
  // contradict each other, or one contradicts the database's MANIFEST. NotSupported: a catalog is
  // of a later version; or the database is not one of this library.
  static Status Make(const CopyPlanOptions& options, DB* db, const std::string& plan_dir,
                     std::unique_ptr<CopyPlan>* plan);

  // Opens an existing plan. A null `env` means the default one. NotFound: there is no plan, or one
  // of its files is missing. Corruption: the plan is damaged, or a file has another size.
  static Status Open(Env* env, const std::string& plan_dir, std::unique_ptr<CopyPlan>* plan);

  // Deletes the directory of a plan, even of a damaged one, or what an interrupted Discard has left
  // of it. A null `env` means the default one. NotFound: there is none. InvalidArgument: the
  // directory is not a plan's, or holds a file that no plan has; nothing is deleted then.
  static Status Discard(Env* env, const std::string& plan_dir);

  virtual ~CopyPlan() = default;

  // Returns the id under which BackupEngine will list the backup.
  virtual BackupID backup_id() const = 0;
  // Returns the objects that no previous catalog names.
  virtual const std::vector<CopyPlanObject>& objects() const = 0;
  // Returns the catalog, which is to be uploaded last: the backup exists once the store has it.
  virtual const CopyPlanCatalog& catalog() const = 0;

  // Sets *missing to the objects that are still to be uploaded. `stored` lists all objects of the
  // store; one with the right name counts as uploaded unless its size or its checksum differs.
  //
  // NotFound: the store lacks an object that a previous catalog names; Corruption: it has it with
  // another size or checksum. Such a plan cannot become a backup: discard it, and make another one
  // without the catalogs that name the object.
  virtual Status FindMissing(const std::vector<StoredObject>& stored,
                             std::vector<CopyPlanObject>* missing) const = 0;

  // Reads all files of the plan. NotFound: one is missing; Corruption: its size or its checksum is
  // wrong.
  virtual Status Verify() const = 0;
};

// Sets *objects to all objects that a catalog names and its backup needs. The catalog itself is not
// among them, nor are files that a BackupEngine excluded because they are elsewhere. A size of 0
// means that the catalog does not have it. InvalidArgument: the name is that of no catalog; a
// damaged one, or one of a later version, is refused as CopyPlan::Make does.
VARVE_EXPORT Status ListCatalog(const CopyPlanCatalog& catalog, std::vector<StoredObject>* objects);

// Sets *garbage to those of the objects `names` that belong to no backup. `catalogs` are all
// catalogs of the store. Objects of a plan that is still being uploaded are among the garbage:
// delete only objects that are older than the longest upload of a plan. A name that no plan can
// have is never garbage, nor is a file that a BackupEngine excluded from a backup. The errors are
// those of ListCatalog; nothing is garbage then.
VARVE_EXPORT Status FindGarbage(const std::vector<CopyPlanCatalog>& catalogs,
                                const std::vector<std::string>& names,
                                std::vector<std::string>* garbage);

}  // namespace varve
