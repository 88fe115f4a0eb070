// SPDX-License-Identifier: Apache-2.0

// Removing a database, and the maintenance calls that take a closed or foreign one.

#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/file_system.h"

#include "db/background/space_reserve.h"
#include "db/recovery/table_directories.h"
#include "util/base/assert.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Deletes what has a name of ours; anything else in the directory stays, and with it the directory.
Status DeleteOurFiles(FileSystem* fs, const std::string& directory, bool keep_lock,
                      bool tables_only = false) {
  VARVE_ASSERT(!directory.empty());  // files of the root are nobody's
  std::vector<std::string> entries;
  IOStatus s = fs->GetChildren(directory, IOOptions(), &entries, nullptr);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  Status result;
  for (const std::string& entry : entries) {
    uint64_t number = 0;
    FileType type = kTempFile;
    if (entry != kReserveFileName && !ParseFileName(entry, &number, &type)) continue;
    if (type == kDBLockFile && keep_lock) continue;
    const bool is_table = type == kTableFile || Slice(entry).ends_with(kTrashSuffix);
    if (tables_only && !is_table) continue;
    s = fs->DeleteFile(directory + "/" + entry, IOOptions(), nullptr);
    if (!s.ok() && !s.IsNotFound() && result.ok()) result = s;
  }
  return result;
}

// With the directory, if nothing else is in it.
Status DeleteDirectory(FileSystem* fs, const std::string& directory, bool tables_only = false) {
  const Status s = DeleteOurFiles(fs, directory, /*keep_lock=*/false, tables_only);
  if (s.ok()) fs->DeleteDir(directory, IOOptions(), nullptr).PermitUncheckedError();
  return s;
}

// Where tables are (db_paths, cf_paths); not of directories that other databases have.
Status DeleteTables(FileSystem* fs, const std::string& db_name, const Options& options,
                    std::vector<ColumnFamilyDescriptor> families) {
  families.emplace_back(kDefaultColumnFamilyName, options);
  Status result;
  for (const std::string& directory : TableDirectories(db_name, options, families)) {
    if (fs->FileExists(CurrentFileName(directory), IOOptions(), nullptr).ok()) continue;
    for (const std::string& one : {directory + "/lost", directory}) {
      const Status s = DeleteDirectory(fs, one, /*tables_only=*/true);
      if (result.ok()) result = s;
    }
  }
  return result;
}

}  // namespace

Status DestroyDB(const std::string& given_name, const Options& options,
                 const std::vector<ColumnFamilyDescriptor>& column_families) {
  if (given_name.empty() || given_name == "/" || given_name == "." || given_name == "..") {
    return Status::InvalidArgument("DestroyDB: not the directory of a database", given_name);
  }
  Env* env = options.env != nullptr ? options.env : Env::Default();
  std::shared_ptr<FileSystem> fs = env->GetFileSystem();
  // All of it in the directory that has this name now.
  const std::string name = AbsolutePath(fs.get(), given_name);
  const std::string wal_dir = AbsolutePath(fs.get(), options.wal_dir);
  if (fs->FileExists(name, IOOptions(), nullptr).IsNotFound()) return Status::OK();
  FileLock* lock = nullptr;
  IOStatus s = fs->LockFile(LockFileName(name), IOOptions(), &lock, nullptr);
  if (!s.ok()) return s;
  Status result = DeleteTables(fs.get(), name, options, column_families);
  std::vector<std::string> directories = {name + "/lost", ArchivalDirectory(name)};
  if (!wal_dir.empty() && wal_dir != name) {
    directories.push_back(wal_dir + "/lost");
    directories.push_back(wal_dir);
  }
  for (const std::string& directory : directories) {
    const Status deleted = DeleteDirectory(fs.get(), directory);
    if (result.ok()) result = deleted;
  }
  Status deleted = DeleteOurFiles(fs.get(), name, /*keep_lock=*/true);
  if (result.ok()) result = deleted;
  s = fs->UnlockFile(lock, IOOptions(), nullptr);
  if (result.ok() && !s.ok()) result = s;
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
