// SPDX-License-Identifier: Apache-2.0

// Compares the files of a backup with its list: their sizes, and on request their checksums, which
// requires reading all of them.

#include "db/backup/verify_backup.h"

#include <string>
#include <utility>
#include <vector>

#include "db/backup/backup_file_system.h"
#include "util/base/status_macros.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

Status CheckSize(const BackupStore& store, const BackupFile& file) {
  const std::string path = store.PathOf(file.path);
  uint64_t size = 0;
  IOStatus s = store.fs()->GetFileSize(path, IOOptions(), &size, nullptr);
  if (IsMissing(s)) return Status::NotFound(path, "is missing in the backup");
  if (!s.ok()) return s;
  if (size == file.size) return Status::OK();
  return Status::Corruption(path, std::to_string(size) + " bytes long, and " +
                                      std::to_string(file.size.value_or(0)) +
                                      " when it was backed up");
}

// Returns four bytes, most significant first. This is the form that file checksums have in a
// MANIFEST, so that users can compare the two.
std::string ChecksumBytes(uint32_t crc32c) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>((crc32c >> shift) & 0xff);
  }
  return bytes;
}

}  // namespace

// All sizes are checked first: that is cheap and finds most damage. A file without a checksum in
// its list, as old lists may have, is still read, to find read errors.
Status VerifyBackupFiles(const BackupStore& store, BackupID id, bool with_checksum) {
  std::shared_ptr<const BackupMeta> meta;
  VARVE_RETURN_IF_ERROR(store.catalog().Find(id, &meta));
  for (const BackupFile& file : meta->files) VARVE_RETURN_IF_ERROR(CheckSize(store, file));
  if (!with_checksum) return Status::OK();
  std::vector<CopyTask> tasks(meta->files.size());
  for (size_t i = 0; i < tasks.size(); i++) {
    tasks[i].source = store.PathOf(meta->files[i].path);
    tasks[i].size = meta->files[i].size.value_or(CopyTask::kWholeFile);
    tasks[i].want_checksum = true;
  }
  CopyPool::Options options = store.CopyOptions(store.backup_limiter());
  options.source_fs = options.target_fs = store.fs();
  VARVE_RETURN_IF_ERROR(CopyPool(options).Run(&tasks));
  for (size_t i = 0; i < tasks.size(); i++) {
    const BackupFile& file = meta->files[i];
    if (!file.crc32c.has_value() || *file.crc32c == tasks[i].crc32c) continue;
    return Status::Corruption(tasks[i].source, "checksum " + std::to_string(tasks[i].crc32c) +
                                                   ", and " + std::to_string(*file.crc32c) +
                                                   " when it was backed up");
  }
  return Status::OK();
}

void FillBackupInfo(const BackupStore& store, const BackupMeta& meta, bool details,
                    BackupInfo* info) {
  *info = BackupInfo(meta.id, meta.timestamp, 0, static_cast<uint32_t>(meta.files.size()),
                     meta.app_metadata);
  for (const BackupFile& file : meta.files) info->size += file.size.value_or(0);
  if (!details) return;
  for (const BackupFile& file : meta.files) {
    BackupFileInfo detail;
    detail.relative_filename = file.path;
    detail.directory = store.directory();
    detail.file_number = file.parsed.number;
    detail.file_type = file.parsed.type;
    detail.size = file.size.value_or(0);
    detail.temperature = file.temperature;
    if (file.crc32c.has_value()) {
      detail.file_checksum = ChecksumBytes(*file.crc32c);
      detail.file_checksum_func_name = kBackupFileChecksumFuncName;
    }
    info->file_details.push_back(std::move(detail));
  }
  for (const std::string& path : meta.excluded) info->excluded_files.emplace_back(path);
  info->name_for_open = store.PathOf(std::string(kPrivateFolder) + "/" + std::to_string(meta.id));
  info->env_for_open = NewBackupEnv(store, meta, info->name_for_open);
}

}  // namespace varve
