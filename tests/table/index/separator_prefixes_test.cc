// SPDX-License-Identifier: Apache-2.0

// Goal: words narrow a search down to where the key belongs, and to few keys, in sets of keys of
// every make. Method: random sets that are hard for words (prefixes within prefixes, zeros, ends of
// keys inside a word), in both orders, asked for what is in them and for what lies beside that;
// compared with a search by whole keys.

#include "table/index/separator_prefixes.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/harness/random.h"

namespace varve {
namespace {

using testing::Random;

// Returns a key of few distinct parts, so that keys share much and end in each other's middle.
std::string RandomKey(Random* random, bool zeros) {
  static const std::string kParts[] = {"a", "aaaaaaaa",     "aaaaaaaaaaaa",
                                       "b", "tenant/0001/", "\xff"};
  std::string key;
  for (uint64_t n = random->Below(6); n > 0; n--) {
    if (zeros && random->Below(3) == 0) {
      key.append(random->Below(12), '\0');
    } else {
      key += kParts[random->Below(std::size(kParts))];
    }
  }
  if (random->Below(2) == 0) key += std::to_string(random->Below(100000));
  return key;
}

class SeparatorPrefixesTest : public ::testing::TestWithParam<bool> {
 protected:
  bool Before(const std::string& a, const std::string& b) const {
    const int order = CompareBytes(a, b);
    return GetParam() ? order > 0 : order < 0;
  }
  void Sort(std::vector<std::string>* keys) const {
    std::sort(keys->begin(), keys->end(),
              [this](const auto& a, const auto& b) { return Before(a, b); });
  }
  SeparatorPrefixes Build(const std::vector<std::string>& keys) const {
    SeparatorPrefixes words;
    words.Build(keys.size(), GetParam(), [&](size_t i) { return Slice(keys[i]); });
    return words;
  }

  // Returns the most keys that are left to compare.
  size_t Check(const SeparatorPrefixes& words, const std::vector<std::string>& keys,
               const std::vector<std::string>& probes) const {
    size_t most = 0;
    std::vector<Slice> some;
    SeparatorPrefixes::Range ranges[SeparatorPrefixes::kSoughtMax];
    for (size_t p = 0; p < probes.size(); p++) {
      const auto first =
          std::lower_bound(keys.begin(), keys.end(), probes[p],
                           [this](const auto& a, const auto& b) { return Before(a, b); });
      const auto expected = static_cast<size_t>(first - keys.begin());
      const SeparatorPrefixes::Range range = words.Find(probes[p]);
      EXPECT_LE(range.begin, expected) << Slice(probes[p]).ToString(true);
      EXPECT_LE(expected, range.end) << Slice(probes[p]).ToString(true);
      most = std::max(most, range.end - range.begin);
      if (expected < keys.size() && keys[expected] == probes[p]) {
        EXPECT_TRUE(words.MayBe(expected, probes[p]));
      }
      some.push_back(probes[p]);
      if (some.size() < std::size(ranges) && p + 1 < probes.size()) continue;
      words.Find(some, ranges);
      for (size_t i = 0; i < some.size(); i++) {
        const SeparatorPrefixes::Range alone = words.Find(some[i]);
        EXPECT_EQ(alone.begin, ranges[i].begin);
        EXPECT_EQ(alone.end, ranges[i].end);
      }
      some.clear();
    }
    return most;
  }
};

TEST_P(SeparatorPrefixesTest, FindWhatComparingKeysFinds) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    std::vector<std::string> keys;
    const bool zeros = seed % 2 == 0;
    for (uint64_t n = 1 + random.Below(seed % 5 == 0 ? 3000 : 200); n > 0; n--) {
      keys.push_back(RandomKey(&random, zeros));
      if (random.Below(20) == 0) keys.insert(keys.end(), random.Below(30), keys.back());
    }
    Sort(&keys);
    const SeparatorPrefixes words = Build(keys);
    ASSERT_TRUE(words.built());
    std::vector<std::string> probes = keys;
    for (int i = 0; i < 300; i++) probes.push_back(RandomKey(&random, zeros));
    probes.insert(probes.end(), {"", std::string(1, '\0'), std::string(40, '\xff')});
    Check(words, keys, probes);
  }
}

// Few keys are left if all differ, and not in zeros at their ends alone.
TEST_P(SeparatorPrefixesTest, LeaveFewKeysToCompare) {
  std::vector<std::string> nested;  // each key begins with the one before
  std::vector<std::string> groups;
  std::string prefix;
  for (int i = 0; i < 300; i++) {
    prefix += "12345678901";
    nested.push_back(prefix);
    groups.push_back(std::string(static_cast<size_t>(i % 3) * 20 + 5, 'g') + std::to_string(i));
    groups.push_back(std::string(70, 'g') + std::string(i % 2 == 0 ? 50 : 9, 'h') +
                     std::to_string(i));
  }
  for (std::vector<std::string>* keys : {&nested, &groups}) {
    Sort(keys);
    const SeparatorPrefixes words = Build(*keys);
    ASSERT_TRUE(words.built());
    EXPECT_LE(Check(words, *keys, *keys), 8u);
    size_t bytes = 0;
    for (const std::string& key : *keys) bytes += key.size();
    EXPECT_LE(words.MemoryUsage(), 4 * bytes + 300 * keys->size());
  }
}

TEST_P(SeparatorPrefixesTest, WhatIsInNoOrderIsNotBuilt) {
  std::vector<std::string> keys = {"a", "b", "c"};
  Sort(&keys);
  std::swap(keys[0], keys[1]);
  EXPECT_FALSE(Build(keys).built());
  EXPECT_FALSE(Build({}).built());
  // A run of equal words is left in one piece.
  keys.clear();
  for (int i = 100; i < 150; i++) keys.push_back("same word for all " + std::to_string(i));
  keys.insert(keys.begin(), "a");
  keys.emplace_back("z");
  Sort(&keys);
  std::swap(keys[20], keys[30]);
  const SeparatorPrefixes words = Build(keys);
  ASSERT_TRUE(words.built());
  const SeparatorPrefixes::Range range = words.Find(keys[20]);
  EXPECT_EQ(range.begin, 1u);
  EXPECT_EQ(range.end, 51u);
}

std::string NameOf(const ::testing::TestParamInfo<bool>& order) {
  return order.param ? "Reverse" : "Forward";
}

INSTANTIATE_TEST_SUITE_P(Orders, SeparatorPrefixesTest, ::testing::Bool(), NameOf);

}  // namespace
}  // namespace varve
