// SPDX-License-Identifier: Apache-2.0
#include "db/follow/linked_tables.h"

#include <utility>
#include <vector>

#include "db/recovery/database_directory.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

std::string NameIn(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Returns true for tables and blob files, and sets *number.
bool IsTable(const std::string& name, uint64_t* number) {
  FileType type = kTempFile;
  return ParseFileName(name, number, &type) && (type == kTableFile || type == kBlobFile);
}

}  // namespace

LinkedTables::LinkedTables(const std::shared_ptr<FileSystem>& fs, std::string directory)
    : FileSystemWrapper(fs), directory_(std::move(directory)) {}

Status LinkedTables::Open(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                          std::shared_ptr<LinkedTables>* tables) {
  VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(fs.get(), directory));
  // SweepLeftovers would delete the tables of a database.
  if (fs->FileExists(CurrentFileName(directory), IOOptions(), nullptr).ok()) {
    return Status::InvalidArgument(
        directory, "is to be the directory of a follower, and is that of a database");
  }
  const std::shared_ptr<LinkedTables> made(new LinkedTables(fs, directory));
  const IOStatus s = fs->LockFile(LockFileName(directory), IOOptions(), &made->lock_, nullptr);
  if (!s.ok()) {
    return Status::CopyAppendMessage(s, "; ", "the directory of a follower serves one at a time");
  }
  VARVE_RETURN_IF_ERROR(made->SweepLeftovers());
  *tables = made;
  return Status::OK();
}

LinkedTables::~LinkedTables() {
  BestEffort([this] { KeepOnly({}); });
  if (lock_ == nullptr) return;
  BestEffort([this] { target()->UnlockFile(lock_, IOOptions(), nullptr).PermitUncheckedError(); });
}

Status LinkedTables::SweepLeftovers() {
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(target()->GetChildren(directory_, IOOptions(), &names, nullptr));
  uint64_t number = 0;
  // The lock is held, so no other process uses the links.
  for (const std::string& name : names) {
    if (IsTable(name, &number)) VARVE_RETURN_IF_ERROR(Unlink(name));
  }
  return Status::OK();
}

IOStatus LinkedTables::Unlink(const std::string& name) {
  const IOStatus s = target()->DeleteFile(directory_ + "/" + name, IOOptions(), nullptr);
  return IsMissing(s) ? IOStatus::OK() : s;
}

void LinkedTables::TellNotLinked(const std::string& path, const IOStatus& why) {
  {
    MutexLock lock(&mu_);
    if (std::exchange(told_, true)) return;
  }
  LogWarn(info_log_.get(),
          "table %s cannot be linked into %s, and is opened where it is, as others may be: the "
          "leader's deletion of it may fail reads: %s",
          path.c_str(), directory_.c_str(), why.ToString().c_str());
}

// Holds mu_ during the calls of the file system, so that concurrent openings of one table create
// the link once.
bool LinkedTables::Link(const std::string& path, const std::string& name) {
  const std::string own = directory_ + "/" + name;
  IOStatus s;
  {
    MutexLock lock(&mu_);
    // A leader that was restored from a copy may use the number for another file now.
    if (links_.contains(name)) {
      const bool replaced =
          target()->FileExists(path, IOOptions(), nullptr).ok() && !IsSameFile(target(), path, own);
      if (!replaced) return true;
      if (!Unlink(name).ok()) return false;
    }
    s = target()->LinkFile(path, own, IOOptions(), nullptr);
    if (s.ok()) {
      links_.insert(name);
      return true;
    }
  }
  // A missing table is reported when it is opened. After any other error, such as links between
  // file systems, the table is opened in the leader's directory.
  if (!IsMissing(s)) TellNotLinked(path, s);
  return false;
}

IOStatus LinkedTables::NewRandomAccessFile(const std::string& path, const FileOptions& options,
                                           std::unique_ptr<FSRandomAccessFile>* result,
                                           IODebugContext* dbg) {
  const std::string name = NameIn(path);
  uint64_t number = 0;
  if (!IsTable(name, &number) || !Link(path, name)) {
    return target()->NewRandomAccessFile(path, options, result, dbg);
  }
  return target()->NewRandomAccessFile(directory_ + "/" + name, options, result, dbg);
}

void LinkedTables::KeepOnly(const std::set<uint64_t>& numbers) {
  std::vector<std::string> unneeded;
  {
    MutexLock lock(&mu_);
    for (const std::string& name : links_) {
      uint64_t number = 0;
      if (!IsTable(name, &number) || !numbers.contains(number)) unneeded.push_back(name);
    }
  }
  // Links are deleted without the mutex, as that is I/O. A link stays in the set until it is
  // deleted, so that a failure is retried.
  for (const std::string& name : unneeded) {
    const IOStatus s = Unlink(name);
    if (!s.ok()) {
      LogWarn(info_log_.get(), "a link of a follower is not removed yet: %s", s.ToString().c_str());
      continue;
    }
    MutexLock lock(&mu_);
    links_.erase(name);
  }
}

}  // namespace varve
