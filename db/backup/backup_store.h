// SPDX-License-Identifier: Apache-2.0
#pragma once

// BackupStore holds an open backup directory and its catalog, and removes backups from it.
//
// A backup exists while its list in meta/ does. So lists are written last and deleted first, each
// when the files it relies on are durable; anything else that a crash leaves is garbage.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "varve/file_system.h"
#include "varve/rate_limiter.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_catalog.h"
#include "db/copy/copy_pool.h"

namespace varve {

// Thread safety: none, except for `stop`; const methods may run beside each other.
class BackupStore {
 public:
  // Makes, locks and reads the directory; with `read_only` it is only read.
  static Status Open(const BackupEngineOptions& options, Env* db_env, bool read_only,
                     std::unique_ptr<BackupStore>* store);
  ~BackupStore();
  BackupStore(const BackupStore&) = delete;
  BackupStore& operator=(const BackupStore&) = delete;

  const BackupEngineOptions& options() const { return options_; }
  FileSystem* fs() const { return fs_.get(); }
  const std::shared_ptr<FileSystem>& shared_fs() const { return fs_; }
  // Returns the Env of databases that are restored.
  Env* db_env() const { return db_env_; }
  Env* backup_env() const { return backup_env_; }
  const std::string& directory() const { return directory_; }
  const BackupCatalog& catalog() const { return catalog_; }
  BackupCatalog* mutable_catalog() { return &catalog_; }
  std::string PathOf(const std::string& relative) const { return catalog_.PathOf(relative); }

  Status Delete(BackupID id);
  Status Purge(uint32_t keep);
  Status CollectGarbage();
  // Makes the next change of the directory collect garbage first.
  void ExpectGarbage() { garbage_ = true; }
  Status CollectExpectedGarbage() { return garbage_ ? CollectGarbage() : Status::OK(); }

  // Returns options for copying files of the directory; the caller sets the file systems.
  CopyPool::Options CopyOptions(RateLimiter* limiter) const;
  RateLimiter* backup_limiter() const { return backup_limiter_.get(); }
  RateLimiter* restore_limiter() const { return restore_limiter_.get(); }
  std::atomic<bool>& stop() { return stop_; }
  // Makes the names in a folder of the directory durable, if the options ask for it.
  Status SyncFolder(const std::string& relative) const;
  void Note(const std::string& text) const;

 private:
  BackupStore(const BackupEngineOptions& options, Env* db_env);

  Status CheckOptions(bool read_only) const;
  Status MakeAndLock();
  Status DeleteAll();
  Status DeleteFileIfThere(const std::string& relative) const;
  Status DeletePrivateFolder(const std::string& name) const;
  Status SweepShared(const std::string& folder) const;
  Status SweepPrivate() const;
  Status SweepMeta();

  const BackupEngineOptions options_;
  Env* const db_env_;
  Env* const backup_env_;
  const std::shared_ptr<FileSystem> fs_;
  const std::string directory_;
  BackupCatalog catalog_;
  std::shared_ptr<RateLimiter> backup_limiter_;
  std::shared_ptr<RateLimiter> restore_limiter_;
  FileLock* lock_ = nullptr;  // Null: read-only, or no locks in the file system.
  bool garbage_ = false;
  std::atomic<bool> stop_{false};  // Only a request, so relaxed.
};

}  // namespace varve
