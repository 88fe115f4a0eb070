// SPDX-License-Identifier: Apache-2.0
#include "db/wal/log_writer.h"

#include <algorithm>
#include <utility>

#include "util/base/status_macros.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/env/writable_file_writer.h"

namespace varve::wal {

namespace {

RecordType FragmentType(bool first, bool last) {
  if (first) return last ? kFullType : kFirstType;
  return last ? kLastType : kMiddleType;
}

}  // namespace

LogWriter::LogWriter(std::unique_ptr<WritableFileWriter> file, uint64_t log_number,
                     bool manual_flush)
    : file_(std::move(file)),
      log_number_(log_number),
      manual_flush_(manual_flush),
      sync_excludes_append_(manual_flush || !file_->file()->IsSyncThreadSafe()),
      block_offset_(static_cast<size_t>(file_->file_size() % kBlockBytes)) {
  for (uint8_t type = 0; type <= kLastType; type++) {
    const char byte = static_cast<char>(type);
    type_crc_[type] = crc32c::Value(&byte, 1);
  }
}

LogWriter::~LogWriter() = default;

IOStatus LogWriter::AddRecord(const Slice& record) {
  if (!sync_excludes_append_) return Append(record);
  MutexLock lock(&mu_);
  return Append(record);
}

IOStatus LogWriter::Append(const Slice& record) {
  const char* data = record.data();
  size_t left = record.size();
  bool first = true;
  // An empty record still makes one fragment.
  do {
    size_t room = kBlockBytes - block_offset_;
    if (room < kHeaderBytes) [[unlikely]] {
      VARVE_RETURN_IF_ERROR(file_->Pad(room));
      block_offset_ = 0;
      room = kBlockBytes;
    }
    const size_t n = std::min(left, room - kHeaderBytes);
    VARVE_RETURN_IF_ERROR(EmitPhysicalRecord(FragmentType(first, n == left), data, n));
    data += n;
    left -= n;
    first = false;
  } while (left > 0);
  return manual_flush_ ? IOStatus::OK() : file_->Flush();
}

IOStatus LogWriter::EmitPhysicalRecord(RecordType type, const char* data, size_t n) {
  char header[kHeaderBytes];
  const uint32_t crc = crc32c::Extend(type_crc_[type], data, n);
  EncodeFixed32(header, crc32c::Mask(crc));
  EncodeFixed16(header + 4, static_cast<uint16_t>(n));
  header[6] = static_cast<char>(type);
  block_offset_ += kHeaderBytes + n;
  const Slice parts[] = {Slice(header, kHeaderBytes), Slice(data, n)};
  return file_->Append(parts, 2);
}

IOStatus LogWriter::WriteBuffer() {
  if (!sync_excludes_append_) return file_->Flush();
  MutexLock lock(&mu_);
  return file_->Flush();
}

IOStatus LogWriter::Sync(bool use_fsync) {
  // Nothing is left in the buffer between records then.
  if (!sync_excludes_append_) return file_->SyncWithoutFlush(use_fsync);
  MutexLock lock(&mu_);
  return file_->Sync(use_fsync);
}

IOStatus LogWriter::Close() {
  return file_->Close();
}

uint64_t LogWriter::file_size() const {
  return file_->file_size();
}

}  // namespace varve::wal
