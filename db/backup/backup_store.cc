// SPDX-License-Identifier: Apache-2.0

// Opens, locks and cleans a directory of backups. Rules of deletion:
//
// 1. A list that exists makes a backup exist; its deletion, made durable, ends it.
// 2. A shared file is deleted only if the catalog counts no list that names it, valid or not, and
//    every list could be parsed.
// 3. A private folder is deleted only if there is no list with its id.
// 4. garbage_ is true while files may exist that no list names: from the beginning of a deletion or
//    a sweep until it has succeeded. While it is true, the next change of the directory sweeps
//    first.

#include "db/backup/backup_store.h"

#include <algorithm>
#include <utility>

#include "varve/env.h"

#include "db/recovery/database_directory.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

std::shared_ptr<RateLimiter> RateLimiterOf(const std::shared_ptr<RateLimiter>& given,
                                           uint64_t rate) {
  if (given != nullptr || rate == 0) return given;
  const auto largest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return std::shared_ptr<RateLimiter>(
      NewGenericRateLimiter(static_cast<int64_t>(std::min(rate, largest))));
}

}  // namespace

BackupStore::BackupStore(const BackupEngineOptions& options, Env* db_env)
    : options_(options),
      db_env_(db_env != nullptr ? db_env : Env::Default()),
      backup_env_(options.backup_env != nullptr ? options.backup_env : db_env_),
      fs_(backup_env_->GetFileSystem()),
      directory_(AbsolutePath(fs_.get(), options.backup_dir)),
      catalog_(fs_.get(), directory_),
      unsynced_(fs_.get(), PathOf(kMetaFolder)),
      backup_limiter_(RateLimiterOf(options.backup_rate_limiter, options.backup_rate_limit)),
      restore_limiter_(RateLimiterOf(options.restore_rate_limiter, options.restore_rate_limit)) {}

BackupStore::~BackupStore() {
  // A lock that cannot be released ends with the process.
  if (lock_ != nullptr) (void)fs_->UnlockFile(lock_, IOOptions(), nullptr).ok();
}

// A read-only store takes no lock and makes no folder, so it works on read-only media. It also
// works beside a writer, whose deletions may make its catalog stale.
Status BackupStore::Open(const BackupEngineOptions& options, Env* db_env, bool read_only,
                         std::unique_ptr<BackupStore>* store) {
  store->reset();
  if (options.backup_dir.empty()) {
    return Status::InvalidArgument("BackupEngineOptions::backup_dir is empty");
  }
  std::unique_ptr<BackupStore> opened(new BackupStore(options, db_env));
  VARVE_RETURN_IF_ERROR(opened->CheckOptions(read_only));
  if (read_only) {
    VARVE_RETURN_IF_ERROR(opened->catalog_.Load(options.max_valid_backups_to_open));
  } else {
    VARVE_RETURN_IF_ERROR(opened->MakeAndLock());
    VARVE_RETURN_IF_ERROR(opened->catalog_.Load());
    VARVE_RETURN_IF_ERROR(opened->unsynced_.Load());
    if (options.destroy_old_data) VARVE_RETURN_IF_ERROR(opened->DeleteAll());
  }
  *store = std::move(opened);
  return Status::OK();
}

Status BackupStore::CheckOptions(bool read_only) const {
  const auto refuse = [](const char* option, const char* why) {
    return Status::InvalidArgument(std::string("BackupEngineOptions::") + option, why);
  };
  if (read_only && options_.destroy_old_data) {
    return refuse("destroy_old_data", "an engine that only reads deletes nothing");
  }
  if (options_.max_background_operations < 1) {
    return refuse("max_background_operations", "must be at least 1");
  }
  if (options_.callback_trigger_interval_size == 0) {
    return refuse("callback_trigger_interval_size", "must be at least 1");
  }
  if (options_.schema_version < 1) return refuse("schema_version", "must be 1 or 2");
  if (options_.schema_version > 2) {
    return Status::NotSupported("BackupEngineOptions::schema_version", "above 2");
  }
  const uint32_t naming = options_.share_files_with_checksum_naming;
  const uint32_t kind = naming & BackupEngineOptions::kMaskNoNamingFlags;
  const uint32_t flags = naming & BackupEngineOptions::kMaskNamingFlags;
  const bool known = kind == BackupEngineOptions::kLegacyCrc32cAndFileSize ||
                     kind == BackupEngineOptions::kUseDbSessionId;
  if (!known || (flags & ~uint32_t{BackupEngineOptions::kFlagIncludeFileSize}) != 0) {
    return refuse("share_files_with_checksum_naming", "is none of the values that there are");
  }
  return Status::OK();
}

Status BackupStore::MakeAndLock() {
  VARVE_RETURN_IF_ERROR(MakeDirectoryDurably(fs_.get(), directory_));
  VARVE_RETURN_IF_ERROR(fs_->CreateDirIfMissing(PathOf(kMetaFolder), IOOptions(), nullptr));
  // If a database lies in the same directory, LOCK there is the database's own, and the backups'
  // lock is meta/LOCK.
  const bool in_database = fs_->FileExists(CurrentFileName(directory_), IOOptions(), nullptr).ok();
  const std::string lock_file = LockFileName(in_database ? PathOf(kMetaFolder) : directory_);
  IOStatus s = fs_->LockFile(lock_file, IOOptions(), &lock_, nullptr);
  // Without locks in the file system, the user must see to it that only one engine writes at a
  // time.
  if (s.IsNotSupported()) {
    lock_ = nullptr;
  } else if (!s.ok()) {
    lock_ = nullptr;
    return Status::CopyAppendMessage(
        s, ": ",
        "another BackupEngine may have the directory open; BackupEngineReadOnly needs no lock");
  }
  std::vector<std::string> folders = {kPrivateFolder};
  if (options_.share_table_files) {
    folders.emplace_back(options_.share_files_with_checksum ? kSharedChecksumFolder
                                                            : kSharedFolder);
  }
  for (const std::string& folder : folders) {
    VARVE_RETURN_IF_ERROR(fs_->CreateDirIfMissing(PathOf(folder), IOOptions(), nullptr));
  }
  return SyncFolder("");
}

Status BackupStore::SyncFolder(const std::string& relative) const {
  if (!options_.sync) return Status::OK();
  return SyncDirectory(fs_.get(), relative.empty() ? directory_ : PathOf(relative));
}

// Deletes the backups one by one, so that a crash in between leaves the remaining ones valid.
Status BackupStore::DeleteAll() {
  std::vector<BackupID> ids;
  for (const auto& [id, meta] : catalog_.valid()) ids.push_back(id);
  for (const auto& [id, invalid] : catalog_.invalid()) ids.push_back(id);
  for (const BackupID id : ids) VARVE_RETURN_IF_ERROR(Delete(id));
  VARVE_RETURN_IF_ERROR(CollectGarbage());
  return catalog_.Load();  // Ids begin anew.
}

Status BackupStore::DeleteFileIfThere(const std::string& relative) const {
  IOStatus s = fs_->DeleteFile(PathOf(relative), IOOptions(), nullptr);
  return IsMissing(s) ? Status::OK() : Status(s);
}

// Deletes in the reverse order of a creation: first the list, durably, then the files. A crash in
// between leaves garbage, but no list whose files are missing.
Status BackupStore::Delete(BackupID id) {
  VARVE_RETURN_IF_ERROR(CollectExpectedGarbage());
  std::vector<std::string> shared;
  bool understood = true;
  if (const auto it = catalog_.valid().find(id); it != catalog_.valid().end()) {
    for (const BackupFile& file : it->second->files) {
      if (file.parsed.shared) shared.push_back(file.path);
    }
  } else if (const auto bad = catalog_.invalid().find(id); bad == catalog_.invalid().end()) {
    return Status::NotFound(directory_, "has no backup " + std::to_string(id));
  } else if (bad->second.meta != nullptr) {
    for (const BackupFile& file : bad->second.meta->files) {
      if (file.parsed.shared) shared.push_back(file.path);
    }
  } else {
    understood = false;
  }
  VARVE_RETURN_IF_ERROR(DeleteFileIfThere(std::string(kMetaFolder) + "/" + std::to_string(id)));
  // From here on the backup no longer exists, even if a step fails, and its files are garbage.
  garbage_ = true;
  catalog_.Remove(id);
  // The deletion of the list must be durable before files are deleted: after a crash no list may
  // name missing ones.
  VARVE_RETURN_IF_ERROR(SyncFolder(kMetaFolder));
  for (const std::string& path : shared) {
    // Remove has subtracted this backup's count, so any remaining count belongs to another backup.
    // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
    if (MayDeleteShared(path) || VARVE_CANARY(kDeleteSharedFiles))
      VARVE_RETURN_IF_ERROR(DeleteFileIfThere(path));
  }
  VARVE_RETURN_IF_ERROR(DeletePrivateFolder(std::to_string(id)));
  // If the list could not be parsed, only a sweep finds the files that it named, and those that
  // were kept because of it.
  garbage_ = !understood;
  BestEffort([&] { Note("backup " + std::to_string(id) + " deleted"); });
  return Status::OK();
}

Status BackupStore::Purge(uint32_t keep) {
  while (catalog_.valid().size() > keep) {
    VARVE_RETURN_IF_ERROR(Delete(catalog_.valid().begin()->first));
  }
  return CollectExpectedGarbage();
}

Status BackupStore::CollectGarbage() {
  garbage_ = true;
  // SweepMeta must come first: it may find lists that the catalog does not know, whose files are
  // not garbage.
  VARVE_RETURN_IF_ERROR(SweepMeta());
  for (const char* const folder : {kSharedFolder, kSharedChecksumFolder}) {
    VARVE_RETURN_IF_ERROR(SweepShared(folder));
  }
  VARVE_RETURN_IF_ERROR(SweepPrivate());
  garbage_ = false;
  return Status::OK();
}

// Deletes temporary files of lists, and loads the catalog again if it finds a list that is not in
// it: writing or deleting a list may have failed with the list left in place.
Status BackupStore::SweepMeta() {
  std::vector<std::string> entries;
  VARVE_RETURN_IF_ERROR(fs_->GetChildren(PathOf(kMetaFolder), IOOptions(), &entries, nullptr));
  bool unknown = false;
  for (const std::string& entry : entries) {
    const std::optional<BackupID> id = ParseBackupId(entry);
    unknown |=
        id.has_value() && catalog_.valid().count(*id) == 0 && catalog_.invalid().count(*id) == 0;
    if (!IsBackupTempName(entry)) continue;
    VARVE_RETURN_IF_ERROR(DeleteFileIfThere(std::string(kMetaFolder) + "/" + entry));
  }
  return unknown ? catalog_.Load() : Status::OK();
}

bool BackupStore::MayDeleteShared(const std::string& path) const {
  return catalog_.shared().count(path) == 0 && !catalog_.has_unknown_files();
}

Status BackupStore::SweepShared(const std::string& folder) const {
  std::vector<std::string> entries;
  IOStatus s = fs_->GetChildren(PathOf(folder), IOOptions(), &entries, nullptr);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  for (const std::string& entry : entries) {
    const std::string path = folder + "/" + entry;
    if (!IsBackupTempName(entry) && !MayDeleteShared(path)) continue;
    VARVE_RETURN_IF_ERROR(DeleteFileIfThere(path));
  }
  return Status::OK();
}

// The folder of an invalid backup stays: a user may still repair its list.
Status BackupStore::SweepPrivate() const {
  std::vector<std::string> entries;
  VARVE_RETURN_IF_ERROR(fs_->GetChildren(PathOf(kPrivateFolder), IOOptions(), &entries, nullptr));
  for (const std::string& entry : entries) {
    const std::optional<BackupID> id = ParseBackupId(entry);
    if (!id.has_value() || catalog_.valid().count(*id) != 0 || catalog_.invalid().count(*id) != 0) {
      continue;
    }
    VARVE_RETURN_IF_ERROR(DeletePrivateFolder(entry));
  }
  return Status::OK();
}

// Requires that the folder holds files only. After a crash, the next sweep deletes the rest.
Status BackupStore::DeletePrivateFolder(const std::string& name) const {
  const std::string folder = std::string(kPrivateFolder) + "/" + name;
  std::vector<std::string> entries;
  IOStatus s = fs_->GetChildren(PathOf(folder), IOOptions(), &entries, nullptr);
  if (IsMissing(s)) return Status::OK();
  if (!s.ok()) return s;
  for (const std::string& entry : entries) {
    VARVE_RETURN_IF_ERROR(DeleteFileIfThere(folder + "/" + entry));
  }
  return fs_->DeleteDir(PathOf(folder), IOOptions(), nullptr);
}

std::set<std::string> BackupStore::NeededUnsynced() const {
  std::set<std::string> paths = unsynced_.paths();
  std::erase_if(paths, [this](const std::string& path) { return MayDeleteShared(path); });
  return paths;
}

Status BackupStore::NoteUnsynced(const std::vector<std::string>& paths) {
  if (options_.sync || paths.empty()) return Status::OK();
  std::set<std::string> unsynced = NeededUnsynced();
  unsynced.insert(paths.begin(), paths.end());
  return unsynced_.Replace(std::move(unsynced));
}

Status BackupStore::NoteSynced(const std::vector<std::string>& paths) {
  if (!options_.sync || unsynced_.paths().empty()) return Status::OK();
  std::set<std::string> unsynced = NeededUnsynced();
  for (const std::string& path : paths) unsynced.erase(path);
  return unsynced_.Replace(std::move(unsynced));
}

CopyPool::Options BackupStore::CopyOptions(RateLimiter* limiter) const {
  CopyPool::Options copy;
  copy.threads = options_.max_background_operations;
  copy.buffer_bytes = static_cast<size_t>(options_.io_buffer_size);
  copy.sync = options_.sync;
  copy.rate_limiter = limiter;
  copy.report_bytes = options_.callback_trigger_interval_size;
  return copy;
}

void BackupStore::Note(const std::string& text) const {
  if (options_.info_log != nullptr) {
    Log(options_.info_log, "%s: %s", directory_.c_str(), text.c_str());
  }
}

}  // namespace varve
