// SPDX-License-Identifier: Apache-2.0
#pragma once

// BackupEngine: backups of open databases in a directory of their own, which share the tables that
// they have in common, and databases restored from them. The directory is RocksDB's: either engine
// reads, verifies and restores what the other has written.

#include <cassert>
#include <climits>
#include <cstdint>
#include <forward_list>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/env.h"
#include "varve/export.h"
#include "varve/io_status.h"
#include "varve/metadata.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

class BackupEngine;
class BackupEngineReadOnlyBase;
class DB;
class EventListener;
class RateLimiter;

// Name of the checksum that file_details have: four bytes, most significant first.
constexpr char kBackupFileChecksumFuncName[] = "crc32c";
// Name of the checksum in the MANIFEST that backups compare their copies with.
constexpr char kDbFileChecksumFuncName[] = "FileChecksumCrc32c";

struct VARVE_EXPORT BackupEngineOptions {
  // Where backups are kept; also the directory of the database itself, which they then cannot be
  // restored to. Calls that write make it if it is missing.
  std::string backup_dir;
  // For files of the backup directory; null: the database's. Not owned.
  Env* backup_env;
  // Backups share tables that they have in common. Otherwise each has copies of its own.
  bool share_table_files;
  Logger* info_log;  // Null: nothing is logged. Not owned.
  // What a backup has is durable before the backup is there. Without that a power loss can leave a
  // backup that is damaged.
  bool sync;
  bool destroy_old_data;  // Opening deletes all backups that there are.
  // Without logs, what is in no table is not in the backup; see
  // CreateBackupOptions::flush_before_backup.
  bool backup_log_files;
  uint64_t backup_rate_limit;  // Bytes written a second; 0: no limit.
  // Takes the place of backup_rate_limit. Reads ask it, too, if its mode says so.
  std::shared_ptr<RateLimiter> backup_rate_limiter{nullptr};
  uint64_t restore_rate_limit;  // Likewise.
  std::shared_ptr<RateLimiter> restore_rate_limiter{nullptr};
  // Shared tables have names that tell those of several databases, or of several histories of one,
  // apart. Switched off, backups of two histories in one directory lose data.
  bool share_files_with_checksum;
  int max_background_operations;  // Threads that copy, at least 1.
  // The progress callback is called each time a thread has copied so many bytes; at least 1.
  uint64_t callback_trigger_interval_size;
  // Engines that only read look at no more than so many backups, the newest.
  int max_valid_backups_to_open;

  // What is in the name of a shared table, beside its number.
  enum ShareFilesNaming : uint32_t {
    kLegacyCrc32cAndFileSize = 1U,  // Every backup reads each table to know its name.
    kUseDbSessionId = 2U,           // Tables without a session id have legacy names.
    kMaskNoNamingFlags = 0xffffU,
    kFlagIncludeFileSize = 1U << 31,  // With kUseDbSessionId.
    kMaskNamingFlags = ~kMaskNoNamingFlags,
  };
  ShareFilesNaming share_files_with_checksum_naming;

  // 1: read by every version of RocksDB. 2: also keeps sizes, temperatures and what was left out,
  // and a checksum of the list of files.
  int schema_version = 1;
  // Advisory: the temperatures are always those that GetLiveFilesStorageInfo gives.
  bool current_temperatures_override_manifest = false;
  // Bytes of each thread's buffer; 0: 1 MiB.
  uint64_t io_buffer_size = 0;

  // Told of restores (OnDataMoved); of backups the listeners of the database are. Varve's own.
  std::vector<std::shared_ptr<EventListener>> listeners;

  // Writes the options to a log. Does nothing if it is null.
  void Dump(Logger* logger) const;

  // NOLINTNEXTLINE(readability-function-size): RocksDB's
  explicit BackupEngineOptions(const std::string& _backup_dir, Env* _backup_env = nullptr,
                               bool _share_table_files = true, Logger* _info_log = nullptr,
                               bool _sync = true, bool _destroy_old_data = false,
                               bool _backup_log_files = true, uint64_t _backup_rate_limit = 0,
                               uint64_t _restore_rate_limit = 0, int _max_background_operations = 1,
                               uint64_t _callback_trigger_interval_size = 4 * 1024 * 1024,
                               int _max_valid_backups_to_open = INT_MAX,
                               ShareFilesNaming _share_files_with_checksum_naming =
                                   static_cast<ShareFilesNaming>(kUseDbSessionId |
                                                                 kFlagIncludeFileSize))
      : backup_dir(_backup_dir),
        backup_env(_backup_env),
        share_table_files(_share_table_files),
        info_log(_info_log),
        sync(_sync),
        destroy_old_data(_destroy_old_data),
        backup_log_files(_backup_log_files),
        backup_rate_limit(_backup_rate_limit),
        restore_rate_limit(_restore_rate_limit),
        share_files_with_checksum(true),
        max_background_operations(_max_background_operations),
        callback_trigger_interval_size(_callback_trigger_interval_size),
        max_valid_backups_to_open(_max_valid_backups_to_open),
        share_files_with_checksum_naming(_share_files_with_checksum_naming) {}
};

inline BackupEngineOptions::ShareFilesNaming operator&(BackupEngineOptions::ShareFilesNaming a,
                                                       BackupEngineOptions::ShareFilesNaming b) {
  return static_cast<BackupEngineOptions::ShareFilesNaming>(static_cast<uint32_t>(a) &
                                                            static_cast<uint32_t>(b));
}
inline BackupEngineOptions::ShareFilesNaming operator|(BackupEngineOptions::ShareFilesNaming a,
                                                       BackupEngineOptions::ShareFilesNaming b) {
  return static_cast<BackupEngineOptions::ShareFilesNaming>(static_cast<uint32_t>(a) |
                                                            static_cast<uint32_t>(b));
}

// A shared file that is, or may be, left out of a backup.
struct BackupExcludedFileInfo {
  explicit BackupExcludedFileInfo(const std::string& _relative_file)
      : relative_file(_relative_file) {}

  std::string relative_file;  // Within the backup directory.
};

// One of the files that CreateBackupOptions::exclude_files_callback decides about.
struct MaybeExcludeBackupFile {
  explicit MaybeExcludeBackupFile(BackupExcludedFileInfo&& _info) : info(std::move(_info)) {}

  const BackupExcludedFileInfo info;
  bool exclude_decision = false;  // True: it is left out.
};

struct CreateBackupOptions {
  // Memtables are flushed first, so that what was written without a log is in the backup.
  bool flush_before_backup = false;
  // That flush takes all column families together.
  bool atomic_flush = false;

  // Called by threads that copy, several at a time; see callback_trigger_interval_size. If it
  // throws, the backup is given up: Aborted. Calls of the same engine but StopBackup are refused in
  // it: Busy, and those that return no status throw.
  std::function<void()> progress_callback = {};

  // May leave out shared files that would be copied now, as they are in another place; they have to
  // be in one of RestoreOptions::alternate_dirs later. Needs schema_version 2. If it throws, the
  // backup is given up: Aborted.
  std::function<void(MaybeExcludeBackupFile* files_begin, MaybeExcludeBackupFile* files_end)>
      exclude_files_callback = {};

  // The threads that copy have background_thread_cpu_priority, if it is lower than theirs.
  bool decrease_background_thread_cpu_priority = false;
  CpuPriority background_thread_cpu_priority = CpuPriority::kNormal;
};

struct RestoreOptions {
  // Which tables of the database that is there are kept, instead of being copied.
  enum Mode : uint32_t {
    // Those that number, session and size say are the backup's. A file that the backup leaves out
    // may be among them.
    kKeepLatestDbSessionIdFiles = 1U,
    // Those that are read, and have the backup's checksum.
    kVerifyChecksum = 2U,
    kPurgeAllFiles = 0xffffU,  // None.
  };

  // Logs that are in wal_dir stay, and archived ones go back to it; logs of the backup do not
  // replace them. For databases whose tables are backed up and whose logs are kept elsewhere.
  bool keep_log_files;

  // Engines over directories that have what the backup leaves out. Not owned.
  std::forward_list<BackupEngineReadOnlyBase*> alternate_dirs;

  Mode mode;

  explicit RestoreOptions(bool _keep_log_files = false, Mode _mode = Mode::kPurgeAllFiles)
      : keep_log_files(_keep_log_files), mode(_mode) {}
};

using BackupID = uint32_t;  // From 1, growing; that of the newest backup is used again once it has
                            // been deleted and the directory is opened anew.

using BackupFileInfo = FileStorageInfo;

struct BackupInfo {
  BackupID backup_id = 0U;
  int64_t timestamp = 0;  // When it was made, seconds since 1970.
  uint64_t size = 0U;     // Bytes of all its files, those that it shares, too.
  uint32_t number_files = 0U;
  std::string app_metadata;

  // The rest is filled in only with include_file_details.

  std::vector<BackupFileInfo> file_details;
  std::vector<BackupExcludedFileInfo> excluded_files;
  // A name and an Env with which DB::OpenForReadOnly opens the backup where it is; wal_dir stays
  // empty, or is the name, too. The Env may outlive the engine.
  std::string name_for_open;
  std::shared_ptr<Env> env_for_open;

  BackupInfo() = default;
  explicit BackupInfo(BackupID _backup_id, int64_t _timestamp, uint64_t _size,
                      uint32_t _number_files, const std::string& _app_metadata)
      : backup_id(_backup_id),
        timestamp(_timestamp),
        size(_size),
        number_files(_number_files),
        app_metadata(_app_metadata) {}
};

// Two counters for programs that keep such a record. Thread safety: none.
class VARVE_EXPORT BackupStatistics {
 public:
  BackupStatistics() = default;
  explicit BackupStatistics(uint32_t _number_success_backup, uint32_t _number_fail_backup)
      : number_success_backup(_number_success_backup), number_fail_backup(_number_fail_backup) {}

  void IncrementNumberSuccessBackup() { number_success_backup++; }
  void IncrementNumberFailBackup() { number_fail_backup++; }
  uint32_t GetNumberSuccessBackup() const { return number_success_backup; }
  uint32_t GetNumberFailBackup() const { return number_fail_backup; }
  std::string ToString() const;

 private:
  uint32_t number_success_backup = 0;
  uint32_t number_fail_backup = 0;
};

// Calls that do not change the backup directory. Thread-safe: several of them run at once, beside
// none that changes it.
class VARVE_EXPORT BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnlyBase() = default;

  // NotFound: there is no valid backup.
  virtual Status GetLatestBackupInfo(BackupInfo* backup_info,
                                     bool include_file_details = false) const = 0;
  // NotFound: there is no such backup. Corruption, or what else is wrong with it: it is not valid.
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                               bool include_file_details = false) const = 0;
  // Of all valid backups, by id.
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                             bool include_file_details = false) const = 0;
  // Ids of those whose list of files cannot be understood, or that lack a file. GetBackupInfo says
  // why.
  virtual void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Makes db_dir the database as it was when the backup was made. Its logs go to wal_dir, db_dir if
  // that is empty. No engine has it open (IOError: the lock is held).
  //
  // Everything is copied beside the old database and checked first: sizes, checksums, the MANIFEST,
  // the footer and the identity of each table. Until then an error leaves the old database as it
  // was. Then the old files make room; if the process dies meanwhile, the next opening by Varve
  // finds the old database, while other engines refuse CURRENT.
  //
  // NotFound: no such backup. Corruption: a file of it is not what it should be. InvalidArgument:
  // db_dir has files that belong to no database; or a file that the backup leaves out is not found.
  virtual IOStatus RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                                       const std::string& db_dir,
                                       const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromBackup(BackupID backup_id, const std::string& db_dir,
                                       const std::string& wal_dir,
                                       const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, backup_id, db_dir, wal_dir);
  }
  // The same with the newest valid backup.
  virtual IOStatus RestoreDBFromLatestBackup(const RestoreOptions& options,
                                             const std::string& db_dir,
                                             const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromLatestBackup(
      const std::string& db_dir, const std::string& wal_dir,
      const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }

  // Whether each file of a backup is there and as large as it was; with verify_with_checksum all of
  // them are read, too. NotFound: there is no such backup, or it lacks a file. Corruption: a size
  // or a checksum is wrong. Files that the backup leaves out are not looked at.
  virtual IOStatus VerifyBackup(BackupID backup_id, bool verify_with_checksum = false) const = 0;

  // Null unless this engine can write.
  virtual BackupEngine* AsBackupEngine() = 0;
};

// Calls that add to the backup directory. Each runs alone.
class VARVE_EXPORT BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngineAppendOnlyBase() = default;

  // Backs an open database up, of any column families, also while it is written to. app_metadata,
  // at most 1 MiB, comes back in BackupInfo. *new_backup_id is set on success, unless it is null.
  // An error leaves no backup.
  //
  // NotSupported: the tables lie in several directories. Incomplete: StopBackup.
  virtual IOStatus CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                               const std::string& app_metadata,
                                               BackupID* new_backup_id = nullptr) = 0;
  virtual IOStatus CreateNewBackupWithMetadata(DB* db, const std::string& app_metadata,
                                               bool flush_before_backup = false,
                                               std::function<void()> progress_callback = {}) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    options.progress_callback = std::move(progress_callback);
    return CreateNewBackupWithMetadata(options, db, app_metadata);
  }
  virtual IOStatus CreateNewBackup(const CreateBackupOptions& options, DB* db,
                                   BackupID* new_backup_id = nullptr) {
    return CreateNewBackupWithMetadata(options, db, "", new_backup_id);
  }
  virtual IOStatus CreateNewBackup(DB* db, bool flush_before_backup = false,
                                   std::function<void()> progress_callback = {}) {
    CreateBackupOptions options;
    options.flush_before_backup = flush_before_backup;
    options.progress_callback = std::move(progress_callback);
    return CreateNewBackup(options, db);
  }

  // Ends a backup that is being made: it returns Incomplete soon, and so does every later one of
  // this engine. Returns at once; any thread may call it at any time.
  virtual void StopBackup() = 0;

  // Deletes what creations and deletions that were cut short have left. Calls that change the
  // directory do that as well where they know of such. While a backup's list of files cannot be
  // understood, shared files that no other backup has are kept: they may be its.
  virtual IOStatus GarbageCollect() = 0;
};

// An engine that has the backup directory to itself: it holds a LOCK there, and no other one that
// writes, of Varve's, opens the directory meanwhile (IOError).
class VARVE_EXPORT BackupEngine : public BackupEngineReadOnlyBase,
                                  public BackupEngineAppendOnlyBase {
 public:
  ~BackupEngine() override = default;

  // Makes the directory if it is missing. The caller owns *backup_engine_ptr, null on failure.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngine** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngine** backup_engine_ptr) {
    return BackupEngine::Open(options, db_env, backup_engine_ptr);
  }

  // Deletes valid backups, the oldest first, until no more than so many are left.
  virtual IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) = 0;
  // Deletes one, valid or not, and the files that no other has. NotFound: there is none.
  virtual IOStatus DeleteBackup(BackupID backup_id) = 0;
};

// An engine that changes nothing in the backup directory, and takes no lock.
class VARVE_EXPORT BackupEngineReadOnly : public BackupEngineReadOnlyBase {
 public:
  ~BackupEngineReadOnly() override = default;

  // NotFound: there are no backups. The caller owns *backup_engine_ptr, null on failure.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngineReadOnly** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngineReadOnly** backup_engine_ptr) {
    return BackupEngineReadOnly::Open(options, db_env, backup_engine_ptr);
  }
};

}  // namespace varve
