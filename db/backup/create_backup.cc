// SPDX-License-Identifier: Apache-2.0

// Order
// 1. Choose an id above all existing ones, and make the folder private/<id>.
// 2. Take a CopySet, which keeps the database's files from deletion until the copies are made.
// 3. Give each file a name in the backup. The name of a shared table contains the session that
//    wrote it, or its checksum, so that equal names mean equal tables. A table that a valid backup
//    has is not copied again, unless this backup must be durable and that table may not be.
// 4. Copy the rest under temporary names, and compare with the checksums of the MANIFEST, if it has
//    any.
// 5. Rename shared tables to their names, and sync the folders.
// 6. Write the list in meta/: with its rename the backup exists.
//
// What a crash or an error leaves before step 6 is garbage, which the next change of the directory
// collects. If it is unknown whether the list was written, only the list is deleted: its files stay
// until the directory is read again. So a file with a temporary name may be incomplete; one with
// its final name in a shared folder is complete, but belongs to a backup only if a list names it.

#include "db/backup/create_backup.h"

#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "varve/env.h"
#include "varve/statistics.h"

#include "db/active_work.h"
#include "db/copy/copy_host.h"
#include "db/copy/copy_set.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Passes the progress of the copying threads to the user's callback.
class ProgressCalls final : public CopyPool::Observer {
 public:
  explicit ProgressCalls(const std::function<void()>& callback) : callback_(callback) {}
  void OnProgress(uint64_t, uint64_t) override {
    const CallOut call("CreateBackupOptions::progress_callback");
    callback_();
  }

 private:
  const std::function<void()>& callback_;
};

// Returns the checksum of the file in the MANIFEST, or nullopt if it has none.
std::optional<uint32_t> ChecksumOf(const CopyFile& file) {
  return file.table == nullptr ? std::nullopt : ChecksumInManifest(*file.table);
}

bool IsTable(FileType type) {
  return type == kTableFile || type == kBlobFile;
}

// Makes one backup. An object is used for one call of Run.
class BackupCreation {
 public:
  BackupCreation(BackupStore* store, LiveTables* tables, const CreateBackupOptions& options, DB* db)
      : store_(*store), tables_(*tables), options_(options), db_(db) {}

  // The backup is added to the catalog last, after its list is written. After an error the catalog
  // is unchanged, so that the clean-up treats everything with this id as garbage.
  Status Run(const std::string& app_metadata, BackupID* new_id, DataMoveInfo* moved) {
    VARVE_RETURN_IF_ERROR(Check(app_metadata));
    // Leftovers could have the names that this backup gives its files.
    VARVE_RETURN_IF_ERROR(store_.CollectExpectedGarbage());
    VARVE_RETURN_IF_ERROR(ChooseId());
    auto meta = std::make_shared<BackupMeta>();
    meta->id = id_;
    meta->app_metadata = app_metadata;
    Status s = MakeFiles(meta.get(), moved);
    bool in_doubt = false;
    if (s.ok()) s = WriteList(*meta, &in_doubt);
    if (!s.ok()) {
      CleanUp(in_doubt);
      return s;
    }
    *new_id = id_;
    store_.mutable_catalog()->Add(std::move(meta));
    return Status::OK();
  }

 private:
  struct Planned {
    CopyFile live;
    BackupFile file;
    bool known = false;  // A valid backup has the file, so it is not copied.
    // The checksum of the file of that name in a valid backup, which the copy must have.
    std::optional<uint32_t> listed;
    bool excluded = false;  // exclude_files_callback has excluded it.
  };

  Status Check(const std::string& app_metadata) {
    if (store_.stop().load(std::memory_order_relaxed)) {
      return Status::Incomplete("StopBackup was called; open the engine anew");
    }
    if (app_metadata.size() > kMaxAppMetadataBytes) {
      return Status::InvalidArgument("app_metadata is larger than 1 MiB");
    }
    if (options_.exclude_files_callback != nullptr && store_.options().schema_version < 2) {
      return Status::InvalidArgument("exclude_files_callback needs schema_version 2");
    }
    return Status::OK();
  }

  // Takes an id whose private folder does not exist.
  Status ChooseId() {
    VARVE_RETURN_IF_ERROR(TakeNextId());
    const std::string path = store_.PathOf(private_folder_);
    IOStatus s = store_.fs()->FileExists(path, IOOptions(), nullptr);
    if (!s.ok()) return IsMissing(s) ? Status::OK() : Status(s);
    VARVE_RETURN_IF_ERROR(store_.CollectGarbage());
    // Either the folder is gone now, or the sweep has found a list with that id that the catalog
    // did not know.
    return TakeNextId();
  }

  Status TakeNextId() {
    if (store_.catalog().largest_id() == std::numeric_limits<BackupID>::max()) {
      return Status::NotSupported(store_.directory(), "there are no more ids for backups");
    }
    // Ids of invalid backups count, too: their private folders may hold files that a user still
    // wants to save.
    id_ = store_.catalog().largest_id() + 1;
    private_folder_ = std::string(kPrivateFolder) + "/" + std::to_string(id_);
    return Status::OK();
  }

  // Makes every file but the list.
  Status MakeFiles(BackupMeta* meta, DataMoveInfo* moved) {
    VARVE_RETURN_IF_ERROR(
        store_.fs()->CreateDir(store_.PathOf(private_folder_), IOOptions(), nullptr));
    VARVE_RETURN_IF_ERROR(store_.backup_env()->GetCurrentTime(&meta->timestamp));
    auto* const host = dynamic_cast<CopyHost*>(db_->GetRootDB());
    if (host == nullptr)
      return Status::NotSupported(db_->GetName(), "is not a database of Varve's");
    // The database cannot be closed during this call, and the copy set keeps its files from
    // deletion. Both last until the copies have their final names.
    return host->WithEngine([&](Engine* engine) -> Status {
      CopyWanted wanted;
      wanted.call = "CreateNewBackup";
      // With 0, any log bytes lead to a flush first; with the largest number none do, and the logs
      // are copied instead.
      wanted.log_bytes_for_flush =
          options_.flush_before_backup ? 0 : std::numeric_limits<uint64_t>::max();
      wanted.flush_together = options_.atomic_flush;
      // Keeps the files until they are copied.
      std::unique_ptr<CopySet> set;
      VARVE_RETURN_IF_ERROR(CopySet::Take(engine, wanted, &set));
      meta->sequence = moved->sequence = set->sequence();
      for (const CopyFile& file : set->files()) VARVE_RETURN_IF_ERROR(Plan(file));
      VARVE_RETURN_IF_ERROR(NameTables());
      VARVE_RETURN_IF_ERROR(AskWhatIsElsewhere());
      VARVE_RETURN_IF_ERROR(Copy(moved));
      return Publish(meta);
    });
  }

  // Adds a file of the database to the plan. Logs are skipped with backup_log_files = false: the
  // backup then has only data that was flushed.
  Status Plan(const CopyFile& live) {
    if (live.type == kWalFile && !store_.options().backup_log_files) return Status::OK();
    if (IsTable(live.type)) {
      table_directories_.insert(live.directory);
      // A restored database has all tables in one directory.
      if (table_directories_.size() > 1) {
        return Status::NotSupported(
            db_->GetName(),
            "has tables in several directories (db_paths, cf_paths), which a backup cannot have");
      }
    }
    Planned planned;
    planned.live = live;
    planned_.push_back(std::move(planned));
    return Status::OK();
  }

  // Gives every file its path in the backup. The name of a table contains the session that wrote
  // it, which comes from the cheapest of these sources: the cache of an earlier backup of this
  // opening; the table's unique id in the MANIFEST, if a known session produces it; the table's
  // properties.
  Status NameTables() {
    std::string opening;
    std::string db_id;
    VARVE_RETURN_IF_ERROR(db_->GetDbSessionId(opening));
    VARVE_RETURN_IF_ERROR(db_->GetDbIdentity(db_id));
    tables_.Begin(db_id, opening);
    // Most tables of the database were written by sessions that appear in the names of earlier
    // backups.
    for (const auto& [path, shared] : store_.catalog().shared()) {
      tables_.KnowSession(SessionInSharedName(path));
    }
    if (store_.options().share_table_files && store_.options().share_files_with_checksum) {
      VARVE_RETURN_IF_ERROR(SumUpTablesOfLegacyNames());
    }
    for (Planned& planned : planned_) {
      std::string path;
      VARVE_RETURN_IF_ERROR(PathInBackup(planned.live, &path));
      planned.file.path = path;
      if (!ParseBackupPath(path, id_, &planned.file.parsed)) {
        return Status::NotSupported(planned.live.name, "cannot be backed up");
      }
      if (planned.live.table != nullptr) {
        planned.file.temperature = planned.live.table->temperature;
      }
      if (planned.file.parsed.shared) VARVE_RETURN_IF_ERROR(LookUp(&planned));
    }
    return Status::OK();
  }

  // Marks a shared file as known if a valid backup has it, and it is as durable as this backup must
  // be. Corruption: the backups' file of that name has another size or checksum.
  Status LookUp(Planned* planned) {
    const auto it = store_.catalog().shared().find(planned->file.path);
    if (it == store_.catalog().shared().end()) return Status::OK();
    const BackupCatalog::Shared& shared = it->second;
    // No valid backup needs the existing file, so it is written anew.
    if (!shared.usable() || !shared.crc32c.has_value()) return Status::OK();
    const std::optional<uint32_t> wanted = ChecksumOf(planned->live);
    // Overwriting the file would destroy the older backup, and using it would make this one wrong.
    if (wanted.value_or(*shared.crc32c) != *shared.crc32c || shared.size != planned->live.size) {
      return OfAnother(*planned);
    }
    planned->listed = shared.crc32c;
    // A power loss may have destroyed the file if it was not synced. The new copy has the same
    // bytes.
    if (store_.options().sync && store_.MayBeUnsynced(planned->file.path)) return Status::OK();
    planned->known = true;
    planned->file.crc32c = shared.crc32c;
    planned->file.size = shared.size;
    return Status::OK();
  }

  // Returns the error that the backups' file of this name is not the database's table.
  Status OfAnother(const Planned& planned) const {
    return Status::Corruption(
        store_.PathOf(planned.file.path),
        "is not the database's " + planned.live.name +
            ", whose name it has: delete the backups that list it, or use another directory");
  }

  // Sets *path relative to the backup directory. By the options, a table is a private copy of each
  // backup; or is shared under its number alone, which is correct only for backups of one database;
  // or is shared under its number and its session or checksum.
  Status PathInBackup(const CopyFile& live, std::string* path) {
    const BackupEngineOptions& options = store_.options();
    if (!IsTable(live.type) || !options.share_table_files) {
      *path = private_folder_ + "/" + live.name;
      return Status::OK();
    }
    if (!options.share_files_with_checksum) {
      *path = std::string(kSharedFolder) + "/" + live.name;
      return Status::OK();
    }
    std::string session;
    VARVE_RETURN_IF_ERROR(SessionOf(live, &session));
    const uint32_t naming = options.share_files_with_checksum_naming;
    std::optional<uint64_t> size;
    if ((naming & BackupEngineOptions::kFlagIncludeFileSize) != 0) size = live.size;
    // A table without a session gets a legacy name; SumUpTablesOfLegacyNames has set its checksum.
    const std::string name =
        session.empty()
            ? LegacyName(live.name, tables_.Of(live.number).crc32c.value_or(0), live.size)
            : SessionName(live.name, session, size);
    *path = std::string(kSharedChecksumFolder) + "/" + name;
    return Status::OK();
  }

  // Sets *session to the session that wrote the table, or to "" if the file gets a legacy name, as
  // blob files always do.
  Status SessionOf(const CopyFile& live, std::string* session) {
    session->clear();
    const uint32_t naming = store_.options().share_files_with_checksum_naming;
    if ((naming & BackupEngineOptions::kMaskNoNamingFlags) ==
            BackupEngineOptions::kLegacyCrc32cAndFileSize ||
        live.type == kBlobFile) {
      return Status::OK();
    }
    const std::string unique_id = live.table == nullptr ? "" : live.table->unique_id;
    return tables_.SessionOf(db_->GetFileSystem(), live.Path(), live.number, unique_id, session);
  }

  // Computes the checksums of tables whose names contain them, unless the MANIFEST has them. The
  // name decides whether a table is copied at all, so such a table is read once here and again for
  // the copy.
  Status SumUpTablesOfLegacyNames() {
    std::vector<CopyTask> tasks;
    std::vector<uint64_t> numbers;
    for (const Planned& planned : planned_) {
      if (!IsTable(planned.live.type)) continue;
      std::string session;
      VARVE_RETURN_IF_ERROR(SessionOf(planned.live, &session));
      LiveTables::Facts& facts = tables_.Of(planned.live.number);
      if (!session.empty() || facts.crc32c.has_value()) continue;
      facts.crc32c = ChecksumOf(planned.live);
      if (facts.crc32c.has_value()) continue;
      CopyTask task;
      task.source = planned.live.Path();
      task.size = planned.live.size;
      task.want_checksum = true;
      tasks.push_back(std::move(task));
      numbers.push_back(planned.live.number);
    }
    if (tasks.empty()) return Status::OK();
    VARVE_RETURN_IF_ERROR(RunCopies(&tasks));
    for (size_t i = 0; i < tasks.size(); i++) tables_.Of(numbers[i]).crc32c = tasks[i].crc32c;
    return Status::OK();
  }

  // Calls exclude_files_callback once for all new shared files, since the user may have to query a
  // remote store. Private files cannot be excluded: they exist nowhere else.
  Status AskWhatIsElsewhere() {
    if (options_.exclude_files_callback == nullptr) return Status::OK();
    std::vector<MaybeExcludeBackupFile> questions;
    std::vector<Planned*> asked;
    for (Planned& planned : planned_) {
      if (!planned.file.parsed.shared || planned.known) continue;
      questions.emplace_back(BackupExcludedFileInfo(planned.file.path));
      asked.push_back(&planned);
    }
    if (questions.empty()) return Status::OK();
    VARVE_RETURN_IF_ERROR(Guarded([&] {
      const CallOut call("CreateBackupOptions::exclude_files_callback");
      options_.exclude_files_callback(questions.data(), questions.data() + questions.size());
    }));
    for (size_t i = 0; i < asked.size(); i++) asked[i]->excluded = questions[i].exclude_decision;
    return Status::OK();
  }

  // Copies the files that are neither known nor excluded, and compares their checksums with those
  // of the MANIFEST and of other backups. Shared files have temporary names when this returns, so
  // an error leaves only garbage.
  Status Copy(DataMoveInfo* moved) {
    std::vector<CopyTask> tasks;
    std::vector<Planned*> copied;
    for (Planned& planned : planned_) {
      if (planned.known || planned.excluded) continue;
      CopyTask task;
      task.source = planned.live.Path();
      task.target = store_.PathOf(WrittenAs(planned.file));
      task.size = planned.live.size;
      task.want_checksum = true;
      // MANIFEST, CURRENT and OPTIONS are bytes that the copy set has produced, and have no source
      // file.
      task.contents = planned.live.contents;
      tasks.push_back(std::move(task));
      copied.push_back(&planned);
    }
    VARVE_RETURN_IF_ERROR(RunCopies(&tasks));
    for (size_t i = 0; i < tasks.size(); i++) {
      const std::optional<uint32_t> wanted = ChecksumOf(copied[i]->live);
      if (wanted.value_or(tasks[i].crc32c) != tasks[i].crc32c) {
        return Status::Corruption(tasks[i].source, "checksum " + std::to_string(tasks[i].crc32c) +
                                                       ", and " + std::to_string(*wanted) +
                                                       " in the MANIFEST");
      }
      if (copied[i]->listed.value_or(tasks[i].crc32c) != tasks[i].crc32c) {
        return OfAnother(*copied[i]);
      }
      copied[i]->file.crc32c = tasks[i].crc32c;
      copied[i]->file.size = tasks[i].bytes;
      moved->bytes_copied += tasks[i].bytes;
    }
    moved->files = tasks.size();
    return Status::OK();
  }

  // Runs the tasks with the engine's threads and limits; StopBackup ends them with Incomplete.
  // Counts their bytes in the database's statistics, and reports progress to the user's callback.
  Status RunCopies(std::vector<CopyTask>* tasks) {
    CopyPool::Options copy = store_.CopyOptions(store_.backup_limiter());
    copy.source_fs = db_->GetFileSystem();
    copy.target_fs = store_.fs();
    copy.stop = &store_.stop();
    ProgressCalls calls(options_.progress_callback);
    if (options_.progress_callback != nullptr) copy.observer = &calls;
    const std::shared_ptr<Statistics> statistics = db_->GetDBOptions().statistics;
    copy.statistics = statistics.get();
    copy.read_ticker = BACKUP_READ_BYTES;
    copy.write_ticker = BACKUP_WRITE_BYTES;
    if (options_.decrease_background_thread_cpu_priority) {
      copy.cpu_priority = options_.background_thread_cpu_priority;
    }
    return CopyPool(copy).Run(tasks);
  }

  // Renames the copied shared files to their final names, syncs the folders, and fills in the list.
  // Private files already have their names, in a folder that no other backup uses. A rename may
  // replace a file that only an invalid backup names, or the same bytes that were not synced
  // (LookUp).
  Status Publish(BackupMeta* meta) {
    std::set<std::string> folders = {private_folder_, kPrivateFolder};
    std::vector<std::string> renamed;
    for (const Planned& planned : planned_) {
      if (planned.file.parsed.shared && !planned.known && !planned.excluded) {
        renamed.push_back(planned.file.path);
      }
    }
    // Before any rename: a shared file that is not synced must be in meta/unsynced as soon as it
    // has its name (unsynced_files.h).
    VARVE_RETURN_IF_ERROR(store_.NoteUnsynced(renamed));
    for (Planned& planned : planned_) {
      BackupFile& file = planned.file;
      if (planned.excluded) {
        meta->excluded.push_back(file.path);
        continue;
      }
      if (file.parsed.shared && !planned.known) {
        folders.insert(file.parsed.folder);
        VARVE_RETURN_IF_ERROR(store_.fs()->RenameFile(
            store_.PathOf(WrittenAs(file)), store_.PathOf(file.path), IOOptions(), nullptr));
      }
      meta->files.push_back(std::move(file));
    }
    // The list must not be durable before the names of the files in it.
    for (const std::string& folder : folders) VARVE_RETURN_IF_ERROR(store_.SyncFolder(folder));
    return store_.NoteSynced(renamed);
  }

  // Writes the list, which makes the backup exist, unless StopBackup was called. Requires that
  // *in_doubt is false. After an error it is true if the list may exist nevertheless; after OK it
  // has no meaning.
  Status WriteList(const BackupMeta& meta, bool* in_doubt) {
    if (store_.stop().load(std::memory_order_relaxed)) {
      return Status::Incomplete("StopBackup was called; open the engine anew");
    }
    const std::string name = std::to_string(id_);
    const std::string text = EncodeBackupMeta(meta, store_.options().schema_version);
    const std::string folder = store_.PathOf(kMetaFolder);
    if (store_.options().sync) {
      return WriteFileDurably(store_.fs(), folder, BackupTempName(name), name, text, nullptr,
                              in_doubt);
    }
    std::vector<CopyTask> tasks(1);
    tasks[0].target = folder + "/" + BackupTempName(name);
    tasks[0].contents = text;
    CopyPool::Options copy = store_.CopyOptions(nullptr);
    copy.source_fs = copy.target_fs = store_.fs();
    VARVE_RETURN_IF_ERROR(CopyPool(copy).Run(&tasks));
    // A rename that reports an error may have happened nevertheless.
    *in_doubt = true;
    return store_.fs()->RenameFile(tasks[0].target, folder + "/" + name, IOOptions(), nullptr);
  }

  // Deletes the files of a failed backup. If its list may exist, only the list is deleted: the
  // files stay until the directory is read again.
  void CleanUp(bool in_doubt) {
    store_.ExpectGarbage();
    // Without a list the files are garbage, and deleted at once.
    if (!in_doubt) {
      store_.CollectGarbage().PermitUncheckedError();
      return;
    }
    const std::string list = std::string(kMetaFolder) + "/" + std::to_string(id_);
    (void)store_.fs()->DeleteFile(store_.PathOf(list), IOOptions(), nullptr).ok();
  }

  // Returns the path under which the file is written, before Publish.
  static std::string WrittenAs(const BackupFile& file) {
    if (!file.parsed.shared) return file.path;
    return file.parsed.folder + "/" + BackupTempName(file.parsed.file_name);
  }

  BackupStore& store_;
  LiveTables& tables_;
  const CreateBackupOptions& options_;
  DB* const db_;
  BackupID id_ = 0;
  std::string private_folder_;
  std::set<std::string> table_directories_;
  std::vector<Planned> planned_;
};

}  // namespace

Status CreateBackup(BackupStore* store, LiveTables* tables, const CreateBackupOptions& options,
                    DB* db, const std::string& app_metadata, BackupID* new_id,
                    DataMoveInfo* moved) {
  return BackupCreation(store, tables, options, db).Run(app_metadata, new_id, moved);
}

}  // namespace varve
