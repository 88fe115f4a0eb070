// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the range tombstones of a memtable, in lists that look-ups can search.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

#include "memtable/invalidated_sequences.h"
#include "memtable/lock_ranks.h"
#include "util/key/internal_key.h"
#include "util/key/range_tombstone.h"
#include "util/sync/mutex.h"

namespace varve {

class PointLookup;

// The first read after additions makes a list of them, and merges lists that are not much larger
// into it: list sizes shrink by a factor, so there are O(log n) lists, and each tombstone is merged
// O(log n) times altogether. Readers use the lists without a lock or a reference count: they are
// inside an epoch (util/sync/epoch.h), and replaced lists are freed once they have left.
//
// Thread safety: all methods may be called from any thread; only Cover may be called inside an
// epoch.
class RangeDeletes {
 public:
  explicit RangeDeletes(const InternalKeyComparator& icmp) : icmp_(icmp) {}
  // Requires that there are no more reads.
  ~RangeDeletes();
  RangeDeletes(const RangeDeletes&) = delete;
  RangeDeletes& operator=(const RangeDeletes&) = delete;

  using List = std::shared_ptr<const FragmentedTombstones>;

  // Adds a tombstone over the user keys [begin, end), both of which end with its timestamp if keys
  // have timestamps. Throws std::bad_alloc, with nothing added.
  void Add(const Slice& begin, const Slice& end, SequenceNumber seq) VARVE_EXCLUDES(mu_);

  // Hides the tombstones of these sequences from reads that begin after the call. Requires that no
  // Add of these sequences is in progress, and that the sequences of earlier calls are in
  // `invalidated`, too. Allocates no memory.
  void LeaveOut(const std::shared_ptr<const InvalidatedSequences>& invalidated) VARVE_EXCLUDES(mu_);

  // Reports the newest visible tombstone over the lookup's key to it (PointLookup::CoverWith). This
  // and Lists include everything whose Add returned before the call, and throw std::bad_alloc and
  // what the comparator throws.
  void Cover(PointLookup* lookup) const VARVE_EXCLUDES(mu_);
  // Returns the lists, the largest first.
  std::vector<List> Lists() const VARVE_EXCLUDES(mu_);

  // Acquire: an Add that has returned is counted.
  uint64_t count() const { return count_.load(std::memory_order_acquire); }
  // Returns the bytes held; a statistic. The future lists of tombstones that no read has taken over
  // are not counted.
  size_t MemoryUsage() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  // The state that readers see. Constant once published.
  struct Readable {
    uint64_t changes = 0;  // Number of changes included.
    std::vector<List> lists;
  };

  // Calls use(lists) with all that were added. The lists stay valid during the call.
  template <typename Use>
  void WithLists(Use use) const;
  // Makes everything readable that was added.
  void TakeOver() const VARVE_EXCLUDES(mu_);
  // Returns a list of all of added_ and of the lists after the first *kept, which it sets.
  List Merge(size_t* kept) const VARVE_REQUIRES(mu_);
  // Makes `next` the state that readers see; `large`: frees replaced states at once if possible.
  void Replace(std::unique_ptr<const Readable> next, bool large) const VARVE_REQUIRES(mu_);

  const InternalKeyComparator icmp_;
  mutable Mutex mu_{kRangeDeletesRank};
  // Added since the last read.
  mutable std::vector<RangeTombstone> added_ VARVE_GUARDED_BY(mu_);
  // Written under mu_; read inside an epoch.
  mutable std::atomic<const Readable*> readable_{nullptr};
  // Replaced states, with their epoch stamps.
  mutable std::vector<std::pair<uint64_t, std::unique_ptr<const Readable>>> replaced_
      VARVE_GUARDED_BY(mu_);
  // Invalidated tombstones that are in lists are not visible to any reader yet; the next read
  // removes them.
  std::shared_ptr<const InvalidatedSequences> invalidated_ VARVE_GUARDED_BY(mu_);
  mutable uint64_t invalidated_in_lists_ VARVE_GUARDED_BY(mu_) = 0;
  std::atomic<uint64_t> count_{0};
  // Number of additions and of calls that left some out. Release publishes them.
  std::atomic<uint64_t> changes_{0};
  mutable std::atomic<size_t> bytes_{0};
};

}  // namespace varve
