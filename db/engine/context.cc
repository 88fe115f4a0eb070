// SPDX-License-Identifier: Apache-2.0
#include "db/engine/context.h"

#include "varve/env.h"
#include "varve/system_clock.h"

#include "db/engine/file_events.h"
#include "db/version/table_paths.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/file_names.h"
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
  result.use_direct_writes = false;
  result.use_mmap_writes = false;
  return result;
}

IOStatus DbContext::Lock() {
  VARVE_ASSERT(lock_ == nullptr);
  IOStatus s = fs_->LockFile(LockFileName(name()), IOOptions(), &lock_, nullptr);
  locked_ = s.ok();
  return s;
}

IOStatus DbContext::Unlock() {
  if (!std::exchange(locked_, false)) return IOStatus::OK();
  FileLock* const lock = std::exchange(lock_, nullptr);
  return lock == nullptr ? IOStatus::OK() : fs_->UnlockFile(lock, IOOptions(), nullptr);
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
  return fs_->NewDirectory(WalDirectory(), IOOptions(), &wal_directory_, nullptr);
}

}  // namespace varve
