// SPDX-License-Identifier: Apache-2.0

// Goal: writes that must wait say why, do not wait when told not to, and go on when the reason is
// gone; pauses and manual compactions do not get in each other's way. Method: background work is
// paused to bring a stall about, and continued to end it.

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "varve/listener.h"
#include "varve/statistics.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class StallTest : public Database {
 protected:
  Status QuickPut() {
    WriteOptions options;
    options.no_slowdown = true;
    return db()->Put(options, "quick", "q");
  }
};

TEST_F(StallTest, StoppedWritesNameTheReason) {
  struct Case {
    const char* name;
    std::unordered_map<std::string, std::string> change;
    const char* reason;
  };
  const Case kCases[] = {
      {"files in L0",
       {{"level0_stop_writes_trigger", "2"}, {"level0_slowdown_writes_trigger", "2"}},
       "level0_stop_writes_trigger"},
      {"pending bytes",
       {{"hard_pending_compaction_bytes_limit", "1"}, {"soft_pending_compaction_bytes_limit", "1"}},
       "hard_pending_compaction_bytes_limit"},
  };
  options_.level0_file_num_compaction_trigger = 2;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    options_.disable_auto_compactions = true;
    Open();
    MakeTable({"a", "z"});
    MakeTable({"a", "z"});
    ASSERT_TRUE(db()->PauseBackgroundWork().ok());
    auto change = c.change;
    change["disable_auto_compactions"] = "false";
    ASSERT_TRUE(db()->SetOptions(change).ok());
    const Status s = QuickPut();
    EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(c.reason));
    EXPECT_THAT(Text("varve.write-stall-reason"), HasSubstr(c.reason));
    EXPECT_THAT(Text("rocksdb.cf-write-stall-stats"), HasSubstr("[default]"));
    EXPECT_THAT(Text("rocksdb.stats"), HasSubstr(c.reason));
    EXPECT_EQ(Number("rocksdb.is-write-stopped"), 1u);
    EXPECT_EQ(Get("quick"), "NOT_FOUND");

    std::atomic<bool> written{false};
    std::thread waiting([&] {
      EXPECT_TRUE(db()->Put(WriteOptions(), "patient", "p").ok());
      written.store(true);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_FALSE(written.load());
    EXPECT_EQ(Get("a"), "of a") << "reads go on";
    ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
    waiting.join();
    EXPECT_EQ(Get("patient"), "p");
    EXPECT_TRUE(Eventually([&] { return QuickPut().ok(); }));
    EXPECT_EQ(Text("varve.write-stall-reason"), "");
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(StallTest, FullMemtablesStopWrites) {
  options_.write_buffer_size = 64 << 10;
  options_.statistics = CreateDBStatistics();
  Open();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  Status s;
  WriteOptions quick;
  quick.no_slowdown = true;
  for (int i = 0; i < 100 && s.ok(); i++) {
    s = db()->Put(quick, std::to_string(i), std::string(8 << 10, 'v'));
  }
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("max_write_buffer_number"));
  EXPECT_GT(Number("rocksdb.num-immutable-mem-table"), 0u);
  std::atomic<bool> started{false};
  std::thread waiting([&] {
    started.store(true);
    Put("patient", "p");
  });
  // Nothing tells from outside that a writer waits: it gets plenty of time to come to that.
  EXPECT_TRUE(Eventually([&] { return started.load(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  waiting.join();
  EXPECT_GT(options_.statistics->getTickerCount(STALL_MICROS), 0u);
  EXPECT_EQ(Get("patient"), "p");
}

TEST_F(StallTest, DelayedWritesAreSlowNotStopped) {
  options_.level0_file_num_compaction_trigger = 2;
  options_.level0_slowdown_writes_trigger = 2;
  options_.level0_stop_writes_trigger = 100;
  options_.delayed_write_rate = 64 << 10;
  Open();
  MakeTable({"a", "z"});
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  std::thread flusher([&] { MakeTable({"a", "z"}); });
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.num-immutable-mem-table") > 0; }));
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  flusher.join();
  // Writes were never refused, however quick compaction was.
  EXPECT_EQ(Number("rocksdb.is-write-stopped"), 0u);
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(db()->SetOptions({{"level0_file_num_compaction_trigger", "1"},
                                {"level0_slowdown_writes_trigger", "1"},
                                {"disable_auto_compactions", "true"}})
                  .ok());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  MakeTable({"b"});
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  EXPECT_THAT(Text("varve.write-stall-reason"), HasSubstr("level0_slowdown_writes_trigger"));
  EXPECT_GT(Number("rocksdb.actual-delayed-write-rate"), 0u);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; i++) Put("slow" + std::to_string(i), std::string(2 << 10, 's'));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
  EXPECT_TRUE(QuickPut().IsIncomplete());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return QuickPut().ok(); }));
}

TEST_F(StallTest, WritesOfLowPriorityYieldToCompactions) {
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  WriteOptions low;
  low.low_pri = true;
  WriteOptions low_and_quick = low;
  low_and_quick.no_slowdown = true;
  EXPECT_TRUE(db()->Put(low_and_quick, "a", "nothing is due").ok());
  Flush();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  MakeTable({"a", "z"});
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(db()->Put(low, "b", std::string(20 << 10, 'v')).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(5));
  EXPECT_TRUE(db()->Put(low_and_quick, "c", "v").IsIncomplete());
  EXPECT_TRUE(QuickPut().ok()) << "others are not held up";
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_TRUE(db()->Put(low_and_quick, "c", "v").ok());
}

// A manual compaction goes level by level; a pause comes in between.
TEST_F(StallTest, PausesAndManualCompactionsDoNotWaitForEachOther) {
  options_.disable_auto_compactions = true;
  options_.level_compaction_dynamic_level_bytes = false;
  Open();
  MakeTable({"a", "z"});
  CompactRangeOptions down;
  down.change_level = true;
  down.target_level = 4;
  ASSERT_TRUE(db()->CompactRange(down, nullptr, nullptr).ok());
  std::atomic<bool> done{false};
  std::thread pauser([&] {
    while (!done.load()) {
      EXPECT_TRUE(db()->PauseBackgroundWork().ok());
      std::this_thread::yield();
      EXPECT_TRUE(db()->ContinueBackgroundWork().ok());
    }
  });
  for (int i = 0; i < 10; i++) {
    Put("a", std::to_string(i));
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  }
  done.store(true);
  pauser.join();
  EXPECT_EQ(Get("a"), "9");
  EXPECT_EQ(Levels().substr(0, 1), "0");
}

TEST_F(StallTest, ManualAndAutomaticCompactionsShareATree) {
  options_.level0_file_num_compaction_trigger = 2;
  options_.target_file_size_base = 16 << 10;
  options_.max_bytes_for_level_base = 64 << 10;
  options_.max_background_jobs = 4;
  Open();
  std::atomic<bool> done{false};
  std::vector<std::thread> compactors;
  for (int t = 0; t < 2; t++) {
    compactors.emplace_back([&, t] {
      while (!done.load()) {
        CompactRangeOptions options;
        options.exclusive_manual_compaction = t == 0;
        const Status s = db()->CompactRange(options, nullptr, nullptr);
        EXPECT_TRUE(s.ok() || s.IsIncomplete()) << s.ToString();
      }
    });
  }
  std::thread switcher([&] {
    while (!done.load()) {
      db()->DisableManualCompaction();
      db()->EnableManualCompaction();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  for (int i = 0; i < 300; i++) {
    Put(std::to_string(i % 100), std::to_string(i) + std::string(1000, 'v'));
    if (i % 20 == 19) Flush();
  }
  done.store(true);
  for (std::thread& thread : compactors) thread.join();
  switcher.join();
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  for (int i = 200; i < 300; i++) {
    EXPECT_EQ(Get(std::to_string(i % 100)), std::to_string(i) + std::string(1000, 'v'));
  }
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

TEST_F(StallTest, AManualCompactionEndsWhenItsFlagIsSet) {
  options_.disable_auto_compactions = true;
  Open();
  MakeTable({"a"});
  MakeTable({"a"});
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  std::atomic<bool> cancel{false};
  std::thread compacting([&] {
    CompactRangeOptions options;
    options.canceled = &cancel;
    EXPECT_TRUE(db()->CompactRange(options, nullptr, nullptr).IsIncomplete());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  cancel.store(true);
  compacting.join();
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_EQ(Levels(), "2");
}

TEST_F(StallTest, ManyFamiliesShareTheMemoryBudget) {
  options_.db_write_buffer_size = 256 << 10;
  Open({"default", "a", "b"});
  for (int i = 0; i < 200; i++) {
    Put(std::to_string(i), std::string(4 << 10, 'v'),
        i % 3 == 0   ? "a"
        : i % 3 == 1 ? "b"
                     : "default");
  }
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  uint64_t bytes = 0;
  ASSERT_TRUE(db()->GetAggregatedIntProperty("rocksdb.cur-size-all-mem-tables", &bytes));
  EXPECT_LT(bytes, 600u << 10);
  EXPECT_NE(Levels("a"), "");
}

TEST_F(StallTest, OldLogsForceFlushesOfTheirFamilies) {
  options_.max_total_wal_size = 64 << 10;
  Open({"default", "idle"});
  Put("k", "old", "idle");
  for (int i = 0; i < 40; i++) {
    Put(std::to_string(i), std::string(8 << 10, 'v'));
    if (i % 10 == 9) Flush();
  }
  EXPECT_TRUE(Eventually([&] { return Levels("idle") == "1"; }));
  EXPECT_EQ(Get("k", "idle"), "old");
}

// Calls the database when a stall begins or ends.
struct StallCaller final : EventListener {
  void OnStallConditionsChanged(const WriteStallInfo& info) override {
    if (call != nullptr) call(info.condition.cur == WriteStallCondition::kStopped);
  }
  std::function<void(bool stopped)> call;
};

// The switch of memtables by a write or a flush, which keeps writers out, is what stops them.
TEST_F(StallTest, AListenerMayWriteWhenAStallBeginsOrEnds) {
  const auto listener = std::make_shared<StallCaller>();
  options_.listeners.push_back(listener);
  options_.disable_auto_compactions = true;
  options_.max_write_buffer_number = 2;
  Open();
  std::atomic<int> stops{0};
  std::atomic<int> ends{0};
  listener->call = [&](bool stopped) {
    WriteOptions options;
    options.no_slowdown = stopped;  // the next step ends the stop
    const Status s = db()->Put(options, "told", "t");
    EXPECT_TRUE(stopped ? s.IsIncomplete() : s.ok()) << s.ToString();
    ColumnFamilyHandle* made = nullptr;
    const std::string name = "told" + std::to_string(stops + ends);
    EXPECT_TRUE(db()->CreateColumnFamily(ColumnFamilyOptions(), name, &made).ok());
    EXPECT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
    (stopped ? stops : ends)++;
  };
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  FlushOptions no_wait;
  no_wait.wait = false;
  no_wait.allow_write_stall = true;
  for (int i = 0; i < 2; i++) {
    Put("k", "v");
    ASSERT_TRUE(db()->Flush(no_wait).ok());
  }
  EXPECT_EQ(stops, 1);
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([&] { return ends == 1; }));
  EXPECT_EQ(Get("told"), "t");
  ASSERT_TRUE(Close().ok());
}

// A call that would wait for the work that it is called from is refused, and says why.
struct FlushCaller final : EventListener {
  void OnFlushBegin(DB* db, const FlushJobInfo&) override {
    answers = {db->Flush(FlushOptions()), db->WaitForCompact(WaitForCompactOptions()),
               db->PauseBackgroundWork(), db->Close(), db->Put(WriteOptions(), "told", "t")};
  }
  void OnMemTableSealed(const MemTableInfo&) override {
    DB* const to = of_sealed;
    if (to == nullptr) return;
    ColumnFamilyHandle* made = nullptr;
    sealed = {to->Put(WriteOptions(), "told", "t"), to->Flush(FlushOptions()), to->LockWAL(),
              to->CreateColumnFamily(ColumnFamilyOptions(), "told", &made), to->Close()};
  }
  std::atomic<DB*> of_sealed{nullptr};
  std::vector<Status> answers;
  std::vector<Status> sealed;
};

TEST_F(StallTest, ACallThatWouldWaitForItselfIsBusy) {
  const auto listener = std::make_shared<FlushCaller>();
  options_.listeners.push_back(listener);
  Open();
  listener->of_sealed = db();
  Put("k", "v");
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  listener->of_sealed = nullptr;
  ASSERT_EQ(listener->answers.size(), 5u);
  EXPECT_TRUE(listener->answers.back().ok()) << listener->answers.back().ToString();
  listener->answers.pop_back();
  for (const Status& s : listener->answers) {
    EXPECT_TRUE(s.IsBusy()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("OnFlushBegin"));
  }
  ASSERT_EQ(listener->sealed.size(), 5u);
  for (const Status& s : listener->sealed) {
    EXPECT_TRUE(s.IsBusy()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("OnMemTableSealed"));
  }
  Put("after", "a");
}

}  // namespace
}  // namespace varve::testing
