// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the records of a batch go.

#include <cstdint>
#include <string>

#include "varve/comparator.h"

#include "memtable/memtable.h"

namespace varve {

// How a batch's records find their memtable. Implemented by the column-family set.
class MemTableResolver {
 public:
  virtual ~MemTableResolver() = default;
  // The memtable that takes the family's writes, or null for an unknown or dropped family.
  virtual MemTable* Find(uint32_t column_family) = 0;
  // The family's user comparator, or null for an unknown or dropped family.
  virtual const Comparator* ComparatorOf(uint32_t column_family) = 0;
  // For messages.
  virtual std::string NameOf(uint32_t column_family) { return std::to_string(column_family); }
  // False also for an unknown family.
  virtual bool HasMergeOperator(uint32_t /*column_family*/) { return false; }
  // Whether FoldMerge is worth asking for the family's merges.
  virtual bool FoldsMerges(uint32_t /*column_family*/) { return false; }
  // True with a value: the operand is to be inserted as that, not as it is. All updates before
  // `sequence` in the same batch are in the memtable.
  virtual bool FoldMerge(uint32_t /*column_family*/, SequenceNumber /*sequence*/,
                         const Slice& /*key*/, const Slice& /*operand*/, std::string* /*value*/) {
    return false;
  }
  // While logs are replayed: true when updates of this family in the log are already in tables.
  virtual bool IsAlreadyInTables(uint32_t /*column_family*/) { return false; }
};

}  // namespace varve
