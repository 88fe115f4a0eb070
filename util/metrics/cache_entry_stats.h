// SPDX-License-Identifier: Apache-2.0
#pragma once

// Collects statistics of a cache's entries: their number and bytes for each role.
//
// Only a walk over the whole cache can collect them. As that may take long and delay others, its
// result is reused for a while.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "varve/cache.h"
#include "varve/system_clock.h"

#include "util/sync/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// The result of one walk.
struct CacheEntryStats {
  // Counts the entries of one role, such as data blocks or filters.
  struct OfRole {
    uint64_t count = 0;
    uint64_t bytes = 0;  // As charged by the inserters.
  };

  std::string id;  // Id of the cache, unique in this process.
  // Bytes.
  uint64_t capacity = 0;
  uint64_t usage = 0;
  uint64_t occupancy = 0;   // Number of entries; SIZE_MAX if not known.
  uint64_t table_size = 0;  // Number of slots.
  std::array<OfRole, kNumCacheEntryRoles> roles;
  uint64_t start_micros = 0;  // Start of the walk.
  uint64_t end_micros = 0;
  uint64_t walks = 0;  // Number of walks over this cache so far.

  // Return the statistics under the names of BlockCacheEntryStatsMapKeys, and as text. `now_micros`
  // is the present time of the clock that gave end_micros, for the age.
  [[nodiscard]] std::map<std::string, std::string> ToMap(uint64_t now_micros) const;
  [[nodiscard]] std::string ToString(uint64_t now_micros) const;
};

// Thread safety: all methods may be called from any thread. A call may wait for another one's walk.
class CacheEntryStatsCollector {
 public:
  // Limits of the age of a result and of the share of time spent on walks.
  struct Patience {
    uint64_t max_age_micros;
    uint64_t walk_times;  // The next walk starts after this many times the last one's duration.
  };
  // Patience of a caller that wants new figures, and of one that wants any soon.
  static constexpr Patience kExact{10'000'000, 10};
  static constexpr Patience kFast{180'000'000, 500};

  // Returns the statistics of the cache: those of the last walk if they are new enough, else of a
  // walk that is made now.
  [[nodiscard]] CacheEntryStats Collect(const std::shared_ptr<Cache>& cache, SystemClock* clock,
                                        const Patience& patience);

 private:
  // The result of the last walk over a cache.
  struct Known {
    std::weak_ptr<Cache> cache;  // Detects that another cache has the same address later.
    CacheEntryStats stats;
  };

  // Held during a walk, so that others wait for its result instead of making their own.
  Mutex mu_{lock_ranks::kCacheEntryStats};
  // The last walk over each cache, by the cache's address.
  std::map<const Cache*, Known> known_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
