// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements ColumnFamilyOptions::max_successive_merges: if a key has this many merge operands in a
// row, the next one is written into the memtable as their merged value. The log has the operand all
// the same, and its replay gives the same result.

#include <string>

#include "db/column_family/memtable_resolver.h"
#include "db/engine/db_state.h"

namespace varve {

// Resolves families for one write that is in the commit path, during which families are neither
// created nor dropped, and merges its operands where the option asks for that.
//
// Thread safety: none. Lifetime: the state must outlive it.
class FoldingResolver : public MemTableResolver {
 public:
  // `sequence` is that of the write's first update.
  FoldingResolver(DbState* state, SequenceNumber sequence) : state_(*state), first_(sequence) {}

  MemTable* Find(uint32_t family) override { return state_.families.Find(family); }
  const Comparator* ComparatorOf(uint32_t family) override {
    return state_.families.ComparatorOf(family);
  }
  bool FoldsMerges(uint32_t family) override;
  // Merges the operand of the user key onto the value below it, and sets *value and *form to the
  // result. Returns false, with both undefined, if there are too few operands below, if that value
  // is not available at once (its blocks are not in the cache, unless strict_max_successive_merges
  // allows reads, or earlier writes are slow), or if the operator fails.
  bool FoldMerge(uint32_t family, SequenceNumber sequence, const Slice& key, const Slice& operand,
                 std::string* value, ValueForm* form) override;

 private:
  // Returns null for an unknown family.
  ColumnFamily* FamilyOf(uint32_t id);
  // Returns true once all earlier writes are in the memtables; waits for them, but only briefly.
  [[nodiscard]] bool AllBeforeAreIn() const;

  DbState& state_;
  const SequenceNumber first_;
  ColumnFamily* last_family_ = nullptr;  // the family of the last call
};

}  // namespace varve
