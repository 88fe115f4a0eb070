// SPDX-License-Identifier: Apache-2.0
#pragma once

// Operations on a batch that only the engine may use.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/types.h"
#include "varve/write_batch.h"

#include "db/write/batch_reader.h"
#include "util/coding/fixed.h"

namespace varve {

// The bytes after a key: a timestamp, room for one, or nothing.
struct KeyTimestamp {
  size_t size = 0;
  const char* data = nullptr;  // Null: zeros.
};

// Adopted bytes are those that a program has passed to a constructor of WriteBatch: they may be
// anything, even shorter than a header: getters then return 0, and setters do nothing. Thread
// safety: that of the batch: calls with a const batch may run side by side.
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
  // Adds checksums of all records, unless the batch has them already.
  static Status Protect(WriteBatch* batch);

  // Appends the records of `src` to `dst`, whose sequence number stays. Returns MemoryLimit if the
  // limit of `dst` does not suffice, InvalidArgument if its count would have more than 32 bits, and
  // Corruption if the records of `src` do not agree with its checksums or a batch lacks a header;
  // the records of `dst` are then unchanged. If either batch has checksums, `dst` has them
  // afterwards.
  static Status Append(WriteBatch* dst, const WriteBatch& src);

  // Adds one record, for the public calls. The parts of the key and the value are joined; a type
  // without value ignores it. Both ends of a range are keys.
  static Status AddRecord(WriteBatch* batch, ValueType type, uint32_t column_family,
                          const SliceParts& key, const SliceParts& value,
                          const KeyTimestamp& timestamp = {});
  // Adds one record with a timestamp that is checked against the handle.
  static Status AddWithTimestamp(WriteBatch* batch, ValueType type,
                                 ColumnFamilyHandle* column_family, const Slice& key,
                                 const Slice& ts, const Slice& value);

  // --- Information about timestamps (batch_timestamps.cc). It is exact except for adopted bytes,
  // about which nothing is known.
  static bool HasTimestamps(const WriteBatch& batch) { return batch.timestamped_.count != 0; }
  // Returns the number of records with room for a timestamp.
  static uint32_t TimestampedCount(const WriteBatch& batch) { return batch.timestamped_.count; }
  // True if the batch has bytes of unknown origin.
  static bool IsAdopted(const WriteBatch& batch) {
    return (batch.content_flags_.load(std::memory_order_relaxed) & kAdopted) != 0;
  }
  // True if a timestamp has not been set yet; then *column_family and *ts_size are set to its
  // family and size, and otherwise left.
  static bool HasUnsetTimestamps(const WriteBatch& batch, uint32_t* column_family, size_t* ts_size);
  // Returns `expected` if all keys of the family have timestamps of that size, or in a batch of
  // adopted bytes may have; otherwise another size that some of them have, 0 if none.
  static size_t TimestampSizeUnless(const WriteBatch& batch, uint32_t column_family,
                                    size_t expected);

 private:
  friend class WriteBatch;

  // A bit of content_flags_: the batch has adopted bytes, which must be parsed to know their
  // contents.
  static constexpr uint32_t kAdopted = 1u << 30;

  // Returns the bytes of timestamp at the end of the family's keys.
  static size_t TimestampSize(const WriteBatch& batch, ColumnFamilyHandle* column_family);
  // Implement the public calls without a timestamp: they add zeros if one is needed.
  static Status AddParts(WriteBatch* batch, ValueType type, ColumnFamilyHandle* column_family,
                         const SliceParts& key, const SliceParts& value);
  static Status AddKey(WriteBatch* batch, ValueType type, ColumnFamilyHandle* column_family,
                       const Slice& key, const Slice& value);
  // `value` must be empty if records of the type have none.
  static Status AddPlain(WriteBatch* batch, ValueType type, uint32_t column_family,
                         const Slice& key, const Slice& value);
  // Returns OK if a record of this size may be added.
  static Status CheckRoom(const WriteBatch& batch, bool counted, size_t record_bytes);
  // Adds the checksum of the last record, which starts at that offset.
  static Status AddChecksum(WriteBatch* batch, size_t record_offset);
  // Must be called after a change of the records; does nothing if the batch has no checksums.
  static Status RenewChecksums(WriteBatch* batch);
  // Returns true if the batch has records of this kind; adopted bytes are parsed for it.
  static bool Has(const WriteBatch& batch, uint32_t flag);

  // Must be called before a record is added at the end.
  static void NoteTimestamp(WriteBatch* batch, uint32_t column_family,
                            const KeyTimestamp& timestamp);
  // Adds the notes of `src`, whose records are about to be added at the end.
  static void NoteTimestampsOf(WriteBatch* batch, const WriteBatch& src);
  // Must be called when the batch was truncated to a state with `count` timestamped records.
  static void ForgetTimestamps(WriteBatch* batch, uint32_t count);
  // Returns the family of these keys, or null.
  static WriteBatch::TimestampedFamily* FindTimestamped(WriteBatch* batch, uint32_t column_family,
                                                        size_t ts_size);
  // Adds a copy of `family` to the batch's notes, and returns it.
  static WriteBatch::TimestampedFamily* AddTimestampedFamily(
      WriteBatch* batch, const WriteBatch::TimestampedFamily& family);
  // Sets the timestamps that pick(record, index, &ts) returns for each update; an empty one changes
  // nothing. `pick` is called twice: nothing is changed before the whole batch was checked.
  template <typename Pick>
  static Status SetTimestamps(WriteBatch* batch, const Pick& pick);
  template <typename Pick>
  static Status CheckTimestamps(const WriteBatch& batch, const Pick& pick);
  // Sets *own to `ts`, or to nothing if the checker says so.
  static Status PickChecked(const WriteBatch::TimestampChecker& checker, uint32_t column_family,
                            const Slice& ts, Slice* own);
};

}  // namespace varve
