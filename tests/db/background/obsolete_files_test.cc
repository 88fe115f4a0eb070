// SPDX-License-Identifier: Apache-2.0

// Goal: a file goes when it is proven obsolete and not before; what nothing explains is kept aside,
// within bounds. Method: foreign and left-over files beside a database, readers that hold tables,
// deletions that fail.

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "varve/table.h"

#include "tests/harness/database.h"
#include "util/env/file_names.h"

namespace varve::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// Tables are said to be large.
class LargeTables final : public FileSystemWrapper {
 public:
  using FileSystemWrapper::FileSystemWrapper;
  const char* Name() const override { return "LargeTables"; }
  IOStatus GetFileSize(const std::string& name, const IOOptions& options, uint64_t* size,
                       IODebugContext* dbg) override {
    IOStatus s = FileSystemWrapper::GetFileSize(name, options, size, dbg);
    if (name.ends_with(".sst")) *size = uint64_t{5} << 30;
    return s;
  }
};

class ObsoleteFilesTest : public Database {
 protected:
  ObsoleteFilesTest() { options_.disable_auto_compactions = true; }
  void Compact() {
    const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // The tables that it holds are obsolete.
  std::unique_ptr<Iterator> CompactUnderAReader() {
    MakeTable({"a"});
    MakeTable({"a"});
    std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    it->SeekToFirst();
    Compact();
    return it;
  }
  std::vector<std::string> Entries(const std::string& directory = kName) {
    std::vector<std::string> entries;
    mem().GetChildren(directory, IOOptions(), &entries, nullptr).PermitUncheckedError();
    return entries;
  }
  const std::string kLost = "/db/lost";
};

TEST_F(ObsoleteFilesTest, TablesStayWhileAReaderHoldsThem) {
  Open();
  MakeTable({"a"});
  MakeTable({"a"});
  const auto inputs = Files(kTableFile);
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  it->SeekToFirst();
  Compact();
  for (const std::string& name : inputs) EXPECT_THAT(Files(kTableFile), Contains(name));
  EXPECT_EQ(Rest(it.get()), "a=of a");
  it.reset();
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }));
}

// Nothing is left for the next opening to wonder about.
TEST_F(ObsoleteFilesTest, ClosingDeletesWhatReadersLetGoOf) {
  for (int round = 0; round < 20; round++) {
    Open();
    std::unique_ptr<Iterator> it = CompactUnderAReader();
    it.reset();
    ASSERT_TRUE(db()->Close().ok());
    EXPECT_EQ(Files(kTableFile).size(), 1u);
    ASSERT_TRUE(Close().ok());
  }
  EXPECT_THAT(Entries(kLost), IsEmpty());
}

TEST_F(ObsoleteFilesTest, ReadersLetGoWhileDeletionsAreDisabled) {
  Open();
  std::unique_ptr<Iterator> it = CompactUnderAReader();
  ASSERT_TRUE(db()->DisableFileDeletions().ok());
  it.reset();
  EXPECT_FALSE(Eventually([&] { return Files(kTableFile).size() == 1; }, /*seconds=*/1));
  ASSERT_TRUE(db()->EnableFileDeletions().ok());
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }));
}

TEST_F(ObsoleteFilesTest, ManyReadersLetGoAtOnce) {
  Open();
  for (int round = 0; round < 30; round++) {
    MakeTable({"a"});
    MakeTable({"a"});
    std::vector<std::thread> readers;
    std::atomic<int> standing{0};
    std::atomic<bool> go{false};
    for (int t = 0; t < 4; t++) {
      readers.emplace_back([&] {
        std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
        it->SeekToFirst();
        standing++;
        while (!go.load()) std::this_thread::yield();
      });
    }
    while (standing.load() != 4) std::this_thread::yield();
    Compact();
    go = true;
    if (round % 3 == 0) Reopen();
    for (std::thread& reader : readers) reader.join();
    if (round % 3 == 0) Reopen();
    ASSERT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; })) << round;
  }
}

// The block cache keeps nothing of tables that went: whether a job releases them last or a reader.
TEST_F(ObsoleteFilesTest, BlocksGoWithTheirTable) {
  const std::shared_ptr<Cache> cache = NewLRUCache(64 << 20);
  BlockBasedTableOptions table_options;
  table_options.block_cache = cache;
  options_.table_factory.reset(NewBlockBasedTableFactory(table_options));
  Open();
  const auto fill = [&] {
    for (int i = 0; i < 500; i++) Put("k" + std::to_string(i), std::string(1000, 'v'));
    Flush();
  };
  fill();
  fill();
  (void)Scan();
  const size_t of_data = cache->GetUsage();
  ASSERT_GT(of_data, 800u * 1000);
  Compact();
  // One of two tables with the same keys is left, and its blocks are cached in place of the
  // others'.
  EXPECT_TRUE(Eventually([&] { return cache->GetUsage() < of_data * 6 / 10; }));
  fill();
  std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  EXPECT_EQ(Rest(it.get()), "");
  for (it->SeekToFirst(); it->Valid(); it->Next()) EXPECT_EQ(it->value().size(), 1000u);
  const size_t held = cache->GetUsage();
  ASSERT_GT(held, 800u * 1000);
  Compact();
  EXPECT_GE(cache->GetUsage(), held);
  it.reset();
  EXPECT_LT(cache->GetUsage(), held * 6 / 10);
}

TEST_F(ObsoleteFilesTest, LogsAndManifestsGoWhenANewerOneHolds) {
  Open({"default", "a"});
  for (int i = 0; i < 5; i++) MakeTable({"k"});
  EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() == 1; }));
  Put("only in the log", "v", "a");
  for (int i = 0; i < 5; i++) MakeTable({"k"});
  EXPECT_GT(Files(kWalFile).size(), 1u) << "a family's data is in no table";
  Flush("a");
  EXPECT_TRUE(Eventually([&] { return Files(kWalFile).size() == 1; }));
  EXPECT_EQ(Files(kDescriptorFile).size(), 1u);
  Reopen();
  EXPECT_EQ(Files(kDescriptorFile).size(), 1u);
}

TEST_F(ObsoleteFilesTest, ADeletionThatFailedIsTriedAgain) {
  Open();
  MakeTable({"a"});
  MakeTable({"a"});
  FaultRule rule;
  rule.calls = Only(FaultCall::kDelete);
  rule.path_contains = ".sst";
  rule.sticky = true;
  faults().Inject(rule);
  Compact();
  EXPECT_EQ(Files(kTableFile).size(), 3u);
  EXPECT_EQ(Get("a"), "of a");
  faults().ClearFaults();
  MakeTable({"b"});
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 2; }));
}

TEST_F(ObsoleteFilesTest, TablesWithLevelDbNamesGoToo) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  const std::string name = Files(kTableFile)[0];
  const std::string old_name = name.substr(0, name.find('.')) + ".ldb";
  ASSERT_TRUE(mem()
                  .RenameFile(std::string(kName) + "/" + name, std::string(kName) + "/" + old_name,
                              IOOptions(), nullptr)
                  .ok());
  Open();
  EXPECT_EQ(Get("a"), "of a");
  MakeTable({"a"});
  Compact();
  EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }));
  EXPECT_THAT(Files(kTableFile), Not(Contains(old_name)));
}

TEST_F(ObsoleteFilesTest, WhatNothingExplainsIsSetAside) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/000900.sst", "nobody knows");
  WriteFile("/db/000901.dbtmp", "left by a crash");
  WriteFile("/db/notes.txt", "the user's");
  WriteFile("/db/000902.blob", "no table refers to it");
  WriteFile("/db/OPTIONS-junk", "not one of ours");
  Open();
  EXPECT_EQ(ReadFile("/db/lost/000900.sst"), "nobody knows");
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("set_aside="));
  EXPECT_THAT(Text("varve.recovery"), HasSubstr("/db/lost/000900.sst"));
  EXPECT_THAT(Entries(), Not(Contains("000900.sst")));
  EXPECT_THAT(Entries(), Not(Contains("000901.dbtmp")));
  EXPECT_EQ(ReadFile("/db/lost/000902.blob"), "no table refers to it");
  for (const char* name : {"notes.txt", "OPTIONS-junk"}) {
    EXPECT_THAT(Entries(), Contains(name));
  }
  MakeTable({"b"});
  for (const std::string& name : Files(kTableFile)) EXPECT_NE(name, "000900.sst");
  EXPECT_GT(Files(kTableFile).back(), "000900.sst") << "its number is not used again";
  Reopen();
  EXPECT_THAT(Text("varve.recovery"), Not(HasSubstr("set_aside")));
  EXPECT_THAT(Entries(kLost), UnorderedElementsAre("000900.sst", "000902.blob"));
}

// The next that is moved there must not have the same name.
TEST_F(ObsoleteFilesTest, NumbersOfWhatWasSetAsideAreNotUsedAgain) {
  Open();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(mem().CreateDirIfMissing(kLost, IOOptions(), nullptr).ok());
  WriteFile(TableFileName(kLost, 50), "set aside");
  Open();
  MakeTable({"a"});
  EXPECT_GT(Files(kTableFile).back(), "000050.sst");
  EXPECT_EQ(ReadFile(TableFileName(kLost, 50)), "set aside");
}

TEST_F(ObsoleteFilesTest, WhatIsSetAsideIsBounded) {
  Open();
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(mem().CreateDirIfMissing(kLost, IOOptions(), nullptr).ok());
  for (uint64_t number = 1000; number < 1120; number++) {
    WriteFile(TableFileName(kLost, number), "old");
  }
  WriteFile(kLost + "/notes.txt", "the user's");
  Open();
  EXPECT_EQ(Entries(kLost).size(), 121u) << "nothing new came, nothing goes";
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/000100.sst", "new, with a small number");
  WriteFile("/db/002000.sst", "new");
  Open();
  EXPECT_EQ(Files(kTableFile, kLost).size(), 102u) << "100 earlier ones, and this opening's";
  EXPECT_THAT(Entries(kLost), Contains("000100.sst"));
  EXPECT_THAT(Entries(kLost), Contains("002000.sst"));
  EXPECT_THAT(Entries(kLost), Contains("001119.sst"));
  EXPECT_THAT(Entries(kLost), Not(Contains("001019.sst"))) << "the oldest go";
  EXPECT_THAT(Entries(kLost), Contains("notes.txt"));
}

// They are deleted even if a new MANIFEST was begun since.
TEST_F(ObsoleteFilesTest, TablesThatAReaderHeldAtAKillAreDeleted) {
  for (const uint64_t manifest_bytes : {uint64_t{1} << 30, uint64_t{1}}) {
    options_.max_manifest_file_size = manifest_bytes;
    Open();
    const std::unique_ptr<Iterator> it = CompactUnderAReader();
    MakeTable({"b"});
    MakeTable({"b"});
    std::vector<LiveFileMetaData> live;
    db()->GetLiveFilesMetaData(&live);
    EXPECT_GT(Files(kTableFile).size(), live.size());
    Kill();
    Open();
    EXPECT_EQ(Files(kTableFile).size(), live.size()) << manifest_bytes;
    EXPECT_THAT(Entries(kLost), IsEmpty()) << manifest_bytes;
    EXPECT_THAT(Text("varve.recovery"), Not(HasSubstr("set_aside")));
    Compact();
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(ObsoleteFilesTest, TablesOfDroppedFamiliesAreDeleted) {
  for (const uint64_t manifest_bytes : {uint64_t{1} << 30, uint64_t{1}}) {
    options_.max_manifest_file_size = manifest_bytes;
    options_.create_missing_column_families = true;
    Open({"default", "a"});
    MakeTable({"k"}, "a");
    ASSERT_TRUE(db()->DropColumnFamily(Handle("a")).ok());
    MakeTable({"b"});
    MakeTable({"b"});
    const size_t with_dropped = Files(kTableFile).size();
    Kill();
    Open();
    EXPECT_EQ(Files(kTableFile).size(), with_dropped - 1) << manifest_bytes;
    EXPECT_THAT(Entries(kLost), IsEmpty()) << manifest_bytes;
    ASSERT_TRUE(Close().ok());
  }
}

// A table that moves to another level was deleted and added.
TEST_F(ObsoleteFilesTest, TablesThatMovedStay) {
  Open({"default", "a"});
  MakeTable({"a"});
  MakeTable({"m"});
  CompactRangeOptions move;
  move.change_level = true;
  move.target_level = 3;
  Compact();
  ASSERT_TRUE(db()->CompactRange(move, nullptr, nullptr).ok());
  ASSERT_EQ(Levels(), "0,0,0,2");
  Kill();
  Open({"default", "a"});
  EXPECT_EQ(Scan(), "a=of a m=of m");
}

TEST_F(ObsoleteFilesTest, WhatOneOpeningSetsAsideIsBounded) {
  for (const bool is_whole : {true, false}) {
    Open();
    ASSERT_TRUE(Close().ok());
    for (uint64_t number = 1000; number < 1120; number++) {
      WriteFile(TableFileName(kName, number), "unfinished");
    }
    const std::string marks = SyncedMarksFileName(kName);
    // Without marks it is unknown whether the MANIFEST had named them.
    if (!is_whole) {
      ASSERT_TRUE(mem().DeleteFile(marks, IOOptions(), nullptr).ok());
    }
    Open();
    EXPECT_THAT(Files(kTableFile), IsEmpty());
    EXPECT_EQ(Files(kTableFile, kLost).size(), is_whole ? 100u : 120u);
    EXPECT_THAT(Entries(kLost), Contains("001119.sst")) << "the oldest go";
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(ObsoleteFilesTest, TheNewestIsSetAsideHoweverLargeItIs) {
  const std::unique_ptr<Env> env = NewCompositeEnv(std::make_shared<LargeTables>(file_system()));
  options_.env = env.get();
  Open();
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/001000.sst", "older");
  WriteFile("/db/001001.sst", "newest");
  Open();
  EXPECT_THAT(Files(kTableFile), IsEmpty());
  EXPECT_THAT(Files(kTableFile, kLost), ElementsAre("001001.sst"));
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/001002.sst", "newer");
  Open();
  EXPECT_THAT(Files(kTableFile, kLost), ElementsAre("001001.sst", "001002.sst"))
      << "what an opening brings, and the newest of before";
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/001003.sst", "newer");
  Open();
  EXPECT_THAT(Files(kTableFile, kLost), ElementsAre("001002.sst", "001003.sst"));
  ASSERT_TRUE(Close().ok());
}

TEST_F(ObsoleteFilesTest, NothingIsSweptWhenOpeningFails) {
  Open();
  MakeTable({"a"});
  ASSERT_TRUE(Close().ok());
  WriteFile("/db/000900.sst", "nobody knows");
  const auto before = Entries();
  FaultRule rule;
  rule.calls = Only(FaultCall::kCreate);
  rule.path_contains = "MANIFEST";
  faults().Inject(rule);
  EXPECT_FALSE(TryOpen().ok());
  faults().ClearFaults();
  for (const std::string& name : before) EXPECT_THAT(Entries(), Contains(name));
  Open();
  EXPECT_EQ(Get("a"), "of a");
}

TEST_F(ObsoleteFilesTest, FailedJobsLeaveNoTables) {
  Open();
  MakeTable({"a"});
  MakeTable({"a"});
  FaultRule rule;
  rule.calls = Only(FaultCall::kSync);
  rule.path_contains = ".sst";
  faults().Inject(rule);
  EXPECT_FALSE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ(Files(kTableFile).size(), 2u);
  EXPECT_TRUE(Eventually([&] { return db()->Resume().ok(); }));
  Compact();
  EXPECT_EQ(Files(kTableFile).size(), 1u);
}

TEST_F(ObsoleteFilesTest, TablesOfAFailedJobGoThoughTheirDeletionFailsAtFirst) {
  Open();
  for (const bool flush : {false, true}) {
    SCOPED_TRACE(flush);
    MakeTable({"a"});
    MakeTable({"a"});
    if (flush) Put("b", "1");
    FaultRule rule;
    rule.calls = Only(FaultCall::kSyncDir);  // before the MANIFEST is written
    rule.nth = flush ? 2 : 1;                // the first is that of the new log's name
    faults().Inject(rule);
    rule.nth = 1;
    rule.calls = Only(FaultCall::kDelete);
    rule.path_contains = ".sst";
    faults().Inject(rule);
    const Status s = flush ? db()->Flush(FlushOptions())
                           : db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
    EXPECT_FALSE(s.ok());
    EXPECT_EQ(faults().strikes(), 2u) << "the sync, and the first deletion";
    faults().ClearFaults();
    EXPECT_TRUE(Eventually([&] { return db()->Put(WriteOptions(), "c", "2").ok(); }));
    Compact();
    EXPECT_TRUE(Eventually([&] { return Files(kTableFile).size() == 1; }))
        << Files(kTableFile).size();
  }
}

}  // namespace
}  // namespace varve::testing
