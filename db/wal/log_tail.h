// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the records of a log beside its writers, in this process or another: what cannot be read
// yet is read again later. It does not decide about damage.

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
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
  };

  // Reads a fragment at *at, and advances *at past it and past padding.
  Met ReadFragment(uint64_t end, uint64_t* at, Fragment* fragment);
  Met ParseFragment(const char* p, uint64_t room, uint64_t end, uint64_t* at, Fragment* fragment);
  // Returns kRecord if the rest of the block is padding, and advances *at past it. Zeros may also
  // be a reserved place that is not filled yet, with other records behind it: padding occurs only
  // before a record that is never cut, or where a recyclable header does not fit.
  Met PassZeros(uint64_t end, uint64_t* at);
  Met TakeControl(const Fragment& fragment, uint64_t at);
  Met Assemble(const Fragment& fragment, uint64_t at, bool* open, Slice* record);
  Met Deliver(const Slice& bytes, uint64_t at, Slice* record);
  // Sets *p to `n` bytes of the file at `at`. Returns false if it has fewer, or with an error in
  // status_.
  bool Fetch(uint64_t at, size_t n, uint64_t end, const char** p);
  Met Bad(const char* reason, uint64_t at);
  Met Fail(const Status& status);

  const std::unique_ptr<FSRandomAccessFile> file_;
  const uint64_t number_;
  const std::string path_;
  const std::unique_ptr<char[]> buffer_;
  const char* chunk_ = nullptr;  // In buffer_, or the file system's own.
  uint64_t chunk_offset_ = 0;
  size_t chunk_bytes_ = 0;

  uint64_t next_ = 0;
  uint64_t before_ = 0;  // Value of next_ before the last record.
  bool any_data_ = false;
  bool compressed_ = false;
  std::string assembled_;
  std::string raw_;
  TimestampSizes timestamp_sizes_;
  Status status_;
};

}  // namespace varve::wal
