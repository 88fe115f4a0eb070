// SPDX-License-Identifier: Apache-2.0
#include "db/read/walk_bounds.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "varve/comparator.h"

namespace varve {
namespace {

// Takes the first byte of keys that begin with a letter; throws at 'x'.
class FirstLetter final : public SliceTransform {
 public:
  const char* Name() const override { return "FirstLetter"; }
  Slice Transform(const Slice& key) const override { return Slice(key.data(), 1); }
  bool InDomain(const Slice& key) const override {
    if (key.starts_with("x")) throw std::runtime_error("x");
    return !key.empty() && key[0] >= 'a';
  }
};

class WalkBoundsTest : public ::testing::Test {
 protected:
  const InternalKeyComparator icmp_{BytewiseComparator()};
  const FirstLetter extractor_{};
  const Slice lower_ = "c";
  const Slice upper_ = "m";
  WalkBounds bounds_;
};

TEST_F(WalkBoundsTest, TheLowerBoundIsInclusiveAndTheUpperOneExclusive) {
  bounds_.Init(&icmp_, &lower_, &upper_, nullptr);
  EXPECT_TRUE(bounds_.IsBeyondStart("b"));
  EXPECT_FALSE(bounds_.IsBeyondStart("c"));
  EXPECT_TRUE(bounds_.IsBelowLower("b"));
  EXPECT_FALSE(bounds_.IsBelowLower("c"));
  EXPECT_FALSE(bounds_.IsBeyondEnd("l"));
  EXPECT_TRUE(bounds_.IsBeyondEnd("m"));
  EXPECT_FALSE(bounds_.IsAtUpper("l"));
  EXPECT_TRUE(bounds_.IsAtUpper("m"));
}

TEST_F(WalkBoundsTest, WithoutBoundsAWalkHasNoEnd) {
  bounds_.Init(&icmp_, nullptr, nullptr, nullptr);
  EXPECT_TRUE(bounds_.SetPrefixOf("a"));
  EXPECT_FALSE(bounds_.has_prefix());
  EXPECT_FALSE(bounds_.IsBeyondStart(""));
  EXPECT_FALSE(bounds_.IsBeyondEnd("\xff"));
}

TEST_F(WalkBoundsTest, APrefixEndsTheWalkOnBothSidesUntilItRestarts) {
  bounds_.Init(&icmp_, nullptr, nullptr, &extractor_);
  EXPECT_TRUE(bounds_.SetPrefixOf("f1"));
  EXPECT_TRUE(bounds_.has_prefix());
  EXPECT_FALSE(bounds_.IsBeyondEnd("f9"));
  EXPECT_TRUE(bounds_.IsBeyondEnd("g"));
  EXPECT_FALSE(bounds_.IsBeyondStart("f0"));
  EXPECT_TRUE(bounds_.IsBeyondStart("e"));
  EXPECT_TRUE(bounds_.IsBeyondEnd("1"));  // is in no domain
  bounds_.Restart();
  EXPECT_FALSE(bounds_.has_prefix());
  EXPECT_FALSE(bounds_.IsBeyondEnd("g"));
}

TEST_F(WalkBoundsTest, AKeyOutsideOfTheDomainGivesNoPrefix) {
  bounds_.Init(&icmp_, nullptr, nullptr, &extractor_);
  EXPECT_TRUE(bounds_.SetPrefixOf("1"));
  EXPECT_FALSE(bounds_.has_prefix());
}

TEST_F(WalkBoundsTest, AnExtractorThatThrowsEndsTheWalkAndIsRemembered) {
  bounds_.Init(&icmp_, nullptr, nullptr, &extractor_);
  EXPECT_FALSE(bounds_.SetPrefixOf("x"));
  EXPECT_TRUE(bounds_.threw());
  bounds_.Restart();
  EXPECT_FALSE(bounds_.threw());
  EXPECT_TRUE(bounds_.SetPrefixOf("f"));
  EXPECT_TRUE(bounds_.IsBeyondEnd("x"));
  EXPECT_TRUE(bounds_.threw());
}

}  // namespace
}  // namespace varve
