// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes one line into the LOG for each event of background work: the word EVENT_LOG_v1 and an
// object of JSON, with the names by which programs that read RocksDB's LOG know them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/listener.h"

#include "db/engine/context.h"
#include "db/version/table_facts.h"

namespace varve::event_log {

// Sums over the memtables of a flush.
struct MemTableSums {
  size_t memtables = 0;
  uint64_t entries = 0;
  uint64_t deletions = 0;
  uint64_t range_deletions = 0;
  // Bytes of keys and values.
  uint64_t data_bytes = 0;
  // Bytes that the memtables take.
  uint64_t memory = 0;
};

// Input files of a compaction at one level.
struct LevelInputs {
  int level = 0;
  std::vector<uint64_t> files;
};

// All do nothing without a LOG. None throws; a line that memory is missing for is left out. Any
// thread may call them, but without the DB mutex, as they write to a file.
void FlushStarted(const DbContext& context, const FlushJobInfo& info, const MemTableSums& sums);
// `files` has the number of tables at each level; `immutable_memtables` is how many are left to
// flush.
void FlushFinished(const DbContext& context, const FlushJobInfo& info,
                   const std::vector<uint64_t>& files, size_t immutable_memtables);
// `score` is that of the level that the plan begins with; `input_bytes` the size of all inputs.
void CompactionStarted(const DbContext& context, const CompactionJobInfo& info, double score,
                       uint64_t input_bytes, const std::vector<LevelInputs>& inputs);
void CompactionFinished(const DbContext& context, const CompactionJobInfo& info,
                        const std::vector<uint64_t>& files);
// `smallest` and `largest` are the sequence numbers of the table's entries.
void TableCreated(const DbContext& context, const TableFileCreationInfo& info, uint64_t number,
                  SequenceNumber smallest, SequenceNumber largest);
// `result` is that of the deletion; `job` is the number of the job that deleted it.
void FileDeleted(const DbContext& context, DataFileKind kind, int job, uint64_t number,
                 const Status& result);
void StallChanged(const DbContext& context, const WriteStallInfo& info);
void BackgroundError(const DbContext& context, BackgroundErrorReason reason, const Status& error);

}  // namespace varve::event_log
