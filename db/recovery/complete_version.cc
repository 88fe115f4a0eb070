// SPDX-License-Identifier: Apache-2.0
#include "db/recovery/complete_version.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "db/recovery/families.h"
#include "db/recovery/table_survey.h"
#include "db/version/manifest_replay.h"
#include "db/wal/log_reader.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"
#include "util/env/sequential_file_reader.h"

namespace varve {

namespace {

// The tables of one family that is to be opened, and which of them can be.
class FamilyTables {
 public:
  FamilyTables(const DbContext& context, const ColumnFamilyDescriptor& family)
      : fs_(context.fs().get()),
        paths_(ToOpen(context, family).paths),
        options_(family.options),
        icmp_(family.options.comparator) {}

  // *there: the file is that table. Each is looked at once.
  Status Look(const NewFile& table, bool* there) {
    const auto known = looked_at_.find(table.number);
    if (known != looked_at_.end()) {
      *there = known->second;
      return Status::OK();
    }
    Status s = Check(table);
    *there = s.ok();
    const bool absent = s.IsCorruption() || s.IsNotFound() || s.IsPathNotFound();
    if (!s.ok() && !absent) return s;
    looked_at_.emplace(table.number, *there);
    return Status::OK();
  }
  std::string Path(const NewFile& table) const { return paths_->FileName(table); }

 private:
  Status Check(const NewFile& table) const {
    if (table.path_id >= paths_->size()) {
      return Status::InvalidArgument("table " + std::to_string(table.number) +
                                     " lies in a path of db_paths or cf_paths that is not given");
    }
    const TableSurveyContext context{fs_, &options_, &icmp_};
    const Status s = CheckTable(context, paths_->FileName(table), table);
    if (!IsMissing(s)) return s;
    return CheckTable(context, paths_->LevelDbFileName(table), table);
  }

  FileSystem* const fs_;
  const TablePathsRef paths_;
  const ColumnFamilyOptions options_;
  const InternalKeyComparator icmp_;
  std::map<uint64_t, bool> looked_at_;  // by number
};

using TablesByFamily = std::map<std::string, FamilyTables>;  // by name

// The newest tables of level 0 come last.
bool IsNewer(const NewFile& a, const NewFile& b) {
  const bool have_epochs =
      a.epoch_number != kUnknownEpochNumber && b.epoch_number != kUnknownEpochNumber;
  if (have_epochs && a.epoch_number != b.epoch_number) return a.epoch_number > b.epoch_number;
  if (a.largest_seq != b.largest_seq) return a.largest_seq > b.largest_seq;
  return a.number > b.number;
}

// A family while the records of a MANIFEST are taken in order.
struct FamilyState {
  std::string name;
  FamilyTables* tables = nullptr;  // null: it is not to be opened
  std::map<uint64_t, NewFile> live;
  std::set<uint64_t> missing;  // of the live ones
  bool had_tables = false;

  // The newest state that can be had.
  uint64_t bound = 0;  // of the records that lead to it: an offset behind the last one's
  std::set<uint64_t> absent;
  bool good_has_tables = false;

  Status Apply(const VersionEdit& edit);
  // Of the state that the record at `offset` leaves.
  void Judge(uint64_t offset, bool newest_may_be_missing);
  [[nodiscard]] bool IsWhole() const { return missing.empty(); }

 private:
  [[nodiscard]] bool LacksOnlyTheNewest() const;
};

Status FamilyState::Apply(const VersionEdit& edit) {
  for (const auto& [level, number] : edit.deleted_files) {
    live.erase(number);
    missing.erase(number);
  }
  // By a rule as old as families.
  if (edit.family.added.has_value() || tables == nullptr) return Status::OK();
  for (const NewFile& file : edit.new_files) {
    live[file.number] = file;
    had_tables = true;
    bool there = false;
    VARVE_RETURN_IF_ERROR(tables->Look(file, &there));
    if (!there) missing.insert(file.number);
  }
  return Status::OK();
}

bool FamilyState::LacksOnlyTheNewest() const {
  const NewFile* oldest_missing = nullptr;
  for (const uint64_t number : missing) {
    const NewFile& file = live.at(number);
    if (file.level != 0) return false;
    if (oldest_missing == nullptr || IsNewer(*oldest_missing, file)) oldest_missing = &file;
  }
  return std::ranges::all_of(live, [&](const auto& entry) {
    const NewFile& file = entry.second;
    return file.level != 0 || missing.contains(file.number) || IsNewer(*oldest_missing, file);
  });
}

void FamilyState::Judge(uint64_t offset, bool newest_may_be_missing) {
  if (!IsWhole() && !(newest_may_be_missing && LacksOnlyTheNewest())) return;
  bound = offset + 1;
  absent = missing;
  good_has_tables = live.size() > missing.size();
}

// All states that one MANIFEST tells of, one after the other.
class History {
 public:
  // `together`: no family goes back without the others.
  History(TablesByFamily* tables, bool together) : tables_(tables), together_(together) {
    AddFamily(0, kDefaultColumnFamilyName);
  }

  // Reads as far as it is sound. An error is none of the MANIFEST's.
  Status Read(FileSystem* fs, const FileOptions& file_options, const std::string& path);

  // Whether a database can be opened with it.
  [[nodiscard]] bool IsComplete() const { return has_log_ && has_next_file_ && has_sequence_; }
  // Whether each family that ever had tables has some in its newest state that can be had.
  [[nodiscard]] bool KeepsTables() const;
  void Choose(CompleteVersion* version) const;
  [[nodiscard]] uint64_t end() const { return end_; }  // of the last sound record
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  void AddFamily(uint32_t id, const std::string& name);
  // False: the record cannot follow what came before.
  bool Take(VersionEdit edit, uint64_t offset, Status* s);
  bool Apply(const VersionEdit& edit, Status* s);
  void Judge(uint64_t offset);

  TablesByFamily* const tables_;
  std::map<uint32_t, FamilyState> families_;
  std::vector<VersionEdit> group_;  // atomic, not complete yet
  std::set<uint32_t> changed_;      // families, by what is being applied
  bool together_;                   // also since several families changed tables at once
  uint64_t bound_of_all_ = 0;       // as FamilyState::bound, where no family lacked a table
  bool all_good_has_tables_ = false;
  uint64_t end_ = 0;
  std::string damage_;  // why it is not read on; empty: it ends
  bool has_log_ = false;
  bool has_next_file_ = false;
  bool has_sequence_ = false;
};

void History::AddFamily(uint32_t id, const std::string& name) {
  FamilyState& family = families_[id];
  family.name = name;
  const auto tables = tables_->find(name);
  if (tables != tables_->end()) family.tables = &tables->second;
}

bool History::Apply(const VersionEdit& edit, Status* s) {
  has_log_ |= edit.log_number.has_value();
  has_next_file_ |= edit.numbers.next_file.has_value();
  has_sequence_ |= edit.numbers.last_sequence.has_value();
  if (edit.has_blob_files) *s = Status::NotSupported("the database holds blob files");
  const uint32_t id = edit.column_family;
  if (edit.family.added.has_value()) {
    if (families_.contains(id) || id == UINT32_MAX) return false;
    AddFamily(id, *edit.family.added);
  }
  const auto family = families_.find(id);
  if (family == families_.end()) return false;
  if (edit.family.dropped) {
    if (id == 0) return false;
    families_.erase(family);
    return true;
  }
  if (s->ok()) *s = family->second.Apply(edit);
  if (!edit.new_files.empty() || !edit.deleted_files.empty()) changed_.insert(id);
  return true;
}

bool History::Take(VersionEdit edit, uint64_t offset, Status* s) {
  const uint32_t remaining = edit.atomic_group_remaining.value_or(0);
  if (!edit.atomic_group_remaining.has_value() && !group_.empty()) return false;
  group_.push_back(std::move(edit));
  if (remaining > 0) return true;
  changed_.clear();
  for (const VersionEdit& member : std::exchange(group_, {})) {
    if (!Apply(member, s)) return false;
  }
  together_ |= changed_.size() > 1;
  Judge(offset);
  return true;
}

// A MANIFEST begins with a state, family by family. The numbers come behind it.
void History::Judge(uint64_t offset) {
  if (!IsComplete()) return;
  bool whole = true;
  bool has_tables = true;
  for (auto& [id, family] : families_) {
    if (family.tables == nullptr) continue;
    family.Judge(offset, !together_);
    whole &= family.IsWhole();
    has_tables &= !family.had_tables || !family.live.empty();
  }
  if (!whole) return;
  bound_of_all_ = offset + 1;
  all_good_has_tables_ = has_tables;
}

Status History::Read(FileSystem* fs, const FileOptions& file_options, const std::string& path) {
  std::unique_ptr<SequentialFileReader> file;
  VARVE_RETURN_IF_ERROR(
      SequentialFileReader::Open(fs, path, fs->OptimizeForManifestRead(file_options), &file));
  wal::LogReader reader(std::move(file), /*log_number=*/0, path, nullptr);
  Slice record;
  std::string scratch;
  while (reader.ReadRecord(&record, &scratch, WALRecoveryMode::kTolerateCorruptedTailRecords)) {
    VersionEdit edit;
    const Status decoded = edit.DecodeFrom(record);
    Status s;
    if (!decoded.ok()) {
      damage_ = decoded.ToString();
    } else if (!Take(std::move(edit), reader.LastRecordOffset(), &s)) {
      damage_ = "a record that cannot be";
    }
    if (!s.ok()) return Status::CopyAppendMessage(s, " in ", path);
    if (!damage_.empty()) return Status::OK();
    end_ = reader.LastRecordEnd();
  }
  VARVE_RETURN_IF_ERROR(reader.io_status());
  const wal::LogDamage& damage = reader.damage();
  if (damage.torn_tail) return Status::OK();
  if (damage.first_bad_offset != UINT64_MAX) damage_ = damage.reason;
  if (damage.hole) damage_ = "zeros before the last record";
  return Status::OK();
}

bool History::KeepsTables() const {
  return std::ranges::all_of(families_, [this](const auto& entry) {
    const FamilyState& family = entry.second;
    if (family.tables == nullptr || !family.had_tables || family.live.empty()) return true;
    return together_ ? all_good_has_tables_ : family.good_has_tables;
  });
}

void History::Choose(CompleteVersion* version) const {
  const bool all_back = together_ && std::ranges::any_of(families_, [](const auto& entry) {
                          return !entry.second.IsWhole();
                        });
  for (const auto& [id, family] : families_) {
    for (const uint64_t number : family.missing) {
      version->tables.push_back(family.tables->Path(family.live.at(number)));
    }
    if (family.tables == nullptr || (family.IsWhole() && !all_back)) continue;
    version->families.push_back(family.name);
    version->point.families[id] = all_back ? bound_of_all_ : family.bound;
    if (!all_back) version->point.absent.insert(family.absent.begin(), family.absent.end());
  }
  if (!damage_.empty()) version->point.end = end_;
}

// In the order in which they are to be tried.
Status ListManifests(const DbContext& context, const wal::SyncedMark& known,
                     const std::vector<std::string>& entries, std::vector<uint64_t>* numbers) {
  uint64_t number = 0;
  for (const std::string& name : entries) {
    FileType type;
    if (!ParseFileName(name, &number, &type) || type != kDescriptorFile) continue;
    if (number <= kMaxFoundFileNumber) numbers->push_back(number);
  }
  std::sort(numbers->rbegin(), numbers->rend());
  const auto to_front = [numbers](uint64_t wanted) {
    const auto place = std::ranges::find(*numbers, wanted);
    if (place != numbers->end()) std::rotate(numbers->begin(), place, place + 1);
  };
  const Status current = ReadCurrent(context.fs().get(), context.name(), &number);
  if (current.IsIOError() && !current.IsPathNotFound()) return current;
  if (current.ok()) to_front(number);
  if (known.manifest > (current.ok() ? number : 0)) to_front(known.manifest);
  return Status::OK();
}

void Explain(const History& history, const wal::SyncedMark& known, bool first,
             CompleteVersion* version) {
  const uint64_t number = version->point.manifest;
  if (!version->tables.empty()) {
    version->reason = "tables are missing";
  } else if (!history.damage().empty()) {
    version->reason = "the MANIFEST is damaged";
  } else if (!first || known.manifest > number) {
    version->reason = "the MANIFEST that was in force cannot be had";
  } else if (known.manifest == number && known.manifest_bytes > history.end()) {
    version->reason = "the end of the MANIFEST is missing";
  }
}

}  // namespace

Status FindCompleteVersion(const DbContext& context,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           const wal::SyncedMark& known, const std::vector<std::string>& entries,
                           CompleteVersion* found) {
  TablesByFamily tables;
  for (const ColumnFamilyDescriptor& family : families) {
    tables.try_emplace(family.name, context, family);
  }
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(ListManifests(context, known, entries, &numbers));
  std::optional<CompleteVersion> without_tables;
  for (const uint64_t number : numbers) {
    const std::string path = DescriptorFileName(context.name(), number);
    History history(&tables, context.options().atomic_flush);
    VARVE_RETURN_IF_ERROR(history.Read(context.fs().get(), context.file_options(), path));
    if (!history.damage().empty() && found->bad_manifest.empty()) {
      found->bad_manifest = path;
      found->bad_offset = history.end();
    }
    if (!history.IsComplete()) continue;
    CompleteVersion version;
    version.bad_manifest = found->bad_manifest;
    version.bad_offset = found->bad_offset;
    version.point.manifest = number;
    history.Choose(&version);
    // Why the first was passed over.
    if (found->tables.empty()) found->tables = version.tables;
    version.tables = found->tables;
    Explain(history, known, number == numbers.front(), &version);
    if (history.KeepsTables()) {
      *found = std::move(version);
      return Status::OK();
    }
    if (!without_tables.has_value()) without_tables = std::move(version);
  }
  if (without_tables.has_value()) *found = *std::move(without_tables);
  return Status::OK();
}

}  // namespace varve
