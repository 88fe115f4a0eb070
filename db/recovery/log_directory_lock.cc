// SPDX-License-Identifier: Apache-2.0

// The lock of a database protects only its own directory, but several databases may have the same
// separate directory of logs. So that is locked, too, while files in it are moved or deleted.

#include "db/recovery/log_directory_lock.h"

#include <utility>

#include "db/recovery/database_directory.h"
#include "util/base/caught_exception.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

IOStatus LogDirectoryLock::Take(const std::string& name, const std::string& directory) {
  if (!path_.empty() || directory.empty() || IsOfAnotherDatabase(fs_, name, directory)) {
    return IOStatus::OK();
  }
  const std::string path = LockFileName(directory);
  const std::string own = LockFileName(name);
  if (path == own || IsSameFile(fs_, path, own)) return IOStatus::OK();
  const IOStatus s = fs_->LockFile(path, IOOptions(), &lock_, nullptr);
  if (IsMissing(s)) return IOStatus::OK();
  if (s.ok()) path_ = path;
  return s;
}

void LogDirectoryLock::Remove() {
  Release();
  if (!path_.empty()) fs_->DeleteFile(path_, IOOptions(), nullptr).PermitUncheckedError();
}

void LogDirectoryLock::Release() {
  FileLock* const lock = std::exchange(lock_, nullptr);
  if (lock == nullptr) return;
  BestEffort([&] { fs_->UnlockFile(lock, IOOptions(), nullptr).PermitUncheckedError(); });
}

}  // namespace varve
