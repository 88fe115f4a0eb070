// SPDX-License-Identifier: Apache-2.0

// Tests the commit path in every mode over a host that only watches: order, visibility,
// exclusivity, failures at every step, closing.

#include "db/write/commit_path.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

#include "db/write/commit_ring.h"
#include "tests/db/write/watching_host.h"

namespace varve {
namespace {

Status CommitBatch(CommitPath* path, const WriteOptions& options, WriteBatch* batch,
                   UserWriteCallback* callback = nullptr) {
  WriteRequest request(batch);
  return path->Commit(options, &request, callback);
}

Status CommitPut(CommitPath* path, const WriteOptions& options, const std::string& key,
                 int updates = 1, const std::string& value = "v") {
  WriteBatch batch;
  for (int i = 0; i < updates; i++) {
    const Status s = batch.Put(key, value);
    if (!s.ok()) return s;
  }
  return CommitBatch(path, options, &batch);
}

WriteOptions NoLog() {
  WriteOptions options;
  options.disableWAL = true;
  return options;
}

// Makes a call in another thread.
std::future<Status> Later(std::function<Status()> call) {
  return std::async(std::launch::async, std::move(call));
}

bool IsOver(std::future<Status>& call) {
  return call.wait_for(std::chrono::milliseconds(30)) == std::future_status::ready;
}

struct ModeName {
  template <typename Info>
  std::string operator()(const Info& info) const {
    return std::string(info.param.mode == CommitMode::kOrdered ? "Ordered" : "Unordered") +
           (info.param.insert_one_at_a_time ? "OneAtATime" : "");
  }
};

class CommitPathTest : public ::testing::TestWithParam<CommitOptions> {
 protected:
  void Start(SequenceNumber last) {
    host_ = std::make_unique<WatchingHost>(last);
    path_ = NewCommitPath(GetParam(), host_.get(), last);
  }
  void SetUp() override { Start(0); }
  bool ordered() const { return GetParam().mode == CommitMode::kOrdered; }
  Status Put(const std::string& key, const WriteOptions& options = {}) {
    return CommitPut(path_.get(), options, key);
  }

  std::unique_ptr<WatchingHost> host_;
  std::unique_ptr<CommitPath> path_;
};

TEST_P(CommitPathTest, OneWriterLogsInsertsAndPublishes) {
  Start(41);
  ASSERT_TRUE(CommitPut(path_.get(), {}, "a").ok());
  ASSERT_TRUE(CommitPut(path_.get(), {}, "b", 3).ok());
  EXPECT_EQ(host_->published(), 45u);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(CommitPut(path_.get(), sync, "c").ok());
  EXPECT_EQ(host_->TakeRecords().size(), 3u);
  EXPECT_EQ(host_->syncs, 1);
  ASSERT_TRUE(CommitPut(path_.get(), NoLog(), "d").ok());
  EXPECT_EQ(host_->TakeRecords().size(), 3u);
  EXPECT_EQ(host_->published(), 47u);
  EXPECT_EQ(path_->NewestSequence(), 47u);
  WriteBatch empty;
  EXPECT_TRUE(CommitBatch(path_.get(), {}, &empty).ok());
  EXPECT_EQ(host_->published(), 47u);
}

TEST_P(CommitPathTest, ManyWritersOfAllKindsBecomeOneOrder) {
  constexpr int kThreads = 8;
  constexpr int kEach = 300;
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; t++) {
    writers.emplace_back([&, t] {
      WriteOptions options;
      options.sync = t % 3 == 0;
      for (int i = 0; i < kEach; i++) {
        WriteBatch batch;
        // Some are copied into the log under the lock, some beside each other.
        const std::string value(i % 5 == 0 ? 3000 : 10, 'v');
        const std::string key = std::to_string(t) + "/" + std::to_string(i);
        for (int n = 0; n <= i % 3; n++) ASSERT_TRUE(batch.Put(key, value).ok());
        // Every other single update comes without a batch.
        std::optional<WriteRequest> request;
        if (i % 6 == 0) {
          request.emplace(key, value, kTypeValue, 0u);
        } else {
          request.emplace(&batch);
        }
        ASSERT_TRUE(path_->Commit(options, &*request, nullptr).ok());
        const SequenceNumber last = DecodeFixed64(request->head().data()) + request->count() - 1;
        ASSERT_TRUE(host_->Inserted(last)) << "acknowledged, and not there";
        if (ordered()) {
          ASSERT_GE(host_->published(), last);
        }
        ASSERT_GE(path_->NewestSequence(), last);
        if (i % 50 == 0) {
          path_->WaitUntilVisible();
          ASSERT_GE(host_->published(), last);
        }
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  uint64_t updates = 0;
  for (int i = 0; i < kEach; i++) updates += static_cast<uint64_t>(i % 3 + 1);
  EXPECT_EQ(host_->published(), kThreads * updates);
  // Each thread's batches are logged in its order.
  std::vector<int> next(kThreads, 0);
  for (const std::string& record : host_->TakeRecords()) {
    BatchReader reader(record);
    BatchRecord update;
    ASSERT_TRUE(reader.Next(&update));
    const std::string key = update.key.ToString();
    const size_t slash = key.find('/');
    const auto t = static_cast<size_t>(std::stoi(key.substr(0, slash)));
    ASSERT_EQ(std::stoi(key.substr(slash + 1)), next[t]++);
  }
}

TEST_P(CommitPathTest, AWriteWaitsForThoseBeforeItOnlyInOrder) {
  auto first = Later([&] { return Put("block"); });
  host_->AwaitBlocked(1);
  if (GetParam().insert_one_at_a_time) {
    host_->Unblock();
    EXPECT_TRUE(first.get().ok());
    return;
  }
  auto second = Later([&] { return Put("b"); });
  EXPECT_EQ(IsOver(second), !ordered());
  EXPECT_EQ(host_->published(), 0u);
  auto visible = Later([&] {
    path_->WaitUntilVisible();
    return Status::OK();
  });
  // With ordered writes, visible entries are whole, so no call waits for them.
  EXPECT_EQ(IsOver(visible), ordered());
  host_->Unblock();
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_TRUE(visible.get().ok());
  EXPECT_EQ(host_->published(), 2u);
}

TEST_P(CommitPathTest, InsertionsOverlapUnlessOnlyOneMay) {
  const int writers = 3;
  std::vector<std::future<Status>> calls;
  for (int i = 0; i < writers; i++) calls.push_back(Later([&] { return Put("block"); }));
  host_->AwaitBlocked(GetParam().insert_one_at_a_time ? 1 : writers);
  host_->Unblock();
  for (auto& call : calls) EXPECT_TRUE(call.get().ok());
  EXPECT_EQ(host_->most_at_once, GetParam().insert_one_at_a_time ? 1 : writers);
}

TEST_P(CommitPathTest, MoreWritesThanTheRingHasSlotsCanBeUnderWay) {
  if (ordered()) return;  // each writer waits for its own
  constexpr uint64_t kWrites = 3 * CommitRing::kSlotsWithoutOrder;
  auto blocked = Later([&] { return Put("block"); });
  host_->AwaitBlocked(1);
  auto others = Later([&] {
    Status s;
    for (uint64_t i = 0; i < kWrites && s.ok(); i++) s = Put("k", NoLog());
    return s;
  });
  EXPECT_FALSE(IsOver(others)) << "the ring is full";
  EXPECT_EQ(host_->published(), 0u);
  host_->Unblock();
  EXPECT_TRUE(blocked.get().ok());
  EXPECT_TRUE(others.get().ok());
  path_->WaitUntilVisible();
  EXPECT_EQ(host_->published(), kWrites + 1);
}

TEST_P(CommitPathTest, ARefusalKeepsTheBatchOut) {
  host_->refuses = true;
  EXPECT_TRUE(Put("a").IsAborted());
  EXPECT_TRUE(host_->TakeRecords().empty());
  host_->refuses = false;
  EXPECT_TRUE(Put("b").ok());
  EXPECT_EQ(host_->published(), 1u);
}

TEST_P(CommitPathTest, AFailureOfTheLogInsertsNothingAndUsesNoSequenceTwice) {
  host_->allow_gaps = true;
  host_->fail_reserve = true;
  EXPECT_TRUE(Put("a").IsIOError());
  host_->fail_reserve = false;
  host_->fail_append = true;
  EXPECT_TRUE(Put("a").IsIOError());
  EXPECT_TRUE(Put("a").IsIOError());
  host_->fail_append = false;
  host_->fail_sync = true;
  WriteOptions sync;
  sync.sync = true;
  EXPECT_TRUE(Put("a", sync).IsIOError());
  EXPECT_EQ(host_->log_errors, 4);
  EXPECT_EQ(host_->inserted_count(), 0u);
  // The ring goes on, with sequences that no failed record has.
  EXPECT_TRUE(Put("b", NoLog()).ok());
  EXPECT_TRUE(host_->Inserted(4));
  EXPECT_EQ(host_->published(), 4u);
}

TEST_P(CommitPathTest, AFailedInsertionIsInvalidatedBeforeVisibilityPassesIt) {
  ASSERT_TRUE(Put("a").ok());
  EXPECT_TRUE(CommitPut(path_.get(), {}, "fail", 3).IsMemoryLimit());
  EXPECT_EQ(host_->insert_errors, 1);
  // The host refuses writes by now. A write that was under way is whole: it is acknowledged, and
  // visible.
  EXPECT_TRUE(Put("b").ok());
  EXPECT_TRUE(host_->Inserted(5));
  path_->WaitUntilVisible();
  EXPECT_EQ(path_->NewestSequence(), 5u);
  EXPECT_EQ(host_->published(), 5u);
  path_->EnterExclusive();
  path_->ExitExclusive();
}

TEST_P(CommitPathTest, TheExclusiveHolderWaitsForInsertionsAndKeepsWritersOut) {
  auto inserting = Later([&] { return Put("block"); });
  host_->AwaitBlocked(1);
  auto enter = Later([&] {
    path_->EnterExclusive();
    return Status::OK();
  });
  EXPECT_FALSE(IsOver(enter));
  host_->Unblock();
  EXPECT_TRUE(enter.get().ok());
  EXPECT_TRUE(inserting.get().ok());
  EXPECT_EQ(host_->published(), 1u);
  auto writer = Later([&] { return Put("b"); });
  EXPECT_FALSE(IsOver(writer));
  EXPECT_EQ(host_->TakeRecords().size(), 1u);
  path_->WaitUntilVisible();  // nothing is under way
  WriteOptions impatient;
  impatient.no_slowdown = true;
  EXPECT_TRUE(Put("c", impatient).IsIncomplete());
  EXPECT_FALSE(path_->EnterExclusiveWithin(1000));
  path_->ExitExclusive();
  EXPECT_TRUE(writer.get().ok());
  EXPECT_TRUE(path_->EnterExclusiveWithin(1000));
  path_->ExitExclusive();
  EXPECT_TRUE(Put("c", impatient).ok());
}

TEST_P(CommitPathTest, NobodyWritesWhileTheExclusiveHolderIsIn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; i++) ASSERT_TRUE(Put("k").ok());
    });
  }
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; i++) {
        path_->EnterExclusive();
        EXPECT_FALSE(host_->exclusive.exchange(true));
        std::this_thread::yield();
        host_->exclusive = false;
        path_->ExitExclusive();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(host_->published(), 900u);
}

TEST_P(CommitPathTest, ShutdownWaitsForWritersUnderWayAndRefusesAllOthers) {
  auto inserting = Later([&] { return Put("block"); });
  host_->AwaitBlocked(1);
  auto shutdown = Later([&] {
    path_->Shutdown();
    return Status::OK();
  });
  EXPECT_FALSE(IsOver(shutdown));
  EXPECT_TRUE(Put("late").IsShutdownInProgress());
  host_->Unblock();
  EXPECT_TRUE(shutdown.get().ok());
  EXPECT_TRUE(inserting.get().ok());
  EXPECT_EQ(host_->published(), 1u);
  path_->EnterExclusive();
  path_->ExitExclusive();
  EXPECT_TRUE(Put("later").IsShutdownInProgress());
}

TEST_P(CommitPathTest, ShutdownReleasesWritersThatAreKeptOut) {
  path_->EnterExclusive();
  auto waiting = Later([&] { return Put("a"); });
  EXPECT_FALSE(IsOver(waiting));
  path_->Shutdown();
  EXPECT_TRUE(waiting.get().IsShutdownInProgress());
  path_->ExitExclusive();
  EXPECT_TRUE(Put("b").IsShutdownInProgress());
  EXPECT_EQ(host_->published(), 0u);
}

class RecordingCallback : public UserWriteCallback {
 public:
  explicit RecordingCallback(WatchingHost* host) : host_(host) {}
  void OnWriteEnqueued() override {
    calls += "enqueued;";
    inserted_before = host_->inserted_count();
  }
  void OnWalWriteFinish() override { calls += "logged;"; }

  std::string calls;
  size_t inserted_before = 99;

 private:
  WatchingHost* const host_;
};

TEST_P(CommitPathTest, CallbacksComeInOrder) {
  RecordingCallback logged(host_.get());
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("k", "v").ok());
  ASSERT_TRUE(CommitBatch(path_.get(), {}, &batch, &logged).ok());
  EXPECT_EQ(logged.calls, "enqueued;logged;");
  EXPECT_EQ(logged.inserted_before, 0u);
  RecordingCallback unlogged(host_.get());
  ASSERT_TRUE(CommitBatch(path_.get(), NoLog(), &batch, &unlogged).ok());
  EXPECT_EQ(unlogged.calls, "enqueued;");
  host_->fail_append = true;
  host_->allow_gaps = true;
  RecordingCallback failed(host_.get());
  EXPECT_TRUE(CommitBatch(path_.get(), {}, &batch, &failed).IsIOError());
  EXPECT_EQ(failed.calls, "enqueued;");
}

// A wake-up that gets lost shows as a test that does not end.
TEST_P(CommitPathTest, NoWakeUpIsLost) {
  for (int run = 0; run < 150; run++) {
    Start(0);
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; t++) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 6; i++) {
          ASSERT_TRUE(Put("k", (t + i) % 2 == 0 ? WriteOptions() : NoLog()).ok());
          if (t == 0) path_->WaitUntilVisible();
          if (t == 1 && i % 3 == 0) {
            path_->EnterExclusive();
            path_->ExitExclusive();
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    path_->Shutdown();
    ASSERT_EQ(host_->published(), 36u);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, CommitPathTest,
                         ::testing::Values(CommitOptions{CommitMode::kOrdered, false},
                                           CommitOptions{CommitMode::kOrdered, true},
                                           CommitOptions{CommitMode::kUnordered, false}),
                         ModeName());

}  // namespace
}  // namespace varve
