// SPDX-License-Identifier: Apache-2.0
#pragma once

// How much the tickers of a database's statistics grew from one note to the next, as far back as
// there is room.
//
// With DBOptions::persist_stats_to_disk notes go into a column family instead
// (db/api/stored_history.h); here is then no more than where the next one begins.

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

// The column family with notes. One that was made is opened with the database, asked for or not.
inline constexpr char kStatisticsFamilyName[] = "___rocksdb_stats_history___";

// Thread safety: all methods from any thread. What throws has changed nothing.
class StatisticsHistory {
 public:
  // One value for each ticker.
  using Counts = std::vector<uint64_t>;

  // Growth is counted from here on.
  void Begin(const Statistics& statistics);
  // Notes the growth since the note before, and forgets the oldest notes beyond `most_bytes`.
  void Note(const Statistics& statistics, uint64_t seconds, size_t most_bytes);
  // The growth since the note before, for who keeps it elsewhere: with it the next one begins.
  Counts Take(const Statistics& statistics);
  // What was taken last could not be kept: the next note has it as well.
  void PutBack(const Counts& growth);
  // Of [start, end) in seconds.
  std::unique_ptr<StatsHistoryIterator> Walk(uint64_t start, uint64_t end) const;

 private:
  struct Noted {
    uint64_t seconds;
    Counts growth;
  };

  static Counts Read(const Statistics& statistics);
  Counts GrowthTo(const Counts& now) const VARVE_REQUIRES(mu_);

  mutable Mutex mu_{lock_ranks::kStatisticsHistory};
  Counts last_ VARVE_GUARDED_BY(mu_);
  std::deque<Noted> notes_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
