// SPDX-License-Identifier: Apache-2.0

// Tests writes with timestamps through the database: all calls, the log and its replay, and
// refusals before the log.

#include <gmock/gmock.h>

#include "varve/comparator.h"
#include "varve/convenience.h"
#include "varve/merge_operator.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

using ::testing::HasSubstr;

std::string TsBytes(uint64_t ts) {
  std::string bytes;
  EncodeU64Ts(ts, &bytes);
  return bytes;
}

class TimestampWriteTest : public Database {
 protected:
  void SetUp() override {
    ColumnFamilyOptions stamped(options_);
    stamped.comparator = BytewiseComparatorWithU64Ts();
    stamped.merge_operator = NewStringAppend();
    families_ = {{"default", ColumnFamilyOptions(options_)}, {"stamped", stamped}};
    const Status s = TryOpenWith(families_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  static std::shared_ptr<MergeOperator> NewStringAppend() {
    std::shared_ptr<MergeOperator> merge;
    EXPECT_TRUE(MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &merge).ok());
    return merge;
  }
  void ReopenAll() {
    ASSERT_TRUE(Close().ok());
    const Status s = TryOpenWith(families_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  ColumnFamilyHandle* stamped() { return Handle("stamped"); }

  // Returns "value@timestamp", or the error.
  std::string GetAt(const std::string& key, uint64_t ts) {
    const std::string bytes = TsBytes(ts);
    const Slice as_of(bytes);
    ReadOptions read;
    read.timestamp = &as_of;
    std::string value;
    std::string found;
    const Status s = db()->Get(read, stamped(), key, &value, &found);
    if (s.IsNotFound()) return "NOT_FOUND";
    if (!s.ok()) return s.ToString();
    uint64_t number = 0;
    EXPECT_TRUE(DecodeU64Ts(found, &number).ok());
    return value + "@" + std::to_string(number);
  }
  uint64_t LogBytes() {
    uint64_t bytes = 0;
    for (const std::string& name : Files(kWalFile)) {
      bytes += ReadFile(std::string(kName) + "/" + name).size();
    }
    return bytes;
  }

  std::vector<ColumnFamilyDescriptor> families_;
};

TEST_F(TimestampWriteTest, EveryCallWritesAVersion) {
  for (const size_t protection : {0, 8}) {
    SCOPED_TRACE(protection);
    WriteOptions write;
    write.protection_bytes_per_key = protection;
    const uint64_t from = 100 * protection;
    const auto at = [from](uint64_t ts) { return TsBytes(from + ts); };
    ASSERT_TRUE(db()->Put(write, stamped(), "p", at(1), "one").ok());
    ASSERT_TRUE(db()->Put(write, stamped(), "p", at(2), "two").ok());
    ASSERT_TRUE(db()->Delete(write, stamped(), "p", at(3)).ok());
    ASSERT_TRUE(db()->Put(write, stamped(), "s", at(1), "once").ok());
    ASSERT_TRUE(db()->SingleDelete(write, stamped(), "s", at(2)).ok());
    ASSERT_TRUE(db()->Put(write, stamped(), "r", at(1), "ranged").ok());
    ASSERT_TRUE(db()->DeleteRange(write, stamped(), "r", "rr", at(2)).ok());
    ASSERT_TRUE(db()->Put(write, stamped(), "m", at(1), "a").ok());
    ASSERT_TRUE(db()->Merge(write, stamped(), "m", at(2), "b").ok());
    const auto check = [&] {
      const auto get = [&](const std::string& key, uint64_t ts) { return GetAt(key, from + ts); };
      const auto is = [&](const char* value, uint64_t ts) {
        return std::string(value) + "@" + std::to_string(from + ts);
      };
      EXPECT_EQ(get("p", 1), is("one", 1));
      EXPECT_EQ(get("p", 2), is("two", 2));
      EXPECT_EQ(get("p", 3), "NOT_FOUND");
      EXPECT_EQ(get("s", 1), is("once", 1));
      EXPECT_EQ(get("s", 2), "NOT_FOUND");
      EXPECT_EQ(get("r", 1), is("ranged", 1));
      EXPECT_EQ(get("r", 2), "NOT_FOUND");
      EXPECT_EQ(get("m", 1), is("a", 1));
      EXPECT_EQ(get("m", 2), is("a,b", 2));
    };
    check();
    ReopenAll();
    check();
    ASSERT_TRUE(db()->Flush(FlushOptions(), stamped()).ok());
    check();
  }
}

TEST_F(TimestampWriteTest, ABatchOfSeveralFamiliesGetsItsTimestampsAtTheEnd) {
  WriteBatch batch;
  ASSERT_TRUE(batch.Put(stamped(), "a", "1").ok());
  ASSERT_TRUE(batch.Put(Handle("default"), "plain", "2").ok());
  ASSERT_TRUE(batch.Delete(stamped(), "b").ok());
  EXPECT_TRUE(db()->Write(WriteOptions(), &batch).IsInvalidArgument());
  const auto size_of = [this](uint32_t id) { return id == stamped()->GetID() ? size_t{8} : 0; };
  ASSERT_TRUE(batch.UpdateTimestamps(TsBytes(7), size_of).ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  // The batch is written once more, at a later timestamp.
  ASSERT_TRUE(batch.UpdateTimestamps(TsBytes(9), size_of).ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  ReopenAll();
  EXPECT_EQ(Get("plain"), "2");
  EXPECT_EQ(GetAt("a", 6), "NOT_FOUND");
  EXPECT_EQ(GetAt("a", 8), "1@7");
  EXPECT_EQ(GetAt("a", 9), "1@9");
}

TEST_F(TimestampWriteTest, WhatDoesNotFitIsRefusedBeforeTheLog) {
  ASSERT_TRUE(db()->Put(WriteOptions(), stamped(), "k", TsBytes(1), "v").ok());
  const uint64_t log_bytes = LogBytes();
  const SequenceNumber sequence = db()->GetLatestSequenceNumber();
  const auto refused = [&](const Status& s, const char* family, size_t given, size_t due) {
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr(family));
    EXPECT_THAT(s.ToString(), HasSubstr("of " + std::to_string(given) + " bytes"));
    EXPECT_THAT(s.ToString(), HasSubstr("of " + std::to_string(due)));
    EXPECT_EQ(LogBytes(), log_bytes);
    EXPECT_EQ(db()->GetLatestSequenceNumber(), sequence);
  };
  const std::string key = "a key that is long enough";
  for (const size_t protection : {0, 8}) {
    WriteOptions write;
    write.protection_bytes_per_key = protection;
    refused(db()->Put(write, stamped(), key, "v"), "stamped", 0, 8);
    refused(db()->Delete(write, stamped(), key), "stamped", 0, 8);
    refused(db()->SingleDelete(write, stamped(), key), "stamped", 0, 8);
    refused(db()->Merge(write, stamped(), key, "v"), "stamped", 0, 8);
    refused(db()->DeleteRange(write, stamped(), key, key), "stamped", 0, 8);
    refused(db()->Put(write, stamped(), key, "", "v"), "stamped", 0, 8);
    refused(db()->Put(write, stamped(), key, "1234", "v"), "stamped", 4, 8);
    refused(db()->Delete(write, stamped(), key, "1234"), "stamped", 4, 8);
    refused(db()->DeleteRange(write, stamped(), key, key, "1234"), "stamped", 4, 8);
    refused(db()->Put(write, key, TsBytes(1), "v"), "default", 8, 0);
    refused(db()->DeleteRange(write, key, key, TsBytes(1)), "default", 8, 0);
    EXPECT_TRUE(db()->DeleteRange(write, stamped(), "b", "a", TsBytes(1)).IsInvalidArgument());
    EXPECT_EQ(LogBytes(), log_bytes);

    WriteBatch waiting;
    ASSERT_TRUE(waiting.Put(stamped(), key, "v").ok());
    refused(db()->Write(write, &waiting), "stamped", 0, 8);
    WriteBatch mistaken(0, 0, 0, 8);  // the default family has none
    ASSERT_TRUE(mistaken.Put(nullptr, key, TsBytes(1), "v").ok());
    refused(db()->Write(write, &mistaken), "default", 8, 0);
  }
  // The refused write leaves nothing for the next one.
  ASSERT_TRUE(db()->Put(WriteOptions(), stamped(), "k", TsBytes(2), "w").ok());
  EXPECT_EQ(GetAt("k", 2), "w@2");
  EXPECT_EQ(GetAt("k", 1), "v@1");
}

}  // namespace
}  // namespace varve::testing
