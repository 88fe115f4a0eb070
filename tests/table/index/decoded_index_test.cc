// SPDX-License-Identifier: Apache-2.0

// Goal: a search of a decoded index costs what its size asks for, whatever the keys have in common,
// and finds what comparing each separator finds. Method: indexes of tables whose keys fall into
// groups with long prefixes, beside one whose keys differ early; times as ratios, the best of
// several rounds, with a bound far from both what is right and what a walk along a group costs.

#include "table/index/decoded_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "varve/comparator.h"

#include "table/index/index_block_builder.h"

namespace varve {
namespace {

class DecodedIndexTest : public ::testing::Test {
 protected:
  // Requires user keys in ascending order.
  std::unique_ptr<DecodedIndex> Decode(const std::vector<std::string>& keys) const {
    IndexBlockBuilder builder(/*restart_interval=*/1, /*delta_values=*/true);
    for (size_t i = 0; i < keys.size(); i++) builder.Add(keys[i], BlockHandle{i * 1000, 995});
    std::unique_ptr<DecodedIndex> index;
    IndexForm form;
    form.user_keys = true;
    form.delta_values = true;
    const Status s =
        DecodedIndex::Decode(builder.Finish(), form, icmp_, keys.size() * 1000, "test", &index);
    EXPECT_TRUE(s.ok()) << s.ToString();
    return index;
  }

  static std::string Number(size_t n) {
    char text[24];
    snprintf(text, sizeof(text), "%08zu", n);
    return text;
  }

  static std::vector<std::string> Sorted(std::vector<std::string> keys) {
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  // Seconds for one search of each key, in an order that jumps about.
  double TimeOf(const DecodedIndex& index, const std::vector<std::string>& keys) const {
    std::vector<std::string> targets;
    for (size_t i = 0; i < keys.size(); i++) {
      targets.emplace_back();
      AppendInternalKey(&targets.back(), keys[i * 7919 % keys.size()], 1, kTypeValue);
    }
    double best = 1e9;
    for (int round = 0; round < 5; round++) {
      const auto begin = std::chrono::steady_clock::now();
      size_t sum = 0;
      for (const std::string& target : targets) sum += index.Seek(icmp_, target);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      EXPECT_EQ(sum, keys.size() * (keys.size() - 1) / 2);
      best = std::min(best, took.count());
    }
    return best;
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
};

TEST_F(DecodedIndexTest, KeysInGroupsAreFoundAboutAsFastAsOthers) {
  constexpr size_t kKeys = 40000;
  std::vector<std::string> plain;
  std::vector<std::string> two_groups;
  std::vector<std::string> groups_of_groups;
  for (size_t i = 0; i < kKeys; i++) {
    plain.push_back(Number(i) + std::string(40, 'p'));
    two_groups.push_back(i % 2 == 0 ? std::string(40, 'a') + Number(i) : "b" + Number(i));
    groups_of_groups.push_back(std::string(1 + i % 4, 'a') + "-tenants-" +
                               std::to_string(i % 16 / 4) + "-of-this-table-" + Number(i));
  }
  const double base = TimeOf(*Decode(plain), plain);
  two_groups = Sorted(two_groups);
  EXPECT_LT(TimeOf(*Decode(two_groups), two_groups), 20 * base) << "a linear search takes 90";
  groups_of_groups = Sorted(groups_of_groups);
  EXPECT_LT(TimeOf(*Decode(groups_of_groups), groups_of_groups), 20 * base);
}

// Each separator is of the same key: many versions of one.
TEST_F(DecodedIndexTest, VersionsOfOneKeyAreDivided) {
  IndexBlockBuilder builder(1, /*delta_values=*/true);
  constexpr uint64_t kVersions = 5000;
  for (uint64_t i = 0; i < kVersions; i++) {
    std::string key;
    AppendInternalKey(&key, i < 10 ? "a" + std::to_string(i) : std::string(30, 'k'),
                      2 * (kVersions - i), kTypeValue);
    builder.Add(key, BlockHandle{i * 1000, 995});
  }
  std::unique_ptr<DecodedIndex> index;
  IndexForm form;
  form.delta_values = true;
  ASSERT_TRUE(
      DecodedIndex::Decode(builder.Finish(), form, icmp_, kVersions * 1000, "test", &index).ok());
  for (uint64_t i = 10; i < kVersions; i++) {
    for (const uint64_t newer : {0, 1}) {
      std::string target;
      AppendInternalKey(&target, std::string(30, 'k'), 2 * (kVersions - i) + newer, kTypeValue);
      ASSERT_EQ(index->Seek(icmp_, target), i) << newer;
    }
  }
}

}  // namespace
}  // namespace varve
