// SPDX-License-Identifier: Apache-2.0

// Finds the logs that an opening needs, replays them, and decides whether they are kept. Normally
// their data is written to tables, and they become obsolete. They are kept if the database is
// read-only, if avoid_flush_during_recovery allows it, or if a change stream needs them. A kept log
// is truncated after its last record and synced, as later syncs cover only new logs.

#include "db/recovery/log_recovery.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "db/recovery/stale_manifest.h"
#include "db/recovery/two_phase_replay.h"
#include "db/version/manifest_replay.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/io_error.h"

namespace varve {

LogRecovery::LogRecovery(const LogReplay::Parts& parts, const Wanted& wanted)
    : context_(parts.context),
      state_(parts.state),
      wanted_(wanted),
      replay_(parts, wanted.synced, wanted.repairs) {}

Status LogRecovery::Replay() {
  uint64_t min_log = 0;
  VARVE_ASSERT(log_numbers_.empty());
  VARVE_RETURN_IF_ERROR(FindLogs(&min_log));
  if (wanted_.leave_out) {
    replay_.LeaveOut(log_numbers_);
    return Status::OK();
  }
  // A wrong directory looks like one whose logs are lost; this check distinguishes them before
  // anything is changed.
  VARVE_RETURN_IF_ERROR(CheckLogDirectory(wanted_.place, log_numbers_, min_log));
  if (wanted_.error_if_any && !log_numbers_.empty()) {
    return Status::Corruption(context_.WalDirectory(),
                              "holds logs, and error_if_wal_file_exists is set");
  }
  VARVE_RETURN_IF_ERROR(replay_.Run(log_numbers_, min_log));
  // If the oldest needed log is missing, the MANIFEST may be an old copy.
  if (!wanted_.repairs && (log_numbers_.empty() || log_numbers_.front() != min_log)) {
    const ReplayedRange replayed{replay_.first_sequence(), replay_.max_sequence()};
    VARVE_RETURN_IF_ERROR(
        CheckManifestIsNotStale(context_, &state_, wanted_.directories, replayed));
  }
  TakePrepared();
  if (context_.read_only()) ListLogs();
  DbLock lock(&state_.mu);
  state_.versions->set_last_sequence(
      std::max(state_.versions->last_sequence(), replay_.max_sequence()));
  return CheckPrepared();
}

// A log that another process still writes is listed up to the offset that this opening has read. If
// there was damage, files are listed with their full size, because a log that ended before the
// damage would look sound.
void LogRecovery::ListLogs() {
  const bool sound = replay_.damaged_logs().empty() && !replay_.stopped_early();
  for (const uint64_t number : log_numbers_) {
    uint64_t bytes = replay_.LogEnd(number);
    if (!sound) {
      context_.fs()
          ->GetFileSize(LogFileName(context_.WalDirectory(), number), IOOptions(), &bytes, nullptr)
          .PermitUncheckedError();
    }
    state_.logs->AddRecovered(number, bytes);
  }
}

void LogRecovery::TakePrepared() {
  const uint64_t now = context_.MonotonicMicros();
  for (auto& [name, prepared] : replay_.two_phase().undecided()) {
    replay_.NotePrepared(name);
    state_.prepared.AddRecovered(name, std::move(prepared.updates), prepared.log, now);
  }
}

// Without allow_2pc the transactions could not be decided, and their logs would be kept forever.
Status LogRecovery::CheckPrepared() const {
  VARVE_RETURN_IF_ERROR(replay_.two_phase().CheckWritten());
  if (context_.options().allow_2pc || context_.read_only() || wanted_.repairs) return Status::OK();
  std::string names;
  for (const PreparedTransactions::Info& prepared : state_.prepared.Undecided()) {
    names += (names.empty() ? "'" : ", '") + ShownName(prepared.name) + "'";
  }
  if (names.empty()) return Status::OK();
  return Status::InvalidArgument(
      context_.name(),
      "transactions are prepared and undecided: " + names +
          "; nothing was changed. Open it with TransactionDB::Open and commit them or roll them "
          "back, or with DBOptions::allow_2pc, which keeps them as they are");
}

// A missing directory is treated like one without logs, unless the database was last opened with it
// (CheckMayBeMissing).
Status LogRecovery::FindLogs(uint64_t* min_log) {
  std::vector<std::string> names;
  const IOStatus s =
      context_.fs()->GetChildren(context_.WalDirectory(), IOOptions(), &names, nullptr);
  if (!s.ok() && !IsMissing(s)) return s;
  if (!s.ok() && !wanted_.repairs) VARVE_RETURN_IF_ERROR(CheckMayBeMissing(wanted_.place));
  std::vector<uint64_t> all;
  for (const auto& [name, number, type] : FilesAmong(names, kWalFile)) {
    if (number > kMaxFoundFileNumber) continue;  // Never assigned by an engine.
    all.push_back(number);
  }
  std::sort(all.begin(), all.end());
  VARVE_RETURN_IF_ERROR(FindOldestWanted(all, min_log));
  {
    DbLock lock(&state_.mu);
    state_.versions->set_min_log_number_to_keep(*min_log);
  }
  log_numbers_.assign(wanted_.leave_out ? all.begin() : std::ranges::lower_bound(all, *min_log),
                      all.end());
  if (!context_.read_only()) MarkNumbersUsed(names);
  return Status::OK();
}

// If there may be prepared transactions in logs that no family needs, the MANIFEST's own lower
// bound is used. RocksDB does not write it in a recovery that has advanced the families; then all
// existing logs are needed. Databases without prepared transactions may have an outdated bound, and
// have deleted the logs.
Status LogRecovery::FindOldestWanted(const std::vector<uint64_t>& logs, uint64_t* oldest) const {
  uint64_t kept = 0;
  {
    DbLock lock(&state_.mu);
    *oldest = state_.versions->MinLogNumber();
    kept = state_.versions->min_log_number_to_keep();
  }
  if (kept >= *oldest) {
    *oldest = kept;
    return Status::OK();
  }
  const auto first = std::ranges::lower_bound(logs, kept);
  if (first == logs.end() || *first >= *oldest) return Status::OK();
  if (kept != 0 || context_.options().allow_2pc) {
    *oldest = kept != 0 ? kept : *first;
    return Status::OK();
  }
  // The MANIFEST names no log for such transactions, and without allow_2pc there are usually none,
  // so the logs are searched: the oldest one with marks of two-phase commit is wanted.
  for (auto log = first; log != logs.end() && *log < *oldest; ++log) {
    bool wanted = false;
    VARVE_RETURN_IF_ERROR(HasTwoPhaseMarks(context_.fs().get(), context_.LogFileOptions(),
                                           LogFileName(context_.WalDirectory(), *log), *log,
                                           &wanted));
    if (wanted) *oldest = *log;
  }
  return Status::OK();
}

std::vector<std::string> LogRecovery::NamesSetAside() const {
  std::set<std::string> directories = {context_.WalDirectory()};
  for (const auto& [directory, names] : wanted_.directories) directories.insert(directory);
  std::vector<std::string> all;
  for (const std::string& directory : directories) {
    std::vector<std::string> names;
    // The folder usually does not exist.
    context_.fs()
        ->GetChildren(directory + "/lost", IOOptions(), &names, nullptr)
        .PermitUncheckedError();
    std::ranges::move(names, std::back_inserter(all));
  }
  return all;
}

// Marks the numbers of all files that exist or may reappear as used.
void LogRecovery::MarkNumbersUsed(const std::vector<std::string>& logs) {
  const std::vector<std::string> set_aside = NamesSetAside();
  DbLock lock(&state_.mu);
  const auto mark = [this](const std::vector<std::string>& names, auto is_one) {
    state_.mu.AssertHeld();
    for (const auto& [name, number, type] : FilesAmong(names)) {
      if (number > kMaxFoundFileNumber) continue;
      if (is_one(type)) state_.versions->MarkFileNumberUsed(number);
    }
  };
  mark(logs, [](FileType type) { return type == kWalFile; });
  // No file may later be moved over one in lost/.
  mark(set_aside, [](FileType type) {
    return type == kTableFile || type == kBlobFile || type == kWalFile || type == kDescriptorFile;
  });
  // The files that the synced mark names may be missing now and reappear later.
  if (wanted_.synced.log <= kMaxFoundFileNumber) {
    state_.versions->MarkFileNumberUsed(wanted_.synced.log);
  }
  if (wanted_.synced.manifest <= kMaxFoundFileNumber) {
    state_.versions->MarkFileNumberUsed(wanted_.synced.manifest);
  }
  // A table that no MANIFEST names is moved to lost/, and must not be overwritten. The newest
  // OPTIONS file must have the largest number. A MANIFEST newer than the recovered one may be kept.
  for (const auto& [directory, names] : wanted_.directories) {
    mark(names, [](FileType type) {
      return type == kTableFile || type == kBlobFile || type == kOptionsFile ||
             type == kDescriptorFile;
    });
  }
}

bool LogRecovery::CanKeepLogs() const {
  // A log with a commit needs the log of its prepared transaction, which is not kept by any
  // memtable.
  if (replay_.met_two_phase()) return false;
  // The logs still have the records that the filter has left out.
  if (context_.options().wal_filter != nullptr) return false;
  return context_.options().avoid_flush_during_recovery && !replay_.wrote_tables() &&
         replay_.damaged_logs().empty() && !replay_.stopped_early();
}

Status LogRecovery::KeepLogs() {
  VARVE_ASSERT(CanKeepLogs());
  // Logs without batches after the last one with batches are not kept, unless a change stream holds
  // them (oldest_held). An empty log before that one is kept, because the predecessor record of the
  // next log may name it.
  uint64_t last_with_batches = 0;
  for (uint64_t number : log_numbers_) {
    if (replay_.HasBatches(number)) last_with_batches = number;
  }
  for (uint64_t number : log_numbers_) {
    if (number > last_with_batches && number < state_.logs->oldest_held()) {
      empty_logs_.push_back(LogFileName(context_.WalDirectory(), number));
    } else {
      VARVE_RETURN_IF_ERROR(Keep(number, replay_.LogEnd(number)));
    }
  }
  return Status::OK();
}

IOStatus LogRecovery::Keep(uint64_t number, uint64_t end) {
  FileSystem* const fs = context_.fs().get();
  const std::string path = LogFileName(context_.WalDirectory(), number);
  uint64_t bytes = 0;
  IOStatus s = fs->GetFileSize(path, IOOptions(), &bytes, nullptr);
  // A later replay could take old bytes after the last record for records.
  if (s.ok() && bytes > end) s = fs->Truncate(path, end, IOOptions(), nullptr);
  if (s.IsNotSupported()) s = IOStatus::OK();  // Such a file system has no mapped logs.
  // Later syncs cover only new logs.
  if (s.ok()) {
    s = fs->SyncFile(path, context_.LogFileOptions(), IOOptions(), context_.options().use_fsync,
                     nullptr);
  }
  if (s.ok()) state_.logs->AddRecovered(number, end);
  return s;
}

// These are logs before those that were replayed, and the replayed ones unless KeepLogs keeps them.
Status LogRecovery::KeepForPositions() {
  const uint64_t oldest = state_.logs->oldest_held();
  if (oldest == UINT64_MAX || wanted_.leave_out) return Status::OK();
  std::vector<std::string> names;
  VARVE_RETURN_IF_ERROR(
      context_.fs()->GetChildren(context_.WalDirectory(), IOOptions(), &names, nullptr));
  std::vector<uint64_t> numbers;
  for (const auto& [name, number, type] : FilesAmong(names, kWalFile)) {
    if (number < oldest) continue;
    numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  const std::vector<uint64_t>& damaged = replay_.damaged_logs();
  for (uint64_t number : numbers) {
    const bool replayed = std::ranges::binary_search(log_numbers_, number);
    if (replayed && CanKeepLogs()) break;
    // A stream that needs a damaged log gets a gap that is marked as lost.
    if (std::ranges::find(damaged, number) != damaged.end()) continue;
    uint64_t end = replayed ? replay_.LogEnd(number) : 0;
    if (!replayed) {
      const std::string path = LogFileName(context_.WalDirectory(), number);
      VARVE_RETURN_IF_ERROR(context_.fs()->GetFileSize(path, IOOptions(), &end, nullptr));
    }
    VARVE_RETURN_IF_ERROR(Keep(number, end));
  }
  return Status::OK();
}

}  // namespace varve
