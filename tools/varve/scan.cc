// SPDX-License-Identifier: Apache-2.0

// The commands `scan` and `get` print keys and values as a reader of the database sees them.

#include <memory>
#include <string>

#include "varve/comparator.h"
#include "varve/db.h"

#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "tools/varve/key_range.h"
#include "tools/varve/past_state.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

// Prints one entry a line.
class EntryPrinter {
 public:
  EntryPrinter(const Request& request, Console* console)
      : form_(request.form), keys_only_(request.keys_only), console_(console) {}

  void Print(const Slice& key, const Slice& value) {
    if (console_->json) return PrintJson(key, value);
    Output* const out = &console_->out;
    AppendBytes(key.ToStringView(), form_, out);
    if (!keys_only_) {
      out->Append('\t');
      AppendBytes(value.ToStringView(), form_, out);
    }
    out->Append('\n');
  }

 private:
  void PrintJson(const Slice& key, const Slice& value) {
    json_.BeginObject();
    Add("key", key);
    if (!keys_only_) Add("value", value);
    json_.EndObject();
    console_->Line(&json_);
  }

  void Add(const std::string& name, const Slice& bytes) {
    if (form_ == ByteForm::kHex) {
      json_.Text(name + "_hex", BytesText(bytes.ToStringView(), form_));
    } else {
      json_.Bytes(name, bytes.ToStringView());
    }
  }

  const ByteForm form_;
  const bool keys_only_;
  Console* const console_;
  Json json_;
};

Status ScanForward(const Request& request, const KeyRange& range, Iterator* it, Console* console) {
  EntryPrinter printer(request, console);
  uint64_t left = request.limit;
  if (left == 0) return Status::OK();
  for (it->SeekToFirst(); it->Valid() && !console->out.failed(); it->Next()) {
    if (!range.Matches(it->key())) continue;
    printer.Print(it->key(), request.keys_only ? Slice() : it->value());
    if (--left == 0) break;
  }
  return it->status();
}

Status ScanBackward(const Request& request, const KeyRange& range, Iterator* it, Console* console) {
  EntryPrinter printer(request, console);
  uint64_t left = request.limit;
  if (left == 0) return Status::OK();
  for (it->SeekToLast(); it->Valid() && !console->out.failed(); it->Prev()) {
    if (!range.Matches(it->key())) continue;
    printer.Print(it->key(), request.keys_only ? Slice() : it->value());
    if (--left == 0) break;
  }
  return it->status();
}

}  // namespace

Status RunScan(const Request& request, Console* console) {
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForReading(request.db, request.family, &database));
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(database->Find(request.family, &family));
  NewestReads reads(family);
  // A walk over everything reads no block twice.
  reads.options.fill_cache = false;
  KeyRange range(request);
  range.Apply(family->GetComparator() == BytewiseComparator(), &reads.options);
  PastState past;
  if (request.at.has_value()) {
    VARVE_RETURN_IF_ERROR(past.Take(database->db(), request.family, *request.at, &reads.options));
  }
  const std::unique_ptr<Iterator> it(database->db()->NewIterator(reads.options, family));
  return (request.reverse ? ScanBackward : ScanForward)(request, range, it.get(), console);
}

Status RunGet(const Request& request, Console* console) {
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForReading(request.db, request.family, &database));
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(database->Find(request.family, &family));
  NewestReads reads(family);
  PastState past;
  if (request.at.has_value()) {
    VARVE_RETURN_IF_ERROR(past.Take(database->db(), request.family, *request.at, &reads.options));
  }
  EntryPrinter printer(request, console);
  for (const std::string& key : request.keys) {
    PinnableSlice value;
    const Status s = database->db()->Get(reads.options, family, key, &value);
    if (s.IsNotFound()) {
      // Exit status 1, and the other keys are printed still.
      console->found = true;
      Console::Note("varve get: there is no key " + BytesText(key, request.form));
      continue;
    }
    VARVE_RETURN_IF_ERROR(s);
    if (request.keys.size() == 1 && !console->json) {
      AppendBytes(value.ToStringView(), request.form, &console->out);
      console->out.Append('\n');
    } else {
      printer.Print(key, value);
    }
  }
  return Status::OK();
}

}  // namespace varve::tool
