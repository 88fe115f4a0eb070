// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decompresses the records of a log whose first record says that they are compressed.

#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve::wal {

// Maximum size of a record in a compressed log, before compression: the frame states the size, and
// no more is decompressed. Compression refuses a larger batch.
inline constexpr size_t kCompressedRecordBytesMax = UINT32_MAX;

// Checks the payload of a compression record. NotSupported, naming the codec: it cannot be read.
// Corruption: the payload has a wrong size.
Status CheckCompressionRecord(const Slice& payload);

// Sets *raw to the decompressed record. `frame` is one whole logical record: one zstd frame that
// states its content's size. Corruption: it states none, or more than kCompressedRecordBytesMax, or
// the frame is damaged. *raw never gets more bytes than the codec can make of the frame
// (block_framing::AllocateRaw).
Status DecompressRecord(const Slice& frame, std::string* raw);

}  // namespace varve::wal
