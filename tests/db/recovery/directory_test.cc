// SPDX-License-Identifier: Apache-2.0

// Goal: whatever is missing, foreign or damaged in a database's directory, opening either has the
// whole state or refuses, says which file, and leaves the directory alone. Method: one healthy
// directory, one thing done to it, one opening.

#include <gmock/gmock.h>

#include "varve/comparator.h"
#include "varve/utilities/options_util.h"

#include "db/write/write_batch_internal.h"
#include "tests/db/wal/log_test_file.h"
#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class DirectoryTest : public Database {
 protected:
  void MakeHealthy() {
    Open({"default", "a"});
    MakeTable({"t"});
    MakeTable({"t"}, "a");
    Put("logged", "l");
    Kill();
  }
  std::string Path(const std::string& name) { return std::string(kName) + "/" + name; }
  void Remove(const std::string& name) {
    ASSERT_TRUE(mem().DeleteFile(Path(name), IOOptions(), nullptr).ok()) << name;
  }
  // Returns a log of one batch with the largest possible sequence number.
  static std::string LogOfTheEnd() {
    WriteBatch batch;
    EXPECT_TRUE(batch.Put("key", "value").ok());
    WriteBatchInternal::SetSequence(&batch, kMaxSequenceNumber);
    return LogBytes({batch.Data()});
  }
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    std::vector<std::string> entries;
    EXPECT_TRUE(mem().GetChildren(kName, IOOptions(), &entries, nullptr).ok());
    for (const std::string& entry : entries) {
      if (entry != "LOCK" && entry != "lost") contents[entry] = ReadFile(Path(entry));
    }
    return contents;
  }
};

TEST_F(DirectoryTest, WhatCannotBeReadIsRefusedAndLeftAlone) {
  struct Case {
    const char* name;
    std::function<void()> damage;
    std::function<std::string()> named;  // part of the message
  };
  const auto manifest = [&] { return Files(kDescriptorFile)[0]; };
  const auto table = [&] { return Files(kTableFile)[0]; };
  const auto log = [&] { return Files(kWalFile).back(); };
  const Case kCases[] = {
      {"CURRENT is missing", [&] { Remove("CURRENT"); }, [&] { return "CURRENT"; }},
      {"CURRENT is empty", [&] { WriteFile(Path("CURRENT"), ""); }, [&] { return "CURRENT"; }},
      {"CURRENT names nonsense", [&] { WriteFile(Path("CURRENT"), "../../etc/passwd\n"); },
       [&] { return "CURRENT"; }},
      {"CURRENT names a MANIFEST that is not there",
       [&] { WriteFile(Path("CURRENT"), "MANIFEST-999999\n"); }, [&] { return "MANIFEST-999999"; }},
      {"the MANIFEST is missing", [&] { Remove(manifest()); }, [&] { return "MANIFEST"; }},
      {"the MANIFEST is empty", [&] { WriteFile(Path(manifest()), ""); }, manifest},
      {"the MANIFEST is damaged",
       [&] {
         std::string bytes = ReadFile(Path(manifest()));
         bytes[20] = static_cast<char>(bytes[20] ^ 1);
         WriteFile(Path(manifest()), bytes);
       },
       manifest},
      {"a table is missing", [&] { Remove(table()); }, table},
      {"a table was cut",
       [&] {
         std::string bytes = ReadFile(Path(table()));
         bytes.resize(bytes.size() / 2);
         WriteFile(Path(table()), bytes);
       },
       table},
      {"a batch's sequence number cannot be", [&] { WriteFile(Path(log()), LogOfTheEnd()); }, log},
  };
  MakeHealthy();
  const std::shared_ptr<MemFileSystem> healthy = mem().CrashClone(CrashPolicy::kKill, 1);
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Remount(healthy->CrashClone(CrashPolicy::kKill, 1));
    const std::string named = c.named();
    c.damage();
    const auto before = Contents();
    for (const bool read_only : {false, true}) {
      const Status s = read_only ? TryOpenReadOnly({"default", "a"}) : TryOpen({"default", "a"});
      EXPECT_FALSE(s.ok());
      EXPECT_THAT(s.ToString(), HasSubstr(named));
      auto after = Contents();
      for (const std::string& entry : {std::string("LOG"), std::string("LOG.old")})
        after.erase(entry);
      EXPECT_EQ(after.size(), before.size());
      EXPECT_TRUE(after == before) << "a refusal changed the directory";
    }
  }
}

TEST_F(DirectoryTest, WhatCanBeMadeAgainIsMade) {
  struct Case {
    const char* name;
    std::function<void()> damage;
  };
  std::string id;
  MakeHealthy();
  const std::string first_id = ReadFile(Path("IDENTITY"));
  const std::shared_ptr<MemFileSystem> healthy = mem().CrashClone(CrashPolicy::kKill, 1);
  const Case kCases[] = {
      {"IDENTITY is missing", [&] { Remove("IDENTITY"); }},
      {"IDENTITY is another's", [&] { WriteFile(Path("IDENTITY"), "nobody"); }},
      {"OPTIONS are missing",
       [&] {
         for (const std::string& name : Files(kOptionsFile)) Remove(name);
       }},
      {"LOCK is missing", [&] { Remove("LOCK"); }},
      {"temporary files", [&] { WriteFile(Path("000077.dbtmp"), "x"); }},
  };
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Remount(healthy->CrashClone(CrashPolicy::kKill, 1));
    c.damage();
    Open({"default", "a"});
    EXPECT_EQ(Scan(), "logged=l t=of t");
    ASSERT_TRUE(db()->GetDbIdentity(id).ok());
    EXPECT_EQ(id, first_id) << "the MANIFEST knows it";
    EXPECT_EQ(ReadFile(Path("IDENTITY")), first_id);
    EXPECT_FALSE(Files(kOptionsFile).empty());
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(DirectoryTest, AnInterruptedCreationIsBegunAgain) {
  // Nothing but what a creation writes before CURRENT.
  ASSERT_TRUE(mem().CreateDir(kName, IOOptions(), nullptr).ok());
  WriteFile(Path("MANIFEST-000001"), "half a");
  WriteFile(Path("000001.dbtmp"), "MANIFEST-");
  WriteFile(Path("IDENTITY"), "01234567-89ab-4cde-8f01-23456789abcd");
  Open();
  std::string id;
  ASSERT_TRUE(db()->GetDbIdentity(id).ok());
  EXPECT_EQ(id, "01234567-89ab-4cde-8f01-23456789abcd");
  Put("k", "v");
  Reopen();
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(DirectoryTest, IdentitiesHaveTheirShape) {
  Open();
  std::string id;
  std::string opening;
  ASSERT_TRUE(db()->GetDbIdentity(id).ok());
  ASSERT_TRUE(db()->GetDbSessionId(opening).ok());
  EXPECT_THAT(id, MatchesRegex("[0-9a-f]+-[0-9a-f]+-4[0-9a-f]+-[89ab][0-9a-f]+-[0-9a-f]+"));
  EXPECT_THAT(opening, MatchesRegex("[0-9A-Z]+"));
  ASSERT_TRUE(Close().ok());
  options_.write_identity_file = false;
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  Open();
  EXPECT_TRUE(mem().FileExists(Path("IDENTITY"), IOOptions(), nullptr).IsNotFound());
  std::string second;
  ASSERT_TRUE(db()->GetDbIdentity(second).ok());
  EXPECT_NE(id, second);
}

TEST_F(DirectoryTest, AnotherOrderOfKeysIsRefused) {
  Open();
  Put("k", "v");
  ASSERT_TRUE(Close().ok());
  options_.comparator = ReverseBytewiseComparator();
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(BytewiseComparator()->Name()));
  EXPECT_THAT(s.ToString(), HasSubstr(ReverseBytewiseComparator()->Name()));
  options_.comparator = BytewiseComparator();
  Open();
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(DirectoryTest, LevelsThatHoldTablesAreThereUntilTheyAreEmpty) {
  Open();
  MakeTable({"k"});
  CompactRangeOptions deep;
  deep.change_level = true;
  deep.target_level = 5;
  ASSERT_TRUE(db()->CompactRange(deep, nullptr, nullptr).ok());
  ASSERT_TRUE(Close().ok());
  options_.num_levels = 3;
  Open();
  EXPECT_EQ(Get("k"), "of k");
  ASSERT_TRUE(Close().ok());
  options_.num_levels = 7;
  Open();
  EXPECT_EQ(Get("k"), "of k");
}

TEST_F(DirectoryTest, FewOpenFilesAreEnough) {
  options_.max_open_files = 20;
  options_.disable_auto_compactions = true;
  options_.level0_slowdown_writes_trigger = 1000;
  options_.level0_stop_writes_trigger = 1000;
  Open();
  std::string expected;
  for (int i = 0; i < 60; i++) {
    const std::string key = "k" + std::to_string(100 + i);
    MakeTable({key});
    expected += (i == 0 ? "" : " ") + key + "=of " + key;
  }
  EXPECT_EQ(Scan(), expected);
  for (int i = 59; i >= 0; i--) {
    const std::string key = "k" + std::to_string(100 + i);
    EXPECT_EQ(Get(key), "of " + key);
  }
  Reopen();
  EXPECT_EQ(Scan(), expected);
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Scan(), expected);
}

TEST_F(DirectoryTest, OptionsAreWrittenAndReadBack) {
  options_.write_buffer_size = 3 << 20;
  options_.max_background_jobs = 5;
  Open({"default", "a"});
  ASSERT_TRUE(db()->SetOptions(Handle("a"), {{"level0_file_num_compaction_trigger", "7"}}).ok());
  ASSERT_TRUE(Close().ok());
  ConfigOptions config;
  config.env = options_.env;
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  const Status s = LoadLatestOptions(config, kName, &db_options, &families);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(db_options.max_background_jobs, 5);
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].options.write_buffer_size, 3u << 20);
  EXPECT_EQ(families[1].name, "a");
  EXPECT_EQ(families[1].options.level0_file_num_compaction_trigger, 7);
}

TEST_F(DirectoryTest, AnOptionsFileThatFailsFailsTheOpeningOnlyWhenAsked) {
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate) | Only(FaultCall::kRename);
  rule.path_contains = "OPTIONS";
  rule.sticky = true;
  faults().Inject(rule);
  EXPECT_FALSE(TryOpen().ok());
  options_.fail_if_options_file_error = false;
  Open();
  Put("k", "v");
  EXPECT_TRUE(db()->SetOptions({{"write_buffer_size", "1M"}}).ok());
  faults().ClearFaults();
  Reopen();
  EXPECT_EQ(Get("k"), "v");
}

TEST_F(DirectoryTest, LogsMayLiveElsewhere) {
  options_.wal_dir = "/logs/deep";
  Open();
  Put("k", "v");
  EXPECT_TRUE(Files(kWalFile).empty());
  EXPECT_EQ(Files(kWalFile, "/logs/deep").size(), 1u);
  Kill();
  Open();
  EXPECT_EQ(Get("k"), "v");
}

// This holds whether openings flush what the logs hold into tables, or not.
TEST_F(DirectoryTest, OpeningsWithoutAWriteLeaveNoLogs) {
  for (const bool stays : {false, true}) {
    options_.avoid_flush_during_recovery = stays;
    Open({"default", "a"});
    Put("k", "v");
    for (int i = 0; i < 40; i++) {
      if (i % 2 == 0) {
        Reopen();
      } else {
        Kill();
        Open({"default", "a"});
      }
      EXPECT_LE(Files(kWalFile).size(), 2u) << stays << i;
      EXPECT_EQ(Get("k"), "v");
    }
    EXPECT_EQ(Text("varve.recovery").find(" missing="), std::string::npos);
    Put("k", "w");
    Kill();
    Open({"default", "a"});
    EXPECT_EQ(Get("k"), "w");
    ASSERT_TRUE(Close().ok());
  }
}

// The next one's mark says how long it was.
TEST_F(DirectoryTest, ALogWithoutBatchesStaysBetweenOthers) {
  options_.avoid_flush_during_recovery = true;
  options_.avoid_flush_during_shutdown = true;
  const ColumnFamilyOptions plain(options_);
  ColumnFamilyOptions timed = plain;
  timed.comparator = BytewiseComparatorWithU64Ts();
  const std::vector<ColumnFamilyDescriptor> two = {{"default", plain}, {"a", plain}};
  ASSERT_TRUE(TryOpenWith(two).ok());
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  const auto start_log = [&] {
    ASSERT_TRUE(db()->Put(unlogged, Handle("a"), "k", "v").ok());
    Flush("a");
  };
  Put("before", "b");
  start_log();
  // The log has a record of the timestamps, and nothing else.
  ColumnFamilyHandle* made = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(timed, "timed", &made).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(made).ok());
  start_log();
  Put("behind", "b");
  ASSERT_EQ(Files(kWalFile).size(), 3u);
  std::vector<ColumnFamilyDescriptor> three = two;
  three.emplace_back("timed", timed);
  for (int opening = 0; opening < 3; opening++) {
    Kill();
    ASSERT_TRUE(TryOpenWith(three).ok());
    EXPECT_EQ(Scan(), "before=b behind=b") << opening;
    EXPECT_EQ(Text("varve.recovery").find(" missing="), std::string::npos) << opening;
  }
}

// A failing call anywhere in an opening is an error; the next opening has everything.
TEST_F(DirectoryTest, EveryCallOfAnOpeningMayFail) {
  MakeHealthy();
  const std::shared_ptr<MemFileSystem> healthy = mem().CrashClone(CrashPolicy::kKill, 1);
  int refused = 0;
  bool reached = true;
  for (uint64_t nth = 1; reached; nth++) {
    SCOPED_TRACE(nth);
    Remount(healthy->CrashClone(CrashPolicy::kKill, 1));
    FaultRule rule;
    rule.nth = nth;
    faults().Inject(rule);
    const Status s = TryOpen({"default", "a"});
    reached = faults().strikes() > 0;
    refused += s.ok() ? 0 : 1;
    faults().ClearFaults();
    if (s.ok()) {
      EXPECT_EQ(Scan(), "logged=l t=of t");
      ASSERT_TRUE(Close().ok());
    }
    Open({"default", "a"});
    EXPECT_EQ(Scan(), "logged=l t=of t");
    EXPECT_EQ(Scan(ReadOptions(), "a"), "t=of t");
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_GT(refused, 10);
}

}  // namespace
}  // namespace varve::testing
