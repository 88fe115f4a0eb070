// SPDX-License-Identifier: Apache-2.0

// Finds the newest state whose tables all exist, for best_efforts_recovery.
//
//      MANIFEST records   r1   r2   r3   r4   r5      family A: tables of r5 are missing
//      A: good states      x    x    x    x    -      goes back to r4
//      B: good states      x    -    x    x    x      stays at r5, unless r5 changed both
//
// Each family goes back independently, except that records that changed several families together
// (an atomic flush) are kept in all of them or in none. Of the MANIFESTs, the one that CURRENT
// names is tried first, or the one of the synced mark if that is newer, and then all others from
// the newest on. The first with a usable state is chosen.

#include "db/recovery/complete_version.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "db/recovery/families.h"
#include "db/recovery/manifest_records.h"
#include "db/recovery/table_survey.h"
#include "db/version/manifest_replay.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Checks which tables of one family exist.
class FamilyTables {
 public:
  FamilyTables(const DbContext& context, const ColumnFamilyDescriptor& family,
               const FormerDirectories& former)
      : fs_(context.fs().get()),
        former_(former),
        name_(family.name),
        paths_(ToOpen(context, family).paths),
        options_(family.options),
        icmp_(family.options.comparator) {}

  // Sets *there to whether the table's file exists and is that table. Examines each table once.
  Status Look(const NewFile& table, bool* there) {
    if (!IsPlaced(table)) {
      *there = false;
      return Status::OK();
    }
    const Identity identity(table.number, table.size, table.unique_id);
    const auto known = looked_at_.find(identity);
    if (known != looked_at_.end()) {
      *there = known->second;
      return Status::OK();
    }
    Status s = Check(table);
    *there = s.ok();
    // An I/O error does not show that the table is missing.
    if (!s.ok() && !s.IsCorruption() && !IsMissing(s)) return s;
    looked_at_.emplace(identity, *there);
    return Status::OK();
  }
  // Returns true if the options have the table's directory.
  [[nodiscard]] bool IsPlaced(const NewFile& table) const { return table.path_id < paths_->size(); }
  std::string Path(const NewFile& table) const { return paths_->FileName(table); }
  // Returns true if the file exists with its size.
  [[nodiscard]] bool HasBlobFile(const BlobFileFacts& file) const {
    uint64_t bytes = 0;
    return fs_->GetFileSize(BlobPath(file.number), IOOptions(), &bytes, nullptr).ok() &&
           bytes == file.FileSize();
  }
  std::string BlobPath(uint64_t number) const { return paths_->BlobFileName(number); }
  // Returns InvalidArgument if a missing table is in a directory that the options lack.
  [[nodiscard]] Status CheckNotElsewhere(const NewFile& table) const {
    VARVE_RETURN_IF_ERROR(former_.CheckNotThere(name_, *paths_, table));
    if (IsPlaced(table)) return Status::OK();
    return Status::InvalidArgument(
        "column family " + name_ + ": table " + std::to_string(table.number) + " lies in path " +
        std::to_string(table.path_id) + " of db_paths or cf_paths, which is not given");
  }

 private:
  // Number, size and unique id, because in an older MANIFEST the number may be another table's.
  using Identity = std::tuple<uint64_t, uint64_t, std::string>;

  Status Check(const NewFile& table) const {
    const TableSurveyContext context{fs_, &options_, &icmp_};
    return paths_->UseFile(
        table, [&](const std::string& path) { return CheckTable(context, path, table); });
  }

  FileSystem* const fs_;
  const FormerDirectories& former_;
  const std::string name_;
  const TablePathsRef paths_;
  const ColumnFamilyOptions options_;
  const InternalKeyComparator icmp_;
  std::map<Identity, bool> looked_at_;
};

using TablesByFamily = std::map<std::string, FamilyTables>;  // Keyed by family name.

// Returns true if table `a` of level 0 is newer than `b`.
bool IsNewer(const NewFile& a, const NewFile& b) {
  const bool have_epochs =
      a.epoch_number != kUnknownEpochNumber && b.epoch_number != kUnknownEpochNumber;
  if (have_epochs && a.epoch_number != b.epoch_number) return a.epoch_number > b.epoch_number;
  if (a.largest_seq != b.largest_seq) return a.largest_seq > b.largest_seq;
  return a.number > b.number;
}

// The state of a family while the records of a MANIFEST are applied in order.
struct FamilyState {
  // A state that can be recovered.
  struct Good {
    uint64_t bound = 0;         // One past the offset of its last record.
    std::set<uint64_t> absent;  // Missing tables, which it does not need.
    bool has_tables = false;
  };

  std::string name;
  FamilyTables* tables = nullptr;  // Null if the family is not opened.
  std::map<uint64_t, NewFile> live;
  std::set<uint64_t> missing;  // Live tables that are missing.
  // Missing blob files, and the number of their values that are not garbage.
  std::map<uint64_t, uint64_t> missing_blobs;
  // Tables of level 0 from before the last change of several families, which must not be missing.
  std::set<uint64_t> of_groups;
  bool had_tables = false;
  uint64_t bound = 0;              // One past the offset of the last record applied.
  std::vector<Good> good{Good()};  // Usable states, ascending; the last is to be recovered.

  Status Apply(const VersionEdit& edit);
  // Returns InvalidArgument if a missing table of the newest state is in a directory that the
  // options lack.
  [[nodiscard]] Status CheckPlaces() const;
  // Adds the state after the record at `offset` to `good` if it is usable. `in_group`: the record
  // changed other families, too.
  void Judge(uint64_t offset, bool in_group);
  // Returns true if the newest state is usable, or the family is not opened.
  [[nodiscard]] bool IsAtItsEnd() const {
    return tables == nullptr || (good.back().bound == bound && missing.empty());
  }

 private:
  void NoteBlobFiles(const VersionEdit& edit);
  // Returns true if an existing table may refer to a missing blob file.
  [[nodiscard]] bool LacksBlobs() const;
  [[nodiscard]] bool LacksOnlyTheNewest() const;
};

void FamilyState::NoteBlobFiles(const VersionEdit& edit) {
  for (const BlobFileFacts& file : edit.new_blob_files) {
    if (!tables->HasBlobFile(file)) missing_blobs[file.number] = file.count;
  }
  for (const BlobGarbage& garbage : edit.blob_garbage) {
    const auto file = missing_blobs.find(garbage.number);
    if (file == missing_blobs.end()) continue;
    // A missing file whose values are all garbage is not needed.
    file->second -= std::min(file->second, garbage.count);
    if (file->second == 0) missing_blobs.erase(file);
  }
}

// A table without blob_shares may refer to any blob file from its oldest one on.
bool FamilyState::LacksBlobs() const {
  if (missing_blobs.empty()) return false;
  return std::ranges::any_of(live, [this](const auto& entry) {
    const NewFile& table = entry.second;
    if (table.oldest_blob_file_number == 0 || missing.contains(table.number)) return false;
    if (table.blob_shares.empty()) {
      return missing_blobs.lower_bound(table.oldest_blob_file_number) != missing_blobs.end();
    }
    return std::ranges::any_of(table.blob_shares, [this](const BlobShare& share) {
      return missing_blobs.contains(share.file);
    });
  });
}

// Applies the edit to the lists of the family's tables, and checks whether each new one exists.
Status FamilyState::Apply(const VersionEdit& edit) {
  for (const auto& [level, number] : edit.deleted_files) {
    live.erase(number);
    missing.erase(number);
  }
  // An edit that creates a family never adds files.
  if (edit.family.added.has_value() || tables == nullptr) return Status::OK();
  NoteBlobFiles(edit);
  for (const NewFile& file : edit.new_files) {
    live[file.number] = file;
    had_tables = true;
    bool there = false;
    VARVE_RETURN_IF_ERROR(tables->Look(file, &there));
    if (!there) missing.insert(file.number);
  }
  return Status::OK();
}

Status FamilyState::CheckPlaces() const {
  for (const uint64_t number : missing) {
    VARVE_RETURN_IF_ERROR(tables->CheckNotElsewhere(live.at(number)));
  }
  return Status::OK();
}

// Returns true if only the newest tables of level 0 are missing, and none is from before the last
// change of several families.
bool FamilyState::LacksOnlyTheNewest() const {
  const NewFile* oldest_missing = nullptr;
  for (const uint64_t number : missing) {
    const NewFile& file = live.at(number);
    if (file.level != 0 || of_groups.contains(number)) return false;
    if (oldest_missing == nullptr || IsNewer(*oldest_missing, file)) oldest_missing = &file;
  }
  return std::ranges::all_of(live, [&](const auto& entry) {
    const NewFile& file = entry.second;
    return file.level != 0 || missing.contains(file.number) || IsNewer(*oldest_missing, file);
  });
}

void FamilyState::Judge(uint64_t offset, bool in_group) {
  if (in_group) {
    for (const auto& [number, file] : live) {
      if (file.level == 0) of_groups.insert(number);
    }
  }
  bound = offset + 1;
  if ((!missing.empty() && !LacksOnlyTheNewest()) || LacksBlobs()) return;
  good.push_back({bound, missing, live.size() > missing.size()});
}

// The states that one MANIFEST describes.
class History {
 public:
  explicit History(TablesByFamily* tables) : tables_(tables) {
    AddFamily(0, kDefaultColumnFamilyName);
  }

  // Reads the MANIFEST up to its first damage, which is not an error of this call.
  Status Read(FileSystem* fs, const FileOptions& file_options, const std::string& path);

  // Returns true if the MANIFEST has all numbers that are needed to open a database.
  [[nodiscard]] bool IsComplete() const { return has_log_ && has_next_file_ && has_sequence_; }
  // Returns true if each family that ever had tables has some in its newest usable state.
  [[nodiscard]] bool KeepsTables() const;
  // Adds the points of families that go back, and the missing files, to *version.
  void Choose(CompleteVersion* version) const;
  [[nodiscard]] const ManifestEnd& end() const { return end_; }

 private:
  void AddFamily(uint32_t id, const std::string& name);
  // Returns false if the edits are inconsistent with earlier ones.
  bool Take(std::span<const VersionEdit> edits, uint64_t offset);
  bool Apply(const VersionEdit& edit);
  void Judge(uint64_t offset);
  void GoBackTogether();

  // A record that changed the tables of several families.
  struct Group {
    uint64_t offset;
    std::set<uint32_t> families;
  };

  TablesByFamily* const tables_;
  std::map<uint32_t, FamilyState> families_;
  std::set<uint32_t> changed_;  // Families that the current edits change.
  std::vector<Group> groups_;
  ManifestEnd end_;
  Status error_;  // An error of Apply that is not the MANIFEST's.
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

// Returns false for an edit that is inconsistent with earlier ones, which counts as damage.
bool History::Apply(const VersionEdit& edit) {
  has_log_ |= edit.log_number.has_value();
  has_next_file_ |= edit.numbers.next_file.has_value();
  has_sequence_ |= edit.numbers.last_sequence.has_value();
  const uint32_t id = edit.column_family;
  if (edit.family.added.has_value()) {
    // UINT32_MAX is never given out as an id (ManifestReplay::Apply).
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
  if (error_.ok()) error_ = family->second.Apply(edit);
  if (edit.ChangesFiles()) changed_.insert(id);
  return true;
}

bool History::Take(std::span<const VersionEdit> edits, uint64_t offset) {
  changed_.clear();
  for (const VersionEdit& edit : edits) {
    if (!Apply(edit)) return false;
  }
  Judge(offset);
  return true;
}

void History::Judge(uint64_t offset) {
  const bool in_group = changed_.size() > 1;
  for (const uint32_t id : changed_) {
    const auto family = families_.find(id);
    if (family != families_.end()) family->second.Judge(offset, in_group);
  }
  if (in_group) groups_.push_back({offset, changed_});
}

// If one family of a group goes back to before the group's record, all of them do.
void History::GoBackTogether() {
  bool changed = true;
  const auto is_before = [this](uint64_t offset) {
    return [this, offset](uint32_t id) {
      const auto family = families_.find(id);
      return family != families_.end() && family->second.tables != nullptr &&
             family->second.good.back().bound <= offset;
    };
  };
  // A family that goes back may affect another one, and through that other groups, so this repeats
  // until nothing changes.
  while (changed) {
    changed = false;
    for (const Group& group : groups_) {
      if (std::ranges::none_of(group.families, is_before(group.offset))) continue;
      for (const uint32_t id : group.families) {
        const auto family = families_.find(id);
        if (family == families_.end()) continue;
        std::vector<FamilyState::Good>& good = family->second.good;
        for (; good.back().bound > group.offset; changed = true) good.pop_back();
      }
    }
  }
}

Status History::Read(FileSystem* fs, const FileOptions& file_options, const std::string& path) {
  VARVE_RETURN_IF_ERROR(ReadManifestRecords(
      fs, file_options, path,
      [this](std::span<const VersionEdit> edits, uint64_t offset) { return Take(edits, offset); },
      &end_));
  for (const auto& [id, family] : families_) {
    if (error_.ok()) error_ = family.CheckPlaces();
  }
  GoBackTogether();
  if (error_.ok() || error_.IsInvalidArgument()) return error_;
  return Status::CopyAppendMessage(error_, " in ", path);
}

bool History::KeepsTables() const {
  return std::ranges::all_of(families_, [](const auto& entry) {
    const FamilyState& family = entry.second;
    return family.IsAtItsEnd() || !family.had_tables || family.good.back().has_tables;
  });
}

void History::Choose(CompleteVersion* version) const {
  for (const auto& [id, family] : families_) {
    for (const uint64_t number : family.missing) {
      version->tables.push_back(family.tables->Path(family.live.at(number)));
    }
    if (family.IsAtItsEnd()) continue;
    for (const auto& [number, values] : family.missing_blobs) {
      version->tables.push_back(family.tables->BlobPath(number));
    }
    const FamilyState::Good& good = family.good.back();
    version->families.push_back(family.name);
    version->point.families[id] = good.bound;
    version->point.absent.insert(good.absent.begin(), good.absent.end());
  }
  if (!end_.damage.empty()) version->point.end = end_.offset;
}

// Lists the MANIFESTs in the order in which they are tried.
Status ListManifests(const DbContext& context, const wal::SyncedMark& known,
                     const std::vector<std::string>& entries, std::vector<uint64_t>* numbers) {
  for (const auto& [name, found, type] : FilesAmong(entries, kDescriptorFile)) {
    if (found <= kMaxFoundFileNumber) numbers->push_back(found);
  }
  std::sort(numbers->rbegin(), numbers->rend());
  const auto to_front = [numbers](uint64_t wanted) {
    const auto place = std::ranges::find(*numbers, wanted);
    if (place != numbers->end()) std::rotate(numbers->begin(), place, place + 1);
  };
  uint64_t number = 0;
  const Status current = ReadCurrent(context.fs().get(), context.name(), &number);
  if (current.IsIOError() && !current.IsPathNotFound()) return current;
  if (current.ok()) to_front(number);
  // The synced mark names a newer MANIFEST than CURRENT does, whose replacement was lost.
  if (known.manifest > (current.ok() ? number : 0)) to_front(known.manifest);
  return Status::OK();
}

// Sets version->reason if the chosen state is older than the newest one. `first` is true if its
// MANIFEST is the first one that was tried.
void Explain(const History& history, const wal::SyncedMark& known, bool first,
             CompleteVersion* version) {
  const uint64_t number = version->point.manifest;
  if (!version->tables.empty()) {
    version->reason = "tables are missing";
  } else if (!history.end().damage.empty()) {
    version->reason = "the MANIFEST is damaged";
  } else if (!first || known.manifest > number) {
    version->reason = "the MANIFEST that was in force cannot be had";
  } else if (known.manifest == number && known.manifest_bytes > history.end().offset) {
    version->reason = "the end of the MANIFEST is missing";
  }
}

}  // namespace

// Tries the MANIFESTs in turn. The first damaged one, and the missing files of the first one that
// lacks any, are reported, whichever state is chosen.
Status FindCompleteVersion(const DbContext& context,
                           const std::vector<ColumnFamilyDescriptor>& families,
                           const wal::SyncedMark& known, const std::vector<std::string>& entries,
                           const FormerDirectories& former, CompleteVersion* found) {
  TablesByFamily tables;
  for (const ColumnFamilyDescriptor& family : families) {
    tables.try_emplace(family.name, context, family, former);
  }
  std::vector<uint64_t> numbers;
  VARVE_RETURN_IF_ERROR(ListManifests(context, known, entries, &numbers));
  std::optional<CompleteVersion> without_tables;
  for (const uint64_t number : numbers) {
    const std::string path = DescriptorFileName(context.name(), number);
    History history(&tables);
    VARVE_RETURN_IF_ERROR(history.Read(context.fs().get(), context.file_options(), path));
    if (!history.end().damage.empty() && found->bad_manifest.empty()) {
      found->bad_manifest = path;
      found->bad_offset = history.end().offset;
    }
    if (!history.IsComplete()) continue;
    CompleteVersion version;
    version.bad_manifest = found->bad_manifest;
    version.bad_offset = found->bad_offset;
    version.point.manifest = number;
    history.Choose(&version);
    // Whichever state is chosen, the missing files that the report names are those of the first
    // MANIFEST that lacks any.
    if (found->tables.empty()) found->tables = version.tables;
    version.tables = found->tables;
    Explain(history, known, number == numbers.front(), &version);
    // A state in which a family has lost all of its tables is used only if no older MANIFEST has a
    // better one.
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
