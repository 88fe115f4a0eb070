// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Versions of the library: the one that a program is compiled against, and the one it runs with.
//
// The library's version follows its own releases: it is not RocksDB's. Programs may compare the
// macros by the preprocessor; a program that loads a shared library compares the text.

#include <string>

#include "varve/export.h"

// Numbers of the version that the program is compiled against.
#define VARVE_MAJOR 0
#define VARVE_MINOR 1
#define VARVE_PATCH 0

namespace varve {

/// Returns the version of the linked library: "0.1.0", or "0.1" without the patch.
VARVE_EXPORT std::string GetVarveVersionAsString(bool with_patch = true);

/// Returns what the linked library was built from and how, in one line: commit, compiler, build
/// type and options, such as "commit 0123456789ab, GCC 12.2.0, Release with LTO". The commit is
/// "unknown" in debug builds, and where there was no git.
VARVE_EXPORT std::string GetVarveBuildInfoAsString();

}  // namespace varve
