// SPDX-License-Identifier: Apache-2.0

// Goal: every number that was added is found, and if there are few spans no other is. Method: spans
// by hand, and more of them than are kept.

#include "db/column_family/unlogged_numbers.h"

#include <gtest/gtest.h>

#include "util/key/internal_key.h"

namespace varve {
namespace {

TEST(UnloggedNumbersTest, FindsWhatWasAdded) {
  UnloggedNumbers numbers;
  EXPECT_FALSE(numbers.MayHold(0, kMaxSequenceNumber));
  numbers.Add(10, 20);
  numbers.Add(30, 30);
  EXPECT_FALSE(numbers.MayHold(1, 9));
  EXPECT_TRUE(numbers.MayHold(1, 10));
  EXPECT_TRUE(numbers.MayHold(20, 25));
  EXPECT_FALSE(numbers.MayHold(21, 29));
  EXPECT_TRUE(numbers.MayHold(30, 30));
  EXPECT_FALSE(numbers.MayHold(31, 40));
  numbers.Add(31, 40);
  EXPECT_TRUE(numbers.MayHold(40, 50));
  // A table was ingested before the memtable was switched.
  EXPECT_FALSE(numbers.MayHold(26, 29));
  numbers.Add(25, 42);
  EXPECT_TRUE(numbers.MayHold(25, 26));
  EXPECT_FALSE(numbers.MayHold(21, 24));
  EXPECT_TRUE(numbers.MayHold(42, 50));
}

TEST(UnloggedNumbersTest, ManySpansAreJoinedFromTheOldestOn) {
  UnloggedNumbers numbers;
  constexpr SequenceNumber kSpans = 100;
  for (SequenceNumber i = 1; i <= kSpans; i++) numbers.Add(10 * i, 10 * i + 1);
  for (SequenceNumber i = 1; i <= kSpans; i++) EXPECT_TRUE(numbers.MayHold(10 * i + 1, 10 * i + 1));
  EXPECT_TRUE(numbers.MayHold(15, 15));
  EXPECT_FALSE(numbers.MayHold(10 * kSpans - 5, 10 * kSpans - 1));
  EXPECT_FALSE(numbers.MayHold(1, 9));
}

}  // namespace
}  // namespace varve
