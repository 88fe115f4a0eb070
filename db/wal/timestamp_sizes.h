// SPDX-License-Identifier: Apache-2.0
#pragma once

// The record of a log that says how long the timestamps are that keys of column families end with
// (FORMAT.md).

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve::wal {

// Bytes by column family. Families without timestamps are not in it.
using TimestampSizes = std::map<uint32_t, size_t>;

// Payloads of as many records as it takes for each to fit into a block. None for no families. No
// size is above kTimestampBytesMax.
std::vector<std::string> EncodeTimestampSizes(const TimestampSizes& sizes);

// Adds what one record says. Corruption, with nothing added: it is no list of families and sizes, a
// size is 0, or a family is there already, as a log may say it once.
Status DecodeTimestampSizes(const Slice& payload, TimestampSizes* sizes);

}  // namespace varve::wal
