// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements LOCK files: exclusion between processes by an fcntl lock, and within this process by a
// table.
//
// A process loses an fcntl lock when it closes *any* descriptor of the file, so that a second
// opener in the same process which opens, fails to lock and closes again would unlock the first.
// The table, keyed by (device, inode), is therefore consulted before the file is opened.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "varve/env.h"
#include "varve/io_status.h"

#include "util/env/posix_fd.h"

namespace varve {

// Identifies a file independently of its name.
using FileIdentity = std::pair<uint64_t, uint64_t>;

// A lock that LockPosixFile has taken. It holds the descriptor that the kernel's lock belongs to.
class PosixFileLock final : public FileLock {
 public:
  PosixFileLock(std::string path, PosixFd fd, FileIdentity identity);

 private:
  friend IOStatus UnlockPosixFile(FileLock* lock);

  const std::string path_;
  PosixFd fd_;
  const FileIdentity identity_;
  // A child made by fork() has this object, but not the lock.
  const pid_t owner_;
};

// Creates `path` if needed, never through a symbolic link, and locks it without waiting. The error
// names the holder as far as it is known. Thread-safe.
IOStatus LockPosixFile(const std::string& path, FileLock** lock);

// Unlocks and deletes `lock`, which LockPosixFile made.
IOStatus UnlockPosixFile(FileLock* lock);

}  // namespace varve
