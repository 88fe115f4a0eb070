// SPDX-License-Identifier: Apache-2.0

// Tests the blocked skip list against an ordered map, for each kind of key order and shape of
// input.

#include "memtable/blocked_skip_list.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "varve/comparator.h"

#include "memtable/blocked_skip_list_iterator.h"

namespace varve {
namespace {

// Orders by length, then bytes; the list has no shortcut for this order.
class ByLength : public Comparator {
 public:
  const char* Name() const override { return "test.ByLength"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

const ByLength by_length;

using ModelEntry = std::pair<std::string, uint64_t>;  // user key, trailer

struct EntryLess {
  const Comparator* comparator;
  bool operator()(const ModelEntry& a, const ModelEntry& b) const {
    const int order = comparator->Compare(a.first, b.first);
    return order != 0 ? order < 0 : a.second > b.second;
  }
};

using Model = std::map<ModelEntry, std::string, EntryLess>;

enum class Shape {
  kRandom,
  kAscending,
  kDescending,
  kSharedPrefix,
  kSharedPrefixAscending,
  kOneKey,
  kExtremes
};

std::string MakeKey(Shape shape, size_t i, std::mt19937_64* random) {
  switch (shape) {
    case Shape::kRandom: {
      std::string key((*random)() % 12, '\0');
      for (char& c : key) c = static_cast<char>((*random)() % 4 * 85);
      return key;
    }
    case Shape::kAscending:
      return std::to_string(1000000 + i);
    case Shape::kDescending:
      return std::to_string(9000000 - i);
    case Shape::kSharedPrefix:
      return "a/long/prefix/" + std::to_string((*random)() % 2000);
    case Shape::kSharedPrefixAscending:
      return "a/long/prefix/" + std::to_string(1000000 + i / 3);
    case Shape::kOneKey:
      return "key";
    case Shape::kExtremes:
      return std::string((*random)() % 20, (*random)() % 2 == 0 ? '\xff' : '\0');
  }
  return "";
}

bool Insert(EntryArena* arena, BlockedSkipList* list, const ModelEntry& entry,
            const std::string& value) {
  const EntryArena::Piece piece = arena->Allocate(MemEntry::BytesFor(entry.first, value));
  MemEntry::Write(piece.data, entry.first, entry.second, value);
  return list->Insert(list->MakeTarget(entry.first, entry.second), piece.offset, value.size());
}

class BlockedSkipListTest : public testing::TestWithParam<std::tuple<const Comparator*, Shape>> {
 protected:
  BlockedSkipListTest()
      : comparator_(std::get<0>(GetParam())),
        list_(InternalKeyComparator(comparator_), &arena_, 4),
        model_(EntryLess{comparator_}) {}

  // Calls `between`, if there is one, after every 20th entry.
  void Fill(size_t n, const std::function<void()>& between = nullptr) {
    for (size_t i = 0; i < n; i++) {
      if (between != nullptr && i % 20 == 19) between();
      const ModelEntry entry(MakeKey(std::get<1>(GetParam()), i, &random_),
                             PackSequenceAndType(random_() % (4 * n), kTypeValue));
      const std::string value(random_() % 300, static_cast<char>(i));
      const bool added = model_.emplace(entry, value).second;
      ASSERT_EQ(Insert(&arena_, &list_, entry, value), added);
    }
  }

  void ExpectAt(const InternalIterator& it, Model::const_iterator expected) {
    ASSERT_EQ(it.Valid(), expected != model_.end());
    if (!it.Valid()) return;
    ASSERT_EQ(ExtractUserKey(it.key()).ToString(), expected->first.first);
    ASSERT_EQ(ExtractTrailer(it.key()), expected->first.second);
    ASSERT_EQ(it.value().ToString(), expected->second);
  }
  void ExpectAt(const MemEntry* entry, Model::const_iterator expected) {
    ASSERT_EQ(entry != nullptr, expected != model_.end());
    if (entry == nullptr) return;
    ASSERT_EQ(entry->user_key().ToString(), expected->first.first);
    ASSERT_EQ(ExtractTrailer(entry->internal_key()), expected->first.second);
  }

  const Comparator* const comparator_;
  EntryArena arena_{1 << 12, 1 << 16};
  BlockedSkipList list_;
  Model model_;
  std::mt19937_64 random_{5};
};

TEST_P(BlockedSkipListTest, HoldsWhatAnOrderedMapHolds) {
  Fill(3000);
  BlockedSkipListIterator walk(list_);
  walk.SeekToFirst();
  for (auto it = model_.begin(); it != model_.end(); ++it) {
    ExpectAt(walk, it);
    walk.Next();
  }
  EXPECT_FALSE(walk.Valid());
  walk.SeekToLast();
  for (auto it = model_.end(); it != model_.begin();) {
    ExpectAt(walk, --it);
    walk.Prev();
  }
  EXPECT_FALSE(walk.Valid());
  EXPECT_EQ(list_.totals().entries, model_.size());
}

// A walk leaves the copied leaves in order; later entries are added after that.
TEST_P(BlockedSkipListTest, WalksBetweenInsertsAreExact) {
  size_t known = 0;
  const auto walk_by_batches = [&] {
    BlockedSkipListIterator walk(list_);
    walk.SeekToFirst();
    auto it = model_.begin();
    ExpectAt(walk, it);
    BatchEntry batch[16];
    while (const size_t n = walk.NextBatch(batch, 16)) {
      for (size_t i = 0; i < n; i++) {
        const auto before = it++;
        ASSERT_NE(it, model_.end());
        ASSERT_EQ(ExtractUserKey(batch[i].key()).ToString(), it->first.first);
        ASSERT_EQ(ExtractTrailer(batch[i].key()), it->first.second);
        ASSERT_EQ(batch[i].value().ToString(), it->second);
        if (batch[i].same_key == SameKey::kUnknown) continue;
        known++;
        ASSERT_EQ(batch[i].same_key == SameKey::kYes, it->first.first == before->first.first);
      }
    }
    ASSERT_EQ(std::next(it), model_.end());
  };
  Fill(1500, walk_by_batches);
  walk_by_batches();
  EXPECT_TRUE(known > 0 || comparator_ == &by_length);
  for (const auto& [entry, value] : model_) {
    ASSERT_FALSE(Insert(&arena_, &list_, entry, "other"));
    ExpectAt(list_.LowerBound(list_.MakeTarget(entry.first, entry.second)), model_.find(entry));
  }
}

TEST_P(BlockedSkipListTest, FindsTheNeighboursOfAnyKey) {
  Fill(1000);
  BlockedSkipListIterator walk(list_);
  for (size_t i = 0; i < 3000; i++) {
    ModelEntry probe(MakeKey(std::get<1>(GetParam()), i, &random_),
                     PackSequenceAndType(random_() % 4000, kTypeValue));
    if (i % 3 == 0) probe.first.push_back('x');
    if (i % 7 == 0) probe.second = 0;
    const auto at = model_.lower_bound(probe);
    std::string target = probe.first;
    PutFixed64(&target, probe.second);
    ExpectAt(list_.LowerBound(list_.MakeTarget(probe.first, probe.second)), at);
    walk.Seek(target);
    ExpectAt(walk, at);
    const auto behind = model_.upper_bound(probe);
    const auto before = behind == model_.begin() ? model_.end() : std::prev(behind);
    walk.SeekForPrev(target);
    ExpectAt(walk, before);
    if (!walk.Valid()) continue;
    // Turning round.
    walk.Next();
    ExpectAt(walk, std::next(before));
    if (!walk.Valid()) continue;
    walk.Prev();
    ExpectAt(walk, before);
  }
}

// Whatever is left out on the way to a target, no entry is that is as new as asked for.
TEST_P(BlockedSkipListTest, LeavesOnlyOlderEntriesOut) {
  Fill(1500);
  std::vector<ModelEntry> all;
  for (const auto& [entry, value] : model_) all.push_back(entry);
  const auto count = static_cast<int64_t>(all.size());
  const auto internal = [](const ModelEntry& entry) {
    std::string key = entry.first;
    PutFixed64(&key, entry.second);
    return key;
  };
  BlockedSkipListIterator walk(list_);
  // Returns the position of the walk among all entries; `nowhere` at the end.
  const auto place = [&](int64_t nowhere) {
    if (!walk.Valid()) return nowhere;
    const ModelEntry here(ExtractUserKey(walk.key()).ToString(), ExtractTrailer(walk.key()));
    return static_cast<int64_t>(std::distance(model_.begin(), model_.find(here)));
  };
  int64_t left_out = 0;
  for (size_t i = 0; i < 300; i++) {
    const SequenceNumber below = i % 3 == 0 ? 6000 : 5500 + random_() % 500;
    auto from = static_cast<int64_t>(random_() % all.size());
    const auto to = static_cast<int64_t>(random_() % all.size());
    const bool forward = from < to;
    const std::string target = internal(all[static_cast<size_t>(to)]);
    walk.Seek(internal(all[static_cast<size_t>(from)]));
    while (from != to) {
      const bool skipped =
          forward ? walk.SkipOlder(target, below) : walk.SkipOlderForPrev(target, below);
      if (!skipped) forward ? walk.Next() : walk.Prev();
      const int64_t next = place(forward ? count : -1);
      ASSERT_TRUE(forward ? next > from && next <= to : next < from && next >= to);
      for (int64_t at = from; skipped && at != next; forward ? at++ : at--) {
        ASSERT_LT(UnpackSequence(all[static_cast<size_t>(at)].second), below);
        left_out++;
      }
      from = next;
    }
  }
  EXPECT_GT(left_out, 1000);
}

TEST_P(BlockedSkipListTest, RefusesTheSameInternalKeyTwice) {
  Fill(500);
  for (const auto& [entry, value] : model_) {
    ASSERT_FALSE(Insert(&arena_, &list_, entry, "other"));
  }
  EXPECT_EQ(list_.totals().entries, model_.size());
  BlockedSkipListIterator walk(list_);
  walk.SeekToFirst();
  ExpectAt(walk, model_.begin());
}

INSTANTIATE_TEST_SUITE_P(
    AllOrders, BlockedSkipListTest,
    testing::Combine(testing::Values(BytewiseComparator(), ReverseBytewiseComparator(),
                                     static_cast<const Comparator*>(&by_length)),
                     testing::Values(Shape::kRandom, Shape::kAscending, Shape::kDescending,
                                     Shape::kSharedPrefix, Shape::kSharedPrefixAscending,
                                     Shape::kOneKey, Shape::kExtremes)));

TEST(EmptyBlockedSkipListTest, HasNothing) {
  EntryArena arena(1 << 12, 1 << 16);
  const BlockedSkipList list(InternalKeyComparator(BytewiseComparator()), &arena, 1);
  BlockedSkipListIterator walk(list);
  walk.SeekToFirst();
  EXPECT_FALSE(walk.Valid());
  walk.SeekToLast();
  EXPECT_FALSE(walk.Valid());
  walk.Seek(InternalKey("", 0, kTypeValue).Encode());
  EXPECT_FALSE(walk.Valid());
  walk.SeekForPrev(InternalKey("zzz", 0, kTypeValue).Encode());
  EXPECT_FALSE(walk.Valid());
  EXPECT_EQ(list.LowerBound(list.MakeTarget("", 0)), nullptr);
  EXPECT_EQ(list.EstimateRank("k"), 0u);
}

TEST(BlockedSkipListSpaceTest, RunsFillTheirLeaves) {
  // Ascending keys, descending ones, and versions of one key; then anything. With readers, whose
  // copies leave leaves in order, too.
  for (const int shape : {0, 1, 2, 3}) {
    for (const bool with_readers : {false, true}) {
      constexpr uint64_t kEntries = 20000;
      EntryArena arena(1 << 12, 1 << 16);
      BlockedSkipList list(InternalKeyComparator(BytewiseComparator()), &arena, 1);
      BlockedSkipList::LeafCopy copy;
      std::mt19937_64 random(7);
      for (uint64_t i = 0; i < kEntries; i++) {
        const uint64_t number[] = {i, kEntries - i, 0, random()};
        ASSERT_TRUE(Insert(
            &arena, &list,
            {std::to_string(1000000 + number[shape]), PackSequenceAndType(i, kTypeValue)}, ""));
        if (!with_readers) continue;
        list.CopyFirstLeaf(&copy);
        list.CopyLastLeaf(&copy);
      }
      list.CopyFirstLeaf(&copy);
      uint64_t leaves = 1;
      for (; copy.next != nullptr; leaves++) list.CopyLeaf(copy.next, &copy);
      const double full = static_cast<double>(kEntries) / static_cast<double>(leaves) /
                          static_cast<double>(BlockedSkipList::kSlots);
      EXPECT_GT(full, shape == 3 ? 0.6 : 0.97) << shape << ", readers: " << with_readers;
    }
  }
}

// Once in order, a leaf says of its ties all that the sort found out; a tie of two keys is none of
// two versions, whether they were appended or sorted.
TEST(BlockedSkipListLeafTest, RemembersWhatTied) {
  for (const bool two_keys : {false, true}) {
    for (const bool ascending : {false, true}) {
      EntryArena arena(1 << 12, 1 << 16);
      BlockedSkipList list(InternalKeyComparator(BytewiseComparator()), &arena, 1);
      constexpr uint64_t kEntries = 30;
      for (uint64_t i = 0; i < kEntries; i++) {
        // Trailers descend in the order of insertion.
        const uint64_t n = ascending ? i : (i * 7) % kEntries;
        const char last = two_keys && n >= kEntries / 2 ? 'b' : 'a';
        ASSERT_TRUE(Insert(
            &arena, &list,
            {std::string("same-pre-") + last, PackSequenceAndType(100 - n, kTypeValue)}, ""));
      }
      for (int round = 0; round < 3; round++) {
        BlockedSkipList::LeafCopy copy;
        list.CopyFirstLeaf(&copy);
        ASSERT_EQ(copy.count, kEntries);
        for (uint32_t i = 0; i < copy.count; i++) {
          ASSERT_EQ(
              UnpackSequence(ExtractTrailer(list.EntryAt(copy.slots[i].offset)->internal_key())),
              100 - i);
        }
        if (two_keys) {
          EXPECT_EQ(copy.versions >> (kEntries / 2) & 1, 0u);
        } else if (!ascending) {
          EXPECT_EQ(copy.versions | 1, ~uint64_t{0});
        }
      }
    }
  }
}

TEST(BlockedSkipListRankTest, IsOffByLittleOfTheWhole) {
  constexpr int kEntries = 100000;
  EntryArena arena(1 << 12, 1 << 16);
  BlockedSkipList list(InternalKeyComparator(BytewiseComparator()), &arena, 4);
  for (int i = 0; i < kEntries; i++) {
    ASSERT_TRUE(Insert(&arena, &list,
                       {std::to_string(1000000 + i), PackSequenceAndType(1, kTypeValue)}, ""));
  }
  for (const int rank : {20000, 50000, 90000}) {
    const auto estimate = static_cast<double>(list.EstimateRank(std::to_string(1000000 + rank)));
    EXPECT_NEAR(estimate, rank, kEntries * 0.2);
  }
}

}  // namespace
}  // namespace varve
