// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides what RocksDB's Java glue does with the bytes of a batch, and a list of its entries that
// stands for the memtable into which the glue's tests write it.

#include <cstdint>
#include <cstring>
#include <string>

#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

#include "db/memtable.h"

namespace varve {

// The header of a batch: its sequence number in eight bytes, its count in four, little-endian.
class WriteBatchInternal {
 public:
  static uint32_t Count(const WriteBatch* batch) { return batch->Count(); }
  static SequenceNumber Sequence(const WriteBatch* batch) {
    SequenceNumber sequence = 0;
    std::memcpy(&sequence, batch->Data().data(), sizeof(sequence));
    return sequence;
  }
  static void SetSequence(WriteBatch* batch, SequenceNumber sequence) {
    std::string bytes = batch->Data();
    std::memcpy(bytes.data(), &sequence, sizeof(sequence));
    *batch = WriteBatch(bytes);
  }
  // Appends the updates of `other`.
  static Status Append(WriteBatch* batch, const WriteBatch* other) {
    std::string bytes = batch->Data() + other->Data().substr(kHeaderBytes);
    const uint32_t count = batch->Count() + other->Count();
    std::memcpy(bytes.data() + sizeof(SequenceNumber), &count, sizeof(count));
    *batch = WriteBatch(bytes);
    return Status::OK();
  }
  // Lists the entries of the batch in the memtable.
  static Status InsertInto(const WriteBatch* batch, ColumnFamilyMemTablesDefault* memtables,
                           void* /*flush_scheduler*/, void* /*trim_history_scheduler*/) {
    MemTable::Inserter inserter(memtables->memtable(), Sequence(batch));
    return batch->Iterate(&inserter);
  }

 private:
  static constexpr size_t kHeaderBytes = 12;
};

}  // namespace varve
