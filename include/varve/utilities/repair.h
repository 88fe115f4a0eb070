// SPDX-License-Identifier: Apache-2.0
#pragma once

// Repairing a database that cannot be opened: what RepairDB (db.h) does, with a dry run first and a
// report of what was kept, copied and lost.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/export.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

struct RepairOptions {
  // Reads everything, fills in the report, and changes nothing.
  bool dry_run = false;
};

// What a repair found, and did or would do.
struct VARVE_EXPORT RepairReport {
  struct Table {
    std::string name;          // of the file, without a directory
    std::string family;        // empty: not known
    std::string reason;        // empty: there is nothing wrong with it
    uint64_t entries = 0;      // that can be read, without range deletions
    uint64_t lost_blocks = 0;  // that cannot
    uint64_t lost_bytes = 0;   // of the file, as its index tells
  };
  struct Log {
    std::string name;            // of the file; of wal_dir if that is missing
    uint64_t records = 0;        // before the first damage
    uint64_t dropped_bytes = 0;  // after it
    std::string reason;          // of the first damage; empty: there is none
  };

  // Nothing is wrong: an opening succeeds in every recovery mode, and every block of every table is
  // sound. Then nothing is changed at all.
  bool healthy = false;
  // Where the repair starts; empty: there is no MANIFEST that says anything.
  std::string manifest;
  // What is wrong with that; empty: nothing. If there is something, tables that it does not know
  // are taken for live ones, unless it has deleted them.
  std::string manifest_damage;
  std::vector<std::string> families;   // by name, in the order of their ids
  std::vector<Table> kept;             // as they are
  std::vector<Table> copied;           // what can be read of them
  std::vector<Table> lost;             // missing, or nothing of them can be read
  std::vector<Table> unexplained;      // not a part of the database; set aside
  std::vector<Log> logs;               // that are replayed
  std::vector<std::string> set_aside;  // paths in lost/; empty in a dry run
  std::vector<std::string> reordered;  // families whose tables had to be merged into one run

  // One line for each thing that is worth one.
  std::string ToString() const;
};

// Makes a database that cannot be opened openable again, and keeps what can be read.
// - Needs the lock: IOError if the database is open.
// - Never deletes: what was replaced, and what cannot be used, moves to lost/ in the directory. (Of
//   lost/, later openings keep a bounded amount; see README.md of db/background.)
// - Of a healthy database nothing is changed.
// - Logs are replayed up to their first damage, as kPointInTimeRecovery does (or past it, if
//   wal_recovery_mode is kSkipAnyCorruptedRecords).
// - Tables stay where they are in the tree as far as the MANIFEST can be read. Tables that it does
//   not know go on top; if their sequence numbers do not tell what is newer, all tables of their
//   family are merged into one run.
// - A table that is missing is looked for in lost/, too. One that is nowhere is given up, and noted
//   there: a later repair that finds it takes it back, with what was deleted since, unless nobody
//   can tell any more what is newer.
// - Where the MANIFEST does not tell how much of a log a column family has in tables, merge
// operands
//   whose sequence numbers a compaction has set to 0 are applied once more.
// - A missing wal_dir is made.
// - A repair that fails leaves CURRENT as it was, and what it has made in lost/. One that was
//   interrupted leaves a directory that is refused; another repair begins again.
//
// `column_families` and `unknown_cf_opts` (for all others; may be null) give the options of column
// families, without compaction filters being asked. InvalidArgument, with nothing changed, for
// another comparator than a family was written with, a merge operator that an opening
// refuses, fewer levels than there are, a family for which there are no options, a directory of
// logs or tables (wal_dir, db_paths, cf_paths) that is another database's own, or directories that
// the database had and that are not given.
VARVE_EXPORT Status RepairDB(const std::string& dbname, const DBOptions& db_options,
                             const std::vector<ColumnFamilyDescriptor>& column_families,
                             const ColumnFamilyOptions* unknown_cf_opts,
                             const RepairOptions& repair_options, RepairReport* report);

}  // namespace varve
