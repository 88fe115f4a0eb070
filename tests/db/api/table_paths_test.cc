// SPDX-License-Identifier: Apache-2.0

// Goal: tables are in the directories that db_paths and cf_paths name, levels in the order of their
// age; nothing is lost when a database is opened with other paths, when a kill leaves unknown
// tables, when a table is damaged; and the directory of another program stays untouched. Method:
// three directories in memory, of which the first two have little room.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "varve/convenience.h"
#include "varve/listener.h"
#include "varve/sst_file_manager.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/repair.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kFast[] = "/fast";
constexpr char kSlow[] = "/slow";

class TablePathsTest : public Database {
 protected:
  TablePathsTest() {
    options_.level_compaction_dynamic_level_bytes = false;
    options_.disable_auto_compactions = true;
    options_.max_bytes_for_level_base = 1000;
    options_.max_bytes_for_level_multiplier = 10;
    // The first path has room for L0 and L1.
    options_.db_paths = {{kFast, 2000}, {kSlow, 1 << 30}};
  }

  // Also makes its directory.
  void WriteInto(const std::string& directory, const std::string& name, const std::string& bytes) {
    ASSERT_TRUE(mem().CreateDirIfMissing(directory, IOOptions(), nullptr).ok());
    WriteFile(directory + "/" + name, bytes);
  }
  std::vector<std::string> Tables(const std::string& directory) {
    return Files(kTableFile, directory);
  }
  void CompactInto(int level, int path_id = -1) {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::vector<std::string> names;
    for (const LiveFileMetaData& file : files) names.push_back(file.name);
    ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), names, level, path_id).ok());
  }
  // Returns where the live tables are, as "/fast /slow".
  std::string Places() {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::string text;
    for (const LiveFileMetaData& file : files) text += (text.empty() ? "" : " ") + file.db_path;
    return text;
  }
};

TEST_F(TablePathsTest, LevelsGoWhereThereIsRoomForThem) {
  Open();
  MakeTable({"a", "b"});
  EXPECT_EQ(Places(), kFast);
  EXPECT_THAT(Tables(kName), IsEmpty());
  CompactInto(1);
  EXPECT_EQ(Places(), kFast);
  CompactInto(2);
  EXPECT_EQ(Places(), kSlow);
  EXPECT_THAT(Tables(kFast), IsEmpty());
  EXPECT_EQ(Get("a"), "of a");
  Reopen();
  EXPECT_EQ(Scan(), "a=of a b=of b");
  EXPECT_THAT(Tables(kSlow), SizeIs(1));
}

TEST_F(TablePathsTest, DynamicLevelsCountWithTheSizesThatTheyHaveNow) {
  options_.level_compaction_dynamic_level_bytes = true;
  options_.max_bytes_for_level_base = 4000;
  options_.db_paths[0].target_size = 8000;
  Open();
  MakeTable({"a", "b"});
  // L0 and L6, the base level, are all there is. It is unknown how large the base level of an empty
  // tree will be.
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Places(), kFast) << "CompactRange writes to the path that its options name";
  CompactInto(6);
  EXPECT_EQ(Places(), kFast);
  ASSERT_TRUE(Close().ok());
  options_.db_paths[0].target_size = 7000;
  Open();
  CompactInto(6);
  EXPECT_EQ(Places(), kSlow);
}

TEST_F(TablePathsTest, L0GoesIntoAnotherPathOnBothSidesOfATable) {
  options_.db_paths[0].target_size = 1000;  // L1 has no room in it
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  MakeTable({"m", "n"});
  CompactInto(1);
  ASSERT_EQ(Places(), kSlow);
  MakeTable({"a", "b"});
  MakeTable({"x", "y"});
  ASSERT_TRUE(Close().ok());
  options_.disable_auto_compactions = false;
  Open();
  const Status s = db()->WaitForCompact(WaitForCompactOptions());
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Places(), "/slow /slow /slow");
  Put("c", "of c");
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c m=of m n=of n x=of x y=of y");
}

TEST_F(TablePathsTest, CallsNameAPath) {
  Open();
  MakeTable({"a", "b"});
  CompactRangeOptions range;
  range.target_path_id = 1;
  ASSERT_TRUE(db()->CompactRange(range, nullptr, nullptr).ok());
  EXPECT_EQ(Places(), kSlow);
  CompactInto(1, 0);
  EXPECT_EQ(Places(), kFast);
  CompactInto(1, 1);
  EXPECT_EQ(Places(), kSlow);
  range.target_path_id = 2;
  EXPECT_TRUE(db()->CompactRange(range, nullptr, nullptr).IsInvalidArgument());
  std::vector<LiveFileMetaData> files;
  db()->GetLiveFilesMetaData(&files);
  EXPECT_TRUE(db()->CompactFiles(CompactionOptions(), {files[0].name}, 1, 2).IsInvalidArgument());
  EXPECT_EQ(Scan(), "a=of a b=of b");
}

TEST_F(TablePathsTest, AFamilyMayHavePathsOfItsOwn) {
  ColumnFamilyOptions own(options_);
  own.cf_paths = {{"/own/", 1 << 20}};
  options_.create_missing_column_families = true;
  ASSERT_TRUE(TryOpenWith({{"default", options_}, {"own", own}}).ok());
  MakeTable({"a"}, "own");
  MakeTable({"b"});
  EXPECT_THAT(Tables("/own"), SizeIs(1));
  EXPECT_THAT(Tables(kFast), SizeIs(1));
  ColumnFamilyHandle* later = nullptr;
  own.cf_paths = {{"/later", 1 << 20}};
  ASSERT_TRUE(db()->CreateColumnFamily(own, "later", &later).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), later, "c", "c").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions(), later).ok());
  EXPECT_THAT(Tables("/later"), SizeIs(1));
  TablePropertiesCollection properties;
  ASSERT_TRUE(db()->GetPropertiesOfAllTables(later, &properties).ok());
  ASSERT_THAT(properties, SizeIs(1));
  EXPECT_THAT(properties.begin()->first, StartsWith("/later/"));
  ASSERT_TRUE(db()->DropColumnFamily(later).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(later).ok());
  EXPECT_TRUE(Eventually([&] { return Tables("/later").empty(); })) << "dropped";
  own.cf_paths = {{"/own", 1 << 20}};
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenWith({{"default", options_}, {"own", own}}).ok());
  EXPECT_EQ(Get("a", "own"), "of a");
}

TEST_F(TablePathsTest, AnOpeningWithFewerOrOtherPathsSaysWhatIsMissing) {
  Open();
  MakeTable({"a", "b"});
  CompactInto(2);
  ASSERT_TRUE(Close().ok());
  options_.db_paths.pop_back();
  Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("lies in path 1 of db_paths"));
  EXPECT_THAT(s.ToString(), HasSubstr("its tables were in /fast, /slow"));
  options_.db_paths.emplace_back("/empty", 1 << 30);
  for (const bool skip : {false, true}) {
    options_.skip_checking_sst_file_sizes_on_db_open = skip;
    s = TryOpen();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("/slow/" + Tables(kSlow).front()));
    EXPECT_THAT(s.ToString(), Not(HasSubstr("RepairDB")));
  }
  EXPECT_TRUE(mem().FileExists("/empty", IOOptions(), nullptr).IsNotFound());
  options_.db_paths[1].path = kSlow;
  Open();
  EXPECT_EQ(Scan(), "a=of a b=of b");
}

// The story of a user who follows the advice that an opening gives.
TEST_F(TablePathsTest, TablesInDirectoriesThatAreNotNamedAreNotGivenUp) {
  for (const bool deeper : {false, true}) {
    options_.db_paths = {{kFast, 2000}, {kSlow, 1 << 30}};
    Open();
    MakeTable({"a", "b"});
    if (deeper) CompactInto(2);
    ASSERT_TRUE(Close().ok());
    const std::string table = deeper ? "/slow/" + Tables(kSlow)[0] : "/fast/" + Tables(kFast)[0];
    options_.db_paths.clear();
    for (const bool best_efforts : {false, true}) {
      options_.best_efforts_recovery = best_efforts;
      const Status refused[] = {TryOpen(), TryOpenReadOnly(), RepairDB(kName, options_)};
      for (const Status& s : refused) {
        EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
        EXPECT_THAT(s.ToString(), Not(HasSubstr("RepairDB")));
        EXPECT_THAT(s.ToString(), HasSubstr(&s == &refused[2] ? table : "/fast, /slow"));
      }
    }
    options_.best_efforts_recovery = false;
    options_.db_paths = {{kFast, 2000}, {kSlow, 1 << 30}};
    Open();
    EXPECT_EQ(Scan(), "a=of a b=of b");
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(TablePathsTest, WithoutARecordOfThemARepairGoesByTheManifest) {
  Open();
  MakeTable({"a", "b"});
  CompactInto(2);
  ASSERT_TRUE(Close().ok());
  for (const std::string& name : Files(kOptionsFile)) {
    ASSERT_TRUE(mem().DeleteFile(kName + ("/" + name), IOOptions(), nullptr).ok());
  }
  options_.db_paths.clear();
  Status s = RepairDB(kName, options_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("in path 1 of db_paths or cf_paths, and 1"));
  options_.db_paths = {{"/fast", 2000}, {"/empty", 1 << 30}};
  s = TryOpen();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("db_paths or cf_paths must name where"));
}

// RocksDB's OPTIONS file does not name the directories, which this imitates.
TEST_F(TablePathsTest, WhatOneRepairGivesUpAnotherTakesBack) {
  options_.db_paths = {{kFast, 1 << 30}};
  Open();
  MakeTable({"a", "b"});
  Put("b", "newer");
  Flush();
  ASSERT_TRUE(Close().ok());
  for (const std::string& name : Files(kOptionsFile)) {
    ASSERT_TRUE(mem().DeleteFile(kName + ("/" + name), IOOptions(), nullptr).ok());
  }
  const std::vector<DbPath> paths = std::move(options_.db_paths);
  options_.db_paths.clear();
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  options_.db_paths = paths;
  Open();
  EXPECT_EQ(Scan(), "");
  EXPECT_THAT(Tables("/fast/lost"), SizeIs(2));
  Put("c", "since");
  Put("a", "since");
  Flush();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  EXPECT_EQ(Scan(), "a=since b=newer c=since");
  // A table that was taken back, and deleted since, does not come back again.
  Delete("b");
  Flush();
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(all, nullptr, nullptr).ok());
  ASSERT_TRUE(Close().ok());
  RepairReport report;
  ASSERT_TRUE(RepairDB(kName, options_, {{"default", options_}}, nullptr, {}, &report).ok());
  EXPECT_TRUE(report.healthy) << report.ToString();
  Open();
  EXPECT_EQ(Scan(), "a=since c=since");
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_TRUE(mem().FileExists(kName, IOOptions(), nullptr).IsNotFound());
}

TEST_F(TablePathsTest, WhatWasGivenUpStaysSoWhereNobodyKnowsWhatIsNewer) {
  options_.db_paths = {{kFast, 1 << 30}};
  Open();
  MakeTable({"a", "b"});
  ASSERT_TRUE(Close().ok());
  const std::string table = Tables(kFast).front();
  const std::string bytes = ReadFile("/fast/" + table);
  ASSERT_TRUE(mem().DeleteFile("/fast/" + table, IOOptions(), nullptr).ok());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  Put("a", "since");
  Flush();
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(all, nullptr, nullptr).ok());  // its sequence number is 0 now
  ASSERT_TRUE(Close().ok());
  WriteInto("/fast/lost", table, bytes);
  RepairReport report;
  ASSERT_TRUE(RepairDB(kName, options_, {{"default", options_}}, nullptr, {}, &report).ok());
  EXPECT_TRUE(report.healthy) << report.ToString();
  Open();
  EXPECT_EQ(Scan(), "a=since");
}

// A table was moved to lost/, and the MANIFEST has it.
TEST_F(TablePathsTest, ARepairBringsBackWhatIsInLost) {
  Open();
  MakeTable({"a", "b"});
  CompactInto(2);
  MakeTable({"c"});
  MakeTable({"d"});
  ASSERT_TRUE(Close().ok());
  const std::string sound = Tables(kSlow).front();
  const std::string damaged = Tables(kFast).front();
  std::string bytes = ReadFile("/fast/" + damaged);
  WriteInto("/slow/lost", sound, ReadFile("/slow/" + sound));
  ASSERT_TRUE(mem().DeleteFile("/slow/" + sound, IOOptions(), nullptr).ok());
  bytes[10] = static_cast<char>(bytes[10] ^ 1);
  WriteInto("/db/lost", damaged, bytes);
  ASSERT_TRUE(mem().DeleteFile("/fast/" + damaged, IOOptions(), nullptr).ok());
  EXPECT_TRUE(TryOpen().IsCorruption());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  EXPECT_EQ(Scan(), "a=of a b=of b d=of d") << "the block of c is damaged";
  EXPECT_THAT(Tables("/slow/lost"), IsEmpty());
  EXPECT_EQ(ReadFile("/db/lost/" + damaged), bytes);
}

TEST_F(TablePathsTest, APathThatHoldsNothingMoreNeedNotBeGiven) {
  for (const bool best_efforts : {false, true}) {
    options_.best_efforts_recovery = best_efforts;
    options_.db_paths = {{kFast, 2000}, {kSlow, 1 << 30}};
    Open();
    MakeTable({"a", "b"});
    CompactInto(1, 1);
    ASSERT_TRUE(Close().ok());
    options_.db_paths.pop_back();
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("/fast, /slow"));
    options_.db_paths = {{kFast, 2000}, {kSlow, 1 << 30}};
    Open();
    CompactInto(1, 0);
    ASSERT_EQ(Places(), kFast);
    ASSERT_TRUE(Close().ok());
    options_.db_paths.pop_back();
    Open();
    EXPECT_EQ(Scan(), "a=of a b=of b");
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(TablePathsTest, WhatAKillLeavesIsSetAsideWhereItIs) {
  Open();
  MakeTable({"a"});
  Kill();
  WriteInto("/slow", "000777.sst", "no table");
  WriteInto("/fast", "000778.sst", "no table");
  WriteInto("/fast", "notes.txt", "somebody's");
  WriteInto("/fast", "000779.log", "no log");
  Open();
  EXPECT_EQ(ReadFile("/slow/lost/000777.sst"), "no table");
  EXPECT_EQ(ReadFile("/fast/lost/000778.sst"), "no table");
  EXPECT_EQ(ReadFile("/fast/notes.txt"), "somebody's");
  EXPECT_EQ(ReadFile("/fast/000779.log"), "no log");
  MakeTable({"b"});
  EXPECT_GT(Tables(kFast).back(), "000778.sst");
  EXPECT_EQ(Scan(), "a=of a b=of b");
}

TEST_F(TablePathsTest, OtherDatabasesAreLeftAlone) {
  options_.db_paths = {{"/other", 1}};
  WriteInto("/other", "CURRENT", "MANIFEST-000001\n");
  WriteInto("/other", "000005.sst", "a table");
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("a database of its own"));
  EXPECT_EQ(ReadFile("/other/000005.sst"), "a table");
  Options destroyed = options_;
  destroyed.db_paths = {{"/other", 1}};
  ASSERT_TRUE(DestroyDB(kName, destroyed).ok());
  EXPECT_EQ(ReadFile("/other/000005.sst"), "a table");
}

TEST_F(TablePathsTest, ANewDatabaseIsNotMadeOverTables) {
  WriteInto("/slow", "000005.sst", "a table");
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("/slow"));
  EXPECT_EQ(ReadFile("/slow/000005.sst"), "a table");
}

TEST_F(TablePathsTest, TheDatabasesOwnMayBeAmongThemHoweverItIsWritten) {
  options_.db_paths = {{"/db/./", 2000}, {kSlow, 1 << 30}};
  Open();
  MakeTable({"a", "b"});
  EXPECT_EQ(Places(), kName);
  CompactInto(2);
  MakeTable({"c"});
  Reopen();
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
  ASSERT_TRUE(Close().ok());
  for (const std::string& name : Files(kDescriptorFile)) {
    ASSERT_TRUE(mem().DeleteFile(kName + ("/" + name), IOOptions(), nullptr).ok());
  }
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_THAT(Tables(kSlow), IsEmpty());
  EXPECT_TRUE(mem().FileExists(kName, IOOptions(), nullptr).IsNotFound());
}

TEST_F(TablePathsTest, DestroyingTakesTablesInAllOfThem) {
  Open();
  MakeTable({"a"});
  CompactInto(2);
  MakeTable({"b"});
  ASSERT_TRUE(Close().ok());
  WriteInto("/fast", "notes.txt", "somebody's");
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_THAT(Tables(kFast), IsEmpty());
  EXPECT_TRUE(mem().FileExists(kSlow, IOOptions(), nullptr).IsNotFound());
  EXPECT_EQ(ReadFile("/fast/notes.txt"), "somebody's");
}

// The remaining files are known only through the database's own directory.
TEST_F(TablePathsTest, ADestructionThatFailedCanBeFinished) {
  Open();
  MakeTable({"a"});
  CompactInto(2);
  ASSERT_TRUE(Close().ok());
  FaultRule rule;
  rule.calls = Only(FaultCall::kDelete);
  rule.path_contains = kSlow;
  faults().Inject(rule);
  EXPECT_TRUE(DestroyDB(kName, options_).IsIOError());
  EXPECT_THAT(Tables(kSlow), Not(IsEmpty()));
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_TRUE(mem().FileExists(kSlow, IOOptions(), nullptr).IsNotFound());
  EXPECT_TRUE(mem().FileExists(kName, IOOptions(), nullptr).IsNotFound());
  Open();
  EXPECT_EQ(Scan(), "");
}

// A MANIFEST that says no more that a table is gone must not be there before the table has gone for
// good.
TEST_F(TablePathsTest, NoPowerLossBringsADeletedTableBack) {
  options_.max_manifest_file_size = 1;
  options_.db_paths = {{kSlow, uint64_t{1} << 30}};
  options_.wal_dir = "/logs";
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  for (const char* operand : {"1", "2"}) {
    ASSERT_TRUE(db()->Merge(WriteOptions(), "a", operand).ok());
    operand[0] == '1' ? Put("old", "1") : Delete("old");
    Flush();
  }
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(all, nullptr, nullptr).ok());
  EXPECT_TRUE(Eventually([this] { return Tables(kSlow).size() == 1; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // they are forgotten, too
  ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "b", &made).ok());  // in a MANIFEST of its own
  std::vector<std::shared_ptr<MemFileSystem>> losses;
  for (uint64_t seed = 0; seed < 60; seed++) {
    losses.push_back(mem().CrashClone(
        seed % 2 == 0 ? CrashPolicy::kSyncedBytes : CrashPolicy::kAdversarial, seed));
  }
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
  ASSERT_TRUE(Close().ok());
  for (const auto& left : losses) {
    Remount(left);
    const Status s = TryOpen({"default", "b"});
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_EQ(Scan(), "a=1,2");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(TablePathsTest, ARepairFindsThemAll) {
  Open();
  MakeTable({"a", "b"});
  CompactInto(2);
  MakeTable({"c"});
  ASSERT_TRUE(Close().ok());
  for (const std::string& name : Files(kDescriptorFile)) {
    ASSERT_TRUE(mem().DeleteFile(kName + ("/" + name), IOOptions(), nullptr).ok());
  }
  EXPECT_TRUE(TryOpen().IsCorruption());
  ASSERT_TRUE(RepairDB(kName, options_).ok());
  Open();
  EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
  EXPECT_THAT(Places(), HasSubstr(kSlow));
}

TEST_F(TablePathsTest, ListenersAndManagersAreToldWholePaths) {
  struct Listener : EventListener {
    void OnTableFileCreated(const TableFileCreationInfo& info) override {
      created.push_back(info.file_path);
    }
    void OnCompactionCompleted(DB*, const CompactionJobInfo& info) override {
      read = info.input_files;
      written = info.output_files;
    }
    std::vector<std::string> created;
    std::vector<std::string> read;
    std::vector<std::string> written;
  };
  const auto listener = std::make_shared<Listener>();
  options_.listeners.push_back(listener);
  options_.sst_file_manager.reset(NewSstFileManager(options_.env));
  Open();
  MakeTable({"a", "b"});
  CompactInto(2);
  ASSERT_THAT(listener->created, SizeIs(2));
  EXPECT_THAT(listener->created[0], StartsWith("/fast/"));
  EXPECT_THAT(listener->created[1], StartsWith("/slow/"));
  EXPECT_EQ(listener->read, std::vector<std::string>{listener->created[0]});
  EXPECT_EQ(listener->written, std::vector<std::string>{listener->created[1]});
  EXPECT_EQ(options_.sst_file_manager->GetTrackedFiles().count(listener->created[1]), 1u);
  ASSERT_TRUE(db()->VerifyChecksum().ok());
  ASSERT_TRUE(Close().ok());
  EXPECT_THAT(options_.sst_file_manager->GetTrackedFiles(), IsEmpty());
}

TEST_F(TablePathsTest, ATableWhoseNameMayBeLostDoesNotComeIntoForce) {
  Open();
  Put("a", "of a");
  FaultRule rule;
  rule.calls = Only(FaultCall::kSyncDir);
  rule.path_contains = kFast;
  faults().Inject(rule);
  EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
  EXPECT_EQ(faults().strikes(), 1u);
  EXPECT_EQ(Places(), "");
  faults().ClearFaults();
  ASSERT_TRUE(db()->Resume().ok());
  EXPECT_EQ(Places(), kFast);
  Kill();
  Open();
  EXPECT_EQ(Scan(), "a=of a");
}

TEST_F(TablePathsTest, AReaderNeedsNoDirectoryThatHoldsNothing) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  options_.db_paths.emplace_back("/nowhere", 1 << 30);
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(Get("a"), "of a");
  EXPECT_TRUE(mem().FileExists("/nowhere", IOOptions(), nullptr).IsNotFound());
}

}  // namespace
}  // namespace varve::testing
