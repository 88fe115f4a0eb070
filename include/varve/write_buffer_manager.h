// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBufferManager limits the memtable memory of several column families or databases.
//
// Every database with the same object reports the memory of its memtables and flushes when their
// total requires it. With allow_stall, writers wait at the limit until memory is freed.
//
//   auto memory = std::make_shared<varve::WriteBufferManager>(size_t{1} << 30, cache);
//   first_options.write_buffer_manager = memory;
//   second_options.write_buffer_manager = memory;

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "varve/cache.h"
#include "varve/export.h"

namespace varve {

class CacheCharge;
struct WriteBufferManagerRep;

// A database as the manager sees it. The engine implements it; programs have no use for it.
class WriteBufferUser {
 public:
  virtual ~WriteBufferUser() = default;
  // Starts a flush of the largest memtables, unless one is running; does not wait. Returns false if
  // no flush of the database would free memory.
  virtual bool FreeMemory() = 0;
};

// Limits the memory of memtables of all databases that share it. Thread-safe. In a child of fork()
// the databases of the parent no longer take part.
class VARVE_EXPORT WriteBufferManager final {
 public:
  // buffer_size: bytes; 0 means no limit.
  // cache: if given, memtable memory is also charged to it in steps of 256 KiB, so that the cache
  //   shrinks as memtables grow.
  // allow_stall: writers of all its databases wait while memtables have buffer_size bytes or more
  //   and a flush of any database can free memory; memory held by iterators does not make them
  //   wait, and almost empty memtables are not flushed. A write with no_slowdown returns Incomplete
  //   instead. Statistics of write stalls do not include such waits.
  explicit WriteBufferManager(size_t buffer_size, std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false);
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;
  ~WriteBufferManager();

  // True if there is a limit.
  bool enabled() const { return buffer_size() > 0; }

  // True if memory is charged to a cache.
  bool cost_to_cache() const { return charge_ != nullptr; }

  // True if writers wait at the limit.
  bool allow_stall() const { return allow_stall_.load(std::memory_order_relaxed); }

  // Returns the bytes of all memtables, including those being flushed.
  size_t memory_usage() const { return memory_used_.load(std::memory_order_relaxed); }

  // Returns the bytes of mutable memtables.
  size_t mutable_memtable_memory_usage() const {
    return memory_active_.load(std::memory_order_relaxed);
  }

  // Returns the bytes now charged to the cache; 0 without one.
  size_t dummy_entries_in_cache_usage() const;

  size_t buffer_size() const { return buffer_size_.load(std::memory_order_relaxed); }

  // Take effect at once for waiting writers and, after each database's next write, for others; 0
  // removes the limit.
  void SetBufferSize(size_t new_size);
  void SetAllowStall(bool new_allow_stall);

  // True if a writer should start a flush: mutable memtables have more than 7/8 of the limit, or
  // the limit is reached and at least half of it is in mutable memtables.
  bool ShouldFlush() const;

  // True if writers should wait; false unless allow_stall.
  bool ShouldStall() const { return allow_stall() && enabled() && IsStallThresholdExceeded(); }
  bool IsStallThresholdExceeded() const { return memory_usage() >= buffer_size(); }

  // Called by the engine. Reports that a memtable allocated `mem` bytes.
  void ReserveMem(size_t mem);
  // Called by the engine. Reports that `mem` bytes became immutable and will be freed by a flush.
  void ScheduleFreeMem(size_t mem);
  // Called by the engine. Reports that `mem` bytes were freed.
  void FreeMem(size_t mem);
  // Called by the engine. Registers a database (before its first write) and removes it. Leave
  // returns when no call to the user is running.
  void Join(WriteBufferUser* user);
  void Leave(WriteBufferUser* user);
  // Called by the engine. Asks all users for memory. Returns false if none can free any.
  bool AskForMemory();
  // Called by the engine. Returns when memory was freed, a limit was changed, or after `micros`
  // microseconds.
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
