// SPDX-License-Identifier: Apache-2.0

// PrepareIngestion first checks the arguments of all families, and then stages the files family by
// family:
//
//     CheckArg, CheckCanBeBehind   bad arguments, before any file is touched
//     Preparation::Run             numbers for the files, and the staging directory
//     StageAll                     several threads: link or copy, sync, open, inspect, checksum
//
// Invariants
// 1. A staged file has the number of its table from the beginning, so that it only needs to be
//    renamed later, and two ingestions never stage files of the same name.
// 2. Threads share only the counter of the next file: each StagedTable is filled in by one thread.
// 3. Until everything is staged, only this call owns the Ingestion. If a step fails, its destructor
//    unlinks the staged files.

#include "db/ingest/prepare.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "db/ingest/staging.h"
#include "db/ingest/table_description.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/status_macros.h"
#include "util/env/file_names.h"
#include "util/env/posix_fd.h"
#include "util/metrics/statistics.h"

namespace varve {

namespace {

constexpr size_t kOpeningThreadsMax = 64;
// A device often syncs several files as quickly as one. So with many files there is a thread for
// each this many, even if the options ask for fewer threads.
constexpr size_t kFilesAThread = 32;
constexpr size_t kOwnThreadsMax = 16;

size_t ThreadsFor(size_t files, const IngestExternalFileOptions& options) {
  const size_t own = std::min(files / kFilesAThread, kOwnThreadsMax);
  const auto asked = static_cast<size_t>(options.file_opening_threads);
  return std::min({std::max(own, asked), files, kOpeningThreadsMax});
}

Status CheckOptions(const IngestExternalFileArg& arg) {
  const IngestExternalFileOptions& options = arg.options;
  if (options.move_files && options.link_files) {
    return Status::InvalidArgument("IngestExternalFile: both move_files and link_files");
  }
  if (options.file_opening_threads < 1) {
    return Status::InvalidArgument("IngestExternalFile: file_opening_threads must be at least 1");
  }
  if (options.ingest_behind &&
      (options.allow_db_generated_files || arg.atomic_replace_range.has_value())) {
    return Status::InvalidArgument(
        "IngestExternalFile: ingest_behind together with "
        "allow_db_generated_files or atomic_replace_range");
  }
  if (options.write_global_seqno && options.allow_db_generated_files) {
    return Status::InvalidArgument(
        "IngestExternalFile: allow_db_generated_files, whose entries keep their numbers, and "
        "write_global_seqno");
  }
  if (arg.atomic_replace_range.has_value() && options.snapshot_consistency) {
    return Status::InvalidArgument(
        "IngestExternalFiles: atomic_replace_range takes from snapshots what it replaces, so "
        "snapshot_consistency must be false");
  }
  return Status::OK();
}

Status CheckArg(const IngestExternalFileArg& arg) {
  if (arg.external_files.empty()) {
    return Status::InvalidArgument("IngestExternalFile: no files are given");
  }
  const size_t files = arg.external_files.size();
  const size_t checksums = arg.files_checksums.size();
  if (checksums != arg.files_checksum_func_names.size() || (checksums != 0 && checksums != files)) {
    return Status::InvalidArgument(
        "IngestExternalFiles: there must be as many checksums, and names of their functions, as "
        "files, or none");
  }
  if (!arg.file_infos.empty() && arg.file_infos.size() != files) {
    return Status::InvalidArgument(
        "IngestExternalFiles: there must be as many file_infos as files, "
        "or none");
  }
  return CheckOptions(arg);
}

Status CheckCanBeBehind(const ColumnFamily& family) {
  if (!family.options()->cf_allow_ingest_behind) {
    return Status::InvalidArgument(
        "IngestExternalFile: ingest_behind",
        "needs cf_allow_ingest_behind in column family " + family.name());
  }
  if (family.icmp().timestamp_size() == 0) return Status::OK();
  return Status::InvalidArgument("IngestExternalFile: ingest_behind",
                                 "is not for keys with timestamps: files may not be older than "
                                 "what they come to lie beneath");
}

// Stages the files of one share. A share (FamilyShare) is what the ingestion adds to one family; it
// is filled in from `arg`, that family's argument of the user's call.
class Preparation {
 public:
  Preparation(Engine* engine, const IngestExternalFileArg& arg, FamilyShare* share)
      : e_(*engine), arg_(arg), share_(*share) {}

  Status Run();

 private:
  Status StageAll();
  Status Stage(size_t i);
  Status CheckChecksum(size_t i, StagedTable* table);

  Engine& e_;
  const IngestExternalFileArg& arg_;
  FamilyShare& share_;
  std::string directory_;
  uint64_t now_ = 0;
};

// Gives each file its number, and guesses its level, for which its reader is opened. The commit
// chooses the level; if the guess was wrong, the table is opened again.
Status Preparation::Run() {
  int64_t now = 0;
  if (e_.context.clock()->GetCurrentTime(&now).ok() && now > 0) now_ = static_cast<uint64_t>(now);
  directory_ = StagingDirectory(share_.family->table_paths().directory(0));
  const auto options = share_.family->options();
  // Such a family keeps its last level for ingest_behind, so all other tables go above it.
  const bool above = options->cf_allow_ingest_behind && !share_.options.ingest_behind;
  const int last_level = options->num_levels - (above ? 2 : 1);
  const bool is_fifo = options->compaction_style == kCompactionStyleFIFO;
  for (const std::string& source : arg_.external_files) {
    StagedTable& table = share_.tables.emplace_back();
    table.source = source;
    table.file.number = VARVE_CANARY(kReuseStagedNumber) ? e_.state.versions->next_file_number()
                                                         : e_.state.versions->NewFileNumber();
    table.moves = arg_.options.move_files;
    table.file.temperature = arg_.file_temperature;
    table.file.times = {now_, now_};
    table.expected_level = is_fifo ? 0 : last_level;
  }
  // This creates the directory if it is missing. It stays until the database is closed, as later
  // ingestions use it too.
  VARVE_RETURN_IF_ERROR(e_.staged_ingestions->EnterDirectory(e_.context.fs().get(), directory_));
  return StageAll();
}

// Stages all files, with several threads if there are many or the options ask for it. Returns the
// first error in the order of the files.
Status Preparation::StageAll() {
  std::vector<Status> statuses(share_.tables.size());
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&] {
    for (;;) {
      const size_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= statuses.size() || failed.load(std::memory_order_relaxed)) return;
      statuses[i] = Guarded([&] { return Stage(i); });
      if (!statuses[i].ok()) failed.store(true, std::memory_order_relaxed);
    }
  };
  const size_t wanted = ThreadsFor(statuses.size(), share_.options);
  std::vector<std::thread> helpers;
  // Helpers take over what this thread is doing, so that a callback in them is refused as in it.
  const ActiveWork* const active = active_work::innermost;
  // If no more threads can be started, the existing ones do all the work.
  BestEffort([&] {
    helpers.reserve(wanted);
    // Room for all descriptors is made at once and beside the work, as it takes milliseconds once
    // the process has threads.
    if (wanted > 1) helpers.emplace_back([n = statuses.size()] { ReserveDescriptors(n); });
    while (helpers.size() < wanted) {
      helpers.emplace_back([&] {
        const ActiveWorkOf of_caller(active);
        work();
      });
    }
  });
  work();
  for (std::thread& helper : helpers) helper.join();
  for (const Status& s : statuses) VARVE_RETURN_IF_ERROR(s);
  return Status::OK();
}

// Stages and inspects one file. Runs in several threads, each with its own table. After an error,
// Ingestion::Discard deletes the staged file.
Status Preparation::Stage(size_t i) {
  StagedTable& table = share_.tables[i];
  const std::string path = TableFileName(directory_, table.file.number);
  VARVE_RETURN_IF_ERROR(StageFile(e_.context, table.source, path, WayOf(share_.options)));
  table.path = path;
  VARVE_RETURN_IF_ERROR(e_.context.fs()->GetFileSize(path, IOOptions(), &table.file.size, nullptr));
  const IngestExternalFileArg& call = arg_;
  if (!call.file_infos.empty()) table.prepared = call.file_infos[i];
  VARVE_RETURN_IF_ERROR(DescribeExternalTable(*share_.family, share_.options, &table));
  table.prepared = nullptr;
  const std::optional<ReplacedRange>& range = share_.replaced;
  if (range.has_value() && !range->Covers(share_.family->icmp(), table.file)) {
    return Status::InvalidArgument(table.source, "has keys outside of atomic_replace_range");
  }
  return CheckChecksum(i, &table);
}

// If the database keeps file checksums, every table gets one. A checksum that the caller gave is
// verified, or trusted if verify_file_checksum is false.
Status Preparation::CheckChecksum(size_t i, StagedTable* table) {
  if (e_.context.options().file_checksum_gen_factory == nullptr) return Status::OK();
  if (arg_.files_checksums.empty()) return FillInChecksum(e_.context, table);
  const std::string& given = arg_.files_checksums[i];
  const std::string& function = arg_.files_checksum_func_names[i];
  if (!share_.options.verify_file_checksum) {
    table->file.checksum = {given, function};
    return Status::OK();
  }
  VARVE_RETURN_IF_ERROR(FillInChecksum(e_.context, table, function));
  if (table->file.checksum.value == given) return Status::OK();
  return Status::Corruption(table->source, "the whole file's checksum is not the one given");
}

// All arguments are checked before the first file is touched.
Status PrepareFamilies(Engine* engine, const std::vector<IngestExternalFileArg>& args,
                       Ingestion* ingestion) {
  std::set<const ColumnFamily*> families;
  for (const IngestExternalFileArg& call : args) {
    VARVE_RETURN_IF_ERROR(CheckArg(call));
    Status s;
    ColumnFamily* const family = engine->state.Resolve(call.column_family, &s);
    if (family == nullptr) return s;
    if (family->dropped()) {
      return Status::InvalidArgument("IngestExternalFile: the column family was dropped",
                                     family->name());
    }
    if (call.options.ingest_behind) VARVE_RETURN_IF_ERROR(CheckCanBeBehind(*family));
    if (!families.insert(family).second) {
      return Status::InvalidArgument("IngestExternalFiles: a column family is named twice",
                                     family->name());
    }
    if (call.options.fill_cache != args.front().options.fill_cache) {
      return Status::InvalidArgument(
          "IngestExternalFiles: fill_cache must be the same for all column families");
    }
    FamilyShare& share = ingestion->shares().emplace_back();
    share.family = family->shared_from_this();
    share.options = call.options;
    if (call.atomic_replace_range.has_value()) {
      VARVE_RETURN_IF_ERROR(
          ReplacedRange::Make(family->icmp(), *call.atomic_replace_range, &share.replaced));
    }
  }
  for (size_t i = 0; i < args.size(); i++) {
    VARVE_RETURN_IF_ERROR(Preparation(engine, args[i], &ingestion->shares()[i]).Run());
  }
  return Status::OK();
}

}  // namespace

Status PrepareIngestion(Engine* engine, const std::vector<IngestExternalFileArg>& args,
                        std::shared_ptr<Ingestion>* result) {
  const DbContext& context = engine->context;
  const StopWatch watch(context.clock(), context.statistics(), INGEST_EXTERNAL_FILE_PREPARE_MICROS);
  if (args.empty()) return Status::InvalidArgument("IngestExternalFiles: no files are given");
  auto ingestion = std::make_shared<Ingestion>(context.fs());
  VARVE_RETURN_IF_ERROR(PrepareFamilies(engine, args, ingestion.get()));
  engine->staged_ingestions->Add(ingestion);
  *result = std::move(ingestion);
  return Status::OK();
}

}  // namespace varve
