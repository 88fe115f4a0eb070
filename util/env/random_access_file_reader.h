// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes positioned reads of an immutable file, usually a table.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "varve/file_system.h"

#include "util/env/aligned_buffer.h"

namespace varve {

struct FileReads;
class PosixRandomAccessFile;
class RateLimiter;
class SharedHistogram;
class Statistics;
class SystemClock;

// Reads one open file at any offset: applies the rate limiter, counts and times the reads, and
// completes partial ones. Thread-safe.
class RandomAccessFileReader {
 public:
  struct Options {
    // Nullable, not owned, outlive the reader. The clock is needed only with stats.
    Statistics* stats = nullptr;
    SystemClock* clock = nullptr;
    RateLimiter* rate_limiter = nullptr;
    // The histogram that gets the microseconds of each read.
    uint32_t read_histogram = kNoHistogram;
    // Gets them, too; may be null.
    std::shared_ptr<SharedHistogram> read_latencies;
    // Properties by which reads are counted.
    Temperature temperature = Temperature::kUnknown;
    bool in_last_level = false;
    bool maps = false;         // The file was opened with use_mmap_reads; set by Open.
    bool page_cached = false;  // See page_cached(); set by Open.
  };
  static constexpr uint32_t kNoHistogram = ~uint32_t{0};

  RandomAccessFileReader(std::unique_ptr<FSRandomAccessFile> file, std::string file_name,
                         const Options& options);
  // Opens an existing file and sets *reader to a reader of it; null after an error.
  static IOStatus Open(FileSystem* fs, const std::string& fname, const FileOptions& file_options,
                       const Options& options, std::unique_ptr<RandomAccessFileReader>* reader);

  // True if reads may return memory that lives as long as the file, and then need no scratch.
  [[nodiscard]] bool maps() const { return options_.maps; }
  // True if the operating system caches what is read, so that reading it again soon costs little.
  [[nodiscard]] bool page_cached() const { return options_.page_cached; }
  // True if a read of `n` bytes is likely to cost a copy and no system call, because the file's
  // pages are in memory. Reading ahead then only adds a second copy.
  [[nodiscard]] bool copies_from_mapping(size_t n) const;
  // Reads [offset, offset + n). *result has exactly n bytes, in scratch or in memory that lives as
  // long as the file; returns Corruption if the file ends before. With direct I/O any offset, n and
  // scratch will do. An io_options.rate_limiter_priority other than IO_TOTAL makes it ask the rate
  // limiter.
  IOStatus Read(uint64_t offset, size_t n, Slice* result, char* scratch,
                const IOOptions& io_options = IOOptions()) const;

  // Like Read, but at the end of the file returns a shorter result and OK.
  IOStatus ReadUpTo(uint64_t offset, size_t n, Slice* result, char* scratch,
                    const IOOptions& io_options = IOOptions()) const;

  // Reads every request. Requires that offset, len and a scratch of len bytes are set, and that
  // requests are sorted by offset and do not overlap. Sets the result and the status of each; a
  // result shorter than requested is Corruption. Returns an error only if no request could be made:
  // then their statuses have no meaning.
  IOStatus MultiRead(FSReadRequest* requests, size_t count,
                     const IOOptions& io_options = IOOptions()) const;

  // Does what MultiRead does for each of several files. The reads of all whose overlaps() is true
  // are in flight together; those of a file system that reads asynchronously are, too, if
  // `async_io` is set.
  static void MultiReadFiles(std::span<FileReads> files, bool async_io = false);
  // True if reads of this file are likely to wait for a device, and can wait beside those of other
  // files.
  [[nodiscard]] bool overlaps(bool async_io = false) const;

  // Reduces the request's timeout to what is left until `deadline`, a time since the epoch of the
  // reader's clock, or of the machine's if it has none. TimedOut: nothing is left, and *io_options
  // is unchanged.
  IOStatus LimitTime(std::chrono::microseconds deadline, IOOptions* io_options) const;

  // Asks the file to load the range into the cache below it. NotSupported: the file cannot.
  IOStatus Prefetch(uint64_t offset, size_t n, const IOOptions& io_options = IOOptions()) const;

  const std::string& file_name() const { return file_name_; }
  // Returns the file, which this object owns.
  FSRandomAccessFile* file() const { return file_.get(); }
  bool use_direct_io() const { return direct_; }
  Statistics* statistics() const { return options_.stats; }
  bool in_last_level() const { return options_.in_last_level; }

 private:
  // Reads the aligned range around the wanted one, for direct I/O.
  IOStatus ReadAligned(uint64_t offset, size_t n, Slice* result, char* scratch,
                       const IOOptions& io_options) const;
  // Reads until all is there or the file ends, as one call may return less.
  IOStatus ReadLoop(uint64_t offset, size_t n, Slice* result, char* scratch,
                    const IOOptions& io_options) const;
  // Returns null if reads are not timed.
  Statistics* timed_statistics() const {
    const bool timed = options_.clock != nullptr && options_.read_histogram != kNoHistogram;
    return timed ? options_.stats : nullptr;
  }
  // Records the microseconds of a read that was timed.
  void RecordTime(uint64_t micros, const IOOptions& io_options) const;
  // Counts what MultiRead has read, and completes results that are too short.
  void FinishReads(const FileReads& reads) const;
  // Counts bytes that were read in the thread's and the database's statistics.
  void Count(size_t bytes) const;
  // Waits for the rate limiter, if the options name a priority.
  void AskRateLimiter(size_t n, const IOOptions& io_options) const;
  // Returns the Corruption of a file that is too short.
  IOStatus EndsBefore(uint64_t offset, size_t n, size_t got) const;

  const std::string file_name_;
  const Options options_;
  const std::unique_ptr<FSRandomAccessFile> file_;
  const bool direct_;
  const size_t alignment_;
  PosixRandomAccessFile* const posix_;  // file_, or null if it is of another kind
  FileSystem* async_fs_ = nullptr;      // The file's, if it supports kAsyncIO; set by Open.
};

// The reads of one file among those of several.
struct FileReads {
  const RandomAccessFileReader* file;
  std::span<FSReadRequest> requests;  // as for MultiRead
  const IOOptions* io_options;
  IOStatus status;  // out: what MultiRead returns
};

}  // namespace varve
