// SPDX-License-Identifier: Apache-2.0

// Goal: the property as text and as a map, the event and the LOG report the same findings of an
// opening; none is missing after damage, and none alarms after a clean close. Method: one damage a
// test, with a listener and a logger that keep what they hear.

#include <gmock/gmock.h>

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct RecoveryListener final : EventListener {
  void OnDatabaseRecovered(const RecoveryInfo& info) override { heard.push_back(info); }
  std::vector<RecoveryInfo> heard;
};

struct ThrowingRecoveryListener final : EventListener {
  void OnDatabaseRecovered(const RecoveryInfo&) override { throw 1; }
};

struct ErrorKeepingLogger final : Logger {
  using Logger::Logv;
  void Logv(InfoLogLevel level, const char* format, va_list args) override {
    char line[2000];
    vsnprintf(line, sizeof(line), format, args);
    if (level >= ERROR_LEVEL) errors += std::string(line) + "\n";
  }
  void Logv(const char*, va_list) override {}
  std::string errors;
};

class RecoveryReportTest : public Database {
 protected:
  RecoveryReportTest() {
    options_.listeners.push_back(std::make_shared<ThrowingRecoveryListener>());
    options_.listeners.push_back(listener_);
    options_.info_log = logger_;
    options_.avoid_flush_during_recovery = true;
  }

  // Writes "a" to "d" into one log, "e" into the next.
  void MakeTwoLogs() {
    Open();
    for (const char* key : {"a", "b", "c", "d"}) {
      Put(key, key);
      ends_.push_back(ReadFile(std::string(kName) + "/" + Files(kWalFile)[0]).size());
    }
    Kill();
    Open();
    Put("e", "e");
    Kill();
    logs_ = Files(kWalFile);
    ASSERT_EQ(logs_.size(), 2u);
    for (std::string& log : logs_) log = std::string(kName) + "/" + log;
    listener_->heard.clear();
    logger_->errors.clear();
  }

  std::map<std::string, std::string> Map() {
    std::map<std::string, std::string> map;
    EXPECT_TRUE(db()->GetMapProperty("varve.recovery", &map));
    return map;
  }

  const std::shared_ptr<RecoveryListener> listener_ = std::make_shared<RecoveryListener>();
  const std::shared_ptr<ErrorKeepingLogger> logger_ = std::make_shared<ErrorKeepingLogger>();
  std::vector<size_t> ends_;
  std::vector<std::string> logs_;
};

TEST_F(RecoveryReportTest, ACleanOpeningSaysWhatItRead) {
  MakeTwoLogs();
  Open();
  ASSERT_EQ(listener_->heard.size(), 1u);
  const RecoveryInfo& info = listener_->heard[0];
  EXPECT_TRUE(info.status.ok());
  EXPECT_EQ(info.db_name, kName);
  EXPECT_EQ(info.logs_read, 2u);
  EXPECT_EQ(info.records_replayed, 5u);
  EXPECT_EQ(info.last_sequence, 5u);
  EXPECT_EQ(info.first_bad_file, "");
  EXPECT_GE(info.micros, info.manifest_micros + info.logs_micros + info.install_micros);
  EXPECT_EQ(Map()["records_replayed"], "5");
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("records_replayed=5 "));
  EXPECT_THAT(logger_->errors, Not(HasSubstr("recovery of")));
  EXPECT_THAT(logger_->errors, HasSubstr("a listener threw in OnDatabaseRecovered"));
}

TEST_F(RecoveryReportTest, ADamageIsToldEverywhere) {
  MakeTwoLogs();
  std::string bytes = ReadFile(logs_[0]);
  bytes[ends_[1] + 20] ^= 1;  // in "c"
  WriteFile(logs_[0], bytes);
  Open();
  EXPECT_EQ(Scan(), "a=a b=b");
  ASSERT_EQ(listener_->heard.size(), 1u);
  const RecoveryInfo& info = listener_->heard[0];
  EXPECT_EQ(info.first_bad_file, logs_[0]);
  EXPECT_EQ(info.first_bad_offset, ends_[1]);
  EXPECT_GT(info.dropped_bytes, 0u);
  EXPECT_EQ(info.first_lost_sequence, 3u);
  EXPECT_EQ(info.last_lost_sequence, 5u) << "the last in the log that was left out";
  EXPECT_EQ(info.files_set_aside.size(), 2u);
  const auto map = Map();
  EXPECT_EQ(map.at("first_bad_file"), logs_[0]);
  EXPECT_EQ(map.at("first_lost_sequence"), "3");
  EXPECT_EQ(map.at("last_lost_sequence"), "5");
  EXPECT_THAT(map.at("set_aside"), HasSubstr("/db/lost/"));
  for (const auto& [name, value] : map) {
    EXPECT_THAT(Text("varve.recovery"), HasSubstr(name + "="));
  }
  EXPECT_THAT(logger_->errors, HasSubstr("first_lost_sequence=3 last_lost_sequence=5"));
}

TEST_F(RecoveryReportTest, ARefusalIsToldToo) {
  MakeTwoLogs();
  std::string bytes = ReadFile(logs_[0]);
  bytes[ends_[1] + 20] ^= 1;
  WriteFile(logs_[0], bytes);
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  EXPECT_TRUE(TryOpen().IsCorruption());
  ASSERT_EQ(listener_->heard.size(), 1u);
  EXPECT_TRUE(listener_->heard[0].status.IsCorruption());
  EXPECT_EQ(listener_->heard[0].first_bad_offset, ends_[1]);
}

// A log between two existing ones is missing: the next one's mark names it.
TEST_F(RecoveryReportTest, ALogThatIsGoneFromTheMiddleEndsTheReplay) {
  MakeTwoLogs();
  Open();
  Put("f", "f");
  Kill();
  listener_->heard.clear();
  ASSERT_TRUE(mem().DeleteFile(logs_[1], IOOptions(), nullptr).ok());
  const std::shared_ptr<MemFileSystem> origin = mem().CrashClone(CrashPolicy::kKill, 1);
  Open();
  EXPECT_EQ(Scan(), "a=a b=b c=c d=d") << "what was written later is not shown without \"e\"";
  EXPECT_EQ(listener_->heard[0].first_bad_file, logs_[1]);
  EXPECT_EQ(listener_->heard[0].first_lost_sequence, 5u);
  EXPECT_EQ(listener_->heard[0].last_lost_sequence, 6u);
  ASSERT_TRUE(Close().ok());
  Remount(origin);
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  EXPECT_TRUE(TryOpen().IsCorruption());
}

TEST_F(RecoveryReportTest, TheOldestLogThatIsGoneIsNamed) {
  options_.avoid_flush_during_recovery = false;
  Open();
  MakeTable({"t"});
  Kill();
  listener_->heard.clear();
  const std::string log = std::string(kName) + "/" + Files(kWalFile)[0];
  ASSERT_TRUE(mem().DeleteFile(log, IOOptions(), nullptr).ok());
  Open();
  EXPECT_EQ(listener_->heard[0].files_missing, std::vector<std::string>{log});
  EXPECT_EQ(Scan(), "t=of t");
}

// Damage that an opening cannot set aside is left where it is: that is no reason to refuse.
TEST_F(RecoveryReportTest, WhatCannotBeMovedKeepsNothingFromOpening) {
  Open();
  MakeTable({"t"});
  ASSERT_TRUE(Close().ok());
  listener_->heard.clear();
  const std::string strange = std::string(kName) + "/000900.sst";
  WriteFile(strange, "of nobody");
  FaultRule rule;
  rule.calls = Only(FaultCall::kRename);
  rule.path_contains = "000900";
  rule.sticky = true;
  faults().Inject(rule);
  Open();
  EXPECT_EQ(Scan(), "t=of t");
  ASSERT_EQ(listener_->heard.size(), 1u);
  EXPECT_EQ(listener_->heard[0].files_not_moved, std::vector<std::string>{strange});
  EXPECT_THAT(logger_->errors, HasSubstr("not_moved=" + strange));
  faults().ClearFaults();
  Reopen();
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("set_aside=/db/lost/000900.sst"));
}

TEST_F(RecoveryReportTest, AReadErrorIsNeverTheEndOfALog) {
  MakeTwoLogs();
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.path_contains = logs_[0];
  rule.sticky = true;
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    options_.wal_recovery_mode = mode;
    faults().Inject(rule);
    EXPECT_TRUE(TryOpen().IsIOError());
    faults().ClearFaults();
    EXPECT_EQ(Files(kWalFile).size(), 2u);
  }
  Open();
  EXPECT_EQ(Scan(), "a=a b=b c=c d=d e=e");
}

}  // namespace
}  // namespace varve::testing
