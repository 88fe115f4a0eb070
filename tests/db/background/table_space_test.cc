// SPDX-License-Identifier: Apache-2.0

// Goal: an SstFileManager knows the tables of its databases, stops writing at its limit, and
// deletes at its rate, also where a step fails.

#include "util/env/table_space.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/convenience.h"
#include "varve/env_wrappers.h"
#include "varve/metadata.h"
#include "varve/sst_file_manager.h"
#include "varve/statistics.h"
#include "varve/system_clock.h"

#include "tests/harness/database.h"
#include "util/env/open_elsewhere.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Stands still while it is held.
class HeldClock final : public SystemClockWrapper {
 public:
  HeldClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "HeldClock"; }
  uint64_t NowNanos() override {
    const uint64_t at = held.load();
    return at != 0 ? at : target_->NowNanos();
  }
  std::atomic<uint64_t> held{0};
};

// Its wall clock is behind by `seconds`; durations are not affected.
class SetBackClock final : public SystemClockWrapper {
 public:
  SetBackClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "SetBackClock"; }
  Status GetCurrentTime(int64_t* unix_seconds) override {
    Status s = target_->GetCurrentTime(unix_seconds);
    if (s.ok()) *unix_seconds -= seconds.load();
    return s;
  }
  std::atomic<int64_t> seconds{0};
};

class HeldClockEnv final : public EnvWrapper {
 public:
  HeldClockEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "HeldClockEnv"; }
};

class TableSpaceTest : public Database {
 protected:
  TableSpaceTest() { options_.compression = kNoCompression; }

  // Rates are bytes a second; `chunk` as in NewSstFileManager.
  void Make(int64_t rate = 0, double ratio = 100, uint64_t chunk = 0) {
    Status s;
    manager_.reset(NewSstFileManager(options_.env, nullptr, "", rate, true, &s, ratio, chunk));
    ASSERT_TRUE(s.ok()) << s.ToString();
    manager_->SetStatisticsPtr(statistics_);
    options_.statistics = statistics_;
    options_.sst_file_manager = manager_;
  }
  void Fill(int keys = 100) {
    for (int i = 0; i < keys; i++) Put("key" + std::to_string(i), std::string(1000, 'v'));
    Flush();
  }
  Status Compact() { return db()->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
  // Closed, with tables that wait for their deletion.
  void LeaveTrash(const std::string& directory = kName) {
    Make(/*rate=*/1);
    Open();
    Fill();
    Fill();
    ASSERT_TRUE(Compact().ok());
    EXPECT_TRUE(Eventually([&] { return !TrashFiles(directory).empty(); }));
    ASSERT_TRUE(Close().ok());
  }
  uint64_t LiveBytes() {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    uint64_t bytes = 0;
    for (const LiveFileMetaData& file : files) bytes += file.size;
    return bytes;
  }
  std::vector<std::string> TrashFiles(const std::string& directory = kName) {
    std::vector<std::string> names;
    EXPECT_TRUE(file_system()->GetChildren(directory, IOOptions(), &names, nullptr).ok());
    std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sst.trash"); });
    return names;
  }
  uint64_t Ticks(Tickers ticker) { return statistics_->getTickerCount(ticker); }

  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  std::shared_ptr<SstFileManager> manager_;
};

TEST_F(TableSpaceTest, KnowsTheTablesOfOpenDatabases) {
  Open();
  Fill();
  ASSERT_TRUE(Close().ok());
  Make();
  Open();
  EXPECT_EQ(manager_->GetTotalSize(), LiveBytes());
  EXPECT_GT(LiveBytes(), 100'000u);
  Fill();
  Fill();
  EXPECT_EQ(manager_->GetTotalSize(), LiveBytes());
  EXPECT_EQ(manager_->GetTrackedFiles().size(), 3u);
  ASSERT_TRUE(Compact().ok());
  EXPECT_TRUE(Eventually([&] { return manager_->GetTotalSize() == LiveBytes(); }));
  EXPECT_EQ(manager_->GetTrackedFiles().size(), 1u);
  EXPECT_EQ(Ticks(FILES_DELETED_IMMEDIATELY), 3u);

  const uint64_t one = manager_->GetTotalSize();
  DB* other = nullptr;
  ASSERT_TRUE(DB::Open(options_, "/db2", &other).ok());  // its name begins like the first's
  const std::unique_ptr<DB> closes(other);
  ASSERT_TRUE(other->Put(WriteOptions(), "a", std::string(5000, 'v')).ok());
  ASSERT_TRUE(other->Flush(FlushOptions()).ok());
  EXPECT_GT(manager_->GetTotalSize(), one + 5000);
  const uint64_t both = manager_->GetTotalSize();
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(manager_->GetTotalSize(), both - one);
  ASSERT_TRUE(other->Close().ok());
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
}

// An opening beside the writer, read-only or failed, has no tables of its own.
TEST_F(TableSpaceTest, OtherOpeningsOfADirectoryChangeNothing) {
  Make();
  Open();
  Fill();
  const uint64_t total = manager_->GetTotalSize();
  EXPECT_EQ(total, LiveBytes());
  DB* other = nullptr;
  EXPECT_FALSE(DB::Open(options_, kName, &other).ok());
  EXPECT_EQ(manager_->GetTotalSize(), total);
  ASSERT_TRUE(DB::OpenForReadOnly(options_, kName, &other).ok());
  EXPECT_EQ(manager_->GetTotalSize(), total);
  delete other;
  EXPECT_EQ(manager_->GetTotalSize(), total);
}

TEST_F(TableSpaceTest, TheLimitStopsWritesUntilItIsRaised) {
  Make();
  options_.max_bgerror_resume_count = 0;
  options_.disable_auto_compactions = true;
  Open();
  Fill();
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
  manager_->SetMaxAllowedSpaceUsage(manager_->GetTotalSize() + 50'000);
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
  for (int i = 0; i < 100; i++) Put("key" + std::to_string(i), std::string(1000, 'w'));
  db()->Flush(FlushOptions()).PermitUncheckedError();
  EXPECT_TRUE(manager_->IsMaxAllowedSpaceReached());
  EXPECT_TRUE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
  Status s;
  EXPECT_TRUE(Eventually([&] {
    s = db()->Put(WriteOptions(), "a", "1");
    return !s.ok();
  }));
  EXPECT_TRUE(s.IsSpaceLimit()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("SetMaxAllowedSpaceUsage"));
  EXPECT_EQ(Get("key7"), std::string(1000, 'w'));
  EXPECT_TRUE(db()->Resume().IsSpaceLimit());
  manager_->SetMaxAllowedSpaceUsage(10 << 20);
  ASSERT_TRUE(db()->Resume().ok());
  Put("a", "1");
  manager_->SetMaxAllowedSpaceUsage(0);
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReached());
}

TEST_F(TableSpaceTest, AtTheLimitTablesCanBeDeleted) {
  Make();
  options_.disable_auto_compactions = true;
  // The clock is held, so that no recovery is attempted.
  const auto clock = std::make_shared<HeldClock>();
  HeldClockEnv env(options_.env, clock);
  options_.env = &env;
  Open();
  Fill();
  ASSERT_TRUE(Compact().ok());  // out of L0
  clock->held = clock->NowNanos();
  manager_->SetMaxAllowedSpaceUsage(manager_->GetTotalSize() + 50'000);
  for (int i = 0; i < 100; i++) Put("other" + std::to_string(i), std::string(1000, 'w'));
  db()->Flush(FlushOptions()).PermitUncheckedError();
  EXPECT_TRUE(Eventually([&] { return db()->Put(WriteOptions(), "a", "1").IsSpaceLimit(); }));
  EXPECT_TRUE(Compact().IsSpaceLimit());
  const Slice begin = "k";
  const Slice end = "l";
  const Status s = DeleteFilesInRange(db(), Handle("default"), &begin, &end);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(manager_->GetTotalSize(), LiveBytes());
  EXPECT_TRUE(Eventually([&] { return db()->Put(WriteOptions(), "a", "1").ok(); }));
  EXPECT_EQ(Get("key7"), "NOT_FOUND");
  EXPECT_EQ(Get("other7"), std::string(1000, 'w'));
  clock->held = 0;
  ASSERT_TRUE(Close().ok());
}

TEST_F(TableSpaceTest, ACompactionWithoutRoomIsNotRun) {
  Make();
  options_.disable_auto_compactions = true;
  Open();
  Fill();
  Fill();
  const uint64_t total = manager_->GetTotalSize();
  manager_->SetMaxAllowedSpaceUsage(total + total / 2);
  EXPECT_TRUE(Compact().IsCompactionTooLarge());
  EXPECT_EQ(Levels(), "2");
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
  manager_->SetMaxAllowedSpaceUsage(2 * total);
  manager_->SetCompactionBufferSize(1);
  EXPECT_TRUE(Compact().IsCompactionTooLarge());
  manager_->SetCompactionBufferSize(0);
  EXPECT_TRUE(Compact().ok());
  // The space that was reserved for it was given back.
  EXPECT_FALSE(manager_->IsMaxAllowedSpaceReachedIncludingCompactions());
  Put("a", "1");
}

// The database checks by itself whether there is room, without a write, flush or call.
TEST_F(TableSpaceTest, WhatWasPutOffIsDoneOnceThereIsRoom) {
  Make();
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  Fill();
  ASSERT_TRUE(Compact().ok());  // later tables of L0 cannot be moved
  manager_->SetMaxAllowedSpaceUsage(5 * manager_->GetTotalSize());
  Fill();
  Fill();
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  EXPECT_EQ(Levels(), "2,0,0,0,0,0,1");
  EXPECT_GE(Ticks(COMPACTION_CANCELLED), 1u);
  manager_->SetMaxAllowedSpaceUsage(0);
  EXPECT_TRUE(Eventually([&] { return Levels() == "0,0,0,0,0,0,1"; }));
}

// An administrator or a time service may set the clock back while the database waits for room.
TEST_F(TableSpaceTest, WhatWasPutOffIsDoneEvenIfTheClockIsSetBack) {
  const auto clock = std::make_shared<SetBackClock>();
  HeldClockEnv env(options_.env, clock);
  options_.env = &env;
  Make();
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  Fill();
  ASSERT_TRUE(Compact().ok());
  manager_->SetMaxAllowedSpaceUsage(5 * manager_->GetTotalSize());
  Fill();
  Fill();
  ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  ASSERT_GE(Ticks(COMPACTION_CANCELLED), 1u);
  clock->seconds = 3600;
  manager_->SetMaxAllowedSpaceUsage(0);
  EXPECT_TRUE(Eventually([&] { return Levels() == "0,0,0,0,0,0,1"; }));
  ASSERT_TRUE(Close().ok());
}

TEST_F(TableSpaceTest, TablesAreDeletedAtARate) {
  Make(/*rate=*/1, /*ratio=*/100, /*chunk=*/10'000);
  Open();
  Fill();
  Fill();
  ASSERT_TRUE(Compact().ok());
  // The first piece goes at once, the second would have to wait for hours.
  EXPECT_TRUE(Eventually([&] { return Ticks(FILES_MARKED_TRASH) == 2; }));
  EXPECT_FALSE(TrashFiles().empty());
  EXPECT_GT(manager_->GetTotalTrashSize(), 100'000u);
  EXPECT_EQ(manager_->GetTotalSize(), LiveBytes());
  EXPECT_EQ(Ticks(FILES_DELETED_FROM_TRASH_QUEUE), 0u);
  manager_->SetDeleteRateBytesPerSecond(100 << 20);
  EXPECT_EQ(manager_->GetDeleteRateBytesPerSecond(), 100 << 20);
  EXPECT_TRUE(Eventually([&] { return manager_->GetTotalTrashSize() == 0; }));
  EXPECT_TRUE(TrashFiles().empty());
  EXPECT_EQ(Ticks(FILES_DELETED_FROM_TRASH_QUEUE), 2u);
  EXPECT_EQ(Ticks(FILES_DELETED_IMMEDIATELY), 0u);
}

// A secondary in another process may read the table to its end.
TEST(TableSpaceFilesTest, WhatIsOpenElsewhereIsNotCut) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("varve_trash_" + std::to_string(getpid())))
          .string();
  for (const bool is_open : {true, false}) {
    SCOPED_TRACE(is_open);
    std::ofstream(path) << std::string(100'000, 'v');
    const int fd = is_open ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : -1;
    EXPECT_EQ(MayBeOpenElsewhere(path), is_open);
    const std::unique_ptr<SstFileManager> manager(
        NewSstFileManager(Env::Default(), nullptr, "", /*rate_bytes_per_sec=*/1, true, nullptr,
                          /*max_trash_db_ratio=*/100, /*bytes_max_delete_chunk=*/10'000));
    ASSERT_TRUE(TableSpaceOf(manager.get())->DeleteAtRate(path));
    const uint64_t left = is_open ? 0 : 90'000;
    EXPECT_TRUE(Eventually([&] { return manager->GetTotalTrashSize() == left; }));
    EXPECT_EQ(std::filesystem::exists(path + ".trash"), !is_open);
    if (!is_open) {
      EXPECT_EQ(std::filesystem::file_size(path + ".trash"), left);
      std::filesystem::remove(path + ".trash");
      continue;
    }
    struct stat found {};
    ASSERT_EQ(::fstat(fd, &found), 0);
    EXPECT_EQ(found.st_size, 100'000);
    ::close(fd);
  }
  EXPECT_FALSE(MayBeOpenElsewhere(path));
}

TEST_F(TableSpaceTest, WhatIsLeftBehindGoesWhenTheDatabaseIsOpenedAgain) {
  for (const bool with_manager : {true, false}) {
    LeaveTrash();
    options_.sst_file_manager.reset();
    manager_.reset();
    ASSERT_FALSE(TrashFiles().empty());
    if (with_manager) Make();
    Open();
    EXPECT_TRUE(TrashFiles().empty()) << with_manager;
    EXPECT_EQ(Get("key7"), std::string(1000, 'v'));
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(TableSpaceTest, WhatWaitsIsCountedOnce) {
  LeaveTrash();
  // The first goes at once, the other waits for its time.
  ASSERT_TRUE(Eventually([&] { return TrashFiles().size() == 1; }));
  const std::string waiting = ReadFile(std::string(kName) + "/" + TrashFiles()[0]);
  Open();
  Reopen();
  EXPECT_TRUE(Eventually([&] { return manager_->GetTotalTrashSize() == waiting.size(); }, 2));
  manager_->SetDeleteRateBytesPerSecond(0);
  EXPECT_TRUE(Eventually([&] { return manager_->GetTotalTrashSize() == 0; }));
  EXPECT_THAT(TrashFiles(), IsEmpty());
}

TEST_F(TableSpaceTest, TrashIsDestroyedWithTheDatabase) {
  LeaveTrash();
  options_.sst_file_manager.reset();  // at whose rate it would take a day
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_TRUE(file_system()->FileExists(kName, IOOptions(), nullptr).IsNotFound());
}

// Tables are in the database's own directory, another one, and lost/. DestroyDB waits for their
// deletion.
TEST_F(TableSpaceTest, ADatabaseIsDestroyedAtTheRate) {
  options_.db_paths = {{"/tables", 1 << 30}};
  Open();
  Fill();
  ASSERT_TRUE(Close().ok());
  ASSERT_EQ(Files(kTableFile, "/tables").size(), 1u);
  WriteFile("/db/000098.sst", std::string(50'000, 'o'));
  ASSERT_TRUE(file_system()->CreateDirIfMissing("/tables/lost", IOOptions(), nullptr).ok());
  WriteFile("/tables/lost/000099.sst", std::string(50'000, 'l'));
  Make(/*rate=*/1, /*ratio=*/0, /*chunk=*/1000);
  Status s;
  std::atomic<bool> done{false};
  std::thread destroyer([&] {
    s = DestroyDB(kName, options_);
    done = true;
  });
  EXPECT_TRUE(Eventually([&] { return Ticks(FILES_MARKED_TRASH) == 3; }));
  EXPECT_EQ(TrashFiles().size() + TrashFiles("/tables").size() + TrashFiles("/tables/lost").size(),
            3u);
  EXPECT_GT(manager_->GetTotalTrashSize(), 150'000u);
  EXPECT_FALSE(done);
  EXPECT_TRUE(file_system()->FileExists("/db/CURRENT", IOOptions(), nullptr).ok());
  manager_->SetDeleteRateBytesPerSecond(1 << 30);
  destroyer.join();
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Ticks(FILES_DELETED_FROM_TRASH_QUEUE), 3u);
  EXPECT_TRUE(file_system()->FileExists(kName, IOOptions(), nullptr).IsNotFound());
  EXPECT_TRUE(file_system()->FileExists("/tables", IOOptions(), nullptr).IsNotFound());
  EXPECT_EQ(manager_->GetTotalTrashSize() + manager_->GetTotalSize(), 0u);
}

TEST_F(TableSpaceTest, ADatabaseIsDestroyedWhereStepsOfTheRateFail) {
  for (const FaultCall failing : {FaultCall::kRename, FaultCall::kTruncate}) {
    Open();
    Fill();
    ASSERT_TRUE(Close().ok());
    Make(/*rate=*/1 << 30, /*ratio=*/100, /*chunk=*/1000);
    FaultRule rule;
    rule.calls = Only(failing);
    rule.path_contains = ".sst";
    rule.sticky = true;
    faults().Inject(rule);
    EXPECT_TRUE(DestroyDB(kName, options_).ok());
    EXPECT_GT(faults().strikes(), 0u);
    faults().ClearFaults();
    EXPECT_TRUE(file_system()->FileExists(kName, IOOptions(), nullptr).IsNotFound());
  }
}

// Tables that could not be deleted before the database was closed.
TEST_F(TableSpaceTest, ObsoleteTablesThatAnOpeningFindsAreDeletedAtTheRate) {
  Open();
  Fill();
  Fill();
  FaultRule rule;
  rule.calls = Only(FaultCall::kDelete);
  rule.path_contains = ".sst";
  rule.sticky = true;
  faults().Inject(rule);
  ASSERT_TRUE(Compact().ok());
  ASSERT_TRUE(Close().ok());
  faults().ClearFaults();
  ASSERT_EQ(Files(kTableFile).size(), 3u);
  Make(/*rate=*/1, /*ratio=*/0, /*chunk=*/10'000);
  Open();
  EXPECT_EQ(Files(kTableFile).size(), 1u);
  EXPECT_EQ(TrashFiles().size(), 2u);
  EXPECT_EQ(Ticks(FILES_MARKED_TRASH), 2u);
  EXPECT_EQ(manager_->GetTotalSize(), LiveBytes());
  EXPECT_EQ(Get("key7"), std::string(1000, 'v'));
}

TEST_F(TableSpaceTest, TablesOfARangeAreDeletedAtTheRate) {
  Make(/*rate=*/1, /*ratio=*/100, /*chunk=*/10'000);
  Open();
  Fill();
  ASSERT_TRUE(Compact().ok());
  const uint64_t before = Ticks(FILES_MARKED_TRASH);
  ASSERT_TRUE(DeleteFilesInRange(db(), Handle("default"), nullptr, nullptr).ok());
  EXPECT_TRUE(Eventually([&] { return Ticks(FILES_MARKED_TRASH) == before + 1; }));
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
  EXPECT_EQ(Ticks(FILES_DELETED_IMMEDIATELY), 0u);
}

TEST_F(TableSpaceTest, ARepairLeavesNoTablesBehind) {
  Open();
  Fill();
  ASSERT_TRUE(Close().ok());
  Make(/*rate=*/1);
  ASSERT_TRUE(file_system()->DeleteFile("/db/CURRENT", IOOptions(), nullptr).ok());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  EXPECT_EQ(manager_->GetTotalSize(), 0u);
  Open();
  EXPECT_EQ(manager_->GetTotalSize(), LiveBytes());
  EXPECT_EQ(Get("key7"), std::string(1000, 'v'));
}

TEST_F(TableSpaceTest, TrashInOtherDirectoriesGoesAsWell) {
  options_.db_paths = {{"/tables", 1 << 30}};
  LeaveTrash("/tables");
  options_.sst_file_manager.reset();
  manager_.reset();
  ASSERT_FALSE(TrashFiles("/tables").empty());
  WriteFile("/tables/notes.trash", "somebody's");
  WriteFile("/tables/000099.dbtmp", "somebody's");
  Open();
  EXPECT_THAT(TrashFiles("/tables"), IsEmpty());
  EXPECT_EQ(ReadFile("/tables/notes.trash"), "somebody's");
  EXPECT_EQ(ReadFile("/tables/000099.dbtmp"), "somebody's");
  EXPECT_EQ(Get("key7"), std::string(1000, 'v'));
  ASSERT_TRUE(Close().ok());
  LeaveTrash("/tables");
  options_.sst_file_manager.reset();
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_THAT(TrashFiles("/tables"), IsEmpty());
  EXPECT_EQ(ReadFile("/tables/notes.trash"), "somebody's");
}

TEST_F(TableSpaceTest, TooMuchTrashIsDeletedAtOnce) {
  Make(/*rate=*/1, /*ratio=*/0);
  Open();
  Fill();
  Fill();
  ASSERT_TRUE(Compact().ok());
  EXPECT_TRUE(Eventually([&] { return Ticks(FILES_DELETED_IMMEDIATELY) == 2; }));
  EXPECT_TRUE(TrashFiles().empty());
  EXPECT_EQ(manager_->GetTotalTrashSize(), 0u);
}

TEST_F(TableSpaceTest, StepsThatFailAreMadeUpFor) {
  for (const FaultCall failing : {FaultCall::kRename, FaultCall::kDelete, FaultCall::kTruncate}) {
    Make(/*rate=*/1 << 30, /*ratio=*/100, /*chunk=*/10'000);
    Open();
    Fill();
    Fill();
    FaultRule rule;
    rule.calls = Only(failing);
    rule.path_contains = ".sst";
    rule.sticky = true;
    faults().Inject(rule);
    ASSERT_TRUE(Compact().ok());
    faults().ClearFaults();
    Fill();
    ASSERT_TRUE(Compact().ok());
    EXPECT_TRUE(Eventually([&] {
      return manager_->GetTotalTrashSize() == 0 && manager_->GetTotalSize() == LiveBytes();
    }));
    Reopen();
    EXPECT_TRUE(Eventually([&] { return TrashFiles().empty(); }));
    EXPECT_EQ(Files(kTableFile).size(), manager_->GetTrackedFiles().size());
    EXPECT_EQ(Get("key7"), std::string(1000, 'v'));
    ASSERT_TRUE(Close().ok());
  }
}

#ifndef __SANITIZE_THREAD__  // it does not follow a process of several threads through fork()

TEST_F(TableSpaceTest, AChildOfForkLeavesTheTrashToItsParent) {
  Make(/*rate=*/1);
  Open();
  Fill();
  Fill();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(Eventually([&] { return manager_->GetTotalTrashSize() > 0; }));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);  // ends it if it waits for a thread that it does not have
    TableSpaceOf(manager_.get())->WaitForTrash();
    ::_exit(manager_->GetTotalTrashSize() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_GT(manager_->GetTotalTrashSize(), 0u);
  manager_->SetDeleteRateBytesPerSecond(0);
}

#endif

TEST_F(TableSpaceTest, BadArgumentsAreRefused) {
  Status s;
  EXPECT_EQ(NewSstFileManager(nullptr, nullptr, "", 0, true, &s), nullptr);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_EQ(NewSstFileManager(options_.env, nullptr, "", 0, true, &s, -0.5), nullptr);
  EXPECT_TRUE(s.IsInvalidArgument());

  class Foreign final : public SstFileManager {
   public:
    void SetMaxAllowedSpaceUsage(uint64_t) override {}
    void SetCompactionBufferSize(uint64_t) override {}
    bool IsMaxAllowedSpaceReached() override { return false; }
    bool IsMaxAllowedSpaceReachedIncludingCompactions() override { return false; }
    uint64_t GetTotalSize() override { return 0; }
    std::unordered_map<std::string, uint64_t> GetTrackedFiles() override { return {}; }
    int64_t GetDeleteRateBytesPerSecond() override { return 0; }
    void SetDeleteRateBytesPerSecond(int64_t) override {}
    double GetMaxTrashDBRatio() override { return 0; }
    void SetMaxTrashDBRatio(double) override {}
    uint64_t GetTotalTrashSize() override { return 0; }
    void SetStatisticsPtr(const std::shared_ptr<Statistics>&) override {}
  };
  options_.sst_file_manager = std::make_shared<Foreign>();
  s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("NewSstFileManager"));
}

}  // namespace
}  // namespace varve::testing
