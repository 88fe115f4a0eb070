// SPDX-License-Identifier: Apache-2.0

// Goal: the records of two-phase commit have RocksDB's bytes, and are taken apart as RocksDB reads
// them; marks that cannot be are refused. Method: bytes from logs of RocksDB 7.8.3, written out
// below.

#include "db/write/two_phase_records.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "db/write/batch_reader.h"
#include "db/write/write_batch_internal.h"

namespace varve {
namespace {

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i++) {
    if (hex[i] == ' ') continue;
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
    i++;
  }
  return bytes;
}

// Returns "kind:name:count" of each part, or the error.
std::string Parts(const std::string& record) {
  bool has_marks = false;
  EXPECT_TRUE(CheckBatchStructure(record, &has_marks).ok());
  EXPECT_TRUE(has_marks);
  std::vector<TwoPhasePart> parts;
  const Status s = SplitTwoPhaseRecord(record, &parts);
  if (!s.ok()) return s.IsNotSupported() ? "not supported" : "corruption";
  std::string text;
  for (const TwoPhasePart& part : parts) {
    static constexpr const char* kKinds[] = {"updates", "prepare", "commit", "rollback"};
    text += (text.empty() ? "" : " ") + std::string(kKinds[static_cast<int>(part.kind)]) + ":" +
            part.name.ToString() + ":" + std::to_string(part.count) + (part.again ? ":again" : "");
  }
  return text;
}

std::string Batch(uint32_t count, const std::string& hex) {
  std::string record(8, '\0');
  record.push_back(static_cast<char>(count));
  return record + std::string(3, '\0') + FromHex(hex);
}

TEST(TwoPhaseRecordsTest, BytesAreThoseOfRocksDb) {
  WriteBatch updates;
  ASSERT_TRUE(updates.Put("ta", "1").ok());
  ASSERT_TRUE(updates.Put("tb", "2").ok());
  const std::string prepare = Batch(2, "09 0102746101310102746201320a0478696431");
  EXPECT_EQ(MakePrepareRecord(updates, "xid1").Data(), prepare);
  EXPECT_EQ(Parts(prepare), "prepare:xid1:2");
  EXPECT_EQ(MakeCommitRecord(WriteBatch(), "xid1").Data(), Batch(0, "0b 0478696431"));
  EXPECT_EQ(Parts(Batch(0, "0b 0478696431")), "commit:xid1:0");
  EXPECT_EQ(MakeRollbackRecord("xid2").Data(), Batch(0, "0c 0478696432"));
  EXPECT_EQ(Parts(Batch(0, "0c 0478696432")), "rollback:xid2:0");
}

TEST(TwoPhaseRecordsTest, WhatComesWithACommitStandsBeforeIt) {
  WriteBatch updates;
  ASSERT_TRUE(updates.Delete("k").ok());
  const std::string record = MakeCommitRecord(updates, "x").Data();
  EXPECT_EQ(record, Batch(1, "00016b 0b0178"));
  EXPECT_EQ(Parts(record), "updates::1 commit:x:0");
}

TEST(TwoPhaseRecordsTest, OneRecordMayHoldStepsOfSeveral) {
  // Log data and no-ops (0d) stay in their places.
  EXPECT_EQ(Parts(Batch(4, "0d 00016b 09 00016c 03016d 00016d 0a0178 00016e 0b0179 0c017a")),
            "updates::1 prepare:x:2 updates::1 commit:y:0 rollback:z:0");
}

TEST(TwoPhaseRecordsTest, ATransactionThatIsLoggedAgainSaysSo) {
  WriteBatch updates;
  ASSERT_TRUE(updates.Delete("k").ok());
  EXPECT_EQ(Parts(MakePrepareRecord(updates, "x", /*again=*/true).Data()), "prepare:x:1:again");
  // This does not hold if log data stand in the prepared transaction.
  WriteBatch remark;
  ASSERT_TRUE(remark.PutLogData("varve:prepared before").ok());
  EXPECT_EQ(Parts(MakePrepareRecord(remark, "x").Data()), "prepare:x:0");
}

TEST(TwoPhaseRecordsTest, OneSequenceOfWritePreparedIsToldByTheEnd) {
  const auto by_sub_batch = [](const std::string& record) {
    bool has_marks = false;
    EXPECT_TRUE(CheckBatchStructure(record, &has_marks).ok());
    std::vector<TwoPhasePart> parts;
    EXPECT_TRUE(SplitTwoPhaseRecord(record, &parts).ok());
    return has_marks && parts.size() == 1 && parts[0].by_sub_batch;
  };
  EXPECT_TRUE(by_sub_batch(Batch(1, "0d 00016b 0d")));
  EXPECT_TRUE(by_sub_batch(Batch(1, "00016b 0d")));
  EXPECT_FALSE(by_sub_batch(Batch(1, "0d 00016b"))) << "WRITE_COMMITTED begins so";
  EXPECT_FALSE(by_sub_batch(Batch(0, "0d"))) << "nothing to number";
  EXPECT_FALSE(by_sub_batch(Batch(1, "00016b")));
}

TEST(TwoPhaseRecordsTest, WriteUnpreparedIsNotSupported) {
  EXPECT_EQ(Parts(Batch(1, "13 00016b 0a0178")), "not supported");
}

TEST(TwoPhaseRecordsTest, TransactionsOfWritePreparedAreNumberedBySubBatches) {
  std::vector<TwoPhasePart> parts;
  for (const bool written : {false, true}) {
    const std::string record = Batch(1, std::string(written ? "12" : "09") + " 00016b 0a0178");
    ASSERT_TRUE(SplitTwoPhaseRecord(record, &parts).ok());
    ASSERT_EQ(parts.size(), 1u);
    EXPECT_EQ(parts[0].kind, TwoPhasePart::Kind::kPrepare);
    EXPECT_EQ(parts[0].name, Slice("x"));
    EXPECT_EQ(parts[0].by_sub_batch, written);
  }
}

TEST(TwoPhaseRecordsTest, ACommitMayHaveATimestamp) {
  std::vector<TwoPhasePart> parts;
  const std::string record = Batch(1, "01016b0161 15 080700000000000000 0178");
  ASSERT_TRUE(SplitTwoPhaseRecord(record, &parts).ok());
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].kind, TwoPhasePart::Kind::kCommit);
  EXPECT_EQ(parts[1].name, Slice("x"));
  const std::string timestamp("\7\0\0\0\0\0\0\0", 8);
  EXPECT_EQ(parts[1].timestamp, Slice(timestamp));
  const WriteBatch written = MakeCommitRecord(WriteBatch(), "x", timestamp);
  ASSERT_TRUE(SplitTwoPhaseRecord(WriteBatchInternal::Contents(written), &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].name, Slice("x"));
  EXPECT_EQ(parts[0].timestamp, Slice(timestamp));
  EXPECT_TRUE(SplitTwoPhaseRecord(Batch(0, "15 0107 00"), &parts).IsCorruption())
      << "it has no name";
}

TEST(TwoPhaseRecordsTest, MarksThatCannotBeAreCorruption) {
  for (const char* hex : {"09 00016b", "00016b 0a0178", "09 09 00016b 0a0178", "09 00016b 0b0178",
                          "09 00016b 0c0178 0a0178", "09 00016b 0a0178 0a0178", "09 00016b 0a00",
                          "00016b 0b00", "00016b 0c00"}) {
    EXPECT_EQ(Parts(Batch(1, hex)), "corruption") << hex;
  }
}

}  // namespace
}  // namespace varve
