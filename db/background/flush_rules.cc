// SPDX-License-Identifier: Apache-2.0

// Decides which memtables are flushed, and why: full memtables, the limit of logs, the limit of
// memory.

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

// Applies the three rules in this order: full memtables, logs beyond their limit, memory beyond its
// limit.
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
  // Flushing a full memtable also releases logs and memory, so the other two rules are asked only
  // if no memtable is full.
  if (full.empty()) full = FamiliesOverLogLimit(reason);
  if (full.empty()) full = FamiliesOverMemoryLimit(reason);
  return full;
}

// Upper limit of what LogLimit counts as the capacity of all memtables, so that four times this
// does not overflow.
constexpr uint64_t kLargestCapacity = uint64_t{1} << 60;

// Returns max_total_wal_size if it is set. RocksDB's default, four times the capacity of all
// memtables, lets many idle families with little data keep many GiB of logs: here the default is
// also at most four times the current size of memtables, or the capacity of one family.
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

// Returns the families that need the oldest log, if all logs together exceed the limit. Skips
// families without unflushed data in it, and those whose data is being flushed.
std::vector<ColumnFamily*> FlushWork::FamiliesOverLogLimit(FlushReason* reason) {
  // With a single family, flushes of full memtables release the logs.
  if (dynamic_.current()->max_total_wal_size == 0 && state_.families.all().size() < 2) return {};
  if (state_.logs->total_bytes() <= LogLimit()) return {};
  const uint64_t current = state_.logs->current_number();
  // A family that needs no log is counted as one that needs the next log.
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

// A log may grow without memtable entries, through prepared transactions, their rollbacks, and log
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

// Returns true if the memtable has an eighth of the limit, or if active memtables have half of it.
// Otherwise, while iterators hold most of the memory, which no flush frees, tiny tables would be
// written again and again.
bool FlushWork::IsWorthATable(const MemTable& mem) const {
  const WriteBufferManager& memory = *context_.write_buffer_manager();
  const size_t limit = memory.buffer_size();
  return mem.data_bytes() >= limit / 8 || memory.mutable_memtable_memory_usage() >= limit / 2;
}

// Tries the cheapest way first: drop history that is in tables, then flush immutable memtables,
// then let a job switch the largest active one. Returns true if memory was freed or is being freed.
bool FlushWork::FreeMemory() {
  DbLock lock(&state_.mu);
  if (lifecycle_.shutting_down() || errors_.state().writes_stopped()) return false;
  if (TakeBackStrandedJobs(context_.env(), &freeing_memory_) > 0) freeing_memory_ = false;
  // Running flushes free memory soon, and more of them would only write smaller tables. While the
  // log is locked, a switch would wait for the thread that locked it.
  if (freeing_memory_ || Busy() || log_gate_.locking() || log_gate_.locked()) return true;
  // History is in tables already, so dropping it needs no I/O.
  const size_t before = context_.write_buffer_manager()->memory_usage();
  for (const auto& [id, family] : state_.families.all()) family->TrimHistory(/*all=*/true);
  if (context_.write_buffer_manager()->memory_usage() < before) return true;
  // Some immutable memtables may be waiting to be merged with more.
  std::vector<ColumnFamily*> waiting;
  for (const auto& [id, family] : state_.families.all()) {
    if (!family->immutables().empty()) waiting.push_back(family.get());
  }
  if (!waiting.empty()) {
    Request(waiting, FlushReason::kWriteBufferManager);
    return true;
  }
  const ColumnFamily* const largest = LargestActive();
  if (largest == nullptr || !IsWorthATable(*largest->mem())) return false;
  // The switch waits for writers of this database, which the calling thread must not do.
  Env* const env = context_.env();
  env->Schedule(&FlushWork::RunFreeMemory, this, PoolOfShortJobs(env), &freeing_memory_);
  freeing_memory_ = true;
  return true;
}

void FlushWork::RunFreeMemory(void* work) {
  static_cast<FlushWork*>(work)->SwitchLargest();
}

// Runs in a job, since the switch waits for writers. Afterwards the next request may schedule
// another job.
void FlushWork::SwitchLargest() {
  const ActiveWork active(ActiveWork::kFlush, &lifecycle_, "a flush");
  {
    const ExclusiveCommit exclusive(state_.commit.get());
    DbLock lock(&state_.mu);
    // The switch reports its own failure; after a failed allocation it will be requested again.
    const auto free = [&] {
      state_.mu.AssertHeld();
      ColumnFamily* const largest = LargestActive();
      // The state may have changed since the job was scheduled.
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
