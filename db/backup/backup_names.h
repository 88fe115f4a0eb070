// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes and parses the names of files within a backup directory; FORMAT.md lists them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "varve/slice.h"
#include "varve/types.h"
#include "varve/utilities/backup_engine.h"

namespace varve {

// Folder with one file for each backup: its list.
inline constexpr char kMetaFolder[] = "meta";
// Folder with one folder for each backup, for the files that are not shared.
inline constexpr char kPrivateFolder[] = "private";
// Folders with tables that several backups may need. In the second one, names differ if contents
// do.
inline constexpr char kSharedFolder[] = "shared";
inline constexpr char kSharedChecksumFolder[] = "shared_checksum";

// Parses a decimal number of at most 64 bits. Returns nullopt if there is anything but digits.
std::optional<uint64_t> ParseDecimal(std::string_view text);

// Returns the id that the name of a file in meta/, or of a folder in private/, stands for: a
// decimal number without leading zeros. Returns nullopt for any other name.
std::optional<BackupID> ParseBackupId(const Slice& name);

// Holds the parts of a path relative to the backup directory.
struct BackupPath {
  bool shared = false;
  std::string folder;     // "shared", "shared_checksum" or "private/<id>"
  std::string file_name;  // Within the folder.
  std::string db_name;    // Name of the file in the database.
  FileType type = kTempFile;
  uint64_t number = 0;
};

// Parses a path relative to the backup directory. Returns false, and leaves *parsed undefined, for
// every path that a backup with this id cannot have: such a path must not be used.
bool ParseBackupPath(const Slice& path, BackupID id, BackupPath* parsed);

// Returns the size that the name of a shared file contains, if any.
std::optional<uint64_t> SizeInSharedName(const Slice& file_name);

// Returns the session id that the name of a shared file contains, or "" if there is none.
std::string SessionInSharedName(const std::string& path);

// Return the name within shared_checksum/ of the table that is `db_name` in the database: with the
// session that wrote it (live_tables.h), or with its checksum.
std::string SessionName(const std::string& db_name, const std::string& session_id,
                        std::optional<uint64_t> size);
std::string LegacyName(const std::string& db_name, uint32_t crc32c, uint64_t size);

// Returns the name that a file has while it is written.
std::string BackupTempName(const std::string& file_name);
// True if it is the name of a file that is being written.
bool IsBackupTempName(const Slice& file_name);

}  // namespace varve
