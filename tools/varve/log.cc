// SPDX-License-Identifier: Apache-2.0

// The command `log` shows the records of one write-ahead log.

#include <memory>
#include <string>
#include <utility>

#include "db/wal/log_reader.h"
#include "db/write/batch_reader.h"
#include "tools/varve/commands.h"
#include "tools/varve/table_file.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/sequential_file_reader.h"

namespace varve::tool {

namespace {

// Prints regions that are no records where they stand.
class DamagePrinter : public wal::LogReader::Reporter {
 public:
  explicit DamagePrinter(Console* console) : console_(console) {}

  void Corruption(size_t bytes, const Status& status) override {
    console_->found = true;
    if (console_->json) {
      Json json;
      json.BeginObject().Text("damage", status.ToString()).Number("bytes", bytes).EndObject();
      return console_->Line(&json);
    }
    console_->Line("damage: " + status.ToString() + " (" + std::to_string(bytes) + " bytes)");
  }

 private:
  Console* const console_;
};

class RecordPrinter {
 public:
  RecordPrinter(const Request& request, Console* console) : request_(request), console_(console) {}

  // Prints what of the record can be read, and then says that it is no batch: the updates before
  // the fault are what a user looks for.
  void Print(uint64_t offset, const Slice& record) {
    BatchReader batch(record);
    if (console_->json) return PrintJson(offset, record, &batch);
    console_->Line("offset " + std::to_string(offset) + ": sequence " +
                   std::to_string(batch.sequence()) + ", " + std::to_string(batch.count()) +
                   " updates, " + std::to_string(record.size()) + " bytes");
    BatchRecord update;
    while (request_.entries && batch.Next(&update)) PrintUpdate(update);
    const Status s = CheckBatchStructure(record);
    if (s.ok()) return;
    console_->found = true;
    console_->Line("damage: the record at offset " + std::to_string(offset) +
                   " is no batch: " + s.ToString());
  }

 private:
  void PrintUpdate(const BatchRecord& update) {
    Output* const out = &console_->out;
    out->Append(std::string("  ") + EntryName(update.type) + "\t" +
                std::to_string(update.column_family) + "\t");
    AppendBytes(update.key.ToStringView(), request_.form, out);
    if (!request_.keys_only) {
      out->Append('\t');
      AppendBytes(update.value.ToStringView(), request_.form, out);
    }
    out->Append('\n');
  }

  void PrintJson(uint64_t offset, const Slice& record, BatchReader* batch) {
    Json json;
    json.BeginObject().Number("offset", offset).Number("sequence", batch->sequence());
    json.Number("count", batch->count()).Number("bytes", record.size());
    if (request_.entries) {
      json.BeginArray("updates");
      BatchRecord update;
      while (batch->Next(&update)) {
        json.BeginObject().Text("kind", EntryName(update.type));
        json.Number("family", update.column_family).Bytes("key", update.key.ToStringView());
        if (!request_.keys_only) json.Bytes("value", update.value.ToStringView());
        json.EndObject();
      }
      json.EndArray();
    }
    const Status s = CheckBatchStructure(record);
    if (!s.ok()) {
      console_->found = true;
      json.Text("damage", s.ToString());
    }
    json.EndObject();
    console_->Line(&json);
  }

  const Request& request_;
  Console* const console_;
};

}  // namespace

Status RunLog(const Request& request, Console* console) {
  uint64_t number = 0;
  FileType type = kTempFile;
  const std::string name = request.db.substr(request.db.find_last_of('/') + 1);
  // Records of a recycled log carry the log's number, which tells them from the leavings of the log
  // that the file was before. The reader cannot do without it.
  if (!ParseFileName(name, &number, &type) || type != kWalFile) {
    return Status::InvalidArgument(
        request.db, "is no name of a log; the number in a name such as 000004.log is needed");
  }
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(
      SequentialFileReader::Open(FileSystem::Default().get(), request.db, FileOptions(), &file));
  DamagePrinter damage(console);
  wal::LogReader reader(std::move(file), number, request.db, &damage);
  RecordPrinter printer(request, console);
  Slice record;
  std::string scratch;
  uint64_t left = request.limit;
  // Goes on behind damage, unlike a recovery: the printer says where regions were left out.
  while (left > 0 && !console->out.failed() &&
         reader.ReadRecord(&record, &scratch, WALRecoveryMode::kSkipAnyCorruptedRecords)) {
    printer.Print(reader.LastRecordOffset(), record);
    left--;
  }
  return reader.io_status();
}

}  // namespace varve::tool
