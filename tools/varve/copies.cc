// SPDX-License-Identifier: Apache-2.0

// The commands `checkpoint`, `backup` and `restore` copy whole databases.

#include <memory>
#include <string>
#include <vector>

#include "varve/utilities/backup_engine.h"
#include "varve/utilities/checkpoint.h"

#include "tools/varve/commands.h"
#include "tools/varve/database.h"
#include "util/base/status_macros.h"

namespace varve::tool {

namespace {

void PrintDone(const std::string& text, Json* json, Console* console) {
  if (console->json) {
    console->Line(json);
  } else {
    console->Line(text);
  }
}

Status ListBackups(const std::string& directory, Console* console) {
  BackupEngineReadOnly* opened = nullptr;
  VARVE_RETURN_IF_ERROR(
      BackupEngineReadOnly::Open(Env::Default(), BackupEngineOptions(directory), &opened));
  const std::unique_ptr<BackupEngineReadOnly> engine(opened);
  std::vector<BackupInfo> backups;
  engine->GetBackupInfo(&backups);
  for (const BackupInfo& one : backups) {
    Json json;
    json.BeginObject().Number("backup", one.backup_id).Number("time", one.timestamp);
    json.Number("bytes", one.size).Number("files", one.number_files).EndObject();
    PrintDone("backup " + std::to_string(one.backup_id) + ": time " +
                  std::to_string(one.timestamp) + ", " + std::to_string(one.number_files) +
                  " files, " + SizeText(one.size),
              &json, console);
  }
  std::vector<BackupID> corrupt;
  engine->GetCorruptedBackups(&corrupt);
  for (const BackupID id : corrupt) {
    console->found = true;
    Console::Note("varve backup: backup " + std::to_string(id) + " is damaged");
  }
  return Status::OK();
}

}  // namespace

Status RunCheckpoint(const Request& request, Console* console) {
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForReading(request.db, "", &database));
  Checkpoint* made = nullptr;
  VARVE_RETURN_IF_ERROR(Checkpoint::Create(database->db(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  uint64_t sequence = 0;
  // The log is copied however long it is: a database that is open for reading cannot flush.
  VARVE_RETURN_IF_ERROR(checkpoint->CreateCheckpoint(request.target, UINT64_MAX, &sequence));
  Json json;
  json.BeginObject().Text("checkpoint", request.target).Number("sequence", sequence).EndObject();
  PrintDone("made " + request.target + " at sequence " + std::to_string(sequence), &json, console);
  return Status::OK();
}

Status RunBackup(const Request& request, Console* console) {
  if (request.list) return ListBackups(request.target, console);
  std::unique_ptr<Database> database;
  VARVE_RETURN_IF_ERROR(Database::OpenForReading(request.db, "", &database));
  BackupEngine* opened = nullptr;
  VARVE_RETURN_IF_ERROR(
      BackupEngine::Open(BackupEngineOptions(request.target), Env::Default(), &opened));
  const std::unique_ptr<BackupEngine> engine(opened);
  BackupID id = 0;
  VARVE_RETURN_IF_ERROR(engine->CreateNewBackup(CreateBackupOptions(), database->db(), &id));
  Json json;
  json.BeginObject().Number("backup", id).EndObject();
  PrintDone("made backup " + std::to_string(id), &json, console);
  return Status::OK();
}

Status RunRestore(const Request& request, Console* console) {
  // A damaged database is no obstacle: it is what backups are made for.
  if (!request.yes && CheckIsDatabase(request.db).ok()) {
    return Status::InvalidArgument(
        request.db, "is a database, which the restored one would replace; add --yes to permit it");
  }
  BackupEngineReadOnly* opened = nullptr;
  VARVE_RETURN_IF_ERROR(
      BackupEngineReadOnly::Open(Env::Default(), BackupEngineOptions(request.target), &opened));
  const std::unique_ptr<BackupEngineReadOnly> engine(opened);
  const RestoreOptions options;
  const IOStatus s =
      request.backup_id == 0
          ? engine->RestoreDBFromLatestBackup(options, request.db, request.db)
          : engine->RestoreDBFromBackup(options, request.backup_id, request.db, request.db);
  VARVE_RETURN_IF_ERROR(s);
  Json json;
  json.BeginObject().Text("restored", request.db).EndObject();
  PrintDone("restored " + request.db, &json, console);
  return Status::OK();
}

}  // namespace varve::tool
