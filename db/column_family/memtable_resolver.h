// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the memtables for the records of a batch.

#include <cstdint>
#include <string>

#include "varve/comparator.h"

#include "memtable/memtable.h"
#include "util/key/entity.h"

namespace varve {

// Maps a batch's records to their memtables. Implemented by the column-family set, whose comment
// says which methods need the commit path and which may be called from any thread.
class MemTableResolver {
 public:
  virtual ~MemTableResolver() = default;
  // Returns the memtable for the family's writes, or null for an unknown or dropped family.
  virtual MemTable* Find(uint32_t column_family) = 0;
  // Returns the family's user comparator, or null for an unknown or dropped family.
  virtual const Comparator* ComparatorOf(uint32_t column_family) = 0;
  // Returns a name for messages.
  virtual std::string NameOf(uint32_t column_family) { return std::to_string(column_family); }
  // Returns false also for an unknown family.
  virtual bool HasMergeOperator(uint32_t /*column_family*/) { return false; }
  // Returns an error for a family whose tables cannot hold range deletions.
  virtual Status CheckRangeDeletions(uint32_t /*column_family*/) { return Status::OK(); }
  // True if FoldMerge is worth calling for the family's merges.
  virtual bool FoldsMerges(uint32_t /*column_family*/) { return false; }
  // Merges a new operand with what the memtable and the tables have of the key, if that is wanted
  // (max_successive_merges). Returns true, and sets *value and *form, if that value is to be
  // inserted instead of the operand. Requires that all earlier updates of the same batch are in the
  // memtable.
  virtual bool FoldMerge(uint32_t /*column_family*/, SequenceNumber /*sequence*/,
                         const Slice& /*key*/, const Slice& /*operand*/, std::string* /*value*/,
                         ValueForm* /*form*/) {
    return false;
  }
  // True if, during log replay, updates of this family in the log are already in tables.
  virtual bool IsAlreadyInTables(uint32_t /*column_family*/) { return false; }
};

}  // namespace varve
