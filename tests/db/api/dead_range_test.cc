// SPDX-License-Identifier: Apache-2.0

// Goal: knowledge of deleted ranges that one walk gains changes nothing for another but its cost.
// Method: stories of two walks, the second with other bounds, another tier, or after a flush.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "varve/cache.h"
#include "varve/compaction_filter.h"
#include "varve/perf_context.h"
#include "varve/perf_level.h"
#include "varve/table.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

std::string Key(int i) {
  std::string digits = std::to_string(i);
  return "k" + std::string(5 - digits.size(), '0') + digits;
}

class DeadRangeStory : public Database {
 protected:
  void OpenCached() {
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(64 << 20);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.disable_auto_compactions = true;
    Open();
  }
  // The state a walk from the first, or to the last, key ends in.
  Status Walk(const ReadOptions& read, bool backward) {
    const std::unique_ptr<Iterator> it(db()->NewIterator(read));
    backward ? it->SeekToLast() : it->SeekToFirst();
    EXPECT_FALSE(it->Valid());
    return it->status();
  }
};

TEST_F(DeadRangeStory, AWalkDoesNotReadBeyondItsBounds) {
  OpenCached();
  for (int i = 0; i < 10000; i++) Delete(Key(i));
  Flush();
  const std::string low = Key(4000);
  const std::string high = Key(5200);
  const Slice lower(low);
  const Slice upper(high);
  ReadOptions bounded;
  bounded.iterate_lower_bound = &lower;
  bounded.iterate_upper_bound = &upper;
  for (const bool backward : {false, true}) {
    ASSERT_TRUE(Walk(bounded, backward).ok());
  }
  ReadOptions unbounded;
  unbounded.fill_cache = false;
  ASSERT_TRUE(Walk(unbounded, false).ok());
  SetPerfLevel(PerfLevel::kEnableCount);
  for (const bool backward : {false, true}) {
    SCOPED_TRACE(backward);
    get_perf_context()->Reset();
    EXPECT_TRUE(Walk(bounded, backward).ok());
    EXPECT_EQ(get_perf_context()->block_read_count, 0u);
    EXPECT_LT(get_perf_context()->internal_delete_skipped_count, 1200u) << "nothing was learnt";
    ReadOptions cached = bounded;
    cached.read_tier = kBlockCacheTier;
    const Status s = Walk(cached, backward);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  SetPerfLevel(PerfLevel::kDisable);
}

// While true, flushes drop everything from "a" on, without tombstones.
std::atomic<bool> on{false};

class DropAll : public CompactionFilter {
 public:
  const char* Name() const override { return "DropAll"; }
  Decision FilterV2(int, const Slice&, ValueType, const Slice&, std::string*,
                    std::string* skip_until) const override {
    if (!on) return Decision::kKeep;
    *skip_until = "z";
    return Decision::kRemoveAndSkipUntil;
  }
};

class DropAllFactory : public CompactionFilterFactory {
 public:
  const char* Name() const override { return "DropAllFactory"; }
  bool ShouldFilterTableFileCreation(TableFileCreationReason reason) const override {
    return reason == TableFileCreationReason::kFlush;
  }
  std::unique_ptr<CompactionFilter> CreateCompactionFilter(
      const CompactionFilter::Context&) override {
    return std::make_unique<DropAll>();
  }
};

TEST_F(DeadRangeStory, DeletionsThatAFlushDropsCoverNothingAnyMore) {
  options_.compaction_filter_factory = std::make_shared<DropAllFactory>();
  OpenCached();
  on = false;
  for (int i = 0; i < 5000; i++) Put(Key(i), "older");
  Flush();
  for (int i = 1; i <= 200; i++) Delete(Key(i));
  Flush();
  Put("a", "");
  for (int i = 0; i < 5000; i++) Delete(Key(i));
  {
    const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    it->Next();
    ASSERT_FALSE(it->Valid());
  }
  on = true;
  Flush();
  on = false;
  const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Key(0));
  int found = 0;
  for (; it->Valid(); it->Next()) found++;
  EXPECT_EQ(found, 4800);
}

}  // namespace
}  // namespace varve::testing
