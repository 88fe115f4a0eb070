// SPDX-License-Identifier: Apache-2.0
#include "tools/varve/check_logs.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "db/wal/log_reader.h"
#include "db/wal/synced_marks.h"
#include "db/write/batch_reader.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/env/sequential_file_reader.h"

namespace varve::tool {

namespace {

constexpr int kSettleMicros = 50 * 1000;

// Keeps what the reader of a log reports, as only the end tells whether it is damage.
class Regions : public wal::LogReader::Reporter {
 public:
  void Corruption(size_t bytes, const Status& status) override {
    texts_.push_back(status.ToString() + " (" + std::to_string(bytes) + " bytes)");
  }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// Returns how many bytes of the log were durable when the mark was written: UINT64_MAX, all of a
// log before the marked one; 0, nothing is known of a later one.
uint64_t DurableBytes(const wal::SyncedMark& mark, uint64_t number) {
  if (mark.log == number) return mark.log_bytes;
  return mark.log > number ? UINT64_MAX : 0;
}

// Holds what one reading of a log found.
struct LogReading {
  uint64_t bytes = 0;                // Size of the file.
  uint64_t end = 0;                  // Offset of the end of the last record.
  bool torn = false;                 // The file ends within a record.
  std::vector<std::string> regions;  // Bytes that are no records.
  std::vector<std::string> batches;  // Records that are no batches.
};

Status ReadLog(const std::string& path, uint64_t number, LogReading* reading) {
  *reading = LogReading();
  FileSystem* const fs = FileSystem::Default().get();
  VARVE_RETURN_IF_ERROR(fs->GetFileSize(path, IOOptions(), &reading->bytes, nullptr));
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(SequentialFileReader::Open(fs, path, FileOptions(), &file));
  Regions regions;
  wal::LogReader reader(std::move(file), number, path, &regions);
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kSkipAnyCorruptedRecords)) {
    reading->end = reader.LastRecordEnd();
    const Status s = CheckBatchStructure(record);
    if (s.ok()) continue;
    reading->batches.push_back("the record at offset " + std::to_string(reader.LastRecordOffset()) +
                               " is no batch: " + s.ToString());
  }
  reading->torn = reader.damage().torn_tail;
  reading->regions = regions.texts();
  return reader.io_status();
}

// Reads the log again where something was found: a running writer fills the gaps that its threads
// leave for a moment.
Status ReadSettledLog(const std::string& path, uint64_t number, LogReading* reading) {
  VARVE_RETURN_IF_ERROR(ReadLog(path, number, reading));
  if (reading->regions.empty()) return Status::OK();
  Env::Default()->SleepForMicroseconds(kSettleMicros);
  return ReadLog(path, number, reading);
}

// A torn end is only a remark, since a crash leaves one, unless its bytes were durable: those of
// the marked log up to the mark, and all of the logs before it. A log may also end between two
// records and yet lack bytes that were durable, which only the mark tells.
Status CheckLog(const std::string& path, uint64_t number, const wal::SyncedMark& mark,
                Findings* findings) {
  LogReading reading;
  VARVE_RETURN_IF_ERROR(ReadSettledLog(path, number, &reading));
  findings->CountFile(reading.bytes);
  for (const std::string& text : reading.batches) findings->Damage(path, text);
  const uint64_t durable = DurableBytes(mark, number);
  const bool cut = mark.log == number && reading.end < durable;
  const bool may_be_torn = reading.torn && !cut && durable != UINT64_MAX;
  for (const std::string& text : reading.regions) {
    if (may_be_torn && &text == &reading.regions.back()) {
      findings->Remark(path, text + ": the end that a crash, or a running writer, leaves");
    } else {
      findings->Damage(path, text);
    }
  }
  if (cut && reading.regions.empty()) {
    findings->Damage(path, "ends at offset " + std::to_string(reading.end) + ", though " +
                               std::to_string(durable) + " bytes were durable");
  }
  return Status::OK();
}

}  // namespace

Status CheckLogs(const std::string& db, const std::string& log_directory, uint64_t oldest,
                 Findings* findings) {
  // The mark only grows, so that one from before the logs are read is true of them.
  const wal::SyncedMark mark = wal::ReadSyncedMark(FileSystem::Default().get(), db);
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(Env::Default()->GetChildren(log_directory, &names));
  std::vector<uint64_t> numbers;
  for (const std::string& name : names) {
    uint64_t number = 0;
    FileType type = kTempFile;
    if (ParseFileName(name, &number, &type) && type == kWalFile && number >= oldest) {
      numbers.push_back(number);
    }
  }
  std::ranges::sort(numbers);
  for (const uint64_t number : numbers) {
    const Status s = CheckLog(LogFileName(log_directory, number), number, mark, findings);
    if (!IsMissing(s)) VARVE_RETURN_IF_ERROR(s);
  }
  // The marked log must be there if its data may be in no table. A writer may have deleted it
  // since: then the mark has moved on to another log.
  const bool expected = mark.log >= oldest && mark.log_bytes != 0;
  if (expected && std::ranges::find(numbers, mark.log) == numbers.end()) {
    const wal::SyncedMark now = wal::ReadSyncedMark(FileSystem::Default().get(), db);
    if (now.log == mark.log) {
      findings->Damage(
          LogFileName(log_directory, mark.log),
          "is missing, though " + std::to_string(mark.log_bytes) + " bytes of it were durable");
    }
  }
  return Status::OK();
}

}  // namespace varve::tool
