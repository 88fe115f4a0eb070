// SPDX-License-Identifier: Apache-2.0
#pragma once

// What DB::GetStatsHistory walks through: how much each ticker of DBOptions::statistics grew from
// one note to the next (stats_persist_period_sec).

#include <cstdint>
#include <map>
#include <string>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

// Notes in the order of time. Later ones are not in it. It keeps what it shows, and may outlive the
// database; with DBOptions::persist_stats_to_disk it reads like an iterator, and goes before the
// database is closed. Thread safety: none.
class VARVE_EXPORT StatsHistoryIterator {
 public:
  virtual ~StatsHistoryIterator() = default;

  virtual bool Valid() const = 0;
  virtual Status status() const = 0;

  // Each requires Valid().
  virtual void Next() = 0;
  virtual uint64_t GetStatsTime() const = 0;           // When it was noted, in seconds since 1970.
  virtual int GetFormatVersion() const { return -1; }  // Of the form on disk; -1: in memory.
  // By the tickers' names; lives until Next().
  virtual const std::map<std::string, uint64_t>& GetStatsMap() const = 0;
};

}  // namespace varve
