// SPDX-License-Identifier: Apache-2.0

// The parts of VersionSet that neither write the MANIFEST (version_set_write.cc) nor follow that of
// another process (version_set_follow.cc): opening from a replayed MANIFEST, closing it, and
// questions about the present state.

#include "db/version/version_set.h"

#include <algorithm>
#include <set>
#include <utility>

#include "varve/column_family.h"

#include "db/version/comparator_change.h"
#include "db/version/manifest_replay.h"
#include "db/version/version_set_rep.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

// Appends to *faults if a table is missing, or has another size than in the MANIFEST.
Status VerifyTable(FileSystem* fs, const FileMetaData& file, std::string* faults) {
  uint64_t size = 0;
  const IOStatus s = file.UseFile(
      [&](const std::string& path) { return fs->GetFileSize(path, IOOptions(), &size, nullptr); });
  if (IsMissing(s)) {
    faults->append(" ").append(TableFileBaseName(file.number)).append(" is missing;");
    return Status::OK();
  }
  if (!s.ok()) return s;
  if (size != file.size) {
    faults->append(" ").append(TableFileBaseName(file.number));
    faults->append(" has " + std::to_string(size) + " bytes instead of " +
                   std::to_string(file.size) + ";");
  }
  return Status::OK();
}

// Verifies existence by directory listings, for when asking for each file's size takes too long.
class ListedTables {
 public:
  explicit ListedTables(FileSystem* fs) : fs_(fs) {}

  Status Verify(const FileMetaData& file, std::string* faults) {
    const std::string& directory = file.paths->directory(file.path_id);
    if (listed_.insert(directory).second) {
      std::vector<std::string> names;
      VARVE_RETURN_IF_ERROR(fs_->GetChildren(directory, IOOptions(), &names, nullptr));
      for (const std::string& name : names) present_.insert(directory + "/" + name);
    }
    if (present_.contains(file.FileName()) || present_.contains(file.LevelDbFileName())) {
      return Status::OK();
    }
    faults->append(" ").append(TableFileBaseName(file.number)).append(" is missing;");
    return Status::OK();
  }

 private:
  FileSystem* const fs_;
  std::set<std::string> listed_;   // directories that were listed
  std::set<std::string> present_;  // paths of their files
};

}  // namespace

void FamilyVersions::RaiseFullHistoryTsLow(const std::string& low) {
  const Comparator* const order = icmp->user_comparator();
  VARVE_ASSERT(!low.empty() && low.size() == order->timestamp_size());
  if (full_history_ts_low.empty() || order->CompareTimestamp(low, full_history_ts_low) > 0) {
    full_history_ts_low = low;
  }
}

VersionSet::VersionSet(VersionSetOptions options, DbMutex* db_mutex)
    : options_(std::move(options)),
      mu_(db_mutex),
      obsolete_files_(std::make_shared<ObsoleteFileQueue>()),
      rep_(std::make_unique<Rep>(db_mutex)) {}

VersionSet::~VersionSet() = default;

// Goes through a MANIFEST on disk and its replay, so that a new database and an old one begin in
// the same way.
Status VersionSet::CreateNew(const FamilyToOpen& default_family, const std::string& db_id) {
  constexpr uint64_t kFirstManifest = 1;
  VersionEdit edit;
  if (options_.write_dbid && !db_id.empty()) edit.db_id = db_id;
  NameComparator(*default_family.comparator, default_family.persist_timestamps, &edit);
  if (!default_family.merge_operator.empty())
    edit.family.merge_operator = default_family.merge_operator;
  edit.log_number = 0;
  edit.numbers.next_file = kFirstManifest + 1;
  edit.numbers.last_sequence = 0;
  ManifestWrite write;
  write.number = kFirstManifest;
  write.fresh = true;
  write.records.emplace_back();
  if (!edit.EncodeTo(&write.records.back())) return Status::Corruption("first edit");
  VARVE_RETURN_IF_ERROR(WriteManifest(&write));
  VARVE_RETURN_IF_ERROR(write.writer->Close());
  return Recover({default_family});
}

// Replays the MANIFEST, checks that the caller opens what must be opened, builds one version for
// each family, checks that the tables exist, and takes the numbers over. After an error the set is
// of no use, and is thrown away by the caller. Needs no lock: other threads have neither the set
// nor the replay's results.
Status VersionSet::Recover(const std::vector<FamilyToOpen>& families, const wal::SyncedMark& known,
                           const std::set<uint64_t>& present,
                           const ManifestPoint* point) VARVE_NO_THREAD_SAFETY_ANALYSIS {
  uint64_t manifest_number = point != nullptr ? point->manifest : options_.detached_manifest;
  if (manifest_number == 0) {
    VARVE_RETURN_IF_ERROR(ReadCurrent(options_.fs.get(), options_.db_name, &manifest_number));
  }
  ManifestReplay replay(DescriptorFileName(options_.db_name, manifest_number), &families,
                        obsolete_files_);
  // The replay reports tables that edits have removed and whose files are still there: a purge may
  // delete these, and keeps any other file that no version names.
  replay.TellGoneAmong(&present);
  replay.GoBackTo(point);
  VARVE_RETURN_IF_ERROR(replay.Read(options_.fs.get(), options_.file_options));
  VARVE_RETURN_IF_ERROR(replay.CheckComplete());

  std::string unnamed;
  for (const auto& [id, family] : replay.families()) {
    if (!family.versions->opened) unnamed.append(" ").append(family.versions->name);
  }
  // A writer that did not open a family would keep its logs for ever, and could not flush it.
  if (!unnamed.empty() && !options_.read_only) {
    return Status::InvalidArgument("column families that must be opened, too", unnamed.substr(1));
  }
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> recovered;
  for (auto& [id, family] : replay.families()) {
    FamilyVersions* const versions = family.versions.get();
    VersionRef version;
    if (family.builder != nullptr) {
      std::vector<FileRef> removed;
      // The builder has applied all edits; only their result becomes a version.
      family.builder->FinishRecovery(replay.last_sequence(), &versions->next_epoch_number);
      VARVE_RETURN_IF_ERROR(family.builder->Build(rep_->next_version_number++, &version, &removed));
      replay.NoteUnreferenced(*family.builder);
    } else {
      // A read-only opener did not name the family.
      version =
          std::make_shared<const Version>(versions->icmp.get(), rep_->next_version_number++,
                                          std::vector<std::vector<FileRef>>(kLevelsOfUnopened));
    }
    SetCurrent(versions, std::move(version));
    recovered.emplace(id, family.versions);
  }
  families_ = std::move(recovered);
  rep_->manifest.reset();
  manifest_file_number_ = manifest_number;
  manifest_file_size_ = replay.end();
  if (point == nullptr) {
    // A cut MANIFEST is reported before missing tables, since it may be the reason for them: tables
    // that the lost edits removed are gone.
    VARVE_RETURN_IF_ERROR(CheckNotCut(known, manifest_number, replay.end()));
  }
  VARVE_RETURN_IF_ERROR(VerifyTables());

  max_family_id_ = replay.max_family_id();
  min_log_number_to_keep_ = replay.min_log_number_to_keep();
  logged_sequence_ = replay.last_sequence();
  set_last_sequence(replay.last_sequence());
  if (replay.db_id().has_value()) db_id_ = *replay.db_id();
  gone_tables_ = replay.TakeGoneTables();
  unread_logs_ = replay.unread_logs();
  ttl_clock_ = replay.ttl_clock();
  change_positions_ = replay.change_positions();
  // The state is whole only if the MANIFEST ends exactly where the synced mark says.
  recovered_whole_ = known.manifest == manifest_number && known.manifest_bytes == replay.end() &&
                     (point == nullptr || point->whole());
  next_file_number_.store(replay.next_file_number(), std::memory_order_relaxed);
  // A MANIFEST of another program may name files beyond its own counter.
  MarkFileNumberUsed(std::max(manifest_number, replay.largest_number()));
  return Status::OK();
}

// Collects all missing and wrong-sized tables before it returns Corruption, so that the user sees
// the whole damage at once. An error of the file system ends it.
Status VersionSet::VerifyTables() const {
  std::string faults;
  ListedTables listed(options_.fs.get());
  for (const auto& [id, family] : families_) {
    for (int level = 0; level < family->current->num_levels(); level++) {
      for (const FileRef& file : family->current->level(level).files()) {
        VARVE_RETURN_IF_ERROR(options_.check_table_sizes
                                  ? VerifyTable(options_.fs.get(), *file, &faults)
                                  : listed.Verify(*file, &faults));
      }
    }
  }
  if (faults.empty()) return Status::OK();
  // Each fault begins with a blank and ends with a semicolon; the outermost two are cut off.
  faults.pop_back();
  return Status::Corruption(options_.db_name + ": tables that the MANIFEST names",
                            faults.substr(1));
}

// Compares the MANIFEST with the mark `known`, which says how long it was when it was last synced:
// nothing in a MANIFEST shows that it was cut after a whole record. The message names data files
// that the shorter MANIFEST does not, as they show what would be lost.
Status VersionSet::CheckNotCut(const wal::SyncedMark& known, uint64_t manifest,
                               uint64_t end) const {
  if (known.manifest < manifest || (known.manifest == manifest && known.manifest_bytes <= end)) {
    return Status::OK();
  }
  std::set<uint64_t> live;
  std::vector<VersionRef> held;  // Nobody reads yet, so this holds no last reference.
  AddLiveFiles(&live, &held);
  std::vector<std::string> names;
  // The list is for the message alone, so an error leaves it empty.
  options_.fs->GetChildren(options_.db_name, IOOptions(), &names, nullptr).PermitUncheckedError();
  std::string unnamed;
  for (const auto& [name, number, type] : FilesAmong(names)) {
    const bool holds_data = type == kTableFile || type == kBlobFile;
    if (holds_data && live.count(number) == 0) unnamed += " " + name;
  }
  return Status::Corruption(
      DescriptorFileName(options_.db_name, manifest),
      "ends at " + std::to_string(end) + ", but " + DescriptorFileBaseName(known.manifest) +
          " was in force with " + std::to_string(known.manifest_bytes) +
          " bytes; tables and blob files that it does not name:" +
          (unnamed.empty() ? " none" : unnamed) +
          "; nothing was changed. If the directory was restored from a copy, delete " +
          SyncedMarksFileName(options_.db_name));
}

Status VersionSet::ListFamilies(const std::string& db_name, FileSystem* fs,
                                std::vector<std::string>* names) {
  names->clear();
  uint64_t manifest_number = 0;
  VARVE_RETURN_IF_ERROR(ReadCurrent(fs, db_name, &manifest_number));
  const std::vector<FamilyToOpen> none;
  ManifestReplay replay(DescriptorFileName(db_name, manifest_number), &none,
                        std::make_shared<ObsoleteFileQueue>());
  VARVE_RETURN_IF_ERROR(replay.Read(fs, FileOptions()));
  for (const auto& [id, family] : replay.families()) names->push_back(family.versions->name);
  return Status::OK();
}

std::shared_ptr<FamilyVersions> VersionSet::FindFamily(uint32_t id) const {
  const auto it = families_.find(id);
  return it == families_.end() ? nullptr : it->second;
}

std::shared_ptr<FamilyVersions> VersionSet::FindFamily(const std::string& name) const {
  for (const auto& [id, family] : families_) {
    if (family->name == name) return family;
  }
  return nullptr;
}

void VersionSet::MarkFileNumberUsed(uint64_t number) {
  uint64_t next = next_file_number_.load(std::memory_order_relaxed);
  while (next <= number &&
         !next_file_number_.compare_exchange_weak(next, number + 1, std::memory_order_relaxed)) {
  }
}

LogHolder::FamilyLogs VersionSet::FamilyLogs() const {
  LogHolder::FamilyLogs logs;
  for (const auto& [id, family] : families_) {
    if (family->opened && !family->dropped) logs[id] = family->log_number;
  }
  return logs;
}

uint64_t VersionSet::MinLogNumber() const {
  uint64_t min = UINT64_MAX;
  for (const auto& [id, family] : families_) {
    if (family->opened && !family->dropped) min = std::min(min, family->log_number);
  }
  return min == UINT64_MAX ? 0 : min;
}

uint64_t VersionSet::OldestLogNeeded() const {
  if (options_.log_holder == nullptr) return MinLogNumber();
  return std::min(MinLogNumber(), options_.log_holder->OldestLogHeld(FamilyLogs()));
}

bool VersionSet::TableInDoubt(uint64_t number) const {
  for (const FileRef& table : rep_->doubtful_tables) {
    if (table->number == number) return true;
  }
  return false;
}

std::vector<uint64_t> VersionSet::TakeObsoleteManifests() {
  // Copies, so that the vector keeps its capacity, which an edit in progress relies on.
  std::vector<uint64_t> taken = rep_->obsolete_manifests;
  rep_->obsolete_manifests.clear();
  VARVE_ASSERT(std::ranges::find(taken, manifest_file_number_) == taken.end());
  return taken;
}

Status VersionSet::CloseManifest() {
  mu_->AssertHeld();
  // An edit in progress ends before its MANIFEST is closed.
  const Turn turn(rep_.get());
  rep_->closed = true;
  const std::unique_ptr<wal::LogWriter> manifest = std::move(rep_->manifest);
  if (manifest == nullptr) return Status::OK();
  DbUnlock unlock(mu_);
  IOStatus s = manifest->Sync(options_.use_fsync);
  IOStatus closed = manifest->Close();
  return s.ok() ? closed : s;
}

// If there are too many ranges, the two oldest are merged, with all logs in between.
void VersionSet::NoteUnreadLogs(uint64_t first, uint64_t end) {
  constexpr size_t kRangesMax = 16;
  VARVE_ASSERT(first <= end);
  // A coarser range claims that logs were unread which were read, or never existed; that is the
  // safe side.
  if (unread_logs_.size() == kRangesMax) {
    unread_logs_[1].first = unread_logs_[0].first;
    unread_logs_.erase(unread_logs_.begin());
  }
  unread_logs_.emplace_back(first, end);
}

Status VersionSet::StoreChangePosition(const ChangePosition& position, FSDirectory* dir) {
  VersionEdit edit;
  edit.change_positions.push_back(position);
  // The position in memory changes only after the stored one: a crash never leaves a position that
  // was told but not stored.
  VARVE_RETURN_IF_ERROR(LogAndApply({FamilyEdit{FindFamily(0).get(), {&edit}}}, dir));
  if (position.dropped) {
    change_positions_.erase(position.name);
  } else {
    change_positions_[position.name] = position;
  }
  return Status::OK();
}

bool VersionSet::WasUnread(uint64_t log) const {
  return std::ranges::any_of(
      unread_logs_, [log](const auto& range) { return range.first <= log && log < range.second; });
}

void VersionSet::AddLiveFiles(std::set<uint64_t>* numbers, std::vector<VersionRef>* held) const {
  *held = LiveVersions();
  for (const VersionRef& version : *held) {
    for (int level = 0; level < version->num_levels(); level++) {
      for (const FileRef& file : version->level(level).files()) numbers->insert(file->number);
    }
    for (const BlobFileState& file : version->blob_files()) numbers->insert(file.number());
  }
}

std::vector<VersionRef> VersionSet::LiveVersions() const {
  std::vector<VersionRef> live;
  live.reserve(rep_->versions.size());  // So that nothing throws while a reference is held alone.
  for (const std::weak_ptr<const Version>& weak : rep_->versions) {
    VersionRef version = weak.lock();
    if (version != nullptr) live.push_back(std::move(version));
  }
  return live;
}

// Old versions are watched by weak references as long as readers keep them alive: their files are
// live, too (AddLiveFiles).
void VersionSet::SetCurrent(FamilyVersions* family, VersionRef version) {
  VARVE_ASSERT(version != nullptr && version->icmp() == family->icmp.get());
  auto& watched = rep_->versions;
  watched.erase(std::remove_if(watched.begin(), watched.end(),
                               [](const auto& weak) { return weak.expired(); }),
                watched.end());
  watched.push_back(version);
  family->current = std::move(version);
}

}  // namespace varve
