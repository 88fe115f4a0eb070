// SPDX-License-Identifier: Apache-2.0
#include "db/engine/staged_ingestions.h"

#include "util/base/caught_exception.h"

namespace varve {

IOStatus StagedIngestions::EnterDirectory(FileSystem* fs, const std::string& directory) {
  const IoMutexLock lock(&directories_mu_);
  // The lock is held over this: otherwise the last user could remove the directory between its
  // making and its counting.
  IOStatus s = fs->CreateDirIfMissing(directory, IOOptions(), nullptr);
  if (s.ok()) directories_[directory]++;
  return s;
}

void StagedIngestions::LeaveDirectory(FileSystem* fs, const std::string& directory) noexcept {
  BestEffort([&] {
    const IoMutexLock lock(&directories_mu_);
    const auto it = directories_.find(directory);
    if (it == directories_.end() || --it->second > 0) return;
    // Files that could not be deleted keep it, and its name is kept for RemoveDirectories.
    if (fs->DeleteDir(directory, IOOptions(), nullptr).ok()) directories_.erase(it);
  });
}

void StagedIngestions::RemoveDirectories(FileSystem* fs) noexcept {
  BestEffort([&] {
    const IoMutexLock lock(&directories_mu_);
    for (const auto& [directory, users] : directories_) {
      fs->DeleteDir(directory, IOOptions(), nullptr).PermitUncheckedError();
    }
    directories_.clear();
  });
}

}  // namespace varve
