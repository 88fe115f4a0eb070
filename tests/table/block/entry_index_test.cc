// SPDX-License-Identifier: Apache-2.0

// The index of a cached block's entries: for keys of many shapes it leads to the entry of a key,
// and says of every other key where it would be.

#include "table/block/entry_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
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
       // The bytes behind "k" in the stored key before are those of its trailer.
       const std::string trailer = IKey("", 7).substr(0, 4);
       return std::vector<std::string>{"k", "k" + trailer + "x"};
     },
     false},
};

std::string ValueOf(const std::string& key) {
  return "value of " + key + std::string(40, '.');
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
  std::unique_ptr<Block> block;
  EXPECT_TRUE(Block::CreateInOnePiece(builder.Finish(), kInternalKeyTrailerBytes, 0, nullptr,
                                      "a test", &block)
                  .ok());
  return block;
}

class PinsNothing final : public ValuePin {
 public:
  Cleanable* Renew() override { return nullptr; }
};

// The value that a look-up finds, or "" for none.
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

// What the index says of a key that begins as all keys of the block do.
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

TEST(EntryIndex, WordsOfNumbersThatEndAlikeAreExact) {
  std::vector<std::string> keys;
  for (uint64_t n = 250; n < 283; n++) keys.push_back(BigEndian(n) + "00000000");
  const auto block = Build(keys, 16, 1);
  EXPECT_TRUE(block->index().exact());
  uint32_t begin = 0;
  uint32_t end = 0;
  block->index().Find(keys[9], &begin, &end);
  EXPECT_EQ(begin, 9u);
  EXPECT_EQ(end, 10u);
  // Between two words.
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

TEST(EntryIndex, BlocksOfTinyOrOfVeryManyEntriesHaveNone) {
  BlockBuilder tiny{BlockBuilder::Options()};
  for (int i = 0; i < 50; i++) tiny.Add(IKey(Decimal("", 1000 + i), 1), "v");
  std::unique_ptr<Block> block;
  ASSERT_TRUE(
      Block::CreateInOnePiece(tiny.Finish(), kInternalKeyTrailerBytes, 0, nullptr, "a test", &block)
          .ok());
  EXPECT_EQ(block->index().size(), 0u);
  BlockBuilder many{BlockBuilder::Options()};
  for (int i = 0; i < 1500; i++) many.Add(IKey(Decimal("", 10000 + i), 1), std::string(25, 'v'));
  ASSERT_TRUE(
      Block::CreateInOnePiece(many.Finish(), kInternalKeyTrailerBytes, 0, nullptr, "a test", &block)
          .ok());
  EXPECT_EQ(block->index().size(), 0u);
  BlockBuilder unwanted{BlockBuilder::Options()};
  unwanted.Add(IKey("key", 1), std::string(100, 'v'));
  const std::string bytes = unwanted.Finish().ToString();
  ASSERT_TRUE(Block::CreateInOnePiece(bytes, 0, 0, nullptr, "a test", &block).ok());
  EXPECT_EQ(block->index().size(), 0u);
  ASSERT_TRUE(
      Block::CreateInOnePiece(bytes, kInternalKeyTrailerBytes, 0, nullptr, "a test", &block).ok());
  EXPECT_EQ(block->index().size(), 1u);
}

}  // namespace
}  // namespace varve
