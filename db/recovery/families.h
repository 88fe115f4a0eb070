// SPDX-License-Identifier: Apache-2.0
#pragma once

// Column families of an engine: whether they can be made as their options ask, and their making and
// dropping.

#include <memory>
#include <string>

#include "varve/db.h"

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/version/version_set.h"

namespace varve {

struct Engine;

// Whether a family can be opened or made so. How long its name may be is asked when it is made.
Status CheckFamily(const DBOptions& db_options, const ColumnFamilyDescriptor& family);

// What the version set has to know of a family that has passed, or will pass, CheckFamily.
FamilyToOpen ToOpen(const DbContext& context, const ColumnFamilyDescriptor& family);

// Adds a family to the MANIFEST. If it has timestamps, the log is told first: a record of the
// family must not stand in a log that does not say so. (That the log names a family which then was
// not made does no harm, as ids are not used twice.) Releases the mutex meanwhile.
Status AddToManifest(Engine* engine, const FamilyToOpen& family,
                     std::shared_ptr<FamilyVersions>* versions,
                     const std::vector<NewFile>& tables = {}) VARVE_REQUIRES(kDbMutex);

// The run-time family of one that the version set knows; its memtable is fresh.
std::shared_ptr<ColumnFamily> MakeFamily(Engine* engine, std::shared_ptr<FamilyVersions> versions,
                                         const ColumnFamilyOptions& options)
    VARVE_REQUIRES(kDbMutex);

// The directories of the tables of a family that is about to be made.
Status MakeTableDirectories(Engine* engine, const ColumnFamilyDescriptor& family);

// Adds a family to an open engine; *handle is a user's. The commit path is held exclusively.
// `tables` are in place, and their contents durable; unless it returns OK they are the caller's
// still, but for those that a MANIFEST may name (VersionSet::TableInDoubt). Corruption: they cannot
// be together.
Status CreateFamily(Engine* engine, const ColumnFamilyDescriptor& family,
                    std::unique_ptr<ColumnFamilyHandle>* handle,
                    const std::vector<NewFile>& tables = {}) VARVE_EXCLUDES(kDbMutex);

// Drops it; readers that have it go on. The commit path is held exclusively.
Status DropFamily(Engine* engine, ColumnFamily* family) VARVE_EXCLUDES(kDbMutex);

// The tables of a database that is being closed take no space of the manager's any more.
void ForgetTables(Engine* engine) noexcept;

// When the work of the engine has ended: nothing of it refers to a family any more.
void ReleaseFamilies(Engine* engine) VARVE_EXCLUDES(kDbMutex);

}  // namespace varve
