// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes the identity of a table file: 16 bytes made of the database id, the session that wrote
// the file, and the file's number at that time. The MANIFEST keeps them, and the reader compares.

#include <cstdint>
#include <string>

#include "varve/slice.h"
#include "varve/status.h"

namespace varve {

inline constexpr size_t kUniqueIdBytes = 16;

// Sets *upper and *lower to the two halves of the 103-bit number that a session id of 13 to 24
// base-36 digits spells. NotSupported: the id is any other text; both numbers are unchanged then.
Status DecodeSessionId(const Slice& session_id, uint64_t* upper, uint64_t* lower);

// Returns the 16 bytes as the MANIFEST stores them, or "" if a part is missing or malformed.
std::string TableUniqueId(const Slice& db_id, const Slice& session_id, uint64_t file_number);

}  // namespace varve
