// SPDX-License-Identifier: Apache-2.0
#pragma once

// LiveTables caches what the names of tables in a backup are made of, once for each table of an
// open database. A number stands for one file for as long as the database is open.
//
// The MANIFEST has a hash of the session that wrote a table, and not its id. So the known sessions,
// that of the opening and those of tables in backups, are tried first, and a table is opened only
// if none of them wrote it.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/file_system.h"
#include "varve/status.h"

#include "db/version/file_metadata.h"

namespace varve {

// Returns the CRC-32C of the whole file in the MANIFEST; nothing: it has none, or one of another
// function.
std::optional<uint32_t> ChecksumInManifest(const FileMetaData& table);

// Thread safety: none.
class LiveTables {
 public:
  struct Facts {
    std::optional<std::string> session_id;  // Empty: the table has none.
    std::optional<uint32_t> crc32c;         // CRC-32C of the whole file.
  };

  // Says that from now on tables belong to this opening of a database.
  void Begin(const std::string& db_id, const std::string& opening);
  // Adds a session that may have written tables; does nothing if it is empty.
  void KnowSession(const std::string& session_id);
  Facts& Of(uint64_t number) { return facts_[number]; }
  // Sets *session_id to the session that has written the table: a known one whose hash is unique_id
  // (TableUniqueId; empty: not known), or else the one that the table names.
  Status SessionOf(FileSystem* fs, const std::string& path, uint64_t number,
                   const std::string& unique_id, std::string* session_id);

 private:
  bool FindSession(uint64_t number, const std::string& unique_id, std::string* session_id);

  std::string db_id_;
  std::string opening_;
  std::unordered_map<uint64_t, Facts> facts_;
  std::vector<std::string> sessions_;  // The one that matched last comes first.
};

}  // namespace varve
