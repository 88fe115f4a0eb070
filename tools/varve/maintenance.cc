// SPDX-License-Identifier: Apache-2.0

// The commands `compact`, `reduce-levels`, `repair` and `ingest` change the tables of a database.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "varve/convenience.h"
#include "varve/db.h"
#include "varve/env.h"
#include "varve/utilities/option_change_migration.h"
#include "varve/utilities/options_util.h"
#include "varve/utilities/repair.h"

#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

// A damaged database may have lost CURRENT, and its OPTIONS file with the families.
Status OptionsForRepair(const std::string& path, StoredOptions* options) {
  const Status s = CheckIsDatabase(path);
  if (!s.ok() && !s.IsCorruption()) return s;
  if (ReadStoredOptions(path, /*lenient=*/false, options).ok()) return Status::OK();
  Console::Note("varve repair: the options cannot be read; families are taken to have defaults");
  *options = StoredOptions();
  return Status::OK();
}

void AddTables(const char* name, const std::vector<RepairReport::Table>& tables, Json* json) {
  json->BeginArray(name);
  for (const RepairReport::Table& table : tables) {
    json->BeginObject().Text("name", table.name).Text("family", table.family);
    json->Text("reason", table.reason).Number("entries", table.entries);
    json->Number("lost_blocks", table.lost_blocks).Number("lost_bytes", table.lost_bytes);
    json->EndObject();
  }
  json->EndArray();
}

void PrintReport(const RepairReport& report, bool dry_run, Console* console) {
  if (!console->json) {
    console->out.Append(report.ToString());
    if (dry_run && !report.healthy)
      console->Line("nothing was changed; --write permits the repair");
    return;
  }
  Json json;
  json.BeginObject().Bool("healthy", report.healthy).Bool("dry_run", dry_run);
  json.Text("manifest", report.manifest).Text("manifest_damage", report.manifest_damage);
  AddTables("kept", report.kept, &json);
  AddTables("copied", report.copied, &json);
  AddTables("lost", report.lost, &json);
  AddTables("unexplained", report.unexplained, &json);
  json.BeginArray("logs");
  for (const RepairReport::Log& log : report.logs) {
    json.BeginObject().Text("name", log.name).Number("records", log.records);
    json.Number("dropped_bytes", log.dropped_bytes).Text("reason", log.reason).EndObject();
  }
  json.EndArray().BeginArray("set_aside");
  for (const std::string& path : report.set_aside) json.Text("", path);
  json.EndArray().EndObject();
  console->Line(&json);
}

}  // namespace

Status RunCompact(const Request& request, Console* /*console*/) {
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(request.db, &database));
  std::vector<ColumnFamilyHandle*> families = database->families();
  if (!request.all_families) {
    families.resize(1);
    VARVE_RETURN_IF_ERROR(database->Find(request.family, families.data()));
  }
  const std::string to_text = request.to.value_or("");
  const std::string from_text = request.from.value_or("");
  const Slice begin(from_text);
  const Slice end(to_text);
  for (ColumnFamilyHandle* family : families) {
    VARVE_RETURN_IF_ERROR(database->db()->CompactRange(CompactRangeOptions(), family,
                                                       request.from.has_value() ? &begin : nullptr,
                                                       request.to.has_value() ? &end : nullptr));
  }
  return database->Close();
}

// The migration to fewer levels stores options of its own in the database. A copy of the user's,
// beside the database, lasts from the beginning of the migration to its end, so that the command
// can be given again after a crash. Only a migration that has ended deletes it.
class KeptOptions {
 public:
  explicit KeptOptions(const std::string& database)
      : database_(database.substr(0, database.find_last_not_of('/') + 1)),
        path_(database_ + ".reduce-levels") {}

  // Reads the copy, if an earlier command has left it; else the stored options.
  Status Read(StoredOptions* options) {
    std::error_code error;
    if (!std::filesystem::exists(path_, error)) {
      return ReadStoredOptions(database_, /*lenient=*/false, options);
    }
    Console::Note(
        "varve: goes on where an earlier reduce-levels has stopped, with the options in " + path_);
    kept_ = true;
    options->found = true;
    return LoadOptionsFromFile(ConfigOptions(), path_, &options->db, &options->families);
  }
  // Copies the stored options, unless there is a copy, or the database has stored none.
  Status Keep(const StoredOptions& options) {
    if (kept_ || !options.found) return Status::OK();
    std::string name;
    std::string text;
    Env* const env = Env::Default();
    VARVE_RETURN_IF_ERROR(GetLatestOptionsFileName(database_, env, &name));
    VARVE_RETURN_IF_ERROR(ReadFileToString(env, database_ + "/" + name, &text));
    const std::string part = path_ + ".part";
    VARVE_RETURN_IF_ERROR(WriteStringToFile(env, text, part, /*should_sync=*/true));
    return env->RenameFile(part, path_);
  }
  void Drop() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

 private:
  const std::string database_;
  const std::string path_;
  bool kept_ = false;  // The copy is of an earlier command.
};

// Migrates the tables under options with fewer levels, then opens the database once with them, so
// that the OPTIONS file agrees with the tables. An error in between leaves the copy of the options
// in place for another try.
Status RunReduceLevels(const Request& request, Console* console) {
  StoredOptions stored;
  KeptOptions kept(request.db);
  VARVE_RETURN_IF_ERROR(kept.Read(&stored));
  std::vector<ColumnFamilyDescriptor> fewer = stored.families;
  const auto family = std::ranges::find(fewer, request.family, &ColumnFamilyDescriptor::name);
  if (family == fewer.end()) {
    return Status::InvalidArgument("there is no column family " + request.family);
  }
  const int before = family->options.num_levels;
  if (request.levels >= before) {
    return Status::InvalidArgument("column family " + request.family,
                                   "has " + std::to_string(before) + " levels already");
  }
  VARVE_RETURN_IF_ERROR(kept.Keep(stored));
  family->options.num_levels = request.levels;
  VARVE_RETURN_IF_ERROR(
      OptionChangeMigration(request.db, stored.db, stored.families, stored.db, fewer));
  // The opening writes the new number into an OPTIONS file.
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  VARVE_RETURN_IF_ERROR(DB::Open(stored.db, request.db, fewer, &handles, &db));
  for (ColumnFamilyHandle* handle : handles) {
    VARVE_RETURN_IF_ERROR(db->DestroyColumnFamilyHandle(handle));
  }
  VARVE_RETURN_IF_ERROR(db->Close());
  kept.Drop();
  Json json;
  json.BeginObject().Text("family", request.family).Number("levels_before", before);
  json.Number("levels", request.levels).EndObject();
  if (console->json) {
    console->Line(&json);
  } else {
    console->Line("column family " + request.family + " has " + std::to_string(request.levels) +
                  " levels, and had " + std::to_string(before));
  }
  return Status::OK();
}

Status RunRepair(const Request& request, Console* console) {
  StoredOptions stored;
  VARVE_RETURN_IF_ERROR(OptionsForRepair(request.db, &stored));
  RepairOptions options;
  options.dry_run = !request.write;
  RepairReport report;
  const ColumnFamilyOptions unknown;
  VARVE_RETURN_IF_ERROR(
      RepairDB(request.db, stored.db, stored.families, &unknown, options, &report));
  console->found = options.dry_run && !report.healthy;
  PrintReport(report, options.dry_run, console);
  return Status::OK();
}

Status RunIngest(const Request& request, Console* console) {
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForWriting(request.db, &database));
  ColumnFamilyHandle* family = nullptr;
  VARVE_RETURN_IF_ERROR(database->Find(request.family, &family));
  IngestExternalFileOptions options;
  options.verify_checksums_before_ingest = true;
  VARVE_RETURN_IF_ERROR(database->db()->IngestExternalFile(family, request.files, options));
  VARVE_RETURN_IF_ERROR(database->Close());
  Json json;
  json.BeginObject().Number("files", request.files.size()).EndObject();
  if (console->json) console->Line(&json);
  return Status::OK();
}

}  // namespace varve::tool
