// SPDX-License-Identifier: Apache-2.0
#pragma once

// LiveTables caches, for each table of an open database, the facts that its name in a backup is
// made of. The cache is keyed by file number, which identifies one file as long as the database is
// open.
//
// A session is one opening of a database, or one SstFileWriter; tables have its id in their
// properties. The MANIFEST has a hash of the session that wrote a table, and not its id. So the
// known sessions, that of the opening and those in the names of existing backups, are tried first,
// and a table is opened only if none of them wrote it.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/file_system.h"
#include "varve/status.h"

#include "db/version/file_metadata.h"

namespace varve {

// Returns the CRC-32C of the whole file that the MANIFEST has, or nullopt if it has none or the
// checksum of another function.
std::optional<uint32_t> ChecksumInManifest(const FileMetaData& table);

// Thread safety: none.
class LiveTables {
 public:
  struct Facts {
    std::optional<std::string> session_id;  // Unset: not looked up; "": none.
    std::optional<uint32_t> crc32c;         // CRC-32C of the whole file.
  };

  // Starts a series of calls for one database, in the opening with this session id. Forgets all
  // facts of another database or opening.
  void Begin(const std::string& db_id, const std::string& opening);
  // Adds a session that may have written tables. Ignores "" and known ones.
  void KnowSession(const std::string& session_id);
  // Returns what is known of a table, for the caller to add to; valid until Begin.
  Facts& Of(uint64_t number) { return facts_[number]; }
  // Sets *session_id to the session that wrote table `number`, which is at `path`: a known one that
  // produces `unique_id` (TableUniqueId; empty if it is not known), or else the one in the table's
  // properties, which may be "".
  Status SessionOf(FileSystem* fs, const std::string& path, uint64_t number,
                   const std::string& unique_id, std::string* session_id);

 private:
  // Returns true, and sets *session_id, if a known session produces `unique_id`.
  bool FindSession(uint64_t number, const std::string& unique_id, std::string* session_id);

  // The database and the opening, by its session, that facts_ is about.
  std::string db_id_;
  std::string opening_;
  std::unordered_map<uint64_t, Facts> facts_;
  std::vector<std::string> sessions_;  // The one that matched last comes first.
};

}  // namespace varve
