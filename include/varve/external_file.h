// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arguments and results of DB::IngestExternalFiles and DB::PrepareFileIngestion, which take table
// files written outside of the database.

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
// PreparedFileInfo is opaque.
struct PreparedFileInfo;

// Files to ingest into one column family.
struct IngestExternalFileArg {
  // The family that gets the files. Not owned.
  ColumnFamilyHandle* column_family = nullptr;
  // Paths of the files. If files overlap, later ones are newer.
  std::vector<std::string> external_files;
  IngestExternalFileOptions options;

  // Checksums of whole files, one per file, or none: they are then computed if the database stores
  // such checksums. Ignored without a DBOptions::file_checksum_gen_factory.
  std::vector<std::string> files_checksums;
  std::vector<std::string> files_checksum_func_names;
  // Recorded as the temperature of the files.
  Temperature file_temperature = Temperature::kUnknown;

  // ExternalSstFileInfo::prepared_file_info of each file, or no elements. It saves the reads that
  // find the bounds of the file; null if a file has none. Not owned, and not used after the call.
  // InvalidArgument: the number of elements is wrong, or one belongs to another file.
  std::vector<const PreparedFileInfo*> file_infos;

  // The files replace what the column family holds in this range; all of it if neither limit is
  // given. Only whole tables are replaced. InvalidArgument: a table or a file extends across a
  // limit, only one limit is given, or snapshot_consistency is set.
  std::optional<RangeOpt> atomic_replace_range;
};

// Files staged by DB::PrepareFileIngestion, for one commit. Destroying the handle aborts the
// ingestion unless it was committed. It may outlive the database; closing the database aborts it,
// and later calls return ShutdownInProgress. Used by one thread at a time.
//
// DB::CommitFileIngestionHandles returns InvalidArgument, with the other handles still prepared, if
// a handle is null, of another database, given twice, or was committed or aborted before, or if two
// handles have files for one column family and only one of them has ingest_behind. Any refusal
// before the installation begins, such as Busy in a callback of a flush, leaves them prepared. Once
// it has begun, an error aborts all handles: nothing of them is in the database, and their staged
// files are removed.
class VARVE_EXPORT FileIngestionHandle {
 public:
  virtual ~FileIngestionHandle() = default;

  // Removes the staged files. InvalidArgument if they were committed or aborted.
  virtual Status Abort() = 0;
};

}  // namespace varve
