// SPDX-License-Identifier: Apache-2.0
#pragma once

// Rules that a room asserts, and what breaks each of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "util/base/assert.h"

namespace varve {

struct BrokenRule {
  const char* rule;  // the assertion's text, or its beginning
  void (*broken)();
};

// Each ends the process, and prints its rule.
inline void ExpectDeaths(std::initializer_list<BrokenRule> rules) {
  if (!kAssertions) GTEST_SKIP() << "this build has no assertions";
  for (const BrokenRule& rule : rules) {
    EXPECT_DEATH(rule.broken(), ::testing::HasSubstr(std::string("broken: ") + rule.rule));
  }
}

}  // namespace varve
