// SPDX-License-Identifier: Apache-2.0

// Goal: a power loss at any call leaves every backup that was reported whole, none that is broken,
// and of a database that is being restored the old state or the new one. Method: at each call that
// changes something, what a crash leaves under each policy is opened, verified and restored.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/crash/crash_recorder.h"
#include "tests/db/backup/backup_test_base.h"
#include "util/env/durable_write.h"

namespace varve {
namespace {

using ::testing::IsEmpty;

constexpr char kOldContent[] = "a=of a b=1 c=later d=of d";
constexpr char kNewContent[] = "a=of a b=1";

class BackupPowerLossTest : public testing::BackupTest {
 protected:
  BackupPowerLossTest() {
    options_.info_log = testing::SilentLogger();
    UseBackups(std::make_shared<MemFileSystem>());
  }
  ~BackupPowerLossTest() override { engine_.reset(); }

  void UseBackups(std::shared_ptr<MemFileSystem> fs) {
    engine_.reset();
    backups_ = std::move(fs);
    backups_env_ = NewCompositeEnv(backups_);
    backup_options_.backup_env = backups_env_.get();
  }
  static bool Exists(MemFileSystem& fs, const std::string& path) {
    return fs.FileExists(path, IOOptions(), nullptr).ok();
  }
  static std::string Name(const testing::CrashState& state) {
    return "call " + std::to_string(state.call) + ", policy " +
           std::to_string(static_cast<int>(state.policy));
  }

  std::shared_ptr<MemFileSystem> backups_;
  std::unique_ptr<Env> backups_env_;
};

// Tracks the state at a moment: ids up to `acked` were reported, those below `durable` may be gone.
class BackupPowerLossScript {
 public:
  explicit BackupPowerLossScript(testing::CrashRecorder* recorder) : recorder_(*recorder) {}
  void Made(BackupID id) {
    made_.insert(id);
    recorder_.durable.store(Mask());
  }
  void GoingToDelete(BackupID id) {
    made_.erase(id);
    recorder_.durable.store(Mask());
  }
  static bool Has(uint64_t mask, BackupID id) { return (mask >> id & 1) != 0; }

 private:
  uint64_t Mask() const {
    uint64_t mask = 0;
    for (const BackupID id : made_) mask |= uint64_t{1} << id;
    return mask;
  }

  testing::CrashRecorder& recorder_;
  std::set<BackupID> made_;
};

TEST_F(BackupPowerLossTest, CreationDeletionAndSweepingLeaveWholeBackups) {
  Open();
  MakeTable({"a"});
  testing::CrashRecorder recorder(backups_.get(), testing::SampleStep());
  recorder.created = true;
  backups_->SetCallHook(&recorder);
  BackupPowerLossScript script(&recorder);
  std::map<BackupID, std::string> contents;
  OpenEngine();
  const auto create = [&] {
    const std::string content = Scan();
    const BackupID id = Create();
    contents[id] = content;
    script.Made(id);
  };
  create();
  MakeTable({"b"});
  create();
  script.GoingToDelete(1);
  EXPECT_TRUE(engine_->DeleteBackup(1).ok());
  MakeTable({"c"});
  create();
  EXPECT_TRUE(engine_->GarbageCollect().ok());
  script.GoingToDelete(2);
  EXPECT_TRUE(engine_->PurgeOldBackups(1).ok());
  backups_->SetCallHook(nullptr);
  ASSERT_LE(backups_->call_count(), 700u);
  ASSERT_GT(backups_->call_count(), 60u);
  ASSERT_TRUE(Close().ok());

  // A backup may be whole before the call that makes it returns.
  contents[1] = "a=of a";
  contents[2] = "a=of a b=of b";
  size_t states = 0;
  size_t restored = 0;
  for (testing::CrashState& state : recorder.Take()) {
    SCOPED_TRACE(Name(state));
    UseBackups(std::move(state.fs));
    OpenEngine();
    EXPECT_THAT(BadIds(), IsEmpty());
    const std::vector<BackupID> ids = Ids();
    // Restores every third state that has backups, as the sampled calls vary.
    const bool restores = !ids.empty() && states++ % 3 == 0;
    for (BackupID id = 1; id <= 3; id++) {
      if (!BackupPowerLossScript::Has(state.durable, id)) continue;
      EXPECT_EQ(std::ranges::count(ids, id), 1) << id;
    }
    for (const BackupID id : ids) {
      const IOStatus s = engine_->VerifyBackup(id, true);
      EXPECT_TRUE(s.ok()) << s.ToString();
      if (!restores) continue;
      EXPECT_EQ(RestoredContent(id), contents[id]);
      restored++;
    }
    EXPECT_TRUE(engine_->GarbageCollect().ok());
    EXPECT_EQ(Ids(), ids);
  }
  EXPECT_GT(restored, 0u);
}

// Tables that a backup without `sync` has made are copied anew, whether a power loss comes before
// the durable backup or after it.
TEST_F(BackupPowerLossTest, ADurableBackupReliesOnNothingThatWasNotSynced) {
  for (const bool early : {false, true}) {
    SCOPED_TRACE(early);
    Remount(std::make_shared<MemFileSystem>());
    UseBackups(std::make_shared<MemFileSystem>());
    Open();
    MakeTable({"a"});
    backup_options_.sync = false;
    OpenEngine();
    ASSERT_EQ(Create(), 1u);
    EXPECT_TRUE(Exists(*backups_, "/backups/meta/unsynced"));
    if (early) UseBackups(backups_->CrashClone(CrashPolicy::kAllNames, 1));
    backup_options_.sync = true;
    OpenEngine();
    const BackupID id = Create();
    ASSERT_NE(id, 0u);
    EXPECT_FALSE(Exists(*backups_, "/backups/meta/unsynced"));
    UseBackups(backups_->CrashClone(CrashPolicy::kSyncedOnly, 1));
    OpenEngine();
    const IOStatus s = engine_->VerifyBackup(id, true);
    EXPECT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(RestoredContent(id), "a=of a");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(BackupPowerLossTest, ARestoreLeavesTheOldStateOrTheNew) {
  for (const char* const wal_dir : {"", "/logs"}) {
    options_.wal_dir = wal_dir;
    Open();
    OpenEngine();
    MakeTable({"a"});
    Put("b", "1");
    const BackupID id = Create();
    Put("c", "later");
    MakeTable({"d"});
    ASSERT_TRUE(Close().ok());
    const std::shared_ptr<MemFileSystem> before = mem().CrashClone(CrashPolicy::kKill, 1);
    ASSERT_TRUE(SyncDirectory(before.get(), "/").ok());

    engine_.reset();
    Remount(before->CrashClone(CrashPolicy::kKill, 1));
    OpenEngine();
    testing::CrashRecorder recorder(&mem(), testing::SampleStep());
    recorder.created = true;
    mem().SetCallHook(&recorder);
    const IOStatus restored = engine_->RestoreDBFromBackup(id, kName, wal_dir);
    ASSERT_TRUE(restored.ok()) << restored.ToString();
    recorder.durable.store(1);
    recorder.TakeClones(mem().call_count());
    mem().SetCallHook(nullptr);
    engine_.reset();

    std::map<std::string, int> seen;
    for (testing::CrashState& state : recorder.Take()) {
      SCOPED_TRACE(Name(state));
      Remount(std::move(state.fs));
      Open();
      const std::string content = Scan();
      EXPECT_TRUE(Close().ok());
      seen[content]++;
      EXPECT_TRUE(content == kNewContent || (content == kOldContent && state.durable == 0))
          << content;
      if (state.call % 5 != 0) continue;
      OpenEngine();
      const IOStatus again = engine_->RestoreDBFromBackup(id, kName, wal_dir);
      EXPECT_TRUE(again.ok()) << again.ToString();
      engine_.reset();
      Open();
      EXPECT_EQ(Scan(), kNewContent);
      EXPECT_TRUE(Close().ok());
    }
    EXPECT_GT(seen[kOldContent], 10);
    EXPECT_GT(seen[kNewContent], 3);
    Remount(before->CrashClone(CrashPolicy::kKill, 1));
    EXPECT_TRUE(DestroyDB(kName, options_).ok());
    UseBackups(std::make_shared<MemFileSystem>());
  }
}

TEST_F(BackupPowerLossTest, ARestoreOverNothingIsAllOrNothing) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Put("b", "1");
  const BackupID id = Create();
  ASSERT_TRUE(Close().ok());
  engine_.reset();
  Remount(std::make_shared<MemFileSystem>());
  OpenEngine();
  testing::CrashRecorder recorder(&mem(), testing::SampleStep());
  recorder.created = true;
  mem().SetCallHook(&recorder);
  ASSERT_TRUE(engine_->RestoreDBFromBackup(id, kName, "").ok());
  mem().SetCallHook(nullptr);
  engine_.reset();
  options_.create_if_missing = false;
  size_t missing = 0;
  for (testing::CrashState& state : recorder.Take()) {
    SCOPED_TRACE(Name(state));
    Remount(std::move(state.fs));
    const Status s = TryOpen();
    if (s.ok()) {
      EXPECT_EQ(Scan(), kNewContent);
      EXPECT_TRUE(Close().ok());
    } else {
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();  // There is no database.
      missing++;
    }
  }
  EXPECT_GT(missing, 5u);
}

}  // namespace
}  // namespace varve
