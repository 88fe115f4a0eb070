// SPDX-License-Identifier: Apache-2.0

// Tests searching in the files of a level.

#include "db/version/version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string KeyOf(const std::string& user_key, SequenceNumber seq) {
  return InternalKey(user_key, seq, kValueTypeForSeek).Encode().ToString();
}

TEST(Version, L0IsNewestFirst) {
  const VersionRef version = DrawTree("L0: 3[a-b]1 9[a-b]1 5[a-b]1");
  EXPECT_THAT(Numbers(version->level(0).files()), ElementsAre(9, 5, 3));
}

TEST(Version, EpochsOrderL0BeforeSequences) {
  const VersionRef version = DrawTree("L0: 3[a-b]1 9[a-b]1");
  std::vector<FileRef> files = version->level(0).files();
  files[0]->epoch_number = 1;  // number 9, with the larger sequence
  const LevelFiles level(&BytewiseOrder(), 0, files);
  EXPECT_THAT(Numbers(level.files()), ElementsAre(3, 9));
}

TEST(Version, CountsLevelsAndBytes) {
  const VersionRef version = DrawTree("L0: 1[a-b]10 L2: 2[a-b]20 3[c-d]30");
  EXPECT_EQ(version->num_levels(), 7);
  EXPECT_EQ(version->non_empty_levels(), 3);
  EXPECT_EQ(version->TotalBytes(), 60u);
  EXPECT_EQ(version->level(2).bytes(), 50u);
  int level = -1;
  EXPECT_EQ(version->FindByNumber(3, &level)->size, 30u);
  EXPECT_EQ(level, 2);
  EXPECT_EQ(version->FindByNumber(4, &level), nullptr);
  EXPECT_THAT(version->DebugString(), HasSubstr("L2:"));
}

TEST(Version, FindsTheFirstFileThatDoesNotEndBefore) {
  const VersionRef version = DrawTree("L1: 1[b-d]1 2[f-h]1 3[h0-k]1");
  const LevelFiles& files = version->level(1);
  EXPECT_EQ(files.Find(KeyOf("a", 100)), 0u);
  EXPECT_EQ(files.Find(KeyOf("d", 100)), 0u);
  EXPECT_EQ(files.Find(KeyOf("d", 0)), 1u);  // d's entry is at sequence 1, and older than sought
  EXPECT_EQ(files.Find(KeyOf("e", 100)), 1u);
  EXPECT_EQ(files.Find(KeyOf("h", 100)), 1u);
  EXPECT_EQ(files.Find(KeyOf("h0", 100)), 2u);
  EXPECT_EQ(files.Find(KeyOf("l", 100)), 3u);
}

TEST(Version, FilesThatMayOverlap) {
  const VersionRef version = DrawTree("L0: 7[a-m]1 8[k-z]1 L1: 1[b-d]1 2[f-h]1 3[j-l]1");
  const auto overlapping = [&](int level, const char* begin, const char* end) {
    const Slice b(begin == nullptr ? "" : begin);
    const Slice e(end == nullptr ? "" : end);
    return Numbers(version->level(level).Overlapping(begin == nullptr ? nullptr : &b,
                                                     end == nullptr ? nullptr : &e));
  };
  EXPECT_THAT(overlapping(1, nullptr, nullptr), ElementsAre(1, 2, 3));
  EXPECT_THAT(overlapping(1, "c", "g"), ElementsAre(1, 2));
  EXPECT_THAT(overlapping(1, "d", "f"), ElementsAre(1, 2));
  EXPECT_THAT(overlapping(1, "e", "e"), IsEmpty());
  EXPECT_THAT(overlapping(1, "m", nullptr), IsEmpty());
  EXPECT_THAT(overlapping(1, nullptr, "a"), IsEmpty());
  EXPECT_THAT(overlapping(0, "l", "l"), ElementsAre(8, 7));
  EXPECT_THAT(overlapping(0, "n", nullptr), ElementsAre(8));
  EXPECT_TRUE(version->RangeMayExistFrom(0, "y", "z"));
  EXPECT_FALSE(version->RangeMayExistFrom(1, "y", "z"));
  EXPECT_TRUE(version->RangeMayExistFrom(1, "e", "f"));
  EXPECT_FALSE(version->RangeMayExistFrom(2, "e", "f"));
}

// Any order will do as long as the code cannot know it.
class OpaqueComparator : public Comparator {
 public:
  const char* Name() const override { return "test.Opaque"; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

// Random levels whose keys share prefixes, differ after their first eight bytes, or are prefixes of
// each other; searched by words and by whole keys.
TEST(Version, FindAgreesWithALinearSearch) {
  std::mt19937 random(11);
  const OpaqueComparator opaque;
  const InternalKeyComparator custom(&opaque);
  const InternalKeyComparator reverse(ReverseBytewiseComparator());
  const char* const prefixes[] = {"", "p", "sharedsharedshared"};
  for (int round = 0; round < 300; round++) {
    const std::string prefix = prefixes[round % 3];
    const auto random_key = [&] {
      std::string key = prefix;
      const size_t n = random() % 14;
      for (size_t i = 0; i < n; i++) key.push_back("\0a\xff"[random() % 3]);
      return key;
    };
    for (const InternalKeyComparator* order : {&BytewiseOrder(), &custom, &reverse}) {
      std::set<std::string> distinct;
      for (size_t i = random() % 60; i > 0; i--) distinct.insert(random_key());
      std::vector<std::string> keys(distinct.begin(), distinct.end());
      if (order == &reverse) std::reverse(keys.begin(), keys.end());
      std::vector<FileRef> files;
      for (size_t i = 0; i + 1 < keys.size(); i += 2) {
        auto file = std::make_shared<FileMetaData>();
        file->number = i;
        file->smallest = InternalKey(keys[i], 5, kTypeValue);
        file->largest = InternalKey(keys[i + 1], 5, kTypeValue);
        files.push_back(std::move(file));
      }
      const LevelFiles level(order, 1, files);
      for (int probe = 0; probe < 60; probe++) {
        std::string user_key = random_key();
        if (probe % 5 == 0) user_key = user_key.substr(0, random() % 4);
        if (probe % 7 == 0 && !keys.empty()) user_key = keys[random() % keys.size()];
        const std::string key = KeyOf(user_key, random() % 10);
        size_t expected = 0;
        while (expected < files.size() &&
               order->Compare(files[expected]->largest.Encode(), key) < 0) {
          expected++;
        }
        ASSERT_EQ(level.Find(key), expected);
      }
    }
  }
}

}  // namespace
}  // namespace varve
