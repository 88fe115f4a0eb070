// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the read-ahead buffer of one scan over one file.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "util/env/aligned_buffer.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

class Statistics;

// Serves reads that move forward through a file out of larger reads. In the adaptive form nothing
// is read ahead until so many reads in a row have each started where the one before ended (or
// shortly after, where a cache served what lies between); then the distance doubles with each
// refill, and a jump sets it back. One thread at a time.
class FilePrefetcher {
 public:
  static constexpr size_t kFirstReadahead = 8 * 1024;
  static constexpr size_t kLargestReadahead = 256 * 1024;
  static constexpr size_t kCompactionReadahead = 2 * 1024 * 1024;
  static constexpr uint64_t kReadsBeforeReadahead = 2;

  // Doubles from `first` to `largest` bytes. `largest` 0 never reads ahead. So many reads of a
  // sequence, `reads`, do not either: most scans end within a block or two.
  static FilePrefetcher Adaptive(size_t first = kFirstReadahead, size_t largest = kLargestReadahead,
                                 uint64_t reads = kReadsBeforeReadahead);
  // Reads ahead `size` bytes from the first read on.
  static FilePrefetcher Fixed(size_t size = kCompactionReadahead);

  // The next read goes on a scan that came from elsewhere, where `size` bytes were read ahead last.
  void GoOnFrom(size_t size) {
    next_ = std::min(std::max(size, first_), largest_);
    goes_on_ = true;
  }
  // From now on the file is asked to have what the next refill will read, so that it is on its way
  // while the caller works on what is here.
  void AskAhead() { asks_ahead_ = true; }

  // Reads [offset, offset + n) of `file`, which is the same in every call. *result lies in this
  // object, in scratch (n bytes), or in memory of the file, and is valid until the next call.
  // Corruption when the file ends before offset + n. Nothing at or beyond `limit` is read ahead.
  IOStatus Read(const RandomAccessFileReader& file, uint64_t offset, size_t n, uint64_t limit,
                Slice* result, char* scratch, const IOOptions& io_options = IOOptions());

  // Whether [offset, offset + n) is here already.
  bool Holds(uint64_t offset, size_t n) const {
    return offset >= start_ && offset - start_ <= size_ && n <= size_ - (offset - start_);
  }

  // Counts what was read ahead and never asked for. At the end.
  void CountDiscarded(Statistics* statistics) const;

  // Bytes that the next refill would read ahead.
  size_t readahead() const { return next_; }

 private:
  FilePrefetcher(size_t first, size_t largest, uint64_t reads)
      : first_(first), largest_(largest), reads_(reads), next_(first) {}

  bool Continues(uint64_t offset) const;
  void AskForMore(const RandomAccessFileReader& file, uint64_t limit, const IOOptions& io_options);
  IOStatus Refill(const RandomAccessFileReader& file, uint64_t offset, size_t n, uint64_t limit,
                  const IOOptions& io_options);

  size_t first_;
  size_t largest_;
  uint64_t reads_;
  size_t next_;
  uint64_t in_a_row_ = 0;
  // End of the previous read; meaningless before the first.
  uint64_t expected_ = 0;
  bool has_read_ = false;
  bool goes_on_ = false;
  bool asks_ahead_ = false;
  AlignedBuffer buffer_;
  uint64_t start_ = 0;
  size_t size_ = 0;
  uint64_t used_end_ = 0;  // where the last bytes that were served from the buffer ended
};

}  // namespace varve
