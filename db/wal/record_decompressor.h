// SPDX-License-Identifier: Apache-2.0
#pragma once

// Restores the records of a log whose first record says that they are compressed.

#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve::wal {

// The payload of a compression record: NotSupported, by name, for what cannot be read here.
Status CheckCompressionRecord(const Slice& payload);

// `frame` is one whole logical record: one zstd frame that states its content's size. Replaces
// *raw.
Status DecompressRecord(const Slice& frame, std::string* raw);

}  // namespace varve::wal
