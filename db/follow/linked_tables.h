// SPDX-License-Identifier: Apache-2.0
#pragma once

// LinkedTables is the file system through which a follower opens the leader's tables: it hard-links
// each table into the follower's directory, so that it stays readable after the leader has deleted
// it. Invariants:
//
// 1. Only names in the follower's directory are created and removed, and only those of tables and
//    blob files.
// 2. A link is the leader's file of that name. If the leader has another file of that name now, the
//    link is replaced when the table is opened; if the leader has none any more, the link is kept.
// 3. A link is removed when no live version has its table, and at the latest by the destructor or,
//    after a crash, by the next Open of the directory.
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

// Thread-safe, but a table must not be opened concurrently with a KeepOnly that does not name it.
class LinkedTables final : public FileSystemWrapper {
 public:
  // Creates the directory if it is missing, locks it, and removes links that a crash has left in
  // it. InvalidArgument: it contains a database. Otherwise returns an I/O error, for example if the
  // lock is held.
  static Status Open(const std::shared_ptr<FileSystem>& fs, const std::string& directory,
                     std::shared_ptr<LinkedTables>* tables);
  ~LinkedTables() override;

  // Must be called before anything else uses the object.
  void set_info_log(std::shared_ptr<Logger> log) { info_log_ = std::move(log); }

  const char* Name() const override { return "LinkedTables"; }
  // Opens the link of a table or blob file, which it makes first; if that fails, or for another
  // kind of file, opens `path` itself.
  IOStatus NewRandomAccessFile(const std::string& path, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* result,
                               IODebugContext* dbg) override;

  // Removes the links to all tables except those with these numbers. Errors are only logged.
  void KeepOnly(const std::set<uint64_t>& numbers);

 private:
  LinkedTables(const std::shared_ptr<FileSystem>& fs, std::string directory);

  // Removes links that an earlier process has left.
  Status SweepLeftovers();
  // Links the leader's table at `path`, as `name` in directory_. Returns true if the link exists
  // afterwards.
  bool Link(const std::string& path, const std::string& name);
  // Removes the link of that name, if there is one.
  IOStatus Unlink(const std::string& name);
  // Logs, once per object, that a table could not be linked, so the leader's deletion of it may
  // fail reads.
  void TellNotLinked(const std::string& path, const IOStatus& why);

  const std::string directory_;
  std::shared_ptr<Logger> info_log_;
  FileLock* lock_ = nullptr;  // Null if the file system has no locks.
  Mutex mu_;
  std::set<std::string> links_ VARVE_GUARDED_BY(mu_);  // Names of the links in directory_.
  bool told_ VARVE_GUARDED_BY(mu_) = false;            // TellNotLinked has logged its warning.
};

}  // namespace varve
