// SPDX-License-Identifier: Apache-2.0

// The memtable as the rest of the engine sees it: reads at snapshots, range tombstones, the filter,
// iteration, and when it is full.

#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <string>

#include "varve/comparator.h"
#include "varve/slice_transform.h"
#include "varve/write_buffer_manager.h"

namespace varve {
namespace {

using State = PointLookup::State;

const InternalKeyComparator& Order() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

class MemTableTest : public testing::Test {
 protected:
  void Make(const MemTableOptions& options = {}) {
    mem_ = std::make_unique<MemTable>(Order(), options, 9);
  }
  void SetUp() override { Make(); }

  void Put(SequenceNumber seq, const std::string& key, const std::string& value) {
    ASSERT_TRUE(mem_->Add(seq, kTypeValue, key, value).ok());
  }

  // The value, "(deleted)", or "(unknown)" when older sources decide.
  std::string Get(const std::string& key, SequenceNumber snapshot = kMaxSequenceNumber) {
    PinnableSlice value;
    PointLookup lookup(key, snapshot, &value);
    const bool over = mem_->Get(&lookup);
    EXPECT_EQ(over, lookup.state() != State::kSearching);
    switch (lookup.state()) {
      case State::kFound:
        return value.ToString();
      case State::kDeleted:
        return "(deleted)";
      case State::kSearching:
        return "(unknown)";
      case State::kFailed:
        return lookup.status().ToString();
    }
    return "";
  }

  std::unique_ptr<MemTable> mem_;
};

TEST_F(MemTableTest, ASnapshotSeesTheNewestEntryThatIsNotNewer) {
  Put(5, "k", "v5");
  Put(9, "k", "v9");
  ASSERT_TRUE(mem_->Add(12, kTypeDeletion, "k", "").ok());
  Put(2, "a", "");
  EXPECT_EQ(Get("k", 4), "(unknown)");
  EXPECT_EQ(Get("k", 5), "v5");
  EXPECT_EQ(Get("k", 8), "v5");
  EXPECT_EQ(Get("k", 11), "v9");
  EXPECT_EQ(Get("k", 12), "(deleted)");
  EXPECT_EQ(Get("a"), "");
  EXPECT_EQ(Get("kk"), "(unknown)");
  EXPECT_EQ(Get("j"), "(unknown)");
}

TEST_F(MemTableTest, ARangeTombstoneHidesWhatIsOlderHereAndElsewhere) {
  Put(1, "b", "old");
  ASSERT_TRUE(mem_->Add(5, kTypeRangeDeletion, "a", "m").ok());
  Put(8, "c", "new");
  EXPECT_EQ(Get("b"), "(deleted)");
  EXPECT_EQ(Get("b", 4), "old");
  EXPECT_EQ(Get("c"), "new");
  EXPECT_EQ(Get("d"), "(deleted)");  // whatever older sources hold
  EXPECT_EQ(Get("m"), "(unknown)");
  EXPECT_EQ(Get("d", 4), "(unknown)");
}

TEST_F(MemTableTest, FragmentsAreKeptUntilTheNextRangeTombstone) {
  EXPECT_EQ(mem_->RangeTombstones(), nullptr);
  ASSERT_TRUE(mem_->Add(5, kTypeRangeDeletion, "a", "m").ok());
  const auto first = mem_->RangeTombstones();
  Put(6, "b", "v");
  EXPECT_EQ(mem_->RangeTombstones(), first);
  ASSERT_TRUE(mem_->Add(7, kTypeRangeDeletion, "c", "d").ok());
  const auto second = mem_->RangeTombstones();
  EXPECT_NE(second, first);
  EXPECT_EQ(first->MaxCoveringSeq("c", 100), 5u);
  EXPECT_EQ(second->MaxCoveringSeq("c", 100), 7u);
}

TEST_F(MemTableTest, CountsWhatWasAdded) {
  EXPECT_TRUE(mem_->Empty());
  EXPECT_EQ(mem_->first_seq(), 0u);
  Put(3, "abc", "12345");
  ASSERT_TRUE(mem_->Add(4, kTypeSingleDeletion, "k", "").ok());
  ASSERT_TRUE(mem_->Add(5, kTypeDeletion, "k", "").ok());
  ASSERT_TRUE(mem_->Add(6, kTypeRangeDeletion, "a", "b").ok());
  EXPECT_EQ(mem_->entry_count(), 4u);
  EXPECT_EQ(mem_->deletion_count(), 2u);
  EXPECT_EQ(mem_->range_deletion_count(), 1u);
  EXPECT_GE(mem_->data_bytes(), 3u + 5 + 8 + 2 * 9 + 2);
  EXPECT_EQ(mem_->first_seq(), 3u);
  EXPECT_EQ(mem_->id(), 9u);
}

TEST_F(MemTableTest, TheSameKeyAndSequenceIsRefused) {
  Put(3, "k", "v");
  EXPECT_TRUE(mem_->Add(3, kTypeValue, "k", "w").IsTryAgain());
  EXPECT_EQ(Get("k"), "v");
  EXPECT_EQ(mem_->entry_count(), 1u);
}

TEST_F(MemTableTest, AnIteratorWalksBothWaysAndSeeksBothWays) {
  for (int i = 0; i < 100; i += 2)
    Put(static_cast<SequenceNumber>(i + 1), std::to_string(100 + i), "v" + std::to_string(i));
  const auto it = mem_->NewIterator();
  EXPECT_FALSE(it->Valid());
  int seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next(), seen++) {
    EXPECT_EQ(ExtractUserKey(it->key()).ToString(), std::to_string(100 + 2 * seen));
    EXPECT_EQ(it->value().ToString(), "v" + std::to_string(2 * seen));
  }
  EXPECT_EQ(seen, 50);
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    seen--;
    EXPECT_EQ(ExtractUserKey(it->key()).ToString(), std::to_string(100 + 2 * seen));
  }
  EXPECT_EQ(seen, 0);
  const auto user_key = [&] {
    return it->Valid() ? ExtractUserKey(it->key()).ToString() : std::string("(end)");
  };
  const auto target = [](const char* key, ValueType type, SequenceNumber seq) {
    return InternalKey(key, seq, type);
  };
  it->Seek(target("111", kValueTypeForSeek, kMaxSequenceNumber).Encode());
  EXPECT_EQ(user_key(), "112");
  it->SeekForPrev(target("111", kValueTypeForSeekForPrev, 0).Encode());
  EXPECT_EQ(user_key(), "110");
  it->SeekForPrev(target("112", kTypeValue, 13).Encode());  // the entry itself
  EXPECT_EQ(user_key(), "112");
  it->SeekForPrev(target("112", kTypeValue, 14).Encode());  // newer than the entry: before it
  EXPECT_EQ(user_key(), "110");
  it->Seek(target("2", kValueTypeForSeek, kMaxSequenceNumber).Encode());
  EXPECT_EQ(user_key(), "(end)");
  it->SeekForPrev(target("0", kValueTypeForSeekForPrev, 0).Encode());
  EXPECT_EQ(user_key(), "(end)");
}

TEST_F(MemTableTest, TheFilterNeverHidesAKey) {
  const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(4));
  for (const bool whole_keys : {false, true}) {
    for (const bool prefixes : {false, true}) {
      MemTableOptions options;
      options.write_buffer_bytes = 1 << 20;
      options.prefix_bloom_size_ratio = 0.1;
      options.whole_key_filtering = whole_keys;
      options.prefix_extractor = prefixes ? prefix.get() : nullptr;
      Make(options);
      std::mt19937 random(1);
      for (SequenceNumber i = 1; i < 3000; i++) {
        const std::string key = std::to_string(random() % 1000000);
        Put(i, key, key);
        ASSERT_EQ(Get(key), key);
        ASSERT_EQ(Get(key + "x"), "(unknown)");
      }
      ASSERT_TRUE(mem_->Add(5000, kTypeRangeDeletion, "a", "b").ok());
      EXPECT_EQ(Get("absent"), "(deleted)");
    }
  }
}

TEST(MemTableSizeTest, IsFullJustBelowItsBudget) {
  for (const size_t budget :
       {size_t{64} << 10, size_t{1} << 20, size_t{10} << 20, size_t{64} << 20}) {
    for (const size_t value_bytes : {size_t{10}, size_t{100}, size_t{1000}}) {
      MemTableOptions options;
      options.write_buffer_bytes = budget;
      MemTable mem(Order(), options, 1);
      const std::string value(value_bytes, 'v');
      SequenceNumber seq = 0;
      while (!mem.ShouldSwitch()) {
        ASSERT_TRUE(mem.Add(seq + 1, kTypeValue, std::to_string(seq), value).ok());
        seq++;
        ASSERT_LE(mem.MemoryUsage(), budget + budget / 8 + 4096);
      }
      EXPECT_GE(mem.data_bytes(), budget / 4) << budget;
      EXPECT_LE(mem.MemoryUsage(), budget + budget / 8 + 4096) << budget;
    }
  }
}

TEST(MemTableSizeTest, AnEmptyTableIsNeverFullAndATinyBudgetIsAtOnce) {
  MemTableOptions options;
  options.write_buffer_bytes = 1;
  MemTable mem(Order(), options, 1);
  EXPECT_FALSE(mem.ShouldSwitch());
  ASSERT_TRUE(mem.Add(1, kTypeValue, "k", "v").ok());
  EXPECT_TRUE(mem.ShouldSwitch());
}

TEST(MemTableSizeTest, ALoweredBudgetCountsAtOnce) {
  MemTableOptions options;
  MemTable mem(Order(), options, 1);
  for (SequenceNumber seq = 1; seq < 10000; seq++) {
    ASSERT_TRUE(mem.Add(seq, kTypeValue, std::to_string(seq), std::string(100, 'v')).ok());
  }
  EXPECT_FALSE(mem.ShouldSwitch());
  mem.SetWriteBufferBytes(64 << 10);
  EXPECT_TRUE(mem.ShouldSwitch());
}

TEST(MemTableSizeTest, RangeTombstonesFillTheTableToo) {
  MemTableOptions options;
  options.write_buffer_bytes = 64 << 10;
  MemTable mem(Order(), options, 1);
  SequenceNumber seq = 0;
  while (!mem.ShouldSwitch()) {
    ASSERT_TRUE(mem.Add(seq + 1, kTypeRangeDeletion, std::to_string(seq), "z").ok());
    seq++;
    ASSERT_LT(seq, 10000u);
  }
}

TEST(MemTableSizeTest, TheWriteBufferManagerKnowsWhatIsHeld) {
  WriteBufferManager wbm(100 << 20);
  {
    MemTableOptions options;
    options.write_buffer_manager = &wbm;
    MemTable frozen(Order(), options, 1);
    MemTable active(Order(), options, 2);
    for (SequenceNumber seq = 1; seq < 20000; seq++) {
      ASSERT_TRUE(frozen.Add(seq, kTypeValue, std::to_string(seq), std::string(100, 'v')).ok());
      ASSERT_TRUE(active.Add(seq, kTypeValue, std::to_string(seq), "v").ok());
      ASSERT_EQ(wbm.memory_usage(), frozen.MemoryUsage() + active.MemoryUsage());
    }
    frozen.Freeze();
    frozen.Freeze();
    EXPECT_EQ(wbm.mutable_memtable_memory_usage(), active.MemoryUsage());
    EXPECT_EQ(wbm.memory_usage(), frozen.MemoryUsage() + active.MemoryUsage());
  }
  EXPECT_EQ(wbm.mutable_memtable_memory_usage(), 0u);
  EXPECT_EQ(wbm.memory_usage(), 0u);
}

TEST(MemTableStatsTest, EstimatesTheContentOfARange) {
  MemTable mem(Order(), {}, 1);
  for (SequenceNumber seq = 1; seq <= 20000; seq++) {
    ASSERT_TRUE(mem.Add(seq, kTypeValue, std::to_string(100000 + seq), std::string(92, 'v')).ok());
  }
  uint64_t entries = 0;
  uint64_t bytes = 0;
  mem.ApproximateStats("105000", "115000", &entries, &bytes);
  EXPECT_GT(entries, 6000u);
  EXPECT_LT(entries, 14000u);
  EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(entries * 106), 1000);
  mem.ApproximateStats("2", "3", &entries, &bytes);
  EXPECT_EQ(entries, 0u);
  mem.ApproximateStats("115000", "105000", &entries, &bytes);
  EXPECT_EQ(entries, 0u);
  EXPECT_EQ(bytes, 0u);
}

}  // namespace
}  // namespace varve
