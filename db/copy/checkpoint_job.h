// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes checkpoints and exports: links or copies the files of one moment into a new directory,
// which becomes a database of its own, or holds the tables of one family.
//
//      StagedDirectory::Make  <directory>.tmp; first, so that a refused name flushes nothing
//      CopySet::Take          the files of the moment, kept from deletion
//      CopyPool::Run          links or copies each file into it, and syncs the copies
//      Publish                the directory gets its own name
//
// A crash before the last step leaves <directory>.tmp, which the next call for the name removes.

#include <cstddef>
#include <string>
#include <vector>

#include "varve/column_family.h"
#include "varve/metadata.h"
#include "varve/status.h"
#include "varve/types.h"

namespace varve {

class RateLimiter;
struct Engine;

// Options for linking and copying the files of a checkpoint.
struct CheckpointLimits {
  bool may_link = true;
  int threads = 1;
  size_t buffer_bytes = 0;              // 0 means CopyPool's default.
  RateLimiter* rate_limiter = nullptr;  // Limits the copied bytes; outlives the call.
};

// Arguments of a call that makes a checkpoint. log_size_for_flush has the meaning of
// CopyWanted::log_bytes_for_flush.
struct CheckpointWanted {
  std::vector<ColumnFamilyHandle*> families;  // In addition to the default one; empty means all.
  uint64_t log_size_for_flush = 0;
  CheckpointLimits limits;
};

// Implement Checkpoint::CreateCheckpoint and ExportColumnFamily, and notify listeners. Require a
// call within CopyHost::WithEngine. Unless `sequence` is null, *sequence becomes
// CopySet::sequence(). InvalidArgument: *metadata is not null at entry; otherwise it becomes an
// object that the caller deletes, or stays null after an error.
Status MakeCheckpoint(Engine* engine, const std::string& directory, const CheckpointWanted& wanted,
                      SequenceNumber* sequence);
Status ExportFamily(Engine* engine, ColumnFamilyHandle* handle, const std::string& directory,
                    ExportImportFilesMetaData** metadata);

}  // namespace varve
