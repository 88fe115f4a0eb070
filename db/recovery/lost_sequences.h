// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds the writes that a log still has behind damage, for the report of losses.

#include <cstdint>
#include <string>

#include "varve/file_system.h"
#include "varve/types.h"

namespace varve {

// Returns the last sequence number of any readable batch in a log, ignoring damage in between; 0 if
// there is none. Reads the whole log; meant for logs that were not replayed to their end.
SequenceNumber LastSequenceIn(FileSystem* fs, const FileOptions& options, const std::string& path,
                              uint64_t number);

}  // namespace varve
