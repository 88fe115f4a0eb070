// SPDX-License-Identifier: Apache-2.0
#pragma once

// LogDirectoryLock locks the directory of a closed database's logs (wal_dir). An open database with
// its logs in that directory holds the same lock.

#include <string>

#include "varve/file_system.h"

namespace varve {

// Holds the lock until it is destroyed. The file system must outlive it. Thread safety: none.
class LogDirectoryLock {
 public:
  explicit LogDirectoryLock(FileSystem* fs) : fs_(fs) {}
  ~LogDirectoryLock() { Release(); }
  LogDirectoryLock(const LogDirectoryLock&) = delete;
  LogDirectoryLock& operator=(const LogDirectoryLock&) = delete;

  // Locks `directory`, that of the logs of the database `name`, which the caller has locked. Does
  // nothing if the lock is held already, or if the directory is missing, "", the database's own, or
  // another database's. IOError: an open database has its logs there.
  IOStatus Take(const std::string& name, const std::string& directory);
  // Releases the lock, and deletes its file.
  void Remove();

 private:
  // Releases the lock, if it is held, and leaves its file.
  void Release();

  FileSystem* const fs_;
  FileLock* lock_ = nullptr;
  std::string path_;  // Empty if it was never held.
};

}  // namespace varve
