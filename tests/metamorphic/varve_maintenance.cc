// SPDX-License-Identifier: Apache-2.0
// Runs calls that must change no answer: flushes, compactions of every kind, changes of options,
// pauses.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "varve/convenience.h"
#include "varve/table.h"

#include "tests/metamorphic/varve_executor.h"

namespace varve::testing {

namespace {

constexpr uint64_t kFixedBytes = 2 << 20;  // bytes of logs, MANIFEST, blocks that hold one entry
constexpr uint64_t kFamilyBytes = 128 << 10;

std::string Outcome(const char* what, const Status& s) {
  return s.ok() ? kDone : Failure(what, s);
}

struct KeyRange {
  explicit KeyRange(const Line& line)
      : from(BytesOf(line.Option("from"))),
        to(BytesOf(line.Option("to"))),
        from_slice(from),
        to_slice(to),
        begin(line.HasOption("from") ? &from_slice : nullptr),
        end(line.HasOption("to") ? &to_slice : nullptr) {}
  KeyRange(const KeyRange&) = delete;
  KeyRange& operator=(const KeyRange&) = delete;

  // Makes a range that ends before it begins empty.
  void Order(const Comparator* order) {
    if (begin != nullptr && end != nullptr &&
        order->CompareWithoutTimestamp(from, false, to, false) > 0) {
      std::swap(begin, end);
    }
  }

  const std::string from;
  const std::string to;
  const Slice from_slice;
  const Slice to_slice;
  const Slice* begin;
  const Slice* end;
};

CompactRangeOptions OptionsOf(const Line& line) {
  CompactRangeOptions options;
  const std::string last = line.Option("last");
  options.bottommost_level_compaction =
      last == "force"       ? BottommostLevelCompaction::kForce
      : last == "optimized" ? BottommostLevelCompaction::kForceOptimized
      : last == "skip"      ? BottommostLevelCompaction::kSkip
                            : BottommostLevelCompaction::kIfHaveCompactionFilter;
  options.exclusive_manual_compaction = line.Has("exclusive");
  options.allow_write_stall = line.Has("stall");
  options.max_subcompactions = static_cast<uint32_t>(NumberOf(line.Option("parts", "0")));
  options.change_level = line.HasOption("level");
  if (options.change_level) options.target_level = static_cast<int>(NumberOf(line.Option("level")));
  return options;
}

// Returns the bytes of padding that tables with `bytes` of entries may hold. Where blocks are
// aligned each table may end its blocks within two pages, however small its target size is.
uint64_t PaddingOf(const Options& options, uint64_t bytes) {
  constexpr uint64_t kPadding = 2 * 4096;
  const auto* const table = options.table_factory->GetOptions<BlockBasedTableOptions>();
  if (table == nullptr || !table->block_align) return 0;
  return (bytes / options.target_file_size_base + 1) * kPadding;
}

}  // namespace

std::string VarveExecutor::Flush(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  database.Continue();
  FlushOptions options;
  options.wait = !line.Has("nowait");
  options.allow_write_stall = true;
  std::vector<ColumnFamilyHandle*> handles;
  for (size_t i = 2; i < line.words.size(); i++) {
    const auto found = database.handles.find(line.words[i]);
    if (found == database.handles.end()) continue;
    if (std::find(handles.begin(), handles.end(), found->second) != handles.end()) continue;
    handles.push_back(found->second);
  }
  const Status s = handles.size() == 1 ? database.db->Flush(options, handles[0])
                                       : database.db->Flush(options, handles);
  return Outcome("Flush", s);
}

std::string VarveExecutor::Compact(const Line& line, const Model& model) {
  ColumnFamilyHandle* const handle = Handle(line);
  DB* const db = At(line).db.get();
  const bool may_be_refused = model.databases().at(line.Db()).manual_off || line.Has("later");
  return Run(line, [line, handle, db, may_be_refused]() -> std::string {
    KeyRange range(line);
    range.Order(handle->GetComparator());
    CompactRangeOptions options = OptionsOf(line);
    if (options.target_level >= db->NumberLevels(handle)) options.target_level = -1;
    const Status s = db->CompactRange(options, handle, range.begin, range.end);
    if (s.ok() || (may_be_refused && s.IsIncomplete())) return "";
    // The files may not fit into the target level.
    if (options.change_level && (s.IsNotSupported() || s.IsInvalidArgument() || s.IsAborted())) {
      return "";
    }
    return Failure("CompactRange", s);
  });
}

std::string VarveExecutor::CompactSomeFiles(const Line& line, const Model& /*model*/) {
  ColumnFamilyHandle* const handle = Handle(line);
  DB* const db = At(line).db.get();
  return Run(line, [line, handle, db]() -> std::string {
    ColumnFamilyMetaData metadata;
    db->GetColumnFamilyMetaData(handle, &metadata);
    const size_t level =
        std::min<size_t>(NumberOf(line.Option("level")), metadata.levels.size() - 1);
    std::vector<std::string> names;
    for (const SstFileMetaData& file : metadata.levels[level].files) {
      if (names.size() < NumberOf(line.Option("count"))) names.push_back(file.name);
    }
    if (names.empty()) return "";
    CompactionOptions options;
    options.allow_trivial_move = line.Has("move");
    const int output = static_cast<int>(
        std::min<size_t>(level + NumberOf(line.Option("deeper")), metadata.levels.size() - 1));
    const Status s = db->CompactFiles(options, handle, names, output);
    // Other jobs may have taken the files meanwhile, or files may be in the way.
    if (s.IsInvalidArgument() || s.IsAborted() || s.IsIncomplete() || s.IsBusy()) return "";
    return s.ok() ? "" : Failure("CompactFiles", s);
  });
}

std::string VarveExecutor::Suggest(const Line& line, const Model& /*model*/) {
  KeyRange range(line);
  range.Order(Handle(line)->GetComparator());
  return Outcome("SuggestCompactRange",
                 At(line).db->SuggestCompactRange(Handle(line), range.begin, range.end));
}

std::string VarveExecutor::DeleteFiles(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  const std::string failure = database.Join();
  if (!failure.empty()) return failure;
  const std::string begin = BytesOf(line.Word(2));
  const std::string end = BytesOf(line.Word(3));
  const Slice begin_slice(begin);
  const Slice end_slice(end);
  const RangePtr range(&begin_slice, &end_slice);
  // Without a log, files could be deleted for good while the deletion of the rest is lost.
  if (world_.SurvivalOf(database) == Survival::kAll) {
    const Status s =
        database.db->DeleteFilesInRanges(Handle(line), &range, 1, /*include_end=*/false);
    if (!s.ok()) return Failure("DeleteFilesInRanges", s);
  }
  Line rest = line;
  rest.words = {"write", line.Db(), "range", line.Family(), line.Word(2), line.Word(3)};
  return Write(rest, model);
}

std::string VarveExecutor::Raise(const Line& line, const Model& /*model*/) {
  return Outcome(
      "IncreaseFullHistoryTsLow",
      At(line).db->IncreaseFullHistoryTsLow(Handle(line), TimestampBytes(NumberOf(line.Word(2)))));
}

std::string VarveExecutor::Pause(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  const std::string failure = database.Join();
  if (!failure.empty()) return failure;
  const Status s = database.db->PauseBackgroundWork();
  if (s.ok()) database.pauses++;
  return Outcome("PauseBackgroundWork", s);
}

std::string VarveExecutor::ContinueWork(const Line& line, const Model& /*model*/) {
  At(line).Continue();
  return kDone;
}

std::string VarveExecutor::Manual(const Line& line, const Model& /*model*/) {
  if (line.Has("off")) {
    At(line).db->DisableManualCompaction();
  } else {
    At(line).db->EnableManualCompaction();
  }
  return kDone;
}

std::string VarveExecutor::Set(const Line& line, const Model& /*model*/) {
  const size_t equals = line.Word(2).find('=');
  const std::string name = line.Word(2).substr(0, equals);
  const Status s = At(line).db->SetOptions(Handle(line), {{name, line.Word(2).substr(equals + 1)}});
  // Aligned blocks exclude compression, and unordered writes folded merges.
  const bool excluded =
      name.find("compression") != std::string::npos || name == "max_successive_merges";
  if (s.IsInvalidArgument() && excluded) return kDone;
  return Outcome("SetOptions", s);
}

std::string VarveExecutor::SetDb(const Line& line, const Model& /*model*/) {
  const size_t equals = line.Word(2).find('=');
  const std::string name = line.Word(2).substr(0, equals);
  const Status s = At(line).db->SetDBOptions({{name, line.Word(2).substr(equals + 1)}});
  // A database that keeps all tables open goes on doing so.
  if (s.IsNotSupported() && name == "max_open_files") return kDone;
  return Outcome("SetDBOptions", s);
}

std::string VarveExecutor::Sync(const Line& line, const Model& /*model*/) {
  DB* const db = At(line).db.get();
  return Draw(line).OneIn(2) ? Outcome("SyncWAL", db->SyncWAL())
                             : Outcome("FlushWAL", db->FlushWAL(true));
}

std::string VarveExecutor::Wait(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  database.Continue();
  const std::string failure = database.Join();
  if (!failure.empty()) return failure;
  WaitForCompactOptions options;
  options.flush = Draw(line).OneIn(2);
  return Outcome("WaitForCompact", database.db->WaitForCompact(options));
}

std::string VarveExecutor::Ask(const Line& line, const Model& /*model*/) {
  std::string value;
  const std::string& name = line.Word(2);
  if (At(line).db->GetProperty(Handle(line), name, &value)) return kDone;
  return "FAILS there is no property " + name;
}

std::string VarveExecutor::Verify(const Line& line, const Model& /*model*/) {
  return Outcome("VerifyChecksum", At(line).db->VerifyChecksum());
}

std::string VarveExecutor::Hold(const Line& line, const Model& /*model*/) {
  At(line).holds++;
  return Outcome("DisableFileDeletions", At(line).db->DisableFileDeletions());
}

std::string VarveExecutor::Release(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  if (database.holds == 0) return kDone;
  database.holds--;
  return Outcome("EnableFileDeletions", database.db->EnableFileDeletions());
}

std::string VarveExecutor::Lock(const Line& line, const Model& /*model*/) {
  DB* const db = At(line).db.get();
  Status s = db->LockWAL();
  if (!s.ok()) return Failure("LockWAL", s);
  VectorLogPtr logs;
  s = db->GetSortedWalFiles(logs);
  if (!s.ok()) return Failure("GetSortedWalFiles", s);
  return Outcome("UnlockWAL", db->UnlockWAL());
}

std::string VarveExecutor::Live(const Line& line, const Model& /*model*/) {
  OpenDatabase& database = At(line);
  database.Continue();
  std::vector<std::string> files;
  uint64_t manifest_bytes = 0;
  return Outcome("GetLiveFiles",
                 database.db->GetLiveFiles(files, &manifest_bytes, Draw(line).OneIn(2)));
}

std::string VarveExecutor::Peek(const Line& line, const Model& model) {
  return world_.Peek(line.Db(), model);
}

std::string VarveExecutor::Repair(const Line& line, const Model& model) {
  return world_.Repair(line.Db(), model);
}

// Checks that each key has its value, and nothing else.
std::string VarveExecutor::JudgeEntries(OpenDatabase* database, const std::string& family,
                                        const FamilyModel& model) {
  ColumnFamilyMetaData metadata;
  database->db->GetColumnFamilyMetaData(database->handles.at(family), &metadata);
  uint64_t entries = 0;
  uint64_t deletions = 0;
  for (const LevelMetaData& level : metadata.levels) {
    for (const SstFileMetaData& file : level.files) {
      entries += file.num_entries;
      deletions += file.num_deletions;
    }
  }
  if (model.has_timestamps() || (deletions == 0 && entries <= model.now()->size())) return "";
  return "FAILS " + family + " has " + std::to_string(entries) + " entries and " +
         std::to_string(deletions) + " deletions, for " + std::to_string(model.now()->size()) +
         " keys";
}

// Checks that only live entries are left when nothing is held and all is compacted.
std::string VarveExecutor::Settle(const Line& line, const Model& model) {
  OpenDatabase& database = At(line);
  database.Continue();
  database.StopCompany();
  std::string failure = database.Join();
  if (!failure.empty()) return failure;
  for (; database.holds > 0; database.holds--) {
    database.db->EnableFileDeletions().PermitUncheckedError();
  }
  database.db->EnableManualCompaction();
  failure = database.replica.End(database.db.get());
  if (!failure.empty()) return failure;
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  options.exclusive_manual_compaction = false;
  uint64_t live = kFixedBytes;
  for (const auto& [family, handle] : database.handles) {
    const Status s = database.db->CompactRange(options, handle, nullptr, nullptr);
    if (!s.ok()) return Failure("CompactRange", s);
    const FamilyModel& one = model.databases().at(line.Db()).families.at(family);
    live += kFamilyBytes;
    // All versions of a family with timestamps live on.
    if (one.has_timestamps()) live += kFixedBytes;
    uint64_t bytes = 0;
    for (const auto& [key, value] : *one.now()) bytes += key.size() + value.size() + 64;
    live += 2 * bytes + PaddingOf(database.db->GetOptions(handle), bytes);
  }
  WaitForCompactOptions wait;
  wait.wait_for_purge = true;
  const Status s = database.db->WaitForCompact(wait);
  if (!s.ok()) return Failure("WaitForCompact", s);
  // A listener's snapshots may have kept something just then.
  for (const auto& [family, handle] : database.handles) {
    if (!database.set.db.listeners.empty()) break;
    failure += JudgeEntries(&database, family, model.databases().at(line.Db()).families.at(family));
  }
  if (failure.empty()) failure = world_.AwaitQuiet();
  return failure.empty() ? JudgeSpace(line.Db(), live) : failure;
}

std::string VarveExecutor::JudgeSpace(const std::string& name, uint64_t live_bytes) {
  uint64_t sum = 0;
  std::string list;
  for (const auto& [path, bytes] : world_.Files(name)) {
    if (path.find("/LOG") != std::string::npos) continue;
    sum += bytes;
    list += " " + path + ":" + std::to_string(bytes);
  }
  if (sum <= live_bytes) return kDone;
  return "FAILS disk has " + std::to_string(sum) + " bytes, " + std::to_string(live_bytes) +
         " are due:" + list;
}

}  // namespace varve::testing
