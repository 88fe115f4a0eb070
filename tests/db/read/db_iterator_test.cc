// SPDX-License-Identifier: Apache-2.0
#include "db/read/db_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "varve/iterator.h"
#include "varve/slice_transform.h"
#include "varve/snapshot.h"
#include "varve/statistics.h"

#include "tests/db/read/iterator_beside_model.h"
#include "tests/db/read/mini_lsm.h"
#include "tests/db/read/random_history.h"
#include "tests/harness/environment.h"
#include "util/metrics/perf_counters.h"

namespace varve::test {
namespace {

// Orders by length first: an order that no byte comparison gives.
class ByLength final : public Comparator {
 public:
  const char* Name() const override { return "test.ByLength"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

const Comparator* LengthOrder() {
  static const ByLength order;
  return &order;
}

class FixedSnapshot final : public Snapshot {
 public:
  explicit FixedSnapshot(SequenceNumber seq) : seq_(seq) {}
  ~FixedSnapshot() override = default;
  SequenceNumber GetSequenceNumber() const override { return seq_; }
  int64_t GetUnixTime() const override { return 0; }
  uint64_t GetTimestamp() const override { return 0; }

 private:
  const SequenceNumber seq_;
};

// Returns the keys of a model that bounds leave.
UserModel Within(const UserModel& model, const ReadOptions& options, const Comparator* order) {
  UserModel result(UserKeyLess{order});
  for (const auto& [key, value] : model) {
    if (options.iterate_lower_bound != nullptr &&
        order->Compare(key, *options.iterate_lower_bound) < 0) {
      continue;
    }
    if (options.iterate_upper_bound != nullptr &&
        order->Compare(key, *options.iterate_upper_bound) >= 0) {
      continue;
    }
    result[key] = value;
  }
  return result;
}

// Makes random moves beside the model. Slices that are reported as pinned must not change until the
// end.
void Walk(Iterator* iter, const UserModel& model, const HistoryShape& shape, bool pinned, int steps,
          std::mt19937* random) {
  std::vector<std::pair<Slice, std::string>> pins;
  UserModel::const_iterator at = model.end();
  for (int step = 0; step < steps; step++) {
    const uint32_t move = (*random)() % 20;
    const std::string target = RandomKey(shape, random);
    if (move == 0) {
      iter->SeekToFirst();
      at = model.begin();
    } else if (move == 1) {
      iter->SeekToLast();
      at = Before(model, model.end());
    } else if (move <= 3 || (at == model.end() && move % 2 == 0)) {
      iter->Seek(target);
      at = model.lower_bound(target);
    } else if (move <= 5 || at == model.end()) {
      iter->SeekForPrev(target);
      at = Before(model, model.upper_bound(target));
    } else if (move <= 12) {
      iter->Next();
      ++at;
    } else {
      iter->Prev();
      at = Before(model, at);
    }
    ASSERT_TRUE(SamePlace(*iter, model, at)) << "after step " << step << ", move " << move
                                             << ", target " << Slice(target).ToString(true);
    if (!pinned || !iter->Valid()) continue;
    std::string answer;
    ASSERT_TRUE(iter->GetProperty("rocksdb.iterator.is-key-pinned", &answer).ok());
    if (answer == "1") pins.emplace_back(iter->key(), iter->key().ToString());
    ASSERT_TRUE(iter->GetProperty("rocksdb.iterator.is-value-pinned", &answer).ok());
    if (answer == "1") pins.emplace_back(iter->value(), iter->value().ToString());
  }
  for (const auto& [slice, copy] : pins) ASSERT_EQ(copy, slice.ToString());
}

// Runs one random case: a history, a layout, options, and a walk at some sequence number.
void RunCase(uint32_t seed, const Comparator* order) {
  std::mt19937 random(seed);
  HistoryShape shape;
  shape.writes = random() % 120;
  shape.longest_key = 1 + random() % 3;
  shape.alphabet = 2 + random() % 5;
  shape.range_deletions_percent = random() % 4 * 12;
  const std::vector<Write> history = RandomHistory(shape, order, &random);
  Layout layout;
  layout.immutables = random() % 3;
  layout.level_zero_files = random() % 4;
  layout.deeper_levels = random() % 4;
  layout.files_per_level = 1 + random() % 6;
  layout.limited_open_files = random() % 4 == 0;
  layout.overhang = random() % 2 == 0;
  layout.split_keys = random() % 2 == 0 && order == BytewiseComparator();
  MiniLsm lsm(order);
  lsm.cf_options().max_sequential_skip_in_iterations = random() % 4 == 0 ? random() % 3 : 8;
  lsm.table_options().use_delta_encoding = random() % 2 == 0;
  if (random() % 4 == 0) {
    lsm.table_options().no_block_cache = true;
    lsm.table_options().block_cache = nullptr;
  }
  lsm.Load(history, layout, &random);
  for (int i = 0; i < 3; i++) {
    ReadOptions options;
    const std::string lower_bytes = RandomKey(shape, &random);
    const std::string upper_bytes = RandomKey(shape, &random);
    const Slice lower(lower_bytes);
    const Slice upper(upper_bytes);
    if (random() % 3 == 0) options.iterate_lower_bound = &lower;
    if (random() % 3 == 0) options.iterate_upper_bound = &upper;
    options.pin_data = random() % 3 == 0;
    options.readahead_size = random() % 4 == 0 ? 300 : 0;
    options.adaptive_readahead = random() % 2 == 0;
    options.auto_readahead_size = random() % 2 == 0;
    options.async_io = random() % 2 == 0;
    const SequenceNumber newest = lsm.VisibleSequence();
    const SequenceNumber seq = random() % 2 == 0 ? newest : random() % (newest + 1);
    const UserModel model = Within(Replay(history, seq, order), options, order);
    const std::unique_ptr<Iterator> iter = Open(&lsm, options, seq);
    ASSERT_NO_FATAL_FAILURE(Walk(iter.get(), model, shape, options.pin_data, 40, &random))
        << "seed " << seed << ", reader " << i << ", seq " << seq;
  }
}

TEST(DbIteratorTest, ShowsWhatTheHistoryLeavesInBytewiseOrder) {
  for (uint32_t seed = testing::FirstSample(); seed < 1500; seed += testing::SampleStep())
    ASSERT_NO_FATAL_FAILURE(RunCase(seed, BytewiseComparator()));
}

TEST(DbIteratorTest, ShowsWhatTheHistoryLeavesInReverseOrder) {
  for (uint32_t seed = testing::FirstSample(); seed < 400; seed += testing::SampleStep()) {
    ASSERT_NO_FATAL_FAILURE(RunCase(seed, ReverseBytewiseComparator()));
  }
}

TEST(DbIteratorTest, ShowsWhatTheHistoryLeavesInACustomOrder) {
  for (uint32_t seed = testing::FirstSample(); seed < 400; seed += testing::SampleStep())
    ASSERT_NO_FATAL_FAILURE(RunCase(seed, LengthOrder()));
}

// Returns the entries with the prefix of the walk's first key, which it may show.
UserModel OfPrefix(const UserModel& model, const std::string& key,
                   const SliceTransform& extractor) {
  if (!extractor.InDomain(key)) return model;
  UserModel result(model.key_comp());
  for (const auto& [k, v] : model) {
    if (extractor.InDomain(k) && extractor.Transform(k) == extractor.Transform(key)) result[k] = v;
  }
  return result;
}

TEST(DbIteratorTest, EndsWithThePrefixAndMissesNothingInIt) {
  const Comparator* const order = BytewiseComparator();
  for (uint32_t seed = testing::FirstSample(); seed < 300; seed += testing::SampleStep()) {
    std::mt19937 random(seed);
    HistoryShape shape;
    shape.alphabet = 4;
    shape.range_deletions_percent = seed % 4 * 10;
    const std::vector<Write> history = RandomHistory(shape, order, &random);
    MiniLsm lsm;
    lsm.cf_options().prefix_extractor.reset(NewFixedPrefixTransform(1 + seed % 2));
    if (seed % 3 == 0) lsm.cf_options().max_sequential_skip_in_iterations = 1;
    lsm.Load(history, Layout(), &random);
    const SliceTransform& extractor = *lsm.cf_options().prefix_extractor;
    const UserModel all = Replay(history, lsm.VisibleSequence(), order);
    ReadOptions options;
    options.prefix_same_as_start = true;
    options.total_order_seek = random() % 4 == 0;
    const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
    for (int i = 0; i < 30; i++) {
      std::string target = RandomKey(shape, &random);
      const bool ahead = random() % 2 == 0;
      const bool from_end = i >= 25 && !all.empty();
      if (from_end) target = ahead ? all.begin()->first : all.rbegin()->first;
      const UserModel model = OfPrefix(all, target, extractor);
      UserModel::const_iterator at = model.end();
      if (ahead) {
        from_end ? iter->SeekToFirst() : iter->Seek(target);
        at = model.lower_bound(target);
      } else {
        from_end ? iter->SeekToLast() : iter->SeekForPrev(target);
        at = Before(model, model.upper_bound(target));
      }
      for (int step = 0; step < 6; step++) {
        ASSERT_TRUE(SamePlace(*iter, model, at)) << "seed " << seed << " step " << step;
        if (!iter->Valid()) break;
        if (random() % 4 != 0) {
          iter->Next();
          ++at;
        } else {
          iter->Prev();
          at = Before(model, at);
        }
      }
    }
  }
}

TEST(DbIteratorTest, WithoutPrefixSameAsStartAnExtractorChangesNothing) {
  std::mt19937 random(5);
  HistoryShape shape;
  const std::vector<Write> history = RandomHistory(shape, BytewiseComparator(), &random);
  MiniLsm lsm;
  lsm.cf_options().prefix_extractor.reset(NewFixedPrefixTransform(2));
  lsm.Load(history, Layout(), &random);
  for (const bool automatic : {false, true}) {
    ReadOptions options;
    options.auto_prefix_mode = automatic;
    const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
    Walk(iter.get(), Replay(history, lsm.VisibleSequence(), BytewiseComparator()), shape, false,
         300, &random);
  }
}

std::string KeyOfFew(std::mt19937* random) {
  std::string key;
  for (uint32_t n = (*random)() % 5; n > 0; n--) key.push_back("ab\xff\0"[(*random)() % 4]);
  return key;
}

// A seek as in total order, and steps from there, with bounds that end the prefix or do not.
void CompareWithTotalOrder(MiniLsm* lsm, const UserModel& all, const Comparator* order,
                           std::mt19937* random) {
  std::string upper_bytes = KeyOfFew(random);
  std::string lower_bytes = KeyOfFew(random);
  const Slice upper(upper_bytes);
  const Slice lower(lower_bytes);
  ReadOptions options;
  options.auto_prefix_mode = true;
  options.iterate_upper_bound = &upper;
  if ((*random)() % 3 == 0) options.iterate_lower_bound = &lower;
  const UserModel model = Within(all, options, order);
  const std::unique_ptr<Iterator> iter = Open(lsm, options, lsm->VisibleSequence());
  for (int i = 0; i < 6; i++) {
    const std::string target = KeyOfFew(random);
    const bool ahead = (*random)() % 4 != 0;
    UserModel::const_iterator at = model.end();
    if (ahead) {
      iter->Seek(target);
      at = model.lower_bound(target);
    } else {
      iter->SeekForPrev(target);
      at = Before(model, model.upper_bound(target));
    }
    for (int step = 0; step < 8; step++) {
      ASSERT_TRUE(SamePlace(*iter, model, at))
          << Slice(target).ToString(true) << " to " << upper.ToString(true) << " step " << step;
      if (!iter->Valid()) break;
      if ((*random)() % 3 != 0) {
        iter->Next();
        ++at;
      } else {
        iter->Prev();
        at = Before(model, at);
      }
    }
  }
}

TEST(DbIteratorTest, AutoPrefixModeShowsWhatTotalOrderShows) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  uint64_t cases = 0;
  for (uint32_t seed = testing::FirstSample(); seed < 600; seed += testing::SampleStep()) {
    cases++;
    std::mt19937 random(seed);
    const Comparator* const order =
        seed % 4 == 0 ? ReverseBytewiseComparator() : BytewiseComparator();
    MiniLsm lsm(order);
    lsm.statistics = statistics.get();
    lsm.cf_options().prefix_extractor.reset(seed % 3 == 0 ? NewCappedPrefixTransform(2)
                                                          : NewFixedPrefixTransform(1 + seed % 3));
    if (seed % 5 == 0) {
      lsm.table_options().index_type = BlockBasedTableOptions::kTwoLevelIndexSearch;
      lsm.table_options().partition_filters = true;
      lsm.table_options().metadata_block_size = 16;
    }
    std::vector<Write> history;
    for (SequenceNumber seq = 1; seq <= 30 + seed % 40; seq++) {
      if (seed % 2 == 0 && random() % 6 == 0) {
        history.push_back({seq, kTypeRangeDeletion, KeyOfFew(&random), KeyOfFew(&random)});
        continue;
      }
      const ValueType type = random() % 4 == 0 ? kTypeDeletion : kTypeValue;
      history.push_back({seq, type, KeyOfFew(&random), std::to_string(seq)});
    }
    Layout layout;
    layout.immutables = 0;
    layout.level_zero_files = random() % 4;
    lsm.Load(history, layout, &random);
    const UserModel all = Replay(history, lsm.VisibleSequence(), order);
    for (int i = 0; i < 10; i++) {
      ASSERT_NO_FATAL_FAILURE(CompareWithTotalOrder(&lsm, all, order, &random)) << "seed " << seed;
    }
  }
  EXPECT_GT(statistics->getTickerCount(BLOOM_FILTER_PREFIX_USEFUL), 5 * cases);
}

TEST(DbIteratorTest, AutoPrefixModeKnowsThatAShorterKeyMayLieBehindThePrefix) {
  MiniLsm lsm;
  lsm.cf_options().prefix_extractor.reset(NewFixedPrefixTransform(2));
  std::mt19937 random(1);
  Layout layout;
  layout.immutables = layout.level_zero_files = 0;
  layout.deeper_levels = layout.files_per_level = 1;
  layout.flushed = true;
  lsm.Load({{1, kTypeValue, "a", ""}, {2, kTypeValue, "b", ""}, {3, kTypeValue, "zz", ""}}, layout,
           &random);
  const std::string target = "a\xff";
  ReadOptions options;
  options.auto_prefix_mode = true;
  Slice bound("b");
  options.iterate_upper_bound = &bound;
  const std::unique_ptr<Iterator> iter = Open(&lsm, options, lsm.VisibleSequence());
  iter->Seek(target);
  EXPECT_FALSE(iter->Valid());
  // The bound is as long as the prefix, and the next key of that length: but "b" is smaller.
  bound = Slice("b\0", 2);
  iter->Seek(target);
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ("b", iter->key().ToString());
}

TEST(DbIteratorTest, RefreshMovesToTheNewestStateOrToASnapshot) {
  for (uint32_t seed = 0; seed < 60; seed++) {
    std::mt19937 random(seed);
    HistoryShape shape;
    std::vector<Write> history = RandomHistory(shape, BytewiseComparator(), &random);
    MiniLsm lsm;
    lsm.Load(history, Layout(), &random);
    const std::unique_ptr<Iterator> iter = Open(&lsm, ReadOptions(), lsm.VisibleSequence());
    for (int round = 0; round < 6; round++) {
      iter->SeekToFirst();
      if (random() % 2 == 0) lsm.SwitchMemTable();
      for (Write write : RandomHistory(HistoryShape{.writes = 5}, BytewiseComparator(), &random)) {
        write.seq += history.back().seq;
        history.push_back(write);
        lsm.Add(write);
      }
      SequenceNumber seq = lsm.VisibleSequence();
      if (random() % 3 == 0) {
        seq = random() % (seq + 1);
        const FixedSnapshot snapshot(seq);
        ASSERT_TRUE(iter->Refresh(&snapshot).ok());
      } else {
        ASSERT_TRUE(iter->Refresh().ok());
      }
      ASSERT_FALSE(iter->Valid());
      Walk(iter.get(), Replay(history, seq, BytewiseComparator()), shape, false, 30, &random);
    }
    std::string number;
    ASSERT_TRUE(iter->GetProperty("rocksdb.iterator.super-version-number", &number).ok());
    EXPECT_EQ(std::to_string(lsm.SuperVersionNumber()), number);
  }
}

TEST(DbIteratorTest, ATailingSeekReadsTheNewestState) {
  for (uint32_t seed = 0; seed < 40; seed++) {
    std::mt19937 random(seed);
    HistoryShape shape;
    std::vector<Write> history = RandomHistory(shape, BytewiseComparator(), &random);
    MiniLsm lsm;
    lsm.Load(history, Layout(), &random);
    ReadOptions tailing;
    tailing.tailing = true;
    const std::unique_ptr<Iterator> iter = Open(&lsm, tailing, lsm.VisibleSequence());
    for (int round = 0; round < 6; round++) {
      if (random() % 2 == 0) lsm.SwitchMemTable();
      for (Write write : RandomHistory(HistoryShape{.writes = 5}, BytewiseComparator(), &random)) {
        write.seq += history.back().seq;
        history.push_back(write);
        lsm.Add(write);
      }
      const UserModel newest = Replay(history, lsm.VisibleSequence(), BytewiseComparator());
      UserModel seen(UserKeyLess{BytewiseComparator()});
      for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
        seen[iter->key().ToString()] = iter->value().ToString();
      }
      ASSERT_EQ(newest, seen) << "seed " << seed << " round " << round;
    }
  }
}

// Each step of a tailing iterator sees what was written before it, near the position or far from
// it.
TEST(DbIteratorTest, ATailingStepReadsTheNewestState) {
  int steps = 0;
  for (uint32_t seed = 0; seed < 60; seed++) {
    std::mt19937 random(seed);
    HistoryShape shape;
    std::vector<Write> history = RandomHistory(shape, BytewiseComparator(), &random);
    MiniLsm lsm;
    lsm.Load(history, Layout(), &random);
    ReadOptions tailing;
    tailing.tailing = true;
    const std::unique_ptr<Iterator> iter = Open(&lsm, tailing, lsm.VisibleSequence());
    for (int round = 0; round < 150; round++) {
      if (random() % 40 == 0) lsm.SwitchMemTable();
      if (random() % 3 != 0) {
        HistoryShape few = shape;
        few.writes = size_t{1} + random() % 2;
        const SequenceNumber before = history.back().seq;
        for (Write write : RandomHistory(few, BytewiseComparator(), &random)) {
          write.seq += before;
          history.push_back(write);
          lsm.Add(write);
        }
      }
      if (!iter->Valid()) {
        random() % 2 == 0 ? iter->SeekToFirst() : iter->SeekToLast();
        continue;
      }
      const UserModel newest = Replay(history, lsm.VisibleSequence(), BytewiseComparator());
      const std::string key = iter->key().ToString();
      auto expected = newest.end();
      if (random() % 2 == 0) {
        iter->Next();
        expected = newest.upper_bound(key);
      } else {
        iter->Prev();
        const auto at = newest.lower_bound(key);
        if (at != newest.begin()) expected = std::prev(at);
      }
      ASSERT_TRUE(iter->status().ok()) << iter->status().ToString();
      ASSERT_EQ(iter->Valid(), expected != newest.end()) << "seed " << seed << " round " << round;
      if (!iter->Valid()) continue;
      ASSERT_EQ(iter->key(), expected->first) << "seed " << seed << " round " << round;
      ASSERT_EQ(iter->value(), expected->second) << "seed " << seed << " round " << round;
      steps++;
    }
  }
  EXPECT_GT(steps, 3000);
}

// Visible entries may lie in memtables newer than those that the iterator holds.
TEST(DbIteratorTest, ATailingMoveSeesWhatCameBetweenMemtablesAndSequence) {
  std::mt19937 random(1);
  MiniLsm lsm;
  lsm.Load({{1, kTypeValue, "a", "1"}, {2, kTypeValue, "c", "1"}}, Layout(), &random);
  ReadOptions tailing;
  tailing.tailing = true;
  const std::unique_ptr<Iterator> iter = Open(&lsm, tailing, lsm.VisibleSequence());
  lsm.before_visible = [&] {
    lsm.SwitchMemTable();
    lsm.Add({3, kTypeValue, "b", "new"});
  };
  iter->Seek("a");
  ASSERT_TRUE(iter->Valid());
  iter->Next();
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ(iter->key(), "b");
  iter->Next();
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ(iter->key(), "c");
}

TEST(DbIteratorTest, AutoRefreshMovesToNewFilesAndKeepsTheState) {
  for (uint32_t seed = 0; seed < 40; seed++) {
    std::mt19937 random(seed);
    HistoryShape shape;
    std::vector<Write> history = RandomHistory(shape, BytewiseComparator(), &random);
    MiniLsm lsm;
    lsm.Load(history, Layout(), &random);
    const FixedSnapshot snapshot(lsm.VisibleSequence());
    const UserModel then = Replay(history, snapshot.GetSequenceNumber(), BytewiseComparator());
    ReadOptions options;
    options.snapshot = &snapshot;
    options.auto_refresh_iterator_with_snapshot = true;
    const std::unique_ptr<Iterator> iter = Open(&lsm, options, snapshot.GetSequenceNumber());
    for (const bool forward : {true, false}) {
      UserModel seen(UserKeyLess{BytewiseComparator()});
      forward ? iter->SeekToFirst() : iter->SeekToLast();
      while (iter->Valid()) {
        seen[iter->key().ToString()] = iter->value().ToString();
        if (random() % 3 == 0) {
          Write write = {history.back().seq + 1, kTypeDeletion, iter->key().ToString(), ""};
          history.push_back(write);
          lsm.Add(write);
          lsm.SwitchMemTable();
        }
        forward ? iter->Next() : iter->Prev();
      }
      ASSERT_TRUE(iter->status().ok());
      ASSERT_EQ(then, seen) << "seed " << seed << (forward ? " forward" : " backward");
    }
    // A walk that ends makes no further step, so the last switch may be unnoticed; a seek tells.
    iter->SeekToFirst();
    std::string number;
    ASSERT_TRUE(iter->GetProperty("rocksdb.iterator.super-version-number", &number).ok());
    EXPECT_EQ(std::to_string(lsm.SuperVersionNumber()), number);
  }
}

// Returns a family with everything in one active memtable.
std::unique_ptr<MiniLsm> InMemory(const std::vector<Write>& history) {
  auto lsm = std::make_unique<MiniLsm>();
  std::mt19937 random(1);
  Layout layout;
  layout.immutables = layout.level_zero_files = layout.deeper_levels = 0;
  lsm->Load(history, layout, &random);
  return lsm;
}

TEST(DbIteratorTest, GivesUpAfterMaxSkippableInternalKeys) {
  const auto lsm = InMemory({{1, kTypeValue, "a", "1"},
                             {2, kTypeDeletion, "b", ""},
                             {3, kTypeDeletion, "c", ""},
                             {4, kTypeDeletion, "d", ""},
                             {5, kTypeValue, "e", "5"}});
  for (const uint64_t limit : {2, 3}) {
    ReadOptions options;
    options.max_skippable_internal_keys = limit;
    const std::unique_ptr<Iterator> iter = Open(lsm.get(), options, 5);
    for (const bool ahead : {true, false}) {
      if (ahead) {
        iter->SeekToFirst();
        ASSERT_EQ("a", iter->key().ToString());
        iter->Next();
      } else {
        iter->SeekToLast();
        ASSERT_EQ("e", iter->key().ToString());
        iter->Prev();
      }
      if (limit == 2) {
        EXPECT_FALSE(iter->Valid());
        EXPECT_TRUE(iter->status().IsIncomplete()) << iter->status().ToString();
        std::string stopped;
        ASSERT_TRUE(iter->GetProperty("rocksdb.iterator.internal-key", &stopped).ok());
        EXPECT_EQ(ahead ? "d" : "b", stopped);
      } else {
        ASSERT_TRUE(iter->Valid());
        EXPECT_EQ(ahead ? "e" : "a", iter->key().ToString());
      }
    }
    iter->Seek("e");
    EXPECT_TRUE(iter->Valid());
    EXPECT_TRUE(iter->status().ok());
  }
}

TEST(DbIteratorTest, SeeksOverManyVersionsOfOneKey) {
  std::vector<Write> history;
  for (SequenceNumber seq = 1; seq <= 100; seq++) {
    history.push_back({seq, kTypeValue, "k", std::to_string(seq)});
  }
  history.push_back({101, kTypeValue, "l", "last"});
  const auto lsm = InMemory(history);
  const auto statistics = CreateDBStatistics();
  {
    const std::unique_ptr<Iterator> iter = Open(lsm.get(), ReadOptions(), 101, statistics.get());
    iter->SeekToFirst();
    EXPECT_EQ("100", iter->value().ToString());
    iter->Next();
    EXPECT_EQ("last", iter->value().ToString());
    iter->Prev();
    EXPECT_EQ("100", iter->value().ToString());
  }
  EXPECT_EQ(2u, statistics->getTickerCount(NUMBER_OF_RESEEKS_IN_ITERATION));
  EXPECT_LT(statistics->getTickerCount(NUMBER_ITER_SKIP), 30u);
}

TEST(DbIteratorTest, NeverSeeksToWhereItStands) {
  std::mt19937 random(1);
  Layout layout;
  layout.immutables = layout.level_zero_files = layout.deeper_levels = 0;
  MiniLsm lsm;
  lsm.cf_options().max_sequential_skip_in_iterations = 0;
  lsm.Load({{0, kTypeDeletion, "a", ""}, {1, kTypeValue, "b", "1"}}, layout, &random);
  const std::unique_ptr<Iterator> iter = Open(&lsm, ReadOptions(), 1);
  iter->SeekToFirst();
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ("b", iter->key().ToString());
  iter->Prev();
  EXPECT_FALSE(iter->Valid());
}

TEST(DbIteratorTest, RefusesEntriesThatItCannotShow) {
  const std::pair<ValueType, const char*> kTypes[] = {{kTypeMerge, "merge_operator"},
                                                      {kTypeBlobIndex, "blob reference"},
                                                      {kTypeWideColumnEntity, "wide columns"}};
  for (const auto& [type, name] : kTypes) {
    const auto lsm =
        InMemory({{1, kTypeValue, "a", "1"}, {2, type, "m", "operand"}, {3, kTypeValue, "z", "3"}});
    const std::unique_ptr<Iterator> iter = Open(lsm.get(), ReadOptions(), 3);
    for (const bool ahead : {true, false}) {
      if (ahead) {
        iter->SeekToFirst();
      } else {
        iter->SeekToLast();
      }
      ASSERT_TRUE(iter->Valid());
      if (ahead) {
        iter->Next();
      } else {
        iter->Prev();
      }
      EXPECT_FALSE(iter->Valid());
      const Status s = iter->status();
      EXPECT_TRUE(type == kTypeMerge       ? s.IsInvalidArgument()
                  : type == kTypeBlobIndex ? s.IsCorruption()
                                           : s.IsNotSupported());
      EXPECT_NE(std::string::npos, iter->status().ToString().find(name));
    }
  }
}

TEST(DbIteratorTest, ADeletedOperandIsNoObstacle) {
  const auto lsm = InMemory({{1, kTypeMerge, "m", "operand"},
                             {2, kTypeRangeDeletion, "a", "n"},
                             {3, kTypeValue, "z", "3"}});
  const std::unique_ptr<Iterator> iter = Open(lsm.get(), ReadOptions(), 3);
  iter->SeekToFirst();
  ASSERT_TRUE(iter->Valid());
  EXPECT_EQ("z", iter->key().ToString());
  iter->Prev();
  EXPECT_FALSE(iter->Valid());
  EXPECT_TRUE(iter->status().ok());
}

TEST(DbIteratorTest, RefusesOptionsByName) {
  const auto lsm = InMemory({{1, kTypeValue, "a", "1"}});
  std::vector<std::pair<ReadOptions, std::string>> cases;
  const auto add = [&](const std::string& name, auto change) {
    ReadOptions options;
    change(&options);
    cases.emplace_back(options, name);
  };
  add("kPersistedTier", [](ReadOptions* o) { o->read_tier = kPersistedTier; });
  for (const auto& [options, name] : cases) {
    const std::unique_ptr<Iterator> iter = Open(lsm.get(), options, 1);
    iter->SeekToFirst();
    EXPECT_FALSE(iter->Valid());
    EXPECT_TRUE(iter->status().IsNotSupported());
    EXPECT_NE(std::string::npos, iter->status().ToString().find(name)) << name;
  }
}

TEST(DbIteratorTest, TableFilterHidesTablesButNotTheirTombstones) {
  // Oldest first: a level, a file of L0, and whatever is left in the memtable.
  std::vector<Write> history;
  for (SequenceNumber seq = 1; seq <= 60; seq++) {
    history.push_back({seq, kTypeValue, "key" + std::to_string(100 + seq), "v"});
  }
  for (uint32_t seed = 0; seed < 20; seed++) {
    std::mt19937 random(seed);
    std::vector<Write> writes = history;
    for (size_t i = 30; i < 60; i++) {
      writes[i].type = kTypeRangeDeletion;
      writes[i].key = "key" + std::to_string(100 + i - 30);
      writes[i].value = "key" + std::to_string(101 + i - 30);
    }
    MiniLsm lsm;
    Layout layout;
    layout.immutables = 0;
    layout.level_zero_files = 1;
    layout.deeper_levels = 2;
    layout.files_per_level = 1;
    lsm.Load(writes, layout, &random);
    ReadOptions options;
    options.table_filter = [](const TableProperties& properties) {
      return properties.num_range_deletions == 0;
    };
    // Puts that lie in the same table as tombstones are hidden; the others are deleted, or not, as
    // without the filter.
    const std::unique_ptr<Iterator> filtered = Open(&lsm, options, 60);
    const UserModel all = Replay(writes, 60, BytewiseComparator());
    for (filtered->SeekToFirst(); filtered->Valid(); filtered->Next()) {
      ASSERT_EQ(1u, all.count(filtered->key().ToString())) << "seed " << seed;
    }
    ASSERT_TRUE(filtered->status().ok());
    options.table_filter = [](const TableProperties&) { return false; };
    const std::unique_ptr<Iterator> none = Open(&lsm, options, 60);
    size_t shown = 0;
    for (none->SeekToFirst(); none->Valid(); none->Next()) shown++;
    ASSERT_LE(shown, lsm.current().mem()->entry_count());
  }
}

TEST(DbIteratorTest, MemtableTierSeesNoTables) {
  std::mt19937 random(9);
  MiniLsm lsm;
  std::vector<Write> history = RandomHistory(HistoryShape(), BytewiseComparator(), &random);
  lsm.Load(history, Layout(), &random);
  lsm.SwitchMemTable();
  ReadOptions options;
  options.read_tier = kMemtableTier;
  const std::unique_ptr<Iterator> all = Open(&lsm, options, lsm.VisibleSequence());
  size_t in_memory = 0;
  for (all->SeekToFirst(); all->Valid(); all->Next()) in_memory++;
  EXPECT_TRUE(all->status().ok());
  EXPECT_LE(in_memory, lsm.current().immutables()[0]->entry_count() +
                           lsm.current().immutables()[1]->entry_count());
}

TEST(DbIteratorTest, BlockCacheTierIsIncompleteWhereATableWouldBeOpened) {
  std::mt19937 random(2);
  MiniLsm lsm;
  const std::vector<Write> history = {{1, kTypeValue, "a", "1"}};
  Layout layout;
  layout.immutables = 0;
  layout.level_zero_files = 0;
  layout.deeper_levels = 8;
  lsm.Load(history, layout, &random);
  ASSERT_GT(lsm.current().version().non_empty_levels(), 0);
  ReadOptions options;
  options.read_tier = kBlockCacheTier;
  const std::unique_ptr<Iterator> iter = Open(&lsm, options, 1);
  iter->SeekToFirst();
  EXPECT_FALSE(iter->Valid());
  EXPECT_TRUE(iter->status().IsIncomplete()) << iter->status().ToString();
}

TEST(DbIteratorTest, DamageEndsTheWalkWithItsStatus) {
  std::mt19937 random(2);
  MiniLsm lsm;
  const std::vector<Write> history = {{1, kTypeValue, "a", "1"}};
  Layout layout;
  layout.immutables = 0;
  layout.level_zero_files = 0;
  layout.deeper_levels = 8;
  lsm.Load(history, layout, &random);
  ASSERT_TRUE(lsm.fs()->DeleteFile("/db/000007.sst", IOOptions(), nullptr).ok());
  const std::unique_ptr<Iterator> iter = Open(&lsm, ReadOptions(), 1);
  iter->SeekToFirst();
  EXPECT_FALSE(iter->Valid());
  EXPECT_FALSE(iter->status().ok());
  iter->SeekForPrev("zzz");
  EXPECT_FALSE(iter->Valid());
  EXPECT_FALSE(iter->status().ok());
}

TEST(DbIteratorTest, CountsWhatItDoes) {
  const auto lsm = InMemory({{1, kTypeValue, "a", "11"},
                             {2, kTypeValue, "a", "12"},
                             {3, kTypeDeletion, "b", ""},
                             {4, kTypeValue, "c", "44"},
                             {5, kTypeValue, "d", "new"}});
  const auto statistics = CreateDBStatistics();
  SetPerfLevel(kEnableCount);
  get_perf_context()->Reset();
  {
    const std::unique_ptr<Iterator> iter = Open(lsm.get(), ReadOptions(), 4, statistics.get());
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
    }
  }
  const PerfContext perf = *get_perf_context();
  SetPerfLevel(kDisable);
  EXPECT_EQ(1u, statistics->getTickerCount(NUMBER_DB_SEEK));
  EXPECT_EQ(1u, statistics->getTickerCount(NUMBER_DB_SEEK_FOUND));
  EXPECT_EQ(2u, statistics->getTickerCount(NUMBER_DB_NEXT));
  EXPECT_EQ(1u, statistics->getTickerCount(NUMBER_DB_NEXT_FOUND));
  EXPECT_EQ(6u, statistics->getTickerCount(ITER_BYTES_READ));
  EXPECT_EQ(3u, statistics->getTickerCount(NUMBER_ITER_SKIP));
  EXPECT_EQ(1u, statistics->getTickerCount(NO_ITERATOR_CREATED));
  EXPECT_EQ(1u, statistics->getTickerCount(NO_ITERATOR_DELETED));
  EXPECT_EQ(2u, perf.iter_next_count);
  EXPECT_EQ(1u, perf.iter_seek_count);
  EXPECT_EQ(6u, perf.iter_read_bytes);
  EXPECT_EQ(3u, perf.internal_key_skipped_count);
  EXPECT_EQ(1u, perf.internal_delete_skipped_count);
  EXPECT_EQ(1u, perf.internal_recent_skipped_count);
}

}  // namespace
}  // namespace varve::test
