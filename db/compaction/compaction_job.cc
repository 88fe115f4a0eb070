// SPDX-License-Identifier: Apache-2.0

// Executes a plan: opens inputs, cuts the work into pieces, runs them, sums up.
//
//      Run -> OpenInputs -> ChooseSubcompactionBounds -> RunPieces -> CheckCount -> Collect
//                                                          |
//               one thread for each piece:   NewInputIterator -> CompactionIterator -> OutputWriter
//
// Invariants
// 1. Nothing is visible before the caller applies the edit (FillCompactionEdit) to the MANIFEST. A
//    job that fails deletes its outputs and leaves the version as it was.
// 2. Pieces are cut between user keys, so that all versions of a key are judged by one iterator. A
//    range tombstone that spans pieces is cut to each.
// 3. Pieces share only what SharedInputs has, which is constant, and callbacks and options that may
//    be used by several threads.
// 4. Snapshots are taken when the job starts. One that is taken later sees at least the newest
//    version of each key, which no compaction drops.
// 5. Entries in = entries out + entries dropped, and entries in = what the tables' properties say
//    (compaction_verify_record_count). Otherwise a table or the iterator is broken, and the job
//    fails rather than losing data.

#include "db/compaction/compaction_job.h"

#include <algorithm>
#include <iterator>
#include <thread>
#include <utility>

#include "db/active_work.h"
#include "db/compaction/blob_references.h"
#include "db/compaction/blob_work.h"
#include "db/compaction/compaction_iterator.h"
#include "db/compaction/counted_input.h"
#include "db/compaction/output_writer.h"
#include "db/compaction/partition.h"
#include "db/compaction/subcompaction_bounds.h"
#include "db/compaction/surviving_tombstones.h"
#include "db/read/version_iterators.h"
#include "db/version/entry_place.h"
#include "db/version/version_builder.h"
#include "table/iterator/merging_iterator.h"
#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/metrics/statistics.h"
#include "util/sync/give_way.h"

namespace varve {

namespace {

// Number of entries under one range tombstone after which the inputs jump over the others. A jump
// is a seek in each input, which is worth it if a tombstone covers more than about one block.
constexpr uint32_t kCoveredBeforeJump = 64;

// Entries, according to their properties, of the tables of one child of the merge: a table of L0 or
// a level.
struct SourceEntries {
  uint64_t entries = 0;
  bool known = true;  // false: some table lacks a count, as LevelDB's do
};

// State that the pieces of one compaction share; constant while they run.
struct SharedInputs {
  std::vector<CompactionInputFile> files;
  std::vector<LevelFiles> levels;  // indexed as the plan's inputs; empty for L0
  std::vector<std::shared_ptr<const FragmentedTombstones>> tombstones;
  std::vector<SourceEntries> sources;  // point entries, indexed as the merge's children
  SourceEntries all;
  TablePropertiesCollection properties;
};

// One piece: a key range with its own iterators and output files. While pieces run, only the
// piece's own thread touches it.
struct Piece {
  size_t index = 0;
  const Slice* begin = nullptr;
  const Slice* end = nullptr;
  std::vector<NewFile> files;
  std::vector<TableProperties> properties;
  std::vector<BlobFileFacts> blob_files;
  BlobTally references_in;  // to blob files
  BlobTally references_kept;
  std::unique_ptr<DroppedRecords> dropped;  // null: nobody asks for them
  uint64_t blobs_read = 0;
  uint64_t blob_bytes_read = 0;
  CompactionCounts counts;
  std::vector<CountedInput::Count> sources;  // only with range tombstones
  uint64_t bytes_visited = 0;                // bytes in data blocks
  uint64_t cpu_micros = 0;
  FileWriteTimes file_times;
  Status status;
};

// Counts bytes by reason, to explain why there are so many compactions.
void CountByReason(CompactionReason reason, uint64_t read, uint64_t written,
                   Statistics* statistics) {
  switch (reason) {
    case CompactionReason::kFilesMarkedForCompaction:
      RecordTick(statistics, COMPACT_READ_BYTES_MARKED, read);
      RecordTick(statistics, COMPACT_WRITE_BYTES_MARKED, written);
      break;
    case CompactionReason::kPeriodicCompaction:
      RecordTick(statistics, COMPACT_READ_BYTES_PERIODIC, read);
      RecordTick(statistics, COMPACT_WRITE_BYTES_PERIODIC, written);
      break;
    case CompactionReason::kTtl:
      RecordTick(statistics, COMPACT_READ_BYTES_TTL, read);
      RecordTick(statistics, COMPACT_WRITE_BYTES_TTL, written);
      break;
    default:
      break;
  }
}

class Job {
 public:
  Job(const CompactionPlan& plan, const CompactionContext& context)
      : plan_(plan), context_(context), snapshots_(context.snapshots) {
    read_options_.fill_cache = false;
    read_options_.io_activity = Env::IOActivity::kCompaction;
    read_options_.rate_limiter_priority = Env::IO_LOW;
    iter_options_.for_compaction = true;
    iter_options_.skip_filters = true;
  }

  Status Run(CompactionResult* result);

 private:
  Status OpenInputs();
  void CountEntries();
  std::unique_ptr<InternalIterator> NewInputIterator(Piece* piece) const;
  void RunPieces(std::vector<Piece>* pieces);
  void RunPieceGuarded(Piece* piece);
  Subcompaction Describe(const Piece& piece, bool over) const;
  Status RunPiece(Piece* piece);
  BlobInputs NewBlobInputs() const {
    return {context_.table_cache.get(), plan_.version.get(), read_options_,
            context_.options->blob_compaction_readahead_size, context_.checks.allow_data_in_errors};
  }
  std::unique_ptr<BlobOutput> NewBlobOutput(BlobInputs* relocated, DroppedRecords* dropped) const;
  Status MakeFilter(std::unique_ptr<CompactionFilter>* filter) const;
  // Returns whether most of the inputs' data, by bytes, is in the block cache now.
  bool InputsAreCached() const;
  Status OpenOutput(std::unique_ptr<TableOutput>* output) const;
  bool WritesBeside(const CompactionFilter* filter) const;
  Status CheckCount(const CompactionCounts& counts, const std::vector<Piece>& pieces) const;
  Status CheckSources(const std::vector<Piece>& pieces) const;
  Status Miscounted(uint64_t held, uint64_t read) const;
  void CollectBlobs(std::vector<Piece>* pieces, CompactionResult* result) const;
  void Collect(std::vector<Piece>* pieces, CompactionResult* result) const;
  void RemoveOutputs(const std::vector<Piece>& pieces) const;
  uint64_t OldestAncestorTime() const;
  uint64_t NewestTime() const;
  uint64_t OutputEpoch() const;
  bool Settles(const NewFile& file) const;

  const CompactionPlan& plan_;
  const CompactionContext& context_;
  const std::vector<SequenceNumber> snapshots_;
  ReadOptions read_options_;
  TableIterOptions iter_options_;
  BlobPolicy blob_policy_;
  SharedInputs inputs_;
  size_t piece_count_ = 1;
};

// Opens all input tables, and collects their tombstones and properties, before any output exists:
// a table that cannot be opened fails the job without a trace. The references in inputs_ keep the
// tables open until the job ends.
Status Job::OpenInputs() {
  for (const CompactionInputLevel& level : plan_.inputs) {
    inputs_.levels.push_back(
        level.level == 0 ? LevelFiles() : LevelFiles(context_.icmp, level.level, level.files));
    for (const FileRef& file : level.files) {
      CompactionInputFile input;
      input.file = file.get();
      input.level = level.level;
      VARVE_RETURN_IF_ERROR(
          context_.table_cache->Find(file.get(), level.level, read_options_, &input.table));
      TombstoneSet clipped(*context_.icmp);
      AddFileTombstones(*file, *input.table.get(), *context_.icmp, &clipped);
      inputs_.tombstones.insert(inputs_.tombstones.end(), clipped.lists().begin(),
                                clipped.lists().end());
      const auto& properties = input.table->properties();
      inputs_.properties[context_.table_cache->FileName(*file)] = properties;
      inputs_.files.push_back(std::move(input));
    }
  }
  CountEntries();
  return Status::OK();
}

// Adds up how many point entries the tables' properties promise, for the whole job and for each
// child of the merge, in the order in which NewInputIterator makes the children: the files of L0,
// then one for each deeper level.
void Job::CountEntries() {
  const auto add = [](const CompactionInputFile& input, SourceEntries* source) {
    const auto& properties = input.table->properties();
    source->entries += properties->num_entries - properties->num_range_deletions;
    // No table is empty, so 0 means that the property is missing. Uncounted range deletions mean
    // that the table is older than their property.
    const auto& tombstones = input.table->tombstones();
    const bool uncounted =
        properties->num_range_deletions == 0 && tombstones != nullptr && !tombstones->empty();
    if (properties->num_entries == 0 || uncounted) source->known = false;
  };
  for (const CompactionInputFile& input : inputs_.files) {
    if (input.level == 0) add(input, &inputs_.sources.emplace_back());
    add(input, &inputs_.all);
  }
  for (const CompactionInputLevel& level : plan_.inputs) {
    if (level.level == 0 || level.files.empty()) continue;
    SourceEntries& source = inputs_.sources.emplace_back();
    for (const CompactionInputFile& input : inputs_.files) {
      if (input.level == level.level) add(input, &source);
    }
  }
}

// Merges the inputs for one piece. Around the tables are those counters that the job needs: of the
// entries of each child if there are tombstones, over which children may jump, and of references to
// blob files.
std::unique_ptr<InternalIterator> Job::NewInputIterator(Piece* piece) const {
  TableIterOptions iter_options = iter_options_;
  iter_options.bytes_visited = &piece->bytes_visited;
  std::vector<std::unique_ptr<InternalIterator>> children;
  for (const CompactionInputFile& input : inputs_.files) {
    if (input.level != 0) continue;
    children.push_back(input.table->NewIterator(read_options_, iter_options));
    // Lets a jump move this child, if the tombstone is newer than all its entries (SkipOlder).
    children.back()->SetNewest(input.file->largest_seq);
  }
  for (size_t i = 0; i < plan_.inputs.size(); i++) {
    const CompactionInputLevel& level = plan_.inputs[i];
    if (level.level == 0 || level.files.empty()) continue;
    children.push_back(NewLevelIterator(&inputs_.levels[i], level.level, context_.table_cache.get(),
                                        context_.icmp, read_options_, iter_options,
                                        /*tombstones=*/nullptr));
  }
  // Without tombstones no child jumps, so the total count is enough.
  if (!inputs_.tombstones.empty()) piece->sources.resize(children.size());
  for (size_t i = 0; i < piece->sources.size(); i++) {
    children[i] = std::make_unique<CountedInput>(std::move(children[i]), context_.icmp, piece->end,
                                                 &piece->sources[i]);
  }
  auto merged = NewMergingIterator(context_.icmp, std::move(children));
  if (!blob_policy_.has_references) return merged;
  return std::make_unique<BlobReferences>(std::move(merged), context_.icmp, piece->end,
                                          &piece->references_in, piece->dropped.get());
}

// Returns null if no value is in a blob file before or afterwards.
std::unique_ptr<BlobOutput> Job::NewBlobOutput(BlobInputs* relocated,
                                               DroppedRecords* dropped) const {
  if (!blob_policy_.IsNeeded()) return nullptr;
  BlobOutputOptions options;
  options.files = &context_.output;
  options.options = context_.options.get();
  options.new_file_number = context_.new_file_number;
  options.column_family_id = context_.build.column_family_id;
  options.statistics = context_.statistics;
  options.separates = blob_policy_.separates;
  options.relocates = [this](uint64_t blob_file) { return blob_policy_.Relocates(blob_file); };
  options.present = &plan_.version->blob_files();
  options.dropped = dropped;
  options.fetch = [relocated](const Slice& user_key, const Slice& encoded, PinnableSlice* value) {
    return relocated->Get(user_key, encoded, value);
  };
  return std::make_unique<BlobOutput>(std::move(options));
}

// Sets *filter to one of the user's factory; leaves it null if there is none, or if the options
// have a filter, which all jobs share.
Status Job::MakeFilter(std::unique_ptr<CompactionFilter>* filter) const {
  if (context_.options->compaction_filter != nullptr) return Status::OK();
  CompactionFilter::Context filter_context{};
  filter_context.is_full_compaction = plan_.TakesAll();
  filter_context.is_manual_compaction = plan_.is_manual;
  filter_context.input_start_level = plan_.start_level;
  filter_context.column_family_id = context_.build.column_family_id;
  filter_context.reason = TableFileCreationReason::kCompaction;
  filter_context.input_table_properties = inputs_.properties;
  return MakeCompactionFilter(context_.options->compaction_filter_factory.get(), filter_context,
                              filter);
}

// Returns the creation time for the outputs: that of the table in which the inputs' oldest data
// began, so that merges do not make data look younger (ttl).
uint64_t Job::OldestAncestorTime() const {
  uint64_t oldest = 0;
  for (const CompactionInputFile& input : inputs_.files) {
    const uint64_t time = input.file->times.oldest_ancestor;
    if (time != 0 && (oldest == 0 || time < oldest)) oldest = time;
  }
  return oldest == 0 ? context_.build.creation_time : oldest;
}

// Returns the time by which the newest entry of the inputs was written: merging makes no data
// younger.
uint64_t Job::NewestTime() const {
  uint64_t newest = 0;
  for (const CompactionInputFile& input : inputs_.files) {
    newest = std::max(newest, input.file->times.Newest());
  }
  return newest;
}

// Returns the epoch of the oldest input: an output in L0 must not come before newer tables. Such a
// table may be added later than the output and have an epoch between those of the inputs, if its
// memtable was switched before a newer input was ingested.
uint64_t Job::OutputEpoch() const {
  uint64_t oldest = kUnknownEpochNumber;
  for (const CompactionInputFile& input : inputs_.files) {
    const uint64_t epoch = input.file->epoch_number;
    if (epoch == kUnknownEpochNumber) continue;
    // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
    const bool older = VARVE_CANARY(kOldestEpochWrong) ? epoch > oldest : epoch < oldest;
    if (oldest == kUnknownEpochNumber || older) oldest = epoch;
  }
  return oldest;
}

// If most of the inputs are in the block cache, the outputs are put there as well, so that readers
// who found the inputs' blocks find the new ones.
bool Job::InputsAreCached() const {
  double bytes = 0;
  double cached_bytes = 0;
  for (const CompactionInputFile& input : inputs_.files) {
    bytes += static_cast<double>(input.file->size);
    cached_bytes += static_cast<double>(input.file->size) * input.table->CachedShare();
  }
  return cached_bytes * 2 > bytes;
}

// Creates the next output table. Called by the threads of all pieces.
Status Job::OpenOutput(std::unique_ptr<TableOutput>* output) const {
  TableBuildOptions build = context_.build;
  build.file_number = context_.new_file_number();
  // Tables of the family's own kind may not be able to hold range deletions.
  if (!inputs_.tombstones.empty()) build.factory = FactoryWithTombstones(build.factory);
  build.level = plan_.output_level;
  build.reason = TableFileCreationReason::kCompaction;
  build.replaces_cached = InputsAreCached();
  build.compression = plan_.output.compression;
  build.compression_opts = plan_.output.compression_opts;
  build.creation_time = OldestAncestorTime();
  if (context_.options->optimize_filters_for_hits && plan_.bottommost) build.skip_filters = true;
  return TableOutput::Create(context_.output, build, output);
}

// True if each piece has a spare processor for a thread that fills its tables. False if a user's
// filter and a user's property collectors, which may share state, would run in parallel.
bool Job::WritesBeside(const CompactionFilter* filter) const {
  if (filter != nullptr && !context_.options->table_properties_collector_factories.empty()) {
    return false;
  }
  return plan_.output.compression_opts.parallel_threads > 0 &&
         std::thread::hardware_concurrency() >= 2 * piece_count_;
}

// Sets up the chain inputs -> CompactionIterator -> OutputWriter for the piece's range, and runs
// it. Whatever the result is, the piece has all output files that were finished, so that Run can
// keep or delete them.
Status Job::RunPiece(Piece* piece) {
  SystemClock* const clock = context_.output.clock;
  const uint64_t cpu_start = clock == nullptr ? 0 : clock->CPUMicros();
  std::unique_ptr<CompactionFilter> own_filter;
  VARVE_RETURN_IF_ERROR(MakeFilter(&own_filter));
  // An output in L0 has older files beside it, which no level tells: every key may exist there,
  // unless it is bottommost.
  const bool unknown = plan_.output_level == 0 && !plan_.bottommost;
  const Version* const version = unknown ? nullptr : plan_.version.get();
  // Beneath a bottommost output there is nothing but inputs.
  const bool alone = plan_.bottommost && version != nullptr;
  DeeperLevels deeper(version, alone ? version->num_levels() : plan_.output_level + 1);
  const SurvivingTombstones tombstones(inputs_.tombstones, *context_.icmp, snapshots_,
                                       plan_.bottommost, &deeper, context_.history,
                                       !context_.build.persist_timestamps);
  TombstoneSet covering(*context_.icmp);
  covering.Add(tombstones.all());

  CompactionIteratorOptions options;
  options.icmp = context_.icmp;
  options.snapshots = snapshots_;
  options.conflict_check_floor = context_.conflict_check_floor;
  options.bottommost = plan_.bottommost;
  options.checks = context_.checks;
  options.deeper = &deeper;
  options.filter = own_filter != nullptr ? own_filter.get() : context_.options->compaction_filter;
  options.filter_level = plan_.output_level;
  options.merge =
      MergeCaller(context_.options->merge_operator.get(), context_.info_log, context_.statistics);
  options.info_log = context_.info_log;
  options.statistics = context_.statistics;
  options.end = piece->end;
  options.history = context_.history;
  options.cancel = context_.cancel;
  options.name_table = [this](const Status& error, const Slice& key) {
    return NameTableOfEntry(error, read_options_, *plan_.version, context_.table_cache.get(), key,
                            kMaxSequenceNumber);
  };
  // A jump would pass references to blob files without counting them.
  options.covered_before_jump = blob_policy_.has_references ? 0 : kCoveredBeforeJump;
  // Filters and merges, and the relocation of values, each have a reader, as the writer of the
  // outputs may have a thread of its own.
  BlobInputs judged = NewBlobInputs();
  if (blob_policy_.has_references) options.blobs = &judged;
  if (blob_policy_.has_references && context_.options->punch_holes_in_blob_files) {
    piece->dropped = std::make_unique<DroppedRecords>(&plan_.version->blob_files());
  }
  const auto merged = NewInputIterator(piece);
  CompactionIterator iterator(merged.get(), &covering, options);
  iterator.Start(piece->begin);

  const auto partitioner = MakePartitioner(plan_, *context_.icmp, *context_.options);
  OutputSplitter splitter(context_.icmp, &plan_.output.grandparents, plan_.output.target_file_bytes,
                          plan_.output.max_grandparent_overlap_bytes, partitioner.get(),
                          plan_.output.border_file_bytes);
  BlobInputs relocated = NewBlobInputs();
  const std::unique_ptr<BlobOutput> blobs = NewBlobOutput(&relocated, piece->dropped.get());
  OutputWriter writer(
      plan_.output_level == 0 ? nullptr : &splitter, &tombstones,
      [this](std::unique_ptr<TableOutput>* output) { return OpenOutput(output); },
      WritesBeside(options.filter), blobs.get());
  // The finished files must be known whatever the result is.
  const Status s = Guarded([&] { return writer.Run(&iterator, piece->begin, piece->end); });
  piece->files = std::move(writer.files());
  piece->properties = std::move(writer.properties());
  if (blobs != nullptr) {
    piece->blob_files = blobs->TakeFiles();
    piece->references_kept = blobs->kept();
    piece->blobs_read = judged.blobs_read() + relocated.blobs_read();
    piece->blob_bytes_read = judged.bytes_read() + relocated.bytes_read();
  }
  piece->counts = iterator.counts();
  piece->file_times = writer.times();
  piece->counts.expired_tombstones = writer.expired_tombstones();
  piece->cpu_micros =
      clock == nullptr ? 0 : clock->CPUMicros() - cpu_start + writer.helper_cpu_micros();
  return s;
}

// A user's comparator or factory may throw, which would end the process in a thread of its own.
void Job::RunPieceGuarded(Piece* piece) {
  if (context_.on_subcompaction) context_.on_subcompaction(Describe(*piece, false));
  piece->status = Guarded([&] { return RunPiece(piece); });
  if (context_.on_subcompaction) context_.on_subcompaction(Describe(*piece, true));
}

// Returns what listeners are told of the piece; its results are empty before it is over.
Subcompaction Job::Describe(const Piece& piece, bool over) const {
  Subcompaction sub;
  sub.index = piece.index;
  sub.over = over;
  sub.status = piece.status;
  sub.stats.is_manual_compaction = plan_.is_manual;
  sub.stats.cpu_micros = piece.cpu_micros;
  sub.stats.num_input_records = piece.counts.entries_in;
  sub.stats.num_output_records = piece.counts.entries_out;
  sub.stats.num_records_replaced = piece.counts.dropped_hidden;
  sub.stats.num_output_files = piece.files.size();
  for (const NewFile& file : piece.files) sub.stats.total_output_bytes += file.size;
  return sub;
}

// This thread runs the first piece; each of the others has a thread of its own. Two things are
// bound to a thread and are handed on: how it yields to others (GiveWay), and the work that it has
// begun (active_work), so that a filter that calls the database is refused there as it is here.
void Job::RunPieces(std::vector<Piece>* pieces) {
  std::vector<std::thread> threads;
  // Reserved first: a thread that has begun must be in the list, to be joined.
  threads.reserve(pieces->size());
  size_t begun = 1;
  try {
    for (; begun < pieces->size(); begun++) {
      threads.emplace_back([this, piece = &(*pieces)[begun], pace = GiveWay::CurrentPace(),
                            active = active_work::innermost] {
        const ActiveWorkOf own(active);
        // Each thread yields by itself: the first piece may be over long before the others.
        const GiveWay at_pace(pace);
        RunPieceGuarded(piece);
      });
    }
  } catch (...) {
    // If the system gives no more threads, or no memory for them, this thread does the rest.
  }
  VARVE_ASSERT(begun >= 1 && begun <= pieces->size());
  RunPieceGuarded(&pieces->front());
  for (; begun < pieces->size(); begun++) RunPieceGuarded(&(*pieces)[begun]);
  // All pieces end before a status is looked at, as their results lie in this call's memory.
  for (std::thread& thread : threads) thread.join();
}

Status Job::Miscounted(uint64_t held, uint64_t read) const {
  return Status::Corruption("compaction of column family " + context_.family_name,
                            "the input tables hold " + std::to_string(held) + " entries, but " +
                                std::to_string(read) + " were read");
}

// Checks that inputs without jumps were read completely; a jump skips entries without counting
// them.
Status Job::CheckSources(const std::vector<Piece>& pieces) const {
  VARVE_ASSERT(pieces.front().sources.size() == inputs_.sources.size());
  for (size_t i = 0; i < inputs_.sources.size(); i++) {
    CountedInput::Count sum;
    for (const Piece& piece : pieces) {
      sum.entries += piece.sources[i].entries;
      sum.jumped |= piece.sources[i].jumped;
    }
    const SourceEntries& held = inputs_.sources[i];
    if (held.known && !sum.jumped && sum.entries != held.entries) {
      return Miscounted(held.entries, sum.entries);
    }
  }
  return Status::OK();
}

// Checks invariant 5. After jumps the number of entries that were read is not known exactly: then
// each child of the merge that did not jump is checked, and the whole must not exceed the promise.
Status Job::CheckCount(const CompactionCounts& counts, const std::vector<Piece>& pieces) const {
  // A filter that skips to a later key leaves entries unread, without a number.
  if (!context_.checks.count || counts.skipped) return Status::OK();
  if (counts.jumped) VARVE_RETURN_IF_ERROR(CheckSources(pieces));
  const bool more_or_less = counts.jumped ? counts.entries_in > inputs_.all.entries
                                          : counts.entries_in != inputs_.all.entries;
  if (inputs_.all.known && more_or_less) {
    return Miscounted(inputs_.all.entries, counts.entries_in);
  }
  if (counts.entries_out + counts.dropped() != counts.entries_in) {
    return Status::Corruption("compaction of column family " + context_.family_name,
                              "of " + std::to_string(counts.entries_in) + " entries " +
                                  std::to_string(counts.entries_out) + " were written and " +
                                  std::to_string(counts.dropped()) + " dropped");
  }
  return Status::OK();
}

// True if another compaction of this file alone would drop nothing more (TableCounts::settled): it
// has no data beneath, or was rewritten in its level, and the oldest snapshot sees all its entries,
// so that no older versions had to be kept for snapshots.
bool Job::Settles(const NewFile& file) const {
  if (plan_.output_level == 0) return false;
  if (!plan_.bottommost && !plan_.IsInPlace()) return false;
  return snapshots_.empty() || file.largest_seq <= snapshots_.front();
}

// References that went in and did not come out as they were are garbage of their blob files.
void Job::CollectBlobs(std::vector<Piece>* pieces, CompactionResult* result) const {
  BlobTally in;
  BlobTally kept;
  for (Piece& piece : *pieces) {
    in.Add(piece.references_in);
    kept.Add(piece.references_kept);
    if (piece.dropped != nullptr) {
      for (const auto& [number, records] : piece.dropped->Take()) {
        result->dropped_records[number].Add(records);
      }
    }
    result->blobs_read += piece.blobs_read;
    result->blob_bytes_read += piece.blob_bytes_read;
    std::move(piece.blob_files.begin(), piece.blob_files.end(),
              std::back_inserter(result->blob_files));
  }
  // Pieces take numbers as they need them; the version has its blob files in order.
  std::ranges::sort(result->blob_files, {}, &BlobFileFacts::number);
  result->blob_garbage = in.Without(kept, plan_.version->blob_files());
}

// Sums the pieces up into the result and the tickers. Pieces are in the order of keys, and so are
// the outputs. Entries under tombstones that were jumped over count as read and dropped.
void Job::Collect(std::vector<Piece>* pieces, CompactionResult* result) const {
  const uint64_t epoch = OutputEpoch();
  const uint64_t newest = NewestTime();
  CompactionCounts counts;
  uint64_t bytes_visited = 0;
  for (Piece& piece : *pieces) {
    counts.Add(piece.counts);
    bytes_visited += piece.bytes_visited;
    result->cpu_micros += piece.cpu_micros;
    result->file_times.Add(piece.file_times);
    VARVE_ASSERT(piece.files.size() == piece.properties.size());
    for (NewFile& file : piece.files) {
      file.level = plan_.output_level;
      file.epoch_number = epoch;
      file.times.newest = newest;
      file.counts.settled = Settles(file);
      result->bytes_written += file.size;
      result->outputs.push_back(std::move(file));
    }
    std::move(piece.properties.begin(), piece.properties.end(),
              std::back_inserter(result->output_properties));
  }
  CollectBlobs(pieces, result);
  result->bytes_in = plan_.InputBytes();
  result->bytes_read = counts.jumped ? bytes_visited : result->bytes_in;
  // If a table has more entries than its properties say, the number of skipped entries is unknown.
  const bool covers = counts.entries_in <= inputs_.all.entries;
  if (counts.jumped && !counts.skipped && inputs_.all.known && covers) {
    counts.dropped_covered += inputs_.all.entries - counts.entries_in;
    counts.entries_in = inputs_.all.entries;
  }
  result->entries_in = counts.entries_in;
  result->entries_out = counts.entries_out;
  result->entries_dropped_obsolete = counts.dropped() - counts.dropped_by_filter;
  result->entries_dropped_by_filter = counts.dropped_by_filter;
  result->subcompactions = static_cast<uint32_t>(pieces->size());
  Statistics* const statistics = context_.statistics;
  RecordTick(statistics, COMPACT_READ_BYTES, result->bytes_read);
  RecordTick(statistics, COMPACT_WRITE_BYTES, result->bytes_written);
  CountByReason(plan_.reason, result->bytes_read, result->bytes_written, statistics);
  RecordTick(statistics, COMPACTION_KEY_DROP_NEWER_ENTRY, counts.dropped_hidden);
  RecordTick(statistics, COMPACTION_KEY_DROP_OBSOLETE, counts.dropped_expired);
  RecordTick(statistics, COMPACTION_RANGE_DEL_DROP_OBSOLETE, counts.expired_tombstones);
  if (!plan_.bottommost) {
    RecordTick(statistics, COMPACTION_OPTIMIZED_DEL_DROP_OBSOLETE, counts.expired_deletions);
  }
  RecordTick(statistics, COMPACTION_KEY_DROP_RANGE_DEL, counts.dropped_covered);
  RecordTick(statistics, COMPACTION_KEY_DROP_USER, counts.dropped_by_filter);
}

// Deletes the finished tables and blob files of all pieces. Best effort.
void Job::RemoveOutputs(const std::vector<Piece>& pieces) const {
  const auto remove = [this](const NewFile& file) {
    const std::string name = context_.output.paths->FileName(file);
    context_.output.fs->DeleteFile(name, IOOptions(), nullptr).PermitUncheckedError();
  };
  for (const Piece& piece : pieces) {
    std::ranges::for_each(piece.files, remove);
    for (const BlobFileFacts& blobs : piece.blob_files) remove(AsDataFile(blobs));
  }
}

// The head of this file shows the steps. Cuts between pieces are keys in `cuts`, to which the
// pieces point. After an error, of which the first piece's counts, all outputs of all pieces are
// deleted.
Status Job::Run(CompactionResult* result) {
  VARVE_ASSERT(!plan_.trivial_move && !plan_.deletion_only && !plan_.inputs.empty());
  blob_policy_ = BlobPolicyOf(*context_.options, plan_, context_.build.persist_timestamps);
  *result = CompactionResult();
  SystemClock* const clock = context_.output.clock;
  const uint64_t start = clock == nullptr ? 0 : clock->NowMicros();
  VARVE_RETURN_IF_ERROR(OpenInputs());
  std::vector<std::string> cuts;
  if (plan_.max_subcompactions > 1 && plan_.output_level > 0) {
    const StopWatch setup(clock, context_.statistics, SUBCOMPACTION_SETUP_TIME);
    cuts =
        ChooseSubcompactionBounds(plan_, inputs_.files, *context_.icmp, plan_.max_subcompactions);
  }
  const std::vector<Slice> bounds(cuts.begin(), cuts.end());
  std::vector<Piece> pieces(bounds.size() + 1);
  for (size_t i = 0; i < bounds.size(); i++) {
    pieces[i + 1].index = i + 1;
    pieces[i].end = &bounds[i];
    pieces[i + 1].begin = &bounds[i];
  }
  piece_count_ = pieces.size();
  RecordInHistogram(context_.statistics, NUM_FILES_IN_SINGLE_COMPACTION, inputs_.files.size());
  RecordInHistogram(context_.statistics, NUM_SUBCOMPACTIONS_SCHEDULED, pieces.size());
  RunPieces(&pieces);
  Status s;
  CompactionCounts counts;
  for (const Piece& piece : pieces) {
    s.UpdateIfOk(piece.status);
    counts.Add(piece.counts);
  }
  // Checked before anything is in force: an entry that was lost in reading is still in the inputs.
  if (s.ok()) s = CheckCount(counts, pieces);
  if (s.ok()) s = Guarded([&] { Collect(&pieces, result); });
  if (!s.ok()) {
    if (s.IsIncomplete() || s.IsShutdownInProgress()) {
      RecordTick(context_.statistics, COMPACTION_CANCELLED);
    }
    RemoveOutputs(pieces);
    *result = CompactionResult();
    return s;
  }
  if (clock != nullptr) result->micros = clock->NowMicros() - start;
  RecordTimeToHistogram(context_.statistics, COMPACTION_TIME, result->micros);
  RecordTimeToHistogram(context_.statistics, COMPACTION_CPU_TIME, result->cpu_micros);
  RecordTick(context_.statistics, COMPACTION_CPU_TOTAL_TIME, result->cpu_micros);
  return s;
}

}  // namespace

Status RunCompaction(const CompactionPlan& plan, const CompactionContext& context,
                     CompactionResult* result) try {
  return Job(plan, context).Run(result);
} catch (...) {
  return CaughtException();
}

// Counts what dropped tables are known to refer to as garbage.
static void AddGarbageOfInputs(const CompactionPlan& plan, VersionEdit* edit) {
  BlobTally dropped;
  for (const CompactionInputLevel& level : plan.inputs) {
    for (const FileRef& file : level.files) dropped.Add(file->blob_shares);
  }
  edit->blob_garbage = dropped.Without(BlobTally(), plan.version->blob_files());
}

// There are three kinds of plans: a deletion removes its inputs and adds nothing, a move adds them
// again in the output level, and any other one adds the outputs of its job.
void FillCompactionEdit(const CompactionPlan& plan, const CompactionResult& result,
                        VersionEdit* edit) {
  for (const CompactionInputLevel& level : plan.inputs) {
    // A table that is to be moved may be in its level already.
    if (plan.trivial_move && level.level == plan.output_level) continue;
    for (const FileRef& file : level.files) {
      edit->deleted_files.emplace_back(level.level, file->number);
    }
  }
  if (plan.deletion_only) return AddGarbageOfInputs(plan, edit);
  if (!plan.trivial_move) {
    edit->new_blob_files.insert(edit->new_blob_files.end(), result.blob_files.begin(),
                                result.blob_files.end());
    edit->blob_garbage.insert(edit->blob_garbage.end(), result.blob_garbage.begin(),
                              result.blob_garbage.end());
    edit->new_files.insert(edit->new_files.end(), result.outputs.begin(), result.outputs.end());
    return;
  }
  for (const CompactionInputLevel& level : plan.inputs) {
    if (level.level == plan.output_level) continue;
    for (const FileRef& file : level.files) {
      edit->new_files.push_back(DescribeFile(*file, plan.output_level));
    }
  }
}

}  // namespace varve
