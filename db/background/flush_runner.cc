// SPDX-License-Identifier: Apache-2.0

// A flush job has these steps. RunFlush, which takes nearly all the time, runs without the DB
// mutex:
//
//     PickAll       chooses immutable memtables of each family, and marks them as picked
//     FillFlushInput, NextJobId: everything that the job needs is copied under the mutex
//     RunFlush      writes one table for each family
//     WaitForOlder  lets jobs with older memtables of the same family go first
//     Install       one edit of the MANIFEST for all families, then the memtables are dropped
//
// Order
// 1. If there are several families or prepared transactions, older logs are synced before a table
//    with data of them is installed: a table is durable, and after a power loss a batch over two
//    families must not be recovered in part.
// 2. The MANIFEST is written first, then memtables leave memory, and then readers get the new
//    SuperVersion. Between the two last steps readers use the old one, which still has the
//    memtables.
// 3. Obsolete logs are deleted after listeners were notified; a caller that waits for the flush
//    returns after that.

#include "db/background/flush_runner.h"

#include <algorithm>
#include <utility>

#include "db/background/new_tables.h"
#include "db/compaction/blob_output.h"
#include "db/engine/events.h"
#include "db/engine/output_options.h"
#include "db/version/blob_source.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/base/status_macros.h"
#include "util/env/thread_registry.h"
#include "util/metrics/statistics.h"

namespace varve {

FlushRunner::FlushRunner(const Parts& parts)
    : context_(parts.context),
      dynamic_(parts.dynamic),
      state_(parts.state),
      lifecycle_(parts.lifecycle),
      errors_(parts.errors),
      stalls_(parts.stalls),
      statistics_(parts.statistics),
      purger_(parts.purger),
      requester_(parts.requester),
      reports_(parts.context, &parts.state.mu),
      order_changed_(&parts.state.mu) {}

// If anything fails after PickAll, counts are restored and memtables are unpicked before anything
// else that may fail. The steps after that are for a job whose tables are installed: they free
// memory, notify listeners, delete obsolete files, and open the new tables, in the order in which
// others wait for them. Callers may wait for the job whichever thread runs it
// (FlushWork::FlushNow), so they are woken here.
Status FlushRunner::Run(const FlushJob& job, Extent extent) {
  const ActiveWork active(ActiveWork::kFlush, &lifecycle_, "a flush");
  std::vector<FamilyFlush> flushes;
  Status s = PickAll(job, extent, &flushes);
  if (flushes.empty()) return s;
  bool in_order = false;
  if (s.ok()) {
    s = Guarded([&] {
      state_.mu.AssertHeld();
      return RunPicked(job, &flushes, &in_order);
    });
  }
  const bool in_force = s.ok() && in_order;
  // CleanUp releases the mutex, so it comes before Unpick: from Unpick on the mutex is held until
  // the caller reports the failure (invariant 3 in the header).
  if (!in_force) {
    BestEffort([&] {
      state_.mu.AssertHeld();
      CleanUp(flushes, s);
    });
  }
  for (FamilyFlush& flush : flushes) {
    VARVE_ASSERT(flush.family->flushes_running > 0);
    flush.family->flushes_running--;
    Unpick(flush);
  }
  order_changed_.SignalAll();
  // A later job or error recovery picks the memtables again.
  if (!in_force) {
    state_.work.SignalAll();
    return s;
  }
  for (FamilyFlush& flush : flushes) compaction_->Schedule(flush.family.get());
  RemoveOutputs(flushes);
  stalls_.Tell();
  {
    DbUnlock unlock(&state_.mu);
    // These are usually the last references, so the memory is freed here, without the mutex and
    // before listeners are called.
    for (FamilyFlush& flush : flushes) flush.input.memtables.clear();
    for (FamilyFlush& flush : flushes) reports_.End(flush, job.reason);
  }
  // Callers that wait for the flush expect that its log is deleted.
  BestEffort([this] {
    state_.mu.AssertHeld();
    purger_.Purge();
  });
  for (FamilyFlush& flush : flushes) {
    if (flush.result.wrote_file) {
      OpenNewTables(&state_.mu, flush.family.get(), {flush.result.file});
    }
  }
  state_.work.SignalAll();
  return s;
}

// Copies everything that the flushes need without the mutex. Another job is requested for memtables
// that are not picked.
Status FlushRunner::PickAll(const FlushJob& job, Extent extent, std::vector<FamilyFlush>* flushes) {
  try {
    flushes->reserve(job.families.size());
    for (const auto& family : job.families) {
      // Cleared before picking: memtables that become immutable later need a new request.
      family->flush_requested = false;
      if (family->dropped()) continue;
      FamilyFlush& flush = flushes->emplace_back();
      flush.family = family;
      family->flushes_running++;
      if (!Pick(family.get(), extent, &flush.input)) {
        family->flushes_running--;
        flushes->pop_back();
        continue;
      }
      FillFlushInput(context_, dynamic_, &state_, *family, TableFileCreationReason::kFlush,
                     family->shape().base_level, &flush.input);
      VARVE_ASSERT(flush.input.build.file_number != 0);
      flush.filling = {family->shared_mem(), family->options()->write_buffer_size,
                       family->options()->max_write_buffer_number - family->unflushed_count()};
      flush.job_id = state_.NextJobId();
      flush.input.new_blob_file_number = [versions = state_.versions.get()] {
        return versions->NewFileNumber();
      };
      if (flush.input.options->prepopulate_blob_cache == PrepopulateBlobCache::kFlushOnly) {
        flush.input.blob_cache = family->table_cache()->blobs().cache();
      }
      flush.input.output.on_create = events::TableFileCreationStarted(
          context_, family->name(), flush.job_id, TableFileCreationReason::kFlush);
      flush.input.output.on_create_blobs = events::BlobFileCreationStarted(
          context_, family->name(), flush.job_id, BlobFileCreationReason::kFlush);
      requester_.RequestRest(family.get(), job.reason);
    }
  } catch (...) {
    // With the flag set, families that were not reached could not be requested again.
    for (const auto& family : job.families) family->flush_requested = false;
    return CaughtException();
  }
  return Status::OK();
}

// A piece has as many memtables as min_write_buffer_number_to_merge requires, and more small ones
// up to the size of a full one. So if many wait, room for writers is made table by table, and other
// jobs can flush the rest in parallel.
bool FlushRunner::Pick(ColumnFamily* family, Extent extent, FlushInput* input) {
  const auto options = family->options();
  const auto least = static_cast<size_t>(std::max(1, options->min_write_buffer_number_to_merge));
  size_t bytes = 0;
  for (ImmutableMemTable& imm : family->immutables()) {
    if (imm.picked && input->memtables.empty()) continue;
    if (imm.picked) break;  // the earlier ones are of a flush that failed
    bytes += imm.mem->MemoryUsage();
    const bool enough = input->memtables.size() >= least && bytes > options->write_buffer_size;
    if (extent == Extent::kPiece && enough) break;
    input->memtables.push_back(imm.mem);
    imm.picked = true;
    // Tables that are being ingested are newer than this memtable, and older than the next one.
    if (imm.ends_table > 0) break;
  }
  return !input->memtables.empty();
}

void FlushRunner::Unpick(const FamilyFlush& flush) {
  for (ImmutableMemTable& imm : flush.family->immutables()) {
    if (std::ranges::find(flush.input.memtables, imm.mem) != flush.input.memtables.end()) {
      imm.picked = false;
    }
  }
}

FlushPace FlushRunner::PaceOf(std::vector<FamilyFlush>* flushes) const {
  std::vector<FillingMemTable> filling;
  uint64_t entries = 0;
  for (FamilyFlush& flush : *flushes) {
    filling.push_back(std::move(flush.filling));
    for (const auto& mem : flush.input.memtables) entries += mem->entry_count();
  }
  return FlushPace(context_, lifecycle_, state_.work, std::move(filling), entries);
}

// Writes the tables without the mutex, syncs the logs if necessary, and waits for older jobs of the
// same families, before the installation.
Status FlushRunner::RunPicked(const FlushJob& job, std::vector<FamilyFlush>* flushes,
                              bool* in_order) {
  if (context_.options().atomic_flush) reports_.CountAtomicJob(job.reason);
  {
    DbUnlock unlock(&state_.mu);
    FlushPace pace = PaceOf(flushes);
    const bool gives_way = context_.options().background_gives_way && !job.IsWaitedFor();
    const GiveWay at_pace(gives_way ? &pace : nullptr);
    for (FamilyFlush& flush : *flushes) {
      ListedOperation listed(context_.options().enable_thread_tracking, ThreadStatus::OP_FLUSH,
                             context_.given_name(), flush.family->name());
      listed.Enter(ThreadStatus::STAGE_FLUSH_WRITE_L0);
      listed.Set(ThreadStatus::FLUSH_JOB_ID, static_cast<uint64_t>(flush.job_id));
      listed.Set(ThreadStatus::FLUSH_BYTES_MEMTABLES, flush.PayloadBytes());
      reports_.Begin(flush, job.reason);
      const uint64_t began = context_.MonotonicMicros();
      StopWatch watch(context_.clock(), context_.statistics(), FLUSH_TIME);
      VARVE_PROBE_FLUSH_BEGIN(flush.family->name().c_str(), flush.job_id,
                              flush.input.memtables.size(), job.reason);
      Status written = RunFlush(flush.input, &flush.result);
      VARVE_PROBE_FLUSH_END(flush.family->name().c_str(), flush.job_id, flush.result.file.size,
                            written);
      if (!written.ok()) return written;
      flush.micros = context_.MonotonicMicros() - began;
      listed.Set(ThreadStatus::FLUSH_BYTES_WRITTEN, flush.result.file.size);
      reports_.Written(flush, job.reason);
    }
    statistics_.CountPauses(pace);
  }
  // Once one family's part of a batch is in a table, the other families' parts must not be lost
  // with an unsynced log, or after a power loss the families would be of different moments. The
  // same holds for the decision about a prepared transaction, which would otherwise be undecided
  // again. Error recovery, whose logs may be damaged, flushes all families in one job instead.
  const bool needs_synced_logs = state_.families.all().size() > 1 || state_.prepared.InUse();
  if (needs_synced_logs && job.reason != FlushReason::kErrorRecovery) {
    DbUnlock unlock(&state_.mu);
    // The number is read before the sync, which covers all logs below it, but none that is begun
    // meanwhile.
    const uint64_t current = state_.logs->current_number();
    const ActiveWork log(ActiveWork::kLog, state_.commit.get(), "the log,");
    VARVE_RETURN_IF_ERROR(state_.logs->SyncClosed());
    state_.prepared.NoteDurable(current);
  }
  *in_order = WaitForOlder(*flushes);
  return *in_order ? Install(flushes, job.reason) : Status::OK();
}

// A failure of an older flush is reported by its own job.
bool FlushRunner::WaitForOlder(const std::vector<FamilyFlush>& flushes) {
  for (const FamilyFlush& flush : flushes) {
    ColumnFamily& family = *flush.family;
    const std::shared_ptr<MemTable>& own = flush.input.memtables.front();
    VARVE_ASSERT(family.dropped() || !family.immutables().empty());
    while (!family.dropped() && family.immutables().front().mem != own) {
      if (!family.immutables().front().picked) return false;
      order_changed_.Wait();
    }
  }
  return true;
}

// Only LogAndApply can fail, and nothing is changed before it returns. It releases the mutex while
// it writes, so families may have been dropped meanwhile.
Status FlushRunner::Install(std::vector<FamilyFlush>* flushes, FlushReason reason) {
  std::vector<FamilyEdit> edits;
  std::vector<VersionEdit> of_empty;
  for (FamilyFlush& flush : *flushes) {
    flush.edit.column_family = flush.family->id();
    // All data of this family in logs below this one is in this job's memtables, or in older ones
    // that are in tables already (WaitForOlder).
    flush.edit.log_number = flush.input.memtables.back()->next_log_number();
    VARVE_ASSERT(flush.edit.log_number != 0);
    flush.edit.numbers.prev_log = 0;  // there is no second log, as LevelDB had
    if (flush.result.wrote_file) {
      flush.result.file.epoch_number = EpochOf(flush);
      flush.edit.new_files.push_back(flush.result.file);
    }
    flush.edit.new_blob_files = flush.result.blob_files;
    if (!flush.result.full_history_ts_low.empty()) {
      flush.edit.family.full_history_ts_low = flush.result.full_history_ts_low;
    }
    if (flush.family->dropped()) continue;
    edits.push_back(FamilyEdit{flush.family->versions(), {&flush.edit}});
  }
  if (reason == FlushReason::kErrorRecovery) AddEmptyFamilies(&of_empty, &edits);
  // All families were dropped; their tables are removed by RemoveOutputs.
  if (edits.empty()) return Status::OK();
  VARVE_RETURN_IF_ERROR(state_.versions->LogAndApply(std::move(edits), context_.directory()));
  for (FamilyFlush& flush : *flushes) {
    if (flush.family->dropped()) continue;
    flush.in_force = true;
    VARVE_ASSERT(flush.family->immutables().front().mem == flush.input.memtables.front());
    flush.family->DropFlushed(flush.input.memtables.size());
    flush.family->work.CountFlush(flush.result.file.size, BytesOf(flush.result.blob_files),
                                  flush.micros);
    if (flush.result.wrote_file) {
      context_.NoteTable(flush.family->table_paths(), flush.result.file);
    }
    for (const NewFile& blobs : AsDataFiles(flush.result.blob_files)) {
      context_.NoteTable(flush.family->table_paths(), blobs);
    }
  }
  // A second loop, since reporting an error may release the mutex.
  for (const FamilyFlush& flush : *flushes) {
    if (flush.in_force) errors_.InstallSuperVersion(flush.family.get()).PermitUncheckedError();
  }
  if (state_.prepared.InUse()) state_.prepared.Prune(state_.versions->FamilyLogs());
  order_changed_.SignalAll();
  stalls_.Update();
  return Status::OK();
}

// Returns the epoch of its newest memtable, unless the family is dropped.
uint64_t FlushRunner::EpochOf(const FamilyFlush& flush) {
  const auto& newest = flush.input.memtables.back();
  const auto& immutables = flush.family->immutables();
  const auto imm = std::ranges::find(immutables, newest, &ImmutableMemTable::mem);
  return imm == immutables.end() ? kUnknownEpochNumber : imm->epoch_number;
}

void FlushRunner::AddEmptyFamilies(std::vector<VersionEdit>* edits,
                                   std::vector<FamilyEdit>* changes) const {
  edits->resize(state_.families.all().size());  // the addresses must not change
  size_t i = 0;
  for (const auto& [id, family] : state_.families.all()) {
    if (family->dropped() || !family->mem()->Empty() || !family->immutables().empty()) continue;
    VersionEdit& edit = (*edits)[i++];
    edit.column_family = id;
    edit.log_number = state_.logs->current_number();
    changes->push_back(FamilyEdit{family->versions(), {&edit}});
  }
}

void FlushRunner::CleanUp(const std::vector<FamilyFlush>& flushes, const Status& s) {
  RemoveOutputs(flushes);
  DbUnlock unlock(&state_.mu);
  reports_.Failed(s);
}

// Handles tables that are not in the MANIFEST because the job failed or the family was dropped.
void FlushRunner::RemoveOutputs(const std::vector<FamilyFlush>& flushes) {
  for (const FamilyFlush& flush : flushes) {
    if (!flush.result.wrote_file || flush.in_force) continue;
    DeleteNewTables(context_, &state_, *flush.family, flush.job_id, {flush.result.file});
    DeleteNewTables(context_, &state_, *flush.family, flush.job_id,
                    AsDataFiles(flush.result.blob_files));
  }
}

}  // namespace varve
