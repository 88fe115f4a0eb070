// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the interface of all representations of a memtable's point entries, and the registry of
// representations.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "varve/memtablerep.h"
#include "varve/status.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"

namespace varve {

// Stores point entries in the order of internal keys. The memtable checks its range tombstones and
// its filter first, and hides invalidated sequences itself. There is one virtual call for each
// batch of work: a write batch's entries, a lookup, a walk.
//
// Thread safety: all methods may be called from any thread. Reads find everything added by an Add
// that has returned. Lifetime: the arena outlives the representation, which outlives its iterators.
class MemTableRep {
 public:
  // Number of entries that one Add takes at most.
  static constexpr size_t kAddedTogether = 16;

  MemTableRep() = default;
  MemTableRep(const MemTableRep&) = delete;
  MemTableRep& operator=(const MemTableRep&) = delete;
  virtual ~MemTableRep() = default;

  // Adds at least one entry and at most kAddedTogether. Requires that none is a range tombstone.
  // Returns TryAgain for an internal key that is there, unless the representation keeps both.
  // Throws std::bad_alloc, and what the comparator throws. After a failure, entries other than the
  // one that failed may be in; a single one is not.
  virtual Status Add(std::span<const MemTableEntry> entries) = 0;

  // Offers the lookup the entries of its key. Returns true if the search is over. Throws
  // std::bad_alloc, and what the comparator throws.
  virtual bool Get(PointLookup* lookup) const = 0;
  // Prefetches memory that a Get of each of these probably touches.
  virtual void Prefetch(std::span<PointLookup* const> /*lookups*/) const {}
  // Returns an iterator over all entries. The representation must outlive it.
  [[nodiscard]] virtual std::unique_ptr<InternalIterator> NewIterator() const = 0;

  // True if the first read after an addition sorts the entries, which takes time and memory in
  // proportion to the table; an iterator then keeps what it found. If false, a Seek finds what was
  // added since the previous one.
  [[nodiscard]] virtual bool IsSortedByReads() const { return false; }
  // Estimates the number of entries before the first one of `user_key`.
  [[nodiscard]] virtual uint64_t EstimateRank(const Slice& user_key) const = 0;
  // Sets *prefix to the common prefix of all keys, shortened a little. Returns false, and leaves
  // *prefix, if it is unknown.
  virtual bool CommonPrefix(std::string* /*prefix*/) const { return false; }
  [[nodiscard]] virtual EntryTotals totals() const = 0;
  // Returns the bytes beyond the arena.
  [[nodiscard]] virtual size_t MemoryUsage() const = 0;

 protected:
  // Returns the error for an entry whose internal key is there.
  static Status IsThere() {
    return Status::TryAgain("memtable: the key is there with the same sequence number");
  }
  // Helps a Get that has found the lookup's place: offers the entries from there on. next() returns
  // them one after the other, null at the end.
  template <typename Next>
  static bool OfferVersions(const InternalKeyComparator& icmp, PointLookup* lookup, Next next) {
    while (const MemEntry* const entry = next()) {
      Slice value;
      const Slice key = entry->internal_key(&value);
      if (!icmp.EqualKey(icmp.KeyOf(key), lookup->key())) break;
      if (!lookup->Sees(ExtractUserKey(key), ExtractTrailer(key))) continue;
      if (lookup->Offer(ExtractTrailer(key), value, nullptr)) return true;
    }
    // Everything older than this table is older than its tombstones as well.
    return lookup->EndIfCovered();
  }
};

// The arguments for creating a representation, which does not own them; pointers and references
// outlive it.
struct MemTableRepContext {
  const InternalKeyComparator& icmp;
  EntryArena* arena;
  size_t largest_block;                           // The arena's largest block.
  const std::string& expected_prefix;             // The expected beginning of most keys.
  const std::atomic<size_t>* write_buffer_bytes;  // Bytes of a full table.
};

// A kind of memtable. `name` is the NickName() of its factory in the options.
struct MemTableRepType {
  const char* name;
  std::unique_ptr<MemTableRep> (*make)(const MemTableRepContext& context);  // May throw
                                                                            // std::bad_alloc.
  bool tells_prefix = false;  // CommonPrefix is known once there are enough entries.
};

// The registry: each kind is defined in a file of its own.
extern const MemTableRepType kBlockedSkipListRep;  // The default.
extern const MemTableRepType kSkipListRep;
extern const MemTableRepType kVectorRep;
inline constexpr const MemTableRepType* kMemTableReps[] = {
    &kBlockedSkipListRep,
    &kSkipListRep,
    &kVectorRep,
};

// Returns the kind of that name, or null. The names of RocksDB's hash lists stand for the default
// list, which can do all that those can.
[[nodiscard]] inline const MemTableRepType* FindMemTableRep(std::string_view name) {
  if (name == HashSkipListRepFactory::kNickName() || name == HashLinkListRepFactory::kNickName()) {
    return &kBlockedSkipListRep;
  }
  for (const MemTableRepType* const type : kMemTableReps) {
    if (type->name == name) return type;
  }
  return nullptr;
}

}  // namespace varve
