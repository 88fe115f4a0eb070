// SPDX-License-Identifier: Apache-2.0
#pragma once

// Counts in plain integers what a DB iterator does, and reports it in bulk.
//
//      call of the iterator  -->  IteratorCounters     additions to members of one object
//      end of the call       -->  PerfContext          differences, if the thread counts, which
//                                                      its perf level decides
//      end of the iterator   -->  Statistics           totals, once
//
// A ticker costs an atomic addition, or a look at the thread's share; an iterator passes millions
// of entries per second. So nothing shared is touched while it moves. The price is that tickers do
// not show what an open iterator has done until it is destroyed.

#include <cstdint>

#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"

namespace varve {

// Running totals of one iterator, added to the tickers at its end. A thread's PerfContext, if it
// counts, is updated at the end of each call: see PassedInCall and AddMove.
struct IteratorCounters {
  // Calls of the public iterator, and those that found an entry.
  uint64_t next = 0;
  uint64_t next_found = 0;
  uint64_t prev = 0;
  uint64_t prev_found = 0;
  uint64_t seek = 0;
  uint64_t seek_found = 0;
  uint64_t bytes = 0;    // bytes of the keys and values shown
  uint64_t hidden = 0;   // superseded or deleted versions skipped
  uint64_t deleted = 0;  // deletions, and entries under range tombstones, skipped
  uint64_t recent = 0;   // versions newer than the snapshot skipped
  // Seeks made inside a move to pass many entries.
  uint64_t reseeks = 0;

  // Returns the number of entries that were skipped.
  [[nodiscard]] uint64_t passed() const { return hidden + deleted + recent; }

  // Adds the totals to the tickers. Called once, when the iterator ends.
  void AddToStatistics(Statistics* statistics) const {
    if (statistics == nullptr) return;
    RecordTick(statistics, NUMBER_DB_SEEK, seek);
    RecordTick(statistics, NUMBER_DB_SEEK_FOUND, seek_found);
    RecordTick(statistics, NUMBER_DB_NEXT, next);
    RecordTick(statistics, NUMBER_DB_NEXT_FOUND, next_found);
    RecordTick(statistics, NUMBER_DB_PREV, prev);
    RecordTick(statistics, NUMBER_DB_PREV_FOUND, prev_found);
    RecordTick(statistics, ITER_BYTES_READ, bytes);
    RecordTick(statistics, NUMBER_ITER_SKIP, passed());
    RecordTick(statistics, NUMBER_OF_RESEEKS_IN_ITERATION, reseeks);
  }
};

// Counts what one call skips, from the object's construction on. Thread safety: none, as for the
// counters, which must outlive it.
class PassedInCall {
 public:
  // Remembers the counts at the beginning of a call.
  explicit PassedInCall(const IteratorCounters& counters)
      : counters_(counters),
        hidden_(counters.hidden),
        deleted_(counters.deleted),
        recent_(counters.recent) {}

  // Requires that the thread counts.
  void AddToPerfContext(PerfContext* perf) const {
    perf->internal_key_skipped_count += counters_.hidden - hidden_;
    perf->internal_delete_skipped_count += counters_.deleted - deleted_;
    perf->internal_recent_skipped_count += counters_.recent - recent_;
  }

 private:
  const IteratorCounters& counters_;
  const uint64_t hidden_;
  const uint64_t deleted_;
  const uint64_t recent_;
};

// Counts a move to the neighbouring entry; the entry it leaves counts as skipped. Requires that the
// thread counts.
template <uint64_t PerfContextBase::*kMoves>
inline void AddMove(uint64_t bytes) {
  PerfContext* const perf = ThreadPerfContext();
  perf->*kMoves += 1;
  perf->iter_read_bytes += bytes;
  perf->internal_key_skipped_count++;
}

}  // namespace varve
