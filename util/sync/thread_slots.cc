// SPDX-License-Identifier: Apache-2.0

// Each thread has a table of cells, made at its first use; an instance is the number of a cell in
// every table. A thread reaches its own cell through thread-local pointers, without a lock. All
// tables are in one list, youngest first, by which Scrape finds the cells of one instance and an
// exiting thread is removed.
//
// Invariants
// 1. A pointer in a cell belongs to the cell. The caller that exchanges it out owns it: the thread,
//    a scraper, or the thread's exit. So it is released once.
// 2. Cells do not move: a table grows by chunks. Only its thread adds a chunk, and frees the table
//    at its exit, after taking it off the list under the mutex.
// 3. Releasing calls the owner's function without the mutex, a limited number at a time, from an
//    array: it must work when memory is out.
// 4. An instance does not end while an exiting thread has one of its pointers (`leaving`): the
//    release may need what the instance's owner frees next.
// 5. Scrape visits each table that exists all the time once, by descending numbers, although the
//    list changes while it releases.

#include "util/sync/thread_slots.h"

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "util/sync/fork_watch.h"
#include "util/sync/futex.h"
#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

namespace {

// Cells are reached through two levels, so that a table grows without moving a cell that another
// thread may be scraping.
constexpr uint32_t kCellsPerChunk = 64;
constexpr uint32_t kChunks = 1024;
constexpr uint32_t kCells = kCellsPerChunk * kChunks;  // Further instances have none.

struct Chunk {
  // Swapped by the owning thread, emptied by scrapers; acquire/release transfers the pointee.
  std::array<std::atomic<void*>, kCellsPerChunk> cells{};
};

// The cells of one thread, of all instances.
struct ThreadTable {
  // Written by the owning thread only, with release, so that scrapers see initialised chunks.
  std::array<std::atomic<Chunk*>, kChunks> chunks{};
  uint64_t number = 0;  // Younger tables have larger numbers.
  ThreadTable* next = nullptr;
  ThreadTable* prev = nullptr;

  std::atomic<void*>* Find(uint32_t id) {
    if (id >= kCells) return nullptr;
    Chunk* chunk = chunks[id / kCellsPerChunk].load(std::memory_order_acquire);
    return chunk == nullptr ? nullptr : &chunk->cells[id % kCellsPerChunk];
  }
};

// One ThreadSlots, by its number.
struct Instance {
  void (*release)(void*) = nullptr;
  void* in_use = nullptr;
  int leaving = 0;  // Number of its pointers that exiting threads have taken, and not released yet.
};

// All tables and instances of the process. Never destroyed: threads may outlive static destructors.
// In a child of fork() the tables of the parent's other threads stay as they are: pointers in them
// are never released there.
struct Registry final : private ForkWatch {
  Registry() { Watch(&mu); }

  // No thread is exiting in the child, and none waits for that.
  void InChild() override VARVE_NO_THREAD_SAFETY_ANALYSIS {
    for (Instance& instance : instances) instance.leaving = 0;
    awaiting = 0;
  }

  Mutex mu{lock_ranks::kThreadSlots};
  ThreadTable* head VARVE_GUARDED_BY(mu) = nullptr;  // The youngest.
  uint64_t last_number VARVE_GUARDED_BY(mu) = 0;
  std::vector<Instance> instances VARVE_GUARDED_BY(mu);
  std::vector<uint32_t> free_ids VARVE_GUARDED_BY(mu);
  int awaiting VARVE_GUARDED_BY(mu) = 0;  // Number of instances that wait for the end of `leaving`.
  // The word they sleep on; changed under mu after each release by an exiting thread. A condition
  // variable with sleepers does not survive a fork().
  std::atomic<uint32_t> releases_ended{0};
};

Registry& TheRegistry() {
  static Registry* registry = new Registry;
  return *registry;
}

// Empties a cell and returns its pointer; null unless it must be released.
void* TakeCell(ThreadTable* table, uint32_t id, void* in_use) {
  std::atomic<void*>* cell = table->Find(id);
  if (cell == nullptr) return nullptr;
  void* p = cell->exchange(nullptr, std::memory_order_acq_rel);
  return p == in_use ? nullptr : p;
}

// Pointers taken out of cells, to be released without the registry's mutex: a limited number at a
// time, because their release must not fail for lack of memory.
class Taken {
 public:
  bool full() const { return count_ == entries_.size(); }
  bool empty() const { return count_ == 0; }
  void Add(uint32_t id, void (*release)(void*), void* p) { entries_[count_++] = {id, release, p}; }
  void ReleaseAll() {
    for (const Entry& entry : entries()) entry.release(entry.p);
    count_ = 0;
  }

  struct Entry {
    uint32_t id;  // The instance's.
    void (*release)(void*);
    void* p;
  };
  std::span<const Entry> entries() const { return {entries_.data(), count_}; }

 private:
  std::array<Entry, 64> entries_;
  size_t count_ = 0;
};

// Releases what an exiting thread took. Its instances stay until then: the thread that destroys one
// may free what the release needs.
void ReleaseLeftovers(Registry* registry, Taken* leftovers) VARVE_REQUIRES(registry->mu) {
  if (leftovers->empty()) return;
  const Taken counted = *leftovers;
  for (const Taken::Entry& entry : counted.entries()) registry->instances[entry.id].leaving++;
  {
    MutexUnlock unlock(&registry->mu);
    leftovers->ReleaseAll();
  }
  for (const Taken::Entry& entry : counted.entries()) registry->instances[entry.id].leaving--;
  if (registry->awaiting == 0) return;
  registry->releases_ended.fetch_add(1, std::memory_order_relaxed);
  FutexWakeAll(registry->releases_ended);
}

// Releases the pointers in the table of an exiting thread, and frees it.
void DestroyTable(ThreadTable* table) {
  Registry& registry = TheRegistry();
  Taken leftovers;
  MutexLock lock(&registry.mu);
  for (uint32_t id = 0; id < registry.instances.size() && id < kCells; id++) {
    const Instance& instance = registry.instances[id];
    if (instance.release == nullptr) continue;  // The number is free.
    if (void* p = TakeCell(table, id, instance.in_use)) leftovers.Add(id, instance.release, p);
    if (leftovers.full()) ReleaseLeftovers(&registry, &leftovers);
  }
  ReleaseLeftovers(&registry, &leftovers);
  if (table->prev != nullptr) table->prev->next = table->next;
  if (table->next != nullptr) table->next->prev = table->prev;
  if (registry.head == table) registry.head = table->next;
  lock.Unlock();
  for (auto& chunk : table->chunks) delete chunk.load(std::memory_order_relaxed);
  delete table;
}

// Frees the thread's table when the thread exits.
struct TableOwner {
  ThreadTable* table = nullptr;
  ~TableOwner();
};

// The plain pointer keeps the fast path free of the owner's initialisation guard.
thread_local ThreadTable* tls_table __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local TableOwner tls_owner;
// The cell of the last call: most calls are for the same one. Cells stay in place.
struct LastCell {
  uint32_t id = UINT32_MAX;
  std::atomic<void*>* cell = nullptr;
};
constinit thread_local LastCell tls_last __attribute__((tls_model("initial-exec")));

TableOwner::~TableOwner() {
  tls_table = nullptr;
  tls_last = {};
  if (table != nullptr) DestroyTable(table);
}

// Returns a cell that keeps nothing, for the instances that have none.
std::atomic<void*>& NoCell() {
  static constinit thread_local std::atomic<void*> none{nullptr};
  none.store(nullptr, std::memory_order_relaxed);
  return none;
}

// Returns the cell, after making the thread's table and the cell's chunk if they are missing.
// Throws std::bad_alloc. Requires id < kCells.
std::atomic<void*>& CellSlow(uint32_t id) {
  if (tls_table == nullptr) {
    auto* table = new ThreadTable;
    Registry& registry = TheRegistry();
    MutexLock lock(&registry.mu);
    table->number = ++registry.last_number;
    table->next = registry.head;
    if (registry.head != nullptr) registry.head->prev = table;
    registry.head = table;
    tls_table = table;
    tls_owner.table = table;
  }
  auto& slot = tls_table->chunks[id / kCellsPerChunk];
  if (slot.load(std::memory_order_relaxed) == nullptr) {
    slot.store(new Chunk, std::memory_order_release);
  }
  return *tls_table->Find(id);
}

// Returns the calling thread's cell of an instance.
std::atomic<void*>& Cell(uint32_t id) {
  if (tls_last.id == id) [[likely]]
    return *tls_last.cell;
  if (id >= kCells) [[unlikely]]
    return NoCell();
  std::atomic<void*>* cell = tls_table != nullptr ? tls_table->Find(id) : nullptr;
  if (cell == nullptr) cell = &CellSlow(id);
  tls_last = {id, cell};
  return *cell;
}

// Adds an instance and returns its number, the last one freed if there is one.
uint32_t Register(void (*release)(void*), void* in_use) {
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mu);
  uint32_t id;
  if (!registry.free_ids.empty()) {
    id = registry.free_ids.back();
    registry.free_ids.pop_back();
  } else {
    id = static_cast<uint32_t>(registry.instances.size());
    registry.instances.emplace_back();
    registry.free_ids.reserve(registry.instances.capacity());  // Returning an id cannot fail.
  }
  registry.instances[id] = Instance{release, in_use};
  return id;
}

}  // namespace

ThreadSlots::ThreadSlots(void (*release)(void*), void* in_use) : id_(Register(release, in_use)) {}

ThreadSlots::~ThreadSlots() {
  Scrape();
  Registry& registry = TheRegistry();
  MutexLock lock(&registry.mu);
  registry.awaiting++;
  while (registry.instances[id_].leaving > 0) {
    const uint32_t seen = registry.releases_ended.load(std::memory_order_relaxed);
    lock.Unlock();
    FutexWait(registry.releases_ended, seen);
    lock.Lock();
  }
  registry.awaiting--;
  registry.instances[id_] = Instance{};
  registry.free_ids.push_back(id_);
}

void* ThreadSlots::Exchange(void* desired) {
  return Cell(id_).exchange(desired, std::memory_order_acq_rel);
}

bool ThreadSlots::CompareExchange(void* expected, void* desired) {
  return Cell(id_).compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                           std::memory_order_relaxed);
}

void ThreadSlots::Scrape() noexcept {
  Registry& registry = TheRegistry();
  Taken taken;
  // Tables come and go while the mutex is free; the ones that exist all the time are each visited
  // once, however fast their threads refill the cells.
  uint64_t met = UINT64_MAX;
  bool more = true;
  while (more) {
    {
      MutexLock lock(&registry.mu);
      const Instance& instance = registry.instances[id_];
      ThreadTable* table = registry.head;
      while (table != nullptr && table->number >= met) table = table->next;
      for (; table != nullptr && !taken.full(); table = table->next) {
        met = table->number;
        if (void* p = TakeCell(table, id_, instance.in_use)) taken.Add(id_, instance.release, p);
      }
      more = table != nullptr;
    }
    taken.ReleaseAll();
  }
}

}  // namespace varve
