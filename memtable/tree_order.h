// SPDX-License-Identifier: Apache-2.0
#pragma once

// The usual order of a memtable: the key tree, and the index over its keys.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "varve/status.h"

#include "memtable/entry.h"
#include "memtable/entry_arena.h"
#include "memtable/key_tree.h"
#include "memtable/operand_lists.h"
#include "memtable/point_index.h"
#include "util/iter/internal_iterator.h"
#include "util/key/internal_key.h"
#include "util/key/point_lookup.h"

namespace varve {

// Thread safety: all methods from any thread. Lifetime: the arena outlives it.
class TreeOrder {
 public:
  // `budget`: the bytes of a full table; outlives the object.
  TreeOrder(const InternalKeyComparator& icmp, EntryArena* arena, uint32_t nodes_at_once,
            const std::string& expected_prefix, const std::atomic<size_t>* budget);
  TreeOrder(const TreeOrder&) = delete;
  TreeOrder& operator=(const TreeOrder&) = delete;

  // TryAgain, with nothing changed, when the internal key is there. Throws std::bad_alloc.
  Status Add(SequenceNumber seq, ValueType type, const Slice& key, const Slice& value) {
    return Link(Make(seq, type, key, value));
  }
  // The same for at most KeyTree::kTogether; after a failure others than the one that failed may
  // be in.
  Status AddTogether(std::span<const MemTableEntry> entries);

  // After the tombstones and the filter of the memtable were asked.
  bool Get(PointLookup* lookup) const;
  void Prefetch(std::span<PointLookup* const> lookups) const {
    if (indexed_) index_.Prefetch(lookups);
  }
  [[nodiscard]] std::unique_ptr<InternalIterator> NewIterator() const;
  // About how many entries lie before the first one of `user_key`.
  [[nodiscard]] uint64_t EstimateRank(const Slice& user_key) const {
    return tree_.EstimateRank(user_key);
  }
  // See MemTable.
  bool CommonPrefix(std::string* prefix) const;
  [[nodiscard]] EntryTotals totals() const { return tree_.totals(); }
  // Beyond the arena.
  [[nodiscard]] size_t MemoryUsage() const { return index_.MemoryUsage() + lists_.MemoryUsage(); }

 private:
  // In the arena, and nowhere else so far.
  KeyTree::Addition Make(SequenceNumber seq, ValueType type, const Slice& key, const Slice& value) {
    const EntryArena::Piece piece = arena_->Allocate(MemEntry::BytesFor(key, value));
    const uint64_t trailer = PackSequenceAndType(seq, type);
    MemEntry::Write(piece.data, key, trailer, value);
    return {tree_.MakeTarget(key, trailer), piece.ref, value.size()};
  }
  Status Link(const KeyTree::Addition& entry) {
    if (!tree_.Insert(entry.target, entry.ref, entry.value_bytes)) [[unlikely]] {
      return IsThere();
    }
    if (indexed_ && index_.InUse()) Index({&entry, 1});
    return Status::OK();
  }
  static Status IsThere();
  void Index(std::span<const KeyTree::Addition> entries);
  // How many entries there will be when the table is full, as far as one can tell.
  [[nodiscard]] uint64_t EntriesWhenFull() const;
  bool GetOlder(const Slice& internal_key, PointLookup* lookup) const;

  const InternalKeyComparator icmp_;
  EntryArena* const arena_;
  const std::atomic<size_t>* const budget_;
  KeyTree tree_;
  mutable PointIndex index_;
  mutable OperandLists lists_;
  const bool indexed_;
};

}  // namespace varve
