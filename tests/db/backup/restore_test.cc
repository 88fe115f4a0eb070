// SPDX-License-Identifier: Apache-2.0

// Goal: a restore gives what was backed up, and until that is checked the old database stays as it
// was. Method: databases in memory, restored over nothing, over themselves and over others, from
// backups that are damaged one file at a time, with every call failing in turn.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "varve/listener.h"
#include "varve/utilities/options_util.h"

#include "db/recovery/file_exchange.h"
#include "tests/db/backup/backup_test_base.h"
#include "tests/harness/environment.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RestoreTest : public testing::BackupTest {
 protected:
  // Makes a backup of "a=of a b=1", where b is in the log; then the database goes on.
  void MakeBackupAndGoOn() {
    Open();
    OpenEngine();
    MakeTable({"a"});
    Put("b", "1");
    Create();
    Put("c", "later");
    MakeTable({"d"});
  }
  IOStatus Restore(const RestoreOptions& options = RestoreOptions(), BackupID id = 1) {
    return engine_->RestoreDBFromBackup(options, id, kName, options_.wal_dir);
  }
  std::string Content() {
    Open();
    std::string content = Scan();
    EXPECT_TRUE(Close().ok());
    return content;
  }
  static constexpr char kOld[] = "a=of a b=1 c=later d=of d";
  static constexpr char kNew[] = "a=of a b=1";
};

class RestoreListener final : public EventListener {
 public:
  void OnDataMoved(DB* db, const DataMoveInfo& info) override {
    EXPECT_EQ(db, nullptr);
    moves.push_back(info);
  }
  std::vector<DataMoveInfo> moves;
};

TEST_F(RestoreTest, MakesANewDatabase) {
  const auto listener = std::make_shared<RestoreListener>();
  backup_options_.listeners.push_back(listener);
  MakeBackupAndGoOn();
  const IOStatus s = engine_->RestoreDBFromLatestBackup("/fresh/db", "/fresh/logs");
  ASSERT_TRUE(s.ok()) << s.ToString();
  ASSERT_EQ(listener->moves.size(), 1u);
  EXPECT_EQ(listener->moves[0].kind, DataMoveInfo::Kind::kRestore);
  EXPECT_EQ(listener->moves[0].path, "/fresh/db");
  EXPECT_EQ(listener->moves[0].files, 5u);
  EXPECT_TRUE(listener->moves[0].status.ok());
  EXPECT_EQ(Files(kWalFile, "/fresh/db").size(), 0u);
  EXPECT_EQ(Files(kWalFile, "/fresh/logs").size(), 1u);
  EXPECT_FALSE(Exists("/fresh/db/restore.tmp"));
  EXPECT_FALSE(Exists("/fresh/logs/restore.tmp"));
  Options options = options_;
  options.wal_dir = "/fresh/logs";
  DB* opened = nullptr;
  ASSERT_TRUE(DB::Open(options, "/fresh/db", &opened).ok());
  std::string value;
  EXPECT_TRUE(opened->Get(ReadOptions(), "b", &value).ok());
  delete opened;
}

TEST_F(RestoreTest, ReplacesADatabase) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(Exists("/db/1.dbtmp"));
  ASSERT_TRUE(Restore().ok());
  EXPECT_FALSE(Exists("/db/1.dbtmp"));
  EXPECT_FALSE(Exists("/db/restore.tmp"));
  EXPECT_EQ(Files(kTableFile).size(), 1u);
  EXPECT_EQ(Content(), kNew);
}

// A restore that was killed while it wrote CURRENT leaves the temporary file of that.
TEST_F(RestoreTest, AnInterruptedRestoreDoesNotStopTheNext) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/" + ExchangeTempName(), "MANIFEST-");
  const IOStatus s = Restore();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_FALSE(Exists("/db/" + ExchangeTempName()));
  EXPECT_EQ(Content(), kNew);
}

TEST_F(RestoreTest, OneDirectoryMayHaveTwoNames) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  const IOStatus s = engine_->RestoreDBFromBackup(1, "/db/", "/db/.");
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Files(kWalFile).size(), 1u);
  EXPECT_FALSE(Exists("/db/restore.tmp"));
  EXPECT_EQ(Content(), kNew);
}

TEST_F(RestoreTest, RefusesWhatItMayNotTouch) {
  MakeBackupAndGoOn();
  IOStatus s = Restore();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("close the database"));
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/notes.txt", "of a user");
  s = Restore();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("notes.txt"));
  ASSERT_TRUE(mem().DeleteFile("/db/notes.txt", IOOptions(), nullptr).ok());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, "", "").IsInvalidArgument());
  EXPECT_TRUE(engine_->RestoreDBFromBackup(1, kBackups, "").IsInvalidArgument());
  for (const char* folder : {"", "/meta", "/private/1", "/shared", "/shared_checksum/"}) {
    s = engine_->RestoreDBFromBackup(1, kName, std::string(kBackups) + folder);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(kBackups)) << "what is refused";
  }
  EXPECT_TRUE(engine_->VerifyBackup(1, true).ok());
  RestoreOptions options;
  options.mode = static_cast<RestoreOptions::Mode>(7);
  EXPECT_TRUE(Restore(options).IsInvalidArgument());
  options.mode = RestoreOptions::kPurgeAllFiles;
  options.alternate_dirs.push_front(nullptr);
  EXPECT_TRUE(Restore(options).IsInvalidArgument());
  EXPECT_EQ(Content(), kOld);
  // A directory within the database's is no file of it, as backups often are.
  ASSERT_TRUE(mem().CreateDir("/db/mine", IOOptions(), nullptr).ok());
  WriteFile("/db/mine/x", "y");
  EXPECT_TRUE(Restore().ok());
  EXPECT_EQ(ReadFile("/db/mine/x"), "y");
}

TEST_F(RestoreTest, RefusesTheLogsOfAnOpenDatabase) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  Options other_options = options_;
  other_options.wal_dir = "/logs";
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(other_options, "/other", &other).ok());
  const IOStatus s = engine_->RestoreDBFromBackup(1, kName, "/logs");
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("close the database that has its logs there"));
  EXPECT_EQ(Files(kWalFile, "/logs").size(), 1u);
  other.reset();
  EXPECT_EQ(Content(), kOld);
}

TEST_F(RestoreTest, ADamagedBackupLeavesTheOldDatabase) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  BackupInfo info;
  ASSERT_TRUE(engine_->GetBackupInfo(1, &info, true).ok());
  for (const BackupFileInfo& file : info.file_details) {
    SCOPED_TRACE(file.relative_filename);
    const std::string path = file.directory + "/" + file.relative_filename;
    const std::string bytes = ReadFile(path);
    std::string rotten = bytes;
    rotten[rotten.size() / 2] ^= 1;
    for (const std::string& damaged :
         {rotten, bytes + "x", bytes.substr(0, bytes.size() - 1), std::string()}) {
      WriteFile(path, damaged);
      const IOStatus s = Restore();
      EXPECT_TRUE(s.IsCorruption()) << s.ToString();
      EXPECT_THAT(s.ToString(), HasSubstr(file.relative_filename));
    }
    ASSERT_TRUE(mem().DeleteFile(path, IOOptions(), nullptr).ok());
    EXPECT_FALSE(Restore().ok());
    WriteFile(path, bytes);
  }
  EXPECT_FALSE(Exists("/db/restore.tmp"));
  EXPECT_EQ(Content(), kOld);
  EXPECT_TRUE(Restore().ok());
  EXPECT_EQ(Content(), kNew);
}

TEST_F(RestoreTest, WhatARestoreHasLeftIsDestroyedWithTheDatabase) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  for (const char* const folder :
       {"/db/restore.tmp", "/db/restore.tmp/new", "/db/restore.tmp/before"}) {
    ASSERT_TRUE(mem().CreateDirIfMissing(folder, IOOptions(), nullptr).ok());
  }
  WriteFile("/db/restore.tmp/LIST", "000009.sst\n");
  WriteFile("/db/restore.tmp/new/000009.sst", "a table");
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_FALSE(Exists(kName));
}

TEST_F(RestoreTest, FilesThatAreNoDatabaseLeaveTheOldOne) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  engine_.reset();
  // A list that is well formed, and lacks the table that the MANIFEST names.
  const std::string list = ReadFile("/backups/meta/1");
  std::string shorter = list;
  const size_t begin = shorter.find("shared_checksum/");
  shorter.erase(begin, shorter.find('\n', begin) + 1 - begin);
  shorter.replace(shorter.find("\n5\n"), 3, "\n4\n");
  WriteFile("/backups/meta/1", shorter);
  OpenEngine();
  const IOStatus s = Restore();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("MANIFEST"));
  EXPECT_EQ(Content(), kOld);
}

TEST_F(RestoreTest, KeepsTablesThatAreTheSame) {
  for (const auto mode :
       {RestoreOptions::kKeepLatestDbSessionIdFiles, RestoreOptions::kVerifyChecksum}) {
    const auto listener = std::make_shared<RestoreListener>();
    backup_options_.listeners = {listener};
    MakeBackupAndGoOn();
    ASSERT_TRUE(Close().ok());
    RestoreOptions options;
    options.mode = mode;
    ASSERT_TRUE(Restore(options).ok());
    EXPECT_EQ(listener->moves.back().files, 4u);  // All but the table.
    EXPECT_EQ(Content(), kNew);
    // A rotten one is found by its checksum, and one of another session by its name.
    const std::string table = std::string(kName) + "/" + Files(kTableFile)[0];
    std::string bytes = ReadFile(table);
    bytes[10] ^= 1;
    WriteFile(table, bytes);
    const IOStatus s = Restore(options);
    if (mode == RestoreOptions::kVerifyChecksum) {
      EXPECT_TRUE(s.ok()) << s.ToString();
      EXPECT_EQ(listener->moves.back().files, 5u);
      EXPECT_EQ(Content(), kNew);
    }
    WriteFile(table, "no table at all");
    ASSERT_TRUE(Restore(options).ok());
    EXPECT_EQ(Content(), kNew);
    engine_.reset();
    EXPECT_TRUE(DestroyDB(kName, options_).ok());
    for (const char* const folder :
         {"/backups/meta", "/backups/private/1", "/backups/shared_checksum"}) {
      for (const std::string& entry : Entries(folder)) {
        ASSERT_TRUE(mem().DeleteFile(std::string(folder) + "/" + entry, IOOptions(), nullptr).ok());
      }
    }
  }
}

TEST_F(RestoreTest, TablesThatCannotBeReadAreReplaced) {
  const auto listener = std::make_shared<RestoreListener>();
  backup_options_.listeners = {listener};
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  RestoreOptions options;
  options.mode = RestoreOptions::kVerifyChecksum;
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.path_contains = std::string(kName) + "/" + Files(kTableFile)[0];
  rule.sticky = true;
  faults().Inject(rule);
  const IOStatus s = Restore(options);
  faults().ClearFaults();
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(listener->moves.back().files, 5u);
  EXPECT_EQ(Content(), kNew);
}

TEST_F(RestoreTest, LogsAreKeptWhenAsked) {
  backup_options_.backup_log_files = false;
  for (const char* const wal_dir : {"", "/logs"}) {
    SCOPED_TRACE(wal_dir);
    options_.wal_dir = wal_dir;
    Open();
    OpenEngine();
    MakeTable({"a"});
    const BackupID id = Create();
    Put("b", "1");
    ASSERT_TRUE(Close().ok());
    RestoreOptions options;
    options.keep_log_files = true;
    ASSERT_TRUE(Restore(options, id).ok());
    EXPECT_EQ(Content(), kNew);
    ASSERT_TRUE(Restore(RestoreOptions(), id).ok());
    EXPECT_EQ(Content(), "a=of a");
    EXPECT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(RestoreTest, ArchivedLogsGoOrComeBack) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(mem().CreateDir("/db/archive", IOOptions(), nullptr).ok());
  WriteFile("/db/archive/000001.log", "");
  RestoreOptions options;
  options.keep_log_files = true;
  ASSERT_TRUE(Restore(options).ok());
  EXPECT_TRUE(Exists("/db/000001.log"));
  EXPECT_FALSE(Exists("/db/archive/000001.log"));
  WriteFile("/db/archive/000001.log", "");
  ASSERT_TRUE(Restore().ok());
  EXPECT_FALSE(Exists("/db/000001.log"));
  EXPECT_FALSE(Exists("/db/archive/000001.log"));
  EXPECT_EQ(Content(), kNew);
}

TEST_F(RestoreTest, WhatIsLeftOutComesFromElsewhere) {
  Open();
  OpenEngine();
  MakeTable({"a"});
  Create();
  const std::unique_ptr<BackupEngine> first = std::move(engine_);
  backup_options_.backup_dir = "/second";
  backup_options_.schema_version = 2;
  OpenEngine();
  CreateBackupOptions without;
  without.exclude_files_callback = [](MaybeExcludeBackupFile* begin, MaybeExcludeBackupFile* end) {
    for (; begin != end; ++begin) {
      EXPECT_THAT(begin->info.relative_file, HasSubstr("shared_checksum/"));
      begin->exclude_decision = true;
    }
  };
  Create(without);
  EXPECT_THAT(Entries("/second/shared_checksum"), ElementsAre());
  OpenEngine();
  BackupInfo info;
  ASSERT_TRUE(engine_->GetBackupInfo(1, &info, true).ok());
  EXPECT_EQ(info.excluded_files.size(), 1u);
  EXPECT_TRUE(engine_->VerifyBackup(1, true).ok());

  ASSERT_TRUE(Close().ok());
  EXPECT_TRUE(Restore().IsInvalidArgument());
  EXPECT_EQ(Content(), "a=of a");
  RestoreOptions options;
  options.alternate_dirs.push_front(first.get());
  EXPECT_TRUE(Restore(options).ok());
  EXPECT_EQ(Content(), "a=of a");
  // The database may have it itself.
  options.alternate_dirs.clear();
  options.mode = RestoreOptions::kKeepLatestDbSessionIdFiles;
  EXPECT_TRUE(Restore(options).ok());
  EXPECT_EQ(Content(), "a=of a");
  without.exclude_files_callback = [](MaybeExcludeBackupFile*, MaybeExcludeBackupFile*) {
    throw std::runtime_error("enough");
  };
  Open();
  const IOStatus s = engine_->CreateNewBackup(without, db());
  EXPECT_TRUE(s.IsAborted()) << s.ToString();
}

TEST_F(RestoreTest, EveryCallMayFail) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  const std::shared_ptr<MemFileSystem> before = mem().CrashClone(CrashPolicy::kKill, 1);
  uint64_t failures = 0;
  for (uint64_t nth = 1;; nth++) {
    SCOPED_TRACE(nth);
    engine_.reset();
    Remount(before->CrashClone(CrashPolicy::kKill, 1));
    OpenEngine();
    FaultRule rule;
    rule.nth = nth;
    faults().Inject(rule);
    const IOStatus s = Restore();
    const bool struck = faults().strikes() > 0;
    faults().ClearFaults();
    engine_.reset();
    // An error may come after the new state is in force, or be one that does not matter.
    const std::string content = Content();
    EXPECT_TRUE(content == kNew || (!s.ok() && content == kOld)) << content << s.ToString();
    EXPECT_FALSE(Exists("/db/restore.tmp"));
    if (!struck) {
      EXPECT_TRUE(s.ok()) << s.ToString();
      break;
    }
    failures++;
  }
  EXPECT_GT(failures, 60u);
}

TEST_F(RestoreTest, WhatOtherEnginesFindInTheMiddleTheyRefuse) {
  MakeBackupAndGoOn();
  ASSERT_TRUE(Close().ok());
  // The exchange is under way, and the process dies.
  FaultRule rule;
  rule.calls = Only(FaultCall::kRename);
  rule.path_contains = "/db/restore.tmp/new/";
  rule.sticky = true;
  faults().Inject(rule);
  FaultRule no_way_back;
  no_way_back.calls = Only(FaultCall::kRename);
  no_way_back.path_contains = "/db/restore.tmp/before/";
  no_way_back.nth = 2;  // The first one is that of the copy of CURRENT.
  no_way_back.sticky = true;
  faults().Inject(no_way_back);
  EXPECT_FALSE(Restore().ok());
  faults().ClearFaults();
  EXPECT_EQ(ReadFile("/db/CURRENT"), "a restore was interrupted\n");
  const Status s = TryOpenReadOnly();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_EQ(Content(), kOld);
  EXPECT_TRUE(Restore().ok());
  EXPECT_EQ(Content(), kNew);
}

}  // namespace
}  // namespace varve
