// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the entries of a cache are: how many there are of each role, and their bytes.
//
// Only a walk over the whole cache can tell. As that may take long and get in the way of others,
// its outcome is given out again for a while.

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

// One walk's outcome.
struct CacheEntryStats {
  struct OfRole {
    uint64_t count = 0;
    uint64_t bytes = 0;  // as charged by those who inserted
  };

  std::string id;  // of the cache, within this process
  uint64_t capacity = 0;
  uint64_t usage = 0;
  uint64_t occupancy = 0;   // entries; SIZE_MAX if not known
  uint64_t table_size = 0;  // slots
  std::array<OfRole, kNumCacheEntryRoles> roles;
  uint64_t start_micros = 0;  // of the walk
  uint64_t end_micros = 0;
  uint64_t walks = 0;  // over this cache so far

  // The names are those of BlockCacheEntryStatsMapKeys.
  [[nodiscard]] std::map<std::string, std::string> ToMap(uint64_t now_micros) const;
  [[nodiscard]] std::string ToString(uint64_t now_micros) const;
};

// Thread safety: all methods from any thread. A call may wait for another one's walk.
class CacheEntryStatsCollector {
 public:
  // How old an outcome may be, and how much of the time may go into walks.
  struct Patience {
    uint64_t max_age_micros;
    uint64_t walk_times;  // no walk before so many times the last one's duration have passed
  };
  static constexpr Patience kExact{10'000'000, 10};
  static constexpr Patience kFast{180'000'000, 500};

  [[nodiscard]] CacheEntryStats Collect(const std::shared_ptr<Cache>& cache, SystemClock* clock,
                                        const Patience& patience);

 private:
  struct Known {
    std::weak_ptr<Cache> cache;  // its address may be another's one day
    CacheEntryStats stats;
  };

  Mutex mu_{lock_ranks::kCacheEntryStats};
  std::map<const Cache*, Known> known_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
