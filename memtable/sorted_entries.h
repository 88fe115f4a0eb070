// SPDX-License-Identifier: Apache-2.0
#pragma once

// What an entry vector held at one moment, in key order.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "varve/slice.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/key_words.h"
#include "util/key/internal_key.h"

namespace varve {

// Thread safety: immutable. Lifetime: the arena outlives it.
class SortedEntries {
 public:
  // `before`, which may be null, and the entries of `added`. Costs a sort of the added ones, which
  // takes as much memory again while it lasts, and one walk over the others. Throws std::bad_alloc.
  static std::shared_ptr<const SortedEntries> Merge(const SortedEntries* before,
                                                    std::span<const EntryRef> added,
                                                    const InternalKeyComparator& icmp,
                                                    const EntryArena& arena);

  [[nodiscard]] size_t size() const { return slots_.size(); }
  [[nodiscard]] const MemEntry* operator[](size_t i) const { return EntryAt(slots_[i].ref); }
  // Whether the entries, which are neighbours, are known to be of different keys.
  [[nodiscard]] bool DifferInWord(size_t a, size_t b) const {
    return slots_[a].word != slots_[b].word;
  }
  // How many lie before the internal key, or are not behind it.
  [[nodiscard]] size_t CountBefore(const Slice& user_key, uint64_t trailer) const;
  [[nodiscard]] size_t CountThrough(const Slice& user_key, uint64_t trailer) const;
  [[nodiscard]] size_t MemoryUsage() const {
    return sizeof(*this) + words_.prefix().capacity() + slots_.capacity() * sizeof(Slot);
  }

 private:
  struct Slot {
    uint64_t word;
    EntryRef ref;
  };

  SortedEntries(const InternalKeyComparator& icmp, const EntryArena& arena,
                const std::string& prefix)
      : icmp_(icmp), arena_(arena), words_(icmp, prefix) {}

  // What all keys begin with. `before`, which may be null, is not empty.
  static std::string CommonPrefix(const SortedEntries* before, std::span<const EntryRef> added,
                                  const InternalKeyComparator& icmp, const EntryArena& arena);
  [[nodiscard]] const MemEntry* EntryAt(EntryRef ref) const { return MemEntry::At(arena_.At(ref)); }
  [[nodiscard]] Slot SlotOf(EntryRef ref) const {
    return {words_.Of(EntryAt(ref)->user_key()), ref};
  }
  [[nodiscard]] bool IsBefore(const Slot& a, const Slot& b) const;
  void Sort(std::vector<Slot>* slots) const;
  // <0 when the slot's key sorts before the other.
  [[nodiscard]] int Compare(const Slot& slot, uint64_t word, const Slice& user_key,
                            uint64_t trailer) const;

  const InternalKeyComparator icmp_;
  const EntryArena& arena_;
  const KeyWords words_;
  std::vector<Slot> slots_;
};

}  // namespace varve
