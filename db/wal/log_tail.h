// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the records of a log beside its writers, in this process or another: what cannot be read
// yet is read again later. It does not decide about damage.
//
// A log is a sequence of blocks of 32 KiB, in which records are cut into fragments that do not
// cross the end of a block (log_format.h). Next returns one logical record:
//
//      block 0                                  block 1
//      [full A][first B         ][middle B ...][..][last B][full C][ zeros or old bytes
//              ^ before_         (assembled_)              ^ next_            ^ end
//
// Here B was returned last: next_ is its end, and before_, to which PutBack returns, its start. C
// is returned if it ends at or before `end`. What lies behind may be anything: the writer's next
// record in the making, or the contents of an older log in a recycled file.
//
// Invariants
// 1. next_ moves only over whole records with correct checksums. An attempt that fails leaves it,
//    and drops the buffer, so that the next attempt sees what was written meanwhile.
// 2. A recyclable record counts only if it has this log's number.
// 3. An empty place is passed only if a record behind it proves that it is padding (PassZeros).

#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/timestamp_sizes.h"

namespace varve::wal {

// The file is read, never mapped: its writer may truncate it, and access to a mapped page beyond
// its end is a fault.
//
// Thread safety: none.
class LogTail {
 public:
  enum class Met : uint8_t {
    kRecord,
    kEnd,    // Nothing, zeros, a partial record, or records of another log.
    kBad,    // Bytes that are no record; a record being stored may look so.
    kError,  // The file cannot be read, or not by this version.
  };

  // `number` distinguishes recyclable records from those of the log that had the file before. The
  // path is for messages.
  LogTail(std::unique_ptr<FSRandomAccessFile> file, uint64_t number, std::string path);
  ~LogTail();
  // Opens the file, and sets *tail.
  static IOStatus Open(FileSystem* fs, const std::string& path, uint64_t number,
                       const FileOptions& options, std::unique_ptr<LogTail>* tail);

  // Reads the next record that ends at or before `end`, an offset in the file; its bytes are valid
  // until the next call. If the result is not a record, the next call reads the file again.
  Met Next(uint64_t end, Slice* record);
  // Makes the next call return the last record again, read anew from the file at the end of the
  // record before. May be called once for each record.
  void PutBack();

  uint64_t number() const { return number_; }
  // Returns the end of the last record and of the records of timestamp sizes after it.
  uint64_t offset() const { return next_; }
  // Returns the error after kBad and kError.
  const Status& status() const { return status_; }
  // Returns the sizes that the log has stated up to the last record.
  const TimestampSizes& timestamp_sizes() const { return timestamp_sizes_; }

 private:
  // One physical record.
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
  };

  // Reads a fragment at *at, and advances *at past it and past padding.
  Met ReadFragment(uint64_t end, uint64_t* at, Fragment* fragment);
  // Checks the record at p, of which `room` bytes are left in the block.
  Met ParseFragment(const char* p, uint64_t room, uint64_t end, uint64_t* at, Fragment* fragment);
  // Returns kRecord if the rest of the block is padding, and advances *at past it. Zeros may also
  // be a reserved place that is not filled yet, with other records behind it: padding occurs only
  // before a record that is never cut, or where a recyclable header does not fit.
  Met PassZeros(uint64_t end, uint64_t* at);
  // Handles a record that carries no data: compression, timestamp sizes.
  Met TakeControl(const Fragment& fragment, uint64_t at);
  // Adds a fragment to the record being assembled. Returns kRecord if *record is whole, and kEnd if
  // the record goes on in the next fragment; then *open is true.
  Met Assemble(const Fragment& fragment, uint64_t at, bool* open, Slice* record);
  // Makes the assembled bytes, decompressed if the log is, the result of Next.
  Met Deliver(const Slice& bytes, uint64_t at, Slice* record);
  // Sets *p to `n` bytes of the file at `at`. Returns false if it has fewer, or with an error in
  // status_.
  bool Fetch(uint64_t at, size_t n, uint64_t end, const char** p);
  // Set status_ and return kBad, or kError.
  Met Bad(const char* reason, uint64_t at);
  Met Fail(const Status& status);

  const std::unique_ptr<FSRandomAccessFile> file_;
  const uint64_t number_;
  const std::string path_;
  const std::unique_ptr<char[]> buffer_;
  const char* chunk_ = nullptr;  // In buffer_, or the file system's own.
  // Position in the file, and size, of the bytes at chunk_.
  uint64_t chunk_offset_ = 0;
  size_t chunk_bytes_ = 0;

  // Offset after the last record that was returned.
  uint64_t next_ = 0;
  uint64_t before_ = 0;  // Value of next_ before the last record.
  // True once a data record was read; then a compression record is an error.
  bool any_data_ = false;
  // True if the log's records are compressed.
  bool compressed_ = false;
  // The record being assembled, and its decompressed form.
  std::string assembled_;
  std::string raw_;
  TimestampSizes timestamp_sizes_;
  Status status_;
};

}  // namespace varve::wal
