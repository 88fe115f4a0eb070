// SPDX-License-Identifier: Apache-2.0

#include "tests/table/block/data_block_iterator.h"

#include <gtest/gtest.h>

#include <random>

#include "table/block/block_builder.h"
#include "table/block/point_search.h"
#include "tests/table/iterator_walk.h"

namespace varve {
namespace {

using test::IKey;
using test::InternalKeyLess;
using test::Model;
using test::RandomUserKey;
using test::TargetsFor;
using test::WalkAtRandom;

// The forms that a block has in memory: as it was read, and as the cache keeps it.
enum class Form { kAsRead, kInOnePiece };

Status LoadBlock(const std::string& bytes, std::shared_ptr<Block>* block, Form form = Form::kAsRead,
                 bool indexed = true) {
  BlockContents contents;
  // An exact heap copy, so that the sanitizer sees every read beyond it.
  contents.buffer = AllocateBlockBuffer(std::max<size_t>(bytes.size(), 1), BlockRoom());
  memcpy(contents.buffer.get(), bytes.data(), bytes.size());
  contents.data = Slice(contents.buffer.get(), bytes.size());
  Block::Piece piece;
  piece.front = 96;
  if (indexed) piece.key_tail = kInternalKeyTrailerBytes;
  std::unique_ptr<Block> own;
  const Status s = form == Form::kAsRead
                       ? Block::Create(std::move(contents), "a test", &own)
                       : Block::CreateInOnePiece(std::move(contents), piece, "a test", &own);
  if (s.ok()) own->WantIndex();
  if (s.ok()) *block = std::move(own);
  return s;
}

std::string BuildBlock(const Model& model, int restart_interval, double hash_ratio = 0) {
  BlockBuilder::Options options;
  options.restart_interval = restart_interval;
  options.hash_index_ratio = hash_ratio;
  BlockBuilder builder(options);
  for (const auto& [key, value] : model) builder.Add(key, value);
  return builder.Finish().ToString();
}

Model RandomModel(const InternalKeyComparator* icmp, std::mt19937* random, size_t count) {
  Model model{InternalKeyLess{icmp}};
  const size_t alphabet = 2 + (*random)() % 7;
  const std::string prefix = RandomUserKey(random, alphabet, 12);
  while (count-- > 0) {
    const std::string key =
        IKey(prefix + RandomUserKey(random, alphabet, 12), 1 + (*random)() % 600,
             (*random)() % 4 == 0 ? kTypeDeletion : kTypeValue);
    model[key] = std::string((*random)() % 5 == 0 ? (*random)() % 400 : (*random)() % 20, 'v');
  }
  return model;
}

class DoublingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Custom"; }
  int Compare(const Slice& a, const Slice& b) const override { return -a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST(DataBlockIterator, WalksAsAMapDoes) {
  static const DoublingComparator custom;
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(),
                                       static_cast<const Comparator*>(&custom)}) {
    const InternalKeyComparator icmp(comparator);
    for (uint32_t seed = 0; seed < 60; seed++) {
      std::mt19937 random(seed);
      const Model model = RandomModel(&icmp, &random, random() % 120);
      const std::string bytes = BuildBlock(model, 1 + static_cast<int>(random() % 20));
      std::shared_ptr<Block> block;
      // Blocks are as in the cache, with or without an index of the entries in bytewise order.
      const Form form = seed % 3 == 0 ? Form::kAsRead : Form::kInOnePiece;
      const bool indexed = icmp.order() == KeyOrder::kBytewise;
      ASSERT_TRUE(LoadBlock(bytes, &block, form, indexed).ok());
      DataBlockIterator iter(block, &icmp, "a test");
      WalkAtRandom(&iter, model, TargetsFor(model, seed), seed, 400);
      if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << comparator->Name();
    }
  }
}

TEST(DataBlockIterator, LargeBlocksWork) {
  const InternalKeyComparator icmp(BytewiseComparator());
  std::mt19937 random(9);
  Model model{InternalKeyLess{&icmp}};
  for (int i = 0; i < 300; i++) model[IKey("key" + std::to_string(i), 7)] = std::string(500, 'x');
  std::shared_ptr<Block> block;
  ASSERT_TRUE(LoadBlock(BuildBlock(model, 16), &block).ok());
  DataBlockIterator iter(block, &icmp, "a test");
  WalkAtRandom(&iter, model, TargetsFor(model, 1), 1, 2000);
}

// Counts the entries of whole walks by batches, and the known relations of their user keys.
struct RunCounts {
  size_t entries = 0;
  size_t other = 0;  // than the one before
  size_t same = 0;
};

RunCounts CountRuns(DataBlockIterator* iter, bool forward) {
  RunCounts counts;
  BatchEntry batch[32];
  forward ? iter->SeekToFirst() : iter->SeekToLast();
  for (;;) {
    const size_t n = forward ? iter->NextBatch(batch, 32) : iter->PrevBatch(batch, 32);
    if (n == 0) return counts;
    counts.entries += n;
    for (size_t i = 0; i < n; i++) {
      counts.other += batch[i].same_key == SameKey::kNo ? 1 : 0;
      counts.same += batch[i].same_key == SameKey::kYes ? 1 : 0;
    }
  }
}

TEST(DataBlockIterator, RunsTellUserKeysApartWithoutComparingThem) {
  const InternalKeyComparator bytewise(BytewiseComparator());
  static const DoublingComparator custom_order;
  const InternalKeyComparator custom(&custom_order);
  for (const InternalKeyComparator* icmp : {&bytewise, &custom}) {
    Model model{InternalKeyLess{icmp}};
    for (int i = 0; i < 200; i++) {
      const std::string key = std::to_string(10000000 + 37 * i);
      model[IKey(key, 9)] = "v";
      if (i % 10 == 0) model[IKey(key, 5)] = "older";
    }
    std::shared_ptr<Block> block;
    ASSERT_TRUE(LoadBlock(BuildBlock(model, 16), &block).ok());
    DataBlockIterator iter(block, icmp, "a test");
    for (const bool forward : {true, false}) {
      get_perf_context()->Reset();
      const RunCounts counts = CountRuns(&iter, forward);
      EXPECT_EQ(counts.entries, model.size() - 1);
      // A user's comparator may take keys of different bytes for equal.
      EXPECT_EQ(counts.other, icmp == &bytewise ? size_t{199} : size_t{0});
      // There are twenty; entries that are stored whole, and the first step back, do not report it.
      EXPECT_EQ(counts.same, icmp == &bytewise ? size_t{19} : forward ? size_t{18} : size_t{17});
      EXPECT_EQ(get_perf_context()->user_key_comparison_count, 0u);
    }
  }
}

// A batch that finds nothing leaves the cursor on its entry, whose key lies in one of two scratch
// buffers. The step back must not assemble its keys over that key before it has compared it.
TEST(DataBlockCursor, ABatchAtTheEndLeavesTheCurrentKey) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const std::string newer = IKey("11111111-k", 9);
  const std::string older = IKey("11111111-k", 5);
  Model model{InternalKeyLess{&icmp}};
  for (const std::string& key : {IKey("00000000-a", 1), IKey("00000001-b", 1), newer, older}) {
    model[key] = "v";
  }
  std::shared_ptr<Block> block;
  ASSERT_TRUE(LoadBlock(BuildBlock(model, 16), &block).ok());
  DataBlockCursor cursor;
  cursor.Init(block.get(), &icmp, kMaxSequenceNumber);
  cursor.SeekToFirst();
  ASSERT_TRUE(cursor.Next());
  BatchEntry batch[32];
  ASSERT_EQ(cursor.NextBatch(batch, 32), 2u);
  ASSERT_EQ(cursor.NextBatch(batch, 32), 0u);
  EXPECT_EQ(cursor.key(), Slice(older));
  ASSERT_EQ(cursor.PrevBatch(batch, 32), 3u);
  EXPECT_EQ(batch[0].key(), Slice(newer));
  EXPECT_NE(batch[0].same_key, SameKey::kNo) << "they are versions of one key";
}

TEST(DataBlockIterator, OverriddenSequenceNumbersShowInKeys) {
  const InternalKeyComparator icmp(BytewiseComparator());
  Model stored{InternalKeyLess{&icmp}};
  Model shown{InternalKeyLess{&icmp}};
  for (int i = 0; i < 100; i++) {
    const std::string key = "key" + std::to_string(i);
    stored[IKey(key, 0)] = key;
    shown[IKey(key, 77)] = key;
  }
  std::shared_ptr<Block> block;
  ASSERT_TRUE(LoadBlock(BuildBlock(stored, 16), &block).ok());
  DataBlockIterator iter(block, &icmp, "a test", 77);
  WalkAtRandom(&iter, shown, TargetsFor(shown, 3), 3, 2000);
}

// Holds the expected answer of a lookup: the newest visible entry's value, or nothing.
struct Expected {
  PointLookup::State state = PointLookup::State::kSearching;
  std::string value;
};

Expected Find(const Model& model, const Slice& user_key, SequenceNumber snapshot) {
  Expected expected;
  const auto it = model.lower_bound(IKey(user_key, snapshot, kValueTypeForSeek));
  if (it == model.end() || ExtractUserKey(it->first) != user_key) return expected;
  const bool found = ExtractValueType(it->first) == kTypeValue;
  expected.state = found ? PointLookup::State::kFound : PointLookup::State::kDeleted;
  if (found) expected.value = it->second;
  return expected;
}

class NoPin final : public ValuePin {
 public:
  Cleanable* Renew() override { return nullptr; }
};

TEST(PointSearch, FindsWhatTheModelHasWithEveryHelper) {
  const InternalKeyComparator icmp(BytewiseComparator());
  for (uint32_t seed = 0; seed < 120; seed++) {
    std::mt19937 random(seed);
    const Model model = RandomModel(&icmp, &random, 1 + random() % 150);
    const int interval = 1 + static_cast<int>(random() % 20);
    for (const auto& [hash_ratio, form] :
         {std::pair{0.0, Form::kAsRead}, std::pair{0.75, Form::kAsRead},
          std::pair{0.0, Form::kInOnePiece}}) {
      std::shared_ptr<Block> block;
      ASSERT_TRUE(LoadBlock(BuildBlock(model, interval, hash_ratio), &block, form).ok());
      for (const std::string& target : TargetsFor(model, seed)) {
        const Slice user_key = ExtractUserKey(target);
        const SequenceNumber snapshot = ExtractSequence(target);
        PinnableSlice value;
        PointLookup lookup(user_key, snapshot, &value);
        NoPin pin;
        bool matched = false;
        const BlockSearchResult result =
            SearchBlock(*block, icmp, kMaxSequenceNumber, &lookup, &pin, &matched);
        ASSERT_NE(result, BlockSearchResult::kCorrupt);
        const Expected expected = Find(model, user_key, snapshot);
        ASSERT_EQ(lookup.state(), expected.state)
            << "seed " << seed << " hash_ratio " << hash_ratio;
        if (expected.state == PointLookup::State::kFound) {
          ASSERT_EQ(value.ToString(), expected.value);
        }
        if (result == BlockSearchResult::kPassed) {
          ASSERT_NE(model.upper_bound(IKey(user_key, 0, kTypeDeletion)), model.end());
        }
      }
    }
  }
}

// Such blocks are not ours: others hash keys with their timestamps, which no lookup can know.
TEST(PointSearch, AStoredHashOfTimestampsIsNotAsked) {
  const InternalKeyComparator icmp(BytewiseComparatorWithU64Ts());
  const auto stamp = [](uint64_t time) {
    std::string bytes;
    EncodeU64Ts(time, &bytes);
    return bytes;
  };
  Model model{InternalKeyLess{&icmp}};
  for (int i = 0; i < 40; i++) {
    model[IKey("key" + std::to_string(i) + stamp(10), 9)] = std::to_string(i);
  }
  std::shared_ptr<Block> block;
  ASSERT_TRUE(LoadBlock(BuildBlock(model, 4, 0.75), &block).ok());
  for (int i = 0; i < 40; i++) {
    PinnableSlice value;
    const std::string time = stamp(10 + static_cast<uint64_t>(i));
    PointLookup lookup("key" + std::to_string(i), 9, &value, nullptr, ReadTimestamp{&icmp, time});
    NoPin pin;
    bool matched = false;
    (void)SearchBlock(*block, icmp, kMaxSequenceNumber, &lookup, &pin, &matched);
    EXPECT_EQ(value.ToString(), std::to_string(i));
  }
}

// Uses a block of any bytes in every way there is. Nothing is expected but to come back.
void UseEverything(const std::string& bytes, const InternalKeyComparator& icmp, Form form) {
  std::shared_ptr<Block> block;
  if (!LoadBlock(bytes, &block, form, icmp.order() == KeyOrder::kBytewise).ok()) return;
  DataBlockIterator iter(block, &icmp, "a test");
  size_t steps = 0;
  for (iter.SeekToFirst(); iter.Valid(); iter.Next()) ASSERT_LE(++steps, bytes.size());
  steps = 0;
  for (iter.SeekToLast(); iter.Valid(); iter.Prev()) ASSERT_LE(++steps, bytes.size());
  for (const char* user_key : {"", "key5", "key50", "zz"}) {
    const std::string target = IKey(user_key, 5);
    iter.Seek(target);
    if (iter.Valid()) iter.Prev();
    if (iter.Valid()) iter.Next();
    iter.SeekForPrev(target);
    if (iter.Valid()) iter.Next();
    PinnableSlice value;
    PointLookup lookup(user_key, 5, &value);
    NoPin pin;
    bool matched = false;
    (void)SearchBlock(*block, icmp, kMaxSequenceNumber, &lookup, &pin, &matched);
  }
}

void UseEverything(const std::string& bytes, const InternalKeyComparator& icmp) {
  UseEverything(bytes, icmp, Form::kAsRead);
  UseEverything(bytes, icmp, Form::kInOnePiece);
}

TEST(HostileBlock, EveryByteFlippedEndsEveryWalk) {
  const InternalKeyComparator icmp(BytewiseComparator());
  Model model{InternalKeyLess{&icmp}};
  for (int i = 0; i < 60; i++) model[IKey("key" + std::to_string(i), 9)] = std::string(i, 'v');
  for (const double hash_ratio : {0.0, 0.75}) {
    const std::string good = BuildBlock(model, 4, hash_ratio);
    for (size_t i = 0; i < good.size(); i++) {
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        std::string bad = good;
        bad[i] = static_cast<char>(bad[i] ^ flip);
        UseEverything(bad, icmp);
      }
      UseEverything(good.substr(0, i), icmp);
    }
  }
}

TEST(HostileBlock, RandomBytesEndEveryWalk) {
  const InternalKeyComparator icmp(BytewiseComparator());
  for (uint32_t seed = 0; seed < 20000; seed++) {
    std::mt19937 random(seed);
    std::string bytes(random() % 200, '\0');
    // Small numbers make entries that look plausible.
    const uint32_t range = random() % 2 == 0 ? 16 : 256;
    for (char& byte : bytes) byte = static_cast<char>(random() % range);
    PutFixed32(&bytes, 0);
    PutFixed32(&bytes, 1);
    UseEverything(bytes, icmp);
  }
}

TEST(HostileBlock, BadTrailersAreRefusedByName) {
  const std::string entries("\x00\x09\x01kabcdefghv", 13);
  const auto with = [&entries](std::vector<uint32_t> words) {
    std::string bytes = entries;
    for (const uint32_t word : words) PutFixed32(&bytes, word);
    return bytes;
  };
  std::shared_ptr<Block> block;
  EXPECT_TRUE(LoadBlock(with({0, 1}), &block).ok());
  EXPECT_TRUE(LoadBlock(with({0, 1 | 1u << 29}), &block).ok());  // a hint
  EXPECT_TRUE(LoadBlock("", &block).IsCorruption());
  EXPECT_TRUE(LoadBlock("abc", &block).IsCorruption());
  EXPECT_TRUE(LoadBlock(with({0, 0}), &block).IsCorruption());      // no restart
  EXPECT_TRUE(LoadBlock(with({0, 100}), &block).IsCorruption());    // more than fit
  EXPECT_TRUE(LoadBlock(with({1, 1}), &block).IsCorruption());      // first not 0
  EXPECT_TRUE(LoadBlock(with({0, 0, 2}), &block).IsCorruption());   // not ascending
  EXPECT_TRUE(LoadBlock(with({0, 13, 2}), &block).IsCorruption());  // at the end
  EXPECT_TRUE(LoadBlock(with({0, 1 | 1u << 30}), &block).IsCorruption());
  EXPECT_TRUE(LoadBlock(with({0, 1 | 1u << 28}), &block).IsNotSupported());
  EXPECT_NE(LoadBlock("abc", &block).ToString().find("a test"), std::string::npos);
}

}  // namespace
}  // namespace varve
