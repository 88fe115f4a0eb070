// SPDX-License-Identifier: Apache-2.0
#pragma once

// Generates the database's id and the session id of each opening.

#include <string>

#include "varve/env.h"
#include "varve/file_system.h"

namespace varve {

// Returns a random UUID as 36 lower-case characters.
std::string NewDbId(Env* env);
// Returns 20 upper-case characters of base 36: 124 random bits in the format that unique ids of
// tables need.
std::string NewSessionId(Env* env);

// Reads IDENTITY; NotFound when it is missing, Corruption when it does not hold an id.
Status ReadIdentity(FileSystem* fs, const std::string& db_name, std::string* id);
Status WriteIdentity(FileSystem* fs, const std::string& db_name, const std::string& id);

}  // namespace varve
