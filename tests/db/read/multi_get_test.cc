// SPDX-License-Identifier: Apache-2.0
#include "db/read/multi_get.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "varve/statistics.h"

#include "db/read/get.h"
#include "tests/db/read/mini_lsm.h"
#include "tests/db/read/random_history.h"
#include "tests/harness/environment.h"

namespace varve::test {
namespace {

// Orders bytewise, but by a call: shortcuts for the bytewise order must not serve it.
class CustomOrder final : public Comparator {
 public:
  const char* Name() const override { return "custom"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// The results of one MultiGet.
struct Answers {
  Answers(const MiniLsm& lsm, const std::vector<std::string>& keys, SequenceNumber seq,
          const ReadOptions& options = ReadOptions(), Statistics* statistics = nullptr)
      : values(keys.size()), statuses(keys.size()) {
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<uint32_t> places(keys.size());
    std::iota(places.begin(), places.end(), 0);
    MultiGetCall call{.options = options,
                      .keys = slices.data(),
                      .values = values.data(),
                      .statuses = statuses.data(),
                      .statistics = statistics,
                      .clock = SystemClock::Default().get()};
    MultiGetFromSuperVersion(&call, lsm.current(), seq, places);
    found = call.found;
    value_bytes = call.value_bytes;
  }

  std::string At(size_t i) const {
    return statuses[i].ok() ? values[i].ToString() : statuses[i].ToString();
  }

  std::vector<PinnableSlice> values;
  std::vector<Status> statuses;
  uint64_t found = 0;
  uint64_t value_bytes = 0;
};

std::string GetOne(const MiniLsm& lsm, const std::string& key, SequenceNumber seq) {
  PinnableSlice value;
  PointLookup lookup(key, seq, &value);
  const Status s = GetFromSuperVersion(ReadOptions(), lsm.current(), &lookup, nullptr);
  if (!s.ok()) return s.ToString();
  return lookup.state() == PointLookup::State::kFound ? value.ToString()
                                                      : Status::NotFound().ToString();
}

// Returns some keys of the history and some that were never written, in any order, some of them
// twice.
std::vector<std::string> RandomBatch(const HistoryShape& shape, const std::vector<Write>& history,
                                     const Comparator* order, std::mt19937* random) {
  std::vector<std::string> keys((*random)() % 3 == 0 ? (*random)() % 100 : (*random)() % 12);
  for (std::string& key : keys) {
    const bool known = !history.empty() && (*random)() % 4 != 0;
    key = known ? history[(*random)() % history.size()].key : RandomKey(shape, random);
  }
  if ((*random)() % 2 == 0) {
    std::sort(keys.begin(), keys.end(),
              [&](const std::string& a, const std::string& b) { return order->Compare(a, b) < 0; });
  }
  return keys;
}

void ChooseTables(uint32_t seed, std::mt19937* random, BlockBasedTableOptions* table) {
  switch (seed % 4) {
    case 1:
      table->no_block_cache = true;
      table->block_cache = nullptr;
      break;
    case 2:
      table->cache_index_and_filter_blocks = true;
      break;
    case 3:
      table->filter_policy = nullptr;
      break;
    default:
      break;
  }
  // The cache is so small that blocks are evicted while they are used.
  if (table->block_cache != nullptr && (*random)() % 2 == 0) table->block_cache = NewLRUCache(600);
}

TEST(MultiGetTest, AnswersEachKeyAsGetDoes) {
  const CustomOrder custom;
  for (const Comparator* order : {BytewiseComparator(), ReverseBytewiseComparator(),
                                  static_cast<const Comparator*>(&custom)}) {
    for (uint32_t seed = testing::FirstSample(); seed < 300; seed += testing::SampleStep()) {
      std::mt19937 random(seed);
      HistoryShape shape;
      shape.writes = random() % 200;
      // Long keys that begin alike, too.
      shape.longest_key = random() % 2 == 0 ? 3 : 14;
      shape.range_deletions_percent = random() % 3 * 5;
      const std::vector<Write> history = RandomHistory(shape, order, &random);
      Layout layout;
      layout.immutables = random() % 3;
      layout.level_zero_files = random() % 4;
      layout.deeper_levels = random() % 4;
      layout.limited_open_files = random() % 4 == 0;
      layout.overhang = random() % 2 == 0;
      layout.split_keys = random() % 2 == 0;
      MiniLsm lsm(order);
      ChooseTables(seed, &random, &lsm.table_options());
      lsm.Load(history, layout, &random);
      for (int i = 0; i < 6; i++) {
        const SequenceNumber seq =
            i % 2 == 0 ? lsm.VisibleSequence() : random() % (lsm.VisibleSequence() + 1);
        const std::vector<std::string> keys = RandomBatch(shape, history, order, &random);
        const Answers answers(lsm, keys, seq);
        uint64_t found = 0;
        for (size_t k = 0; k < keys.size(); k++) {
          ASSERT_EQ(GetOne(lsm, keys[k], seq), answers.At(k))
              << "seed " << seed << " seq " << seq << " key " << Slice(keys[k]).ToString(true);
          found += answers.statuses[k].ok() ? 1 : 0;
        }
        ASSERT_EQ(found, answers.found);
      }
    }
  }
}

class MultiGetPlacesTest : public ::testing::Test {
 protected:
  // Puts key100 to key199 into five files of L1, with values of 400 bytes; "fresh" into the
  // memtable.
  void SetUp() override {
    std::mt19937 random(4);
    Layout layout;
    layout.immutables = layout.level_zero_files = 0;
    layout.deeper_levels = 1;
    layout.files_per_level = 5;
    std::vector<Write> history;
    for (SequenceNumber seq = 1; seq <= 100; seq++) {
      history.push_back({seq, kTypeValue, Key(seq - 1), Value(seq - 1)});
    }
    ASSERT_TRUE(LoadAll(history, layout));
    lsm_.Add({101, kTypeValue, "fresh", "new"});
  }

  // Loads all of the history into the level.
  bool LoadAll(const std::vector<Write>& history, const Layout& layout) {
    for (uint32_t seed = 0; seed < 1000; seed++) {
      std::mt19937 random(seed);
      lsm_.Load(history, layout, &random);
      if (lsm_.current().mem()->Empty() && lsm_.current().version().level(1).size() >= 3) {
        return true;
      }
    }
    return false;
  }

  static std::string Key(size_t i) { return "key" + std::to_string(100 + i); }
  static std::string Value(size_t i) { return std::to_string(i) + std::string(400, 'v'); }

  // Returns all keys of the level.
  static std::vector<std::string> AllKeys() {
    std::vector<std::string> keys;
    for (size_t i = 0; i < 100; i++) keys.push_back(Key(i));
    return keys;
  }

  MiniLsm lsm_;
};

TEST_F(MultiGetPlacesTest, CountsWhereKeysAreFound) {
  const auto statistics = CreateDBStatistics();
  const Answers answers(lsm_, {Key(3), "fresh", "nowhere", Key(99)}, kMaxSequenceNumber,
                        ReadOptions(), statistics.get());
  EXPECT_EQ(3u, answers.found);
  EXPECT_EQ(Value(3).size() + Value(99).size() + 3, answers.value_bytes);
  EXPECT_EQ(1u, statistics->getTickerCount(MEMTABLE_HIT));
  EXPECT_EQ(3u, statistics->getTickerCount(MEMTABLE_MISS));
  EXPECT_EQ(2u, statistics->getTickerCount(GET_HIT_L1));
}

TEST_F(MultiGetPlacesTest, HonoursTiers) {
  ReadOptions cache_only;
  cache_only.read_tier = kBlockCacheTier;
  const std::vector<std::string> keys = {Key(0), "fresh", Key(50), Key(99)};
  const Answers cold(lsm_, keys, kMaxSequenceNumber, cache_only);
  EXPECT_TRUE(cold.statuses[0].IsIncomplete()) << cold.At(0);
  EXPECT_EQ("new", cold.At(1));
  EXPECT_TRUE(cold.statuses[3].IsIncomplete()) << cold.At(3);
  const Answers read(lsm_, keys, kMaxSequenceNumber);
  const Answers warm(lsm_, keys, kMaxSequenceNumber, cache_only);
  for (size_t i = 0; i < keys.size(); i++) EXPECT_EQ(read.At(i), warm.At(i));
  EXPECT_EQ(Value(50), warm.At(2));
  ReadOptions memtables_only;
  memtables_only.read_tier = kMemtableTier;
  EXPECT_TRUE(Answers(lsm_, keys, kMaxSequenceNumber, memtables_only).statuses[1].IsNotSupported());
}

TEST_F(MultiGetPlacesTest, TheSoftLimitStopsBehindTheKeyThatExceedsIt) {
  ReadOptions options;
  options.value_size_soft_limit = 1000;
  std::vector<std::string> keys = AllKeys();
  std::reverse(keys.begin(), keys.end());
  const Answers answers(lsm_, keys, kMaxSequenceNumber, options);
  // The limit follows the order of the keys, not of the call: three values exceed a thousand bytes.
  for (size_t i = 0; i < keys.size(); i++) {
    if (i >= 97) {
      EXPECT_EQ(Value(99 - i), answers.At(i));
    } else {
      EXPECT_TRUE(answers.statuses[i].IsAborted()) << i;
      EXPECT_EQ(0u, answers.values[i].size());
    }
  }
  options.value_size_soft_limit = 0;
  EXPECT_EQ(Value(0), Answers(lsm_, {Key(0)}, kMaxSequenceNumber, options).At(0));
}

TEST_F(MultiGetPlacesTest, PastTheDeadlineNothingIsLookedUp) {
  ReadOptions options;
  options.deadline = std::chrono::microseconds(1);
  const Answers late(lsm_, {Key(0), "fresh"}, kMaxSequenceNumber, options);
  EXPECT_TRUE(late.statuses[0].IsTimedOut());
  EXPECT_TRUE(late.statuses[1].IsTimedOut());
  options.deadline = std::chrono::hours(24 * 365 * 200);
  EXPECT_EQ("new", Answers(lsm_, {Key(0), "fresh"}, kMaxSequenceNumber, options).At(1));
}

TEST_F(MultiGetPlacesTest, AMissingTableFailsItsOwnKeysOnly) {
  const LevelFiles& files = lsm_.current().version().level(1);
  const FileMetaData& gone = *files[1];
  ASSERT_TRUE(lsm_.fs()->DeleteFile(TableFileName("/db", gone.number), IOOptions(), nullptr).ok());
  const std::vector<std::string> keys = AllKeys();
  const Answers answers(lsm_, keys, kMaxSequenceNumber);
  size_t failed = 0;
  for (size_t i = 0; i < keys.size(); i++) {
    if (Slice(keys[i]).compare(gone.smallest.user_key()) >= 0 &&
        Slice(keys[i]).compare(gone.largest.user_key()) <= 0) {
      EXPECT_FALSE(answers.statuses[i].ok() || answers.statuses[i].IsNotFound()) << answers.At(i);
      failed++;
    } else {
      EXPECT_EQ(Value(i), answers.At(i));
    }
  }
  EXPECT_GT(failed, 0u);
  EXPECT_LT(failed, keys.size());
}

TEST_F(MultiGetPlacesTest, LargeValuesOfOneBlockArePinnedAndOutliveTheCache) {
  const std::vector<std::string> keys = AllKeys();
  Answers answers(lsm_, keys, kMaxSequenceNumber);
  lsm_.table_options().block_cache->EraseUnRefEntries();
  for (size_t i = 0; i < keys.size(); i++) {
    EXPECT_TRUE(answers.values[i].IsPinned());
    EXPECT_EQ(Value(i), answers.At(i));
  }
  for (PinnableSlice& value : answers.values) value.Reset();
  lsm_.table_options().block_cache->EraseUnRefEntries();
  EXPECT_EQ(0u, lsm_.table_options().block_cache->GetPinnedUsage());
}

}  // namespace
}  // namespace varve::test
