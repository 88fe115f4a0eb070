// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the buffered writer of logs, tables and manifests.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"

#include "util/env/aligned_buffer.h"

namespace varve {

class FileChecksumGenerator;
class RateLimiter;
class Statistics;
class SystemClock;

// Durations of the calls of one file, in nanoseconds.
struct FileWriteTimes {
  uint64_t prepare = 0;
  uint64_t write = 0;
  uint64_t range_sync = 0;
  uint64_t sync = 0;

  void Add(const FileWriteTimes& other) {
    prepare += other.prepare;
    write += other.write;
    range_sync += other.range_sync;
    sync += other.sync;
  }
};

// Appends to one FSWritableFile. After the first failure of any write, sync or truncation every
// later call fails with that error: the file's contents are unknown from then on, and a later sync
// that reports success would not mean that the lost bytes were written.
//
// Thread safety: one thread at a time, except file_size(), flushed_size() and, if
// file()->IsSyncThreadSafe(), SyncWithoutFlush(), which may run concurrently with the others.
class WritableFileWriter {
 public:
  struct Options {
    // In bytes; the buffer starts at 64 KiB or this, whichever is less, and doubles while it fills.
    size_t max_buffer_size = 1024 * 1024;
    // Bytes between requests for write-back; 0 is none.
    uint64_t bytes_per_sync = 0;
    // Used for every request; a rate_limiter_priority of IO_TOTAL means "not limited".
    IOOptions io_options;
    // Nullable, not owned, outlive the writer. The clock is needed only with stats and times. The
    // limiter is not asked any more once the flag is set.
    RateLimiter* rate_limiter = nullptr;
    const std::atomic<bool>* limit_lifted = nullptr;
    Statistics* stats = nullptr;
    SystemClock* clock = nullptr;
    // Gets all appended bytes, in order. Nullable, not owned, outlives the writer.
    FileChecksumGenerator* checksum = nullptr;
    // Each call adds its durations. Nullable, not owned, outlives the writer.
    FileWriteTimes* times = nullptr;
    // The histogram that gets the microseconds of each sync.
    uint32_t sync_histogram = kNoHistogram;
    // The histograms that get the microseconds of each write, the second one by the file's purpose.
    uint32_t write_histogram = kNoHistogram;
    uint32_t write_histogram_of_purpose = kNoHistogram;
  };
  static constexpr uint32_t kNoHistogram = ~uint32_t{0};

  // Takes the buffer size, bytes_per_sync, limiter and I/O options from `options`.
  static Options OptionsFrom(const FileOptions& options);

  // `file` is empty or is to be continued at `initial_size` (0 with direct I/O).
  WritableFileWriter(std::unique_ptr<FSWritableFile> file, std::string file_name,
                     const Options& options, uint64_t initial_size = 0);
  // Creates `fname` and a writer for it.
  static IOStatus Create(FileSystem* fs, const std::string& fname, const FileOptions& file_options,
                         const Options& options, std::unique_ptr<WritableFileWriter>* writer);
  // Unless Close was called, closes the file and drops the buffer: a file that its owner did not
  // close is abandoned.
  ~WritableFileWriter();
  WritableFileWriter(const WritableFileWriter&) = delete;
  WritableFileWriter& operator=(const WritableFileWriter&) = delete;

  // Buffers the data, or writes it directly if it is large.
  IOStatus Append(const Slice& data);
  // Appends the concatenation of `count` slices, as one append.
  IOStatus Append(const Slice* parts, size_t count);
  // Appends `count` zero bytes.
  IOStatus Pad(size_t count);

  // Writes everything to the operating system. With direct I/O an incomplete last page is written
  // padded, and written again when it has grown.
  IOStatus Flush();
  // Flushes, then makes the file durable with fsync or fdatasync.
  IOStatus Sync(bool use_fsync);
  // Makes durable what was flushed, without touching the buffer. Returns NotSupported unless the
  // file can sync while it is appended to.
  IOStatus SyncWithoutFlush(bool use_fsync);
  // Flushes, then truncates the file to file_size(), as a reused file may have older bytes after
  // that.
  IOStatus CutToSize();
  // Flushes, drops padding and closes. A second call does nothing.
  IOStatus Close();

  // Returns the logical size in bytes: all that was appended.
  uint64_t file_size() const { return file_size_.load(std::memory_order_acquire); }
  uint64_t GetFileSize() const { return file_size(); }
  // Returns the number of those bytes that the operating system has.
  uint64_t flushed_size() const { return flushed_size_.load(std::memory_order_acquire); }

  const std::string& file_name() const { return file_name_; }
  FSWritableFile* file() { return file_.get(); }
  // Returns the first error, or OK.
  IOStatus status() const;
  bool has_failed() const { return failed_.load(std::memory_order_acquire); }

 private:
  // Returns the error that Latch has stored.
  IOStatus Failed() const;
  // Stores s as the permanent error unless it is OK; returns s.
  IOStatus Latch(IOStatus s);
  // Makes room for `wanted` more bytes if the limit allows. Returns false if there is no buffer at
  // all.
  bool GrowBuffer(size_t wanted);
  // Appends to the buffer, or past it.
  IOStatus AppendBytes(const char* data, size_t n);
  // Write what is in the buffer, the second one in whole pages.
  IOStatus WriteBuffered();
  IOStatus WriteDirect();
  // Writes bytes from where they are, as the rate limiter grants them.
  IOStatus WriteThrough(Slice data);
  // Asks for write-back of a range once bytes_per_sync have been written since the last.
  IOStatus RangeSyncIfDue();
  // Returns how many of the bytes may be written now; waits for the rate limiter.
  size_t Grant(size_t bytes, size_t alignment);
  IOStatus SyncFile(bool use_fsync);

  const std::string file_name_;
  const Options options_;
  const std::unique_ptr<FSWritableFile> file_;
  const bool direct_;
  const size_t alignment_;

  AlignedBuffer buffer_;
  // Bytes in the buffer.
  size_t used_ = 0;
  // Direct I/O: file offset of the buffer's first byte; a multiple of the alignment.
  uint64_t buffer_offset_ = 0;
  uint64_t range_synced_ = 0;  // End of the bytes for which write-back was requested.
  bool closed_ = false;

  // Written by the appending thread, with release; readers see how far the file has come.
  std::atomic<uint64_t> file_size_;
  std::atomic<uint64_t> flushed_size_;
  // failing_ is set when an error is being stored; failed_ then publishes error_.
  std::atomic<bool> failing_{false};
  std::atomic<bool> failed_{false};
  IOStatus error_;
};

}  // namespace varve
