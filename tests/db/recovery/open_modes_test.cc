// SPDX-License-Identifier: Apache-2.0

// Goal: each WAL recovery mode does with each kind of damage what its comment in options.h says,
// and a refusal changes nothing. Method: one log of numbered writes, damaged in one place, opened
// in every mode; the table tells how many writes must be there.

#include <gmock/gmock.h>

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kWrites = 20;
constexpr int kRefused = -1;
constexpr size_t kValueBytes = 100;

std::string NumberedKey(int i) {
  return "k" + std::to_string(100 + i);
}

class RecoveryModeTest : public Database {
 protected:
  // Leaves one log with kWrites records, and the directory of a killed process.
  void WriteLog() {
    options_.avoid_flush_during_recovery = true;
    Open();
    for (int i = 0; i < kWrites; i++) Put(NumberedKey(i), std::string(kValueBytes, 'v'));
    Kill();
    path_ = std::string(kName) + "/" + Files(kWalFile).back();
    bytes_ = ReadFile(path_);
  }

  // The number of writes there, which must be the first ones.
  int Count() {
    int n = 0;
    for (int i = 0; i < kWrites; i++) {
      if (Get(NumberedKey(i)) == "NOT_FOUND") continue;
      EXPECT_EQ(i, n) << "a hole";
      n++;
    }
    return n;
  }

  std::string path_;
  std::string bytes_;
};

TEST_F(RecoveryModeTest, EachModeKnowsWhatToDoWithDamage) {
  using Mode = WALRecoveryMode;
  struct Damage {
    const char* name;
    void (*apply)(std::string* log);
    // Writes recovered by: tolerate tail, absolute, point in time, skip any.
    int expected[4];
  };
  const Damage kDamages[] = {
      {"none", [](std::string*) {}, {kWrites, kWrites, kWrites, kWrites}},
      {"tail cut in a payload",
       [](std::string* log) { log->resize(log->size() - 10); },
       {kWrites - 1, kRefused, kWrites - 1, kWrites - 1}},
      {"tail cut in a header",
       [](std::string* log) { log->resize(log->size() - log->size() / kWrites + 3); },
       {kWrites - 1, kRefused, kWrites - 1, kWrites - 1}},
      {"byte flipped in the middle",
       [](std::string* log) { (*log)[log->size() / kWrites * 10 + 40] ^= 1; },
       // The length of a record that fails its checksum is not to be trusted, so the rest of its
       // block is skipped: here, all that follows.
       {kRefused, kRefused, 10, 10}},
      {"zeros behind the end",
       [](std::string* log) { log->append(500, '\0'); },
       {kWrites, kWrites, kWrites, kWrites}},
      {"all zeros", [](std::string* log) { log->assign(log->size(), '\0'); }, {0, 0, 0, 0}},
      {"empty", [](std::string* log) { log->clear(); }, {0, 0, 0, 0}},
  };
  const Mode kModes[] = {Mode::kTolerateCorruptedTailRecords, Mode::kAbsoluteConsistency,
                         Mode::kPointInTimeRecovery, Mode::kSkipAnyCorruptedRecords};
  WriteLog();
  ASSERT_EQ(bytes_.size() % kWrites, 0u)
      << "records of one size make the damage land where it should";
  const std::shared_ptr<MemFileSystem> origin = mem().CrashClone(CrashPolicy::kKill, 1);
  for (const Damage& damage : kDamages) {
    for (size_t m = 0; m < 4; m++) {
      for (const bool keep_logs : {false, true}) {
        SCOPED_TRACE(std::string(damage.name) + ", mode " + std::to_string(m) +
                     (keep_logs ? ", logs kept" : ""));
        Remount(origin->CrashClone(CrashPolicy::kKill, 1));
        std::string damaged = bytes_;
        damage.apply(&damaged);
        WriteFile(path_, damaged);
        options_.wal_recovery_mode = kModes[m];
        options_.avoid_flush_during_recovery = keep_logs;
        const Status s = TryOpen();
        if (damage.expected[m] == kRefused) {
          EXPECT_TRUE(s.IsCorruption()) << s.ToString();
          EXPECT_THAT(s.ToString(), HasSubstr(path_));
          EXPECT_THAT(s.ToString(), HasSubstr("offset"));
          EXPECT_EQ(ReadFile(path_), damaged) << "a refusal changed the log";
        } else {
          ASSERT_TRUE(s.ok()) << s.ToString();
          EXPECT_EQ(Count(), damage.expected[m]);
          const bool whole = damage.expected[m] == kWrites || damaged.empty() ||
                             damaged == std::string(damaged.size(), '\0');
          if (!whole) {
            EXPECT_THAT(Text("varve.recovery"), HasSubstr("first_bad_log="));
          }
          Put("after", "recovery");
          Reopen();
          EXPECT_EQ(Count(), damage.expected[m]);
          EXPECT_EQ(Get("after"), "recovery");
          ASSERT_TRUE(Close().ok());
        }
      }
    }
  }
}

TEST_F(RecoveryModeTest, DamagedLogsAreSetAside) {
  WriteLog();
  std::string damaged = bytes_;
  damaged[damaged.size() / 2] ^= 1;
  WriteFile(path_, damaged);
  Open();
  EXPECT_EQ(Count(), kWrites / 2);
  const std::string lost = "/db/lost" + path_.substr(path_.rfind('/'));
  EXPECT_EQ(ReadFile(lost), damaged);
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("set_aside=" + lost));
}

TEST_F(RecoveryModeTest, AMissingLogTakesWhatItHeldAndNoMore) {
  Open();
  MakeTable({"in a table"});
  Put("in the log", "v");
  Kill();
  const std::shared_ptr<MemFileSystem> origin = mem().CrashClone(CrashPolicy::kKill, 1);
  for (const WALRecoveryMode mode :
       {WALRecoveryMode::kTolerateCorruptedTailRecords, WALRecoveryMode::kAbsoluteConsistency,
        WALRecoveryMode::kPointInTimeRecovery, WALRecoveryMode::kSkipAnyCorruptedRecords}) {
    Remount(origin->CrashClone(CrashPolicy::kKill, 1));
    for (const std::string& name : Files(kWalFile)) {
      ASSERT_TRUE(mem().DeleteFile(std::string(kName) + "/" + name, IOOptions(), nullptr).ok());
    }
    options_.wal_recovery_mode = mode;
    Open();
    EXPECT_EQ(Scan(), "in a table=of in a table");
    EXPECT_THAT(Text("varve.recovery"), HasSubstr("logs_read=0"));
    Put("next", "n");
    Reopen();
    EXPECT_EQ(Get("next"), "n");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(RecoveryModeTest, LogsAreReplayedOnceAndInOrder) {
  options_.avoid_flush_during_recovery = true;
  for (int round = 0; round < 4; round++) {
    Open();
    Put("k", std::to_string(round));
    Put("round " + std::to_string(round), "r");
    Kill();
  }
  Open();
  EXPECT_EQ(Get("k"), "3");
  EXPECT_EQ(Scan(), "k=3 round 0=r round 1=r round 2=r round 3=r");
  EXPECT_EQ(Levels(), "") << "nothing was flushed";
  EXPECT_EQ(db()->GetLatestSequenceNumber(), 8u);
  EXPECT_GE(Files(kWalFile).size(), 4u);
  Flush();
  EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() == 1; }));
  ASSERT_TRUE(Close().ok());
  options_.avoid_flush_during_recovery = false;
  Open();
  Put("more", "m");
  Kill();
  Open();
  EXPECT_EQ(Levels().substr(0, 1), "2") << "recovered data goes to a table";
  EXPECT_EQ(Get("more"), "m");
}

TEST_F(RecoveryModeTest, LargeLogsAreFlushedOnTheWay) {
  options_.write_buffer_size = 1 << 20;
  Open();
  for (int i = 0; i < 40; i++) Put(NumberedKey(i), std::string(10 << 10, 'v'));
  Kill();
  options_.write_buffer_size = 64 << 10;
  options_.avoid_flush_during_recovery = true;
  options_.disable_auto_compactions = true;
  Open();
  ColumnFamilyMetaData metadata;
  db()->GetColumnFamilyMetaData(&metadata);
  EXPECT_GE(metadata.file_count, 4u);
  for (int i = 0; i < 40; i++) EXPECT_EQ(Get(NumberedKey(i)), std::string(10 << 10, 'v'));
}

TEST_F(RecoveryModeTest, WritesWithoutALogAreLostAsAWhole) {
  Open();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, "unlogged", "u").ok());
  Put("logged", "l");
  Kill();
  Open();
  EXPECT_EQ(Scan(), "logged=l");
  Put("next", "n");
  Reopen();
  EXPECT_EQ(Scan(), "logged=l next=n");
}

}  // namespace
}  // namespace varve::testing
