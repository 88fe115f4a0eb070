// SPDX-License-Identifier: Apache-2.0
#include "db/engine/context.h"

#include "varve/env.h"
#include "varve/system_clock.h"

#include "db/engine/file_events.h"
#include "db/version/table_paths.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/env/table_space.h"

namespace varve {

DbContext::DbContext(Identity identity, const DBOptions& options)
    : identity_(std::move(identity)),
      options_(options),
      file_options_(options_),
      fs_(WithFileEvents(options_.env->GetFileSystem(), options_.listeners)),
      table_fs_(fs_),
      clock_(options_.env->GetSystemClock().get()),
      statistics_(options_.statistics.get()),
      table_space_(TableSpaceOf(options_.sst_file_manager.get())),
      open_micros_(MonotonicMicros()),
      read_only_(identity_.read_only),
      follows_(identity_.follows) {}

FileOptions DbContext::LogFileOptions() const {
  FileOptions result = file_options_;
  // A log is written in pieces that fit no block, and its end must be readable by others at any
  // time.
  result.use_direct_writes = false;
  result.use_mmap_writes = false;
  result.temperature = options_.wal_write_temperature;
  return result;
}

// After an error neither of the two locks is taken.
IOStatus DbContext::Lock() {
  VARVE_ASSERT(lock_ == nullptr);
  IOStatus s = fs_->LockFile(LockFileName(name()), IOOptions(), &lock_, nullptr);
  locked_ = s.ok();
  if (!s.ok()) return s;
  // Two databases that share a directory of logs would delete each other's. A copy that was opened
  // with the original's options is caught by this second lock.
  s = LockLogs();
  if (IsMissing(s)) return IOStatus::OK();  // The directory is made later.
  if (!s.ok()) Unlock().PermitUncheckedError();
  return s;
}

IOStatus DbContext::LockLogs() {
  VARVE_ASSERT(locked_);
  const std::string path = LockFileName(WalDirectory());
  const std::string own = LockFileName(name());
  // The lock of a file that the process has locked already would fail, so the same directory under
  // another name is found out first.
  if (logs_locked_ || path == own || IsSameFile(fs_.get(), path, own)) return IOStatus::OK();
  const IOStatus s = fs_->LockFile(path, IOOptions(), &log_lock_, nullptr);
  logs_locked_ = s.ok();
  return s;
}

// Both locks are given up even if the first cannot be released. Returns an error of either.
IOStatus DbContext::Unlock() {
  IOStatus logs;
  // The logs go first: who holds the database's lock may rely on finding the logs free.
  if (std::exchange(logs_locked_, false)) {
    FileLock* const lock = std::exchange(log_lock_, nullptr);
    if (lock != nullptr) logs = fs_->UnlockFile(lock, IOOptions(), nullptr);
  }
  if (!std::exchange(locked_, false)) return logs;
  FileLock* const lock = std::exchange(lock_, nullptr);
  const IOStatus s = lock == nullptr ? IOStatus::OK() : fs_->UnlockFile(lock, IOOptions(), nullptr);
  return s.ok() ? logs : s;
}

void DbContext::NoteTable(const TablePaths& paths, const TableFacts& table) const noexcept {
  if (table_space_ == nullptr) return;
  BestEffort([&] { table_space_->Add(paths.FileName(table), table.size); });
}

Status DbContext::CheckSpace() const noexcept {
  if (table_space_ == nullptr) return Status::OK();
  return Guarded([this] { return table_space_->CheckSpace(); });
}

IOStatus DbContext::OpenDirectory() {
  return fs_->NewDirectory(name(), IOOptions(), &directory_, nullptr);
}

IOStatus DbContext::OpenLogDirectory() {
  // The directory was missing when the database was locked, and has been made since.
  if (locked_) VARVE_RETURN_IF_ERROR(LockLogs());
  return fs_->NewDirectory(WalDirectory(), IOOptions(), &wal_directory_, nullptr);
}

}  // namespace varve
