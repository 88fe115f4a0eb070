// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the programs `ldb` and `sst_dump`: other names of this program, under which it takes the
// words and prints the text that scripts for RocksDB's tools of these names rely on.

namespace varve::tool {

// Return the exit status: 0, or 1 for any failure.
int RunLdb(int argc, const char* const* argv);
int RunSstDump(int argc, const char* const* argv);

}  // namespace varve::tool
