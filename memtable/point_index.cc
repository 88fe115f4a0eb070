// SPDX-License-Identifier: Apache-2.0

// Implements open addressing over cells of 32 bits of hash and 32 bits of arena offset; 0 is a free
// cell.

#include "memtable/point_index.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "util/base/assert.h"
#include "util/coding/hash.h"
#include "util/mem/huge_pages.h"
#include "util/mem/prefetch.h"

namespace varve {

namespace {

// The first table is built after kReadsAtLeast reads, and after one read for every kEntriesPerRead
// entries of the list.
constexpr uint64_t kReadsAtLeast = 64;
constexpr uint64_t kEntriesPerRead = 16;
constexpr size_t kMinSlots = 256;  // cells of the smallest table
// Keys chosen to collide disable the index, but do not slow the table.
constexpr size_t kMaxProbes = 256;

}  // namespace

// A hash table of a fixed size, with linear probing. A cell has the upper half of the hash and the
// offset of the key's newest entry.
struct PointIndex::Table {
  using Cell = std::atomic<uint64_t>;

  explicit Table(size_t slots) : mask(slots - 1) {
    VARVE_ASSERT(std::has_single_bit(slots));
    const size_t bytes = slots * sizeof(Cell);
    huge = bytes >= kHugePageBytes;
    cells = huge ? reinterpret_cast<Cell*>(AllocateHugePages(bytes)) : new Cell[slots]();
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() {
    if (huge) {
      FreePages(reinterpret_cast<char*>(cells), bytes());
    } else {
      delete[] cells;
    }
  }
  [[nodiscard]] size_t bytes() const { return (mask + 1) * sizeof(Cell); }

  const size_t mask;
  bool huge;
  Cell* cells;
  // A statistic.
  std::atomic<size_t> used{0};
  // Something is missing. Set before the Add of the missing entry returns, whose publication also
  // publishes this.
  std::atomic<bool> overflowed{false};
};

PointIndex::PointIndex(const BlockedSkipList& list, const InternalKeyComparator& icmp)
    : list_(list), icmp_(icmp) {}

PointIndex::~PointIndex() = default;

// Probes cells from the hash on until the key's cell or a free one. A key that would be further
// away than kMaxProbes is not in the table: its Put has set `overflowed`.
PointIndex::Answer PointIndex::Find(const PointLookup& lookup, const MemEntry** entry) const {
  const Table* const table = complete_.load(std::memory_order_acquire);
  // A table that lacks an entry cannot say that a key is absent.
  if (table == nullptr || table->overflowed.load(std::memory_order_relaxed)) {
    return Answer::kUnknown;
  }
  const Slice key = lookup.key();
  const uint64_t hash = lookup.hash();
  const uint64_t tag = hash >> 32;
  for (size_t i = 0, at = hash & table->mask; i < kMaxProbes; i++, at = (at + 1) & table->mask) {
    // Acquire: the entry is visible.
    const uint64_t cell = table->cells[at].load(std::memory_order_acquire);
    // Cells are never emptied, so an entry of the key would be at or before this one.
    if (cell == 0) return Answer::kAbsent;
    if (cell >> 32 != tag) continue;
    *entry = list_.EntryAt(static_cast<ArenaOffset>(cell));
    if (icmp_.EqualKey(icmp_.KeyOf((*entry)->internal_key()), key)) return Answer::kFound;
    *entry = nullptr;
  }
  return Answer::kAbsent;
}

void PointIndex::Prefetch(std::span<PointLookup* const> lookups) const {
  const Table* const table = complete_.load(std::memory_order_acquire);
  if (table == nullptr) return;
  // All cells are asked for before the first is read, which leads to its entry.
  for (const PointLookup* lookup : lookups) {
    PrefetchLine(&table->cells[lookup->hash() & table->mask]);
  }
  for (const PointLookup* lookup : lookups) {
    const uint64_t hash = lookup->hash();
    // Acquire: the memory at the offset is visible.
    const uint64_t cell = table->cells[hash & table->mask].load(std::memory_order_acquire);
    if (cell != 0 && cell >> 32 == hash >> 32) {
      PrefetchLine(list_.EntryAt(static_cast<ArenaOffset>(cell)));
    }
  }
}

void PointIndex::Missed(uint64_t entries) {
  if (hopeless_.load(std::memory_order_relaxed)) return;
  if (building_.load(std::memory_order_acquire) != nullptr) return BuildStep();
  // Building costs a walk over the list; a table that is mostly written need not pay for it.
  const uint64_t reads = reads_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (reads >= kReadsAtLeast && reads * kEntriesPerRead >= entries) StartBuild(2 * entries);
}

// The entry goes into every table that readers may use now or later: the complete one, and the one
// that is being built, whose builder may have passed the entry's leaf already.
void PointIndex::Added(const Slice& user_key, uint64_t trailer, ArenaOffset offset,
                       uint64_t entries_at_most) {
  const uint64_t hash = KeyHash64(icmp_.WithoutTimestamp(user_key));
  // Loaded in this order, because AddLeaf stores complete_ before it clears building_: a table that
  // is not found here as the one being built any more is found as the complete one.
  Table* const building = building_.load(std::memory_order_acquire);
  Table* const complete = complete_.load(std::memory_order_acquire);
  if (building != nullptr) Put(building, user_key, trailer, hash, offset);
  if (complete != nullptr && complete != building) {
    Put(complete, user_key, trailer, hash, offset);
    // A table that is five eighths full is replaced by one for twice as many keys, or up to four
    // times as many if the memtable is expected to have them.
    const size_t used = complete->used.load(std::memory_order_relaxed);
    if (building == nullptr && used > complete->mask / 8 * 5) {
      StartBuild(std::max<uint64_t>(2 * used, std::min<uint64_t>(4 * used, entries_at_most)));
    }
  }
  // Each addition moves the build on by a leaf, so that it ends, and no thread waits for all of it.
  if (building_.load(std::memory_order_relaxed) != nullptr) BuildStep();
}

// Puts the entry into the key's cell, or the first free one, unless a newer entry of the key is
// there. Several threads may try at once; each lost swap is judged again.
bool PointIndex::Put(Table* table, const Slice& user_key, uint64_t trailer, uint64_t hash,
                     ArenaOffset offset) const noexcept try {
  const uint64_t tag = hash >> 32;
  const uint64_t own = tag << 32 | offset;
  VARVE_ASSERT(own != 0);
  size_t at = hash & table->mask;
  for (size_t i = 0; i < kMaxProbes; i++, at = (at + 1) & table->mask) {
    std::atomic<uint64_t>& cell = table->cells[at];
    uint64_t seen = cell.load(std::memory_order_acquire);
    for (;;) {
      if (seen != 0) {
        if (seen >> 32 != tag) break;
        const Slice other = list_.EntryAt(static_cast<ArenaOffset>(seen))->internal_key();
        if (!icmp_.EqualKey(icmp_.KeyOf(other), icmp_.WithoutTimestamp(user_key))) break;
        if (IsNewer(other, user_key, trailer)) return true;
      }
      // Release publishes the entry. After a failure `seen` has another version, or another key.
      if (cell.compare_exchange_weak(seen, own, std::memory_order_release,
                                     std::memory_order_acquire)) {
        if (seen == 0) table->used.fetch_add(1, std::memory_order_relaxed);
        return true;
      }
    }
  }
  table->overflowed.store(true, std::memory_order_relaxed);
  return false;
} catch (...) {
  table->overflowed.store(true, std::memory_order_relaxed);
  return false;
}

bool PointIndex::IsNewer(const Slice& entry, const Slice& user_key, uint64_t trailer) const {
  if (icmp_.timestamp_size() != 0) [[unlikely]] {
    const int order = icmp_.CompareUserKey(ExtractUserKey(entry), user_key);
    if (order != 0) return order < 0;
  }
  return ExtractTrailer(entry) >= trailer;
}

// Does nothing if another thread is building, or if there is a table of that size. If there is no
// memory, no table is tried again.
void PointIndex::StartBuild(uint64_t entries) {
  if (hopeless_.load(std::memory_order_relaxed) || !mu_.TryLock()) return;
  const Table* const complete = complete_.load(std::memory_order_relaxed);
  // With all `entries` in it, the table is at most two thirds full.
  const size_t slots = std::bit_ceil(std::max<size_t>(kMinSlots, entries + entries / 2));
  if (building_.load(std::memory_order_relaxed) == nullptr &&
      (complete == nullptr || complete->mask + 1 < slots)) {
    try {
      tables_.reserve(tables_.size() + 1);
      tables_.push_back(std::make_unique<Table>(slots));
      bytes_.fetch_add(tables_.back()->bytes() + sizeof(Table), std::memory_order_relaxed);
      cursor_ = list_.FirstLeaf();
      // Release publishes the free cells.
      building_.store(tables_.back().get(), std::memory_order_release);
    } catch (const std::bad_alloc&) {
      hopeless_.store(true, std::memory_order_relaxed);
    }
  }
  mu_.Unlock();
}

void PointIndex::BuildStep() noexcept {
  if (!mu_.TryLock()) return;
  Table* const table = building_.load(std::memory_order_relaxed);
  try {
    if (table != nullptr) AddLeaf(table);
  } catch (...) {
    // The comparator threw while the leaf was copied, before cursor_ moved: the next step retries.
  }
  mu_.Unlock();
}

void PointIndex::AddLeaf(Table* table) {
  VARVE_ASSERT(cursor_ != nullptr && building_.load(std::memory_order_relaxed) == table);
  BlockedSkipList::LeafCopy leaf;
  // The lock of the leaf decides for every entry: it was put in before, and is in the copy, or its
  // writer sees the table that is being built.
  cursor_ = list_.CopyLocked(cursor_, &leaf);
  for (uint32_t i = 0; i < leaf.count; i++) PrefetchLine(list_.EntryAt(leaf.slots[i].offset));
  // The copy is in order, newest first: the first entry of a key is the one to keep.
  for (uint32_t i = 0; i < leaf.count; i++) {
    const ArenaOffset offset = leaf.slots[i].offset;
    const Slice key = list_.EntryAt(offset)->internal_key();
    const Slice user_key = ExtractUserKey(key);
    Put(table, user_key, ExtractTrailer(key), KeyHash64(icmp_.WithoutTimestamp(user_key)), offset);
  }
  if (cursor_ != nullptr) return;
  // Release publishes the cells. The order of the stores ensures that no thread finds neither
  // table.
  complete_.store(table, std::memory_order_release);
  building_.store(nullptr, std::memory_order_release);
}

}  // namespace varve
