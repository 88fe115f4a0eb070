// SPDX-License-Identifier: Apache-2.0

// Goal: an opening that replays logs keeps large values apart, as a flush does, and a crash or an
// error within it loses nothing and leaves no blob file beside the tables that no version has.
// Method: databases in memory whose processes die with everything in their logs.

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "varve/closed_database.h"
#include "varve/listener.h"
#include "varve/metadata.h"

#include "tests/db/api/blob_database.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Takes what a power loss would leave at each call.
class LossesOfAnOpening : public MemFileSystem::CallHook {
 public:
  explicit LossesOfAnOpening(MemFileSystem* fs) : fs_(fs) {}
  void BeforeCall(uint64_t index, MemCall /*call*/, const std::string& /*path*/) override {
    left.push_back(fs_->CrashClone(
        index % 2 == 0 ? CrashPolicy::kSyncedOnly : CrashPolicy::kAdversarial, index));
  }
  std::vector<std::shared_ptr<MemFileSystem>> left;

 private:
  MemFileSystem* const fs_;
};

class BlobReplayTest : public BlobDatabase {
 protected:
  // Returns the names of the blob files that the versions have.
  std::vector<std::string> Live(const std::string& family = "default") {
    ColumnFamilyMetaData metadata;
    db()->GetColumnFamilyMetaData(Handle(family), &metadata);
    std::vector<std::string> names;
    for (const BlobMetaData& file : metadata.blob_files) {
      const std::string& name = file.blob_file_name;
      names.push_back(name.substr(name.rfind('/') + 1));
    }
    return names;
  }
  // Leaves these keys, with large values, in a synced log of a process that is dead.
  void LeaveInLog(int keys) {
    Open();
    WriteOptions synced;
    synced.sync = true;
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(db()->Put(synced, Key(i), Large('v', 400)).ok());
    Kill();
  }
  void ExpectAll(int keys) {
    for (int i = 0; i < keys; ++i) EXPECT_EQ(Get(Key(i)), Large('v', 400)) << i;
  }
};

TEST_F(BlobReplayTest, LargeValuesOfLogsLeaveTheirTables) {
  Open();
  Put("large", Large('l'));
  Put("small", "s");
  Put("twice", Large('1'));
  Put("twice", Large('2'));
  Kill();
  Open();
  ASSERT_THAT(Blobs(), SizeIs(1));
  EXPECT_EQ(Live(), Blobs());
  // Two records of 32 bytes, key and value, between header and footer.
  EXPECT_EQ(ReadFile(std::string(kName) + "/" + Blobs()[0]).size(), 62u + 2 * (32 + 5 + 200));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Scan(), "large=" + Large('l') + " small=s twice=" + Large('2'));
    EXPECT_TRUE(db()->VerifyChecksum().ok());
    Reopen();
  }
  // The table's references are counted: the file goes with them.
  Delete("large");
  Delete("twice");
  Flush();
  Compact();
  EXPECT_THAT(Blobs(), IsEmpty());
}

// The first memtables are flushed while the replay goes on, the last one after it.
TEST_F(BlobReplayTest, ALongLogFillsSeveralFiles) {
  options_.write_buffer_size = 8 << 20;
  LeaveInLog(1000);
  options_.write_buffer_size = 64 << 10;
  options_.blob_file_size = 20000;
  Open();
  EXPECT_GT(Files(kTableFile).size(), 2u);
  EXPECT_GT(Blobs().size(), 20u);
  EXPECT_EQ(Live(), Blobs());
  ExpectAll(1000);
  Reopen();
  ExpectAll(1000);
}

TEST_F(BlobReplayTest, OptionsDecideAsForFlushes) {
  for (const auto& [enabled, level, files] :
       {std::tuple(true, 0, 1), std::tuple(true, 1, 0), std::tuple(false, 0, 0)}) {
    SCOPED_TRACE(std::to_string(enabled) + " " + std::to_string(level));
    options_.enable_blob_files = enabled;
    options_.blob_file_starting_level = level;
    LeaveInLog(3);
    Open();
    EXPECT_THAT(Blobs(), SizeIs(files));
    ExpectAll(3);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// A reader answers from the logs, and writes nothing.
TEST_F(BlobReplayTest, AReaderWritesNoBlobFile) {
  LeaveInLog(3);
  ASSERT_TRUE(TryOpenReadOnly().ok());
  ExpectAll(3);
  ASSERT_TRUE(Close().ok());
  EXPECT_THAT(Blobs(), IsEmpty());
}

TEST_F(BlobReplayTest, EachFamilyHasFilesOfItsOwn) {
  Open({"default", "other"});
  Put("k", Large('d'));
  Put("k", Large('o'), "other");
  Kill();
  Open({"default", "other"});
  EXPECT_THAT(Live(), SizeIs(1));
  EXPECT_THAT(Live("other"), SizeIs(1));
  EXPECT_NE(Live(), Live("other"));
  EXPECT_EQ(Get("k"), Large('d'));
  EXPECT_EQ(Get("k", "other"), Large('o'));
}

class RecoveredBlobEvents : public EventListener {
 public:
  void OnBlobFileCreationStarted(const BlobFileCreationBriefInfo& info) override {
    started.push_back(info.file_path);
    EXPECT_EQ(info.reason, BlobFileCreationReason::kRecovery);
  }
  void OnBlobFileCreated(const BlobFileCreationInfo& info) override {
    created.push_back(info.file_path);
    values += info.total_blob_count;
    EXPECT_EQ(info.reason, BlobFileCreationReason::kRecovery);
  }
  std::vector<std::string> started;
  std::vector<std::string> created;
  uint64_t values = 0;
};

TEST_F(BlobReplayTest, ListenersHearOfTheFiles) {
  LeaveInLog(3);
  const auto listener = std::make_shared<RecoveredBlobEvents>();
  options_.listeners = {listener};
  Open();
  EXPECT_THAT(listener->created, ElementsAre(std::string(kName) + "/" + Blobs().at(0)));
  EXPECT_EQ(listener->started, listener->created);
  EXPECT_EQ(listener->values, 3u);
  ASSERT_TRUE(Close().ok());
}

// An opening that fails in the midst of a flush leaves no blob file, and the next one makes all of
// them anew.
TEST_F(BlobReplayTest, AFailedOpeningCanBeRepeated) {
  for (const FaultCall call :
       {FaultCall::kCreate, FaultCall::kWrite, FaultCall::kSync, FaultCall::kClose}) {
    for (uint64_t nth = 1, strikes = 1; strikes > 0; ++nth) {
      SCOPED_TRACE(static_cast<int>(call) * 100 + static_cast<int>(nth));
      options_.blob_file_size = 1000;
      LeaveInLog(10);
      FaultRule rule;
      rule.calls = Only(call);
      rule.path_contains = ".blob";
      rule.nth = nth;
      faults().Inject(rule);
      const Status s = TryOpen();
      strikes = faults().strikes();
      EXPECT_EQ(s.ok(), strikes == 0) << s.ToString();
      faults().ClearFaults();
      if (!s.ok()) {
        EXPECT_THAT(Blobs(), IsEmpty());
        Open();
      }
      EXPECT_THAT(Blobs(), SizeIs(4));
      EXPECT_EQ(Live(), Blobs());
      ExpectAll(10);
      ASSERT_TRUE(Close().ok());
      ASSERT_TRUE(DestroyDB(kName, options_).ok());
    }
  }
}

TEST_F(BlobReplayTest, NoPowerLossInAnOpeningLosesAValue) {
  options_.blob_file_size = 1000;
  LeaveInLog(10);
  LossesOfAnOpening losses(&mem());
  mem().SetCallHook(&losses);
  Open();
  mem().SetCallHook(nullptr);
  ASSERT_TRUE(Close().ok());
  EXPECT_GT(losses.left.size(), 10u);
  size_t orphaned = 0;
  for (size_t i = 0; i < losses.left.size(); ++i) {
    SCOPED_TRACE(i);
    Remount(losses.left[i]);
    const std::vector<std::string> before = Blobs();
    Open();
    EXPECT_EQ(Live(), Blobs()) << "blob files without a table do not stay";
    orphaned += Live() != before && !before.empty() ? 1 : 0;
    ExpectAll(10);
    EXPECT_TRUE(db()->VerifyChecksum().ok());
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_GT(orphaned, 0u) << "no loss came between a blob file and the MANIFEST";
}

// A repair replays logs as an opening does, also if the MANIFEST is gone.
TEST_F(BlobReplayTest, ARepairKeepsThemApart) {
  for (const bool with_manifest : {true, false}) {
    SCOPED_TRACE(with_manifest);
    LeaveInLog(5);
    if (!with_manifest) {
      for (const std::string& name : Files(kDescriptorFile)) {
        ASSERT_TRUE(options_.env->DeleteFile(std::string(kName) + "/" + name).ok());
      }
    }
    const Status s = RepairDB(kName, options_);
    ASSERT_TRUE(s.ok()) << s.ToString();
    Open();
    EXPECT_THAT(Blobs(), SizeIs(1));
    EXPECT_EQ(Live(), Blobs());
    ExpectAll(5);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

}  // namespace
}  // namespace varve
