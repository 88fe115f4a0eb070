// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the names of files within a backup directory, in both directions; FORMAT.md lists them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varve/slice.h"
#include "varve/types.h"
#include "varve/utilities/backup_engine.h"

namespace varve {

inline constexpr char kMetaFolder[] = "meta";
inline constexpr char kPrivateFolder[] = "private";
inline constexpr char kSharedFolder[] = "shared";
inline constexpr char kSharedChecksumFolder[] = "shared_checksum";

// Digits alone, and no more than 64 bits.
std::optional<uint64_t> ParseDecimal(std::string_view text);

// The id that the name of a file in meta/, or of a folder in private/, stands for: a decimal number
// without leading zeros. Nothing: it is no backup's.
std::optional<BackupID> ParseBackupId(const Slice& name);

// A path relative to the backup directory.
struct BackupPath {
  bool shared = false;
  std::string folder;     // "shared", "shared_checksum" or "private/<id>"
  std::string file_name;  // within that
  std::string db_name;    // of the file in the database
  FileType type = kTempFile;
  uint64_t number = 0;
};

// False for everything that a backup with this id cannot have: such a path is never followed.
bool ParseBackupPath(const Slice& path, BackupID id, BackupPath* parsed);

// The bytes of a shared file, where its name has them.
std::optional<uint64_t> SizeInSharedName(const Slice& file_name);

// The session in the name of a shared file; empty: there is none.
std::string SessionInSharedName(const std::string& path);

// Names within shared_checksum/ of the table with this name in the database.
std::string SessionName(const std::string& db_name, const std::string& session_id,
                        std::optional<uint64_t> size);
std::string LegacyName(const std::string& db_name, uint32_t crc32c, uint64_t size);

// While it is written.
std::string BackupTempName(const std::string& file_name);
// Whether it has such a name.
bool IsBackupTempName(const Slice& file_name);

}  // namespace varve
