// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes records as the bytes of a MANIFEST that is written as a whole.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/io_status.h"

namespace varve {

// Encodes the records as one file. Replaces *bytes.
IOStatus FrameRecords(const std::vector<std::string>& records, uint64_t manifest_number,
                      std::string* bytes);

}  // namespace varve
