// SPDX-License-Identifier: Apache-2.0

// Goal: an opening replays what the program's filter lets through and nothing else, in each mode of
// recovery, and a later opening without the filter finds the same. Method: killed databases whose
// filter answers by the key of a record.

#include "varve/wal_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "varve/write_batch.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

// Returns the first key of a batch.
std::string KeyOf(const WriteBatch& batch) {
  struct First final : WriteBatch::Handler {
    Status PutCF(uint32_t, const Slice& key, const Slice&) override {
      if (found.empty()) found = key.ToString();
      return Status::OK();
    }
    std::string found;
  } first;
  EXPECT_TRUE(batch.Iterate(&first).ok());
  return first.found;
}

class ByKey final : public WalFilter {
 public:
  const char* Name() const override { return "ByKey"; }
  void ColumnFamilyLogNumberMap(const std::map<uint32_t, uint64_t>& logs,
                                const std::map<std::string, uint32_t>& ids) override {
    families = ids;
    EXPECT_EQ(logs.size(), ids.size());
  }
  WalProcessingOption LogRecordFound(unsigned long long, const std::string& file,
                                     const WriteBatch& batch, WriteBatch* new_batch,
                                     bool* batch_changed) override {
    EXPECT_THAT(file, HasSubstr(".log"));
    const std::string key = KeyOf(batch);
    asked += key;
    const auto replacement = replacements.find(key);
    if (replacement != replacements.end()) {
      *new_batch = replacement->second;
      *batch_changed = true;
    }
    const auto answer = answers.find(key);
    return answer == answers.end() ? WalProcessingOption::kContinueProcessing : answer->second;
  }

  std::map<std::string, WalProcessingOption> answers;
  std::map<std::string, WriteBatch> replacements;
  std::map<std::string, uint32_t> families;
  std::string asked;
};

class WalFilterTest : public Database {
 protected:
  using Answer = WalFilter::WalProcessingOption;

  // Opens a database that was killed after it had put a to e, each with its own record.
  Status OpenFiltered() {
    EXPECT_TRUE(Close().ok());
    DestroyDB(kName, options_).PermitUncheckedError();
    options_.wal_filter = nullptr;
    Open();
    for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, "1");
    last_ = db()->GetLatestSequenceNumber();
    Kill();
    options_.wal_filter = &filter_;
    return TryOpen();
  }
  // Expects this content now, and without the filter after another kill. Returns the contents.
  std::string Remains() {
    const std::string now = Scan();
    Kill();
    options_.wal_filter = nullptr;
    Open();
    EXPECT_EQ(Scan(), now);
    return now;
  }

  ByKey filter_;
  SequenceNumber last_ = 0;
};

TEST_F(WalFilterTest, EveryRecordIsAsked) {
  ASSERT_EQ(OpenFiltered().ToString(), "OK");
  EXPECT_EQ(filter_.asked, "abcde");
  EXPECT_EQ(filter_.families, (std::map<std::string, uint32_t>{{"default", 0}}));
  EXPECT_EQ(Remains(), "a=1 b=1 c=1 d=1 e=1");
}

TEST_F(WalFilterTest, RecordsAreLeftOut) {
  for (const bool avoid : {false, true}) {
    SCOPED_TRACE(avoid);
    options_.avoid_flush_during_recovery = avoid;
    filter_.answers = {{"b", Answer::kIgnoreCurrentRecord}, {"e", Answer::kIgnoreCurrentRecord}};
    ASSERT_EQ(OpenFiltered().ToString(), "OK");
    EXPECT_EQ(db()->GetLatestSequenceNumber(), last_) << "numbers are not given out twice";
    EXPECT_EQ(Remains(), "a=1 c=1 d=1");
  }
}

TEST_F(WalFilterTest, AReadOnlyOpeningAsksAndChangesNothing) {
  filter_.answers = {{"b", Answer::kIgnoreCurrentRecord}};
  ASSERT_EQ(OpenFiltered().ToString(), "OK");
  Put("f", "1");
  Kill();
  filter_.answers = {{"f", Answer::kIgnoreCurrentRecord}};
  ASSERT_EQ(TryOpenReadOnly().ToString(), "OK");
  EXPECT_EQ(Scan(), "a=1 c=1 d=1 e=1");
  ASSERT_TRUE(Close().ok());
  options_.wal_filter = nullptr;
  Open();
  EXPECT_EQ(Scan(), "a=1 c=1 d=1 e=1 f=1");
}

TEST_F(WalFilterTest, TheReplayEnds) {
  filter_.answers = {{"c", Answer::kStopReplay}};
  ASSERT_EQ(OpenFiltered().ToString(), "OK");
  EXPECT_EQ(filter_.asked, "abc");
  EXPECT_EQ(Scan(), "a=1 b=1");
  Put("f", "1");
  EXPECT_EQ(Remains(), "a=1 b=1 f=1");
}

TEST_F(WalFilterTest, RecordsAreReplaced) {
  WriteBatch other;
  ASSERT_TRUE(other.Put("x", "2").ok());
  filter_.replacements = {{"b", other}, {"d", WriteBatch()}};
  ASSERT_EQ(OpenFiltered().ToString(), "OK");
  EXPECT_EQ(db()->GetLatestSequenceNumber(), last_);
  EXPECT_EQ(Remains(), "a=1 c=1 e=1 x=2");
}

TEST_F(WalFilterTest, ABatchCannotGrow) {
  WriteBatch more;
  ASSERT_TRUE(more.Put("x", "2").ok());
  ASSERT_TRUE(more.Put("y", "2").ok());
  filter_.replacements = {{"b", more}};
  const Status s = OpenFiltered();
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("ByKey"));
  filter_.replacements.clear();
  Open();
  EXPECT_EQ(Remains(), "a=1 b=1 c=1 d=1 e=1") << "nothing was changed";
}

TEST_F(WalFilterTest, AnAnswerThatIsNoneIsRefused) {
  filter_.answers = {{"b", static_cast<Answer>(7)}};
  EXPECT_TRUE(OpenFiltered().IsInvalidArgument());
}

TEST_F(WalFilterTest, WhatItCallsCorruptedIsTreatedAsTheModeSays) {
  filter_.answers = {{"c", Answer::kCorruptedRecord}};
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kAbsoluteConsistency, WALRecoveryMode::kTolerateCorruptedTailRecords}) {
    options_.wal_recovery_mode = mode;
    const Status s = OpenFiltered();
    EXPECT_TRUE(s.IsCorruption()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("WalFilter"));
  }
  options_.wal_recovery_mode = WALRecoveryMode::kPointInTimeRecovery;
  ASSERT_EQ(OpenFiltered().ToString(), "OK");
  EXPECT_EQ(Remains(), "a=1 b=1");
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  ASSERT_EQ(OpenFiltered().ToString(), "OK");
  EXPECT_EQ(Remains(), "a=1 b=1 d=1 e=1");
}

}  // namespace
}  // namespace varve::testing
