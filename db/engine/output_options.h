// SPDX-License-Identifier: Apache-2.0
#pragma once

// Computes what flush, compaction and recovery need to write tables of a family.

#include "varve/env.h"
#include "varve/options.h"

#include "db/column_family/column_family.h"
#include "db/compaction/plan_builder.h"
#include "db/compaction/table_output.h"
#include "db/engine/context.h"
#include "db/engine/db_state.h"
#include "db/engine/dynamic_options.h"
#include "db/flush/flush_job.h"

namespace varve {

// Returns what the outputs of a flush or compaction share: paths, file system and file options,
// clock, rate limiter with this priority, sync and checksum settings. The caller adds what is
// called before a file is created. `options` are those of the family that the caller took at the
// beginning of its job, as SetOptions may have replaced them since. The result has pointers into
// the context, which must outlive it.
TableOutputContext MakeTableOutputContext(const DbContext& context, const DynamicOptions& dynamic,
                                          const ColumnFamily& family,
                                          const ColumnFamilyOptions& options,
                                          Env::IOPriority priority) VARVE_REQUIRES(kDbMutex);
// Returns everything except the file number, the compression and the reason; times are those of the
// call. The result has pointers into the context, the family and `options`, which must outlive it.
TableBuildOptions MakeTableBuildOptions(const DbContext& context, const std::string& db_id,
                                        const ColumnFamily& family,
                                        const ColumnFamilyOptions& options, int level);

// Sets all members of *input but `memtables`, which the caller must have picked in the same hold of
// the mutex, and those for blob files (new_blob_file_number, blob_cache). Takes a file number for
// the table. `base_level` is that of the family's LevelShape.
void FillFlushInput(const DbContext& context, const DynamicOptions& dynamic, DbState* state,
                    ColumnFamily& family, TableFileCreationReason reason, int base_level,
                    FlushInput* input) VARVE_REQUIRES(kDbMutex);

// Returns the block-based table options of a family; the defaults if it has another table factory.
const BlockBasedTableOptions& TableOptionsOf(const ColumnFamilyOptions& options);

}  // namespace varve
