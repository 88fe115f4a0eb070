// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the bytes of all live tables are what was written.

#include "varve/options.h"

#include "db/background/engine.h"

namespace varve {

// Both read every live table, and take the DB mutex themselves where they need it.

// Checks every block.
Status VerifyTables(Engine* engine, const ReadOptions& options);

// Compares checksums of whole files with the MANIFEST's. Tables without one are passed over.
// Corruption names the file and both; InvalidArgument without a file_checksum_gen_factory,
// NotSupported if it does not know the function of a file's.
Status VerifyTableFileChecksums(Engine* engine, const ReadOptions& options);

}  // namespace varve
