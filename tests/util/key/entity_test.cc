// SPDX-License-Identifier: Apache-2.0

// Goal: entities have RocksDB's bytes, whatever the order of the columns that are given; and an
// ill-formed one is refused by every decoder, with what is wrong and where.

#include "util/key/entity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "varve/attribute_groups.h"
#include "varve/wide_columns.h"

#include "util/coding/varint.h"

namespace varve {

namespace {

using testing::HasSubstr;

std::string Encoded(const WideColumns& columns) {
  std::string entity;
  const Status s = EncodeEntity(columns, &entity);
  EXPECT_TRUE(s.ok()) << s.ToString();
  return entity;
}

std::string Bytes(const char* hex) {
  std::string bytes;
  EXPECT_TRUE(Slice(hex).DecodeHex(&bytes));
  return bytes;
}

TEST(EntityTest, BytesAreThoseOfRocksDb) {
  const std::vector<std::pair<WideColumns, const char*>> cases = {
      {{{"b", "2"}, {"a", "1"}, {"", "dd"}},
       "01030002016101016201646431"
       "32"},
      {{{"x", "9"}}, "010101780139"},
      {{}, "0100"},
      {{{"", "dflt"}, {"col1", "A"}, {"col2", "BB"}},
       "0103000404636F6C310104636F6C320264666C74414242"},
  };
  for (const auto& [columns, hex] : cases) {
    EXPECT_EQ(hex, Slice(Encoded(columns)).ToString(/*hex=*/true));
    WideColumns decoded;
    ASSERT_TRUE(DecodeEntity(Bytes(hex), &decoded).ok());
    EXPECT_EQ(columns.size(), decoded.size());
  }
}

TEST(EntityTest, ColumnsAreSortedAndANameIsUnique) {
  const std::string entity =
      Encoded({{"b", "2"}, {"\xff", "4"}, {"ab", "1"}, {"", "0"}, {"a", ""}});
  WideColumns columns;
  ASSERT_TRUE(DecodeEntity(entity, &columns).ok());
  EXPECT_EQ((WideColumns{{"", "0"}, {"a", ""}, {"ab", "1"}, {"b", "2"}, {"\xff", "4"}}), columns);

  std::string kept = "kept";
  const Status s = EncodeEntity({{"a", "1"}, {"b", "2"}, {"a", "3"}}, &kept);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_THAT(s.ToString(), HasSubstr("Wide columns out of order"));
  EXPECT_EQ("kept", kept);
}

TEST(EntityTest, AColumnIsFoundWithoutTheOthers) {
  const std::string entity = Encoded({{"", "dflt"}, {"a", std::string(300, 'a')}, {"c", ""}});
  Slice value;
  bool found = false;
  ASSERT_TRUE(FindColumn(entity, "a", &value, &found).ok());
  EXPECT_TRUE(found);
  EXPECT_EQ(Slice(std::string(300, 'a')), value);
  EXPECT_TRUE(value.data() > entity.data() && value.data() < entity.data() + entity.size());
  ASSERT_TRUE(FindColumn(entity, "c", &value, &found).ok());
  EXPECT_TRUE(found && value.empty());
  ASSERT_TRUE(FindColumn(entity, "b", &value, &found).ok());
  EXPECT_TRUE(!found && value.empty());

  ASSERT_TRUE(DefaultColumnOf(entity, &value).ok());
  EXPECT_EQ(Slice("dflt"), value);
  // A slice may become a part of itself.
  Slice part = entity;
  ASSERT_TRUE(DefaultColumnOf(part, &part).ok());
  EXPECT_EQ(Slice("dflt"), part);
  ASSERT_TRUE(DefaultColumnOf(Encoded({{"a", "1"}}), &value).ok());
  EXPECT_TRUE(value.empty());
  ASSERT_TRUE(DefaultColumnOf(Encoded({}), &value).ok());
  EXPECT_TRUE(value.empty());
}

void ExpectRefused(const std::string& bytes, const char* why) {
  WideColumns columns;
  Slice value;
  bool found = false;
  for (const Status& s : {DecodeEntity(bytes, &columns), FindColumn(bytes, "b", &value, &found),
                          DefaultColumnOf(bytes, &value), CheckEntity(bytes)}) {
    EXPECT_FALSE(s.ok()) << why;
    EXPECT_THAT(s.ToString(), HasSubstr(why));
  }
}

TEST(EntityTest, IllFormedBytesAreRefusedByName) {
  ExpectRefused("", "the version is cut off, at byte 0");
  ExpectRefused(Bytes("0000"), "the version is 0");
  ExpectRefused(Bytes("01"), "the number of columns is cut off, at byte 1");
  ExpectRefused(Bytes("01FFFFFFFF0F"), "fewer columns than it counts");
  ExpectRefused(Bytes("010101"), "fewer columns than it counts, at byte 2");
  ExpectRefused(Bytes("0101FF80"), "the length of a name is cut off, at byte 2");
  ExpectRefused(Bytes("01010561"), "a name is cut off, at byte 3");
  ExpectRefused(Bytes("01010161"), "the length of a value is cut off, at byte 4");
  ExpectRefused(Bytes("0101016102"
                      "31"),
                "the values are cut off");
  ExpectRefused(Bytes("01010161013132"), "bytes after the values");
  ExpectRefused(Bytes("0100"
                      "31"),
                "bytes after the values");
  ExpectRefused(Bytes("0102"
                      "016201"
                      "016101"
                      "3132"),
                "names do not ascend");
  ExpectRefused(Bytes("0102"
                      "016101"
                      "016101"
                      "3132"),
                "names do not ascend");
  // The sizes sum up to more than 32 bits.
  ExpectRefused(Bytes("0102"
                      "0161FFFFFFFF0F"
                      "0162FFFFFFFF0F"
                      "3132"),
                "the values are cut off");
  ExpectRefused(Bytes("0200"), "an entity of version 2");
}

TEST(EntityTest, EachCutAndEachBitIsReadOrRefused) {
  const std::string entity = Encoded({{"", "dflt"}, {"col1", "A"}, {"col2", "BB"}});
  WideColumns columns;
  for (size_t n = 0; n < entity.size(); n++) {
    EXPECT_TRUE(DecodeEntity(entity.substr(0, n), &columns).IsCorruption()) << n;
  }
  for (size_t bit = 0; bit < 8 * entity.size(); bit++) {
    std::string bent = entity;
    bent[bit / 8] = static_cast<char>(bent[bit / 8] ^ (1 << bit % 8));
    Slice value;
    EXPECT_EQ(DecodeEntity(bent, &columns).code(), DefaultColumnOf(bent, &value).code()) << bit;
  }
}

TEST(WideColumnsTest, AMovedResultKeepsItsColumns) {
  // A short value lies in the object itself.
  for (const std::string& text : {std::string("1"), std::string(100, 'v')}) {
    PinnableWideColumns from;
    ASSERT_TRUE(from.SetWideColumnValue(Encoded({{"", text}, {"a", "2"}})).ok());
    PinnableWideColumns to(std::move(from));
    const WideColumns expected{{"", text}, {"a", "2"}};
    EXPECT_EQ(expected, to.columns());
    PinnableWideColumns assigned;
    assigned.SetPlainValue(Slice("before"));
    assigned = std::move(to);
    EXPECT_EQ(expected, assigned.columns());
    EXPECT_TRUE(to.columns().empty());  // NOLINT(bugprone-use-after-move): it is left empty.

    std::vector<PinnableWideColumns> many(1);
    many[0].SetPlainValue(text);
    many.resize(40);
    EXPECT_EQ((WideColumns{{"", text}}), many[0].columns());
  }
}

TEST(WideColumnsTest, AResultTakesPlainValuesAndEntities) {
  int released = 0;
  const std::string entity = Encoded({{"a", "1"}});
  {
    PinnableWideColumns result;
    Cleanable hold;
    hold.RegisterCleanup([](void* count, void*) { ++*static_cast<int*>(count); }, &released,
                         nullptr);
    ASSERT_TRUE(result.SetWideColumnValue(entity, &hold).ok());
    EXPECT_EQ(entity.data() + 5, result.columns()[0].value().data());
    EXPECT_EQ(entity.size(), result.serialized_size());
    EXPECT_EQ(0, released);
    result.SetPlainValue(std::string("plain"));
    EXPECT_EQ(1, released);
    EXPECT_EQ((WideColumns{{kDefaultWideColumnName, "plain"}}), result.columns());
    EXPECT_TRUE(result.SetWideColumnValue(Slice("\x01\x05")).IsCorruption());
    EXPECT_TRUE(result.columns().empty());
  }
  std::ostringstream text;
  text << WideColumn("n", "v") << ' ' << std::hex << WideColumn("n", "v");
  EXPECT_EQ("n:v 6E:76", text.str());
  const WideColumn parts(std::piecewise_construct, std::forward_as_tuple("name", 2),
                         std::forward_as_tuple("value"));
  EXPECT_EQ(WideColumn("na", "value"), parts);
}

TEST(WideColumnsTest, AnAttributeGroupHasAFamilyAndAStatus) {
  PinnableAttributeGroup group(nullptr);
  PinnableWideColumns columns;
  columns.SetPlainValue(Slice("v"));
  group.SetColumns(std::move(columns));
  group.SetStatus(Status::NotFound());
  EXPECT_EQ((WideColumns{{"", "v"}}), group.columns());
  EXPECT_TRUE(group.status().IsNotFound());
  group.Reset();
  EXPECT_TRUE(group.status().ok() && group.columns().empty());
  EXPECT_EQ(AttributeGroup(nullptr, {{"a", "1"}}), AttributeGroup(nullptr, {{"a", "1"}}));
}

}  // namespace

}  // namespace varve
