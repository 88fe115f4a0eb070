// SPDX-License-Identifier: Apache-2.0

// Has the rows of calls that change a database's shape, and of those that report about it.

#include <chrono>
#include <memory>

#include "varve/change_stream.h"
#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/external_file.h"
#include "varve/trace_reader_writer.h"
#include "varve/utilities/checkpoint.h"
#include "varve/utilities/copy_plan.h"

#include "tests/matrix/call_table.h"
#include "util/env/file_names.h"

namespace varve::testing {

namespace {

// Writes no file, which the watch for changes after Close would see.
class ForgetfulTraceWriter final : public TraceWriter {
 public:
  Status Write(const Slice& /*data*/) override { return Status::OK(); }
  Status Close() override { return Status::OK(); }
  uint64_t GetFileSize() override { return 0; }
};

void Drop(Player& p, const char* call, const Status& s, const std::string& name) {
  p.Expect(call, s, {Status::kInvalidArgument});  // dropped already
  if (!s.ok()) return;
  Stage& stage = p.stage();
  const std::lock_guard<std::mutex> lock(stage.mu);
  stage.made.erase(name);
  stage.unmade.insert(name);
}

// Returns the new family, or null.
ColumnFamilyHandle* Create(Player& p, const std::string& name) {
  ColumnFamilyHandle* handle = nullptr;
  const Status s =
      p.db()->CreateColumnFamily(ColumnFamilyOptions(p.stage().options), name, &handle);
  p.Expect("CreateColumnFamily", s);
  if (s.ok() != (handle != nullptr)) p.Wrong("CreateColumnFamily: status and handle disagree");
  Stage& stage = p.stage();
  const std::lock_guard<std::mutex> lock(stage.mu);
  (s.ok() ? stage.made : stage.unmade).insert(name);
  return handle;
}

void CloseAndCount(Player& p, const Status& s) {
  p.Expect("Close", s, {Status::kAborted});
  if (!s.ok()) return;
  const uint64_t changes = p.stage().disk->call_count();
  Stage& stage = p.stage();
  const std::lock_guard<std::mutex> lock(stage.mu);
  stage.calls_then.push_back(changes);
}

void OpenCopy(Player& p, Env* env, const std::string& directory = "/copy") {
  Options options = p.stage().options;
  options.env = env;
  std::vector<std::string> families;
  Status s = DB::ListColumnFamilies(options, directory, &families);
  std::vector<ColumnFamilyDescriptor> described;
  for (const std::string& name : families) {
    described.emplace_back(name, options);
    if (name == "t") described.back().options.comparator = BytewiseComparatorWithU64Ts();
  }
  std::vector<ColumnFamilyHandle*> handles;
  DB* raw = nullptr;
  if (s.ok()) s = DB::Open(options, directory, described, &handles, &raw);
  if (!s.ok()) return p.Wrong("LOST a copy does not open: " + s.ToString());
  const std::unique_ptr<DB> opened(raw);
  std::map<std::string, ColumnFamilyHandle*> by_name;
  for (size_t i = 0; i < families.size(); i++) by_name[families[i]] = handles[i];
  p.Check(opened.get(), by_name);
  for (ColumnFamilyHandle* handle : handles) {
    opened->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  }
}

// Copies the files that the calls for copies name, and opens the copy on its own disk.
void CopyAndOpen(Player& p) {
  Stage& stage = p.stage();
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  Status s = p.db()->GetLiveFiles(names, &manifest_bytes, p.random.OneIn(2));
  p.Expect("GetLiveFiles", s);
  VectorLogPtr logs;
  if (s.ok()) s = p.db()->GetSortedWalFiles(logs);
  p.Expect("GetSortedWalFiles", s);
  if (!s.ok()) return;
  const auto disk = std::make_shared<MemFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(disk);
  env->CreateDir("/copy").PermitUncheckedError();
  const auto copy = [&](const std::string& name, uint64_t bytes) {
    std::string text;
    const Status read = ReadFileToString(stage.env.get(), "/db" + name, &text);
    if (!read.ok()) p.Wrong("GetLiveFiles names " + name + ": " + read.ToString());
    if (text.size() > bytes) text.resize(bytes);
    WriteStringToFile(env.get(), text, "/copy" + name).PermitUncheckedError();
  };
  for (const std::string& name : names) {
    const bool manifest = name.find("MANIFEST") != std::string::npos;
    if (name != "/CURRENT") copy(name, manifest ? manifest_bytes : UINT64_MAX);
    if (!manifest) continue;
    WriteStringToFile(env.get(), name.substr(1) + "\n", "/copy/CURRENT").PermitUncheckedError();
  }
  for (const auto& log : logs) copy(log->PathName(), log->SizeFileBytes());
  OpenCopy(p, env.get());
}

// Like the call above, but uses the list that says how many bytes of each file count.
void CopyListedAndOpen(Player& p) {
  LiveFilesStorageInfoOptions wanted;
  wanted.wal_size_for_flush = p.random.OneIn(2) ? 0 : UINT64_MAX;
  std::vector<LiveFileStorageInfo> files;
  const Status s = p.db()->GetLiveFilesStorageInfo(wanted, &files);
  p.Expect("GetLiveFilesStorageInfo", s, {Status::kAborted});  // LockWAL
  if (!s.ok()) return;
  const auto disk = std::make_shared<MemFileSystem>();
  const std::unique_ptr<Env> env = NewCompositeEnv(disk);
  env->CreateDir("/copy").PermitUncheckedError();
  for (const LiveFileStorageInfo& file : files) {
    std::string text = file.replacement_contents;
    if (text.empty()) {
      const std::string path = file.directory + "/" + file.relative_filename;
      const Status read = ReadFileToString(p.stage().env.get(), path, &text);
      if (!read.ok() || text.size() < file.size) p.Wrong(path + ": " + read.ToString());
      if (text.size() > file.size) {
        if (!file.trim_to_size) p.Wrong(path + " is longer than it is said to be");
        text.resize(file.size);
      }
    }
    WriteStringToFile(env.get(), text, "/copy/" + file.relative_filename).PermitUncheckedError();
  }
  OpenCopy(p, env.get());
}

void CheckpointAndOpen(Player& p) {
  Checkpoint* raw = nullptr;
  if (!Checkpoint::Create(p.db(), &raw).ok()) return p.Wrong("Checkpoint::Create");
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  const std::string directory = "/checkpoint-" + p.NewFamily();
  const uint64_t log_size_for_flush = p.random.OneIn(2) ? 0 : UINT64_MAX;
  const Status s = checkpoint->CreateCheckpoint(directory, log_size_for_flush);
  p.Expect("CreateCheckpoint", s, {Status::kAborted});  // LockWAL
  if (!s.ok()) return;
  // Nothing may change on that disk once the database is closed.
  const std::unique_ptr<Env> env =
      NewCompositeEnv(p.stage().disk->CrashClone(CrashPolicy::kKill, /*seed=*/1));
  OpenCopy(p, env.get(), directory);
}

// A plan with nothing before it has all files of a database.
void PlanAndOpen(Player& p) {
  CopyPlanOptions options;
  options.flush_before_backup = p.random.OneIn(2);
  std::unique_ptr<CopyPlan> plan;
  const std::string directory = "/plan-" + p.NewFamily();
  const Status s = CopyPlan::Make(options, p.db(), directory, &plan);
  p.Expect("CopyPlan::Make", s, {Status::kAborted});  // LockWAL
  if (!s.ok()) return;
  if (!plan->Verify().ok()) p.Wrong("CopyPlan::Verify");
  const std::unique_ptr<Env> env =
      NewCompositeEnv(p.stage().disk->CrashClone(CrashPolicy::kKill, /*seed=*/1));
  OpenCopy(p, env.get(), directory);
}

void ExportAndImport(Player& p) {
  Checkpoint* raw = nullptr;
  if (!Checkpoint::Create(p.db(), &raw).ok()) return p.Wrong("Checkpoint::Create");
  const std::unique_ptr<Checkpoint> checkpoint(raw);
  const std::string name = p.NewFamily();
  ExportImportFilesMetaData* files = nullptr;
  Status s = checkpoint->ExportColumnFamily(p.family("a"), "/export-" + name, &files);
  const std::unique_ptr<ExportImportFilesMetaData> metadata(files);
  p.Expect("ExportColumnFamily", s, {Status::kAborted});  // LockWAL
  if (!s.ok()) return;
  ImportColumnFamilyOptions options;
  options.move_files = p.random.OneIn(2);
  ColumnFamilyHandle* handle = nullptr;
  s = p.db()->CreateColumnFamilyWithImport(ColumnFamilyOptions(p.stage().options), name, options,
                                           *metadata, &handle);
  p.Expect("CreateColumnFamilyWithImport", s);
  if (s.ok() != (handle != nullptr)) p.Wrong("CreateColumnFamilyWithImport: where is the handle?");
  Stage& stage = p.stage();
  {
    const std::lock_guard<std::mutex> lock(stage.mu);
    (s.ok() ? stage.made : stage.unmade).insert(name);
  }
  if (handle == nullptr) return;
  std::string value;
  const Status got = p.db()->Get(ReadOptions(), handle, "i00", &value);
  p.Expect("Get", got);
  Drop(p, "DropColumnFamily", p.db()->DropColumnFamily(handle), name);
  p.KeepHandle(handle);
}

const Call kAdmin[] = {
    {"Close", [](Player& p) { CloseAndCount(p, p.db()->Close()); }, /*ends=*/true},
    {"WaitForCompact and Close",
     [](Player& p) {
       WaitForCompactOptions options;
       options.close_db = true;
       options.flush = true;
       CloseAndCount(p, p.db()->WaitForCompact(options));
     },
     /*ends=*/true},
    {"CancelAllBackgroundWork",
     [](Player& p) { CancelAllBackgroundWork(p.db(), p.random.OneIn(2)); },
     /*ends=*/true},
    {"DropColumnFamily",
     [](Player& p) { Drop(p, "DropColumnFamily", p.db()->DropColumnFamily(p.family("b")), "b"); },
     /*ends=*/true},
    {"DropColumnFamilies",
     [](Player& p) {
       Drop(p, "DropColumnFamilies", p.db()->DropColumnFamilies({p.family("b")}), "b");
     },
     /*ends=*/true},
    {"CreateColumnFamily",
     [](Player& p) {
       const std::string name = p.NewFamily();
       ColumnFamilyHandle* const handle = Create(p, name);
       if (handle == nullptr) return;
       const std::string value = p.Value();
       p.Wrote(p.db()->Put(WriteOptions(), handle, "k", value), name, "k", &value);
       p.KeepHandle(handle);
     }},
    {"CreateColumnFamilies",
     [](Player& p) {
       const std::vector<std::string> names = {p.NewFamily(), p.NewFamily()};
       std::vector<ColumnFamilyHandle*> handles;
       const Status s =
           p.db()->CreateColumnFamilies(ColumnFamilyOptions(p.stage().options), names, &handles);
       p.Expect("CreateColumnFamilies", s);
       Stage& stage = p.stage();
       const std::lock_guard<std::mutex> lock(stage.mu);
       for (size_t i = 0; i < names.size(); i++) {
         (i < handles.size() ? stage.made : stage.unmade).insert(names[i]);
       }
       for (ColumnFamilyHandle* handle : handles) p.KeepHandle(handle);
     }},
    {"CreateColumnFamilyWithImport", ExportAndImport},
    {"CreateCheckpoint", CheckpointAndOpen},
    {"CopyPlan::Make", PlanAndOpen},
    {"DestroyColumnFamilyHandle",
     [](Player& p) {
       const std::string name = p.NewFamily();
       ColumnFamilyHandle* const handle = Create(p, name);
       if (handle == nullptr) return;
       const Status put = p.db()->Put(WriteOptions(), handle, "k", "v");
       p.Expect("Put", put);
       p.Expect("Flush", p.db()->Flush(FlushOptions(), handle));
       auto pin = std::make_unique<PinnableSlice>();
       const Status got = p.db()->Get(ReadOptions(), handle, "k", pin.get());
       if (put.ok()) p.Expect("Get", got);
       p.KeepIterator(p.db()->NewIterator(ReadOptions(), handle));
       Drop(p, "DropColumnFamily", p.db()->DropColumnFamily(handle), name);
       p.Expect("DestroyColumnFamilyHandle", p.db()->DestroyColumnFamilyHandle(handle));
       p.KeepPin(std::move(pin));
     }},
    {"Flush", [](Player& p) { p.Expect("Flush", p.db()->Flush(FlushOptions())); }},
    {"Flush of families",
     [](Player& p) {
       FlushOptions options;
       options.wait = p.random.OneIn(2);
       p.Expect("Flush of families",
                p.db()->Flush(options, {p.family("default"), p.family("a"), p.family("b")}));
     }},
    {"FlushWAL", [](Player& p) { p.Expect("FlushWAL", p.db()->FlushWAL(p.random.OneIn(2))); }},
    {"SyncWAL", [](Player& p) { p.Expect("SyncWAL", p.db()->SyncWAL()); }},
    {"LockWAL and UnlockWAL",
     [](Player& p) {
       const Status s = p.db()->LockWAL();
       p.Expect("LockWAL", s);
       if (!s.ok()) return;
       const Status unlocked = p.db()->UnlockWAL();
       if (!unlocked.ok()) p.Wrong("UnlockWAL answered " + unlocked.ToString());
     }},
    {"StartTrace and EndTrace",
     [](Player& p) {
       const Status s =
           p.db()->StartTrace(TraceOptions(), std::make_unique<ForgetfulTraceWriter>());
       // A file system that is called by a trace's writer may be the caller.
       p.Expect("StartTrace", s, {Status::kBusy, Status::kAborted});
       if (s.ok()) p.Expect("EndTrace", p.db()->EndTrace());
     }},
    {"CompactRange",
     [](Player& p) {
       CompactRangeOptions options;
       options.exclusive_manual_compaction = p.random.OneIn(2);
       options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
       p.Expect("CompactRange", p.db()->CompactRange(options, nullptr, nullptr),
                {Status::kIncomplete});
     }},
    {"CompactRange in b",
     [](Player& p) {
       p.Expect("CompactRange in b",
                p.db()->CompactRange(CompactRangeOptions(), p.family("b"), nullptr, nullptr),
                {Status::kIncomplete});
     }},
    {"CompactFiles",
     [](Player& p) {
       ColumnFamilyMetaData metadata;
       p.db()->GetColumnFamilyMetaData(p.family("a"), &metadata);
       std::vector<std::string> files;
       for (const auto& level : metadata.levels) {
         for (const auto& file : level.files) files.push_back(file.relative_filename);
       }
       if (files.empty()) return;
       // Other jobs may use these files.
       p.Expect("CompactFiles", p.db()->CompactFiles(CompactionOptions(), p.family("a"), files, 1),
                {Status::kAborted, Status::kInvalidArgument, Status::kIncomplete});
     }},
    {"SuggestCompactRange",
     [](Player& p) {
       p.Expect("SuggestCompactRange",
                p.db()->SuggestCompactRange(p.family("a"), nullptr, nullptr));
     }},
    {"DeleteFilesInRanges",
     [](Player& p) {
       const Slice begin("x");
       const Slice end("z");
       const RangePtr range(&begin, &end);
       p.Expect("DeleteFilesInRanges", p.db()->DeleteFilesInRanges(p.family("a"), &range, 1),
                {Status::kIncomplete});
     }},
    {"ClipColumnFamily",
     [](Player& p) {
       p.Expect("ClipColumnFamily", p.db()->ClipColumnFamily(p.family("a"), "", "~"),
                {Status::kIncomplete});
     }},
    {"Excise",
     [](Player& p) {
       p.Expect("Excise", p.db()->Excise(p.family("a"), RangeOpt("x", "z")), {Status::kIncomplete});
     }},
    {"PromoteL0",
     [](Player& p) {
       p.Expect("PromoteL0", p.db()->PromoteL0(p.family("a"), 1), {Status::kInvalidArgument});
     }},
    {"IngestExternalFile",
     [](Player& p) {
       Player::Table table;
       if (!p.TakeTable(&table)) return;
       IngestExternalFileOptions options;
       options.move_files = p.random.OneIn(2);
       const Status s = p.db()->IngestExternalFile(p.family("a"), {table.path}, options);
       // The family may be dropped.
       p.Expect("IngestExternalFile", s, {Status::kInvalidArgument});
       p.Wrote(s, "a", table.key, &table.value);
     }},
    {"PrepareFileIngestion",
     [](Player& p) {
       Player::Table table;
       if (!p.TakeTable(&table)) return;
       std::unique_ptr<FileIngestionHandle> handle;
       Status s = p.db()->PrepareFileIngestion(p.family("default"), {table.path},
                                               IngestExternalFileOptions(), &handle);
       p.Expect("PrepareFileIngestion", s);
       if (!s.ok() || p.random.OneIn(3)) return;
       s = p.db()->CommitFileIngestionHandle(handle.get());
       p.Expect("CommitFileIngestionHandles", s);
       p.Wrote(s, "default", table.key, &table.value);
     }},
    {"WaitForCompact",
     [](Player& p) {
       WaitForCompactOptions options;
       options.flush = p.random.OneIn(2);
       options.wait_for_purge = p.random.OneIn(2);
       options.timeout = std::chrono::milliseconds(50);
       p.Expect("WaitForCompact", p.db()->WaitForCompact(options), {Status::kTimedOut});
     }},
    {"SetOptions",
     [](Player& p) {
       p.Expect("SetOptions", p.db()->SetOptions(p.family("a"), {{"write_buffer_size", "96K"}}));
     }},
    {"SetDBOptions",
     [](Player& p) {
       p.Expect("SetDBOptions", p.db()->SetDBOptions({{"max_background_jobs", "4"}}));
     }},
    {"PauseBackgroundWork and ContinueBackgroundWork",
     [](Player& p) {
       const Status s = p.db()->PauseBackgroundWork();
       p.Expect("PauseBackgroundWork", s);
       // Close ends the pause.
       if (s.ok()) {
         p.Expect("ContinueBackgroundWork", p.db()->ContinueBackgroundWork(),
                  {Status::kInvalidArgument});
       }
     }},
    {"EnableAutoCompaction",
     [](Player& p) {
       p.Expect("EnableAutoCompaction", p.db()->EnableAutoCompaction({p.family("a")}));
     }},
    {"DisableManualCompaction and EnableManualCompaction",
     [](Player& p) {
       p.db()->DisableManualCompaction();
       p.db()->EnableManualCompaction();
     }},
    {"DisableFileDeletions and EnableFileDeletions",
     [](Player& p) {
       p.Expect("DisableFileDeletions", p.db()->DisableFileDeletions());
       p.Expect("EnableFileDeletions", p.db()->EnableFileDeletions());
     }},
    {"IncreaseFullHistoryTsLow",
     [](Player& p) {
       std::string low;
       EncodeU64Ts(p.random.Below(50), &low);
       p.Expect("IncreaseFullHistoryTsLow", p.db()->IncreaseFullHistoryTsLow(p.family("t"), low),
                {Status::kInvalidArgument, Status::kTryAgain});
     }},
    {"Resume", [](Player& p) { p.Expect("Resume", p.db()->Resume()); }},
};

const Call kInfo[] = {
    {"GetProperty",
     [](Player& p) {
       std::string text;
       const std::string* const names[] = {&DB::Properties::kStats, &DB::Properties::kSSTables,
                                           &DB::Properties::kLevelStats,
                                           &DB::Properties::kEstimateNumKeys};
       if (!p.db()->GetProperty(p.AnyFamily(), *names[p.random.Below(4)], &text)) {
         p.Wrong("GetProperty has no answer");
       }
       p.db()->GetProperty("varve.memory", &text);
       p.db()->GetProperty("varve.holders", &text);
     }},
    {"GetMapProperty",
     [](Player& p) {
       std::map<std::string, std::string> map;
       p.db()->GetMapProperty(p.AnyFamily(), DB::Properties::kCFStats, &map);
     }},
    {"GetIntProperty",
     [](Player& p) {
       uint64_t n = 0;
       p.db()->GetIntProperty(p.AnyFamily(), DB::Properties::kEstimateLiveDataSize, &n);
       p.db()->GetIntProperty(p.AnyFamily(), DB::Properties::kMinLogNumberToKeep, &n);
       p.db()->GetIntProperty(p.AnyFamily(), DB::Properties::kEstimateTableReadersMem, &n);
     }},
    {"GetAggregatedIntProperty",
     [](Player& p) {
       uint64_t n = 0;
       p.db()->GetAggregatedIntProperty(DB::Properties::kTotalSstFilesSize, &n);
     }},
    {"ResetStats", [](Player& p) { p.Expect("ResetStats", p.db()->ResetStats()); }},
    {"GetApproximateSizes",
     [](Player& p) {
       const Range range("a", "z");
       uint64_t bytes = 0;
       SizeApproximationOptions options;
       options.include_memtables = true;
       const Status s = p.db()->GetApproximateSizes(options, p.AnyFamily(), &range, 1, &bytes);
       p.Expect("GetApproximateSizes", s);
       if (s.ok() && bytes == 0) p.Wrong("GetApproximateSizes finds nothing");
     }},
    {"GetApproximateMemTableStats",
     [](Player& p) {
       uint64_t count = 0;
       uint64_t bytes = 0;
       p.db()->GetApproximateMemTableStats(p.AnyFamily(), Range("a", "z"), &count, &bytes);
     }},
    {"GetLiveFiles and GetSortedWalFiles",
     [](Player& p) {
       const Status s = p.db()->DisableFileDeletions();
       p.Expect("DisableFileDeletions", s);
       if (!s.ok()) return;
       CopyAndOpen(p);
       p.Expect("EnableFileDeletions", p.db()->EnableFileDeletions());
     }},
    {"GetLiveFilesStorageInfo",
     [](Player& p) {
       const Status s = p.db()->DisableFileDeletions();
       p.Expect("DisableFileDeletions", s);
       if (!s.ok()) return;
       CopyListedAndOpen(p);
       p.Expect("EnableFileDeletions", p.db()->EnableFileDeletions());
     }},
    {"GetLiveFilesMetaData",
     [](Player& p) {
       std::vector<LiveFileMetaData> files;
       p.db()->GetLiveFilesMetaData(&files);
     }},
    {"GetColumnFamilyMetaData",
     [](Player& p) {
       ColumnFamilyMetaData metadata;
       p.db()->GetColumnFamilyMetaData(p.AnyFamily(), &metadata);
     }},
    {"GetAllColumnFamilyMetaData",
     [](Player& p) {
       std::vector<ColumnFamilyMetaData> metadata;
       p.db()->GetAllColumnFamilyMetaData(&metadata);
     }},
    {"VerifyChecksum",
     [](Player& p) { p.Expect("VerifyChecksum", p.db()->VerifyChecksum(ReadOptions())); }},
    {"VerifyFileChecksums",
     [](Player& p) {
       // Tables have none.
       p.Expect("VerifyFileChecksums", p.db()->VerifyFileChecksums(ReadOptions()),
                {Status::kInvalidArgument});
     }},
    {"GetDbIdentity",
     [](Player& p) {
       std::string text;
       p.Expect("GetDbIdentity", p.db()->GetDbIdentity(text));
       p.Expect("GetDbSessionId", p.db()->GetDbSessionId(text));
     }},
    {"GetCurrentWalFile",
     [](Player& p) {
       std::unique_ptr<LogFile> log;
       const Status s = p.db()->GetCurrentWalFile(&log);
       p.Expect("GetCurrentWalFile", s);
       if (s.ok() && log == nullptr) p.Wrong("GetCurrentWalFile");
     }},
    {"GetUpdatesSince",
     [](Player& p) {
       std::unique_ptr<TransactionLogIterator> it;
       const SequenceNumber last = p.db()->GetLatestSequenceNumber();
       const Status s = p.db()->GetUpdatesSince(last, &it);
       p.Expect("GetUpdatesSince", s, {Status::kNotFound});
       for (int i = 0; s.ok() && it->Valid() && i < 100; i++) it->Next();
     }},
    {"OpenChangeStream",
     [](Player& p) {
       ChangeStreamOptions options;
       options.name = "matrix";
       std::unique_ptr<ChangeStream> stream;
       Status s = p.db()->OpenChangeStream(options, &stream);
       p.Expect("OpenChangeStream", s, {Status::kBusy});
       ChangeRecord record;
       if (s.ok()) p.Expect("ChangeStream::Next", stream->Next(&record));
       stream.reset();
       p.Expect("DropChangeStream", p.db()->DropChangeStream(options.name),
                {Status::kBusy, Status::kNotFound});
     }},
    {"GetCreationTimeOfOldestFile",
     [](Player& p) {
       uint64_t created = 0;
       p.Expect("GetCreationTimeOfOldestFile", p.db()->GetCreationTimeOfOldestFile(&created));
     }},
    {"GetPropertiesOfAllTables",
     [](Player& p) {
       TablePropertiesCollection properties;
       p.Expect("GetPropertiesOfAllTables",
                p.db()->GetPropertiesOfAllTables(p.AnyFamily(), &properties));
     }},
    {"GetPropertiesOfTablesInRange",
     [](Player& p) {
       TablePropertiesCollection properties;
       const Range range("a", "z");
       p.Expect("GetPropertiesOfTablesInRange",
                p.db()->GetPropertiesOfTablesInRange(p.AnyFamily(), &range, 1, &properties));
     }},
    {"GetFullHistoryTsLow",
     [](Player& p) {
       std::string low;
       p.Expect("GetFullHistoryTsLow", p.db()->GetFullHistoryTsLow(p.family("t"), &low));
       p.Expect("GetNewestUserDefinedTimestamp",
                p.db()->GetNewestUserDefinedTimestamp(p.family("t"), &low),
                {Status::kNotSupported});
     }},
    {"GetOptions",
     [](Player& p) {
       if (p.db()->GetOptions(p.AnyFamily()).num_levels != 7) p.Wrong("GetOptions");
       p.db()->GetDBOptions();
       ColumnFamilyDescriptor descriptor;
       p.Expect("GetDescriptor", p.AnyFamily()->GetDescriptor(&descriptor));
     }},
    {"NumberLevels",
     [](Player& p) {
       if (p.db()->NumberLevels(p.AnyFamily()) != 7) p.Wrong("NumberLevels");
       p.db()->Level0StopWriteTrigger(p.AnyFamily());
       p.db()->MaxMemCompactionLevel(p.AnyFamily());
     }},
    {"GetLatestSequenceNumber",
     [](Player& p) {
       if (p.db()->GetLatestSequenceNumber() == 0) p.Wrong("GetLatestSequenceNumber");
     }},
    {"GetName",
     [](Player& p) {
       if (p.db()->GetName() != "/db" || p.db()->GetEnv() != p.stage().env.get() ||
           p.db()->GetFileSystem() == nullptr || p.db()->GetRootDB() == nullptr ||
           p.db()->DefaultColumnFamily() == nullptr) {
         p.Wrong("GetName and its like");
       }
     }},
};

}  // namespace

std::span<const Call> AdminCalls() {
  return kAdmin;
}

std::span<const Call> InfoCalls() {
  return kInfo;
}

const std::vector<Call>& AllCalls() {
  static const auto* const all = [] {
    auto* const calls = new std::vector<Call>;
    for (const auto part : {WritingCalls(), ReadingCalls(), AdminCalls(), InfoCalls()}) {
      calls->insert(calls->end(), part.begin(), part.end());
    }
    return calls;
  }();
  return *all;
}

}  // namespace varve::testing
