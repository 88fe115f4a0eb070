// SPDX-License-Identifier: Apache-2.0

// Decides what is flushed, and why: full memtables, too large logs, memory.

#include <algorithm>
#include <vector>

#include "db/background/flush_work.h"
#include "db/background/short_jobs.h"
#include "util/base/caught_exception.h"

namespace varve {

bool FlushWork::AnythingFull() {
  FlushReason reason;
  return !FullFamilies(&reason).empty() || OnlyLogIsFull();
}

bool FlushWork::AnythingDue() {
  return AnythingFull() || std::ranges::any_of(state_.families.all(), [](const auto& each) {
           return each.second->ShouldLearnKeyPrefix();
         });
}

// Asks the three rules in turn: a memtable is full, the logs are too large, memory is short.
std::vector<ColumnFamily*> FlushWork::FullFamilies(FlushReason* reason) {
  state_.mu.AssertHeld();
  *reason = FlushReason::kMemtableMaxRangeDeletions;
  std::vector<ColumnFamily*> full;
  for (const auto& [id, family] : state_.families.all()) {
    const bool by_size = family->mem()->ShouldSwitch();
    if (!by_size && !family->TooManyRangeDeletions()) continue;
    full.push_back(family.get());
    if (by_size) *reason = FlushReason::kWriteBufferFull;
  }
  // A full memtable is flushed before others are for the sake of logs or memory: its flush helps
  // against both.
  if (full.empty()) full = FamiliesOverLogLimit(reason);
  if (full.empty()) full = FamiliesOverMemoryLimit(reason);
  return full;
}

// More than all memtables will ever take; four times this does not overflow.
constexpr uint64_t kLargestCapacity = uint64_t{1} << 60;

// Returns the bytes of all logs at which the families with the oldest log are flushed. RocksDB's
// default, four times what memtables may take, lets many idle families with little data keep logs
// of many GiB: here the limit is also at most four times what memtables do take, or one full
// family.
uint64_t FlushWork::LogLimit() const {
  if (dynamic_.current()->max_total_wal_size != 0) return dynamic_.current()->max_total_wal_size;
  uint64_t capacity = 0;
  uint64_t largest = 0;
  uint64_t held = 0;
  for (const auto& [id, family] : state_.families.all()) {
    const auto options = family->options();
    const auto buffers = static_cast<uint64_t>(std::max(options->max_write_buffer_number, 1));
    const uint64_t own =
        std::min<uint64_t>(options->write_buffer_size, kLargestCapacity / buffers) * buffers;
    capacity = std::min(capacity + own, kLargestCapacity);
    largest = std::max(largest, own);
    held += family->MemTableBytes();
  }
  return 4 * std::min(capacity, std::max(held, largest));
}

// Returns the families that keep the oldest log alive, if all logs together are too large. Skips
// families without unflushed data in it, and those whose data is being flushed.
std::vector<ColumnFamily*> FlushWork::FamiliesOverLogLimit(FlushReason* reason) {
  // The logs of a lone family go with its own full memtables.
  if (dynamic_.current()->max_total_wal_size == 0 && state_.families.all().size() < 2) return {};
  if (state_.logs->total_bytes() <= LogLimit()) return {};
  const uint64_t current = state_.logs->current_number();
  uint64_t oldest = current + 1;
  for (const auto& [id, family] : state_.families.all()) {
    oldest = std::min(oldest, family->OldestLogNeeded(current + 1));
  }
  // Logs that are not needed any more will be deleted soon.
  uint64_t needed = 0;
  for (const LogSet::LogInfo& log : state_.logs->List())
    needed += log.number < oldest ? 0 : log.bytes;
  if (needed <= LogLimit()) return {};
  std::vector<ColumnFamily*> result;
  for (const auto& [id, family] : state_.families.all()) {
    if (family->OldestLogNeeded(current + 1) > oldest) continue;
    if (family->flush_requested || family->flushes_running > 0) continue;
    if (!family->mem()->Empty() || !family->immutables().empty()) result.push_back(family.get());
  }
  if (!result.empty()) *reason = FlushReason::kWalFull;
  return result;
}

// A log may grow without memtable entries: by prepared transactions and their rollbacks, by log
// data.
bool FlushWork::OnlyLogIsFull() const {
  if (state_.logs->CurrentEnd().bytes <= LogLimit()) return false;
  for (const auto& [id, family] : state_.families.all()) {
    if (!family->mem()->Empty() || !family->immutables().empty()) return false;
  }
  return true;
}

ColumnFamily* FlushWork::LargestActive() const {
  ColumnFamily* largest = nullptr;
  for (const auto& [id, family] : state_.families.all()) {
    if (family->dropped() || family->mem()->Empty()) continue;
    if (largest == nullptr || family->mem()->MemoryUsage() > largest->mem()->MemoryUsage()) {
      largest = family.get();
    }
  }
  return largest;
}

// Returns the family with the largest active memtable, if all memtables together exceed their
// budget.
std::vector<ColumnFamily*> FlushWork::FamiliesOverMemoryLimit(FlushReason* reason) {
  if (!context_.write_buffer_manager()->ShouldFlush()) return {};
  ColumnFamily* const largest = LargestActive();
  if (largest == nullptr) return {};
  *reason = FlushReason::kWriteBufferManager;
  return {largest};
}

// True if a flush of the memtable is worth it. A tiny table frees what the next write takes again,
// which would repeat while iterators hold most of the memory, which no flush frees. A memtable is
// worth it from an eighth of the limit on, or always if half of the limit is in active memtables.
bool FlushWork::IsWorthATable(const MemTable& mem) const {
  const WriteBufferManager& memory = *context_.write_buffer_manager();
  const size_t limit = memory.buffer_size();
  return mem.data_bytes() >= limit / 8 || memory.mutable_memtable_memory_usage() >= limit / 2;
}

// Tries the cheapest way first: history that is in tables, then memtables that are immutable, then
// the largest active one, which a job has to switch. True if memory is being freed, or was.
bool FlushWork::FreeMemory() {
  DbLock lock(&state_.mu);
  if (lifecycle_.shutting_down() || errors_.state().writes_stopped()) return false;
  if (TakeBackStrandedJobs(context_.env(), &freeing_memory_) > 0) freeing_memory_ = false;
  // While the log is locked, a switch would wait for the thread that locked it.
  // Work under way frees memory soon; more of it would only make smaller tables.
  if (freeing_memory_ || Busy() || log_gate_.locking() || log_gate_.locked()) return true;
  // History goes first: it is in tables, nothing reads it, and nothing has to be written for that.
  const size_t before = context_.write_buffer_manager()->memory_usage();
  for (const auto& [id, family] : state_.families.all()) family->TrimHistory(/*all=*/true);
  if (context_.write_buffer_manager()->memory_usage() < before) return true;
  std::vector<ColumnFamily*> waiting;  // families that wait to be merged with more
  for (const auto& [id, family] : state_.families.all()) {
    if (!family->immutables().empty()) waiting.push_back(family.get());
  }
  if (!waiting.empty()) {
    Request(waiting, FlushReason::kWriteBufferManager);
    return true;
  }
  const ColumnFamily* const largest = LargestActive();
  if (largest == nullptr || !IsWorthATable(*largest->mem())) return false;
  // The switch waits for writers of this database, for which the asking thread must not wait.
  Env* const env = context_.env();
  env->Schedule(&FlushWork::RunFreeMemory, this, PoolOfShortJobs(env), &freeing_memory_);
  freeing_memory_ = true;
  return true;
}

void FlushWork::RunFreeMemory(void* work) {
  static_cast<FlushWork*>(work)->SwitchLargest();
}

// Runs in a job, since the switch waits for writers. Whatever comes of it, the job is over, and the
// next request may schedule another.
void FlushWork::SwitchLargest() {
  const ActiveWork active(ActiveWork::kFlush, &lifecycle_, "a flush");
  {
    const ExclusiveCommit exclusive(state_.commit.get());
    DbLock lock(&state_.mu);
    // The switch reports its own failure; if memory is out, it will be requested again.
    const auto free = [&] {
      state_.mu.AssertHeld();
      ColumnFamily* const largest = LargestActive();
      // The mutex was released since the job was given to the pool.
      if (largest == nullptr || !errors_.WriteRefusal().ok()) return Status::OK();
      return Switch({largest}, FlushReason::kWriteBufferManager);
    };
    Guarded(free).PermitUncheckedError();
  }
  DbLock lock(&state_.mu);
  stalls_.Tell();
  freeing_memory_ = false;
  state_.work.SignalAll();
}

}  // namespace varve
