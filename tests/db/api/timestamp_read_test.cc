// SPDX-License-Identifier: Apache-2.0

// Goal: reads with timestamps keep their promises at the edges, which random operations seldom
// meet.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/listener.h"
#include "varve/snapshot.h"
#include "varve/table.h"

#include "tests/harness/database.h"
#include "tests/harness/random.h"
#include "tests/model/timestamp_reference.h"

namespace varve::testing {

namespace {

using ::testing::HasSubstr;

std::string At(uint64_t timestamp) {
  std::string bytes;
  EncodeU64Ts(timestamp, &bytes);
  return bytes;
}

class TimestampReadTest : public Database {
 protected:
  TimestampReadTest() { options_.comparator = BytewiseComparatorWithU64Ts(); }

  void PutAt(const std::string& key, uint64_t timestamp, const std::string& value) {
    ASSERT_TRUE(db()->Put(WriteOptions(), key, At(timestamp), value).ok());
  }
  void DeleteRangeAt(const std::string& begin, const std::string& end, uint64_t timestamp) {
    const Status s =
        db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), begin, end, At(timestamp));
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Returns the value and its timestamp, "NOT_FOUND" and that of the deletion, or the error.
  std::string GetAt(const std::string& key, uint64_t timestamp) {
    const std::string stamp = At(timestamp);
    const Slice as_of(stamp);
    ReadOptions options;
    options.timestamp = &as_of;
    std::string value;
    std::string found;
    const Status s = db()->Get(options, db()->DefaultColumnFamily(), key, &value, &found);
    if (!s.ok() && !s.IsNotFound()) return s.ToString();
    uint64_t number = 0;
    const bool has = DecodeU64Ts(found, &number).ok();
    return (s.ok() ? value : "NOT_FOUND") + (has ? "@" + std::to_string(number) : "");
  }
  Status Raise(uint64_t mark) {
    return db()->IncreaseFullHistoryTsLow(db()->DefaultColumnFamily(), At(mark));
  }
  void CompactAll() {
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  }
};

// Once it turns, it has one key somewhere else, as in a damaged table.
class OrderThatTurns final : public Comparator {
 public:
  OrderThatTurns() : Comparator(sizeof(uint64_t)) {}
  const char* Name() const override { return "test.OrderThatTurns"; }
  int Compare(const Slice& a, const Slice& b) const override {
    const int order = CompareWithoutTimestamp(a, true, b, true);
    return order != 0 ? order : -CompareTimestamp(TimestampOf(a), TimestampOf(b));
  }
  using Comparator::CompareWithoutTimestamp;
  int CompareWithoutTimestamp(const Slice& a, bool a_has, const Slice& b,
                              bool b_has) const override {
    return Bare(a, a_has).compare(Bare(b, b_has));
  }
  int CompareTimestamp(const Slice& a, const Slice& b) const override {
    return BytewiseComparatorWithU64Ts()->CompareTimestamp(a, b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  Slice GetMaxTimestamp() const override { return MaxU64Ts(); }
  Slice GetMinTimestamp() const override { return MinU64Ts(); }
  std::string moved;  // this key; empty: none

 private:
  static Slice TimestampOf(const Slice& key) {
    return {key.data() + key.size() - sizeof(uint64_t), sizeof(uint64_t)};
  }
  Slice Bare(const Slice& key, bool has) const {
    const Slice bare(key.data(), key.size() - (has ? sizeof(uint64_t) : 0));
    return !moved.empty() && bare == Slice(moved) ? Slice("m5") : bare;
  }
};

// The key lies under a tombstone, and what the jump over that finds leads to it again.
TEST_F(TimestampReadTest, AWalkOverHistoryEndsWhereKeysAreOutOfOrder) {
  OrderThatTurns order;
  options_.comparator = &order;
  options_.disable_auto_compactions = true;
  for (const bool ahead : {true, false}) {
    const std::string moved = ahead ? "p5" : "k5";
    for (const int restarts : {1, 16}) {
      BlockBasedTableOptions table;
      table.block_restart_interval = restarts;
      options_.table_factory.reset(NewBlockBasedTableFactory(table));
      order.moved.clear();
      Open();
      for (char c = 'a'; c < 'z'; c++) {
        if (c != 'm') PutAt(std::string(1, c), 1, "v");
      }
      PutAt(moved, 1, "v");
      Flush();
      DeleteRangeAt("m", "n", 5);
      order.moved = moved;
      const std::string until = At(10);
      const std::string since = At(0);
      const Slice as_of(until);
      const Slice from(since);
      ReadOptions options;
      options.timestamp = &as_of;
      options.iter_start_ts = &from;
      const std::unique_ptr<Iterator> it(db()->NewIterator(options));
      ahead ? it->SeekToFirst() : it->SeekToLast();
      int steps = 0;
      for (; it->Valid() && steps < 200; steps++) ahead ? it->Next() : it->Prev();
      EXPECT_LT(steps, 200) << ahead << restarts;
      ASSERT_TRUE(Close().ok());
      ASSERT_TRUE(DestroyDB(kName, options_).ok());
    }
  }
}

TEST_F(TimestampReadTest, AnIteratorDoesNotFollowWhereItsHistoryIsGone) {
  Open();
  PutAt("k", 10, "old");
  PutAt("k", 50, "new");
  const std::string stamp = At(30);
  const Slice as_of(stamp);
  ReadOptions options;
  options.timestamp = &as_of;
  std::unique_ptr<Iterator> it(db()->NewIterator(options));
  options.tailing = true;
  std::unique_ptr<Iterator> tailing(db()->NewIterator(options));
  options.tailing = false;
  options.snapshot = db()->GetSnapshot();
  options.auto_refresh_iterator_with_snapshot = true;
  std::unique_ptr<Iterator> following(db()->NewIterator(options));
  ASSERT_TRUE(Raise(60).ok());
  CompactAll();
  EXPECT_TRUE(it->Refresh().IsInvalidArgument());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), Slice("old"));
  tailing->SeekToFirst();
  EXPECT_FALSE(tailing->Valid());
  EXPECT_TRUE(tailing->status().IsInvalidArgument()) << tailing->status().ToString();
  following->SeekToFirst();
  ASSERT_TRUE(following->Valid());
  EXPECT_EQ(following->value(), Slice("old"));
  db()->ReleaseSnapshot(options.snapshot);
}

TEST_F(TimestampReadTest, AFlushWithoutTimestampsRaisesTheMarkAboveEveryTombstone) {
  options_.disable_auto_compactions = true;
  options_.persist_user_defined_timestamps = false;
  options_.allow_concurrent_memtable_write = false;
  Open();
  PutAt("a", 10, "v");
  DeleteRangeAt("a", "b", 100);
  DeleteRangeAt("x", "y", 50);
  Flush();
  EXPECT_THAT(GetAt("a", 60), HasSubstr("below full_history_ts_low, 0x6500000000000000"));
  EXPECT_EQ(GetAt("a", 101), "NOT_FOUND@0");
}

TEST_F(TimestampReadTest, BoundsOfTablesWithoutTimestampsAreTheirKeysAtTheOldestTime) {
  options_.persist_user_defined_timestamps = false;
  options_.allow_concurrent_memtable_write = false;
  Open();
  PutAt("a", 10, "v");
  PutAt("b", 20, "v");
  Flush();
  // The first round reads the state as written, the second as the MANIFEST restored it.
  for (int i = 0; i < 2; i++) {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].smallestkey, "a" + At(0));
    EXPECT_EQ(files[0].largestkey, "b" + At(0));
    Reopen();
  }
}

TEST_F(TimestampReadTest, TrimmedTombstonesDeleteNothing) {
  Open();
  PutAt("k", 30, "v");
  DeleteRangeAt("a", "z", 70);
  Flush();
  ASSERT_TRUE(Raise(100).ok());
  ASSERT_TRUE(Close().ok());
  std::vector<ColumnFamilyHandle*> handles;
  DB* opened = nullptr;
  const Status s =
      DB::OpenAndTrimHistory(options_, kName, {{"default", options_}}, &handles, &opened, At(50));
  ASSERT_TRUE(s.ok()) << s.ToString();
  const std::unique_ptr<DB> db(opened);
  const std::string stamp = At(100);
  const Slice as_of(stamp);
  ReadOptions options;
  options.timestamp = &as_of;
  std::string value;
  EXPECT_TRUE(db->Get(options, "k", &value).ok());
  EXPECT_EQ(value, "v");
  EXPECT_TRUE(db->DestroyColumnFamilyHandle(handles[0]).ok());
}

// Automatic compactions take a moment each.
class SlowingListener final : public EventListener {
 public:
  void OnCompactionBegin(DB*, const CompactionJobInfo& info) override {
    if (info.compaction_reason == CompactionReason::kManualCompaction) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
};

// Static levels, filled as they were; with dynamic ones automatic compactions move all of it down
// as soon as it is open, while it is trimmed.
TEST_F(TimestampReadTest, WhatIsTrimmedIsFoundWhereverItIsMoved) {
  constexpr int kKeys = 60;
  const auto key = [](int i) { return "k" + std::to_string(100 + i); };
  options_.max_bytes_for_level_base = 1024;
  options_.target_file_size_base = 1024;
  CompactionOptions small;
  small.output_file_size_limit = 1024;
  for (int round = 0; round < 6; round++) {
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
    Options before = options_;
    before.level_compaction_dynamic_level_bytes = false;
    before.disable_auto_compactions = true;
    std::swap(before, options_);
    Open();
    for (const auto& [timestamp, level] :
         {std::pair(uint64_t{10}, 2), std::pair(uint64_t{90}, 1)}) {
      for (int i = 0; i < kKeys; i++) {
        PutAt(key(i), timestamp, std::string(100, timestamp == 10 ? 'o' : 'n'));
      }
      Flush();
      std::vector<LiveFileMetaData> files;
      db()->GetLiveFilesMetaData(&files);
      for (const LiveFileMetaData& file : files) {
        if (file.level != 0) continue;
        ASSERT_TRUE(db()->CompactFiles(small, {file.name}, level).ok());
      }
    }
    ASSERT_TRUE(Close().ok());
    std::swap(before, options_);
    std::vector<ColumnFamilyHandle*> handles;
    DB* opened = nullptr;
    Options slowed = options_;
    slowed.listeners = {std::make_shared<SlowingListener>()};
    const Status s =
        DB::OpenAndTrimHistory(slowed, kName, {{"default", slowed}}, &handles, &opened, At(50));
    ASSERT_TRUE(s.ok()) << s.ToString();
    const std::unique_ptr<DB> db(opened);
    const std::string stamp = At(100);
    const Slice as_of(stamp);
    ReadOptions options;
    options.timestamp = &as_of;
    for (int i = 0; i < kKeys; i++) {
      std::string value;
      ASSERT_TRUE(db->Get(options, key(i), &value).ok()) << key(i);
      ASSERT_EQ(value[0], 'o') << key(i) << " in round " << round;
    }
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(handles[0]).ok());
  }
}

// The value at 1 is deleted at 2, and so is the next one at 3.
TEST_F(TimestampReadTest, ASingleDeletedValueStaysAwayOnceItsHistoryIsForgotten) {
  options_.disable_auto_compactions = true;
  Open();
  const auto single_delete = [&](uint64_t timestamp) {
    ASSERT_TRUE(db()->SingleDelete(WriteOptions(), "k", At(timestamp)).ok());
  };
  PutAt("k", 1, "old");
  Flush();
  CompactAll();
  single_delete(2);
  PutAt("k", 2, "new");
  Flush();
  single_delete(3);
  Flush();
  EXPECT_EQ(GetAt("k", 2), "new@2");
  ASSERT_TRUE(Raise(10).ok());
  std::vector<LiveFileMetaData> files;
  db()->GetLiveFilesMetaData(&files);
  std::vector<std::string> l0;
  for (const LiveFileMetaData& file : files) {
    if (file.level == 0) l0.push_back(file.name);
  }
  ASSERT_EQ(l0.size(), 2u);
  ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), l0, 1).ok());
  EXPECT_EQ(GetAt("k", 10).substr(0, 9), "NOT_FOUND");
  CompactAll();
  EXPECT_EQ(GetAt("k", 10).substr(0, 9), "NOT_FOUND");
}

// A seek for the version that a snapshot sees would lead back to where the versions begin.
TEST_F(TimestampReadTest, VersionsBehindTheSnapshotArePassedOnce) {
  Open();
  PutAt("a", 1, "first");
  PutAt("z", 1, "last");
  const Snapshot* const snapshot = db()->GetSnapshot();
  constexpr uint64_t kVersions = 50;
  for (uint64_t time = 2; time < 2 + kVersions; time++) PutAt("k", time, "new");
  const std::string stamp = At(100);
  const Slice as_of(stamp);
  ReadOptions options;
  options.timestamp = &as_of;
  options.snapshot = snapshot;
  options.max_skippable_internal_keys = kVersions;
  {
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    it->SeekToFirst();
    EXPECT_EQ(Rest(it.get()), "a=first z=last");
  }
  db()->ReleaseSnapshot(snapshot);
}

// Writes one key at a time, with timestamps in any order, and keeps a list of the writes.
class AnyOrderTest : public TimestampReadTest {
 protected:
  struct Moment {
    const Snapshot* snapshot;
    uint64_t order;
  };

  AnyOrderTest() {
    options_.merge_operator = std::make_shared<AppendOrReplace>();
    options_.disable_auto_compactions = true;
    options_.max_sequential_skip_in_iterations = 2;
  }

  void WriteOne(const std::string& key, Random* random) {
    const uint64_t time = 1 + random->Below(kTimes);
    Change change;
    change.key = key;
    change.value = std::string(1, static_cast<char>('a' + random->Below(26)));
    Status s;
    switch (random->Below(8)) {
      case 0:
        change.kind = Change::kDelete;
        s = db()->Delete(WriteOptions(), key, At(time));
        break;
      case 1:
        change.kind = Change::kDeleteRange;
        change.value = key + "~";
        s = db()->DeleteRange(WriteOptions(), db()->DefaultColumnFamily(), key, change.value,
                              At(time));
        break;
      case 2:
      case 3:
      case 4:
        change.kind = Change::kMerge;
        s = db()->Merge(WriteOptions(), db()->DefaultColumnFamily(), key, At(time), change.value);
        break;
      default:
        change.kind = Change::kPut;
        s = db()->Put(WriteOptions(), key, At(time), change.value);
    }
    ASSERT_TRUE(s.ok()) << s.ToString();
    reference_.Apply(change, time);
  }

  static std::string Show(const Status& s, const Slice& value, const Slice& stamp) {
    if (s.IsNotFound()) return "-";
    uint64_t time = 0;
    if (!s.ok() || !DecodeU64Ts(stamp, &time).ok()) return s.ToString();
    return value.ToString() + "@" + std::to_string(time);
  }
  std::string ShowAt(Iterator* it, const std::string& key) {
    if (!it->status().ok()) return it->status().ToString();
    if (!it->Valid() || it->key() != Slice(key)) return "-";
    return Show(Status::OK(), it->value(), it->timestamp());
  }

  void CheckReads(const std::string& key, uint64_t time, const Moment& moment) {
    const auto expected = reference_.Get(key, time, moment.order);
    const std::string answer =
        expected.has_value() ? expected->value + "@" + std::to_string(expected->timestamp) : "-";
    const std::string stamp = At(time);
    const Slice as_of(stamp);
    ReadOptions options;
    options.timestamp = &as_of;
    options.snapshot = moment.snapshot;
    ColumnFamilyHandle* const family = db()->DefaultColumnFamily();
    std::string value;
    std::string found;
    Status s = db()->Get(options, family, key, &value, &found);
    ASSERT_EQ(Show(s, value, found), answer) << "Get";
    std::vector<std::string> values;
    std::vector<std::string> stamps;
    s = db()->MultiGet(options, {family}, {key}, &values, &stamps)[0];
    ASSERT_EQ(Show(s, values[0], stamps[0]), answer) << "MultiGet";
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    it->Seek(key);
    ASSERT_EQ(ShowAt(it.get(), key), answer) << "Seek";
    it->SeekForPrev(key);
    ASSERT_EQ(ShowAt(it.get(), key), answer) << "SeekForPrev";
    it->SeekToFirst();
    while (it->Valid() && it->key().compare(key) < 0) it->Next();
    ASSERT_EQ(ShowAt(it.get(), key), answer) << "Next";
    it->SeekToLast();
    while (it->Valid() && it->key().compare(key) > 0) it->Prev();
    ASSERT_EQ(ShowAt(it.get(), key), answer) << "Prev";
    PinnableSlice operands[kWrites];
    GetMergeOperandsOptions all;
    all.expected_max_number_of_operands = kWrites;
    int n = 0;
    s = db()->GetMergeOperands(options, family, key, operands, &all, &n);
    ASSERT_EQ(s.ok(), expected.has_value()) << "GetMergeOperands: " << s.ToString();
    std::string merged;
    for (int i = 0; i < n; i++) merged = AppendOrReplace::Apply(merged, operands[i]);
    ASSERT_TRUE(!s.ok() || merged == expected->value) << "GetMergeOperands: " << merged;
    if (!s.ok()) return;
    ASSERT_TRUE(db()->KeyMayExist(options, family, key, &value, nullptr, nullptr));
  }

  void CheckHistory(const std::string& key, uint64_t from, const Moment& moment) {
    const std::string last = At(kTimes);
    const std::string first = At(from);
    const std::string behind = key + "~";
    const Slice as_of(last);
    const Slice since(first);
    const Slice lower(key);
    const Slice upper(behind);
    ReadOptions options;
    options.timestamp = &as_of;
    options.iter_start_ts = &since;
    options.iterate_lower_bound = &lower;
    options.iterate_upper_bound = &upper;
    options.snapshot = moment.snapshot;
    std::string expected;
    std::string reversed;
    for (const auto& [shown, version] : reference_.History(from, kTimes, moment.order)) {
      if (shown != key) continue;
      if (version.kind == Change::kMerge) return;  // the walk does not show operands
      const std::string one = (version.kind == Change::kPut ? version.value : "x") + "@" +
                              std::to_string(version.timestamp) + " ";
      expected += one;
      reversed = one + reversed;
    }
    const std::unique_ptr<Iterator> it(db()->NewIterator(options));
    const auto show = [&] {
      return Show(Status::OK(), it->value().empty() ? "x" : it->value(), it->timestamp()) + " ";
    };
    std::string forward;
    std::string backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) forward += show();
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward += show();
    ASSERT_TRUE(it->status().ok()) << it->status().ToString();
    ASSERT_EQ(forward, expected);
    ASSERT_EQ(backward, reversed);
  }

  void CheckAll(const std::string& key, const std::vector<Moment>& moments) {
    for (const Moment& moment : moments) {
      for (uint64_t time = 0; time <= kTimes; time++) {
        SCOPED_TRACE("as of " + std::to_string(time) + ", after write " +
                     std::to_string(moment.order));
        CheckReads(key, time, moment);
        if (HasFatalFailure()) return;
      }
      for (uint64_t from = 0; from <= kTimes && !HasFatalFailure(); from++) {
        CheckHistory(key, from, moment);
      }
    }
  }

  // Each write goes to a source of its own one time in `sources`; 0: all stay in the memtable.
  void Run(uint64_t seed, uint64_t sources, bool compacts) {
    Random random(seed);
    for (int round = 0; round < kRounds && !HasFatalFailure(); round++) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
      Open();
      reference_ = TimestampReference(BytewiseComparator());
      PutAt("a", 1, "first");
      PutAt("z", 1, "last");
      std::vector<Moment> moments;
      for (int i = 0; i < kWrites; i++) {
        WriteOne("k", &random);
        if (random.OneIn(2)) moments.push_back({db()->GetSnapshot(), reference_.order()});
        if (sources != 0 && random.OneIn(sources)) Flush();
        if (compacts && random.OneIn(4)) CompactAll();
      }
      moments.push_back({nullptr, reference_.order()});
      CheckAll("k", moments);
      if (compacts && !HasFatalFailure()) {
        CompactAll();
        CheckAll("k", moments);
      }
      for (const Moment& moment : moments) db()->ReleaseSnapshot(moment.snapshot);
      ASSERT_TRUE(Close().ok());
      ASSERT_TRUE(DestroyDB(kName, options_).ok());
    }
  }

  static constexpr uint64_t kTimes = 5;
  static constexpr int kWrites = 9;
  static constexpr int kRounds = 30;

  TimestampReference reference_{BytewiseComparator()};
};

TEST_F(AnyOrderTest, AllReadsAgreeInTheMemTable) {
  Run(1, /*sources=*/0, /*compacts=*/false);
}

TEST_F(AnyOrderTest, AllReadsAgreeOverManySources) {
  Run(2, /*sources=*/2, /*compacts=*/false);
}

TEST_F(AnyOrderTest, AllReadsAgreeBesideCompactions) {
  Run(3, /*sources=*/3, /*compacts=*/true);
}

// A reader that sees the tombstone does not see the key's first entry, and so must see the next.
TEST_F(AnyOrderTest, WhatStandsFirstHidesNothingFromThoseWhoSeeItCovered) {
  for (const bool put : {true, false}) {
    SCOPED_TRACE(put);
    Open();
    if (put) PutAt("k", 20, "first");
    if (!put) {
      ASSERT_TRUE(db()->Delete(WriteOptions(), "k", At(20)).ok());
    }
    const Snapshot* const snapshot = db()->GetSnapshot();
    PutAt("other", 1, "v");
    DeleteRangeAt("k", "l", 15);
    PutAt("k", 10, "last");
    EXPECT_EQ(GetAt("k", 100), "last@10");
    ASSERT_TRUE(db()->IncreaseFullHistoryTsLow(db()->DefaultColumnFamily(), At(100)).ok());
    Flush();
    EXPECT_TRUE(GetAt("k", 100).starts_with("last")) << GetAt("k", 100);
    ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    EXPECT_TRUE(GetAt("k", 100).starts_with("last")) << GetAt("k", 100);
    db()->ReleaseSnapshot(snapshot);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(TimestampReadTest, ADeletionReportsItsTimestamp) {
  Open();
  PutAt("k", 10, "v");
  DeleteRangeAt("a", "z", 20);
  ASSERT_TRUE(db()->Delete(WriteOptions(), "p", At(30)).ok());
  PutAt("q", 40, "w");
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    EXPECT_EQ(GetAt("k", 15), "v@10");
    EXPECT_EQ(GetAt("k", 50), "NOT_FOUND@20");
    EXPECT_EQ(GetAt("nothing", 50), "NOT_FOUND@20");
    EXPECT_EQ(GetAt("p", 50), "NOT_FOUND@30");
    EXPECT_EQ(GetAt("q", 50), "w@40");
    Flush();
  }
}

TEST_F(TimestampReadTest, WithoutTimestampsNoneIsTaken) {
  options_.comparator = BytewiseComparator();
  Open();
  Put("k", "v");
  const Slice empty;
  ReadOptions options;
  options.timestamp = &empty;
  std::string value;
  EXPECT_TRUE(db()->Get(options, "k", &value).IsInvalidArgument());
  options.timestamp = nullptr;
  options.iter_start_ts = &empty;
  EXPECT_TRUE(db()->Get(options, "k", &value).IsInvalidArgument());
  const std::unique_ptr<Iterator> it(db()->NewIterator(options));
  EXPECT_TRUE(it->status().IsInvalidArgument());
}

// A reader of all remaining versions may ask before the first mark and after it.
TEST_F(TimestampReadTest, TheStartOfAHistoryMayLieBelowTheMark) {
  Open();
  for (const uint64_t time : {10, 50, 70}) PutAt("k", time, "v" + std::to_string(time));
  ASSERT_TRUE(Raise(60).ok());
  CompactAll();
  const std::string newest = At(100);
  const std::string oldest = At(0);
  const std::string gone = At(59);
  Slice as_of(newest);
  const Slice from(oldest);
  ReadOptions options;
  options.timestamp = &as_of;
  options.iter_start_ts = &from;
  std::unique_ptr<Iterator> it(db()->NewIterator(options));
  std::string seen;
  for (it->SeekToFirst(); it->Valid(); it->Next()) seen += it->value().ToString() + " ";
  EXPECT_TRUE(it->status().ok()) << it->status().ToString();
  EXPECT_EQ(seen, "v70 v50 ");
  as_of = gone;
  it.reset(db()->NewIterator(options));
  EXPECT_TRUE(it->status().IsInvalidArgument());
  EXPECT_THAT(it->status().ToString(),
              HasSubstr("ReadOptions::timestamp 0x3B00000000000000 is below full_history_ts_low, "
                        "0x3C00000000000000"));
}

TEST_F(TimestampReadTest, IgnoredRangeDeletionsLeaveVersionsInTheOrderOfTheirTime) {
  options_.disable_auto_compactions = true;
  const std::string stamp = At(100);
  const Slice as_of(stamp);
  ReadOptions options;
  options.timestamp = &as_of;
  options.ignore_range_deletions = true;
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    Open();
    // The newest version of "k" is the older write; that of "m" is deleted.
    PutAt("k", 30, "newer");
    PutAt("m", 30, "only");
    if (flushed) Flush();
    DeleteRangeAt("a", "z", 40);
    PutAt("k", 20, "older");
    if (flushed) Flush();
    EXPECT_EQ(GetAt("k", 100), "older@20");
    EXPECT_EQ(GetAt("m", 100), "NOT_FOUND@40");
    const std::vector<ColumnFamilyHandle*> families(2, db()->DefaultColumnFamily());
    std::vector<std::string> values;
    for (const Status& s : db()->MultiGet(options, families, {"k", "m"}, &values)) {
      EXPECT_TRUE(s.ok()) << s.ToString();
    }
    EXPECT_EQ(values, (std::vector<std::string>{"newer", "only"}));
    std::string value;
    EXPECT_TRUE(db()->Get(options, "k", &value).ok());
    EXPECT_EQ(value, "newer");
    EXPECT_EQ(Scan(options), "k=newer m=only");
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(TimestampReadTest, ACompactionThatIsRefusedRaisesNoMark) {
  Open();
  PutAt("k", 10, "v");
  const std::string stamp = At(5);
  const Slice low(stamp);
  CompactRangeOptions options;
  options.full_history_ts_low = &low;
  options.target_path_id = 1;
  EXPECT_TRUE(db()->CompactRange(options, nullptr, nullptr).IsInvalidArgument());
  options.target_path_id = 0;
  const Slice bound("k");
  for (const bool from : {true, false}) {
    const Status s = db()->CompactRange(options, from ? &bound : nullptr, from ? nullptr : &bound);
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
    EXPECT_THAT(s.ToString(), HasSubstr("no range goes with it"));
  }
  std::string mark;
  ASSERT_TRUE(db()->GetFullHistoryTsLow(db()->DefaultColumnFamily(), &mark).ok());
  EXPECT_EQ(mark, "");
  EXPECT_TRUE(db()->CompactRange(options, nullptr, nullptr).ok());
  ASSERT_TRUE(db()->GetFullHistoryTsLow(db()->DefaultColumnFamily(), &mark).ok());
  EXPECT_EQ(mark, stamp);
}

}  // namespace

}  // namespace varve::testing
