// SPDX-License-Identifier: Apache-2.0
#pragma once

// The record of a log that states the sizes of the timestamps at the end of column families' keys
// (FORMAT.md).

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve::wal {

// Bytes by column family id. Families without timestamps are absent.
using TimestampSizes = std::map<uint32_t, size_t>;

// Returns the payloads of as many records as needed for each to fit into a block; none for no
// families. Requires sizes of at most kTimestampBytesMax.
std::vector<std::string> EncodeTimestampSizes(const TimestampSizes& sizes);

// Adds the sizes in one record. Corruption, with nothing added: it is not a list of families and
// sizes, a size is 0, or a family is there already, since a log may state it only once.
Status DecodeTimestampSizes(const Slice& payload, TimestampSizes* sizes);

}  // namespace varve::wal
