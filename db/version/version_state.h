// SPDX-License-Identifier: Apache-2.0
#pragma once

// Describes a database at one moment: encodes the records that a fresh MANIFEST begins with.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/status.h"
#include "varve/types.h"

#include "db/version/change_position.h"
#include "db/version/version.h"

namespace varve {

struct FamilyVersions;

// Plain data that keeps its versions alive, and thereby their tables. VersionSet::State fills it
// in; what the caller then removes from it is not in the records.
struct VersionState {
  // One column family at that moment.
  struct Family {
    std::shared_ptr<const FamilyVersions> family;  // only its constant members are read
    // The tree of the family; it keeps the tables while the state lives.
    VersionRef version;
    // The first log that has data which is not in this version's tables.
    uint64_t log_number = 0;
    std::string full_history_ts_low;  // empty: none
    std::string merge_operator;       // name; empty: none is stored
  };

  std::vector<Family> families;  // ordered by id, including the default family
  std::string db_id;             // empty: not written
  // The numbers of the database, with the meaning that they have in VersionEdit.
  uint64_t min_log_to_keep = 0;
  uint64_t next_file = 0;
  SequenceNumber last_sequence = 0;
  uint32_t max_family_id = 0;
  // Tables that were removed and whose files may still exist, and ranges [first, end) of logs that
  // openings looked for in vain.
  std::vector<uint64_t> gone_tables;
  std::vector<std::pair<uint64_t, uint64_t>> unread_logs;
  // The latest time that entries with lifetimes were judged by, in seconds since 1970; 0: none.
  uint64_t ttl_clock = 0;
  std::vector<ChangePosition> change_positions;
  bool one_directory = false;  // set for a copy: all tables lie in the first path

  // Appends the records. Returns InvalidArgument if a file cannot be stored. Needs no mutex.
  Status EncodeTo(std::vector<std::string>* records) const;
};

}  // namespace varve
