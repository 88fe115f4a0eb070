// SPDX-License-Identifier: Apache-2.0

// Goal: internal work is visible from outside: each callback of a listener runs, each counter of a
// thread's I/O moves.

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "varve/iostats_context.h"
#include "varve/listener.h"
#include "varve/perf_level.h"
#include "varve/sst_file_writer.h"
#include "varve/table.h"
#include "varve/thread_status.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

// Counts calls by name, and keeps what some of them said.
class CountingListener final : public EventListener {
 public:
  explicit CountingListener(bool of_files = false) : of_files_(of_files) {}

  bool ShouldBeNotifiedOnFileIO() override { return of_files_; }
  void OnManualFlushScheduled(DB*, const std::vector<ManualFlushInfo>& infos) override {
    for (const ManualFlushInfo& info : infos) Count("ManualFlush " + info.cf_name);
  }
  void OnSubcompactionBegin(const SubcompactionJobInfo& info) override {
    Count("SubcompactionBegin " + std::to_string(info.subcompaction_job_id));
  }
  void OnSubcompactionCompleted(const SubcompactionJobInfo& info) override {
    Count("SubcompactionCompleted " + std::to_string(info.subcompaction_job_id));
    EXPECT_TRUE(info.status.ok());
    records_out_ += info.stats.num_output_records;
  }
  void OnTableFileCreationStarted(const TableFileCreationBriefInfo& info) override {
    const std::lock_guard lock(mu_);
    started_.insert(info.file_path);
  }
  void OnTableFileCreated(const TableFileCreationInfo& info) override {
    const std::lock_guard lock(mu_);
    created_.insert(info.file_path);
  }
  void OnColumnFamilyHandleDeletionStarted(ColumnFamilyHandle* handle) override {
    Count("HandleDeletion " + handle->GetName());
  }
  void OnFileReadFinish(const FileOperationInfo& info) override { CountFile("Read", info); }
  void OnFileWriteFinish(const FileOperationInfo& info) override { CountFile("Write", info); }
  void OnFileFlushFinish(const FileOperationInfo& info) override { CountFile("Flush", info); }
  void OnFileSyncFinish(const FileOperationInfo& info) override { CountFile("Sync", info); }
  void OnFileRangeSyncFinish(const FileOperationInfo& info) override {
    CountFile("RangeSync", info);
  }
  void OnFileTruncateFinish(const FileOperationInfo& info) override { CountFile("Truncate", info); }
  void OnFileCloseFinish(const FileOperationInfo& info) override { CountFile("Close", info); }
  void OnIOError(const IOErrorInfo& info) override {
    Count("IOError");
    const std::lock_guard lock(mu_);
    failed_path_ = info.file_path;
    failed_length_ = info.length;
  }

  uint64_t calls(const std::string& name) {
    const std::lock_guard lock(mu_);
    return calls_[name];
  }
  uint64_t bytes(const std::string& name) {
    const std::lock_guard lock(mu_);
    return bytes_[name];
  }
  std::set<std::string> started() {
    const std::lock_guard lock(mu_);
    return started_;
  }
  std::set<std::string> created() {
    const std::lock_guard lock(mu_);
    return created_;
  }
  std::string failed_path() {
    const std::lock_guard lock(mu_);
    return failed_path_;
  }
  size_t failed_length() {
    const std::lock_guard lock(mu_);
    return failed_length_;
  }
  uint64_t records_out() const { return records_out_; }

 private:
  void Count(const std::string& name) {
    const std::lock_guard lock(mu_);
    calls_[name]++;
  }
  void CountFile(const std::string& name, const FileOperationInfo& info) {
    EXPECT_FALSE(info.path.empty());
    const std::lock_guard lock(mu_);
    calls_[name]++;
    bytes_[name] += info.length;
  }

  const bool of_files_;
  std::atomic<uint64_t> records_out_{0};
  std::mutex mu_;
  std::map<std::string, uint64_t> calls_;
  std::map<std::string, uint64_t> bytes_;
  std::set<std::string> started_;
  std::set<std::string> created_;
  std::string failed_path_;
  size_t failed_length_ = 0;
};

class SeenFromOutsideTest : public Database {
 protected:
  void UseNoCache() {
    BlockBasedTableOptions table;
    table.no_block_cache = true;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.compression = kNoCompression;
  }
  static std::string Key(int i) {
    const std::string digits = std::to_string(i);
    return "key" + std::string(6 - digits.size(), '0') + digits;
  }
  // Makes two tables of the same 200 keys in L0, then one below.
  void FillAndCompact() {
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 200; i++) Put(Key(i), std::string(100, 'v'));
      Flush();
    }
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  }
};

TEST_F(SeenFromOutsideTest, ListenersSeeEachStepOfJobs) {
  const auto listener = std::make_shared<CountingListener>();
  options_.listeners = {listener};
  Open({"default", "other"});
  FillAndCompact();
  EXPECT_EQ(listener->calls("ManualFlush default"), 2u);
  EXPECT_EQ(listener->calls("SubcompactionBegin 0"), 1u);
  EXPECT_EQ(listener->calls("SubcompactionCompleted 0"), 1u);
  EXPECT_EQ(listener->records_out(), 200u);
  EXPECT_EQ(listener->created().size(), 3u);
  EXPECT_EQ(listener->started(), listener->created());
  GiveBack("other");
  EXPECT_EQ(listener->calls("HandleDeletion other"), 1u);
  // The listener does not ask for events of files.
  EXPECT_EQ(listener->calls("Read") + listener->calls("Write"), 0u);
}

TEST_F(SeenFromOutsideTest, ListenersSeeTablesOfRecovery) {
  Open();
  Put("a", "1");
  Kill();
  const auto listener = std::make_shared<CountingListener>();
  options_.listeners = {listener};
  options_.avoid_flush_during_recovery = false;
  Open();
  EXPECT_EQ(listener->created().size(), 1u);
  EXPECT_EQ(listener->started(), listener->created());
}

TEST_F(SeenFromOutsideTest, ListenersThatAskSeeOperationsOnFiles) {
  const auto listener = std::make_shared<CountingListener>(/*of_files=*/true);
  options_.listeners = {listener};
  options_.bytes_per_sync = 1 << 20;
  UseNoCache();
  Open();
  WriteOptions durable;
  durable.sync = true;
  ASSERT_TRUE(db()->Put(durable, "a", "1").ok());
  EXPECT_GE(listener->calls("Sync"), 1u);
  for (int i = 0; i < 40; i++) Put(Key(i), std::string(100'000, 'v'));
  const uint64_t logged = listener->bytes("Write");
  EXPECT_GE(logged, 4'000'000u);
  Flush();
  EXPECT_GE(listener->bytes("Write"), logged + 4'000'000);
  const uint64_t read = listener->bytes("Read");
  EXPECT_EQ(Get(Key(7)), std::string(100'000, 'v'));
  EXPECT_GE(listener->bytes("Read"), read + 100'000);
  for (const char* operation : {"Read", "Write", "Flush", "Sync", "RangeSync", "Close"}) {
    EXPECT_GT(listener->calls(operation), 0u) << operation;
  }
  EXPECT_EQ(listener->calls("IOError"), 0u);
  EXPECT_EQ(db()->GetFileSystem(), db()->GetEnv()->GetFileSystem().get());
}

// The table is the one file that is written at an offset.
TEST_F(SeenFromOutsideTest, ListenersSeeTheNumberOfAnIngestedTable) {
  class Watching final : public EventListener {
   public:
    bool ShouldBeNotifiedOnFileIO() override { return true; }
    void OnFileWriteFinish(const FileOperationInfo& info) override {
      if (info.type == FileOperationType::kWrite) Add("write", info);
    }
    void OnFileSyncFinish(const FileOperationInfo& info) override { Add("sync", info); }
    void OnFileCloseFinish(const FileOperationInfo& info) override { Add("close", info); }
    // Returns what was done to the file that was written at an offset, from the write on.
    std::string Steps() {
      const std::lock_guard lock(mu_);
      std::string steps;
      for (const auto& [path, step] : all_) {
        if (path == written_) steps += step + " ";
      }
      return steps;
    }

   private:
    void Add(const char* what, const FileOperationInfo& info) {
      const std::lock_guard lock(mu_);
      if (info.type == FileOperationType::kWrite) {
        all_.clear();
        written_ = info.path;
      }
      all_.emplace_back(info.path, what + (" " + std::to_string(info.length)));
    }
    std::mutex mu_;
    std::vector<std::pair<std::string, std::string>> all_;
    std::string written_;
  };
  const auto listener = std::make_shared<Watching>();
  options_.listeners = {listener};
  Open();
  Put("a", "old");
  const std::string path = "/outside.sst";
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open(path).ok());
  ASSERT_TRUE(writer.Put("a", "new").ok());
  ASSERT_TRUE(writer.Finish().ok());
  IngestExternalFileOptions ingest;
  ingest.write_global_seqno = true;
  const Status s = db()->IngestExternalFile({path}, ingest);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Get("a"), "new");
  EXPECT_EQ(listener->Steps(), "write 8 sync 0 close 0 ");
}

TEST_F(SeenFromOutsideTest, ListenersThatAskSeeWhatFails) {
  const auto listener = std::make_shared<CountingListener>(/*of_files=*/true);
  options_.listeners = {listener};
  UseNoCache();
  Open();
  FillAndCompact();
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.path_contains = ".sst";
  rule.sticky = true;
  faults().Inject(rule);
  EXPECT_THAT(Get(Key(1)), HasSubstr("IO error"));
  EXPECT_GE(listener->calls("IOError"), 1u);
  EXPECT_THAT(listener->failed_path(), HasSubstr(".sst"));
  EXPECT_GT(listener->failed_length(), 0u) << "what the read was asked for";
}

TEST_F(SeenFromOutsideTest, ListenersSeeEachWayToDestroyAHandle) {
  const auto listener = std::make_shared<CountingListener>();
  options_.listeners = {listener};
  Open();
  ColumnFamilyHandle* handle = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(ColumnFamilyOptions(), "deleted", &handle).ok());
  delete handle;
  EXPECT_EQ(listener->calls("HandleDeletion deleted"), 1u);
  ASSERT_TRUE(db()->CreateColumnFamily(ColumnFamilyOptions(), "destroyed", &handle).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  EXPECT_EQ(listener->calls("HandleDeletion destroyed"), 1u);
}

TEST_F(SeenFromOutsideTest, WhatAListenerThrowsChangesNothing) {
  class Throwing final : public EventListener {
   public:
    bool ShouldBeNotifiedOnFileIO() override { return true; }
    void OnFileReadFinish(const FileOperationInfo&) override { throw 1; }
    void OnFileWriteFinish(const FileOperationInfo&) override { throw 1; }
    void OnFileSyncFinish(const FileOperationInfo&) override { throw 1; }
    void OnFileCloseFinish(const FileOperationInfo&) override { throw 1; }
    void OnTableFileCreationStarted(const TableFileCreationBriefInfo&) override { throw 1; }
    void OnSubcompactionBegin(const SubcompactionJobInfo&) override { throw 1; }
    void OnManualFlushScheduled(DB*, const std::vector<ManualFlushInfo>&) override { throw 1; }
  };
  options_.listeners = {std::make_shared<Throwing>()};
  Open();
  FillAndCompact();
  EXPECT_EQ(Get(Key(1)), std::string(100, 'v'));
  Reopen();
  EXPECT_EQ(Get(Key(199)), std::string(100, 'v'));
}

// Asks for the list of threads while a job has begun.
class AskingListener final : public EventListener {
 public:
  explicit AskingListener(Env* env) : env_(env) {}
  void OnFlushBegin(DB*, const FlushJobInfo& info) override { Ask(info.thread_id); }
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override { Ask(info.thread_id); }

  // Returns the status of the jobs' own threads.
  std::vector<ThreadStatus> seen() {
    const std::lock_guard lock(mu_);
    return seen_;
  }

 private:
  void Ask(uint64_t thread) {
    std::vector<ThreadStatus> threads;
    EXPECT_TRUE(env_->GetThreadList(&threads).ok());
    const std::lock_guard lock(mu_);
    for (const ThreadStatus& status : threads) {
      if (status.thread_id == thread) seen_.push_back(status);
    }
  }

  Env* const env_;
  std::mutex mu_;
  std::vector<ThreadStatus> seen_;
};

TEST_F(SeenFromOutsideTest, TheListOfThreadsSaysWhatJobsDo) {
  for (const bool tracks : {false, true}) {
    const auto listener = std::make_shared<AskingListener>(options_.env);
    options_.listeners = {listener};
    options_.enable_thread_tracking = tracks;
    options_.level0_file_num_compaction_trigger = 2;
    Open();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 200; i++) Put(Key(i), std::string(100, 'v'));
      Flush();
    }
    ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
    ASSERT_TRUE(Close().ok());
    const std::vector<ThreadStatus> seen = listener->seen();
    const auto of_pool = [&seen](ThreadStatus::ThreadType type) {
      return std::ranges::find(seen, type, &ThreadStatus::thread_type);
    };
    ASSERT_NE(of_pool(ThreadStatus::HIGH_PRIORITY), seen.end());
    ASSERT_NE(of_pool(ThreadStatus::LOW_PRIORITY), seen.end());
    const ThreadStatus& flush = *of_pool(ThreadStatus::HIGH_PRIORITY);
    const ThreadStatus& compaction = *of_pool(ThreadStatus::LOW_PRIORITY);
    if (!tracks) {
      EXPECT_EQ(flush.operation_type, ThreadStatus::OP_UNKNOWN);
      EXPECT_EQ(flush.db_name, "");
      continue;
    }
    EXPECT_EQ(flush.operation_type, ThreadStatus::OP_FLUSH);
    EXPECT_EQ(flush.operation_stage, ThreadStatus::STAGE_FLUSH_WRITE_L0);
    EXPECT_EQ(flush.db_name, kName);
    EXPECT_EQ(flush.cf_name, "default");
    EXPECT_GE(flush.op_properties[ThreadStatus::FLUSH_BYTES_MEMTABLES], 200u * 100);
    EXPECT_EQ(compaction.operation_type, ThreadStatus::OP_COMPACTION);
    EXPECT_EQ(compaction.operation_stage, ThreadStatus::STAGE_COMPACTION_RUN);
    const auto properties = ThreadStatus::InterpretOperationProperties(compaction.operation_type,
                                                                       compaction.op_properties);
    EXPECT_EQ(properties.at("BaseInputLevel"), 0u);
    EXPECT_EQ(properties.at("IsManual"), 0u);
    EXPECT_GT(properties.at("TotalInputBytes"), 0u);
    EXPECT_EQ(ThreadStatus::GetOperationName(compaction.operation_type), "Compaction");
  }
  // Operations that have ended are not listed.
  std::vector<ThreadStatus> threads;
  ASSERT_TRUE(options_.env->GetThreadList(&threads).ok());
  for (const ThreadStatus& status : threads) {
    EXPECT_NE(status.db_name, kName);
  }
}

TEST_F(SeenFromOutsideTest, AThreadCountsWhatItReadsAndWrites) {
  IOStatsContext* const io = get_iostats_context();
  const PerfLevel level = GetPerfLevel();
  SetPerfLevel(kEnableCount);
  UseNoCache();
  Open();
  io->Reset();
  Put("a", std::string(1000, 'v'));
  EXPECT_GE(io->bytes_written, 1000u);
  EXPECT_LE(io->bytes_written, 1100u);
  FillAndCompact();
  io->Reset();
  EXPECT_EQ(Get(Key(3)), std::string(100, 'v'));
  EXPECT_GE(io->bytes_read, 100u);
  EXPECT_EQ(io->read_nanos, 0u);  // the level asks for no times

  SetPerfLevel(kEnableTimeAndCPUTimeExceptForMutex);
  EXPECT_EQ(Get(Key(3)), std::string(100, 'v'));
  EXPECT_GT(io->read_nanos, 0u);
  WriteOptions durable;
  durable.sync = true;
  ASSERT_TRUE(db()->Put(durable, "a", "1").ok());
  EXPECT_GT(io->fsync_nanos, 0u);
  Reopen();
  EXPECT_GT(io->open_nanos, 0u);

  io->disable_iostats = true;
  const uint64_t before = io->bytes_read;
  EXPECT_EQ(Get(Key(3)), std::string(100, 'v'));
  EXPECT_EQ(io->bytes_read, before);
  io->disable_iostats = false;
  SetPerfLevel(level);
}

}  // namespace
}  // namespace varve::testing
