// SPDX-License-Identifier: Apache-2.0
// Maintenance in the middle of a list, and a look at the database's state.

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "varve/db.h"
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

void InOneThread(Plan& plan) {
  plan.threads = 1;
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
    Benchmark{.name = "flush", .step = Flush},
    Benchmark{.name = "waitforcompaction", .step = WaitForCompaction},
    Benchmark{.name = "stats", .step = Stats},
    Benchmark{.name = "resetstats", .step = ResetStats},
    Benchmark{.name = "levelstats", .step = LevelStats},
    Benchmark{.name = "memstats", .step = MemtableStats},
    Benchmark{.name = "sstables", .step = Tables},
    Benchmark{.name = "block_cache_entry_stats", .step = BlockCacheEntryStats},
    Benchmark{.name = "verifychecksum", .body = VerifyChecksum, .setup = InOneThread},
};

}  // namespace

std::span<const Benchmark> AdminBenchmarks() {
  return kAdminBenchmarks;
}

}  // namespace varve::bench
