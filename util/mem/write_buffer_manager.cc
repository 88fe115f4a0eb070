// SPDX-License-Identifier: Apache-2.0
// Accounting and flush decision of WriteBufferManager.

#include "varve/write_buffer_manager.h"

#include <utility>

#include "util/mem/cache_charge.h"

namespace varve {

WriteBufferManager::WriteBufferManager(size_t buffer_size, std::shared_ptr<Cache> cache,
                                       bool allow_stall)
    : buffer_size_(buffer_size),
      allow_stall_(allow_stall),
      charge_(cache == nullptr
                  ? nullptr
                  : std::make_unique<CacheCharge>(std::move(cache), CacheEntryRole::kWriteBuffer)) {
}

WriteBufferManager::~WriteBufferManager() = default;

size_t WriteBufferManager::dummy_entries_in_cache_usage() const {
  return charge_ == nullptr ? 0 : charge_->charged();
}

bool WriteBufferManager::ShouldFlush() const {
  const size_t limit = buffer_size();
  if (limit == 0) return false;
  const size_t active = mutable_memtable_memory_usage();
  if (active > limit - limit / 8) return true;
  // Above the limit another flush helps only if there is much left that no flush has taken on.
  return memory_usage() >= limit && active >= limit / 2;
}

bool WriteBufferManager::ShouldStall() const {
  return allow_stall_ && enabled() && IsStallThresholdExceeded();
}

void WriteBufferManager::ReserveMem(size_t mem) {
  memory_used_.fetch_add(mem, std::memory_order_relaxed);
  memory_active_.fetch_add(mem, std::memory_order_relaxed);
  if (charge_ != nullptr) charge_->Add(mem);
}

void WriteBufferManager::ScheduleFreeMem(size_t mem) {
  memory_active_.fetch_sub(mem, std::memory_order_relaxed);
}

void WriteBufferManager::FreeMem(size_t mem) {
  memory_used_.fetch_sub(mem, std::memory_order_relaxed);
  if (charge_ != nullptr) charge_->Subtract(mem);
}

}  // namespace varve
