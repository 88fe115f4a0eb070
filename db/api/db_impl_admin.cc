// SPDX-License-Identifier: Apache-2.0

// Implements maintenance: flushing, compacting, options, background work, file deletions.
//
// Changes of options are in force when the DB mutex is released. The OPTIONS file is written after
// that: a failure is reported, but undoes nothing (ChangedOptionsKept).

#include <chrono>
#include <limits>

#include "varve/cache.h"

#include "db/api/db_impl.h"
#include "db/background/jobs.h"
#include "db/observe/garbage.h"
#include "db/observe/metadata.h"
#include "db/recovery/families.h"
#include "db/recovery/sanitize.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/info_log.h"
#include "util/options/change_options.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

// True if the options differ in an age at which tables are compacted.
bool AgesDiffer(const ColumnFamilyOptions& a, const ColumnFamilyOptions& b) {
  return a.ttl != b.ttl || a.periodic_compaction_seconds != b.periodic_compaction_seconds ||
         a.bottommost_file_compaction_delay != b.bottommost_file_compaction_delay;
}

// Sets num_levels of *changed back to that of the open family, which cannot change. Returns
// InvalidArgument if its compaction style needs more levels than that.
Status KeepLevels(const ColumnFamilyOptions& current, ColumnFamilyOptions* changed) {
  if (changed->num_levels > current.num_levels) {
    return Status::InvalidArgument("ColumnFamilyOptions::compaction_style",
                                   "this one needs " + std::to_string(changed->num_levels) +
                                       " levels, and the open column family has " +
                                       std::to_string(current.num_levels) +
                                       "; open the database with more, by num_levels");
  }
  changed->num_levels = current.num_levels;
  return Status::OK();
}

// Logs the summary of the property varve.garbage: bytes of obsolete data.
void TellGarbage(Engine* engine, ColumnFamily* family, const char* when) {
  BestEffort([&] {
    LogInfo(engine->context.info_log(), "[%s] dead %s, estimated: %s", family->name().c_str(), when,
            GarbageSummary(GarbageOfFamily(&engine->state, family)).c_str());
  });
}

// Changes max_open_files of an open database. NotSupported if it was opened without a limit.
Status ChangeTableLimit(Engine* engine, int max_open_files) VARVE_REQUIRES(kDbMutex) {
  Engine& e = *engine;
  if (max_open_files == e.options.current()->max_open_files) return Status::OK();
  // Without a limit a file's metadata owns its reader, and readers take the pointer without a
  // reference count; so none of them could be closed later.
  if (e.context.limited_tables() == nullptr) {
    return Status::NotSupported(
        "SetDBOptions: max_open_files of a database that was opened without a limit");
  }
  // A negative number means no limit, for which a very large one stands.
  e.context.limited_tables()->SetCapacity(
      max_open_files < 0 ? std::numeric_limits<size_t>::max() / 2 : TablesFor(max_open_files));
  return Status::OK();
}

}  // namespace

Status DbImpl::Flush(const FlushOptions& options, ColumnFamilyHandle* handle) try {
  return Flush(options, std::vector<ColumnFamilyHandle*>{handle});
} catch (...) {
  return CaughtException();
}

Status DbImpl::Flush(const FlushOptions& options,
                     const std::vector<ColumnFamilyHandle*>& handles) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  std::vector<ColumnFamily*> families;
  if (s.ok()) s = ResolveAll(handles, &families);
  // The first dropped family decides the error; nothing has been flushed yet.
  for (const ColumnFamily* const family : families) {
    if (s.ok() && family->dropped()) s = Status::ColumnFamilyDropped("Flush", family->name());
  }
  if (!s.ok()) return s;
  // Without allow_write_stall the caller waits here, before its own memtables would count towards
  // the stall.
  if (!options.allow_write_stall) s = engine_->jobs->flush.WaitForRoom(families);
  if (!s.ok()) return s;
  return engine_->jobs->flush.FlushFamilies(families, options, FlushReason::kManualFlush);
} catch (...) {
  return CaughtException();
}

Status DbImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                            const Slice* begin, const Slice* end) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  // Raising full_history_ts_low cannot be undone, so everything that would refuse the compaction is
  // checked before.
  if (options.full_history_ts_low != nullptr) {
    s = engine_->jobs->compaction.CheckRange(family, options, begin, end);
    if (s.ok()) s = IncreaseFullHistoryTsLow(handle, options.full_history_ts_low->ToString());
    if (!s.ok()) return s;
  }
  // The LOG gets what was dead before and after, so that an operator sees what the call has freed.
  TellGarbage(engine_.get(), family, "before CompactRange");
  s = engine_->jobs->compaction.CompactRange(family, options, begin, end);
  TellGarbage(engine_.get(), family, "after CompactRange");
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::CompactFiles(const CompactionOptions& options, ColumnFamilyHandle* handle,
                            const std::vector<std::string>& input_file_names, int output_level,
                            int output_path_id, std::vector<std::string>* output_file_names,
                            CompactionJobInfo* info) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  return engine_->jobs->compaction.CompactFiles(family, options, input_file_names, output_level,
                                                output_path_id, output_file_names, info);
} catch (...) {
  return CaughtException();
}

Status DbImpl::SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin,
                                   const Slice* end) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family == nullptr ? s : engine_->jobs->compaction.SuggestRange(family, begin, end);
} catch (...) {
  return CaughtException();
}

Status DbImpl::DeleteFilesInRanges(ColumnFamilyHandle* handle, const RangePtr* ranges, size_t n,
                                   bool include_end) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  return engine_->jobs->compaction.DeleteFilesInRanges(family, ranges, n, include_end);
} catch (...) {
  return CaughtException();
}

Status DbImpl::WaitForCompact(const WaitForCompactOptions& options) try {
  // WaitForWork has left the database (OpenCall) when Close begins, which would wait for that.
  Status s = WaitForWork(options);
  return s.ok() && options.close_db ? Close() : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::WaitForWork(const WaitForCompactOptions& options) {
  Engine& e = *engine_;
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (s.ok()) {
    s = RefuseHeldUp("WaitForCompact", ActiveWork::kFlush | ActiveWork::kCompaction, &e.lifecycle);
  }
  if (!s.ok()) return s;
  // The flush comes first: it adds to L0, and so may make compactions due that are then waited for.
  if (options.flush) {
    s = e.jobs->flush.FlushAll(FlushOptions(), FlushReason::kManualFlush);
    if (!s.ok()) return s;
  }
  DbLock lock(&e.state.mu);
  // A timeout of 0 means that there is no limit.
  const uint64_t deadline =
      options.timeout.count() == 0
          ? UINT64_MAX
          : e.context.MonotonicMicros() + static_cast<uint64_t>(options.timeout.count());
  // After a failure the work makes no more progress.
  const auto failed = [&e] {
    e.state.mu.AssertHeld();
    return e.errors.state().severity() != ErrorState::Severity::kNone;
  };
  // Every round looks at everything again, because the wait releases the mutex. A round lasts 100
  // ms at most, whatever wakes it.
  while ((e.jobs->flush.Busy() || e.jobs->compaction.Busy()) && !failed()) {
    if (e.lifecycle.shutting_down()) {
      return Status::ShutdownInProgress("WaitForCompact: the database is being closed");
    }
    if (options.abort_on_pause && e.tree.paused() > 0) {
      return Status::Aborted("WaitForCompact: background work is paused");
    }
    const uint64_t now = e.context.MonotonicMicros();
    if (now >= deadline) return Status::TimedOut("WaitForCompact");
    e.state.work.AwaitWorkFor(std::min<uint64_t>(deadline - now, 100 * 1000));
  }
  // After a failure the database can be closed all the same.
  if (failed()) return options.close_db ? Status::OK() : e.errors.state().error();
  if (options.wait_for_purge) e.jobs->obsolete.Purge();
  return Status::OK();
}

Status DbImpl::ChangedOptionsKept() {
  return Status::CopyAppendMessage(engine_->jobs->options_keeper.Changed(), "; ",
                                   "the options have changed all the same, until the database is "
                                   "closed");
}

Status DbImpl::SetOptions(ColumnFamilyHandle* handle,
                          const std::unordered_map<std::string, std::string>& new_options) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  if (new_options.empty()) return Status::InvalidArgument("SetOptions: no option given");
  // The checks and the change are in one hold of the mutex. Two concurrent calls would otherwise
  // both start from the same options, and the later one would take the other's change back.
  bool ages_differ = false;
  {
    DbLock lock(&engine_->state.mu);
    // Changes apply to the options as they were set, and the derived ones are computed anew from
    // that: a value that was adapted to another option must not stick when that one changes.
    auto as_set = std::make_shared<ColumnFamilyOptions>();
    s = ChangeColumnFamilyOptions(*engine_->options.current(), *family->options_as_set(),
                                  new_options, as_set.get());
    if (s.ok()) s = CheckFamily(*engine_->options.current(), {family->name(), *as_set});
    if (!s.ok()) return s;
    auto changed = std::make_shared<ColumnFamilyOptions>(DeriveColumnFamilyOptions(*as_set));
    s = KeepLevels(*family->options(), changed.get());
    if (!s.ok()) return s;
    VARVE_ASSERT(changed->comparator == family->options()->comparator);
    ages_differ = AgesDiffer(*changed, *family->options());
    // New memtables, readers and jobs get the options from the family; the active memtable exists
    // already and is told of its new limit.
    family->mem()->SetWriteBufferBytes(changed->write_buffer_size);
    family->SetOptions(std::move(changed), std::move(as_set));
    // The super-version carries the options to readers. What may depend on them follows in this
    // order: whether writes stall, what listeners are told of that, and whether a compaction is
    // due.
    engine_->errors.InstallSuperVersion(family).PermitUncheckedError();
    engine_->stalls.Update();
    engine_->stalls.Tell();
    engine_->jobs->compaction.Schedule(family);
  }
  // By the new ages other tables may be due for compaction.
  if (ages_differ) engine_->jobs->periodic.Wake();
  return ChangedOptionsKept();
} catch (...) {
  return CaughtException();
}

Status DbImpl::SetDBOptions(const std::unordered_map<std::string, std::string>& new_options) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  if (new_options.empty()) return Status::InvalidArgument("SetDBOptions: no option given");
  Engine& e = *engine_;
  {
    DbLock lock(&e.state.mu);
    auto changed = std::make_shared<DBOptions>();
    s = ChangeDbOptions(*e.options.current(), new_options, changed.get());
    if (s.ok()) s = ChangeTableLimit(&e, changed->max_open_files);
    if (!s.ok()) return s;
    VARVE_ASSERT(changed->env == e.options.current()->env);
    // The pace of delayed writes is replaced only if its rate has changed: a new pacer forgets the
    // debt of the writes so far.
    const bool other_rate = changed->delayed_write_rate != e.options.current()->delayed_write_rate;
    e.options.Set(std::move(changed));
    if (other_rate) {
      e.stalls.SetRate(DeriveDbOptions(*e.options.current()).delayed_write_rate);
      e.stalls.Update();
      e.stalls.Tell();
    }
    // More jobs than before may be allowed now. The pools only grow, since other databases share
    // them.
    e.context.env()->IncBackgroundThreadsIfNeeded(e.options.MaxFlushes(), Env::Priority::HIGH);
    e.context.env()->IncBackgroundThreadsIfNeeded(e.options.MaxCompactions(), Env::Priority::LOW);
    e.jobs->flush.Schedule();
    e.jobs->compaction.ScheduleAll();
  }
  // The periodic thread sleeps by intervals that may have changed. It is woken without the mutex,
  // which it takes.
  e.jobs->periodic.Wake();
  return ChangedOptionsKept();
} catch (...) {
  return CaughtException();
}

Status DbImpl::PauseBackgroundWork() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  Engine& e = *engine_;
  // A callback of such work would wait for the end of the work that it was called from.
  constexpr uint32_t kWork = ActiveWork::kFlush | ActiveWork::kCompaction | ActiveWork::kRecovery;
  s = RefuseHeldUp("PauseBackgroundWork", kWork, &e.lifecycle);
  if (!s.ok()) return s;
  DbLock lock(&e.state.mu);
  // After Close has begun a pause would keep its flush from running.
  s = CheckOpen();
  if (!s.ok()) return s;
  // The pause is in force before the wait, so no new job begins while those that run end. Calls
  // that name files themselves are not paused (TreeAdmission::Kind::kAtOnce).
  e.tree.Pause();
  while (e.jobs->flush.running() > 0 || e.jobs->compaction.Working() > 0 ||
         e.errors.state().attempt_under_way()) {
    e.state.work.AwaitWork();
  }
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::ContinueBackgroundWork() try {
  const OpenCall call = EnterCall();
  if (Status s = CheckOpen(call); !s.ok()) return s;
  Engine& e = *engine_;
  DbLock lock(&e.state.mu);
  if (e.tree.paused() == 0) {
    return Status::InvalidArgument("ContinueBackgroundWork: background work is not paused");
  }
  e.tree.Continue();
  // Pauses are counted: only the last call lets work continue. What became due meanwhile was not
  // begun, so it is scheduled anew.
  if (e.tree.paused() == 0) {
    e.jobs->flush.Schedule();
    e.jobs->compaction.ScheduleAll();
  }
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& handles) try {
  for (ColumnFamilyHandle* handle : handles) VARVE_RETURN_IF_ERROR(CheckHandle(handle));
  // Every family is tried, even after one has failed; the last error is returned.
  Status result;
  for (ColumnFamilyHandle* handle : handles) {
    Status s = SetOptions(handle, {{"disable_auto_compactions", "false"}});
    if (!s.ok()) result = s;
  }
  return result;
} catch (...) {
  return CaughtException();
}

void DbImpl::DisableManualCompaction() {
  if (!engine_->context.read_only() && CheckNotForked().ok())
    engine_->jobs->compaction.DisableManual();
}

void DbImpl::EnableManualCompaction() {
  if (!engine_->context.read_only() && CheckNotForked().ok())
    engine_->jobs->compaction.EnableManual();
}

void DbImpl::CancelAllBackgroundWork(bool wait) {
  Engine& e = *engine_;
  if (e.context.read_only() || !CheckNotForked().ok()) return;
  // This is the first half of Close: jobs give up and writes are refused from here on, but reads
  // and the files stay. There is no way back except to close.
  e.lifecycle.ShutDown();
  e.context.LiftRateLimit();
  DbLock lock(&e.state.mu);
  VARVE_ASSERT(e.lifecycle.shutting_down());
  // Jobs that no thread has begun are withdrawn, as the threads belong to other databases, too, and
  // may never come to them.
  e.jobs->TakeBack();
  // Updates refuses_writes(), by which writes learn of the shutdown.
  e.errors.WriteRefusal().PermitUncheckedError();
  e.state.work.SignalAll();
  // A callback of background work does not wait, as that work ends only after the callback.
  if (ActiveWork::Find(ActiveWork::kAny, &e.lifecycle) != nullptr) return;
  while (wait && e.jobs->AnyLeft()) {
    e.state.work.AwaitWork();
  }
}

int DbImpl::NumberLevels(ColumnFamilyHandle* handle) {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family == nullptr ? 0 : family->options()->num_levels;
}

int DbImpl::Level0StopWriteTrigger(ColumnFamilyHandle* handle) {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  return family == nullptr ? 0 : family->options()->level0_stop_writes_trigger;
}

Options DbImpl::GetOptions(ColumnFamilyHandle* handle) const {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->state.Resolve(handle, &s) : nullptr;
  if (family == nullptr) return Options();
  return Options(GetDBOptions(), *family->options_as_set());
}

DBOptions DbImpl::GetDBOptions() const {
  if (!CheckNotForked().ok()) return engine_->context.options();
  DbLock lock(&engine_->state.mu);
  return *engine_->options.current();
}

Status DbImpl::DisableFileDeletions() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  DbLock lock(&engine_->state.mu);
  engine_->deletions.Disable();
  // From the return on files may be read by their names, and do not change.
  while (engine_->state.blob_holes.is_punching()) engine_->state.work.Wait();
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::EnableFileDeletions() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  DbLock lock(&engine_->state.mu);
  // Each call undoes one of DisableFileDeletions; the last one deletes what has become obsolete
  // meanwhile.
  if (engine_->deletions.Enable()) engine_->jobs->obsolete.Purge();
  return s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
