// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much the tickers of a database's statistics grew from one note to the next, as far back as
// there is room.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "varve/statistics.h"
#include "varve/stats_history.h"

#include "db/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: all methods from any thread. What throws has changed nothing.
class StatisticsHistory {
 public:
  // Growth is counted from here on.
  void Begin(const Statistics& statistics);
  // Notes the growth since the note before, and forgets the oldest notes beyond `most_bytes`.
  void Note(const Statistics& statistics, uint64_t seconds, size_t most_bytes);
  // Of [start, end) in seconds.
  std::unique_ptr<StatsHistoryIterator> Walk(uint64_t start, uint64_t end) const;

 private:
  // One value for each ticker.
  using Counts = std::vector<uint64_t>;
  struct Noted {
    uint64_t seconds;
    Counts growth;
  };

  static Counts Read(const Statistics& statistics);

  mutable Mutex mu_{lock_ranks::kStatisticsHistory};
  Counts last_ VARVE_GUARDED_BY(mu_);
  std::deque<Noted> notes_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
