// SPDX-License-Identifier: Apache-2.0

// Removes a database, its tables at the rate of its SstFileManager, and implements the maintenance
// calls that take a closed or foreign one.

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
#include "db/recovery/table_directories.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/env/table_space.h"

namespace varve {

namespace {

// Deletes files with a database's names, of the given type if there is one, except LOCK, which the
// caller holds. Anything else in the directory stays.
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
    if (entry != kReserveFileName && !ParseFileName(entry, &number, &found)) continue;
    // Files that wait for deletion were tables.
    if (Slice(entry).ends_with(kTrashSuffix)) found = kTableFile;
    if (found == kDBLockFile || (type.has_value() && found != *type)) continue;
    s = fs->DeleteFile(directory + "/" + entry, IOOptions(), nullptr);
    if (!s.ok() && !IsMissing(s) && result.ok()) result = s;
  }
  return result;
}

// Also deletes the directory if nothing else is in it.
Status DeleteDirectory(FileSystem* fs, const std::string& directory,
                       std::optional<FileType> type = std::nullopt) {
  const Status s = DeleteOurFiles(fs, directory, type);
  if (s.ok()) fs->DeleteDir(directory, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

// Deletes files of one type, in a directory beside the database's own and in its lost/. In another
// database's directory their owner is unknown, so they stay.
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

// Deletes tables at the manager's rate, and waits for that. The caller deletes the rest.
void DeleteTablesAtRate(FileSystem* fs, const std::string& db_name, const Options& options,
                        std::vector<ColumnFamilyDescriptor> families) {
  TableSpace* const space = TableSpaceOf(options.sst_file_manager.get());
  if (space == nullptr || space->GetDeleteRateBytesPerSecond() <= 0) return;
  families.emplace_back(kDefaultColumnFamilyName, options);
  std::set<std::string> directories = TableDirectories(db_name, options, families);
  directories.insert(db_name);
  for (const std::string& directory : directories) {
    if (directory != db_name && IsOfAnotherDatabase(fs, db_name, directory)) continue;
    for (const std::string& place : {directory, directory + "/lost"}) {
      std::vector<std::string> entries;
      if (!fs->GetChildren(place, IOOptions(), &entries, nullptr).ok()) continue;
      for (const std::string& entry : entries) {
        uint64_t number = 0;
        FileType type = kTempFile;
        if (!ParseFileName(entry, &number, &type)) continue;
        if (type != kTableFile && !Slice(entry).ends_with(kTrashSuffix)) continue;
        space->DeleteAtRate(std::string(place).append("/").append(entry));
      }
    }
  }
  space->WaitForTrash();
}

}  // namespace

Status DestroyDB(const std::string& given_name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& column_families) {
  if (given_name.empty() || given_name == "/" || given_name == "." || given_name == "..") {
    return Status::InvalidArgument("DestroyDB: not the directory of a database", given_name);
  }
  Env* env = options.env != nullptr ? options.env : Env::Default();
  std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  // From here on the current directory does not matter.
  const std::string name = AbsolutePath(fs.get(), given_name);
  const std::string wal_dir = AbsolutePath(fs.get(), options.wal_dir);
  if (fs->FileExists(name, IOOptions(), nullptr).IsNotFound()) return Status::OK();
  FileLock* lock = nullptr;
  IOStatus s = fs->LockFile(LockFileName(name), IOOptions(), &lock, nullptr);
  if (!s.ok()) return s;
  // Tables that it cannot delete, also for lack of memory, are deleted at once below.
  BestEffort([&] { DeleteTablesAtRate(fs.get(), name, options, column_families); });
  Status result = DeleteTables(fs.get(), name, options, column_families);
  const auto note = [&result](const Status& deleted) {
    if (result.ok()) result = deleted;
  };
  if (!wal_dir.empty() && wal_dir != name) {
    if (!IsOfAnotherDatabase(fs.get(), name, wal_dir))
      note(DeleteDirectory(fs.get(), ArchivalDirectory(wal_dir), kWalFile));
    if (!IsOfAnotherDatabase(fs.get(), name, wal_dir)) note(RemoveRestoreFolder(fs.get(), wal_dir));
    note(DeleteBeside(fs.get(), name, wal_dir, kWalFile));
  }
  note(RemoveRestoreFolder(fs.get(), name));
  for (const std::string& directory :
       {name + "/lost", ArchivalDirectory(name), StagingDirectory(name)}) {
    note(DeleteDirectory(fs.get(), directory));
  }
  // This comes last, as only this directory tells where the other files are.
  if (result.ok()) note(DeleteOurFiles(fs.get(), name));
  s = fs->UnlockFile(lock, IOOptions(), nullptr);
  if (result.ok() && !s.ok()) result = s;
  if (!result.ok()) return result;
  fs->DeleteFile(LockFileName(name), IOOptions(), nullptr).PermitUncheckedError();
  fs->DeleteDir(name, IOOptions(), nullptr).PermitUncheckedError();
  return result;
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
