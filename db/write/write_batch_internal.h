// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the engine may do to a batch and its users may not.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

#include "db/write/batch_reader.h"
#include "util/coding/fixed.h"

namespace varve {

// Adopted bytes may be shorter than a header: reads of one then give 0, and changes do nothing.
class WriteBatchInternal {
 public:
  static SequenceNumber Sequence(const WriteBatch& batch) {
    return batch.rep_.size() < kBatchHeaderBytes ? 0 : DecodeFixed64(batch.rep_.data());
  }
  static void SetSequence(WriteBatch* batch, SequenceNumber sequence) {
    if (batch->rep_.size() >= kBatchHeaderBytes) EncodeFixed64(batch->rep_.data(), sequence);
  }
  static uint32_t Count(const WriteBatch& batch) {
    return batch.rep_.size() < kBatchHeaderBytes ? 0 : DecodeFixed32(batch.rep_.data() + 8);
  }
  static void SetCount(WriteBatch* batch, uint32_t count) {
    if (batch->rep_.size() >= kBatchHeaderBytes) EncodeFixed32(batch->rep_.data() + 8, count);
  }
  static const std::string& Contents(const WriteBatch& batch) { return batch.rep_; }
  // After a change through this pointer the Has...() calls may be wrong.
  static std::string* Rep(WriteBatch* batch) { return &batch->rep_; }
  // Takes over `rep`; it is checked when it is used.
  static void SetContents(WriteBatch* batch, const Slice& rep);

  static bool HasChecksums(const WriteBatch& batch) { return batch.protection_ != nullptr; }
  // Notes checksums of all records, unless the batch has them already.
  static Status Protect(WriteBatch* batch);

  // The records of `src` behind those of `dst`, whose sequence stays. MemoryLimit beyond dst's
  // limit, InvalidArgument for counts of more than 32 bits; `dst` is then as it was.
  static Status Append(WriteBatch* dst, const WriteBatch& src);

  // Adds one record, for the public calls. `parts` of the key and the value are joined; a type
  // without value ignores it.
  static Status AddRecord(WriteBatch* batch, ValueType type, uint32_t column_family,
                          const SliceParts& key, const SliceParts& value);

 private:
  friend class WriteBatch;

  // Bytes of timestamp that keys of the family end with.
  static size_t TimestampSize(const WriteBatch& batch, ColumnFamilyHandle* column_family);
  // The public calls: without a timestamp (zeros where one is due), with one, and from parts.
  static Status AddKey(WriteBatch* batch, ValueType type, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value);
  static Status AddStamped(WriteBatch* batch, ValueType type, ColumnFamilyHandle* column_family,
                           const Slice& key, const Slice& ts, const Slice& value);
  static Status AddParts(WriteBatch* batch, ValueType type, ColumnFamilyHandle* column_family,
                         const SliceParts& key, const SliceParts& value);
  // Notes the checksum of the last record, which starts there.
  static Status AddChecksum(WriteBatch* batch, size_t record_offset);
  static bool Has(const WriteBatch& batch, uint32_t flag);
};

}  // namespace varve
