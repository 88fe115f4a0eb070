// SPDX-License-Identifier: Apache-2.0
#pragma once

// What DB::IngestExternalFiles and DB::PrepareFileIngestion are given and give: table files that
// were written outside of the database.

#include <optional>
#include <string>
#include <vector>

#include "varve/export.h"
#include "varve/options.h"
#include "varve/range.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

class ColumnFamilyHandle;

// What goes to one column family.
struct IngestExternalFileArg {
  ColumnFamilyHandle* column_family = nullptr;
  std::vector<std::string> external_files;  // A later one is newer, where they overlap.
  IngestExternalFileOptions options;

  // Of whole files, one for each file, or none: then they are computed where the database keeps
  // such checksums. Without a DBOptions::file_checksum_gen_factory they are ignored.
  std::vector<std::string> files_checksums;
  std::vector<std::string> files_checksum_func_names;
  Temperature file_temperature = Temperature::kUnknown;

  // The files replace what the column family holds in it, all if it has no limits. Whole tables go:
  // InvalidArgument if one reaches over a limit, for one limit, and with snapshot_consistency.
  std::optional<RangeOpt> atomic_replace_range;
};

// Files that DB::PrepareFileIngestion has staged, for one commit. Deleting it aborts what is not
// committed. It may outlive the database, whose closing aborts it: calls are ShutdownInProgress
// then. One thread at a time.
class VARVE_EXPORT FileIngestionHandle {
 public:
  virtual ~FileIngestionHandle() = default;

  // Removes what was staged. InvalidArgument: it has been committed, or aborted.
  virtual Status Abort() = 0;
};

}  // namespace varve
