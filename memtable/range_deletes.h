// SPDX-License-Identifier: Apache-2.0
#pragma once

// The range tombstones of a memtable, and their fragments as of the last addition.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

#include "memtable/voided_sequences.h"
#include "util/key/internal_key.h"
#include "util/key/range_tombstone.h"
#include "util/sync/mutex.h"

namespace varve {

// Thread safety: all methods from any thread.
// Cost: the first read after an addition cuts all tombstones into fragments again.
class RangeDeletes {
 public:
  explicit RangeDeletes(const InternalKeyComparator& icmp) : icmp_(icmp) {}
  RangeDeletes(const RangeDeletes&) = delete;
  RangeDeletes& operator=(const RangeDeletes&) = delete;

  // Bounds end with a timestamp where keys do. Throws std::bad_alloc, with nothing added.
  void Add(const Slice& begin, const Slice& end, SequenceNumber seq) VARVE_EXCLUDES(mu_);

  // Takes out those of these sequences; none of them is being added. Asks for no memory.
  void LeaveOut(const VoidedSequences& voided) VARVE_EXCLUDES(mu_);

  // Null when there are none. Everything whose Add returned before the call is in.
  std::shared_ptr<const FragmentedTombstones> Fragments() const VARVE_EXCLUDES(mu_);

  // Acquire: an Add that has returned is counted.
  uint64_t count() const { return count_.load(std::memory_order_acquire); }
  // Bytes held; a statistic.
  size_t MemoryUsage() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  const InternalKeyComparator icmp_;
  mutable Mutex mu_;
  std::vector<RangeTombstone> added_ VARVE_GUARDED_BY(mu_);
  // Of added_, or null when it has changed since.
  mutable std::shared_ptr<const FragmentedTombstones> fragments_ VARVE_GUARDED_BY(mu_);
  std::atomic<uint64_t> count_{0};
  std::atomic<size_t> bytes_{0};
};

}  // namespace varve
