// SPDX-License-Identifier: Apache-2.0

// Goal: a file that a copy pool calls done is whole and durable, and one that it does not is gone.
// Method: files in memory, copied and linked by one thread and by several, with each call failing
// in turn, a disk that fills up, sources that are too short, and crashes.

#include "db/copy/copy_pool.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>
#include <thread>

#include "varve/rate_limiter.h"
#include "varve/statistics.h"

#include "tests/harness/fault_file_system.h"
#include "tests/harness/random.h"
#include "util/coding/crc32c.h"
#include "util/env/durable_write.h"
#include "util/env/mem_file_system.h"

namespace varve {
namespace {

constexpr uint64_t kAnySize = std::numeric_limits<uint64_t>::max();

// Links as a file system does for which both directories are on different disks.
class NoLinks final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "NoLinks"; }
  IOStatus LinkFile(const std::string& from, const std::string&, const IOOptions&,
                    IODebugContext*) override {
    return IOStatus::NotSupported(from, "no links");
  }
};

class Reports final : public CopyPool::Observer {
 public:
  void OnProgress(uint64_t bytes, uint64_t of) override {
    MutexLock lock(&mu_);
    calls++;
    largest = std::max(largest, bytes);
    total = of;
    threads.insert(std::this_thread::get_id());
    if (throws) throw std::runtime_error("enough");
  }
  int calls = 0;
  uint64_t largest = 0;
  uint64_t total = 0;
  std::set<std::thread::id> threads;
  bool throws = false;

 private:
  Mutex mu_;
};

class CopyPoolTest : public ::testing::Test {
 protected:
  CopyPoolTest() {
    EXPECT_TRUE(mem_->CreateDir("/from", IOOptions(), nullptr).ok());
    EXPECT_TRUE(mem_->CreateDir("/to", IOOptions(), nullptr).ok());
    EXPECT_TRUE(SyncDirectory(mem_.get(), "/").ok());
    options_.source_fs = options_.target_fs = faults_.get();
    options_.buffer_bytes = 4096;
  }

  // Makes /from/<i> for each i, of different sizes, and a task for each.
  std::vector<CopyTask> MakeTasks(size_t count) {
    std::vector<CopyTask> tasks(count);
    testing::Random random(count);
    for (size_t i = 0; i < count; i++) {
      const std::string name = std::to_string(i);
      contents_.push_back(random.Text(i == 0 ? 0 : random.Below(20'000)));
      EXPECT_TRUE(WriteFileDurably(mem_.get(), "/from", "tmp", name, contents_.back()).ok());
      tasks[i].source = "/from/" + name;
      tasks[i].target = "/to/" + name;
      tasks[i].size = contents_.back().size();
      tasks[i].want_checksum = true;
    }
    return tasks;
  }

  static std::string Content(FileSystem* fs, const std::string& path) {
    std::string text;
    EXPECT_TRUE(ReadFileToString(fs, path, kAnySize, &text).ok()) << path;
    return text;
  }
  bool Exists(const std::string& path) { return mem_->FileExists(path, IOOptions(), nullptr).ok(); }

  // Expects that targets of successful tasks are whole, and that no other target exists.
  void ExpectDoneOrGone(const std::vector<CopyTask>& tasks) {
    for (size_t i = 0; i < tasks.size(); i++) {
      SCOPED_TRACE(tasks[i].target + ": " + tasks[i].status.ToString());
      EXPECT_EQ(Exists(tasks[i].target), tasks[i].status.ok());
      if (tasks[i].status.ok()) {
        EXPECT_EQ(Content(mem_.get(), tasks[i].target), contents_[i]);
      }
    }
  }

  std::shared_ptr<MemFileSystem> mem_ = std::make_shared<MemFileSystem>();
  std::shared_ptr<FaultFileSystem> faults_ = std::make_shared<FaultFileSystem>(mem_);
  CopyPool::Options options_;
  std::vector<std::string> contents_;
};

TEST_F(CopyPoolTest, CopiesWithChecksums) {
  for (const int threads : {1, 4}) {
    contents_.clear();
    std::vector<CopyTask> tasks = MakeTasks(300);
    options_.threads = threads;
    ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
    ExpectDoneOrGone(tasks);
    for (size_t i = 0; i < tasks.size(); i++) {
      EXPECT_TRUE(tasks[i].status.ok());
      EXPECT_EQ(tasks[i].bytes, contents_[i].size());
      EXPECT_EQ(tasks[i].crc32c, crc32c::Value(contents_[i].data(), contents_[i].size()));
    }
  }
}

TEST_F(CopyPoolTest, CopiesAPartAllOrGivenBytes) {
  std::vector<CopyTask> tasks = MakeTasks(4);
  contents_[1].resize(7);
  tasks[1].size = 7;
  tasks[2].size = CopyTask::kWholeFile;
  contents_[3] = "MANIFEST-000005\n";
  tasks[3].contents = contents_[3];
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  ExpectDoneOrGone(tasks);
  EXPECT_EQ(tasks[3].crc32c, crc32c::Value(contents_[3].data(), contents_[3].size()));
}

TEST_F(CopyPoolTest, ReadsWithoutATarget) {
  std::vector<CopyTask> tasks = MakeTasks(3);
  for (CopyTask& task : tasks) task.target.clear();
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  EXPECT_EQ(tasks[2].crc32c, crc32c::Value(contents_[2].data(), contents_[2].size()));
  EXPECT_FALSE(Exists("/to/2"));
}

TEST_F(CopyPoolTest, LinksWhereThatIsPossible) {
  std::vector<CopyTask> tasks = MakeTasks(5);
  for (CopyTask& task : tasks) task.may_link = true;
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  ExpectDoneOrGone(tasks);
  for (const CopyTask& task : tasks) {
    uint64_t names = 0;
    EXPECT_TRUE(mem_->NumFileLinks(task.target, IOOptions(), &names, nullptr).ok());
    EXPECT_EQ(names, 2u);
    EXPECT_TRUE(task.linked);
    EXPECT_EQ(task.bytes, 0u);
  }
}

TEST_F(CopyPoolTest, CopiesWhereLinksAreNotSupported) {
  NoLinks fs(mem_);
  options_.source_fs = options_.target_fs = &fs;
  std::vector<CopyTask> tasks = MakeTasks(5);
  for (CopyTask& task : tasks) task.may_link = true;
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  ExpectDoneOrGone(tasks);
  for (const CopyTask& task : tasks) EXPECT_FALSE(task.linked);
}

TEST_F(CopyPoolTest, CopiesBetweenFileSystems) {
  MemFileSystem other;
  ASSERT_TRUE(other.CreateDir("/to", IOOptions(), nullptr).ok());
  options_.target_fs = &other;
  std::vector<CopyTask> tasks = MakeTasks(5);
  for (CopyTask& task : tasks) task.may_link = true;
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  for (size_t i = 0; i < tasks.size(); i++) {
    EXPECT_EQ(Content(&other, tasks[i].target), contents_[i]);
    EXPECT_FALSE(tasks[i].linked);
  }
}

// The operating system's file system copies in the kernel.
TEST_F(CopyPoolTest, CopiesWithinTheKernel) {
  const std::shared_ptr<FileSystem> fs = FileSystem::Default();
  std::string root;
  ASSERT_TRUE(fs->GetTestDirectory(IOOptions(), &root, nullptr).ok());
  std::vector<CopyTask> tasks = MakeTasks(6);
  contents_.push_back(std::string(300'000, 'x'));
  tasks.emplace_back();
  for (size_t i = 0; i < tasks.size(); i++) {
    const std::string name = "copy_pool_" + std::to_string(i);
    ASSERT_TRUE(WriteFileDurably(fs.get(), root, name + ".tmp", name, contents_[i]).ok());
    tasks[i].source = root + "/" + name;
    tasks[i].target = tasks[i].source + ".copy";
    tasks[i].size = contents_[i].size();
    tasks[i].want_checksum = false;
  }
  tasks[4].size = CopyTask::kWholeFile;
  contents_[5].resize(contents_[5].size() / 2);
  tasks[5].size = contents_[5].size();
  options_.source_fs = options_.target_fs = fs.get();
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  for (size_t i = 0; i < tasks.size(); i++) {
    EXPECT_EQ(Content(fs.get(), tasks[i].target), contents_[i]) << i;
    EXPECT_EQ(tasks[i].bytes, contents_[i].size());
  }
  tasks[5].size = 1'000'000;
  const Status s = CopyPool(options_).Run(&tasks);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_TRUE(fs->FileExists(tasks[5].target, IOOptions(), nullptr).IsNotFound());
  for (const CopyTask& task : tasks) {
    fs->DeleteFile(task.source, IOOptions(), nullptr).PermitUncheckedError();
    fs->DeleteFile(task.target, IOOptions(), nullptr).PermitUncheckedError();
  }
}

TEST_F(CopyPoolTest, ASourceThatEndsEarlyIsCorruption) {
  std::vector<CopyTask> tasks = MakeTasks(5);
  tasks[2].size += 1;
  const Status s = CopyPool(options_).Run(&tasks);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(s.ToString().find("/from/2"), std::string::npos) << s.ToString();
  EXPECT_TRUE(tasks[4].status.IsIncomplete());
  ExpectDoneOrGone(tasks);
}

TEST_F(CopyPoolTest, ShortReadsAreContinued) {
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.sticky = true;
  rule.effect = FaultEffect::kShortRead;
  faults_->Inject(rule);
  std::vector<CopyTask> tasks = MakeTasks(5);
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  ExpectDoneOrGone(tasks);
}

TEST_F(CopyPoolTest, EachCallMayFail) {
  for (const int threads : {1, 3}) {
    options_.threads = threads;
    uint64_t failures = 0;
    for (uint64_t nth = 1;; nth++) {
      contents_.clear();
      std::vector<CopyTask> tasks = MakeTasks(8);
      tasks[5].may_link = true;
      faults_->ClearFaults();
      FaultRule rule;
      rule.calls = kAllFaultCalls & ~Only(FaultCall::kDelete);
      rule.nth = nth;
      rule.effect = nth % 2 == 0 ? FaultEffect::kShortWrite : FaultEffect::kNoSpace;
      faults_->Inject(rule);
      const Status s = CopyPool(options_).Run(&tasks);
      ExpectDoneOrGone(tasks);
      for (CopyTask& task : tasks) mem_->DeleteFile(task.target, IOOptions(), nullptr).ok();
      if (faults_->strikes() == 0) {
        EXPECT_TRUE(s.ok()) << s.ToString();
        break;
      }
      EXPECT_TRUE(s.IsIOError()) << s.ToString();
      failures++;
    }
    EXPECT_GT(failures, 50u);
  }
}

TEST_F(CopyPoolTest, AFullDiskIsNoSpace) {
  std::vector<CopyTask> tasks = MakeTasks(20);
  faults_->SetByteQuota(50'000);
  options_.threads = 2;
  const Status s = CopyPool(options_).Run(&tasks);
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  ExpectDoneOrGone(tasks);
}

TEST_F(CopyPoolTest, StopsWhenTold) {
  std::vector<CopyTask> tasks = MakeTasks(5);
  std::atomic<bool> stop{true};
  options_.stop = &stop;
  const Status s = CopyPool(options_).Run(&tasks);
  EXPECT_TRUE(s.IsIncomplete()) << s.ToString();
  ExpectDoneOrGone(tasks);
  EXPECT_FALSE(Exists("/to/1"));
}

TEST_F(CopyPoolTest, ReportsProgress) {
  std::vector<CopyTask> tasks = MakeTasks(50);
  Reports reports;
  options_.observer = &reports;
  options_.report_bytes = 10'000;
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  uint64_t bytes = 0;
  for (const std::string& content : contents_) bytes += content.size();
  EXPECT_EQ(reports.total, bytes);
  EXPECT_LE(reports.largest, bytes);
  EXPECT_GT(reports.largest, bytes - 30'000);
  EXPECT_GT(reports.calls, static_cast<int>(bytes / 20'000));
  EXPECT_EQ(reports.threads, std::set<std::thread::id>{std::this_thread::get_id()});

  for (const CopyTask& task : tasks) {
    EXPECT_TRUE(mem_->DeleteFile(task.target, IOOptions(), nullptr).ok());
  }
  reports.throws = true;
  const Status s = CopyPool(options_).Run(&tasks);
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
  ExpectDoneOrGone(tasks);
}

TEST_F(CopyPoolTest, ThreadsOfLowPriorityDoAllOfIt) {
  std::vector<CopyTask> tasks = MakeTasks(50);
  Reports reports;
  options_.observer = &reports;
  options_.report_bytes = 1;
  options_.cpu_priority = CpuPriority::kLow;
  ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
  ExpectDoneOrGone(tasks);
  EXPECT_EQ(reports.threads.count(std::this_thread::get_id()), 0u);
  EXPECT_EQ(reports.threads.size(), 1u);
}

TEST_F(CopyPoolTest, TheLimiterIsAskedAsItsModeSays) {
  std::vector<CopyTask> tasks = MakeTasks(10);
  uint64_t bytes = 0;
  for (const std::string& content : contents_) bytes += content.size();
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  options_.statistics = statistics.get();
  options_.read_ticker = CHECKPOINT_READ_BYTES;
  options_.write_ticker = CHECKPOINT_WRITE_BYTES;
  for (const auto mode : {RateLimiter::Mode::kWritesOnly, RateLimiter::Mode::kAllIo}) {
    const std::unique_ptr<RateLimiter> limiter(
        NewGenericRateLimiter(int64_t{1} << 40, 1000, 10, mode, false, 1024));
    options_.rate_limiter = limiter.get();
    ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
    const auto through = static_cast<uint64_t>(limiter->GetTotalBytesThrough(Env::IO_LOW));
    if (mode == RateLimiter::Mode::kWritesOnly) {
      EXPECT_EQ(through, bytes);
    } else {
      EXPECT_GE(through, 2 * bytes);
    }
  }
  EXPECT_EQ(statistics->getTickerCount(CHECKPOINT_READ_BYTES), 2 * bytes);
  EXPECT_EQ(statistics->getTickerCount(CHECKPOINT_WRITE_BYTES), 2 * bytes);
}

TEST_F(CopyPoolTest, WhatIsDoneSurvivesAPowerLoss) {
  for (const bool sync : {true, false}) {
    contents_.clear();
    std::vector<CopyTask> tasks = MakeTasks(150);
    options_.sync = sync;
    options_.threads = 2;
    ASSERT_TRUE(CopyPool(options_).Run(&tasks).ok());
    ASSERT_TRUE(SyncDirectory(mem_.get(), "/to").ok());
    const std::shared_ptr<MemFileSystem> after = mem_->CrashClone(CrashPolicy::kSyncedOnly, 1);
    size_t whole = 0;
    for (size_t i = 0; i < tasks.size(); i++) {
      whole += Content(after.get(), tasks[i].target) == contents_[i] ? 1 : 0;
      EXPECT_TRUE(mem_->DeleteFile(tasks[i].target, IOOptions(), nullptr).ok());
    }
    // The first file is empty.
    EXPECT_EQ(whole, sync ? tasks.size() : 1);
  }
}

}  // namespace
}  // namespace varve
