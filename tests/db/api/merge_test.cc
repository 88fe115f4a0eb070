// SPDX-License-Identifier: Apache-2.0

// Goal: writes of merge operands, and what reads make of them: the rules of merging one by one, in
// memtables, tables and both.

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "varve/merge_operator.h"
#include "varve/perf_context.h"
#include "varve/perf_level.h"
#include "varve/statistics.h"
#include "varve/table.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"

namespace varve::testing {

namespace {

// Joins base and operands with commas. "!" fails, "?" throws, and an operand that starts with "="
// is the answer itself if it is the newest one.
class Joiner final : public MergeOperator {
 public:
  const char* Name() const override { return "test.Joiner"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    seen.assign(in.operand_list.begin(), in.operand_list.end());
    out->new_value = in.existing_value == nullptr ? "" : "[" + in.existing_value->ToString() + "]";
    for (const Slice& operand : in.operand_list) {
      if (operand == Slice("!")) return false;
      if (operand == Slice("?")) throw std::runtime_error("thrown");
      if (!out->new_value.empty()) out->new_value += ",";
      out->new_value.append(operand.data(), operand.size());
    }
    if (in.operand_list.back().starts_with("=")) out->existing_operand = in.operand_list.back();
    return true;
  }
  bool ShouldMerge(const std::vector<Slice>& operands) const override {
    return enough != 0 && operands.size() >= enough;
  }

  size_t enough = 0;                // operands
  mutable std::vector<Slice> seen;  // by the last call
};

class MergeTest : public Database {
 protected:
  MergeTest() {
    options_.merge_operator = joiner_;
    options_.disable_auto_compactions = true;
    options_.statistics = CreateDBStatistics();
  }

  void Merge(const std::string& key, const std::string& value,
             const std::string& family = "default") {
    const Status s = db()->Merge(WriteOptions(), Handle(family), key, value);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), begin, end).ok());
  }
  // By MultiGet: the value, "NOT_FOUND", or the error's text.
  std::string GetMany(const std::string& key, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const Slice keys[] = {"0", key, "zzz"};
    PinnableSlice values[3];
    Status statuses[3];
    db()->MultiGet(options, Handle("default"), 3, keys, values, statuses);
    if (statuses[1].IsNotFound()) return "NOT_FOUND";
    return statuses[1].ok() ? values[1].ToString() : statuses[1].ToString();
  }
  // By an iterator that comes from before, and by one that comes from behind.
  std::string Walk(const std::string& key, bool forward, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db()->NewIterator(options, Handle("default")));
    if (forward) {
      for (it->SeekToFirst(); it->Valid() && it->key() != Slice(key);) it->Next();
    } else {
      for (it->SeekToLast(); it->Valid() && it->key() != Slice(key);) it->Prev();
    }
    if (it->Valid()) return it->value().ToString();
    return it->status().ok() ? "NOT_FOUND" : it->status().ToString();
  }
  // Every way to read the key.
  void ExpectValue(const std::string& expected, const std::string& key,
                   const Snapshot* snapshot = nullptr) {
    EXPECT_EQ(expected, Get(key, "default", snapshot));
    EXPECT_EQ(expected, GetMany(key, snapshot));
    EXPECT_EQ(expected, Walk(key, true, snapshot));
    EXPECT_EQ(expected, Walk(key, false, snapshot));
  }

  const std::shared_ptr<Joiner> joiner_ = std::make_shared<Joiner>();
};

TEST_F(MergeTest, OperandsComeOldestFirstOverMemTablesAndTables) {
  Open();
  Put("a", "plain");
  Put("z", "plain");
  Put("k", "base");
  Merge("k", "1");
  Merge("k", "2");
  ExpectValue("[base],1,2", "k");
  Flush();
  ExpectValue("[base],1,2", "k");
  Merge("k", "3");
  Flush();
  Merge("k", "4");
  ExpectValue("[base],1,2,3,4", "k");
  EXPECT_EQ("a=plain k=[base],1,2,3,4 z=plain", Scan());
  Reopen();
  ExpectValue("[base],1,2,3,4", "k");
}

TEST_F(MergeTest, AnEmptyBaseIsABaseAndNothingIsNone) {
  Open();
  Merge("none", "1");
  Put("empty", "");
  Merge("empty", "1");
  Put("deleted", "x");
  Delete("deleted");
  Merge("deleted", "1");
  Put("range", "x");
  Merge("range", "0");
  DeleteRange("range", "range0");
  Merge("range", "1");
  Put("single", "x");
  ASSERT_TRUE(db()->SingleDelete(WriteOptions(), "single").ok());
  Merge("single", "1");
  for (int round = 0; round < 3; round++) {
    ExpectValue("1", "none");
    ExpectValue("[],1", "empty");
    ExpectValue("1", "deleted");
    ExpectValue("1", "range");
    ExpectValue("1", "single");
    if (round == 0) Flush();
    if (round == 1) Reopen();
  }
}

TEST_F(MergeTest, DeletionsHideOperands) {
  Open();
  for (const char* key : {"a", "b", "c"}) {
    Put(key, "x");
    Merge(key, "1");
  }
  Flush();
  Delete("a");
  DeleteRange("b", "c");
  for (int round = 0; round < 2; round++) {
    ExpectValue("NOT_FOUND", "a");
    ExpectValue("NOT_FOUND", "b");
    ExpectValue("[x],1", "c");
    Flush();
  }
}

TEST_F(MergeTest, SnapshotsSeeWhatWasThere) {
  Open();
  std::vector<const Snapshot*> snapshots = {db()->GetSnapshot()};
  std::vector<std::string> expected = {"NOT_FOUND"};
  std::string value;
  for (int i = 0; i < 30; i++) {
    Put("j", std::to_string(i));
    Merge("k", std::to_string(i));
    Merge("l", std::to_string(i));
    value += (i == 0 ? "" : ",") + std::to_string(i);
    snapshots.push_back(db()->GetSnapshot());
    expected.push_back(value);
    if (i % 7 == 6) Flush();
  }
  for (size_t i = 0; i < snapshots.size(); i++) {
    ExpectValue(expected[i], "k", snapshots[i]);
    ExpectValue(expected[i], "l", snapshots[i]);
    db()->ReleaseSnapshot(snapshots[i]);
  }
}

TEST_F(MergeTest, LongListsAcrossBlocks) {
  BlockBasedTableOptions table;
  table.block_size = 256;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  for (const int n : {9, 40, 300}) {
    const std::string key = "k" + std::to_string(n);
    std::string expected;
    for (int i = 0; i < n; i++) {
      Merge(key, std::to_string(i));
      expected += (i == 0 ? "" : ",") + std::to_string(i);
    }
    ExpectValue(expected, key);
    Flush();
    ExpectValue(expected, key);
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    ExpectValue(expected, key);
  }
}

TEST_F(MergeTest, FamiliesHaveTheirOwnOperators) {
  ColumnFamilyOptions none = options_;
  none.merge_operator = nullptr;
  options_.create_missing_column_families = true;
  ASSERT_TRUE(TryOpenWith({{"default", options_}, {"other", none}}).ok());
  Merge("k", "1");
  const Status s = db()->Merge(WriteOptions(), Handle("other"), "k", "1");
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("merge_operator"));
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("p", "1").ok());
  ASSERT_TRUE(batch.Merge(Handle("other"), "k", "1").ok());
  EXPECT_TRUE(db()->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ("NOT_FOUND", Get("p"));
  EXPECT_EQ("1", Get("k"));
}

TEST_F(MergeTest, ALogWithMergesIsReplayedWithoutAnOperator) {
  Open();
  Put("a", "plain");
  Merge("k", "1");
  Put("z", "plain");
  Kill();
  options_.merge_operator = nullptr;
  Open();
  EXPECT_EQ("plain", Get("a"));
  EXPECT_EQ("plain", Get("z"));
  const std::string refused = Get("k");
  EXPECT_NE(std::string::npos, refused.find("merge_operator")) << refused;
  EXPECT_NE(std::string::npos, GetMany("k").find("merge_operator"));
  EXPECT_NE(std::string::npos, Walk("k", true).find("merge_operator"));
  EXPECT_NE(std::string::npos, Walk("k", false).find("merge_operator"));
  ASSERT_TRUE(Close().ok());
  options_.merge_operator = joiner_;
  Open();
  ExpectValue("1", "k");
}

TEST_F(MergeTest, AFailureConcernsItsKeyAlone) {
  Open();
  Put("a", "1");
  Merge("fails", "!");
  Merge("throws", "?");
  Merge("well", "2");
  for (int round = 0; round < 2; round++) {
    for (const char* key : {"fails", "throws"}) {
      PinnableSlice value;
      const Status s = db()->Get(ReadOptions(), Handle("default"), key, &value);
      EXPECT_TRUE(s.IsCorruption());
      EXPECT_EQ(Status::kMergeOperatorFailed, s.subcode()) << s.ToString();
      EXPECT_NE(std::string::npos, GetMany(key).find("Corruption"));
      EXPECT_NE(std::string::npos, Walk(key, true).find("Corruption"));
      EXPECT_NE(std::string::npos, Walk(key, false).find("Corruption"));
    }
    EXPECT_EQ("1", Get("a"));
    EXPECT_EQ("2", Get("well"));
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), Handle("default")));
    it->Seek("fails");
    EXPECT_FALSE(it->Valid());
    it->Seek("well");
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ("2", it->value().ToString());
    Flush();
  }
  EXPECT_GE(options_.statistics->getTickerCount(NUMBER_MERGE_FAILURES), 12u);
}

TEST_F(MergeTest, ShouldMergeEndsTheSearchOfPointReads) {
  Open();
  Put("k", "base");
  for (int i = 0; i < 5; i++) Merge("k", std::to_string(i));
  joiner_->enough = 2;
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ("3,4", Get("k"));
    EXPECT_EQ("3,4", GetMany("k"));
    EXPECT_EQ("[base],0,1,2,3,4", Walk("k", true));
    EXPECT_EQ("[base],0,1,2,3,4", Walk("k", false));
    Flush();
  }
}

TEST_F(MergeTest, ManyOperandsMarkTheStatus) {
  Open();
  Put("k", "base");
  for (int i = 0; i < 3; i++) Merge("k", std::to_string(i));
  for (const size_t threshold : {2, 3}) {
    ReadOptions options;
    options.merge_operand_count_threshold = threshold;
    PinnableSlice value;
    Status s = db()->Get(options, Handle("default"), "k", &value);
    EXPECT_TRUE(s.ok());
    EXPECT_EQ(threshold == 2, s.IsOkMergeOperandThresholdExceeded());
    EXPECT_EQ("[base],0,1,2", value.ToString());
    value.Reset();
    const Slice key("k");
    db()->MultiGet(options, Handle("default"), 1, &key, &value, &s);
    EXPECT_TRUE(s.ok());
    EXPECT_EQ(threshold == 2, s.IsOkMergeOperandThresholdExceeded());
  }
}

TEST_F(MergeTest, WhatIsNotInMemoryIsNotGuessed) {
  Open();
  Put("k", "base");
  Flush();
  Reopen();
  Merge("k", "1");
  ReadOptions options;
  options.read_tier = kBlockCacheTier;
  options.fill_cache = false;
  PinnableSlice value;
  EXPECT_TRUE(db()->Get(options, Handle("default"), "k", &value).IsIncomplete());
  std::string text;
  bool found = true;
  EXPECT_TRUE(db()->KeyMayExist(options, Handle("default"), "k", &text, &found));
  EXPECT_FALSE(found);
  ExpectValue("[base],1", "k");
  EXPECT_TRUE(db()->KeyMayExist(options, Handle("default"), "k", &text, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ("[base],1", text);
}

TEST_F(MergeTest, OperandsAreCounted) {
  Open();
  for (int i = 0; i < 3; i++) Merge("k", std::to_string(i));
  SetPerfLevel(kEnableTime);
  PerfContext* const perf = get_perf_context();
  perf->Reset();
  EXPECT_EQ("0,1,2", Get("k"));
  EXPECT_EQ(3u, perf->internal_merge_point_lookup_count);
  EXPECT_EQ(0u, perf->internal_merge_count);
  EXPECT_GT(perf->merge_operator_time_nanos, 0u);
  EXPECT_EQ("0,1,2", Walk("k", true));
  EXPECT_EQ(3u, perf->internal_merge_count);
  SetPerfLevel(kDisable);
  HistogramData data;
  options_.statistics->histogramData(READ_NUM_MERGE_OPERANDS, &data);
  EXPECT_EQ(2u, data.count);
  EXPECT_EQ(6u, data.sum);
}

TEST_F(MergeTest, IteratorsTurnAndStopAnywhere) {
  Open();
  for (const char* key : {"a", "b", "c", "d"}) {
    for (int i = 0; i < 3; i++) Merge(key, key + std::to_string(i));
  }
  for (int round = 0; round < 2; round++) {
    const Slice lower("b");
    const Slice upper("d");
    for (const bool pin : {false, true}) {
      ReadOptions options;
      options.iterate_lower_bound = &lower;
      options.iterate_upper_bound = &upper;
      options.pin_data = pin;
      const std::unique_ptr<Iterator> it(db()->NewIterator(options, Handle("default")));
      it->SeekToFirst();
      const auto stands = [&](const std::string& key) {
        return it->Valid() && it->key() == Slice(key) &&
               it->value() == Slice(key + "0," + key + "1," + key + "2");
      };
      EXPECT_TRUE(stands("b"));
      it->Next();
      EXPECT_TRUE(stands("c"));
      it->Prev();
      EXPECT_TRUE(stands("b"));
      it->Next();
      EXPECT_TRUE(stands("c"));
      it->Next();
      EXPECT_FALSE(it->Valid());
      it->SeekToLast();
      EXPECT_TRUE(stands("c"));
      it->Prev();
      EXPECT_TRUE(stands("b"));
      it->Next();
      EXPECT_TRUE(stands("c"));
      it->SeekForPrev("bb");
      EXPECT_TRUE(stands("b"));
      it->Prev();
      EXPECT_FALSE(it->Valid());
      EXPECT_TRUE(it->status().ok());
    }
    Flush();
  }
}

}  // namespace

}  // namespace varve::testing
