// SPDX-License-Identifier: Apache-2.0

// The command `sst` shows the properties and the entries of one table file.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/varve/commands.h"
#include "tools/varve/key_range.h"
#include "tools/varve/recompress.h"
#include "tools/varve/table_file.h"
#include "util/base/status_macros.h"
#include "util/key/range_tombstone.h"

namespace varve::tool {

namespace {

using NumberRow = std::pair<const char*, uint64_t TableProperties::*>;
using TextRow = std::pair<const char*, std::string TableProperties::*>;

constexpr NumberRow kNumbers[] = {
    {"entries", &TableProperties::num_entries},
    {"deletions", &TableProperties::num_deletions},
    {"range_deletions", &TableProperties::num_range_deletions},
    {"merge_operands", &TableProperties::num_merge_operands},
    {"raw_key_bytes", &TableProperties::raw_key_size},
    {"raw_value_bytes", &TableProperties::raw_value_size},
    {"data_blocks", &TableProperties::num_data_blocks},
    {"data_bytes", &TableProperties::data_size},
    {"index_bytes", &TableProperties::index_size},
    {"index_partitions", &TableProperties::index_partitions},
    {"filter_bytes", &TableProperties::filter_size},
    {"filter_entries", &TableProperties::num_filter_entries},
    {"format_version", &TableProperties::format_version},
    {"family_id", &TableProperties::column_family_id},
    {"creation_time", &TableProperties::creation_time},
    {"oldest_key_time", &TableProperties::oldest_key_time},
    {"file_creation_time", &TableProperties::file_creation_time},
    {"original_number", &TableProperties::orig_file_number},
};

constexpr TextRow kTexts[] = {
    {"family", &TableProperties::column_family_name},
    {"comparator", &TableProperties::comparator_name},
    {"merge_operator", &TableProperties::merge_operator_name},
    {"prefix_extractor", &TableProperties::prefix_extractor_name},
    {"filter_policy", &TableProperties::filter_policy_name},
    {"compression", &TableProperties::compression_name},
    {"compression_options", &TableProperties::compression_options},
    {"collectors", &TableProperties::property_collectors_names},
    {"db_id", &TableProperties::db_id},
    {"db_session_id", &TableProperties::db_session_id},
};

void PrintProperties(const Request& request, const TableFile& file, Console* console) {
  const TableProperties& properties = *file.reader().properties();
  Json json;
  json.BeginObject().Text("file", request.db).Number("bytes", file.bytes());
  for (const auto& [name, member] : kTexts) json.Text(name, properties.*member);
  for (const auto& [name, member] : kNumbers) json.Number(name, properties.*member);
  json.BeginObject("user");
  for (const auto& [name, value] : properties.user_collected_properties) {
    json.Bytes(BytesText(name, ByteForm::kPlain), value);
  }
  json.EndObject().EndObject();
  if (console->json) return console->Line(&json);
  console->Line("file: " + request.db);
  console->Line("bytes: " + std::to_string(file.bytes()));
  for (const auto& [name, member] : kTexts) {
    console->Line(std::string(name) + ": " + BytesText(properties.*member, ByteForm::kPlain));
  }
  for (const auto& [name, member] : kNumbers) {
    console->Line(std::string(name) + ": " + std::to_string(properties.*member));
  }
  for (const auto& [name, value] : properties.user_collected_properties) {
    console->Line("user " + BytesText(name, ByteForm::kPlain) + ": " +
                  BytesText(value, ByteForm::kPlain));
  }
}

// Prints entries as they are stored: every version, with sequence number and kind.
class StoredEntries {
 public:
  StoredEntries(const Request& request, Console* console) : request_(request), console_(console) {}

  void Print(const Slice& key, SequenceNumber sequence, const char* kind, const Slice& value) {
    const bool with_value = !request_.keys_only;
    if (console_->json) {
      Json json;
      json.BeginObject();
      AddBytes("key", key, &json);
      json.Number("sequence", sequence).Text("kind", kind);
      if (with_value) AddBytes("value", value, &json);
      json.EndObject();
      return console_->Line(&json);
    }
    Output* const out = &console_->out;
    out->Append(std::to_string(sequence) + "\t" + kind + "\t");
    AppendBytes(key.ToStringView(), request_.form, out);
    if (with_value) {
      out->Append('\t');
      AppendBytes(value.ToStringView(), request_.form, out);
    }
    out->Append('\n');
  }

 private:
  void AddBytes(const std::string& name, const Slice& bytes, Json* json) const {
    if (request_.form == ByteForm::kHex) {
      json->Text(name + "_hex", BytesText(bytes.ToStringView(), ByteForm::kHex));
    } else {
      json->Bytes(name, bytes.ToStringView());
    }
  }

  const Request& request_;
  Console* const console_;
};

Status PrintEntries(const Request& request, const TableFile& file, Console* console) {
  StoredEntries printer(request, console);
  if (file.reader().tombstones() != nullptr) {
    for (const auto& t : file.reader().tombstones()->InKeyOrder()) {
      printer.Print(t.start, t.seq, EntryName(kTypeRangeDeletion), t.end);
    }
  }
  const KeyRange range(request);
  uint64_t left = request.limit;
  SalvageCount count;
  // Salvage() passes over blocks that cannot be read and counts them, so that the entries of all
  // others are printed. Aborted is only the way to end its walk early.
  const Status ended = Status::Aborted();
  const Status s = file.reader().Salvage(
      [&](const Slice& key, const Slice& value) {
        if (left == 0 || console->out.failed()) return ended;
        ParsedInternalKey parsed;
        if (!ParseInternalKey(key, &parsed)) {
          return Status::Corruption("an entry has no internal key", request.db);
        }
        if (!range.Matches(parsed.user_key)) return Status::OK();
        left--;
        printer.Print(parsed.user_key, parsed.sequence, EntryName(parsed.type), value);
        return Status::OK();
      },
      &count);
  if (count.lost_blocks > 0) {
    console->found = true;
    Console::Note("varve sst: " + std::to_string(count.lost_blocks) + " blocks with " +
                  std::to_string(count.lost_bytes) +
                  " bytes cannot be read; the first: " + count.first_error.ToString());
  }
  return s.IsAborted() ? Status::OK() : s;
}

}  // namespace

Status RunSst(const Request& request, Console* console) {
  std::unique_ptr<TableFile> file;
  VARVE_RETURN_IF_ERROR(TableFile::Open(request.db, kMaxSequenceNumber, &file));
  if (request.recompress) return TryCompressions(request, *file, console);
  if (request.entries) return PrintEntries(request, *file, console);
  PrintProperties(request, *file, console);
  return Status::OK();
}

}  // namespace varve::tool
