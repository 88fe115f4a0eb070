// SPDX-License-Identifier: Apache-2.0

// Maintenance: flushing, compacting, options, background work, file deletions.

#include <chrono>
#include <limits>

#include "varve/cache.h"

#include "db/api/db_impl.h"
#include "db/background/compaction_work.h"
#include "db/background/flush_work.h"
#include "db/background/obsolete_files.h"
#include "db/background/periodic_work.h"
#include "db/observe/garbage.h"
#include "db/observe/metadata.h"
#include "db/recovery/open.h"
#include "db/recovery/sanitize.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"
#include "util/options/change_options.h"
#include "util/options/validate_options.h"

namespace varve {

namespace {

bool AgesDiffer(const ColumnFamilyOptions& a, const ColumnFamilyOptions& b) {
  return a.ttl != b.ttl || a.periodic_compaction_seconds != b.periodic_compaction_seconds ||
         a.bottommost_file_compaction_delay != b.bottommost_file_compaction_delay;
}

// To the LOG: what the property varve.garbage says in sum.
void TellGarbage(Engine* engine, ColumnFamily* family, const char* when) {
  BestEffort([&] {
    LogInfo(engine->info_log.get(), "[%s] dead %s, estimated: %s", family->name().c_str(), when,
            GarbageSummary(GarbageOfFamily(engine, family)).c_str());
  });
}

// max_open_files of an open database. Readers that hang off their files cannot be limited later.
Status ChangeTableLimit(Engine* engine, int max_open_files) {
  Engine& e = *engine;
  if (max_open_files == e.dynamic->max_open_files) return Status::OK();
  if (e.limited_tables == nullptr) {
    return Status::NotSupported(
        "SetDBOptions: max_open_files of a database that was opened without a limit");
  }
  e.limited_tables->SetCapacity(max_open_files < 0 ? std::numeric_limits<size_t>::max() / 2
                                                   : TablesFor(max_open_files));
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
  if (!s.ok()) return s;
  if (!options.allow_write_stall) engine_->flush->WaitForRoom(families);
  return engine_->flush->FlushFamilies(families, options, FlushReason::kManualFlush);
} catch (...) {
  return CaughtException();
}

Status DbImpl::CompactRange(const CompactRangeOptions& options, ColumnFamilyHandle* handle,
                            const Slice* begin, const Slice* end) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  if (options.full_history_ts_low != nullptr) {
    s = engine_->compaction->CheckRange(family, options, begin, end);
    if (s.ok()) s = IncreaseFullHistoryTsLow(handle, options.full_history_ts_low->ToString());
    if (!s.ok()) return s;
  }
  TellGarbage(engine_.get(), family, "before CompactRange");
  s = engine_->compaction->CompactRange(family, options, begin, end);
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
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  if (output_path_id > 0) return Status::NotSupported("CompactFiles: output_path_id");
  return engine_->compaction->CompactFiles(family, options, input_file_names, output_level,
                                           output_file_names, info);
} catch (...) {
  return CaughtException();
}

Status DbImpl::SuggestCompactRange(ColumnFamilyHandle* handle, const Slice* begin,
                                   const Slice* end) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  return family == nullptr ? s : engine_->compaction->SuggestRange(family, begin, end);
} catch (...) {
  return CaughtException();
}

Status DbImpl::DeleteFilesInRanges(ColumnFamilyHandle* handle, const RangePtr* ranges, size_t n,
                                   bool include_end) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  return engine_->compaction->DeleteFilesInRanges(family, ranges, n, include_end);
} catch (...) {
  return CaughtException();
}

Status DbImpl::WaitForCompact(const WaitForCompactOptions& options) try {
  Status s = WaitForWork(options);
  return s.ok() && options.close_db ? Close() : s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::WaitForWork(const WaitForCompactOptions& options) {
  Engine& e = *engine_;
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  if (options.flush) {
    s = e.flush->FlushAll(FlushOptions(), FlushReason::kManualFlush);
    if (!s.ok()) return s;
  }
  MutexLock lock(&e.mu);
  const uint64_t deadline =
      options.timeout.count() == 0
          ? UINT64_MAX
          : e.MonotonicMicros() + static_cast<uint64_t>(options.timeout.count());
  while (e.flush->Busy() || e.compaction->Busy()) {
    if (e.shutting_down.load(std::memory_order_acquire)) {
      return Status::ShutdownInProgress("WaitForCompact: the database is being closed");
    }
    if (options.abort_on_pause && e.tree.paused() > 0) {
      return Status::Aborted("WaitForCompact: background work is paused");
    }
    if (e.errors.severity() != ErrorState::Severity::kNone) return e.errors.error();
    const uint64_t now = e.MonotonicMicros();
    if (now >= deadline) return Status::TimedOut("WaitForCompact");
    e.AwaitWorkFor(std::min<uint64_t>(deadline - now, 100 * 1000));
  }
  if (e.errors.severity() != ErrorState::Severity::kNone) return e.errors.error();
  if (options.wait_for_purge) e.obsolete->Purge();
  return Status::OK();
}

Status DbImpl::SetOptions(ColumnFamilyHandle* handle,
                          const std::unordered_map<std::string, std::string>& new_options) try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return s;
  if (new_options.empty()) return Status::InvalidArgument("SetOptions: no option given");
  bool ages_differ = false;
  {
    MutexLock lock(&engine_->mu);
    auto changed = std::make_shared<ColumnFamilyOptions>();
    s = ChangeColumnFamilyOptions(*engine_->dynamic, *family->options(), new_options,
                                  changed.get());
    if (!s.ok()) return s;
    *changed = DeriveColumnFamilyOptions(*changed);
    ages_differ = AgesDiffer(*changed, *family->options());
    family->mem()->SetWriteBufferBytes(changed->write_buffer_size);
    family->SetOptions(std::move(changed));
    engine_->ShowChange(family).PermitUncheckedError();
    engine_->UpdateStalls();
    engine_->compaction->Schedule(family);
  }
  if (ages_differ) engine_->periodic->Wake();  // what is too old now?
  return OptionsChanged(engine_.get());
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
    MutexLock lock(&e.mu);
    auto changed = std::make_shared<DBOptions>();
    s = ChangeDbOptions(*e.dynamic, new_options, changed.get());
    if (s.ok()) s = ChangeTableLimit(&e, changed->max_open_files);
    if (!s.ok()) return s;
    const bool other_rate = changed->delayed_write_rate != e.dynamic->delayed_write_rate;
    e.dynamic = std::move(changed);
    if (other_rate) {
      e.pacer = std::make_unique<DelayPacer>(DeriveDbOptions(*e.dynamic).delayed_write_rate);
      e.UpdateStalls();
    }
    e.env->IncBackgroundThreadsIfNeeded(e.MaxFlushes(), Env::Priority::HIGH);
    e.env->IncBackgroundThreadsIfNeeded(e.MaxCompactions(), Env::Priority::LOW);
    e.flush->Schedule();
    e.compaction->ScheduleAll();
  }
  e.periodic->Wake();
  return OptionsChanged(&e);
} catch (...) {
  return CaughtException();
}

Status DbImpl::PauseBackgroundWork() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  // A flush of Close must not be paused.
  s = CheckOpen();
  if (!s.ok()) return s;
  e.tree.Pause();
  while (e.flush->running() > 0 || e.compaction->Working() > 0) e.AwaitWork();
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::ContinueBackgroundWork() try {
  const OpenCall call = EnterCall();
  if (Status s = CheckOpen(call); !s.ok()) return s;
  Engine& e = *engine_;
  MutexLock lock(&e.mu);
  if (e.tree.paused() == 0) {
    return Status::InvalidArgument("ContinueBackgroundWork: background work is not paused");
  }
  e.tree.Continue();
  if (e.tree.paused() == 0) {
    e.flush->Schedule();
    e.compaction->ScheduleAll();
  }
  return Status::OK();
} catch (...) {
  return CaughtException();
}

Status DbImpl::EnableAutoCompaction(const std::vector<ColumnFamilyHandle*>& handles) try {
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
  if (!engine_->read_only && CheckNotForked().ok()) engine_->compaction->DisableManual();
}

void DbImpl::EnableManualCompaction() {
  if (!engine_->read_only && CheckNotForked().ok()) engine_->compaction->EnableManual();
}

void DbImpl::CancelAllBackgroundWork(bool wait) {
  Engine& e = *engine_;
  if (e.read_only || !CheckNotForked().ok()) return;
  e.shutting_down.store(true, std::memory_order_release);
  MutexLock lock(&e.mu);
  e.TakeBackJobs();
  e.WriteRefusal().PermitUncheckedError();
  e.background_changed.SignalAll();
  while (wait && (e.flush->scheduled() > 0 || e.compaction->Running() > 0)) {
    e.AwaitWork();
  }
}

int DbImpl::NumberLevels(ColumnFamilyHandle* handle) {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  return family == nullptr ? 0 : family->options()->num_levels;
}

int DbImpl::Level0StopWriteTrigger(ColumnFamilyHandle* handle) {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  return family == nullptr ? 0 : family->options()->level0_stop_writes_trigger;
}

Options DbImpl::GetOptions(ColumnFamilyHandle* handle) const {
  Status s = CheckNotForked();
  ColumnFamily* family = s.ok() ? engine_->Resolve(handle, &s) : nullptr;
  if (family == nullptr) return Options();
  return Options(GetDBOptions(), *family->options());
}

DBOptions DbImpl::GetDBOptions() const {
  if (!CheckNotForked().ok()) return engine_->options;
  MutexLock lock(&engine_->mu);
  return *engine_->dynamic;
}

Status DbImpl::DisableFileDeletions() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  MutexLock lock(&engine_->mu);
  engine_->file_deletions_disabled++;
  return s;
} catch (...) {
  return CaughtException();
}

Status DbImpl::EnableFileDeletions() try {
  const OpenCall call = EnterCall();
  Status s = CheckWritable(call);
  if (!s.ok()) return s;
  MutexLock lock(&engine_->mu);
  if (engine_->file_deletions_disabled > 0 && --engine_->file_deletions_disabled == 0) {
    engine_->obsolete->Purge();
  }
  return s;
} catch (...) {
  return CaughtException();
}

}  // namespace varve
