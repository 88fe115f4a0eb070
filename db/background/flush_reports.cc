// SPDX-License-Identifier: Apache-2.0

// Reports flushes to the LOG, listeners, the event log and the statistics. Nothing here changes the
// database. Listeners are called without the DB mutex, since they may take long and may call the
// database; the family's current state is read under it before.

#include "db/background/flush_reports.h"

#include <algorithm>

#include "db/engine/event_log.h"
#include "db/engine/events.h"
#include "util/env/info_log.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

// The tickers of a reason: for each table's flush, and for each job that flushes families together.
struct ReasonTickers {
  FlushReason reason;
  Tickers of_flush;
  Tickers of_atomic;
};
constexpr ReasonTickers kReasonTickers[] = {
    {FlushReason::kWriteBufferFull, FLUSH_REASON_WRITE_BUFFER_FULL,
     ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_FULL},
    {FlushReason::kWriteBufferManager, FLUSH_REASON_WRITE_BUFFER_MANAGER,
     ATOMIC_FLUSH_REQUEST_REASON_WRITE_BUFFER_MANAGER},
    {FlushReason::kMemtableMaxRangeDeletions, FLUSH_REASON_MEMTABLE_MAX_RANGE_DELETIONS,
     ATOMIC_FLUSH_REQUEST_REASON_MEMTABLE_MAX_RANGE_DELETIONS},
};

event_log::MemTableSums SumsOf(const FamilyFlush& flush) {
  event_log::MemTableSums sums;
  sums.memtables = flush.input.memtables.size();
  for (const auto& mem : flush.input.memtables) {
    sums.entries += mem->entry_count();
    sums.deletions += mem->deletion_count();
    sums.range_deletions += mem->range_deletion_count();
    sums.data_bytes += mem->data_bytes();
    sums.memory += mem->MemoryUsage();
  }
  return sums;
}

}  // namespace

void FlushReports::CountAtomicJob(FlushReason reason) const {
  Statistics* const statistics = context_.statistics();
  for (const ReasonTickers& row : kReasonTickers) {
    if (row.reason == reason) return RecordTick(statistics, row.of_atomic);
  }
  RecordTick(statistics, ATOMIC_FLUSH_REQUEST_REASON_OTHER);
}

void FlushReports::ManualScheduled(const std::vector<ColumnFamily*>& families) const {
  if (!events::Wanted(context_)) return;
  std::vector<ManualFlushInfo> infos;
  for (const ColumnFamily* family : families) {
    infos.push_back({family->id(), family->name(), FlushReason::kManualFlush});
  }
  events::ManualFlushScheduled(context_, infos);
}

void FlushReports::Begin(const FamilyFlush& flush, FlushReason reason) const {
  LogInfo(context_.info_log(), "[%s] [JOB %d] flushing %zu memtable(s), reason: %s",
          flush.family->name().c_str(), flush.job_id, flush.input.memtables.size(),
          GetFlushReasonString(reason));
  const FlushJobInfo info = Describe(flush, reason);
  event_log::FlushStarted(context_, info, SumsOf(flush));
  if (events::Wanted(context_)) events::FlushBegin(context_, info);
}

void FlushReports::Written(const FamilyFlush& flush, FlushReason reason) const {
  Count(flush, reason);
  if (!flush.result.wrote_file) return;
  const NewFile& file = flush.result.file;
  const TableFileCreationInfo info =
      events::DescribeNewTable(context_, *flush.family, flush.job_id,
                               TableFileCreationReason::kFlush, file, flush.result.properties);
  event_log::TableCreated(context_, info, file.number, file.smallest_seq, file.largest_seq);
  if (!events::Wanted(context_)) return;
  events::TableFileCreated(context_, info);
  events::BlobFilesCreated(context_, *flush.family, flush.job_id, BlobFileCreationReason::kFlush,
                           flush.result.blob_files);
}

void FlushReports::End(const FamilyFlush& flush, FlushReason reason) const {
  const NewFile& file = flush.result.file;
  LogInfo(context_.info_log(), "[%s] [JOB %d] flushed table #%llu: %llu bytes, %llu entries",
          flush.family->name().c_str(), flush.job_id, static_cast<unsigned long long>(file.number),
          static_cast<unsigned long long>(file.size),
          static_cast<unsigned long long>(file.counts.entries));
  const FlushJobInfo info = Describe(flush, reason);
  std::vector<uint64_t> files;
  size_t immutables = 0;
  {
    DbLock lock(mu_);
    files = flush.family->current()->FileCounts();
    immutables = flush.family->immutables().size();
  }
  event_log::FlushFinished(context_, info, files, immutables);
  if (events::Wanted(context_)) events::FlushCompleted(context_, info);
}

void FlushReports::Failed(const Status& s) const {
  LogError(context_.info_log(), "flush failed: %s",
           s.ok() ? "so did that of an older memtable" : s.ToString().c_str());
}

// Garbage bytes are those of entries in memtables that the table does not have: overwritten and
// deleted ones.
void FlushReports::Count(const FamilyFlush& flush, FlushReason reason) const {
  Statistics* const statistics = context_.statistics();
  if (statistics == nullptr) return;
  RecordTick(statistics, FLUSH_WRITE_BYTES, flush.result.file.size);
  const uint64_t payload = flush.PayloadBytes();
  const TableProperties& written = flush.result.properties;
  const uint64_t useful = written.raw_key_size + written.raw_value_size;
  RecordTick(statistics, MEMTABLE_PAYLOAD_BYTES_AT_FLUSH, payload);
  RecordTick(statistics, MEMTABLE_GARBAGE_BYTES_AT_FLUSH, payload - std::min(payload, useful));
  uint64_t held = 0;
  for (const auto& mem : flush.input.memtables) held += mem->MemoryUsage();
  RecordInHistogram(statistics, FLUSH_MEMTABLE_MEMORY_BYTES, held);
  RecordInHistogram(statistics, FLUSH_MEMTABLE_TOTAL_DATA_SIZE_BYTES, payload);
  if (reason == FlushReason::kWriteBufferFull) {
    RecordInHistogram(statistics, FLUSH_WRITE_BUFFER_FULL_MEMTABLE_MEMORY_BYTES, held);
  } else if (reason == FlushReason::kWriteBufferManager) {
    RecordInHistogram(statistics, FLUSH_WRITE_BUFFER_MANAGER_MEMTABLE_MEMORY_BYTES, held);
  }
  for (const ReasonTickers& row : kReasonTickers) {
    if (row.reason == reason) RecordTick(statistics, row.of_flush);
  }
}

// Begin calls this before the table is written; the fields of the result then have their defaults.
FlushJobInfo FlushReports::Describe(const FamilyFlush& flush, FlushReason reason) const {
  FlushJobInfo info;
  info.cf_id = flush.family->id();
  info.cf_name = flush.family->name();
  info.file_number = flush.input.build.file_number;
  info.file_path =
      flush.family->table_paths().FileName(info.file_number, flush.input.output.path_id);
  info.thread_id = context_.env()->GetThreadID();
  info.job_id = flush.job_id;
  info.smallest_seqno = flush.result.file.smallest_seq;
  info.largest_seqno = flush.result.file.largest_seq;
  info.table_properties = flush.result.properties;
  info.flush_reason = reason;
  info.oldest_blob_file_number = flush.result.file.oldest_blob_file_number;
  info.blob_compression_type = flush.input.options->blob_compression_type;
  info.blob_file_addition_infos =
      events::DescribeNewBlobFiles(*flush.family, flush.result.blob_files);
  const auto options = flush.family->options();
  DbLock lock(mu_);
  const size_t l0_files = flush.family->current()->level(0).size();
  const auto reached = [&](int trigger) {
    return trigger > 0 && l0_files >= static_cast<size_t>(trigger);
  };
  info.triggered_writes_slowdown = reached(options->level0_slowdown_writes_trigger);
  info.triggered_writes_stop = reached(options->level0_stop_writes_trigger);
  return info;
}

}  // namespace varve
