// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds state that inserting threads share: the position of the last insertion, and counters.
//
// Keys often arrive in ascending order, so the place of one insertion is near that of the last. The
// hint is one position for all threads. A thread that gets its flag searches from there and moves
// it; a thread that finds it taken does not wait, but searches from the top, which is correct in
// any case.

#include <atomic>
#include <cstdint>

#include "memtable/entry.h"
#include "util/base/assert.h"

namespace varve {

// Gives one thread at a time the right to use an insert hint (Hold). The right is tried for, never
// waited for: a thread that does not get it searches from the top. Thread safety: any thread may
// try at any time.
class InsertHintFlag {
 public:
  class Hold;

 private:
  std::atomic<bool> taken_{false};
};

// Takes the flag if it is free, and releases it. Acquire and release transfer what the holders
// wrote.
class InsertHintFlag::Hold {
 public:
  // Tries to take the flag. taken() says if it has.
  explicit Hold(InsertHintFlag* flag) : flag_(Take(flag) ? flag : nullptr) {}
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    if (flag_ == nullptr) return;
    VARVE_ASSERT(flag_->taken_.load(std::memory_order_relaxed));
    flag_->taken_.store(false, std::memory_order_release);
  }
  // True if this thread may use the hint.
  [[nodiscard]] bool taken() const { return flag_ != nullptr; }

 private:
  static bool Take(InsertHintFlag* flag) {
    return !flag->taken_.load(std::memory_order_relaxed) &&
           !flag->taken_.exchange(true, std::memory_order_acquire);
  }

  InsertHintFlag* const flag_;
};

// Totals of what has been added. They are statistics, read and written relaxed: they order no other
// memory access.
//
// Thread safety: one object takes either AddAlone, from one thread at a time, or AddShared, from
// any thread; it may be read by any thread meanwhile.
class EntryCounters {
 public:
  // Adds with plain additions. Requires that one thread at a time calls it. A load and a store are
  // cheaper than an atomic addition.
  void AddAlone(const EntryTotals& added) {
    const auto add = [](std::atomic<uint64_t>* counter, uint64_t n) {
      counter->store(counter->load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    };
    add(&entries_, added.entries);
    add(&deletions_, added.deletions);
    add(&bytes_, added.bytes);
  }
  // Adds from any number of threads.
  void AddShared(const EntryTotals& added) {
    const auto add = [](std::atomic<uint64_t>* counter, uint64_t n) {
      if (n > 0) counter->fetch_add(n, std::memory_order_relaxed);
    };
    add(&entries_, added.entries);
    add(&deletions_, added.deletions);
    add(&bytes_, added.bytes);
  }
  // Returns the sum of these counters and the others.
  [[nodiscard]] EntryTotals Plus(const EntryCounters& other) const {
    const auto sum = [](const std::atomic<uint64_t>& a, const std::atomic<uint64_t>& b) {
      return a.load(std::memory_order_relaxed) + b.load(std::memory_order_relaxed);
    };
    return {sum(entries_, other.entries_), sum(deletions_, other.deletions_),
            sum(bytes_, other.bytes_)};
  }

 private:
  // Relaxed: readers of the counters need no order.
  std::atomic<uint64_t> entries_{0};
  std::atomic<uint64_t> deletions_{0};
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace varve
