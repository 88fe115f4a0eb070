// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes a column family of tables that were exported, from here or from elsewhere.
//
// Invariants:
//   1. The family, its comparator and its tables come into force as one atomic group of the
//      MANIFEST, or not at all.
//   2. A table is in force only if every byte of it was read and found sound, its keys are in
//      order, and what the metadata says of it is true. Its bytes, and the metadata, may be
//      anybody's.
//   3. Sources are not changed. Those that are to be moved are unlinked when the family is there.
//   4. Until just before the MANIFEST is written, files are in `ingest/` below the directory of the
//      tables: what a crash leaves there no opening takes for a table.

#include <memory>
#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/metadata.h"
#include "varve/options.h"
#include "varve/status.h"

namespace varve {

struct Engine;

struct ImportWanted {
  ColumnFamilyDescriptor family;
  bool move_files = false;
  std::vector<const ExportImportFilesMetaData*> sources;
};

// As DB::CreateColumnFamilyWithImport; listeners are told. For a public call.
Status ImportFamily(Engine* engine, const ImportWanted& wanted,
                    std::unique_ptr<ColumnFamilyHandle>* handle);

}  // namespace varve
