// SPDX-License-Identifier: Apache-2.0

// The command `manifest` shows the edits of a MANIFEST, one after the other.

#include <algorithm>
#include <span>
#include <string>

#include "varve/env.h"

#include "db/recovery/manifest_records.h"
#include "db/version/manifest_replay.h"
#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve::tool {

namespace {

void AddTable(const NewFile& file, Json* json) {
  json->BeginObject().Number("level", file.level).Number("number", file.number);
  json->Number("bytes", file.size).Number("path", file.path_id);
  json->Bytes("smallest", file.smallest.user_key().ToStringView());
  json->Bytes("largest", file.largest.user_key().ToStringView());
  json->Number("smallest_sequence", file.smallest_seq);
  json->Number("largest_sequence", file.largest_seq);
  json->Number("entries", file.counts.entries).EndObject();
}

void PrintEditJson(uint64_t offset, const VersionEdit& edit, Console* console) {
  Json json;
  json.BeginObject().Number("offset", offset).Number("family", edit.column_family);
  if (edit.family.added.has_value()) json.Text("add", *edit.family.added);
  if (edit.family.dropped) json.Bool("drop", true);
  if (edit.family.comparator.has_value()) json.Text("comparator", *edit.family.comparator);
  if (edit.db_id.has_value()) json.Text("db_id", *edit.db_id);
  if (edit.log_number.has_value()) json.Number("log", *edit.log_number);
  if (edit.numbers.next_file.has_value()) json.Number("next_file", *edit.numbers.next_file);
  if (edit.numbers.last_sequence.has_value()) {
    json.Number("last_sequence", *edit.numbers.last_sequence);
  }
  json.BeginArray("deleted");
  for (const auto& [level, number] : edit.deleted_files) {
    json.BeginObject().Number("level", level).Number("number", number).EndObject();
  }
  json.EndArray().BeginArray("added");
  for (const NewFile& file : edit.new_files) AddTable(file, &json);
  json.EndArray().EndObject();
  console->Line(&json);
}

// Keys are in hex; other texts of the file may hold any bytes, which a terminal must not see.
void PrintEditText(uint64_t offset, const VersionEdit& edit, Console* console) {
  const std::string text =
      "offset " + std::to_string(offset) + ": " + edit.DebugString(/*hex_keys=*/true);
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    console->Line(BytesText(std::string_view(text).substr(at, end - at), ByteForm::kPlain));
    at = end + 1;
  }
}

}  // namespace

Status RunManifest(const Request& request, Console* console) {
  std::string path = request.db;
  bool is_directory = false;
  VARVE_RETURN_IF_ERROR(Env::Default()->IsDirectory(path, &is_directory));
  FileSystem* const fs = FileSystem::Default().get();
  if (is_directory) {
    VARVE_RETURN_IF_ERROR(CheckIsDatabase(path));
    uint64_t number = 0;
    VARVE_RETURN_IF_ERROR(ReadCurrent(fs, path, &number));
    path = DescriptorFileName(path, number);
  }
  ManifestEnd end;
  VARVE_RETURN_IF_ERROR(ReadManifestRecords(
      fs, FileOptions(), path,
      [&](std::span<const VersionEdit> edits, uint64_t offset) {
        for (const VersionEdit& edit : edits) {
          (console->json ? PrintEditJson : PrintEditText)(offset, edit, console);
        }
        // False ends the reading: nobody takes the output any more.
        return !console->out.failed();
      },
      &end));
  // The edits before the damage have been printed: they are what can be trusted.
  if (end.damage.empty() || console->out.failed()) return Status::OK();
  return Status::Corruption(path,
                            end.damage + "; sound up to offset " + std::to_string(end.offset));
}

}  // namespace varve::tool
