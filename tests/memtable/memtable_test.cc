// SPDX-License-Identifier: Apache-2.0

// Tests the memtable as the rest of the engine sees it: reads at snapshots, range tombstones, the
// filter, iteration, and when it is full.

#include "memtable/memtable.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/slice_transform.h"
#include "varve/write_buffer_manager.h"

#include "tests/harness/no_mappings.h"
#include "tests/memtable/representations.h"

namespace varve {
namespace {

using State = PointLookup::State;

void ExpectSameEntries(const MemTable& mem, const MemTable& other) {
  const auto a = mem.NewIterator();
  const auto b = other.NewIterator();
  b->SeekToFirst();
  for (a->SeekToFirst(); a->Valid(); a->Next(), b->Next()) {
    ASSERT_TRUE(b->Valid());
    ASSERT_EQ(a->key(), b->key());
    ASSERT_EQ(a->value(), b->value());
  }
  EXPECT_FALSE(b->Valid());
}

const InternalKeyComparator& Order() {
  static const InternalKeyComparator order(BytewiseComparator());
  return order;
}

class MemTableTest : public EachRepresentation {
 protected:
  void Make(MemTableOptions options = {}) {
    options.rep = GetParam();
    mem_ = std::make_unique<MemTable>(Order(), options, 9);
  }
  void SetUp() override { Make(); }

  void Put(SequenceNumber seq, const std::string& key, const std::string& value) {
    ASSERT_TRUE(mem_->Add(seq, kTypeValue, key, value).ok());
  }

  // Returns the value, "(deleted)", or "(unknown)" if older sources decide.
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
      case State::kMerging:
        return "(operands)";
      case State::kReference:
        return "(reference)";
    }
    return "";
  }

  std::unique_ptr<MemTable> mem_;
};

TEST_P(MemTableTest, ASnapshotSeesTheNewestEntryThatIsNotNewer) {
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

// Changes any bit of key, value, sequence or type.
TEST_P(MemTableTest, AChecksumFindsOutWhatMemoryHasChanged) {
  for (const size_t bytes : {1, 2, 4, 8}) {
    MemTableOptions options;
    options.protection_bytes = bytes;
    Make(options);
    Put(1, "a", "value of a");
    Put(2, "b", "");
    ASSERT_TRUE(mem_->Add(3, kTypeMerge, "c", "operand").ok());
    ASSERT_TRUE(mem_->Add(4, kTypeRangeDeletion, "d", "e").ok());
    Put(1, "d", "covered");
    EXPECT_EQ(Get("a"), "value of a");
    EXPECT_EQ(Get("b"), "");
    EXPECT_EQ(Get("d"), "(deleted)");
    EXPECT_EQ(Get("x"), "(unknown)");
    const auto it = mem_->NewIterator();
    it->Seek(PointLookup("a", kMaxSequenceNumber, nullptr).internal_key());
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->value(), "value of a");
    auto* const key = const_cast<char*>(it->key().data());
    auto* const value = const_cast<char*>(it->value().data());
    for (char* const byte : {value, value + 9, value + 10, key + 1, key + 2}) {
      *byte = static_cast<char>(*byte ^ 1);
      EXPECT_THAT(Get("a", 500), testing::HasSubstr("Corruption")) << bytes << " " << byte - key;
      it->SeekToFirst();
      EXPECT_FALSE(it->Valid());
      EXPECT_TRUE(it->status().IsCorruption());
      *byte = static_cast<char>(*byte ^ 1);
      it->SeekToFirst();
      EXPECT_TRUE(it->Valid() && it->status().ok()) << "it goes on where entries are whole";
    }
    EXPECT_EQ(Get("a"), "value of a");
  }
}

TEST_P(MemTableTest, ARangeTombstoneHidesWhatIsOlderHereAndElsewhere) {
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

TEST_P(MemTableTest, ListsOfRangeTombstonesAreKeptUntilTheNextOne) {
  EXPECT_TRUE(mem_->RangeTombstones().empty());
  ASSERT_TRUE(mem_->Add(5, kTypeRangeDeletion, "a", "m").ok());
  const auto first = mem_->RangeTombstones();
  Put(6, "b", "v");
  EXPECT_EQ(mem_->RangeTombstones(), first);
  ASSERT_TRUE(mem_->Add(7, kTypeRangeDeletion, "c", "d").ok());
  const auto second = mem_->RangeTombstones();
  EXPECT_NE(second, first);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0]->MaxCoveringSeq("c", 100), 5u);
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0]->MaxCoveringSeq("c", 100), 7u);
}

std::string Padded(int i) {
  const std::string digits = std::to_string(i);
  return std::string(8 - digits.size(), '0') + digits;
}

TEST_P(MemTableTest, NestedRangeTombstonesCostLittleAtEachReadAndAreCharged) {
  constexpr int kNested = 4000;
  const auto micros = [] {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
  };
  const size_t before = mem_->MemoryUsage();
  const auto started = micros();
  for (int i = 0; i < kNested; i++) {
    const SequenceNumber seq = static_cast<SequenceNumber>(i) + 10;
    ASSERT_TRUE(mem_->Add(seq, kTypeRangeDeletion, Padded(i), Padded(3 * kNested - i)).ok());
    // A read after each.
    ASSERT_EQ(Get(Padded(i)), "(deleted)");
    ASSERT_EQ(Get(Padded(i), seq - 1), i == 0 ? "(unknown)" : "(deleted)");
  }
  // Cutting all of them wherever one begins or ends would make 16 million pairs, for each read.
  EXPECT_LT(micros() - started, 1000 * 1000);
  const auto lists = mem_->RangeTombstones();
  EXPECT_LE(lists.size(), 12u);
  size_t held = 0;
  for (const auto& list : lists) held += list->MemoryUsage();
  EXPECT_LE(held, size_t{kNested} * 400);
  EXPECT_GE(mem_->MemoryUsage() - before, held);
  for (int i = 0; i < kNested; i += 97) {
    const SequenceNumber seq = static_cast<SequenceNumber>(i) + 10;
    EXPECT_EQ(Get(Padded(i), seq), "(deleted)");
    EXPECT_EQ(Get(Padded(3 * kNested - i), kMaxSequenceNumber), i == 0 ? "(unknown)" : "(deleted)");
  }
}

TEST_P(MemTableTest, ReadersBesideNewRangeTombstonesSeeAllThatWereThere) {
  constexpr int kTombstones = 3000;
  std::atomic<int> added{0};
  std::atomic<int> missed{0};
  std::thread reader([&] {
    for (int seen = 0; seen < kTombstones;) {
      seen = added.load(std::memory_order_acquire);
      if (seen > 0 && Get(Padded(seen - 1)) != "(deleted)") missed++;
    }
  });
  for (int i = 0; i < kTombstones; i++) {
    const SequenceNumber seq = static_cast<SequenceNumber>(i) + 1;
    EXPECT_TRUE(mem_->Add(seq, kTypeRangeDeletion, Padded(i), Padded(i + 1)).ok());
    added.store(i + 1, std::memory_order_release);
  }
  reader.join();
  EXPECT_EQ(missed.load(), 0);
}

TEST_P(MemTableTest, CountsWhatWasAdded) {
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

TEST_P(MemTableTest, TheSameKeyAndSequenceIsRefusedByLists) {
  Put(3, "k", "v");
  const Status s = mem_->Add(3, kTypeValue, "k", "w");
  if (!IsVector()) {
    EXPECT_TRUE(s.IsTryAgain());
    EXPECT_EQ(Get("k"), "v");
    EXPECT_EQ(mem_->entry_count(), 1u);
    return;
  }
  EXPECT_TRUE(s.ok());
  EXPECT_THAT(Get("k"), testing::AnyOf("v", "w"));
  EXPECT_EQ(mem_->entry_count(), 2u);
  const auto it = mem_->NewIterator();
  it->SeekToFirst();
  it->Next();
  EXPECT_TRUE(it->Valid()) << "what is counted comes out";
}

TEST_P(MemTableTest, AnIteratorWalksBothWaysAndSeeksBothWays) {
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

TEST_P(MemTableTest, TheFilterNeverHidesAKey) {
  const std::shared_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(4));
  for (const bool whole_keys : {false, true}) {
    for (const bool prefixes : {false, true}) {
      MemTableOptions options;
      options.write_buffer_bytes = 1 << 20;
      options.prefix_bloom_size_ratio = 0.1;
      options.whole_key_filtering = whole_keys;
      options.prefix_extractor = prefixes ? prefix : nullptr;
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

TEST_P(MemTableTest, ReadsByKeyStayRightWhileTheIndexIsBuiltAndGrows) {
  for (const uint32_t keys : {3u, 500u, 20000u}) {
    Make();
    std::map<std::string, std::map<SequenceNumber, std::string>> model;
    std::mt19937 random(keys);
    // A vector is put in order anew for the reads after each addition.
    const SequenceNumber last = IsVector() ? 2000 : 20000;
    for (SequenceNumber seq = 1; seq <= last; seq++) {
      const std::string key = std::to_string(random() % keys);
      if (random() % 10 == 0) {
        ASSERT_TRUE(mem_->Add(seq, kTypeDeletion, key, "").ok());
        model[key][seq] = "(deleted)";
      } else {
        Put(seq, key, std::to_string(seq));
        model[key][seq] = std::to_string(seq);
      }
      // There are no, few, then many reads, with old snapshots, and of keys that were never
      // written.
      if (random() % last > seq * 4) continue;
      const std::string probe = std::to_string(random() % (2 * keys));
      const SequenceNumber snapshot = random() % 2 == 0 ? seq : random() % seq;
      const auto& versions = model[probe];
      const auto behind = versions.upper_bound(snapshot);
      ASSERT_EQ(Get(probe, snapshot),
                behind == versions.begin() ? "(unknown)" : std::prev(behind)->second);
    }
  }
}

TEST_P(MemTableTest, OlderVersionsComeInAnyOrder) {
  // Parallel writers insert sequences of one key out of order, beside reads.
  for (SequenceNumber i = 0; i < 3000; i++) {
    const SequenceNumber seq = (i ^ 5) + 1;
    Put(seq, "k" + std::to_string(i / 8 % 10), std::to_string(seq));
    Get("k0");
  }
  for (SequenceNumber seq = 1; seq <= 3000; seq += 7) {
    const std::string key = "k" + std::to_string((seq - 1) / 8 % 10);
    EXPECT_EQ(Get(key, seq), std::to_string(seq));
  }
}

TEST_P(MemTableTest, ABatchIsTheSameAsItsEntriesOneByOne) {
  std::mt19937 random(3);
  MemTable single(Order(), Options(), 1);
  SequenceNumber seq = 1;
  for (const size_t size : {0, 1, 2, 15, 16, 17, 100, 5001, 5000, 14, 15, 16}) {
    std::vector<std::string> keys;
    // Some batches of keys that differ only after their first eight bytes.
    const std::string head = size % 2 == 0 ? "the same to all of them " : "";
    for (size_t i = 0; i < size; i++) keys.push_back(head + std::to_string(random() % 3000));
    std::vector<MemTableEntry> batch;
    for (const std::string& key : keys) {
      const ValueType type = random() % 50 == 0 ? kTypeRangeDeletion : kTypeValue;
      const Slice value = type == kTypeValue ? Slice(key) : Slice("zzz");
      batch.push_back({seq, type, key, value});
      ASSERT_TRUE(single.Add(seq, type, key, value).ok());
      seq++;
    }
    ASSERT_TRUE(mem_->Add(batch).ok());
  }
  EXPECT_EQ(mem_->entry_count(), single.entry_count());
  EXPECT_EQ(mem_->range_deletion_count(), single.range_deletion_count());
  EXPECT_EQ(mem_->first_seq(), 1u);
  ExpectSameEntries(*mem_, single);
}

TEST_P(MemTableTest, ABatchThatRepeatsAnEntryIsRefusedByLists) {
  if (IsVector()) return;
  const std::vector<MemTableEntry> same = {
      {7, kTypeValue, "k", "1"}, {8, kTypeValue, "l", "2"}, {7, kTypeValue, "k", "3"}};
  EXPECT_TRUE(mem_->Add(same).IsTryAgain());
  EXPECT_EQ(Get("k", 9), "1");
  // A batch that repeats an earlier entry is refused, whatever else it has.
  const std::vector<MemTableEntry> again = {{7, kTypeValue, "k", "4"}, {9, kTypeValue, "m", "5"}};
  EXPECT_TRUE(mem_->Add(again).IsTryAgain());
  EXPECT_EQ(Get("k", 9), "1");
}

TEST(MemTablePrefixTest, KeysWithAndWithoutTheExpectedPrefixAreInOrder) {
  for (const Comparator* const comparator : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    const InternalKeyComparator order(comparator);
    MemTableOptions options;
    options.expected_prefix = "user:00";
    MemTable with(order, options, 1);
    MemTable without(order, {}, 2);
    std::mt19937 random(11);
    const std::vector<std::string> heads = {
        "user:00", "user:00", "user:00", "user:01", "user:", "us", "", "zz", "user:00000000000"};
    for (SequenceNumber seq = 1; seq <= 6000; seq++) {
      std::string key = heads[random() % heads.size()];
      for (uint32_t n = random() % 10; n > 0; n--) key.push_back(random() % 3 == 0 ? '\xff' : '0');
      ASSERT_TRUE(with.Add(seq, kTypeValue, key, "v").ok());
      ASSERT_TRUE(without.Add(seq, kTypeValue, key, "v").ok());
      if (seq % 7 != 0) continue;
      PinnableSlice value;
      PointLookup lookup(key, seq, &value);
      ASSERT_TRUE(with.Get(&lookup));
      ASSERT_EQ(lookup.found_seq(), seq);
    }
    ExpectSameEntries(with, without);
  }
}

TEST(MemTablePrefixTest, TheCommonPrefixIsThatOfAllKeysButTheLastBytes) {
  MemTable mem(Order(), {}, 1);
  std::string prefix;
  SequenceNumber seq = 1;
  for (; seq <= 255; seq++) {
    ASSERT_TRUE(mem.Add(seq, kTypeValue, "user:" + std::to_string(100000 + seq), "").ok());
  }
  EXPECT_FALSE(mem.CommonPrefix(&prefix));  // too few
  ASSERT_TRUE(mem.Add(seq++, kTypeValue, "user:100000", "").ok());
  ASSERT_TRUE(mem.CommonPrefix(&prefix));
  EXPECT_EQ(prefix, "user:1");  // all begin with user:100
  ASSERT_TRUE(mem.Add(seq++, kTypeValue, "use", "").ok());
  ASSERT_TRUE(mem.CommonPrefix(&prefix));
  EXPECT_EQ(prefix, "u");
  ASSERT_TRUE(mem.Add(seq++, kTypeValue, "z", "").ok());
  ASSERT_TRUE(mem.CommonPrefix(&prefix));
  EXPECT_EQ(prefix, "");
}

MemTableOptions Learning() {
  MemTableOptions options;
  options.write_buffer_bytes = 1 << 20;
  options.learns_prefix = true;
  return options;
}

// Adds entries until the table should tell its prefix; 0: it never says so before it is full.
SequenceNumber FillUntilItShouldTell(MemTable* mem, SequenceNumber seq, size_t value_bytes) {
  const std::string value(value_bytes, 'v');
  for (;; seq++) {
    if (mem->ShouldTellPrefix()) return seq;
    if (mem->ShouldSwitch()) return 0;
    EXPECT_TRUE(mem->Add(seq, kTypeValue, "user:" + std::to_string(seq), value).ok());
  }
}

TEST(MemTablePrefixTest, OnlyATableThatLearnsAsksToBeAskedForItsPrefix) {
  MemTable mem(Order(), Learning(), 1);
  const SequenceNumber seq = FillUntilItShouldTell(&mem, 1, 10);
  EXPECT_GT(seq, 256u);
  EXPECT_TRUE(mem.NeedsAttention());
  EXPECT_FALSE(mem.ShouldSwitch());
  std::string prefix;
  EXPECT_TRUE(mem.CommonPrefix(&prefix));
  mem.StopLearning();
  EXPECT_FALSE(mem.NeedsAttention());
  EXPECT_EQ(FillUntilItShouldTell(&mem, seq, 10), 0u);

  MemTableOptions knows = Learning();
  knows.learns_prefix = false;
  MemTable other(Order(), knows, 2);
  EXPECT_EQ(FillUntilItShouldTell(&other, 1, 10), 0u);
  EXPECT_TRUE(other.NeedsAttention());
}

TEST(MemTablePrefixTest, ATableOfFewEntriesIsAskedAgainUntilItIsHalfFull) {
  MemTable mem(Order(), Learning(), 1);
  const SequenceNumber first = FillUntilItShouldTell(&mem, 1, 10'000);
  EXPECT_GT(first, 1u);
  mem.LearnLater();
  const SequenceNumber second = FillUntilItShouldTell(&mem, first, 10'000);
  EXPECT_GT(second, first);
  mem.LearnLater();
  EXPECT_EQ(FillUntilItShouldTell(&mem, second, 10'000), 0u);
}

TEST(MemTablePrefixTest, ACopyHoldsTheSameUnderAnotherPrefix) {
  MemTable mem(Order(), Learning(), 1);
  for (SequenceNumber seq = 100; seq <= 2000; seq++) {
    const ValueType type = seq % 5 == 0 ? kTypeDeletion : seq % 7 == 0 ? kTypeMerge : kTypeValue;
    const std::string key = "user:" + std::to_string(seq * 7919 % 500);
    ASSERT_TRUE(mem.Add(seq, type, key, type == kTypeDeletion ? "" : "v").ok());
  }
  MemTableOptions options;
  options.expected_prefix = "user:";
  MemTable copy(Order(), options, 2);
  bool copied = false;
  ASSERT_TRUE(mem.CopyTo(&copy, &copied).ok());
  ASSERT_TRUE(copied);
  EXPECT_EQ(copy.first_seq(), 100u);
  EXPECT_EQ(copy.entry_count(), mem.entry_count());
  EXPECT_EQ(copy.deletion_count(), mem.deletion_count());
  EXPECT_EQ(copy.data_bytes(), mem.data_bytes());
  ExpectSameEntries(mem, copy);

  ASSERT_TRUE(mem.Add(3000, kTypeRangeDeletion, "a", "b").ok());
  MemTable another(Order(), options, 3);
  ASSERT_TRUE(mem.CopyTo(&another, &copied).ok());
  EXPECT_FALSE(copied);
  EXPECT_TRUE(another.Empty());
}

class MemTableMemoryTest : public EachRepresentation {};

TEST_P(MemTableMemoryTest, WithoutMemoryNothingIsHalfDone) {
  MemTable mem(Order(), Options(), 1);
  const std::string value(2000, 'v');
  SequenceNumber seq = 1;
  uint64_t entries = 0;
  {
    const NoMappings no_memory;
    Status s;
    for (; s.ok(); seq++) s = mem.Add(seq, kTypeValue, std::to_string(seq), value);
    EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
    entries = mem.entry_count();
    EXPECT_GT(entries, 30u);
    EXPECT_LT(entries, seq);
    const std::vector<MemTableEntry> batch = {{seq, kTypeValue, "a", ""},
                                              {seq + 1, kTypeValue, "b", value}};
    EXPECT_TRUE(mem.Add(batch).IsMemoryLimit());
    EXPECT_EQ(mem.entry_count(), entries);
  }
  uint64_t walked = 0;
  const auto it = mem.NewIterator();
  for (it->SeekToFirst(); it->Valid(); it->Next()) walked++;
  EXPECT_EQ(walked, entries);
  EXPECT_TRUE(mem.Add(seq + 2, kTypeValue, "a", value).ok());
}

// A batch fits as long as the machine has memory, however small blocks are, and however many values
// need one.
TEST_P(MemTableMemoryTest, AnyBatchFits) {
  MemTableOptions options = Options();
  options.write_buffer_bytes = 64 << 10;
  options.arena_block_bytes = 4096;
  for (const size_t value_bytes : {size_t{1} << 10, size_t{4} << 10}) {
    MemTable mem(Order(), options, 1);
    const std::string value(value_bytes, 'v');
    const SequenceNumber last = (19 << 20) / value_bytes;
    for (SequenceNumber seq = 1; seq <= last; seq++) {
      ASSERT_TRUE(mem.Add(seq, kTypeValue, std::to_string(seq), value).ok()) << seq;
    }
    EXPECT_EQ(mem.entry_count(), last);
  }
}

class MemTableOrderTest : public EachRepresentation {};

// Orders and compares without regard to case.
class NoCase : public Comparator {
 public:
  const char* Name() const override { return "test.NoCase"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return Slice(Lower(a)).compare(Lower(b));
  }
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return true; }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  static std::string Lower(const Slice& key) {
    std::string lower = key.ToString();
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return lower;
  }
};

TEST_P(MemTableOrderTest, KeysWithDifferentBytesMayBeTheSame) {
  const NoCase no_case;
  const InternalKeyComparator order(&no_case);
  MemTable mem(order, Options(), 1);
  for (SequenceNumber seq = 1; seq <= 2000; seq++) {
    const std::string key = (seq % 2 == 0 ? "Key" : "kEY") + std::to_string(seq / 2 % 100);
    ASSERT_TRUE(mem.Add(seq, kTypeValue, key, std::to_string(seq)).ok());
    PinnableSlice value;
    PointLookup lookup("key" + std::to_string(seq / 2 % 100), seq, &value);
    ASSERT_TRUE(mem.Get(&lookup));
    ASSERT_EQ(value.ToString(), std::to_string(seq));
  }
}

TEST_P(MemTableOrderTest, TimestampsArePartOfTheKey) {
  const InternalKeyComparator order(BytewiseComparatorWithU64Ts());
  MemTable mem(order, Options(), 1);
  const auto key = [](int n, uint64_t timestamp) {
    std::string result = "key" + std::to_string(n);
    PutFixed64(&result, timestamp);
    return result;
  };
  for (SequenceNumber seq = 1; seq <= 2000; seq++) {
    ASSERT_TRUE(mem.Add(seq, kTypeValue, key(static_cast<int>(seq % 50), seq), "v").ok());
  }
  // The newest timestamp of a key comes first, and a search may begin between two.
  const auto it = mem.NewIterator();
  it->Seek(InternalKey(key(7, 1230), kMaxSequenceNumber, kValueTypeForSeek).Encode());
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(ExtractUserKey(it->key()).ToString(), key(7, 1207));
}

// Enough reads that a hash table takes them over, before and after which versions arrive.
TEST_P(MemTableOrderTest, AVersionThatArrivesLateMayBeOld) {
  const InternalKeyComparator order(BytewiseComparatorWithU64Ts());
  MemTable mem(order, Options(), 1);
  const auto stamp = [](uint64_t time) {
    std::string bytes;
    EncodeU64Ts(time, &bytes);
    return bytes;
  };
  const std::string now = stamp(1000);
  for (SequenceNumber seq = 1; seq <= 600; seq++) {
    // Each key gets the time 500 first, then 499 and so on.
    const std::string key = "key" + std::to_string(seq % 20);
    const uint64_t time = 500 - seq / 20;
    ASSERT_TRUE(mem.Add(seq, kTypeValue, key + stamp(time), std::to_string(seq)).ok());
    PinnableSlice value;
    PointLookup lookup(key, seq, &value, nullptr, ReadTimestamp{&order, now});
    ASSERT_TRUE(mem.Get(&lookup));
    ASSERT_EQ(value.ToString(), std::to_string(seq < 20 ? seq : seq % 20 == 0 ? 20 : seq % 20));
  }
}

class MemTableSizeTest : public EachRepresentation {};

TEST_P(MemTableSizeTest, FillsItsBudget) {
  for (const size_t budget :
       {size_t{64} << 10, size_t{1} << 20, size_t{10} << 20, size_t{64} << 20}) {
    for (const size_t value_bytes : {size_t{10}, size_t{100}, size_t{1000}}) {
      MemTableOptions options = Options();
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
      // One more block, of an eighth at most, would not have fitted.
      EXPECT_GT(mem.MemoryUsage(), budget - budget / 8) << budget;
    }
  }
}

TEST_P(MemTableSizeTest, LargeValuesFillItsBudget) {
  MemTableOptions options = Options();
  options.write_buffer_bytes = 64 << 20;
  for (const size_t value_bytes : {size_t{9} << 10, size_t{100} << 10, size_t{700} << 10}) {
    MemTable mem(Order(), options, 1);
    const std::string value(value_bytes, 'v');
    for (SequenceNumber seq = 1; !mem.ShouldSwitch(); seq++) {
      ASSERT_TRUE(mem.Add(seq, kTypeValue, std::to_string(seq), value).ok());
    }
    EXPECT_GE(mem.data_bytes(), options.write_buffer_bytes / 2) << value_bytes;
  }
}

// Returns the bytes by which a table of more than a few MiB grows at a time.
size_t Step(size_t write_buffer_bytes, size_t arena_block_bytes) {
  MemTableOptions options;
  options.write_buffer_bytes = write_buffer_bytes;
  options.arena_block_bytes = arena_block_bytes;
  MemTable mem(Order(), options, 1);
  size_t held = mem.MemoryUsage();
  size_t step = 0;
  for (SequenceNumber seq = 1; held < 5 << 20; seq++) {
    EXPECT_TRUE(mem.Add(seq, kTypeValue, std::to_string(seq), std::string(1000, 'v')).ok());
    step = std::max(step, mem.MemoryUsage() - held);
    held = mem.MemoryUsage();
  }
  return step & ~size_t{0xffff};  // without the list of blocks
}

TEST(MemTableBlocksTest, AreAsLargeAsChosen) {
  constexpr size_t kMiB = size_t{1} << 20;
  EXPECT_EQ(Step(64 * kMiB, 0), 2 * kMiB);
  EXPECT_EQ(Step(64 * kMiB, kMiB), kMiB);
  EXPECT_EQ(Step(64 * kMiB, 9 * kMiB), 2 * kMiB);
  EXPECT_EQ(Step(64 * kMiB, kMiB / 2), kMiB / 2);
  EXPECT_EQ(Step(8 * kMiB, 0), kMiB) << "an eighth of the budget";
}

TEST_P(MemTableSizeTest, AnEmptyTableIsNeverFullAndATinyBudgetIsAtOnce) {
  MemTableOptions options = Options();
  options.write_buffer_bytes = 1;
  MemTable mem(Order(), options, 1);
  EXPECT_FALSE(mem.ShouldSwitch());
  ASSERT_TRUE(mem.Add(1, kTypeValue, "k", "v").ok());
  EXPECT_TRUE(mem.ShouldSwitch());
}

TEST_P(MemTableSizeTest, ALoweredBudgetCountsAtOnce) {
  MemTableOptions options = Options();
  MemTable mem(Order(), options, 1);
  for (SequenceNumber seq = 1; seq < 10000; seq++) {
    ASSERT_TRUE(mem.Add(seq, kTypeValue, std::to_string(seq), std::string(100, 'v')).ok());
  }
  EXPECT_FALSE(mem.ShouldSwitch());
  mem.SetWriteBufferBytes(64 << 10);
  EXPECT_TRUE(mem.ShouldSwitch());
}

TEST_P(MemTableSizeTest, RangeTombstonesFillTheTableToo) {
  MemTableOptions options = Options();
  options.write_buffer_bytes = 64 << 10;
  MemTable mem(Order(), options, 1);
  SequenceNumber seq = 0;
  while (!mem.ShouldSwitch()) {
    ASSERT_TRUE(mem.Add(seq + 1, kTypeRangeDeletion, std::to_string(seq), "z").ok());
    seq++;
    ASSERT_LT(seq, 10000u);
  }
}

TEST_P(MemTableSizeTest, TheWriteBufferManagerKnowsWhatIsHeld) {
  const auto manager = std::make_shared<WriteBufferManager>(100 << 20);
  const WriteBufferManager& wbm = *manager;
  {
    MemTableOptions options = Options();
    options.write_buffer_manager = manager;
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

class MemTableStatsTest : public EachRepresentation {};

TEST_P(MemTableStatsTest, EstimatesTheContentOfARange) {
  MemTable mem(Order(), Options(), 1);
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

// Tests further promises of iterators and reads of the vector.
class VectorTest : public testing::Test {
 protected:
  void Put(const std::string& key) {
    ASSERT_TRUE(mem_.Add(next_, kTypeValue, key, std::to_string(next_)).ok());
    next_++;
  }
  // Returns the user keys of all entries, newest of a key first.
  std::string Keys() {
    std::string keys;
    const auto it = mem_.NewIterator();
    for (it->SeekToFirst(); it->Valid(); it->Next()) keys += ExtractUserKey(it->key()).ToString();
    return keys;
  }

  static MemTableOptions Options() {
    MemTableOptions options;
    options.rep = &kVectorRep;
    return options;
  }

  MemTable mem_{Order(), Options(), 1};
  SequenceNumber next_ = 1;
};

TEST_F(VectorTest, AnIteratorStaysWithWhatItFoundAndANewOneFindsTheRest) {
  EXPECT_FALSE(mem_.IteratorsSeeAdditions());
  EXPECT_EQ(Keys(), "");
  Put("m");
  Put("c");
  const auto it = mem_.NewIterator();
  Put("x");  // before the first position: still found
  it->SeekToFirst();
  Put("a");
  Put("d");
  std::string seen;
  for (; it->Valid(); it->Next()) seen += ExtractUserKey(it->key()).ToString();
  EXPECT_EQ(seen, "cmx");
  it->SeekToFirst();
  EXPECT_EQ(ExtractUserKey(it->key()).ToString(), "c");
  EXPECT_EQ(Keys(), "acdmx");
  mem_.Freeze();
  EXPECT_EQ(Keys(), "acdmx");
}

TEST_F(VectorTest, KeysThatShareLessThanThoseBeforeAreMergedRight) {
  // Key prefixes are taken after what all have in common, and that shrinks with every read here.
  std::map<std::string, SequenceNumber> model;
  for (const char* const head :
       {"shared:prefix:", "shared:pre", "shared", "sh", "", "zz", "\xff"}) {
    for (int i = 99; i >= 0; i--) {
      const std::string key = head + std::to_string(i * 7919 % 1000);
      model[key] = next_;
      Put(key);
    }
    const auto it = mem_.NewIterator();
    it->SeekToFirst();
    for (const auto& [key, seq] : model) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(ExtractUserKey(it->key()).ToString(), key);
      ASSERT_EQ(ExtractSequence(it->key()), seq);
      PinnableSlice value;
      PointLookup lookup(key, kMaxSequenceNumber, &value);
      ASSERT_TRUE(mem_.Get(&lookup));
      ASSERT_EQ(lookup.found_seq(), seq);
      // This goes on to the next key.
      while (it->Valid() && ExtractUserKey(it->key()).ToString() == key) it->Next();
    }
    EXPECT_FALSE(it->Valid());
  }
}

TEST_F(VectorTest, WhatSortingHoldsIsCountedAndNothingBefore) {
  for (int i = 0; i < 50000; i++) Put(std::to_string(i));
  const size_t unsorted = mem_.MemoryUsage();
  EXPECT_EQ(mem_.entry_count(), 50000u);
  EXPECT_EQ(mem_.MemoryUsage(), unsorted) << "counting sorts nothing";
  std::string prefix;
  EXPECT_FALSE(mem_.CommonPrefix(&prefix));
  EXPECT_EQ(mem_.MemoryUsage(), unsorted);
  Keys();
  EXPECT_GE(mem_.MemoryUsage(), unsorted + 50000 * 12);
}

VARVE_EACH_REPRESENTATION(MemTableTest);
VARVE_EACH_REPRESENTATION(MemTableMemoryTest);
VARVE_EACH_REPRESENTATION(MemTableOrderTest);
VARVE_EACH_REPRESENTATION(MemTableSizeTest);
VARVE_EACH_REPRESENTATION(MemTableStatsTest);

}  // namespace
}  // namespace varve
