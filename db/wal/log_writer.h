// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts logical records into the physical records of a log and appends them to a file.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "varve/io_status.h"
#include "varve/slice.h"

#include "db/wal/log_format.h"
#include "util/sync/mutex.h"

namespace varve {
class WritableFileWriter;
}

namespace varve::wal {

// Thread safety: the owner serialises calls, but for Sync and file_size, which may run beside
//   AddRecord.
// Errors: after one failed append or sync every later call fails (the file's state is unknown).
class LogWriter {
 public:
  // Owns the file. `log_number` names the file in messages.
  LogWriter(std::unique_ptr<WritableFileWriter> file, uint64_t log_number, bool manual_flush);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Appends one record; unless manual_flush, its bytes are handed to the file system before the
  // return.
  IOStatus AddRecord(const Slice& record);
  IOStatus WriteBuffer();  // hands buffered bytes to the file system
  // Makes every record added before the call durable.
  IOStatus Sync(bool use_fsync);
  IOStatus Close();

  uint64_t log_number() const { return log_number_; }
  uint64_t file_size() const;  // logical bytes appended
  WritableFileWriter* file() { return file_.get(); }

 private:
  IOStatus Append(const Slice& record);
  IOStatus EmitPhysicalRecord(RecordType type, const char* data, size_t n);

  std::unique_ptr<WritableFileWriter> file_;
  const uint64_t log_number_;
  const bool manual_flush_;
  // Taken only where a sync would touch what an append is using: the buffer that manual_flush holds
  // back, or a file that cannot sync while it is written.
  const bool sync_excludes_append_;
  Mutex mu_;
  size_t block_offset_ = 0;
  uint32_t type_crc_[kLastType + 1];  // CRC of the type byte alone, to be extended by the payload
};

}  // namespace varve::wal
