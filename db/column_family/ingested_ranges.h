// SPDX-License-Identifier: Apache-2.0
#pragma once

// IngestedRanges stores the key ranges of recently ingested tables, and the sequence numbers at
// which these became visible, for conflict checks of transactions.
//
// A conflict check compares the newest sequence number of a key with the one since which it must be
// unchanged. But the entries of an ingested table may have older sequence numbers, or 0, so the
// check would not notice them. So each ingestion adds its range and the sequence number at which
// its tables became visible; a key in the range counts as changed then.
//
//      ranges_      [a .. c] seen from 70     [p .. z] seen from 85        the newest 64
//      everywhere_  64: older ones, forgotten; every key counts as changed at 64

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

#include "db/lock_ranks.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread-safe.
class IngestedRanges {
 public:
  explicit IngestedRanges(const InternalKeyComparator* icmp) : icmp_(icmp) {}
  IngestedRanges(const IngestedRanges&) = delete;
  IngestedRanges& operator=(const IngestedRanges&) = delete;

  // Allocates the memory for Add. Must be called before it; once is enough.
  void PrepareAdd() VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    ranges_.reserve(kRangesMax);
  }
  // Adds the range of the first and the last key, without timestamps and both inclusive. If there
  // are too many ranges, the oldest is replaced by one that covers all keys.
  void Add(std::pair<std::string, std::string> range, SequenceNumber seen_from) noexcept
      VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    VARVE_ASSERT(ranges_.capacity() >= kRangesMax);
    if (ranges_.size() == kRangesMax) {
      everywhere_ = std::max(everywhere_, ranges_.front().seen_from);
      ranges_.erase(ranges_.begin());
    }
    ranges_.push_back({std::move(range.first), std::move(range.second), seen_from});
    any_.store(true, std::memory_order_release);
  }

  // Returns the sequence number at which the newest ingested table that may have the key, given
  // without a timestamp, became visible; 0 if there is none.
  SequenceNumber Newest(const Slice& bare_key) const VARVE_EXCLUDES(mu_) {
    if (!any_.load(std::memory_order_acquire)) [[likely]]
      return 0;
    MutexLock lock(&mu_);
    SequenceNumber newest = everywhere_;
    for (const Range& range : ranges_) {
      if (range.seen_from > newest && icmp_->CompareKey(range.first, bare_key) <= 0 &&
          icmp_->CompareKey(bare_key, range.last) <= 0) {
        newest = range.seen_from;
      }
    }
    return newest;
  }

 private:
  // Maximum number of ranges.
  static constexpr size_t kRangesMax = 64;
  struct Range {
    // Bounds, both inclusive, without timestamps.
    std::string first;
    std::string last;
    SequenceNumber seen_from = 0;
  };

  const InternalKeyComparator* const icmp_;
  std::atomic<bool> any_{false};  // publishes the first range
  mutable Mutex mu_{lock_ranks::kIngestedRanges};
  std::vector<Range> ranges_ VARVE_GUARDED_BY(mu_);  // oldest first
  // The largest seen_from of removed ranges; 0: none was removed.
  SequenceNumber everywhere_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
