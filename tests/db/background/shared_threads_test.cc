// SPDX-License-Identifier: Apache-2.0

// Goal: no database waits for another one's work because they share threads. Method: two databases
// on an environment with one thread for each priority, of which listeners hold one or the other.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <functional>
#include <thread>

#include "varve/convenience.h"
#include "varve/env_wrappers.h"
#include "varve/listener.h"

#include "tests/harness/database.h"
#include "util/env/thread_pool.h"

namespace varve::testing {
namespace {

class OneThreadEachEnv final : public EnvWrapper {
 public:
  explicit OneThreadEachEnv(Env* base) : EnvWrapper(base) {}

  void Schedule(void (*function)(void*), void* arg, Priority priority, void* tag,
                void (*unschedule)(void*)) override {
    PoolOf(priority).Schedule(function, arg, tag, unschedule);
  }
  int UnSchedule(void* tag, Priority priority) override { return PoolOf(priority).Unschedule(tag); }
  void SetBackgroundThreads(int threads, Priority priority) override {
    PoolOf(priority).SetLimit(threads);
  }
  int GetBackgroundThreads(Priority priority) override { return PoolOf(priority).limit(); }
  void IncBackgroundThreadsIfNeeded(int, Priority) override {}
  size_t Waiting(Priority priority) { return PoolOf(priority).queue_length(); }

 private:
  ThreadPool& PoolOf(Priority priority) { return priority == HIGH ? high_ : low_; }

  ThreadPool low_{"low", Env::LOW, 1};
  ThreadPool high_{"high", Env::HIGH, 1};
};

// Calls back once, in the first job of its kind.
struct Interrupter final : EventListener {
  void OnCompactionCompleted(DB*, const CompactionJobInfo&) override { Run(&compacted); }
  void OnFlushCompleted(DB*, const FlushJobInfo&) override { Run(&flushed); }
  void OnTableFileDeleted(const TableFileDeletionInfo&) override { Run(&deleted); }
  static void Run(std::function<void()>* call) {
    if (*call) std::exchange(*call, nullptr)();
  }

  std::function<void()> compacted;
  std::function<void()> flushed;
  std::function<void()> deleted;
};

class SharedThreadsTest : public ::testing::Test {
 protected:
  SharedThreadsTest() {
    options_.env = &env_;
    options_.create_if_missing = true;
    options_.info_log = SilentLogger();
    options_.level0_file_num_compaction_trigger = 2;
    Options of_a = options_;
    of_a.listeners = {listener_};
    EXPECT_TRUE(DB::Open(of_a, "/a", &a_).ok());
    EXPECT_TRUE(DB::Open(options_, "/b", &b_).ok());
  }

  static void MakeTables(DB* db, int tables) {
    for (int i = 0; i < tables; i++) {
      ASSERT_TRUE(db->Put(WriteOptions(), "k", "v").ok());
      ASSERT_TRUE(db->Flush(FlushOptions()).ok());
    }
  }
  // Returns a call for a listener of A: it reports that it is there, and waits until it is
  // released.
  std::function<void()> Hold() {
    return [this] {
      held_ = true;
      EXPECT_TRUE(Eventually([&] { return let_go_.load(); }, /*seconds=*/60));
    };
  }
  void AwaitHeld() {
    ASSERT_TRUE(Eventually([&] { return held_.load(); }));
  }
  // Runs the call in a thread of its own, while the listener holds its thread.
  void ExpectToReturn(const std::function<void()>& call) {
    std::atomic<bool> ended{false};
    std::thread caller([&] {
      call();
      ended = true;
    });
    EXPECT_TRUE(Eventually([&] { return ended.load(); }, /*seconds=*/3)) << "it waits for A's job";
    let_go_ = true;
    caller.join();
  }

  const std::shared_ptr<FaultFileSystem> faults_ =
      std::make_shared<FaultFileSystem>(std::make_shared<MemFileSystem>());
  const std::unique_ptr<Env> base_ = NewCompositeEnv(faults_);
  OneThreadEachEnv env_{base_.get()};
  std::atomic<bool> held_{false};
  std::atomic<bool> let_go_{false};
  const std::shared_ptr<Interrupter> listener_ = std::make_shared<Interrupter>();
  Options options_;
  std::unique_ptr<DB> a_;
  std::unique_ptr<DB> b_;
};

TEST_F(SharedThreadsTest, CloseTakesCompactionsBack) {
  listener_->compacted = Hold();
  MakeTables(a_.get(), 2);
  AwaitHeld();
  MakeTables(b_.get(), 4);
  ASSERT_EQ(env_.Waiting(Env::LOW), 1u);
  ExpectToReturn([&] { EXPECT_TRUE(b_->Close().ok()); });
  EXPECT_EQ(env_.Waiting(Env::LOW), 0u);
}

TEST_F(SharedThreadsTest, CancelTakesCompactionsBack) {
  listener_->compacted = Hold();
  MakeTables(a_.get(), 2);
  AwaitHeld();
  MakeTables(b_.get(), 4);
  ExpectToReturn([&] { CancelAllBackgroundWork(b_.get(), /*wait=*/true); });
  EXPECT_TRUE(b_->Close().ok());
}

TEST_F(SharedThreadsTest, CloseTakesFlushesBack) {
  listener_->flushed = Hold();
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(a_->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(a_->Flush(no_wait).ok());
  AwaitHeld();
  ASSERT_TRUE(b_->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(b_->Flush(no_wait).ok());
  ASSERT_EQ(env_.Waiting(Env::HIGH), 1u);
  ExpectToReturn([&] { EXPECT_TRUE(b_->Close().ok()); });
  ASSERT_TRUE(DB::Open(options_, "/b", &b_).ok());
  std::string value;
  EXPECT_TRUE(b_->Get(ReadOptions(), "k", &value).ok());
}

// The write is not logged, so Close has to flush.
TEST_F(SharedThreadsTest, CloseFlushesWithoutTheThreads) {
  listener_->flushed = Hold();
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(a_->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(a_->Flush(no_wait).ok());
  AwaitHeld();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(b_->Put(unlogged, "k", "v").ok());
  ExpectToReturn([&] { EXPECT_TRUE(b_->Close().ok()); });
  ASSERT_TRUE(DB::Open(options_, "/b", &b_).ok());
  std::string value;
  EXPECT_TRUE(b_->Get(ReadOptions(), "k", &value).ok());
}

TEST_F(SharedThreadsTest, ClosePurgesWithoutTheThreads) {
  options_.disable_auto_compactions = true;
  ASSERT_TRUE(b_->Close().ok());
  ASSERT_TRUE(DB::Open(options_, "/b", &b_).ok());
  MakeTables(b_.get(), 2);
  std::unique_ptr<Iterator> it(b_->NewIterator(ReadOptions()));
  ASSERT_TRUE(b_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  listener_->flushed = Hold();
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(a_->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(a_->Flush(no_wait).ok());
  AwaitHeld();
  it.reset();  // the last that held the inputs: a job is to delete them
  ASSERT_EQ(env_.Waiting(Env::HIGH), 1u);
  ExpectToReturn([&] { EXPECT_TRUE(b_->Close().ok()); });
  EXPECT_EQ(env_.Waiting(Env::HIGH), 0u);
}

// Another database is closed by the thread that its jobs wait for.
TEST_F(SharedThreadsTest, AListenerMayCloseAnotherDatabase) {
  std::atomic<bool> closed{false};
  listener_->compacted = [&] {
    MakeTables(b_.get(), 4);
    EXPECT_EQ(env_.Waiting(Env::LOW), 1u);
    b_.reset();
    closed = true;
  };
  MakeTables(a_.get(), 2);
  EXPECT_TRUE(Eventually([&] { return closed.load(); }, /*seconds=*/3));
  if (!closed) std::_Exit(1);  // nothing ends it
}

TEST_F(SharedThreadsTest, AFlushListenerMayCloseAnotherDatabase) {
  std::atomic<bool> closed{false};
  listener_->flushed = [&] {
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    EXPECT_TRUE(b_->Put(unlogged, "k", "v").ok());
    b_.reset();
    closed = true;
  };
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(a_->Put(WriteOptions(), "k", "v").ok());
  ASSERT_TRUE(a_->Flush(no_wait).ok());
  EXPECT_TRUE(Eventually([&] { return closed.load(); }, /*seconds=*/3));
  if (!closed) std::_Exit(1);  // nothing ends it
}

// Deletions that are retried run in a job, not in the thread of the timer that all databases share.
TEST_F(SharedThreadsTest, FilesAreDeletedInJobs) {
  std::atomic<bool> in_timer{false};
  std::atomic<bool> called{false};
  ASSERT_TRUE(a_->SetOptions({{"disable_auto_compactions", "true"}}).ok());
  MakeTables(a_.get(), 2);
  FaultRule rule;
  rule.calls = Only(FaultCall::kDelete);
  rule.path_contains = ".sst";
  rule.sticky = true;
  faults_->Inject(rule);
  ASSERT_TRUE(a_->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  faults_->ClearFaults();
  listener_->deleted = [&] {
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof(name));
    in_timer = std::string(name) != "varve:high";
    called = true;
  };
  ASSERT_TRUE(a_->SetDBOptions({{"delete_obsolete_files_period_micros", "1000"}}).ok());
  EXPECT_TRUE(Eventually([&] { return called.load(); }));
  EXPECT_FALSE(in_timer.load());
}

// A pool may have no threads, and get some again: flushes, which writers wait for as well, go where
// there are threads, also those that waited in a pool that has lost its own.
TEST_F(SharedThreadsTest, FlushesFindThreadsWhereThereAreSome) {
  const auto set = [&](int high, int low) {
    env_.SetBackgroundThreads(high, Env::HIGH);
    env_.SetBackgroundThreads(low, Env::LOW);
  };
  struct Threads {
    int high;
    int low;
  };
  for (const Threads now : {Threads{0, 1}, Threads{1, 0}, Threads{1, 1}}) {
    for (const bool none_first : {false, true}) {
      set(none_first ? 0 : now.high, none_first ? 0 : now.low);
      std::atomic<bool> flushed{false};
      std::thread waits([&] {
        MakeTables(b_.get(), 1);
        flushed = true;
      });
      if (none_first) {
        EXPECT_TRUE(
            Eventually([&] { return env_.Waiting(Env::HIGH) + env_.Waiting(Env::LOW) > 0; }));
        EXPECT_FALSE(flushed) << "there is no thread";
        set(now.high, now.low);
      }
      EXPECT_TRUE(Eventually([&] { return flushed.load(); }, /*seconds=*/5))
          << now.high << " in HIGH, " << now.low << " in LOW";
      set(1, 1);
      waits.join();
    }
  }
  set(0, 0);
  EXPECT_TRUE(b_->Put(WriteOptions(), "k", "v").ok());
  FlushOptions no_wait;
  no_wait.wait = false;
  EXPECT_TRUE(b_->Flush(no_wait).ok());
  EXPECT_TRUE(b_->Close().ok()) << "which needs no thread";
  set(1, 1);
}

}  // namespace
}  // namespace varve::testing
