// SPDX-License-Identifier: Apache-2.0

// Goal: a store of objects that a program fills by plans has whole backups, each at the cost of
// what has changed, whatever was interrupted and whatever the store answers.
// Method: a directory in memory stands for the store. Objects are brought in any order, by halves,
// twice and damaged; catalogs and plans are broken by hand; and all that was brought is verified
// and restored by the engine of backups.

#include "varve/utilities/copy_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "varve/file_checksum.h"
#include "varve/listener.h"

#include "db/backup/backup_meta.h"
#include "tests/db/backup/backup_test_base.h"
#include "util/coding/crc32c.h"
#include "util/env/file_names.h"

namespace varve {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kPlan[] = "/plan";

class CopyPlanTest : public testing::BackupTest {
 protected:
  Status TryMake() { return CopyPlan::Make(plan_options_, db(), kPlan, &plan_); }
  void Make() {
    const Status s = TryMake();
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void OpenAgain() {
    plan_.reset();
    const Status s = CopyPlan::Open(options_.env, kPlan, &plan_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Discard() {
    plan_.reset();
    const Status s = CopyPlan::Discard(options_.env, kPlan);
    ASSERT_TRUE(s.ok()) << s.ToString();
    ASSERT_FALSE(Exists(kPlan));
  }

  // Returns the objects that the store lists.
  std::vector<StoredObject> Stored() const {
    std::vector<StoredObject> all;
    for (const auto& [name, bytes] : store_) {
      all.push_back(StoredObject{name, bytes.size(), crc32c::Value(bytes.data(), bytes.size())});
    }
    return all;
  }
  std::vector<CopyPlanObject> Missing() {
    std::vector<CopyPlanObject> missing;
    const Status s = plan_->FindMissing(Stored(), &missing);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return missing;
  }
  void Bring(const CopyPlanObject& object) {
    const std::string bytes = ReadFile(object.path);
    EXPECT_EQ(bytes.size(), object.size) << object.name;
    EXPECT_EQ(crc32c::Value(bytes.data(), bytes.size()), object.crc32c) << object.name;
    store_[object.name] = bytes;
    brought_++;
  }
  void BringCatalog() {
    store_[plan_->catalog().name] = plan_->catalog().bytes;
    plan_options_.previous.push_back(plan_->catalog());
  }
  void BringAll() {
    for (const CopyPlanObject& object : Missing()) Bring(object);
    EXPECT_THAT(Missing(), IsEmpty());
    BringCatalog();
  }
  // Plans and brings one backup. Returns how many objects that took.
  size_t BackUp() {
    const size_t before = brought_;
    Make();
    BringAll();
    Discard();
    return brought_ - before;
  }

  // Brings a backup from the store into a directory, and restores the database from there.
  std::string Restored(BackupID id) {
    const CopyPlanCatalog catalog{"meta/" + std::to_string(id),
                                  store_["meta/" + std::to_string(id)]};
    std::vector<StoredObject> objects;
    const Status listed = ListCatalog(catalog, &objects);
    EXPECT_TRUE(listed.ok()) << listed.ToString();
    const std::string place = "/downloads/" + std::to_string(id);
    Save(place, catalog.name, catalog.bytes);
    for (const StoredObject& object : objects) {
      EXPECT_EQ(store_[object.name].size(), object.size) << object.name;
      Save(place, object.name, store_[object.name]);
    }
    BackupEngineReadOnly* raw = nullptr;
    const IOStatus opened =
        BackupEngineReadOnly::Open(BackupEngineOptions(place), options_.env, &raw);
    EXPECT_TRUE(opened.ok()) << opened.ToString();
    if (raw == nullptr) return "";
    const std::unique_ptr<BackupEngineReadOnly> engine(raw);
    const IOStatus verified = engine->VerifyBackup(id, true);
    EXPECT_TRUE(verified.ok()) << verified.ToString();
    EXPECT_TRUE(Close().ok());
    const IOStatus s = engine->RestoreDBFromBackup(id, kName, kName);
    EXPECT_TRUE(s.ok()) << s.ToString();
    Open();
    return Scan();
  }
  void Save(const std::string& place, const std::string& name, const std::string& bytes) {
    std::string folder = place;
    mem().CreateDirIfMissing("/downloads", IOOptions(), nullptr).PermitUncheckedError();
    for (size_t at = 0; at != std::string::npos; at = name.find('/', at + 1)) {
      folder = place + (at == 0 ? "" : "/" + name.substr(0, at));
      ASSERT_TRUE(mem().CreateDirIfMissing(folder, IOOptions(), nullptr).ok());
    }
    WriteFile(place + "/" + name, bytes);
  }

  CopyPlanOptions plan_options_;
  std::unique_ptr<CopyPlan> plan_;
  std::map<std::string, std::string> store_;
  size_t brought_ = 0;
};

TEST_F(CopyPlanTest, EachBackupCostsWhatHasChangedAndIsRestored) {
  Open();
  MakeTable({"a", "b"});
  Put("c", "in the log");
  plan_options_.app_metadata = "first";
  EXPECT_EQ(BackUp(), 5u);  // a table, a log, MANIFEST, OPTIONS, CURRENT
  MakeTable({"d"});
  EXPECT_EQ(BackUp(), 5u);
  EXPECT_EQ(BackUp(), 4u);  // nothing is new
  EXPECT_THAT(store_, Contains(::testing::Key("meta/3")));
  EXPECT_EQ(Restored(1), "a=of a b=of b c=in the log");
  EXPECT_EQ(Restored(2), "a=of a b=of b c=in the log d=of d");
  EXPECT_EQ(Restored(3), "a=of a b=of b c=in the log d=of d");
}

TEST_F(CopyPlanTest, ThePlanIsOfItsMomentWhateverTheDatabaseDoes) {
  Open();
  MakeTable({"a"});
  Make();
  Put("a", "later");
  Flush();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(DestroyDB(kName, options_).ok());
  EXPECT_TRUE(plan_->Verify().ok());
  BringAll();
  Open();
  EXPECT_EQ(Restored(1), "a=of a");
}

TEST_F(CopyPlanTest, AnInterruptedPlanGoesOnWhereItStopped) {
  Open();
  MakeTable({"a"});
  MakeTable({"b"});
  Make();
  const std::vector<CopyPlanObject> all = plan_->objects();
  ASSERT_GT(all.size(), 3u);
  Bring(all[0]);
  Bring(all[2]);
  Kill();
  OpenAgain();
  EXPECT_EQ(plan_->backup_id(), 1u);
  EXPECT_TRUE(plan_->Verify().ok());
  EXPECT_EQ(Missing().size(), all.size() - 2);
  BringAll();
  EXPECT_EQ(brought_, all.size());
  Open();
  EXPECT_EQ(Restored(1), "a=of a b=of b");
}

TEST_F(CopyPlanTest, WhatAGivenUpPlanHasBroughtIsUsedAndTheRestIsGarbage) {
  Open();
  MakeTable({"a", "b"});
  MakeTable({"a", "b"});
  Make();
  for (const CopyPlanObject& object : plan_->objects()) Bring(object);
  Discard();
  // The tables exist, no catalog names them, and they are planned.
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  MakeTable({"c"});
  Make();
  BringAll();
  std::vector<std::string> names;
  for (const auto& [name, bytes] : store_) names.push_back(name);
  names.emplace_back("private/9/CURRENT");
  names.emplace_back("somebody/else");
  names.emplace_back("meta/9");
  std::vector<std::string> garbage;
  ASSERT_TRUE(FindGarbage(plan_options_.previous, names, &garbage).ok());
  EXPECT_EQ(garbage.size(), 3u);
  EXPECT_THAT(garbage, Contains("private/9/CURRENT"));
  for (const std::string& name : garbage) store_.erase(name);
  EXPECT_EQ(Restored(1), "a=of a b=of b c=of c");
}

TEST_F(CopyPlanTest, WhatAListSaysIsElsewhereIsNoGarbage) {
  BackupMeta meta;
  meta.id = 1;
  meta.excluded.emplace_back("shared_checksum/000010_sABCDEFGHIJKLMNOPQRST_5.sst");
  const std::string other = "shared_checksum/000011_sABCDEFGHIJKLMNOPQRST_5.sst";
  std::vector<std::string> garbage;
  const Status s = FindGarbage({{"meta/1", EncodeBackupMeta(meta, 2)}},
                               {meta.excluded.front(), other}, &garbage);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_THAT(garbage, ::testing::ElementsAre(other));
}

TEST_F(CopyPlanTest, AnObjectWithAnotherChecksumOrSizeIsBroughtAgain) {
  Open();
  MakeTable({"a"});
  Make();
  for (const CopyPlanObject& object : plan_->objects()) Bring(object);
  std::string& first = store_[plan_->objects()[0].name];
  first[first.size() / 2] ^= 1;
  store_[plan_->objects()[1].name] += "more";
  const std::vector<CopyPlanObject> missing = Missing();
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_EQ(missing[0].name, plan_->objects()[0].name);
  // A store that knows no checksums is asked for sizes alone.
  std::vector<StoredObject> listed = Stored();
  for (StoredObject& object : listed) object.crc32c.reset();
  std::vector<CopyPlanObject> by_size;
  ASSERT_TRUE(plan_->FindMissing(listed, &by_size).ok());
  EXPECT_EQ(by_size.size(), 1u);
}

TEST_F(CopyPlanTest, AnEarlierObjectThatIsLostOrDamagedIsNotBuiltUpon) {
  Open();
  MakeTable({"a"});
  BackUp();
  Make();
  const auto table = std::ranges::find_if(
      store_, [](const auto& object) { return object.first.ends_with(".sst"); });
  ASSERT_NE(table, store_.end());
  const std::string name = table->first;
  const std::string bytes = table->second;
  std::vector<CopyPlanObject> missing;
  store_[name][0] ^= 1;
  Status s = plan_->FindMissing(Stored(), &missing);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr(name));
  store_.erase(name);
  s = plan_->FindMissing(Stored(), &missing);
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  // Without that catalog the table is planned again.
  Discard();
  plan_options_.previous.clear();
  plan_options_.backup_id = 2;
  Make();
  BringAll();
  EXPECT_EQ(Restored(2), "a=of a");
}

TEST_F(CopyPlanTest, FilesOfAPlanThatAreWrongAreNotBrought) {
  Open();
  MakeTable({"a"});
  Make();
  const CopyPlanObject table = plan_->objects()[0];
  const std::string bytes = ReadFile(table.path);
  std::string rotten = bytes;
  rotten[7] ^= 1;
  WriteFile(table.path, rotten);
  Status s = plan_->Verify();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  WriteFile(table.path, bytes + "x");
  s = CopyPlan::Open(options_.env, kPlan, &plan_);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_EQ(plan_, nullptr);
  ASSERT_TRUE(mem().DeleteFile(table.path, IOOptions(), nullptr).ok());
  s = CopyPlan::Open(options_.env, kPlan, &plan_);
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
  WriteFile(std::string(kPlan) + "/PLAN", "varve_copy_plan 1\nrubbish\n");
  s = CopyPlan::Open(options_.env, kPlan, &plan_);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  Discard();
  s = CopyPlan::Open(options_.env, kPlan, &plan_);
  EXPECT_TRUE(s.IsNotFound()) << s.ToString();
}

TEST_F(CopyPlanTest, ChecksumsOfTheManifestAreTakenAndHeldAgainstEarlierCatalogs) {
  options_.file_checksum_gen_factory = GetFileChecksumGenCrc32cFactory();
  Open();
  MakeTable({"a"});
  const std::string path = std::string(kName) + "/" + Files(kTableFile)[0];
  // Rot beneath the database: the plan has the checksum of what was written.
  std::string bytes = ReadFile(path);
  const uint32_t written = crc32c::Value(bytes.data(), bytes.size());
  bytes[5] ^= 1;
  WriteFile(path, bytes);
  Make();
  EXPECT_EQ(plan_->objects()[0].crc32c, written);
  EXPECT_TRUE(plan_->Verify().IsCorruption());
  // An earlier catalog that says something else of the same table.
  CopyPlanCatalog wrong = plan_->catalog();
  wrong.bytes = wrong.bytes.substr(0, wrong.bytes.find("// FOOTER"));
  const std::string sum = std::to_string(written);
  wrong.bytes.replace(wrong.bytes.find(sum), sum.size(), "1");
  const uint32_t of_list = crc32c::Value(wrong.bytes.data(), wrong.bytes.size());
  wrong.bytes += "// FOOTER\ncrc32c " + std::to_string(of_list) + "\n";
  Discard();
  plan_options_.previous.push_back(wrong);
  Status s = TryMake();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_FALSE(Exists(kPlan));
  EXPECT_FALSE(Exists(std::string(kPlan) + ".tmp"));
}

TEST_F(CopyPlanTest, HostileCatalogsAreRefusedAndNothingIsMade) {
  Open();
  MakeTable({"a"});
  Make();
  const CopyPlanCatalog good = plan_->catalog();
  Discard();
  const auto refused = [&](std::vector<CopyPlanCatalog> previous) {
    plan_options_.previous = std::move(previous);
    const Status s = TryMake();
    EXPECT_FALSE(s.ok());
    EXPECT_EQ(plan_, nullptr);
    EXPECT_FALSE(Exists(kPlan));
    std::vector<std::string> garbage = {"kept"};
    EXPECT_FALSE(FindGarbage(plan_options_.previous, {good.name}, &garbage).ok());
    EXPECT_THAT(garbage, IsEmpty());
    return s;
  };
  EXPECT_TRUE(refused({{"meta/../1", good.bytes}}).IsInvalidArgument());
  EXPECT_TRUE(refused({{"1", good.bytes}}).IsInvalidArgument());
  EXPECT_TRUE(refused({{"meta/1", ""}}).IsCorruption());
  EXPECT_TRUE(refused({{"meta/2", good.bytes}}).IsCorruption());  // its files are those of 1
  EXPECT_TRUE(refused({{"meta/1", "1\n2\n1\nprivate/1/../../x crc32 5\n"}}).IsCorruption());
  EXPECT_TRUE(refused({{"meta/1", "schema_version 3.0\n1\n2\n0\n"}}).IsNotSupported());
  EXPECT_TRUE(refused({good, good}).IsCorruption());
  const std::string table = "shared_checksum/000009_sABCDEFGHIJKLMNOPQRST_1234.sst crc32 ";
  EXPECT_TRUE(
      refused({{"meta/1", "1\n2\n1\n" + table + "5\n"}, {"meta/2", "1\n2\n1\n" + table + "6\n"}})
          .IsCorruption());
}

TEST_F(CopyPlanTest, BadArgumentsAreRefused) {
  Open();
  EXPECT_TRUE(CopyPlan::Make(plan_options_, nullptr, kPlan, &plan_).IsInvalidArgument());
  EXPECT_TRUE(CopyPlan::Make(plan_options_, db(), kPlan, nullptr).IsInvalidArgument());
  EXPECT_TRUE(CopyPlan::Make(plan_options_, db(), "", &plan_).IsInvalidArgument());
  EXPECT_TRUE(CopyPlan::Make(plan_options_, db(), kName, &plan_).IsInvalidArgument());
  plan_options_.app_metadata.assign((1 << 20) + 1, 'x');
  EXPECT_TRUE(TryMake().IsInvalidArgument());
  plan_options_.app_metadata.clear();
  plan_options_.max_background_operations = 0;
  EXPECT_TRUE(TryMake().IsInvalidArgument());
  plan_options_.max_background_operations = 1;
  BackUp();
  plan_options_.backup_id = 1;
  EXPECT_TRUE(TryMake().IsInvalidArgument());
}

TEST_F(CopyPlanTest, OnlyPlansAreDiscarded) {
  Open();
  MakeTable({"a"});
  Make();
  EXPECT_TRUE(CopyPlan::Discard(options_.env, kName).IsInvalidArgument());
  EXPECT_TRUE(CopyPlan::Discard(options_.env, "/nowhere").IsNotFound());
  WriteFile(std::string(kPlan) + "/letter.txt", "dear");
  EXPECT_TRUE(CopyPlan::Discard(options_.env, kPlan).IsInvalidArgument());
  EXPECT_EQ(Entries(kPlan).size(), plan_->objects().size() + 2);
  ASSERT_TRUE(mem().DeleteFile(std::string(kPlan) + "/letter.txt", IOOptions(), nullptr).ok());
  Discard();
  EXPECT_EQ(Scan(), "a=of a");
}

TEST_F(CopyPlanTest, ObjectsHaveTheNamesOfABackupDirectory) {
  Open();
  MakeTable({"a"});
  Make();
  const CopyPlanObject table = plan_->objects()[0];
  EXPECT_THAT(table.name,
              ::testing::MatchesRegex("shared_checksum/[0-9]+_s[0-9A-Z]{20}_[0-9]+\\.sst"));
  EXPECT_THAT(plan_->objects().back().name, "private/1/CURRENT");
}

TEST_F(CopyPlanTest, WritesThatNoLogHasAreInThePlan) {
  Open();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_TRUE(db()->Put(unlogged, "a", "1").ok());
  BackUp();
  EXPECT_EQ(Restored(1), "a=1");
}

}  // namespace
}  // namespace varve
