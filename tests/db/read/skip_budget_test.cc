// SPDX-License-Identifier: Apache-2.0
#include "db/read/skip_budget.h"

#include <gtest/gtest.h>

namespace varve {
namespace {

// A clock that stands still until it is set.
class SetClock final : public SystemClockWrapper {
 public:
  SetClock() : SystemClockWrapper(SystemClock::Default()) {}
  const char* Name() const override { return "SetClock"; }
  uint64_t NowMicros() override { return now; }

  uint64_t now = 0;
};

// Returns how many entries one move may skip, at most `most`.
uint64_t SpendAll(SkipBudget* budget, uint64_t most) {
  budget->StartMove();
  uint64_t spent = 0;
  while (spent < most && budget->Spend()) spent++;
  return spent;
}

TEST(SkipBudgetTest, EachMoveMaySkipAsManyEntriesAsTheLimit) {
  for (const uint64_t limit : {1, 63, 64, 65, 1023, 1024, 1025, 1087, 1088, 1089, 5000}) {
    for (const bool looks : {false, true}) {
      SkipBudget budget;
      budget.Init(limit, nullptr, 0);
      budget.LookBetweenSlices(looks);
      EXPECT_EQ(SpendAll(&budget, 10000), limit) << looks;
      EXPECT_TRUE(budget.Refusal().IsIncomplete());
      EXPECT_EQ(SpendAll(&budget, 10000), limit) << looks;
    }
  }
}

TEST(SkipBudgetTest, NoLimitIsNeverReached) {
  SkipBudget budget;
  budget.Init(0, nullptr, 0);
  EXPECT_EQ(SpendAll(&budget, 100000), 100000u);
}

TEST(SkipBudgetTest, EntriesThatTakeTimeOnlyAreNotCounted) {
  SkipBudget budget;
  budget.Init(3, nullptr, 0);
  budget.StartMove();
  for (int i = 0; i < 5000; i++) ASSERT_TRUE(budget.SpendTimeOnly());
  for (int i = 0; i < 3; i++) EXPECT_TRUE(budget.Spend());
  EXPECT_FALSE(budget.Spend());
}

TEST(SkipBudgetTest, TheDeadlineEndsAMoveBetweenTwoSlices) {
  SetClock clock;
  SkipBudget budget;
  budget.Init(0, &clock, 100);
  EXPECT_EQ(SpendAll(&budget, 5000), 5000u);
  clock.now = 99;
  EXPECT_FALSE(budget.TooLate());
  clock.now = 100;
  EXPECT_TRUE(budget.TooLate());
  EXPECT_EQ(SpendAll(&budget, 5000), 1024u);
  EXPECT_TRUE(budget.Refusal().IsTimedOut());
  clock.now = 99;
  EXPECT_EQ(SpendAll(&budget, 5000), 5000u);
}

TEST(SkipBudgetTest, TheEndOfASliceShowsOnlyToAWalkThatLooks) {
  SetClock clock;
  SkipBudget timed;
  timed.Init(0, &clock, 100);
  EXPECT_EQ(SpendAll(&timed, 1100), 1100u);
  EXPECT_FALSE(timed.slice_ended());
  for (const bool looks : {false, true}) {
    SkipBudget budget;
    budget.Init(0, nullptr, 0);
    budget.LookBetweenSlices(looks);
    EXPECT_EQ(SpendAll(&budget, 64), 64u);
    EXPECT_FALSE(budget.slice_ended());
    EXPECT_TRUE(budget.Spend());
    EXPECT_EQ(budget.slice_ended(), looks);
    if (looks) budget.TakeSliceEnd();
    EXPECT_FALSE(budget.slice_ended());
    for (int i = 0; i < 1024; i++) ASSERT_TRUE(budget.Spend());
    EXPECT_EQ(budget.slice_ended(), looks);
    budget.StartMove();
    EXPECT_FALSE(budget.slice_ended());
  }
}

}  // namespace
}  // namespace varve
