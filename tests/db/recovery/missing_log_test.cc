// SPDX-License-Identifier: Apache-2.0

// Goal: a log that the MANIFEST still refers to is missed: the report says so, and what comes after
// the hole is not taken for what came before it. Method: logs of killed databases are deleted.

#include "tests/harness/database.h"

namespace varve::testing {

class MissingLogTest : public Database {
 protected:
  MissingLogTest() { options_.avoid_flush_during_recovery = true; }

  void WriteAndDie(const std::string& key) {
    Open();
    Put(key, "1");
    Kill();
  }
  void DeleteLog(const std::string& name) {
    ASSERT_TRUE(mem().DeleteFile(std::string(kName) + "/" + name, IOOptions(), nullptr).ok());
  }
  bool IsReported() { return Text("varve.recovery").find(" missing=") != std::string::npos; }
};

TEST_F(MissingLogTest, TheOnlyOneIsReported) {
  WriteAndDie("a");
  const std::vector<std::string> logs = Files(kWalFile);
  ASSERT_EQ(logs.size(), 1u);
  DeleteLog(logs[0]);
  Open();
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  EXPECT_TRUE(IsReported()) << Text("varve.recovery");
}

// The second log's mark tells of the first one.
TEST_F(MissingLogTest, WhatFollowsTheHoleIsNotReplayed) {
  WriteAndDie("a");
  WriteAndDie("b");
  const std::vector<std::string> logs = Files(kWalFile);
  ASSERT_GE(logs.size(), 2u);
  DeleteLog(logs[0]);
  Open();
  EXPECT_TRUE(IsReported()) << Text("varve.recovery");
  EXPECT_EQ(Scan(), "");
  EXPECT_FALSE(Files(kWalFile, std::string(kName) + "/lost").empty());
}

// Replayed entries are in tables, and only the missed log is kept when it comes back.
TEST_F(MissingLogTest, LogsThatWereReplayedBesideItAreNotKept) {
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  for (const char* key : {"a", "b", "c", "d"}) WriteAndDie(key);
  const std::vector<std::string> logs = Files(kWalFile);
  ASSERT_EQ(logs.size(), 4u);
  const std::string missed = std::string(kName) + "/" + logs[1];
  const std::string bytes = ReadFile(missed);
  DeleteLog(logs[1]);
  options_.avoid_flush_during_recovery = false;
  Open();
  EXPECT_EQ(Scan(), "a=1 c=1 d=1");
  EXPECT_EQ(Files(kWalFile).size(), 1u);
  const std::string lost = std::string(kName) + "/lost";
  EXPECT_TRUE(Files(kWalFile, lost).empty());
  ASSERT_TRUE(Close().ok());
  WriteFile(missed, bytes);
  Open();
  EXPECT_EQ(Files(kWalFile, lost), std::vector<std::string>{logs[1]});
  EXPECT_EQ(Scan(), "a=1 c=1 d=1");
}

// It may come back: nothing else has its number.
TEST_F(MissingLogTest, ItsNumberIsNotUsedAgain) {
  Open();
  Put("a", "1");
  // The MANIFEST does not count on as far as to the next log.
  ASSERT_TRUE(db()->PauseBackgroundWork().ok());
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_TRUE(db()->Flush(no_wait).ok());
  ASSERT_EQ(Files(kWalFile).size(), 2u);
  WriteOptions sync;
  sync.sync = true;
  ASSERT_TRUE(db()->Put(sync, "b", "1").ok());
  Kill();
  const std::string newest = Files(kWalFile).back();
  DeleteLog(newest);
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  Open();
  EXPECT_TRUE(IsReported()) << Text("varve.recovery");
  for (const FileType type : {kWalFile, kTableFile}) {
    for (const std::string& name : Files(type)) EXPECT_NE(std::stoull(name), std::stoull(newest));
  }
}

TEST_F(MissingLogTest, AbsoluteConsistencyRefuses) {
  WriteAndDie("a");
  WriteAndDie("b");
  DeleteLog(Files(kWalFile)[0]);
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
}

TEST_F(MissingLogTest, SoundDirectoriesReportNothing) {
  WriteAndDie("a");
  WriteAndDie("b");
  Open();
  EXPECT_FALSE(IsReported()) << Text("varve.recovery");
  Reopen();
  Flush();
  Reopen();
  EXPECT_FALSE(IsReported()) << Text("varve.recovery");
  EXPECT_EQ(Scan(), "a=1 b=1");
}

}  // namespace varve::testing
