// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the sequence numbers that a log has after damage, for the report of losses.

#include <cstdint>
#include <string>

#include "varve/file_system.h"
#include "varve/types.h"

namespace varve {

// Returns the largest sequence number of any readable batch in the log of that number, which is at
// `path`, skipping damage, or 0 if there is none. Reads the whole log.
SequenceNumber LastSequenceIn(FileSystem* fs, const FileOptions& options, const std::string& path,
                              uint64_t number);

}  // namespace varve
