// SPDX-License-Identifier: Apache-2.0
#pragma once

// Encodes records as the bytes of a complete MANIFEST.

#include <cstdint>
#include <string>
#include <vector>

#include "varve/io_status.h"

namespace varve {

// Sets *bytes to a MANIFEST with these records, framed like a log with the number
// `manifest_number`.
IOStatus FrameRecords(const std::vector<std::string>& records, uint64_t manifest_number,
                      std::string* bytes);

}  // namespace varve
