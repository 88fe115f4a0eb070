// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plans a repair: which tables stay, with their levels, and which must be copied or given up. Only
// reads files.
//
//      MANIFEST                    read as far as it can be: families, and the tables they had
//      tables of the MANIFEST      sound: stay; damaged: readable part is copied; missing: noted
//      tables it does not know     properties name the family: added, if its end is missing
//      lost/ (earlier repairs)     tables that reappear, or are needed again: returned
//      logs                        read for damage; the opening of the repair replays them
//
// A plan is complete before the repair (repair.cc) changes a byte: an error while planning leaves
// the database as it was, and the report says what would have been done.
//
// Invariants
// 1. A table stays as it is, or is copied as far as it can be read; none is changed in place.
// 2. A table that an earlier repair gave up returns only if everything written in its range since
//    is newer than its entries (IsOlderThanAllSince).
// 3. next_file_number is above every number seen, so that no later file takes the name of one in
//    lost/.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "varve/utilities/repair.h"

#include "db/recovery/manifest_survey.h"
#include "db/recovery/table_directories.h"
#include "db/recovery/table_survey.h"

namespace varve {

// One family after the repair: the tables that stay, and those whose readable part is copied.
struct PlannedFamily {
  SurveyedFamily state;  // Its files are those that stay.
  ColumnFamilyOptions options;
  std::unique_ptr<InternalKeyComparator> icmp;
  TablePathsRef paths;
  struct Copy {
    // The part of the damaged table that can be read.
    TableFinding damaged;
    // True if the MANIFEST had the table, so that its place in the tree is known.
    bool was_known = false;
    NewFile known;  // Set if was_known.
  };
  std::vector<Copy> copies;
};

// Lists the steps of a repair before it begins. Making the plan changes nothing.
struct RepairPlan {
  ManifestSurvey manifest;  // Its families are moved to `families`.
  std::map<uint32_t, PlannedFamily> families;
  // Tables that are added although the MANIFEST does not have them.
  std::set<uint64_t> found_tables;
  // Tables whose bounds were computed by reading them; these bounds have timestamps if the family's
  // keys have them.
  std::set<uint64_t> measured_tables;
  // Above the numbers of all existing files, including those in lost/.
  uint64_t next_file_number = 1;
  // Largest sequence number in the MANIFEST and in any table of the plan. Logs may have larger
  // ones.
  SequenceNumber last_sequence = 0;
  bool needs_repair = false;  // Something is missing or damaged.
  // Missing tables that the MANIFEST has, or that an earlier repair has given up, by family id.
  std::map<uint32_t, PlannedFamily> missing;
  // Numbers of the MANIFESTs in lost/ that record given-up tables; `missing` has those still
  // missing.
  std::vector<uint64_t> records;
  bool takes_given_up = false;  // Some given-up tables have reappeared.
  // Sound tables that are needed again and are in lost/: the current path, and the one to which to
  // move them.
  std::vector<std::pair<std::string, std::string>> returning;
};

// Makes a plan for the database `name`, which must be closed. For `was_locked` see LogLocation.
// Thread safety: none. Pointers and references are borrowed until Run returns.
class RepairPlanner {
 public:
  RepairPlanner(FileSystem* fs, std::string name, const DBOptions& db_options,
                const std::vector<ColumnFamilyDescriptor>* column_families,
                const ColumnFamilyOptions* unknown_cf_opts, bool was_locked)
      : fs_(fs),
        name_(std::move(name)),
        db_options_(db_options),
        column_families_(column_families),
        unknown_cf_opts_(unknown_cf_opts),
        was_locked_(was_locked) {}

  // Sets the existing table directories other than the database's own.
  void SetTableDirectories(std::set<std::string> directories) {
    table_directories_ = std::move(directories);
  }
  // Fills in the plan, and of the report the MANIFEST, tables, logs and families. Must be called
  // once. After an error nothing has changed on disk.
  Status Run(RepairPlan* plan, RepairReport* report);

 private:
  struct Found {
    uint32_t family_id = 0;
    TableFinding finding;
  };

  // Adds the tables among a directory's entries to tables_, and calls NoteNumbers.
  void FindTables(const std::string& directory, const std::vector<std::string>& entries);
  // Returns the path of a known table, of which several copies may exist, and sets known->path_id
  // to its directory. Returns "" and changes nothing if it is missing.
  std::string ChoosePath(const PlannedFamily& family, NewFile* known) const;
  // Restores tables that earlier repairs gave up and that have reappeared.
  Status TakeGivenUp();
  // Does so for one table of the family `id`, of which the record with that number tells.
  Status TakeOneGivenUp(const NewFile& table, uint64_t record, uint32_t id, PlannedFamily* family);
  // Adds a table to plan_->missing.
  void NoteMissing(uint32_t id, const PlannedFamily& family, const NewFile& table);
  // Returns true if all entries in the table's range that were written after the record are newer
  // than the table's.
  static bool IsOlderThanAllSince(const NewFile& table, uint64_t record,
                                  const PlannedFamily& family);
  // Sets *finding, which must be new, to the best copy of a missing table in lost/. It stays
  // kUnreadable if there is none. A sound copy is added to plan_->returning.
  Status ExamineSetAside(const PlannedFamily& family, const NewFile& known, TableFinding* finding);
  // Returns InvalidArgument if a missing table may be in a directory that the options lack.
  Status CheckIsLost(const PlannedFamily& family, const NewFile& known) const;
  // Sets file->path_id to the family's directory that holds the file; false if none of them does.
  bool FindPath(const PlannedFamily& family, const std::string& path, NewFile* file) const;
  // Returns true if the path is the file of its name in the directory, perhaps by another path.
  bool IsIn(const std::string& directory, const std::string& path) const;
  // Adds a family with its options and comparator to the plan. InvalidArgument: the given options
  // do not fit.
  Status AddFamily(uint32_t id, SurveyedFamily state);
  // Reads all tables that the MANIFEST has, and decides which stay.
  Status ExamineKnown();
  // Reads the properties of tables that the MANIFEST does not have, to find their families.
  Status LookAtUnknown();
  // Sets *family_id to the family of an unknown table, or *reason if it belongs to none. Adds the
  // family to the plan if the MANIFEST may have lost it.
  Status PlaceUnknown(const TableProperties& properties, uint32_t* family_id, std::string* reason);
  // Adds an unknown table with a family to found_.
  void AddFound(Found found);
  // Adds the unknown tables to level 0 of their families.
  void TakeFound();
  // Examines the blob files that the tables of the plan refer to (SurveyBlobFiles). Must be called
  // once the tables of all families are known.
  void FindBlobFiles();
  // Returns true if a sound unknown table proves that the MANIFEST has lost records at its end.
  bool ProvesLostEnd(const TableFinding& finding, uint32_t family_id) const;
  // Returns InvalidArgument if an opening would refuse the planned families with the given options.
  Status CheckOpenable() const;
  // Reads the logs that the repair's opening will replay, and reports their records and damage.
  // InvalidArgument: they are in another directory (CheckLogDirectory).
  Status SurveyLogs();
  // Does so for one log. Returns only I/O errors.
  Status SurveyLog(const std::string& directory, uint64_t number);
  // Raises next_file_number above the numbers of these files.
  void NoteNumbers(const std::vector<std::string>& entries);
  // Raises it above the numbers in the synced marks.
  void NoteMarks();
  // Returns with what the tables of a family are examined.
  TableSurveyContext ContextOf(const PlannedFamily& family) const;
  // Returns the report's entry for a table of that family.
  RepairReport::Table Describe(const TableFinding& finding, const std::string& family) const;
  // Returns the given options for a family, else those for unknown families, which may be null.
  const ColumnFamilyOptions* OptionsOf(const std::string& family) const;
  // Returns the directory of the logs.
  std::string WalDirectory() const;

  FileSystem* const fs_;
  const std::string name_;
  const DBOptions& db_options_;
  const std::vector<ColumnFamilyDescriptor>* const column_families_;
  const ColumnFamilyOptions* const unknown_cf_opts_;
  const bool was_locked_;

  RepairPlan* plan_ = nullptr;
  RepairReport* report_ = nullptr;
  std::set<std::string> table_directories_;
  // Paths by number: copies of a table may exist in several directories.
  std::multimap<uint64_t, std::string> tables_;
  std::multimap<uint64_t, std::string> tables_set_aside_;  // Like tables_, for files in lost/.
  // Numbers of the MANIFESTs in lost/.
  std::vector<uint64_t> manifests_set_aside_;
  std::optional<FormerDirectories> former_;
  // Numbers of the logs that exist.
  std::set<uint64_t> logs_;
  bool table_missing_ = false;  // True if a table that the MANIFEST names does not exist.
  // Tables that the MANIFEST does not have, with the family of each.
  std::vector<Found> found_;
};

}  // namespace varve
