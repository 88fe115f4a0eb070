// SPDX-License-Identifier: Apache-2.0
#pragma once

// The result of DB::GetStatsHistory: the growth of each ticker of DBOptions::statistics from one
// record to the next (stats_persist_period_sec).
//
//   std::unique_ptr<varve::StatsHistoryIterator> it;
//   varve::Status s = db->GetStatsHistory(0, UINT64_MAX, &it);
//   for (; s.ok() && it->Valid(); it->Next()) {
//     Show(it->GetStatsTime(), it->GetStatsMap().at("rocksdb.number.keys.written"));
//   }

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

  // True if the iterator is at a record.
  virtual bool Valid() const = 0;
  // Returns OK, or the error that ended the iteration: Corruption for a record that is no number,
  // or that of reading stored records.
  virtual Status status() const = 0;

  // Moves to the next record. This and the following functions require Valid().
  virtual void Next() = 0;
  // Returns the time of the record in seconds since 1970.
  virtual uint64_t GetStatsTime() const = 0;
  // Returns the version of the record's format in the database; -1 if the record was kept in
  // memory.
  virtual int GetFormatVersion() const { return -1; }
  // Returns growth by ticker name, valid until Next().
  virtual const std::map<std::string, uint64_t>& GetStatsMap() const = 0;
};

}  // namespace varve
