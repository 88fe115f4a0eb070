// SPDX-License-Identifier: Apache-2.0
#pragma once

// Locks the directory of a closed database's logs (wal_dir): an open database that has its logs
// there holds that lock, too.

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

  // Locks the directory of the logs of the database `name`, which the caller has locked. Does
  // nothing if the lock is held already, if the directory is missing, empty (""), or the
  // database's own, or if it is that of another database, whose logs the caller leaves alone.
  // Returns IOError if a database that has its logs there is open.
  IOStatus Take(const std::string& name, const std::string& directory);
  // Releases the lock, and deletes its file.
  void Remove();

 private:
  void Release();

  FileSystem* const fs_;
  FileLock* lock_ = nullptr;
  std::string path_;  // Empty: it was never held.
};

}  // namespace varve
