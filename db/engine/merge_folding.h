// SPDX-License-Identifier: Apache-2.0
#pragma once

// max_successive_merges: where a key has so many merge operands on top of each other, the next one
// is written into the memtable as the value that they make.

#include <string>

#include "db/column_family/memtable_resolver.h"
#include "db/engine/db_state.h"

namespace varve {

// The families of the database, for one write that is in the commit path, which keeps families from
// being created and dropped meanwhile. The log has the operand; replaying it comes to the same.
//
// Thread safety: none. Lifetime: the state outlives it.
class FoldingResolver : public MemTableResolver {
 public:
  // `sequence`: of the write's first update.
  FoldingResolver(DbState* state, SequenceNumber sequence) : state_(*state), first_(sequence) {}

  MemTable* Find(uint32_t family) override { return state_.families.Find(family); }
  const Comparator* ComparatorOf(uint32_t family) override {
    return state_.families.ComparatorOf(family);
  }
  bool FoldsMerges(uint32_t family) override;
  // Leaves an operand alone where the value below cannot be had: its blocks are not in the cache,
  // unless strict_max_successive_merges, the operator fails, or writes before this one are slow.
  bool FoldMerge(uint32_t family, SequenceNumber sequence, const Slice& key, const Slice& operand,
                 std::string* value) override;

 private:
  // Null for an unknown family.
  ColumnFamily* FamilyOf(uint32_t id);
  // Whether all writes before this one are in, or soon are.
  [[nodiscard]] bool AllBeforeAreIn() const;

  DbState& state_;
  const SequenceNumber first_;
  ColumnFamily* last_family_ = nullptr;  // that was asked for
};

}  // namespace varve
