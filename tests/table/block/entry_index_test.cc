// SPDX-License-Identifier: Apache-2.0

// Tests the index of a cached block's entries: for keys of many shapes it leads to the entry of a
// key, and says of every other key where it would be.

#include "table/block/entry_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "table/block/block.h"
#include "table/block/block_builder.h"
#include "table/block/point_search.h"
#include "tests/table/table_harness.h"

namespace varve {
namespace {

using test::IKey;

struct Shape {
  const char* name;
  std::vector<std::string> (*keys)(std::mt19937*);
  bool indexed = true;
};

std::string BigEndian(uint64_t n) {
  std::string key(8, '\0');
  for (int i = 0; i < 8; i++) key[i] = static_cast<char>(n >> (56 - 8 * i));
  return key;
}

std::string Decimal(const char* prefix, uint64_t n) {
  char text[64];
  snprintf(text, sizeof(text), "%s%010llu", prefix, static_cast<unsigned long long>(n));
  return text;
}

template <typename Make>
std::vector<std::string> Count(std::mt19937* random, Make make) {
  const uint64_t first = (*random)() % 100000;
  const size_t n = 1 + (*random)() % 60;
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < n; i++) keys.push_back(make(first + i));
  return keys;
}

std::vector<std::string> Sorted(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

const Shape kShapes[] = {
    {"binary numbers",
     [](std::mt19937* r) {
       return Count(r, [](uint64_t n) { return BigEndian(n) + "00000000"; });
     }},
    {"decimal numbers",
     [](std::mt19937* r) { return Count(r, [](uint64_t n) { return Decimal("user", n); }); }},
    {"a long tail after the number",
     [](std::mt19937* r) {
       return Count(r, [](uint64_t n) { return Decimal("t", n / 7) + "/column" + Decimal("", n); });
     }},
    {"random bytes",
     [](std::mt19937* r) {
       std::vector<std::string> keys(40);
       for (std::string& key : keys) {
         for (int i = 0; i < 12; i++) key.push_back(static_cast<char>((*r)()));
       }
       return Sorted(keys);
     }},
    {"one stranger at the end",
     [](std::mt19937* r) {
       std::vector<std::string> keys =
           Count(r, [](uint64_t n) { return "alike/alike/alike/" + Decimal("", n); });
       keys.push_back("zebra");
       return keys;
     }},
    {"each a prefix of the next",
     [](std::mt19937*) {
       std::vector<std::string> keys;
       for (size_t n = 0; n < 30; n++) keys.emplace_back(n, '\0');
       return keys;
     }},
    {"a key that goes on with another's trailer",
     [](std::mt19937*) {
       // The bytes after "k" in the stored key before are those of its trailer.
       const std::string trailer = IKey("", 7).substr(0, 4);
       return std::vector<std::string>{"k", "k" + trailer + "x"};
     },
     false},
};

std::string ValueOf(const std::string& key) {
  return "value of " + key + std::string(40, '.');
}

// Returns the block as the cache has it after another read.
std::unique_ptr<Block> InOnePiece(const Slice& bytes, size_t key_tail) {
  Block::Piece piece;
  piece.key_tail = key_tail;
  std::unique_ptr<Block> block;
  EXPECT_TRUE(Block::CreateInOnePiece(BlockContents{bytes, nullptr}, piece, "a test", &block).ok());
  EXPECT_EQ(block->index().size(), 0u);
  block->WantIndex();
  return block;
}

std::unique_ptr<Block> Build(const std::vector<std::string>& keys, int interval, int versions) {
  BlockBuilder::Options options;
  options.restart_interval = interval;
  BlockBuilder builder(options);
  for (const std::string& key : keys) {
    for (int v = versions; v > 0; v--) {
      builder.Add(IKey(key, static_cast<SequenceNumber>(v) * 7), ValueOf(key + std::to_string(v)));
    }
  }
  return InOnePiece(builder.Finish(), kInternalKeyTrailerBytes);
}

class PinsNothing final : public ValuePin {
 public:
  Cleanable* Renew() override { return nullptr; }
};

// Returns the value that a look-up finds, or "" for none.
std::string Find(const Block& block, const std::string& key, SequenceNumber snapshot) {
  static const InternalKeyComparator icmp(BytewiseComparator());
  PinnableSlice value;
  PointLookup lookup(key, snapshot, &value);
  PinsNothing pin;
  bool matched = false;
  EXPECT_NE(SearchBlock(block, icmp, kMaxSequenceNumber, &lookup, &pin, &matched),
            BlockSearchResult::kCorrupt);
  return lookup.state() == PointLookup::State::kFound ? value.ToString() : "";
}

// Checks the index's answer for a key that begins as all keys of the block do.
void ExpectPlace(const Block& block, const std::vector<std::string>& keys, const std::string& key) {
  if (key.substr(0, block.index().shared_prefix()) !=
      keys[0].substr(0, block.index().shared_prefix())) {
    return;
  }
  uint32_t begin = 0;
  uint32_t end = 0;
  block.index().Find(key, &begin, &end);
  ASSERT_LE(begin, end);
  ASSERT_LE(end, keys.size());
  const size_t place =
      static_cast<size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
  ASSERT_GE(place, begin);
  ASSERT_LE(place, end);
  if (place < keys.size() && keys[place] == key) {
    ASSERT_LT(place, end);
  }
}

TEST(EntryIndex, LeadsToEveryKeyAndToNoOther) {
  for (const Shape& shape : kShapes) {
    for (uint32_t seed = 0; seed < 40; seed++) {
      SCOPED_TRACE(std::string(shape.name) + ", seed " + std::to_string(seed));
      std::mt19937 random(seed);
      const std::vector<std::string> keys = shape.keys(&random);
      const auto block = Build(keys, 1 + static_cast<int>(random() % 20), 1);
      ASSERT_EQ(block->index().size(), shape.indexed ? keys.size() : 0);
      for (const std::string& key : keys) {
        ASSERT_EQ(Find(*block, key, 100), ValueOf(key + "1"));
        std::vector<std::string> others = {key + '\0', key + "z", key.substr(0, key.size() / 2)};
        if (!key.empty()) {
          for (const size_t at : {key.size() - 1, random() % key.size(), size_t{0}}) {
            others.push_back(key);
            others.back()[at] = static_cast<char>(key[at] + 1);
          }
        }
        for (const std::string& other : others) {
          const bool there = std::binary_search(keys.begin(), keys.end(), other);
          ASSERT_EQ(Find(*block, other, 100), there ? ValueOf(other + "1") : "");
          if (shape.indexed) ExpectPlace(*block, keys, other);
        }
        if (shape.indexed) ExpectPlace(*block, keys, key);
      }
    }
  }
}

TEST(EntryIndex, FindsTheVersionOfEachSnapshot) {
  std::mt19937 random(1);
  for (const Shape& shape : kShapes) {
    if (!shape.indexed) continue;
    SCOPED_TRACE(shape.name);
    const std::vector<std::string> keys = shape.keys(&random);
    const auto block = Build(keys, 5, 4);
    ASSERT_EQ(block->index().size(), keys.size() * 4);
    for (const std::string& key : keys) {
      for (int v = 0; v <= 5; v++) {
        const std::string expected = v == 0 ? "" : ValueOf(key + std::to_string(std::min(v, 4)));
        ASSERT_EQ(Find(*block, key, static_cast<SequenceNumber>(v) * 7 + 3), expected);
      }
    }
  }
}

TEST(EntryIndex, PrefixesOfNumbersThatEndAlikeAreExact) {
  std::vector<std::string> keys;
  for (uint64_t n = 250; n < 283; n++) keys.push_back(BigEndian(n) + "00000000");
  const auto block = Build(keys, 16, 1);
  EXPECT_TRUE(block->index().exact());
  uint32_t begin = 0;
  uint32_t end = 0;
  block->index().Find(keys[9], &begin, &end);
  EXPECT_EQ(begin, 9u);
  EXPECT_EQ(end, 10u);
  // This key lies between two words.
  block->index().Find(keys[9].substr(0, 8) + "0000x", &begin, &end);
  EXPECT_EQ(begin, 10u);
  EXPECT_EQ(end, 10u);
}

// Words of one byte each, and of two where one byte leaves neighbours alike.
TEST(EntryIndex, CountsWholeHoweverManyEntriesThereAre) {
  for (const uint64_t jump : {0, 30000}) {
    for (size_t n = jump == 0 ? 1 : 12; n <= 600; n += n < 70 ? 1 : 53) {
      if (jump == 0 && n > 256) break;
      SCOPED_TRACE(std::to_string(n) + " keys, jump " + std::to_string(jump));
      std::vector<std::string> keys;
      for (uint64_t i = 0; i < n; i++) keys.push_back(BigEndian(i + (i >= n / 2 ? jump : 0)));
      const auto block = Build(keys, 16, 1);
      ASSERT_EQ(block->index().size(), n);
      ASSERT_TRUE(block->index().exact());
      for (uint32_t i = 0; i < n; i++) {
        uint32_t begin = 0;
        uint32_t end = 0;
        block->index().Find(keys[i], &begin, &end);
        ASSERT_EQ(begin, i);
        ASSERT_EQ(end, i + 1);
      }
    }
  }
}

std::string BytesOf(size_t entries) {
  BlockBuilder builder{BlockBuilder::Options()};
  for (size_t i = 0; i < entries; i++) {
    builder.Add(IKey(Decimal("key", i), 7), ValueOf(std::to_string(i)));
  }
  return builder.Finish().ToString();
}

TEST(EntryIndex, ABlockIsMadeWhereItWasReadIfThereIsRoomForItsIndex) {
  constexpr size_t kEntries = 40;
  const std::string bytes = BytesOf(kEntries);
  for (const size_t index_bytes : {size_t{0}, size_t{16}, kEntries * 3 + 8, size_t{1024}}) {
    Block::Piece piece;
    piece.front = 64;
    piece.key_tail = kInternalKeyTrailerBytes;
    piece.index_bytes = index_bytes;
    BlockContents contents;
    contents.buffer = AllocateBlockBuffer(bytes.size() + 5, piece.Room());
    memcpy(contents.buffer.get(), bytes.data(), bytes.size());
    contents.data = Slice(contents.buffer.get(), bytes.size());
    const char* const read_to = contents.data.data();
    std::unique_ptr<Block> block;
    size_t needed = 0;
    ASSERT_TRUE(
        Block::CreateInOnePiece(std::move(contents), piece, "a test", &block, &needed).ok());
    EXPECT_GE(needed, kEntries * 3);
    EXPECT_LT(needed, kEntries * 5);
    EXPECT_EQ(block->entries_begin() == read_to, index_bytes >= needed) << index_bytes;
    EXPECT_GE(block->MemoryUsage(), sizeof(Block) + needed + bytes.size());
    block->WantIndex();
    EXPECT_EQ(block->index().size(), kEntries);
    EXPECT_EQ(Find(*block, Decimal("key", 17), 100), ValueOf("17"));
  }
}

TEST(EntryIndex, ABlockWithAChecksumKnowsWhetherItIsWhole) {
  constexpr size_t kEntries = 40;
  const std::string bytes = BytesOf(kEntries);
  for (const bool has_room : {false, true}) {
    Block::Piece piece;
    piece.key_tail = kInternalKeyTrailerBytes;
    piece.index_bytes = has_room ? kEntries * 4 : 0;
    piece.checksum = true;
    BlockContents contents;
    contents.buffer = AllocateBlockBuffer(bytes.size() + 5, piece.Room());
    memcpy(contents.buffer.get(), bytes.data(), bytes.size());
    contents.data = Slice(contents.buffer.get(), bytes.size());
    std::unique_ptr<Block> block;
    ASSERT_TRUE(Block::CreateInOnePiece(std::move(contents), piece, "a test", &block).ok());
    block->WantIndex();
    EXPECT_EQ(block->index().size(), kEntries);
    EXPECT_TRUE(block->IsWhole());
    auto* const first = const_cast<char*>(block->entries_begin());
    for (const size_t at : {size_t{0}, bytes.size() / 2, bytes.size() - 5}) {
      first[at] ^= 1;
      EXPECT_FALSE(block->IsWhole()) << at;
      first[at] ^= 1;
    }
    EXPECT_TRUE(block->IsWhole());
  }
}

// Lengths that vary: the first interval says little of the others, and an index that does not fit
// is not made.
TEST(EntryIndex, TheRoomOfABlockIsNeverLeft) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; round++) {
    BlockBuilder::Options options;
    options.restart_interval = 1 + static_cast<int>(random() % 16);
    BlockBuilder builder(options);
    const size_t n = 1 + random() % 150;
    const size_t longest = 1 + random() % 400;
    std::vector<std::string> values;
    for (size_t i = 0; i < n; i++) {
      values.emplace_back(random() % longest, 'v');
      builder.Add(IKey(Decimal("", i * i), 7), values.back());
    }
    const auto block = InOnePiece(builder.Finish(), kInternalKeyTrailerBytes);
    const uint32_t size = block->index().size();
    ASSERT_TRUE(size == 0 || size == n);
    for (size_t i = 0; i < n; i++) ASSERT_EQ(Find(*block, Decimal("", i * i), 100), values[i]);
  }
}

TEST(EntryIndex, OneThreadMakesItAndTheOthersSearchOn) {
  constexpr int kThreads = 4;
  constexpr size_t kEntries = 60;
  const std::string bytes = BytesOf(kEntries);
  for (int round = 0; round < 50; round++) {
    Block::Piece piece;
    piece.key_tail = kInternalKeyTrailerBytes;
    std::unique_ptr<Block> block;
    ASSERT_TRUE(
        Block::CreateInOnePiece(BlockContents{bytes, nullptr}, piece, "a test", &block).ok());
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; t++) {
      threads.emplace_back([&, t] {
        ready++;
        while (ready < kThreads) std::this_thread::yield();
        for (size_t i = 0; i < kEntries; i++) {
          if (i == static_cast<size_t>(t)) block->WantIndex();
          const size_t n = (i * 7 + static_cast<size_t>(t)) % kEntries;
          ASSERT_EQ(Find(*block, Decimal("key", n), 100), ValueOf(std::to_string(n)));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(block->index().size(), kEntries);
  }
}

TEST(EntryIndex, BlocksOfTinyOrOfVeryManyEntriesHaveNone) {
  BlockBuilder tiny{BlockBuilder::Options()};
  for (int i = 0; i < 50; i++) tiny.Add(IKey(Decimal("", 1000 + i), 1), "v");
  EXPECT_EQ(InOnePiece(tiny.Finish(), kInternalKeyTrailerBytes)->index().size(), 0u);
  BlockBuilder many{BlockBuilder::Options()};
  for (int i = 0; i < 1500; i++) many.Add(IKey(Decimal("", 10000 + i), 1), std::string(25, 'v'));
  EXPECT_EQ(InOnePiece(many.Finish(), kInternalKeyTrailerBytes)->index().size(), 0u);
  BlockBuilder unwanted{BlockBuilder::Options()};
  unwanted.Add(IKey("key", 1), std::string(100, 'v'));
  const std::string bytes = unwanted.Finish().ToString();
  EXPECT_EQ(InOnePiece(bytes, 0)->index().size(), 0u);
  EXPECT_EQ(InOnePiece(bytes, kInternalKeyTrailerBytes)->index().size(), 1u);
}

}  // namespace
}  // namespace varve
