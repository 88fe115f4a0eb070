// SPDX-License-Identifier: Apache-2.0

// Goal: a reader that goes on from a named position gets, over any number of openings and kills,
// each number that was written in one batch or in one gap, in order, and again only those that were
// not acknowledged durably; or is told that the position has expired, and never less. Method:
// random histories of writes, flushes, acknowledgements, openings and kills over every kind of log
// are compared with the records that were read; then stories of positions that lose their logs.

#include "varve/change_stream.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/listener.h"
#include "varve/system_clock.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"
#include "tests/harness/random.h"
#include "util/coding/crc32c.h"
#include "util/coding/fixed.h"
#include "util/sync/heavy_fence.h"

namespace varve::testing {
namespace {

class ChangeStreamTest : public Database {
 protected:
  ChangeStreamTest() { options_.write_buffer_size = 64 << 10; }

  std::unique_ptr<ChangeStream> Stream(SequenceNumber from = 0, const std::string& name = "s") {
    ChangeStreamOptions options;
    options.name = name;
    options.from = from;
    std::unique_ptr<ChangeStream> stream;
    const Status s = db()->OpenChangeStream(options, &stream);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return stream;
  }
  Status StatusOf(const ChangeStreamOptions& options) {
    std::unique_ptr<ChangeStream> stream;
    return db()->OpenChangeStream(options, &stream);
  }
  void PutUnlogged(const std::string& key) {
    WriteOptions options;
    options.disableWAL = true;
    ASSERT_TRUE(db()->Put(options, key, "unlogged").ok());
  }
  // "1 2-3 gap4-5", up to where there is nothing, and the error, if any.
  static std::string ReadAll(ChangeStream* stream) {
    std::string text;
    ChangeRecord record;
    Status s;
    while ((s = stream->Next(&record)).ok() && record.kind != ChangeRecord::Kind::kNothing) {
      if (record.kind == ChangeRecord::Kind::kGap) {
        text += record.gap == ChangeRecord::Gap::kLost ? "lost" : "gap";
      }
      text += std::to_string(record.first);
      if (record.last != record.first) text += "-" + std::to_string(record.last);
      text += " ";
    }
    return text + (s.ok() ? "" : s.ToString());
  }
};

TEST_F(ChangeStreamTest, ALogThatIsInMemoryStillMayHaveTheNumber) {
  options_.manual_wal_flush = true;
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  auto stream = Stream(2);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(ReadAll(stream.get()), "");
  ASSERT_TRUE(db()->FlushWAL(/*sync=*/false).ok());
  EXPECT_EQ(ReadAll(stream.get()), "2 ");
  // The log that had the first number is gone, which cannot be told before the next one is read.
  stream.reset();
  ASSERT_TRUE(db()->DropChangeStream("s").ok());
  Flush();
  Put("c", "3");
  stream = Stream(1);
  ASSERT_NE(stream, nullptr);
  ASSERT_TRUE(db()->FlushWAL(/*sync=*/false).ok());
  EXPECT_EQ(ReadAll(stream.get()), "lost1-2 3 ");
}

// The checksum of the second record is right, but its update is of no known type.
TEST_F(ChangeStreamTest, ARecordThatCannotBeUnderstoodIsNotPassedOver) {
  Open();
  for (const char* key : {"a", "b", "c"}) Put(key, "2");
  const std::string path = std::string(kName) + "/" + Files(kWalFile).back();
  std::string bytes = ReadFile(path);
  const std::string update(
      "\x01\x01"
      "b"
      "\x01"
      "2");
  const size_t at = bytes.find(update);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 0x7e;
  // The checksum is before the size and the type; it covers the type, the header of the batch and
  // the update.
  const size_t type = at - 12 - 1;
  EncodeFixed32(&bytes[type - 6],
                crc32c::Mask(crc32c::Value(&bytes[type], 1 + 12 + update.size())));
  WriteFile(path, bytes);
  const auto stream = Stream(1);
  ASSERT_NE(stream, nullptr);
  const std::string failed = ReadAll(stream.get());
  EXPECT_TRUE(failed.starts_with("1 Corruption")) << failed;
  for (int i = 0; i < 3; i++) EXPECT_EQ("1 " + ReadAll(stream.get()), failed);
}

// A clock that runs a function at the next call, and the environment that has it.
class InterruptingClock final : public SystemClockWrapper {
 public:
  InterruptingClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "InterruptingClock"; }
  Status GetCurrentTime(int64_t* seconds) override {
    if (owner == std::this_thread::get_id() && next != nullptr) std::exchange(next, nullptr)();
    return target_->GetCurrentTime(seconds);
  }
  std::thread::id owner = std::this_thread::get_id();
  std::function<void()> next;
};

class InterruptingEnv final : public EnvWrapper {
 public:
  InterruptingEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "InterruptingEnv"; }
};

TEST_F(ChangeStreamTest, BeginsWithWhatIsWrittenNextThoughLogsGoMeanwhile) {
  const auto clock = std::make_shared<InterruptingClock>();
  InterruptingEnv env(options_.env, clock);
  options_.env = &env;
  for (const bool manual : {false, true}) {
    SCOPED_TRACE(manual);
    ASSERT_TRUE(Close().ok());
    options_.manual_wal_flush = manual;
    Open();
    Put("a", "1");
    // The clock is read after the last sequence number.
    clock->next = [&] {
      Put("b", "2");
      Flush();
      Put("c", "3");
    };
    auto stream = Stream(0, manual ? "manual" : "s");
    EXPECT_EQ(clock->next, nullptr);
    ASSERT_NE(stream, nullptr);
    const SequenceNumber next = db()->GetLatestSequenceNumber() + 1;
    EXPECT_EQ(stream->position(), next);
    Put("d", "4");
    ASSERT_TRUE(db()->FlushWAL(/*sync=*/false).ok());
    EXPECT_EQ(ReadAll(stream.get()), std::to_string(next) + " ");
    stream.reset();
  }
  ASSERT_TRUE(Close().ok());
}

TEST_F(ChangeStreamTest, GoesOnBehindWhatWasAcknowledged) {
  Open();
  Put("a", "1");
  auto stream = Stream(1);
  Put("b", "2");
  EXPECT_EQ(ReadAll(stream.get()), "1 2 ");
  ASSERT_TRUE(stream->Acknowledge(1).ok());
  EXPECT_EQ(stream->position(), 2u);
  EXPECT_TRUE(stream->Acknowledge(3).IsInvalidArgument());
  stream.reset();
  Flush();
  Put("c", "3");
  Reopen();
  stream = Stream();
  EXPECT_EQ(stream->position(), 2u);
  EXPECT_EQ(ReadAll(stream.get()), "2 3 ");
  ASSERT_TRUE(stream->Acknowledge(3, /*durably=*/true).ok());
  auto left = std::move(stream);
  Kill();
  Open();
  Put("d", "4");
  stream = Stream();
  EXPECT_EQ(ReadAll(stream.get()), "4 ");
}

TEST_F(ChangeStreamTest, ANewPositionIsBehindWhatIsThere) {
  Open();
  Put("a", "1");
  Flush();
  auto stream = Stream();
  EXPECT_EQ(stream->position(), 2u);
  EXPECT_EQ(ReadAll(stream.get()), "");
  Put("b", "2");
  EXPECT_EQ(ReadAll(stream.get()), "2 ");
}

TEST_F(ChangeStreamTest, GapsAreRecords) {
  Open();
  auto stream = Stream();
  Put("a", "1");
  PutUnlogged("b");
  PutUnlogged("c");
  Put("d", "4");
  PutUnlogged("e");
  EXPECT_EQ(ReadAll(stream.get()), "1 gap2-3 4 gap5 ");
  Flush();
  Put("f", "6");
  EXPECT_EQ(ReadAll(stream.get()), "6 ");
}

TEST_F(ChangeStreamTest, WhatWasNotLoggedIsNotLost) {
  Open();
  auto stream = Stream();
  PutUnlogged("a");
  Put("b", "2");
  EXPECT_EQ(ReadAll(stream.get()), "gap1 2 ");
  ASSERT_TRUE(stream->Acknowledge(2).ok());
  // The position moves to the next log, which begins with a gap.
  Flush();
  EXPECT_EQ(ReadAll(stream.get()), "");
  ASSERT_TRUE(stream->Acknowledge(2, /*durably=*/true).ok());
  PutUnlogged("c");
  Put("d", "4");
  stream.reset();
  stream = Stream();
  EXPECT_EQ(ReadAll(stream.get()), "gap3 4 ");
  ASSERT_TRUE(stream->Acknowledge(2).ok());
  stream.reset();
  Reopen();
  stream = Stream();
  EXPECT_EQ(ReadAll(stream.get()), "gap3 4 ");
  // The last opening cannot have lost what this one writes.
  PutUnlogged("e");
  Put("f", "6");
  EXPECT_EQ(ReadAll(stream.get()), "gap5 6 ");
  std::unique_ptr<TransactionLogIterator> updates;
  const Status s = db()->GetUpdatesSince(3, &updates);
  EXPECT_NE(s.ToString().find("without the log"), std::string::npos) << s.ToString();
}

// The end of the last log before a kill may be lost, but not that of the log before; a position
// that has come to the next log has not forgotten that.
TEST_F(ChangeStreamTest, WhatMayBeLostStaysSo) {
  Open();
  auto stream = Stream();
  Put("a", "1");
  EXPECT_EQ(ReadAll(stream.get()), "1 ");
  ASSERT_TRUE(stream->Acknowledge(1, /*durably=*/true).ok());
  PutUnlogged("b");
  Flush();
  PutUnlogged("c");
  Flush();
  const auto left = std::move(stream);
  Kill();
  Open();
  Put("d", "4");
  stream = Stream();
  for (int i = 0; i < 3; i++) {
    SCOPED_TRACE(i);
    EXPECT_EQ(ReadAll(stream.get()), "gap2 lost3 4 ");
    ASSERT_TRUE(stream->Acknowledge(1, /*durably=*/true).ok());
    stream.reset();
    if (i == 1) Flush();
    stream = Stream();
  }
}

// Numbers that a reader has acknowledged are not given to other writes, though a crash has taken
// the writes that had them.
TEST_F(ChangeStreamTest, AcknowledgedNumbersAreNotUsedAgain) {
  Open();
  auto stream = Stream();
  PutUnlogged("a");
  PutUnlogged("b");
  EXPECT_EQ(ReadAll(stream.get()), "gap1-2 ");
  ASSERT_TRUE(stream->Acknowledge(2, /*durably=*/true).ok());
  const auto left = std::move(stream);
  Kill();
  Open();
  EXPECT_EQ(db()->GetLatestSequenceNumber(), 2);
  WriteBatch batch;
  for (const char* const key : {"c", "d", "e"}) ASSERT_TRUE(batch.Put(key, "logged").ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  stream = Stream();
  EXPECT_EQ(stream->position(), 3);
  EXPECT_EQ(ReadAll(stream.get()), "3-5 ");
}

// A log that ends because the database was closed has lost nothing, over any number of openings, in
// which nothing may have been logged at all.
TEST_F(ChangeStreamTest, WhatAClosedLogLacksIsNotLost) {
  for (const bool mapped : {true, false}) {
    SCOPED_TRACE(mapped);
    options_.allow_fallocate = mapped;
    auto files = std::make_shared<MemFileSystem>();
    if (mapped) files->OfferMappedFiles();
    Remount(std::move(files));
    Open();
    auto stream = Stream();
    Put("a", "1");
    PutUnlogged("b");
    stream.reset();
    for (int i = 0; i < 2; i++) {
      Reopen();
      PutUnlogged("c");
    }
    Reopen();
    Put("d", "5");
    stream = Stream();
    EXPECT_EQ(ReadAll(stream.get()), "1 gap2 gap3 gap4 5 ");
    ASSERT_TRUE(stream->Acknowledge(5, /*durably=*/true).ok());
    stream.reset();
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(ChangeStreamTest, AClosedLogIsReplayedToItsEnd) {
  Open();
  auto stream = Stream();
  Put("a", "1");
  Put("b", "2");
  stream.reset();
  Reopen();
  EXPECT_EQ(Scan(), "a=1 b=2");
}

TEST_F(ChangeStreamTest, AGapNamesItsFamilies) {
  Open({"default", "cache", "other"});
  auto stream = Stream();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ChangeRecord record;
  const auto next_gap = [&]() -> std::string {
    for (;;) {
      EXPECT_TRUE(stream->Next(&record).ok());
      if (record.kind == ChangeRecord::Kind::kNothing) return "nothing";
      if (record.kind != ChangeRecord::Kind::kGap) continue;
      if (!record.families.has_value()) return "unknown";
      std::string text;
      for (const std::string& name : *record.families) text += name + " ";
      return text;
    }
  };
  ASSERT_TRUE(db()->Put(unlogged, Handle("cache"), "k", "1").ok());
  Put("a", "2");
  EXPECT_EQ(next_gap(), "cache ");
  ASSERT_TRUE(db()->Put(unlogged, Handle("cache"), "k", "3").ok());
  // The gap names what was flushed, too.
  ASSERT_TRUE(db()->Flush(FlushOptions(), Handle("cache")).ok());
  Put("a", "4");
  EXPECT_EQ(next_gap(), "cache ");
  WriteBatch both;
  ASSERT_TRUE(both.Put("b", "5").ok());
  ASSERT_TRUE(both.Put(Handle("cache"), "b", "6").ok());
  ASSERT_TRUE(db()->Write(unlogged, &both).ok());
  EXPECT_EQ(next_gap(), "cache default ");
  ASSERT_TRUE(db()->Flush(FlushOptions(), {Handle("cache"), db()->DefaultColumnFamily()}).ok());
  Put("a", "7");
  EXPECT_EQ(next_gap(), "nothing");
  ASSERT_TRUE(db()->Put(unlogged, Handle("other"), "k", "8").ok());
  EXPECT_EQ(next_gap(), "other ");
  // After an opening it is not known any more.
  ASSERT_TRUE(stream->Acknowledge(1, /*durably=*/true).ok());
  stream.reset();
  Reopen();
  stream = Stream();
  EXPECT_EQ(next_gap(), "unknown");
}

TEST_F(ChangeStreamTest, RefusesWhatMakesNoSense) {
  Open();
  Put("a", "1");
  ChangeStreamOptions options;
  EXPECT_TRUE(StatusOf(options).IsInvalidArgument());
  options.name = std::string(257, 'n');
  EXPECT_TRUE(StatusOf(options).IsInvalidArgument());
  options.name = "s";
  options.create_if_missing = false;
  EXPECT_TRUE(StatusOf(options).IsNotFound());
  options.create_if_missing = true;
  options.from = 3;
  EXPECT_TRUE(StatusOf(options).IsNotFound());
  EXPECT_TRUE(db()->DropChangeStream("s").IsNotFound());
  auto stream = Stream(2);
  options.from = 0;
  EXPECT_TRUE(StatusOf(options).IsBusy());
  EXPECT_TRUE(db()->DropChangeStream("s").IsBusy());
  stream.reset();
  options.from = 1;
  EXPECT_TRUE(StatusOf(options).IsInvalidArgument());
  EXPECT_TRUE(db()->DropChangeStream("s").ok());
  EXPECT_TRUE(db()->OpenChangeStream(options, nullptr).IsInvalidArgument());
  Flush();
  EXPECT_TRUE(StatusOf(options).IsNotFound());  // no log has number 1 any more
  options.from = 0;
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_TRUE(StatusOf(options).IsNotSupported());
}

TEST_F(ChangeStreamTest, LogsGoWhenNobodyWantsThem) {
  Open();
  auto first = Stream(0, "first");
  auto second = Stream(0, "second");
  for (int i = 0; i < 4; i++) {
    Put("a", std::to_string(i));
    Flush();
  }
  EXPECT_EQ(Files(kWalFile).size(), 5u);
  EXPECT_EQ(ReadAll(first.get()), "1 2 3 4 ");
  ASSERT_TRUE(first->Acknowledge(4).ok());
  EXPECT_EQ(Files(kWalFile).size(), 5u);
  EXPECT_EQ(ReadAll(second.get()), "1 2 3 4 ");
  ASSERT_TRUE(second->Acknowledge(2).ok());
  EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() == 3; }));
  second.reset();
  Reopen();
  EXPECT_GE(Files(kWalFile).size(), 2u);
  first.reset();
  ASSERT_TRUE(db()->DropChangeStream("second").ok());
  first = Stream(0, "first");
  Put("b", "5");
  EXPECT_EQ(ReadAll(first.get()), "5 ");
  ASSERT_TRUE(first->Acknowledge(5).ok());
  EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() == 1; }));
}

// Blocks a thread that deletes a log, until it is released.
class StopsDeletionOfLogs final : public MemFileSystem::CallHook {
 public:
  void BeforeCall(uint64_t, MemCall call, const std::string& path) override {
    if (call != MemCall::kDelete || !path.ends_with(".log")) return;
    std::unique_lock<std::mutex> lock(mu_);
    stopped_ = true;
    changed_.wait(lock, [this] { return let_go_; });
  }
  bool stopped() {
    std::lock_guard<std::mutex> lock(mu_);
    return stopped_;
  }
  void LetGo() {
    std::lock_guard<std::mutex> lock(mu_);
    let_go_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mu_;
  std::condition_variable changed_;
  bool stopped_ = false;
  bool let_go_ = false;
};

// The database has given a log up, and its name is still there: the newest with numbers.
TEST_F(ChangeStreamTest, BeginsBesideTheDeletionOfALog) {
  StopsDeletionOfLogs gate;
  Open();
  Put("a", "1");
  mem().SetCallHook(&gate);
  std::thread flusher([&] { Flush(); });
  ASSERT_TRUE(Eventually([&] { return gate.stopped(); }));
  auto stream = Stream();
  auto from_before = Stream(1, "from before");
  std::unique_ptr<TransactionLogIterator> updates;
  EXPECT_TRUE(db()->GetUpdatesSince(1, &updates).ok());
  gate.LetGo();
  flusher.join();
  ASSERT_TRUE(Eventually([&] { return Files(kWalFile).size() == 1; }));
  mem().SetCallHook(nullptr);
  EXPECT_EQ(ReadAll(stream.get()), "");
  EXPECT_EQ(ReadAll(from_before.get()), "1 ");
  Put("b", "2");
  EXPECT_EQ(ReadAll(stream.get()), "2 ");
  EXPECT_EQ(ReadAll(from_before.get()), "2 ");
  ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
  EXPECT_EQ(updates->GetBatch().sequence, 1u);
  updates->Next();
  ASSERT_TRUE(updates->Valid()) << updates->status().ToString();
  EXPECT_EQ(updates->GetBatch().sequence, 2u);
}

TEST_F(ChangeStreamTest, WaitsForAWrite) {
  Open();
  auto stream = Stream();
  ChangeRecord record;
  ASSERT_TRUE(stream->WaitNext(1000, &record).ok());
  EXPECT_EQ(record.kind, ChangeRecord::Kind::kNothing);
  std::thread writer([&] { Put("a", "1"); });
  ASSERT_TRUE(stream->WaitNext(20 * 1000 * 1000, &record).ok());
  writer.join();
  EXPECT_EQ(record.kind, ChangeRecord::Kind::kBatch);
  EXPECT_EQ(record.first, 1u);
  EXPECT_EQ(record.batch.Count(), 1u);
}

// Returns how often the calling thread has given up its processor.
long Switches() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

TEST_F(ChangeStreamTest, AWaitingReaderSleepsUntilItIsWoken) {
  if (!HeavyFence()) GTEST_SKIP() << "without fences in other threads a reader looks now and then";
  Open();
  auto stream = Stream();
  ChangeRecord record;
  const long before = Switches();
  ASSERT_TRUE(stream->WaitNext(300 * 1000, &record).ok());
  EXPECT_LE(Switches() - before, 20);
  const auto begin = std::chrono::steady_clock::now();
  for (SequenceNumber i = 1; i <= 200; i++) {
    std::thread writer([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 7 % 500));
      Put("a", "1");
    });
    ASSERT_TRUE(stream->WaitNext(60 * 1000 * 1000, &record).ok());
    writer.join();
    ASSERT_EQ(record.first, i);
    ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
  }
}

TEST_F(ChangeStreamTest, CloseAndASyncEndTheWait) {
  Open();
  ChangeStreamOptions options;
  options.name = "durable";
  options.durable_only = true;
  std::unique_ptr<ChangeStream> durable;
  ASSERT_TRUE(db()->OpenChangeStream(options, &durable).ok());
  Put("a", "1");
  const auto begin = std::chrono::steady_clock::now();
  std::thread syncer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(db()->SyncWAL().ok());
  });
  ChangeRecord record;
  EXPECT_TRUE(durable->WaitNext(60 * 1000 * 1000, &record).ok());
  EXPECT_EQ(record.first, 1u);
  syncer.join();
  auto stream = Stream();
  std::thread closer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(db()->Close().ok());
  });
  EXPECT_FALSE(stream->WaitNext(UINT64_MAX, &record).ok());
  closer.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
}

TEST_F(ChangeStreamTest, GivesOutWhatIsDurableIfThatIsWanted) {
  Open();
  ChangeStreamOptions options;
  options.name = "s";
  options.durable_only = true;
  std::unique_ptr<ChangeStream> stream;
  ASSERT_TRUE(db()->OpenChangeStream(options, &stream).ok());
  Put("a", "1");
  Put("b", "2");
  EXPECT_EQ(ReadAll(stream.get()), "");
  ASSERT_TRUE(db()->SyncWAL().ok());
  Put("c", "3");
  EXPECT_EQ(ReadAll(stream.get()), "1 2 ");
  ASSERT_TRUE(db()->SyncWAL().ok());
  EXPECT_EQ(ReadAll(stream.get()), "3 ");
}

class ExpiryListener final : public EventListener {
 public:
  void OnChangeStreamExpired(DB*, const ChangeStreamExpiryInfo& info) override {
    std::lock_guard<std::mutex> lock(mu_);
    told_ += info.name + " " + std::to_string(info.first_lost) + " ";
  }
  std::string told() {
    std::lock_guard<std::mutex> lock(mu_);
    return told_;
  }

 private:
  std::mutex mu_;
  std::string told_;
};

TEST_F(ChangeStreamTest, APositionThatKeepsTooMuchExpiresLoudly) {
  auto listener = std::make_shared<ExpiryListener>();
  options_.listeners = {listener};
  for (const bool in_use : {true, false}) {
    SCOPED_TRACE(in_use);
    Open();
    ChangeStreamOptions options;
    options.name = in_use ? "used" : "left";
    options.max_retained_bytes = 100 << 10;
    std::unique_ptr<ChangeStream> stream;
    ASSERT_TRUE(db()->OpenChangeStream(options, &stream).ok());
    const SequenceNumber first = stream->position();
    if (!in_use) stream.reset();
    for (int i = 0; i < 6; i++) {
      Put("a", std::string(30 << 10, 'v'));
      Flush();
    }
    EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() <= 1; }));
    const std::string told = options.name + " " + std::to_string(first) + " ";
    EXPECT_TRUE(Eventually([&] { return listener->told().find(told) != std::string::npos; }));
    if (in_use) {
      const std::string text = ReadAll(stream.get());
      EXPECT_NE(text.find("change stream 'used'"), std::string::npos) << text;
      EXPECT_TRUE(stream->Acknowledge(0).IsExpired());
      stream.reset();
    }
    EXPECT_TRUE(StatusOf(options).IsExpired());
    Reopen();
    EXPECT_TRUE(StatusOf(options).IsExpired());
    ASSERT_TRUE(db()->DropChangeStream(options.name).ok());
    EXPECT_TRUE(StatusOf(options).ok());
    ASSERT_TRUE(db()->DropChangeStream(options.name).ok());
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(ChangeStreamTest, APositionThatIsLeftExpires) {
  Open();
  ChangeStreamOptions options;
  options.name = "s";
  options.max_idle_seconds = 1;
  ASSERT_TRUE(StatusOf(options).ok());
  Put("a", "1");
  Flush();
  EXPECT_EQ(Files(kWalFile).size(), 2u);
  EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() == 1; }));
  EXPECT_TRUE(StatusOf(options).IsExpired());
}

// Another program has deleted its logs.
TEST_F(ChangeStreamTest, APositionWithoutItsLogsHasExpired) {
  Open();
  auto stream = Stream();
  Put("a", "1");
  Flush();
  stream.reset();
  ASSERT_TRUE(Close().ok());
  for (const std::string& name : Files(kWalFile)) {
    ASSERT_TRUE(mem().DeleteFile(std::string(kName) + "/" + name, IOOptions(), nullptr).ok());
  }
  Open();
  ChangeStreamOptions options;
  options.name = "s";
  const Status s = StatusOf(options);
  EXPECT_TRUE(s.IsExpired()) << s.ToString();
}

// ---- A random life ----

struct Life {
  const char* name;
  void (*tune)(DBOptions*);
  bool unlogged;
};

constexpr Life kLives[] = {
    {"mapped", [](DBOptions*) {}, true},
    {"written", [](DBOptions* db) { db->allow_fallocate = false; }, true},
    {"recycled", [](DBOptions* db) { db->recycle_log_file_num = 2; }, false},
    {"compressed", [](DBOptions* db) { db->wal_compression = kZSTD; }, true},
    {"archived", [](DBOptions* db) { db->WAL_size_limit_MB = 100; }, true},
    {"logs kept by openings", [](DBOptions* db) { db->avoid_flush_during_recovery = true; }, false},
    {"without order", [](DBOptions* db) { db->unordered_write = true; }, true},
};

class LifeOfAStream {
 public:
  LifeOfAStream(uint64_t seed, const Life& life) : random_(seed), life_(life) {}

  // Does one step of writing.
  void Write(DB* db) {
    WriteBatch batch;
    const uint64_t updates = 1 + random_.Below(3);
    for (uint64_t u = 0; u < updates; u++) {
      ASSERT_TRUE(batch.Put(random_.Text(8), random_.Text(random_.OneIn(20) ? 40000 : 100)).ok());
    }
    WriteOptions options;
    options.disableWAL = life_.unlogged && random_.OneIn(15);
    const SequenceNumber first = db->GetLatestSequenceNumber() + 1;
    ASSERT_TRUE(db->Write(options, &batch).ok());
    if (options.disableWAL) {
      for (uint64_t u = 0; u < updates; u++) history_[first + u] = "";
    } else {
      history_[first] = batch.Data().substr(12);
    }
  }
  // Reads some, and compares; acknowledges by chance.
  void Read(ChangeStream* stream) {
    ChangeRecord record;
    for (uint64_t i = random_.Below(40); i > 0; i--) {
      const Status s = stream->Next(&record);
      ASSERT_TRUE(s.ok()) << s.ToString();
      if (record.kind == ChangeRecord::Kind::kNothing) break;
      ASSERT_EQ(record.first, next_);
      Compare(record);
      next_ = record.last + 1;
      if (random_.OneIn(4)) {
        const bool durably = random_.OneIn(8);
        ASSERT_TRUE(stream->Acknowledge(record.last, durably).ok());
        if (durably) durable_ = next_;
      }
    }
  }
  void ReadOn(ChangeStream* stream) {
    ASSERT_GE(stream->position(), durable_);
    ASSERT_LE(stream->position(), next_);
    next_ = stream->position();
  }
  SequenceNumber next() const { return next_; }
  // A kill loses writes that no log has; their numbers are given out again.
  void Forget(SequenceNumber last) {
    history_.erase(history_.upper_bound(last), history_.end());
    next_ = std::min(next_, last + 1);
    durable_ = std::min(durable_, last + 1);
  }
  Random& random() { return random_; }

 private:
  void Compare(const ChangeRecord& record) {
    const auto at = history_.find(record.first);
    ASSERT_NE(at, history_.end()) << record.first;
    if (record.kind == ChangeRecord::Kind::kBatch) {
      ASSERT_EQ(at->second, record.batch.Data().substr(12));
      return;
    }
    for (SequenceNumber seq = record.first; seq <= record.last; seq++) {
      const auto missing = history_.find(seq);
      ASSERT_TRUE(missing != history_.end() && missing->second.empty()) << seq;
    }
  }

  Random random_;
  const Life life_;
  std::map<SequenceNumber, std::string> history_;  // by first number; empty: not logged
  SequenceNumber next_ = 1;
  SequenceNumber durable_ = 1;
};

TEST_F(ChangeStreamTest, ARandomLifeIsToldOnce) {
  const Options base = options_;
  for (const Life& life : kLives) {
    for (uint64_t seed = 1; seed <= 6; seed++) {
      SCOPED_TRACE(std::string(life.name) + ", seed " + std::to_string(seed));
      options_ = base;
      life.tune(&options_);
      auto files = std::make_shared<MemFileSystem>();
      files->OfferMappedFiles();
      Remount(std::move(files));
      Open();
      LifeOfAStream story(seed, life);
      std::vector<std::unique_ptr<ChangeStream>> left;
      auto stream = Stream(1);
      for (int step = 0; step < 400; step++) {
        const uint64_t choice = story.random().Below(100);
        if (choice < 70) {
          ASSERT_NO_FATAL_FAILURE(story.Write(db()));
        } else if (choice < 92) {
          ASSERT_NO_FATAL_FAILURE(story.Read(stream.get()));
        } else if (choice < 96) {
          Flush();
        } else {
          if (story.random().OneIn(2)) {
            left.push_back(std::move(stream));  // its position is not stored any more
            Kill();
          } else {
            stream.reset();
            ASSERT_TRUE(Close().ok());
          }
          Open();
          story.Forget(db()->GetLatestSequenceNumber());
          stream = Stream();
          ASSERT_NO_FATAL_FAILURE(story.ReadOn(stream.get()));
        }
      }
      while (story.next() <= db()->GetLatestSequenceNumber()) {
        ASSERT_NO_FATAL_FAILURE(story.Read(stream.get()));
      }
      stream.reset();
      ASSERT_TRUE(Close().ok());
    }
  }
}

}  // namespace
}  // namespace varve::testing
