// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes and decodes a backup's list of files (FORMAT.md). A list that no backup can have is
// refused.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/utilities/backup_engine.h"

#include "db/backup/backup_names.h"

namespace varve {

// Limit the sizes that are written and read, since the bytes of a list are not trusted. Callers of
// the functions below check them.
inline constexpr size_t kMaxAppMetadataBytes = 1 << 20;
inline constexpr uint64_t kMaxMetaFileBytes = uint64_t{1} << 30;

// One file of a backup.
struct BackupFile {
  std::string path;  // Relative to the backup directory.
  BackupPath parsed;
  // CRC-32C of the whole file. Files of schema 2 may lack it; Varve's have it.
  std::optional<uint32_t> crc32c;
  // Lists of schema 1 do not have it; BackupCatalog fills it in when it loads one.
  std::optional<uint64_t> size;
  Temperature temperature = Temperature::kUnknown;
};

// One backup, as its list of files in meta/ describes it.
struct BackupMeta {
  BackupID id = 0;
  int64_t timestamp = 0;        // Seconds since 1970.
  SequenceNumber sequence = 0;  // All writes up to it are contained; later ones may be.
  std::string app_metadata;
  std::vector<BackupFile> files;
  std::vector<std::string> excluded;  // Paths of shared files that are not in this directory.
};

// Encodes the list, without the id, which is the list's name. Requires that path and crc32c of each
// file are set, and that schema_version is 1, which has no sizes and temperatures, or 2.
std::string EncodeBackupMeta(const BackupMeta& meta, int schema_version);

// Sets *meta to the decoded list; after an error *meta is unspecified. `id` is that of the backup,
// and `name` is for messages. Corruption: it is not such a list, names a file that a backup cannot
// have, or names one twice. NotSupported: it has a later schema, or a field that may not be
// ignored.
Status DecodeBackupMeta(const Slice& text, BackupID id, const std::string& name, BackupMeta* meta);

}  // namespace varve
