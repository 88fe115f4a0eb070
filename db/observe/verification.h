// SPDX-License-Identifier: Apache-2.0
#pragma once

// Verifies the checksums of all live tables and blob files.

#include "varve/options.h"

#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/lifecycle.h"

namespace varve {

// Both calls read every live table and blob file, and return the first error. ShutdownInProgress:
// the database is being closed. TimedOut: options.deadline has passed.

// Implements DB::VerifyChecksum: compares the checksum of every block and blob record.
Status VerifyTables(const DbContext& context, DbState* state, const Lifecycle& lifecycle,
                    const ReadOptions& options) VARVE_EXCLUDES(kDbMutex);

// Implements DB::VerifyFileChecksums: compares checksums of whole files with those in the MANIFEST,
// and skips files without one. Corruption: a checksum differs; the message has the file and both
// checksums. InvalidArgument: there is no file_checksum_gen_factory. NotSupported: the factory does
// not know a file's function.
Status VerifyTableFileChecksums(const DbContext& context, DbState* state,
                                const Lifecycle& lifecycle, const ReadOptions& options)
    VARVE_EXCLUDES(kDbMutex);

}  // namespace varve
