// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generates database ids and session ids, and reads and writes the file IDENTITY.

#include <string>

#include "varve/env.h"
#include "varve/file_system.h"

namespace varve {

// Returns a random UUID as 36 lower-case characters.
std::string NewDbId(Env* env);
// Returns 20 upper-case characters of base 36, with 103 random bits, in the format that unique ids
// of tables need.
std::string NewSessionId(Env* env);

// Reads IDENTITY. Returns NotFound if it is missing, and Corruption if it does not contain an id.
Status ReadIdentity(FileSystem* fs, const std::string& db_name, std::string* id);
// Writes IDENTITY durably, replacing an existing one.
Status WriteIdentity(FileSystem* fs, const std::string& db_name, const std::string& id);

}  // namespace varve
