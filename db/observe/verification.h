// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks that all live tables and blob files still contain what was written.

#include "varve/options.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/lifecycle.h"

namespace varve {

// Both read every live table and blob file; closing the database ends them.

// Checks every block.
Status VerifyTables(const DbContext& context, DbState* state, const Lifecycle& lifecycle,
                    const ReadOptions& options) VARVE_EXCLUDES(kDbMutex);

// Compares checksums of whole files with the MANIFEST's. Skips files without one. Returns
// Corruption, naming the file and both checksums; InvalidArgument without a
// file_checksum_gen_factory; NotSupported if that does not know a file's function.
Status VerifyTableFileChecksums(const DbContext& context, DbState* state,
                                const Lifecycle& lifecycle, const ReadOptions& options)
    VARVE_EXCLUDES(kDbMutex);

}  // namespace varve
