// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes one record (FORMAT.md), for batches and for writes of a single update.
//
//      default family:  tag | varint32 key length | key, timestamp | varint32 value length | value
//      other families:  tag | varint32 family | varint32 key length | key ...
//
// The tags of other families are distinct (FamilyTag), so a reader knows from the first byte if a
// family follows. Deletions have no value; a range deletion has the end of the range in its place.

#include <cstddef>
#include <cstdint>
#include <string>

#include "varve/status.h"

#include "util/base/assert.h"
#include "util/coding/varint.h"
#include "util/key/entry_limits.h"
#include "util/key/internal_key.h"

namespace varve {

// True if a second string follows the key.
inline bool RecordHasValue(ValueType type) {
  return type == kTypeValue || type == kTypeMerge || type == kTypeRangeDeletion ||
         type == kTypeWideColumnEntity;
}

// Returns OK if a write can hold a record with a key and a value of these sizes.
inline Status CheckRecordSizes(size_t key_bytes, size_t value_bytes) {
  if (FitsAWrite(key_bytes, value_bytes)) [[likely]]
    return Status::OK();
  return Status::InvalidArgument("write batch: a key of " + std::to_string(key_bytes) +
                                 " bytes and a value of " + std::to_string(value_bytes) +
                                 " bytes; both together may have " +
                                 std::to_string(kWriteBytesMax));
}

// Returns the tag of a record of a column family other than the default one.
inline ValueType FamilyTag(ValueType type) {
  switch (type) {
    case kTypeValue:
      return kTypeColumnFamilyValue;
    case kTypeDeletion:
      return kTypeColumnFamilyDeletion;
    case kTypeSingleDeletion:
      return kTypeColumnFamilySingleDeletion;
    case kTypeRangeDeletion:
      return kTypeColumnFamilyRangeDeletion;
    case kTypeMerge:
      return kTypeColumnFamilyMerge;
    case kTypeWideColumnEntity:
      return kTypeColumnFamilyWideColumnEntity;
    default:
      return kTypeMax;
  }
}

// Returns the type in a memtable of an update whose key ends with a timestamp of that size. Logs
// have one tag for both kinds of deletion.
inline ValueType TypeInMemTable(ValueType type, size_t ts_bytes) {
  return type == kTypeDeletion && ts_bytes != 0 ? kTypeDeletionWithTimestamp : type;
}

// Most bytes before a key: the tag, the family, and the key's length.
constexpr size_t kRecordStartMax = 1 + 2 * kMaxVarint32Length;

// Returns the number of bytes that EncodeRecordStart writes.
inline size_t RecordStartBytes(uint32_t column_family, size_t key_bytes) {
  const size_t family_bytes = column_family == 0 ? 0 : VarintLength(column_family);
  return 1 + family_bytes + VarintLength(key_bytes);
}

// Writes the bytes before the key: the tag, the family if it is not the default one, and the key's
// length. `dst` must have room for kRecordStartMax bytes; returns the position of the key.
inline char* EncodeRecordStart(char* dst, ValueType type, uint32_t column_family,
                               uint32_t key_bytes) {
  if (column_family == 0) {
    *dst++ = static_cast<char>(type);
  } else {
    VARVE_ASSERT(FamilyTag(type) != kTypeMax);
    *dst++ = static_cast<char>(FamilyTag(type));
    dst = EncodeVarint32(dst, column_family);
  }
  return EncodeVarint32(dst, key_bytes);
}

}  // namespace varve
