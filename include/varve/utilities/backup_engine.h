// SPDX-License-Identifier: Apache-2.0
#pragma once

// BackupEngine makes backups of open databases in a directory of its own, where backups share the
// tables that they have in common, and restores databases from them. The directory has RocksDB's
// format: either engine reads, verifies and restores what the other has written.
//
//   varve::BackupEngine* raw = nullptr;
//   varve::Status s = varve::BackupEngine::Open(
//       varve::Env::Default(), varve::BackupEngineOptions("/backup/my.db"), &raw);
//   const std::unique_ptr<varve::BackupEngine> engine(raw);
//   if (s.ok()) s = engine->CreateNewBackup(db);
//   if (s.ok()) s = engine->PurgeOldBackups(7);
//   ...
//   s = engine->RestoreDBFromLatestBackup("my.db", "my.db");  // once it is closed

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

// Name of the checksum in BackupInfo::file_details: four bytes, most significant first.
constexpr char kBackupFileChecksumFuncName[] = "crc32c";
// Name of the checksum in the MANIFEST that backups compare their copies with.
constexpr char kDbFileChecksumFuncName[] = "FileChecksumCrc32c";

// Options of an engine, copied when it is opened. The constructor's defaults make backups that
// share tables, are durable when they exist, and contain the logs, with one copying thread and no
// limit of the rate.
struct VARVE_EXPORT BackupEngineOptions {
  // Directory that holds the backups. Calls that write create it if it is missing. It may be the
  // directory of the database itself, to which these backups then cannot be restored.
  std::string backup_dir;
  // Env for the files of the backup directory; null means `db_env` of Open. Not owned: it must
  // outlive the engine.
  Env* backup_env;
  // If true, backups share the tables that they have in common; otherwise each has its own copies.
  bool share_table_files;
  // Receives messages; null means that nothing is logged. Not owned: it must outlive the engine.
  Logger* info_log;
  // If true, the files of a backup are durable before the backup exists. Otherwise a power loss can
  // leave a damaged backup, and later backups with `sync` copy the tables of this one anew.
  bool sync;
  // If true, opening deletes all existing backups.
  bool destroy_old_data;
  // If false, data that is in no table file is not in the backup; see
  // CreateBackupOptions::flush_before_backup.
  bool backup_log_files;
  // Bytes written per second by backups; 0: no limit.
  uint64_t backup_rate_limit;
  // Replaces backup_rate_limit if set. It limits reads too if its mode says so.
  std::shared_ptr<RateLimiter> backup_rate_limiter{nullptr};
  // Bytes written per second by restores; 0: no limit. restore_rate_limiter replaces it if it is
  // set.
  uint64_t restore_rate_limit;
  std::shared_ptr<RateLimiter> restore_rate_limiter{nullptr};
  // If true, the names of shared tables distinguish those of several databases, or of several
  // histories of one database. If false, backups of two databases or histories in one directory
  // overwrite each other's tables, so data is lost.
  bool share_files_with_checksum;
  // Number of threads that copy files, at least 1.
  int max_background_operations;
  // CreateBackupOptions::progress_callback is called each time one thread has copied this many more
  // bytes; at least 1.
  uint64_t callback_trigger_interval_size;
  // Read-only engines open at most this many backups, the newest ones.
  int max_valid_backups_to_open;

  // Says what the name of a shared table contains besides its number.
  enum ShareFilesNaming : uint32_t {
    // The name has the checksum and the size, so every backup reads each table to know its name.
    kLegacyCrc32cAndFileSize = 1U,
    // The name has the session id of the database that wrote the table. Tables without one have
    // legacy names.
    kUseDbSessionId = 2U,
    // Select the bits that hold the kind of name, and those that hold flags.
    kMaskNoNamingFlags = 0xffffU,
    // The name also has the size; combined with kUseDbSessionId.
    kFlagIncludeFileSize = 1U << 31,
    kMaskNamingFlags = ~kMaskNoNamingFlags,
  };
  // Default: kUseDbSessionId with kFlagIncludeFileSize.
  ShareFilesNaming share_files_with_checksum_naming;

  // 1 is readable by every version of RocksDB. 2 also stores sizes, temperatures, the excluded
  // files, and a checksum of the list of files.
  int schema_version = 1;
  // Advisory: the stored temperatures are always those that GetLiveFilesStorageInfo returns.
  bool current_temperatures_override_manifest = false;
  // Size of each thread's buffer in bytes; 0 means 1 MiB.
  uint64_t io_buffer_size = 0;

  // Listeners that are notified of restores (OnDataMoved); backups notify the listeners of the
  // database. Varve's own.
  std::vector<std::shared_ptr<EventListener>> listeners;

  // Writes the options to `logger`. Does nothing if it is null.
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

// Describes a shared file that is, or may be, excluded from a backup.
struct BackupExcludedFileInfo {
  explicit BackupExcludedFileInfo(const std::string& _relative_file)
      : relative_file(_relative_file) {}

  // Path of the file relative to the backup directory.
  std::string relative_file;
};

// Asks CreateBackupOptions::exclude_files_callback about one file, and holds its answer.
struct MaybeExcludeBackupFile {
  explicit MaybeExcludeBackupFile(BackupExcludedFileInfo&& _info) : info(std::move(_info)) {}

  // The file in question.
  const BackupExcludedFileInfo info;
  // The callback sets it to true to exclude the file.
  bool exclude_decision = false;
};

// Options of one backup.
struct CreateBackupOptions {
  // If true, memtables are flushed first, so that the backup contains writes that were not logged.
  bool flush_before_backup = false;
  // If true, that flush is one atomic flush of all column families.
  bool atomic_flush = false;

  // Called by the copying threads, several at a time; see callback_trigger_interval_size. If it
  // throws, the backup is abandoned with Aborted. It must not call this engine, but for StopBackup:
  // such calls return Busy, and those that return no status throw.
  std::function<void()> progress_callback = {};

  // Called once, with all shared files that would otherwise be copied. It may exclude those that
  // exist elsewhere; a restore must then find them in one of RestoreOptions::alternate_dirs.
  // Requires schema_version 2. If it throws, the backup is abandoned with Aborted.
  std::function<void(MaybeExcludeBackupFile* files_begin, MaybeExcludeBackupFile* files_end)>
      exclude_files_callback = {};

  // If true, the copying threads run at background_thread_cpu_priority if it is lower than theirs.
  bool decrease_background_thread_cpu_priority = false;
  CpuPriority background_thread_cpu_priority = CpuPriority::kNormal;
};

// Options of one restore.
struct RestoreOptions {
  // Says which tables of an existing database are kept instead of being copied.
  enum Mode : uint32_t {
    // Keeps tables that are the backup's by number, session id and size. A file that the backup
    // excludes may be among them.
    kKeepLatestDbSessionIdFiles = 1U,
    // Keeps tables that are read in full and have the checksum stored in the backup.
    kVerifyChecksum = 2U,
    // Keeps no table.
    kPurgeAllFiles = 0xffffU,
  };

  // If true, logs in wal_dir stay, archived logs move back to it, and logs of the backup do not
  // replace them. Meant for databases whose tables are backed up and whose logs are kept elsewhere.
  bool keep_log_files;

  // Engines over directories that hold the files which the backup excludes; the first that has a
  // file supplies it. Not owned.
  std::forward_list<BackupEngineReadOnlyBase*> alternate_dirs;

  // The default, kPurgeAllFiles, trusts no file of the existing database. The others save copying
  // where most tables of the backup are still there.
  Mode mode;

  explicit RestoreOptions(bool _keep_log_files = false, Mode _mode = Mode::kPurgeAllFiles)
      : keep_log_files(_keep_log_files), mode(_mode) {}
};

// Identifies a backup within its directory. Ids begin at 1 and grow. The id of the newest backup is
// used again once it is deleted and the directory is opened anew.
using BackupID = uint32_t;

using BackupFileInfo = FileStorageInfo;

// Describes a backup, as it was when the information was requested.
struct BackupInfo {
  // The number of the backup, by which calls name it.
  BackupID backup_id = 0U;
  // Time of the backup in seconds since 1970.
  int64_t timestamp = 0;
  // Bytes of all its files, shared ones included.
  uint64_t size = 0U;
  // Number of its files, shared ones included.
  uint32_t number_files = 0U;
  // The bytes that CreateNewBackupWithMetadata was given; empty if there were none.
  std::string app_metadata;

  // The members below are filled in only with include_file_details.

  // Files of the backup, with sizes and, as far as known, checksums; and files that it excludes.
  std::vector<BackupFileInfo> file_details;
  std::vector<BackupExcludedFileInfo> excluded_files;
  // Name and Env with which DB::OpenForReadOnly opens the backup in place; wal_dir must be empty or
  // that name. The Env may outlive the engine.
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

// Two counters for programs that record the results of backups. Not thread-safe.
class VARVE_EXPORT BackupStatistics {
 public:
  // Makes counters of zero.
  BackupStatistics() = default;
  explicit BackupStatistics(uint32_t _number_success_backup, uint32_t _number_fail_backup)
      : number_success_backup(_number_success_backup), number_fail_backup(_number_fail_backup) {}

  // Count one backup that was made, or that failed. The engine does not call them.
  void IncrementNumberSuccessBackup() { number_success_backup++; }
  void IncrementNumberFailBackup() { number_fail_backup++; }
  uint32_t GetNumberSuccessBackup() const { return number_success_backup; }
  uint32_t GetNumberFailBackup() const { return number_fail_backup; }
  // Returns both numbers as text.
  std::string ToString() const;

 private:
  uint32_t number_success_backup = 0;
  uint32_t number_fail_backup = 0;
};

// The calls that do not change the backup directory. Thread-safe: several of them may run at once,
// but none together with a call that changes the directory.
class VARVE_EXPORT BackupEngineReadOnlyBase {
 public:
  virtual ~BackupEngineReadOnlyBase() = default;

  // Gets the newest valid backup. NotFound: there is no valid backup.
  virtual Status GetLatestBackupInfo(BackupInfo* backup_info,
                                     bool include_file_details = false) const = 0;
  // Describes one backup. NotFound: there is no such backup. Corruption or another error: the
  // backup is not valid.
  virtual Status GetBackupInfo(BackupID backup_id, BackupInfo* backup_info,
                               bool include_file_details = false) const = 0;
  // Gets all valid backups, ordered by id. A call from CreateBackupOptions::progress_callback of
  // the same engine would deadlock: it throws, as there is no status to return. The exception is no
  // std::exception; if it leaves the callback, the creation of the backup fails with Busy. Also
  // throws std::bad_alloc.
  virtual void GetBackupInfo(std::vector<BackupInfo>* backup_infos,
                             bool include_file_details = false) const = 0;
  // Gets the ids of backups whose list of files cannot be parsed, or that lack a file.
  // GetBackupInfo returns the reason. Throws as the GetBackupInfo above does.
  virtual void GetCorruptedBackups(std::vector<BackupID>* corrupt_backup_ids) const = 0;

  // Restores the database in db_dir to its state at the time of the backup. Its logs go to wal_dir,
  // or to db_dir if wal_dir is empty. No engine may have the database open (IOError: the lock is
  // held).
  //
  // Everything is first copied beside the old database and checked: sizes, checksums, the MANIFEST,
  // and the footer and identity of each table. Up to then an error leaves the old database
  // unchanged. Then the new files replace the old ones; if the process dies meanwhile, the next
  // opening by Varve finds the old database, while other engines refuse CURRENT.
  //
  // NotFound: there is no such backup. Corruption: a file of the backup is damaged.
  // InvalidArgument: db_dir has files that belong to no database, or a file that the backup
  // excludes is not found.
  virtual IOStatus RestoreDBFromBackup(const RestoreOptions& options, BackupID backup_id,
                                       const std::string& db_dir,
                                       const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromBackup(BackupID backup_id, const std::string& db_dir,
                                       const std::string& wal_dir,
                                       const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromBackup(options, backup_id, db_dir, wal_dir);
  }
  // Restores the newest valid backup, like the calls above.
  virtual IOStatus RestoreDBFromLatestBackup(const RestoreOptions& options,
                                             const std::string& db_dir,
                                             const std::string& wal_dir) const = 0;
  virtual IOStatus RestoreDBFromLatestBackup(
      const std::string& db_dir, const std::string& wal_dir,
      const RestoreOptions& options = RestoreOptions()) const {
    return RestoreDBFromLatestBackup(options, db_dir, wal_dir);
  }

  // Checks that each file of a backup exists and has its recorded size; with verify_with_checksum
  // also reads all of them and compares their checksums. NotFound: there is no such backup, or it
  // lacks a file. Corruption: a size or a checksum is wrong. Files that the backup excludes are not
  // checked.
  virtual IOStatus VerifyBackup(BackupID backup_id, bool verify_with_checksum = false) const = 0;

  // Returns this engine if it can write, otherwise null.
  virtual BackupEngine* AsBackupEngine() = 0;
};

// The calls that add to the backup directory. Each of them runs alone.
class VARVE_EXPORT BackupEngineAppendOnlyBase {
 public:
  virtual ~BackupEngineAppendOnlyBase() = default;

  // Creates a backup of an open database with any column families, which may be written to
  // meanwhile. app_metadata, at most 1 MiB, is returned in BackupInfo. Sets *new_backup_id on
  // success, unless it is null. After an error there is no backup.
  //
  // NotSupported: the tables lie in several directories, or the database is a secondary with writes
  // that are in no table. Incomplete: StopBackup was called.
  virtual IOStatus CreateNewBackupWithMetadata(const CreateBackupOptions& options, DB* db,
                                               const std::string& app_metadata,
                                               BackupID* new_backup_id = nullptr) = 0;
  // Do the same with fewer options; CreateNewBackup stores no metadata.
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

  // Stops the backup that is being created: it soon returns Incomplete, and so does every later one
  // of this engine. Returns at once; any thread may call it at any time.
  virtual void StopBackup() = 0;

  // Deletes the files that interrupted creations and deletions have left. Calls that change the
  // directory also do so when they know of such files. While the list of files of some backup
  // cannot be parsed, shared files that no other backup has are kept, because they may belong to
  // it.
  virtual IOStatus GarbageCollect() = 0;
};

// An engine with exclusive access to the backup directory: it holds a LOCK file there, and no other
// writing engine of Varve can open the directory meanwhile (IOError).
class VARVE_EXPORT BackupEngine : public BackupEngineReadOnlyBase,
                                  public BackupEngineAppendOnlyBase {
 public:
  ~BackupEngine() override = default;

  // Opens the directory of backups, and creates it if it is missing. The caller owns
  // *backup_engine_ptr, which is null on failure. `db_env` is where databases are restored; null
  // means the default Env. InvalidArgument: an option is out of its range. IOError: another engine
  // holds the lock.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngine** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngine** backup_engine_ptr) {
    return BackupEngine::Open(options, db_env, backup_engine_ptr);
  }

  // Deletes valid backups, the oldest first, until at most num_backups_to_keep are left.
  virtual IOStatus PurgeOldBackups(uint32_t num_backups_to_keep) = 0;
  // Deletes one backup, valid or not, and the files that no other backup has. NotFound: there is no
  // such backup.
  virtual IOStatus DeleteBackup(BackupID backup_id) = 0;
};

// An engine that changes nothing in the backup directory and takes no lock.
class VARVE_EXPORT BackupEngineReadOnly : public BackupEngineReadOnlyBase {
 public:
  ~BackupEngineReadOnly() override = default;

  // Opens a directory of backups for reading. NotFound: there is none. The caller owns
  // *backup_engine_ptr, which is null on failure. `db_env` is where databases are restored; null
  // means the default Env.
  static IOStatus Open(const BackupEngineOptions& options, Env* db_env,
                       BackupEngineReadOnly** backup_engine_ptr);
  static IOStatus Open(Env* db_env, const BackupEngineOptions& options,
                       BackupEngineReadOnly** backup_engine_ptr) {
    return BackupEngineReadOnly::Open(options, db_env, backup_engine_ptr);
  }
};

}  // namespace varve
