// SPDX-License-Identifier: Apache-2.0

// Goal: a log whose end is gone without a trace is known by what the next log says of it. Method:
// two logs that recovery needs, the first cut at the border of two records, or zeros from there on.

#include "db/write/predecessor_log.h"

#include <gmock/gmock.h>

#include "varve/write_batch.h"

#include "db/write/batch_reader.h"
#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class LogPredecessorTest : public Database {
 protected:
  LogPredecessorTest() { options_.avoid_flush_during_recovery = true; }

  // Writes "a", "b", "c" into the first log, "d" into the second. Returns the bytes of the first
  // after each write.
  std::vector<size_t> MakeTwoLogs() {
    std::vector<size_t> ends;
    Open();
    for (const char* key : {"a", "b", "c"}) {
      Put(key, key);
      ends.push_back(ReadFile(FirstLog()).size());
    }
    Kill();
    Open();
    Put("d", "d");
    Kill();
    EXPECT_EQ(Files(kWalFile).size(), 2u);
    return ends;
  }

  std::string FirstLog() { return std::string(kName) + "/" + Files(kWalFile)[0]; }

  // Puts the two logs back, the first so long, and zeros after it if asked.
  void CutTo(size_t end, bool zeros) {
    std::string bytes = whole_.substr(0, end);
    if (zeros) bytes.resize(whole_.size() + 5000);
    WriteFile(first_, bytes);
  }

  // Begins a new pair of logs.
  void Begin() {
    ends_ = MakeTwoLogs();
    first_ = FirstLog();
    whole_ = ReadFile(first_);
  }

  std::vector<size_t> ends_;
  std::string first_;
  std::string whole_;
};

TEST_F(LogPredecessorTest, WhatFollowsALostEndIsLeftOut) {
  for (size_t kept = 0; kept <= 3; kept++) {
    for (const bool zeros : {false, true}) {
      SCOPED_TRACE(std::to_string(kept) + (zeros ? " and zeros" : ""));
      Remount(std::make_shared<MemFileSystem>());
      Begin();
      CutTo(kept == 0 ? 0 : ends_[kept - 1], zeros);
      Open();
      const char* const kStates[] = {"", "a=a", "a=a b=b", "a=a b=b c=c d=d"};
      EXPECT_EQ(Scan(), kStates[kept]);
      const std::string report = Text("varve.recovery");
      EXPECT_THAT(report,
                  HasSubstr(kept == 3 ? "dropped_bytes=0 " : "the end of the log is missing"));
      if (kept < 3) {
        EXPECT_EQ(Files(kWalFile, std::string(kName) + "/lost").size(), 1u);
      }
      Put("e", "e");
      Reopen();
      EXPECT_EQ(Get("e"), "e");
      ASSERT_TRUE(Close().ok());
    }
  }
}

TEST_F(LogPredecessorTest, BehindADamageNoLogIsReplayedThatHasNoMark) {
  Begin();
  constexpr size_t kRecordHeader = 7;
  const std::string second = std::string(kName) + "/" + Files(kWalFile)[1];
  const std::string bytes = ReadFile(second);
  const size_t mark_bytes = MakePredecessorRecord(PredecessorLog{}, 0).size();
  PredecessorLog mark;
  ASSERT_TRUE(ParsePredecessorRecord(Slice(bytes.data() + kRecordHeader, mark_bytes), &mark));
  WriteFile(second, bytes.substr(kRecordHeader + mark_bytes));
  std::string damaged = whole_;
  damaged[ends_[1] + kRecordHeader] ^= 1;  // within "c"
  WriteFile(first_, damaged);
  Open();
  EXPECT_EQ(Scan(), "a=a b=b");
}

TEST_F(LogPredecessorTest, OtherModesRefuseOrGoOn) {
  Begin();
  CutTo(ends_[1], false);
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_THAT(s.ToString(), HasSubstr("the end of the log is missing"));
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  Open();
  EXPECT_EQ(Scan(), "a=a b=b d=d");
}

TEST_F(LogPredecessorTest, ALogThatIsGoneAltogetherIsNotMissed) {
  Begin();
  ASSERT_TRUE(mem().DeleteFile(first_, IOOptions(), nullptr).ok());
  options_.wal_recovery_mode = WALRecoveryMode::kSkipAnyCorruptedRecords;
  Open();
  EXPECT_EQ(Scan(), "d=d");
}

TEST(PredecessorLog, IsABatchThatHoldsNothing) {
  const std::string bytes = MakePredecessorRecord(PredecessorLog{77, uint64_t{1} << 40}, 5);
  EXPECT_TRUE(CheckBatchStructure(bytes).ok());
  EXPECT_EQ(WriteBatch(bytes).Count(), 0u);
  PredecessorLog mark;
  ASSERT_TRUE(ParsePredecessorRecord(bytes, &mark));
  EXPECT_EQ(mark.number, 77u);
  EXPECT_EQ(mark.bytes, uint64_t{1} << 40);
  for (size_t n = 0; n < bytes.size(); n++) {
    EXPECT_FALSE(ParsePredecessorRecord(Slice(bytes.data(), n), &mark)) << n;
  }
  WriteBatch users;
  ASSERT_TRUE(users.PutLogData(std::string(31, 'v')).ok());
  EXPECT_FALSE(ParsePredecessorRecord(users.Data(), &mark));
}

TEST(PredecessorLog, TellsWhoFoundTheLogBefore) {
  PredecessorLog read;
  for (const bool found : {false, true}) {
    const std::string record = MakePredecessorRecord(PredecessorLog{7, 1234, found}, 9);
    ASSERT_TRUE(ParsePredecessorRecord(record, &read));
    EXPECT_EQ(read.number, 7u);
    EXPECT_EQ(read.bytes, 1234u);
    EXPECT_EQ(read.found, found);
    EXPECT_FALSE(IsEndRecord(record));
  }
}

TEST(PredecessorLog, AnEndRecordIsABatchThatHoldsNothing) {
  const std::string record = MakeEndRecord(9);
  EXPECT_TRUE(IsEndRecord(record));
  EXPECT_EQ(WriteBatch(record).Count(), 0u);
  PredecessorLog read;
  EXPECT_FALSE(ParsePredecessorRecord(record, &read));
  for (size_t i = 0; i < record.size(); i++) {
    if (i < 8) continue;  // The sequence number.
    std::string changed = record;
    changed[i]++;
    EXPECT_FALSE(IsEndRecord(changed)) << i;
    EXPECT_FALSE(IsEndRecord(record.substr(0, i))) << i;
  }
}

}  // namespace
}  // namespace varve::testing
