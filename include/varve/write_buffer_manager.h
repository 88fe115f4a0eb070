// SPDX-License-Identifier: Apache-2.0
#pragma once

// WriteBufferManager: one limit for the memtable memory of several column families or databases.
//
// Every database that is given the same object reports what its memtables take and flushes when the
// sum asks for it. Stopping writers at the limit (allow_stall) is not available: a database opened
// with such a manager fails with NotSupported.

#include <atomic>
#include <cstddef>
#include <memory>

#include "varve/cache.h"
#include "varve/export.h"

namespace varve {

class CacheCharge;

// Thread safe.
class VARVE_EXPORT WriteBufferManager final {
 public:
  // buffer_size: bytes; 0 means no limit.
  // cache: if given, memtable memory is also charged to it in steps of 256 KiB, which makes the
  //   cache shrink as memtables grow.
  // allow_stall: see above.
  explicit WriteBufferManager(size_t buffer_size, std::shared_ptr<Cache> cache = {},
                              bool allow_stall = false);
  WriteBufferManager(const WriteBufferManager&) = delete;
  WriteBufferManager& operator=(const WriteBufferManager&) = delete;
  ~WriteBufferManager();

  // Whether there is a limit.
  bool enabled() const { return buffer_size() > 0; }

  // Whether memory is charged to a cache.
  bool cost_to_cache() const { return charge_ != nullptr; }

  // Whether the caller asked for stalls; checked when a database opens.
  bool allow_stall() const { return allow_stall_; }

  // Bytes held by all memtables, those being flushed included.
  size_t memory_usage() const { return memory_used_.load(std::memory_order_relaxed); }

  // Bytes held by memtables that are still written to.
  size_t mutable_memtable_memory_usage() const {
    return memory_active_.load(std::memory_order_relaxed);
  }

  // Bytes charged to the cache now; 0 without one.
  size_t dummy_entries_in_cache_usage() const;

  size_t buffer_size() const { return buffer_size_.load(std::memory_order_relaxed); }

  // Takes effect with the next write; 0 lifts the limit.
  void SetBufferSize(size_t new_size) { buffer_size_.store(new_size, std::memory_order_relaxed); }

  // Whether the writer should start a flush: 7/8 of the limit is in active memtables, or the limit
  // is reached and at least half of it is in memtables no flush has taken on yet.
  bool ShouldFlush() const;

  // Whether writers would have to wait; false unless allow_stall.
  bool ShouldStall() const;
  bool IsStallThresholdExceeded() const { return memory_usage() >= buffer_size(); }

  // For the engine. A memtable took `mem` bytes.
  void ReserveMem(size_t mem);
  // For the engine. `mem` bytes became immutable and will be freed by a flush.
  void ScheduleFreeMem(size_t mem);
  // For the engine. `mem` bytes were freed.
  void FreeMem(size_t mem);

 private:
  std::atomic<size_t> buffer_size_;
  std::atomic<size_t> memory_used_{0};
  std::atomic<size_t> memory_active_{0};
  const bool allow_stall_;
  const std::unique_ptr<CacheCharge> charge_;  // null without a cache
};

}  // namespace varve
