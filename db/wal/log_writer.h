// SPDX-License-Identifier: Apache-2.0
#pragma once

// Splits logical records into the physical records of a log and appends them to a file.

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

// Says how records are framed and buffered.
struct LogWriterOptions {
  bool manual_flush = false;  // The owner writes buffers to the file system itself.
  // Records contain the low half of the log's number, so that records that an older log left in a
  // reused file are not mistaken for them.
  bool recyclable = false;
  // kNoCompression or kZSTD: each record becomes one frame. Another codec, or one that is not built
  // in, fails the first record.
  CompressionType compression = kNoCompression;
};

// Thread safety: the owner calls one method at a time. Sync, WriteBuffer, file_size and held_back
// may also run beside AddRecord, and WriteBuffer beside Close.
// Errors: after a failed write or sync of the file every later append, sync and flush fails, as the
// file's state is unknown. A record that cannot be compressed fails its own call only.
class LogWriter {
 public:
  // Takes ownership of the file. `log_number` is stored in recyclable records.
  LogWriter(std::unique_ptr<WritableFileWriter> file, uint64_t log_number,
            const LogWriterOptions& options = {});
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // Appends one record; unless manual_flush, writes its bytes to the file system before the return.
  IOStatus AddRecord(const Slice& record) { return AddRecords(&record, 1); }
  // Appends several records, which are written together.
  IOStatus AddRecords(const Slice* records, size_t count);
  // Appends a record of timestamp sizes, as EncodeTimestampSizes makes them. It is never split, but
  // goes into the next block if it does not fit into this one.
  IOStatus AddTimestampSizes(const Slice& payload);
  // Gives the file system the bytes that manual_flush keeps in memory.
  IOStatus WriteBuffer();
  // Makes every record added before the call durable.
  IOStatus Sync(bool use_fsync);
  // Must be called when no record will be added any more: removes what an older log left after the
  // end of a recyclable log.
  IOStatus CutOff();
  // Writes what is held back, and closes the file. Without Close the destructor drops held-back
  // bytes.
  IOStatus Close();

  bool recyclable() const { return options_.recyclable; }
  uint64_t log_number() const { return log_number_; }
  uint64_t file_size() const;  // Logical bytes appended.
  uint64_t held_back() const;  // Bytes of these not yet written to the system.
  WritableFileWriter* file() { return file_.get(); }

 private:
  IOStatus AppendAll(const Slice* records, size_t count);
  IOStatus AppendCompressed(const Slice& record);
  // Writes the first record of a compressed log, which says that it is compressed.
  IOStatus BeginCompressed();
  IOStatus Append(const Slice& record);
  IOStatus AppendTimestampSizes(const Slice& payload);
  IOStatus EmitPhysicalRecord(RecordType type, const Slice& payload);

  std::unique_ptr<WritableFileWriter> file_;
  const uint64_t log_number_;
  const LogWriterOptions options_;
  // Appends take mu_ only if they share state with other calls: the buffer of manual_flush, or a
  // file that cannot sync while it is written.
  const bool syncs_beside_appends_;
  const bool appends_lock_;
  // Has no rank: it is held over I/O, in which a user's file system may call the database, and is
  // taken under the DB mutex by logs whose appends do not take it.
  IoMutex mu_;
  bool closed_ VARVE_GUARDED_BY(mu_) = false;
  size_t block_offset_ = 0;
  std::string frame_;  // Scratch of AppendCompressed.
  // CRC of the bytes between length and payload, to be extended by the payload: the type byte and,
  // in recyclable records, the log's number.
  uint32_t type_crc_[kRecyclableTimestampSizeType + 1];
};

}  // namespace varve::wal
