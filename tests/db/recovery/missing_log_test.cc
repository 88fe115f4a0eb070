// SPDX-License-Identifier: Apache-2.0

// Goal: a log that the MANIFEST has not let go is missed: the report says so, and what comes after
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
