// SPDX-License-Identifier: Apache-2.0
#pragma once

// Repairs a database that cannot be opened: like RepairDB in closed_database.h, with an optional
// dry run and a report of what was kept, copied and lost.
//
//   varve::RepairOptions only_look;
//   only_look.dry_run = true;
//   varve::RepairReport report;
//   varve::Status s = varve::RepairDB("my.db", options, families, nullptr, only_look, &report);
//   std::cout << report.ToString();

#include <cstdint>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

struct RepairOptions {
  // If true, reads everything and fills in the report, but changes nothing.
  bool dry_run = false;
};

// Describes what a repair found, and what it did or would do.
struct VARVE_EXPORT RepairReport {
  struct Table {
    // Name of the file without its directory.
    std::string name;
    // Name of the column family that the table belongs to; empty if it is unknown.
    std::string family;
    // Reason of the damage; empty if there is none.
    std::string reason;
    // Number of readable entries, without range deletions.
    uint64_t entries = 0;
    // Number of unreadable blocks, and their bytes in the file according to the index.
    uint64_t lost_blocks = 0;
    uint64_t lost_bytes = 0;
  };
  struct Log {
    // Name of the file; the name of wal_dir if that is missing.
    std::string name;
    // Number of records before the first damage.
    uint64_t records = 0;
    // Bytes after the first damage.
    uint64_t dropped_bytes = 0;
    // Reason of the first damage; empty if there is none.
    std::string reason;
  };

  // True if nothing is wrong: an opening succeeds in every recovery mode, and every block of every
  // table is sound. Then the repair changes nothing at all.
  bool healthy = false;
  // Name of the MANIFEST from which the repair starts; empty if none can be used.
  std::string manifest;
  // Damage of that MANIFEST; empty if there is none. If it is damaged, tables that it does not name
  // count as live, unless it has deleted them.
  std::string manifest_damage;
  // Names of the column families in the order of their ids.
  std::vector<std::string> families;
  // Tables that stay unchanged.
  std::vector<Table> kept;
  // Damaged tables whose readable entries were copied to new ones.
  std::vector<Table> copied;
  // Missing or wholly unreadable tables, and missing or damaged blob files: reads of values in
  // these fail, except for those values of a damaged file that are sound.
  std::vector<Table> lost;
  // Tables that are not part of the database; a repair moves them to lost/.
  std::vector<Table> unexplained;
  // Logs that are replayed.
  std::vector<Log> logs;
  // Paths of files that were moved to lost/; empty in a dry run.
  std::vector<std::string> set_aside;
  // Names of column families whose tables had to be merged into one run.
  std::vector<std::string> reordered;

  // Returns a text with one line for each finding.
  std::string ToString() const;
};

// Makes a database that cannot be opened openable again, and keeps what can be read.
// - The database must be closed: IOError if its lock is held.
// - Nothing is deleted: replaced and unusable files move to lost/ in the directory. (Later openings
//   keep a bounded part of lost/; see README.md of db/background.)
// - A healthy database is not changed.
// - Logs are replayed up to their first damage, as in kPointInTimeRecovery, or past it if
//   wal_recovery_mode is kSkipAnyCorruptedRecords.
// - Tables stay at their levels as far as the MANIFEST can be read. Tables that it does not know go
//   above them; if sequence numbers do not tell which data is newer, all tables of the family are
//   merged into one run.
// - A missing table is searched for in lost/ too. If it is not found, the database continues
//   without it, and lost/ records that. A later repair that finds the table restores it, together
//   with the deletions made since, unless it is no longer known which data is newer.
// - Where the MANIFEST does not tell which part of a log a column family has in tables, merge
//   operands whose sequence numbers a compaction has set to 0 are applied a second time.
// - A missing wal_dir is created.
// - A failed repair leaves CURRENT unchanged and its new files in lost/. An interrupted repair
//   leaves a directory that cannot be opened; another repair starts from the beginning.
//
// `report` may be null; otherwise it is replaced, and filled in as far as the repair came, even if
// that fails. `column_families` and `unknown_cf_opts` (for all others; may be null) give the
// options of column families; their compaction filters are not called. InvalidArgument, with
// nothing changed, for a comparator that differs from the one a family was written with, a merge
// operator that an opening refuses, fewer levels than there are, a family without options, a
// directory of logs or tables (wal_dir, db_paths, cf_paths) that is another database's own, or
// missing directories that the database had.
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families,
                             const ColumnFamilyOptions* unknown_cf_opts,
                             const RepairOptions& repair_options, RepairReport* report);

}  // namespace varve
