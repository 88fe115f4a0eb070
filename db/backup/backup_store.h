// SPDX-License-Identifier: Apache-2.0
#pragma once

// BackupStore holds an open backup directory and its catalog, and removes backups from it.
//
// A backup exists while its list in meta/ does. So lists are written last and deleted first, each
// when the files it relies on are durable; anything else that a crash leaves is garbage.
//
//      meta/7                            the list of backup 7
//      private/7/...                     files that it alone has
//      shared_checksum/<table>...        tables, each needed by the backups that list it
//
//      make      files durable  ->  list durable          a crash between leaves garbage
//      delete    list gone, durably  ->  files deleted    a crash between leaves garbage
//
// Garbage is found by comparing the folders with all lists. A list that is not understood may name
// any shared file, so while there is one, all shared files are kept.

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/rate_limiter.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_catalog.h"
#include "db/backup/unsynced_files.h"
#include "db/copy/copy_pool.h"

namespace varve {

// Thread safety: none, except for `stop`; const methods may be called concurrently.
class BackupStore {
 public:
  // Creates, locks and loads the directory; if `read_only`, only loads up to
  // max_valid_backups_to_open backups of it. *store is null after an error. InvalidArgument: an
  // option is out of its range. NotSupported: schema_version is above 2. NotFound: `read_only`, and
  // the directory has no backups. Otherwise an error of the file system, also if another engine
  // holds the lock. `options.backup_env` and `db_env` must outlive the store.
  static Status Open(const BackupEngineOptions& options, Env* db_env, bool read_only,
                     std::unique_ptr<BackupStore>* store);
  ~BackupStore();
  BackupStore(const BackupStore&) = delete;
  BackupStore& operator=(const BackupStore&) = delete;

  // Returns the options of the engine.
  const BackupEngineOptions& options() const { return options_; }
  // Returns the file system of the backup directory.
  FileSystem* fs() const { return fs_.get(); }
  const std::shared_ptr<FileSystem>& shared_fs() const { return fs_; }
  // Returns the Env in which databases are restored.
  Env* db_env() const { return db_env_; }
  Env* backup_env() const { return backup_env_; }
  const std::string& directory() const { return directory_; }
  // Returns the backups that the directory has.
  const BackupCatalog& catalog() const { return catalog_; }
  BackupCatalog* mutable_catalog() { return &catalog_; }
  std::string PathOf(const std::string& relative) const { return catalog_.PathOf(relative); }

  // Deletes a backup: its list, then the files that no other backup has. While a list is not
  // understood, shared files stay. NotFound: there is no such backup. After another error its list
  // may be gone; the next change of the directory then deletes the rest.
  Status Delete(BackupID id);
  // Deletes the oldest valid backups until at most `keep` are left.
  Status Purge(uint32_t keep);
  // Deletes files that no list names. While a list is not understood, shared files stay.
  Status CollectGarbage();
  // Makes the next change of the directory collect garbage first.
  void ExpectGarbage() { garbage_ = true; }
  Status CollectExpectedGarbage() { return garbage_ ? CollectGarbage() : Status::OK(); }

  // Returns true if a power loss may destroy the shared file, so that a durable backup must copy it
  // anew.
  bool MayBeUnsynced(const std::string& path) const { return unsynced_.paths().count(path) != 0; }
  // Record the shared files that a backup has copied. NoteUnsynced must be called before they get
  // their names, and does nothing if the option `sync` is set. NoteSynced must be called once the
  // names are durable, and does nothing unless `sync` is set.
  Status NoteUnsynced(const std::vector<std::string>& paths);
  Status NoteSynced(const std::vector<std::string>& paths);

  // Returns options for copying files of the directory; the caller sets the file systems.
  CopyPool::Options CopyOptions(RateLimiter* limiter) const;
  RateLimiter* backup_limiter() const { return backup_limiter_.get(); }
  RateLimiter* restore_limiter() const { return restore_limiter_.get(); }
  // True once StopBackup was called: running and later backups return Incomplete.
  std::atomic<bool>& stop() { return stop_; }
  // Makes the names in a folder of the directory durable, if the options ask for it.
  Status SyncFolder(const std::string& relative) const;
  // Writes a line to the log of the options, if there is one.
  void Note(const std::string& text) const;

 private:
  BackupStore(const BackupEngineOptions& options, Env* db_env);

  // Returns InvalidArgument for an option that is out of its range, and NotSupported for a later
  // schema.
  Status CheckOptions(bool read_only) const;
  // Makes the folders that the options need, and locks the directory against other engines.
  Status MakeAndLock();
  // Deletes every backup, including invalid ones, for the option destroy_old_data.
  Status DeleteAll();
  // Deletes a file; a missing one is no error.
  Status DeleteFileIfThere(const std::string& relative) const;
  // Deletes the folder with the files of one backup alone.
  Status DeletePrivateFolder(const std::string& name) const;
  // Returns true if no list names the shared file, and every list could be parsed.
  bool MayDeleteShared(const std::string& path) const;
  // Returns the paths of unsynced files that are not garbage.
  std::set<std::string> NeededUnsynced() const;
  // Delete garbage: shared files that no list names, private folders without a list, and unfinished
  // lists.
  Status SweepShared(const std::string& folder) const;
  Status SweepPrivate() const;
  Status SweepMeta();

  const BackupEngineOptions options_;
  Env* const db_env_;
  Env* const backup_env_;
  const std::shared_ptr<FileSystem> fs_;
  const std::string directory_;
  BackupCatalog catalog_;
  UnsyncedFiles unsynced_;  // Not loaded by a read-only store.
  std::shared_ptr<RateLimiter> backup_limiter_;
  std::shared_ptr<RateLimiter> restore_limiter_;
  FileLock* lock_ = nullptr;       // Null: read-only, or the file system has no locks.
  bool garbage_ = false;           // True: there may be files that no list names.
  std::atomic<bool> stop_{false};  // Only a request, so relaxed.
};

}  // namespace varve
