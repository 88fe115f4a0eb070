// SPDX-License-Identifier: Apache-2.0

// Tests a version set from its creation over edits to its recovery.

#include "db/version/version_set.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>
#include <thread>

#include "tests/db/version/set_fixture.h"

namespace varve {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

TEST_F(VersionSetTest, ANewDatabaseHasOneEmptyFamily) {
  Create();
  EXPECT_EQ(Describe(*set_), "default:;");
  EXPECT_EQ(BytesOf(mem_.get(), "/db/CURRENT"), "MANIFEST-000001\n");
  EXPECT_EQ(set()->last_sequence(), 0u);
  EXPECT_EQ(set()->next_file_number(), 2u);
  EXPECT_EQ(set()->db_id(), "the-db-id");
  EXPECT_EQ(Recovered(mem_), "default:;");
}

TEST_F(VersionSetTest, EditsSurviveRecovery) {
  Create();
  const NewFile a = MakeTable(0, "a", "m", 1, 10);
  const NewFile b = MakeTable(0, "b", "z", 11, 20);
  set()->set_last_sequence(20);
  ASSERT_TRUE(Apply(Adding({a})).ok());
  ASSERT_TRUE(Apply(Adding({b})).ok());
  const std::string both =
      "default: L0," + std::to_string(b.number) + "," + std::to_string(a.number) + ";";
  EXPECT_EQ(Describe(*set_), both);
  EXPECT_EQ(Recovered(mem_), both);
  EXPECT_EQ(again()->last_sequence(), 20u);
  EXPECT_GT(again()->next_file_number(), set()->manifest_file_number());
  EXPECT_EQ(again()->FindFamily(0)->next_epoch_number, 3u);

  VersionEdit compaction = Adding({MakeTable(1, "a", "z", 1, 20)});
  compaction.deleted_files = {{0, a.number}, {0, b.number}};
  ASSERT_TRUE(Apply(&compaction).ok());
  EXPECT_EQ(compaction.new_files[0].epoch_number, 1u) << "as old as the oldest input";
  EXPECT_EQ(Recovered(mem_), Describe(*set_));
}

TEST_F(VersionSetTest, EveryRecordCarriesTheCounters) {
  Create();
  set()->set_last_sequence(5);
  VersionEdit edit = Adding({MakeTable(0, "a", "m", 1, 10)});
  ASSERT_TRUE(Apply(&edit).ok());
  EXPECT_EQ(edit.numbers.prev_log, 0u);
  EXPECT_EQ(edit.numbers.next_file, set()->next_file_number());
  EXPECT_EQ(edit.numbers.last_sequence, 10u) << "above the visible one: a table holds it";
  VersionEdit later;
  ASSERT_TRUE(Apply(&later).ok());
  EXPECT_EQ(later.numbers.last_sequence, 10u) << "never decreases";
}

TEST_F(VersionSetTest, TheFirstEditAfterRecoveryStartsANewManifest) {
  Create();
  ASSERT_TRUE(Apply(VersionEdit()).ok());
  EXPECT_NE(set()->manifest_file_number(), 1u);
  EXPECT_THAT(set()->TakeObsoleteManifests(), ElementsAre(1));
  EXPECT_THAT(set()->TakeObsoleteManifests(), IsEmpty());
  const uint64_t number = set()->manifest_file_number();
  ASSERT_TRUE(Apply(VersionEdit()).ok());
  EXPECT_EQ(set()->manifest_file_number(), number);
  ASSERT_TRUE(Apply(VersionEdit(), "default", /*fresh=*/true).ok());
  EXPECT_THAT(set()->TakeObsoleteManifests(), ElementsAre(number));
}

TEST_F(VersionSetTest, ALargeManifestIsReplacedByItsState) {
  max_manifest_file_size_ = 2000;
  Create();
  ASSERT_TRUE(AddFamily("other").ok());
  for (int i = 0; i < 100; i++) {
    const NewFile file = MakeTable(0, "a", "m", 2 * i + 1, 2 * i + 2);
    VersionEdit edit = Adding({file});
    const FileRef old = i == 0 ? nullptr : Family("other")->current->level(0).files().back();
    if (old != nullptr) edit.deleted_files = {{0, old->number}};
    ASSERT_TRUE(Apply(&edit, "other").ok());
    ASSERT_LT(set()->manifest_file_size(), 2500u);
  }
  EXPECT_GT(set()->TakeObsoleteManifests().size(), 2u);
  EXPECT_EQ(Recovered(mem_, {"default", "other"}), Describe(*set_));
  EXPECT_EQ(again()->db_id(), "the-db-id");
}

// A record of the state holds 50,000 files.
TEST_F(VersionSetTest, TheStateOfManyFilesIsWrittenInRecordsAndReadAgain) {
  constexpr size_t kFiles = 50001;
  Create();
  std::vector<NewFile> files(kFiles);
  for (size_t i = 0; i < kFiles; i++) {
    NewFile& file = files[i];
    file.level = 1;
    file.number = set()->NewFileNumber();
    file.size = 1;
    const std::string key = std::to_string(100000 + i);
    file.smallest = file.largest = InternalKey(key, 1, kTypeValue);
    file.smallest_seq = file.largest_seq = 1;
    ASSERT_TRUE(WriteBytes(mem_.get(), TableFileName(kDir, file.number), "t").ok());
  }
  ASSERT_TRUE(Apply(Adding(files), "default", /*fresh=*/true).ok());
  for (size_t left = kFiles; left + 3 > kFiles; left--) {
    VersionEdit edit;
    if (left < kFiles) edit.deleted_files = {{1, files[left].number}};
    ASSERT_TRUE(Apply(&edit, "default", /*fresh=*/true).ok());
    set_ = NewSet(mem_);
    ASSERT_TRUE(set()->Recover({Named("default")}).ok());
    EXPECT_EQ(Family()->current->level(1).size(), left);
  }
}

// This belongs to the long run, as each name is looked for among all; tests/README.md says when.
TEST_F(VersionSetTest, AsManyFamiliesAsMayBeMadeAreReadAgain) {
  if (getenv("VARVE_SIZES_MIB") == nullptr) GTEST_SKIP() << "VARVE_SIZES_MIB is not set";
  std::vector<FamilyToOpen> families = {Named("default")};
  std::vector<std::string> records(1);
  VersionEdit beginning;
  beginning.family.comparator = BytewiseComparator()->Name();
  beginning.log_number = 5;
  beginning.numbers.next_file = 6;
  beginning.numbers.last_sequence = 2;
  ASSERT_TRUE(beginning.EncodeTo(&records.front(), 0));
  while (families.size() + 1 < kFamiliesMax) {
    VersionEdit edit;
    edit.column_family = static_cast<uint32_t>(families.size());
    edit.family.added = std::to_string(families.size());
    edit.family.comparator = BytewiseComparator()->Name();
    edit.log_number = 5;
    ASSERT_TRUE(edit.EncodeTo(&records.emplace_back(), 0));
    families.push_back(Named(*edit.family.added));
  }
  WriteManifest(records);
  set_ = NewSet(fs_);
  ASSERT_TRUE(set()->Recover(families).ok());
  ASSERT_TRUE(AddFamily("last").ok());
  families.push_back(Named("last"));
  const Status s = AddFamily("one more");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  set_ = NewSet(mem_);
  ASSERT_TRUE(set()->Recover(families).ok());
  EXPECT_EQ(set()->families().size(), kFamiliesMax);
}

TEST_F(VersionSetTest, FamiliesComeAndGo) {
  Create();
  ASSERT_TRUE(AddFamily("one", 12).ok());
  ASSERT_TRUE(AddFamily("two", 13).ok());
  EXPECT_TRUE(AddFamily("one").IsInvalidArgument());
  EXPECT_EQ(Family("one")->id, 1u);
  ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 1, 2)}), "two").ok());
  EXPECT_EQ(Recovered(mem_, {"default", "one", "two"}), Describe(*set_));
  EXPECT_EQ(again()->FindFamily("one")->log_number, 12u);
  {
    const HeldMutex lock(&mu_);
    EXPECT_TRUE(set()->DropFamily(Family("default"), nullptr).IsInvalidArgument());
    ASSERT_TRUE(set()->DropFamily(Family("two"), nullptr).ok());
  }
  EXPECT_EQ(Family("two"), nullptr);
  EXPECT_THAT(set()->obsolete_files()->TakeAll(), ::testing::SizeIs(1));
  EXPECT_EQ(Recovered(mem_, {"default", "one"}), "default:;one:;");
  // The id is not used again, also across a new MANIFEST.
  ASSERT_TRUE(Apply(VersionEdit(), "default", true).ok());
  Recovered(mem_, {"default", "one"});
  set_ = std::move(again_);
  ASSERT_TRUE(AddFamily("three").ok());
  EXPECT_EQ(Family("three")->id, 3u);
}

TEST_F(VersionSetTest, MergeOperatorsAreRememberedAcrossManifests) {
  set_ = NewSet(fs_);
  FamilyToOpen family = Named("default");
  family.merge_operator = "First";
  ASSERT_TRUE(set()->CreateNew(family, "the-db-id").ok());
  EXPECT_EQ(Family("default")->merge_operator, "First");
  ASSERT_TRUE(AddFamily("one").ok());
  VersionEdit edit;
  edit.family.merge_operator = "Second";
  ASSERT_TRUE(Apply(&edit, "one").ok());
  FamilyToOpen made = Named("two");
  made.merge_operator = "Third";
  {
    const HeldMutex lock(&mu_);
    std::shared_ptr<FamilyVersions> versions;
    ASSERT_TRUE(set()->CreateFamily(made, 0, nullptr, &versions).ok());
  }
  for (const bool fresh : {false, true}) {
    ASSERT_TRUE(Apply(VersionEdit(), "default", fresh).ok());
    Recovered(mem_, {"default", "one", "two"});
    EXPECT_EQ(again()->FindFamily("default")->merge_operator, "First");
    EXPECT_EQ(again()->FindFamily("one")->merge_operator, "Second");
    EXPECT_EQ(again()->FindFamily("two")->merge_operator, "Third");
  }
}

TEST_F(VersionSetTest, ADroppedFamilysFilesStayWhileItsVersionIsHeld) {
  Create();
  ASSERT_TRUE(AddFamily("one").ok());
  ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 1, 2)}), "one").ok());
  std::shared_ptr<FamilyVersions> handle = set()->FindFamily("one");
  const HeldMutex lock(&mu_);
  ASSERT_TRUE(set()->DropFamily(handle.get(), nullptr).ok());
  EXPECT_TRUE(handle->dropped);
  EXPECT_TRUE(set()->obsolete_files()->Empty());
  VersionEdit edit;
  EXPECT_TRUE(
      set()->LogAndApply({FamilyEdit{handle.get(), {&edit}}}, nullptr).IsColumnFamilyDropped());
  EXPECT_TRUE(set()->DropFamily(handle.get(), nullptr).IsColumnFamilyDropped());
  handle.reset();
  EXPECT_FALSE(set()->obsolete_files()->Empty());
}

TEST_F(VersionSetTest, AllFamiliesMustBeNamedToWrite) {
  Create();
  ASSERT_TRUE(AddFamily("one").ok());
  ASSERT_TRUE(AddFamily("two").ok());
  const std::string refused = Recovered(mem_);
  EXPECT_THAT(refused, HasSubstr("Invalid argument"));
  EXPECT_THAT(refused, HasSubstr("one two"));
  EXPECT_EQ(Recovered(mem_, {"default", "two"}, /*read_only=*/true), "default:;one:;two:;");
  EXPECT_FALSE(again()->FindFamily("one")->opened);
  EXPECT_TRUE(again()->FindFamily("two")->opened);
  std::vector<std::string> names;
  ASSERT_TRUE(VersionSet::ListFamilies("/db", mem_.get(), &names).ok());
  EXPECT_THAT(names, ElementsAre("default", "one", "two"));
}

TEST_F(VersionSetTest, RemovedFilesAreObsoleteOnceNobodyHoldsThem) {
  Create();
  const NewFile file = MakeTable(0, "a", "b", 1, 2);
  ASSERT_TRUE(Apply(Adding({file})).ok());
  const VersionRef reader = Family()->current;
  VersionEdit edit;
  edit.deleted_files = {{0, file.number}};
  ASSERT_TRUE(Apply(&edit).ok());
  EXPECT_TRUE(set()->obsolete_files()->Empty());
  std::set<uint64_t> live;
  std::vector<VersionRef> held;
  set()->AddLiveFiles(&live, &held);
  EXPECT_THAT(live, UnorderedElementsAre(file.number));
  // The last reader may leave beside the listing, whose caller decides where files are closed.
  const_cast<VersionRef&>(reader).reset();
  EXPECT_TRUE(set()->obsolete_files()->Empty());
  held.clear();
  const auto obsolete = set()->obsolete_files()->TakeAll();
  ASSERT_EQ(obsolete.size(), 1u);
  EXPECT_EQ(obsolete[0]->number, file.number);
  live.clear();
  set()->AddLiveFiles(&live, &held);
  EXPECT_THAT(live, IsEmpty());
}

// A MANIFEST names as many as there ever were.
TEST_F(VersionSetTest, OfRemovedTablesThoseAreRememberedThatAreThere) {
  Create();
  ASSERT_TRUE(AddFamily("dropped").ok());
  const NewFile gone = MakeTable(1, "a", "b", 1, 2);
  const NewFile left = MakeTable(1, "c", "d", 3, 4);
  const NewFile moved = MakeTable(1, "e", "f", 5, 6);
  const NewFile of_dropped = MakeTable(1, "a", "b", 7, 8);
  ASSERT_TRUE(Apply(Adding({gone, left, moved})).ok());
  ASSERT_TRUE(Apply(Adding({of_dropped}), "dropped").ok());
  VersionEdit edit;
  edit.deleted_files = {{1, gone.number}, {1, left.number}, {1, moved.number}};
  edit.new_files = {moved};
  edit.new_files.front().level = 2;
  ASSERT_TRUE(Apply(&edit).ok());
  {
    const HeldMutex lock(&mu_);
    ASSERT_TRUE(set()->DropFamily(Family("dropped"), nullptr).ok());
  }
  const std::set<uint64_t> present = {left.number, moved.number, of_dropped.number};
  const std::set<uint64_t> expected = {left.number, of_dropped.number};
  for (int opening = 0; opening < 2; opening++) {
    set_ = NewSet(fs_);
    ASSERT_TRUE(set()->Recover({Named("default")}, {}, present).ok());
    EXPECT_EQ(set()->gone_tables(), expected) << opening;
    // Begins a MANIFEST.
    ASSERT_TRUE(Apply(Adding({MakeTable(0, "x", "y", 9, 10)})).ok());
  }
  set_ = NewSet(fs_);
  ASSERT_TRUE(set()->Recover({Named("default")}).ok());
  EXPECT_TRUE(set()->gone_tables().empty());
}

TEST_F(VersionSetTest, AMovedFileIsNotObsolete) {
  Create();
  const NewFile file = MakeTable(0, "a", "b", 1, 2);
  ASSERT_TRUE(Apply(Adding({file})).ok());
  FileMetaData* const before = Family()->current->level(0)[0];
  NewFile moved = file;
  moved.level = 3;
  VersionEdit edit = Adding({moved});
  edit.deleted_files = {{0, file.number}};
  ASSERT_TRUE(Apply(&edit).ok());
  EXPECT_EQ(Family()->current->level(3)[0], before);
  EXPECT_TRUE(set()->obsolete_files()->Empty());
  EXPECT_EQ(Recovered(mem_), Describe(*set_));
}

TEST_F(VersionSetTest, SeveralFamiliesChangeAsOne) {
  Create();
  ASSERT_TRUE(AddFamily("one").ok());
  VersionEdit a = Adding({MakeTable(0, "a", "b", 1, 2)});
  VersionEdit b = Adding({MakeTable(0, "a", "b", 3, 4)});
  {
    const HeldMutex lock(&mu_);
    ASSERT_TRUE(
        set()
            ->LogAndApply({FamilyEdit{Family("default"), {&a}}, FamilyEdit{Family("one"), {&b}}},
                          nullptr)
            .ok());
  }
  EXPECT_EQ(a.atomic_group_remaining, 1u);
  EXPECT_EQ(b.atomic_group_remaining, 0u);
  EXPECT_EQ(Recovered(mem_, {"default", "one"}), Describe(*set_));
  // If the last record of the group is missing, none of it has happened.
  const std::string whole = BytesOf(mem_.get(), ManifestPath());
  ASSERT_TRUE(WriteBytes(mem_.get(), ManifestPath(), whole.substr(0, whole.size() - 1)).ok());
  EXPECT_EQ(Recovered(mem_, {"default", "one"}), "default:;one:;");
}

TEST_F(VersionSetTest, LogsBelowEveryFamilysNumberAreNoLongerNeeded) {
  Create();
  ASSERT_TRUE(AddFamily("one", 5).ok());
  EXPECT_EQ(set()->MinLogNumber(), 0u);
  VersionEdit edit;
  edit.log_number = 9;
  ASSERT_TRUE(Apply(&edit).ok());
  EXPECT_EQ(set()->MinLogNumber(), 5u);
  EXPECT_EQ(set()->min_log_number_to_keep(), 5u);
  VersionEdit other;
  other.log_number = 8;
  ASSERT_TRUE(Apply(&other, "one").ok());
  EXPECT_EQ(set()->min_log_number_to_keep(), 8u);
  VersionEdit lower;
  lower.log_number = 3;
  ASSERT_TRUE(Apply(&lower, "one").ok());
  EXPECT_EQ(set()->MinLogNumber(), 8u);
  EXPECT_EQ(Recovered(mem_, {"default", "one"}), "default:;one:;");
  EXPECT_EQ(again()->min_log_number_to_keep(), 8u);
  EXPECT_EQ(again()->FindFamily("one")->log_number, 8u);
}

TEST_F(VersionSetTest, ConcurrentEditsAllArrive) {
  Create();
  std::vector<NewFile> files;
  for (int i = 0; i < 40; i++) files.push_back(MakeTable(0, "a", "b", i + 1, i + 1));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = t; i < 40; i += 4) {
        EXPECT_TRUE(Apply(Adding({files[static_cast<size_t>(i)]}), "default", i % 13 == 0).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Family()->current->level(0).size(), 40u);
  EXPECT_EQ(Recovered(mem_), Describe(*set_));
}

TEST_F(VersionSetTest, WhatCannotBeIsNotLogged) {
  Create();
  ASSERT_TRUE(Apply(Adding({MakeTable(1, "a", "m", 1, 2)})).ok());
  const uint64_t size = set()->manifest_file_size();
  EXPECT_TRUE(Apply(Adding({MakeTable(1, "k", "z", 3, 4)})).IsCorruption());
  EXPECT_TRUE(Apply(Adding({MakeTable(7, "k", "z", 3, 4)})).IsInvalidArgument());
  EXPECT_EQ(set()->manifest_file_size(), size);
  EXPECT_TRUE(Apply(Adding({MakeTable(1, "n", "z", 3, 4)})).ok());
}

TEST_F(VersionSetTest, RecoversTheMinimalDirectory) {
  ASSERT_TRUE(WriteBytes(mem_.get(), "/db/CURRENT", "MANIFEST-000001\n").ok());
  ASSERT_TRUE(WriteBytes(mem_.get(), "/db/MANIFEST-000001",
                         FromHex("eddde38e 4000 01"
                                 "011a6c6576656c64622e4279746577697365436f6d70617261746f72"
                                 "0205 0306 0402 67 0003 fd02 0a6b310101000000000000"
                                 "0a6b320102000000000000 0102 01"))
                  .ok());
  ASSERT_TRUE(WriteBytes(mem_.get(), "/db/000003.sst", std::string(381, 't')).ok());
  EXPECT_EQ(Recovered(mem_), "default: L0,3;");
  EXPECT_EQ(again()->last_sequence(), 2u);
  EXPECT_EQ(again()->next_file_number(), 6u);
  EXPECT_EQ(again()->FindFamily(0)->log_number, 5u);
  EXPECT_EQ(again()->MinLogNumber(), 5u);
}

TEST_F(VersionSetTest, RecoversALevelDbDirectory) {
  VersionEdit first;
  first.family.comparator = "leveldb.BytewiseComparator";
  std::string record;
  ASSERT_TRUE(first.EncodeTo(&record));
  WriteManifest({record, FromHex("0205 0900 0309 0463"
                                 "07 00 07 0c 0a6b310101000000000000 0a6b320102000000000000"
                                 "07 00 08 0c 0a6b310103000000000000 0a6b320104000000000000")});
  ASSERT_TRUE(WriteBytes(mem_.get(), "/db/000007.ldb", std::string(12, 't')).ok());
  ASSERT_TRUE(WriteBytes(mem_.get(), "/db/000008.sst", std::string(12, 't')).ok());
  EXPECT_EQ(Recovered(mem_), "default: L0,8,7;");
  EXPECT_EQ(again()->FindFamily(0)->current->level(0)[0]->largest_seq, 99u);
}

TEST_F(VersionSetTest, ListsEveryTableThatIsNotAsItShouldBe) {
  Create();
  const NewFile gone = MakeTable(0, "a", "b", 1, 2);
  const NewFile cut = MakeTable(0, "a", "b", 3, 4);
  const NewFile fine = MakeTable(0, "a", "b", 5, 6);
  ASSERT_TRUE(Apply(Adding({gone, cut, fine})).ok());
  ASSERT_TRUE(mem_->DeleteFile(TableFileName("/db", gone.number), IOOptions(), nullptr).ok());
  ASSERT_TRUE(WriteBytes(mem_.get(), TableFileName("/db", cut.number), "short").ok());
  const std::string refused = Recovered(mem_);
  EXPECT_THAT(refused, HasSubstr("Corruption"));
  EXPECT_THAT(refused, HasSubstr(TableFileBaseName(gone.number) + " is missing"));
  EXPECT_THAT(refused, HasSubstr(TableFileBaseName(cut.number) + " has 5 bytes"));
  EXPECT_THAT(refused, Not(HasSubstr(TableFileBaseName(fine.number))));
}

TEST_F(VersionSetTest, CurrentMustBeExact) {
  Create();
  for (const char* text :
       {"", "MANIFEST-000001", "MANIFEST-000001\n\n", "MANIFEST-\n", "../db/MANIFEST-000001\n",
        "CURRENT\n", "MANIFEST-000001\r\n", " MANIFEST-000001\n", "MANIFEST-000009\n"}) {
    ASSERT_TRUE(WriteBytes(mem_.get(), "/db/CURRENT", text).ok());
    const std::string refused = Recovered(mem_);
    EXPECT_THAT(refused, HasSubstr("Corruption")) << text;
    EXPECT_THAT(refused, HasSubstr("MANIFEST-000001")) << text;
  }
}

TEST_F(VersionSetTest, RefusesAnotherComparator) {
  Create();
  auto set = NewSet(mem_);
  const Status s = set->Recover({Named("default", ReverseBytewiseComparator())});
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_THAT(s.ToString(), HasSubstr("leveldb.BytewiseComparator"));
}

std::string Record(const VersionEdit& edit) {
  std::string bytes;
  EXPECT_TRUE(edit.EncodeTo(&bytes));
  return bytes;
}

TEST_F(VersionSetTest, RefusesManifestsThatCannotBe) {
  VersionEdit base;
  base.log_number = 0;
  base.numbers.next_file = 5;
  base.numbers.last_sequence = 0;
  const auto with = [](const auto& change) {
    VersionEdit edit;
    change(&edit);
    return Record(edit);
  };
  const std::string good = Record(base);
  const std::string add_one = with([](VersionEdit* e) {
    e->column_family = 1;
    e->family.added = "one";
  });
  const std::string blob = FromHex("9003 05 01 02 00 00 00");
  const std::string garbage = FromHex("9103 05 01 03 00");
  const std::string group_of_3 = with([](VersionEdit* e) { e->atomic_group_remaining = 2; });
  const std::string group_end = with([](VersionEdit* e) { e->atomic_group_remaining = 0; });
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"next_file_number", {FromHex("0200 0400")}},
      {"log_file_number", {FromHex("0305 0400")}},
      {"last_sequence", {FromHex("0200 0305")}},
      {"added twice", {good, add_one, add_one}},
      {"added twice", {good, with([](VersionEdit* e) { e->family.added = "default2"; })}},
      {"does not exist", {good, with([](VersionEdit* e) { e->column_family = 4; })}},
      {"default column family is dropped",
       {good, with([](VersionEdit* e) { e->family.dropped = true; })}},
      {"not there", {good, with([](VersionEdit* e) {
                       e->deleted_files = {{0, 7}};
                     })}},
      {"blob file 5 is added but is there already", {good, blob, blob}},
      {"blob file 5 has garbage but is not there", {good, garbage}},
      {"blob file 5 has more garbage than values", {good, blob, garbage}},
      {"interrupts an atomic group", {good, group_of_3, good}},
      {"counted wrongly", {good, group_of_3, group_end}},
      {"too large", {good, with([](VersionEdit* e) { e->numbers.next_file = UINT64_MAX; })}},
      {"unknown tag", {good, FromHex("0b00")}},
  };
  for (const auto& [message, records] : cases) {
    WriteManifest(records);
    EXPECT_THAT(Recovered(mem_, {"default", "one"}), HasSubstr(message));
  }
  WriteManifest({good, add_one, "", group_of_3});
  EXPECT_EQ(Recovered(mem_, {"default", "one"}), "default:;one:;");
}

// Longer than what may be made here.
TEST_F(VersionSetTest, NamesOfFamiliesAreAsLongAsOthersMakeThem) {
  const std::string name(2 * kFamilyNameBytesMax, 'n');
  VersionEdit base;
  base.log_number = 0;
  base.numbers.next_file = 9;
  base.numbers.last_sequence = 0;
  VersionEdit add;
  add.column_family = 1;
  add.family.added = name;
  WriteManifest({Record(base), Record(add)});
  EXPECT_EQ(Recovered(mem_, {"default", name}), "default:;" + name + ":;");
}

TEST_F(VersionSetTest, FilesInARecordThatAddsAFamilyDoNotCount) {
  Create();
  VersionEdit base;
  base.log_number = 0;
  base.numbers.next_file = 9;
  base.numbers.last_sequence = 0;
  VersionEdit add = Adding({MakeTable(0, "a", "b", 1, 2)});
  add.column_family = 1;
  add.family.added = "one";
  WriteManifest({Record(base), Record(add)});
  EXPECT_EQ(Recovered(mem_, {"default", "one"}), "default:;one:;");
}

// A flipped byte anywhere is noticed; a cut anywhere leaves a state that was once in force.
TEST_F(VersionSetTest, DamagedManifestsAreNeverMisread) {
  Create();
  std::set<std::string> states = {"default:;"};
  for (int i = 0; i < 6; i++) {
    ASSERT_TRUE(Apply(Adding({MakeTable(0, "a", "b", 2 * i + 1, 2 * i + 2)})).ok());
    states.insert(Describe(*set_));
  }
  const std::string path = ManifestPath();
  const std::string whole = BytesOf(mem_.get(), path);
  for (size_t at = 0; at < whole.size(); at++) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    ASSERT_TRUE(WriteBytes(mem_.get(), path, flipped).ok());
    EXPECT_THAT(Recovered(mem_), Not(HasSubstr("default:"))) << "flipped at " << at;
    ASSERT_TRUE(WriteBytes(mem_.get(), path, whole.substr(0, at)).ok());
    const std::string cut = Recovered(mem_);
    EXPECT_TRUE(states.count(cut) == 1 || cut.find("Corruption") == 0) << cut;
  }
  ASSERT_TRUE(WriteBytes(mem_.get(), path, whole + std::string(5000, '\0')).ok());
  EXPECT_EQ(Recovered(mem_), Describe(*set_));
}

}  // namespace
}  // namespace varve
