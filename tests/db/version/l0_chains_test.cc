// SPDX-License-Identifier: Apache-2.0

// Goal: L0 is cut into chains where that saves a search, and each chain's files share no keys.
// Method: drawn trees (drawn_tree.h).

#include "db/version/l0_chains.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

using ::testing::ElementsAre;

// Draws `count` files of one key after the other, the first of them with number `first`.
std::string Ordered(int first, int count, int step = 1) {
  std::string drawing;
  for (int i = 0; i < count; i++) {
    const std::string key = std::to_string(5000 + step * i);
    drawing += " " + std::to_string(first + i) + "[" + key + "-" + key + "]1";
  }
  return drawing;
}

std::vector<size_t> Sizes(const Version& version) {
  std::vector<size_t> sizes;
  for (const L0Chain& chain : version.l0_chains()) sizes.push_back(chain.files.size());
  return sizes;
}

TEST(L0Chains, OrderedKeysMakeOneChain) {
  for (const int step : {1, -1}) {
    const VersionRef version = DrawTree("L0:" + Ordered(1, 40, step));
    ASSERT_THAT(Sizes(*version), ElementsAre(40));
    const L0Chain& chain = version->l0_chains().front();
    EXPECT_EQ(chain.oldest, 39u);
    for (size_t i = 0; i < 40; i++) {
      EXPECT_EQ(chain.files[i]->number, step > 0 ? i + 1 : 40 - i);
    }
  }
}

TEST(L0Chains, AnOverlapEndsAChain) {
  const VersionRef version = DrawTree("L0:" + Ordered(1, 20) + Ordered(21, 30));
  ASSERT_THAT(Sizes(*version), ElementsAre(30, 20));
  EXPECT_EQ(version->l0_chains()[0].oldest, 29u);
  EXPECT_EQ(version->l0_chains()[1].oldest, 49u);
}

TEST(L0Chains, AKeyAtABorderIsAnOverlap) {
  const VersionRef version = DrawTree("L0: 1[0000-5000]1" + Ordered(2, 30));
  EXPECT_THAT(Sizes(*version), ElementsAre(30, 1));
}

TEST(L0Chains, FewFilesOrShortChainsAreNotWorthIt) {
  EXPECT_THAT(Sizes(*DrawTree("L0:" + Ordered(1, 15))), ElementsAre());
  std::string drawing = "L0:";
  for (int i = 0; i < 10; i++) drawing += Ordered(1 + 3 * i, 3);
  EXPECT_THAT(Sizes(*DrawTree(drawing)), ElementsAre());
}

}  // namespace
}  // namespace varve
