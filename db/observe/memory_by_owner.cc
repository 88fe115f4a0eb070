// SPDX-License-Identifier: Apache-2.0

// Sums the memory of the components of a database.
//
// No byte is counted twice in the total. The usage of a block cache includes reservations for
// memory that is counted elsewhere (open readers, memtables), so the total subtracts `reserved`.
// Caches that families share are counted once.

#include "db/observe/memory_by_owner.h"

#include <algorithm>
#include <map>
#include <memory>

#include "varve/cache.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/output_options.h"
#include "db/version/table_cache.h"
#include "table/cache/clock_cache.h"
#include "util/env/mapped_reads.h"
#include "util/mem/warm_pages.h"

namespace varve {

namespace {

struct MemTableBytes {
  uint64_t active = 0;
  uint64_t immutable = 0;
  uint64_t history = 0;
  uint64_t pinned = 0;

  [[nodiscard]] uint64_t sum() const { return active + immutable + history + pinned; }
};

struct CacheBytes {
  uint64_t used = 0;
  uint64_t pinned = 0;
  uint64_t waiting = 0;
  uint64_t reserved = 0;
};

MemTableBytes SumMemTables(const DbState& state) VARVE_REQUIRES(kDbMutex) {
  MemTableBytes sum;
  for (const auto& [id, family] : state.families.all()) {
    const uint64_t active = family->mem()->MemoryUsage();
    const uint64_t both = family->MemTableBytes();
    sum.active += active;
    // The two values are not read at one moment.
    sum.immutable += both > active ? both - active : 0;
    sum.history += family->HistoryBytes();
    sum.pinned += family->PinnedMemTableBytes();
  }
  return sum;
}

using Caches = std::map<const Cache*, std::shared_ptr<Cache>>;

CacheBytes SumBlockCaches(const DbContext& context, const DbState& state, uint64_t memtables,
                          Caches* caches) VARVE_REQUIRES(kDbMutex) {
  CacheBytes sum;
  for (const auto& [id, family] : state.families.all()) {
    const std::shared_ptr<Cache> cache = TableOptionsOf(*family->options()).block_cache;
    if (cache != nullptr) (*caches)[cache.get()] = cache;
    sum.reserved += family->table_cache()->charged();
    const auto& files = family->versions()->file_charge;
    if (files != nullptr) sum.reserved += files->charged();
  }
  for (const auto& [address, cache] : *caches) {
    sum.used += cache->GetUsage();
    const ClockCache* const own = ClockCache::From(cache.get());
    if (own != nullptr) sum.waiting += own->GetWaitingUsage();
  }
  // The manager's reservation includes memtables of other databases, which are not in the sum.
  sum.reserved +=
      std::min<uint64_t>(context.write_buffer_manager()->dummy_entries_in_cache_usage(), memtables);
  return sum;
}

struct TableBytes {
  uint64_t readers = 0;
  uint64_t metadata = 0;
};

TableBytes SumTables(const DbContext& context, const DbState& state) VARVE_REQUIRES(kDbMutex) {
  TableBytes sum;
  for (const auto& [id, family] : state.families.all()) {
    const Version& version = *family->current();
    for (int level = 0; level < version.num_levels(); level++) {
      for (const FileRef& file : version.level(level).files()) {
        sum.metadata += MemoryUsage(*file);
        const TableReader* const reader = file->reader.load(std::memory_order_acquire);
        if (reader != nullptr) sum.readers += reader->MemoryUsage();
      }
    }
  }
  // With a limit of open files, readers are in a separate cache instead of the metadata.
  if (context.limited_tables() == nullptr) return sum;
  TableCache::VisitLimited(
      context.limited_tables().get(),
      [&sum](uint64_t, const TableReader& reader) { sum.readers += reader.MemoryUsage(); });
  return sum;
}

uint64_t SumTransactions(const DbState& state) {
  uint64_t sum = state.transaction_bytes.load(std::memory_order_relaxed);
  for (const PreparedTransactions::Info& txn : state.prepared.Undecided()) sum += txn.bytes;
  return sum;
}

}  // namespace

std::vector<std::pair<std::string, uint64_t>> MemoryByOwner(const DbContext& context,
                                                            DbState* state) {
  DbLock lock(&state->mu);
  const MemTableBytes memtables = SumMemTables(*state);
  Caches caches;
  CacheBytes cache = SumBlockCaches(context, *state, memtables.sum(), &caches);
  const TableBytes tables = SumTables(context, *state);
  // The rest needs no mutex, and may take long.
  lock.Unlock();
  // GetPinnedUsage visits all entries of a cache.
  for (const auto& [address, block_cache] : caches) cache.pinned += block_cache->GetPinnedUsage();
  const uint64_t transactions = SumTransactions(*state);
  const uint64_t warm_pages = WarmPages::Default().bytes();
  const uint64_t sum =
      memtables.sum() + warm_pages + cache.used + tables.readers + tables.metadata + transactions;
  return {
      {"memtables", memtables.sum()},
      {"memtables.active", memtables.active},
      {"memtables.immutable", memtables.immutable},
      {"memtables.history", memtables.history},
      {"memtables.pinned", memtables.pinned},
      {"warm_pages", warm_pages},
      {"block_cache", cache.used},
      {"block_cache.pinned", cache.pinned},
      {"block_cache.waiting", cache.waiting},
      {"block_cache.reserved", cache.reserved},
      {"table_readers", tables.readers},
      {"file_metadata", tables.metadata},
      {"transactions", transactions},
      {"mapped_files", MappedReads::MappedBytes()},  // not in the sum, as it is page cache
      // The values are not read at one moment, so the reservation may exceed the sum.
      {"total", sum - std::min(sum, cache.reserved)},
  };
}

}  // namespace varve
