// SPDX-License-Identifier: Apache-2.0

// The ordered commit path over a host that only watches: order, grouping, failures, exclusivity.

#include "db/write/commit_path.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"

namespace varve {
namespace {

// Members without atomics are touched by the head of the path only: a sanitizer sees it if not.
class WatchingHost : public CommitHost {
 public:
  explicit WatchingHost(SequenceNumber last) : logged_(last), inserted_(last), published_(last) {}

  Status PrepareGroup(const WriteOptions& options, size_t /*bytes*/) override {
    prepared++;
    return options.no_slowdown ? Status::Incomplete("stall") : Status::OK();
  }
  bool NeedsAttention() const override { return attention.load(std::memory_order_relaxed); }

  Status AppendToLog(const Slice& record, bool sync) override {
    if (fail_log) return Status::IOError("log");
    BatchReader reader(record);
    EXPECT_TRUE(CheckBatchStructure(record).ok());
    EXPECT_EQ(reader.sequence(), unlogged_ + logged_ + 1);
    unlogged_ = 0;
    logged_ = reader.sequence() + reader.count() - 1;
    appends++;
    syncs += sync ? 1 : 0;
    BatchRecord update;
    while (reader.Next(&update)) log.push_back(update.key.ToString());
    // Lets writers queue up.
    std::this_thread::yield();
    return Status::OK();
  }

  Status Insert(const Slice& rep, SequenceNumber sequence) override {
    if (fail_insert) return Status::Corruption("insert");
    BatchReader reader(rep);
    EXPECT_EQ(sequence, inserted_ + 1);
    EXPECT_EQ(reader.sequence(), sequence);
    inserted_ += reader.count();
    if (skip_log) unlogged_ += reader.count();
    EXPECT_FALSE(exclusive.load());
    return Status::OK();
  }

  void Publish(SequenceNumber sequence) override {
    EXPECT_EQ(sequence, inserted_);
    published_.store(sequence, std::memory_order_release);
  }
  void OnCommitError(const Status& /*status*/, bool in_log) override {
    (in_log ? log_errors : insert_errors)++;
  }

  SequenceNumber published() const { return published_.load(std::memory_order_acquire); }

  std::atomic<bool> attention{false};
  std::atomic<bool> exclusive{false};
  bool fail_log = false;
  bool fail_insert = false;
  bool skip_log = false;
  int prepared = 0;
  int appends = 0;
  int syncs = 0;
  int log_errors = 0;
  int insert_errors = 0;
  std::vector<std::string> log;

 private:
  SequenceNumber logged_;
  SequenceNumber unlogged_ = 0;
  SequenceNumber inserted_;
  std::atomic<SequenceNumber> published_;
};

Status CommitPut(CommitPath* path, const WriteOptions& options, const std::string& key,
                 int updates = 1) {
  WriteBatch batch;
  for (int i = 0; i < updates; i++) {
    const Status s = batch.Put(key, "v");
    if (!s.ok()) return s;
  }
  return path->Commit(options, &batch);
}

TEST(CommitPathTest, OneWriterLogsInsertsAndPublishes) {
  WatchingHost host(41);
  const auto path = NewOrderedCommitPath(&host, 41);
  ASSERT_TRUE(CommitPut(path.get(), {}, "a").ok());
  ASSERT_TRUE(CommitPut(path.get(), {}, "b", 3).ok());
  EXPECT_EQ(host.published(), 45u);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(CommitPut(path.get(), sync, "c").ok());
  EXPECT_EQ(host.appends, 3);
  EXPECT_EQ(host.syncs, 1);
  WriteOptions no_log;
  no_log.disableWAL = true;
  host.skip_log = true;
  ASSERT_TRUE(CommitPut(path.get(), no_log, "d").ok());
  EXPECT_EQ(host.appends, 3);
  EXPECT_EQ(host.published(), 47u);
  WriteBatch empty;
  EXPECT_TRUE(path->Commit({}, &empty).ok());
  EXPECT_EQ(host.published(), 47u);
}

TEST(CommitPathTest, ManyWritersOfAllKindsBecomeOneOrder) {
  constexpr int kThreads = 8;
  constexpr int kEach = 400;
  WatchingHost host(0);
  const auto path = NewOrderedCommitPath(&host, 0);
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; t++) {
    writers.emplace_back([&, t] {
      WriteOptions options;
      options.sync = t % 3 == 0;
      for (int i = 0; i < kEach; i++) {
        WriteBatch batch;
        for (int n = 0; n <= i % 3; n++) {
          ASSERT_TRUE(batch.Put(std::to_string(t) + "/" + std::to_string(i), "v").ok());
        }
        ASSERT_TRUE(path->Commit(options, &batch).ok());
        // An acknowledged batch is visible.
        const SequenceNumber last = WriteBatchInternal::Sequence(batch) + batch.Count() - 1;
        ASSERT_GE(host.published(), last);
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  uint64_t updates = 0;
  for (int i = 0; i < kEach; i++) updates += static_cast<uint64_t>(i % 3 + 1);
  EXPECT_EQ(host.published(), kThreads * updates);
  EXPECT_EQ(host.log.size(), kThreads * updates);
  EXPECT_GE(host.syncs, 1);
  // Each thread's batches are logged in its order, each in one piece.
  std::vector<int> next(kThreads, 0);
  for (size_t i = 0; i < host.log.size();) {
    const size_t slash = host.log[i].find('/');
    const auto t = static_cast<size_t>(std::stoi(host.log[i].substr(0, slash)));
    const int number = std::stoi(host.log[i].substr(slash + 1));
    ASSERT_EQ(number, next[t]++);
    for (int n = 0; n <= number % 3; n++, i++) {
      ASSERT_EQ(host.log[i], std::to_string(t) + "/" + std::to_string(number));
    }
  }
}

TEST(CommitPathTest, WritersThatWaitShareOneLogRecord) {
  WatchingHost host(0);
  const auto path = NewOrderedCommitPath(&host, 0);
  path->EnterExclusive();
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; t++) {
    writers.emplace_back(
        [&, t] { ASSERT_TRUE(CommitPut(path.get(), {}, std::to_string(t)).ok()); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(host.appends, 0);
  path->ExitExclusive();
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(host.published(), 4u);
  EXPECT_LT(host.appends, 4);
}

TEST(CommitPathTest, AStallKeepsTheBatchOut) {
  WatchingHost host(0);
  const auto path = NewOrderedCommitPath(&host, 0);
  host.attention = true;
  WriteOptions impatient;
  impatient.no_slowdown = true;
  EXPECT_TRUE(CommitPut(path.get(), impatient, "a").IsIncomplete());
  EXPECT_EQ(host.appends, 0);
  EXPECT_TRUE(CommitPut(path.get(), {}, "b").ok());
  EXPECT_EQ(host.published(), 1u);
  EXPECT_EQ(host.prepared, 2);
}

TEST(CommitPathTest, FailuresAreReportedOnceAndToTheWriter) {
  WatchingHost host(0);
  const auto path = NewOrderedCommitPath(&host, 0);
  host.fail_log = true;
  EXPECT_TRUE(CommitPut(path.get(), {}, "a").IsIOError());
  EXPECT_EQ(host.log_errors, 1);
  EXPECT_EQ(host.published(), 0u);
  host.fail_log = false;
  host.fail_insert = true;
  WriteOptions no_log;
  no_log.disableWAL = true;
  EXPECT_TRUE(CommitPut(path.get(), no_log, "a").IsCorruption());
  EXPECT_EQ(host.insert_errors, 1);
  EXPECT_EQ(host.published(), 0u);
}

TEST(CommitPathTest, AFailureReachesEveryWriterOfTheGroup) {
  WatchingHost host(0);
  const auto path = NewOrderedCommitPath(&host, 0);
  path->EnterExclusive();
  host.fail_log = true;
  std::atomic<int> failed{0};
  std::vector<std::thread> writers;
  for (int t = 0; t < 4; t++) {
    writers.emplace_back([&] {
      if (CommitPut(path.get(), {}, "k").IsIOError()) failed.fetch_add(1);
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  path->ExitExclusive();
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed.load(), 4);
  EXPECT_EQ(host.published(), 0u);
}

TEST(CommitPathTest, NobodyWritesWhileTheExclusiveHolderIsIn) {
  WatchingHost host(0);
  const auto path = NewOrderedCommitPath(&host, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 300; i++) ASSERT_TRUE(CommitPut(path.get(), {}, "k").ok());
    });
  }
  for (int t = 0; t < 2; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; i++) {
        path->EnterExclusive();
        EXPECT_FALSE(host.exclusive.exchange(true));
        host.appends++;
        std::this_thread::yield();
        host.exclusive = false;
        path->ExitExclusive();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(host.published(), 900u);
}

}  // namespace
}  // namespace varve
