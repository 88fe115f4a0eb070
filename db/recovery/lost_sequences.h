// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which writes a log still holds after a damage: for the report of what was lost.

#include <cstdint>
#include <string>

#include "varve/file_system.h"
#include "varve/types.h"

namespace varve {

// The last sequence number of any batch in a log that can be read, whatever lies between; 0 if
// there is none. Reads all of the log: for those that were not replayed to their end.
SequenceNumber LastSequenceIn(FileSystem* fs, const FileOptions& options, const std::string& path,
                              uint64_t number);

}  // namespace varve
