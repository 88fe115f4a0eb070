// SPDX-License-Identifier: Apache-2.0

// Begins logs. A log's file is made, and gets its first records, before the log becomes the current
// one, so a failure leaves the old log in use:
//
//      predecessor record     where the log before ends
//      timestamp sizes        of families whose keys have timestamps
//      prepared transactions  if the old logs are in doubt: logged again, and synced
//
// Writers are kept out meanwhile. The caller holds the commit path exclusively; the DB mutex is
// released while files are made.

#include "db/engine/new_logs.h"

#include <utility>

#include "db/wal/buffered_log.h"
#include "db/wal/log_writer.h"
#include "db/wal/mapped_log.h"
#include "db/write/predecessor_log.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/info_log.h"
#include "util/env/mapped_file.h"

namespace varve {

namespace {

// True if the log is to be mapped. A mapped log stores each record as it is, at once, in space that
// was allocated before: so it cannot hold records back, pace write-back, compress, or reuse a file.
// A process killed while it stores several records at once may omit one and write later ones: only
// point-in-time recovery treats that as the end.
bool WantsMapping(const DBOptions& options) {
  return !options.manual_wal_flush && options.allow_fallocate && options.wal_bytes_per_sync == 0 &&
         options.wal_compression == kNoCompression && options.recycle_log_file_num == 0 &&
         options.wal_recovery_mode == WALRecoveryMode::kPointInTimeRecovery;
}

// Appends one record and waits until it is in the file, for records that come before any write.
IOStatus Append(const std::string& record, wal::CommitLog* log) {
  wal::LogReservation place;
  VARVE_RETURN_IF_ERROR(log->Reserve(record.size(), &place));
  log->Fill(place, record);
  return log->WaitWhole(place);
}

}  // namespace

// Everything that earlier logs still owe comes first: records that are held back in memory, and
// durable names. Then the log is described under the mutex, made without it, and becomes the
// current one as the last step.
Status NewLogs::Start(bool force) {
  state_.mu.AssertHeld();
  if (!force && state_.logs->current_empty()) return Status::OK();
  {
    // A log that has failed cannot be flushed.
    DbUnlock unlock(&state_.mu);
    if (!state_.logs->current_failed()) VARVE_RETURN_IF_ERROR(state_.logs->FlushCurrent());
    // The names of earlier logs must be durable first: the new log's first record says where they
    // end.
    VARVE_RETURN_IF_ERROR(state_.logs->SyncNames());
  }
  const Wanted wanted = Describe(/*with_prepared=*/force);
  VARVE_ASSERT(wanted.number > state_.logs->CurrentEnd().number);
  VARVE_RETURN_IF_ERROR(MakeCurrent(wanted));
  current_stamped_ = !wanted.timestamp_sizes.empty();
  // The new log has all undecided transactions durably, so older logs need not stay for them.
  if (force) state_.prepared.MovedTo(wanted.number);
  return Status::OK();
}

// Files are made without the mutex. The caller keeps writers out, so the state described before is
// still the present one.
IOStatus NewLogs::MakeCurrent(const Wanted& wanted) {
  DbUnlock unlock(&state_.mu);
  std::unique_ptr<wal::CommitLog> log;
  const IOStatus made = Make(wanted, &log);
  if (!made.ok()) {
    // The file is closed before it is removed. A log that stayed would be taken for one that was in
    // use.
    log.reset();
    Remove(wanted);
    return made;
  }
  // A concurrent reader of the current log's number gets either number: a family without entries
  // needs neither log, and there are no writes.
  state_.logs->Switch(std::move(log), context_.wal_directory());
  return made;
}

// Takes the file number and the kept log for good, even if the log cannot be made.
NewLogs::Wanted NewLogs::Describe(bool with_prepared) {
  Wanted wanted;
  wanted.number = state_.versions->NewFileNumber();
  wanted.recycled = TakeKept();
  wanted.file = context_.LogFileOptions();
  wanted.file.strict_bytes_per_sync = options_.current()->strict_bytes_per_sync;
  wanted.writer = options_.LogWriterOptions();
  const LogSet::LogInfo before = state_.logs->CurrentEnd();
  if (before.number != 0) {
    LogSet::LogView view;
    // A log that this opening found may have lost its end in the crash before; the record says so.
    const bool found = state_.logs->View(before.number, &view) && view.recovered;
    wanted.first_record = MakePredecessorRecord(PredecessorLog{before.number, before.bytes, found},
                                                state_.versions->last_sequence() + 1);
  }
  if (with_prepared) {
    wanted.prepared = state_.prepared.MakeRecordsAgain(state_.versions->last_sequence() + 1);
  }
  for (const auto& [id, family] : state_.families.all()) {
    const size_t size = family->icmp().timestamp_size();
    if (size != 0 && stamps_) wanted.timestamp_sizes[id] = size;
  }
  // Set before the log is there, so that a closing that asks meanwhile does not miss it.
  stamped_ |= !wanted.timestamp_sizes.empty();
  return wanted;
}

bool NewLogs::Keep(uint64_t number) {
  if (kept_.size() >= context_.options().recycle_log_file_num) return false;
  kept_.push_back(number);
  return true;
}

uint64_t NewLogs::TakeKept() {
  if (kept_.empty()) return 0;
  const uint64_t number = kept_.front();
  kept_.pop_front();
  return number;
}

IOStatus NewLogs::MakeMapped(const Wanted& wanted, const std::string& path,
                             std::unique_ptr<wal::CommitLog>* log) {
  std::unique_ptr<MappedFile> file;
  IOStatus s = NewMappedFile(context_.fs().get(), path, wanted.file, &file);
  if (!s.ok()) return s;
  std::unique_ptr<wal::MappedLog> mapped;
  s = wal::MappedLog::Open(std::move(file), wanted.number, &mapped);
  if (s.ok()) *log = std::move(mapped);
  return s;
}

// The file of an obsolete log has its blocks already. If it is not available, a new file is used.
IOStatus NewLogs::MakeWritable(const Wanted& wanted, const std::string& path,
                               std::unique_ptr<FSWritableFile>* file) {
  if (wanted.recycled != 0) {
    const std::string old_path = LogFileName(context_.WalDirectory(), wanted.recycled);
    IOStatus s = context_.fs()->ReuseWritableFile(path, old_path, wanted.file, file, nullptr);
    if (s.ok()) return s;
    LogWarn(context_.info_log(), "could not reuse %s: %s", old_path.c_str(), s.ToString().c_str());
    // Otherwise it would stay until the next opening.
    context_.fs()->DeleteFile(old_path, IOOptions(), nullptr).PermitUncheckedError();
  }
  return context_.fs()->NewWritableFile(path, wanted.file, file, nullptr);
}

IOStatus NewLogs::MakeBuffered(const Wanted& wanted, const std::string& path,
                               std::unique_ptr<wal::CommitLog>* log) {
  std::unique_ptr<FSWritableFile> file;
  IOStatus s = MakeWritable(wanted, path, &file);
  if (!s.ok()) return s;
  auto writer = std::make_unique<WritableFileWriter>(std::move(file), path, wanted.writer);
  const wal::LogWriterOptions log_options{
      context_.options().manual_wal_flush,
      /*recyclable=*/context_.options().recycle_log_file_num > 0,
      context_.options().wal_compression};
  *log = std::make_unique<wal::BufferedLog>(
      std::make_unique<wal::LogWriter>(std::move(writer), wanted.number, log_options));
  return s;
}

// Creates the file and writes the first records, in the order of the drawing above. An error may
// leave the file behind (Remove).
IOStatus NewLogs::Make(const Wanted& wanted, std::unique_ptr<wal::CommitLog>* log) {
  const std::string path = LogFileName(context_.WalDirectory(), wanted.number);
  // If a mapped log is impossible, a plain file may still work.
  const bool mapped = WantsMapping(context_.options()) && MakeMapped(wanted, path, log).ok();
  IOStatus s = mapped ? IOStatus::OK() : MakeBuffered(wanted, path, log);
  if (s.ok() && !wanted.first_record.empty()) s = Append(wanted.first_record, log->get());
  for (const std::string& payload : wal::EncodeTimestampSizes(wanted.timestamp_sizes)) {
    if (s.ok()) s = (*log)->AddTimestampSizes(payload);
  }
  return s.ok() ? AddPrepared(wanted.prepared, log->get()) : s;
}

// Adds the prepared transactions durably: even if earlier logs are in doubt, a recovery will find
// these records.
IOStatus NewLogs::AddPrepared(const std::vector<std::string>& records, wal::CommitLog* log) {
  if (records.empty()) return IOStatus::OK();
  IOStatus s;
  for (const std::string& record : records) {
    if (s.ok()) s = Append(record, log);
  }
  if (s.ok()) s = log->Sync(context_.options().use_fsync);
  // The name is made durable as well: without it a recovery would not find the log.
  if (s.ok()) s = context_.wal_directory()->Fsync(IOOptions(), nullptr);
  return s;
}

void NewLogs::Remove(const Wanted& wanted) {
  for (uint64_t number : {wanted.number, wanted.recycled}) {
    if (number == 0) continue;
    context_.fs()
        ->DeleteFile(LogFileName(context_.WalDirectory(), number), IOOptions(), nullptr)
        .PermitUncheckedError();
  }
}

}  // namespace varve
