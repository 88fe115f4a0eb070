// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes and decodes the records of a query trace, whose format is RocksDB's (FORMAT.md).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/trace_record.h"

namespace varve::trace {

// Bytes before the payload of a record: 8 of the time, 1 of the type, 4 of the payload's size.
inline constexpr size_t kRecordHeadBytes = 13;

// Set *record to one whole record of a call that was made at `micros`, in microseconds since 1970.
// InvalidArgument: the keys or updates are too large for a record (4 GiB). Families are given by
// their ids, and keys as QueryTrace gets them.
void EncodeBegin(uint64_t micros, std::string* record);
void EncodeEnd(uint64_t micros, std::string* record);
Status EncodeGet(uint64_t micros, uint32_t family, const Slice& key, std::string* record);
// `type` is that of a seek. Bounds may be null.
Status EncodeSeek(uint64_t micros, TraceType type, uint32_t family, const Slice& target,
                  const Slice* lower, const Slice* upper, std::string* record);
// `families` has the family of each key.
Status EncodeMultiGet(uint64_t micros, std::span<const uint32_t> families, const Slice* keys,
                      std::string* record);
// The batch has `count` updates, which are the bytes of `first` and `second`, and sequence number
// 0.
Status EncodeWrite(uint64_t micros, uint32_t count, const Slice& first, const Slice& second,
                   std::string* record);

// A record whose payload is not decoded yet.
struct RawRecord {
  uint64_t micros = 0;  // Time of the call since 1970.
  TraceType type = kTraceNone;
  Slice payload;  // Points into the bytes that were parsed.
};

// Splits the bytes of one record. Returns Corruption if they are not exactly one record.
Status ParseRecord(const Slice& bytes, RawRecord* record);
// Sets *minor to the minor version, 1 or 2, of a file with this header. Returns Corruption if the
// payload is no header, and NotSupported for other versions.
Status ParseHeader(const Slice& payload, uint32_t* minor);
// Makes the object of a record in a file of version 0.`minor`. Returns NotSupported for a type that
// cannot be replayed, and Corruption if the payload is not what the type says.
Status DecodeRecord(const RawRecord& raw, uint32_t minor, std::unique_ptr<TraceRecord>* record);

}  // namespace varve::trace
