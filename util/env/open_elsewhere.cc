// SPDX-License-Identifier: Apache-2.0
#include "util/env/open_elsewhere.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace varve {

// The kernel grants a lease for writing only if no other descriptor of the file is open.
bool MayBeOpenElsewhere(const std::string& path) {
#if defined(__linux__)
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno != ENOENT && errno != ENOTDIR;
  // A process that opens the file while the lease is held makes the kernel send a signal: one that
  // is ignored unless the program wants it.
  const bool alone = ::fcntl(fd, F_SETSIG, SIGURG) == 0 && ::fcntl(fd, F_SETLEASE, F_WRLCK) == 0;
  if (alone) ::fcntl(fd, F_SETLEASE, F_UNLCK);
  ::close(fd);
  return !alone;
#else
  return ::access(path.c_str(), F_OK) == 0;
#endif
}

}  // namespace varve
