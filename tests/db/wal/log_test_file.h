// SPDX-License-Identifier: Apache-2.0
#pragma once

// Logs as bytes: written by the writer or by hand, and read back.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "varve/options.h"

#include "db/wal/log_format.h"
#include "db/wal/log_reader.h"
#include "db/wal/log_writer.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/env/durable_write.h"
#include "util/env/mem_file_system.h"
#include "util/env/sequential_file_reader.h"
#include "util/env/writable_file_writer.h"

namespace varve {

// Bytes from hex digits; blanks and line ends between them are ignored.
inline std::string FromHex(const std::string& text) {
  std::string digits;
  for (char c : text) {
    if (c != ' ' && c != '\n') digits.push_back(c);
  }
  std::string bytes;
  if (!Slice(digits).DecodeHex(&bytes)) bytes = "(bad hex in the test)";
  return bytes;
}

// Returns one physical record with a right checksum; log_number only goes into recyclable headers.
inline std::string PhysicalRecord(uint8_t type, const std::string& payload, uint32_t log_number = 0,
                                  bool recyclable = false) {
  std::string covered(1, static_cast<char>(type));
  if (recyclable) PutFixed32(&covered, log_number);
  covered.append(payload);
  std::string record;
  PutFixed32(&record, crc32c::Mask(crc32c::Value(covered.data(), covered.size())));
  PutFixed16(&record, static_cast<uint16_t>(payload.size()));
  return record + covered;
}

// Returns the bytes that LogWriter writes for these records.
inline std::string LogBytes(const std::vector<std::string>& records) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  if (!WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file).ok()) return "(no file)";
  wal::LogWriter writer(std::move(file), 1);
  for (const std::string& record : records) {
    if (!writer.AddRecord(record).ok()) return "(append failed)";
  }
  std::string bytes;
  if (!writer.Close().ok() || !ReadFileToString(&fs, "/log", UINT64_MAX, &bytes).ok()) {
    return "(file lost)";
  }
  return bytes;
}

struct LogContents {
  std::vector<std::string> records;
  std::vector<uint64_t> offsets;
  std::vector<uint64_t> ends;
  wal::LogDamage damage;
  Status io_status;

  bool damaged() const { return damage.first_bad_offset != UINT64_MAX; }
};

inline LogContents ReadLog(FileSystem* fs, const std::string& path, WALRecoveryMode mode,
                           uint64_t log_number) {
  LogContents contents;
  std::unique_ptr<SequentialFileReader> file;
  contents.io_status = SequentialFileReader::Open(fs, path, FileOptions(), &file);
  if (!contents.io_status.ok()) return contents;
  wal::LogReader reader(std::move(file), log_number, path, nullptr);
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, mode)) {
    contents.records.push_back(record.ToString());
    contents.offsets.push_back(reader.LastRecordOffset());
    contents.ends.push_back(reader.LastRecordEnd());
  }
  contents.damage = reader.damage();
  contents.io_status = reader.io_status();
  return contents;
}

inline LogContents ReadLogBytes(const std::string& bytes,
                                WALRecoveryMode mode = WALRecoveryMode::kPointInTimeRecovery,
                                uint64_t log_number = 1) {
  MemFileSystem fs;
  std::unique_ptr<WritableFileWriter> file;
  IOStatus s = WritableFileWriter::Create(&fs, "/log", FileOptions(), {}, &file);
  if (s.ok()) s = file->Append(bytes);
  if (s.ok()) s = file->Close();
  if (!s.ok()) {
    LogContents failed;
    failed.io_status = s;
    return failed;
  }
  return ReadLog(&fs, "/log", mode, log_number);
}

}  // namespace varve
