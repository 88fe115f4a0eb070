// SPDX-License-Identifier: Apache-2.0

// Goal: with recycle_log_file_num new logs are written over obsolete ones, and what those held is
// never taken for the new log's. Method: a process is killed at every length that a short log can
// have over a long one.

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::IsEmpty;

class RecycledLogsTest : public Database {
 protected:
  RecycledLogsTest() { options_.recycle_log_file_num = 1; }
  size_t Logs() { return Files(kWalFile).size(); }
  static constexpr int kKeys = 40;

  // Leaves an obsolete log with the records of many keys, and a current one that is empty.
  void KeepALongLog() {
    for (int i = 0; i < kKeys; i++) Put("old" + std::to_string(i), std::string(50, 'o'));
    Flush();
    // Whatever is obsolete is looked for now: the flush's thread may not have come to it.
    ASSERT_TRUE(db()->DisableFileDeletions().ok());
    ASSERT_TRUE(db()->EnableFileDeletions().ok());
    EXPECT_TRUE(Eventually([&] { return Logs() == 2; }));
    // It is kept for reuse some time after its leaving the set of logs, which nothing tells of.
    VectorLogPtr in_use;
    EXPECT_TRUE(
        Eventually([&] { return db()->GetSortedWalFiles(in_use).ok() && in_use.size() == 1; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  // Deletes those keys, and switches to the log that reuses the old one, if it is kept already.
  bool DeleteAndReuseIt() {
    const uint64_t renames = faults().calls(FaultCall::kRename);
    for (int i = 0; i < kKeys; i++) Delete("old" + std::to_string(i));
    Flush();
    return faults().calls(FaultCall::kRename) > renames;
  }
  // The current log is short, over one that was long.
  void ReuseALongLog() {
    EXPECT_TRUE(Eventually([&] {
      KeepALongLog();
      return DeleteAndReuseIt();
    }));
  }
  void ExpectNothingSetAside() { EXPECT_THAT(Files(kWalFile, "/db/lost"), IsEmpty()); }
};

TEST_F(RecycledLogsTest, KeptLogsAreReusedAndGoAtClose) {
  Open();
  for (int i = 0; i < 4; i++) {
    ReuseALongLog();
  }
  KeepALongLog();
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(Logs(), 1u) << "the log that was current";
  Open();
  EXPECT_EQ(Get("old39"), std::string(50, 'o'));
}

// The file of an obsolete log has been taken when the next one fails.
TEST_F(RecycledLogsTest, ALogThatCannotBeMadeLeavesNoFile) {
  Open();
  for (int i = 0; i < 3; i++) {
    KeepALongLog();
    Put("k", "v");
    FaultRule rule;
    rule.calls = Only(FaultCall::kWrite);
    rule.path_contains = ".log";
    rule.sticky = true;
    faults().Inject(rule);
    EXPECT_FALSE(db()->Flush(FlushOptions()).ok());
    EXPECT_GT(faults().strikes(), 0u);
    faults().ClearFaults();
    EXPECT_TRUE(Eventually([&] { return db()->Resume().ok(); }));
  }
  ASSERT_TRUE(Close().ok());
  EXPECT_EQ(Logs(), 1u) << "the log that was current";
}

TEST_F(RecycledLogsTest, WhatAnOldLogHeldIsNotReplayed) {
  for (int length = 0; length < 90; length += 2) {
    Open();
    ReuseALongLog();
    // This leaves no tombstone that could hide a key that came back.
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    ASSERT_EQ(Levels(), "");
    const std::string value(static_cast<size_t>(length), 'n');
    if (length > 0) Put("new", value);
    Kill();
    Open();
    ASSERT_EQ(Scan(), length > 0 ? "new=" + value : "") << length;
    ExpectNothingSetAside();
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(RecycledLogsTest, CompressedLogsAreNotRecycled) {
  options_.wal_compression = kZSTD;
  Open();
  EXPECT_EQ(db()->GetDBOptions().recycle_log_file_num, 0u);
}

TEST_F(RecycledLogsTest, ALogThatAnotherFamilyNeedsEndsWhereItsRecordsDo) {
  Open({"default", "a"});
  ReuseALongLog();
  Put("k", "only in the log", "a");
  Put("k", "in a table");
  Flush();  // the reused log is not the current one any more, and still needed
  Kill();
  Open({"default", "a"});
  EXPECT_EQ(Get("k", "a"), "only in the log");
  EXPECT_EQ(Get("k"), "in a table");
  ExpectNothingSetAside();
}

TEST_F(RecycledLogsTest, AFileThatCannotBeReusedIsReplaced) {
  Open();
  KeepALongLog();
  FaultRule rule;
  rule.calls = Only(FaultCall::kRename);
  rule.path_contains = ".log";
  faults().Inject(rule);
  EXPECT_TRUE(Eventually([&] {
    Put("a", "1");
    Flush();
    return faults().strikes() == 1;
  }));
  faults().ClearFaults();
  EXPECT_TRUE(Eventually([&] { return Logs() == 2; }));
  Put("b", "2");
  Kill();
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
}

TEST_F(RecycledLogsTest, UnloggedWritesAreRefusedUnlessARecoveryModeExcludesRecycling) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords,
        WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency}) {
    options_.wal_recovery_mode = mode;
    Open();
    const bool recycles = mode == WALRecoveryMode::kPointInTimeRecovery ||
                          mode == WALRecoveryMode::kSkipAnyCorruptedRecords;
    EXPECT_EQ(db()->GetDBOptions().recycle_log_file_num, recycles ? 1u : 0u);
    EXPECT_EQ(db()->Put(unlogged, "a", "1").IsInvalidArgument(), recycles);
    ASSERT_TRUE(Close().ok());
  }
}

}  // namespace
}  // namespace varve::testing
