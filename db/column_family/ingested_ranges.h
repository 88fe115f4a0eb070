// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores where tables were ingested recently, and since when readers have them, for transactions
// that check if a key has changed: the entries of such a table may have a sequence number assigned
// long before, or none.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

#include "db/lock_ranks.h"
#include "util/key/internal_key.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: all methods may be called from any thread.
class IngestedRanges {
 public:
  explicit IngestedRanges(const InternalKeyComparator* icmp) : icmp_(icmp) {}
  IngestedRanges(const IngestedRanges&) = delete;
  IngestedRanges& operator=(const IngestedRanges&) = delete;

  // Adds a range of keys without timestamps, both inclusive. If there are too many, the oldest are
  // treated as covering everything.
  void Add(std::string first, std::string last, SequenceNumber seen_from) VARVE_EXCLUDES(mu_) {
    MutexLock lock(&mu_);
    if (ranges_.size() == kRangesMax) {
      everywhere_ = std::max(everywhere_, ranges_.front().seen_from);
      ranges_.erase(ranges_.begin());
    }
    ranges_.push_back({std::move(first), std::move(last), seen_from});
    any_.store(true, std::memory_order_release);
  }

  // Returns the newest ingestion that may have changed the key, given without timestamp; 0: none.
  SequenceNumber Newest(const Slice& key) const VARVE_EXCLUDES(mu_) {
    if (!any_.load(std::memory_order_acquire)) [[likely]]
      return 0;
    MutexLock lock(&mu_);
    SequenceNumber newest = everywhere_;
    for (const Range& range : ranges_) {
      if (range.seen_from > newest && icmp_->CompareKey(range.first, key) <= 0 &&
          icmp_->CompareKey(key, range.last) <= 0) {
        newest = range.seen_from;
      }
    }
    return newest;
  }

 private:
  static constexpr size_t kRangesMax = 64;
  struct Range {
    std::string first;
    std::string last;
    SequenceNumber seen_from = 0;
  };

  const InternalKeyComparator* const icmp_;
  std::atomic<bool> any_{false};  // publishes the first range
  mutable Mutex mu_{lock_ranks::kIngestedRanges};
  std::vector<Range> ranges_ VARVE_GUARDED_BY(mu_);  // oldest first
  SequenceNumber everywhere_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
