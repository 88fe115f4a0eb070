// SPDX-License-Identifier: Apache-2.0

// Batches of families whose timestamps were switched on, off, or to another size since.

#include "db/recovery/timestamp_adapter.h"

#include <gmock/gmock.h>

#include "varve/write_batch.h"

#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"
#include "util/coding/fixed.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns "1:put k=v" for each record: family, type, key, value.
std::vector<std::string> RecordsOf(const Slice& batch) {
  std::vector<std::string> records;
  BatchReader reader(batch);
  BatchRecord record;
  while (reader.Next(&record)) {
    records.push_back(std::to_string(record.column_family) + ":" + std::to_string(record.type) +
                      " " + record.key.ToString() + "=" + record.value.ToString());
  }
  EXPECT_TRUE(reader.status().ok()) << reader.status().ToString();
  return records;
}

// Returns a batch with every kind of update; keys of family 1 end with `tail`.
std::string Batch(const std::string& tail) {
  const auto text = [](std::string* out, const std::string& string) {
    out->push_back(static_cast<char>(string.size()));
    out->append(string);
  };
  std::string batch;
  PutFixed64(&batch, 77);
  PutFixed32(&batch, 8);
  const auto add = [&](int tag, const std::string& key, const std::string& value) {
    batch.push_back(static_cast<char>(tag));
    if (tag != kTypeValue && tag != kTypeLogData) batch.push_back(1);  // the family
    text(&batch, key);
    if (!value.empty()) text(&batch, value);
  };
  add(kTypeValue, "zero", "kept");
  add(kTypeColumnFamilyValue, "a" + tail, "va");
  add(kTypeLogData, "blob", "");
  add(kTypeColumnFamilyDeletion, "b" + tail, "");
  add(kTypeColumnFamilySingleDeletion, "c" + tail, "");
  add(kTypeColumnFamilyMerge, "d" + tail, "vd");
  add(kTypeColumnFamilyRangeDeletion, "e" + tail, "f" + tail);
  add(kTypeColumnFamilyValue, tail, "empty key");
  add(kTypeValue, "last", "kept");
  return batch;
}

struct Adapted {
  Status status;
  std::string bytes;
  bool same = false;  // not copied
};

Adapted Adapt(const std::string& batch, size_t running, const wal::TimestampSizes& recorded) {
  TimestampAdapter adapter({{0, {"default", 0}}, {1, {"stamped", running}}});
  Adapted result;
  std::string scratch;
  Slice bytes;
  result.status = adapter.Adapt(batch, recorded, &scratch, &bytes);
  result.bytes = bytes.ToString();
  result.same = bytes.data() == batch.data();
  return result;
}

const char kStamp[] = "TTTTTTTT";

TEST(TimestampAdapter, LeavesAloneWhatFits) {
  const std::string plain = Batch("");
  const std::string stamped = Batch(kStamp);
  EXPECT_TRUE(Adapt(plain, 0, {}).same);
  EXPECT_TRUE(Adapt(stamped, 8, {{1, 8}}).same);
  EXPECT_TRUE(Adapt(stamped, 8, {{1, 8}, {9, 4}}).same) << "9 was dropped";
  TimestampAdapter knows_no_family({});
  std::string scratch;
  Slice bytes;
  ASSERT_TRUE(knows_no_family.Adapt(stamped, {{1, 8}}, &scratch, &bytes).ok());
  EXPECT_EQ(bytes.data(), stamped.data());
}

TEST(TimestampAdapter, StripsAndPads) {
  const Adapted stripped = Adapt(Batch(kStamp), 0, {{1, 8}});
  ASSERT_TRUE(stripped.status.ok());
  EXPECT_EQ(stripped.bytes, Batch(""));
  const Adapted padded = Adapt(Batch(""), 8, {});
  ASSERT_TRUE(padded.status.ok());
  EXPECT_EQ(padded.bytes, Batch(std::string(8, '\0')));
  EXPECT_THAT(RecordsOf(stripped.bytes),
              ElementsAre("0:1 zero=kept", "1:1 a=va", "0:3 blob=", "1:0 b=", "1:7 c=", "1:2 d=vd",
                          "1:15 e=f", "1:1 =empty key", "0:1 last=kept"));
}

// The log records the family between two batches.
TEST(TimestampAdapter, GoesWithWhatTheLogSays) {
  TimestampAdapter adapter({{1, {"stamped", 8}}});
  std::string scratch;
  Slice bytes;
  const std::string plain = Batch("");
  const std::string stamped = Batch(kStamp);
  ASSERT_TRUE(adapter.Adapt(plain, {}, &scratch, &bytes).ok());
  EXPECT_EQ(bytes, Batch(std::string(8, '\0')));
  ASSERT_TRUE(adapter.Adapt(stamped, {{1, 8}}, &scratch, &bytes).ok());
  EXPECT_EQ(bytes.data(), stamped.data());
}

// Logs of RocksDB before 8.4 say nothing.
TEST(TimestampAdapter, KeysOfAFamilyThatPersistsTimestampsHaveThem) {
  TimestampAdapter adapter({{0, {"default", 0}}, {1, {"stamped", 8, /*persisted=*/true}}});
  std::string scratch;
  Slice bytes;
  const std::string stamped = Batch(kStamp);
  for (const wal::TimestampSizes& recorded : {wal::TimestampSizes{}, {{7, 8}}, {{1, 8}}}) {
    ASSERT_TRUE(adapter.Adapt(stamped, recorded, &scratch, &bytes).ok());
    EXPECT_EQ(bytes.data(), stamped.data());
  }
  TimestampAdapter other({{1, {"stamped", 8, /*persisted=*/true}}});
  for (const char* tail : {"", "TTTTTT"}) {
    const Status s = other.Adapt(Batch(tail), {}, &scratch, &bytes);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("column family stamped"));
    EXPECT_THAT(s.ToString(), HasSubstr("Flush the database with the version that wrote it"));
  }
  std::string end_only = Batch(kStamp);
  end_only.replace(end_only.find("\tfTTTTTTTT"), 10, "\001f");
  EXPECT_TRUE(other.Adapt(end_only, {}, &scratch, &bytes).IsInvalidArgument());
}

TEST(TimestampAdapter, RefusesAnotherSize) {
  const Adapted refused = Adapt(Batch(kStamp), 4, {{1, 8}});
  EXPECT_TRUE(refused.status.IsInvalidArgument());
  EXPECT_THAT(refused.status.ToString(),
              HasSubstr("column family stamped has timestamps of 4 bytes, but was written with "
                        "timestamps of 8 bytes"));
  // Batches of other families pass.
  WriteBatch other;
  ASSERT_TRUE(other.Put("zero", "v").ok());
  EXPECT_TRUE(Adapt(other.Data(), 4, {{1, 8}}).same);
}

TEST(TimestampAdapter, KeysMustHaveWhatIsTaken) {
  for (const char* tail : {"", "TTTTTT"}) {
    const Adapted broken = Adapt(Batch(tail), 0, {{1, 8}});
    EXPECT_TRUE(broken.status.IsCorruption()) << tail;
    EXPECT_THAT(broken.status.ToString(), HasSubstr("column family stamped"));
  }
  std::string end_only = Batch(kStamp);
  const size_t end = end_only.find("\tfTTTTTTTT");
  ASSERT_NE(end, std::string::npos);
  end_only.replace(end, 10, "\001f");
  EXPECT_TRUE(Adapt(end_only, 0, {{1, 8}}).status.IsCorruption());
}

}  // namespace
}  // namespace varve
