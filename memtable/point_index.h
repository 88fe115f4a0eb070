// SPDX-License-Identifier: Apache-2.0
#pragma once

// The newest entry of each key, by hash, for tables that are read by key often enough.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "varve/slice.h"

#include "memtable/blocked_skip_list.h"
#include "memtable/lock_ranks.h"
#include "util/key/point_lookup.h"
#include "util/sync/mutex.h"

namespace varve {

// Costs nothing until a table has been read about once per sixteen entries. Then readers and
// writers fill it, a leaf of the list each, and it takes over point reads when it has everything.
//
// Thread safety: all methods from any thread. Find waits for nothing; Added for one leaf's lock.
class PointIndex {
 public:
  enum class Answer : uint8_t { kUnknown, kAbsent, kFound };

  PointIndex(const BlockedSkipList& list, const InternalKeyComparator& icmp);
  PointIndex(const PointIndex&) = delete;
  PointIndex& operator=(const PointIndex&) = delete;
  ~PointIndex();

  // kFound: *entry is the newest entry of the key whose Add has returned, or a newer one.
  // kAbsent: no Add of the key has returned. kUnknown: ask the list.
  Answer Find(const PointLookup& lookup, const MemEntry** entry) const;
  // Asks for the memory that Find of each of these will look at first.
  void Prefetch(std::span<PointLookup* const> lookups) const;
  // Whether there is anything to add to. A caller asks after the list has its entry.
  bool InUse() const {
    // Acquire, in this order: a table that is no longer building is complete.
    return building_.load(std::memory_order_acquire) != nullptr ||
           complete_.load(std::memory_order_acquire) != nullptr;
  }
  // After a Find that knew nothing; `entries` is how many the list has.
  void Missed(uint64_t entries);

  // After the list has it, and before the Add returns. `entries_at_most`: an estimate of how many
  // there will be.
  void Added(const Slice& user_key, uint64_t trailer, ArenaOffset offset, uint64_t entries_at_most);

  size_t MemoryUsage() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Table;

  // False when there is no room, or the comparator threw, after which the table must not be asked.
  bool Put(Table* table, const Slice& user_key, uint64_t trailer, uint64_t hash,
           ArenaOffset offset) const noexcept;
  // Whether an entry of the key, given as an internal key, comes before another version of it.
  [[nodiscard]] bool IsNewer(const Slice& entry, const Slice& user_key, uint64_t trailer) const;
  void StartBuild(uint64_t entries) VARVE_EXCLUDES(mu_);
  // Adds what is in the next leaf, unless another thread does. A comparator that throws leaves it
  // to the next step.
  void BuildStep() noexcept VARVE_EXCLUDES(mu_);
  void AddLeaf(Table* table) VARVE_REQUIRES(mu_);

  const BlockedSkipList& list_;
  const InternalKeyComparator icmp_;
  // The one that answers, and the larger one that will. Release publishes an empty table, or a
  // full one.
  std::atomic<Table*> complete_{nullptr};
  std::atomic<Table*> building_{nullptr};
  // Statistics; they publish nothing.
  std::atomic<uint64_t> reads_{0};
  std::atomic<size_t> bytes_{0};
  std::atomic<bool> hopeless_{false};  // there was no memory

  Mutex mu_{kPointIndexRank};
  const BlockedSkipList::Node* cursor_ VARVE_GUARDED_BY(mu_) = nullptr;
  // All that ever were: a reader may still look at an old one.
  std::vector<std::unique_ptr<Table>> tables_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
