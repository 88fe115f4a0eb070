// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "varve/comparator.h"

#include "memtable/memtable.h"
#include "util/key/entity.h"

namespace varve {

// Finds the memtables and other properties of families for the records of a batch. See
// ColumnFamilySet for the methods that require the commit path.
class MemTableResolver {
 public:
  virtual ~MemTableResolver() = default;
  // Returns the memtable for the family's writes, or null for an unknown or dropped family.
  virtual MemTable* Find(uint32_t column_family) = 0;
  // Returns the family's user comparator, or null for an unknown or dropped family.
  virtual const Comparator* ComparatorOf(uint32_t column_family) = 0;
  // Returns a name for messages.
  virtual std::string NameOf(uint32_t column_family) { return std::to_string(column_family); }
  // Returns false for an unknown family, too.
  virtual bool HasMergeOperator(uint32_t /*column_family*/) { return false; }
  // Returns NotSupported for a family whose tables cannot have range deletions.
  virtual Status CheckRangeDeletions(uint32_t /*column_family*/) { return Status::OK(); }
  // Returns true if FoldMerge should be called for merges of the family.
  virtual bool FoldsMerges(uint32_t /*column_family*/) { return false; }
  // Merges a new operand with the existing value and operands of the user key if
  // max_successive_merges requires that. Returns true, and sets *value and *form, if that value
  // must be inserted instead of the operand. If it returns false, *value and *form have no meaning.
  // Requires FoldsMerges(), and that all earlier updates of the same batch are in the memtable.
  virtual bool FoldMerge(uint32_t /*column_family*/, SequenceNumber /*sequence*/,
                         const Slice& /*user_key*/, const Slice& /*operand*/,
                         std::string* /*value*/, ValueForm* /*form*/) {
    return false;
  }
  // Returns true if the family's updates in the log that is being replayed are already in tables.
  virtual bool IsAlreadyInTables(uint32_t /*column_family*/) { return false; }
};

}  // namespace varve
