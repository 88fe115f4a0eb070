// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether column families can be opened with their options, and creates and drops them.

#include <memory>
#include <string>

#include "varve/db.h"

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/version/version_set.h"

namespace varve {

struct Engine;

// Checks whether a family can be opened or created with its options. InvalidArgument: its name is
// empty, or an option is invalid. NotSupported: an option asks for what this library lacks, such as
// a codec that is not built in. The length of its name is checked only at creation.
Status CheckFamily(const DBOptions& db_options, const ColumnFamilyDescriptor& family);

// Returns the description of a family for the version set. Requires that CheckFamily returned OK.
FamilyToOpen ToOpen(const DbContext& context, const ColumnFamilyDescriptor& family);

// Adds a family with these tables to the MANIFEST, and sets *versions to it. If it has timestamps,
// their size is logged before, under the id that the family will get, because no record of the
// family may be in a log without it; this requires that the caller blocks writers
// (LogSet::AddTimestampSizes). If the write to the MANIFEST then fails, the entry in the log is
// harmless, as the id is not used again. A family that is refused leaves nothing in the log.
// Releases the mutex meanwhile. Errors: those of VersionSet::CreateFamily, and of the log.
Status AddToManifest(Engine* engine, const FamilyToOpen& family,
                     std::shared_ptr<FamilyVersions>* versions,
                     const std::vector<NewFile>& tables = {}) VARVE_REQUIRES(kDbMutex);

// Returns the ColumnFamily of a family that the version set has, with an empty memtable.
std::shared_ptr<ColumnFamily> MakeFamily(Engine* engine, std::shared_ptr<FamilyVersions> versions,
                                         const ColumnFamilyOptions& options)
    VARVE_REQUIRES(kDbMutex);

// Creates the table directories of a family that is about to be created.
Status MakeTableDirectories(Engine* engine, const ColumnFamilyDescriptor& family);

// Creates a family with the given tables in an open engine, and sets *handle, which must be null.
// Requires that writers are blocked (CommitPath::EnterExclusive), and that the tables are in place
// and durable. After an error *handle is null, and the caller still owns the tables, except those
// that a MANIFEST may name (VersionSet::TableInDoubt). InvalidArgument: there is a family of the
// name, or one of CheckFamily's reasons. Corruption: the tables are inconsistent with each other.
Status CreateFamily(Engine* engine, const ColumnFamilyDescriptor& family,
                    std::unique_ptr<ColumnFamilyHandle>* handle,
                    const std::vector<NewFile>& tables = {}) VARVE_EXCLUDES(kDbMutex);

// Drops the family; handles, iterators and jobs may continue to use it. Requires that writers are
// blocked (CommitPath::EnterExclusive).
Status DropFamily(Engine* engine, ColumnFamily* family) VARVE_EXCLUDES(kDbMutex);

// Removes the tables of a database that is being closed from its SstFileManager.
void ForgetTables(Engine* engine) noexcept;

// Releases the engine's references to families. Requires that background work has ended.
void ReleaseFamilies(Engine* engine) VARVE_EXCLUDES(kDbMutex);

}  // namespace varve
