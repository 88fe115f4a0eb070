// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/log_bytes.h"

#include <cstring>
#include <memory>

#include "tests/fuzz/target.h"
#include "util/env/appended_bytes.h"
#include "util/env/sequential_file_reader.h"
#include "util/env/writable_file_writer.h"

namespace varve::fuzz {

namespace {

constexpr size_t kReadahead = 4096;  // the default takes longer to get than most logs to read

class BytesFile final : public FSSequentialFile {
 public:
  explicit BytesFile(const Slice& bytes) : rest_(bytes) {}

  IOStatus Read(size_t n, const IOOptions&, Slice* result, char* scratch,
                IODebugContext*) override {
    n = std::min(n, rest_.size());
    std::memcpy(scratch, rest_.data(), n);
    *result = Slice(scratch, n);
    rest_.remove_prefix(n);
    return IOStatus::OK();
  }
  IOStatus Skip(uint64_t n) override {
    rest_.remove_prefix(static_cast<size_t>(std::min<uint64_t>(n, rest_.size())));
    return IOStatus::OK();
  }

 private:
  Slice rest_;
};

// Adds up what the reader reports.
class Counter final : public wal::LogReader::Reporter {
 public:
  void Corruption(size_t bytes, const Status& status) override {
    Promise(!status.ok(), "damage has a reason");
    reported += bytes;
  }
  uint64_t reported = 0;
};

}  // namespace

Status WriteLogBytes(const std::vector<std::string>& records, const wal::LogWriterOptions& options,
                     uint64_t number, const wal::TimestampSizes& sizes, std::string* log) {
  log->clear();
  wal::LogWriter writer(std::make_unique<WritableFileWriter>(std::make_unique<AppendedBytes>(log),
                                                             "log", WritableFileWriter::Options()),
                        number, options);
  for (const std::string& payload : wal::EncodeTimestampSizes(sizes)) {
    const IOStatus s = writer.AddTimestampSizes(payload);
    if (!s.ok()) return s;
  }
  for (const std::string& record : records) {
    const IOStatus s = writer.AddRecord(record);
    if (!s.ok()) return s;
  }
  return writer.Close();
}

LogReading ReadLogBytes(const Slice& log, WALRecoveryMode mode, uint64_t number) {
  LogReading reading;
  Counter counter;
  wal::LogReader reader(
      std::make_unique<SequentialFileReader>(std::make_unique<BytesFile>(log), "log", kReadahead),
      number, "log", &counter);
  Slice record;
  std::string scratch;
  uint64_t end = 0;
  while (reader.ReadRecord(&record, &scratch, mode)) {
    Promise(reader.LastRecordOffset() >= end || end == 0, "records follow each other");
    Promise(reader.LastRecordEnd() > reader.LastRecordOffset(), "a record has bytes");
    Promise(reader.LastRecordEnd() <= log.size(), "a record lies in the log");
    end = reader.LastRecordOffset();
    reading.records.push_back(record.ToString());
  }
  Promise(!reader.ReadRecord(&record, &scratch, mode), "the end is the end");
  reading.damage = reader.damage();
  reading.sizes = reader.timestamp_sizes();
  reading.io_status = reader.io_status();
  Promise(reading.damage.dropped_bytes <= log.size(), "no more is dropped than there is");
  Promise(counter.reported == 0 || reading.damage.first_bad_offset != UINT64_MAX,
          "what was reported is remembered");
  return reading;
}

}  // namespace varve::fuzz
