// SPDX-License-Identifier: Apache-2.0

// The half of VersionSet that changes state. An edit says which tables a flush, a compaction or
// another change adds and removes. It is written to the MANIFEST, made durable, and only then shown
// to readers.
//
//     LogAndApply                                                     DB mutex
//       Turn             wait until earlier callers are done          released while waiting
//       FillInEpochs     order of new files in L0                     held
//       BuildVersions    base version + edits = new version           released
//       MakeRoomToInstall  reserve memory for Install                 held
//       WriteEdits       numbers of the database into each record     held
//         WriteManifest  sync the directories of new tables;          released
//                        append and sync each record
//       Install          the new version becomes current;             held
//                        removed files become obsolete
//
// The MANIFEST is a log of edits. The set begins a fresh one, which starts with the whole state, if
// the old one is too large, after a failure, and at an opening:
//
//     MANIFEST-7:  state | edit | edit | edit            CURRENT ---+
//     MANIFEST-12: state + edit | edit | ...         <--------------+
//
// The file CURRENT names the MANIFEST in force. It is replaced by a rename, after the new MANIFEST
// and its name are durable.
//
// Invariants
// 1. One caller at a time changes the set, in order of arrival (Turn). Readers and other threads
//    see the state before a change or after it.
// 2. A version becomes current only after its edit is durable.
// 3. All that may fail happens before the first record is written, but for the I/O itself: Install
//    cannot fail for lack of memory.
// 4. Edits of one call are in force together: several records form an atomic group, which recovery
//    applies as a whole or not at all.
// 5. A MANIFEST that failed an append or a sync is never appended to. Until a fresh one is in
//    force, it is in doubt whether the failed edit happened: the tables that it adds are kept, and
//    so are all MANIFESTs that CURRENT may name.
// 6. The names of new tables are durable before the edit that adds them. A table whose directory
//    failed a sync when the table was new is refused.
// 7. Every record carries the numbers of the database: a MANIFEST that ends after any record gives
//    out no number twice and hides no entry. The logged sequence number never decreases.
// 8. The length of the MANIFEST and the current versions change together under the DB mutex, so
//    that a copy of the MANIFEST up to that length, and of those versions' tables, is a database.
// 9. A table is obsolete only after a durable edit removed it; its file is deleted when no version
//    has it any more.

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "varve/comparator.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "db/version/comparator_change.h"
#include "db/version/manifest_replay.h"
#include "db/version/version_builder.h"
#include "db/version/version_set.h"
#include "db/version/version_set_rep.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/durable_write.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/io_error.h"
#include "util/env/writable_file_writer.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

IOStatus SyncDir(FileSystem* fs, const std::string& path, FSDirectory* dir) {
  const DirFsyncOptions reason(DirFsyncOptions::FsyncReason::kNewFileSynced);
  if (dir == nullptr) return SyncDirectory(fs, path, reason);
  return dir->FsyncWithDirOptions(IOOptions(), nullptr, reason);
}

// True if CURRENT may name this MANIFEST after a failure to set it: a failed rename usually has
// changed nothing.
bool MayBeCurrent(FileSystem* fs, const std::string& db_name, uint64_t manifest) {
  uint64_t named = 0;
  const Status s = ReadCurrent(fs, db_name, &named);
  return !s.ok() || named == manifest;
}

Status EncodeEdits(const std::vector<VersionEdit*>& edits,
                   const std::vector<size_t>& timestamp_sizes, std::vector<std::string>* records) {
  for (size_t i = 0; i < edits.size(); i++) {
    records->emplace_back();
    if (edits[i]->EncodeTo(&records->back(), timestamp_sizes[i])) continue;
    return Status::InvalidArgument("version edit", "has a file that cannot be stored (no bounds?)");
  }
  return Status::OK();
}

// Makes the edits' records count the garbage that the new version counts, which may be less than
// they asked for: whoever replays the MANIFEST refuses more.
void RecordCountedGarbage(const BlobChanges& blobs, const std::vector<VersionEdit*>& edits) {
  for (VersionEdit* edit : edits) edit->blob_garbage.clear();
  edits.back()->blob_garbage = blobs.Counted();
}

}  // namespace

// The table at the head of this file shows the steps. Whatever returns an error before WriteEdits
// has changed nothing but counters. After WriteEdits has failed, the versions are as before, and
// the MANIFEST may be in doubt (invariant 5).
Status VersionSet::LogAndApply(std::vector<FamilyEdit> edits, FSDirectory* dir,
                               bool new_manifest) try {
  mu_->AssertHeld();
  const Turn turn(rep_.get());
  std::vector<FamilyChange> changes;
  for (FamilyEdit& edit : edits) {
    // A job may end after its family was dropped; then nothing is left to change.
    if (edit.family->dropped) continue;
    FamilyChange change;
    change.family = edit.family;
    change.edits = std::move(edit.edits);
    change.made = std::move(edit.made);
    // The base stays current until this edit is in force, as Turn lets no other change in.
    change.base = edit.family->current;
    changes.push_back(std::move(change));
  }
  if (changes.empty() && !edits.empty()) return Status::ColumnFamilyDropped();

  std::vector<VersionEdit*> records;
  for (FamilyChange& change : changes) {
    FillInEpochs(&change);
    records.insert(records.end(), change.edits.begin(), change.edits.end());
  }
  for (size_t i = 0; i < records.size(); i++) {
    records[i]->atomic_group_remaining.reset();
    if (records.size() > 1 && !VARVE_CANARY(kEditOutsideGroup)) {
      records[i]->atomic_group_remaining = static_cast<uint32_t>(records.size() - 1 - i);
    }
  }
  // The bound on logs must not be in force before the edits that justify it: PlanMinLog puts it
  // into one of them, or into a record of its own behind their group.
  VersionEdit min_log_record;
  PlanMinLog(changes, &records, &min_log_record);
  std::vector<FileRef> added;
  VARVE_RETURN_IF_ERROR(BuildVersions(&changes, &added));
  for (FamilyChange& change : changes) {
    if (!change.uncounted.blob_garbage.empty()) records.push_back(&change.uncounted);
  }
  // All memory that Install needs is there before the first byte goes to the MANIFEST.
  MakeRoomToInstall(changes);
  VARVE_RETURN_IF_ERROR(WriteEdits(records, std::move(added), dir, new_manifest));
  Install(&changes);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status VersionSet::EndDoubt(FSDirectory* dir) {
  mu_->AssertHeld();
  if (rep_->doubtful_manifests.empty() || rep_->closed) return Status::OK();
  return LogAndApply({}, dir, /*new_manifest=*/true);
}

// Checks everything that can be refused before a family is made; changes nothing.
Status VersionSet::CheckCanBeMade(const FamilyToOpen& family) const {
  if (FindFamily(family.name) != nullptr) {
    return Status::InvalidArgument("column family exists already", family.name);
  }
  if (family.name.size() > kFamilyNameBytesMax) {
    return Status::InvalidArgument(
        "column family", "the name has " + std::to_string(family.name.size()) + " bytes, and " +
                             std::to_string(kFamilyNameBytesMax) + " are allowed");
  }
  if (families_.size() >= kFamiliesMax) {
    return Status::InvalidArgument("column family " + family.name,
                                   "there are " + std::to_string(kFamiliesMax) + " already");
  }
  if (max_family_id_ >= UINT32_MAX - 1) {
    return Status::InvalidArgument("column family", "no id is left for " + family.name);
  }
  return Status::OK();
}

// Builds the first version of a family that is about to be created; *files are its files.
Status VersionSet::BuildFirstVersion(const FamilyVersions& family, const VersionEdit& tables,
                                     VersionRef* version, std::vector<FileRef>* files) {
  const std::string context = options_.db_name + ": column family " + family.name;
  VersionBuilder builder(family.icmp.get(), family.num_levels, nullptr, obsolete_files_, &context);
  builder.ChargeFilesTo(family.file_charge);
  builder.PlaceFilesIn(family.paths);
  builder.ReserveLastLevel(family.reserves_last_level);
  VARVE_RETURN_IF_ERROR(builder.Apply(tables));
  std::vector<FileRef> removed;
  VARVE_RETURN_IF_ERROR(builder.Build(rep_->next_version_number++, version, &removed));
  *files = builder.NewFiles();
  return Status::OK();
}

// Everything that the family needs in memory is made first, then its records are written, and then
// the set gets it, which cannot fail. The mutex is released while the records are written; the turn
// keeps others from making a family of the same name meanwhile.
Status VersionSet::CreateFamily(const FamilyToOpen& family, uint64_t log_number, FSDirectory* dir,
                                std::shared_ptr<FamilyVersions>* result,
                                const std::vector<NewFile>& tables) try {
  mu_->AssertHeld();
  const Turn turn(rep_.get());
  VARVE_RETURN_IF_ERROR(CheckCanBeMade(family));
  auto versions = std::make_shared<FamilyVersions>();
  // The id is used up even if this fails: the record may be on disk.
  versions->id = ++max_family_id_;
  versions->name = family.name;
  versions->comparator_name = family.comparator->Name();
  versions->icmp = std::make_unique<InternalKeyComparator>(family.comparator);
  versions->num_levels = family.num_levels;
  versions->reserves_last_level = family.reserves_last_level;
  versions->persist_timestamps = family.persist_timestamps;
  versions->log_number = log_number;
  versions->file_charge = family.file_charge;
  versions->paths =
      family.paths != nullptr ? family.paths : std::make_shared<const TablePaths>(options_.db_name);
  versions->merge_operator = family.merge_operator;
  VersionEdit edit;
  edit.column_family = versions->id;
  edit.family.added = versions->name;
  NameComparator(*family.comparator, family.persist_timestamps, &edit);
  if (!family.merge_operator.empty()) edit.family.merge_operator = family.merge_operator;
  edit.log_number = log_number;
  // By a rule as old as families, a record that adds one adds no files: they are in a second
  // record.
  VersionEdit filled;
  filled.column_family = versions->id;
  filled.new_files = tables;
  std::vector<VersionEdit*> records = {&edit};
  if (!tables.empty()) {
    records.push_back(&filled);
    edit.atomic_group_remaining = 1;
    filled.atomic_group_remaining = 0;
  }
  for (const NewFile& file : tables) {
    versions->next_epoch_number = std::max(versions->next_epoch_number, file.epoch_number + 1);
  }
  // All memory is allocated before the record is written: after that the family exists.
  VersionRef first;
  std::vector<FileRef> files;
  VARVE_RETURN_IF_ERROR(BuildFirstVersion(*versions, filled, &first, &files));
  std::map<uint32_t, std::shared_ptr<FamilyVersions>> added = {{versions->id, versions}};
  rep_->versions.reserve(rep_->versions.size() + 1);
  VARVE_RETURN_IF_ERROR(
      WriteEdits(records, std::move(files), dir, /*new_manifest=*/false, versions.get()));
  VARVE_ASSERT(FindFamily(versions->id) == nullptr);
  SetCurrent(versions.get(), std::move(first));
  families_.merge(added);
  *result = std::move(versions);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// Once the record is written the family is dropped, and its files are marked obsolete: they are
// deleted when the last version that has them goes, which readers may keep for long. A later
// opening sets those files aside that could not be noted in gone_tables_ for lack of memory.
Status VersionSet::DropFamily(FamilyVersions* family, FSDirectory* dir) try {
  mu_->AssertHeld();
  const Turn turn(rep_.get());
  if (family->id == 0) {
    return Status::InvalidArgument("the default column family cannot be dropped");
  }
  const auto it = families_.find(family->id);
  if (it == families_.end() || it->second.get() != family) {
    return Status::ColumnFamilyDropped(family->name);
  }
  VersionEdit edit;
  edit.column_family = family->id;
  edit.family.dropped = true;
  edit.numbers.max_column_family = max_family_id_;
  VARVE_RETURN_IF_ERROR(WriteEdits({&edit}, {}, dir, /*new_manifest=*/false));
  family->dropped = true;
  const auto forget = [&](FileMetaData* file) {
    BestEffort([&] {
      mu_->AssertHeld();
      gone_tables_.insert(file->number);
    });
    file->obsolete.store(true, std::memory_order_release);
  };
  for (int level = 0; level < family->current->num_levels(); level++) {
    for (const FileRef& file : family->current->level(level).files()) forget(file.get());
  }
  for (const BlobFileState& file : family->current->blob_files()) forget(file.blobs->file().get());
  families_.erase(it);
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// Epochs order L0: files added later are newer, and a file made from others is as old as the oldest
// of them (`inherited`; UINT64_MAX if the edit deletes none, as that of a flush does).
void VersionSet::FillInEpochs(FamilyChange* change) {
  uint64_t& next = change->family->next_epoch_number;
  for (VersionEdit* edit : change->edits) {
    edit->column_family = change->family->id;
    if (edit->new_files.empty()) continue;
    std::vector<std::pair<int, uint64_t>> deleted = edit->deleted_files;
    std::sort(deleted.begin(), deleted.end());
    uint64_t inherited = UINT64_MAX;
    // The deletions are sorted by level, so each level of base that has any is walked once. A level
    // that base lacks is left to BuildVersions, which refuses the edit.
    int level = -1;
    for (const auto& [deleted_level, number] : deleted) {
      if (deleted_level == level || deleted_level >= change->base->num_levels()) continue;
      level = deleted_level;
      for (const FileRef& file : change->base->level(level).files()) {
        if (!std::binary_search(deleted.begin(), deleted.end(), std::pair(level, file->number))) {
          continue;
        }
        inherited = std::min(inherited, file->epoch_number);
      }
    }
    for (NewFile& file : edit->new_files) {
      if (file.epoch_number == kUnknownEpochNumber) {
        file.epoch_number = inherited != UINT64_MAX ? inherited : next;
      }
      next = std::max(next, file.epoch_number + 1);
      VARVE_ASSERT(file.epoch_number != kUnknownEpochNumber && file.epoch_number < next);
    }
  }
}

// Once no family needs a log any more, the next open must not read it. The bound is a number of the
// whole database; like RocksDB it is written in a record of the default family, which always
// exists. *extra becomes such a record if there is none.
void VersionSet::PlanMinLog(const std::vector<FamilyChange>& changes,
                            std::vector<VersionEdit*>* edits, VersionEdit* extra) const {
  bool any_log_number = false;
  uint64_t min = UINT64_MAX;
  LogHolder::FamilyLogs logs;
  for (const auto& [id, family] : families_) {
    uint64_t log_number = family->log_number;
    bool dropped = family->dropped;
    for (const FamilyChange& change : changes) {
      if (change.family != family.get()) continue;
      for (const VersionEdit* edit : change.edits) {
        any_log_number |= edit->log_number.has_value() || edit->family.dropped;
        log_number = std::max(log_number, edit->log_number.value_or(0));
        dropped |= edit->family.dropped;
      }
    }
    if (!family->opened || dropped) continue;
    min = std::min(min, log_number);
    logs[id] = log_number;
  }
  // The bound rises only if a family leaves logs behind, and only if a family is left to need any.
  if (!any_log_number || min == UINT64_MAX) return;
  if (options_.log_holder != nullptr) min = std::min(min, options_.log_holder->OldestLogHeld(logs));
  if (min <= min_log_number_to_keep_) return;
  for (VersionEdit* edit : *edits) {
    if (edit->column_family != 0) continue;
    edit->numbers.min_log_to_keep = std::max(min, edit->numbers.min_log_to_keep.value_or(0));
    return;
  }
  extra->numbers.min_log_to_keep = min;
  edits->push_back(extra);
}

// Takes from the builder what it decided about blob files: new ones; those that no table refers to,
// which become obsolete; and a record that counts what is left in them as garbage, because RocksDB
// drops a blob file only once all its values are counted.
void VersionSet::TakeBlobFiles(const BlobChanges& blobs, FamilyChange* change,
                               std::vector<FileRef>* added) {
  std::ranges::move(blobs.NewFiles(), std::back_inserter(*added));
  std::ranges::copy(blobs.rejected(), std::back_inserter(change->removed));
  change->uncounted.column_family = change->family->id;
  change->uncounted.blob_garbage = blobs.uncounted();
}

// Building costs time for each file of a tree, so the mutex is released meanwhile. Only this thread
// has the changes, and the turn keeps the base versions current. With an error nothing is
// published; the files that the edits add are dropped with the builder.
Status VersionSet::BuildVersions(std::vector<FamilyChange>* changes, std::vector<FileRef>* added) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < changes->size(); i++) numbers.push_back(rep_->next_version_number++);
  DbUnlock unlock(mu_);
  for (size_t i = 0; i < changes->size(); i++) {
    FamilyChange& change = (*changes)[i];
    const bool any =
        std::any_of(change.edits.begin(), change.edits.end(), [](const VersionEdit* edit) {
          // An edit with a log number alone is of a flush that wrote no table, and drops a
          // memtable. It gets a new version, too: the ranges that the old one remembers were
          // found together with that memtable (db/version/tombstone_runs.h).
          return edit->ChangesFiles() || edit->log_number.has_value();
        });
    if (!any) continue;
    const std::string context = options_.db_name + ": column family " + change.family->name;
    VersionBuilder builder(change.family->icmp.get(), change.family->num_levels, change.base.get(),
                           obsolete_files_, &context);
    builder.ChargeFilesTo(change.family->file_charge);
    builder.PlaceFilesIn(change.family->paths);
    builder.ReserveLastLevel(change.family->reserves_last_level);
    for (const VersionEdit* edit : change.edits) VARVE_RETURN_IF_ERROR(builder.Apply(*edit));
    VARVE_RETURN_IF_ERROR(builder.Build(numbers[i], &change.version, &change.removed));
    RecordCountedGarbage(builder.blobs(), change.edits);
    std::vector<FileRef> files = builder.NewFiles();
    if (change.made) change.made(files);
    std::ranges::move(files, std::back_inserter(*added));
    TakeBlobFiles(builder.blobs(), &change, added);
  }
  return Status::OK();
}

// Puts the numbers of the whole database into every record: a MANIFEST cut off after any of them
// must neither hand out a number that is in use nor hide an entry.
void VersionSet::FillInNumbers(const std::vector<VersionEdit*>& edits) {
  SequenceNumber sequence = std::max(logged_sequence_, last_sequence());
  for (const VersionEdit* edit : edits) {
    sequence = std::max(sequence, edit->numbers.last_sequence.value_or(0));
    MarkFileNumberUsed(edit->log_number.value_or(0));
    for (const NewFile& file : edit->new_files) {
      sequence = std::max(sequence, file.largest_seq);
      MarkFileNumberUsed(file.number);
    }
    for (const BlobFileFacts& file : edit->new_blob_files) MarkFileNumberUsed(file.number);
  }
  VARVE_ASSERT(sequence >= logged_sequence_ && sequence <= kMaxSequenceNumber);  // Invariant 7.
  logged_sequence_ = sequence;
  for (VersionEdit* edit : edits) {
    edit->numbers.next_file = next_file_number();
    edit->numbers.last_sequence = sequence;
    VARVE_ASSERT(edit->log_number.value_or(0) < next_file_number());
    if (!edit->family.added.has_value() && !edit->family.dropped) {
      edit->numbers.prev_log = 0;
    }
  }
}

// Collects what a new MANIFEST must begin with: all families, and the numbers of the database.
VersionState VersionSet::State() const {
  VersionState state;
  for (const auto& [id, family] : families_) {
    state.families.push_back({family, family->current, family->log_number,
                              family->full_history_ts_low, family->merge_operator});
  }
  if (options_.write_dbid) state.db_id = db_id_;
  state.min_log_to_keep = min_log_number_to_keep_;
  state.next_file = next_file_number();
  state.last_sequence = logged_sequence_;
  state.max_family_id = max_family_id_;
  state.gone_tables.assign(gone_tables_.begin(), gone_tables_.end());
  state.unread_logs = unread_logs_;
  state.ttl_clock = ttl_clock_;
  for (const auto& [name, position] : change_positions_) {
    state.change_positions.push_back(position);
  }
  return state;
}

const FamilyVersions* VersionSet::FamilyOf(const VersionEdit& edit,
                                           const FamilyVersions* made) const {
  if (made != nullptr && made->id == edit.column_family) return made;
  const auto it = families_.find(edit.column_family);
  return it == families_.end() ? nullptr : it->second.get();
}

// Writes the records in this order: sync of the directories of new tables; the records, each
// synced; for a fresh MANIFEST, sync of its name, and then CURRENT. Throws nothing. After an error
// the flags of `write` say what is on disk:
//
//     names_in_doubt   a directory failed its sync, and nothing was written
//     in_doubt         the records may be in force: appended to the MANIFEST in force, or in a
//                      fresh one that CURRENT may name
//     left_behind      a fresh MANIFEST is on disk that CURRENT does not name
IOStatus VersionSet::WriteManifest(ManifestWrite* write) try {
  FileSystem* const fs = options_.fs.get();
  IOStatus s;
  for (const std::string& directory : write->table_directories) {
    const bool own = directory == options_.db_name;
    if (s.ok() && !VARVE_CANARY(kSkipDirectorySync))
      s = SyncDir(fs, directory, own ? write->dir : nullptr);
  }
  write->names_in_doubt = !s.ok();
  if (!s.ok()) return s;
  VARVE_ASSERT(write->fresh || rep_->manifest != nullptr);
  VARVE_ASSERT(!write->records.empty());
  wal::LogWriter* writer = rep_->manifest.get();
  const std::string path = DescriptorFileName(options_.db_name, write->number);
  if (write->fresh) {
    std::unique_ptr<WritableFileWriter> file;
    FileOptions file_options = fs->OptimizeForManifestWrite(options_.file_options);
    file_options.temperature = options_.write_temperature;
    WritableFileWriter::Options options = WritableFileWriter::OptionsFrom(file_options);
    options.stats = options_.statistics;
    options.clock = options_.clock;
    options.sync_histogram = MANIFEST_FILE_SYNC_MICROS;
    s = WritableFileWriter::Create(fs, path, file_options, options, &file);
    if (!s.ok()) return s;
    file->file()->SetPreallocationBlockSize(options_.manifest_preallocation_size);
    write->writer = std::make_unique<wal::LogWriter>(std::move(file), write->number,
                                                     wal::LogWriterOptions{.manual_flush = true});
    writer = write->writer.get();
    write->left_behind = true;
  } else {
    write->in_doubt = true;
  }
  // A power loss may lose any sectors that are not synced. Of two records it could keep only the
  // second, which looks like damage to synced ones and would make the next open fail; so each
  // record is synced before the next is written. A fresh file is not named by anything yet.
  for (size_t i = 0; i < write->records.size() && s.ok(); i++) {
    s = writer->AddRecord(write->records[i]);
    const bool last = i + 1 == write->records.size();
    if (s.ok() && (last || !write->fresh)) s = writer->Sync(options_.use_fsync);
  }
  if (write->fresh) {
    // CURRENT must not name a file whose own name a crash could undo.
    if (s.ok()) s = SyncDir(fs, options_.db_name, write->dir);
    if (s.ok() && options_.detached_manifest != 0) return s;
    if (s.ok()) {
      write->in_doubt = true;  // stays so if an exception is thrown
      s = SetCurrentFile(fs, options_.db_name, write->number, write->dir, &write->in_doubt);
      if (write->in_doubt) write->in_doubt = MayBeCurrent(fs, options_.db_name, write->number);
    }
    if (!s.ok() && !write->in_doubt) {
      write->writer.reset();
      // CURRENT surely names another MANIFEST, so this one explains nothing and may go.
      const IOStatus deleted = fs->DeleteFile(path, IOOptions(), nullptr);
      write->left_behind = !deleted.ok() && !IsMissing(deleted);
    }
  }
  if (!s.ok()) return s;
  write->in_doubt = false;
  // Noted only after the sync: a mark that is ahead of the file would make the next opening report
  // a loss.
  if (options_.marks != nullptr) options_.marks->NoteManifest(write->number, writer->file_size());
  return s;
} catch (...) {
  return status_to_io_status(CaughtException());
}

// Collects the directories of new tables, which WriteManifest syncs. Refuses a table that was new
// when a sync of its directory failed (invariant 6), unless the edit only moves it.
Status VersionSet::CheckNames(const VersionEdit& edit, const TablePaths& paths,
                              ManifestWrite* write) const {
  for (const NewFile& file : edit.new_files) {
    VARVE_ASSERT(!TableInDoubt(file.number));  // Invariant 5.
    write->table_directories.insert(paths.directory(file.path_id));
    if (file.number >= rep_->doubtful_tables_end) continue;
    const bool moved = std::ranges::any_of(
        edit.deleted_files, [&](const auto& deleted) { return deleted.second == file.number; });
    if (moved) continue;
    return Status::IOError(paths.FileName(file),
                           "a sync of the directory failed when it was new: it is made again");
  }
  for (const BlobFileFacts& file : edit.new_blob_files) {
    VARVE_ASSERT(!TableInDoubt(file.number));  // Invariant 5.
    write->table_directories.insert(paths.directory(0));
    if (file.number >= rep_->doubtful_tables_end) continue;
    return Status::IOError(paths.BlobFileName(file.number),
                           "a sync of the directory failed when it was new: it is made again");
  }
  return Status::OK();
}

// Completes the edits, reserves the memory that the handling of either outcome needs, writes the
// records without the mutex, and then notes which MANIFEST is in force and how long it is. An error
// before the writing leaves everything as it was; one of the writing is handled by AfterFailure.
Status VersionSet::WriteEdits(const std::vector<VersionEdit*>& edits, std::vector<FileRef> tables,
                              FSDirectory* dir, bool new_manifest, const FamilyVersions* made) {
  VARVE_ASSERT(!rep_->queue.empty());  // Invariant 1: this thread has the turn.
  if (options_.read_only) return Status::NotSupported(options_.db_name, "is open for reading only");
  if (rep_->closed) return Status::ShutdownInProgress(options_.db_name, "the MANIFEST is closed");
  ManifestWrite write;
  write.tables = std::move(tables);
  write.dir = dir;
  write.fresh = new_manifest || rep_->manifest == nullptr ||
                rep_->manifest->file_size() > options_.max_manifest_file_size;
  // A fresh MANIFEST takes its number before the counters are written into it, so that it counts
  // itself.
  write.number = write.fresh ? NewFileNumber() : manifest_file_number_;
  FillInNumbers(edits);
  if (write.fresh) VARVE_RETURN_IF_ERROR(State().EncodeTo(&write.records));
  uint64_t min_log = min_log_number_to_keep_;
  std::vector<size_t> timestamp_sizes;
  for (const VersionEdit* edit : edits) {
    const FamilyVersions* const family = FamilyOf(*edit, made);
    // The family exists: LogAndApply has passed over dropped ones, and the turn keeps the rest.
    VARVE_ASSERT(family != nullptr);
    timestamp_sizes.push_back(family->icmp->timestamp_size());
    if (!edit->new_files.empty() || !edit->new_blob_files.empty()) {
      VARVE_RETURN_IF_ERROR(CheckNames(*edit, *family->paths, &write));
    }
    min_log = std::max(min_log, edit->numbers.min_log_to_keep.value_or(0));
  }
  // After a success all doubtful MANIFESTs and the present one become obsolete; after a failure
  // this MANIFEST and its tables become doubtful. Neither may then fail for lack of memory.
  auto& obsolete = rep_->obsolete_manifests;
  rep_->doubtful_manifests.reserve(rep_->doubtful_manifests.size() + 1);
  obsolete.reserve(obsolete.size() + rep_->doubtful_manifests.size() + 1);
  rep_->doubtful_tables.reserve(rep_->doubtful_tables.size() + write.tables.size());
  IOStatus s;
  {
    const ActiveWork active(ActiveWork::kManifest, this, "the writing of the MANIFEST,");
    DbUnlock unlock(mu_);
    // Encoding takes long if there are many files, and needs no mutex: no other thread has the
    // edits.
    VARVE_RETURN_IF_ERROR(EncodeEdits(edits, timestamp_sizes, &write.records));
    s = WriteManifest(&write);
    if (s.ok() && write.fresh && rep_->manifest != nullptr) {
      BestEffort([&] { rep_->manifest->Close().PermitUncheckedError(); });  // it is replaced
    }
    if (VARVE_CANARY(kLengthBeforeTables) && !write.fresh) {
      {
        DbLock lock(mu_);
        manifest_file_size_ = rep_->manifest->file_size();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  VARVE_ASSERT(!s.ok() || !write.in_doubt);  // Invariant 5.
  if (!s.ok()) {
    AfterFailure(&write, s);
    return s;
  }
  if (write.fresh) {
    rep_->manifest = std::move(write.writer);
    obsolete.push_back(manifest_file_number_);
    obsolete.insert(obsolete.end(), rep_->doubtful_manifests.begin(),
                    rep_->doubtful_manifests.end());
    rep_->doubtful_manifests.clear();
    manifest_file_number_ = write.number;
    ReleaseDoubtfulTables();
  }
  VARVE_ASSERT(rep_->manifest != nullptr);
  VARVE_ASSERT(write.fresh || rep_->manifest->file_size() > manifest_file_size_ || edits.empty());
  manifest_file_size_ = rep_->manifest->file_size();
  min_log_number_to_keep_ = min_log;
  return Status::OK();
}

// Notes what is in doubt after WriteManifest has failed, so that nothing which either outcome needs
// is deleted, and gives up the MANIFEST if records may be in it.
void VersionSet::AfterFailure(ManifestWrite* write, const IOStatus& error) {
  if (write->names_in_doubt) rep_->doubtful_tables_end = next_file_number();
  if (write->in_doubt || write->left_behind) {
    if (write->fresh) rep_->doubtful_manifests.push_back(write->number);
    KeepDoubtfulTables(std::move(write->tables));
  }
  // Without a writer the next edit begins a fresh MANIFEST.
  std::unique_ptr<wal::LogWriter> left;
  if (write->in_doubt && !VARVE_CANARY(kAppendToFailedManifest)) left = std::move(rep_->manifest);
  DbUnlock unlock(mu_);
  left.reset();
  LogError(options_.info_log, "MANIFEST %llu: %s", static_cast<unsigned long long>(write->number),
           error.ToString().c_str());
}

// Keeps the tables until the doubt ends: the MANIFEST that ends it tells a later opening that they
// are gone. If memory is out, that opening sets them aside.
void VersionSet::KeepDoubtfulTables(std::vector<FileRef> tables) {
  BestEffort([&] {
    mu_->AssertHeld();
    for (const FileRef& table : tables) gone_tables_.insert(table->number);
  });
  VARVE_ASSERT(rep_->doubtful_tables.capacity() - rep_->doubtful_tables.size() >= tables.size());
  std::ranges::move(tables, std::back_inserter(rep_->doubtful_tables));
}

void VersionSet::ReleaseDoubtfulTables() {
  // Release, as in Install.
  for (const FileRef& table : rep_->doubtful_tables) {
    table->obsolete.store(true, std::memory_order_release);
  }
  rep_->doubtful_tables.clear();
}

// Reserves memory before the edits are written, as Install cannot be undone and so must not fail.
void VersionSet::MakeRoomToInstall(const std::vector<FamilyChange>& changes) {
  rep_->versions.reserve(rep_->versions.size() + changes.size());
  for (const FamilyChange& change : changes) {
    for (const VersionEdit* edit : change.edits) {
      const auto make_room = [](const std::optional<std::string>& text, std::string* place) {
        if (text.has_value()) place->reserve(text->size());
      };
      make_room(edit->family.full_history_ts_low, &change.family->full_history_ts_low);
      make_room(edit->family.merge_operator, &change.family->merge_operator);
    }
  }
}

// Shows the changes to readers; the edits are durable. Cannot fail: memory was reserved, and what
// may be lost for lack of it (gone_tables_) only makes a later opening set files aside.
void VersionSet::Install(std::vector<FamilyChange>* changes) {
  for (FamilyChange& change : *changes) {
    FamilyVersions* const family = change.family;
    VARVE_ASSERT(family->current == change.base);  // Invariant 1.
    for (const VersionEdit* edit : change.edits) {
      VARVE_ASSERT(edit->column_family == family->id);
      family->log_number = std::max(family->log_number, edit->log_number.value_or(0));
      if (edit->family.full_history_ts_low.has_value()) {
        family->RaiseFullHistoryTsLow(*edit->family.full_history_ts_low);
      }
      if (edit->family.merge_operator.has_value())
        family->merge_operator = *edit->family.merge_operator;
      ttl_clock_ = edit->ttl_clock.value_or(ttl_clock_);
    }
    if (change.version == nullptr) continue;
    // Release pairs with the acquire of the thread that releases the file last.
    for (const FileRef& file : change.removed) {
      // If memory is out, a later opening sets the file aside.
      VARVE_ASSERT(!file->obsolete.load(std::memory_order_relaxed));  // Invariant 9.
      BestEffort([&] {
        mu_->AssertHeld();
        gone_tables_.insert(file->number);
      });
      file->obsolete.store(true, std::memory_order_release);
    }
    VARVE_ASSERT(rep_->versions.size() < rep_->versions.capacity());  // Invariant 3.
    SetCurrent(family, std::move(change.version));
  }
}

}  // namespace varve
