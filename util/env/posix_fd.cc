// SPDX-License-Identifier: Apache-2.0

// System calls on files transfer less than asked for, or are interrupted, at any time. These
// functions repeat them until all is done, the file ends, or there is an error with file and
// offset. A write that makes no progress without an error counts as one.

#include "util/env/posix_fd.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "util/env/io_error.h"

namespace varve {

namespace {

// Linux transfers at most a little under 2 GiB in one call; a round number below keeps direct I/O
// aligned.
constexpr size_t kLargestTransfer = size_t{1} << 30;
// Parts of one call; the system allows 1024.
constexpr size_t kPartsAtOnce = 128;

}  // namespace

PosixFd& PosixFd::operator=(PosixFd&& other) noexcept {
  if (this != &other) {
    (void)Close();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

PosixFd::~PosixFd() {
  (void)Close();
}

int PosixFd::Close() {
  const int fd = std::exchange(fd_, -1);
  // After EINTR Linux has released the descriptor: closing again could close another owner's.
  if (fd >= 0 && ::close(fd) != 0 && errno != EINTR) return errno;
  return 0;
}

int OpenRetrying(const std::string& path, int flags, int mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags, mode);
  } while (fd < 0 && errno == EINTR);
  return fd < 0 ? -errno : fd;
}

IOStatus PreadFully(int fd, const std::string& path, uint64_t offset, size_t n, char* scratch,
                    size_t* got) {
  *got = 0;
  while (*got < n) {
    const ssize_t r = ::pread(fd, scratch + *got, std::min(n - *got, kLargestTransfer),
                              static_cast<off_t>(offset + *got));
    if (r < 0) {
      if (errno == EINTR) continue;
      return IoErrorAt("read", path, offset + *got, errno);
    }
    if (r == 0) break;
    *got += static_cast<size_t>(r);
  }
  return IOStatus::OK();
}

IOStatus PwriteFully(int fd, const std::string& path, uint64_t offset, const char* data, size_t n,
                     size_t* written) {
  *written = 0;
  while (*written < n) {
    const ssize_t r = ::pwrite(fd, data + *written, std::min(n - *written, kLargestTransfer),
                               static_cast<off_t>(offset + *written));
    if (r < 0) {
      if (errno == EINTR) continue;
      return IoErrorAt("write", path, offset + *written, errno);
    }
    // Otherwise a write that makes no progress would be repeated for ever.
    if (r == 0) return IoErrorAt("write", path, offset + *written, EIO);
    *written += static_cast<size_t>(r);
  }
  return IOStatus::OK();
}

// A short write may end within any part. Each turn skips what is written, gathers up to
// kPartsAtOnce parts and shortens the first of them; empty parts are skipped in passing.
IOStatus PwritevFully(int fd, const std::string& path, uint64_t offset, const Slice* parts,
                      size_t count) {
  std::array<struct iovec, kPartsAtOnce> vectors;
  size_t next = 0;  // The first part that is not wholly written, and its bytes that are.
  size_t written = 0;
  for (;;) {
    for (; next < count && written >= parts[next].size(); next++) written -= parts[next].size();
    if (next == count) return IOStatus::OK();
    const size_t used = std::min(count - next, kPartsAtOnce);
    for (size_t i = 0; i < used; i++) {
      const Slice& part = parts[next + i];
      vectors[i] = {const_cast<char*>(part.data()), part.size()};
    }
    vectors[0] = {const_cast<char*>(parts[next].data()) + written, parts[next].size() - written};
    const ssize_t r =
        ::pwritev(fd, vectors.data(), static_cast<int>(used), static_cast<off_t>(offset));
    if (r < 0 && errno == EINTR) continue;
    // Otherwise a write that makes no progress would be repeated for ever.
    if (r <= 0) return IoErrorAt("write", path, offset, r < 0 ? errno : EIO);
    offset += static_cast<uint64_t>(r);
    written += static_cast<size_t>(r);
  }
}

IOStatus SyncFd(int fd, const std::string& path, bool metadata) {
  int r = 0;
  do {
    r = metadata ? ::fsync(fd) : ::fdatasync(fd);
  } while (r != 0 && errno == EINTR);
  if (r != 0) return IoErrorFromErrno(metadata ? "fsync" : "fdatasync", path, errno);
  return IOStatus::OK();
}

IOStatus TruncateFd(int fd, const std::string& path, uint64_t size) {
  int r = 0;
  do {
    r = ::ftruncate(fd, static_cast<off_t>(size));
  } while (r != 0 && errno == EINTR);
  if (r != 0) {
    return IoErrorFromErrno("truncate to " + std::to_string(size) + " bytes", path, errno);
  }
  return IOStatus::OK();
}

// The duplicate at number lowest + more makes the kernel's table grow to hold it in one step; the
// table never shrinks, so closing the duplicate keeps the room.
void ReserveDescriptors(size_t more) {
  const PosixFd lowest(OpenRetrying("/dev/null", O_RDONLY | O_CLOEXEC, 0));
  struct rlimit limit = {};
  if (!lowest.valid() || ::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == 0) return;
  const auto most = static_cast<size_t>(std::min<rlim_t>(limit.rlim_cur, INT_MAX)) - 1;
  const size_t highest = std::min(static_cast<size_t>(lowest.get()) + more, most);
  const PosixFd in_place(::fcntl(lowest.get(), F_DUPFD_CLOEXEC, static_cast<int>(highest)));
}

bool IsInMemory(int fd) {
#ifdef __linux__
  struct statfs fs = {};
  if (::fstatfs(fd, &fs) != 0) return false;
  return fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
#else
  (void)fd;
  return false;
#endif
}

size_t UniqueIdOfFd(int fd, char* id, size_t max_size) {
  struct stat st = {};
  if (::fstat(fd, &st) != 0) return 0;
  // Each number is a run of 7-bit groups whose last byte has the top bit clear, so that no
  // identifier is a prefix of another.
  const uint64_t numbers[] = {static_cast<uint64_t>(st.st_dev), static_cast<uint64_t>(st.st_ino)};
  std::string out;
  for (uint64_t v : numbers) {
    for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>(v | 0x80));
    out.push_back(static_cast<char>(v));
  }
  if (out.size() > max_size) return 0;
  std::copy(out.begin(), out.end(), id);
  return out.size();
}

}  // namespace varve
