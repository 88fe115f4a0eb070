// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names that are drawn once: the database's id, and the id of one time that it was open.

#include <string>

#include "varve/env.h"
#include "varve/file_system.h"

namespace varve {

// A random UUID as 36 lower-case characters.
std::string NewDbId(Env* env);
// 20 characters of base 36, upper case: 124 random bits in the shape that unique ids of tables
// need.
std::string NewSessionId(Env* env);

// Reads IDENTITY; NotFound when there is none, Corruption when it is not an id.
Status ReadIdentity(FileSystem* fs, const std::string& db_name, std::string* id);
Status WriteIdentity(FileSystem* fs, const std::string& db_name, const std::string& id);

}  // namespace varve
