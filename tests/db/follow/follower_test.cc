// SPDX-License-Identifier: Apache-2.0

// Goal: a follower becomes as new as its leader by itself, keeps the tables that it shows through
// links of its own for just as long as it shows them, and changes nothing in the leader's
// directory. Method: a leader in the same process writes a numbered history, while links, files and
// states are looked at; openings, closings and failures come in between.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/db.h"
#include "varve/file_system_wrappers.h"
#include "varve/secondary.h"

#include "db/follow/linked_tables.h"
#include "tests/db/follow/directory_contents.h"
#include "tests/db/follow/numbered_history.h"
#include "tests/harness/child_process.h"
#include "tests/harness/database.h"
#include "tests/harness/fault_file_system.h"

namespace varve::testing {

namespace {

namespace fs = std::filesystem;

size_t Tables(const std::string& directory) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".sst") count++;
  }
  return count;
}

// Counts lines that contain a text.
class CountingLogger final : public Logger {
 public:
  explicit CountingLogger(std::string text) : text_(std::move(text)) {}
  using Logger::Logv;
  void Logv(const char* format, va_list args) override {
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, args);
    if (std::string(line).find(text_) != std::string::npos) count_++;
  }
  int count() const { return count_; }

 private:
  const std::string text_;
  std::atomic<int> count_{0};
};

class FollowerTest : public ::testing::Test {
 protected:
  FollowerTest() : directory_("follower") {
    options_.create_if_missing = true;
    options_.write_buffer_size = 32 << 10;
    options_.disable_auto_compactions = true;
    options_.info_log = SilentLogger();
    own_ = options_;
    own_.follower_refresh_catchup_period_ms = 0;
  }

  std::string leader_path() const { return directory_.path() + "/leader"; }
  std::string path() const { return directory_.path() + "/follower"; }

  void OpenLeader() {
    leader_.reset();
    const Status s = DB::Open(options_, leader_path(), &leader_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void OpenFollower() {
    follower_.reset();
    const Status s = DB::OpenAsFollower(own_, path(), leader_path(), &follower_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Write(uint64_t count) {
    const Status s = WriteHistory(leader_.get(), {leader_->DefaultColumnFamily()}, steps_,
                                  steps_ + count, WriteOptions(), 100);
    ASSERT_TRUE(s.ok()) << s.ToString();
    steps_ += count;
  }
  void Compact() {
    ASSERT_TRUE(leader_->Flush(FlushOptions()).ok());
    CompactRangeOptions all;
    all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(leader_->CompactRange(all, nullptr, nullptr).ok());
  }
  // Reads one moment, as the follower may catch up meanwhile.
  uint64_t Shown(bool by_iterator = false) {
    ReadOptions now;
    now.snapshot = follower_->GetSnapshot();
    const HistoryState state =
        ReadHistory(follower_.get(), {follower_->DefaultColumnFamily()}, now, by_iterator);
    follower_->ReleaseSnapshot(now.snapshot);
    EXPECT_EQ(state.problem, "");
    return state.steps;
  }
  void AwaitShown(uint64_t steps) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (Shown() != steps && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(Shown(true), steps);
  }

  FreshDirectory directory_;
  Options options_;
  Options own_;
  std::unique_ptr<DB> leader_;
  std::unique_ptr<DB> follower_;
  uint64_t steps_ = 0;
};

TEST_F(FollowerTest, CatchesUpByItself) {
  own_.follower_refresh_catchup_period_ms = 2;
  OpenLeader();
  Write(100);
  OpenFollower();
  EXPECT_EQ(follower_->GetName(), path());
  EXPECT_EQ(Shown(), 100u);
  for (int round = 0; round < 3; round++) {
    Write(500);
    if (round == 1) Compact();
    AwaitShown(steps_);
  }
}

TEST_F(FollowerTest, KeepsTablesThatTheLeaderHasDeleted) {
  for (const int open_files : {-1, 20}) {
    own_.max_open_files = open_files;
    OpenLeader();
    Write(2000);
    ASSERT_TRUE(leader_->Flush(FlushOptions()).ok());
    OpenFollower();
    const size_t tables = Tables(path());
    EXPECT_EQ(tables, Tables(leader_path()));
    EXPECT_GT(tables, 2u);
    const uint64_t before = steps_;
    const auto it = std::unique_ptr<Iterator>(follower_->NewIterator(ReadOptions()));
    Write(2000);
    Compact();
    EXPECT_EQ(Shown(true), before) << open_files;
    EXPECT_EQ(Tables(path()), tables);

    // An iterator keeps the tables that it was made for.
    ASSERT_TRUE(follower_->TryCatchUpWithPrimary().ok());
    EXPECT_EQ(Shown(), steps_);
    EXPECT_EQ(Tables(path()), tables + Tables(leader_path()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  }
}

TEST_F(FollowerTest, RemovesLinksThatNothingNeeds) {
  OpenLeader();
  Write(2000);
  OpenFollower();
  Write(2000);
  Compact();
  ASSERT_TRUE(follower_->TryCatchUpWithPrimary().ok());
  EXPECT_EQ(Tables(path()), Tables(leader_path()));
  const auto leader = Files(leader_path());
  follower_.reset();
  EXPECT_EQ(Tables(path()), 0u);
  EXPECT_EQ(Files(leader_path()), leader);

  // The next opening removes the links of a process that has died; other files stay.
  std::ofstream(path() + "/000123.sst") << "left over";
  std::ofstream(path() + "/notes.txt") << "a user's";
  OpenFollower();
  EXPECT_FALSE(fs::exists(path() + "/000123.sst"));
  EXPECT_TRUE(fs::exists(path() + "/notes.txt"));
  EXPECT_EQ(Files(leader_path()), leader);
  EXPECT_EQ(Shown(true), steps_);
}

TEST_F(FollowerTest, RefusesDirectoriesThatAreNotItsOwn) {
  OpenLeader();
  Write(10);
  std::unique_ptr<DB> db;
  EXPECT_TRUE(DB::OpenAsFollower(own_, leader_path(), leader_path(), &db).IsInvalidArgument());
  EXPECT_TRUE(DB::OpenAsFollower(own_, "", leader_path(), &db).IsInvalidArgument());
  const std::string other = directory_.path() + "/other";
  std::unique_ptr<DB> made;
  ASSERT_TRUE(DB::Open(options_, other, &made).ok());
  made.reset();
  const auto files = Files(other);
  EXPECT_TRUE(DB::OpenAsFollower(own_, other, leader_path(), &db).IsInvalidArgument());
  EXPECT_EQ(Files(other), files);
  OpenFollower();
  const Status second = DB::OpenAsFollower(own_, path(), leader_path(), &db);
  EXPECT_TRUE(second.IsIOError()) << second.ToString();
  EXPECT_EQ(db, nullptr);
  EXPECT_EQ(Shown(), 10u);
  EXPECT_TRUE(follower_->Put(WriteOptions(), "a", "b").IsNotSupported());
  EXPECT_TRUE(follower_->Promote(PromoteOptions()).IsNotSupported());
  EXPECT_TRUE(DB::OpenAsFollower(own_, path() + "2", directory_.path() + "/nowhere", &db)
                  .IsInvalidArgument());
}

TEST_F(FollowerTest, OpensTablesInPlaceIfTheyCannotBeLinked) {
  OpenLeader();
  Write(2000);
  ASSERT_TRUE(leader_->Flush(FlushOptions()).ok());
  const auto faults = std::make_shared<FaultFileSystem>(FileSystem::Default());
  faults->Inject({.calls = Only(FaultCall::kLink), .path_contains = "/leader/", .sticky = true});
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  const auto log = std::make_shared<CountingLogger>("cannot be linked");
  own_.env = env.get();
  own_.info_log = log;
  OpenFollower();
  EXPECT_EQ(Shown(true), steps_);
  EXPECT_EQ(Tables(path()), 0u);
  EXPECT_EQ(log->count(), 1);
  follower_.reset();
}

TEST_F(FollowerTest, TriesAgainAfterAFailure) {
  const auto log = std::make_shared<CountingLogger>("attempt 3 to catch up with the leader");
  own_.follower_refresh_catchup_period_ms = 1;
  own_.follower_catchup_retry_count = 3;
  own_.follower_catchup_retry_wait_ms = 1;
  own_.info_log = log;
  OpenLeader();
  Write(10);
  OpenFollower();
  Write(10);
  leader_.reset();
  const std::string current = leader_path() + "/CURRENT";
  fs::rename(current, current + ".away");
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (log->count() < 2 && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_GE(log->count(), 2);
  fs::rename(current + ".away", current);
  AwaitShown(20);
}

TEST_F(FollowerTest, ClosesBesideCatchingUp) {
  own_.follower_refresh_catchup_period_ms = 1;
  OpenLeader();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    while (!stop.load()) Write(20);
  });
  for (int round = 0; round < 20; round++) {
    OpenFollower();
    std::this_thread::sleep_for(std::chrono::milliseconds(round % 5));
    const Snapshot* const snapshot = round % 4 == 0 ? follower_->GetSnapshot() : nullptr;
    if (snapshot != nullptr) {
      EXPECT_TRUE(follower_->Close().IsAborted());
      follower_->ReleaseSnapshot(snapshot);
    }
    if (round % 2 != 0) continue;
    EXPECT_TRUE(follower_->Close().ok());
  }
  stop = true;
  writer.join();
  OpenFollower();
  // A Close that was refused has not ended the catching up.
  const Snapshot* const snapshot = follower_->GetSnapshot();
  EXPECT_TRUE(follower_->Close().IsAborted());
  Write(20);
  AwaitShown(steps_);
  follower_->ReleaseSnapshot(snapshot);
}

// Calls a function once, before a directory is listed.
class CallingBack final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "CallingBack"; }
  IOStatus GetChildren(const std::string& directory, const IOOptions& options,
                       std::vector<std::string>* names, IODebugContext* dbg) override {
    std::function<void()> call;
    {
      const std::lock_guard<std::mutex> lock(mu_);
      call = std::exchange(call_, nullptr);
    }
    if (call != nullptr) call();
    return target()->GetChildren(directory, options, names, dbg);
  }
  void CallNext(std::function<void()> call) {
    const std::lock_guard<std::mutex> lock(mu_);
    call_ = std::move(call);
  }

 private:
  std::mutex mu_;
  std::function<void()> call_;
};

// Reads work in a callback of the catching up, and what would wait for that is refused.
TEST_F(FollowerTest, ItsFilesMayCallIt) {
  const auto files = std::make_shared<CallingBack>(FileSystem::Default());
  const std::unique_ptr<Env> env = NewCompositeEnv(files);
  own_.env = env.get();
  for (const bool by_itself : {false, true}) {
    SCOPED_TRACE(by_itself ? "in its own thread" : "in TryCatchUpWithPrimary");
    own_.follower_refresh_catchup_period_ms = by_itself ? 1 : 0;
    OpenLeader();
    Write(10);
    OpenFollower();
    std::atomic<bool> called{false};
    files->CallNext([&] {
      std::string value;
      EXPECT_TRUE(follower_->Get(ReadOptions(), "newest", &value).ok());
      const Snapshot* const snapshot = follower_->GetSnapshot();
      EXPECT_NE(snapshot, nullptr);
      follower_->ReleaseSnapshot(snapshot);
      const std::unique_ptr<Iterator> it(follower_->NewIterator(ReadOptions()));
      it->SeekToFirst();
      EXPECT_TRUE(it->Valid());
      EXPECT_TRUE(follower_->Put(WriteOptions(), "a", "b").IsNotSupported());
      EXPECT_TRUE(follower_->TryCatchUpWithPrimary().IsBusy());
      SecondaryLag lag;
      EXPECT_TRUE(follower_->GetSecondaryLag(&lag).IsBusy());
      EXPECT_TRUE(follower_->Promote(PromoteOptions()).IsBusy());
      EXPECT_TRUE(follower_->Close().IsBusy());
      called = true;
    });
    Write(10);
    if (!by_itself) {
      EXPECT_TRUE(follower_->TryCatchUpWithPrimary().ok());
    }
    AwaitShown(steps_);
    EXPECT_TRUE(called);
    follower_.reset();
  }
}

TEST_F(FollowerTest, LinksAreTheLeadersFiles) {
  const std::string source = directory_.path() + "/source";
  fs::create_directories(source);
  const auto write = [&](const std::string& bytes) {
    fs::remove(source + "/000007.sst");
    std::ofstream(source + "/000007.sst") << bytes;
  };
  std::shared_ptr<LinkedTables> tables;
  ASSERT_TRUE(LinkedTables::Open(FileSystem::Default(), path(), &tables).ok());
  const auto read = [&] {
    std::unique_ptr<FSRandomAccessFile> file;
    const IOStatus s =
        tables->NewRandomAccessFile(source + "/000007.sst", FileOptions(), &file, nullptr);
    if (!s.ok()) return s.ToString();
    char scratch[16];
    Slice bytes;
    EXPECT_TRUE(file->Read(0, sizeof(scratch), IOOptions(), &bytes, scratch, nullptr).ok());
    return bytes.ToString();
  };
  write("old");
  EXPECT_EQ(read(), "old");
  write("new");
  EXPECT_EQ(read(), "new");
  fs::remove(source + "/000007.sst");
  EXPECT_EQ(read(), "new");
  tables->KeepOnly({7});
  EXPECT_EQ(read(), "new");
  tables->KeepOnly({8});
  EXPECT_EQ(Tables(path()), 0u);
  EXPECT_NE(read(), "new");
}

}  // namespace

}  // namespace varve::testing
