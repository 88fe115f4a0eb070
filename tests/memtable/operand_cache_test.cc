// SPDX-License-Identifier: Apache-2.0

// Keys with very many operands, whose readers leave lists for each other.

#include "memtable/operand_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/perf_context.h"
#include "varve/perf_level.h"

#include "memtable/memtable.h"
#include "util/key/merge_operands.h"
#include "util/key/point_lookup.h"

namespace varve {
namespace {

using Lists = std::vector<std::unique_ptr<OperandList>>;

Lists MakeLists(std::initializer_list<uint64_t> newest) {
  Lists lists;
  for (const uint64_t trailer : newest) {
    lists.push_back(std::make_unique<OperandList>());
    lists.back()->newest = trailer;
  }
  return lists;
}

constexpr size_t kNoLimit = SIZE_MAX;

TEST(OperandCacheTest, NewListsComeBeforeTheOldOnes) {
  OperandCache lists;
  EXPECT_EQ(lists.Find("k", 7), nullptr);
  lists.Extend("k", 7, nullptr, MakeLists({50, 40}), kNoLimit);
  const OperandList* const head = lists.Find("k", 7);
  ASSERT_NE(head, nullptr);
  EXPECT_EQ(head->newest, 50u);
  EXPECT_EQ(head->older->newest, 40u);
  EXPECT_EQ(head->older->older, nullptr);
  lists.Extend("k", 7, head, MakeLists({60}), kNoLimit);
  ASSERT_EQ(lists.Find("k", 7)->newest, 60u);
  EXPECT_EQ(lists.Find("k", 7)->older, head);
  // These lists were made beside another reader's.
  lists.Extend("k", 7, head, MakeLists({70}), kNoLimit);
  EXPECT_EQ(lists.Find("k", 7)->newest, 60u);
}

TEST(OperandCacheTest, KeysOfOneHashAreKeptApartAndSomeHaveNoPlace) {
  OperandCache lists;
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e"};
  for (size_t i = 0; i < keys.size(); i++) {
    EXPECT_EQ(lists.Find(keys[i], 62), nullptr);
    lists.Extend(keys[i], 62, nullptr, MakeLists({i + 1}), kNoLimit);
  }
  for (size_t i = 0; i < 4; i++) EXPECT_EQ(lists.Find(keys[i], 62)->newest, i + 1);
  EXPECT_EQ(lists.Find("e", 62), nullptr);
}

TEST(OperandCacheTest, TakeNoMoreThanTheyMay) {
  OperandCache lists;
  lists.Extend("k", 7, nullptr, MakeLists({1}), sizeof(OperandList) - 1);
  EXPECT_EQ(lists.Find("k", 7), nullptr);
  EXPECT_EQ(lists.MemoryUsage(), 0u);
  lists.Extend("k", 7, nullptr, MakeLists({1}), sizeof(OperandList));
  EXPECT_NE(lists.Find("k", 7), nullptr);
  EXPECT_EQ(lists.MemoryUsage(), sizeof(OperandList));
  lists.Extend("l", 8, nullptr, MakeLists({1}), 2 * sizeof(OperandList) - 1);
  EXPECT_EQ(lists.Find("l", 8), nullptr);
}

// Compares a memtable with the operands that were written.
class ManyOperandsTest : public testing::Test {
 protected:
  struct Written {
    SequenceNumber sequence;
    ValueType type;
    std::string value;
  };

  ManyOperandsTest() : order_(BytewiseComparator()), mem_(order_, MemTableOptions(), 9) {}

  void Write(ValueType type, const std::string& value) {
    sequence_++;
    ASSERT_TRUE(mem_.Add(sequence_, type, "key", type == kTypeRangeDeletion ? "kez" : value).ok());
    written_.push_back({sequence_, type, value});
  }
  // Operands from the newest on, then the base.
  std::vector<std::string> Expected(SequenceNumber snapshot) const {
    std::vector<std::string> values;
    for (size_t i = written_.size(); i > 0; i--) {
      const Written& w = written_[i - 1];
      if (w.sequence > snapshot) continue;
      if (w.type != kTypeMerge && w.type != kTypeValue) break;
      values.push_back(w.value);
      if (w.type == kTypeValue) break;
    }
    return values;
  }
  std::vector<std::string> Read(SequenceNumber snapshot) {
    PointLookup lookup("key", snapshot, nullptr);
    MergeOperands* const operands = MergeOperands::Acquire();
    lookup.CollectInto(operands, std::min(snapshot, whole_through_));
    operands->wants_value = false;
    (void)mem_.Get(&lookup);
    std::vector<std::string> values;
    for (const Slice& value : operands->slices()) values.push_back(value.ToString());
    EXPECT_EQ(operands->in_memtables(), values.size() + (operands->base() != nullptr ? 1 : 0));
    if (operands->base() != nullptr) values.push_back(operands->base()->ToString());
    return values;
  }
  void Merge(size_t n) {
    for (size_t i = 0; i < n; i++) Write(kTypeMerge, std::to_string(sequence_));
  }
  // The second reader of a list makes hardly any comparisons.
  uint64_t ComparisonsOfRead() {
    SetPerfLevel(PerfLevel::kEnableCount);
    get_perf_context()->Reset();
    (void)Read(sequence_);
    const uint64_t n = get_perf_context()->user_key_comparison_count;
    SetPerfLevel(PerfLevel::kDisable);
    return n;
  }

  const InternalKeyComparator order_;
  MemTable mem_;
  SequenceNumber sequence_ = 10;
  SequenceNumber whole_through_ = kMaxSequenceNumber;
  std::vector<Written> written_;
};

TEST_F(ManyOperandsTest, ASecondReaderVisitsFewEntries) {
  Merge(20000);
  const uint64_t first = ComparisonsOfRead();
  EXPECT_GT(first, 500u);
  EXPECT_LT(ComparisonsOfRead(), first / 2);
  Merge(300);
  EXPECT_LT(ComparisonsOfRead(), first / 2);
  EXPECT_EQ(Read(sequence_), Expected(sequence_));
}

TEST_F(ManyOperandsTest, FewOperandsMakeNoLists) {
  Merge(100);
  const size_t before = mem_.MemoryUsage();
  (void)Read(sequence_);
  EXPECT_EQ(mem_.MemoryUsage(), before);
}

TEST_F(ManyOperandsTest, EverySnapshotReadsItsOwn) {
  std::mt19937 random(301);
  for (int round = 0; round < 150; round++) {
    switch (random() % 16) {
      case 0:
        Write(kTypeValue, "base" + std::to_string(round));
        break;
      case 1:
        Write(kTypeDeletion, "");
        break;
      case 2:
        Write(kTypeRangeDeletion, "");
        break;
      default:
        Merge(random() % 900);
    }
    for (int i = 0; i < 3; i++) {
      // Mostly the present: old snapshots leave no lists.
      const SequenceNumber snapshot = i == 2 ? 10 + random() % (sequence_ - 9) : sequence_;
      ASSERT_EQ(Read(snapshot), Expected(snapshot)) << round << ' ' << snapshot;
    }
  }
}

// Inserts are unordered, so a read at the newest sequence number may pass the place of an operand
// that is not there yet.
TEST_F(ManyOperandsTest, AnOperandThatComesLateIsMissingInNoList) {
  Merge(600);
  whole_through_ = sequence_;
  const Written late{++sequence_, kTypeMerge, "late"};
  Merge(600);
  EXPECT_EQ(Read(sequence_), Expected(sequence_));
  const size_t with_lists = mem_.MemoryUsage();
  ASSERT_TRUE(mem_.Add(late.sequence, late.type, "key", late.value).ok());
  written_.insert(written_.begin() + 600, late);
  EXPECT_EQ(Read(sequence_), Expected(sequence_));
  // Once all are there, lists of them are made as well.
  whole_through_ = sequence_;
  for (int i = 0; i < 2; i++) EXPECT_EQ(Read(sequence_), Expected(sequence_));
  EXPECT_GT(mem_.MemoryUsage(), with_lists);
}

TEST_F(ManyOperandsTest, ReadersMakeListsWhileAWriterAdds) {
  std::atomic<SequenceNumber> published{sequence_};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; i++) {
    readers.emplace_back([&] {
      SequenceNumber seen = 0;
      while (seen < 10 + 30000) {
        seen = published.load(std::memory_order_acquire);
        const std::vector<std::string> values = Read(seen);
        // The value of an operand is the sequence number before its own.
        bool right = values.size() == seen - 10;
        for (size_t k = 0; k < values.size(); k++)
          right &= values[k] == std::to_string(seen - 1 - k);
        wrong += right ? 0 : 1;
      }
    });
  }
  for (int i = 0; i < 30000; i++) {
    Merge(1);
    published.store(sequence_, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace varve
