// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores how much the tickers of a database's statistics grew between records, as far back as there
// is room.
//
// With DBOptions::persist_stats_to_disk records go into a column family instead
// (db/api/stored_history.h); then this only knows where the next record begins.

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

// Name of the column family with records. If it exists, it is always opened with the database.
inline constexpr char kStatisticsFamilyName[] = "___rocksdb_stats_history___";

// Thread safety: all methods may be called from any thread. A call that throws has changed nothing.
class StatisticsHistory {
 public:
  // One value for each ticker.
  using Counts = std::vector<uint64_t>;

  // Reads the counts from which the growth of the first record is computed.
  void Begin(const Statistics& statistics);
  // Makes a record of the growth since the last one, with the time `seconds` since 1970, and drops
  // the oldest records beyond `most_bytes`.
  void Record(const Statistics& statistics, uint64_t seconds, size_t most_bytes);
  // Returns the growth since the last record, for a caller that stores it elsewhere; the next
  // record begins here.
  Counts Take(const Statistics& statistics);
  // Adds growth that could not be stored, so that the next record includes it.
  void PutBack(const Counts& growth);
  // Iterates over the records of [start, end) in seconds.
  std::unique_ptr<StatsHistoryIterator> Walk(uint64_t start, uint64_t end) const;

 private:
  struct Entry {
    uint64_t seconds;
    Counts growth;
  };

  // Returns the present value of each ticker.
  static Counts Read(const Statistics& statistics);
  // Returns by how much each ticker has grown since last_.
  Counts GrowthTo(const Counts& now) const VARVE_REQUIRES(mu_);

  mutable Mutex mu_{lock_ranks::kStatisticsHistory};
  // The counts at which the next record begins.
  Counts last_ VARVE_GUARDED_BY(mu_);
  std::deque<Entry> records_ VARVE_GUARDED_BY(mu_);  // Oldest first.
};

}  // namespace varve
