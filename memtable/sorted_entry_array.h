// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds the contents of an entry vector at one moment, in key order.

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
  [[nodiscard]] size_t MemoryUsage() const {
    return sizeof(*this) + prefixes_.common_prefix().capacity() + slots_.capacity() * sizeof(Slot);
  }

 private:
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
  [[nodiscard]] const MemEntry* EntryAt(ArenaOffset offset) const {
    return MemEntry::At(arena_.At(offset));
  }
  [[nodiscard]] Slot SlotOf(ArenaOffset offset) const {
    return {prefixes_.Of(EntryAt(offset)->user_key()), offset};
  }
  [[nodiscard]] bool IsBefore(const Slot& a, const Slot& b) const;
  // Returns <0 if the slot's key sorts before the other.
  [[nodiscard]] int Compare(const Slot& slot, uint64_t prefix, const Slice& user_key,
                            uint64_t trailer) const;

  const InternalKeyComparator icmp_;
  const EntryArena& arena_;
  const KeyPrefixes prefixes_;
  std::vector<Slot> slots_;
};

}  // namespace varve
