// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes the standard output, or a file, in large pieces, and notices when nobody reads it any
// more.

#include <cstddef>
#include <memory>
#include <string_view>

namespace varve::tool {

// After the first error everything is dropped. Not thread-safe.
class Output {
 public:
  // `fd` is borrowed.
  explicit Output(int fd);

  void Append(std::string_view bytes);
  void Append(char byte) { *Reserve(1) = byte, used_++; }
  // Returns room for `bytes` bytes, of which Commit appends the first so many.
  char* Reserve(size_t bytes) {
    if (size_ - used_ < bytes) [[unlikely]]
      MakeRoom(bytes);
    return buffer_.get() + used_;
  }
  void Commit(size_t bytes) { used_ += bytes; }
  void Flush();

  // Returns true if writing has failed: a command that only writes may end.
  [[nodiscard]] bool failed() const { return error_ != 0; }
  // Returns the errno of the first failure, 0 if there was none. EPIPE means that the reader is
  // gone.
  [[nodiscard]] int error() const { return error_; }

 private:
  void MakeRoom(size_t bytes);
  void WriteAll(const char* bytes, size_t count);

  const int fd_;
  std::unique_ptr<char[]> buffer_;
  size_t size_;
  size_t used_ = 0;
  int error_ = 0;
};

}  // namespace varve::tool
