// SPDX-License-Identifier: Apache-2.0

// Goal: an opening with another wal_dir than the last one loses nothing, and a database whose
// directories were moved or copied still opens. Method: killed databases with batches in their logs
// are opened with other directories, spelled in other ways, moved, and copied.

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "varve/utilities/repair.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class LogDirectoryTest : public Database {
 protected:
  // Kills a database with one key in a table, and one that only the log has.
  void WriteAndDie(const std::string& wal_dir) {
    options_.wal_dir = wal_dir;
    Open();
    MakeTable({"t"});
    // The flush may not have deleted its log yet when it is known to be over.
    const std::string logs = wal_dir.empty() ? kName : wal_dir;
    ASSERT_TRUE(Eventually([&] { return Files(kWalFile, logs).size() == 1; }));
    WriteOptions sync;
    sync.sync = true;
    ASSERT_TRUE(db()->Put(sync, "logged", "l").ok());
    Kill();
  }
  void ExpectRefusal(const Status& s, const std::string& asked, const std::string& found) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(asked + " (wal_dir)"));
    EXPECT_THAT(s.ToString(), HasSubstr(found + "/0"));
  }
  void ExpectAll(const std::string& wal_dir) {
    options_.wal_dir = wal_dir;
    Open();
    EXPECT_EQ(Scan(), "logged=l t=of t");
    ASSERT_TRUE(Close().ok());
  }
  void Copy(const std::string& from, const std::string& to, bool with_lock = true) {
    ASSERT_TRUE(mem().CreateDirIfMissing(to, IOOptions(), nullptr).ok());
    std::vector<std::string> names;
    ASSERT_TRUE(mem().GetChildren(from, IOOptions(), &names, nullptr).ok());
    for (const std::string& name : names) {
      if (name == "LOCK" && !with_lock) continue;
      WriteFile(to + "/" + name, ReadFile(from + "/" + name));
    }
  }
};

TEST_F(LogDirectoryTest, AnotherDirectoryThanTheLastTimeIsRefused) {
  WriteAndDie("/logs");
  for (const char* wrong : {"", "/other", "/logs/deeper"}) {
    options_.wal_dir = wrong;
    ExpectRefusal(TryOpen(), *wrong == '\0' ? kName : wrong, "/logs");
    ExpectRefusal(TryOpenReadOnly(), *wrong == '\0' ? kName : wrong, "/logs");
    ExpectRefusal(RepairDB(kName, options_), *wrong == '\0' ? kName : wrong, "/logs");
  }
  ExpectAll("/logs");
}

// A copy that is opened with the options of the original must not write to its logs.
TEST_F(LogDirectoryTest, TheLogsOfAnOpenDatabaseAreItsOwn) {
  options_.wal_dir = "/logs";
  Open();
  Put("k", "v");
  Flush();
  ASSERT_TRUE(db()->FlushWAL(/*sync=*/true).ok());
  Copy(kName, "/copy", /*with_lock=*/false);
  DB* raw = nullptr;
  const Status s = DB::Open(options_, "/copy", &raw);
  EXPECT_EQ(raw, nullptr);
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("/logs/LOCK"));
  EXPECT_FALSE(DestroyDB("/copy", options_).ok());
  Put("k", "later");
  EXPECT_FALSE(Files(kWalFile, "/logs").empty());
  Reopen();
  EXPECT_EQ(Get("k"), "later");
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_FALSE(mem().FileExists("/logs", IOOptions(), nullptr).ok());
}

// It is then unknown whether logs are there.
TEST_F(LogDirectoryTest, ADirectoryThatCannotBeSeenIsNotTakenForAnEmptyOne) {
  WriteAndDie("/logs");
  FaultRule rule;
  rule.path_contains = "/logs";
  for (const FaultCall call : {FaultCall::kList, FaultCall::kOpenRead}) {
    options_.wal_dir = "";
    rule.calls = Only(call);
    rule.sticky = true;
    faults().Inject(rule);
    Status s = TryOpen();
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    s = RepairDB(kName, options_);
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    options_.wal_dir = "/logs";
    s = TryOpen();
    EXPECT_TRUE(s.IsIOError()) << s.ToString();
    faults().ClearFaults();
  }
  ExpectAll("/logs");
}

TEST_F(LogDirectoryTest, ADatabaseThatCannotBeSeenIsNotTakenForNone) {
  WriteAndDie("");
  options_.create_if_missing = true;
  FaultRule rule;
  rule.sticky = true;
  rule.path_contains = kName;
  for (const FaultCall call : {FaultCall::kList, FaultCall::kStat}) {
    rule.calls = Only(call);
    for (const bool create : {false, true}) {
      options_.create_if_missing = create;
      for (const bool best_efforts : {false, true}) {
        options_.best_efforts_recovery = best_efforts;
        faults().Inject(rule);
        const Status refused[] = {TryOpen(), TryOpenReadOnly(), RepairDB(kName, options_)};
        for (const Status& s : refused) EXPECT_TRUE(s.IsIOError()) << s.ToString();
        faults().ClearFaults();
      }
    }
  }
  options_.best_efforts_recovery = false;
  ExpectAll("");
}

TEST_F(LogDirectoryTest, ARefusedOpeningLeavesNoDirectory) {
  WriteAndDie("/logs");
  options_.create_if_missing = true;
  options_.wal_dir = "/elsewhere";
  options_.db_paths = {{kName, 1 << 30}, {"/fast", 1000}, {"/slow", 1000}};
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  for (const char* directory : {"/elsewhere", "/fast", "/slow"}) {
    EXPECT_TRUE(mem().FileExists(directory, IOOptions(), nullptr).IsNotFound()) << directory;
  }
  options_.db_paths.clear();
  ExpectAll("/logs");
}

TEST_F(LogDirectoryTest, LogsInTheDatabasesOwnDirectoryAreSeen) {
  WriteAndDie("");
  options_.wal_dir = "/logs";
  ExpectRefusal(TryOpen(), "/logs", kName);
  ExpectAll("");
}

// Another database's logs, with the same numbers.
TEST_F(LogDirectoryTest, LogsOfAnotherDatabaseAreNotTakenForThem) {
  std::unique_ptr<DB> other;
  options_.wal_dir = "/others_logs";
  ASSERT_TRUE(DB::Open(options_, "/other", &other).ok());
  ASSERT_TRUE(other->Put(WriteOptions(), "t", "others").ok());
  ASSERT_TRUE(other->Flush(FlushOptions()).ok());
  ASSERT_TRUE(other->Put(WriteOptions(), "logged", "others").ok());
  other.reset();
  WriteAndDie("/logs");
  ASSERT_EQ(Files(kWalFile, "/logs"), Files(kWalFile, "/others_logs"));
  options_.wal_dir = "/others_logs";
  ExpectRefusal(TryOpen(), "/others_logs", "/logs");
  ExpectAll("/logs");
}

TEST_F(LogDirectoryTest, AMissingDirectoryIsMadeWhereNoLogIsMissed) {
  Open();
  MakeTable({"t"});
  ASSERT_TRUE(Close().ok());
  options_.create_if_missing = false;
  options_.wal_dir = "/new";
  Status s = TryOpenReadOnly();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Scan(), "t=of t");
  ASSERT_TRUE(Close().ok());
  EXPECT_TRUE(mem().FileExists("/new", IOOptions(), nullptr).IsNotFound());
  Open();
  Put("logged", "l");
  EXPECT_THAT(Files(kWalFile, "/new"), SizeIs(1));
  Kill();
  Open();
  EXPECT_EQ(Scan(), "logged=l t=of t");
}

TEST_F(LogDirectoryTest, AMissingDirectoryThatHadTheLogsIsRefused) {
  WriteAndDie("/logs");
  options_.create_if_missing = false;
  ASSERT_TRUE(mem().RenameFile("/logs", "/unmounted", IOOptions(), nullptr).ok());
  for (const Status& s : {TryOpen(), TryOpenReadOnly()}) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("/logs (wal_dir), which is missing"));
  }
  EXPECT_TRUE(mem().FileExists("/logs", IOOptions(), nullptr).IsNotFound());
  ASSERT_TRUE(mem().RenameFile("/unmounted", "/logs", IOOptions(), nullptr).ok());
  // Nor is another one made while they are needed.
  options_.wal_dir = "/new";
  ExpectRefusal(TryOpen(), "/new", "/logs");
  ExpectRefusal(TryOpenReadOnly(), "/new", "/logs");
  EXPECT_TRUE(mem().FileExists("/new", IOOptions(), nullptr).IsNotFound());
  ExpectAll("/logs");
}

TEST_F(LogDirectoryTest, ANewDatabaseTakesNoLogsOver) {
  WriteAndDie("/logs");
  DB* made = nullptr;
  options_.wal_dir = "/logs";
  const Status s = DB::Open(options_, "/another", &made);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  ExpectAll("/logs");
}

// The logs of one lie in the directory of another.
TEST_F(LogDirectoryTest, DestroyingOneDatabaseLeavesOthersAlone) {
  WriteAndDie("/logs");
  std::vector<std::string> before;
  ASSERT_TRUE(mem().GetChildren(kName, IOOptions(), &before, nullptr).ok());
  options_.wal_dir = kName;
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(options_, "/other", &other).ok());
  ASSERT_TRUE(other->Put(WriteOptions(), "k", "v").ok());
  other.reset();
  ASSERT_TRUE(DestroyDB("/other", options_).ok());
  EXPECT_FALSE(mem().FileExists("/other", IOOptions(), nullptr).ok());
  for (const std::string& name : before) {
    EXPECT_TRUE(mem().FileExists(kName + ("/" + name), IOOptions(), nullptr).ok()) << name;
  }
  ExpectAll("/logs");
}

TEST_F(LogDirectoryTest, DestroyingTakesOnlyLogsFromTheirDirectory) {
  WriteAndDie("/logs");
  ASSERT_TRUE(mem().CreateDirIfMissing("/logs/lost", IOOptions(), nullptr).ok());
  const std::vector<std::string> others = {"/logs/000901.sst", "/logs/OPTIONS-000902",
                                           "/logs/lost/MANIFEST-000903"};
  for (const std::string& path : others) WriteFile(path, "somebody's");
  WriteFile("/logs/lost/000001.log", "set aside");
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  for (const std::string& path : others) EXPECT_EQ(ReadFile(path), "somebody's") << path;
  EXPECT_THAT(Files(kWalFile, "/logs"), IsEmpty());
  EXPECT_THAT(Files(kWalFile, "/logs/lost"), IsEmpty());
}

TEST_F(LogDirectoryTest, LogsThatHoldNothingMayStayBehind) {
  options_.wal_dir = "/logs";
  Open();
  MakeTable({"t"});
  ASSERT_TRUE(Close().ok());
  ASSERT_THAT(Files(kWalFile, "/logs"), ::testing::Not(IsEmpty()));
  options_.wal_dir = "/other";
  Open();
  EXPECT_EQ(Scan(), "t=of t");
}

TEST_F(LogDirectoryTest, LogsThatWereMovedAreFound) {
  WriteAndDie("/logs");
  ASSERT_TRUE(mem().RenameFile("/logs", "/moved", IOOptions(), nullptr).ok());
  ExpectAll("/moved");
  WriteAndDie("/moved");
  Copy("/moved", kName, true);
  for (const std::string& name : Files(kWalFile, "/moved")) {
    ASSERT_TRUE(mem().DeleteFile("/moved/" + name, IOOptions(), nullptr).ok());
  }
  ExpectAll("");
}

// The original goes on, and has newer logs.
TEST_F(LogDirectoryTest, ACopyOpensBesideItsOriginal) {
  WriteAndDie("/logs");
  Copy(kName, "/copy");
  Copy("/logs", "/copied_logs");
  ExpectAll("/logs");
  options_.wal_dir = "/copied_logs";
  std::unique_ptr<DB> copy;
  ASSERT_TRUE(DB::Open(options_, "/copy", &copy).ok());
  std::string value;
  EXPECT_TRUE(copy->Get(ReadOptions(), "logged", &value).ok());
}

// Its OPTIONS file says where the logs of the original are, and those are not its own.
TEST_F(LogDirectoryTest, ACopyOpensBesideAnOriginalThatGoesOnWriting) {
  WriteOptions sync;
  sync.sync = true;
  options_.wal_dir = "/logs";
  Open();
  MakeTable({"t"});
  ASSERT_TRUE(db()->Put(sync, "logged", "l").ok());
  Copy(kName, "/copy");
  Copy("/logs", "/copied_logs");
  MakeTable({"u"});
  ASSERT_TRUE(db()->Put(sync, "later", "in a log that the copy has not").ok());
  options_.wal_dir = "/copied_logs";
  std::unique_ptr<DB> copy;
  const Status s = DB::Open(options_, "/copy", &copy);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::string value;
  EXPECT_TRUE(copy->Get(ReadOptions(), "logged", &value).ok());
  EXPECT_TRUE(copy->Get(ReadOptions(), "later", &value).IsNotFound());
}

// RocksDB writes such a path: its base directory is recorded nowhere.
TEST_F(LogDirectoryTest, ARelativePathInTheOptionsFileSaysNothing) {
  WriteAndDie("/logs");
  ASSERT_TRUE(mem().CreateDirIfMissing("elsewhere", IOOptions(), nullptr).ok());
  const std::string log = Files(kWalFile, "/logs").back();
  WriteFile("elsewhere/009999.log", ReadFile("/logs/" + log));
  const std::string options_file = std::string(kName) + "/" + Files(kOptionsFile).back();
  std::string text = ReadFile(options_file);
  const std::string there = "wal_dir=/logs";
  ASSERT_NE(text.find(there), std::string::npos);
  text.replace(text.find(there), there.size(), "wal_dir=elsewhere");
  WriteFile(options_file, text);
  ExpectAll("/logs");
}

// A checkpoint has files that were linked or copied by name, with logs of its own or none.
TEST_F(LogDirectoryTest, ACheckpointNeedsNoLogsOfTheOriginal) {
  options_.wal_dir = "/logs";
  Open();
  MakeTable({"t"});
  Copy(kName, "/checkpoint", /*with_lock=*/false);
  Put("later", "in the log");
  options_.wal_dir = "";
  std::unique_ptr<DB> checkpoint;
  const Status s = DB::Open(options_, "/checkpoint", &checkpoint);
  ASSERT_TRUE(s.ok()) << s.ToString();
  std::string value;
  EXPECT_TRUE(checkpoint->Get(ReadOptions(), "t", &value).ok());
  EXPECT_EQ(Get("later"), "in the log");
}

// This is the case of a disk that was not mounted. The log's data is in no table, though newer logs
// are in force.
TEST_F(LogDirectoryTest, ALogThatComesBackIsNotDeleted) {
  WriteAndDie("/logs");
  const std::vector<std::string> missed = Files(kWalFile, "/logs");
  ASSERT_TRUE(mem().RenameFile("/logs", "/away", IOOptions(), nullptr).ok());
  Open();
  EXPECT_EQ(Scan(), "t=of t");
  Put("new", "n");
  Reopen();
  ASSERT_TRUE(Close().ok());
  Copy("/away", "/logs");
  Open();
  EXPECT_EQ(Scan(), "new=n t=of t");
  EXPECT_EQ(Files(kWalFile, "/logs/lost"), missed);
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("set_aside=/logs/lost/"));
}

// Uses the operating system's file system, which knows working directories and links.
class LogPathsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_ + "/here");
    std::filesystem::create_directories(root_ + "/there");
    ASSERT_EQ(::chdir((root_ + "/here").c_str()), 0);
    options_.create_if_missing = true;
  }
  void TearDown() override {
    ASSERT_EQ(::chdir(before_.c_str()), 0);
    std::filesystem::remove_all(root_);
  }
  Status Try(const std::string& name, const std::string& wal_dir) {
    options_.wal_dir = wal_dir;
    std::unique_ptr<DB> db;
    const Status s = DB::Open(options_, name, &db);
    if (!s.ok()) return s;
    std::string value;
    return made_ ? db->Get(ReadOptions(), "k", &value) : db->Put(WriteOptions(), "k", "v");
  }
  void Make(const std::string& wal_dir) {
    const Status s = Try("db", wal_dir);
    ASSERT_TRUE(s.ok()) << s.ToString();
    made_ = true;
  }

  const std::string before_ = std::filesystem::current_path();
  const std::string root_ = "/tmp/varve_log_paths_test-" + std::to_string(::getpid());
  Options options_;
  bool made_ = false;
};

TEST_F(LogPathsTest, ARelativePathIsRememberedWhole) {
  Make("logs");
  ASSERT_EQ(::chdir((root_ + "/there").c_str()), 0);
  const Status s = Try("../here/db", "logs");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(root_ + "/there/logs (wal_dir)"));
  EXPECT_THAT(s.ToString(), HasSubstr(root_ + "/here/logs/0"));
  EXPECT_TRUE(Try("../here/db", root_ + "/here/logs").ok());
  EXPECT_TRUE(Try("../here/db", "../here/logs").ok());
}

TEST_F(LogPathsTest, LinksAndOtherSpellingsLeadToTheSame) {
  Make(root_ + "/here/logs/");
  std::filesystem::create_directory_symlink(root_ + "/here/logs", root_ + "/there/link");
  std::filesystem::create_directory_symlink(root_ + "/here/db", root_ + "/there/db");
  EXPECT_TRUE(Try("db", root_ + "/there/link").ok());
  EXPECT_TRUE(Try(root_ + "/there/db", root_ + "/there/../here//logs").ok());
  EXPECT_TRUE(Try("db", "logs").ok());
}

TEST_F(LogPathsTest, AnotherNameOfTheDatabaseHidesNoLogs) {
  Make("logs");
  std::filesystem::create_directory_symlink(root_ + "/here/db", root_ + "/there/db");
  for (const std::string& name : {root_ + "/here/db", root_ + "/there/db"}) {
    const Status s = Try(name, "");
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(root_ + "/here/logs/0"));
  }
  std::filesystem::remove(root_ + "/there/db");
  std::filesystem::rename(root_ + "/here/db", root_ + "/there/db");
  const Status moved = Try(root_ + "/there/db", "");
  EXPECT_TRUE(moved.IsInvalidArgument()) << moved.ToString();
  EXPECT_TRUE(Try(root_ + "/there/db", "logs").ok());
}

// Others may write into the directory that the logs were moved out of.
TEST_F(LogPathsTest, LogsThatWereMovedWithTheDatabaseAreItsOwn) {
  Make("logs");
  std::filesystem::rename(root_ + "/here/db", root_ + "/there/db");
  std::filesystem::rename(root_ + "/here/logs", root_ + "/there/logs");
  options_.wal_dir = "logs";
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(options_, "other", &other).ok());
  for (int i = 0; i < 3; i++) {
    ASSERT_TRUE(other->Put(WriteOptions(), "others", "o").ok());
    if (i == 2) break;
    ASSERT_TRUE(other->Flush(FlushOptions()).ok());
  }
  const Status s = Try("../there/db", "../there/logs");
  EXPECT_TRUE(s.ok()) << s.ToString();
}

TEST_F(LogPathsTest, DirectoriesThatWereMovedTogetherOpen) {
  Make("logs");
  std::filesystem::rename(root_ + "/here/db", root_ + "/there/db");
  std::filesystem::rename(root_ + "/here/logs", root_ + "/there/logs");
  EXPECT_TRUE(Try("../there/db", "../there/logs").ok());
}

}  // namespace
}  // namespace varve::testing
