// SPDX-License-Identifier: Apache-2.0
#pragma once

// BackupCatalog lists what a backup directory holds: the valid backups, the invalid ones and why
// they are, and the shared files of both. It comes from the lists of the backups: each has a file
// in meta/ that names its files (BackupMeta).
//
// Invariants:
//   1. Every file of a valid backup existed when the directory was loaded, or was put there by
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
  // Describes a file of shared/ or shared_checksum/ as the lists of backups describe it.
  struct Shared {
    uint64_t size = 0;
    // Checksum of the whole file, if a list has it.
    std::optional<uint32_t> crc32c;
    uint32_t backups = 0;  // Number of backups that list it.
    uint32_t valid = 0;    // Number of those of them that are valid.
    // Returns true if a valid backup lists it; otherwise size and crc32c say nothing.
    [[nodiscard]] bool usable() const { return valid != 0; }
  };
  // Describes a backup whose list is damaged, or names a file that is missing or differs.
  struct Invalid {
    // The reason, which Find returns.
    Status why;
    // The contents of its list; null if the list could not be parsed.
    std::shared_ptr<const BackupMeta> meta;
  };

  BackupCatalog(FileSystem* fs, std::string directory)
      : fs_(fs), directory_(std::move(directory)) {}

  // Replaces the contents by what the lists of files say: reads the newest first, until `max_valid`
  // valid ones are found. Older ones are then in no list and no count, so a caller that deletes
  // files must load all. NotFound: there is no meta/. IOError: the directory cannot be read, and
  // the catalog has a part; a damaged backup is not an error of this call.
  Status Load(int max_valid = std::numeric_limits<int>::max());

  // Adds a backup that this process has made.
  void Add(std::shared_ptr<const BackupMeta> meta);
  // Forgets a backup, valid or not.
  void Remove(BackupID id);

  const std::map<BackupID, std::shared_ptr<const BackupMeta>>& valid() const { return valid_; }
  const std::map<BackupID, Invalid>& invalid() const { return invalid_; }
  // Returns the shared files by path relative to the directory.
  const std::unordered_map<std::string, Shared>& shared() const { return shared_; }
  // Returns the largest id that Load or Add has seen; Remove does not lower it.
  BackupID largest_id() const { return largest_id_; }
  // Returns true if some list could not be parsed, so that any shared file may belong to its
  // backup. Then no shared file may be deleted as garbage.
  bool has_unknown_files() const;

  // Sets *meta to a valid backup, or to null after an error. NotFound: there is no such backup.
  // For an invalid backup, returns the reason (Invalid::why).
  Status Find(BackupID id, std::shared_ptr<const BackupMeta>* meta) const;

  // Returns the path of a file, for the file system.
  std::string PathOf(const std::string& relative) const { return directory_ + "/" + relative; }

 private:
  // Relative paths of the shared files that exist.
  using Names = std::unordered_map<std::string, bool>;

  // Reads one list, and sets *meta to its contents; without files if the list could not be parsed.
  // An IOError says nothing about the backup; any other error makes it invalid.
  Status LoadOne(BackupID id, const Names& shared_names, BackupMeta* meta) const;
  // Requires that path, parsed, crc32c and, if the list has it, size of *file are set. Sets
  // file->size. Corruption: the file is missing, or has another size or checksum than the list, its
  // name or a newer backup says. Otherwise an error of the file system.
  Status CompleteFile(const std::string& meta_name, const Names& shared_names,
                      BackupFile* file) const;
  // Lists both folders of shared files, so that not every file of every backup is asked for.
  Status ListShared(Names* names) const;
  // Counts the backup for each shared file that it lists.
  void CountShared(const BackupMeta& meta, bool valid);

  FileSystem* const fs_;
  const std::string directory_;
  std::map<BackupID, std::shared_ptr<const BackupMeta>> valid_;
  std::map<BackupID, Invalid> invalid_;
  std::unordered_map<std::string, Shared> shared_;
  BackupID largest_id_ = 0;
};

}  // namespace varve
