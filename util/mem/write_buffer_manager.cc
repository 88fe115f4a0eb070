// SPDX-License-Identifier: Apache-2.0
// Implements the accounting of WriteBufferManager, its flush decision, and waiting for memory.

#include "varve/write_buffer_manager.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "util/mem/cache_charge.h"
#include "util/sync/fork_watch.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// The private part of a WriteBufferManager. It has two mutexes, because users_mu is held while
// users are called, who take their database's mutex, and memory is freed under such mutexes.
struct WriteBufferManagerRep final : private ForkWatch {
  explicit WriteBufferManagerRep(WriteBufferManager* of) : manager(of) { Watch(nullptr); }
  ~WriteBufferManagerRep() override { Forget(); }

  // The databases were the parent's, and so was the memory of their memtables: the child counts
  // anew.
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS {
    std::construct_at(&users_mu, lock_ranks::kMemoryUsers);
    std::construct_at(&users);
    std::construct_at(&waiting_mu, lock_ranks::kMemoryWaiters);
    std::construct_at(&changed, &waiting_mu);
    waiting.store(0, std::memory_order_relaxed);
    manager->memory_used_.store(0, std::memory_order_relaxed);
    manager->memory_active_.store(0, std::memory_order_relaxed);
    if (manager->charge_ != nullptr) manager->charge_->StartAnewInChild();
  }

  WriteBufferManager* const manager;
  Mutex users_mu{lock_ranks::kMemoryUsers};
  std::vector<WriteBufferUser*> users VARVE_GUARDED_BY(users_mu);
  Mutex waiting_mu{lock_ranks::kMemoryWaiters};
  CondVar changed{&waiting_mu};
  // Number of waiting threads. A waiter increments it before it looks at the limit again, and a
  // thread that frees memory adds zero after that. Both are read-modify-writes, so one comes first:
  // a waiter that comes second acquires what was freed, and a freeing thread that comes second sees
  // the waiter.
  std::atomic<int> waiting{0};
};

namespace {

// Subtracts at most what the sum holds: a child of fork() may release memtables of its parent,
// which it has not counted.
void SubtractWhatThereIs(std::atomic<size_t>* sum, size_t bytes) {
  size_t now = sum->load(std::memory_order_relaxed);
  while (!sum->compare_exchange_weak(now, now - std::min(now, bytes), std::memory_order_relaxed)) {
  }
}

}  // namespace

WriteBufferManager::WriteBufferManager(size_t buffer_size, std::shared_ptr<Cache> cache,
                                       bool allow_stall)
    : buffer_size_(buffer_size),
      allow_stall_(allow_stall),
      charge_(cache == nullptr
                  ? nullptr
                  : std::make_unique<CacheCharge>(std::move(cache), CacheEntryRole::kWriteBuffer)),
      rep_(std::make_unique<WriteBufferManagerRep>(this)) {}

WriteBufferManager::~WriteBufferManager() = default;

size_t WriteBufferManager::dummy_entries_in_cache_usage() const {
  return charge_ == nullptr ? 0 : charge_->charged();
}

bool WriteBufferManager::ShouldFlush() const {
  const size_t limit = buffer_size();
  if (limit == 0) return false;
  const size_t active = mutable_memtable_memory_usage();
  // A flush begins at seven eighths of the limit, as in RocksDB.
  if (active > limit - limit / 8) return true;
  // Above the limit another flush helps only if much memory is left that no flush has taken on.
  return memory_usage() >= limit && active >= limit / 2;
}

void WriteBufferManager::SetBufferSize(size_t new_size) {
  buffer_size_.store(new_size, std::memory_order_relaxed);
  NotifyWaiting();
}

void WriteBufferManager::SetAllowStall(bool new_allow_stall) {
  allow_stall_.store(new_allow_stall, std::memory_order_relaxed);
  NotifyWaiting();
}

void WriteBufferManager::ReserveMem(size_t mem) {
  memory_used_.fetch_add(mem, std::memory_order_relaxed);
  memory_active_.fetch_add(mem, std::memory_order_relaxed);
  if (charge_ != nullptr) charge_->Add(mem);
}

void WriteBufferManager::ScheduleFreeMem(size_t mem) {
  SubtractWhatThereIs(&memory_active_, mem);
}

void WriteBufferManager::FreeMem(size_t mem) {
  SubtractWhatThereIs(&memory_used_, mem);
  if (charge_ != nullptr) charge_->Subtract(mem);
  NotifyWaiting();
}

void WriteBufferManager::NotifyWaiting() {
  if (rep_->waiting.fetch_add(0, std::memory_order_acq_rel) == 0) return;
  MutexLock lock(&rep_->waiting_mu);
  rep_->changed.SignalAll();
}

void WriteBufferManager::Join(WriteBufferUser* user) {
  MutexLock lock(&rep_->users_mu);
  rep_->users.push_back(user);
}

void WriteBufferManager::Leave(WriteBufferUser* user) {
  MutexLock lock(&rep_->users_mu);
  std::vector<WriteBufferUser*>& users = rep_->users;
  users.erase(std::remove(users.begin(), users.end(), user), users.end());
}

bool WriteBufferManager::AskForMemory() {
  MutexLock lock(&rep_->users_mu);
  bool any = false;
  for (WriteBufferUser* user : rep_->users) any |= user->FreeMemory();
  return any;
}

void WriteBufferManager::WaitForChange(uint64_t micros) {
  rep_->waiting.fetch_add(1, std::memory_order_acq_rel);
  {
    MutexLock lock(&rep_->waiting_mu);
    if (ShouldStall()) rep_->changed.WaitFor(micros);
  }
  rep_->waiting.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace varve
