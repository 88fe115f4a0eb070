// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the result of DB::GetStatsHistory: records, made each stats_persist_period_sec, of how
// much each ticker of DBOptions::statistics has grown since the previous record.
//
//   std::unique_ptr<varve::StatsHistoryIterator> it;
//   varve::Status s = db->GetStatsHistory(0, UINT64_MAX, &it);
//   for (; s.ok() && it->Valid(); it->Next()) {
//     const auto& growth = it->GetStatsMap();
//     const auto found = growth.find("rocksdb.number.keys.written");
//     if (found != growth.end()) Show(it->GetStatsTime(), found->second);
//   }

#include <cstdint>
#include <map>
#include <string>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

// Iterates over records in order of time. Does not return records made after the iterator. Owns
// copies of the records, and may outlive the database, unless DBOptions::persist_stats_to_disk is
// set: then it reads the database, and must be destroyed before the database is closed. Not
// thread-safe.
class VARVE_EXPORT StatsHistoryIterator {
 public:
  virtual ~StatsHistoryIterator() = default;

  // True if the iterator is at a record.
  virtual bool Valid() const = 0;
  // Returns OK, or the error that ended the iteration: Corruption if a stored growth is not a
  // number, or the error of reading stored records.
  virtual Status status() const = 0;

  // Moves to the next record. This and the following functions require Valid().
  virtual void Next() = 0;
  // Returns the time of the record in seconds since 1970.
  virtual uint64_t GetStatsTime() const = 0;
  // Returns the version of the record's format in the database; -1 if the record was kept in
  // memory.
  virtual int GetFormatVersion() const { return -1; }
  // Returns the growth of every ticker by name, 0 included. A stored record has the tickers of the
  // version that wrote it, so use find. The reference is valid until Next().
  virtual const std::map<std::string, uint64_t>& GetStatsMap() const = 0;
};

}  // namespace varve
