// SPDX-License-Identifier: Apache-2.0

// Writes memtables into one L0 table.
//
//   memtables --merged--> [order by time] --CompactionIterator--> OutputWriter --> L0 table,
//   range tombstones --> SurvivingTombstones --^---------------------^             blob files
//
// A flush is a compaction of memtables: the same rules decide which versions of a key are dropped.
// But it is never bottommost, because older tables may lie beneath it, so tombstones stay.

#include "db/flush/flush_job.h"

#include <exception>
#include <new>
#include <utility>

#include "db/compaction/blob_output.h"
#include "db/compaction/compaction_iterator.h"
#include "db/compaction/output_writer.h"
#include "db/compaction/surviving_tombstones.h"
#include "db/flush/sequence_order_iterator.h"
#include "table/iterator/merging_iterator.h"
#include "util/base/assert.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Sets *filter to what the factory of filters makes for flushes; null: there is no factory, or it
// filters no flushes. A filter that is set directly is for compactions only.
Status MakeFlushFilter(const FlushInput& input, std::unique_ptr<CompactionFilter>* filter) {
  CompactionFilter::Context context{};
  context.column_family_id = input.build.column_family_id;
  context.reason = TableFileCreationReason::kFlush;
  return MakeCompactionFilter(input.options->compaction_filter_factory.get(), context, filter);
}

// Sets *ts_low to the first timestamp above those of the memtables that is not below the current
// full_history_ts_low. Timestamps that tables may omit have 64 bits.
Status TsLowAboveAll(const FlushInput& input, std::string* ts_low) {
  std::string timestamp;
  for (const auto& mem : input.memtables) {
    VARVE_RETURN_IF_ERROR(mem->RaiseToNewestTimestamp(&timestamp));
  }
  // The limit has to lie above all timestamps that are about to be lost: reads below it could not
  // tell any more which entry was valid when.
  uint64_t newest = 0;
  if (!timestamp.empty()) VARVE_RETURN_IF_ERROR(DecodeU64Ts(timestamp, &newest));
  EncodeU64Ts(newest == UINT64_MAX ? newest : newest + 1, ts_low);
  const std::string& before = input.full_history_ts_low;
  if (!before.empty() && input.icmp->CompareTimestamp(*ts_low, before) < 0) *ts_low = before;
  return Status::OK();
}

// Compares the entries that came out of the memtables with those that were added.
Status CheckCount(const FlushInput& input, const CompactionCounts& counts) {
  uint64_t expected = 0;
  for (const auto& mem : input.memtables) {
    uint64_t left_out = 0;
    VARVE_RETURN_IF_ERROR(mem->CountLeftOut(&left_out));
    // Range deletions do not go through the iterator. Entries that are left out belong to batches
    // that failed half way (memtable/invalidated_sequences.h).
    expected += mem->entry_count() - mem->range_deletion_count() - left_out;
  }
  // A filter may have skipped a range unseen; then nothing can be compared.
  if (counts.skipped || counts.entries_in == expected) return Status::OK();
  return Status::Corruption("flush of column family " + input.build.column_family_name,
                            "the memtables hold " + std::to_string(expected) + " entries, but " +
                                std::to_string(counts.entries_in) + " came out");
}

// Returns null if values stay in the table.
std::unique_ptr<BlobOutput> MakeBlobOutput(const FlushInput& input) {
  const ColumnFamilyOptions& options = *input.options;
  // Values stay in the table if blobs begin at a deeper level, and where timestamps are left out.
  if (!options.enable_blob_files || options.blob_file_starting_level > 0 ||
      input.new_blob_file_number == nullptr || !input.build.persist_timestamps) {
    return nullptr;
  }
  BlobOutputOptions blobs;
  blobs.files = &input.output;
  blobs.options = &options;
  blobs.new_file_number = input.new_blob_file_number;
  blobs.column_family_id = input.build.column_family_id;
  blobs.statistics = input.build.statistics;
  blobs.separates = true;
  blobs.warms = input.blob_cache;
  return std::make_unique<BlobOutput>(std::move(blobs));
}

// Sets up the chain at the head of this file and runs it. *result changes only after the table was
// written; until then an error, or an exception, leaves the deletion of files to the destructors of
// the writer and of the blob output.
Status RunGuarded(const FlushInput& input, FlushResult* result) {
  VARVE_ASSERT(std::ranges::is_sorted(input.snapshots));
  std::string ts_low = input.full_history_ts_low;
  const bool leaves_out = !input.build.persist_timestamps && input.icmp->timestamp_size() != 0;
  if (leaves_out) VARVE_RETURN_IF_ERROR(TsLowAboveAll(input, &ts_low));
  TombstoneSet set(*input.icmp);
  std::vector<std::shared_ptr<const FragmentedTombstones>> lists;
  std::vector<std::unique_ptr<InternalIterator>> children;
  // The newest memtable comes first. Iterators and tombstone lists point into the memtables, which
  // `input` keeps alive.
  for (auto it = input.memtables.rbegin(); it != input.memtables.rend(); ++it) {
    children.push_back((*it)->NewIterator());
    for (auto& list : (*it)->RangeTombstones()) lists.push_back(std::move(list));
  }
  std::unique_ptr<InternalIterator> merged = NewMergingIterator(input.icmp, std::move(children));
  if (leaves_out) merged = NewSequenceOrderIterator(std::move(merged), input.icmp);
  const SurvivingTombstones tombstones(lists, *input.icmp, input.snapshots, /*bottommost=*/false,
                                       /*deeper=*/nullptr,
                                       {.full_history_ts_low = ts_low, .trim_ts = ""}, leaves_out);
  // The set hides covered entries while the table is written, the list is written into the table.
  set.Add(tombstones.all());
  std::unique_ptr<CompactionFilter> filter;
  VARVE_RETURN_IF_ERROR(MakeFlushFilter(input, &filter));

  CompactionIteratorOptions options;
  options.icmp = input.icmp;
  options.snapshots = input.snapshots;
  options.conflict_check_floor = input.conflict_check_floor;
  options.history.full_history_ts_low = ts_low;
  options.checks = input.checks;
  options.filter = filter.get();
  options.merge =
      MergeCaller(input.options->merge_operator.get(), input.info_log, input.build.statistics);
  options.info_log = input.info_log;
  // There are no bounds: a flush reads its memtables from the first entry to the last.
  CompactionIterator iterator(merged.get(), &set, options);
  iterator.Start(nullptr);

  const auto open = [&](std::unique_ptr<TableOutput>* output) {
    TableBuildOptions build = input.build;
    // The family's table format may not be able to hold range deletions; such a flush gets one that
    // can.
    if (!lists.empty()) build.factory = FactoryWithTombstones(build.factory);
    return TableOutput::Create(input.output, build, output);
  };
  const std::unique_ptr<BlobOutput> blobs = MakeBlobOutput(input);
  OutputWriter writer(/*splitter=*/nullptr, &tombstones, open, /*own_thread=*/false, blobs.get());
  // Checked before the file is made durable: if the count is wrong, no file may stay.
  VARVE_RETURN_IF_ERROR(writer.Run(&iterator, nullptr, nullptr, [&] {
    return input.checks.count ? CheckCount(input, iterator.counts()) : Status::OK();
  }));
  // The caller stores the limit in the same edit of the MANIFEST as the table.
  if (leaves_out) result->full_history_ts_low = ts_low;
  result->entries_in = iterator.counts().entries_in;
  result->entries_dropped = iterator.counts().dropped();
  VARVE_ASSERT(writer.files().size() <= 1);
  if (!writer.files().empty()) {
    result->wrote_file = true;
    result->file = std::move(writer.files().front());
    result->properties = std::move(writer.properties().front());
  }
  if (blobs != nullptr) result->blob_files = blobs->TakeFiles();
  return Status::OK();
}

}  // namespace

// May call a user's collectors, filters and prefix extractors.
Status RunFlush(const FlushInput& input, FlushResult* result) {
  *result = FlushResult();
  try {
    return RunGuarded(input, result);
  } catch (const std::bad_alloc&) {
    return Status::MemoryLimit("flush of column family", input.build.column_family_name);
  } catch (const std::exception& e) {
    return Status::Aborted("flush of column family " + input.build.column_family_name + " threw",
                           e.what());
  } catch (...) {
    return Status::Aborted("flush of column family " + input.build.column_family_name + " threw");
  }
}

}  // namespace varve
