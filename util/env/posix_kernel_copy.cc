// SPDX-License-Identifier: Apache-2.0
#include "util/env/posix_kernel_copy.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "util/env/io_error.h"
#include "util/env/posix_fd.h"

namespace varve {

namespace {

class PosixKernelCopy final : public KernelCopy {
 public:
  PosixKernelCopy(std::string source, PosixFd from, PosixFd to, uint64_t cloned)
      : source_(std::move(source)), from_(std::move(from)), to_(std::move(to)), cloned_(cloned) {}

  // A clone is handed out piece by piece, like a copy, so that the caller's rate and progress work
  // alike. What lies beyond it, if the source was longer, is copied.
  IOStatus Copy(size_t n, size_t* copied) override {
    *copied = static_cast<size_t>(std::min<uint64_t>(n, cloned_ - std::min(cloned_, position_)));
    if (*copied > 0) {
      position_ += *copied;
      return IOStatus::OK();
    }
    auto from_offset = static_cast<off_t>(position_);
    auto to_offset = from_offset;
    ssize_t done = 0;
    do {
      done = ::copy_file_range(from_.get(), &from_offset, to_.get(), &to_offset, n, 0);
    } while (done < 0 && errno == EINTR);
    if (done >= 0) {
      *copied = static_cast<size_t>(done);
      position_ += *copied;
      return IOStatus::OK();
    }
    const int err = errno;
    // These say that the kernel does not copy between such files at all. They count as "not
    // supported" only before the first byte: later the caller could not start again in another way.
    const bool refused = err == EXDEV || err == EINVAL || err == EOPNOTSUPP || err == ENOSYS ||
                         err == EBADF || err == EPERM;
    if (position_ == 0 && refused) {
      return IOStatus::NotSupported(source_, "copy_file_range does not copy it");
    }
    return IoErrorAt("copy_file_range", source_, position_, err);
  }

 private:
  const std::string source_;
  const PosixFd from_;
  const PosixFd to_;
  const uint64_t cloned_;  // Number of bytes cloned at the start.
  uint64_t position_ = 0;
};

}  // namespace

IOStatus NewPosixKernelCopy(const std::string& source, const std::string& target, uint64_t size,
                            std::unique_ptr<KernelCopy>* result) {
  const int from = OpenRetrying(source, O_RDONLY | O_CLOEXEC, 0);
  if (from < 0) return IoErrorFromErrno("open for copying", source, -from);
  PosixFd from_fd(from);
  const int to = OpenRetrying(target, O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (to < 0) return IoErrorFromErrno("open for copying", target, -to);
  PosixFd to_fd(to);
  struct stat st = {};
  if (::fstat(from_fd.get(), &st) != 0) return IoErrorFromErrno("fstat", source, errno);
  // FICLONE shares whole files, so it must not bring more than the caller wants. A refusal is no
  // error: the copy begins at offset 0 then.
  uint64_t cloned = 0;
  const auto source_size = static_cast<uint64_t>(st.st_size);
  if (source_size <= size && ::ioctl(to_fd.get(), FICLONE, from_fd.get()) == 0) {
    // The source may have grown meanwhile.
    IOStatus s = TruncateFd(to_fd.get(), target, source_size);
    if (!s.ok()) return s;
    cloned = source_size;
  }
  *result = std::make_unique<PosixKernelCopy>(source, std::move(from_fd), std::move(to_fd), cloned);
  return IOStatus::OK();
}

}  // namespace varve
