// SPDX-License-Identifier: Apache-2.0
#pragma once

// LiveTables: what the names of tables in a backup are made of, found out once for each table of an
// open database. A number stands for one file for as long as the database is open.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "varve/file_system.h"
#include "varve/status.h"

namespace varve {

// Thread safety: none.
class LiveTables {
 public:
  struct Facts {
    std::optional<std::string> session_id;  // Empty: the table has none.
    std::optional<uint32_t> crc32c;         // Of the whole file.
  };

  // From now on tables are those of this opening of a database.
  void Begin(const std::string& opening) {
    if (opening == opening_) return;
    opening_ = opening;
    facts_.clear();
  }
  Facts& Of(uint64_t number) { return facts_[number]; }
  // The session that has written the table, read from it if it is not known.
  Status SessionOf(FileSystem* fs, const std::string& path, uint64_t number, std::string* id);

 private:
  std::string opening_;
  std::unordered_map<uint64_t, Facts> facts_;
};

}  // namespace varve
