// SPDX-License-Identifier: Apache-2.0
#pragma once

// The bytes of a query trace, which are RocksDB's (FORMAT.md).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"
#include "varve/trace_record.h"

namespace varve::trace {

// Microseconds since 1970, type, and size of the payload.
inline constexpr size_t kRecordHeadBytes = 13;

// Set *record to one whole record. Those with keys return InvalidArgument if a record cannot hold
// them.
void EncodeBegin(uint64_t micros, std::string* record);
void EncodeEnd(uint64_t micros, std::string* record);
Status EncodeGet(uint64_t micros, uint32_t family, const Slice& key, std::string* record);
// `type` is that of a seek. Bounds may be null.
Status EncodeSeek(uint64_t micros, TraceType type, uint32_t family, const Slice& target,
                  const Slice* lower, const Slice* upper, std::string* record);
// `families` has the id of each key.
Status EncodeMultiGet(uint64_t micros, std::span<const uint32_t> families, const Slice* keys,
                      std::string* record);
// The batch has `count` updates, which are the bytes of `first` and `second`, and sequence number
// 0.
Status EncodeWrite(uint64_t micros, uint32_t count, const Slice& first, const Slice& second,
                   std::string* record);

struct RawRecord {
  uint64_t micros = 0;
  TraceType type = kTraceNone;
  Slice payload;  // points into the bytes that were parsed
};

// Return Corruption if the bytes are not exactly one record, or are no header.
Status ParseRecord(const Slice& bytes, RawRecord* record);
// Sets *minor to 1 or 2. Returns NotSupported for other versions.
Status ParseHeader(const Slice& payload, uint32_t* minor);
// Makes the object of a record in a file of version 0.`minor`. Returns NotSupported for a type that
// cannot be replayed, and Corruption if the payload is not what the type says.
Status DecodeRecord(const RawRecord& raw, uint32_t minor, std::unique_ptr<TraceRecord>* record);

}  // namespace varve::trace
