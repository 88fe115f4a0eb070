// SPDX-License-Identifier: Apache-2.0

// Goal: an Add that fails, because a comparator throws or its batch is given up, leaves a table
// that takes others and is read as if what failed were not there. Method: comparators that throw at
// every of their calls in turn; sequences left out at every kind of read.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "varve/comparator.h"

#include "tests/memtable/representations.h"

namespace varve {
namespace {

// Orders by bytes in a way that is unknown to the table.
class Throwing : public Comparator {
 public:
  const char* Name() const override { return "test.Throwing"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (calls_left > 0 && --calls_left == 0) throw std::runtime_error("comparator");
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

  mutable int calls_left = 0;  // 0: any number
};

std::string ScatteredKey(uint64_t i) {
  return "key" + std::to_string(i * 7919 % 1000);
}

// Returns the content of the table, by either way of reading.
std::map<std::string, std::string> Walk(const MemTable& mem) {
  std::map<std::string, std::string> entries;
  const auto it = mem.NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    entries.emplace(ExtractUserKey(it->key()).ToString(), it->value().ToString());
  }
  size_t backward = 0;
  for (it->SeekToLast(); it->Valid(); it->Prev()) backward++;
  EXPECT_GE(backward, entries.size());
  for (const auto& [key, value] : entries) {
    PinnableSlice found;
    PointLookup lookup(key, kMaxSequenceNumber, &found);
    EXPECT_TRUE(mem.Get(&lookup)) << key;
    EXPECT_EQ(found.ToString(), value) << key;
  }
  return entries;
}

// A thread that waits for a lock that was not released waits for ever.
class MemTableFailureTest : public EachRepresentation {};

VARVE_EACH_REPRESENTATION(MemTableFailureTest);

TEST_P(MemTableFailureTest, AComparatorThatThrowsLeavesNoLock) {
  if (IsVector()) return;  // it compares when it is read
  int at = 1;
  for (bool thrown = true; thrown; at++) {
    const Throwing comparator;
    const InternalKeyComparator order(&comparator);
    MemTable mem(order, Options(), 1);
    std::map<std::string, std::string> expected;
    SequenceNumber seq = 1;
    const auto add = [&](bool one_by_one) {
      std::vector<std::string> keys;
      for (uint64_t i = 0; i < 16; i++) keys.push_back(ScatteredKey(seq + i));
      std::vector<MemTableEntry> batch;
      for (const std::string& key : keys) batch.push_back({seq++, kTypeValue, key, key});
      Status s;
      if (!one_by_one) s = mem.Add(batch);
      for (size_t i = 0; one_by_one && s.ok() && i < batch.size(); i++) {
        s = mem.Add(batch[i].seq, batch[i].type, batch[i].key, batch[i].value);
      }
      if (s.ok()) {
        for (const std::string& key : keys) expected[key] = key;
      }
      return s;
    };
    const auto read = [&] {
      for (int i = 0; i < 40; i++) {
        PinnableSlice found;
        PointLookup lookup(ScatteredKey(static_cast<uint64_t>(i)), kMaxSequenceNumber, &found);
        try {
          (void)mem.Get(&lookup);
        } catch (const std::runtime_error&) {
        }
      }
    };
    for (int i = 0; i < 12; i++) ASSERT_TRUE(add(i % 2 == 0).ok());
    if (at % 2 == 0) read();  // so that an index is built, and reads are among those that fail
    comparator.calls_left = at;
    Status s;
    for (int i = 0; i < 4 && s.ok(); i++) s = add(at % 3 == 0);
    if (at % 4 == 0) read();
    thrown = comparator.calls_left == 0;
    EXPECT_TRUE(s.ok() || s.IsAborted()) << s.ToString();
    comparator.calls_left = 0;
    for (int i = 0; i < 6; i++) ASSERT_TRUE(add(i % 2 == 0).ok()) << at;
    read();
    const auto found = Walk(mem);
    for (const auto& [key, value] : expected) ASSERT_EQ(found.count(key), 1u) << key << " " << at;
    uint64_t walked = 0;
    const auto it = mem.NewIterator();
    for (it->SeekToFirst(); it->Valid(); it->Next()) walked++;
    ASSERT_EQ(mem.entry_count(), walked) << at;
  }
  EXPECT_GT(at, 300);
}

class LeftOutTest : public EachRepresentation {
 protected:
  LeftOutTest() : mem_(std::make_unique<MemTable>(order_, Options(), 1)) {}
  void Put(SequenceNumber seq, const std::string& key) {
    ASSERT_TRUE(mem_->Add(seq, kTypeValue, key, std::to_string(seq)).ok());
  }
  std::string Get(const std::string& key, SequenceNumber snapshot = kMaxSequenceNumber) {
    PinnableSlice value;
    PointLookup lookup(key, snapshot, &value);
    if (!mem_->Get(&lookup)) return "(unknown)";
    return lookup.state() == PointLookup::State::kFound ? value.ToString() : "(deleted)";
  }

  const InternalKeyComparator order_{BytewiseComparator()};
  const std::unique_ptr<MemTable> mem_;
  const std::shared_ptr<InvalidatedSequences> invalidated_ =
      std::make_shared<InvalidatedSequences>(2);
};

TEST_P(LeftOutTest, NobodyFindsWhatIsLeftOutNorMissesWhatIsOlderOrNewer) {
  for (SequenceNumber seq = 1; seq <= 100; seq++) Put(seq, ScatteredKey(seq));
  for (int i = 0; i < 100; i++) (void)Get(ScatteredKey(1));  // an index is there
  for (SequenceNumber seq = 101; seq <= 150; seq++) Put(seq, ScatteredKey(seq - 100));
  ASSERT_TRUE(mem_->Add(151, kTypeDeletion, ScatteredKey(60), "").ok());
  ASSERT_TRUE(mem_->Add(152, kTypeRangeDeletion, "key", "kez").ok());
  Put(153, "new");
  Put(154, ScatteredKey(1));
  EXPECT_FALSE(mem_->RangeTombstones().empty());
  const auto before = mem_->NewIterator();
  ASSERT_TRUE(invalidated_->Add(101, 153));
  mem_->LeaveOut(invalidated_);
  uint64_t left_out = 0;
  ASSERT_TRUE(mem_->CountLeftOut(&left_out).ok());
  EXPECT_EQ(left_out, 52u);
  EXPECT_TRUE(mem_->RangeTombstones().empty());
  EXPECT_FALSE(mem_->IteratorsSeeAdditions());
  EXPECT_EQ(Get(ScatteredKey(1)), "154");
  EXPECT_EQ(Get(ScatteredKey(1), 153), "1");
  EXPECT_EQ(Get(ScatteredKey(2)), "2");
  EXPECT_EQ(Get(ScatteredKey(60)), "60");
  EXPECT_EQ(Get("new"), "(unknown)");
  EXPECT_EQ(Walk(*mem_).size(), 100u);
  uint64_t walked = 0;
  const auto it = mem_->NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next()) walked++;
  EXPECT_EQ(walked, 101u);
  it->SeekForPrev(InternalKey("new", 0, kTypeDeletion).Encode());
  ASSERT_TRUE(it->Valid());
  EXPECT_NE(ExtractUserKey(it->key()).ToString(), "new");
  // More of them follow, and a later entry.
  Put(155, "late");
  ASSERT_TRUE(mem_->Add(156, kTypeRangeDeletion, "a", "z").ok());
  ASSERT_TRUE(invalidated_->Add(155, 156));
  mem_->LeaveOut(invalidated_);
  EXPECT_EQ(Get("late"), "(unknown)");
  EXPECT_EQ(Get(ScatteredKey(2)), "2");
  ASSERT_TRUE(mem_->Add(157, kTypeRangeDeletion, "a", "z").ok());
  EXPECT_EQ(Get(ScatteredKey(2)), "(deleted)");
  EXPECT_FALSE(invalidated_->Add(200, 201)) << "there is room for two";
}

// If only tombstones came in, they are removed, and other writes may get the next sequence numbers.
TEST_P(LeftOutTest, ATableWhoseTombstonesAreLeftOutIsNotEmpty) {
  ASSERT_TRUE(mem_->Add(1, kTypeRangeDeletion, "a", "z").ok());
  ASSERT_TRUE(invalidated_->Add(1, 3));
  mem_->LeaveOut(invalidated_);
  EXPECT_FALSE(mem_->Empty());
  EXPECT_EQ(mem_->entry_count(), 0U);
}

TEST_P(LeftOutTest, ATableWithNothingToLeaveOutRemembersNothing) {
  ASSERT_TRUE(invalidated_->Add(1, 3));
  mem_->LeaveOut(invalidated_);
  EXPECT_TRUE(mem_->Empty());
  Put(4, "k");
  Put(5, "l");
  const auto later = std::make_shared<InvalidatedSequences>(1);
  ASSERT_TRUE(later->Add(5, 5));
  mem_->LeaveOut(later);
  EXPECT_EQ(Get("k"), "4");
  EXPECT_EQ(Get("l"), "(unknown)");
}

VARVE_EACH_REPRESENTATION(LeftOutTest);

}  // namespace
}  // namespace varve
