// SPDX-License-Identifier: Apache-2.0
// Runs calls that bring data in or remove it as a whole, calls that take copies, and followers.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "varve/external_file.h"
#include "varve/range.h"
#include "varve/sst_file_writer.h"
#include "varve/utilities/backup_engine.h"
#include "varve/utilities/checkpoint.h"

#include "tests/metamorphic/varve_executor.h"

namespace varve::testing {

namespace {

// Changes that one file holds: deleted ranges first, then points, each key once.
struct FileContent {
  std::vector<Change> ranges;
  std::vector<Change> points;
  std::set<std::string> keys;

  // Returns false if it does not fit behind the others.
  bool Take(const Change& change) {
    const bool is_range = change.kind == Change::kDeleteRange;
    if (is_range ? !points.empty() : !keys.insert(change.key).second) return false;
    (is_range ? ranges : points).push_back(change);
    return true;
  }
};

// Returns the files in the order in which they are to be ingested.
std::map<std::string, std::vector<FileContent>> FilesOf(const Line& line) {
  std::map<std::string, std::vector<FileContent>> files;
  for (const Change& change : ChangesOf(line)) {
    std::vector<FileContent>& of_family = files[change.family];
    if (!of_family.empty() && of_family.back().Take(change)) continue;
    of_family.emplace_back().Take(change);
  }
  return files;
}

Status WriteFile(const Options& options, FileContent content, const std::string& path) {
  const Comparator* const order = options.comparator;
  std::sort(content.points.begin(), content.points.end(),
            [&](const Change& a, const Change& b) { return order->Compare(a.key, b.key) < 0; });
  SstFileWriter writer(EnvOptions(), options);
  Status s = writer.Open(path);
  for (const Change& change : content.ranges) {
    if (s.ok()) s = writer.DeleteRange(change.key, change.value);
  }
  for (const Change& change : content.points) {
    if (!s.ok()) break;
    if (WritesEntity(change)) {
      s = writer.PutEntity(change.key,
                           {{kDefaultWideColumnName, change.value}, {"key", change.key}});
      continue;
    }
    s = change.kind == Change::kPut      ? writer.Put(change.key, change.value)
        : change.kind == Change::kDelete ? writer.Delete(change.key)
                                         : writer.Merge(change.key, change.value);
  }
  return s.ok() ? writer.Finish() : s;
}

}  // namespace

std::string VarveExecutor::Ingest(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  std::string failure = database.Join();
  if (!failure.empty()) return failure;
  // Without a log, ingested files would outlive earlier writes.
  if (world_.SurvivalOf(database) != Survival::kAll) return Write(AsWrite(line, false), model);
  Random random = Draw(line);
  world_.env()->CreateDirIfMissing("/outside").PermitUncheckedError();
  std::vector<IngestExternalFileArg> args;
  uint64_t files = 0;
  for (const auto& [family, contents] : FilesOf(line)) {
    IngestExternalFileArg arg;
    arg.column_family = database.handles.at(family);
    arg.options.move_files = random.OneIn(2);
    arg.options.write_global_seqno = random.OneIn(6);
    arg.options.verify_checksums_before_ingest = random.OneIn(4);
    const FamilyModel& one = *model.Find(line.Db(), family);
    const Options options(database.set.db,
                          Setup::FamilyOptions(database.set, one.order(), family, one.filtered()));
    for (const FileContent& content : contents) {
      arg.external_files.push_back("/outside/" + std::to_string(files++) + ".sst");
      const Status s = WriteFile(options, content, arg.external_files.back());
      if (!s.ok()) return Failure("SstFileWriter", s);
    }
    args.push_back(std::move(arg));
  }
  database.replica.NoteNotLogged();
  const Status s = database.db->IngestExternalFiles(args);
  if (!s.ok()) return Failure("IngestExternalFiles", s);
  for (uint64_t i = 0; i < files; i++) {
    world_.env()->DeleteFile("/outside/" + std::to_string(i) + ".sst").PermitUncheckedError();
  }
  database.survivors.NoteWrite(ChangesOf(line));
  return kDone;
}

// Runs "excise" and "clip".
std::string VarveExecutor::Excise(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  const std::string failure = database.Join();
  if (!failure.empty()) return failure;
  const Line as_write = AsWrite(line, model.Find(line.Db(), line.Family())->reverse());
  if (world_.SurvivalOf(database) != Survival::kAll) return Write(as_write, model);
  const std::string begin = BytesOf(line.Word(2));
  const std::string end = BytesOf(line.Word(3));
  const Status s = line.verb() == "clip"
                       ? database.db->ClipColumnFamily(Handle(line), begin, end)
                       : database.db->Excise(Handle(line), RangeOpt(Slice(begin), Slice(end)));
  // A clip is in force before it compacts, which may be forbidden.
  const bool compacts_later =
      line.verb() == "clip" && s.IsIncomplete() && model.databases().at(line.Db()).manual_off;
  if (!s.ok() && !compacts_later) return Failure("Excise or ClipColumnFamily", s);
  database.survivors.NoteWrite(ChangesOf(as_write));
  return kDone;
}

std::string VarveExecutor::Checkpoint(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  std::string failure = database.Join();
  if (!failure.empty()) return failure;
  Random random = Draw(line);
  CheckpointEngineOptions options;
  options.use_link_file_when_available = !random.OneIn(4);
  options.max_background_operations = random.OneIn(2) ? 3 : 1;
  std::unique_ptr<CheckpointEngine> engine;
  // A kill may bring a directory back whose removal was not durable.
  const std::string directory = "/checkpoint" + std::to_string(checkpoints_++);
  Status s = CheckpointEngine::Open(options, &engine);
  if (s.ok()) {
    s = engine->CreateCheckpoint(database.db.get(), directory, random.OneIn(2) ? 0 : UINT64_MAX);
  }
  if (!s.ok()) return Failure("CreateCheckpoint", s);
  failure = world_.Compare(line.Db(), directory, world_.env(), random.OneIn(3), model);
  Options of_files;
  of_files.env = world_.env();
  s = DestroyDB(directory, of_files);
  if (!s.ok()) failure += Failure("DestroyDB", s);
  return failure.empty() ? kDone : failure;
}

std::string VarveExecutor::Backup(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  const std::string failure = database.Join();
  if (!failure.empty()) return failure;
  Random random = Draw(line);
  BackupEngine* opened = nullptr;
  IOStatus s = BackupEngine::Open(BackupEngineOptions("/backups"), world_.env(), &opened);
  if (!s.ok()) return Failure("BackupEngine::Open", s);
  const std::unique_ptr<BackupEngine> engine(opened);
  s = engine->CreateNewBackup(database.db.get(), /*flush_before_backup=*/random.OneIn(2));
  // Older backups stay, so that new ones share their tables.
  if (s.ok()) s = engine->PurgeOldBackups(3);
  if (!s.ok()) return Failure("CreateNewBackup", s);
  const RestoreOptions how(/*_keep_log_files=*/false, random.OneIn(2)
                                                          ? RestoreOptions::kVerifyChecksum
                                                          : RestoreOptions::kPurgeAllFiles);
  s = engine->RestoreDBFromLatestBackup(how, "/restored", "/restored");
  if (!s.ok()) return Failure("RestoreDBFromLatestBackup", s);
  const std::string differs =
      world_.Compare(line.Db(), "/restored", world_.env(), random.OneIn(3), model);
  return differs.empty() ? kDone : differs;
}

// Imports what it has exported as another family, which it compares and drops.
std::string VarveExecutor::Export(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  std::string failure = database.Join();
  if (!failure.empty()) return failure;
  varve::Checkpoint* made = nullptr;
  Status s = varve::Checkpoint::Create(database.db.get(), &made);
  const std::unique_ptr<varve::Checkpoint> checkpoint(made);
  const std::string directory = "/export" + std::to_string(checkpoints_++);
  ExportImportFilesMetaData* files = nullptr;
  if (s.ok()) s = checkpoint->ExportColumnFamily(Handle(line), directory, &files);
  if (s.IsNotSupported()) return kDone;  // values are in blob files
  if (!s.ok()) return Failure("ExportColumnFamily", s);
  const std::unique_ptr<ExportImportFilesMetaData> metadata(files);
  const FamilyModel& family = *model.Find(line.Db(), line.Family());
  if (metadata->files.empty()) {
    return ShownState(*family.now()).empty() ? kDone : "FAILS an export has no files";
  }
  ImportColumnFamilyOptions how;
  how.move_files = Draw(line).OneIn(2);
  ColumnFamilyHandle* imported = nullptr;
  s = database.db->CreateColumnFamilyWithImport(
      Setup::FamilyOptions(database.set, family.order(), line.Family(), family.filtered()),
      "imported", how, *metadata, &imported);
  if (!s.ok()) return Failure("CreateColumnFamilyWithImport", s);
  failure = VarveWorld::Differs(database.db.get(), imported, family);
  s = database.db->DropColumnFamily(imported);
  if (s.ok()) s = database.db->DestroyColumnFamilyHandle(imported);
  if (!s.ok()) failure += Failure("DropColumnFamily", s);
  return failure.empty() ? kDone : failure;
}

std::string VarveExecutor::Secondary(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  const std::string failure = database.Join();
  return failure.empty() ? world_.CatchUp(line.Db(), model) : failure;
}

// Runs "stream" and "streamed".
std::string VarveExecutor::Stream(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  std::string failure = database.Join();
  if (!failure.empty()) return failure;
  const auto& families = model.databases().at(line.Db()).families;
  if (line.verb() == "stream") {
    failure = database.replica.Begin(database.db.get(), database.handles, families);
  } else {
    failure = database.replica.Compare(database.db.get(), database.handles, families);
  }
  return failure.empty() ? kDone : failure;
}

}  // namespace varve::testing
