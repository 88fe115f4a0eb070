// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tracks ingestions from the moment they have their place in the order of writes until readers see
// their tables. In between, writers continue, and what they write is newer than the tables and
// visible at once. A caller that needs a state that does not change, and would see it change when
// the tables appear beneath, waits until no such window is open.

#include <atomic>
#include <cstdint>

#include "db/db_mutex.h"
#include "db/engine/work_signal.h"
#include "util/base/assert.h"

namespace varve {

// Thread safety: as annotated; any thread may call the rest.
class IngestWindows {
 public:
  // `work` must outlive this object.
  explicit IngestWindows(WorkSignal* work) : work_(*work) {}
  IngestWindows(const IngestWindows&) = delete;
  IngestWindows& operator=(const IngestWindows&) = delete;

  // True if an ingestion should let other callers go first: they wait for earlier windows.
  bool Awaited() const VARVE_REQUIRES(kDbMutex) { return waiting_ > 0; }
  // Opens a window, at the order point of an ingestion.
  void Open() VARVE_REQUIRES(kDbMutex) {
    open_++;
    any_.store(true, std::memory_order_release);
  }
  // Closes a window: readers see the tables, or the ingestion has failed.
  void Close() VARVE_REQUIRES(kDbMutex) {
    VARVE_ASSERT(open_ > 0);
    if (--open_ == 0) any_.store(false, std::memory_order_release);
    work_.SignalAll();
  }
  // Needs no mutex. Returns false only if everything that the last window has published can be
  // seen.
  bool any() const { return any_.load(std::memory_order_acquire); }
  // Waits until no window is open. Releases the mutex while it waits.
  void AwaitNone() VARVE_REQUIRES(kDbMutex) {
    if (open_ == 0) return;
    waiting_++;
    while (open_ > 0) work_.Wait();
    waiting_--;
    work_.SignalAll();
  }

  // Tables of several families become visible one family after the other, which readers must not
  // notice: a reader that pins several families has pinned one moment if Rounds() is even before
  // and unchanged after.
  uint64_t Rounds() const { return rounds_.load(std::memory_order_seq_cst); }
  // Must enclose the installation of super-versions of several families: in between, Rounds() is
  // odd.
  void BeginShowing() VARVE_REQUIRES(kDbMutex) { rounds_.fetch_add(1, std::memory_order_seq_cst); }
  void EndShowing() VARVE_REQUIRES(kDbMutex) { rounds_.fetch_add(1, std::memory_order_seq_cst); }

 private:
  WorkSignal& work_;
  // Open windows, and callers of AwaitNone.
  int open_ VARVE_GUARDED_BY(kDbMutex) = 0;
  int waiting_ VARVE_GUARDED_BY(kDbMutex) = 0;
  std::atomic<bool> any_{false};     // changed under the mutex; publishes a window's results
  std::atomic<uint64_t> rounds_{0};  // changed under the mutex; publishes super-versions
};

}  // namespace varve
