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

// What goes after a key: a timestamp, or room for one, or nothing.
struct KeyTimestamp {
  size_t size = 0;
  const char* data = nullptr;  // null: zeros
};

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

  static bool HasChecksums(const WriteBatch& batch) { return batch.protection_ != nullptr; }
  // Notes checksums of all records, unless the batch has them already.
  static Status Protect(WriteBatch* batch);

  // The records of `src` after those of `dst`, whose sequence stays. MemoryLimit beyond dst's
  // limit, InvalidArgument for counts of more than 32 bits; `dst` is then as it was.
  static Status Append(WriteBatch* dst, const WriteBatch& src);

  // Adds one record, for the public calls. `parts` of the key and the value are joined; a type
  // without value ignores it. Both ends of a range are keys.
  static Status AddRecord(WriteBatch* batch, ValueType type, uint32_t column_family,
                          const SliceParts& key, const SliceParts& value,
                          const KeyTimestamp& timestamp = {});
  // With a timestamp that is checked against the handle.
  static Status AddWithTimestamp(WriteBatch* batch, ValueType type,
                                 ColumnFamilyHandle* column_family, const Slice& key,
                                 const Slice& ts, const Slice& value);

  // --- What is known of timestamps (batch_timestamps.cc). Exact, but for bytes that were adopted:
  // what they hold is not known.
  static bool HasTimestamps(const WriteBatch& batch) { return batch.timestamped_.count != 0; }
  // Records with room for a timestamp.
  static uint32_t TimestampedCount(const WriteBatch& batch) { return batch.timestamped_.count; }
  // True if bytes of unknown origin are in the batch.
  static bool IsAdopted(const WriteBatch& batch) {
    return (batch.content_flags_.load(std::memory_order_relaxed) & kAdopted) != 0;
  }
  // Whether a timestamp still waits to be set; in which family, and of which size.
  static bool HasUnsetTimestamps(const WriteBatch& batch, uint32_t* column_family, size_t* ts_size);
  // The size of the timestamps that keys of the family have, if it is not `expected` for all.
  static size_t TimestampSizeUnless(const WriteBatch& batch, uint32_t column_family,
                                    size_t expected);

 private:
  friend class WriteBatch;

  // Of content_flags_: of the adopted bytes nothing is known but what a walk finds.
  static constexpr uint32_t kAdopted = 1u << 30;

  // Bytes of timestamp that keys of the family end with.
  static size_t TimestampSize(const WriteBatch& batch, ColumnFamilyHandle* column_family);
  // The public calls without a timestamp: zeros where one is due.
  static Status AddParts(WriteBatch* batch, ValueType type, ColumnFamilyHandle* column_family,
                         const SliceParts& key, const SliceParts& value);
  static Status AddKey(WriteBatch* batch, ValueType type, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value);
  // `value` is empty if records of the type have none.
  static Status AddPlain(WriteBatch* batch, ValueType type, uint32_t column_family,
                         const Slice& key, const Slice& value);
  // Whether a record of these sizes may be added.
  static Status CheckRoom(const WriteBatch& batch, bool counted, size_t record_bytes);
  // Notes the checksum of the last record, which starts there.
  static Status AddChecksum(WriteBatch* batch, size_t record_offset);
  // After a change of the records, if the batch has checksums.
  static Status RenewChecksums(WriteBatch* batch);
  static bool Has(const WriteBatch& batch, uint32_t flag);

  // Notes a record that is about to be added at the end.
  static void NoteTimestamp(WriteBatch* batch, uint32_t column_family,
                            const KeyTimestamp& timestamp);
  // Notes those of `src`, whose records are about to be added at the end.
  static void NoteTimestampsOf(WriteBatch* batch, const WriteBatch& src);
  // Notes that the batch was cut back to where it had `count` of them.
  static void ForgetTimestamps(WriteBatch* batch, uint32_t count);
  // The family of these keys, or null.
  static WriteBatch::TimestampedFamily* FindTimestamped(WriteBatch* batch, uint32_t column_family,
                                                        size_t ts_size);
  static WriteBatch::TimestampedFamily* AddTimestampedFamily(
      WriteBatch* batch, const WriteBatch::TimestampedFamily& family);
  // Puts in what pick(record, index, &ts) gives for each update, nothing for an empty one. It is
  // asked twice: nothing is changed before all of the batch has been seen.
  template <typename Pick>
  static Status SetTimestamps(WriteBatch* batch, const Pick& pick);
  template <typename Pick>
  static Status CheckTimestamps(const WriteBatch& batch, const Pick& pick);
  // `ts`, or nothing if that is what the checker says.
  static Status PickChecked(const WriteBatch::TimestampChecker& checker, uint32_t column_family,
                            const Slice& ts, Slice* own);
};

}  // namespace varve
