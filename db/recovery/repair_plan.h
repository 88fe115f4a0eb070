// SPDX-License-Identifier: Apache-2.0
#pragma once

// Plans a repair: which tables stay, at which place in which tree, and which must be copied or
// given up. Only reads.

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

struct PlannedFamily {
  SurveyedFamily state;  // Its files are those that stay.
  ColumnFamilyOptions options;
  std::unique_ptr<InternalKeyComparator> icmp;
  TablePathsRef paths;
  struct Copy {
    TableFinding damaged;
    bool was_known = false;
    NewFile known;  // Set if was_known.
  };
  std::vector<Copy> copies;
};

struct RepairPlan {
  ManifestSurvey manifest;  // Its families are moved to `families`.
  std::map<uint32_t, PlannedFamily> families;
  // Tables that are added although the MANIFEST does not know them.
  std::set<uint64_t> found_tables;
  // Tables whose bounds were found by reading them, so these have timestamps if the family's keys
  // have.
  std::set<uint64_t> measured_tables;
  uint64_t next_file_number = 1;  // Above all existing files, also those in lost/.
  SequenceNumber last_sequence = 0;
  bool needs_repair = false;  // Something is missing or damaged.
  // Missing tables that the MANIFEST has, or another repair has given up.
  std::map<uint32_t, PlannedFamily> missing;
  // Numbers of the MANIFESTs in lost/ that name given-up tables; `missing` has those still missing.
  std::vector<uint64_t> records;
  bool takes_given_up = false;  // Some of those have reappeared.
  // Sound tables of the MANIFEST that are in lost/: the present path, and the path to move them to.
  std::vector<std::pair<std::string, std::string>> returning;
};

// Makes a plan for the database `name`, which must be closed. `was_locked`: see LogLocation.
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

  // Sets the existing table directories besides the database's own.
  void SetTableDirectories(std::set<std::string> directories) {
    table_directories_ = std::move(directories);
  }
  Status Run(RepairPlan* plan, RepairReport* report);

 private:
  struct Found {
    uint32_t family_id = 0;
    TableFinding finding;
  };

  void FindTables(const std::string& directory, const std::vector<std::string>& entries);
  std::string ChoosePath(const PlannedFamily& family, NewFile* known) const;
  Status TakeGivenUp();
  Status TakeOneGivenUp(const NewFile& table, uint64_t record, uint32_t id, PlannedFamily* family);
  void NoteMissing(uint32_t id, const PlannedFamily& family, const NewFile& table);
  // True if all entries in the table's range that were written after the record are newer than the
  // table's.
  static bool IsOlderThanAllSince(const NewFile& table, uint64_t record,
                                  const PlannedFamily& family);
  // Examines the copy in lost/ of a missing table; the state is kUnreadable if there is none.
  Status ExamineSetAside(const PlannedFamily& family, const NewFile& known, TableFinding* finding);
  // Returns an error if a missing table may be in a directory that the options lack.
  Status CheckIsLost(const PlannedFamily& family, const NewFile& known) const;
  bool FindPath(const PlannedFamily& family, const std::string& path, NewFile* file) const;
  bool IsIn(const std::string& directory, const std::string& path) const;
  Status AddFamily(uint32_t id, SurveyedFamily state);
  Status ExamineKnown();
  // Reads the properties of tables that the MANIFEST does not know, to find their families.
  Status LookAtUnknown();
  Status PlaceUnknown(const TableProperties& properties, uint32_t* family_id, std::string* reason);
  void AddFound(Found found);
  void TakeFound();
  bool ProvesLostEnd(const TableFinding& finding, uint32_t family_id) const;
  Status CheckOpenable() const;
  Status SurveyLogs();
  Status SurveyLog(const std::string& directory, uint64_t number);
  void NoteNumbers(const std::vector<std::string>& entries);
  TableSurveyContext ContextOf(const PlannedFamily& family) const;
  RepairReport::Table Describe(const TableFinding& finding, const std::string& family) const;
  const ColumnFamilyOptions* OptionsOf(const std::string& family) const;
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
  std::multimap<uint64_t, std::string> tables_set_aside_;  // Like tables_, for lost/.
  std::vector<uint64_t> manifests_set_aside_;
  std::optional<FormerDirectories> former_;
  std::set<uint64_t> logs_;
  bool table_missing_ = false;  // A table in the MANIFEST.
  std::vector<Found> found_;
};

}  // namespace varve
