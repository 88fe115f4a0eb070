// SPDX-License-Identifier: Apache-2.0

// Programs that read RocksDB's LOG look for these events and fields by their names, which are
// therefore RocksDB's. What an event is made of is passed in: nothing here takes a lock of the
// database, and callers do not hold the DB mutex while the line is written.
//
// Write makes the common beginning (time, job, name of the event) and the line. It costs nothing if
// there is no LOG, or if its level is above INFO.

#include "db/engine/event_log.h"

#include <string_view>

#include "varve/convenience.h"

#include "util/base/caught_exception.h"
#include "util/env/info_log.h"
#include "util/metrics/event_json.h"

namespace varve::event_log {

namespace {

// Makes the event, lets `fill` add to it, and writes the line.
template <typename Fill>
void Write(const DbContext& context, int job, std::string_view event, const Fill& fill) {
  Logger* const log = context.info_log();
  // Nothing is computed for a line that the LOG would not take.
  if (log == nullptr || log->GetInfoLogLevel() > InfoLogLevel::INFO_LEVEL) return;
  BestEffort([&] {
    JsonEvent json(context.clock()->NowMicros(), job, event);
    fill(&json);
    LogInfo(log, "EVENT_LOG_v1 %s", json.Finish().c_str());
  });
}

const char* StallName(WriteStallCondition condition) {
  switch (condition) {
    case WriteStallCondition::kDelayed:
      return "delayed";
    case WriteStallCondition::kStopped:
      return "stopped";
    default:
      return "normal";
  }
}

const char* ReasonName(BackgroundErrorReason reason) {
  switch (reason) {
    case BackgroundErrorReason::kFlush:
      return "flush";
    case BackgroundErrorReason::kCompaction:
      return "compaction";
    case BackgroundErrorReason::kWriteCallback:
      return "write";
    case BackgroundErrorReason::kMemTable:
      return "memtable";
    default:
      return "other";
  }
}

// Returns the name of the constant without its `k`.
std::string CompressionOf(CompressionType type) {
  std::string name;
  return GetStringFromCompressionType(&name, type).ok() ? name.substr(1) : "Unknown";
}

// Adds an object with the properties of a table, under the names that RocksDB's LOG has for them.
void AddProperties(const TableProperties& table, JsonEvent* json) {
  json->BeginObject("table_properties")
      .Add("data_size", table.data_size)
      .Add("index_size", table.index_size)
      .Add("index_partitions", table.index_partitions)
      .Add("top_level_index_size", table.top_level_index_size)
      .Add("filter_size", table.filter_size)
      .Add("raw_key_size", table.raw_key_size)
      .Add("raw_value_size", table.raw_value_size)
      .Add("num_data_blocks", table.num_data_blocks)
      .Add("num_entries", table.num_entries)
      .Add("num_deletions", table.num_deletions)
      .Add("num_merge_operands", table.num_merge_operands)
      .Add("num_range_deletions", table.num_range_deletions)
      .Add("filter_policy", table.filter_policy_name)
      .Add("column_family_name", table.column_family_name)
      .Add("column_family_id", table.column_family_id)
      .Add("comparator", table.comparator_name)
      .Add("merge_operator", table.merge_operator_name)
      .Add("compression", table.compression_name)
      .Add("creation_time", table.creation_time)
      .Add("oldest_key_time", table.oldest_key_time)
      .Add("file_creation_time", table.file_creation_time)
      .EndObject();
}

}  // namespace

void FlushStarted(const DbContext& context, const FlushJobInfo& info, const MemTableSums& sums) {
  Write(context, info.job_id, "flush_started", [&](JsonEvent* json) {
    json->Add("cf_name", info.cf_name)
        .Add("num_memtables", sums.memtables)
        .Add("num_entries", sums.entries)
        .Add("num_deletes", sums.deletions)
        .Add("total_data_size", sums.data_bytes)
        .Add("memory_usage", sums.memory)
        .Add("num_range_deletes", sums.range_deletions)
        .Add("flush_reason", GetFlushReasonString(info.flush_reason));
  });
}

void FlushFinished(const DbContext& context, const FlushJobInfo& info,
                   const std::vector<uint64_t>& files, size_t immutable_memtables) {
  Write(context, info.job_id, "flush_finished", [&](JsonEvent* json) {
    json->Add("cf_name", info.cf_name)
        .Add("output_compression", info.table_properties.compression_name)
        .Add("lsm_state", files)
        .Add("immutable_memtables", immutable_memtables);
  });
}

void CompactionStarted(const DbContext& context, const CompactionJobInfo& info, double score,
                       uint64_t input_bytes, const std::vector<LevelInputs>& inputs) {
  Write(context, info.job_id, "compaction_started", [&](JsonEvent* json) {
    json->Add("cf_name", info.cf_name)
        .Add("compaction_reason", GetCompactionReasonString(info.compaction_reason));
    for (const LevelInputs& level : inputs) {
      json->Add("files_L" + std::to_string(level.level), level.files);
    }
    json->Add("score", score).Add("input_data_size", input_bytes);
  });
}

void CompactionFinished(const DbContext& context, const CompactionJobInfo& info,
                        const std::vector<uint64_t>& files) {
  const CompactionJobStats& stats = info.stats;
  Write(context, info.job_id, "compaction_finished", [&](JsonEvent* json) {
    json->Add("cf_name", info.cf_name)
        .Add("compaction_time_micros", stats.elapsed_micros)
        .Add("compaction_time_cpu_micros", stats.cpu_micros)
        .Add("output_level", info.output_level)
        .Add("num_output_files", stats.num_output_files)
        .Add("total_output_size", stats.total_output_bytes)
        .Add("num_input_records", stats.num_input_records)
        .Add("num_output_records", stats.num_output_records)
        .Add("output_compression", CompressionOf(info.compression))
        .Add("status", info.status.ToString())
        .Add("lsm_state", files);
  });
}

void TableCreated(const DbContext& context, const TableFileCreationInfo& info, uint64_t number,
                  SequenceNumber smallest, SequenceNumber largest) {
  Write(context, info.job_id, "table_file_creation", [&](JsonEvent* json) {
    json->Add("cf_name", info.cf_name)
        .Add("file_number", number)
        .Add("file_size", info.file_size)
        .Add("file_checksum", Slice(info.file_checksum).ToString(/*hex=*/true))
        .Add("file_checksum_func_name", info.file_checksum_func_name)
        .Add("smallest_seqno", smallest)
        .Add("largest_seqno", largest);
    AddProperties(info.table_properties, json);
  });
}

void FileDeleted(const DbContext& context, DataFileKind kind, int job, uint64_t number,
                 const Status& result) {
  const bool blobs = kind == DataFileKind::kBlobs;
  Write(context, job, blobs ? "blob_file_deletion" : "table_file_deletion", [&](JsonEvent* json) {
    json->Add("file_number", number);
    if (!result.ok()) json->Add("status", result.ToString());
  });
}

void StallChanged(const DbContext& context, const WriteStallInfo& info) {
  Write(context, 0, "stall_conditions_changed", [&](JsonEvent* json) {
    json->Add("cf_name", info.cf_name)
        .Add("from", StallName(info.condition.prev))
        .Add("to", StallName(info.condition.cur));
  });
}

void BackgroundError(const DbContext& context, BackgroundErrorReason reason, const Status& error) {
  Write(context, 0, "background_error", [&](JsonEvent* json) {
    json->Add("reason", ReasonName(reason)).Add("status", error.ToString());
  });
}

}  // namespace varve::event_log
