// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether the bytes of all live tables are what was written.

#include "varve/options.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/lifecycle.h"

namespace varve {

// Both read every live table; a close ends them.

// Checks every block.
Status VerifyTables(const DbContext& context, DbState* state, const Lifecycle& lifecycle,
                    const ReadOptions& options) VARVE_EXCLUDES(kDbMutex);

// Compares checksums of whole files with the MANIFEST's. Tables without one are passed over.
// Corruption names the file and both; InvalidArgument without a file_checksum_gen_factory,
// NotSupported if it does not know the function of a file's.
Status VerifyTableFileChecksums(const DbContext& context, DbState* state,
                                const Lifecycle& lifecycle, const ReadOptions& options)
    VARVE_EXCLUDES(kDbMutex);

}  // namespace varve
