// SPDX-License-Identifier: Apache-2.0

// Order
// 1. Undo a restore that was interrupted.
// 2. List the directories. A file that belongs to no database ends the restore, as it would be
//    lost.
// 3. Choose the tables of the old database that are kept: those with the session, or the checksum,
//    of the backup's tables, depending on the mode.
// 4. Copy the others to incoming folders, and compare sizes and checksums.
// 5. Check that MANIFEST and tables fit each other.
// 6. Exchange the old files for the new ones (file_exchange.h), CURRENT last.
//
// Until step 6 the old database is as it was. An error in that step, or a crash, is undone here or
// by the next opening, unless the new files are in force already. What is in the directory
// meanwhile:
//
//      db_dir/                     the old database, as it was until step 6
//      db_dir/restore.tmp/new/     the copies, complete and durable when step 4 ends
//      wal_dir/restore.tmp/new/    those of the logs, if they have their own directory
//
// Kept tables are in neither: they stay where they are and belong to both databases.

#include "db/backup/restore_backup.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "varve/env.h"

#include "db/background/space_reserve.h"
#include "db/backup/backup_names.h"
#include "db/backup/live_tables.h"
#include "db/backup/restored_state.h"
#include "db/recovery/database_directory.h"
#include "db/recovery/file_exchange.h"
#include "db/recovery/log_directory_lock.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

constexpr uint64_t kMaxCurrentFileBytes = 1024;

// Holds the lock of a database that is not open.
class RestoreLock {
 public:
  explicit RestoreLock(FileSystem* fs) : fs_(fs) {}
  ~RestoreLock() {
    // A lock that cannot be released ends with the process.
    if (lock_ != nullptr) (void)fs_->UnlockFile(lock_, IOOptions(), nullptr).ok();
  }
  RestoreLock(const RestoreLock&) = delete;
  RestoreLock& operator=(const RestoreLock&) = delete;

  Status Take(const std::string& db_dir) {
    IOStatus s = fs_->LockFile(LockFileName(db_dir), IOOptions(), &lock_, nullptr);
    if (s.ok()) return s;
    lock_ = nullptr;
    return Status::CopyAppendMessage(s, "; ", "close the database before it is restored");
  }

 private:
  FileSystem* const fs_;
  FileLock* lock_ = nullptr;
};

// Returns true if a restore replaces files of this type. Information logs and the lock stay. The
// exchange handles CURRENT by itself.
bool IsReplaced(FileType type) {
  return type != kInfoLogFile && type != kDBLockFile && type != kCurrentFile;
}

// Makes one restore. An object is used for one call of Run.
class Restoration {
 public:
  Restoration(const BackupStore& store, const std::vector<const BackupStore*>& alternates,
              const RestoreOptions& options)
      : store_(store),
        alternates_(alternates),
        options_(options),
        shared_fs_(store.db_env()->GetFileSystem()),
        fs_(shared_fs_.get()),
        lock_(fs_),
        logs_lock_(fs_) {}

  // Checks that need no lock come first, then the locks are taken, and only then are files looked
  // at, since they may change without the lock.
  Status Run(BackupID id, const std::string& db_dir, const std::string& wal_dir,
             DataMoveInfo* moved) {
    VARVE_RETURN_IF_ERROR(store_.catalog().Find(id, &meta_));
    ListFiles();
    VARVE_RETURN_IF_ERROR(TakeArguments(db_dir, wal_dir));
    VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(fs_, db_dir_));
    VARVE_RETURN_IF_ERROR(lock_.Take(db_dir_));
    VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(fs_, wal_dir_));
    // If both names are one directory, its files must be exchanged and locked only once.
    if (IsSameDirectory()) wal_dir_ = db_dir_;
    // A second lock protects the directory of logs, which several databases may share by mistake.
    VARVE_RETURN_IF_ERROR(LockLogs());
    VARVE_RETURN_IF_ERROR(UndoInterruptedRestore(fs_, db_dir_, wal_dir_));
    VARVE_RETURN_IF_ERROR(LookAround());
    VARVE_RETURN_IF_ERROR(KeepTables());
    VARVE_RETURN_IF_ERROR(FindFiles());
    // From here on the directories contain files of this restore, which every return must undo.
    Status s = Stage(moved);
    if (s.ok()) s = CheckRestoredState(fs_, IncomingFolder(db_dir_), data_files_);
    if (s.ok() && options_.keep_log_files) s = BringArchivedLogsBack();
    bool in_force = false;
    if (s.ok()) s = Exchange(&in_force);
    // After an error this moves the old files back. The next restore or opening removes leftovers.
    UndoInterruptedRestore(fs_, db_dir_, wal_dir_).PermitUncheckedError();
    if (!s.ok() || options_.keep_log_files) return s;
    return DeleteArchivedLogs();
  }

 private:
  struct Source {
    FileSystem* fs = nullptr;
    std::string path;
  };

  bool one_directory() const { return db_dir_ == wal_dir_; }
  Status LockLogs() {
    const IOStatus s = logs_lock_.Take(db_dir_, wal_dir_);
    if (s.ok()) return s;
    return Status::CopyAppendMessage(s, "; ", "close the database that has its logs there");
  }
  // Two names of one directory have the same lock file. lock_ has created that of db_dir_; if
  // wal_dir_ has none, the question fails, and the directories are different.
  bool IsSameDirectory() const {
    bool same = false;
    const IOStatus s = fs_->AreFilesSame(LockFileName(db_dir_), LockFileName(wal_dir_), IOOptions(),
                                         &same, nullptr);
    return s.ok() && same;
  }

  // Checks the arguments and the mode, and sets db_dir_ and wal_dir_: absolute paths without a
  // slash at the end.
  Status TakeArguments(const std::string& db_dir, const std::string& wal_dir) {
    if (db_dir.empty()) return Status::InvalidArgument("restore: db_dir is empty");
    const uint32_t mode = options_.mode;
    if (mode != RestoreOptions::kKeepLatestDbSessionIdFiles &&
        mode != RestoreOptions::kVerifyChecksum && mode != RestoreOptions::kPurgeAllFiles) {
      return Status::InvalidArgument("RestoreOptions::mode", "is none of those that there are");
    }
    db_dir_ = AbsolutePath(fs_, db_dir);
    wal_dir_ = wal_dir.empty() ? db_dir_ : AbsolutePath(fs_, wal_dir);
    for (std::string* path : {&db_dir_, &wal_dir_}) {
      while (path->size() > 1 && path->ends_with('/')) path->pop_back();
    }
    VARVE_RETURN_IF_ERROR(CheckNotOfBackups(db_dir_));
    return CheckNotOfBackups(wal_dir_);
  }

  // Refuses a directory that holds backups, as a restore would replace its files. Compares absolute
  // paths, which is meaningful only on the same file system.
  Status CheckNotOfBackups(const std::string& directory) const {
    if (fs_ != store_.fs()) return Status::OK();
    if (directory == store_.directory()) {
      return Status::InvalidArgument(directory, "is the directory of the backups");
    }
    for (const char* folder : {kMetaFolder, kPrivateFolder, kSharedFolder, kSharedChecksumFolder}) {
      if ((directory + "/").starts_with(store_.directory() + "/" + folder + "/")) {
        return Status::InvalidArgument(directory, "holds files of backups");
      }
    }
    return Status::OK();
  }

  // Lists the files of the database's directories. Refuses a file that belongs to no database,
  // since the exchange would move it away. Subdirectories stay, and so does the file that reserves
  // space.
  Status LookAround() {
    std::vector<std::string> entries;
    VARVE_RETURN_IF_ERROR(fs_->GetChildren(db_dir_, IOOptions(), &entries, nullptr));
    for (const std::string& entry : entries) {
      uint64_t number = 0;
      FileType type = kTempFile;
      if (ParseFileName(entry, &number, &type)) {
        if (entry == ExchangeTempName()) continue;  // an interrupted restore has left it
        // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
        if (VARVE_CANARY(kKeepSyncedMarks) && entry == kSyncedMarksBaseName) continue;
        if (IsReplaced(type)) present_[entry] = type;
        continue;
      }
      bool is_directory = false;
      if (entry == kReserveFileName ||
          (fs_->IsDirectory(db_dir_ + "/" + entry, IOOptions(), &is_directory, nullptr).ok() &&
           is_directory)) {
        continue;
      }
      return Status::InvalidArgument(db_dir_ + "/" + entry,
                                     "is no file of a database: move it before a restore");
    }
    if (one_directory()) return Status::OK();
    // A directory of logs may contain other files, which stay. But it must not be the directory of
    // another database, whose logs would be moved away.
    VARVE_RETURN_IF_ERROR(CheckNotOfAnother(fs_, db_dir_, wal_dir_, "the logs"));
    VARVE_RETURN_IF_ERROR(fs_->GetChildren(wal_dir_, IOOptions(), &entries, nullptr));
    for (const auto& [entry, number, type] : FilesAmong(entries, kWalFile)) {
      present_logs_.insert(entry);
    }
    return Status::OK();
  }

  // Finds the tables of the old database that need not be copied. A wrong table would be silent
  // corruption, so a table is copied in case of any doubt or error.
  Status KeepTables() {
    if (options_.mode == RestoreOptions::kPurgeAllFiles) return Status::OK();
    std::vector<const BackupFile*> candidates;
    LiveTables sessions;
    for (const BackupFile& file : all_files_) {
      if (!file.parsed.shared || present_.count(file.parsed.db_name) == 0) continue;
      const std::string path = db_dir_ + "/" + file.parsed.db_name;
      uint64_t size = 0;
      // A table that cannot be read is not kept.
      if (!fs_->GetFileSize(path, IOOptions(), &size, nullptr).ok()) continue;
      if (file.size.has_value() && size != file.size) continue;
      // In this mode KeepByChecksum reads the candidates, with several threads, as an equal size
      // does not prove equal contents.
      if (options_.mode == RestoreOptions::kVerifyChecksum) {
        if (!file.crc32c.has_value()) continue;
        candidates.push_back(&file);
        continue;
      }
      // Session and number together identify a table uniquely, so its contents need not be read.
      const std::string wanted = SessionInSharedName(file.parsed.file_name);
      std::string session;
      const bool same = !wanted.empty() &&
                        sessions.SessionOf(fs_, path, file.parsed.number, "", &session).ok() &&
                        session == wanted;
      if (same) kept_.insert(file.parsed.db_name);
    }
    return KeepByChecksum(candidates);
  }

  // Keeps the candidates whose checksum is the backup's. The copy pool stops at its first error, so
  // the remaining tables are read again without the failed one. Each round removes at least that
  // one, so the loop terminates.
  Status KeepByChecksum(std::vector<const BackupFile*> candidates) {
    CopyPool::Options copy = store_.CopyOptions(store_.restore_limiter());
    copy.source_fs = copy.target_fs = fs_;
    while (!candidates.empty()) {
      std::vector<CopyTask> tasks(candidates.size());
      for (size_t i = 0; i < tasks.size(); i++) {
        tasks[i].source = db_dir_ + "/" + candidates[i]->parsed.db_name;
        tasks[i].want_checksum = true;
      }
      const Status s = CopyPool(copy).Run(&tasks);
      // If the first error is itself Incomplete, the task that failed cannot be told from those
      // that were given up, and would be read again for ever.
      if (s.IsIncomplete()) return s;
      std::vector<const BackupFile*> unread;
      for (size_t i = 0; i < tasks.size(); i++) {
        const BackupFile& file = *candidates[i];
        if (tasks[i].status.IsIncomplete()) unread.push_back(&file);
        if (tasks[i].status.ok() && tasks[i].crc32c == file.crc32c) {
          kept_.insert(file.parsed.db_name);
        }
      }
      VARVE_ASSERT(unread.size() < candidates.size());
      candidates = std::move(unread);
    }
    return Status::OK();
  }

  // Fills all_files_, which includes the files that the backup excludes.
  void ListFiles() {
    all_files_ = meta_->files;
    for (const std::string& path : meta_->excluded) {
      BackupFile file;
      file.path = path;
      if (!ParseBackupPath(path, meta_->id, &file.parsed))
        continue;  // DecodeBackupMeta has checked it.
      file.size = SizeInSharedName(file.parsed.file_name);
      all_files_.push_back(std::move(file));
    }
  }

  // Finds the source of each file that is not kept. A file of the backup itself comes from the
  // backup. An excluded one comes from the first alternate directory with a usable copy, unless the
  // old database's table is kept.
  Status FindFiles() {
    for (const BackupFile& file : meta_->files) {
      sources_[file.path] = Source{store_.fs(), store_.PathOf(file.path)};
    }
    for (const std::string& path : meta_->excluded) {
      BackupPath parsed;
      if (ParseBackupPath(path, meta_->id, &parsed) && kept_.count(parsed.db_name) != 0) continue;
      for (const BackupStore* const alternate : alternates_) {
        const auto it = alternate->catalog().shared().find(path);
        if (it == alternate->catalog().shared().end() || !it->second.usable()) continue;
        sources_[path] = Source{alternate->fs(), alternate->PathOf(path)};
        // The backup's own list has no checksum of an excluded file, so that of the alternate
        // directory is compared.
        excluded_checksums_[path] = it->second.crc32c;
        break;
      }
      if (sources_.count(path) == 0) {
        return Status::InvalidArgument(
            path, "was left out of the backup and is in none of RestoreOptions::alternate_dirs");
      }
    }
    return Status::OK();
  }

  bool IsLog(const BackupFile& file) const { return file.parsed.type == kWalFile; }
  // Returns true for a log that stays in place, or a table that is kept.
  bool StaysAsItIs(const BackupFile& file) const {
    const std::string& name = file.parsed.db_name;
    if (IsLog(file) && options_.keep_log_files) {
      return one_directory() ? present_.count(name) != 0 : present_logs_.count(name) != 0;
    }
    return kept_.count(name) != 0;
  }

  // Copies files to the incoming folders and checks the copies. Files and folders are durable when
  // this returns: the exchange afterwards only renames, so a crash in it can lose no contents.
  Status Stage(DataMoveInfo* moved) {
    for (const std::string& directory : Directories()) {
      const std::string folder = IncomingFolder(directory);
      VARVE_RETURN_IF_ERROR(
          fs_->CreateDirIfMissing(directory + "/" + kRestoreFolder, IOOptions(), nullptr));
      VARVE_RETURN_IF_ERROR(fs_->CreateDirIfMissing(folder, IOOptions(), nullptr));
      VARVE_RETURN_IF_ERROR(SyncDirectory(fs_, directory));
      VARVE_RETURN_IF_ERROR(SyncDirectory(fs_, directory + "/" + kRestoreFolder));
    }
    // Files of one file system are copied together.
    std::map<FileSystem*, std::vector<const BackupFile*>> by_source;
    for (const BackupFile& file : all_files_) {
      if (!StaysAsItIs(file)) by_source[sources_[file.path].fs].push_back(&file);
      const std::string& name = file.parsed.db_name;
      if (file.parsed.type == kTableFile || file.parsed.type == kBlobFile) {
        // CheckRestoredState reads kept tables in the old database, and the others in the incoming
        // folder.
        data_files_[file.parsed.number] =
            (kept_.count(name) != 0 ? db_dir_ : IncomingFolder(db_dir_)) + "/" + name;
      }
    }
    moved->sequence = meta_->sequence;
    for (const auto& [source_fs, group] : by_source) {
      VARVE_RETURN_IF_ERROR(CopyGroup(source_fs, group, moved));
    }
    for (const std::string& directory : Directories()) {
      VARVE_RETURN_IF_ERROR(SyncDirectory(fs_, IncomingFolder(directory)));
    }
    return Status::OK();
  }

  // Copies whole files of one file system to the incoming folders, durably whatever the option
  // `sync` says, and compares each copy with the list.
  Status CopyGroup(FileSystem* source_fs, const std::vector<const BackupFile*>& files,
                   DataMoveInfo* moved) {
    std::vector<CopyTask> tasks;
    for (const BackupFile* const file : files) {
      CopyTask task;
      task.source = sources_[file->path].path;
      task.target = IncomingFolder(IsLog(*file) ? wal_dir_ : db_dir_) + "/" + file->parsed.db_name;
      task.want_checksum = true;
      tasks.push_back(std::move(task));
    }
    CopyPool::Options copy = store_.CopyOptions(store_.restore_limiter());
    copy.source_fs = source_fs;
    copy.target_fs = fs_;
    copy.sync = true;
    VARVE_RETURN_IF_ERROR(CopyPool(copy).Run(&tasks));
    for (size_t i = 0; i < tasks.size(); i++) {
      VARVE_RETURN_IF_ERROR(CheckCopy(*files[i], tasks[i]));
      moved->bytes_copied += tasks[i].bytes;
    }
    moved->files += tasks.size();
    return Status::OK();
  }

  // Corruption: the copy has another size or checksum than the list says, or an excluded file
  // another checksum than the alternate directory says that it came from.
  Status CheckCopy(const BackupFile& file, const CopyTask& task) const {
    if (file.size.value_or(task.bytes) != task.bytes) {
      return Status::Corruption(task.source, std::to_string(task.bytes) + " bytes long, and " +
                                                 std::to_string(*file.size) +
                                                 " when it was backed up");
    }
    std::optional<uint32_t> wanted = file.crc32c;
    if (const auto it = excluded_checksums_.find(file.path); it != excluded_checksums_.end()) {
      wanted = it->second;
    }
    if (wanted.value_or(task.crc32c) == task.crc32c) return Status::OK();
    return Status::Corruption(task.source, "checksum " + std::to_string(task.crc32c) + ", and " +
                                               std::to_string(*wanted) + " when it was backed up");
  }

  std::vector<std::string> Directories() const {
    if (one_directory()) return {db_dir_};
    return {db_dir_, wal_dir_};
  }

  // Lists the leaving and the coming files of each directory for ExchangeFiles, which replaces
  // them. The staged CURRENT is read here, and not moved. Sets *in_force, which must be false, to
  // true if the new database has replaced the old one, also if the call then fails.
  Status Exchange(bool* in_force) {
    std::string current;
    VARVE_RETURN_IF_ERROR(ReadFileToString(fs_, CurrentFileName(IncomingFolder(db_dir_)),
                                           kMaxCurrentFileBytes, &current));
    // The first place is the database's directory and the last one that of the logs, which may be
    // the same.
    std::vector<ExchangedFiles> places;
    for (const std::string& directory : Directories()) {
      ExchangedFiles place;
      place.directory = directory;
      places.push_back(std::move(place));
    }
    // The kept tables stay under their names; all else of the old database leaves.
    for (const auto& [name, type] : present_) {
      const bool stays =
          type == kWalFile ? options_.keep_log_files && one_directory() : kept_.count(name) != 0;
      if (!stays) places.front().leaving.push_back(name);
    }
    if (!options_.keep_log_files) {
      places.back().leaving.insert(places.back().leaving.end(), present_logs_.begin(),
                                   present_logs_.end());
    }
    for (const BackupFile& file : all_files_) {
      // ExchangeFiles writes CURRENT last, since it decides which database exists.
      if (StaysAsItIs(file) || file.parsed.type == kCurrentFile) continue;
      (IsLog(file) ? places.back() : places.front()).coming.push_back(file.parsed.db_name);
    }
    return ExchangeFiles(fs_, places, current, in_force);
  }

  // Moves archived logs back, except those whose names are taken. This happens before the exchange,
  // but does not harm the old database if it stays: only logs that its MANIFEST does not need were
  // archived.
  Status BringArchivedLogsBack() {
    const std::string archive = ArchivalDirectory(wal_dir_);
    std::vector<std::string> logs;
    VARVE_RETURN_IF_ERROR(ListArchivedLogs(&logs));
    if (logs.empty()) return Status::OK();
    for (const std::string& log : logs) {
      const std::string target = wal_dir_ + "/" + log;
      if (fs_->FileExists(target, IOOptions(), nullptr).ok()) continue;
      VARVE_RETURN_IF_ERROR(fs_->RenameFile(archive + "/" + log, target, IOOptions(), nullptr));
      if (one_directory()) present_[log] = kWalFile;
      present_logs_.insert(log);
    }
    return SyncDirectory(fs_, wal_dir_);
  }

  // Deletes the archived logs of the old database, which must not appear in the new one's history.
  // The new database is already in place, so an error here is reported but undoes nothing.
  Status DeleteArchivedLogs() {
    std::vector<std::string> logs;
    VARVE_RETURN_IF_ERROR(ListArchivedLogs(&logs));
    for (const std::string& log : logs) {
      VARVE_RETURN_IF_ERROR(
          fs_->DeleteFile(ArchivalDirectory(wal_dir_) + "/" + log, IOOptions(), nullptr));
    }
    return Status::OK();
  }

  Status ListArchivedLogs(std::vector<std::string>* logs) {
    std::vector<std::string> entries;
    IOStatus s = fs_->GetChildren(ArchivalDirectory(wal_dir_), IOOptions(), &entries, nullptr);
    if (IsMissing(s)) return Status::OK();
    if (!s.ok()) return s;
    for (const auto& [entry, number, type] : FilesAmong(entries, kWalFile)) {
      logs->push_back(entry);
    }
    return Status::OK();
  }

  const BackupStore& store_;
  const std::vector<const BackupStore*>& alternates_;
  const RestoreOptions& options_;
  const std::shared_ptr<FileSystem> shared_fs_;
  FileSystem* const fs_;
  RestoreLock lock_;
  LogDirectoryLock logs_lock_;
  std::shared_ptr<const BackupMeta> meta_;
  std::string db_dir_;
  std::string wal_dir_;
  // Files of the database's directory that would be replaced, and logs beside it.
  std::map<std::string, FileType> present_;
  std::set<std::string> present_logs_;
  std::set<std::string> kept_;  // Tables of the old database, by name.
  std::vector<BackupFile> all_files_;
  std::map<std::string, Source> sources_;  // Sources by path in the backup.
  std::map<std::string, std::optional<uint32_t>> excluded_checksums_;
  std::map<uint64_t, std::string> data_files_;
};

}  // namespace

Status RestoreBackup(const BackupStore& store, const std::vector<const BackupStore*>& alternates,
                     const RestoreOptions& options, BackupID id, const std::string& db_dir,
                     const std::string& wal_dir, DataMoveInfo* moved) {
  return Restoration(store, alternates, options).Run(id, db_dir, wal_dir, moved);
}

}  // namespace varve
