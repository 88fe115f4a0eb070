// SPDX-License-Identifier: Apache-2.0
#pragma once

// Creates a column family from exported tables, which may come from any database.
//
// Invariants:
//   1. The family, its comparator and its tables are added by one atomic group of the MANIFEST, or
//      not at all.
//   2. A table is added only if every byte of it was read and verified, its keys are in order, and
//      the metadata matches it. Neither its bytes nor the metadata are trusted.
//   3. Sources are not changed. With move_files they are unlinked once the family exists.
//   4. Until just before the MANIFEST is written, files are in `ingest/` below the directory of the
//      tables, so that after a crash no opening mistakes leftovers for tables.

#include <memory>
#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/metadata.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

struct Engine;

// Arguments of DB::CreateColumnFamilyWithImport. The sources outlive the call; a null one is
// refused.
struct ImportWanted {
  ColumnFamilyDescriptor family;
  bool move_files = false;
  std::vector<const ExportImportFilesMetaData*> sources;
};

// Implements DB::CreateColumnFamilyWithImport and notifies listeners. Requires a call within a
// public call, without locks, and that *handle is null; sets *handle if the call succeeds, and
// leaves it null otherwise.
Status ImportFamily(Engine* engine, const ImportWanted& wanted,
                    std::unique_ptr<ColumnFamilyHandle>* handle);

}  // namespace varve
