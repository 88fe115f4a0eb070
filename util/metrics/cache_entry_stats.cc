// SPDX-License-Identifier: Apache-2.0

// Implements walks over caches, and the text form of their results.

#include "util/metrics/cache_entry_stats.h"

#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace varve {

namespace {

double Seconds(uint64_t micros) {
  return static_cast<double>(micros) / 1e6;
}

double PercentOf(uint64_t bytes, uint64_t capacity) {
  if (capacity == 0) return 0;
  return 100.0 * static_cast<double>(bytes) / static_cast<double>(capacity);
}

uint64_t Since(uint64_t then, uint64_t now) {
  return now > then ? now - then : 0;
}

// Gives a name to caches that have none, so that two databases which report the same id are seen to
// share one cache.
std::string IdOf(const Cache& cache) {
  char text[64];
  snprintf(text, sizeof(text), "@%p#%ld", static_cast<const void*>(&cache),
           static_cast<long>(getpid()));
  return cache.Name() + std::string(text);
}

// Entries come and go during the walk, so the sums are those of no single moment. The callback runs
// under a lock of the cache, which is why it only adds.
void Walk(Cache* cache, SystemClock* clock, CacheEntryStats* stats) {
  const uint64_t walks = stats->walks + 1;
  *stats = CacheEntryStats();
  stats->walks = walks;
  stats->id = IdOf(*cache);
  stats->start_micros = clock->NowMicros();
  cache->ApplyToAllEntries(
      [stats](const Slice&, Cache::ObjectPtr, size_t charge, const Cache::CacheItemHelper* helper) {
        const auto role = helper == nullptr ? CacheEntryRole::kMisc : helper->role;
        CacheEntryStats::OfRole& sum =
            // A program's own helper may have a role beyond the known ones.
            stats->roles[std::min(static_cast<size_t>(role), stats->roles.size() - 1)];
        sum.count++;
        sum.bytes += charge;
      },
      Cache::ApplyToAllEntriesOptions());
  stats->capacity = cache->GetCapacity();
  stats->usage = cache->GetUsage();
  stats->occupancy = cache->GetOccupancyCount();
  stats->table_size = cache->GetTableAddressCount();
  stats->end_micros = clock->NowMicros();
}

}  // namespace

std::map<std::string, std::string> CacheEntryStats::ToMap(uint64_t now_micros) const {
  using Keys = BlockCacheEntryStatsMapKeys;
  std::map<std::string, std::string> result;
  result[Keys::CacheId()] = id;
  result[Keys::CacheCapacityBytes()] = std::to_string(capacity);
  result[Keys::LastCollectionDurationSeconds()] =
      std::to_string(Seconds(Since(start_micros, end_micros)));
  result[Keys::LastCollectionAgeSeconds()] = std::to_string(Seconds(Since(end_micros, now_micros)));
  for (size_t i = 0; i < roles.size(); i++) {
    const auto role = static_cast<CacheEntryRole>(i);
    result[Keys::EntryCount(role)] = std::to_string(roles[i].count);
    result[Keys::UsedBytes(role)] = std::to_string(roles[i].bytes);
    result[Keys::UsedPercent(role)] = std::to_string(PercentOf(roles[i].bytes, capacity));
  }
  return result;
}

std::string CacheEntryStats::ToString(uint64_t now_micros) const {
  char line[256];
  snprintf(line, sizeof(line),
           " capacity: %" PRIu64 " usage: %" PRIu64 " occupancy: %" PRIu64 " table_size: %" PRIu64
           " collections: %" PRIu64 " last_secs: %.6f secs_since: %.0f\n",
           capacity, usage, occupancy, table_size, walks, Seconds(Since(start_micros, end_micros)),
           Seconds(Since(end_micros, now_micros)));
  std::string text = "Block cache " + id + line;
  text += "Block cache entry stats(count,bytes,percent):";
  for (size_t i = 0; i < roles.size(); i++) {
    if (roles[i].count == 0) continue;
    snprintf(line, sizeof(line), "(%" PRIu64 ",%" PRIu64 ",%.2f%%)", roles[i].count, roles[i].bytes,
             PercentOf(roles[i].bytes, capacity));
    text += " " + GetCacheEntryRoleName(static_cast<CacheEntryRole>(i)) + line;
  }
  return text + "\n";
}

CacheEntryStats CacheEntryStatsCollector::Collect(const std::shared_ptr<Cache>& cache,
                                                  SystemClock* clock, const Patience& patience) {
  MutexLock lock(&mu_);
  // A cache may be gone, and a new one may lie at its address. This comes before the look-up, so
  // that a result is never taken for another cache's.
  std::erase_if(known_, [](const auto& entry) { return entry.second.cache.expired(); });
  Known& known = known_[cache.get()];
  const bool first = known.stats.walks == 0;
  known.cache = cache;
  // The longer the last walk took, the longer its result is used, so walks take at most one part in
  // walk_times of the time.
  const uint64_t took = Since(known.stats.start_micros, known.stats.end_micros);
  const uint64_t rest = std::max(patience.max_age_micros, took * patience.walk_times);
  if (first || Since(known.stats.end_micros, clock->NowMicros()) >= rest) {
    Walk(cache.get(), clock, &known.stats);
  }
  return known.stats;
}

}  // namespace varve
