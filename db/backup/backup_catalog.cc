// SPDX-License-Identifier: Apache-2.0

// Reads a backup directory from its lists alone. Backups are read from the newest to the oldest, so
// that a limit on their number leaves out the oldest, and an older list that contradicts a newer
// one about a shared file is the invalid one.

#include "db/backup/backup_catalog.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/io_error.h"

namespace varve {

// Fills three maps: valid backups, invalid ones with the reason, and each shared file with the
// number of lists that name it. An invalid backup does not make the call fail, as the others must
// stay usable; only an I/O error does.
Status BackupCatalog::Load(int max_valid) {
  valid_.clear();
  invalid_.clear();
  shared_.clear();
  largest_id_ = 0;
  std::vector<std::string> entries;
  IOStatus s = fs_->GetChildren(PathOf(kMetaFolder), IOOptions(), &entries, nullptr);
  if (IsMissing(s)) return Status::NotFound(directory_, "is not a directory of backups");
  if (!s.ok()) return s;
  std::vector<BackupID> ids;
  for (const std::string& entry : entries) {
    if (const std::optional<BackupID> id = ParseBackupId(entry)) ids.push_back(*id);
  }
  std::ranges::sort(ids, std::greater<>());
  if (!ids.empty()) largest_id_ = ids.front();
  Names shared_names;
  if (!ids.empty()) VARVE_RETURN_IF_ERROR(ListShared(&shared_names));
  for (const BackupID id : ids) {
    if (valid_.size() >= static_cast<size_t>(std::max(max_valid, 0))) break;
    auto meta = std::make_shared<BackupMeta>();
    Status loaded = LoadOne(id, shared_names, meta.get());
    // A device that fails says nothing about the backup.
    if (loaded.IsIOError()) return loaded;
    const bool valid = loaded.ok();
    if (valid) {
      CountShared(*meta, true);
      valid_[id] = std::move(meta);
    } else {
      // LoadOne has left *meta empty if the list could not be parsed. The files of an invalid
      // backup that is understood count as needed: the backup may become valid again when the
      // missing files are brought back.
      const bool understood = !meta->files.empty();
      if (understood) CountShared(*meta, false);
      invalid_[id] = Invalid{std::move(loaded), understood ? std::move(meta) : nullptr};
    }
  }
  return Status::OK();
}

// Two directory listings replace one request for each file of each backup, which would be slow on
// remote stores.
Status BackupCatalog::ListShared(Names* names) const {
  for (const char* const folder : {kSharedFolder, kSharedChecksumFolder}) {
    std::vector<std::string> entries;
    IOStatus s = fs_->GetChildren(PathOf(folder), IOOptions(), &entries, nullptr);
    if (!s.ok() && !IsMissing(s)) return s;
    for (const std::string& entry : entries) {
      names->emplace(std::string(folder).append("/").append(entry), true);
    }
  }
  return Status::OK();
}

// Leaves *meta empty if the list cannot be parsed.
Status BackupCatalog::LoadOne(BackupID id, const Names& shared_names, BackupMeta* meta) const {
  const std::string path = PathOf(std::string(kMetaFolder) + "/" + std::to_string(id));
  std::string text;
  IOStatus read = ReadFileToString(fs_, path, kMaxMetaFileBytes, &text);
  if (IsMissing(read)) return Status::NotFound(path, "vanished");
  if (!read.ok()) return read;
  Status s = DecodeBackupMeta(text, id, path, meta);
  if (!s.ok()) {
    *meta = BackupMeta();
    return s;
  }
  for (BackupFile& file : meta->files) {
    Status completed = CompleteFile(path, shared_names, &file);
    if (completed.IsIOError()) return completed;
    // The first fault is reported, but all files are looked at, since those that exist still count.
    if (s.ok()) s = std::move(completed);
  }
  return s;
}

// Sets the file's size, from its name, the list, or the file system. Corruption: the file is
// missing, or contradicts the list or a newer backup. shared_ has the newer backups' files, as Load
// goes from the newest backup to the oldest.
Status BackupCatalog::CompleteFile(const std::string& meta_name, const Names& shared_names,
                                   BackupFile* file) const {
  if (file->parsed.shared) {
    if (shared_names.count(file->path) == 0) {
      return Status::Corruption(meta_name, file->path + " is missing");
    }
    if (const auto named = SizeInSharedName(file->parsed.file_name); named.has_value()) {
      if (file->size.value_or(*named) != *named) {
        return Status::Corruption(meta_name,
                                  "another size than the name of " + file->path + " has");
      }
      file->size = named;
    }
    const auto known = shared_.find(file->path);
    if (known != shared_.end() && known->second.crc32c.has_value() && file->crc32c.has_value() &&
        known->second.crc32c != file->crc32c) {
      return Status::Corruption(meta_name,
                                "another checksum for " + file->path + " than a newer backup has");
    }
    // A request for the size of each shared file of each backup would be slow on a remote store.
    if (file->size.has_value()) return Status::OK();
  }
  uint64_t size = 0;
  IOStatus s = fs_->GetFileSize(PathOf(file->path), IOOptions(), &size, nullptr);
  if (IsMissing(s)) return Status::Corruption(meta_name, file->path + " is missing");
  if (!s.ok()) return s;
  if (file->size.value_or(size) != size) {
    return Status::Corruption(PathOf(file->path), std::to_string(size) + " bytes long, and " +
                                                      std::to_string(*file->size) + " in " +
                                                      meta_name);
  }
  file->size = size;
  return Status::OK();
}

// Size and checksum come from the first valid backup that names the file, which is the newest. A
// file that only invalid backups list is counted, but is not usable.
void BackupCatalog::CountShared(const BackupMeta& meta, bool valid) {
  for (const BackupFile& file : meta.files) {
    if (!file.parsed.shared) continue;
    Shared& shared = shared_[file.path];
    shared.backups++;
    if (!valid || shared.valid++ != 0) continue;
    shared.size = file.size.value_or(0);
    shared.crc32c = file.crc32c;
  }
}

void BackupCatalog::Add(std::shared_ptr<const BackupMeta> meta) {
  largest_id_ = std::max(largest_id_, meta->id);
  CountShared(*meta, true);
  valid_[meta->id] = std::move(meta);
}

void BackupCatalog::Remove(BackupID id) {
  std::shared_ptr<const BackupMeta> meta;
  bool valid = false;
  if (const auto it = valid_.find(id); it != valid_.end()) {
    valid = true;
    meta = it->second;
    valid_.erase(it);
  } else if (const auto bad = invalid_.find(id); bad != invalid_.end()) {
    meta = bad->second.meta;
    invalid_.erase(bad);
  }
  if (meta == nullptr) return;
  for (const BackupFile& file : meta->files) {
    const auto it = shared_.find(file.path);
    if (it == shared_.end()) continue;
    if (valid) it->second.valid--;
    if (--it->second.backups == 0) shared_.erase(it);
  }
}

bool BackupCatalog::has_unknown_files() const {
  return std::ranges::any_of(invalid_, [](const auto& bad) { return bad.second.meta == nullptr; });
}

// Returns the stored reason for an invalid backup.
Status BackupCatalog::Find(BackupID id, std::shared_ptr<const BackupMeta>* meta) const {
  meta->reset();
  if (const auto it = valid_.find(id); it != valid_.end()) {
    *meta = it->second;
    return Status::OK();
  }
  if (const auto bad = invalid_.find(id); bad != invalid_.end()) return bad->second.why;
  return Status::NotFound(directory_, "has no backup " + std::to_string(id));
}

}  // namespace varve
