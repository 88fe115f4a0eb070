// SPDX-License-Identifier: Apache-2.0

// Plans a repair in steps: read the MANIFEST, examine its tables, look at tables that it does not
// have, restore tables that earlier repairs gave up, and read the logs. Each step adds to the plan
// and to the report, and writes nothing.

#include "db/recovery/repair_plan.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "varve/column_family.h"

#include "db/recovery/blob_survey.h"
#include "db/recovery/log_directory.h"
#include "db/recovery/remembered_operators.h"
#include "db/recovery/repair_manifest.h"
#include "db/recovery/sanitize.h"
#include "db/version/manifest_replay.h"
#include "db/wal/log_reader.h"
#include "db/wal/synced_marks.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/absolute_path.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/env/sequential_file_reader.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

std::string BaseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// True if the properties name no family by an id. UINT32_MAX, and what is larger, is no id.
bool HasNoId(const TableProperties& table) {
  return table.column_family_id > UINT32_MAX - 1 ||
         table.column_family_id == TablePropertiesCollectorFactory::Context::kUnknownColumnFamily;
}

// Returns the largest sequence number of the family's tables in the MANIFEST.
SequenceNumber NewestOf(const SurveyedFamily& family) {
  SequenceNumber newest = 0;
  for (const auto& [number, file] : family.files) newest = std::max(newest, file.largest_seq);
  return newest;
}

// Returns an epoch above those in the MANIFEST, or kUnknownEpochNumber if one of these is unknown;
// an opening then assigns all of them again.
uint64_t NextEpoch(const PlannedFamily& family) {
  uint64_t epoch = 0;
  bool known = true;
  const auto look_at = [&](const NewFile& file) {
    epoch = std::max(epoch, file.epoch_number);
    known &= file.epoch_number != kUnknownEpochNumber;
  };
  for (const auto& [number, file] : family.state.files) look_at(file);
  for (const PlannedFamily::Copy& copy : family.copies) {
    look_at(copy.was_known ? copy.known : copy.damaged.file);
  }
  return known ? epoch + 1 : kUnknownEpochNumber;
}

}  // namespace

std::string RepairPlanner::WalDirectory() const {
  return db_options_.wal_dir.empty() ? name_ : db_options_.wal_dir;
}

const ColumnFamilyOptions* RepairPlanner::OptionsOf(const std::string& family) const {
  for (const ColumnFamilyDescriptor& descriptor : *column_families_) {
    if (descriptor.name == family) return &descriptor.options;
  }
  return unknown_cf_opts_;
}

TableSurveyContext RepairPlanner::ContextOf(const PlannedFamily& family) const {
  TableSurveyContext context;
  context.fs = fs_;
  context.options = &family.options;
  context.icmp = family.icmp.get();
  return context;
}

RepairReport::Table RepairPlanner::Describe(const TableFinding& finding,
                                            const std::string& family) const {
  RepairReport::Table table;
  table.name = BaseName(finding.path);
  table.family = family;
  if (!finding.why.ok()) table.reason = finding.why.ToString();
  table.entries = finding.count.entries;
  table.lost_blocks = finding.count.lost_blocks;
  table.lost_bytes = finding.count.lost_bytes;
  return table;
}

// Refuses cases that the user has to decide before any table is examined: a family without options,
// or with another comparator.
Status RepairPlanner::AddFamily(uint32_t id, SurveyedFamily state) {
  const ColumnFamilyOptions* const given = OptionsOf(state.name);
  if (given == nullptr) {
    return Status::InvalidArgument("repair: no options for column family " + state.name + ", id",
                                   std::to_string(id));
  }
  VARVE_RETURN_IF_ERROR(PrepareTableFactory(*given));
  VARVE_RETURN_IF_ERROR(ValidateOptions(db_options_, *given));
  PlannedFamily family;
  family.options = *given;
  // The repair must not change the contents: nothing is filtered, and only necessary compactions
  // run.
  family.options.compaction_filter = nullptr;
  family.options.compaction_filter_factory = nullptr;
  family.options.disable_auto_compactions = true;
  family.options = SanitizeFamilyOptions(db_options_, family.options);
  family.icmp = std::make_unique<InternalKeyComparator>(family.options.comparator);
  family.paths = std::make_shared<const TablePaths>(name_, family.options.cf_paths);
  const std::string name = family.options.comparator->Name();
  if (state.comparator.empty()) state.comparator = name;
  if (state.comparator != name) {
    return Status::InvalidArgument("repair: column family " + state.name + " has comparator " +
                                   state.comparator + ", the options have " + name);
  }
  family.state = std::move(state);
  VARVE_ASSERT(!plan_->families.contains(id));
  plan_->families.emplace(id, std::move(family));
  return Status::OK();
}

void RepairPlanner::NoteNumbers(const std::vector<std::string>& entries) {
  for (const auto& [entry, number, type] : FilesAmong(entries)) {
    if (type == kInfoLogFile) continue;
    if (number > kMaxFoundFileNumber) continue;  // Never assigned by an engine.
    plan_->next_file_number = std::max(plan_->next_file_number, number + 1);
  }
}

// The synced marks of before are deleted only once the repair is in force. A crash in between
// leaves them beside the new state, whose files they do not judge if their numbers are larger.
void RepairPlanner::NoteMarks() {
  const wal::SyncedMark mark = wal::ReadSyncedMark(fs_, name_);
  for (const uint64_t number : {mark.log, mark.manifest}) {
    if (number > kMaxFoundFileNumber) continue;  // Never assigned by an engine.
    plan_->next_file_number = std::max(plan_->next_file_number, number + 1);
  }
}

// Adds the directory's tables to tables_, and keeps all its numbers from being used again.
void RepairPlanner::FindTables(const std::string& directory,
                               const std::vector<std::string>& entries) {
  NoteNumbers(entries);
  for (const auto& [entry, number, type] : FilesAmong(entries, kTableFile)) {
    const std::string path = directory + "/" + entry;
    // A directory may be listed under several paths.
    const auto [first, last] = tables_.equal_range(number);
    const bool has_it = std::any_of(
        first, last, [&](const auto& table) { return IsSameFile(fs_, table.second, path); });
    if (!has_it) tables_.emplace(number, path);
  }
}

// Compares the files, as a file may have several paths.
bool RepairPlanner::IsIn(const std::string& directory, const std::string& path) const {
  const std::string there = directory + "/" + BaseName(path);
  return there == path || IsSameFile(fs_, there, path);
}

bool RepairPlanner::FindPath(const PlannedFamily& family, const std::string& path,
                             NewFile* file) const {
  const std::vector<std::string>& directories = family.paths->directories();
  const auto at = std::ranges::find_if(
      directories, [&](const std::string& directory) { return IsIn(directory, path); });
  if (at == directories.end()) return false;
  file->path_id = static_cast<uint32_t>(at - directories.begin());
  return true;
}

// Prefers the file in the MANIFEST's directory to one in another directory of the family.
std::string RepairPlanner::ChoosePath(const PlannedFamily& family, NewFile* known) const {
  const auto [first, last] = tables_.equal_range(known->number);
  if (known->path_id < family.paths->size()) {
    const std::string& directory = family.paths->directory(known->path_id);
    const auto at =
        std::find_if(first, last, [&](const auto& table) { return IsIn(directory, table.second); });
    if (at != last) return at->second;
  }
  const auto at = std::find_if(
      first, last, [&](const auto& table) { return FindPath(family, table.second, known); });
  return at != last ? at->second : "";
}

// The order matters: the numbers of all files come first, so that no new file gets one; then the
// MANIFEST, which has the families; then its tables, and only then the others, which are evaluated
// by the tables that are missing.
Status RepairPlanner::Run(RepairPlan* plan, RepairReport* report) {
  VARVE_ASSERT(plan_ == nullptr && plan->families.empty());
  plan_ = plan;
  report_ = report;
  std::vector<std::string> entries;
  VARVE_RETURN_IF_ERROR(fs_->GetChildren(name_, IOOptions(), &entries, nullptr));
  FindTables(name_, entries);
  // Files in lost/ are listed separately, as they are restored only for a reason. The directory of
  // logs is among `others` even if it is the database's own, since this loop collects the logs.
  std::set<std::string> others = {WalDirectory(), name_ + "/lost", WalDirectory() + "/lost"};
  for (const std::string& directory : table_directories_) {
    std::vector<std::string> names;
    VARVE_RETURN_IF_ERROR(fs_->GetChildren(directory, IOOptions(), &names, nullptr));
    FindTables(directory, names);
    others.insert(directory + "/lost");
  }
  for (const std::string& other : others) {
    std::vector<std::string> names;
    IOStatus s = fs_->GetChildren(other, IOOptions(), &names, nullptr);
    if (!s.ok() && !IsMissing(s)) return s;
    if (!s.ok() && other == WalDirectory()) {
      report->logs.push_back({other, 0, 0, "the directory is missing"});
      plan->needs_repair = true;
    }
    NoteNumbers(names);
    for (const auto& [entry, number, type] : FilesAmong(names)) {
      if (type == kDescriptorFile && other == name_ + "/lost") {
        manifests_set_aside_.push_back(number);
      }
      if (type == kTableFile && other.ends_with("/lost")) {
        tables_set_aside_.emplace(number, other + "/" + entry);
      }
      const bool is_log = type == kWalFile;
      if (is_log && other == WalDirectory() && number <= kMaxFoundFileNumber) logs_.insert(number);
    }
  }
  former_.emplace(LogLocation{fs_, FileOptions(), name_, WalDirectory(), was_locked_});
  VARVE_RETURN_IF_ERROR(FindManifest(fs_, name_, entries, &plan->manifest));
  const ManifestSurvey& manifest = plan->manifest;
  if (manifest.number != 0) report->manifest = DescriptorFileBaseName(manifest.number);
  report->manifest_damage = manifest.damage;
  plan->needs_repair |= !manifest.whole || manifest.current_lost;
  plan->last_sequence = manifest.last_sequence;
  plan->next_file_number = std::max(plan->next_file_number, manifest.next_file_number);
  NoteMarks();
  for (auto& [id, family] : plan->manifest.families) {
    VARVE_RETURN_IF_ERROR(AddFamily(id, std::move(family)));
  }
  plan->manifest.families.clear();
  VARVE_RETURN_IF_ERROR(ExamineKnown());
  VARVE_RETURN_IF_ERROR(TakeGivenUp());
  VARVE_RETURN_IF_ERROR(LookAtUnknown());
  TakeFound();
  FindBlobFiles();
  for (const auto& [id, family] : plan->families) report->families.push_back(family.state.name);
  VARVE_RETURN_IF_ERROR(CheckOpenable());
  return SurveyLogs();
}

void RepairPlanner::FindBlobFiles() {
  const std::shared_ptr<FileSystem> fs(fs_, [](FileSystem*) {});  // It is borrowed.
  for (auto& [id, family] : plan_->families) {
    std::vector<const NewFile*> copied;
    for (const PlannedFamily::Copy& copy : family.copies) {
      copied.push_back(&copy.damaged.file);
    }
    SurveyBlobFiles(fs, id, *family.paths, copied, &family.state, report_, &plan_->needs_repair);
  }
}

Status RepairPlanner::CheckOpenable() const {
  const auto remembered = MergeOperatorsInOptionsFile(fs_, name_, nullptr);
  for (const auto& [id, family] : plan_->families) {
    const SurveyedFamily& state = family.state;
    const auto named = remembered.find(state.name);
    // A MANIFEST of RocksDB names no operator, but its OPTIONS file does.
    std::string merge_operator = state.merge_operator;
    if (merge_operator.empty() && named != remembered.end()) merge_operator = named->second;
    VARVE_RETURN_IF_ERROR(CheckMergeOperator(state.name, family.options, merge_operator));
    int deepest = 0;
    for (const auto& [number, file] : state.files) deepest = std::max(deepest, file.level);
    for (const PlannedFamily::Copy& copy : family.copies) {
      deepest = std::max(deepest, copy.known.level);
    }
    if (deepest < family.options.num_levels) continue;
    return Status::InvalidArgument("repair: column family " + state.name + " has tables in level " +
                                   std::to_string(deepest) + ", and num_levels is " +
                                   std::to_string(family.options.num_levels));
  }
  return Status::OK();
}

// Examines all copies and chooses the best. A sound one is moved back to the family's directory by
// the repair.
Status RepairPlanner::ExamineSetAside(const PlannedFamily& family, const NewFile& known,
                                      TableFinding* finding) {
  if (known.path_id >= family.paths->size()) return Status::OK();
  const auto [first, last] = tables_set_aside_.equal_range(known.number);
  for (auto table = first; table != last; ++table) {
    TableFinding found;
    ExamineTable(ContextOf(family), table->second, known.number, &known, &found);
    if (found.state < finding->state) *finding = std::move(found);
  }
  if (finding->state != TableFinding::State::kSound) return Status::OK();
  plan_->returning.emplace_back(finding->path, family.paths->FileName(known));
  plan_->needs_repair = true;
  return Status::OK();
}

Status RepairPlanner::CheckIsLost(const PlannedFamily& family, const NewFile& known) const {
  const std::string& name = family.state.name;
  VARVE_RETURN_IF_ERROR(former_->CheckNotThere(name, *family.paths, known));
  if (known.path_id < family.paths->size()) return Status::OK();
  return Status::InvalidArgument(
      name_, "column family " + name + " has a table in path " + std::to_string(known.path_id) +
                 " of db_paths or cf_paths, and " + std::to_string(family.paths->size()) +
                 " of them are given; nothing was changed. Give all that it had, in their order");
}

// Each table of the MANIFEST stays, is copied, or is lost. A missing one is searched for in lost/,
// where an earlier repair may have moved it, and then in directories of former options.
Status RepairPlanner::ExamineKnown() {
  for (auto& [id, family] : plan_->families) {
    const std::string& name = family.state.name;
    for (auto it = family.state.files.begin(); it != family.state.files.end();) {
      NewFile& known = it->second;
      TableFinding finding;
      const std::string path = ChoosePath(family, &known);
      if (path.empty()) {
        VARVE_RETURN_IF_ERROR(ExamineSetAside(family, known, &finding));
      } else {
        ExamineTable(ContextOf(family), path, known.number, &known, &finding);
      }
      if (path.empty() && finding.state == TableFinding::State::kUnreadable) {
        VARVE_RETURN_IF_ERROR(CheckIsLost(family, known));
        finding.path = TableFileName(name_, known.number);
        finding.why = Status::Corruption("the file is missing");
        table_missing_ = true;
        NoteMissing(id, family, known);
      } else {
        // Errors of options, and formats that are not supported, are not damage.
        if (finding.why.IsNotSupported() || finding.why.IsInvalidArgument()) return finding.why;
        tables_.erase(known.number);  // This removes copies elsewhere, too.
      }
      plan_->last_sequence = std::max(plan_->last_sequence, known.largest_seq);
      switch (finding.state) {
        case TableFinding::State::kSound:
          report_->kept.push_back(Describe(finding, name));
          ++it;
          continue;
        case TableFinding::State::kDamaged:
          report_->copied.push_back(Describe(finding, name));
          family.copies.push_back({std::move(finding), /*was_known=*/true, known});
          break;
        case TableFinding::State::kUnreadable:
          report_->lost.push_back(Describe(finding, name));
          break;
      }
      plan_->needs_repair = true;
      it = family.state.files.erase(it);
    }
  }
  return Status::OK();
}

void RepairPlanner::NoteMissing(uint32_t id, const PlannedFamily& family, const NewFile& table) {
  PlannedFamily& missing = plan_->missing[id];
  if (missing.icmp == nullptr) {
    missing.options = family.options;
    missing.icmp = std::make_unique<InternalKeyComparator>(family.options.comparator);
    missing.state.name = family.state.name;
    missing.state.comparator = family.state.comparator;
  }
  missing.state.files[table.number] = table;
}

// Files with numbers below `record` existed when the table was given up, so their order relative to
// it is known. A later compaction may have set sequence numbers to 0, or dropped a deletion of the
// table's entries, so none of its outputs may overlap the table. Bounds without timestamps cannot
// be compared, and count as overlapping.
bool RepairPlanner::IsOlderThanAllSince(const NewFile& table, uint64_t record,
                                        const PlannedFamily& family) {
  const InternalKeyComparator& icmp = *family.icmp;
  return std::ranges::none_of(family.state.files, [&](const auto& entry) {
    const NewFile& since = entry.second;
    if (since.number < record || since.smallest_seq > table.largest_seq) return false;
    if (!since.timestamps_persisted || !table.timestamps_persisted) return true;
    return icmp.CompareKey(icmp.KeyOf(since.smallest), icmp.KeyOf(table.largest)) <= 0 &&
           icmp.CompareKey(icmp.KeyOf(table.smallest), icmp.KeyOf(since.largest)) <= 0;
  });
}

// Such tables are added above the others, and are merged with them by sequence number.
Status RepairPlanner::TakeGivenUp() {
  for (const uint64_t number : manifests_set_aside_) {
    ManifestSurvey record;
    const Status s = SurveyManifest(fs_, name_ + "/lost", number, &record);
    if (s.IsIOError()) return s;
    if (!s.ok() || record.db_id != kGivenUpId) continue;
    plan_->records.push_back(number);
    for (const auto& [id, family] : record.families) {
      const auto living = plan_->families.find(id);
      if (living == plan_->families.end() || living->second.state.name != family.name) continue;
      for (const auto& [of_table, table] : family.files) {
        VARVE_RETURN_IF_ERROR(TakeOneGivenUp(table, number, id, &living->second));
      }
    }
  }
  return Status::OK();
}

// The table is added to level 0 with a new epoch, so that it is above the others; the repair merges
// overlapping entries by their sequence numbers. A table that cannot be restored stays in the
// records of missing ones.
Status RepairPlanner::TakeOneGivenUp(const NewFile& table, uint64_t record, uint32_t id,
                                     PlannedFamily* family) {
  if (family->state.files.contains(table.number)) return Status::OK();
  NewFile known = table;
  TableFinding finding;
  const std::string path = ChoosePath(*family, &known);
  const bool is_older = IsOlderThanAllSince(known, record, *family);
  if (!path.empty()) {
    ExamineTable(ContextOf(*family), path, known.number, &known, &finding);
  } else if (is_older) {
    VARVE_RETURN_IF_ERROR(ExamineSetAside(*family, known, &finding));
  }
  if (finding.state != TableFinding::State::kSound || !is_older) {
    NoteMissing(id, *family, table);
    return Status::OK();
  }
  known.level = 0;
  known.epoch_number = NextEpoch(*family);
  plan_->last_sequence = std::max(plan_->last_sequence, known.largest_seq);
  plan_->found_tables.insert(known.number);
  plan_->takes_given_up = true;
  plan_->needs_repair = true;
  report_->kept.push_back(Describe(finding, family->state.name));
  family->state.files[known.number] = known;
  tables_.erase(known.number);
  return Status::OK();
}

// Tables are deleted only after the MANIFEST has those that replace them: if one is missing, and
// another one has a number that the MANIFEST has not assigned, the end of the MANIFEST is missing.
// Logs are deleted only after the tables with their data are in the MANIFEST: if the oldest log
// that it needs is missing, a table with newer entries than those in the MANIFEST proves the same.
bool RepairPlanner::ProvesLostEnd(const TableFinding& finding, uint32_t family_id) const {
  VARVE_ASSERT(finding.state == TableFinding::State::kSound);
  if (table_missing_ && finding.number >= plan_->manifest.next_file_number) return true;
  if (logs_.count(OldestLogWanted(plan_->manifest)) > 0) return false;
  const auto family = plan_->families.find(family_id);
  return family == plan_->families.end() ||
         finding.file.largest_seq > NewestOf(family->second.state);
}

// Adds the family to the plan if the MANIFEST does not have it but may have lost it.
Status RepairPlanner::PlaceUnknown(const TableProperties& properties, uint32_t* family_id,
                                   std::string* reason) {
  const ManifestSurvey& manifest = plan_->manifest;
  SurveyedFamily family;
  family.name = properties.column_family_name;
  // Tables of writers that know no families, such as LevelDB, belong to the default one, id 0.
  if (family.name.empty()) family.name = kDefaultColumnFamilyName;
  *family_id = HasNoId(properties) ? 0 : static_cast<uint32_t>(properties.column_family_id);
  const auto known = plan_->families.find(*family_id);
  if (known != plan_->families.end()) {
    if (known->second.state.name != family.name) *reason = "its column family was dropped";
    return Status::OK();
  }
  if (manifest.whole) {
    *reason = *family_id <= manifest.max_family_id ? "its column family was dropped"
                                                   : "the MANIFEST is without it";
    return Status::OK();
  }
  family.comparator = properties.comparator_name;
  return AddFamily(*family_id, std::move(family));
}

// A table that the MANIFEST does not have is usually left by a crash, and not used. If one of them
// proves that the MANIFEST has lost its end, all sound ones may have data, and are added
// (TakeFound).
Status RepairPlanner::LookAtUnknown() {
  bool lost_end = false;
  for (const auto& [number, path] : tables_) {
    if (plan_->manifest.deleted_files.count(number) > 0) {
      report_->unexplained.push_back({BaseName(path), "", "the MANIFEST has deleted it"});
      continue;
    }
    if (number > kMaxFoundFileNumber) {
      report_->unexplained.push_back({BaseName(path), "", "no database gives out such numbers"});
      continue;
    }
    Found found;
    found.finding.path = path;
    std::shared_ptr<const TableProperties> properties;
    VARVE_ASSERT(!plan_->families.empty());
    const PlannedFamily& any = plan_->families.begin()->second;
    found.finding.why = ReadTableProperties(ContextOf(any), path, &properties);
    // A repair must not move files to lost/ that another engine can read.
    if (found.finding.why.IsNotSupported()) return found.finding.why;
    if (!found.finding.why.ok()) {
      // It may be an unfinished table of a crash.
      report_->unexplained.push_back(Describe(found.finding, ""));
      continue;
    }
    std::string reason;
    VARVE_RETURN_IF_ERROR(PlaceUnknown(*properties, &found.family_id, &reason));
    if (!reason.empty()) {
      report_->unexplained.push_back({BaseName(path), properties->column_family_name, reason});
      continue;
    }
    const PlannedFamily& family = plan_->families.at(found.family_id);
    ExamineTable(ContextOf(family), path, number, nullptr, &found.finding);
    if (!FindPath(family, path, &found.finding.file)) {
      report_->unexplained.push_back(
          {BaseName(path), family.state.name, "it is in a directory that is not its family's"});
      continue;
    }
    lost_end |= found.finding.state == TableFinding::State::kSound &&
                ProvesLostEnd(found.finding, found.family_id);
    AddFound(std::move(found));
  }
  if (plan_->manifest.whole && lost_end) {
    plan_->manifest.whole = false;
    report_->manifest_damage = "its end is missing: there are newer tables than it tells of";
    plan_->needs_repair = true;
  }
  return Status::OK();
}

// Must be called in ascending order of numbers. Of several tables with one number, a sound one is
// used.
void RepairPlanner::AddFound(Found found) {
  if (found_.empty() || found_.back().finding.number != found.finding.number) {
    found_.push_back(std::move(found));
    return;
  }
  if (found_.back().finding.state != TableFinding::State::kSound) std::swap(found_.back(), found);
  const std::string& family = plan_->families.at(found.family_id).state.name;
  report_->unexplained.push_back(
      {BaseName(found.finding.path), family, "another file has its number"});
}

// Tables are added in the order of their newest entries, so that newer ones get larger epochs.
void RepairPlanner::TakeFound() {
  // The name of a family that was dropped and created again has several ids, of which the largest
  // is live.
  std::map<std::string, uint32_t> newest;
  for (const auto& [id, family] : plan_->families) newest[family.state.name] = id;
  std::sort(found_.begin(), found_.end(), [](const Found& a, const Found& b) {
    return a.finding.file.largest_seq < b.finding.file.largest_seq;
  });
  for (Found& found : found_) {
    PlannedFamily& family = plan_->families.at(found.family_id);
    const std::string name = family.state.name;
    TableFinding& finding = found.finding;
    if (plan_->manifest.whole || newest.at(name) != found.family_id ||
        finding.state == TableFinding::State::kUnreadable) {
      report_->unexplained.push_back(Describe(finding, name));
      if (report_->unexplained.back().reason.empty()) {
        report_->unexplained.back().reason =
            plan_->manifest.whole ? "the MANIFEST is without it" : "its column family was dropped";
      }
      continue;
    }
    finding.file.epoch_number = NextEpoch(family);
    plan_->last_sequence = std::max(plan_->last_sequence, finding.file.largest_seq);
    plan_->found_tables.insert(finding.number);
    plan_->measured_tables.insert(finding.number);
    if (finding.state == TableFinding::State::kSound) {
      report_->kept.push_back(Describe(finding, name));
      family.state.files[finding.number] = finding.file;
    } else {
      report_->copied.push_back(Describe(finding, name));
      family.copies.push_back({std::move(finding), /*was_known=*/false, NewFile()});
    }
  }
  for (auto it = plan_->families.begin(); it != plan_->families.end();) {
    it = newest.at(it->second.state.name) == it->first ? std::next(it) : plan_->families.erase(it);
  }
}

// Reads the logs only for the report; the opening in step 4 of repair.cc replays them. The oldest
// log that is needed is found as in OldestLogWanted, among the families that the plan has now.
Status RepairPlanner::SurveyLogs() {
  uint64_t oldest = UINT64_MAX;
  for (const auto& [id, family] : plan_->families) {
    oldest = std::min(oldest, family.state.log_number);
  }
  oldest = std::max(oldest, plan_->manifest.min_log_number_to_keep);
  std::vector<uint64_t> wanted;
  std::ranges::copy_if(logs_, std::back_inserter(wanted), [=](uint64_t n) { return n >= oldest; });
  VARVE_RETURN_IF_ERROR(
      CheckLogDirectory({fs_, FileOptions(), name_, WalDirectory(), was_locked_}, wanted, oldest));
  for (uint64_t number : wanted) VARVE_RETURN_IF_ERROR(SurveyLog(WalDirectory(), number));
  return Status::OK();
}

// Reads up to the first damage, as point-in-time recovery does. What follows counts as dropped.
Status RepairPlanner::SurveyLog(const std::string& directory, uint64_t number) {
  const std::string path = LogFileName(directory, number);
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(SequentialFileReader::Open(fs_, path, FileOptions(), &file));
  uint64_t bytes = 0;
  VARVE_RETURN_IF_ERROR(fs_->GetFileSize(path, IOOptions(), &bytes, nullptr));
  wal::LogReader reader(std::move(file), number, path, nullptr);
  RepairReport::Log log;
  log.name = BaseName(path);
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kPointInTimeRecovery)) log.records++;
  VARVE_RETURN_IF_ERROR(reader.io_status());
  const wal::LogDamage& damage = reader.damage();
  if (damage.first_bad_offset != UINT64_MAX) {
    log.reason = damage.reason + " at offset " + std::to_string(damage.first_bad_offset);
    log.dropped_bytes = bytes > damage.first_bad_offset ? bytes - damage.first_bad_offset : 0;
    plan_->needs_repair = true;
  }
  report_->logs.push_back(std::move(log));
  return Status::OK();
}

}  // namespace varve
