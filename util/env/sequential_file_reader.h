// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a file once from start to end, such as a log or manifest.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"

#include "util/env/aligned_buffer.h"

namespace varve {

// Reads ahead into its own buffer. An I/O error is an error, never an end of the file. One thread
// at a time may use it.
class SequentialFileReader {
 public:
  static constexpr size_t kDefaultReadahead = 256 * 1024;

  // readahead_size is in bytes, at least one page.
  SequentialFileReader(std::unique_ptr<FSSequentialFile> file, std::string file_name,
                       size_t readahead_size = kDefaultReadahead,
                       const IOOptions& io_options = IOOptions());
  // Opens a file and makes a reader of it.
  static IOStatus Open(FileSystem* fs, const std::string& fname, const FileOptions& file_options,
                       std::unique_ptr<SequentialFileReader>* reader,
                       size_t readahead_size = kDefaultReadahead);

  // Fills scratch[0, n). A result shorter than n means that the file ends there.
  IOStatus Read(size_t n, Slice* result, char* scratch);
  // Skips n bytes, but stops at the end of the file.
  IOStatus Skip(uint64_t n);

  // Returns the offset of the next byte.
  uint64_t position() const { return buffer_start_ + consumed_; }
  const std::string& file_name() const { return file_name_; }

 private:
  // Replaces the consumed buffer by what comes next in the file; leaves it empty at the end.
  IOStatus Refill();
  // Reads one range, repeating partial reads; *got < n only at the end of the file.
  IOStatus ReadFully(uint64_t offset, size_t n, char* scratch, size_t* got);

  const std::string file_name_;
  const IOOptions io_options_;
  const std::unique_ptr<FSSequentialFile> file_;
  // True if the file is read past the system's cache: offsets and sizes are multiples of alignment_
  // then.
  const bool direct_;
  const size_t alignment_;
  const size_t readahead_size_;
  AlignedBuffer buffer_;
  // File offset of the buffer's first byte.
  uint64_t buffer_start_ = 0;
  // Number of bytes in the buffer, and how many of them were read by the caller.
  size_t filled_ = 0;
  size_t consumed_ = 0;
};

}  // namespace varve
