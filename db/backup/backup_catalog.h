// SPDX-License-Identifier: Apache-2.0
#pragma once

// BackupCatalog: what a backup directory holds: the backups that are valid, those that are not and
// why, and the shared files that they have.
//
// Invariants:
//   1. Of each valid backup every file was there when the directory was loaded, or was put there by
//      this process, and has a size.
//   2. A shared file is counted once for each backup that lists it, valid or not.

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "varve/file_system.h"
#include "varve/status.h"

#include "db/backup/backup_meta.h"

namespace varve {

// Thread safety: none.
class BackupCatalog {
 public:
  struct Shared {
    uint64_t size = 0;
    std::optional<uint32_t> crc32c;
    uint32_t backups = 0;  // that list it
    bool usable = false;   // a valid one does
  };
  struct Invalid {
    Status why;
    // What it lists, as far as that is understood.
    std::shared_ptr<const BackupMeta> meta;
  };

  BackupCatalog(FileSystem* fs, std::string directory)
      : fs_(fs), directory_(std::move(directory)) {}

  // Reads all lists of files, the newest first, and of valid ones at most so many. NotFound: there
  // is no meta/.
  Status Load(int max_valid = std::numeric_limits<int>::max());

  void Add(std::shared_ptr<const BackupMeta> meta);
  // Forgets a backup, valid or not.
  void Remove(BackupID id);

  const std::map<BackupID, std::shared_ptr<const BackupMeta>>& valid() const { return valid_; }
  const std::map<BackupID, Invalid>& invalid() const { return invalid_; }
  // By path relative to the directory.
  const std::unordered_map<std::string, Shared>& shared() const { return shared_; }
  // The largest that any backup has had.
  BackupID largest_id() const { return largest_id_; }
  // Whether some backup may have files that are not known to be its.
  bool has_unknown_files() const;

  // NotFound: there is none. If it is not valid, why.
  Status Find(BackupID id, std::shared_ptr<const BackupMeta>* meta) const;

  std::string PathOf(const std::string& relative) const { return directory_ + "/" + relative; }

 private:
  using Names = std::unordered_map<std::string, bool>;

  Status LoadOne(BackupID id, const Names& shared_names, BackupMeta* meta) const;
  Status CompleteFile(const std::string& meta_name, const Names& shared_names,
                      BackupFile* file) const;
  Status ListShared(Names* names) const;
  void CountShared(const BackupMeta& meta, bool valid);

  FileSystem* const fs_;
  const std::string directory_;
  std::map<BackupID, std::shared_ptr<const BackupMeta>> valid_;
  std::map<BackupID, Invalid> invalid_;
  std::unordered_map<std::string, Shared> shared_;
  BackupID largest_id_ = 0;
};

}  // namespace varve
