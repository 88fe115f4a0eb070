// SPDX-License-Identifier: Apache-2.0

// Implements OptionChangeMigration by public calls: opens the database with the new number of
// levels, and compacts the families that have deeper tables.
//
// The new options may have fewer levels than the tree. The tables that lie too deep are moved by
// two openings:
//
//   1. with the old options but the new number of levels: a family with deeper tables is compacted,
//      and all of it then lies in levels that will exist
//   2. with the old options: the new MANIFEST has only the tables that are live now
//
// Automatic compactions are off in both, so that nothing else moves tables meanwhile.

#include "varve/utilities/option_change_migration.h"

#include <memory>

#include "varve/metadata.h"

#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// Returns OK if both lists have the same families in the same order.
Status CheckNames(const std::vector<ColumnFamilyDescriptor>& before,
                  const std::vector<ColumnFamilyDescriptor>& after) {
  constexpr const char* kCall = "OptionChangeMigration";
  if (before.size() != after.size()) {
    return Status::InvalidArgument(kCall, std::to_string(before.size()) +
                                              " column families have old options, and " +
                                              std::to_string(after.size()) + " new ones");
  }
  for (size_t i = 0; i < before.size(); i++) {
    if (before[i].name == after[i].name) continue;
    return Status::InvalidArgument(
        kCall, "column family " + before[i].name + " has the new options of " + after[i].name);
  }
  return Status::OK();
}

// Returns the old options with the new number of levels. The style is one that compacts into these
// levels, as FIFO compaction would merge nothing.
ColumnFamilyOptions WithLevelsOf(const ColumnFamilyOptions& before,
                                 const ColumnFamilyOptions& after) {
  ColumnFamilyOptions options = before;
  options.num_levels = DeriveColumnFamilyOptions(after).num_levels;
  options.compaction_style =
      options.num_levels == 1 ? kCompactionStyleUniversal : kCompactionStyleLevel;
  options.compaction_options_universal = CompactionOptionsUniversal();
  options.disable_auto_compactions = true;
  return options;
}

// Compacts the family if a table lies deeper than its options allow.
Status DrainFamily(DB* db, ColumnFamilyHandle* handle) {
  // The metadata shows the levels as they are, NumberLevels the options of this opening.
  ColumnFamilyMetaData tree;
  db->GetColumnFamilyMetaData(handle, &tree);
  const int allowed = db->NumberLevels(handle);
  for (const LevelMetaData& level : tree.levels) {
    if (level.level < allowed || level.files.empty()) continue;
    return db->CompactRange(CompactRangeOptions(), handle, nullptr, nullptr);
  }
  return Status::OK();
}

// Opens the database, calls `work` for each family until one fails, and closes the database.
// Returns the first error.
template <typename Work>
Status WithOpen(const DBOptions& db_options, const std::string& dbname,
                const std::vector<ColumnFamilyDescriptor>& families, const Work& work) {
  std::unique_ptr<DB> db;
  std::vector<ColumnFamilyHandle*> handles;
  VARVE_RETURN_IF_ERROR(DB::Open(db_options, dbname, families, &handles, &db));
  Status s;
  // After a failure the loop continues for the handles, which have to be destroyed; then the
  // database is closed in any case.
  for (ColumnFamilyHandle* const handle : handles) {
    if (s.ok()) s = work(db.get(), handle);
    s.UpdateIfOk(db->DestroyColumnFamilyHandle(handle));
  }
  s.UpdateIfOk(db->Close());
  return s;
}

}  // namespace

Status OptionChangeMigration(const std::string& dbname, const DBOptions& old_db_opts,
                             const std::vector<ColumnFamilyDescriptor>& old_cf_descs,
                             const DBOptions& /*new_db_opts*/,
                             const std::vector<ColumnFamilyDescriptor>& new_cf_descs) try {
  VARVE_RETURN_IF_ERROR(CheckNames(old_cf_descs, new_cf_descs));
  DBOptions db_options = old_db_opts;
  db_options.create_if_missing = false;
  std::vector<ColumnFamilyDescriptor> families = old_cf_descs;
  for (size_t i = 0; i < families.size(); i++) {
    families[i].options = WithLevelsOf(old_cf_descs[i].options, new_cf_descs[i].options);
  }
  VARVE_RETURN_IF_ERROR(WithOpen(db_options, dbname, families, DrainFamily));
  // The second opening writes a MANIFEST without the tables that were too deep, and the OPTIONS
  // file of the old options.
  families = old_cf_descs;
  for (size_t i = 0; i < families.size(); i++) families[i].options.disable_auto_compactions = true;
  return WithOpen(db_options, dbname, families,
                  [](DB*, ColumnFamilyHandle*) { return Status::OK(); });
} catch (...) {
  return CaughtException();
}

Status OptionChangeMigration(const std::string& dbname, const Options& old_opts,
                             const Options& new_opts) {
  return OptionChangeMigration(dbname, old_opts, {{kDefaultColumnFamilyName, old_opts}}, new_opts,
                               {{kDefaultColumnFamilyName, new_opts}});
}

}  // namespace varve
