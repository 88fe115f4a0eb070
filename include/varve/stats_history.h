// SPDX-License-Identifier: Apache-2.0
#pragma once

// The result of DB::GetStatsHistory: the growth of each ticker of DBOptions::statistics from one
// record to the next (stats_persist_period_sec).

#include <cstdint>
#include <map>
#include <string>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

// Iterates over records in order of time, without those made later. It owns what it shows, and may
// outlive the database; with DBOptions::persist_stats_to_disk it reads like an iterator, and must
// be destroyed before the database is closed. Not thread-safe.
class VARVE_EXPORT StatsHistoryIterator {
 public:
  virtual ~StatsHistoryIterator() = default;

  virtual bool Valid() const = 0;
  virtual Status status() const = 0;

  // Each requires Valid().
  virtual void Next() = 0;
  virtual uint64_t GetStatsTime() const = 0;           // Time of the record in seconds since 1970.
  virtual int GetFormatVersion() const { return -1; }  // Format on disk; -1: in memory.
  // Returns growth by ticker name, valid until Next().
  virtual const std::map<std::string, uint64_t>& GetStatsMap() const = 0;
};

}  // namespace varve
