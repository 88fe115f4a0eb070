// SPDX-License-Identifier: Apache-2.0

// Goal: merge operands are written and read by the rules of merging, one by one, in memtables,
// tables and both.

#include <algorithm>
#include <atomic>
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
#include "varve/utilities/merge_operators.h"
#include "varve/write_batch.h"

#include "tests/harness/database.h"
#include "util/sync/epoch.h"

namespace varve::testing {

namespace {

// Joins base and operands with commas; brackets mark values that were put. "!" fails, "?" throws,
// and an operand that starts with "=" is the answer itself if it is the newest one.
class Joiner final : public MergeOperator {
 public:
  const char* Name() const override { return "test.Joiner"; }

  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    calls++;
    EXPECT_FALSE(Epoch::Inside());
    seen.assign(in.operand_list.begin(), in.operand_list.end());
    if (in.existing_value != nullptr) {
      const std::string base = in.existing_value->ToString();
      out->new_value = base.starts_with("[") ? base : "[" + base + "]";
    }
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
    EXPECT_FALSE(Epoch::Inside());
    return enough != 0 && operands.size() >= enough;
  }

  mutable uint64_t calls = 0;
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
  ReadOptions Reading(const Snapshot* snapshot) const {
    ReadOptions options;
    options.snapshot = snapshot;
    options.ignore_range_deletions = ignore_range_deletions_;
    return options;
  }
  std::string GetOne(const std::string& key, const Snapshot* snapshot) {
    std::string value;
    const Status s = db()->Get(Reading(snapshot), Handle("default"), key, &value);
    if (s.IsNotFound()) return "NOT_FOUND";
    return s.ok() ? value : s.ToString();
  }
  // Returns MultiGet's answer: the value, "NOT_FOUND", or the error's text.
  std::string GetMany(const std::string& key, const Snapshot* snapshot = nullptr) {
    const ReadOptions options = Reading(snapshot);
    const Slice keys[] = {"0", key, "zzz"};
    PinnableSlice values[3];
    Status statuses[3];
    db()->MultiGet(options, Handle("default"), 3, keys, values, statuses);
    if (statuses[1].IsNotFound()) return "NOT_FOUND";
    return statuses[1].ok() ? values[1].ToString() : statuses[1].ToString();
  }
  // Returns the answer of an iterator that comes from before the key, or from after it.
  std::string Walk(const std::string& key, bool forward, const Snapshot* snapshot = nullptr) {
    const ReadOptions options = Reading(snapshot);
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
    EXPECT_EQ(expected, GetOne(key, snapshot));
    EXPECT_EQ(expected, GetMany(key, snapshot));
    EXPECT_EQ(expected, Walk(key, true, snapshot));
    EXPECT_EQ(expected, Walk(key, false, snapshot));
  }

  const std::shared_ptr<Joiner> joiner_ = std::make_shared<Joiner>();
  bool ignore_range_deletions_ = false;
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

// The value, the tombstone and later entries are each in a source of their own, or with the one
// before.
TEST_F(MergeTest, IgnoredRangeDeletionsAreReadOverFromEverySource) {
  for (int flushes = 0; flushes < 8; flushes++) {
    SCOPED_TRACE(flushes);
    Open();
    Put("a", "v");
    Merge("k", "1");
    Merge("k", "2");
    const Snapshot* const before = db()->GetSnapshot();  // so that flushes drop nothing
    if ((flushes & 1) != 0) Flush();
    DeleteRange("a", "z");
    const Snapshot* const after = db()->GetSnapshot();  // nor merge across the tombstone
    if ((flushes & 2) != 0) Flush();
    Merge("k", "3");
    if ((flushes & 4) != 0) Flush();
    ExpectValue("NOT_FOUND", "a");
    ExpectValue("3", "k");
    ignore_range_deletions_ = true;
    ExpectValue("v", "a");
    ExpectValue("1,2,3", "k");
    ExpectValue("1,2", "k", before);
    const ReadOptions ignore = Reading(nullptr);
    EXPECT_TRUE(db()->KeyMayExist(ignore, "a", nullptr));
    PinnableSlice operands[3];
    GetMergeOperandsOptions most;
    most.expected_max_number_of_operands = 3;
    int count = 0;
    EXPECT_TRUE(
        db()->GetMergeOperands(ignore, Handle("default"), "k", operands, &most, &count).ok());
    EXPECT_EQ(count, 3);
    ignore_range_deletions_ = false;
    EXPECT_FALSE(db()->KeyMayExist(ReadOptions(), "a", nullptr));
    db()->ReleaseSnapshot(before);
    db()->ReleaseSnapshot(after);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
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
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("merge_operator"));
  WriteBatch batch;
  ASSERT_TRUE(batch.Put("p", "1").ok());
  ASSERT_TRUE(batch.Merge(Handle("default"), "k", "2").ok());
  ASSERT_TRUE(batch.Merge(Handle("other"), "k", "1").ok());
  EXPECT_TRUE(db()->Write(WriteOptions(), &batch).IsInvalidArgument());
  WriteBatch alone;
  ASSERT_TRUE(alone.Merge(Handle("other"), "k", "1").ok());
  EXPECT_TRUE(db()->Write(WriteOptions(), &alone).IsInvalidArgument());
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
  Flush();  // a flush that saw the base would merge
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

// Returns the operands by GetMergeOperands, "a|b", or the error's text.
std::string Operands(DB* db, const std::string& key, int most = 100,
                     GetMergeOperandsOptions::ContinueCallback callback = nullptr) {
  std::vector<PinnableSlice> slices(static_cast<size_t>(most));
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = most;
  options.continue_cb = std::move(callback);
  int n = -1;
  const Status s = db->GetMergeOperands(ReadOptions(), db->DefaultColumnFamily(), key,
                                        slices.data(), &options, &n);
  if (!s.ok()) return s.ToString() + " " + std::to_string(n);
  std::string joined;
  for (int i = 0; i < n; i++) {
    joined += (i == 0 ? "" : "|") + slices[static_cast<size_t>(i)].ToString();
  }
  return joined;
}

TEST_F(MergeTest, OperandsAreHandedOutOldestFirst) {
  Open();
  Put("plain", "p");
  Put("deleted", "x");
  Delete("deleted");
  Put("k", "base");
  Flush();  // a flush that saw the base would merge
  Merge("k", "1");
  Merge("k", "2");
  Put("below", "x");
  Delete("below");
  Merge("below", "1");
  Put("range", "x");
  Merge("range", "1");
  DeleteRange("range", "range0");
  Merge("range", "2");
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ("p", Operands(db(), "plain"));
    EXPECT_EQ("base|1|2", Operands(db(), "k"));
    EXPECT_EQ("1", Operands(db(), "below"));
    EXPECT_EQ("2", Operands(db(), "range"));
    EXPECT_EQ("NotFound:  -1", Operands(db(), "deleted"));
    EXPECT_EQ("NotFound:  -1", Operands(db(), "never"));
    Flush();
  }
  Merge("k", "3");
  EXPECT_EQ("base|1|2|3", Operands(db(), "k"));
}

TEST_F(MergeTest, TooManyOperandsAreCountedOnly) {
  Open();
  Put("k", "base");
  Merge("k", "1");
  Merge("k", "2");
  std::vector<PinnableSlice> slices(3);
  for (PinnableSlice& slice : slices) slice.PinSelf("old");
  GetMergeOperandsOptions options;
  int n = -1;
  const auto get = [&](int most) {
    options.expected_max_number_of_operands = most;
    return db()->GetMergeOperands(ReadOptions(), Handle("default"), "k", slices.data(), &options,
                                  &n);
  };
  EXPECT_TRUE(get(0).IsInvalidArgument());
  EXPECT_TRUE(get(-1).IsInvalidArgument());
  EXPECT_EQ("old", slices[0].ToString());
  const Status s = get(2);
  EXPECT_TRUE(s.IsIncomplete());
  EXPECT_EQ(Status::KMergeOperandsInsufficientCapacity, s.subcode());
  EXPECT_EQ(3, n);
  EXPECT_TRUE(slices[0].empty() && slices[1].empty());
  EXPECT_EQ("old", slices[2].ToString());
  EXPECT_TRUE(get(3).ok());
  EXPECT_EQ("2", slices[2].ToString());
  EXPECT_TRUE(db()->GetMergeOperands(ReadOptions(), Handle("default"), "k", nullptr, &options, &n)
                  .IsInvalidArgument());
}

TEST_F(MergeTest, TheCallbackEndsTheListInclusively) {
  Open();
  Put("k", "base");
  Flush();  // a flush that saw the base would merge
  for (int i = 0; i < 5; i++) Merge("k", std::to_string(i));
  for (int round = 0; round < 2; round++) {
    std::string asked;
    const auto until = [&asked](const std::string& last) {
      return [&asked, last](const Slice& operand) {
        EXPECT_FALSE(Epoch::Inside());
        asked += operand.ToString();
        return operand != Slice(last);
      };
    };
    EXPECT_EQ("3|4", Operands(db(), "k", 100, until("3")));
    EXPECT_EQ("43", asked);
    asked.clear();
    EXPECT_EQ("base|0|1|2|3|4", Operands(db(), "k", 100, until("none")));
    EXPECT_EQ("43210", asked);
    asked.clear();
    EXPECT_EQ("0|1|2|3|4", Operands(db(), "k", 100, until("0")));
    Flush();
  }
}

TEST_F(MergeTest, ACallbackThatThrowsEndsTheCall) {
  Open();
  for (int i = 0; i < 3; i++) Merge("k", std::to_string(i));
  const auto throws_at = [](const std::string& last) {
    return [last](const Slice& operand) -> bool {
      if (operand == Slice(last)) throw std::runtime_error("thrown");
      return true;
    };
  };
  const std::string aborted = "Operation aborted: GetMergeOperands: continue_cb threw -1";
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(aborted, Operands(db(), "k", 100, throws_at("2")));
    EXPECT_EQ(aborted, Operands(db(), "k", 100, throws_at("0")));
    EXPECT_EQ("0|1|2", Operands(db(), "k", 100, throws_at("none")));
    Flush();
  }
}

TEST_F(MergeTest, RawOperandsNeedNoOperatorAndCannotFail) {
  Open();
  Merge("k", "1");
  Merge("k", "!");
  joiner_->enough = 1;
  EXPECT_EQ("1|!", Operands(db(), "k"));
  ASSERT_TRUE(Close().ok());
  options_.merge_operator = nullptr;
  Open();
  EXPECT_EQ("1|!", Operands(db(), "k"));
}

// Sizes are on both sides of every threshold, operands in memtables, tables and both; all are reset
// in several orders after their sources are gone.
TEST_F(MergeTest, OperandsOutliveWhatTheyLieIn) {
  for (const size_t size : {3, 15, 16, 200, 256, 257, 1000, 5000}) {
    for (int order = 0; order < 3; order++) {
      ASSERT_TRUE(Close().ok());
      options_.create_if_missing = true;
      Open();
      ColumnFamilyHandle* dropped = nullptr;
      ASSERT_TRUE(db()->CreateColumnFamily(options_,
                                           "d" + std::to_string(size) + "-" + std::to_string(order),
                                           &dropped)
                      .ok());
      std::vector<std::string> expected;
      for (int i = 0; i < 150; i++) {
        expected.push_back(std::to_string(i) + std::string(size, 'x'));
        expected.back().resize(size);
        ASSERT_TRUE(db()->Merge(WriteOptions(), dropped, "k", expected.back()).ok());
        if (i == 60) {
          ASSERT_TRUE(db()->Flush(FlushOptions(), dropped).ok());
        }
      }
      std::vector<PinnableSlice> slices(150);
      GetMergeOperandsOptions options;
      options.expected_max_number_of_operands = 150;
      int n = 0;
      ASSERT_TRUE(
          db()->GetMergeOperands(ReadOptions(), dropped, "k", slices.data(), &options, &n).ok());
      ASSERT_EQ(150, n);
      ASSERT_TRUE(db()->Flush(FlushOptions(), dropped).ok());
      ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), dropped, nullptr, nullptr).ok());
      ASSERT_TRUE(db()->DropColumnFamily(dropped).ok());
      ASSERT_TRUE(db()->DestroyColumnFamilyHandle(dropped).ok());
      for (size_t i = 0; i < 150; i++) {
        const size_t at = order == 0 ? i : order == 1 ? 149 - i : (i * 67) % 150;
        EXPECT_EQ(expected[at], slices[at].ToString());
        slices[at].Reset();
      }
    }
  }
}

TEST_F(MergeTest, ResultsOutliveWhatTheyLieIn) {
  options_.create_missing_column_families = true;
  Open({"default", "d"});
  for (const size_t size : {100, 300, 10000}) {
    for (const char* key : {"a", "b"}) {
      const std::string large = "=" + std::string(size, *key);
      Merge(key, "1", "d");
      Merge(key, large, "d");
    }
    std::vector<PinnableSlice> values(4);
    ASSERT_TRUE(db()->Get(ReadOptions(), Handle("d"), "a", &values[0]).ok());
    const Slice keys[] = {"b"};
    Status status;
    db()->MultiGet(ReadOptions(), Handle("d"), 1, keys, &values[1], &status);
    ASSERT_TRUE(status.ok());
    Flush("d");
    ASSERT_TRUE(db()->Get(ReadOptions(), Handle("d"), "a", &values[2]).ok());
    db()->MultiGet(ReadOptions(), Handle("d"), 1, keys, &values[3], &status);
    ASSERT_TRUE(status.ok());
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), Handle("d"), nullptr, nullptr).ok());
    if (size == 10000) {
      ASSERT_TRUE(db()->DropColumnFamily(Handle("d")).ok());
    }
    for (size_t i = 0; i < 4; i++) {
      EXPECT_EQ("=" + std::string(size, i % 2 == 0 ? 'a' : 'b'), values[i].ToString());
    }
  }
}

// Two reads that are held at once and show the same address have copied nothing.
TEST_F(MergeTest, LargeResultsAndOperandsAreNotCopied) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(64 << 20);
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  Put("a", "plain");
  for (int i = 0; i < 3; i++) {
    for (const char* key : {"k", "l"}) Merge(key, "=" + std::string(10 << 10, 'x'));
  }
  for (int round = 0; round < 2; round++) {
    EXPECT_NE("", Get("k") + Get("l"));  // the blocks are cached from now on
    PinnableSlice first;
    PinnableSlice second;
    ASSERT_TRUE(db()->Get(ReadOptions(), Handle("default"), "k", &first).ok());
    const std::vector<Slice> seen = joiner_->seen;
    const Slice keys[] = {"k"};
    Status status;
    db()->MultiGet(ReadOptions(), Handle("default"), 1, keys, &second, &status);
    ASSERT_TRUE(status.ok());
    EXPECT_TRUE(first.IsPinned() && second.IsPinned());
    EXPECT_EQ(first.data(), second.data());
    EXPECT_EQ((10u << 10) + 1, first.size());
    for (const bool forward : {true, false}) {
      const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions(), Handle("default")));
      if (forward) {
        for (it->SeekToFirst(); it->key() != "k";) it->Next();
      } else {
        for (it->SeekToLast(); it->key() != "k";) it->Prev();
      }
      EXPECT_EQ(first.data(), it->value().data());
      ASSERT_EQ(seen.size(), joiner_->seen.size());
      for (size_t i = 0; i < seen.size(); i++) EXPECT_EQ(seen[i].data(), joiner_->seen[i].data());
    }
    PinnableSlice operands[3];
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = 3;
    int n = 0;
    ASSERT_TRUE(
        db()->GetMergeOperands(ReadOptions(), Handle("default"), "k", operands, &options, &n).ok());
    // The operands are too small to hold a memtable for them.
    if (round == 1) {
      EXPECT_EQ(first.data(), operands[2].data());
    }
    Flush();
  }
}

// Bytes of operands and results that two walks, held at once, do not share.
TEST_F(MergeTest, WalksOverLargeOperandsCopyNoByte) {
  BlockBasedTableOptions table;
  table.block_cache = NewLRUCache(64 << 20);
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  constexpr int kKeys = 40;
  for (int operand = 0; operand < 3; operand++) {
    for (int key = 0; key < kKeys; key++) {
      if (key % 3 < operand) continue;
      Merge("k" + std::to_string(100 + key), "=" + std::string(10 << 10, 'x'));
    }
  }
  for (const bool in_tables : {false, true}) {
    if (in_tables) Flush();
    EXPECT_NE("", Walk("none", true));  // the blocks are cached from now on
    for (const bool forward : {true, false}) {
      const std::unique_ptr<Iterator> a(db()->NewIterator(ReadOptions(), Handle("default")));
      const std::unique_ptr<Iterator> b(db()->NewIterator(ReadOptions(), Handle("default")));
      forward ? a->SeekToFirst() : a->SeekToLast();
      std::vector<Slice> seen_by_a = joiner_->seen;
      forward ? b->SeekToFirst() : b->SeekToLast();
      int keys = 0;
      size_t read = 0;
      size_t copied = 0;
      while (a->Valid() && b->Valid()) {
        keys++;
        read += a->value().size();
        if (a->value().data() != b->value().data()) copied += a->value().size();
        ASSERT_EQ(seen_by_a.size(), joiner_->seen.size());
        for (size_t i = 0; i < seen_by_a.size(); i++) {
          if (seen_by_a[i].data() != joiner_->seen[i].data()) copied += seen_by_a[i].size();
        }
        forward ? a->Next() : a->Prev();
        seen_by_a = joiner_->seen;
        forward ? b->Next() : b->Prev();
      }
      EXPECT_EQ(kKeys, keys);
      EXPECT_EQ(keys * ((10u << 10) + 1), read);
      EXPECT_EQ(0u, copied) << "bytes of " << read << (in_tables ? ", tables" : ", memtable");
    }
  }
}

TEST_F(MergeTest, SuccessiveMergesAreFoldedWhenWritten) {
  options_.max_successive_merges = 2;
  Open();
  const uint64_t operands_before = joiner_->calls;
  Merge("k", "1");
  Merge("k", "2");
  EXPECT_EQ("1|2", Operands(db(), "k"));
  EXPECT_EQ(operands_before, joiner_->calls);
  Merge("k", "3");
  EXPECT_EQ("[1,2],3", Operands(db(), "k"));
  Merge("k", "4");
  EXPECT_EQ("[1,2],3|4", Operands(db(), "k"));
  WriteBatch batch;
  for (const char* operand : {"a", "b", "c"}) ASSERT_TRUE(batch.Merge("batch", operand).ok());
  ASSERT_TRUE(batch.Put("other", "x").ok());
  ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ("[a,b],c", Operands(db(), "batch"));
  EXPECT_EQ("x", Get("other"));
  Reopen();
}

TEST_F(MergeTest, FoldingReadsFilesOnlyIfItMay) {
  for (const bool strict : {false, true}) {
    options_.max_successive_merges = 1;
    options_.strict_max_successive_merges = strict;
    options_.avoid_flush_during_shutdown = true;
    Open();
    Put("k", "base");
    Flush();
    Reopen();
    Merge("k", "1");
    Merge("k", "2");
    EXPECT_EQ(strict ? "[base],1,2" : "base|1|2", Operands(db(), "k"));
    ASSERT_TRUE(Close().ok());
  }
}

TEST_F(MergeTest, WhatCannotBeFoldedStaysAnOperand) {
  options_.max_successive_merges = 1;
  Open();
  Merge("k", "!");
  Merge("k", "1");
  EXPECT_EQ("!|1", Operands(db(), "k"));
  ASSERT_TRUE(Close().ok());
  options_.unordered_write = true;
  options_.allow_concurrent_memtable_write = true;
  const Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(std::string::npos, s.ToString().find("max_successive_merges")) << s.ToString();
}

// Writers look families up while others come and go.
TEST_F(MergeTest, FoldingGoesOnWhileFamiliesComeAndGo) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator();  // for several threads
  options_.max_successive_merges = 2;
  Open();
  constexpr int kFamilies = 40;
  constexpr int kWrites = 5;
  const auto merged = [this](ColumnFamilyHandle* family) {
    std::string value;
    EXPECT_TRUE(db()->Get(ReadOptions(), family, "k", &value).ok());
    return std::count(value.begin(), value.end(), 'x');
  };
  const auto write = [&](const std::string& name) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_TRUE(db()->CreateColumnFamily(options_, name, &family).ok());
    for (int i = 0; i < kWrites; i++) {
      WriteBatch batch;
      ASSERT_TRUE(batch.Merge(family, "k", "x").ok());
      ASSERT_TRUE(batch.Merge(Handle("default"), "k", "x").ok());
      ASSERT_TRUE(db()->Write(WriteOptions(), &batch).ok());
    }
    EXPECT_EQ(kWrites, merged(family));
    ASSERT_TRUE(db()->DropColumnFamily(family).ok());
    ASSERT_TRUE(db()->DestroyColumnFamilyHandle(family).ok());
  };
  std::thread other([&] {
    for (int i = 0; i < kFamilies; i++) write("b" + std::to_string(i));
  });
  for (int i = 0; i < kFamilies; i++) write("a" + std::to_string(i));
  other.join();
  EXPECT_EQ(2 * kFamilies * kWrites, merged(Handle("default")));
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

// Every way that a key's entries may be spread over runs of the sources; values that the walk must
// not look at are far away.
TEST_F(MergeTest, WalksGoOnBehindOperandsOfTwoRuns) {
  BlockBasedTableOptions table;
  table.block_size = 64;
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  std::string expected;
  int first = 1000;
  for (const uint64_t skip : {uint64_t{0}, uint64_t{8}, UINT64_MAX / 2}) {
    ASSERT_TRUE(Close().ok());
    options_.max_sequential_skip_in_iterations = skip;
    Open();
    for (int i = 0; i < 300; i++) {
      const std::string key = "k" + std::to_string(first++);
      Put(key, "b");
      if (i % 3 == 0) Flush();
      for (int n = 0; n < i % 5; n++) Merge(key, std::to_string(n));
      expected += (expected.empty() ? "" : " ") + key + "=" + Get(key);
    }
    EXPECT_EQ(expected, Scan());
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_EQ(expected, Scan());
  }
}

TEST_F(MergeTest, AWalkBackEndsBeforeATableOfTombstonesAlone) {
  Open();
  Merge("a", "x");
  Flush();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  DeleteRange("m", "n");
  Flush();
  ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
  EXPECT_EQ("x", Walk("a", false));
  EXPECT_EQ("x", Walk("a", true));
}

// SingleDelete is not meant for operands, but no compaction may fail on it.
TEST_F(MergeTest, ASingleDeletionOfAnOperandDoesNotStopCompactions) {
  Open();
  Merge("k", "1");
  Flush();
  ASSERT_TRUE(db()->SingleDelete(WriteOptions(), "k").ok());
  Merge("k", "2");
  Flush();
  const Status s = db()->CompactRange(CompactRangeOptions(), nullptr, nullptr);
  EXPECT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ("2", Get("k"));
  Put("k", "3");
  EXPECT_EQ("3", Get("k"));
}

}  // namespace

}  // namespace varve::testing
