// SPDX-License-Identifier: Apache-2.0

// Goal: a repair makes whatever an opening refuses openable, with everything that can be read and
// nothing that was deleted; it leaves a healthy database alone, deletes no file, says before what
// it will do, and can be interrupted anywhere. Method: one healthy directory with deletions over
// older levels, one thing done to it, one dry run, one repair; random histories without a MANIFEST.

#include "varve/utilities/repair.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "varve/comparator.h"
#include "varve/metadata.h"
#include "varve/table.h"
#include "varve/utilities/checkpoint.h"
#include "varve/utilities/merge_operators.h"

#include "db/wal/log_writer.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/random.h"
#include "util/coding/fixed.h"
#include "util/env/file_names.h"
#include "util/env/writable_file_writer.h"
#include "util/key/internal_key.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

class RepairTest : public Database {
 protected:
  RepairTest() {
    options_.disable_auto_compactions = true;
    options_.level_compaction_dynamic_level_bytes = false;
  }

  static std::string Path(const std::string& name) { return std::string(kName) + "/" + name; }
  void Remove(const std::string& name) {
    ASSERT_TRUE(mem().DeleteFile(Path(name), IOOptions(), nullptr).ok()) << name;
  }
  // Tables and logs, MANIFESTs and CURRENT, by name, wherever they lie.
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    for (const std::string& directory : {std::string(kName), Path("lost")}) {
      std::vector<std::string> entries;
      mem().GetChildren(directory, IOOptions(), &entries, nullptr).PermitUncheckedError();
      for (const std::string& entry : entries) {
        uint64_t number = 0;
        FileType type;
        if (!ParseFileName(entry, &number, &type) || type == kDBLockFile || type == kInfoLogFile) {
          continue;
        }
        contents[directory == kName ? entry : "lost/" + entry] = ReadFile(directory + "/" + entry);
      }
    }
    return contents;
  }
  Status Repair(RepairReport* report, bool dry_run = false) {
    const ColumnFamilyOptions families(options_);
    RepairOptions repair;
    repair.dry_run = dry_run;
    return RepairDB(kName, options_, {}, &families, repair, report);
  }
  void ExpectRepaired(RepairReport* report) {
    const Status s = Repair(report);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Is refused if the tables cannot move there past others.
  Status TryCompact(int level, const std::string& begin, const std::string& end) {
    CompactRangeOptions options;
    options.change_level = true;
    options.target_level = level;
    const Slice first(begin);
    const Slice last(end);
    return db()->CompactRange(options, &first, &last);
  }
  void Compact(int level, const std::string& begin, const std::string& end) {
    const Status s = TryCompact(level, begin, end);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Makes a database. L2: a, c, m, z of old, z newer than all of L1. L1: a new, c deleted. L0: a
  // range deleted. A log has the rest. Family b has a table and a record in the log.
  void MakeHealthy() {
    Open({"default", "b"});
    for (const char* key : {"a", "c", "m"}) Put(key, "old");
    Flush();
    Compact(2, "a", "zz");
    Put("a", "new");
    Delete("c");
    Flush();
    Compact(1, "a", "d");
    Put("z", "late");
    Flush();
    Compact(2, "x", "zz");
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "l", "n").ok());
    Put("l", "after");
    Flush();
    MakeTable({"t"}, "b");
    Put("logged", "yes");
    Put("u", "logged", "b");
    ASSERT_EQ(Scan(), kAll);
  }
  void ExpectAll() {
    Open({"default", "b"});
    EXPECT_EQ(Scan(), kAll);
    EXPECT_EQ(Scan(ReadOptions(), "b"), "t=of t u=logged");
    EXPECT_EQ(Get("c"), "NOT_FOUND");
    EXPECT_EQ(Get("m"), "NOT_FOUND");
    Put("more", "x");
    Reopen();
    EXPECT_EQ(Get("more"), "x");
    ASSERT_TRUE(Close().ok());
  }
  // A repair of `damaged` whose nth call fails, and with `sticky` all after it. *done: it has
  // fewer.
  Status RepairWithFault(const std::shared_ptr<MemFileSystem>& damaged, uint64_t nth, bool sticky,
                         bool* done) {
    Remount(damaged->CrashClone(CrashPolicy::kKill, 1));
    FaultRule rule;
    rule.calls = kMutatingFaultCalls;
    rule.nth = nth;
    rule.sticky = sticky;
    faults().Inject(rule);
    RepairReport report;
    Status s = Repair(&report);
    *done = faults().strikes() == 0;
    faults().ClearFaults();
    return s;
  }
  // Lets each call of a repair fail in turn, and if sticky all after it; then another repair runs
  // without failures.
  void ExpectEachCallMayFail(const std::shared_ptr<MemFileSystem>& damaged, bool sticky = true) {
    bool done = false;
    uint64_t failed = 0;
    for (uint64_t nth = 1 + FirstUnderSanitizer(); !done; nth += StepUnderSanitizer()) {
      SCOPED_TRACE(nth);
      const Status s = RepairWithFault(damaged, nth, sticky, &done);
      failed += s.ok() ? 0 : 1;
      Remount(mem().CrashClone(CrashPolicy::kKill, 1));
      if (s.ok()) {
        ExpectAll();
        continue;
      }
      if (TryOpen({"default", "b"}).ok()) {
        EXPECT_EQ(Scan(), kAll) << "an opening that goes through has everything";
        ASSERT_TRUE(Close().ok());
      }
      RepairReport report;
      const Status again = Repair(&report);
      ASSERT_TRUE(again.ok()) << again.ToString();
      ExpectAll();
      if (HasFailure()) return;
    }
    EXPECT_GT(failed, StepUnderSanitizer() == 1 ? 20u : 0u);
  }
  // Nothing that was there before is gone.
  void ExpectKept(const std::map<std::string, std::string>& before) {
    const auto after = Contents();
    for (const auto& [name, bytes] : before) {
      if (name == "CURRENT" || name == kSyncedMarksBaseName) continue;
      const bool stays = after.count(name) > 0 && after.at(name) == bytes;
      const bool moved = after.count("lost/" + name) > 0 && after.at("lost/" + name) == bytes;
      EXPECT_TRUE(stays || moved) << name;
    }
  }

  static constexpr const char* kAll = "a=new l=after logged=yes z=late";
};

TEST_F(RepairTest, AHealthyDatabaseIsLeftAlone) {
  for (const bool killed : {false, true}) {
    SCOPED_TRACE(killed);
    Remount(std::make_shared<MemFileSystem>());
    MakeHealthy();
    if (killed) {
      Kill();
    } else {
      ASSERT_TRUE(Close().ok());
    }
    const auto before = Contents();
    RepairReport report;
    ExpectRepaired(&report);
    EXPECT_TRUE(report.healthy) << report.ToString();
    EXPECT_TRUE(Contents() == before);
    EXPECT_EQ(report.families, (std::vector<std::string>{"default", "b"}));
    ExpectAll();
  }
}

TEST_F(RepairTest, WithoutAManifestNothingIsLostAndNothingComesBack) {
  struct Case {
    const char* name;
    std::function<void()> damage;
  };
  const auto manifest = [&] { return Files(kDescriptorFile)[0]; };
  const Case kCases[] = {
      {"CURRENT is missing", [&] { Remove("CURRENT"); }},
      {"CURRENT names nonsense", [&] { WriteFile(Path("CURRENT"), "nonsense\n"); }},
      {"the MANIFEST is missing", [&] { Remove(manifest()); }},
      {"both are missing",
       [&] {
         Remove(manifest());
         Remove("CURRENT");
       }},
      {"the MANIFEST is empty", [&] { WriteFile(Path(manifest()), ""); }},
      {"the MANIFEST is damaged in the middle",
       [&] {
         std::string bytes = ReadFile(Path(manifest()));
         bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
         WriteFile(Path(manifest()), bytes);
       }},
  };
  MakeHealthy();
  Kill();
  const std::shared_ptr<MemFileSystem> healthy = mem().CrashClone(CrashPolicy::kKill, 1);
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    Remount(healthy->CrashClone(CrashPolicy::kKill, 1));
    c.damage();
    ASSERT_FALSE(TryOpen({"default", "b"}).ok());
    const auto before = Contents();
    RepairReport dry;
    const Status s = Repair(&dry, /*dry_run=*/true);
    ASSERT_TRUE(s.ok()) << s.ToString();
    EXPECT_FALSE(dry.healthy);
    EXPECT_TRUE(Contents() == before) << "a dry run changed something";
    RepairReport report;
    ExpectRepaired(&report);
    EXPECT_EQ(report.kept.size(), dry.kept.size());
    ExpectKept(before);
    RepairReport again;
    ExpectRepaired(&again);
    EXPECT_TRUE(again.healthy) << again.ToString();
    ExpectAll();
  }
}

TEST_F(RepairTest, WhatIsMissingIsNamedAndTheRestIsKept) {
  MakeHealthy();
  ASSERT_TRUE(Close().ok());
  const std::string gone = Files(kTableFile)[0];
  Remove(gone);
  ASSERT_FALSE(TryOpen({"default", "b"}).ok());
  RepairReport report;
  ExpectRepaired(&report);
  ASSERT_EQ(report.lost.size(), 1u) << report.ToString();
  EXPECT_EQ(report.lost[0].name, gone);
  EXPECT_THAT(report.ToString(), HasSubstr("the file is missing"));
  Open({"default", "b"});
  EXPECT_EQ(Get("logged"), "yes");
  EXPECT_EQ(Scan(ReadOptions(), "b"), "t=of t u=logged");
}

TEST_F(RepairTest, TheReadableBlocksOfADamagedTableAreKept) {
  BlockBasedTableOptions table;
  table.block_size = 128;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (int i = 0; i < 100; i++) Put("k" + std::to_string(100 + i), std::string(20, 'v'));
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), "a", "b").ok());
  Flush();
  Compact(3, "a", "z");
  ASSERT_TRUE(Close().ok());
  const std::string name = Files(kTableFile)[0];
  std::string bytes = ReadFile(Path(name));
  bytes[300] = static_cast<char>(bytes[300] ^ 1);
  bytes[1500] = static_cast<char>(bytes[1500] ^ 1);
  WriteFile(Path(name), bytes);
  const auto before = Contents();
  RepairReport report;
  ExpectRepaired(&report);
  ASSERT_EQ(report.copied.size(), 1u) << report.ToString();
  EXPECT_EQ(report.copied[0].lost_blocks, 2u);
  EXPECT_THAT(report.copied[0].reason, HasSubstr("checksum"));
  ExpectKept(before);
  Open();
  EXPECT_EQ(Levels(), "0,0,0,1");
  uint64_t left = 0;
  const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) left++;
  EXPECT_TRUE(it->status().ok());
  EXPECT_EQ(left, report.copied[0].entries);
  EXPECT_GT(left, 85u);
  EXPECT_LT(left, 100u);
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

// A table from elsewhere may hold deletions that are longer than the bounds within which they act.
TEST_F(RepairTest, DeletionsOfADamagedTableActWithinItsBounds) {
  std::string ts(8, '\0');
  for (const bool timestamps : {false, true}) {
    SCOPED_TRACE(timestamps);
    Remount(std::make_shared<MemFileSystem>());
    BlockBasedTableOptions table;
    table.block_size = 128;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    if (timestamps) options_.comparator = BytewiseComparatorWithU64Ts();
    options_.persist_user_defined_timestamps = !timestamps;
    options_.allow_concurrent_memtable_write = !timestamps;
    ReadOptions read;
    const Slice newest = "\xff\xff\xff\xff\xff\xff\xff\xff";
    if (timestamps) read.timestamp = &newest;
    Open();
    ColumnFamilyHandle* const family = Handle("default");
    const auto put = [&](const std::string& key) {
      ts[0]++;
      const Status s = timestamps ? db()->Put(WriteOptions(), key, ts, "v")
                                  : db()->Put(WriteOptions(), key, "v");
      ASSERT_TRUE(s.ok()) << s.ToString();
    };
    put("b");
    put("y");
    Flush();
    ts[0]++;
    const Status deleted = timestamps ? db()->DeleteRange(WriteOptions(), family, "a", "z", ts)
                                      : db()->DeleteRange(WriteOptions(), family, "a", "z");
    ASSERT_TRUE(deleted.ok()) << deleted.ToString();
    for (int i = 0; i < 100; i++) put("k" + std::to_string(100 + i));
    Flush();

    Checkpoint* checkpoint = nullptr;
    ASSERT_TRUE(Checkpoint::Create(db(), &checkpoint).ok());
    const std::unique_ptr<Checkpoint> owned(checkpoint);
    ExportImportFilesMetaData* made = nullptr;
    ASSERT_TRUE(checkpoint->ExportColumnFamily(family, "/export", &made).ok());
    const std::unique_ptr<ExportImportFilesMetaData> exported(made);
    for (LiveFileMetaData& file : exported->files) {
      if (file.smallest[0] != 'a') continue;
      file.smallest = InternalKey("k100" + std::string(timestamps ? 8 : 0, '\xff'),
                                  kMaxSequenceNumber, kTypeValue)
                          .Encode()
                          .ToString();
      file.largest = InternalKey("k199" + std::string(timestamps ? 8 : 0, '\0'), 0, kTypeValue)
                         .Encode()
                         .ToString();
    }
    ColumnFamilyHandle* imported = nullptr;
    const Status s = db()->CreateColumnFamilyWithImport(options_, "b", ImportColumnFamilyOptions(),
                                                        *exported, &imported);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ColumnFamilyMetaData files;
    db()->GetColumnFamilyMetaData(imported, &files);
    ASSERT_TRUE(db()->DestroyColumnFamilyHandle(imported).ok());
    ASSERT_EQ(files.levels[0].files.size(), 2u);
    const auto& larger = std::ranges::max(files.levels[0].files, {}, &SstFileMetaData::size);
    const std::string path = Path(larger.relative_filename);
    ASSERT_TRUE(Close().ok());
    Open({"default", "b"});
    const auto count = [&] {
      const std::string all = Scan(read, "b");
      EXPECT_THAT(all, ::testing::StartsWith("b=v k"));
      EXPECT_THAT(all, ::testing::EndsWith(" y=v"));
      return std::ranges::count(all, '=');
    };
    EXPECT_EQ(count(), 102);
    ASSERT_TRUE(Close().ok());

    std::string bytes = ReadFile(path);
    bytes[300] = static_cast<char>(bytes[300] ^ 1);
    WriteFile(path, bytes);
    RepairReport report;
    ExpectRepaired(&report);
    ASSERT_EQ(report.copied.size(), 1u) << report.ToString();
    Open({"default", "b"});
    EXPECT_LT(count(), 102);
    EXPECT_GT(count(), 80);
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(RepairTest, ALogIsReplayedUpToItsDamage) {
  Open();
  Put("a", "1");
  Put("b", "2");
  Put("c", "3");
  Kill();
  const std::string log = Files(kWalFile).back();
  std::string bytes = ReadFile(Path(log));
  const size_t at = bytes.rfind('2');
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'X';
  WriteFile(Path(log), bytes);
  const auto before = Contents();
  options_.wal_recovery_mode = WALRecoveryMode::kAbsoluteConsistency;
  ASSERT_FALSE(TryOpen().ok());
  RepairReport report;
  ExpectRepaired(&report);
  ASSERT_EQ(report.logs.size(), 1u) << report.ToString();
  EXPECT_GT(report.logs[0].dropped_bytes, 0u);
  ExpectKept(before);
  Open();
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(RepairTest, DamageBelowNewerTablesNoLongerRefuses) {
  Open({"default", "b"});
  Put("a", "1");
  const std::string log = Files(kWalFile).back();
  MakeTable({"t"}, "b");  // its log number is above the log that the other still needs
  Put("c", "3");
  Kill();
  std::string bytes = ReadFile(Path(log));
  const size_t at = bytes.rfind("of t");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'X';
  WriteFile(Path(log), bytes);
  ASSERT_FALSE(TryOpen({"default", "b"}).ok());
  RepairReport report;
  ExpectRepaired(&report);
  Open({"default", "b"});
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("t", "b"), "of t");
}

TEST_F(RepairTest, ARecordThatIsNoBatchEndsTheLog) {
  Open();
  Put("a", "1");
  Kill();
  const uint64_t number = 1000;
  std::unique_ptr<WritableFileWriter> file;
  ASSERT_TRUE(WritableFileWriter::Create(&mem(), LogFileName(kName, number), FileOptions(),
                                         WritableFileWriter::Options(), &file)
                  .ok());
  wal::LogWriter writer(std::move(file), number);
  char header[12] = {};
  EncodeFixed64(header, 2);  // the next sequence
  EncodeFixed32(header + 8, 1);
  ASSERT_TRUE(writer.AddRecord(std::string(header, sizeof(header)) + "\x7f junk").ok());
  ASSERT_TRUE(writer.Sync(false).ok());
  ASSERT_TRUE(writer.Close().ok());
  ASSERT_FALSE(TryOpen().ok());
  RepairReport report;
  ExpectRepaired(&report);
  Open();
  EXPECT_EQ(Scan(), "a=1");
}

TEST_F(RepairTest, ATablesLostEndOfTheManifestIsTakenOver) {
  Open();
  MakeTable({"a"});
  const std::string manifest = Path(Files(kDescriptorFile)[0]);
  const std::string before = ReadFile(manifest);
  MakeTable({"b"});
  Kill();
  WriteFile(manifest, before);
  for (const std::string& log : Files(kWalFile)) Remove(log);
  ASSERT_FALSE(TryOpen().ok());
  RepairReport report;
  ExpectRepaired(&report);
  EXPECT_THAT(report.manifest_damage, HasSubstr("its end is missing"));
  Open();
  EXPECT_EQ(Scan(), "a=of a b=of b");
}

// The database has moved its tables to another directory. Tables that it left behind, or that were
// copied, are not those of the MANIFEST.
TEST_F(RepairTest, CopiesOfTablesInOtherDirectoriesAreNotTakenForThem) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  const std::string table = Files(kTableFile)[0];
  ASSERT_TRUE(mem().CreateDirIfMissing("/tables", IOOptions(), nullptr).ok());
  WriteFile("/tables/" + table, ReadFile(Path(table)));
  options_.db_paths = {{"/tables", uint64_t{1} << 40}};
  for (const std::string& copy : {ReadFile(Path(table)), std::string("an old one")}) {
    WriteFile(Path(table), copy);
    RepairReport report;
    ExpectRepaired(&report);
    EXPECT_TRUE(report.healthy) << report.ToString();
    Open();
    EXPECT_EQ(Scan(), "a=of a");
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(RepairTest, OfSeveralTablesWithOneNumberASoundOneIsTaken) {
  for (const bool elsewhere : {false, true}) {
    SCOPED_TRACE(elsewhere);
    Remount(std::make_shared<MemFileSystem>());
    options_.db_paths = {{kName, uint64_t{1} << 40}, {"/tables", uint64_t{1} << 40}};
    Open();
    MakeTable({"a"});
    ASSERT_TRUE(Close().ok());
    const std::string table = Files(kTableFile)[0];
    std::string damaged = ReadFile(Path(table));
    damaged[0] = static_cast<char>(damaged[0] ^ 1);
    WriteFile("/tables/" + table, elsewhere ? ReadFile(Path(table)) : damaged);
    if (elsewhere) WriteFile(Path(table), damaged);
    Remove(Files(kDescriptorFile)[0]);
    RepairReport report;
    ExpectRepaired(&report);
    EXPECT_EQ(report.kept.size(), 1u) << report.ToString();
    EXPECT_THAT(report.ToString(), HasSubstr("another file has its number"));
    Open();
    EXPECT_EQ(Scan(), "a=of a");
    ASSERT_TRUE(Close().ok());
  }
}

// A MANIFEST begins with a list of the tables that those before it deleted, and that are still
// there.
TEST_F(RepairTest, TablesThatAnEarlierManifestDeletedStayDeleted) {
  options_.max_manifest_file_size = 1;  // each change begins a new one
  Open();
  Put("changed", "old");
  Put("deleted", "old");
  Flush();
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  Put("changed", "new");
  Delete("deleted");
  Flush();
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_TRUE(db()->CompactRange(all, nullptr, nullptr).ok());
  MakeTable({"later"});
  Kill();
  Remove(Files(kTableFile)[1]);  // as if an iterator had kept the other one only
  std::string manifest = ReadFile(Path("CURRENT"));
  manifest.pop_back();
  std::string bytes = ReadFile(Path(manifest));
  bytes[bytes.size() - 3] = static_cast<char>(bytes[bytes.size() - 3] ^ 1);
  WriteFile(Path(manifest), bytes);
  ASSERT_FALSE(TryOpen().ok());
  RepairReport report;
  ExpectRepaired(&report);
  EXPECT_EQ(report.unexplained.size(), 1u) << report.ToString();
  Open();
  EXPECT_EQ(Scan(), "changed=new later=of later");
}

TEST_F(RepairTest, AFamilyThatWasDroppedStaysDropped) {
  Open({"default", "b"});
  MakeTable({"old"}, "b");
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  ASSERT_TRUE(db()->DropColumnFamily(Handle("b")).ok());
  ColumnFamilyHandle* again = nullptr;
  ASSERT_TRUE(db()->CreateColumnFamily(options_, "b", &again).ok());
  ASSERT_TRUE(db()->Put(WriteOptions(), again, "new", "n").ok());
  ASSERT_TRUE(db()->Flush(FlushOptions(), again).ok());
  ASSERT_TRUE(db()->DestroyColumnFamilyHandle(again).ok());
  Kill();
  Remove("CURRENT");
  Remove(Files(kDescriptorFile)[0]);
  RepairReport report;
  ExpectRepaired(&report);
  EXPECT_EQ(report.families.back(), "b");
  Open({"default", "b"});
  EXPECT_EQ(Scan(ReadOptions(), "b"), "new=n");
}

TEST_F(RepairTest, TimestampsSurvive) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  const auto at = [](uint64_t timestamp) {
    std::string bytes;
    EncodeU64Ts(timestamp, &bytes);
    return bytes;
  };
  for (const bool persisted : {true, false}) {
    SCOPED_TRACE(persisted);
    Remount(std::make_shared<MemFileSystem>());
    options_.persist_user_defined_timestamps = persisted;
    options_.allow_concurrent_memtable_write = persisted;
    Open();
    ASSERT_TRUE(db()->Put(WriteOptions(), "k", at(1), "one").ok());
    ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
    ASSERT_TRUE(db()->Put(WriteOptions(), "k", at(2), "two").ok());
    ASSERT_TRUE(db()->Put(WriteOptions(), "j", at(2), "two").ok());
    ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
    ASSERT_TRUE(Close().ok());
    Remove("CURRENT");
    Remove(Files(kDescriptorFile)[0]);
    RepairReport report;
    ExpectRepaired(&report);
    Open();
    const std::string newest = at(9);
    const Slice as_of(newest);
    ReadOptions read;
    read.timestamp = &as_of;
    EXPECT_EQ(Scan(read), "j=two k=two");
    if (persisted) {
      const std::string early = at(1);
      const Slice before(early);
      read.timestamp = &before;
      EXPECT_EQ(Scan(read), "k=one");
    }
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(RepairTest, WrongOptionsChangeNothing) {
  MakeHealthy();
  RepairReport report;
  EXPECT_TRUE(Repair(&report).IsIOError()) << "the database is open";
  ASSERT_TRUE(Close().ok());
  Remove("CURRENT");
  const auto before = Contents();
  const ColumnFamilyOptions families(options_);
  Status s = RepairDB(kName, options_, {{"default", families}});
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("column family b"));
  options_.comparator = ReverseBytewiseComparator();
  s = RepairDB(kName, options_);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  options_.comparator = BytewiseComparator();
  EXPECT_FALSE(RepairDB("/nowhere", options_).ok());
  EXPECT_TRUE(Contents() == before);
  ASSERT_TRUE(RepairDB(kName, options_, {{"default", families}, {"b", families}}).ok());
  ExpectAll();
}

TEST_F(RepairTest, LogsOfAnOpenDatabaseAreLeftAlone) {
  MakeHealthy();
  ASSERT_TRUE(Close().ok());
  Remove("CURRENT");
  Options other_options = options_;
  other_options.wal_dir = "/logs";
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(other_options, "/other", &other).ok());
  const auto before = Contents();
  options_.wal_dir = "/logs";
  RepairReport report;
  EXPECT_TRUE(Repair(&report).IsIOError());
  EXPECT_TRUE(Contents() == before);
  other.reset();
  options_.wal_dir.clear();
  ExpectRepaired(&report);
  ExpectAll();
}

TEST_F(RepairTest, DirectoriesOfOtherDatabasesAreLeftAlone) {
  MakeHealthy();
  ASSERT_TRUE(Close().ok());
  Remove("CURRENT");
  std::unique_ptr<DB> other;
  ASSERT_TRUE(DB::Open(options_, "/other", &other).ok());
  for (int i = 0; i < 20; i++) {
    ASSERT_TRUE(other->Put(WriteOptions(), "k", std::to_string(i)).ok());
    ASSERT_TRUE(other->Flush(FlushOptions()).ok());
  }
  const auto before = Contents();
  const auto others = [this] {
    return std::pair(Files(kTableFile, "/other"), Files(kWalFile, "/other"));
  };
  const auto others_before = others();
  const Options own = options_;
  for (const bool of_logs : {true, false}) {
    SCOPED_TRACE(of_logs);
    options_ = own;
    if (of_logs) {
      options_.wal_dir = "/other";
    } else {
      options_.db_paths = {{kName, 1}, {"/other", uint64_t{1} << 40}};
    }
    for (int i = 0; i < 2; i++) {
      RepairReport report;
      const Status s = Repair(&report);
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_THAT(s.ToString(), HasSubstr("/other: is to hold"));
      EXPECT_EQ(others(), others_before);
    }
    EXPECT_TRUE(Contents() == before);
  }
}

// Other files in directories of logs and of tables do not belong to the database.
TEST_F(RepairTest, OnlyFilesOfTheDatabaseAreUndone) {
  options_.wal_dir = "/logs";
  options_.db_paths = {{kName, uint64_t{1} << 40}, {"/tables", uint64_t{1} << 40}};
  MakeHealthy();
  ASSERT_TRUE(Close().ok());
  Remove(Files(kDescriptorFile)[0]);
  FaultRule rule;
  rule.calls = kMutatingFaultCalls;
  rule.sticky = true;
  rule.path_contains = "/db/CURRENT";
  faults().Inject(rule);
  rule.calls = Only(FaultCall::kDelete);
  rule.path_contains = "/db/lost/";  // the trace of the repair
  faults().Inject(rule);
  RepairReport report;
  ASSERT_FALSE(Repair(&report).ok());
  faults().ClearFaults();
  const std::vector<std::string> others = {"/logs/000901.sst", "/logs/MANIFEST-000902",
                                           "/tables/000903.log", "/tables/MANIFEST-000904"};
  for (const std::string& path : others) WriteFile(path, "somebody's");
  ExpectRepaired(&report);
  for (const std::string& path : others) EXPECT_EQ(ReadFile(path), "somebody's") << path;
  ExpectAll();
}

// An opening does not count files in lost/, so it may give out numbers above that of the trace.
TEST_F(RepairTest, WhatWasWrittenAfterAnInterruptedRepairStays) {
  Open();
  MakeTable({"unreadable"});
  ASSERT_TRUE(Close().ok());
  std::string bytes = ReadFile(Path(Files(kTableFile)[0]));
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  WriteFile(Path(Files(kTableFile)[0]), bytes);
  ASSERT_TRUE(mem().CreateDirIfMissing(Path("lost"), IOOptions(), nullptr).ok());
  WriteFile(Path("lost/000030.sst"), "set aside by an earlier repair");
  FaultRule rule;
  rule.calls = kMutatingFaultCalls;
  rule.sticky = true;
  rule.path_contains = "/db/MANIFEST";
  faults().Inject(rule);
  rule.calls = Only(FaultCall::kDelete);
  rule.path_contains = "/db/lost/";  // the trace of the repair
  faults().Inject(rule);
  RepairReport report;
  ASSERT_FALSE(Repair(&report).ok());
  faults().ClearFaults();
  ASSERT_EQ(Files(kTempFile, Path("lost")), std::vector<std::string>{"31.dbtmp"});
  const std::string trace = ReadFile(Path("lost/31.dbtmp"));
  Open();
  EXPECT_THAT(Files(kTempFile, Path("lost")), ::testing::IsEmpty());
  std::string all;
  for (int i = 100; i < 130; i++) {
    MakeTable({std::to_string(i)});
    all += std::to_string(i) + "=of " + std::to_string(i) + " ";
  }
  ASSERT_TRUE(Close().ok());
  ASSERT_GT(Files(kTableFile).back(), "000031.sst");
  WriteFile(Path("lost/31.dbtmp"), trace);  // as if another program had opened it
  ASSERT_TRUE(Repair(&report, /*dry_run=*/true).ok());
  ExpectRepaired(&report);
  EXPECT_EQ(report.lost.size(), 1u) << report.ToString();
  Open();
  EXPECT_EQ(Scan() + " ", all);
}

// A repair was killed between its coming into force and its end. Much later CURRENT is lost.
TEST_F(RepairTest, WhatWasWrittenAfterARepairThatWasKilledAtItsEndStays) {
  struct AtTheEnd final : MemFileSystem::CallHook {
    void BeforeCall(uint64_t, MemCall call, const std::string& path) override {
      const bool trace = path.starts_with("/db/lost/") && path.ends_with(".dbtmp");
      if (call == MemCall::kDelete && trace) left = mem->CrashClone(CrashPolicy::kKill, 1);
    }
    MemFileSystem* mem = nullptr;
    std::shared_ptr<MemFileSystem> left;
  };
  for (const bool forgets : {true, false}) {
    SCOPED_TRACE(forgets);
    Remount(std::make_shared<MemFileSystem>());
    Open();
    MakeTable({"a"});
    ASSERT_TRUE(Close().ok());
    Remove("CURRENT");
    AtTheEnd hook;
    hook.mem = &mem();
    mem().SetCallHook(&hook);
    RepairReport report;
    ExpectRepaired(&report);
    mem().SetCallHook(nullptr);
    ASSERT_NE(hook.left, nullptr);
    Remount(hook.left);
    const std::string trace = Path("lost/" + Files(kTempFile, Path("lost")).at(0));
    const std::string text = ReadFile(trace);
    for (const char* key : {"b", "c"}) {
      Open();
      MakeTable({key});
      ASSERT_TRUE(Close().ok());
    }
    EXPECT_THAT(Files(kTempFile, Path("lost")), ::testing::IsEmpty());
    // Another program would have left it.
    if (!forgets) WriteFile(trace, text);
    WriteFile(Path("CURRENT"), "");
    ExpectRepaired(&report);
    Open();
    EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
    ASSERT_TRUE(Close().ok());
  }
}

// The sign that a MANIFEST lost its end must outlive a repair that fails.
TEST_F(RepairTest, AnInterruptedRepairOfAManifestThatLostItsEndIsMadeAgain) {
  Open();
  const uint64_t cut = ReadFile(Path(Files(kDescriptorFile)[0])).size();
  ASSERT_TRUE(Close().ok());
  MakeHealthy();
  ASSERT_TRUE(Close().ok());
  const std::string manifest = Path(Files(kDescriptorFile)[0]);
  const std::string bytes = ReadFile(manifest);
  ASSERT_GT(bytes.size(), cut);
  WriteFile(manifest, bytes.substr(0, cut));
  ASSERT_TRUE(TryOpen({"default"}).IsCorruption());
  const std::shared_ptr<MemFileSystem> damaged = mem().CrashClone(CrashPolicy::kKill, 1);
  for (const bool sticky : {true, false}) {
    SCOPED_TRACE(sticky);
    ExpectEachCallMayFail(damaged, sticky);
  }
}

// Its logs become tables whatever the options say.
TEST_F(RepairTest, AnOpeningThatKeepsLogsIsNoPartOfARepair) {
  options_.avoid_flush_during_recovery = true;
  MakeHealthy();
  Kill();
  Remove("CURRENT");
  Remove(Files(kDescriptorFile)[0]);
  RepairReport report;
  ExpectRepaired(&report);
  ExpectRepaired(&report);
  EXPECT_TRUE(report.healthy) << report.ToString();
  ExpectAll();
}

TEST_F(RepairTest, AnInterruptedRepairIsMadeAgain) {
  MakeHealthy();
  Kill();
  Remove("CURRENT");
  Remove(Files(kDescriptorFile)[0]);
  ExpectEachCallMayFail(mem().CrashClone(CrashPolicy::kKill, 1));
}

TEST_F(RepairTest, AnInterruptedRepairPutsCurrentBack) {
  MakeHealthy();
  Kill();
  const std::string manifest = Path(Files(kDescriptorFile)[0]);
  std::string bytes = ReadFile(manifest);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  WriteFile(manifest, bytes);
  ExpectEachCallMayFail(mem().CrashClone(CrashPolicy::kKill, 1));
}

// A single call fails; the database could be opened before.
TEST_F(RepairTest, ARepairThatFailsPutsBackWhatItFound) {
  MakeHealthy();
  MakeTable({"unreadable"});
  ASSERT_TRUE(Close().ok());
  std::string bytes = ReadFile(Path(Files(kTableFile).back()));
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  WriteFile(Path(Files(kTableFile).back()), bytes);
  const std::shared_ptr<MemFileSystem> damaged = mem().CrashClone(CrashPolicy::kKill, 1);
  uint64_t failed = 0;
  bool done = false;
  for (uint64_t nth = 1; !done; nth++) {
    SCOPED_TRACE(nth);
    const Status s = RepairWithFault(damaged, nth, /*sticky=*/false, &done);
    failed += s.ok() ? 0 : 1;
    ASSERT_THAT(Files(kTempFile, Path("lost")), ::testing::IsEmpty());
    Remount(mem().CrashClone(CrashPolicy::kSyncedOnly, nth));
    const Status opened = TryOpen({"default", "b"});
    ASSERT_TRUE(opened.ok()) << opened.ToString() << " after " << s.ToString();
    EXPECT_EQ(Get("a"), "new");
    EXPECT_EQ(Get("u", "b"), "logged");
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_GT(failed, 20u);
}

TEST_F(RepairTest, OptionsThatAnOpeningRefusesChangeNothing) {
  options_.num_levels = 9;
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();
  Open();
  MakeTable({"a"});
  Compact(8, "a", "b");
  MakeTable({"unreadable"});
  ASSERT_TRUE(Close().ok());
  std::string bytes = ReadFile(Path(Files(kTableFile).back()));
  bytes[0] = static_cast<char>(bytes[0] ^ 1);
  WriteFile(Path(Files(kTableFile).back()), bytes);
  const auto before = Contents();
  const Options right = options_;
  for (const bool levels : {true, false}) {
    options_ = right;
    if (levels) {
      options_.num_levels = 7;
    } else {
      options_.merge_operator = MergeOperators::CreateUInt64AddOperator();
    }
    for (const bool dry_run : {true, false}) {
      RepairReport report;
      const Status s = Repair(&report, dry_run);
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_THAT(s.ToString(), HasSubstr(levels ? "num_levels is 7" : "not UInt64AddOperator"));
      EXPECT_TRUE(Contents() == before);
    }
  }
  options_ = right;
  Open();
  EXPECT_EQ(Get("a"), "of a");
}

TEST_F(RepairTest, ADirectoryOfLogsThatIsGoneIsMade) {
  options_.wal_dir = "/logs";
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  for (const std::string& log : Files(kWalFile, "/logs")) {
    ASSERT_TRUE(mem().DeleteFile("/logs/" + log, IOOptions(), nullptr).ok());
  }
  ASSERT_TRUE(mem().DeleteFile("/logs/LOCK", IOOptions(), nullptr).ok());
  ASSERT_TRUE(mem().DeleteDir("/logs", IOOptions(), nullptr).ok());
  options_.create_if_missing = false;
  ASSERT_FALSE(TryOpen().ok());
  RepairReport report;
  const Status s = Repair(&report, /*dry_run=*/true);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_THAT(report.ToString(), HasSubstr("log /logs: 0 records, 0 bytes dropped (the directory"));
  ExpectRepaired(&report);
  EXPECT_FALSE(report.healthy);
  Open();
  EXPECT_EQ(Scan(), "a=of a");
}

TEST_F(RepairTest, AFileWithANumberThatNobodyGaveOutIsNoHindrance) {
  MakeHealthy();
  Kill();
  const std::string table = ReadFile(Path(Files(kTableFile)[0]));
  const std::string manifest = ReadFile(Path(Files(kDescriptorFile)[0]));
  const std::string log = ReadFile(Path(Files(kWalFile).back()));
  const std::shared_ptr<MemFileSystem> healthy = mem().CrashClone(CrashPolicy::kKill, 1);
  const std::string number = "9000000000000000000";
  const std::vector<std::pair<std::string, std::string>> strays = {
      {number + ".sst", "x"}, {number + ".sst", table},   {"MANIFEST-" + number, manifest},
      {number + ".log", log}, {"OPTIONS-" + number, "x"}, {"lost/" + number + ".sst", table},
  };
  for (const auto& [name, bytes] : strays) {
    SCOPED_TRACE(name);
    Remount(healthy->CrashClone(CrashPolicy::kKill, 1));
    ASSERT_TRUE(mem().CreateDirIfMissing(Path("lost"), IOOptions(), nullptr).ok());
    WriteFile(Path(name), bytes);
    Remove("CURRENT");
    RepairReport report;
    ExpectRepaired(&report);
    ExpectAll();
  }
}

// Random writes, flushes and compactions to random levels; then the MANIFEST goes, or its end.
TEST_F(RepairTest, RandomHistoriesComeBackWithoutTheirManifest) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    SCOPED_TRACE(seed);
    Remount(std::make_shared<MemFileSystem>());
    Random random(seed);
    Open();
    std::string manifest_before;
    for (int step = 0; step < 60; step++) {
      const std::string key(1, static_cast<char>('a' + random.Below(12)));
      switch (random.Below(8)) {
        case 0:
          Delete(key);
          break;
        case 1:
          ASSERT_TRUE(db()->DeleteRange(WriteOptions(), key, key + "zz").ok());
          break;
        case 2:
          Flush();
          break;
        case 3:
          Flush();
          TryCompact(static_cast<int>(1 + random.Below(3)), key, key + "z").PermitUncheckedError();
          break;
        default:
          Put(key, std::to_string(step));
      }
      if (step == 30) manifest_before = ReadFile(Path(Files(kDescriptorFile)[0]));
    }
    const std::string expected = Scan();
    Kill();
    const std::string manifest = Files(kDescriptorFile)[0];
    if (random.OneIn(2)) {
      Remove("CURRENT");
      Remove(manifest);
    } else {
      // The file is whole up to its middle, and then damaged.
      std::string bytes = ReadFile(Path(manifest));
      ASSERT_GE(bytes.size(), manifest_before.size());
      bytes = manifest_before + std::string(100, '\x55');
      WriteFile(Path(manifest), bytes);
    }
    RepairReport report;
    ExpectRepaired(&report);
    Open();
    EXPECT_EQ(Scan(), expected) << report.ToString();
    for (char c = 'a'; c < 'a' + 12; c++) {
      const std::string key(1, c);
      const bool there = (" " + expected).find(" " + key + "=") != std::string::npos;
      EXPECT_EQ(Get(key) != "NOT_FOUND", there) << key;
    }
    ASSERT_TRUE(Close().ok());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace varve::testing
