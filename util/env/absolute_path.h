// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes absolute forms of relative paths, for callers that use them after the working directory
// may have changed.

#include <string>

#include "varve/file_system.h"

namespace varve {

// Returns the absolute path; `path` itself if it begins with '/' or is empty, or if the file system
// cannot tell.
std::string AbsolutePath(FileSystem* fs, const std::string& path);

// True if both name the same place, as far as the text tells: links are not followed.
bool IsSamePath(const std::string& a, const std::string& b);

// True if both name one file, also through links. False if there is none, or the file system cannot
// tell.
bool IsSameFile(FileSystem* fs, const std::string& a, const std::string& b);

}  // namespace varve
