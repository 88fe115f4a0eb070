// SPDX-License-Identifier: Apache-2.0
#pragma once

// The directory of a follower: a file system that opens tables of the leader through hard links in
// it, so that they stay when the leader deletes them.
//
// 1. Only names in the follower's directory are made and removed, and only those of tables.
// 2. A table is opened through a link that is the leader's file: if the leader has another file of
//    that name by now, the link is replaced. If it has none any more, the link is that file.
// 3. The links go when no version that is alive has their tables, with this object, and with the
//    next one for the directory, if a process has died.
// 4. The directory is locked, so that no other follower removes the links.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "varve/env.h"
#include "varve/file_system.h"
#include "varve/file_system_wrappers.h"

#include "util/sync/mutex.h"

namespace varve {

// Thread safety: all methods from any thread; an opening of a table does not overlap a KeepOnly
// that leaves it out.
class LinkedTables final : public FileSystemWrapper {
 public:
  // Makes the directory if it is missing, locks it, and removes links that were left in it.
  // Returns InvalidArgument if it contains a database.
  static Status Open(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                     std::shared_ptr<LinkedTables>* tables);
  ~LinkedTables() override;

  // Must be called before anything else uses the object.
  void set_info_log(std::shared_ptr<Logger> log) { info_log_ = std::move(log); }

  const char* Name() const override { return "LinkedTables"; }
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;

  // Removes the links to all tables but these, by their numbers. Best effort.
  void KeepOnly(const std::set<uint64_t>& numbers);

 private:
  LinkedTables(const std::shared_ptr<FileSystem>& fs, std::string directory);

  // Removes links that a process left when it ended.
  Status SweepLeftovers();
  // Returns true if the link to the table at `path` exists afterwards.
  bool Link(const std::string& path, const std::string& name);
  IOStatus Unlink(const std::string& name);
  // Logs once that a table could not be linked: then it may vanish while it is read.
  void TellNotLinked(const std::string& path, const IOStatus& why);

  const std::string directory_;
  std::shared_ptr<Logger> info_log_;
  FileLock* lock_ = nullptr;  // Null if the file system has no locks.
  Mutex mu_;
  std::set<std::string> links_ VARVE_GUARDED_BY(mu_);  // Names of the links in directory_.
  bool told_ VARVE_GUARDED_BY(mu_) = false;            // TellNotLinked has logged its warning.
};

}  // namespace varve
