// SPDX-License-Identifier: Apache-2.0
// Maintenance in the middle of a list, and a look at the database's state.

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "varve/db.h"
#include "varve/stats_history.h"
#include "varve/utilities/backup_engine.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

void CompactAll(const Database& database) {
  CompactRangeOptions options;
  options.max_subcompactions = static_cast<uint32_t>(FLAGS_subcompactions);
  for (ColumnFamilyHandle* family : database.families()) {
    const Status s = database.db()->CompactRange(options, family, nullptr, nullptr);
    if (!s.ok()) Fail("compact error", s);
  }
}

void Compact(Worker& worker) {
  CompactAll(worker.database);
}

void CompactStep(Database& database) {
  CompactAll(database);
}

// Returns the level into which a compaction of `level` goes: the next one that holds tables, or the
// next one.
int LevelBelow(const ColumnFamilyMetaData& family, int level) {
  for (const LevelMetaData& each : family.levels) {
    if (each.level > level && !each.files.empty()) return each.level;
  }
  return level + 1;
}

// Compacts all tables of a level of the default family into the level below. Waits for automatic
// compactions first: one that is running would hold some of the tables, and CompactFiles refuses
// tables that are being compacted. One that starts in between still makes it fail.
void CompactLevel(const Database& database, int level) {
  DB* const db = database.db();
  const Status idle = db->WaitForCompact(WaitForCompactOptions());
  if (!idle.ok()) Fail("compaction failed", idle);
  ColumnFamilyMetaData family;
  db->GetColumnFamilyMetaData(&family);
  std::vector<std::string> names;
  for (const LevelMetaData& each : family.levels) {
    if (each.level != level) continue;
    for (const SstFileMetaData& file : each.files) names.push_back(file.name);
  }
  const int below = LevelBelow(family, level);
  std::printf("compact%d: %zu tables into level %d\n", level, names.size(), below);
  if (names.empty()) return;
  const Status s = db->CompactFiles(CompactionOptions(), names, below);
  if (!s.ok()) Fail("compact error", s);
}

void CompactLevel0(Database& database) {
  CompactLevel(database, 0);
}

void CompactLevel1(Database& database) {
  CompactLevel(database, 1);
}

void Flush(Database& database) {
  const Status s = database.db()->Flush(FlushOptions(), database.families());
  if (!s.ok()) Fail("flush failed", s);
  std::printf("flush memtable\n");
}

void WaitForCompaction(Database& database) {
  const char* const path = database.path().c_str();
  std::printf("waitforcompaction(%s): started\n", path);
  std::fflush(stdout);
  const Status s = database.db()->WaitForCompact(WaitForCompactOptions());
  if (!s.ok()) Fail("waitforcompaction", s);
  std::printf("waitforcompaction(%s): finished\n", path);
}

void PrintProperty(const Database& database, const std::string& property) {
  std::string text;
  if (!database.db()->GetProperty(property, &text)) text = "(failed)";
  std::printf("\n%s\n", text.c_str());
}

void Stats(Database& database) {
  PrintProperty(database, DB::Properties::kStats);
}

void LevelStats(Database& database) {
  PrintProperty(database, DB::Properties::kLevelStats);
}

void Tables(Database& database) {
  PrintProperty(database, DB::Properties::kSSTables);
}

void BlockCacheEntryStats(Database& database) {
  PrintProperty(database, DB::Properties::kBlockCacheEntryStats);
}

void MemtableStats(Database& database) {
  using Properties = DB::Properties;
  const std::array<std::string, 6> names = {
      Properties::kNumImmutableMemTable,     Properties::kCurSizeActiveMemTable,
      Properties::kCurSizeAllMemTables,      Properties::kSizeAllMemTables,
      Properties::kNumEntriesActiveMemTable, Properties::kNumEntriesImmMemTables};
  for (const std::string& name : names) {
    uint64_t value = 0;
    if (!database.db()->GetIntProperty(name, &value)) Fail(name + " is not known");
    std::printf("%s: %llu\n", name.c_str(), static_cast<unsigned long long>(value));
  }
  std::printf("\n");
}

void ResetStats(Database& database) {
  Status s = database.db()->ResetStats();
  if (!s.ok()) Fail("resetstats", s);
  if (database.options().statistics == nullptr) return;
  s = database.options().statistics->Reset();
  if (!s.ok()) Fail("resetstats", s);
}

void VerifyChecksum(Worker& worker) {
  const Status s = worker.db()->VerifyChecksum(worker.plan.read_options);
  if (!s.ok()) Fail("VerifyChecksum() failed", s);
}

void VerifyFileChecksums(Worker& worker) {
  const Status s = worker.db()->VerifyFileChecksums(worker.plan.read_options);
  if (!s.ok()) Fail("VerifyFileChecksums() failed", s);
}

// Asks for the size of ranges between two random keys.
void ApproximateSizes(Worker& worker) {
  KeyMaker from_keys = worker.NewKeyMaker();
  KeyMaker to_keys = worker.NewKeyMaker();
  const auto num = static_cast<uint64_t>(worker.plan.num);
  Budget budget(FLAGS_duration, worker.plan.reads);
  while (budget.Take()) {
    worker.SpendDraw();
    const uint64_t number = worker.random.Below(num);
    const uint64_t end = number + worker.random.Below(num - number);
    const Range range(from_keys.Make(number), to_keys.Make(end));
    uint64_t size = 0;
    const Status s = worker.db()->GetApproximateSizes(
        SizeApproximationOptions(), worker.database.family(number), &range, 1, &size);
    if (!s.ok()) Fail("GetApproximateSizes() failed", s);
    worker.stats.FinishedOps(1, Op::kOther);
  }
}

// Asks for the entries of memtables between two random keys.
void ApproximateMemtables(Worker& worker) {
  KeyMaker from_keys = worker.NewKeyMaker();
  KeyMaker to_keys = worker.NewKeyMaker();
  const auto num = static_cast<uint64_t>(worker.plan.num);
  Budget budget(FLAGS_duration, worker.plan.reads);
  while (budget.Take()) {
    const uint64_t number = worker.random.Below(num);
    const uint64_t end = number + worker.random.Below(num - number);
    const Range range(from_keys.Make(number), to_keys.Make(end));
    uint64_t entries = 0;
    uint64_t size = 0;
    worker.db()->GetApproximateMemTableStats(worker.database.family(number), range, &entries,
                                             &size);
    worker.stats.FinishedOps(1, Op::kOther);
  }
}

// Prints what the history of statistics holds, a line for each counter that moved.
void StatsHistory(Database& database) {
  std::unique_ptr<StatsHistoryIterator> it;
  const Status s = database.db()->GetStatsHistory(0, UINT64_MAX, &it);
  if (!s.ok()) Fail("stats_history", s);
  for (; it->Valid(); it->Next()) {
    std::printf("------ stats of %llu ------\n",
                static_cast<unsigned long long>(it->GetStatsTime()));
    for (const auto& [name, value] : it->GetStatsMap()) {
      if (value == 0) continue;
      std::printf("%s: %llu\n", name.c_str(), static_cast<unsigned long long>(value));
    }
  }
}

std::unique_ptr<BackupEngine> OpenBackups(const Worker& worker) {
  if (FLAGS_backup_dir.empty()) Fail("--backup_dir is needed");
  BackupEngineOptions options(FLAGS_backup_dir);
  options.backup_rate_limit = FLAGS_backup_rate_limit;
  options.restore_rate_limit = FLAGS_restore_rate_limit;
  BackupEngine* engine = nullptr;
  const Status s = BackupEngine::Open(options, worker.db()->GetEnv(), &engine);
  if (!s.ok()) Fail("cannot open --backup_dir", s);
  return std::unique_ptr<BackupEngine>(engine);
}

void Backup(Worker& worker) {
  const std::unique_ptr<BackupEngine> engine = OpenBackups(worker);
  const Status s = engine->CreateNewBackup(worker.db());
  if (!s.ok()) Fail("backup failed", s);
}

void Restore(Worker& worker) {
  if (FLAGS_restore_dir.empty()) Fail("--restore_dir is needed");
  const std::unique_ptr<BackupEngine> engine = OpenBackups(worker);
  const Status s = engine->RestoreDBFromLatestBackup(FLAGS_restore_dir, FLAGS_restore_dir);
  if (!s.ok()) Fail("restore failed", s);
}

constexpr std::array kAdminBenchmarks = {
    Benchmark{.name = "backup", .body = Backup, .setup = InOneThread},
    Benchmark{.name = "restore", .body = Restore, .setup = InOneThread},
    Benchmark{.name = "compact", .body = Compact},
    Benchmark{.name = "compactall", .step = CompactStep},
    Benchmark{.name = "compact0", .step = CompactLevel0},
    Benchmark{.name = "compact1", .step = CompactLevel1},
    Benchmark{.name = "flush", .step = Flush},
    Benchmark{.name = "waitforcompaction", .step = WaitForCompaction},
    Benchmark{.name = "stats", .step = Stats},
    Benchmark{.name = "resetstats", .step = ResetStats},
    Benchmark{.name = "levelstats", .step = LevelStats},
    Benchmark{.name = "memstats", .step = MemtableStats},
    Benchmark{.name = "sstables", .step = Tables},
    Benchmark{.name = "block_cache_entry_stats", .step = BlockCacheEntryStats},
    Benchmark{.name = "verifychecksum", .body = VerifyChecksum, .setup = InOneThread},
    Benchmark{.name = "verifyfilechecksums", .body = VerifyFileChecksums, .setup = InOneThread},
    Benchmark{.name = "stats_history", .step = StatsHistory},
    Benchmark{.name = "approximatememtablestats",
              .body = ApproximateMemtables,
              .takes_timestamps = false},
    Benchmark{.name = "approximatesizerandom", .body = ApproximateSizes, .takes_timestamps = false},
};

}  // namespace

std::span<const Benchmark> AdminBenchmarks() {
  return kAdminBenchmarks;
}

}  // namespace varve::bench
