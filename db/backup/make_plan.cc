// SPDX-License-Identifier: Apache-2.0
#include "db/backup/make_plan.h"

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "varve/env.h"
#include "varve/rate_limiter.h"
#include "varve/statistics.h"

#include "db/backup/live_tables.h"
#include "db/copy/copy_host.h"
#include "db/copy/copy_pool.h"
#include "db/copy/copy_set.h"
#include "db/copy/data_move.h"
#include "db/copy/staged_directory.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"

namespace varve {

namespace {

constexpr char kCall[] = "CopyPlan::Make";
constexpr int kSchemaVersion = 2;

// Makes one plan. An object is used for one call of Run.
//   StagedDirectory::Make   <directory>.tmp
//   CopySet::Take           the files of one moment, kept from deletion
//   NameFiles               their names in the store, and which of them an earlier catalog has
//   Bring                   the others, linked or copied
//   WritePlan, Publish      PLAN, and the directory's own name
//
// A program uploads the plan's objects first and the catalog last, so the catalogs of a store never
// name an object that it does not have.
class PlanMaking {
 public:
  PlanMaking(const CopyPlanOptions& options, const StoredCatalogs& stored, DB* db, Engine* engine)
      : options_(options), stored_(stored), db_(db), engine_(*engine) {}

  // The copy set lives until the end of this function, so that no file is deleted before it is
  // linked or copied. The staged directory is deleted on return unless Publish has succeeded.
  Status Run(const std::string& directory, DataMoveInfo* moved) {
    std::unique_ptr<StagedDirectory> staged;
    VARVE_RETURN_IF_ERROR(
        StagedDirectory::Make(engine_.context.fs(), kCall, directory, IsOfPlan, &staged));
    CopyWanted wanted;
    wanted.call = kCall;
    // With 0, any log bytes lead to a flush first; with the largest number none do, and the logs
    // are copied instead.
    wanted.log_bytes_for_flush =
        options_.flush_before_backup ? 0 : std::numeric_limits<uint64_t>::max();
    wanted.flush_together = options_.atomic_flush;
    std::unique_ptr<CopySet> set;
    VARVE_RETURN_IF_ERROR(CopySet::Take(&engine_, wanted, &set));
    BackupMeta& meta = contents_.meta;
    meta.id = options_.backup_id != 0 ? options_.backup_id : stored_.largest_id() + 1;
    meta.sequence = moved->sequence = set->sequence();
    meta.app_metadata = options_.app_metadata;
    VARVE_RETURN_IF_ERROR(db_->GetEnv()->GetCurrentTime(&meta.timestamp));
    for (const CopyFile& file : set->files()) planned_.push_back(Planned{&file, {}, false});
    VARVE_RETURN_IF_ERROR(NameFiles());
    VARVE_RETURN_IF_ERROR(Bring(staged->staging(), moved));
    VARVE_RETURN_IF_ERROR(WritePlan(staged->staging(), moved));
    return staged->Publish();
  }

 private:
  // `live` points into the copy set.
  struct Planned {
    const CopyFile* live;
    BackupFile file;
    bool stored;  // An earlier catalog has the file.
  };

  // Gives every file its name in the store, and looks tables up in the earlier catalogs. The
  // sessions of this opening and of earlier objects are tried before any table is opened, so a plan
  // with nothing new opens none.
  Status NameFiles() {
    std::string opening;
    std::string db_id;
    VARVE_RETURN_IF_ERROR(db_->GetDbSessionId(opening));
    VARVE_RETURN_IF_ERROR(db_->GetDbIdentity(db_id));
    tables_.Begin(db_id, opening);
    for (const auto& [name, object] : stored_.shared()) {
      tables_.KnowSession(SessionInSharedName(name));
    }
    VARVE_RETURN_IF_ERROR(SumUpTablesWithoutSession());
    for (Planned& planned : planned_) {
      VARVE_RETURN_IF_ERROR(NameInStore(planned, &planned.file.path));
      if (!ParseBackupPath(planned.file.path, contents_.meta.id, &planned.file.parsed)) {
        return Status::NotSupported(planned.live->name, "cannot be backed up");
      }
      if (planned.live->table == nullptr) continue;
      planned.file.temperature = planned.live->table->temperature;
      VARVE_RETURN_IF_ERROR(LookUp(&planned));
    }
    return Status::OK();
  }

  // Sets *session to the session that wrote the table, or to "" for a blob file, which does not
  // store it.
  Status SessionOf(const CopyFile& live, std::string* session) {
    session->clear();
    if (live.type == kBlobFile) return Status::OK();
    return tables_.SessionOf(engine_.context.fs().get(), live.Path(), live.number,
                             live.table->unique_id, session);
  }

  // Takes the checksums of tables and blob files from the MANIFEST, and computes those of files
  // without a session that it lacks, as NameInStore needs them for the names.
  Status SumUpTablesWithoutSession() {
    std::vector<Planned*> unknown;
    for (Planned& planned : planned_) {
      if (planned.live->table == nullptr) continue;
      std::string session;
      VARVE_RETURN_IF_ERROR(SessionOf(*planned.live, &session));
      planned.file.crc32c = ChecksumInManifest(*planned.live->table);
      if (session.empty() && !planned.file.crc32c.has_value()) unknown.push_back(&planned);
    }
    std::vector<CopyTask> tasks;
    for (const Planned* planned : unknown) AddReading(planned->live->Path(), *planned, &tasks);
    return SumUp(unknown, &tasks);
  }

  // Sets *name to the file's name in the object store. Tables and blob files, which have a `table`,
  // are shared; all others are private to this backup. A file without a session gets its checksum
  // into the name (SumUpTablesWithoutSession has set it).
  Status NameInStore(const Planned& planned, std::string* name) {
    const CopyFile& live = *planned.live;
    if (live.table == nullptr) {
      *name =
          std::string(kPrivateFolder) + "/" + std::to_string(contents_.meta.id) + "/" + live.name;
      return Status::OK();
    }
    std::string session;
    VARVE_RETURN_IF_ERROR(SessionOf(live, &session));
    *name = std::string(kSharedChecksumFolder) + "/" +
            (session.empty() ? LegacyName(live.name, *planned.file.crc32c, live.size)
                             : SessionName(live.name, session, live.size));
    return Status::OK();
  }

  // Marks the table as stored if an earlier catalog has it. Corruption: the catalog has another
  // size or checksum for that name.
  Status LookUp(Planned* planned) {
    const StoredObject* const object = stored_.Find(planned->file.path);
    if (object == nullptr) return Status::OK();
    const std::optional<uint32_t>& known = planned->file.crc32c;
    // One name would stand for two different tables in the store.
    if (known.value_or(*object->crc32c) != *object->crc32c || object->size != planned->live->size) {
      return Status::Corruption(planned->file.path, "is not the database's " + planned->live->name +
                                                        " in an earlier catalog");
    }
    planned->stored = true;
    planned->file.size = object->size;
    planned->file.crc32c = object->crc32c;
    return Status::OK();
  }

  // Copies or links the files that the store lacks into `staging`. A copy yields its checksum,
  // which is compared with that of the MANIFEST. A linked table is the database's own file under a
  // second name: it never changes, and the database may delete its name while the plan keeps the
  // bytes.
  Status Bring(const std::string& staging, DataMoveInfo* moved) {
    std::vector<CopyTask> tasks;
    std::vector<Planned*> brought;
    for (Planned& planned : planned_) {
      if (planned.stored) continue;
      CopyTask& task = tasks.emplace_back();
      task.source = planned.live->Path();
      task.target = staging + "/" + planned.live->name;
      task.size = planned.live->size;
      // Logs are copied, as their files may be longer than the part listed.
      task.may_link = planned.live->table != nullptr;
      task.want_checksum = true;
      task.contents = planned.live->contents;
      brought.push_back(&planned);
    }
    VARVE_RETURN_IF_ERROR(RunTasks(&tasks));
    CountFiles(tasks, moved);
    std::vector<CopyTask> readings;
    std::vector<Planned*> unknown;
    for (size_t i = 0; i < tasks.size(); i++) {
      BackupFile& file = brought[i]->file;
      file.size = brought[i]->live->size;
      // A link has been made without reading the file, so its checksum may still be unknown.
      if (!tasks[i].linked) {
        VARVE_RETURN_IF_ERROR(TakeChecksum(tasks[i], &file));
      } else if (!file.crc32c.has_value()) {
        AddReading(tasks[i].target, *brought[i], &readings);
        unknown.push_back(brought[i]);
      }
    }
    return SumUp(unknown, &readings);
  }

  // Adds a task that only reads the file at `path`, to compute its checksum.
  static void AddReading(const std::string& path, const Planned& planned,
                         std::vector<CopyTask>* tasks) {
    CopyTask& task = tasks->emplace_back();
    task.source = path;
    task.size = planned.live->size;
    task.want_checksum = true;
  }

  // Runs the tasks, one for each of `files`, and takes over their checksums.
  Status SumUp(const std::vector<Planned*>& files, std::vector<CopyTask>* tasks) {
    VARVE_RETURN_IF_ERROR(RunTasks(tasks));
    for (size_t i = 0; i < files.size(); i++) {
      VARVE_RETURN_IF_ERROR(TakeChecksum((*tasks)[i], &files[i]->file));
    }
    return Status::OK();
  }

  // Sets the file's checksum to the one that the task computed. Corruption: it already has another.
  static Status TakeChecksum(const CopyTask& task, BackupFile* file) {
    if (file->crc32c.value_or(task.crc32c) != task.crc32c) {
      return Status::Corruption(task.source, "checksum " + std::to_string(task.crc32c) + ", and " +
                                                 std::to_string(*file->crc32c) +
                                                 " in the MANIFEST");
    }
    file->crc32c = task.crc32c;
    return Status::OK();
  }

  // Writes PLAN, the last file. The copy pool syncs it like all others, so that Publish only has to
  // make names durable.
  Status WritePlan(const std::string& staging, DataMoveInfo* moved) {
    for (Planned& planned : planned_) {
      if (!planned.stored) contents_.brought.push_back(contents_.meta.files.size());
      contents_.meta.files.push_back(std::move(planned.file));
    }
    contents_.catalog_bytes = EncodeBackupMeta(contents_.meta, kSchemaVersion);
    std::vector<CopyTask> tasks(1);
    tasks[0].target = staging + "/" + kPlanFileName;
    tasks[0].contents = EncodePlan(contents_);
    VARVE_RETURN_IF_ERROR(RunTasks(&tasks));
    CountFiles(tasks, moved);
    return Status::OK();
  }

  // Links, copies or reads files of the database; the closing of it ends that.
  Status RunTasks(std::vector<CopyTask>* tasks) {
    CopyPool::Options copy;
    copy.source_fs = engine_.context.fs().get();
    copy.target_fs = engine_.context.fs().get();
    copy.threads = options_.max_background_operations;
    copy.buffer_bytes = static_cast<size_t>(options_.io_buffer_size);
    copy.rate_limiter = options_.rate_limiter.get();
    copy.stop = &engine_.lifecycle.shutting_down_flag();
    copy.statistics = engine_.context.statistics();
    copy.read_ticker = BACKUP_READ_BYTES;
    copy.write_ticker = BACKUP_WRITE_BYTES;
    Status s = CopyPool(copy).Run(tasks);
    // The pool only knows that it was stopped; the reason is that Close waits for this call.
    if (!s.IsIncomplete() || !engine_.lifecycle.shutting_down()) return s;
    return Status::ShutdownInProgress(kCall, "the database is being closed");
  }

  const CopyPlanOptions& options_;
  const StoredCatalogs& stored_;
  DB* const db_;
  Engine& engine_;
  LiveTables tables_;
  std::vector<Planned> planned_;
  PlanContents contents_;
};

// Checks the options before anything is made. An id that an earlier catalog has is refused, as the
// new backup would replace that one in the store.
Status CheckOptions(const CopyPlanOptions& options, const StoredCatalogs& stored) {
  if (options.app_metadata.size() > kMaxAppMetadataBytes) {
    return Status::InvalidArgument("CopyPlanOptions::app_metadata", "is larger than 1 MiB");
  }
  if (options.max_background_operations < 1) {
    return Status::InvalidArgument("CopyPlanOptions::max_background_operations",
                                   "must be at least 1");
  }
  if (options.backup_id != 0 && stored.HasId(options.backup_id)) {
    return Status::InvalidArgument("CopyPlanOptions::backup_id",
                                   "is that of a previous catalog: such a backup is not replaced");
  }
  if (options.backup_id == 0 && stored.largest_id() == std::numeric_limits<BackupID>::max()) {
    return Status::NotSupported("CopyPlanOptions::previous",
                                "there are no larger ids; name one in backup_id");
  }
  return Status::OK();
}

}  // namespace

// Discard deletes what this accepts, so it accepts only the types of files that a copy set can
// have.
bool IsOfPlan(const std::string& name) {
  if (name == kPlanFileName) return true;
  uint64_t number = 0;
  FileType type;
  if (!ParseFileName(name, &number, &type)) return false;
  return type == kTableFile || type == kBlobFile || type == kWalFile || type == kDescriptorFile ||
         type == kCurrentFile || type == kOptionsFile;
}

Status MakePlan(const CopyPlanOptions& options, const StoredCatalogs& stored, DB* db,
                const std::string& directory) {
  VARVE_RETURN_IF_ERROR(CheckOptions(options, stored));
  auto* const host = dynamic_cast<CopyHost*>(db->GetRootDB());
  if (host == nullptr) {
    return Status::NotSupported(kCall, "of a database that is none of this library's");
  }
  return host->WithEngine([&](Engine* engine) {
    return MoveData(engine, DataMoveInfo::Kind::kBackup, directory, [&](DataMoveInfo* moved) {
      return PlanMaking(options, stored, db, engine).Run(directory, moved);
    });
  });
}

}  // namespace varve
