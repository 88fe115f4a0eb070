// SPDX-License-Identifier: Apache-2.0
#pragma once

// Cuts logical records into the physical records of a log and appends them to a file.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "varve/compression_type.h"
#include "varve/io_status.h"
#include "varve/slice.h"

#include "db/wal/log_format.h"
#include "util/sync/io_mutex.h"

namespace varve {
class WritableFileWriter;
}

namespace varve::wal {

struct LogWriterOptions {
  bool manual_flush = false;  // the owner hands buffers to the file system itself
  // Records bear the low half of the log's number, so that what an older log left after them in a
  // reused file is not taken for theirs.
  bool recyclable = false;
  // kNoCompression or kZSTD: each record becomes one frame. Another one, or a codec that is not
  // built in, fails the first record.
  CompressionType compression = kNoCompression;
};

// Thread safety: the owner serialises calls, but for Sync, WriteBuffer and file_size, which may run
//   beside AddRecord, and WriteBuffer beside Close, too.
// Errors: after one failed append or sync every later call fails (the file's state is unknown).
class LogWriter {
 public:
  // Owns the file. `log_number` names the file in messages.
  LogWriter(std::unique_ptr<WritableFileWriter> file, uint64_t log_number,
            const LogWriterOptions& options = {});
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Appends one record; unless manual_flush, its bytes are handed to the file system before the
  // return.
  IOStatus AddRecord(const Slice& record) { return AddRecords(&record, 1); }
  // The same for several, which are handed over together.
  IOStatus AddRecords(const Slice* records, size_t count);
  // Appends a record of timestamp sizes, of at most 6 KiB, which is never cut.
  IOStatus AddTimestampSizes(const Slice& payload);
  // Hands what manual_flush holds back to the file system.
  IOStatus WriteBuffer();
  // Makes every record added before the call durable.
  IOStatus Sync(bool use_fsync);
  // Nothing will be added any more: a recyclable log loses what an older one left after its end.
  IOStatus CutOff();
  IOStatus Close();

  bool recyclable() const { return options_.recyclable; }
  uint64_t log_number() const { return log_number_; }
  uint64_t file_size() const;  // logical bytes appended
  uint64_t held_back() const;  // of them, what the system has not been given
  WritableFileWriter* file() { return file_.get(); }

 private:
  IOStatus AppendAll(const Slice* records, size_t count);
  IOStatus AppendCompressed(const Slice& record);
  // The first record of a compressed log says so.
  IOStatus BeginCompressed();
  IOStatus Append(const Slice& record);
  IOStatus AppendTimestampSizes(const Slice& payload);
  IOStatus EmitPhysicalRecord(RecordType type, const Slice& payload);

  std::unique_ptr<WritableFileWriter> file_;
  const uint64_t log_number_;
  const LogWriterOptions options_;
  // Appends take mu_ only where others touch what they use: the buffer that manual_flush holds
  // back, or a file that cannot sync while it is written.
  const bool syncs_beside_appends_;
  const bool appends_lock_;
  // Of no rank: held over I/O, in which a file system of the user may call the database, and taken
  // under the DB mutex by logs whose appends do not take it.
  IoMutex mu_;
  bool closed_ VARVE_GUARDED_BY(mu_) = false;
  size_t block_offset_ = 0;
  std::string frame_;  // of AppendCompressed
  // CRC of what stands between length and payload, to be extended by the payload: the type byte
  // and, in recyclable records, the log's number.
  uint32_t type_crc_[kRecyclableTimestampSizeType + 1];
};

}  // namespace varve::wal
