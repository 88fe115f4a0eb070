// SPDX-License-Identifier: Apache-2.0
#include "db/follow/promotion.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "db/background/jobs.h"
#include "db/recovery/families.h"
#include "db/version/manifest_replay.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

namespace {

constexpr char kOpenInstead[] = "; nothing was changed. Open the database with DB::Open instead";

}  // namespace

Status Promotion::CheckFamilies() {
  DbLock lock(&engine_.state.mu);
  std::string unnamed;
  for (const auto& [id, family] : manifest_.replay()->families()) {
    // A writer must have all families open, as it writes and deletes logs for all of them.
    if (engine_.state.families.FindById(id) != nullptr) continue;
    unnamed.append(" ").append(family.versions->name);
  }
  if (unnamed.empty()) return Status::OK();
  return Status::InvalidArgument("promote: column families that the secondary has not opened",
                                 unnamed.substr(1));
}

// Returns Corruption if less was read than the primary had made durable, according to the synced
// marks.
Status Promotion::CheckNothingLost() const {
  const DbContext& context = engine_.context;
  const wal::SyncedMark synced = wal::ReadSyncedMark(context.fs().get(), context.name());
  // The marks have the file and offset up to which the primary has made data durable. A file number
  // above the one that was read means that a whole file is missing.
  const bool manifest_lost =
      synced.manifest > manifest_.number() ||
      (synced.manifest == manifest_.number() && synced.manifest_bytes > manifest_.end());
  if (manifest_lost) {
    return Status::Corruption(DescriptorFileName(context.name(), manifest_.number()),
                              std::string("ends before what was durable") + kOpenInstead);
  }
  // A newer log counts as lost only if bytes of it were durable, and the MANIFEST still needs it.
  const bool log_lost = (synced.log > logs_.number() && synced.log_bytes != 0 &&
                         synced.log >= manifest_.replay()->min_log_number_to_keep()) ||
                        (synced.log == logs_.number() && synced.log_bytes > logs_.end());
  if (!log_lost) return Status::OK();
  return Status::Corruption(LogFileName(context.WalDirectory(), synced.log),
                            std::string("ends before what was durable") + kOpenInstead);
}

Status Promotion::CheckPrepared() const {
  VARVE_RETURN_IF_ERROR(logs_.two_phase().CheckWritten());
  const auto& undecided = logs_.two_phase().undecided();
  if (undecided.empty() || engine_.context.options().allow_2pc) return Status::OK();
  return Status::InvalidArgument(
      engine_.context.name(),
      "promote: the transaction '" + ShownName(undecided.begin()->first) +
          "' is prepared and undecided, and the secondary was opened without DBOptions::allow_2pc" +
          kOpenInstead);
}

Status Promotion::Check() {
  VARVE_RETURN_IF_ERROR(CheckFamilies());
  VARVE_RETURN_IF_ERROR(CheckPrepared());
  return CheckNothingLost();
}

// Adds the transactions as if they had been prepared and committed by this process, so that their
// logs are kept.
void Promotion::TakePrepared() {
  PreparedTransactions& transactions = engine_.state.prepared;
  TwoPhaseReplay& replayed = logs_.two_phase();
  const uint64_t now = engine_.context.MonotonicMicros();
  for (const TwoPhaseReplay::Committed& committed : replayed.committed()) {
    transactions.AddRecovered("", committed.sample, committed.log, now);
    TwoPhaseStep step;
    step.kind = TwoPhaseStep::Kind::kCommit;
    // Claim returns only this transaction, since undecided ones are added afterwards.
    step.prepared = transactions.Claim().front();
    // The decision may count as durable: no write comes before KeepLogs has synced its log.
    step.synced = true;
    transactions.NoteDecided(step, committed.decision_log);
  }
  for (auto& [name, prepared] : replayed.undecided()) {
    transactions.AddRecovered(name, std::move(prepared.updates), prepared.log, now);
  }
}

// Marks the numbers of all existing files as used, and notes removed tables that still exist, for
// the new MANIFEST.
Status Promotion::NoteFiles(MadeDirectories* made) {
  DbContext& context = engine_.context;
  // A directory that only the secondary's options name does not exist yet.
  VARVE_RETURN_IF_ERROR(TakeTableDirectories(context, wanted_, made, &directories_));
  std::vector<std::string> own;
  std::vector<std::string> logs;
  FileSystem* const fs = context.fs().get();
  VARVE_RETURN_IF_ERROR(fs->GetChildren(context.name(), IOOptions(), &own, nullptr));
  VARVE_RETURN_IF_ERROR(fs->GetChildren(context.WalDirectory(), IOOptions(), &logs, nullptr));
  directories_[context.name()] = own;
  const std::set<uint64_t> present = TablesIn(directories_);
  std::vector<FamilyToOpen> wanted;
  for (const ColumnFamilyDescriptor& family : wanted_) wanted.push_back(ToOpen(context, family));
  // The MANIFEST is read again for the tables that it has removed and that still exist, as the
  // secondary does not remember them.
  ManifestReplay replay(DescriptorFileName(context.name(), manifest_.number()), &wanted,
                        engine_.state.versions->obsolete_files());
  replay.TellGoneAmong(&present);
  VARVE_RETURN_IF_ERROR(replay.Read(fs, context.file_options()));
  VersionSet& versions = *engine_.state.versions;
  std::vector<VersionRef> held;  // Released without the mutex.
  DbLock lock(&engine_.state.mu);
  std::set<uint64_t> live;
  versions.AddLiveFiles(&live, &held);
  std::set<uint64_t> gone = replay.TakeGoneTables();
  // Blob files that edits have added are gone, too, if no version has them any more.
  for (const auto& [id, family] : replay.families()) {
    if (family.builder == nullptr) continue;
    for (const FileRef& file : family.builder->blobs().NewFiles()) {
      if (present.contains(file->number) && !live.contains(file->number)) gone.insert(file->number);
    }
  }
  versions.NoteGoneTables(std::move(gone));
  for (const std::vector<std::string>* names : {&own, &logs}) {
    for (const auto& [name, number, type] : FilesAmong(*names)) {
      // A file of a crashed job may have a number that no MANIFEST has.
      if (number > kMaxFoundFileNumber) continue;
      versions.MarkFileNumberUsed(number);
    }
  }
  for (const uint64_t number : present) {
    if (number <= kMaxFoundFileNumber) versions.MarkFileNumberUsed(number);
  }
  return Status::OK();
}

// The data of memtables must survive a power loss, so each log that they came from is truncated
// after its last whole record, synced, and added to the log set. Logs that no family and no
// prepared transaction needs are deleted later, with other obsolete files.
Status Promotion::KeepLogs() {
  DbContext& context = engine_.context;
  FileSystem* const fs = context.fs().get();
  uint64_t needed = 0;
  {
    DbLock lock(&engine_.state.mu);
    needed = engine_.state.versions->OldestLogNeeded();
  }
  for (const auto& [number, end] : logs_.ends()) {
    // SweepAtOpen deletes logs that are not needed.
    if (number < needed) continue;
    const std::string path = LogFileName(context.WalDirectory(), number);
    uint64_t bytes = 0;
    IOStatus s = fs->GetFileSize(path, IOOptions(), &bytes, nullptr);
    // After the last record there may be zeros of a mapped file, or an unfinished record, at which
    // a later replay would stop instead of continuing with the next log.
    if (s.ok() && bytes > end) s = fs->Truncate(path, end, IOOptions(), nullptr);
    // Only mapped logs have unused space at the end, and file systems without Truncate do not map
    // logs.
    if (s.IsNotSupported()) s = IOStatus::OK();
    // The records must be synced here, because later syncs cover only logs of this process.
    if (s.ok()) {
      s = fs->SyncFile(path, context.LogFileOptions(), IOOptions(), context.options().use_fsync,
                       nullptr);
    }
    if (!s.ok()) return s;
    engine_.state.logs->AddRecovered(number, end);
  }
  return Status::OK();
}

// Writes the whole state to a new MANIFEST.
Status Promotion::LogState() {
  DbState& state = engine_.state;
  const uint64_t current_log = state.logs->current_number();
  VARVE_ASSERT(current_log != 0);
  std::vector<FamilyEdit> edits;
  std::vector<std::unique_ptr<VersionEdit>> owned;
  for (const auto& [id, family] : state.families.all()) {
    auto edit = std::make_unique<VersionEdit>();
    edit->column_family = id;
    // A family without data in memory does not need the old logs.
    if (family->mem()->Empty() && family->immutables().empty()) edit->log_number = current_log;
    edits.push_back(FamilyEdit{family->versions(), {edit.get()}});
    owned.push_back(std::move(edit));
  }
  return state.versions->LogAndApply(std::move(edits), engine_.context.directory(),
                                     /*new_manifest=*/true);
}

// Runs the steps of an opening without a replay: file numbers, kept logs, a new log, a new
// MANIFEST, deletion of obsolete files, and finally the state that readers and writers see. After
// an error the files form a complete database for the next opening.
Status Promotion::Run() {
  Engine& e = engine_;
  // Before the new log, files change only in that logs are truncated after their last records, and
  // that table directories are created.
  MadeDirectories made(e.context.fs().get());
  VARVE_RETURN_IF_ERROR(NoteFiles(&made));
  VARVE_RETURN_IF_ERROR(e.context.OpenDirectory());
  VARVE_RETURN_IF_ERROR(e.context.OpenLogDirectory());
  TakePrepared();
  VARVE_RETURN_IF_ERROR(KeepLogs());
  {
    DbLock lock(&e.state.mu);
    // The last sequence number of the MANIFEST may be larger than that of the logs; the next write
    // must be above both.
    const SequenceNumber last =
        std::max(e.state.versions->last_sequence(), manifest_.replay()->last_sequence());
    e.state.versions->set_last_sequence(last);
    e.state.commit->StartFrom(last);
    for (const auto& [id, family] : e.state.families.all()) {
      // Kept logs may have records with the sizes of this family's timestamps.
      if (family->icmp().timestamp_size() != 0) e.new_logs.NoteStamped();
      // Tables of the memtables must be newer than those that the primary has added meanwhile.
      family->RenewEpochs();
    }
    VARVE_RETURN_IF_ERROR(e.new_logs.Start(/*force=*/true));
    VARVE_RETURN_IF_ERROR(LogState());
  }
  // From here on this process writes the synced marks.
  e.state.marks->Begin();
  VARVE_RETURN_IF_ERROR(e.jobs->obsolete.SweepAtOpen(
      {.directories = directories_, .damaged_logs = {}, .empty_logs = {}, .keep_manifests = false},
      &e.recovery));
  DbLock lock(&e.state.mu);
  for (const auto& [id, family] : e.state.families.all()) {
    // Readers now see new writes. BecomeWriter comes last, so that a call that finds the database
    // writable finds everything ready.
    family->set_sequence_limit(kMaxSequenceNumber);
    family->InstallSuperVersion();
  }
  e.stalls.Update();
  e.context.BecomeWriter();
  made.Keep();
  return Status::OK();
}

}  // namespace varve
