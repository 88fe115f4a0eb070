// SPDX-License-Identifier: Apache-2.0

// A record is cut into fragments that fill blocks of 32 KiB. A block's end that is too short for a
// header is zeros. A record of timestamp sizes is never cut: a block that lacks room for it is
// filled with zeros. The first record of a compressed log says so, and each later one is a
// compressed frame of its own.
//
//     block    header | fragment | header | fragment | ... | zeros
//     header   crc 4 | length 2 | type 1 | low half of the log's number 4 (recyclable logs only)
//
// The checksum covers what follows the length. Its beginning, type and number, is the same for all
// records of a type, and is computed once.
//
// Appends and syncs take mu_ only where they share something: the buffer that manual_flush holds
// back, or a file that cannot be synced while it is appended to. Otherwise appends, which the owner
// makes one at a time, and a sync beside them need no lock.

#include "db/wal/log_writer.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/coding/varint.h"
#include "util/compress/codec.h"
#include "util/env/writable_file_writer.h"

namespace varve::wal {

LogWriter::LogWriter(std::unique_ptr<WritableFileWriter> file, uint64_t log_number,
                     const LogWriterOptions& options)
    : file_(std::move(file)),
      log_number_(log_number),
      options_(options),
      syncs_beside_appends_(file_->file()->IsSyncThreadSafe()),
      appends_lock_(options.manual_flush || !syncs_beside_appends_),
      block_offset_(static_cast<size_t>(file_->file_size() % kBlockBytes)) {
  char number[4];
  EncodeFixed32(number, static_cast<uint32_t>(log_number));
  // The checksum begins with the type and the log's number, which are the same for all records of a
  // type.
  for (uint8_t type = 0; type <= kRecyclableTimestampSizeType; type++) {
    const char byte = static_cast<char>(type);
    type_crc_[type] = crc32c::Value(&byte, 1);
    if (HasRecyclableHeader(type)) {
      type_crc_[type] = crc32c::Extend(type_crc_[type], number, sizeof(number));
    }
  }
}

LogWriter::~LogWriter() = default;

IOStatus LogWriter::AddRecords(const Slice* records, size_t count) {
  if (!appends_lock_) return AppendAll(records, count);
  IoMutexLock lock(&mu_);
  return AppendAll(records, count);
}

IOStatus LogWriter::AppendAll(const Slice* records, size_t count) {
  const bool compressed = options_.compression != kNoCompression;
  for (size_t i = 0; i < count; i++) {
    VARVE_RETURN_IF_ERROR(compressed ? AppendCompressed(records[i]) : Append(records[i]));
  }
  return options_.manual_flush ? IOStatus::OK() : file_->Flush();
}

// Compresses the record into one frame and appends that. If a record cannot be compressed, only
// this call fails, and nothing of the record is in the log.
IOStatus LogWriter::AppendCompressed(const Slice& record) {
  const Codec* const codec =
      options_.compression == kZSTD ? FindCodec(options_.compression) : nullptr;
  if (codec == nullptr) return IOStatus::NotSupported("log compression other than zstd");
  VARVE_RETURN_IF_ERROR(BeginCompressed());
  CompressionOptions settings;
  settings.checksum = true;
  if (!codec->Compress(settings, Slice(), record, &frame_)) {
    return IOStatus::IOError("log record", "could not be compressed");
  }
  // The codec states the raw size before the frame, for tables; the frame contains it too.
  Slice frame(frame_);
  uint32_t raw_size = 0;
  if (!GetVarint32(&frame, &raw_size)) return IOStatus::Corruption("log record", "no frame");
  return Append(frame);
}

IOStatus LogWriter::BeginCompressed() {
  if (options_.compression == kNoCompression || file_->file_size() > 0) return IOStatus::OK();
  char type[4];
  EncodeFixed32(type, static_cast<uint32_t>(options_.compression));
  return EmitPhysicalRecord(kSetCompressionType, Slice(type, sizeof(type)));
}

IOStatus LogWriter::AddTimestampSizes(const Slice& payload) {
  if (!appends_lock_) return AppendTimestampSizes(payload);
  IoMutexLock lock(&mu_);
  return AppendTimestampSizes(payload);
}

IOStatus LogWriter::AppendTimestampSizes(const Slice& payload) {
  VARVE_RETURN_IF_ERROR(BeginCompressed());
  const size_t room = kBlockBytes - block_offset_;
  const size_t header = options_.recyclable ? kRecyclableHeaderBytes : kHeaderBytes;
  VARVE_ASSERT(header + payload.size() <= kBlockBytes);
  // Such a record is never split, so the rest of the block stays empty.
  if (room < header + payload.size()) {
    VARVE_RETURN_IF_ERROR(file_->Pad(room));
    block_offset_ = 0;
  }
  const RecordType type = options_.recyclable ? kRecyclableTimestampSizeType : kTimestampSizeType;
  VARVE_RETURN_IF_ERROR(EmitPhysicalRecord(type, payload));
  return options_.manual_flush ? IOStatus::OK() : file_->Flush();
}

// Cuts the record into fragments at the borders of blocks:
//
//      | ... full | first--- || ---middle--- || ---last | full | pad ||       blocks of 32 KiB
IOStatus LogWriter::Append(const Slice& record) {
  const char* data = record.data();
  size_t left = record.size();
  const size_t header = options_.recyclable ? kRecyclableHeaderBytes : kHeaderBytes;
  bool first = true;
  // An empty record still makes one fragment.
  do {
    size_t room = kBlockBytes - block_offset_;
    if (room < header) [[unlikely]] {
      VARVE_RETURN_IF_ERROR(file_->Pad(room));
      block_offset_ = 0;
      room = kBlockBytes;
    }
    VARVE_ASSERT(room >= header && room <= kBlockBytes);
    const size_t n = std::min(left, room - header);
    RecordType type = FragmentType(first, n == left);
    if (options_.recyclable) {
      type = static_cast<RecordType>(type + (kRecyclableFullType - kFullType));
    }
    VARVE_RETURN_IF_ERROR(EmitPhysicalRecord(type, Slice(data, n)));
    data += n;
    left -= n;
    first = false;
  } while (left > 0);
  return IOStatus::OK();
}

// Moves block_offset_ before the append, as the log is not written any more after one that fails.
IOStatus LogWriter::EmitPhysicalRecord(RecordType type, const Slice& payload) {
  char header[kRecyclableHeaderBytes];
  size_t header_bytes = kHeaderBytes;
  if (HasRecyclableHeader(type)) {
    header_bytes = kRecyclableHeaderBytes;
    EncodeFixed32(header + kHeaderBytes, static_cast<uint32_t>(log_number_));
  }
  const uint32_t crc = crc32c::Extend(type_crc_[type], payload.data(), payload.size());
  EncodeFixed32(header, crc32c::Mask(crc));
  EncodeFixed16(header + 4, static_cast<uint16_t>(payload.size()));
  header[6] = static_cast<char>(type);
  block_offset_ += header_bytes + payload.size();
  VARVE_ASSERT(block_offset_ <= kBlockBytes);
  const Slice parts[] = {Slice(header, header_bytes), payload};
  return file_->Append(parts, 2);
}

IOStatus LogWriter::WriteBuffer() {
  // Every record was written as it was added, and an append may be running.
  if (!options_.manual_flush) return file_->status();
  IoMutexLock lock(&mu_);
  return closed_ ? file_->status() : file_->Flush();
}

IOStatus LogWriter::Sync(bool use_fsync) {
  // This file cannot be appended to while it is synced, so the lock keeps appends out.
  if (!syncs_beside_appends_) {
    IoMutexLock lock(&mu_);
    return file_->Sync(use_fsync);
  }
  // With manual_flush the buffer may hold records; without it every append has emptied the buffer.
  if (options_.manual_flush) {
    IoMutexLock lock(&mu_);
    VARVE_RETURN_IF_ERROR(file_->Flush());
  }
  return file_->SyncWithoutFlush(use_fsync);
}

IOStatus LogWriter::CutOff() {
  if (!options_.recyclable) return IOStatus::OK();
  IoMutexLock lock(&mu_);
  return file_->CutToSize();
}

IOStatus LogWriter::Close() {
  IoMutexLock lock(&mu_);
  closed_ = true;
  return file_->Close();
}

uint64_t LogWriter::file_size() const {
  return file_->file_size();
}

uint64_t LogWriter::held_back() const {
  const uint64_t flushed = file_->flushed_size();
  return std::max(file_->file_size(), flushed) - flushed;
}

}  // namespace varve::wal
