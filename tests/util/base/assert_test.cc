// SPDX-License-Identifier: Apache-2.0
#include "util/base/assert.h"

#include <gtest/gtest.h>

#include <utility>

namespace varve {
namespace {

TEST(AssertTest, WhatHoldsPasses) {
  VARVE_ASSERT(std::pair<int, int>(1, 2).second == 2);
}

TEST(AssertTest, WhatIsBrokenSaysWhichRuleAndWhere) {
  if (!kAssertions) GTEST_SKIP() << "assertions are off";
  const int keys = 3;
  EXPECT_DEATH(VARVE_ASSERT(keys < 3), "assert_test.cc:[0-9]+: broken: keys < 3");
}

TEST(AssertTest, ReleaseBuildsDoNotEvaluate) {
  int evaluated = 0;
  VARVE_ASSERT(++evaluated > 0);
  EXPECT_EQ(evaluated, kAssertions ? 1 : 0);
}

}  // namespace
}  // namespace varve
