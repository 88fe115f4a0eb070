// SPDX-License-Identifier: Apache-2.0

// Implements DestroyDB, and the functions of convenience.h that are calls of a DB.
//
// A destruction may be interrupted at any point, and can then be repeated. So it begins with files
// in other directories, and ends with the database's own directory with CURRENT, MANIFEST and
// OPTIONS, as only they say where the rest is. LOCK and the directory itself are removed when
// nothing is left that another process could open.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/file_system.h"

#include "db/background/space_reserve.h"
#include "db/recovery/database_directory.h"
#include "db/recovery/file_exchange.h"
#include "db/recovery/log_directory_lock.h"
#include "db/recovery/table_directories.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/env/table_space.h"

namespace varve {

namespace {

// Deletes the files in `directory` that have names of database files and, if `type` is given, that
// type. LOCK, which the caller holds, and all other files stay. Returns the first error, after all
// files were tried.
Status DeleteOurFiles(FileSystem* fs, const std::string& directory,
                      std::optional<FileType> type = std::nullopt) {
  VARVE_ASSERT(!directory.empty());  // Files of the root belong to no database.
  std::vector<std::string> entries;
  IOStatus s = fs->GetChildren(directory, IOOptions(), &entries, nullptr);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  Status result;
  for (const std::string& entry : entries) {
    uint64_t number = 0;
    FileType found = kTempFile;
    // Files with other names do not belong to a database.
    if (entry != kReserveFileName && !ParseFileName(entry, &number, &found)) continue;
    // Files that wait for deletion were tables or blob files, which lie together.
    if (Slice(entry).ends_with(kTrashSuffix) || found == kBlobFile) found = kTableFile;
    if (found == kDBLockFile || (type.has_value() && found != *type)) continue;
    s = fs->DeleteFile(directory + "/" + entry, IOOptions(), nullptr);
    if (!s.ok() && !IsMissing(s) && result.ok()) result = s;
  }
  return result;
}

// Does DeleteOurFiles, and then deletes the directory if it is empty.
Status DeleteDirectory(FileSystem* fs, const std::string& directory,
                       std::optional<FileType> type = std::nullopt) {
  const Status s = DeleteOurFiles(fs, directory, type);
  if (s.ok()) fs->DeleteDir(directory, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

// Deletes files of one type in `directory` and in its folders lost/ and of staged ingestions. In
// the directory of another database their owner is unknown, so they stay.
Status DeleteBeside(FileSystem* fs, const std::string& db_name, const std::string& directory,
                    FileType type) {
  if (IsOfAnotherDatabase(fs, db_name, directory)) return Status::OK();
  Status lost = DeleteDirectory(fs, directory + "/lost", type);
  lost.UpdateIfOk(DeleteDirectory(fs, StagingDirectory(directory), type));
  const Status s = DeleteDirectory(fs, directory, type);
  return lost.ok() ? s : lost;
}

// Deletes tables in all directories that may have some (db_paths, cf_paths).
Status DeleteTables(FileSystem* fs, const std::string& db_name, const Options& options,
                    std::vector<ColumnFamilyDescriptor> families) {
  families.emplace_back(kDefaultColumnFamilyName, options);
  Status result;
  for (const std::string& directory : TableDirectories(db_name, options, families)) {
    const Status s = DeleteBeside(fs, db_name, directory, kTableFile);
    if (result.ok()) result = s;
  }
  return result;
}

// Deletes tables and blob files at the rate of the options' SstFileManager, and waits for that.
// Does nothing without a rate. The caller deletes the rest.
void DeleteTablesAtRate(FileSystem* fs, const std::string& db_name, const Options& options,
                        std::vector<ColumnFamilyDescriptor> families) {
  TableSpace* const space = TableSpaceOf(options.sst_file_manager.get());
  if (space == nullptr || space->GetDeleteRateBytesPerSecond() <= 0) return;
  families.emplace_back(kDefaultColumnFamilyName, options);
  std::set<std::string> directories = TableDirectories(db_name, options, families);
  directories.insert(db_name);
  for (const std::string& directory : directories) {
    if (directory != db_name && IsOfAnotherDatabase(fs, db_name, directory)) continue;
    // Errors are ignored here: whatever stays is deleted at once by the caller, who reports them.
    for (const std::string& place : {directory, directory + "/lost"}) {
      std::vector<std::string> entries;
      if (!fs->GetChildren(place, IOOptions(), &entries, nullptr).ok()) continue;
      for (const auto& [entry, number, type] : FilesAmong(entries)) {
        if (type != kTableFile && type != kBlobFile && !Slice(entry).ends_with(kTrashSuffix))
          continue;
        space->DeleteAtRate(std::string(place).append("/").append(entry));
      }
    }
  }
  space->WaitForTrash();
}

// Deletes everything but LOCK, which the caller holds. `logs` is the lock of `wal_dir`, which goes
// with the directory. Returns the first error.
Status DeleteLocked(FileSystem* fs, const std::string& name, const std::string& wal_dir,
                    const Options& options,
                    const std::vector<ColumnFamilyDescriptor>& column_families,
                    LogDirectoryLock* logs) {
  // Tables that are left, as for lack of memory, are deleted at once below.
  BestEffort([&] { DeleteTablesAtRate(fs, name, options, column_families); });
  Status result = DeleteTables(fs, name, options, column_families);
  const auto note = [&result](const Status& deleted) {
    if (result.ok()) result = deleted;
  };
  // The folders within the log directory go before the directory itself, and the lock's file goes
  // with it.
  if (!wal_dir.empty() && wal_dir != name) {
    if (!IsOfAnotherDatabase(fs, name, wal_dir)) {
      note(DeleteDirectory(fs, ArchivalDirectory(wal_dir), kWalFile));
      note(RemoveRestoreFolder(fs, wal_dir));
    }
    logs->Remove();
    note(DeleteBeside(fs, name, wal_dir, kWalFile));
  }
  note(RemoveRestoreFolder(fs, name));
  for (const std::string& directory :
       {name + "/lost", ArchivalDirectory(name), StagingDirectory(name)}) {
    note(DeleteDirectory(fs, directory));
  }
  // This comes last, as only this directory tells where the other files are.
  if (result.ok()) note(DeleteOurFiles(fs, name));
  return result;
}

}  // namespace

Status DestroyDB(const std::string& given_name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& column_families) try {
  if (given_name.empty() || given_name == "/" || given_name == "." || given_name == "..") {
    return Status::InvalidArgument("DestroyDB: not the directory of a database", given_name);
  }
  Env* env = options.env != nullptr ? options.env : Env::Default();
  std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  // From here on the current directory does not matter.
  const std::string name = AbsolutePath(fs.get(), given_name);
  const std::string wal_dir = AbsolutePath(fs.get(), options.wal_dir);
  // A missing database is destroyed already, and has no LOCK to take.
  if (fs->FileExists(name, IOOptions(), nullptr).IsNotFound()) return Status::OK();
  FileLock* lock = nullptr;
  IOStatus s = fs->LockFile(LockFileName(name), IOOptions(), &lock, nullptr);
  if (!s.ok()) return s;
  // An open database that has its logs in a directory of their own holds a lock there, too.
  LogDirectoryLock logs(fs.get());
  Status result = Guarded([&]() -> Status {
    VARVE_RETURN_IF_ERROR(logs.Take(name, wal_dir));
    return DeleteLocked(fs.get(), name, wal_dir, options, column_families, &logs);
  });
  // LOCK was left out above, as its file is the lock: a process that came now would lock another
  // file of that name and create a database between the deletions.
  result.UpdateIfOk(Guarded([&] { return fs->UnlockFile(lock, IOOptions(), nullptr); }));
  if (!result.ok()) return result;
  fs->DeleteFile(LockFileName(name), IOOptions(), nullptr).PermitUncheckedError();
  fs->DeleteDir(name, IOOptions(), nullptr).PermitUncheckedError();
  return result;
} catch (...) {
  return CaughtException();
}

void CancelAllBackgroundWork(DB* db, bool wait) {
  db->CancelAllBackgroundWork(wait);
}

Status DeleteFilesInRange(DB* db, ColumnFamilyHandle* column_family, const Slice* begin,
                          const Slice* end, bool include_end) {
  const RangePtr range(begin, end);
  return DeleteFilesInRanges(db, column_family, &range, 1, include_end);
}

Status DeleteFilesInRanges(DB* db, ColumnFamilyHandle* column_family, const RangePtr* ranges,
                           size_t n, bool include_end) {
  return db->DeleteFilesInRanges(column_family, ranges, n, include_end);
}

}  // namespace varve
