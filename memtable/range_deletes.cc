// SPDX-License-Identifier: Apache-2.0
#include "memtable/range_deletes.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/key/point_lookup.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

// A list at most this many times as large as the lists after it is merged with them.
constexpr size_t kShrinkFactor = 2;
// Number of replaced lists that are kept before readers are checked, which takes a system call.
constexpr size_t kReplacedMost = 8;
// With this many tombstones copied, readers are checked at once.
constexpr size_t kManyTombstones = 256;

}  // namespace

RangeDeletes::~RangeDeletes() {
  delete readable_.load(std::memory_order_relaxed);
}

// The list of additions comes first, as it may throw. The counts are stored with release, so that a
// reader that sees them finds the tombstone.
void RangeDeletes::Add(const Slice& begin, const Slice& end, SequenceNumber seq) {
  RangeTombstone tombstone{icmp_.WithoutTimestamp(begin).ToString(),
                           icmp_.WithoutTimestamp(end).ToString(), seq,
                           icmp_.TimestampOf(begin).ToString()};
  const size_t bytes = sizeof(tombstone) + begin.size() + end.size();
  MutexLock lock(&mu_);
  added_.push_back(std::move(tombstone));
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  changes_.fetch_add(1, std::memory_order_release);
  count_.fetch_add(1, std::memory_order_release);
}

// Tombstones that no read has taken over are erased at once. Those in lists are only counted: the
// lists do not change, and the next read builds new ones without them. No reader sees them until
// then, as their sequence numbers were never published.
void RangeDeletes::LeaveOut(const std::shared_ptr<const InvalidatedSequences>& invalidated) {
  MutexLock lock(&mu_);
  uint64_t gone =
      std::erase_if(added_, [&](const auto& t) { return invalidated->Contains(t.seq); });
  uint64_t in_lists = 0;
  if (const Readable* const readable = readable_.load(std::memory_order_relaxed)) {
    for (const List& list : readable->lists) {
      for (size_t i = 0; i < list->tombstone_count(); i++) {
        if (invalidated->Contains(list->tombstone(i).seq)) in_lists++;
      }
    }
  }
  VARVE_ASSERT(in_lists >= invalidated_in_lists_);
  gone += in_lists - invalidated_in_lists_;
  VARVE_ASSERT(gone <= count_.load(std::memory_order_relaxed));
  invalidated_ = invalidated;
  invalidated_in_lists_ = in_lists;
  changes_.fetch_add(1, std::memory_order_release);
  count_.fetch_sub(gone, std::memory_order_release);
}

template <typename Use>
void RangeDeletes::WithLists(Use use) const {
  if (count() == 0) return;
  const uint64_t needed = changes_.load(std::memory_order_acquire);
  // The lists must have all tombstones that were added before the call; later ones may be missing.
  for (;; TakeOver()) {
    // Within the epoch the lists stay, even if another reader replaces them. The epoch is left
    // before TakeOver, which may free replaced lists.
    const Epoch::Guard guard;
    const Readable* const readable = readable_.load(std::memory_order_acquire);
    if (readable != nullptr && readable->changes >= needed) return use(readable->lists);
  }
}

void RangeDeletes::Cover(PointLookup* lookup) const {
  WithLists([lookup](const std::vector<List>& lists) {
    // The newest tombstones are in the last lists, and may spare the search of those before.
    for (size_t i = lists.size(); i > 0; i--) lookup->CoverWith(*lists[i - 1]);
  });
}

std::vector<RangeDeletes::List> RangeDeletes::Lists() const {
  std::vector<List> result;
  WithLists([&result](const std::vector<List>& lists) { result = lists; });
  return result;
}

// Merges all of added_ and the lists after the first *kept, which is set to the number of unchanged
// lists.
RangeDeletes::List RangeDeletes::Merge(size_t* kept) const {
  std::vector<FragmentedTombstones::Tombstone> tombstones;
  for (const RangeTombstone& t : added_) {
    tombstones.push_back({t.start, t.end, t.seq, t.timestamp});
  }
  const Readable* const before = readable_.load(std::memory_order_relaxed);
  *kept = before == nullptr ? 0 : before->lists.size();
  // Lists shrink by half or more from the first to the last, so that a tombstone is merged only a
  // few times, and few lists are searched. If lists have tombstones to be left out, all are merged.
  for (; *kept > 0; --*kept) {
    const FragmentedTombstones& last = *before->lists[*kept - 1];
    if (invalidated_in_lists_ == 0 && last.tombstone_count() > kShrinkFactor * tombstones.size())
      break;
    for (size_t i = 0; i < last.tombstone_count(); i++) tombstones.push_back(last.tombstone(i));
  }
  if (invalidated_in_lists_ > 0) {
    std::erase_if(tombstones, [&invalidated = *invalidated_](const auto& t) {
      return invalidated.Contains(t.seq);
    });
  }
  return FragmentedTombstones::Build(std::move(tombstones), icmp_);
}

// Builds lists that include everything added so far, and publishes them. If memory is out, or the
// comparator throws, all stays as it was, and the read fails.
void RangeDeletes::TakeOver() const {
  MutexLock lock(&mu_);
  const Readable* const before = readable_.load(std::memory_order_relaxed);
  const uint64_t changes = changes_.load(std::memory_order_relaxed);
  if (before != nullptr && before->changes == changes) return;
  VARVE_ASSERT(before == nullptr || before->changes < changes);
  size_t kept = 0;
  List merged = Merge(&kept);
  auto next = std::make_unique<Readable>();
  next->changes = changes;
  if (before != nullptr) {
    next->lists.assign(before->lists.begin(), before->lists.begin() + static_cast<ptrdiff_t>(kept));
  }
  const bool large = merged->tombstone_count() >= kManyTombstones;
  // Tombstones that delete nothing are only counted.
  if (!merged->empty()) next->lists.push_back(std::move(merged));
  size_t bytes = sizeof(Readable);
  for (const List& list : next->lists) bytes += list->MemoryUsage();
  // From here on nothing may fail: added_ is in the lists now, and must not be merged twice.
  Replace(std::move(next), large);
  std::vector<RangeTombstone>().swap(added_);
  invalidated_in_lists_ = 0;
  bytes_.store(bytes, std::memory_order_relaxed);
}

// Publishes the new state. The old one is kept, with the epoch of its replacement, until all
// readers that may be in it have left; that is checked only now and then, or after a large copy.
void RangeDeletes::Replace(std::unique_ptr<const Readable> next, bool large) const {
  replaced_.emplace_back();  // The allocations come first.
  replaced_.back().second.reset(readable_.exchange(next.release(), std::memory_order_seq_cst));
  replaced_.back().first = Epoch::Stamp();
  if (replaced_.size() < kReplacedMost && !large) return;
  const uint64_t below = Epoch::FreeBelow();
  std::erase_if(replaced_, [below](const auto& one) { return one.first < below; });
}

}  // namespace varve
