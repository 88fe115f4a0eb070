// SPDX-License-Identifier: Apache-2.0
#pragma once

// Wraps file descriptors and the system calls on them that must be repeated: interrupted calls and
// partial transfers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "varve/io_status.h"
#include "varve/slice.h"

namespace varve {

// Owns one descriptor, or none (-1). Movable.
class PosixFd {
 public:
  PosixFd() = default;
  explicit PosixFd(int fd) : fd_(fd) {}
  PosixFd(PosixFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  PosixFd& operator=(PosixFd&& other) noexcept;
  PosixFd(const PosixFd&) = delete;
  PosixFd& operator=(const PosixFd&) = delete;
  ~PosixFd();

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

  // Closes the descriptor; returns 0 or an errno value. The descriptor is gone either way.
  int Close();

 private:
  int fd_ = -1;
};

// Calls open(), repeated while interrupted. Negative results are -errno.
int OpenRetrying(const std::string& path, int flags, int mode);

// Reads n bytes at `offset`, repeating short reads. Sets *got to the number of bytes read, also
// after an error; OK with fewer than n: the file ends there.
IOStatus PreadFully(int fd, const std::string& path, uint64_t offset, size_t n, char* scratch,
                    size_t* got);

// Writes all of data at `offset`. Sets *written to the bytes written, also after an error.
IOStatus PwriteFully(int fd, const std::string& path, uint64_t offset, const char* data, size_t n,
                     size_t* written);

// Writes all of the parts, one behind the other, from `offset` on.
IOStatus PwritevFully(int fd, const std::string& path, uint64_t offset, const Slice* parts,
                      size_t count);

// Calls fdatasync, or fsync if `metadata`.
IOStatus SyncFd(int fd, const std::string& path, bool metadata);

// Sets the size.
IOStatus TruncateFd(int fd, const std::string& path, uint64_t size);

// Makes room for `more` further descriptors at once. The system does it by doubling, and has a
// process with threads wait for a moment in which each processor has been interrupted, every time:
// several milliseconds. Best effort; no descriptor stays open.
void ReserveDescriptors(size_t more);

// True if the file is on a file system that keeps all of it in memory, such as Linux's tmpfs.
bool IsInMemory(int fd);

// Stores a stable identifier of device and inode in `id`; returns its length, or 0 if max_size is
// too small.
size_t UniqueIdOfFd(int fd, char* id, size_t max_size);

}  // namespace varve
