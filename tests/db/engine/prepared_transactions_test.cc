// SPDX-License-Identifier: Apache-2.0

// Goal: the log that holds a prepared transaction stays exactly as long as it is needed. Method:
// each way through its states, asked after every step which logs stay.

#include "db/engine/prepared_transactions.h"

#include <gtest/gtest.h>

#include "db/write/two_phase_records.h"

namespace varve {
namespace {

class PreparedTransactionsTest : public ::testing::Test {
 protected:
  PreparedTransaction* Prepare(const std::string& name, const WriteBatch& updates, uint64_t log) {
    PreparedTransaction* txn = nullptr;
    EXPECT_TRUE(transactions_.Plan(name, updates, 0, &txn).ok());
    transactions_.NotePrepared(txn, log);
    return txn;
  }
  void Decide(PreparedTransaction* txn, bool commit, uint64_t log, bool synced = true) {
    TwoPhaseStep step;
    step.kind = commit ? TwoPhaseStep::Kind::kCommit : TwoPhaseStep::Kind::kRollback;
    step.prepared = txn;
    step.synced = synced;
    transactions_.NoteDecided(step, log);
  }
  // Returns the oldest log that stays; 0: none.
  uint64_t Held(uint64_t of_default, uint64_t of_other = 100) {
    const uint64_t held = transactions_.OldestLogHeld({{0, of_default}, {1, of_other}});
    return held == UINT64_MAX ? 0 : held;
  }
  // Returns a delete in family 1, which needs no handle.
  static WriteBatch InOther() { return WriteBatch(MakeBatchOf(Slice("\x04\x01\x01k", 4), 1)); }
  static WriteBatch InDefault() { return WriteBatch(MakeBatchOf(Slice("\x00\x01k", 3), 1)); }

  PreparedTransactions transactions_;
};

TEST_F(PreparedTransactionsTest, UndecidedOnesHoldTheirLog) {
  PreparedTransaction* planned = nullptr;
  ASSERT_TRUE(transactions_.Plan("a", InDefault(), 0, &planned).ok());
  EXPECT_EQ(Held(9), 0u);
  EXPECT_TRUE(transactions_.Has("a"));
  EXPECT_TRUE(transactions_.Plan("a", InDefault(), 0, &planned).IsInvalidArgument());
  transactions_.Forget(planned);
  EXPECT_FALSE(transactions_.InUse());
  Prepare("a", InDefault(), 4);
  Prepare("b", InDefault(), 6);
  EXPECT_EQ(Held(9), 4u);
  transactions_.NoteDurable(100);
  transactions_.Prune({{0, 100}});
  EXPECT_EQ(Held(9), 4u);
}

TEST_F(PreparedTransactionsTest, CommittedOnesUntilTheirFamiliesHaveTheCommit) {
  Decide(Prepare("a", InDefault(), 4), /*commit=*/true, 6);
  EXPECT_EQ(Held(6), 4u);
  EXPECT_EQ(Held(7), 0u);
  EXPECT_EQ(Held(7, 2), 0u) << "the other family has no part in it";
  Decide(Prepare("b", InOther(), 5), /*commit=*/true, 6);
  EXPECT_EQ(Held(7, 6), 5u);
  EXPECT_EQ(transactions_.OldestLogHeld({{0, 7}}), UINT64_MAX) << "it was dropped";
  transactions_.Prune({{0, 7}, {1, 6}});
  EXPECT_EQ(Held(1, 6), 5u);
  EXPECT_FALSE(transactions_.Has("b"));
}

TEST_F(PreparedTransactionsTest, DecisionsThatAreNotDurableHoldTheLog) {
  Decide(Prepare("a", InDefault(), 4), /*commit=*/false, 6, /*synced=*/false);
  Decide(Prepare("b", InDefault(), 5), /*commit=*/true, 7, /*synced=*/false);
  EXPECT_EQ(Held(9), 4u);
  transactions_.NoteDurable(7);
  EXPECT_EQ(Held(9), 5u);
  transactions_.NoteDurable(8);
  EXPECT_EQ(Held(9), 0u);
  EXPECT_EQ(Held(7), 5u);
  // The least durable one of equal transactions decides how long the logs are held.
  Decide(Prepare("c", InDefault(), 5), /*commit=*/true, 7, /*synced=*/false);
  EXPECT_EQ(Held(9), 5u);
}

TEST_F(PreparedTransactionsTest, ALogThatBeginsWithThemReleasesAllBefore) {
  PreparedTransaction* const undecided = Prepare("a", InDefault(), 4);
  Decide(Prepare("b", InDefault(), 3), /*commit=*/false, 6, /*synced=*/false);
  const std::vector<std::string> records = transactions_.MakeRecordsAgain(77);
  ASSERT_EQ(records.size(), 1u);
  std::vector<TwoPhasePart> parts;
  ASSERT_TRUE(SplitTwoPhaseRecord(records[0], &parts).ok());
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].name, "a");
  EXPECT_TRUE(parts[0].again);
  transactions_.MovedTo(10);
  EXPECT_EQ(Held(10), 10u);
  EXPECT_EQ(transactions_.LogOf(undecided), 10u);
}

TEST_F(PreparedTransactionsTest, WhatIsFoundIsClaimedOnce) {
  transactions_.AddRecovered("a", InDefault(), 4, 0);
  EXPECT_EQ(transactions_.Undecided().at(0).claimed, false);
  const std::vector<PreparedTransaction*> claimed = transactions_.Claim();
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_TRUE(transactions_.Claim().empty());
  transactions_.Abandon(claimed[0]);
  EXPECT_EQ(transactions_.Claim().size(), 1u);
}

}  // namespace
}  // namespace varve
