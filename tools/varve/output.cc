// SPDX-License-Identifier: Apache-2.0

// A buffer before write(2). The caller writes into the buffer itself (Reserve, Commit), which saves
// a copy of each key and value of a scan.
//
//      buffer_   [ used_ bytes | room of size_ - used_ bytes ]

#include "tools/varve/output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace varve::tool {

namespace {

constexpr size_t kBufferBytes = size_t{256} << 10;

}  // namespace

Output::Output(int fd) : fd_(fd), buffer_(new char[kBufferBytes]), size_(kBufferBytes) {}

void Output::Append(std::string_view bytes) {
  std::memcpy(Reserve(bytes.size()), bytes.data(), bytes.size());
  Commit(bytes.size());
}

// After an error the bytes are dropped as if they were written: the commands look at failed() when
// it suits them, and need not check each line.
void Output::Flush() {
  if (error_ == 0) WriteAll(buffer_.get(), used_);
  used_ = 0;
}

// The buffer is empty after the flush, so that a larger one needs no copy of the old. It grows by
// doubling and only for a single piece that does not fit.
void Output::MakeRoom(size_t bytes) {
  Flush();
  if (bytes <= size_) return;
  size_ = std::max(bytes, size_ * 2);
  buffer_.reset(new char[size_]);
}

// A pipe takes what it has room for, whence the loop. EPIPE comes as an error and not as a signal,
// since main() ignores SIGPIPE.
void Output::WriteAll(const char* bytes, size_t count) {
  while (count > 0) {
    const ssize_t written = ::write(fd_, bytes, count);
    if (written < 0) {
      if (errno == EINTR) continue;
      error_ = errno;
      return;
    }
    bytes += written;
    count -= static_cast<size_t>(written);
  }
}

}  // namespace varve::tool
