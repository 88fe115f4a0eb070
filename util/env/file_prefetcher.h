// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the read-ahead buffer of one scan over one file.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "util/env/aligned_buffer.h"
#include "util/env/random_access_file_reader.h"

namespace varve {

class Statistics;

// Serves reads that move forward through a file from larger reads. The adaptive form reads nothing
// ahead until several consecutive reads have each started where the one before ended (or shortly
// after, where a cache served what lies between); then the distance doubles with each refill, and a
// jump resets it. Reads that are large themselves are left to the system, which reads ahead as
// well, and reads that are copied out of a mapping have nothing to wait for. One thread at a time
// may use it.
class FilePrefetcher {
 public:
  // Default distances in bytes, and the default number of reads before the first read-ahead.
  static constexpr size_t kFirstReadahead = 8 * 1024;
  static constexpr size_t kLargestReadahead = 256 * 1024;
  static constexpr size_t kCompactionReadahead = 2 * 1024 * 1024;
  static constexpr uint64_t kReadsBeforeReadahead = 2;

  // Returns a prefetcher whose distance doubles from `first` to `largest` bytes; with `largest` 0
  // it never reads ahead. The first `reads` reads of a sequence do not read ahead either: most
  // scans end within a block or two.
  static FilePrefetcher Adaptive(size_t first = kFirstReadahead, size_t largest = kLargestReadahead,
                                 uint64_t reads = kReadsBeforeReadahead);
  // Returns a prefetcher that reads ahead `size` bytes from the first read on.
  static FilePrefetcher Fixed(size_t size = kCompactionReadahead);

  // Makes the next read continue a scan of another file, where `size` bytes were read ahead last.
  void GoOnFrom(size_t size) {
    next_ = std::min(std::max(size, first_), largest_);
    goes_on_ = true;
  }
  // From now on the file is asked to prefetch what the next refill will read, so that I/O overlaps
  // with the caller's work.
  void AskAhead() { asks_ahead_ = true; }

  // Reads [offset, offset + n) of `file`, which must be the same in every call. *result lies in
  // this object, in scratch (n bytes), or in memory of the file, and is valid until the next call.
  // Returns Corruption if the file ends before offset + n, and Aborted if there is no memory to
  // read ahead. Nothing at or beyond `limit`, an offset in the file, is read ahead.
  IOStatus Read(const RandomAccessFileReader& file, uint64_t offset, size_t n, uint64_t limit,
                Slice* result, char* scratch, const IOOptions& io_options = IOOptions());

  // True if [offset, offset + n) is in the buffer.
  bool Holds(uint64_t offset, size_t n) const {
    return offset >= start_ && offset - start_ <= size_ && n <= size_ - (offset - start_);
  }

  // Counts what was read ahead and never used. Call this at the end.
  void CountDiscarded(Statistics* statistics) const;

  // Returns the bytes that the next refill would read ahead.
  size_t readahead() const { return next_; }

 private:
  FilePrefetcher(size_t first, size_t largest, uint64_t reads)
      : first_(first), largest_(largest), reads_(reads), next_(first) {}

  // True if a read at the offset starts where the one before ended, or shortly after.
  bool Continues(uint64_t offset) const;
  // True for reads that cost less alone than through the buffer.
  bool IsBetterAlone(const RandomAccessFileReader& file, size_t n) const;
  // Asks the file to prefetch what the next refill will read.
  void AskForMore(const RandomAccessFileReader& file, uint64_t limit, const IOOptions& io_options);
  // Reads the wanted range and the distance after it into the buffer.
  IOStatus Refill(const RandomAccessFileReader& file, uint64_t offset, size_t n, uint64_t limit,
                  const IOOptions& io_options);

  // The distance of the first refill, and its limit, in bytes.
  size_t first_;
  size_t largest_;
  // Reads in a row before anything is read ahead; 0 for a prefetcher of fixed size.
  uint64_t reads_;
  // Bytes that the next refill reads ahead.
  size_t next_;
  uint64_t in_a_row_ = 0;  // Reads in a row so far.
  // End of the previous read; meaningless before the first, which sets has_read_.
  uint64_t expected_ = 0;
  bool has_read_ = false;
  bool goes_on_ = false;     // From GoOnFrom to the next read.
  bool asks_ahead_ = false;  // Since AskAhead.
  // The bytes of the file from start_ on that were read ahead.
  AlignedBuffer buffer_;
  uint64_t start_ = 0;
  size_t size_ = 0;
  uint64_t used_end_ = 0;  // End of the last bytes that were served from the buffer.
};

}  // namespace varve
