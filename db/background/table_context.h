// SPDX-License-Identifier: Apache-2.0
#pragma once

// What flush, compaction and recovery need to write tables of a family.

#include "db/background/engine.h"
#include "db/compaction/leveled_picker.h"
#include "db/compaction/table_output.h"

namespace varve {

TableOutputContext MakeTableOutputContext(const Engine& engine, const ColumnFamilyOptions& options,
                                          Env::Env::IOPriority priority);
// Everything but the file number and the compression; times are those of the call.
TableBuildOptions MakeTableBuildOptions(const Engine& engine, const ColumnFamily& family,
                                        const ColumnFamilyOptions& options, int level);

// The block-based table options of a family (its factory was checked at open).
const BlockBasedTableOptions& TableOptionsOf(const ColumnFamilyOptions& options);

}  // namespace varve
