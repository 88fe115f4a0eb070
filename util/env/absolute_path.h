// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where a relative path leads now, for callers that go on using it after the working directory has
// changed.

#include <string>

#include "varve/file_system.h"

namespace varve {

// `path` if it begins with '/' or is empty, and where the file system cannot tell.
std::string AbsolutePath(FileSystem* fs, const std::string& path);

// Whether both lead to the same place, as far as can be told without looking: but for links.
bool IsSamePath(const std::string& a, const std::string& b);

// Whether both are names of one file, by way of links, too. False where there is none, or the file
// system cannot tell.
bool IsSameFile(FileSystem* fs, const std::string& a, const std::string& b);

}  // namespace varve
