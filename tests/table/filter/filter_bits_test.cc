// SPDX-License-Identifier: Apache-2.0

// Tests filters: golden bytes, no false negative, and a bearable rate of false positives.

#include "table/filter/filter_bits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/table/table_file.h"

namespace varve {
namespace {

std::string NumberedKey(int i) {
  return "user" + std::to_string(i);
}

enum class FilterForm { kFastLocalBloom, kLegacyBloom, kRibbon };

std::string Build(FilterForm form, int keys, int millibits) {
  FilterHashes hashes;
  for (int i = 0; i < keys; i++) {
    const std::string key = NumberedKey(i);
    hashes.push_back(form == FilterForm::kLegacyBloom ? LegacyFilterHash(key) : FilterHash(key));
  }
  std::string block;
  if (form == FilterForm::kLegacyBloom) {
    BuildLegacyBloom(hashes, millibits / 1000, &block);
  } else if (form == FilterForm::kFastLocalBloom ||
             !BuildRibbon(hashes, BloomDesign(millibits), &block)) {
    BuildFastLocalBloom(hashes, BloomDesign(millibits), &block);
  }
  return block;
}

TEST(FilterBits, FastLocalBloomOfThreeKeysAsRocksDbWroteIt) {
  std::string block;
  BuildFastLocalBloom({FilterHash("k1"), FilterHash("k2"), FilterHash("k3")}, BloomDesign(10000),
                      &block);
  EXPECT_EQ(FilterHash("k1"), 0xe53194a2b84899c0u);
  EXPECT_EQ(test::ToHex(block),
            "0000400000000004000000000004000000000000000000a00000000002000000"
            "0000200000000000800005040000000000008000004000004004000002102000ff00060000");
}

TEST(FilterBits, EveryFormFindsItsKeysAndFewOthers) {
  const struct {
    FilterForm form;
    int millibits;
    double worst_false_positives;
  } kCases[] = {
      {FilterForm::kFastLocalBloom, 10000, 0.012}, {FilterForm::kFastLocalBloom, 4000, 0.17},
      {FilterForm::kFastLocalBloom, 16000, 0.002}, {FilterForm::kLegacyBloom, 10000, 0.02},
      {FilterForm::kLegacyBloom, 4000, 0.2},       {FilterForm::kRibbon, 10000, 0.012},
      {FilterForm::kRibbon, 4000, 0.17},           {FilterForm::kRibbon, 1500, 0.56},
      {FilterForm::kRibbon, 16000, 0.002},         {FilterForm::kRibbon, 100000, 0.0001}};
  for (const auto& c : kCases) {
    for (const int keys : {1, 60, 150, 290, 5000, 40000}) {
      const std::string block = Build(c.form, keys, c.millibits);
      const FilterBits filter = FilterBits::Parse(block);
      EXPECT_EQ(filter.uses_legacy_hash(), c.form == FilterForm::kLegacyBloom);
      for (int i = 0; i < keys; i++) ASSERT_TRUE(filter.MayMatch(filter.HashOf(NumberedKey(i))));
      int false_positives = 0;
      constexpr int kProbes = 20000;
      for (int i = 0; i < kProbes; i++) {
        if (filter.MayMatch(filter.HashOf(NumberedKey(1000000 + i)))) false_positives++;
      }
      EXPECT_LE(false_positives, c.worst_false_positives * kProbes)
          << keys << " keys, millibits " << c.millibits << ", form " << static_cast<int>(c.form);
    }
  }
}

TEST(LineProbe, ByVectorOrOneByOneIsTheSame) {
  if (!HasVectorProbe()) GTEST_SKIP() << "no vectors here";
  std::mt19937 random(4);
  size_t matches = 0;
  for (int n = 0; n < 20000; n++) {
    const int probes = 1 + n % kVectorProbes;
    const auto bits = static_cast<uint32_t>(random());
    // The line has only the wanted bits, sometimes with one removed, among noise.
    char line[kFilterLineBytes] = {};
    for (char& byte : line) byte = static_cast<char>(random() & random() & random());
    SetInLine(line, bits, probes);
    if (n % 3 == 0) {
      const uint32_t bit = random() % (8 * kFilterLineBytes);
      line[bit / 8] = static_cast<char>(line[bit / 8] & ~(1 << (bit % 8)));
    }
    const bool expected = LineMatches(line, bits, probes);
    ASSERT_EQ(LineMatchesByVector(line, bits, probes), expected) << bits << " " << probes;
    matches += expected ? 1 : 0;
  }
  EXPECT_GT(matches, 13000u);
  EXPECT_LT(matches, 19999u);
}

TEST(BloomDesign, TheFewestProbesThatErrHardlyMoreThanTheBest) {
  int last = 1;
  for (int millibits = 1000; millibits <= 100000; millibits += 10) {
    const int probes = BloomDesign(millibits).probes();
    if (probes == last && millibits % 1000 != 0) continue;  // the model takes its time
    EXPECT_LE(probes - last, 1);
    last = probes;
    const auto fewest = [](int m) {
      double best = 1;
      for (int p = 1; p <= 30; p++) best = std::min(best, BloomFalsePositives(m, p));
      for (int p = 1;; p++) {
        if (BloomFalsePositives(m, p) <= best * 1.002) return p;
      }
    };
    EXPECT_EQ(probes, fewest(millibits)) << millibits;
    if (millibits % 1000 == 0) continue;
    EXPECT_EQ(probes - 1, fewest(millibits - 10)) << millibits;
  }
  EXPECT_EQ(last, 24);
  EXPECT_EQ(BloomDesign(10000).probes(), 6);
  EXPECT_EQ(BloomDesign(1).probes(), 1);
}

TEST(BloomDesign, FiltersErrAsOftenAsTheModelSays) {
  constexpr int kKeys = 40000;
  for (const int millibits : {3000, 10000, 14500}) {
    const std::string bytes = Build(FilterForm::kFastLocalBloom, kKeys, millibits);
    const FilterBits filter = FilterBits::Parse(bytes);
    constexpr int kProbes = 400000;
    int wrong = 0;
    for (int i = 0; i < kProbes; i++) {
      wrong += filter.MayMatch(FilterHash(NumberedKey(1000000 + i))) ? 1 : 0;
    }
    const double wanted = BloomDesign(millibits).false_positives() * kProbes;
    EXPECT_NEAR(wrong, wanted, 5 * std::sqrt(wanted)) << millibits;
  }
}

TEST(BloomDesign, SizeIsRoundedUpToLines) {
  const BloomDesign design(10000);
  EXPECT_EQ(design.Bytes(1), 64u + 5);
  EXPECT_EQ(design.Bytes(51), 64u + 5);
  EXPECT_EQ(design.Bytes(52), 128u + 5);
  EXPECT_EQ(design.Bytes(0), 5u);
}

TEST(FilterBits, SpecialBlocks) {
  EXPECT_FALSE(FilterBits::Parse("").MayMatch(1));
  EXPECT_FALSE(FilterBits::Parse(std::string(5, '\0')).MayMatch(1));
  EXPECT_TRUE(FilterBits::Parse(std::string(69, '\0')).MayMatch(1));  // says "always"
  // This is an unknown member of the new family.
  std::string unknown(69, '\0');
  unknown[64] = static_cast<char>(0xff);
  unknown[65] = 1;
  unknown[66] = 6;
  EXPECT_EQ(FilterBits::Parse(unknown).kind(), FilterKind::kAlwaysMatches);
}

TEST(Ribbon, IsSmallerByAThirdOrGivesWayToBloom) {
  const struct {
    int keys;
    int millibits;
    FilterKind kind;
  } kCases[] = {{0, 10000, FilterKind::kNeverMatches},     {1, 10000, FilterKind::kFastLocalBloom},
                {100, 10000, FilterKind::kFastLocalBloom}, {290, 10000, FilterKind::kRibbon},
                {1000, 1000, FilterKind::kFastLocalBloom}, {1000, 10000, FilterKind::kRibbon},
                {50000, 10000, FilterKind::kRibbon}};
  for (const auto& c : kCases) {
    const std::string block = Build(FilterForm::kRibbon, c.keys, c.millibits);
    EXPECT_EQ(FilterBits::Parse(block).kind(), c.kind) << c.keys << " keys";
    const size_t bloom = BloomDesign(c.millibits).Bytes(static_cast<size_t>(c.keys));
    EXPECT_LE(block.size(), bloom);
    if (c.keys >= 50000) {
      EXPECT_LT(static_cast<double>(block.size()), 0.71 * static_cast<double>(bloom));
    }
  }
  const BloomDesign design(10000);
  EXPECT_NE(RibbonLayoutFor(1'900'000'000, design).blocks(), 0u);
  // The first number is too large for the block's field, the second gives too large a block.
  EXPECT_EQ(RibbonLayoutFor(2'100'000'000, design).blocks(), 0u);
  EXPECT_EQ(RibbonLayoutFor(1'300'000'000, BloomDesign(60000)).blocks(), 0u);
}

TEST(Ribbon, MetadataNameSeedAndBlocks) {
  const std::string block = Build(FilterForm::kRibbon, 5000, 10000);
  const std::string meta = test::ToHex(Slice(block.data() + block.size() - 5, 5));
  EXPECT_EQ(meta.substr(0, 2), "fe");
  EXPECT_EQ(meta.substr(4), "280000");  // 5000 keys and 2.4% of spare slots: 40 blocks
  EXPECT_EQ((block.size() - 5) % kRibbonSegmentBytes, 0u);
}

// RocksDB has 1,077 bytes and 226 false positives of 10,000.
TEST(Ribbon, ASmallFilterTakesTheWholeBlocksThatItCanDoWith) {
  const std::string block = Build(FilterForm::kRibbon, 1502, 8000);
  EXPECT_EQ(block.size(), 1077u);
  const FilterBits filter = FilterBits::Parse(block);
  int wrong = 0;
  for (int i = 0; i < 100000; i++) {
    wrong += filter.MayMatch(FilterHash(NumberedKey(1000000 + i))) ? 1 : 0;
  }
  EXPECT_LT(wrong, 2350);
}

TEST(Ribbon, TheSameKeyAgainContradictsNothing) {
  FilterHashes hashes;
  for (int i = 0; i < 4000; i++) hashes.push_back(FilterHash(NumberedKey(i % 1000)));
  std::string block;
  ASSERT_TRUE(BuildRibbon(hashes, BloomDesign(10000), &block));
  const FilterBits filter = FilterBits::Parse(block);
  for (int i = 0; i < 1000; i++) EXPECT_TRUE(filter.MayMatch(FilterHash(NumberedKey(i))));
}

TEST(Ribbon, AnotherSeedWhereOneFails) {
  // There are so many keys that rounding up to whole blocks leaves few slots to spare.
  bool other_seed = false;
  for (int set = 0; set < 300 && !other_seed; set++) {
    FilterHashes hashes;
    for (int i = 0; i < 2620; i++) hashes.push_back(FilterHash(NumberedKey(set * 10000 + i)));
    std::string block;
    ASSERT_TRUE(BuildRibbon(hashes, BloomDesign(10000), &block));
    other_seed = block[block.size() - 4] != 0;
    const FilterBits filter = FilterBits::Parse(block);
    for (const uint64_t hash : hashes) ASSERT_TRUE(filter.MayMatch(hash));
  }
  EXPECT_TRUE(other_seed);
}

TEST(FilterBits, HostileBytesAreAnsweredWithoutReadingBeyondThem) {
  const std::string good[] = {Build(FilterForm::kRibbon, 400, 10000),
                              Build(FilterForm::kFastLocalBloom, 400, 10000),
                              Build(FilterForm::kLegacyBloom, 400, 10000)};
  uint64_t state = 1;
  const auto random = [&state] {
    return state = state * 6364136223846793005 + 1442695040888963407;
  };
  for (const std::string& block : good) {
    for (int n = 0; n < 2000; n++) {
      // The copy is on the heap and of its exact size, for the sanitizer to watch.
      const size_t cut = (random() >> 33) % block.size();
      std::string bad = n % 2 == 0 ? block : block.substr(cut);
      for (size_t i = 1; i <= 5 && i < bad.size(); i++) {
        if ((random() >> 40) % 2 == 0) bad[bad.size() - i] = static_cast<char>(random() >> 50);
      }
      const std::vector<char> exact(bad.begin(), bad.end());
      const FilterBits filter = FilterBits::Parse(Slice(exact.data(), exact.size()));
      for (int probe = 0; probe < 20; probe++) (void)filter.MayMatch(random());
      filter.Prefetch(random());
    }
  }
}

}  // namespace
}  // namespace varve
