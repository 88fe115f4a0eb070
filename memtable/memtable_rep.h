// SPDX-License-Identifier: Apache-2.0
#pragma once

// The seam after which every representation of a memtable's point entries stands, and the registry
// of those there are.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "varve/status.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"

namespace varve {

// Point entries in the order of internal keys. The memtable asks its range tombstones and its
// filter first, and leaves out voided sequences itself. Calls stand where a batch of work begins:
// a write batch's entries, a lookup, a walk.
//
// Thread safety: all methods from any thread. Whatever an Add that has returned has added is found.
// Lifetime: the arena outlives it, and it outlives its iterators.
class MemTableRep {
 public:
  static constexpr size_t kAddedTogether = 16;

  MemTableRep() = default;
  MemTableRep(const MemTableRep&) = delete;
  MemTableRep& operator=(const MemTableRep&) = delete;
  virtual ~MemTableRep() = default;

  // At least one entry and at most kAddedTogether, none of them a range tombstone. TryAgain for an
  // internal key that is there, unless the representation keeps both. Throws std::bad_alloc, and
  // what the comparator throws. After a failure others than the entry that failed may be in; a
  // single one is not.
  virtual Status Add(std::span<const MemTableEntry> entries) = 0;

  // Offers the lookup the entries of its key. True when the search is over.
  virtual bool Get(PointLookup* lookup) const = 0;
  // Asks for memory that a Get of each of these is likely to touch.
  virtual void Prefetch(std::span<PointLookup* const> /*lookups*/) const {}
  [[nodiscard]] virtual std::unique_ptr<InternalIterator> NewIterator() const = 0;

  // Whether entries are put in order by the first read after an addition, which takes time and
  // memory in proportion to the table; an iterator then keeps what it found. If not, a Seek finds
  // what was added since the one before.
  [[nodiscard]] virtual bool IsSortedByReads() const { return false; }
  // About how many entries lie before the first one of `user_key`.
  [[nodiscard]] virtual uint64_t EstimateRank(const Slice& user_key) const = 0;
  // What all keys begin with, shortened a little. False: unknown.
  virtual bool CommonPrefix(std::string* /*prefix*/) const { return false; }
  [[nodiscard]] virtual EntryTotals totals() const = 0;
  // Beyond the arena.
  [[nodiscard]] virtual size_t MemoryUsage() const = 0;

 protected:
  static Status IsThere() {
    return Status::TryAgain("memtable: the key is there with the same sequence number");
  }
  // What a Get may do that has found the lookup's place: offers the entries from there on, of which
  // next() returns one after the other, null at the end.
  template <typename Next>
  static bool OfferVersions(const InternalKeyComparator& icmp, PointLookup* lookup, Next next) {
    while (const MemEntry* const entry = next()) {
      Slice value;
      const Slice key = entry->internal_key(&value);
      if (!icmp.EqualKey(icmp.KeyOf(key), lookup->key())) break;
      if (!lookup->Sees(ExtractUserKey(key), ExtractTrailer(key))) continue;
      if (lookup->Offer(ExtractTrailer(key), value, nullptr)) return true;
    }
    // Whatever is older than this table is older than its tombstones as well.
    return lookup->EndIfCovered();
  }
};

// What a representation is made with.
struct MemTableRepContext {
  const InternalKeyComparator& icmp;
  EntryArena* arena;
  size_t largest_block;                           // of the arena
  const std::string& expected_prefix;             // what most keys are expected to begin with
  const std::atomic<size_t>* write_buffer_bytes;  // of a full table; outlives the representation
};

// A kind of memtable. `name`: the NickName() of the factory that stands for it in the options.
struct MemTableRepType {
  const char* name;
  std::unique_ptr<MemTableRep> (*make)(const MemTableRepContext& context);  // may throw bad_alloc
  bool tells_prefix = false;  // CommonPrefix is known once there are entries enough
};

// The registry: each kind is defined in a file of its own.
extern const MemTableRepType kBlockedSkipListRep;  // the default
extern const MemTableRepType kSkipListRep;
extern const MemTableRepType kVectorRep;
inline constexpr const MemTableRepType* kMemTableReps[] = {
    &kBlockedSkipListRep,
    &kSkipListRep,
    &kVectorRep,
};

// Null: there is none of that name.
[[nodiscard]] inline const MemTableRepType* FindMemTableRep(std::string_view name) {
  for (const MemTableRepType* const type : kMemTableReps) {
    if (type->name == name) return type;
  }
  return nullptr;
}

}  // namespace varve
