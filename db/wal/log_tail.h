// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads the records of a log beside its writers, in this process or in another one: what cannot be
// read yet is read again later. It takes no decision about damage.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/file_system.h"
#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/timestamp_sizes.h"

namespace varve::wal {

// The file is read, and never mapped: its writer may cut it off, and a mapped page beyond its end
// is a fault.
//
// Thread safety: none.
class LogTail {
 public:
  enum class Met : uint8_t {
    kRecord,
    kEnd,    // nothing, zeros, or less than a record; or the records of another log begin
    kBad,    // bytes that are no record; a record that is being stored may look like that
    kError,  // the file cannot be read, or not by this version
  };

  // Of a recyclable record `number` is what tells it from those of the log that had the file
  // before. The path is for messages.
  LogTail(std::unique_ptr<FSRandomAccessFile> file, uint64_t number, std::string path);
  ~LogTail();
  static IOStatus Open(FileSystem* fs, const std::string& path, uint64_t number,
                       const FileOptions& options, std::unique_ptr<LogTail>* tail);

  // The next record that ends at or before `end`, an offset in the file; its bytes are good until
  // the next call. After anything else than a record the next call looks at the file anew.
  Met Next(uint64_t end, Slice* record);
  // The next call gives the last record again, and looks at the file anew, from where the one
  // before it ended. Once for each record.
  void PutBack();

  uint64_t number() const { return number_; }
  // Where the last record ended, and the records of timestamp sizes that follow on it.
  uint64_t offset() const { return next_; }
  // After kBad and kError.
  const Status& status() const { return status_; }
  // What the log has said up to the last record.
  const TimestampSizes& timestamp_sizes() const { return timestamp_sizes_; }

 private:
  struct Fragment {
    uint8_t type = 0;
    Slice payload;
  };

  // From *at on, which moves past it, and past padding.
  Met ReadFragment(uint64_t end, uint64_t* at, Fragment* fragment);
  Met ParseFragment(const char* p, uint64_t room, uint64_t end, uint64_t* at, Fragment* fragment);
  // Whether the rest of the block is padding; kRecord: it is, and *at is behind it. Zeros may also
  // be a place that a writer has taken and not filled, with records of others behind it: padding
  // stands only before a record that is never cut, or where a recyclable header does not fit.
  Met PassZeros(uint64_t end, uint64_t* at);
  Met TakeControl(const Fragment& fragment, uint64_t at);
  Met Assemble(const Fragment& fragment, uint64_t at, bool* open, Slice* record);
  Met Deliver(const Slice& bytes, uint64_t at, Slice* record);
  // Sets *p to `n` bytes of the file from `at` on. False: it has fewer, or status_ says why not.
  bool Fetch(uint64_t at, size_t n, uint64_t end, const char** p);
  Met Bad(const char* reason, uint64_t at);
  Met Fail(const Status& status);

  const std::unique_ptr<FSRandomAccessFile> file_;
  const uint64_t number_;
  const std::string path_;
  const std::unique_ptr<char[]> buffer_;
  const char* chunk_ = nullptr;  // in buffer_, or the file system's own
  uint64_t chunk_offset_ = 0;
  size_t chunk_bytes_ = 0;

  uint64_t next_ = 0;
  uint64_t before_ = 0;  // next_ before the last record
  bool any_data_ = false;
  bool compressed_ = false;
  std::string assembled_;
  std::string raw_;
  TimestampSizes timestamp_sizes_;
  Status status_;
};

}  // namespace varve::wal
