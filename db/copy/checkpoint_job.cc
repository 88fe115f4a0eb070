// SPDX-License-Identifier: Apache-2.0

// Fills a staged directory with a set of files: a checkpoint is a database of its own; an export
// has the tables of one family and a description of them. Files are kept from deletion while they
// are linked or copied, but no other work of the database is blocked.

#include "db/copy/checkpoint_job.h"

#include <memory>
#include <utility>

#include "varve/statistics.h"

#include "db/copy/copy_pool.h"
#include "db/copy/copy_set.h"
#include "db/copy/data_move.h"
#include "db/copy/export_file.h"
#include "db/copy/staged_directory.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve {

namespace {

// Returns true if a checkpoint can have a file of that name.
bool IsOfCheckpoint(const std::string& name) {
  uint64_t number = 0;
  FileType type;
  if (!ParseFileName(name, &number, &type)) return false;
  return type == kTableFile || type == kBlobFile || type == kWalFile || type == kDescriptorFile ||
         type == kCurrentFile || type == kOptionsFile;
}

bool IsOfExport(const std::string& name) {
  uint64_t number = 0;
  FileType type;
  return name == kExportFileName || (ParseFileName(name, &number, &type) && type == kTableFile);
}

// Adds the task that links or copies the file to `directory`. A link requires that the set marks
// the file as durable and complete.
void AddTask(const CopyFile& file, const std::string& directory, bool may_link,
             std::vector<CopyTask>* tasks) {
  CopyTask& task = tasks->emplace_back();
  task.source = file.Path();
  task.target = directory + "/" + file.name;
  task.size = file.size;
  task.may_link = may_link && file.may_link;
  task.contents = file.contents;
}

// Links and copies the files; the closing of the database ends that.
Status RunTasks(Engine* engine, const CheckpointLimits& limits, std::vector<CopyTask>* tasks) {
  const DbContext& context = engine->context;
  CopyPool::Options options;
  options.source_fs = context.fs().get();
  options.target_fs = context.fs().get();
  options.threads = limits.threads;
  options.buffer_bytes = limits.buffer_bytes;
  options.rate_limiter = limits.rate_limiter;
  options.stop = &engine->lifecycle.shutting_down_flag();
  options.statistics = context.statistics();
  options.read_ticker = CHECKPOINT_READ_BYTES;
  options.write_ticker = CHECKPOINT_WRITE_BYTES;
  const CopyPool pool(options);
  const Status s = pool.Run(tasks);
  // The pool only knows that it was stopped; the reason is that Close waits for this call.
  if (s.IsIncomplete() && engine->lifecycle.shutting_down()) {
    return Status::ShutdownInProgress("copy", "the database is being closed");
  }
  return s;
}

Status ResolveAll(Engine* engine, const std::vector<ColumnFamilyHandle*>& handles,
                  std::vector<ColumnFamily*>* families) {
  for (ColumnFamilyHandle* handle : handles) {
    Status s;
    ColumnFamily* const family = engine->state.Resolve(handle, &s);
    if (family == nullptr) return s;
    families->push_back(family);
  }
  return Status::OK();
}

// Makes the checkpoint in the steps that the header shows. An error at any step deletes the staged
// files.
Status WriteCheckpoint(Engine* engine, const std::string& directory, const CheckpointWanted& wanted,
                       SequenceNumber* sequence, DataMoveInfo* info) {
  CopyWanted files;
  files.call = "CreateCheckpoint";
  files.log_bytes_for_flush = wanted.log_size_for_flush;
  VARVE_RETURN_IF_ERROR(ResolveAll(engine, wanted.families, &files.families));
  for (const ColumnFamily* family : files.families) info->families.push_back(family->name());
  // The directory is made first, so that nothing is flushed for a name that is refused.
  std::unique_ptr<StagedDirectory> staged;
  VARVE_RETURN_IF_ERROR(
      StagedDirectory::Make(engine->context.fs(), files.call, directory, IsOfCheckpoint, &staged));
  std::unique_ptr<CopySet> set;
  VARVE_RETURN_IF_ERROR(CopySet::Take(engine, files, &set));
  std::vector<CopyTask> tasks;
  for (const CopyFile& file : set->files()) {
    AddTask(file, staged->staging(), wanted.limits.may_link, &tasks);
  }
  VARVE_RETURN_IF_ERROR(RunTasks(engine, wanted.limits, &tasks));
  VARVE_RETURN_IF_ERROR(staged->Publish());
  CountFiles(tasks, info);
  info->sequence = set->sequence();
  if (sequence != nullptr) *sequence = set->sequence();
  return Status::OK();
}

// Refuses blob files: an import renumbers files, but references in tables have the old numbers of
// blob files.
Status CheckNoBlobFiles(const CopySet& set) {
  for (const CopyFile& file : set.files()) {
    if (file.type != kBlobFile) continue;
    return Status::NotSupported("ExportColumnFamily", "values of the column family are in " +
                                                          file.Path() +
                                                          ", and blob files cannot be exported");
  }
  return Status::OK();
}

// Exports the family in the steps of a checkpoint: directory, flush and set, files, publication. An
// error at any step deletes the staged files.
Status WriteExport(Engine* engine, ColumnFamilyHandle* handle, const std::string& directory,
                   std::unique_ptr<ExportImportFilesMetaData>* metadata, DataMoveInfo* info) {
  CopyWanted files;
  files.call = "ExportColumnFamily";
  VARVE_RETURN_IF_ERROR(ResolveAll(engine, {handle}, &files.families));
  info->families.push_back(files.families.front()->name());
  std::unique_ptr<StagedDirectory> staged;
  VARVE_RETURN_IF_ERROR(
      StagedDirectory::Make(engine->context.fs(), files.call, directory, IsOfExport, &staged));
  // An export has no logs, so everything must be in tables.
  files.log_bytes_for_flush = 0;
  files.tables_only = true;
  std::unique_ptr<CopySet> set;
  VARVE_RETURN_IF_ERROR(CopySet::Take(engine, files, &set));
  VARVE_RETURN_IF_ERROR(CheckNoBlobFiles(*set));
  auto exported = std::make_unique<ExportImportFilesMetaData>();
  DescribeExport(set->state(), staged->path(), exported.get());
  std::vector<CopyTask> tasks;
  for (const CopyFile& file : set->files()) {
    AddTask(file, staged->staging(), /*may_link=*/true, &tasks);
  }
  CopyTask& described = tasks.emplace_back();
  described.target = staged->staging() + "/" + kExportFileName;
  described.contents.emplace();
  // The description is stored with the tables, so that another process can import them without the
  // caller's metadata.
  VARVE_RETURN_IF_ERROR(EncodeExport(set->state(), &*described.contents));
  VARVE_RETURN_IF_ERROR(RunTasks(engine, CheckpointLimits(), &tasks));
  VARVE_RETURN_IF_ERROR(staged->Publish());
  CountFiles(tasks, info);
  info->sequence = set->sequence();
  *metadata = std::move(exported);
  return Status::OK();
}

}  // namespace

Status MakeCheckpoint(Engine* engine, const std::string& directory, const CheckpointWanted& wanted,
                      SequenceNumber* sequence) {
  return MoveData(engine, DataMoveInfo::Kind::kCheckpoint, directory, [&](DataMoveInfo* info) {
    return WriteCheckpoint(engine, directory, wanted, sequence, info);
  });
}

Status ExportFamily(Engine* engine, ColumnFamilyHandle* handle, const std::string& directory,
                    ExportImportFilesMetaData** metadata) {
  if (metadata == nullptr || *metadata != nullptr) {
    return Status::InvalidArgument("ExportColumnFamily",
                                   "the place of the metadata must be there, and hold null");
  }
  std::unique_ptr<ExportImportFilesMetaData> exported;
  const Status s = MoveData(
      engine, DataMoveInfo::Kind::kExport, directory,
      [&](DataMoveInfo* info) { return WriteExport(engine, handle, directory, &exported, info); });
  *metadata = exported.release();
  return s;
}

}  // namespace varve
