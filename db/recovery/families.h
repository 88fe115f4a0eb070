// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checks whether the column families of an engine can be opened with their options, and creates and
// drops them.

#include <memory>
#include <string>

#include "varve/db.h"

#include "db/column_family/column_family.h"
#include "db/db_mutex.h"
#include "db/engine/context.h"
#include "db/version/version_set.h"

namespace varve {

struct Engine;

// Checks whether a family can be opened or created. The length of its name is checked only at
// creation.
Status CheckFamily(const DBOptions& db_options, const ColumnFamilyDescriptor& family);

// Returns what the version set needs to know of a family that passes CheckFamily.
FamilyToOpen ToOpen(const DbContext& context, const ColumnFamilyDescriptor& family);

// Adds a family to the MANIFEST. If it has timestamps, their size is logged first, under the id
// that the family will get, because a record of the family must not be in a log that lacks it;
// the caller must keep writers out for that (LogSet::AddTimestampSizes). If the write to the
// MANIFEST fails then, the entry in the log is harmless, as the id is used up. A family that is
// refused leaves nothing in the log. Releases the mutex meanwhile.
Status AddToManifest(Engine* engine, const FamilyToOpen& family,
                     std::shared_ptr<FamilyVersions>* versions,
                     const std::vector<NewFile>& tables = {}) VARVE_REQUIRES(kDbMutex);

// Returns the run-time object of a family that the version set has; its memtable is empty.
std::shared_ptr<ColumnFamily> MakeFamily(Engine* engine, std::shared_ptr<FamilyVersions> versions,
                                         const ColumnFamilyOptions& options)
    VARVE_REQUIRES(kDbMutex);

// Creates the table directories of a family that is about to be created.
Status MakeTableDirectories(Engine* engine, const ColumnFamilyDescriptor& family);

// Adds a family to an open engine; *handle is returned to the user. The caller keeps writers out
// (CommitPath::EnterExclusive). `tables` are in place and durable; unless this returns OK they stay
// the caller's, except for those that a MANIFEST may name (VersionSet::TableInDoubt). Returns
// Corruption if they are inconsistent with each other.
Status CreateFamily(Engine* engine, const ColumnFamilyDescriptor& family,
                    std::unique_ptr<ColumnFamilyHandle>* handle,
                    const std::vector<NewFile>& tables = {}) VARVE_EXCLUDES(kDbMutex);

// Drops the family; handles, iterators and jobs that use it go on. The caller keeps writers out
// (CommitPath::EnterExclusive).
Status DropFamily(Engine* engine, ColumnFamily* family) VARVE_EXCLUDES(kDbMutex);

// Removes the tables of a database that is being closed from its SST file manager.
void ForgetTables(Engine* engine) noexcept;

// Releases the families. Requires that the engine's work has ended, so that nothing else refers to
// one.
void ReleaseFamilies(Engine* engine) VARVE_EXCLUDES(kDbMutex);

}  // namespace varve
