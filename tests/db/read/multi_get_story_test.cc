// SPDX-License-Identifier: Apache-2.0

// Goal: MultiGet of a whole database answers every key from one moment, whatever happens meanwhile.
// Method: faults in single files, limits of time and of bytes, and readers beside writers, flushes
// and compactions under a cache of a few blocks (sanitizers judge).

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "varve/cache.h"
#include "varve/filter_policy.h"
#include "varve/statistics.h"
#include "varve/table.h"

#include "tests/harness/database.h"
#include "util/metrics/perf_counters.h"

namespace varve::testing {
namespace {

class MultiGetStory : public Database {
 protected:
  void UseCache(size_t bytes) {
    BlockBasedTableOptions table;
    table.block_size = 256;
    table.block_cache = NewLRUCache(bytes, /*num_shard_bits=*/0);
    table.filter_policy.reset(NewBloomFilterPolicy(10));
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
  }

  // Values and statuses of these keys of a family; a failed key has its status as value.
  std::vector<std::string> MultiGet(const std::vector<std::string>& keys,
                                    const ReadOptions& options = ReadOptions(),
                                    const std::string& family = "default") {
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db()->MultiGet(options, Handle(family), keys.size(), slices.data(), values.data(),
                   statuses.data());
    std::vector<std::string> answers;
    for (size_t i = 0; i < keys.size(); i++) {
      answers.push_back(statuses[i].ok() ? values[i].ToString() : statuses[i].ToString());
    }
    return answers;
  }

  static std::string Key(size_t i) { return "key" + std::to_string(1000 + i); }
};

TEST_F(MultiGetStory, AFileThatCannotBeReadFailsItsOwnKeysOnly) {
  UseCache(1 << 20);
  options_.disable_auto_compactions = true;
  Open();
  MakeTable({"a1", "a2", "a3"});
  MakeTable({"b1", "b2", "b3"});
  const std::vector<std::string> files = Files(kTableFile);
  ASSERT_EQ(2u, files.size());
  // Opens both tables, so that what follows concerns data blocks.
  EXPECT_EQ("NOT_FOUND", Get("a1x"));
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.path_contains = files[0];
  rule.sticky = true;
  faults().Inject(rule);
  std::vector<std::string> answers = MultiGet({"a1", "a3", "b1", "b3"});
  EXPECT_TRUE(Slice(answers[0]).starts_with("IO error")) << answers[0];
  EXPECT_TRUE(Slice(answers[1]).starts_with("IO error")) << answers[1];
  EXPECT_EQ("of b1", answers[2]);
  EXPECT_EQ("of b3", answers[3]);
  faults().ClearFaults();
  EXPECT_THAT(MultiGet({"a1", "a3"}), ::testing::ElementsAre("of a1", "of a3"));
}

TEST_F(MultiGetStory, OneReadThatFailsIsRepeatedBlockByBlock) {
  UseCache(1 << 20);
  Open();
  std::vector<std::string> keys;
  for (size_t i = 0; i < 100; i++) keys.push_back(Key(i));
  MakeTable(keys);
  EXPECT_EQ("NOT_FOUND", Get(Key(50) + "x"));
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  faults().Inject(rule);
  const std::vector<std::string> answers = MultiGet(keys);
  for (size_t i = 0; i < keys.size(); i++) EXPECT_EQ("of " + keys[i], answers[i]);
  EXPECT_EQ(1u, faults().strikes());
}

TEST_F(MultiGetStory, CountsByTheNamesThatToolsKnow) {
  options_.statistics = CreateDBStatistics();
  UseCache(1 << 20);
  Open({"default", "a"});
  MakeTable({"k1", "k2"});
  Put("k3", "k3");
  SetPerfLevel(kEnableCount);
  const uint64_t bytes_before = get_perf_context()->multiget_read_bytes;
  MultiGet({"k1", "k2", "k3", "k4"});
  EXPECT_EQ(12u, get_perf_context()->multiget_read_bytes - bytes_before);
  SetPerfLevel(kDisable);
  Statistics& s = *options_.statistics;
  EXPECT_EQ(1u, s.getTickerCount(NUMBER_MULTIGET_CALLS));
  EXPECT_EQ(4u, s.getTickerCount(NUMBER_MULTIGET_KEYS_READ));
  EXPECT_EQ(3u, s.getTickerCount(NUMBER_MULTIGET_KEYS_FOUND));
  EXPECT_EQ(12u, s.getTickerCount(NUMBER_MULTIGET_BYTES_READ));
  EXPECT_EQ(1u, s.getTickerCount(MEMTABLE_HIT));
  EXPECT_EQ(2u, s.getTickerCount(GET_HIT_L0));
  HistogramData data;
  s.histogramData(BYTES_PER_MULTIGET, &data);
  EXPECT_EQ(12.0, data.max);
  s.histogramData(DB_MULTIGET, &data);
  EXPECT_EQ(1u, data.count);
}

TEST_F(MultiGetStory, ADeadlineStopsReadsOfFilesButNotOfMemory) {
  UseCache(1 << 20);
  Open();
  MakeTable({"k1", "k2"});
  EXPECT_EQ("NOT_FOUND", Get("k1x"));
  Put("k3", "k3");
  ReadOptions late;
  late.deadline = std::chrono::microseconds(1);
  PinnableSlice value;
  ColumnFamilyHandle* const family = db()->DefaultColumnFamily();
  EXPECT_TRUE(db()->Get(late, family, "k1", &value).IsTimedOut());
  EXPECT_TRUE(db()->Get(late, family, "k3", &value).ok());
  EXPECT_TRUE(Slice(MultiGet({"k3"}, late)[0]).starts_with("Operation timed out"));
  ReadOptions early;
  early.deadline = std::chrono::hours(24 * 365 * 200);
  early.io_timeout = std::chrono::microseconds(1);
  EXPECT_THAT(MultiGet({"k1", "k2"}, early), ::testing::ElementsAre("of k1", "of k2"));
  EXPECT_TRUE(db()->Get(late, family, "k1", &value).ok()) << "its block is cached now";
}

TEST_F(MultiGetStory, ManyKeysInAnyOrderWithTheFlagSetOrNot) {
  UseCache(4 << 10);
  Open({"default", "a"});
  std::vector<std::string> keys;
  for (size_t i = 0; i < 1000; i++) {
    keys.push_back(Key(i * 7919 % 1000));
    if (i % 3 != 0) Put(keys.back(), "v" + keys.back(), i % 3 == 1 ? "default" : "a");
    if (i == 700) Flush();
    if (i == 800) Flush("a");
  }
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::vector<ColumnFamilyHandle*> handles;
  for (size_t i = 0; i < keys.size(); i++) handles.push_back(Handle(i % 3 == 1 ? "default" : "a"));
  for (const bool sorted_input : {false, true}) {
    std::vector<PinnableSlice> values(keys.size());
    std::vector<Status> statuses(keys.size());
    db()->MultiGet(ReadOptions(), keys.size(), handles.data(), slices.data(), values.data(),
                   statuses.data(), sorted_input);
    for (size_t i = 0; i < keys.size(); i++) {
      ASSERT_EQ(i % 3 != 0, statuses[i].ok()) << statuses[i].ToString();
      if (i % 3 != 0) {
        ASSERT_EQ("v" + keys[i], values[i].ToString());
      }
    }
  }
}

TEST_F(MultiGetStory, ShowsOneMomentBesideWritersFlushesAndCompactions) {
  UseCache(1 << 10);
  options_.write_buffer_size = 64 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  Open({"default", "a"});
  constexpr size_t kKeys = 100;
  // All keys of both families have the same value at each moment.
  const auto write_all = [&](const std::string& value) {
    WriteBatch batch;
    for (size_t i = 0; i < kKeys; i++) {
      EXPECT_TRUE(batch.Put(Handle(i % 2 == 0 ? "default" : "a"), Key(i), value).ok());
    }
    return db()->Write(WriteOptions(), &batch);
  };
  ASSERT_TRUE(write_all("0").ok());
  std::atomic<bool> stop{false};
  const auto read = [&](uint32_t seed) {
    while (!stop.load()) {
      std::vector<std::string> keys;
      std::vector<ColumnFamilyHandle*> handles;
      for (size_t i = 0; i < 40; i++) {
        seed = seed * 1664525 + 1013904223;
        const size_t key = (seed >> 8) % kKeys;
        keys.push_back(Key(key));
        handles.push_back(Handle(key % 2 == 0 ? "default" : "a"));
      }
      std::vector<std::string> values;
      const std::vector<Slice> slices(keys.begin(), keys.end());
      for (const Status& s : db()->MultiGet(ReadOptions(), handles, slices, &values)) {
        ASSERT_TRUE(s.ok()) << s.ToString();
      }
      for (const std::string& value : values) ASSERT_EQ(values[0], value);
    }
  };
  std::vector<std::thread> readers;
  for (uint32_t t = 0; t < 3; t++) readers.emplace_back(read, t);
  for (int round = 1; round <= 150; round++) {
    ASSERT_TRUE(write_all(std::to_string(round) + std::string(100, 'v')).ok());
    if (round % 10 == 0) Flush(round % 20 == 0 ? "a" : "default");
    if (round % 50 == 0) {
      ASSERT_TRUE(db()->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
    }
  }
  stop.store(true);
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace varve::testing
