// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the contents of an entry vector at one moment, in key order.
//
//      slots_   [ prefix | offset ][ prefix | offset ][ prefix | offset ] ...    ascending
//                           |            |
//      arena    ... entry ............ entry ...                                 as they arrived
//
// The prefix is the eight bytes after what all keys have in common, as a number. A binary search
// compares prefixes, which lie side by side, and touches an entry in the arena only where prefixes
// are equal.
//
// An entry vector grows by appending, and sorts when it is first read. Merge makes the array for a
// later moment: only the entries that were added since are sorted, and both runs are merged.
// Readers of the older array go on using it; shared_ptr frees it with its last reader.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/key_prefixes.h"
#include "util/base/assert.h"
#include "util/key/internal_key.h"

namespace varve {

// Thread safety: immutable. Lifetime: the arena outlives it.
class SortedEntryArray {
 public:
  // Returns the entries of `before`, which may be null, and of `added`. Costs a sort of the added
  // ones, which temporarily takes as much memory again, and one walk over the others. Throws
  // std::bad_alloc.
  static std::shared_ptr<const SortedEntryArray> Merge(const SortedEntryArray* before,
                                                       std::span<const ArenaOffset> added,
                                                       const InternalKeyComparator& icmp,
                                                       const EntryArena& arena);

  // Returns the number of entries.
  [[nodiscard]] size_t size() const { return slots_.size(); }
  [[nodiscard]] const MemEntry* operator[](size_t i) const {
    VARVE_ASSERT(i < slots_.size());
    return EntryAt(slots_[i].offset);
  }
  // True if the entries, which must be adjacent, are known to have different keys.
  [[nodiscard]] bool DifferInPrefix(size_t a, size_t b) const {
    return slots_[a].prefix != slots_[b].prefix;
  }
  // Return the number of entries before the internal key, or not after it.
  [[nodiscard]] size_t CountBefore(const Slice& user_key, uint64_t trailer) const;
  [[nodiscard]] size_t CountThrough(const Slice& user_key, uint64_t trailer) const;
  // Returns the bytes of the array, without those of the entries.
  [[nodiscard]] size_t MemoryUsage() const {
    return sizeof(*this) + prefixes_.common_prefix().capacity() + slots_.capacity() * sizeof(Slot);
  }

 private:
  // An entry, with its key prefix.
  struct Slot {
    uint64_t prefix;
    ArenaOffset offset;
  };

  SortedEntryArray(const InternalKeyComparator& icmp, const EntryArena& arena,
                   const std::string& common_prefix)
      : icmp_(icmp), arena_(arena), prefixes_(icmp, common_prefix) {}

  // Returns the common prefix of all keys. `before` may be null, but not empty.
  static std::string CommonPrefix(const SortedEntryArray* before,
                                  std::span<const ArenaOffset> added,
                                  const InternalKeyComparator& icmp, const EntryArena& arena);
  // Returns the entry at an offset of the arena.
  [[nodiscard]] const MemEntry* EntryAt(ArenaOffset offset) const {
    return MemEntry::At(arena_.At(offset));
  }
  [[nodiscard]] Slot SlotOf(ArenaOffset offset) const {
    return {prefixes_.Of(EntryAt(offset)->user_key()), offset};
  }
  // True if slot `a` comes first.
  [[nodiscard]] bool IsBefore(const Slot& a, const Slot& b) const;
  // Returns <0 if the slot's key sorts before the other.
  [[nodiscard]] int Compare(const Slot& slot, uint64_t prefix, const Slice& user_key,
                            uint64_t trailer) const;

  const InternalKeyComparator icmp_;
  const EntryArena& arena_;
  // Computes prefixes after what all keys of this array have in common.
  const KeyPrefixes prefixes_;
  // All entries, ascending by internal key.
  std::vector<Slot> slots_;
};

}  // namespace varve
