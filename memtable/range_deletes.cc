// SPDX-License-Identifier: Apache-2.0
#include "memtable/range_deletes.h"

namespace varve {

void RangeDeletes::Add(const Slice& begin, const Slice& end, SequenceNumber seq) {
  RangeTombstone tombstone{icmp_.WithoutTimestamp(begin).ToString(),
                           icmp_.WithoutTimestamp(end).ToString(), seq,
                           icmp_.TimestampOf(begin).ToString()};
  const size_t bytes = sizeof(tombstone) + begin.size() + end.size();
  MutexLock lock(&mu_);
  added_.push_back(std::move(tombstone));
  fragments_.reset();
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  count_.store(added_.size(), std::memory_order_release);
}

void RangeDeletes::LeaveOut(const VoidedSequences& voided) {
  MutexLock lock(&mu_);
  std::erase_if(added_, [&](const RangeTombstone& t) { return voided.Contains(t.seq); });
  fragments_.reset();
  count_.store(added_.size(), std::memory_order_release);
}

std::shared_ptr<const FragmentedTombstones> RangeDeletes::Fragments() const {
  if (count() == 0) return nullptr;
  MutexLock lock(&mu_);
  if (fragments_ == nullptr) fragments_ = FragmentedTombstones::Build(added_, icmp_);
  return fragments_;
}

}  // namespace varve
