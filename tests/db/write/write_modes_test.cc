// SPDX-License-Identifier: Apache-2.0

// Goal: a whole database keeps the promises of varve/options.h for each write mode. Method: a
// callback holds a write between log and memtable, where another thread's would be when its
// processor is taken away; and writers, readers and flushes at once, with pairs that must agree.

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

#include "varve/snapshot.h"
#include "varve/user_write_callback.h"
#include "varve/utilities/merge_operators.h"

#include "db/write/write_batch_internal.h"
#include "tests/harness/after_log.h"
#include "tests/harness/database.h"

namespace varve::testing {
namespace {

// Holds its write after the log until the test lets it go on.
class HeldWrite : public UserWriteCallback {
 public:
  HeldWrite(DB* db, WriteBatch* batch) {
    result_ = std::async(std::launch::async,
                         [=, this] { return db->WriteWithCallback(WriteOptions(), batch, this); });
    std::unique_lock<std::mutex> lock(mu_);
    changed_.wait(lock, [&] { return logged_; });
  }
  ~HeldWrite() override { EXPECT_TRUE(GoOn().ok()); }

  void OnWriteEnqueued() override {}
  void OnWalWriteFinish() override {
    std::unique_lock<std::mutex> lock(mu_);
    logged_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return go_on_; });
  }
  Status GoOn() {
    {
      std::lock_guard<std::mutex> lock(mu_);
      go_on_ = true;
      changed_.notify_all();
    }
    return result_.valid() ? result_.get() : Status::OK();
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  bool logged_ = false;
  bool go_on_ = false;
  std::future<Status> result_;
};

template <typename Call>
auto Later(Call call) {
  return std::async(std::launch::async, std::move(call));
}

template <typename T>
bool IsOver(std::future<T>& call) {
  return call.wait_for(std::chrono::milliseconds(30)) == std::future_status::ready;
}

class WriteModesTest : public Database {
 protected:
  WriteBatch Pair(const std::string& value) {
    WriteBatch batch;
    EXPECT_TRUE(batch.Put("a", value).ok());
    EXPECT_TRUE(batch.Put("b", value).ok());
    return batch;
  }
  std::string MultiGetPair(const ReadOptions& read = ReadOptions()) {
    std::vector<std::string> values;
    std::string text;
    const std::vector<Status> statuses = db()->MultiGet(read, {"a", "b"}, &values);
    for (size_t i = 0; i < 2; i++) text += statuses[i].ok() ? values[i] + " " : "- ";
    return text;
  }
  void ExpectPairsAlwaysAgree();
};

TEST_F(WriteModesTest, WithoutOrderOnlyWhatMustStayWaitsForInsertionsUnderWay) {
  options_.unordered_write = true;
  Open();
  Put("a", "0");
  std::unique_ptr<Iterator> refreshed(db()->NewIterator(ReadOptions()));
  WriteBatch pair = Pair("1");
  auto held = std::make_unique<HeldWrite>(db(), &pair);
  // A later write returns, and a read that begins afterwards sees it.
  Put("c", "2");
  EXPECT_EQ(Get("c"), "2");
  EXPECT_EQ(Get("a"), "0");
  auto snapshot = Later([&] { return db()->GetSnapshot(); });
  auto scan = Later([&] { return Scan(); });
  auto multi_get = Later([&] { return MultiGetPair(); });
  auto refresh = Later([&] { return refreshed->Refresh(); });
  EXPECT_FALSE(IsOver(snapshot));
  EXPECT_FALSE(IsOver(scan));
  EXPECT_FALSE(IsOver(multi_get));
  EXPECT_FALSE(IsOver(refresh));
  EXPECT_TRUE(held->GoOn().ok());
  EXPECT_EQ(scan.get(), "a=1 b=1 c=2");
  EXPECT_EQ(multi_get.get(), "1 1 ");
  EXPECT_TRUE(refresh.get().ok());
  refreshed->SeekToFirst();
  EXPECT_EQ(Rest(refreshed.get()), "a=1 b=1 c=2");
  // The state of the snapshot stays as it is.
  ReadOptions at;
  at.snapshot = snapshot.get();
  Put("a", "3");
  Put("d", "3");
  Flush();
  Put("b", "4");
  EXPECT_EQ(Scan(at), "a=1 b=1 c=2");
  EXPECT_EQ(Scan(), "a=3 b=4 c=2 d=3");
  db()->ReleaseSnapshot(at.snapshot);
}

// The operands that a reader leaves for the next one have no place for one that is not inserted
// yet.
TEST_F(WriteModesTest, WithoutOrderAnOperandInsertedLateIsNotForgotten) {
  constexpr int kOperands = 600;
  options_.unordered_write = true;
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  const auto merge = [&](int n) {
    for (int i = 0; i < n; i++) ASSERT_TRUE(db()->Merge(WriteOptions(), "k", "1").ok());
  };
  WriteBatch batch;
  ASSERT_TRUE(batch.Merge("k", "late").ok());
  merge(kOperands / 2);
  auto held = std::make_unique<HeldWrite>(db(), &batch);
  merge(kOperands / 2);
  const auto count = [&] {
    std::vector<PinnableSlice> slices(kOperands + 1);
    GetMergeOperandsOptions all;
    all.expected_max_number_of_operands = kOperands + 1;
    int n = 0;
    EXPECT_TRUE(db()->GetMergeOperands(ReadOptions(), db()->DefaultColumnFamily(), "k",
                                       slices.data(), &all, &n)
                    .ok());
    return n;
  };
  EXPECT_EQ(count(), kOperands);
  EXPECT_EQ(count(), kOperands);
  EXPECT_TRUE(held->GoOn().ok());
  EXPECT_EQ(count(), kOperands + 1);
  EXPECT_EQ(count(), kOperands + 1);
}

TEST_F(WriteModesTest, InOrderNoReaderWaitsAndTheWriterDoes) {
  Open();
  Put("a", "0");
  WriteBatch pair = Pair("1");
  auto held = std::make_unique<HeldWrite>(db(), &pair);
  auto later = Later([&] { Put("c", "2"); });
  EXPECT_FALSE(IsOver(later));
  EXPECT_EQ(Scan(), "a=0");
  const Snapshot* const snapshot = db()->GetSnapshot();
  EXPECT_EQ(MultiGetPair(), "0 - ");
  EXPECT_TRUE(held->GoOn().ok());
  later.get();
  EXPECT_EQ(Scan(), "a=1 b=1 c=2");
  EXPECT_EQ(Get("a", "default", snapshot), "0");
  db()->ReleaseSnapshot(snapshot);
}

TEST_F(WriteModesTest, AFlushWaitsForInsertionsUnderWay) {
  for (const bool unordered : {false, true}) {
    options_.unordered_write = unordered;
    Open();
    WriteBatch pair = Pair("1");
    auto held = std::make_unique<HeldWrite>(db(), &pair);
    auto flush = Later([&] { return db()->Flush(FlushOptions()); });
    EXPECT_FALSE(IsOver(flush));
    WriteOptions impatient;
    impatient.no_slowdown = true;
    EXPECT_TRUE(db()->Put(impatient, "c", "2").IsIncomplete());
    EXPECT_TRUE(held->GoOn().ok());
    EXPECT_TRUE(flush.get().ok());
    EXPECT_EQ(Scan(), "a=1 b=1");
    held.reset();
    EXPECT_TRUE(Close().ok());
  }
}

void WriteModesTest::ExpectPairsAlwaysAgree() {
  options_.write_buffer_size = 64 << 10;
  Open();
  std::atomic<bool> stop{false};
  std::atomic<int> next{1};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      WriteOptions options;
      options.disableWAL = t == 3;
      while (!stop) {
        WriteBatch pair = Pair(std::to_string(next++));
        ASSERT_TRUE(pair.Put("filler" + std::to_string(t), std::string(500, 'f')).ok());
        ASSERT_TRUE(db()->Write(options, &pair).ok());
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  });
  for (int i = 0; i < 1500; i++) {
    const std::string got = MultiGetPair();
    ASSERT_EQ(got.substr(0, got.find(' ')), got.substr(got.find(' ') + 1, got.size() / 2 - 1));
    ReadOptions at;
    at.snapshot = db()->GetSnapshot();
    const std::string first = Get("a", "default", at.snapshot);
    ASSERT_EQ(Get("b", "default", at.snapshot), first);
    std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    it->Seek("a");
    if (it->Valid()) {
      const std::string a = it->value().ToString();
      it->Next();
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(it->value().ToString(), a);
    }
    ASSERT_EQ(MultiGetPair(at), first == "NOT_FOUND" ? "- - " : first + " " + first + " ");
    db()->ReleaseSnapshot(at.snapshot);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Close().ok());
}

TEST_F(WriteModesTest, PairsAgreeInOrder) {
  ExpectPairsAlwaysAgree();
}

TEST_F(WriteModesTest, PairsAgreePipelined) {
  options_.enable_pipelined_write = true;
  ExpectPairsAlwaysAgree();
}

TEST_F(WriteModesTest, PairsAgreeWithoutOrder) {
  options_.unordered_write = true;
  ExpectPairsAlwaysAgree();
}

TEST_F(WriteModesTest, PairsAgreeWithOneInsertionAtATimeAndTwoQueues) {
  options_.allow_concurrent_memtable_write = false;
  options_.two_write_queues = true;
  ExpectPairsAlwaysAgree();
}

TEST_F(WriteModesTest, ABatchOverTwoFamiliesIsNeverSeenInOneOfThem) {
  for (const bool unordered : {false, true}) {
    options_.unordered_write = unordered;
    Open({"default", "x"});
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; t++) {
      threads.emplace_back([&, t] {
        for (int i = 0; !stop; i++) {
          WriteBatch batch;
          const std::string value = std::to_string(2 * i + t);
          ASSERT_TRUE(batch.Put("k", value).ok());
          ASSERT_TRUE(batch.Put(Handle("x"), "k", value).ok());
          ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
        }
      });
    }
    threads.emplace_back([&] {
      while (!stop) ASSERT_TRUE(db()->Flush(FlushOptions(), Handle("default")).ok());
    });
    const std::vector<ColumnFamilyHandle*> handles = {Handle("default"), Handle("x")};
    for (int i = 0; i < 3000; i++) {
      std::vector<std::string> values;
      const auto statuses = db()->MultiGet(ReadOptions(), handles, {"k", "k"}, &values);
      ASSERT_EQ(statuses[0].ok(), statuses[1].ok());
      ASSERT_EQ(values[0], values[1]);
      std::vector<Iterator*> iterators;
      ASSERT_TRUE(db()->NewIterators(ReadOptions(), handles, &iterators).ok());
      for (Iterator* it : iterators) it->SeekToFirst();
      ASSERT_EQ(Rest(iterators[0]), Rest(iterators[1]));
      for (Iterator* it : iterators) delete it;
    }
    stop = true;
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(Close().ok());
  }
}

// Close may come while others write: each write is refused, or there after the next opening.
TEST_F(WriteModesTest, WhatReturnedBeforeCloseIsThereAfterwards) {
  for (const bool unordered : {false, true}) {
    options_.unordered_write = unordered;
    Open();
    std::vector<int> acknowledged(4, 0);
    std::vector<std::thread> writers;
    std::atomic<int> started{0};
    for (int t = 0; t < 4; t++) {
      writers.emplace_back([&, t] {
        WriteOptions options;
        options.disableWAL = t % 2 == 1;
        Status s;
        while (s.ok()) {
          s = db()->Put(options, std::to_string(t), std::to_string(acknowledged[t] + 1));
          if (s.ok() && ++acknowledged[t] == 100) started++;
        }
        EXPECT_TRUE(s.IsShutdownInProgress()) << s.ToString();
      });
    }
    while (started < 4) std::this_thread::yield();
    EXPECT_TRUE(db()->Close().ok());
    for (std::thread& writer : writers) writer.join();
    Reopen();
    for (size_t t = 0; t < 4; t++) {
      EXPECT_EQ(Get(std::to_string(t)), std::to_string(acknowledged[t])) << t << unordered;
    }
    EXPECT_TRUE(Close().ok());
  }
}

TEST_F(WriteModesTest, AWriteWhoseSyncFailedIsNeverSeenUntilReopened) {
  for (const bool unordered : {false, true}) {
    options_.unordered_write = unordered;
    options_.max_bgerror_resume_count = 0;
    Open();
    Put("a", "1");
    FaultRule rule;
    rule.calls = Only(FaultCall::kSync);
    rule.path_contains = ".log";
    rule.sticky = true;
    faults().Inject(rule);
    WriteOptions sync;
    sync.sync = true;
    EXPECT_TRUE(db()->Put(sync, "a", "2").IsIOError());
    EXPECT_EQ(Get("a"), "1");
    EXPECT_FALSE(db()->Put(WriteOptions(), "b", "2").ok());
    faults().ClearFaults();
    ASSERT_TRUE(db()->Resume().ok());
    EXPECT_EQ(Get("a"), "1");
    Put("b", "3");
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get("b"), "3");
    Reopen();
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get("b"), "3");
    EXPECT_TRUE(Close().ok());
  }
}

// Calls that write one record may nest in a thread.
class WritesElsewhere : public UserWriteCallback {
 public:
  explicit WritesElsewhere(DB* other) : other_(other) {}
  void OnWriteEnqueued() override { EXPECT_TRUE(other_->Put(WriteOptions(), "nested", "n").ok()); }
  void OnWalWriteFinish() override {}

 private:
  DB* const other_;
};

TEST_F(WriteModesTest, NoReadShowsAPartOfABatchThatFailedHalfWay) {
  for (const bool unordered : {false, true}) {
    options_.unordered_write = unordered;
    Open();
    WriteBatch good = Pair("1");
    ASSERT_TRUE(db()->Write(WriteOptions(), &good).ok());
    WriteBatch spoilt = Pair("2");
    AfterLog spoil([&spoilt] {
      std::string* const rep = WriteBatchInternal::Rep(&spoilt);
      (*rep)[rep->rfind('b') - 2] = 0x7e;  // the second record's type
    });
    EXPECT_FALSE(db()->WriteWithCallback(WriteOptions(), &spoilt, &spoil).ok());
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get("b"), "1");
    EXPECT_EQ(Scan(), "a=1 b=1");
    EXPECT_EQ(db()->GetLatestSequenceNumber(), 4u) << "its numbers are passed over";
    EXPECT_FALSE(db()->Put(WriteOptions(), "c", "3").ok());
    Kill();
    Open();
    EXPECT_EQ(Scan(), "a=2 b=2") << "as it was logged";
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(WriteModesTest, ACallbackMayWriteToAnotherDatabase) {
  Open();
  DB* other = nullptr;
  Options options = options_;
  options.create_if_missing = true;
  ASSERT_TRUE(DB::Open(options, "/other", &other).ok());
  WritesElsewhere callback(other);
  WriteBatch batch = Pair("1");
  EXPECT_TRUE(db()->WriteWithCallback(WriteOptions(), &batch, &callback).ok());
  std::string value;
  EXPECT_TRUE(other->Get(ReadOptions(), "nested", &value).ok());
  EXPECT_EQ(Scan(), "a=1 b=1");
  delete other;
}

}  // namespace
}  // namespace varve::testing
