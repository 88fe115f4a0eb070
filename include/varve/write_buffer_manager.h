// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBufferManager: one limit for the memtable memory of several column families or databases.
//
// Every database that is given the same object reports what its memtables take and flushes when the
// sum asks for it. With allow_stall, writers wait at the limit until memory is freed.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "varve/cache.h"
#include "varve/export.h"

namespace varve {

class CacheCharge;
struct WriteBufferManagerRep;

// A database as the manager sees it. For the engine.
class WriteBufferUser {
 public:
  virtual ~WriteBufferUser() = default;
  // Starts a flush of what takes most, unless one is under way; waits for nothing. False when the
  // database has nothing that a flush would free.
  virtual bool FreeMemory() = 0;
};

// Thread safe. In a child of fork() it knows nothing of its parent's databases.
class VARVE_EXPORT WriteBufferManager final {
 public:
  // buffer_size: bytes; 0 means no limit.
  // cache: if given, memtable memory is also charged to it in steps of 256 KiB, which makes the
  //   cache shrink as memtables grow.
  // allow_stall: writers of all its databases wait while memtables take buffer_size or more and
  //   some flush can free memory, of whichever database: what iterators hold is no reason to wait,
  //   nor to flush memtables with hardly anything in them; a write with no_slowdown is Incomplete
  //   instead. Such waits are not in the statistics of write stalls.
  explicit WriteBufferManager(size_t buffer_size, std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false);
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;
  ~WriteBufferManager();

  // Whether there is a limit.
  bool enabled() const { return buffer_size() > 0; }

  // Whether memory is charged to a cache.
  bool cost_to_cache() const { return charge_ != nullptr; }

  // Whether writers wait at the limit.
  bool allow_stall() const { return allow_stall_.load(std::memory_order_relaxed); }

  // Bytes held by all memtables, those being flushed included.
  size_t memory_usage() const { return memory_used_.load(std::memory_order_relaxed); }

  // Bytes held by memtables that are still written to.
  size_t mutable_memtable_memory_usage() const {
    return memory_active_.load(std::memory_order_relaxed);
  }

  // Bytes charged to the cache now; 0 without one.
  size_t dummy_entries_in_cache_usage() const;

  size_t buffer_size() const { return buffer_size_.load(std::memory_order_relaxed); }

  // Takes effect for those that wait and, after each database's next write, for others; 0 lifts the
  // limit.
  void SetBufferSize(size_t new_size);
  void SetAllowStall(bool new_allow_stall);

  // Whether the writer should start a flush: 7/8 of the limit is in active memtables, or the limit
  // is reached and at least half of it is in memtables no flush has taken on yet.
  bool ShouldFlush() const;

  // Whether the limit asks writers to wait; false unless allow_stall.
  bool ShouldStall() const { return allow_stall() && enabled() && IsStallThresholdExceeded(); }
  bool IsStallThresholdExceeded() const { return memory_usage() >= buffer_size(); }

  // For the engine. A memtable took `mem` bytes.
  void ReserveMem(size_t mem);
  // For the engine. `mem` bytes became immutable and will be freed by a flush.
  void ScheduleFreeMem(size_t mem);
  // For the engine. `mem` bytes were freed.
  void FreeMem(size_t mem);
  // For the engine: a database comes (before its first write) and goes. Leave returns when no call
  // to the user is under way.
  void Join(WriteBufferUser* user);
  void Leave(WriteBufferUser* user);
  // For the engine: asks all users for memory. False when none of them can free any.
  bool AskForMemory();
  // For the engine: returns when memory was freed, a limit was changed, or after `micros`.
  void WaitForChange(uint64_t micros);

 private:
  friend struct WriteBufferManagerRep;

  void NotifyWaiting();

  std::atomic<size_t> buffer_size_;
  std::atomic<size_t> memory_used_{0};
  std::atomic<size_t> memory_active_{0};
  std::atomic<bool> allow_stall_;
  const std::unique_ptr<CacheCharge> charge_;  // null without a cache
  const std::unique_ptr<WriteBufferManagerRep> rep_;
};

}  // namespace varve
