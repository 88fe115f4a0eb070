// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the bytes of the file that lists what a backup has; FORMAT.md describes them. Nothing in it
// is believed that a backup cannot have.

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

inline constexpr size_t kMaxAppMetadataBytes = 1 << 20;
inline constexpr uint64_t kMaxMetaFileBytes = uint64_t{1} << 30;

struct BackupFile {
  std::string path;  // relative to the backup directory
  BackupPath parsed;
  // Of the whole file. Files of schema 2 may lack it; Varve's have it.
  std::optional<uint32_t> crc32c;
  // Not in lists of schema 1; whoever loads one finds it out.
  std::optional<uint64_t> size;
  Temperature temperature = Temperature::kUnknown;
};

struct BackupMeta {
  BackupID id = 0;
  int64_t timestamp = 0;        // seconds since 1970
  SequenceNumber sequence = 0;  // surely contained; more may be
  std::string app_metadata;
  std::vector<BackupFile> files;
  std::vector<std::string> excluded;  // paths of shared files that are not in this directory
};

// schema_version is 1 or 2.
std::string EncodeBackupMeta(const BackupMeta& meta, int schema_version);

// `name` is for messages. Corruption: it is not such a list, or names a file that a backup cannot
// have, or one twice. NotSupported: of a later schema, or with a field that may not be ignored.
Status DecodeBackupMeta(const Slice& text, BackupID id, const std::string& name, BackupMeta* meta);

}  // namespace varve
