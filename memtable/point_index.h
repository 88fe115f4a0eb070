// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines an index from hashes to the newest entry of each key, for tables that are read by key
// often enough.

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

// The hash index of one memtable. It costs nothing until the memtable has been read about once for
// every sixteen entries. Then readers and writers fill a table, a leaf of the list at a time, and
// the table serves point reads once it is complete.
//
// Thread safety: all methods may be called from any thread. Find waits for nothing; Added waits at
// most for one leaf's lock. Lifetime: the list must outlive it.
class PointIndex {
 public:
  // See Find.
  enum class Answer : uint8_t { kUnknown, kAbsent, kFound };

  PointIndex(const BlockedSkipList& list, const InternalKeyComparator& icmp);
  PointIndex(const PointIndex&) = delete;
  PointIndex& operator=(const PointIndex&) = delete;
  ~PointIndex();

  // Looks the key up. kFound: *entry is the newest entry of the key whose Add has returned, or a
  // newer one. kAbsent: no Add of the key has returned. kUnknown: the caller must search the list.
  // *entry has no meaning after the latter two.
  Answer Find(const PointLookup& lookup, const MemEntry** entry) const;
  // Prefetches the memory that Find of each of these touches first.
  void Prefetch(std::span<PointLookup* const> lookups) const;
  // True if there is a table that Added must add to. A caller checks this after the list has its
  // entry.
  bool InUse() const {
    // Acquire, in this order: a table that is no longer building is complete.
    return building_.load(std::memory_order_acquire) != nullptr ||
           complete_.load(std::memory_order_acquire) != nullptr;
  }
  // Must be called after a Find that returned kUnknown. Counts the read, and begins or continues
  // the building of a table once there were enough. `entries` is the list's number of entries.
  void Missed(uint64_t entries);

  // Adds an entry after the list has it, and before its Add returns. `entries_at_most` estimates
  // the final number of entries.
  void Added(const Slice& user_key, uint64_t trailer, ArenaOffset offset, uint64_t entries_at_most);

  // Returns the bytes of all tables, those that were replaced included.
  size_t MemoryUsage() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Table;

  // Makes the entry that of its key in `table`, unless that has a newer one. Returns false if there
  // is no room, or if the comparator threw, after which the table must not be used.
  bool Put(Table* table, const Slice& user_key, uint64_t trailer, uint64_t hash,
           ArenaOffset offset) const noexcept;
  // True if `entry`, an internal key, is newer than another version of its key.
  [[nodiscard]] bool IsNewer(const Slice& entry, const Slice& user_key, uint64_t trailer) const;
  // Makes a table for this many entries, which BuildStep then fills.
  void StartBuild(uint64_t entries) VARVE_EXCLUDES(mu_);
  // Adds the next leaf's entries, unless another thread is doing so. If the comparator throws, the
  // next step retries.
  void BuildStep() noexcept VARVE_EXCLUDES(mu_);
  // Adds the entries of the leaf at cursor_, and goes to the next.
  void AddLeaf(Table* table) VARVE_REQUIRES(mu_);

  const BlockedSkipList& list_;
  const InternalKeyComparator icmp_;
  // The table that serves reads, and the larger one being built. Release publishes an empty table,
  // or a full one.
  std::atomic<Table*> complete_{nullptr};
  std::atomic<Table*> building_{nullptr};
  // Statistics; they publish nothing.
  std::atomic<uint64_t> reads_{0};
  std::atomic<size_t> bytes_{0};
  std::atomic<bool> hopeless_{false};  // There was no memory.

  // Serves the building of tables; reads and Added take no lock.
  Mutex mu_{kPointIndexRank};
  // The next leaf to be added.
  const BlockedSkipList::Node* cursor_ VARVE_GUARDED_BY(mu_) = nullptr;
  // All tables ever made: a reader may still use an old one.
  std::vector<std::unique_ptr<Table>> tables_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
