// SPDX-License-Identifier: Apache-2.0
#include "db/read/get.h"

#include <gtest/gtest.h>

#include <set>

#include "varve/statistics.h"

#include "tests/db/read/mini_lsm.h"
#include "tests/db/read/random_history.h"
#include "tests/harness/environment.h"

namespace varve::test {
namespace {

void CheckAllKeys(const MiniLsm& lsm, const std::set<std::string>& keys, const UserModel& model,
                  SequenceNumber seq) {
  for (const std::string& key : keys) {
    PinnableSlice value;
    PointLookup lookup(key, seq, &value);
    const Status s = GetFromSuperVersion(ReadOptions(), lsm.current(), &lookup, nullptr);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const auto expected = model.find(key);
    if (expected == model.end()) {
      ASSERT_NE(PointLookup::State::kFound, lookup.state()) << Slice(key).ToString(true);
    } else {
      ASSERT_EQ(PointLookup::State::kFound, lookup.state()) << Slice(key).ToString(true);
      ASSERT_EQ(expected->second, value.ToString());
    }
    bool found = false;
    PointLookup probe(key, seq, nullptr);
    const bool may =
        KeyMayExistInSuperVersion(ReadOptions(), lsm.current(), &probe, nullptr, &found);
    if (expected != model.end()) {
      ASSERT_TRUE(may);
    }
    if (found) {
      ASSERT_NE(model.end(), expected);
    }
  }
}

TEST(GetTest, FindsWhatTheHistoryLeaves) {
  for (const Comparator* order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    for (uint32_t seed = testing::FirstSample(); seed < 400; seed += testing::SampleStep()) {
      std::mt19937 random(seed);
      HistoryShape shape;
      shape.writes = random() % 120;
      shape.range_deletions_percent = random() % 3 * 10;
      const std::vector<Write> history = RandomHistory(shape, order, &random);
      Layout layout;
      layout.immutables = random() % 3;
      layout.level_zero_files = random() % 4;
      layout.deeper_levels = random() % 4;
      layout.limited_open_files = random() % 4 == 0;
      layout.overhang = random() % 2 == 0;
      layout.split_keys = random() % 2 == 0;
      MiniLsm lsm(order);
      lsm.Load(history, layout, &random);
      std::set<std::string> keys;
      for (const Write& write : history) keys.insert(write.key);
      for (int i = 0; i < 20; i++) keys.insert(RandomKey(shape, &random));
      for (int i = 0; i < 4; i++) {
        SequenceNumber seq =
            i == 0 ? lsm.VisibleSequence() : random() % (lsm.VisibleSequence() + 1);
        if (i == 3) seq = kMaxSequenceNumber;
        ASSERT_NO_FATAL_FAILURE(CheckAllKeys(lsm, keys, Replay(history, seq, order), seq))
            << "seed " << seed << " seq " << seq;
      }
    }
  }
}

class GetPlacesTest : public ::testing::Test {
 protected:
  // Puts old keys into L1, and perhaps into an immutable memtable; a fresh one into the active
  // memtable.
  void SetUp() override {
    std::mt19937 random(4);
    Layout layout;
    layout.immutables = layout.level_zero_files = 0;
    layout.deeper_levels = 1;
    layout.files_per_level = 1;
    std::vector<Write> history;
    for (SequenceNumber seq = 1; seq <= 50; seq++) {
      history.push_back({seq, kTypeValue, "key" + std::to_string(seq), "old"});
    }
    lsm_.Load(history, layout, &random);
    lsm_.SwitchMemTable();
    lsm_.Add({60, kTypeValue, "fresh", "new"});
    // The oldest of the history are in the level.
    ASSERT_GT(lsm_.current().version().non_empty_levels(), 1);
  }

  PointLookup::State Get(const ReadOptions& options, const Slice& key, Statistics* statistics,
                         bool skip_memtables = false) {
    PointLookup lookup(key, kMaxSequenceNumber, nullptr);
    status_ = GetFromSuperVersion(options, lsm_.current(), &lookup, statistics, skip_memtables);
    return lookup.state();
  }

  MiniLsm lsm_;
  Status status_;
};

TEST_F(GetPlacesTest, CountsWhereKeysAreFound) {
  const auto statistics = CreateDBStatistics();
  EXPECT_EQ(PointLookup::State::kFound, Get(ReadOptions(), "fresh", statistics.get()));
  EXPECT_EQ(1u, statistics->getTickerCount(MEMTABLE_HIT));
  EXPECT_EQ(PointLookup::State::kFound, Get(ReadOptions(), "key1", statistics.get()));
  EXPECT_EQ(1u, statistics->getTickerCount(MEMTABLE_MISS));
  EXPECT_EQ(1u, statistics->getTickerCount(GET_HIT_L1));
  EXPECT_EQ(PointLookup::State::kSearching, Get(ReadOptions(), "nowhere", statistics.get()));
  EXPECT_EQ(2u, statistics->getTickerCount(MEMTABLE_MISS));
  EXPECT_EQ(1u, statistics->getTickerCount(GET_HIT_L1));
}

TEST_F(GetPlacesTest, HonoursTiers) {
  ReadOptions cache_only;
  cache_only.read_tier = kBlockCacheTier;
  EXPECT_EQ(PointLookup::State::kFound, Get(cache_only, "fresh", nullptr));
  Get(cache_only, "key1", nullptr);
  EXPECT_TRUE(status_.IsIncomplete()) << status_.ToString();
  EXPECT_EQ(PointLookup::State::kSearching, Get(ReadOptions(), "fresh", nullptr, true));
  EXPECT_EQ(PointLookup::State::kFound, Get(ReadOptions(), "key1", nullptr, true));
  // Now the block is cached.
  EXPECT_EQ(PointLookup::State::kFound, Get(cache_only, "key1", nullptr));
  ReadOptions memtables_only;
  memtables_only.read_tier = kMemtableTier;
  Get(memtables_only, "fresh", nullptr);
  EXPECT_TRUE(status_.IsNotSupported());
}

TEST_F(GetPlacesTest, AMissingTableIsAnErrorAndNotAnAbsentKey) {
  ASSERT_TRUE(lsm_.fs()->DeleteFile("/db/000007.sst", IOOptions(), nullptr).ok());
  EXPECT_EQ(PointLookup::State::kFailed, Get(ReadOptions(), "key1", nullptr));
  EXPECT_FALSE(status_.ok());
  bool found = false;
  PointLookup lookup("key1", kMaxSequenceNumber, nullptr);
  EXPECT_TRUE(KeyMayExistInSuperVersion(ReadOptions(), lsm_.current(), &lookup, nullptr, &found));
  EXPECT_FALSE(found);
}

}  // namespace
}  // namespace varve::test
