// SPDX-License-Identifier: Apache-2.0

// Reports compactions to the LOG, listeners, the event log and the list of threads. Nothing here
// changes the database. Listeners are called without the DB mutex, since they may take long and may
// call the database.

#include "db/background/compaction_reports.h"

#include <memory>
#include <utility>

#include "db/engine/event_log.h"
#include "db/engine/events.h"
#include "util/base/assert.h"
#include "util/base/caught_exception.h"
#include "util/env/info_log.h"

namespace varve {

namespace {

std::vector<event_log::LevelInputs> InputsOf(const CompactionPlan& plan) {
  std::vector<event_log::LevelInputs> inputs;
  for (const CompactionInputLevel& level : plan.inputs) {
    if (level.files.empty()) continue;
    inputs.push_back({level.level, {}});
    for (const FileRef& file : level.files) inputs.back().files.push_back(file->number);
  }
  return inputs;
}

}  // namespace

void CompactionReports::Begin(const ColumnFamily& family, const CompactionPlan& plan,
                              int job_id) const {
  LogInfo(context_.info_log(), "[%s] [JOB %d] compacting %s (%s, score %.2f, %llu bytes)",
          family.name().c_str(), job_id, plan.DebugString().c_str(),
          GetCompactionReasonString(plan.reason), plan.score,
          static_cast<unsigned long long>(plan.InputBytes()));
  const CompactionJobInfo info = Describe(family, plan, CompactionResult(), job_id);
  event_log::CompactionStarted(context_, info, plan.score, plan.InputBytes(), InputsOf(plan));
  if (events::Wanted(context_)) events::CompactionBegin(context_, info);
}

void CompactionReports::List(const CompactionPlan& plan, int job_id, ListedOperation* listed) {
  listed->Enter(ThreadStatus::STAGE_COMPACTION_PREPARE);
  listed->Set(ThreadStatus::COMPACTION_JOB_ID, static_cast<uint64_t>(job_id));
  // ThreadStatus::InterpretOperationProperties takes the two levels and the flags apart.
  listed->Set(
      ThreadStatus::COMPACTION_INPUT_OUTPUT_LEVEL,
      static_cast<uint64_t>(plan.start_level) << 32 | static_cast<uint64_t>(plan.output_level));
  const uint64_t flags =
      (plan.is_manual ? 1u : 0u) | (plan.deletion_only ? 2u : 0u) | (plan.trivial_move ? 4u : 0u);
  listed->Set(ThreadStatus::COMPACTION_PROP_FLAGS, flags);
  listed->Set(ThreadStatus::COMPACTION_TOTAL_INPUT_BYTES, plan.InputBytes());
}

// A move has no outputs of its own: its inputs are reported as outputs.
CompactionJobInfo CompactionReports::Describe(const ColumnFamily& family,
                                              const CompactionPlan& plan,
                                              const CompactionResult& result, int job_id) const {
  CompactionJobInfo info;
  info.cf_id = family.id();
  info.cf_name = family.name();
  info.thread_id = context_.env()->GetThreadID();
  info.job_id = job_id;
  info.base_input_level = plan.start_level;
  info.output_level = plan.output_level;
  info.compaction_reason = plan.reason;
  info.compression = plan.output.compression;
  info.blob_compression_type = family.options()->blob_compression_type;
  info.blob_file_addition_infos = events::DescribeNewBlobFiles(family, result.blob_files);
  info.blob_file_garbage_infos = events::DescribeBlobGarbage(family, result.blob_garbage);
  CompactionJobStats& stats = info.stats;
  stats.is_full_compaction = plan.TakesAll();
  stats.is_manual_compaction = plan.is_manual;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      info.input_files.push_back(file->FileName());
      info.input_file_infos.push_back({level.level, file->number, file->oldest_blob_file_number});
      stats.num_input_files++;
      if (level.level == plan.output_level) stats.num_input_files_at_output_level++;
      if (plan.trivial_move) stats.num_input_files_trivially_moved++;
      stats.total_input_raw_key_bytes += file->counts().raw_key_bytes;
      stats.total_input_raw_value_bytes += file->counts().raw_value_bytes;
      stats.num_input_deletion_records += file->counts().deletions;
    }
  }
  if (plan.trivial_move) {
    // The outputs are the input tables, which were neither read nor written.
    info.output_files = info.input_files;
    for (const CompactionFileInfo& file : info.input_file_infos) {
      info.output_file_infos.push_back(
          {plan.output_level, file.file_number, file.oldest_blob_file_number});
    }
    stats.num_output_files = info.output_files.size();
    stats.total_input_bytes = plan.InputBytes();
    stats.total_output_bytes = plan.InputBytes();
    return info;
  }
  VARVE_ASSERT(result.outputs.size() == result.output_properties.size());
  for (size_t i = 0; i < result.outputs.size(); i++) {
    const NewFile& file = result.outputs[i];
    info.output_files.push_back(family.table_paths().FileName(file));
    info.output_file_infos.push_back({file.level, file.number, file.oldest_blob_file_number});
    info.table_properties[info.output_files.back()] =
        std::make_shared<TableProperties>(result.output_properties[i]);
  }
  stats.elapsed_micros = result.micros;
  stats.cpu_micros = result.cpu_micros;
  stats.num_input_records = result.entries_in;
  stats.num_output_records = result.entries_out;
  stats.num_output_files = result.outputs.size();
  stats.total_input_bytes = result.bytes_in;
  stats.total_output_bytes = result.bytes_written;
  stats.num_output_files_blob = result.blob_files.size();
  stats.total_output_bytes_blob = BytesOf(result.blob_files);
  stats.num_blobs_read = result.blobs_read;
  stats.total_blob_bytes_read = result.blob_bytes_read;
  stats.num_records_replaced = result.entries_dropped_obsolete;
  stats.file_prepare_write_nanos = result.file_times.prepare;
  stats.file_write_nanos = result.file_times.write;
  stats.file_range_sync_nanos = result.file_times.range_sync;
  stats.file_fsync_nanos = result.file_times.sync;
  return info;
}

void CompactionReports::OfSubcompaction(const ColumnFamily& family, const CompactionPlan& plan,
                                        int job_id, const Subcompaction& sub) const {
  BestEffort([&] {
    SubcompactionJobInfo info;
    info.cf_id = family.id();
    info.cf_name = family.name();
    info.status = sub.status;
    info.thread_id = context_.env()->GetThreadID();
    info.job_id = job_id;
    info.subcompaction_job_id = static_cast<int>(sub.index);
    info.base_input_level = plan.start_level;
    info.output_level = plan.output_level;
    info.compaction_reason = plan.reason;
    info.compression = plan.output.compression;
    info.blob_compression_type = family.options()->blob_compression_type;
    info.stats = sub.stats;
    sub.over ? events::SubcompactionCompleted(context_, info)
             : events::SubcompactionBegin(context_, info);
  });
}

// Opens tables that are not open, and omits those whose properties cannot be read.
void CompactionReports::AddInputProperties(const ColumnFamily& family, const CompactionPlan& plan,
                                           CompactionJobInfo* info) {
  const std::shared_ptr<TableCache> tables = family.shared_table_cache();
  size_t i = 0;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) {
      TableRef table;
      if (tables->Find(file.get(), level.level, ReadOptions(), &table).ok()) {
        info->table_properties[info->input_files[i]] = table->properties();
      }
      i++;
    }
  }
}

// Writes a line for people and an event for programs to the LOG, then calls the listeners.
void CompactionReports::End(const ColumnFamily& family, const CompactionPlan& plan,
                            const CompactionResult& result, const CompactionJobInfo& info,
                            const std::vector<uint64_t>& files) const {
  if (info.status.ok()) {
    const char* what = plan.trivial_move ? "moved" : plan.deletion_only ? "deleted" : "compacted";
    LogInfo(context_.info_log(),
            "[%s] [JOB %d] %s %zu table(s) to L%d: %zu table(s), %llu bytes, %llu of %llu entries, "
            "%.3f s",
            family.name().c_str(), info.job_id, what, info.input_files.size(), plan.output_level,
            info.output_files.size(),
            static_cast<unsigned long long>(info.stats.total_output_bytes),
            static_cast<unsigned long long>(result.entries_out),
            static_cast<unsigned long long>(result.entries_in),
            static_cast<double>(result.micros) / 1e6);
  } else {
    LogWarn(context_.info_log(), "[%s] [JOB %d] compaction failed: %s", family.name().c_str(),
            info.job_id, info.status.ToString().c_str());
  }
  event_log::CompactionFinished(context_, info, files);
  if (events::Wanted(context_)) events::CompactionCompleted(context_, info);
}

void CompactionReports::Written(const ColumnFamily& family, int job_id,
                                const CompactionResult& result) const {
  for (size_t i = 0; i < result.outputs.size(); i++) {
    const NewFile& file = result.outputs[i];
    const TableFileCreationInfo info =
        events::DescribeNewTable(context_, family, job_id, TableFileCreationReason::kCompaction,
                                 file, result.output_properties[i]);
    event_log::TableCreated(context_, info, file.number, file.smallest_seq, file.largest_seq);
    if (events::Wanted(context_)) events::TableFileCreated(context_, info);
  }
  events::BlobFilesCreated(context_, family, job_id, BlobFileCreationReason::kCompaction,
                           result.blob_files);
}

}  // namespace varve
