// SPDX-License-Identifier: Apache-2.0

// Goal: options do what their headers promise, also those that change no answer: when a flush
// begins, what is charged to whom, what is read back, cached, timed and told. Method: one story for
// each option, set and not set, where the two differ in something that can be seen from outside.

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdarg>
#include <ctime>
#include <future>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/env_wrappers.h"
#include "varve/file_system_wrappers.h"
#include "varve/listener.h"
#include "varve/rate_limiter.h"
#include "varve/statistics.h"
#include "varve/stats_history.h"
#include "varve/system_clock.h"
#include "varve/table.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Keeps compactions from ending while it is closed.
class GateFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "GateFilter"; }
  bool Filter(int, const Slice&, const Slice&, std::string*, bool*) const override {
    entered = true;
    while (closed) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return false;
  }
  mutable std::atomic<bool> entered{false};
  std::atomic<bool> closed{false};
};

class OptionPromisesTest : public Database {
 protected:
  OptionPromisesTest() { options_.disable_auto_compactions = true; }
  ~OptionPromisesTest() override {
    gate_.closed = false;
    EXPECT_TRUE(Close().ok());
  }

  void SetOfFamily(const char* option, const std::string& value) {
    const Status s = db()->SetOptions({{option, value}});
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void SetTable(const BlockBasedTableOptions& table) {
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }
  void Compact() {
    CompactRangeOptions compact;
    compact.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    const Status s = db()->CompactRange(compact, nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  GateFilter gate_;
};

// ---- FlushOptions::allow_write_stall

TEST_F(OptionPromisesTest, AFlushThatWouldStallWritesWaitsUnlessItMay) {
  options_.disable_auto_compactions = false;
  options_.compaction_filter = &gate_;
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 3;
  Open();
  MakeTable({"a", "b"});
  Compact();  // files above this data are not just moved
  gate_.closed = true;
  gate_.entered = false;
  MakeTable({"a", "b"});
  MakeTable({"a", "b"});
  ASSERT_TRUE(Eventually([&] { return gate_.entered.load(); }));
  Put("c", "1");
  auto waiting = std::async(std::launch::async, [&] { return db()->Flush(FlushOptions()); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(150)), std::future_status::timeout);
  EXPECT_EQ(Text(DB::Properties::kNumFilesAtLevelPrefix + "0"), "2") << "a third slows writes down";
  FlushOptions at_once;
  at_once.allow_write_stall = true;
  EXPECT_TRUE(db()->Flush(at_once).ok());
  EXPECT_EQ(Text(DB::Properties::kNumFilesAtLevelPrefix + "0"), "3");
  gate_.closed = false;
  EXPECT_TRUE(waiting.get().ok());
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Scan(), "a=of a b=of b c=1");
  ASSERT_TRUE(Close().ok());
}

// Nothing is under way that could make room: waiting would have no end.
TEST_F(OptionPromisesTest, AFlushDoesNotWaitForWhatWillNotCome) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 2;
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  Put("b", "1");
  FlushOptions no_wait;
  no_wait.wait = false;
  EXPECT_TRUE(db()->Flush(no_wait).ok());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Scan(), "a=of a b=1");
}

// ---- FlushWALOptions::rate_limiter_priority, WriteOptions::io_activity

class CountingLimiter final : public RateLimiter {
 public:
  CountingLimiter() : RateLimiter(Mode::kAllIo) {}
  using RateLimiter::Request;
  void SetBytesPerSecond(int64_t) override {}
  int64_t GetSingleBurstBytes() const override { return 256; }
  void Request(const int64_t bytes, const Env::IOPriority pri, Statistics*) override {
    EXPECT_LE(bytes, GetSingleBurstBytes());
    charged[pri] += bytes;
  }
  int64_t GetTotalBytesThrough(const Env::IOPriority) const override { return 0; }
  int64_t GetTotalRequests(const Env::IOPriority) const override { return 0; }
  int64_t GetBytesPerSecond() const override { return 1 << 30; }
  std::array<std::atomic<int64_t>, Env::IO_TOTAL + 1> charged{};
};

TEST_F(OptionPromisesTest, WhatFlushWalHandsOverIsCharged) {
  auto limiter = std::make_shared<CountingLimiter>();
  options_.rate_limiter = limiter;
  options_.manual_wal_flush = true;
  Open();
  Put("k", std::string(10000, 'v'));
  FlushWALOptions flush;
  ASSERT_TRUE(db()->FlushWAL(flush).ok());
  EXPECT_EQ(limiter->charged[Env::IO_HIGH].load(), 0) << "not asked for";
  Put("k", std::string(5000, 'w'));
  flush.rate_limiter_priority = Env::IO_HIGH;
  flush.sync = true;
  ASSERT_TRUE(db()->FlushWAL(flush).ok());
  EXPECT_GE(limiter->charged[Env::IO_HIGH].load(), 5000);
  EXPECT_LT(limiter->charged[Env::IO_HIGH].load(), 10000) << "what was handed over before is paid";
  ASSERT_TRUE(db()->FlushWAL(flush).ok());
  EXPECT_LT(limiter->charged[Env::IO_HIGH].load(), 10000);
}

TEST_F(OptionPromisesTest, WritesOfUsersHaveNoActivity) {
  Open();
  WriteOptions write;
  write.io_activity = Env::IOActivity::kFlush;
  const Status s = db()->Put(write, "k", "v");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("io_activity"));
  EXPECT_EQ(Get("k"), "NOT_FOUND");
}

// ---- Files: GetCurrentWalFile, GetCreationTimeOfOldestFile, sizes

TEST_F(OptionPromisesTest, TheCurrentLogIsTheOneThatIsWritten) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  std::unique_ptr<LogFile> log;
  ASSERT_TRUE(db()->GetCurrentWalFile(&log).ok());
  ASSERT_NE(log, nullptr);
  VectorLogPtr all;
  ASSERT_TRUE(db()->GetSortedWalFiles(all).ok());
  EXPECT_EQ(log->LogNumber(), all.back()->LogNumber());
  EXPECT_EQ(log->PathName(), all.back()->PathName());
  EXPECT_EQ(log->StartSequence(), 2u);
  EXPECT_GT(log->SizeFileBytes(), 0u);
  EXPECT_EQ(log->Type(), kAliveLogFile);
  EXPECT_TRUE(db()->GetCurrentWalFile(nullptr).IsInvalidArgument());
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_TRUE(db()->GetCurrentWalFile(&log).IsNotSupported()) << "nobody writes one";
}

TEST_F(OptionPromisesTest, TheOldestFileTellsItsTime) {
  Open({"default", "a"});
  uint64_t time = 0;
  ASSERT_TRUE(db()->GetCreationTimeOfOldestFile(&time).ok());
  EXPECT_EQ(time, std::numeric_limits<uint64_t>::max()) << "there is none";
  const auto now = static_cast<uint64_t>(std::time(nullptr));
  MakeTable({"k"});
  MakeTable({"k"}, "a");
  ASSERT_TRUE(db()->GetCreationTimeOfOldestFile(&time).ok());
  std::vector<LiveFileMetaData> files;
  db()->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(time, std::min(files[0].file_creation_time, files[1].file_creation_time));
  EXPECT_NEAR(static_cast<double>(time), static_cast<double>(now), 60);
  EXPECT_TRUE(db()->GetCreationTimeOfOldestFile(nullptr).IsInvalidArgument());
}

TEST_F(OptionPromisesTest, AMarginOfErrorSavesLookingIntoFiles) {
  options_.compression = kNoCompression;
  options_.statistics = CreateDBStatistics();
  Open();
  for (const char* family : {"a", "m", "t"}) {
    for (int i = 0; i < 40; i++) {
      Put(family + std::to_string(100 + i), std::string(1000, 'v'));
    }
    Flush();
  }
  std::map<std::string, uint64_t> sizes;
  std::vector<LiveFileMetaData> files;
  db()->GetLiveFilesMetaData(&files);
  for (const LiveFileMetaData& file : files) sizes[file.smallestkey.substr(0, 1)] = file.size;
  const Range range("a135", "t105");
  SizeApproximationOptions options;
  uint64_t exact = 0;
  ASSERT_TRUE(
      db()->GetApproximateSizes(options, db()->DefaultColumnFamily(), &range, 1, &exact).ok());
  // The whole middle, a small part of either end.
  EXPECT_GT(exact, sizes["m"]);
  EXPECT_LT(exact, sizes["m"] + sizes["m"] / 2);
  uint64_t rough = 0;
  options.files_size_error_margin = 2.5;
  ASSERT_TRUE(
      db()->GetApproximateSizes(options, db()->DefaultColumnFamily(), &range, 1, &rough).ok());
  EXPECT_EQ(rough, sizes["m"] + (sizes["a"] + sizes["t"]) / 2);
  options.files_size_error_margin = 0.5;  // the ends are more than that
  uint64_t close = 0;
  ASSERT_TRUE(
      db()->GetApproximateSizes(options, db()->DefaultColumnFamily(), &range, 1, &close).ok());
  EXPECT_EQ(close, exact);
}

TEST_F(OptionPromisesTest, SizesOfTablesAreComparedUnlessTheyAreNot) {
  Open();
  MakeTable({"k"});
  ASSERT_TRUE(Close().ok());
  const std::string table = std::string(kName) + "/" + Files(kTableFile).front();
  const std::string bytes = ReadFile(table);
  WriteFile(table, bytes + "x");
  EXPECT_TRUE(TryOpen().IsCorruption());
  options_.skip_checking_sst_file_sizes_on_db_open = true;
  ASSERT_TRUE(TryOpen().ok());
  EXPECT_TRUE(Close().ok());
  ASSERT_TRUE(mem().DeleteFile(table, IOOptions(), nullptr).ok());
  const Status missing = TryOpen();
  EXPECT_TRUE(missing.IsCorruption()) << "that it is there is looked at still";
  EXPECT_THAT(missing.ToString(), HasSubstr("missing"));
}

// ---- paranoid_file_checks, prepopulate_block_cache

TEST_F(OptionPromisesTest, NewTablesAreReadBackWhereThatIsAskedFor) {
  for (const bool paranoid : {false, true}) {
    SCOPED_TRACE(paranoid);
    options_.paranoid_file_checks = paranoid;
    options_.max_bgerror_resume_count = 0;
    Open();
    for (int i = 0; i < 200; i++) Put("k" + std::to_string(i), std::string(100, 'v'));
    Flush();
    const std::string before = Levels();
    Put("k", "v");
    FaultRule rot;
    rot.calls = Only(FaultCall::kRead);
    rot.path_contains = ".sst";
    rot.sticky = true;
    rot.effect = FaultEffect::kCorruptRead;
    faults().Inject(rot);
    const Status s = db()->Flush(FlushOptions());
    faults().ClearFaults();
    EXPECT_EQ(s.IsCorruption(), paranoid) << s.ToString();
    EXPECT_EQ(Levels() == before, paranoid) << "a table that cannot be read is not taken";
    EXPECT_EQ(Get("k1"), std::string(100, 'v'));
    Kill();
    Open();
    EXPECT_EQ(Get("k"), "v");
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(OptionPromisesTest, ReadingBackFindsGoodTablesGood) {
  options_.paranoid_file_checks = true;
  Open();
  for (int i = 0; i < 300; i++) Put("k" + std::to_string(i), "1");
  Flush();
  for (int i = 0; i < 300; i += 2) Put("k" + std::to_string(i), std::string(200, '2'));
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "k5", "k6").ok());
  Flush();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "k6", "k7").ok());
  Flush();  // a table of tombstones alone
  Compact();
  EXPECT_EQ(Get("k10"), std::string(200, '2'));
  EXPECT_EQ(Get("k11"), "1");
  EXPECT_EQ(Get("k55"), "NOT_FOUND");
  EXPECT_EQ(Get("k66"), "NOT_FOUND");
}

TEST_F(OptionPromisesTest, NewBlocksAreInTheCacheWhereThatIsAskedFor) {
  using Prepopulate = BlockBasedTableOptions::PrepopulateBlockCache;
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  struct Case {
    const char* name;
    Prepopulate mode;
    bool after_flush;
    bool after_compaction;
  };
  for (const Case& c : {Case{"never", Prepopulate::kDisable, false, false},
                        Case{"flush", Prepopulate::kFlushOnly, true, false},
                        Case{"both", Prepopulate::kFlushAndCompaction, true, true}}) {
    SCOPED_TRACE(c.name);
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(8 << 20);
    table.prepopulate_block_cache = c.mode;
    SetTable(table);
    Open();
    const auto is_cached = [&](const std::string& key) {
      std::string value;
      TablePropertiesCollection properties;  // the tables are open then
      EXPECT_TRUE(db()->GetPropertiesOfAllTables(&properties).ok());
      return db()->Get(cached, key, &value).ok();
    };
    for (int i = 0; i < 200; i++) Put("k" + std::to_string(100 + i), std::string(100, 'v'));
    Flush();
    EXPECT_EQ(is_cached("k100"), c.after_flush);
    EXPECT_EQ(is_cached("k299"), c.after_flush);
    Compact();
    EXPECT_EQ(is_cached("k150"), c.after_compaction);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// Readers find the blocks of a compaction's outputs in the cache if most blocks of its inputs were
// there, unless the cache has no room for more.
TEST_F(OptionPromisesTest, CompactionsKeepInTheCacheWhatWasThere) {
  ReadOptions cached;
  cached.read_tier = kBlockCacheTier;
  const auto key = [](int i) { return "k" + std::to_string(1000 + i); };
  constexpr int kKeys = 400;
  struct Case {
    const char* name;
    int read;  // so many keys before the compaction
    size_t cache_bytes;
    bool stays;
  };
  for (const Case& c :
       {Case{"all read", kKeys, 8 << 20, true}, Case{"few read", 20, 8 << 20, false},
        Case{"no room", kKeys, 200 << 10, false}}) {
    SCOPED_TRACE(c.name);
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(c.cache_bytes, 0);
    SetTable(table);
    Open();
    for (int run = 0; run < 2; run++) {
      for (int i = run; i < kKeys; i += 2) Put(key(i), std::string(300, 'v'));
      Flush();
    }
    for (int i = 0; i < c.read; i++) EXPECT_EQ(Get(key(i)), std::string(300, 'v'));
    Compact();
    TablePropertiesCollection properties;  // the new table is open then
    ASSERT_TRUE(db()->GetPropertiesOfAllTables(&properties).ok());
    int found = 0;
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      if (db()->Get(cached, key(i), &value).ok()) found++;
    }
    EXPECT_EQ(found == kKeys, c.stays) << found;
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// ---- report_bg_io_stats

class CompactionTimes final : public EventListener {
 public:
  void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override { stats = info.stats; }
  CompactionJobStats stats;
};

// ---- ColumnFamilyOptions::sample_for_compression, BlockBasedTableOptions::format_version

TEST_F(OptionPromisesTest, TablesAreSampledWhileThatIsAskedFor) {
  options_.compression = kNoCompression;
  Open();
  const auto estimate = [this] {
    TablePropertiesCollection tables;
    EXPECT_TRUE(db()->GetPropertiesOfAllTables(&tables).ok());
    EXPECT_THAT(tables, SizeIs(1));
    const TableProperties& properties = *tables.begin()->second;
    EXPECT_EQ(properties.fast_compression_estimated_data_size == 0,
              properties.slow_compression_estimated_data_size == 0);
    return properties.fast_compression_estimated_data_size;
  };
  Put("a", std::string(1000, 'v'));
  Flush();
  EXPECT_EQ(estimate(), 0u);
  SetOfFamily("sample_for_compression", "1");
  Compact();
  EXPECT_GT(estimate(), 0u);
  EXPECT_LT(estimate(), 200u);
  SetOfFamily("sample_for_compression", "0");
  Compact();
  EXPECT_EQ(estimate(), 0u);
}

TEST_F(OptionPromisesTest, NewTablesHaveTheFormatThatIsAskedFor) {
  Open();
  const auto format = [this] {
    TablePropertiesCollection tables;
    EXPECT_TRUE(db()->GetPropertiesOfAllTables(&tables).ok());
    EXPECT_THAT(tables, SizeIs(1));
    return tables.begin()->second->format_version;
  };
  MakeTable({"a", "b"});
  EXPECT_EQ(format(), 5u) << "the newest that all of RocksDB's readers know";
  for (const uint64_t version : {7, 6, 2}) {
    SetOfFamily("block_based_table_factory", "{format_version=" + std::to_string(version) + "}");
    Compact();
    EXPECT_EQ(format(), version);
    EXPECT_EQ(Scan(), "a=of a b=of b");
  }
  for (const char* refused : {"1", "8"}) {
    EXPECT_TRUE(db()->SetOptions({{"block_based_table_factory",
                                   std::string("{format_version=") + refused + "}"}})
                    .IsInvalidArgument());
  }
}

TEST_F(OptionPromisesTest, CompactionsAreTimedWhereThatIsAskedFor) {
  auto times = std::make_shared<CompactionTimes>();
  options_.listeners = {times};
  Open();
  for (const bool report : {false, true}) {
    SCOPED_TRACE(report);
    ASSERT_TRUE(db()->SetOptions({{"report_bg_io_stats", report ? "true" : "false"}}).ok());
    MakeTable({"a", "b"});
    MakeTable({"a", "c"});
    times->stats.Reset();
    Compact();
    EXPECT_GT(times->stats.num_output_files, 0u);
    EXPECT_EQ(times->stats.file_write_nanos > 0, report);
    EXPECT_EQ(times->stats.file_fsync_nanos > 0, report);
    EXPECT_EQ(times->stats.file_prepare_write_nanos > 0, report);
  }
}

// ---- stats_dump_period_sec, delete_obsolete_files_period_micros

// Goes on, and jumps.
class JumpingClock final : public SystemClockWrapper {
 public:
  JumpingClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "JumpingClock"; }
  uint64_t NowNanos() override { return target_->NowNanos() + jumped.load(); }
  Status GetCurrentTime(int64_t* seconds) override {
    const Status s = target_->GetCurrentTime(seconds);
    *seconds += static_cast<int64_t>(jumped.load() / 1'000'000'000);
    return s;
  }
  std::atomic<uint64_t> jumped{0};
};

class JumpingClockEnv final : public EnvWrapper {
 public:
  JumpingClockEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "JumpingClockEnv"; }
};

class LineLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list ap) override {
    char line[4096];
    vsnprintf(line, sizeof(line), format, ap);
    const std::lock_guard<std::mutex> lock(mu_);
    text_ += line;
    text_ += '\n';
  }
  std::string text() const {
    const std::lock_guard<std::mutex> lock(mu_);
    return text_;
  }

 private:
  mutable std::mutex mu_;
  std::string text_;
};

// Closes the database once, where it is told that a record was not stored.
class ClosingLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list) override {
    if (std::string_view(format).find("was not stored") == std::string_view::npos) return;
    DB* const to = closes.exchange(nullptr);
    if (to == nullptr) return;
    answer = to->Close();
    called = true;
  }
  std::atomic<DB*> closes{nullptr};
  Status answer;
  std::atomic<bool> called{false};
};

class PeriodicWorkTest : public OptionPromisesTest {
 protected:
  PeriodicWorkTest() : env_(options_.env, clock_) {
    options_.env = &env_;
    options_.info_log = log_;
    options_.stats_dump_period_sec = 0;
  }
  ~PeriodicWorkTest() override { EXPECT_TRUE(Close().ok()); }
  void Jump(uint64_t seconds) { clock_->jumped += seconds * 1000000000; }
  // Work that is due by the clock is done soon after any change of options.
  void Set(const char* option, const std::string& value) {
    ASSERT_TRUE(db()->SetDBOptions({{option, value}}).ok());
  }
  const std::shared_ptr<JumpingClock> clock_ = std::make_shared<JumpingClock>();
  const std::shared_ptr<LineLogger> log_ = std::make_shared<LineLogger>();
  JumpingClockEnv env_;
};

TEST_F(PeriodicWorkTest, StatisticsAreToldToTheLog) {
  options_.statistics = CreateDBStatistics();
  Open({"default", "side"});
  Put("k", "v");
  Jump(1000);
  Set("max_background_jobs", "3");
  EXPECT_THAT(log_->text(), Not(HasSubstr("Compaction Stats"))) << "0: never";
  Set("stats_dump_period_sec", "600");
  Jump(601);
  Set("max_background_jobs", "2");
  ASSERT_TRUE(Eventually(
      [&] { return log_->text().find("rocksdb.number.keys.written") != std::string::npos; }));
  EXPECT_THAT(log_->text(), AllOf(HasSubstr("Compaction Stats [default]"),
                                  HasSubstr("Compaction Stats [side]"), HasSubstr("Uptime")));
}

TEST_F(PeriodicWorkTest, NotesOnDiskOutliveTheDatabaseThatMadeThem) {
  options_.statistics = CreateDBStatistics();
  options_.persist_stats_to_disk = true;
  options_.stats_persist_period_sec = 600;
  Open();
  // Returns the time of each note.
  const auto times = [this](uint64_t start = 0, uint64_t end = UINT64_MAX) {
    std::unique_ptr<StatsHistoryIterator> it;
    EXPECT_TRUE(db()->GetStatsHistory(start, end, &it).ok());
    std::vector<uint64_t> result;
    for (; it->Valid(); it->Next()) {
      EXPECT_EQ(it->GetStatsMap().size(), TickersNameMap.size());
      EXPECT_EQ(it->GetFormatVersion(), 1);
      result.push_back(it->GetStatsTime());
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return result;
  };
  EXPECT_THAT(times(), IsEmpty());
  for (size_t notes = 1; notes <= 2; notes++) {
    Jump(601);
    Set("max_background_jobs", notes % 2 == 0 ? "2" : "3");
    ASSERT_TRUE(Eventually([&] { return times().size() == notes; }));
  }
  const std::vector<uint64_t> before = times();
  EXPECT_THAT(times(0, before[1]), ElementsAre(before[0]));
  EXPECT_THAT(times(before[0] + 1), ElementsAre(before[1]));
  EXPECT_THAT(times(10'000'000'000), IsEmpty()) << "it has a digit more";
  EXPECT_EQ(Scan(), "") << "the default family has none of it";
  Reopen();
  EXPECT_EQ(times(), before);

  // Others than this option's users keep them.
  options_.persist_stats_to_disk = false;
  Reopen();
  EXPECT_THAT(times(), IsEmpty()) << "in memory now";
  std::vector<std::string> families;
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DB::ListColumnFamilies(options_, kName, &families).ok());
  EXPECT_THAT(families, ElementsAre("default", "___rocksdb_stats_history___"));
  Open(families);
  EXPECT_THAT(Scan(ReadOptions(), families[1]), HasSubstr("__persistent_stats_format_version__=1"));
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  ASSERT_TRUE(Close().ok());
  options_.persist_stats_to_disk = true;
  Open();
  EXPECT_EQ(times(), before);
}

TEST_F(PeriodicWorkTest, ANoteThatCouldNotBeStoredIsInTheNext) {
  options_.statistics = CreateDBStatistics();
  options_.persist_stats_to_disk = true;
  options_.stats_persist_period_sec = 0;
  Open();
  const auto written = [this] {
    std::unique_ptr<StatsHistoryIterator> it;
    EXPECT_TRUE(db()->GetStatsHistory(0, UINT64_MAX, &it).ok());
    std::vector<uint64_t> result;
    for (; it->Valid(); it->Next()) {
      result.push_back(it->GetStatsMap().at("rocksdb.number.keys.written"));
    }
    return result;
  };
  Put("a", "v");
  Put("b", "v");
  ASSERT_TRUE(db()->LockWAL().ok());
  Jump(601);
  Set("stats_persist_period_sec", "600");
  ASSERT_TRUE(Eventually([&] {
    return log_->text().find("a record of the statistics was not stored") != std::string::npos;
  }));
  ASSERT_TRUE(db()->UnlockWAL().ok());
  EXPECT_THAT(written(), IsEmpty());
  Jump(601);
  Set("max_background_jobs", "3");
  ASSERT_TRUE(Eventually([&] { return written().size() == 1; }));
  EXPECT_EQ(written()[0], 2u);
}

// Close would wait for the job that it is called from.
TEST_F(PeriodicWorkTest, AJobThatStoresANoteDoesNotWaitForItself) {
  const auto logger = std::make_shared<ClosingLogger>();
  options_.info_log = logger;
  options_.statistics = CreateDBStatistics();
  options_.persist_stats_to_disk = true;
  options_.stats_persist_period_sec = 0;
  Open();
  ASSERT_TRUE(db()->LockWAL().ok());
  logger->closes = db();
  Jump(601);
  Set("stats_persist_period_sec", "600");
  ASSERT_TRUE(Eventually([&] { return logger->called.load(); }));
  EXPECT_TRUE(logger->answer.IsBusy()) << logger->answer.ToString();
  EXPECT_THAT(logger->answer.ToString(), HasSubstr("the storing of statistics"));
  ASSERT_TRUE(db()->UnlockWAL().ok());
}

TEST_F(PeriodicWorkTest, StatisticsAreNotedAsTheyGrow) {
  options_.statistics = CreateDBStatistics();
  options_.stats_persist_period_sec = 0;
  Open();
  const auto history = [this](uint64_t start = 0, uint64_t end = UINT64_MAX) {
    std::unique_ptr<StatsHistoryIterator> it;
    EXPECT_TRUE(db()->GetStatsHistory(start, end, &it).ok());
    std::vector<std::pair<uint64_t, uint64_t>> written;  // when, and how many keys
    for (; it->Valid(); it->Next()) {
      EXPECT_EQ(it->GetStatsMap().size(), TickersNameMap.size());
      written.emplace_back(it->GetStatsTime(), it->GetStatsMap().at("rocksdb.number.keys.written"));
    }
    EXPECT_TRUE(it->status().ok());
    return written;
  };
  Put("a", "v");
  Put("b", "v");
  Jump(1000);
  Set("max_background_jobs", "3");
  EXPECT_THAT(history(), IsEmpty()) << "0: never";
  Set("stats_persist_period_sec", "600");
  ASSERT_TRUE(Eventually([&] { return history().size() == 1; }));
  EXPECT_EQ(history()[0].second, 2u);
  Put("c", "v");
  Jump(601);
  Set("max_background_jobs", "2");
  ASSERT_TRUE(Eventually([&] { return history().size() == 2; }));
  EXPECT_EQ(history()[1].second, 1u) << "since the note before";
  const uint64_t first = history()[0].first;
  EXPECT_THAT(history(0, first), IsEmpty()) << "before its end";
  EXPECT_THAT(history(first, UINT64_MAX), SizeIs(2));

  std::unique_ptr<StatsHistoryIterator> kept;
  ASSERT_TRUE(db()->GetStatsHistory(0, UINT64_MAX, &kept).ok());
  Set("stats_history_buffer_size", "1");
  Jump(601);
  Set("max_background_jobs", "3");
  EXPECT_TRUE(Eventually([&] { return history().empty(); })) << "no room";
  EXPECT_TRUE(db()->GetStatsHistory(0, 1, nullptr).IsInvalidArgument());
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(kept->Valid());
  EXPECT_EQ(kept->GetStatsMap().at("rocksdb.number.keys.written"), 2u);
}

TEST_F(PeriodicWorkTest, WhatCouldNotBeDeletedIsTriedAgain) {
  Open();
  MakeTable({"a"});
  MakeTable({"a"});
  FaultRule stuck;
  stuck.calls = Only(FaultCall::kDelete);
  stuck.path_contains = ".sst";
  stuck.sticky = true;
  faults().Inject(stuck);
  Compact();
  EXPECT_EQ(Files(kTableFile).size(), 3u);
  faults().ClearFaults();
  EXPECT_EQ(Files(kTableFile).size(), 3u) << "nobody has tried";
  Jump(7 * 3600);
  Set("delete_obsolete_files_period_micros", std::to_string(uint64_t{3600} * 1000000));
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }));
}

// ---- allow_data_in_errors

TEST_F(OptionPromisesTest, KeysAreInMessagesOnlyWhereTheyMayBe) {
  for (const bool allowed : {false, true}) {
    SCOPED_TRACE(allowed);
    options_.allow_data_in_errors = allowed;
    options_.max_bgerror_resume_count = 0;
    Open();
    Put("secret", "v");
    Flush();
    Delete("secret");
    Flush();
    ASSERT_TRUE(db()->SingleDelete(WriteOptions(), "secret").ok());
    Flush();
    const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    Kill();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_EQ(s.ToString().find(Slice("secret").ToString(/*hex=*/true)) != std::string::npos,
              allowed)
        << s.ToString();
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(OptionPromisesTest, ReadsPayTheRateLimiterWhereTheyAreAskedTo) {
  options_.rate_limiter.reset(
      NewGenericRateLimiter(1 << 30, 1000, 10, RateLimiter::Mode::kReadsOnly));
  options_.disable_auto_compactions = true;
  BlockBasedTableOptions table;
  table.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  MakeTable({"a", "b"});
  MakeTable({"a", "c"});
  const auto paid = [&](Env::IOPriority priority) {
    return options_.rate_limiter->GetTotalBytesThrough(priority);
  };
  EXPECT_EQ(Get("b"), "of b");
  EXPECT_EQ(paid(Env::IO_TOTAL), 0);
  ReadOptions read;
  read.rate_limiter_priority = Env::IO_USER;
  std::string value;
  ASSERT_TRUE(db()->Get(read, "b", &value).ok());
  EXPECT_GT(paid(Env::IO_USER), 0);
  const int64_t before = paid(Env::IO_LOW);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_GT(paid(Env::IO_LOW), before);
}

// The end of each file is kept by the file system, the rest is read into the caller's memory.
class TailCachingFiles final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "TailCachingFiles"; }
  IOStatus NewRandomAccessFile(const std::string& name, const FileOptions& options,
                               std::unique_ptr<FSRandomAccessFile>* file,
                               IODebugContext* dbg) override {
    uint64_t size = 0;
    IOStatus s = target()->GetFileSize(name, IOOptions(), &size, dbg);
    if (s.ok()) s = FileSystemWrapper::NewRandomAccessFile(name, options, file, dbg);
    if (s.ok()) *file = std::make_unique<File>(std::move(*file), size);
    return s;
  }

 private:
  class File final : public FSRandomAccessFileOwnerWrapper {
   public:
    File(std::unique_ptr<FSRandomAccessFile> file, uint64_t size)
        : FSRandomAccessFileOwnerWrapper(std::move(file)),
          start_(size - std::min<uint64_t>(size, 4096)),
          tail_(static_cast<size_t>(size - start_), 0) {
      Slice read;
      EXPECT_TRUE(FSRandomAccessFileOwnerWrapper::Read(start_, tail_.size(), IOOptions(), &read,
                                                       tail_.data(), nullptr)
                      .ok());
      if (read.data() != tail_.data()) tail_ = read.ToString();
    }
    IOStatus Read(uint64_t offset, size_t n, const IOOptions& options, Slice* result, char* scratch,
                  IODebugContext* dbg) const override {
      if (offset >= start_ && offset + n <= start_ + tail_.size()) {
        *result = Slice(tail_.data() + (offset - start_), n);
        return IOStatus::OK();
      }
      EXPECT_NE(scratch, nullptr);
      if (scratch == nullptr) return IOStatus::InvalidArgument("no scratch");
      return FSRandomAccessFileOwnerWrapper::Read(offset, n, options, result, scratch, dbg);
    }

   private:
    const uint64_t start_;
    std::string tail_;
  };
};

TEST_F(OptionPromisesTest, AFileSystemMayAnswerSomeReadsWithItsOwnMemory) {
  const auto env = NewCompositeEnv(std::make_shared<TailCachingFiles>(file_system()));
  Env* const own = std::exchange(options_.env, env.get());
  options_.compression = kNoCompression;
  Open();
  const std::string value(100, 'v');
  for (int i = 0; i < 500; i++) Put("k" + std::to_string(i), value);
  Flush();
  for (int i = 0; i < 500; i++) ASSERT_EQ(Get("k" + std::to_string(i)), value) << i;
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Reopen();
  for (int i = 0; i < 500; i += 7) ASSERT_EQ(Get("k" + std::to_string(i)), value) << i;
  ASSERT_TRUE(Close().ok());
  options_.env = own;
}

}  // namespace
}  // namespace varve::testing
