// SPDX-License-Identifier: Apache-2.0

// Collects the keys and ranges of a batch, sorts them by family and bytes, and locks them in this
// order. Two batches that want the same keys therefore meet at the first common one, and no cycle
// can arise among them. Duplicates need no care: a second request for a key that the owner has is
// granted at once.

#include "db/transaction/batch_locks.h"

#include <algorithm>

#include "varve/comparator.h"

#include "db/transaction/batch_replay.h"
#include "util/base/status_macros.h"

namespace varve {

// Collects keys without their timestamps. A key that is too short for a timestamp is kept as it is;
// the write refuses it.
class BatchLocks::Collector final : public WriteBatch::Handler {
 public:
  explicit Collector(TransactionHost* host) : host_(host) {}

  Status PutCF(uint32_t family, const Slice& key, const Slice& /*value*/) override {
    return Add(family, key);
  }
  Status PutEntityCF(uint32_t family, const Slice& key, const Slice& /*entity*/) override {
    return Add(family, key);
  }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& /*value*/) override {
    return Add(family, key);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override { return Add(family, key); }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override { return Add(family, key); }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    wanted_.push_back({family, Bare(family, begin), Bare(family, end), true});
    return Status::OK();
  }

  Status MarkNoop(bool /*empty_batch*/) override { return Status::OK(); }

  std::vector<Wanted> TakeSorted() {
    std::ranges::sort(wanted_, [](const Wanted& a, const Wanted& b) {
      if (a.family != b.family) return a.family < b.family;
      const int order = a.key.compare(b.key);
      return order != 0 ? order < 0 : a.is_range < b.is_range;
    });
    return std::move(wanted_);
  }

 private:
  Status Add(uint32_t family, const Slice& key) {
    wanted_.push_back({family, Bare(family, key), Slice(), false});
    return Status::OK();
  }
  Slice Bare(uint32_t family, const Slice& key) const {
    const Comparator* const comparator = host_->ComparatorOf(family);
    return comparator == nullptr ? key : WithoutTimestamp(key, *comparator);
  }

  TransactionHost* const host_;
  std::vector<Wanted> wanted_;
};

// Keys are released before ranges: a range that others wait for must not seem free while its owner
// still has a key in it locked (LockRanges::Yields).
BatchLocks::~BatchLocks() {
  for (HeldLock* key : keys_) table_->Unlock(key);
  for (HeldRange& range : ranges_) table_->UnlockRange(&range);
}

Status BatchLocks::Lock(WriteBatch* batch, TransactionID id, const LockPatience& patience) {
  owner_.Begin(id, /*expires_at=*/0);
  Collector collector(host_);
  VARVE_RETURN_IF_ERROR(batch->Iterate(&collector));
  const std::vector<Wanted> wanted = collector.TakeSorted();
  // The room is made first, so that a lock that was acquired can always be recorded.
  keys_.reserve(wanted.size());
  for (const Wanted& one : wanted) VARVE_RETURN_IF_ERROR(LockOne(one, patience));
  return Status::OK();
}

Status BatchLocks::LockOne(const Wanted& wanted, const LockPatience& patience) {
  const Comparator* const comparator = host_->ComparatorOf(wanted.family);
  // For a missing family the write returns the error.
  if (comparator == nullptr) return Status::OK();
  if (!wanted.is_range) {
    LockTable::Had had;
    VARVE_RETURN_IF_ERROR(table_->Lock(&owner_, LockTable::KeyOf(wanted.family, wanted.key),
                                       comparator, /*exclusive=*/true, patience, &had));
    if (had.added) keys_.push_back(had.held);
    return Status::OK();
  }
  // An empty range locks nothing; the write refuses a reversed one.
  if (comparator->CompareWithoutTimestamp(wanted.key, false, wanted.end, false) >= 0) {
    return Status::OK();
  }
  HeldRange& range = ranges_.emplace_back();
  range.owner = &owner_;
  range.range = {wanted.family,
                 comparator,
                 {wanted.key.ToString(), RangeEnd::Place::kAt},
                 {wanted.end.ToString(), RangeEnd::Place::kBefore}};
  return table_->LockRange(&range, patience);
}

}  // namespace varve
