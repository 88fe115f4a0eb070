// SPDX-License-Identifier: Apache-2.0
#pragma once

// Restores the records of a log whose first record says that they are compressed.

#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve::wal {

// A record of a compressed log, before that: the frame in the log states its size, and no more is
// uncompressed. A larger batch is refused where the log is compressed.
inline constexpr size_t kCompressedRecordBytesMax = UINT32_MAX;

// The payload of a compression record: NotSupported, by name, for what cannot be read here.
Status CheckCompressionRecord(const Slice& payload);

// `frame` is one whole logical record: one zstd frame that states its content's size. Replaces
// *raw.
Status DecompressRecord(const Slice& frame, std::string* raw);

}  // namespace varve::wal
