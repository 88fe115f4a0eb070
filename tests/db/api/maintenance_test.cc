// SPDX-License-Identifier: Apache-2.0

// Goal: flushing, compacting, waiting, deleting whole files and changing options do what db.h and
// options.h say. Method: one story for each call; the tree's shape and the answers are both looked
// at.

#include <gmock/gmock.h>

#include "varve/convenience.h"
#include "varve/snapshot.h"
#include "varve/statistics.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DbMaintenanceTest : public Database {
 protected:
  DbMaintenanceTest() {
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
  }
  Status Compact(const CompactRangeOptions& options = CompactRangeOptions()) {
    return db()->CompactRange(options, nullptr, nullptr);
  }
};

TEST_F(DbMaintenanceTest, FlushWritesTheNamedFamilies) {
  Open({"default", "a", "b"});
  for (const char* family : {"default", "a", "b"}) Put("k", family, family);
  ASSERT_TRUE(db()->Flush(FlushOptions(), {Handle("a"), Handle("b")}).ok());
  EXPECT_EQ(Levels(), "");
  EXPECT_EQ(Levels("a"), "1");
  EXPECT_EQ(Levels("b"), "1");
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  EXPECT_EQ(Levels(), "1");
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok()) << "nothing to flush";
  EXPECT_EQ(Levels(), "1");
  EXPECT_TRUE(db()->Flush(FlushOptions(), std::vector<ColumnFamilyHandle*>()).ok());
  FlushOptions no_wait;
  no_wait.wait = false;
  Put("k", "2");
  ASSERT_TRUE(db()->Flush(no_wait).ok());
  EXPECT_TRUE(Eventually([&] { return Levels() == "2"; }));
}

TEST_F(DbMaintenanceTest, AtomicFlushTakesAllFamilies) {
  options_.atomic_flush = true;
  Open({"default", "a"});
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, Handle("a"), "k", "1").ok());
  ASSERT_TRUE(db()->Put(unlogged, "k", "1").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions(), Handle("a")).ok());
  EXPECT_EQ(Levels(), "1");
  EXPECT_EQ(Levels("a"), "1");
  Kill();
  Open({"default", "a"});
  EXPECT_EQ(Get("k"), "1");
  EXPECT_EQ(Get("k", "a"), "1");
}

// A batch over two families, of which only one is compacted, comes back whole after a kill.
TEST_F(DbMaintenanceTest, CompactRangeKeepsAnAtomicFlushWhole) {
  options_.atomic_flush = true;
  Open({"default", "other"});
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(Handle("default"), "a", "1").ok());
  ASSERT_TRUE(batch.Put(Handle("other"), "b", "2").ok());
  ASSERT_TRUE(db()->Write(unlogged, &batch).ok());
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  Kill();
  Open({"default", "other"});
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b", "other"), "2");
}

// Files whose keys are long make edits and MANIFESTs of any size.
TEST_F(DbMaintenanceTest, AManifestOfLongKeysIsReadAgain) {
  constexpr int kFiles = 35;
  options_.disable_auto_compactions = true;
  options_.level0_slowdown_writes_trigger = options_.level0_stop_writes_trigger = 1000;
  Open();
  for (int i = 0; i < kFiles; i++) MakeTable({std::string(1 << 20, static_cast<char>('a' + i))});
  for (int opening = 0; opening < 2; opening++) {
    ASSERT_TRUE(Close().ok());
    const Status s = TryOpen();
    ASSERT_TRUE(s.ok()) << s.ToString().substr(0, 200);
    EXPECT_EQ(Levels(), std::to_string(kFiles));
  }
}

TEST_F(DbMaintenanceTest, CompactRangeGoesDownToTheLastLevel) {
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  MakeTable({"a", "m"});
  MakeTable({"b", "z"});
  EXPECT_EQ(Levels(), "2");
  ASSERT_TRUE(Compact().ok());
  EXPECT_EQ(Levels(), "0,1");
  MakeTable({"c"});
  const Slice begin("n");
  const Slice end("y");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), &begin, &end).ok());
  EXPECT_EQ(Levels(), "1,1") << "L0 has nothing in that range";
  EXPECT_TRUE(db()->CompactRange(CompactRangeOptions(), &end, &begin).IsInvalidArgument());
  Put("d", "memory");
  const Slice d("d");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), &d, &d).ok());
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c d=memory m=of m z=of z");
}

TEST_F(DbMaintenanceTest, TheLastLevelIsRewrittenWhenAsked) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Compact().ok());
  struct Case {
    const char* name;
    BottommostLevelCompaction bottommost;
    bool rewritten;
  };
  for (const Case& c :
       {Case{"skip", BottommostLevelCompaction::kSkip, false},
        Case{"no filter", BottommostLevelCompaction::kIfHaveCompactionFilter, false},
        Case{"force", BottommostLevelCompaction::kForce, true},
        Case{"optimized", BottommostLevelCompaction::kForceOptimized, true}}) {
    SCOPED_TRACE(c.name);
    const auto before = Files(kTableFile);
    CompactRangeOptions options;
    options.bottommost_level_compaction = c.bottommost;
    ASSERT_TRUE(Compact(options).ok());
    EXPECT_EQ(Files(kTableFile) != before, c.rewritten);
    EXPECT_EQ(Scan(), "a=of a");
  }
}

TEST_F(DbMaintenanceTest, LevelsAreChangedOnRequest) {
  Open();
  MakeTable({"a"});
  CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 2;
  move.exclusive_manual_compaction = true;
  ASSERT_TRUE(Compact(move).ok());
  EXPECT_EQ(Levels(), "0,0,1");
  move.target_level = 99;
  EXPECT_TRUE(Compact(move).IsInvalidArgument());
  CompactRangeOptions path;
  path.target_path_id = 1;
  EXPECT_TRUE(Compact(path).IsInvalidArgument());
  const Slice ts("ts");
  CompactRangeOptions history;
  history.full_history_ts_low = &ts;
  EXPECT_TRUE(Compact(history).IsInvalidArgument());
  std::atomic<bool> cancelled{true};
  CompactRangeOptions cancel;
  cancel.canceled = &cancelled;
  EXPECT_TRUE(Compact(cancel).IsIncomplete());
  EXPECT_EQ(Scan(), "a=of a");
}

TEST_F(DbMaintenanceTest, WithoutAStyleOnlyWhatIsAskedForIsCompacted) {
  options_.compaction_style = kCompactionStyleNone;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  for (const char* key : {"a", "b", "c", "d"}) MakeTable({key, "z"});
  ASSERT_TRUE(db()->EnableAutoCompaction({db()->DefaultColumnFamily()}).ok());
  ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Levels(), "4");
  ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), Files(kTableFile), 1).ok());
  EXPECT_EQ(Levels(), "0,1");
  Reopen();
  EXPECT_EQ(db()->GetOptions(db()->DefaultColumnFamily()).compaction_style, kCompactionStyleNone);
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c d=of d z=of z");
}

TEST_F(DbMaintenanceTest, NoReadWaitsForANewTableToBeOpened) {
  for (const int max_open_files : {-1, 100}) {
    options_.max_open_files = max_open_files;
    options_.statistics = CreateDBStatistics();
    Open();
    const auto opened = [this] { return options_.statistics->getTickerCount(NO_FILE_OPENS); };
    MakeTable({"a", "b"});
    MakeTable({"b", "c"});
    EXPECT_TRUE(Eventually([&] { return opened() == 2u; }));
    EXPECT_EQ(Get("a") + Get("c"), "of aof c");
    EXPECT_EQ(opened(), 2u);
    ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), Files(kTableFile), 3).ok());
    EXPECT_EQ(opened(), 3u);
    EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
    EXPECT_EQ(opened(), 3u);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(DbMaintenanceTest, CompactFilesTakesNamesAndRefusesOthers) {
  Open();
  MakeTable({"a"});
  MakeTable({"a", "b"});
  const auto files = Files(kTableFile);
  std::vector<std::string> outputs;
  CompactionJobInfo info;
  ASSERT_TRUE(
      db()->CompactFiles(CompactionOptions(), files, /*output_level=*/3, -1, &outputs, &info).ok());
  EXPECT_EQ(Levels(), "0,0,0,1");
  EXPECT_EQ(outputs.size(), 1u);
  EXPECT_EQ(info.output_level, 3);
  EXPECT_EQ(info.input_files.size(), 2u);
  EXPECT_TRUE(info.status.ok());
  EXPECT_FALSE(db()->CompactFiles(CompactionOptions(), {"nonsense"}, 3).ok());
  EXPECT_FALSE(db()->CompactFiles(CompactionOptions(), {"999999.sst"}, 3).ok());
  EXPECT_FALSE(db()->CompactFiles(CompactionOptions(), {}, 3).ok());
  EXPECT_FALSE(db()->CompactFiles(CompactionOptions(), Files(kTableFile), 99).ok());
  EXPECT_TRUE(db()->CompactFiles(CompactionOptions(), Files(kTableFile), 3, /*path=*/1)
                  .IsInvalidArgument());
  EXPECT_EQ(Scan(), "a=of a b=of b");
}

TEST_F(DbMaintenanceTest, WholeFilesAreDeletedInRanges) {
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  for (const char* letter : {"a", "c", "e"}) {
    MakeTable({std::string(letter) + "1", std::string(letter) + "2"});
    ASSERT_TRUE(Compact().ok());
  }
  EXPECT_EQ(Levels(), "0,3");
  const Slice begin("c");
  const Slice end("e2");
  ASSERT_TRUE(DeleteFilesInRange(db(), db()->DefaultColumnFamily(), &begin, &end, false).ok());
  EXPECT_EQ(Scan(), "a1=of a1 a2=of a2 e1=of e1 e2=of e2") << "the end is not in the range";
  const RangePtr ranges[] = {RangePtr(&begin, &end), RangePtr(nullptr, &begin)};
  ASSERT_TRUE(DeleteFilesInRanges(db(), db()->DefaultColumnFamily(), ranges, 2).ok());
  EXPECT_EQ(Scan(), "");
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).empty(); }));
  MakeTable({"a"});
  ASSERT_TRUE(DeleteFilesInRange(db(), db()->DefaultColumnFamily(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), "a=of a") << "L0 stays";
}

TEST_F(DbMaintenanceTest, WaitForCompactWaitsForWhatIsDue) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open({"default", "a"});
  for (int i = 0; i < 6; i++) MakeTable({"a", "z"});
  Put("k", "unflushed", "a");
  WaitForCompactOptions wait;
  wait.flush = true;
  wait.wait_for_purge = true;
  ASSERT_TRUE(db()->WaitForCompact(wait).ok());
  EXPECT_LT(db()->NumberLevels() == 0 ? 0 : Number("rocksdb.num-running-compactions"), 1u);
  EXPECT_EQ(Levels("a"), "1");
  EXPECT_LE(Files(kTableFile).size(), 3u);
  const Snapshot* const held = db()->GetSnapshot();
  wait.close_db = true;
  EXPECT_TRUE(db()->WaitForCompact(wait).IsAborted()) << "a snapshot is held";
  db()->ReleaseSnapshot(held);
  EXPECT_TRUE(db()->WaitForCompact(wait).ok());
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "v").IsShutdownInProgress());
}

TEST_F(DbMaintenanceTest, WaitForCompactClosesAlsoAfterAnError) {
  options_.max_bgerror_resume_count = 0;
  Open();
  Put("k", "v");
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = ".sst";
  faults().Inject(rule);
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  WaitForCompactOptions wait;
  EXPECT_TRUE(db()->WaitForCompact(wait).IsIOError());
  wait.close_db = true;
  const Status s = db()->WaitForCompact(wait);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_TRUE(db()->Put(WriteOptions(), "k", "w").IsShutdownInProgress());
  Reopen();
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(DbMaintenanceTest, PausedWorkIsNotWaitedForWhenAskedSo) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  EXPECT_TRUE(db()->ContinueBackgroundWork().IsInvalidArgument());
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  Put("k", "v");
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(db()->Flush(no_wait).ok());
  WaitForCompactOptions abort;
  abort.abort_on_pause = true;
  EXPECT_TRUE(db()->WaitForCompact(abort).IsAborted());
  WaitForCompactOptions hurry;
  hurry.timeout = std::chrono::milliseconds(5);
  EXPECT_TRUE(db()->WaitForCompact(hurry).IsTimedOut());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(db()->WaitForCompact(hurry).IsTimedOut()) << "calls nest";
  EXPECT_EQ(Levels(), "");
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Levels(), "1");
}

TEST_F(DbMaintenanceTest, OptionsChangeTogetherOrNotAtAll) {
  Open({"default", "a"});
  ASSERT_TRUE(db()->SetOptions(Handle("a"), {{"write_buffer_size", "131072"},
                                             {"level0_file_num_compaction_trigger", "9"}})
                  .ok());
  EXPECT_EQ(db()->GetOptions(Handle("a")).write_buffer_size, 131072u);
  EXPECT_EQ(db()->GetOptions(Handle("a")).level0_file_num_compaction_trigger, 9);
  EXPECT_EQ(db()->GetOptions().level0_file_num_compaction_trigger, 4);
  struct Case {
    const char* name;
    std::unordered_map<std::string, std::string> changes;
  };
  const Case kFamilyCases[] = {
      {"nothing", {}},
      {"unknown", {{"write_buffer_size", "1M"}, {"no_such_option", "1"}}},
      {"not a number", {{"write_buffer_size", "1M"}, {"level0_stop_writes_trigger", "many"}}},
      {"not dynamic", {{"write_buffer_size", "1M"}, {"num_levels", "3"}}},
      {"out of range", {{"write_buffer_size", "1M"}, {"max_bytes_for_level_multiplier", "0"}}},
      {"a database option", {{"write_buffer_size", "1M"}, {"max_background_jobs", "3"}}},
  };
  for (const Case& c : kFamilyCases) {
    SCOPED_TRACE(c.name);
    EXPECT_FALSE(db()->SetOptions(Handle("a"), c.changes).ok());
    EXPECT_EQ(db()->GetOptions(Handle("a")).write_buffer_size, 131072u);
  }
  ASSERT_TRUE(db()->SetDBOptions({{"max_background_jobs", "5"}, {"bytes_per_sync", "1M"}}).ok());
  EXPECT_EQ(db()->GetDBOptions().max_background_jobs, 5);
  const Case kDbCases[] = {
      {"nothing", {}},
      {"unknown", {{"max_background_jobs", "7"}, {"no_such_option", "1"}}},
      {"not a number", {{"max_background_jobs", "seven"}}},
      {"not dynamic", {{"max_background_jobs", "7"}, {"wal_dir", "/x"}}},
      {"out of range", {{"bytes_per_sync", "2M"}, {"max_background_jobs", "0"}}},
  };
  for (const Case& c : kDbCases) {
    SCOPED_TRACE(c.name);
    const Status s = db()->SetDBOptions(c.changes);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_EQ(db()->GetDBOptions().max_background_jobs, 5);
    EXPECT_EQ(db()->GetDBOptions().bytes_per_sync, 1u << 20);
  }
}

// A value that was derived from another option does not outlive that option's value.
TEST_F(DbMaintenanceTest, ChangesGoByTheOptionsAsTheyWereSet) {
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 3;
  options_.level0_stop_writes_trigger = 6;
  options_.max_write_buffer_number = 5;
  options_.min_write_buffer_number_to_merge = 4;
  Open();
  const auto expect = [this](int slowdown, int stop, int merged) {
    const Options now = db()->GetOptions();
    EXPECT_EQ(now.level0_slowdown_writes_trigger, slowdown);
    EXPECT_EQ(now.level0_stop_writes_trigger, stop);
    EXPECT_EQ(now.min_write_buffer_number_to_merge, merged);
  };
  expect(3, 6, 4);
  ASSERT_TRUE(db()->SetOptions({{"level0_file_num_compaction_trigger", "100"},
                                {"max_write_buffer_number", "2"}})
                  .ok());
  EXPECT_EQ(db()->Level0StopWriteTrigger(), 100) << "compactions come before writers stop";
  ASSERT_TRUE(db()->SetOptions({{"level0_file_num_compaction_trigger", "2"},
                                {"max_write_buffer_number", "5"}})
                  .ok());
  expect(3, 6, 4);
  EXPECT_EQ(db()->Level0StopWriteTrigger(), 6);
}

TEST_F(DbMaintenanceTest, ChangedOptionsTakeEffect) {
  Open();
  for (int i = 0; i < 4; i++) MakeTable({"a", "z"});
  EXPECT_EQ(Levels(), "4");
  ASSERT_TRUE(db()->EnableAutoCompaction({db()->DefaultColumnFamily()}).ok());
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_NE(Levels(), "4");
  ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "true"}}).ok());

  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->SetDBOptions({{"avoid_flush_during_shutdown", "true"}}).ok());
  ASSERT_TRUE(db()->Put(unlogged, "lost", "by choice").ok());
  Reopen();
  EXPECT_EQ(Get("lost"), "NOT_FOUND");
  ASSERT_TRUE(db()->SetDBOptions({{"avoid_flush_during_shutdown", "false"}}).ok());
  ASSERT_TRUE(db()->Put(unlogged, "kept", "by flush").ok());
  Reopen();
  EXPECT_EQ(Get("kept"), "by flush");
}

TEST_F(DbMaintenanceTest, TheLimitOfOpenTablesChangesWhereThereIsOne) {
  Open();
  EXPECT_TRUE(db()->SetDBOptions({{"max_open_files", "50"}}).IsNotSupported());
  EXPECT_EQ(db()->GetDBOptions().max_open_files, -1);
  ASSERT_TRUE(Close().ok());
  options_.max_open_files = 20;
  Open();
  for (int i = 0; i < 15; i++) MakeTable({std::to_string(i)});
  const auto open_tables = [&] {
    const uint64_t before = options_.statistics->getTickerCount(NO_FILE_OPENS);
    for (int i = 0; i < 15; i++) EXPECT_NE(Get(std::to_string(i)), "NOT_FOUND");
    return options_.statistics->getTickerCount(NO_FILE_OPENS) - before;
  };
  open_tables();
  EXPECT_GT(open_tables(), 0u) << "10 fit, 15 are read";
  ASSERT_TRUE(db()->SetDBOptions({{"max_open_files", "100"}}).ok());
  open_tables();
  EXPECT_EQ(open_tables(), 0u);
  ASSERT_TRUE(db()->SetDBOptions({{"max_open_files", "-1"}}).ok());
  EXPECT_EQ(open_tables(), 0u);
}

TEST_F(DbMaintenanceTest, OptionsFilesFollowTheChanges) {
  Open();
  const auto last_file = [&] {
    return ReadFile(std::string(kName) + "/" + Files(kOptionsFile).back());
  };
  EXPECT_THAT(last_file(), HasSubstr("max_background_jobs=2"));
  ASSERT_TRUE(db()->SetDBOptions({{"max_background_jobs", "6"}}).ok());
  EXPECT_THAT(last_file(), HasSubstr("max_background_jobs=6"));
  for (int i = 0; i < 5; i++) {
    ASSERT_TRUE(db()->SetOptions({{"write_buffer_size", std::to_string((i + 1) << 20)}}).ok());
  }
  EXPECT_EQ(Files(kOptionsFile).size(), 2u) << "old ones go";
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  std::vector<std::string> live;
  uint64_t manifest_bytes = 0;
  ASSERT_TRUE(db()->GetLiveFiles(live, &manifest_bytes, false).ok());
  for (int i = 0; i < 5; i++) {
    ASSERT_TRUE(db()->SetOptions({{"write_buffer_size", std::to_string((i + 1) << 20)}}).ok());
  }
  for (const std::string& name : live) {
    EXPECT_TRUE(mem().FileExists(kName + name, IOOptions(), nullptr).ok())
        << name << " went while deletions were disabled";
  }
  ASSERT_TRUE(db()->EnableFileDeletions().ok());
}

TEST_F(DbMaintenanceTest, DisabledFileDeletionsKeepTables) {
  Open();
  MakeTable({"a"});
  MakeTable({"a"});
  const auto before = Files(kTableFile);
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  EXPECT_EQ(Number("rocksdb.is-file-deletions-enabled"), 0u);
  ASSERT_TRUE(Compact().ok());
  for (int i = 0; i < 2; i++) {
    const auto now = Files(kTableFile);
    EXPECT_EQ(now.size(), 3u);
    ASSERT_TRUE(db()->EnableFileDeletions().ok());
  }
  EXPECT_EQ(Files(kTableFile).size(), 1u);
  EXPECT_TRUE(db()->EnableFileDeletions().ok());
}

TEST_F(DbMaintenanceTest, SuggestedRangesAreCompacted) {
  options_.disable_auto_compactions = false;
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(db()->SuggestCompactRange(db()->DefaultColumnFamily(), nullptr, nullptr).ok());
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Scan(), "a=of a");
}

TEST_F(DbMaintenanceTest, DisabledManualCompactionsEndAsIncomplete) {
  Open();
  MakeTable({"a"});
  db()->DisableManualCompaction();
  db()->DisableManualCompaction();
  EXPECT_TRUE(Compact().IsIncomplete());
  db()->EnableManualCompaction();
  EXPECT_TRUE(Compact().IsManualCompactionPaused());
  EXPECT_TRUE(db()->CompactFiles(CompactionOptions(), Files(kTableFile), 1).IsIncomplete());
  db()->EnableManualCompaction();
  EXPECT_TRUE(Compact().ok());
  EXPECT_NE(Levels(), "1");
}

TEST_F(DbMaintenanceTest, FeaturesOfAnotherDaySayTheirName) {
  Open();
  const Status kCases[] = {
      db()->TryCatchUpWithPrimary(),
  };
  for (const Status& s : kCases) {
    EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
    EXPECT_GT(s.ToString().size(), std::string("Not implemented: ").size());
  }
}

// Levels that are too full are emptied by moves alone, which are done when the call returns: a
// program that closes the database next, as one that loads data does, finds them there again.
TEST_F(DbMaintenanceTest, CompactRangeMovesWhatALevelHasNoRoomFor) {
  options_.level_compaction_dynamic_level_bytes = false;
  options_.max_bytes_for_level_base = 64 << 10;
  options_.compression = kNoCompression;
  options_.disable_auto_compactions = false;
  Open();
  WriteBatch batch;
  for (int i = 0; i < 10000; i++) {
    ASSERT_TRUE(batch.Put(std::to_string(10000 + i), "v").ok());
  }
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  Flush();
  const Slice begin("10000");
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), &begin, nullptr).ok());
  EXPECT_TRUE(Eventually([&] { return Levels() == "0,0,1"; })) << Levels();
  ASSERT_TRUE(Close().ok());
  options_.disable_auto_compactions = true;  // a compaction would move it now
  Open();
  EXPECT_EQ(Levels(), "0,0,1");
}

}  // namespace
}  // namespace varve::testing
