// SPDX-License-Identifier: Apache-2.0

// Goal: an entity is what was put, wherever it lies and by whatever call it is read; a plain read
// sees its default column; a merge changes only that column; and a damaged entity is Corruption.

#include "varve/wide_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/compaction_filter.h"
#include "varve/merge_operator.h"
#include "varve/snapshot.h"
#include "varve/sst_file_writer.h"
#include "varve/universal_compaction.h"
#include "varve/utilities/write_batch_with_index.h"
#include "varve/write_batch.h"

#include "tests/crash/reseal.h"
#include "tests/harness/database.h"
#include "tests/harness/random.h"

namespace varve::testing {

namespace {

using ::testing::HasSubstr;

// Returns ":default a:1 " for the columns "" and "a".
std::string Show(const WideColumns& columns) {
  std::string text;
  for (const WideColumn& column : columns) {
    text += column.name().ToString() + ":" + column.value().ToString() + " ";
  }
  return text;
}

// Appends operands to the base, with commas between them.
class Append final : public MergeOperator {
 public:
  const char* Name() const override { return "test.Append"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.existing_value != nullptr) out->new_value = in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) {
      if (!out->new_value.empty()) out->new_value += ",";
      out->new_value += operand.ToString();
    }
    return true;
  }
};

class WideColumnsTest : public Database {
 protected:
  WideColumnsTest() {
    options_.merge_operator = std::make_shared<Append>();
    options_.disable_auto_compactions = true;
    options_.create_missing_column_families = true;
  }

  void PutEntity(const std::string& key, const WideColumns& columns,
                 const std::string& family = "default") {
    const Status s = db()->PutEntity(WriteOptions(), Handle(family), key, columns);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void Merge(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db()->Merge(WriteOptions(), Handle("default"), key, value).ok());
  }
  void Compact() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  }
  std::string Entity(const std::string& key, const Snapshot* snapshot = nullptr,
                     const std::string& family = "default") {
    ReadOptions options;
    options.snapshot = snapshot;
    PinnableWideColumns columns;
    const Status s = db()->GetEntity(options, Handle(family), key, &columns);
    return s.ok() ? Show(columns.columns()) : s.ToString();
  }
  // Returns "key[columns]=value" for each entry, in both directions, which must agree.
  std::string ScanColumns() {
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    const auto show = [&it] {
      return it->key().ToString() + "[" + Show(it->columns()) + "]=" + it->value().ToString() + " ";
    };
    std::string forward;
    std::string backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) forward += show();
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward = show() + backward;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    EXPECT_EQ(forward, backward);
    return forward;
  }
  // Checks in the memtable, after replay, in a table, after a compaction and after reopening.
  void Everywhere(const std::function<void()>& check) {
    check();
    Kill();
    Open();
    check();
    Flush();
    check();
    Compact();
    check();
    Reopen();
    check();
  }
};

TEST_F(WideColumnsTest, AnEntityIsReadAsItWasPutWhereverItLies) {
  Open();
  PutEntity("a", {{"b", "2"}, {"", "dflt"}, {"a", "1"}});
  PutEntity("b", {{"x", std::string(9000, 'x')}, {"y", "9"}});
  PutEntity("c", {});
  Put("d", "plain");
  Put("e", "gone");
  PutEntity("e", {{"e", "1"}});
  Delete("e");
  Everywhere([this] {
    EXPECT_EQ(":dflt a:1 b:2 ", Entity("a"));
    EXPECT_EQ("x:" + std::string(9000, 'x') + " y:9 ", Entity("b"));
    EXPECT_EQ("", Entity("c"));
    EXPECT_EQ(":plain ", Entity("d"));
    EXPECT_THAT(Entity("e"), HasSubstr("NotFound"));
    EXPECT_EQ("dflt", Get("a"));
    EXPECT_EQ("", Get("b"));
    EXPECT_EQ("", Get("c"));
    EXPECT_EQ(
        "a[:dflt a:1 b:2 ]=dflt b[x:" + std::string(9000, 'x') + " y:9 ]= c[]= d[:plain ]=plain ",
        ScanColumns());
    std::string value;
    bool found = false;
    EXPECT_TRUE(db()->KeyMayExist(ReadOptions(), "a", &value, &found));
    EXPECT_TRUE(!found || value == "dflt");
    EXPECT_TRUE(db()->KeyMayExist(ReadOptions(), "b", &value, &found));
  });
}

TEST_F(WideColumnsTest, LargeColumnsAreReadWithoutACopy) {
  Open();
  PutEntity("a", {{"", std::string(3000, 'd')}, {"c", std::string(3000, 'c')}});
  Flush();
  PinnableWideColumns first;
  PinnableWideColumns second;
  ASSERT_TRUE(db()->GetEntity(ReadOptions(), Handle("default"), "a", &first).ok());
  ASSERT_TRUE(db()->GetEntity(ReadOptions(), Handle("default"), "a", &second).ok());
  // Both point at the bytes of the cached block.
  EXPECT_EQ(first.columns()[1].value().data(), second.columns()[1].value().data());
  PinnableSlice value;
  ASSERT_TRUE(db()->Get(ReadOptions(), Handle("default"), "a", &value).ok());
  EXPECT_EQ(first.columns()[0].value().data(), value.data());
}

TEST_F(WideColumnsTest, ManyKeysAndFamiliesAreReadAtOnce) {
  Open({"default", "one"});
  PutEntity("a", {{"", "d"}, {"x", "1"}});
  PutEntity("a", {{"y", "2"}}, "one");
  Put("b", "plain", "one");
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    std::vector<PinnableWideColumns> results(3);
    std::vector<Status> statuses(3);
    const std::vector<Slice> keys = {"b", "a", "a"};
    std::vector<ColumnFamilyHandle*> handles = {Handle("one"), Handle("default"), Handle("one")};
    db()->MultiGetEntity(ReadOptions(), 3, handles.data(), keys.data(), results.data(),
                         statuses.data());
    EXPECT_EQ(":plain ", Show(results[0].columns()));
    EXPECT_EQ(":d x:1 ", Show(results[1].columns()));
    EXPECT_EQ("y:2 ", Show(results[2].columns()));
    db()->MultiGetEntity(ReadOptions(), Handle("default"), 3, keys.data(), results.data(),
                         statuses.data());
    EXPECT_TRUE(statuses[0].IsNotFound());
    EXPECT_TRUE(results[0].columns().empty());
    EXPECT_EQ(":d x:1 ", Show(results[2].columns()));

    std::vector<PinnableSlice> values(3);
    db()->MultiGet(ReadOptions(), Handle("one"), 3, keys.data(), values.data(), statuses.data());
    EXPECT_EQ("plain", values[0].ToString());
    EXPECT_TRUE(statuses[1].ok());
    EXPECT_TRUE(values[1].empty());
  }
}

TEST_F(WideColumnsTest, AttributeGroupsAreOneEntityInEachFamily) {
  Open({"default", "one"});
  const AttributeGroups groups{AttributeGroup(Handle("default"), {{"a", "1"}}),
                               AttributeGroup(Handle("one"), {{"b", "2"}, {"", "d"}})};
  const SequenceNumber before = db()->GetLatestSequenceNumber();
  ASSERT_TRUE(db()->PutEntity(WriteOptions(), "k", groups).ok());
  EXPECT_EQ(before + 2, db()->GetLatestSequenceNumber());
  Put("only", "here", "one");
  PinnableAttributeGroups found;
  found.emplace_back(Handle("one"));
  found.emplace_back(Handle("default"));
  ASSERT_TRUE(db()->GetEntity(ReadOptions(), "k", &found).ok());
  EXPECT_EQ(":d b:2 ", Show(found[0].columns()));
  EXPECT_EQ("a:1 ", Show(found[1].columns()));
  ASSERT_TRUE(db()->GetEntity(ReadOptions(), "only", &found).ok());
  EXPECT_EQ(":here ", Show(found[0].columns()));
  EXPECT_TRUE(found[1].status().IsNotFound());
  EXPECT_TRUE(found[1].columns().empty());

  EXPECT_TRUE(db()->PutEntity(WriteOptions(), "k", AttributeGroups()).IsInvalidArgument());
  const AttributeGroups twice{AttributeGroup(Handle("default"), {{"a", "3"}}),
                              AttributeGroup(Handle("one"), {{"b", "2"}, {"b", "4"}})};
  EXPECT_TRUE(db()->PutEntity(WriteOptions(), "k", twice).IsCorruption());
  EXPECT_EQ("a:1 ", Entity("k"));
}

TEST_F(WideColumnsTest, WhatCannotBeWrittenIsRefusedAndChangesNothing) {
  Open();
  const SequenceNumber before = db()->GetLatestSequenceNumber();
  const Status twice =
      db()->PutEntity(WriteOptions(), Handle("default"), "k", {{"a", "1"}, {"a", "2"}});
  EXPECT_TRUE(twice.IsCorruption());
  EXPECT_THAT(twice.ToString(), HasSubstr("Wide columns out of order"));
  EXPECT_TRUE(db()->PutEntity(WriteOptions(), nullptr, "k", {}).IsInvalidArgument());
  WriteBatch batch;
  EXPECT_TRUE(batch.PutEntity(nullptr, "k", {}).IsInvalidArgument());
  EXPECT_EQ(0u, batch.Count());
  EXPECT_TRUE(db()->GetEntity(ReadOptions(), Handle("default"), "k", nullptr).IsInvalidArgument());
  // Bytes that no entity has, in a batch that was adopted.
  WriteBatch adopted(std::string("\0\0\0\0\0\0\0\0\1\0\0\0\x16\1k\3\1\2\3", 19));
  EXPECT_TRUE(db()->Write(WriteOptions(), &adopted).IsCorruption());
  EXPECT_EQ(before, db()->GetLatestSequenceNumber());
}

TEST_F(WideColumnsTest, FamiliesWithTimestampsHaveNoEntities) {
  options_.comparator = BytewiseComparatorWithU64Ts();
  options_.merge_operator = nullptr;
  Open();
  EXPECT_TRUE(
      db()->PutEntity(WriteOptions(), Handle("default"), "k", {{"a", "1"}}).IsInvalidArgument());
  WriteBatch batch;
  EXPECT_TRUE(batch.PutEntity(Handle("default"), "k", {{"a", "1"}}).IsInvalidArgument());
}

TEST_F(WideColumnsTest, AMergeChangesOnlyTheDefaultColumn) {
  Open();
  PutEntity("with", {{"", "d"}, {"a", "1"}});
  PutEntity("without", {{"a", "1"}});
  PutEntity("none", {});
  Put("plain", "p");
  for (const char* key : {"with", "without", "none", "plain", "new"}) Merge(key, "m");
  const Snapshot* const snapshot = db()->GetSnapshot();
  for (const char* key : {"with", "without", "none", "plain", "new"}) Merge(key, "n");
  const auto check = [&](bool with_snapshot) {
    EXPECT_EQ(":d,m,n a:1 ", Entity("with"));
    EXPECT_EQ(":m,n a:1 ", Entity("without"));
    EXPECT_EQ(":m,n ", Entity("none"));
    EXPECT_EQ(":p,m,n ", Entity("plain"));
    EXPECT_EQ(":m,n ", Entity("new"));
    EXPECT_EQ("d,m,n", Get("with"));
    EXPECT_EQ("m,n", Get("without"));
    EXPECT_EQ(
        "new[:m,n ]=m,n none[:m,n ]=m,n plain[:p,m,n ]=p,m,n with[:d,m,n a:1 ]=d,m,n "
        "without[:m,n a:1 ]=m,n ",
        ScanColumns());
    if (!with_snapshot) return;
    EXPECT_EQ(":d,m a:1 ", Entity("with", snapshot));
    EXPECT_EQ("m", Get("without", "default", snapshot));
  };
  check(true);
  Flush();
  check(true);
  Compact();
  check(true);
  db()->ReleaseSnapshot(snapshot);
  Compact();
  check(false);
  // Nothing is left to merge: the operator is not needed any more.
  ASSERT_TRUE(Close().ok());
  options_.merge_operator = nullptr;
  options_.allow_other_merge_operator = true;
  Open();
  check(false);
}

TEST_F(WideColumnsTest, OperandsAreReadWithTheDefaultColumnAsTheirBase) {
  Open();
  PutEntity("k", {{"", "d"}, {"a", "1"}});
  // A flush merges what no snapshot keeps apart.
  const ManagedSnapshot apart(db());
  Merge("k", "m");
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    std::vector<PinnableSlice> operands(3);
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = 3;
    int n = 0;
    ASSERT_TRUE(
        db()->GetMergeOperands(ReadOptions(), Handle("default"), "k", operands.data(), &options, &n)
            .ok());
    ASSERT_EQ(2, n);
    EXPECT_EQ("d", operands[0].ToString());
    EXPECT_EQ("m", operands[1].ToString());
  }
}

TEST_F(WideColumnsTest, SuccessiveMergesAreFoldedIntoTheEntity) {
  options_.max_successive_merges = 2;
  Open();
  PutEntity("k", {{"a", "1"}});
  for (int i = 0; i < 6; i++) Merge("k", std::to_string(i));
  EXPECT_EQ(":0,1,2,3,4,5 a:1 ", Entity("k"));
  Kill();
  Open();
  EXPECT_EQ(":0,1,2,3,4,5 a:1 ", Entity("k"));
}

TEST_F(WideColumnsTest, SingleDeleteGoesWithAnEntity) {
  Open();
  PutEntity("k", {{"a", "1"}});
  Flush();
  ASSERT_TRUE(db()->SingleDelete(WriteOptions(), "k").ok());
  EXPECT_THAT(Entity("k"), HasSubstr("NotFound"));
  Flush();
  Compact();
  EXPECT_EQ("", Levels());
}

TEST_F(WideColumnsTest, ARangeDeletionCoversEntities) {
  Open();
  PutEntity("a", {{"a", "1"}});
  Flush();
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), "a", "c").ok());
  PutEntity("b", {{"b", "2"}});
  Everywhere([this] {
    EXPECT_THAT(Entity("a"), HasSubstr("NotFound"));
    EXPECT_EQ("b:2 ", Entity("b"));
    EXPECT_EQ("b[b:2 ]= ", ScanColumns());
  });
}

TEST_F(WideColumnsTest, EntitiesStayInTablesBesideBlobFiles) {
  options_.enable_blob_files = true;
  options_.min_blob_size = 0;
  Open();
  PutEntity("a", {{"", "d"}, {"a", std::string(5000, 'a')}});
  Put("b", std::string(5000, 'b'));
  Merge("b", "m");
  Everywhere([this] {
    EXPECT_EQ(":d a:" + std::string(5000, 'a') + " ", Entity("a"));
    EXPECT_EQ(":" + std::string(5000, 'b') + ",m ", Entity("b"));
  });
}

TEST_F(WideColumnsTest, IteratorsPinAndStepBetweenKinds) {
  Open();
  for (int i = 0; i < 40; i++) {
    const std::string key = "k" + std::to_string(10 + i);
    i % 3 == 0 ? PutEntity(key, {{"", "d" + key}, {"c", key}}) : Put(key, "p" + key);
  }
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    ReadOptions options;
    options.pin_data = flushed;
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    int i = 0;
    const auto check = [&] {
      const std::string key = "k" + std::to_string(10 + i);
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(key, it->key().ToString());
      EXPECT_EQ((i % 3 == 0 ? "d" : "p") + key, it->value().ToString());
      EXPECT_EQ(i % 3 == 0 ? ":d" + key + " c:" + key + " " : ":p" + key + " ",
                Show(it->columns()));
    };
    it->SeekToFirst();
    check();
    Random random(7);
    for (int step = 0; step < 400; step++) {
      if (i < 39 && (i == 0 || random.Below(2) == 0)) {
        it->Next();
        i++;
      } else {
        it->Prev();
        i--;
      }
      check();
    }
  }
}

TEST_F(WideColumnsTest, APlainStepLeavesNothingBehind) {
  // A walk that begins at an entity, or at a value in a blob file, among plain values.
  options_.enable_blob_files = true;
  options_.min_blob_size = 1000;
  Open();
  for (int i = 0; i < 40; i++) Put("k" + std::to_string(10 + i), "p" + std::to_string(i));
  PutEntity("k00", {{"", "first"}, {"c", "1"}});
  Put("k01", std::string(2000, 'b'));
  PutEntity("k98", {{"", "last"}, {"c", "1"}});
  Put("k99", std::string(2000, 'b'));
  Flush();
  ReadOptions options;
  options.allow_unprepared_value = true;
  const std::unique_ptr<Iterator> it(db()->NewIterator(options));
  const auto check = [&it](int i) {
    ASSERT_TRUE(it->Valid() && it->PrepareValue());
    EXPECT_EQ("p" + std::to_string(i), it->value().ToString());
    EXPECT_EQ(":p" + std::to_string(i) + " ", Show(it->columns()));
  };
  for (const char* const end : {"k98", "k99"}) {
    it->SeekForPrev(end);
    if (it->key() == Slice("k99")) it->Prev();
    EXPECT_EQ(":last c:1 ", Show(it->columns()));
    for (int i = 39; i >= 0; i--) {
      it->Prev();
      check(i);
    }
  }
  Delete("k98");
  it->Refresh().PermitUncheckedError();
  it->SeekToLast();
  ASSERT_EQ("k99", it->key().ToString());
  for (int i = 39; i >= 0; i--) {
    it->Prev();
    check(i);
  }
  it->SeekToFirst();
  EXPECT_EQ(":first c:1 ", Show(it->columns()));
  it->Next();
  ASSERT_TRUE(it->PrepareValue());
  EXPECT_EQ(std::string(2000, 'b'), it->value().ToString());
  for (int i = 0; i < 40; i++) {
    it->Next();
    check(i);
  }
}

TEST_F(WideColumnsTest, UniversalCompactionKeepsEntities) {
  options_.compaction_style = kCompactionStyleUniversal;
  options_.num_levels = 3;
  Open();
  for (int round = 0; round < 4; round++) {
    PutEntity("k", {{"", std::to_string(round)}, {"c", "v"}});
    PutEntity("k" + std::to_string(round), {{"r", std::to_string(round)}});
    if (round == 3) Merge("k", "m");
    Flush();
  }
  Compact();
  EXPECT_EQ(":3,m c:v ", Entity("k"));
  EXPECT_EQ("r:2 ", Entity("k2"));
}

TEST_F(WideColumnsTest, ReadersBesideAWriterSeeEntities) {
  Open();
  PutEntity("k", {{"", "d"}, {"a", "1"}});
  Flush();
  PutEntity("l", {{"b", "2"}});
  ASSERT_TRUE(Close().ok());
  ASSERT_TRUE(TryOpenReadOnly().ok());
  EXPECT_EQ(":d a:1 ", Entity("k"));
  EXPECT_EQ("b:2 ", Entity("l"));
  EXPECT_EQ("k[:d a:1 ]=d l[b:2 ]= ", ScanColumns());
}

// ---- Damage ----

TEST_F(WideColumnsTest, ADamagedEntityIsCorruptionToEveryRead) {
  Open();
  PutEntity("k", {{"", "d"}, {"a", "1"}});
  Put("l", "last");
  Kill();
  // A name that is longer than the entity, under a checksum that fits.
  const std::string log = std::string(kName) + "/" + Files(FileType::kWalFile).front();
  std::string bytes = ReadFile(log);
  const size_t at = bytes.find(std::string("\x01\x02\x00\x01", 4));
  ASSERT_NE(std::string::npos, at);
  const Seals seals = Seals::OfLog(bytes);
  bytes[at + 2] = 100;
  ASSERT_TRUE(seals.Reseal(&bytes, at + 2));
  WriteFile(log, bytes);
  Open();
  for (const bool flushed : {false, true}) {
    if (flushed) Flush();
    if (flushed) Compact();
    EXPECT_THAT(Entity("k"), HasSubstr("Corruption: wide columns"));
    EXPECT_THAT(Get("k"), HasSubstr("Corruption: wide columns"));
    for (const std::string& error : {Entity("k"), Get("k")}) {
      EXPECT_THAT(error, HasSubstr("key 6B"));
      if (!flushed) continue;
      EXPECT_THAT(error, HasSubstr(Files(FileType::kTableFile).front() + " offset "));
    }
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    it->SeekToFirst();
    EXPECT_TRUE(!it->Valid() && it->status().IsCorruption()) << it->status().ToString();
    EXPECT_THAT(it->status().ToString(), HasSubstr("key 6B"));
    it->Seek("l");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ("last", it->value().ToString());
    it->Prev();
    EXPECT_TRUE(!it->Valid() && it->status().IsCorruption()) << it->status().ToString();
  }
  Merge("k", "m");
  EXPECT_THAT(Get("k"), HasSubstr("Corruption: wide columns"));
  Flush();
  Compact();
  EXPECT_THAT(Get("k"), HasSubstr("Corruption: wide columns"));
}

// ---- Filters ----

class ColumnFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.ColumnFilter"; }
  Decision FilterV3(int /*level*/, const Slice& key, ValueType type, const Slice* value,
                    const WideColumns* columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* new_columns,
                    std::string* /*skip_until*/) const override {
    EXPECT_EQ(type == ValueType::kWideColumnEntity, columns != nullptr);
    EXPECT_EQ(type != ValueType::kWideColumnEntity, value != nullptr);
    if (key == Slice("drop")) return Decision::kRemove;
    if (key == Slice("plain") && columns != nullptr) {
      *new_value = Show(*columns);
      return Decision::kChangeValue;
    }
    if (key == Slice("wide") && value != nullptr) {
      *new_columns = {{"z", "26"}, {"", value->ToString()}};
      return Decision::kChangeWideColumnEntity;
    }
    if (key == Slice("less")) {
      for (const WideColumn& column : *columns) {
        if (column.name() != Slice("secret")) {
          new_columns->emplace_back(column.name().ToString(), column.value().ToString());
        }
      }
      return Decision::kChangeWideColumnEntity;
    }
    if (key == Slice("twice")) {
      *new_columns = {{"z", "1"}, {"z", "2"}};
      return Decision::kChangeWideColumnEntity;
    }
    return Decision::kKeep;
  }
};

// Sees plain values only.
class OldFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.OldFilter"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*value*/,
              std::string* /*new_value*/, bool* /*changed*/) const override {
    return true;
  }
};

// Has the newest form, whose resolver of columns is there only for values in blob files.
class ResolvingFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.ResolvingFilter"; }
  bool SupportsFilterV4() const override { return true; }
  Decision FilterV4(int /*level*/, const Slice& /*key*/, ValueType /*type*/, const Slice* value,
                    const WideColumns* columns, std::string* new_value,
                    std::vector<std::pair<std::string, std::string>>* /*new_columns*/,
                    std::string* /*skip_until*/, WideColumnBlobResolver* resolver) const override {
    EXPECT_EQ(resolver, nullptr);
    *new_value = value != nullptr ? "value " + value->ToString() : "columns " + Show(*columns);
    return Decision::kChangeValue;
  }
};

TEST_F(WideColumnsTest, AFilterOfTheNewestFormIsAsked) {
  const ResolvingFilter filter;
  options_.compaction_filter = &filter;
  Open();
  PutEntity("a", {{"x", "1"}});
  Put("b", "v");
  Flush();
  Compact();
  EXPECT_EQ(Get("a"), "columns x:1 ");
  EXPECT_EQ(Get("b"), "value v");
}

TEST_F(WideColumnsTest, AFilterSeesAndMakesColumns) {
  const ColumnFilter filter;
  options_.compaction_filter = &filter;
  Open();
  PutEntity("drop", {{"a", "1"}});
  PutEntity("keep", {{"a", "1"}});
  PutEntity("less", {{"a", "1"}, {"secret", "2"}});
  PutEntity("plain", {{"a", "1"}});
  Put("wide", "value");
  Flush();
  Compact();
  EXPECT_EQ("keep[a:1 ]= less[a:1 ]= plain[:a:1  ]=a:1  wide[:value z:26 ]=value ", ScanColumns());
  Put("twice", "v");
  Flush();
  const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_THAT(s.ToString(), HasSubstr("test.ColumnFilter"));
}

TEST_F(WideColumnsTest, AnOlderFilterDoesNotSeeEntities) {
  const OldFilter filter;
  options_.compaction_filter = &filter;
  Open();
  PutEntity("a", {{"a", "1"}});
  Put("b", "value");
  Flush();
  Compact();
  EXPECT_EQ("a[a:1 ]= ", ScanColumns());
}

// ---- Several families ----

TEST_F(WideColumnsTest, SeveralFamiliesAreWalkedAsOne) {
  Open({"default", "one", "two"});
  PutEntity("a", {{"", "d"}, {"x", "1"}});
  PutEntity("a", {{"x", "2"}, {"y", "3"}}, "one");
  Put("b", "plain", "two");
  PutEntity("c", {{"z", "4"}}, "one");
  Put("c", "c");
  Flush("one");
  const std::vector<ColumnFamilyHandle*> families = {Handle("default"), Handle("one"),
                                                     Handle("two")};
  const std::string all = "a[:d x:2 y:3 ]=d b[:plain ]=plain c[:c z:4 ]=c ";
  const auto it = db()->NewCoalescingIterator(ReadOptions(), families);
  const auto show = [&it] {
    return it->key().ToString() + "[" + Show(it->columns()) + "]=" + it->value().ToString() + " ";
  };
  std::string forward;
  std::string backward;
  for (it->SeekToFirst(); it->Valid(); it->Next()) forward += show();
  for (it->SeekToLast(); it->Valid(); it->Prev()) backward = show() + backward;
  EXPECT_EQ(all, forward);
  EXPECT_EQ(all, backward);
  it->Seek("b");
  it->Next();
  EXPECT_EQ("c[:c z:4 ]=c ", show());
  it->Prev();
  EXPECT_EQ("b[:plain ]=plain ", show());
  it->Prev();
  it->Next();
  EXPECT_EQ("b[:plain ]=plain ", show());
  it->SeekForPrev("bb");
  EXPECT_EQ("b[:plain ]=plain ", show());
  EXPECT_TRUE(it->status().ok());

  const auto groups = db()->NewAttributeGroupIterator(ReadOptions(), families);
  groups->Seek("c");
  ASSERT_TRUE(groups->Valid());
  ASSERT_EQ(2u, groups->attribute_groups().size());
  EXPECT_EQ(Handle("default"), groups->attribute_groups()[0].column_family());
  EXPECT_EQ(":c ", Show(groups->attribute_groups()[0].columns()));
  EXPECT_EQ("z:4 ", Show(groups->attribute_groups()[1].columns()));
  groups->Next();
  EXPECT_FALSE(groups->Valid());

  const auto none = db()->NewCoalescingIterator(ReadOptions(), {});
  none->SeekToFirst();
  EXPECT_FALSE(none->Valid());
  EXPECT_TRUE(none->status().IsInvalidArgument());
}

// ---- Tables from outside ----

TEST_F(WideColumnsTest, EntitiesAreIngested) {
  Open();
  PutEntity("b", {{"old", "1"}});
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_TRUE(writer.Open("/entities.sst").ok());
  ASSERT_TRUE(writer.PutEntity("a", {{"x", "1"}, {"", "d"}}).ok());
  ASSERT_TRUE(writer.PutEntity("b", {{"new", "2"}}).ok());
  ASSERT_TRUE(writer.Put("c", "plain").ok());
  ASSERT_TRUE(writer.Finish().ok());
  ASSERT_TRUE(db()->IngestExternalFile({"/entities.sst"}, IngestExternalFileOptions()).ok());
  EXPECT_EQ("a[:d x:1 ]=d b[new:2 ]= c[:plain ]=plain ", ScanColumns());
}

// ---- Batches ----

TEST_F(WideColumnsTest, AnIndexedBatchIsReadWithItsEntities) {
  Open({"default", "one"});
  PutEntity("base", {{"", "d"}, {"a", "1"}});
  Put("plain", "p");
  WriteBatchWithIndex batch;
  ColumnFamilyHandle* const family = Handle("default");
  ASSERT_TRUE(batch.PutEntity(family, "own", {{"x", "1"}, {"", "o"}}).ok());
  ASSERT_TRUE(batch.PutEntity(Handle("one"), "one", {{"y", "2"}}).ok());
  ASSERT_TRUE(batch.Merge(family, "own", "m").ok());
  ASSERT_TRUE(batch.Merge(family, "base", "m").ok());
  ASSERT_TRUE(batch.Merge(family, "plain", "m").ok());
  EXPECT_TRUE(batch.PutEntity(family, "bad", {{"x", "1"}, {"x", "2"}}).IsCorruption());

  PinnableWideColumns columns;
  ASSERT_TRUE(batch.GetEntityFromBatch(family, "own", &columns).ok());
  EXPECT_EQ(":o,m x:1 ", Show(columns.columns()));
  ASSERT_TRUE(batch.GetEntityFromBatch(Handle("one"), "one", &columns).ok());
  EXPECT_EQ("y:2 ", Show(columns.columns()));
  EXPECT_TRUE(batch.GetEntityFromBatch(family, "base", &columns).IsMergeInProgress());
  EXPECT_TRUE(batch.GetEntityFromBatch(family, "none", &columns).IsNotFound());
  std::string value;
  ASSERT_TRUE(batch.GetFromBatch(family, DBOptions(), "own", &value).ok());
  EXPECT_EQ("o,m", value);

  const std::vector<Slice> keys = {"base", "own", "plain", "none"};
  const std::vector<std::string> wide = {":d,m a:1 ", ":o,m x:1 ", ":p,m "};
  const std::vector<std::string> plain = {"d,m", "o,m", "p,m"};
  std::vector<PinnableWideColumns> results(4);
  std::vector<PinnableSlice> values(4);
  std::vector<Status> statuses(4);
  batch.MultiGetEntityFromBatchAndDB(db(), ReadOptions(), family, 4, keys.data(), results.data(),
                                     statuses.data(), false);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(wide[i], Show(results[i].columns()));
    ASSERT_TRUE(batch.GetEntityFromBatchAndDB(db(), ReadOptions(), family, keys[i], &columns).ok());
    EXPECT_EQ(wide[i], Show(columns.columns()));
    ASSERT_TRUE(batch.GetFromBatchAndDB(db(), ReadOptions(), family, keys[i], &value).ok());
    EXPECT_EQ(plain[i], value);
  }
  EXPECT_TRUE(statuses[3].IsNotFound());
  batch.MultiGetFromBatchAndDB(db(), ReadOptions(), family, 4, keys.data(), values.data(),
                               statuses.data(), false);
  for (size_t i = 0; i < 3; i++) EXPECT_EQ(plain[i], values[i].ToString());

  const std::unique_ptr<Iterator> it(
      batch.NewIteratorWithBase(family, db()->NewIterator(ReadOptions(), family)));
  std::string shown;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    shown += it->key().ToString() + "[" + Show(it->columns()) + "]=" + it->value().ToString() + " ";
  }
  EXPECT_EQ("base[:d,m a:1 ]=d,m own[:o,m x:1 ]=o,m plain[:p,m ]=p,m ", shown);

  const std::unique_ptr<WBWIIterator> entries(batch.NewIterator(Handle("one")));
  entries->SeekToFirst();
  ASSERT_TRUE(entries->Valid());
  EXPECT_EQ(kPutEntityRecord, entries->Entry().type);

  ASSERT_TRUE(db()->Write(WriteOptions(), batch.GetWriteBatch()).ok());
  EXPECT_EQ(":d,m a:1 ", Entity("base"));
  EXPECT_EQ(":o,m x:1 ", Entity("own"));
  EXPECT_EQ("y:2 ", Entity("one", nullptr, "one"));
}

// ---- At random ----

// Compares a database with a map of columns, over flushes, compactions, reopenings and kills.
TEST_F(WideColumnsTest, AtRandomItIsAMapOfColumns) {
  Open();
  Random random(20);
  std::map<std::string, std::map<std::string, std::string>> model;
  std::map<std::string, std::map<std::string, std::string>> held;
  const Snapshot* snapshot = nullptr;
  const auto show = [](const std::map<std::string, std::string>& columns) {
    std::string text;
    for (const auto& [name, value] : columns) text += name + ":" + value + " ";
    return text;
  };
  for (int step = 0; step < 1500; step++) {
    const std::string key = "k" + std::to_string(random.Below(20));
    const std::string value = std::to_string(step) + std::string(random.Below(40), 'v');
    switch (random.Below(12)) {
      case 0:
      case 1:
      case 2: {
        std::map<std::string, std::string> columns;
        for (uint64_t n = random.Below(4); n > 0; n--) {
          columns[random.Below(3) == 0 ? "" : "c" + std::to_string(random.Below(5))] = value;
        }
        WideColumns given;
        for (auto it = columns.rbegin(); it != columns.rend(); ++it) {
          given.emplace_back(it->first, it->second);
        }
        PutEntity(key, given);
        model[key] = columns;
        break;
      }
      case 3:
        Put(key, value);
        model[key] = {{"", value}};
        break;
      case 4:
      case 5:
      case 6: {
        Merge(key, value);
        std::string& base = model[key][""];
        base += base.empty() ? value : "," + value;
        break;
      }
      case 7:
        Delete(key);
        model.erase(key);
        break;
      case 8: {
        const std::string end = key + "~";
        ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), key, end).ok());
        model.erase(model.lower_bound(key), model.lower_bound(end));
        break;
      }
      case 9:
        if (random.Below(8) == 0) Flush();
        break;
      case 10:
        if (random.Below(20) == 0) Compact();
        break;
      default:
        if (random.Below(20) != 0) break;
        if (snapshot != nullptr) {
          db()->ReleaseSnapshot(std::exchange(snapshot, nullptr));
          random.Below(2) == 0 ? Reopen() : (Kill(), Open());
        } else {
          snapshot = db()->GetSnapshot();
          held = model;
        }
    }
    EXPECT_EQ(model.contains(key) ? show(model[key]) : "NotFound: ", Entity(key)) << step;
    if (snapshot != nullptr) {
      EXPECT_EQ(held.contains(key) ? show(held[key]) : "NotFound: ", Entity(key, snapshot)) << step;
    }
    if (step % 50 != 0) continue;
    std::string expected;
    for (const auto& [name, columns] : model) {
      const auto found = columns.find("");
      expected +=
          name + "[" + show(columns) + "]=" + (found != columns.end() ? found->second : "") + " ";
    }
    EXPECT_EQ(expected, ScanColumns()) << step;
  }
  if (snapshot != nullptr) db()->ReleaseSnapshot(snapshot);
}

}  // namespace

}  // namespace varve::testing
