// SPDX-License-Identifier: Apache-2.0

// Goal: when a file system fails, reads go on, writes are refused or not as the severity says, and
// work begins again by itself, or on Resume, once it stopped failing. Method: faults put on one
// kind of file at a time.

#include <gmock/gmock.h>

#include <atomic>

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kHealsWithinSeconds = 5;

class ErrorRecoveryTest : public Database {
 protected:
  ErrorRecoveryTest() { options_.disable_auto_compactions = true; }

  void Break(const char* path, FaultEffect effect = FaultEffect::kNoSpace) {
    FaultRule rule;
    rule.calls = Only(FaultCall::kCreate) | Only(FaultCall::kWrite) | Only(FaultCall::kSync);
    rule.path_contains = path;
    rule.effect = effect;
    rule.sticky = true;
    faults().Inject(rule);
  }
  // A table in the last level, so that the next compaction of L0 is more than a move.
  void MakeBottom() {
    MakeTable({"a", "z"});
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  }
  void FailASyncOfTheLog() {
    FaultRule rule;
    rule.calls = Only(FaultCall::kSync);
    rule.path_contains = ".log";
    faults().Inject(rule);
    WriteOptions sync;
    sync.sync = true;
    EXPECT_FALSE(db()->Put(sync, "b", "2").ok());
  }
  bool WritesWork() { return db()->Put(WriteOptions(), "probe", "p").ok(); }
};

TEST_F(ErrorRecoveryTest, WaitsWhileBackgroundWorkIsPaused) {
  Open();
  Put("a", "1");
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  FailASyncOfTheLog();
  EXPECT_FALSE(Eventually([this] { return WritesWork(); }, /*seconds=*/1));
  EXPECT_EQ(Levels(), "") << "nothing was flushed";
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
  EXPECT_TRUE(Eventually([this] { return WritesWork(); }, kHealsWithinSeconds));
  EXPECT_EQ(Levels(), "1");
}

TEST_F(ErrorRecoveryTest, GoesOnWhilePausedIfItIsAskedFor) {
  Open();
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  FailASyncOfTheLog();
  EXPECT_TRUE(db()->Resume().ok());
  EXPECT_TRUE(WritesWork());
  ASSERT_TRUE(db()->ContinueBackgroundWork().ok());
}

struct Place {
  const char* name;
  const char* path;
  void (*provoke)(DB*);
};

const Place kPlaces[] = {
    {"flush", ".sst", [](DB* db) { EXPECT_FALSE(db->Flush(FlushOptions()).ok()); }},
    {"log", ".log",
     [](DB* db) {
       WriteOptions sync;
       sync.sync = true;
       EXPECT_FALSE(db->Put(sync, "refused", "r").ok());
     }},
    {"manifest", "MANIFEST", [](DB* db) { EXPECT_FALSE(db->Flush(FlushOptions()).ok()); }},
};

TEST_F(ErrorRecoveryTest, WritesComeBackByThemselves) {
  Open();
  for (const Place& place : kPlaces) {
    for (const FaultEffect effect : {FaultEffect::kNoSpace, FaultEffect::kIoError}) {
      SCOPED_TRACE(std::string(place.name) + (effect == FaultEffect::kNoSpace ? ", no space" : ""));
      Put("kept", place.name);
      Break(place.path, effect);
      place.provoke(db());
      EXPECT_FALSE(WritesWork());
      EXPECT_EQ(Get("kept"), place.name) << "reads go on";
      EXPECT_EQ(Number("rocksdb.is-write-stopped"), 1u);
      EXPECT_GT(Number("rocksdb.background-errors"), 0u);
      EXPECT_NE(Text("varve.background-error"), "OK");
      faults().ClearFaults();
      EXPECT_TRUE(Eventually([&] { return WritesWork(); }, kHealsWithinSeconds));
      EXPECT_EQ(Number("rocksdb.is-write-stopped"), 0u);
      EXPECT_EQ(Number("rocksdb.background-errors"), 0u);
      EXPECT_EQ(Text("varve.background-error"), "OK");
      ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
    }
  }
  Reopen();
  EXPECT_EQ(Get("kept"), "manifest");
  EXPECT_EQ(Get("probe"), "p");
}

// Closing may be what writes the last bytes, or where a file system says that it could not.
TEST_F(ErrorRecoveryTest, ATableThatCannotBeClosedIsNotUsed) {
  Open();
  Put("kept", "k");
  FaultRule rule;
  rule.calls = Only(FaultCall::kClose);
  rule.path_contains = ".sst";
  rule.sticky = true;
  faults().Inject(rule);
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  EXPECT_EQ(Levels(), "");
  EXPECT_EQ(Get("kept"), "k");
  faults().ClearFaults();
  EXPECT_TRUE(Eventually([&] { return WritesWork(); }, kHealsWithinSeconds));
  EXPECT_TRUE(db()->Flush(FlushOptions()).ok());
  EXPECT_EQ(Get("kept"), "k");
}

TEST_F(ErrorRecoveryTest, ResumeTriesAtOnce) {
  options_.max_bgerror_resume_count = 0;
  Open();
  EXPECT_TRUE(db()->Resume().ok()) << "nothing to resume from";
  for (const Place& place : kPlaces) {
    SCOPED_TRACE(place.name);
    Put("kept", place.name);
    Break(place.path);
    place.provoke(db());
    EXPECT_FALSE(db()->Resume().ok()) << "the cause is still there";
    EXPECT_FALSE(WritesWork());
    faults().ClearFaults();
    EXPECT_FALSE(WritesWork()) << "automatic recovery was turned off";
    ASSERT_TRUE(db()->Resume().ok());
    EXPECT_TRUE(WritesWork());
    EXPECT_EQ(Get("kept"), place.name);
  }
}

TEST_F(ErrorRecoveryTest, ResumeLeavesAMappedLogThatFailed) {
  options_.max_bgerror_resume_count = 0;
  mem().OfferMappedFiles();
  faults().OfferMappedFiles();
  Open();
  WriteOptions sync;
  sync.sync = true;
  const std::string large(10000, 'l');
  for (const FaultEffect effect : {FaultEffect::kIoError, FaultEffect::kNoSpace}) {
    const bool full = effect == FaultEffect::kNoSpace;
    SCOPED_TRACE(full ? "no space for the next piece" : "a failed sync");
    const std::string kept = full ? "kept when full" : "kept when a sync failed";
    Put(kept, "k");
    FaultRule rule;
    rule.calls = Only(FaultCall::kCreate) | Only(FaultCall::kWrite) | Only(FaultCall::kAllocate) |
                 Only(FaultCall::kSync);
    rule.path_contains = ".log";
    rule.effect = effect;
    rule.sticky = true;
    faults().Inject(rule);
    Status s;
    uint64_t acknowledged = 0;
    while (s.ok() && acknowledged < 100) {
      s = db()->Put(full ? WriteOptions() : sync, "n" + std::to_string(acknowledged), large);
      if (s.ok()) acknowledged++;
    }
    EXPECT_EQ(s.IsNoSpace(), full) << s.ToString();
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(acknowledged > 0, full) << "only what does not fit is refused";
    EXPECT_FALSE(WritesWork());
    EXPECT_FALSE(db()->Resume().ok()) << "the cause is still there";
    faults().ClearFaults();
    ASSERT_TRUE(db()->Resume().ok());
    EXPECT_TRUE(WritesWork());
    EXPECT_TRUE(db()->Put(sync, "after", kept).ok());
    std::shared_ptr<MemFileSystem> left = mem().CrashClone(CrashPolicy::kSyncedOnly, 1);
    Kill();
    Remount(std::move(left));
    mem().OfferMappedFiles();
    faults().OfferMappedFiles();
    Open();
    EXPECT_EQ(Get(kept), "k");
    EXPECT_EQ(Get("after"), kept);
    for (uint64_t i = 0; i < acknowledged; i++) EXPECT_EQ(Get("n" + std::to_string(i)), large);
  }
}

// Entries that the log lost are in a table once Resume has succeeded.
TEST_F(ErrorRecoveryTest, ABufferThatIsLostWhenItsLogIsLeftIsNotForgotten) {
  options_.manual_wal_flush = true;
  options_.max_bgerror_resume_count = 0;
  Open();
  Put("held", "back");
  FaultRule rule;
  rule.calls = Only(FaultCall::kWrite);
  rule.path_contains = ".log";
  rule.sticky = true;
  faults().Inject(rule);
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  faults().ClearFaults();
  EXPECT_FALSE(db()->FlushWAL(/*sync=*/false).ok());
  EXPECT_FALSE(db()->SyncWAL().ok());
  EXPECT_FALSE(WritesWork());
  EXPECT_TRUE(db()->Resume().ok());
  EXPECT_TRUE(db()->FlushWAL(/*sync=*/true).ok());
  EXPECT_TRUE(WritesWork());
  Kill();
  Open();
  EXPECT_EQ(Get("held"), "back");
}

TEST_F(ErrorRecoveryTest, AFailedSyncOfTheDirectoryIsNotBelievedWhenItIsTriedAgain) {
  options_.max_bgerror_resume_count = 0;
  Open();
  FaultRule rule;
  rule.calls = Only(FaultCall::kSyncDir);
  faults().Inject(rule);
  WriteOptions sync;
  sync.sync = true;
  EXPECT_FALSE(db()->Put(sync, "doubtful", "d").ok());
  ASSERT_EQ(faults().strikes(), 1u);
  EXPECT_FALSE(db()->SyncWAL().ok());
  EXPECT_TRUE(db()->Resume().ok());
  EXPECT_TRUE(db()->Put(sync, "sure", "s").ok());
  EXPECT_TRUE(db()->SyncWAL().ok());
}

// Calls the database for each line, as a program may that logs its state beside it.
class AskingLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char*, va_list) override {
    uint64_t value = 0;
    DB* const asked = db.load();
    if (asked != nullptr && asked->GetIntProperty("rocksdb.background-errors", &value)) answers++;
  }

  std::atomic<DB*> db{nullptr};
  std::atomic<int> answers{0};
};

TEST_F(ErrorRecoveryTest, NoLockIsHeldWhileLoggersAreCalled) {
  const auto logger = std::make_shared<AskingLogger>();
  options_.info_log = logger;
  options_.max_bgerror_resume_count = 0;
  Open();
  logger->db = db();
  for (const Place& place : kPlaces) {
    SCOPED_TRACE(place.name);
    Put("kept", place.name);
    Break(place.path);
    const int before = logger->answers;
    place.provoke(db());
    EXPECT_GT(logger->answers, before);
    EXPECT_FALSE(db()->Resume().ok());
    faults().ClearFaults();
    EXPECT_TRUE(db()->Resume().ok());
  }
  MakeTable({"a", "b"});
  CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 3;
  EXPECT_TRUE(db()->CompactRange(move, nullptr, nullptr).ok());
  logger->db = nullptr;
}

// Takes its time for what a flush that failed has to say.
class SlowLogger final : public Logger {
 public:
  using Logger::Logv;
  void Logv(const char* format, va_list) override {
    if (std::string_view(format).find("flush failed") == std::string_view::npos) return;
    called = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  std::atomic<bool> called{false};
};

// Delays the report of a flush's error until the test lets it go on.
class SlowListener final : public EventListener {
 public:
  void OnBackgroundError(BackgroundErrorReason reason, Status*) override {
    if (reason != BackgroundErrorReason::kFlush) return;
    called = true;
    while (!go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::atomic<bool> called{false};
  std::atomic<bool> go_on{false};
};

// An error that is reported late, after the recovery from another one has repaired it, stops no
// writes.
class LateErrorTest : public ErrorRecoveryTest {
 protected:
  // A flush by a thread of the background fails, and then a write.
  void Fail(const std::atomic<bool>& told) {
    Put("kept", "k");
    Break(".sst");
    FlushOptions background;
    background.wait = false;
    ASSERT_TRUE(db()->Flush(background).ok());
    ASSERT_TRUE(Eventually([&] { return told.load(); }, kHealsWithinSeconds));
    Break(".log");
    WriteOptions sync;
    sync.sync = true;
    EXPECT_FALSE(db()->Put(sync, "refused", "r").ok());
    faults().ClearFaults();
    ASSERT_TRUE(db()->Resume().ok());
  }
  void ExpectNoError() {
    EXPECT_TRUE(Eventually([&] { return Number("rocksdb.num-running-flushes") == 0; }));
    for (int i = 0; i < 50; i++) {
      ASSERT_TRUE(WritesWork()) << Text("varve.background-error");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(Get("kept"), "k");
  }
};

TEST_F(LateErrorTest, BecauseOfALogger) {
  const auto logger = std::make_shared<SlowLogger>();
  options_.info_log = logger;
  options_.max_bgerror_resume_count = 0;
  Open();
  Fail(logger->called);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  ExpectNoError();
}

TEST_F(LateErrorTest, BecauseOfAListener) {
  const auto listener = std::make_shared<SlowListener>();
  options_.listeners = {listener};
  options_.max_bgerror_resume_count = 0;
  Open();
  Fail(listener->called);
  listener->go_on = true;
  ExpectNoError();
}

TEST_F(ErrorRecoveryTest, AFailedCompactionStopsNoWrites) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  MakeBottom();
  MakeTable({"a", "z"});
  Put("a", "2");
  Put("z", "2");
  // The flush makes one table, and the compaction that it causes the next.
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = ".sst";
  rule.nth = 2;
  rule.sticky = true;
  faults().Inject(rule);
  Flush();
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.background-errors") > 0; }));
  EXPECT_TRUE(WritesWork());
  EXPECT_EQ(Number("rocksdb.is-write-stopped"), 0u);
  EXPECT_EQ(Get("a"), "2");
  EXPECT_FALSE(db()->WaitForCompact(WaitForCompactOptions()).ok());
  faults().ClearFaults();
  EXPECT_TRUE(Eventually([&] { return Levels().substr(0, 1) == "0"; }, kHealsWithinSeconds))
      << Levels();
  EXPECT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
}

TEST_F(ErrorRecoveryTest, ACorruptInputIsFatal) {
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  MakeBottom();
  const std::string path = std::string(kName) + "/" + Files(kTableFile)[0];
  std::string bytes = ReadFile(path);
  bytes[2] = static_cast<char>(bytes[2] ^ 1);
  ASSERT_TRUE(Close().ok());
  WriteFile(path, bytes);
  Open();
  const std::string broken = Files(kTableFile)[0];
  MakeTable({"a", "z"});
  MakeTable({"a", "z"});
  EXPECT_TRUE(Eventually([&] { return Number("rocksdb.background-errors") > 0; }));
  const Status s = db()->Put(WriteOptions(), "k", "v");
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(broken));
  EXPECT_TRUE(db()->Resume().IsCorruption());
  EXPECT_EQ(Get("a"), "of a") << "the newer table answers";
}

TEST_F(ErrorRecoveryTest, SpaceThatComesBackIsUsed) {
  options_.write_buffer_size = 64 << 10;
  Open();
  faults().SetByteQuota(150 << 10);
  std::vector<std::string> acknowledged;
  for (int i = 0; i < 100; i++) {
    const std::string key = "k" + std::to_string(i);
    if (!db()->Put(WriteOptions(), key, std::string(4 << 10, 'v')).ok()) break;
    acknowledged.push_back(key);
  }
  EXPECT_LT(acknowledged.size(), 100u);
  EXPECT_FALSE(WritesWork());
  faults().ReleaseQuota();
  EXPECT_TRUE(Eventually([&] { return WritesWork(); }, kHealsWithinSeconds));
  Reopen();
  for (const std::string& key : acknowledged) {
    EXPECT_EQ(Get(key), std::string(4 << 10, 'v')) << key;
  }
}

TEST_F(ErrorRecoveryTest, AFamilyCannotBeMadeWhileTheManifestFails) {
  Open();
  Break("MANIFEST", FaultEffect::kIoError);
  ColumnFamilyHandle* handle = nullptr;
  EXPECT_FALSE(db()->CreateColumnFamily(options_, "a", &handle).ok());
  EXPECT_EQ(handle, nullptr);
  faults().ClearFaults();
  EXPECT_TRUE(Eventually([&] { return WritesWork(); }, kHealsWithinSeconds));
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "a", &handle).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), handle, "k", "v").ok());
  EXPECT_TRUE(db()->DestroyColumnFamilyHandle(handle).ok());
  ASSERT_TRUE(Close().ok());
  Open({"default", "a"});
  EXPECT_EQ(Get("k", "a"), "v");
}

// Leaves recovery to the user, and counts how often it was asked.
class ByHandListener final : public EventListener {
 public:
  void OnErrorRecoveryBegin(BackgroundErrorReason, Status, bool* auto_recovery) override {
    asked++;
    *auto_recovery = false;
  }
  std::atomic<int> asked{0};
};

TEST_F(ErrorRecoveryTest, AnErrorThatIsMetAgainIsStillLeftToTheUser) {
  const auto listener = std::make_shared<ByHandListener>();
  options_.listeners = {listener};
  options_.manual_wal_flush = true;
  Open();
  for (int error = 1; error <= 2; error++) {
    Put("k", "v");
    FaultRule rule;
    rule.calls = Only(FaultCall::kSync);
    rule.path_contains = ".log";
    faults().Inject(rule);
    for (int i = 0; i < 3; i++) EXPECT_FALSE(db()->SyncWAL().ok());
    faults().ClearFaults();
    EXPECT_EQ(listener->asked, error);
    EXPECT_FALSE(Eventually([&] { return WritesWork(); }, 1)) << "nobody has called Resume";
    ASSERT_TRUE(db()->Resume().ok());
    EXPECT_TRUE(WritesWork());
  }
}

TEST_F(ErrorRecoveryTest, ClosingDoesNotWaitForRecovery) {
  Open();
  Put("k", "v");
  Break(".sst");
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  EXPECT_TRUE(db()->Close().ok()) << "the log holds everything";
  faults().ClearFaults();
  Close().PermitUncheckedError();
  Open();
  EXPECT_EQ(Get("k"), "v");
}

}  // namespace
}  // namespace varve::testing
