// SPDX-License-Identifier: Apache-2.0

// Goal: with many threads that prepare and decide while memtables are switched and flushed, a kill
// at any moment leaves each transaction whole: committed, rolled back, or prepared, and never less
// than was acknowledged. Method: each thread counts up, in two families at once; copies of the
// files are taken in between, and opened.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "tests/db/transaction/two_phase_fixture.h"

namespace varve::testing {
namespace {

class TwoPhaseThreadsTest : public TwoPhaseFixture {
 protected:
  static constexpr int kThreads = 4;
  static constexpr int kKills = 20;

  struct Progress {
    std::atomic<int> prepared{0};
    std::atomic<int> committed{0};
    std::atomic<int> decided{0};
  };
  // Counts the acknowledged transactions.
  struct Acknowledged {
    int prepared = 0;
    int committed = 0;
    int decided_after = 0;  // when the files had been copied
  };

  static bool RollsBack(int i) { return i % 5 == 4; }
  static std::string KeyOf(int thread) { return "w" + std::to_string(thread); }

  void Work(int thread) {
    Progress& progress = progress_[static_cast<size_t>(thread)];
    for (int i = 1; !stop_.load(); i++) {
      const auto txn = Named(KeyOf(thread));
      ASSERT_TRUE(txn->Put(KeyOf(thread), std::to_string(i)).ok());
      ASSERT_TRUE(txn->Put(Other(), KeyOf(thread), std::to_string(i)).ok());
      ASSERT_TRUE(txn->Prepare().ok());
      progress.prepared = i;
      ASSERT_TRUE((RollsBack(i) ? txn->Rollback() : txn->Commit()).ok());
      if (!RollsBack(i)) progress.committed = i;
      progress.decided = i;
    }
  }
  void FlushOften() {
    for (size_t i = 0; !stop_.load(); i++) {
      ASSERT_TRUE(txn_db_->Flush(FlushOptions(), handles_[i % 2]).ok());
    }
  }
  static int NumberOf(const Status& s, const std::string& value) {
    return s.ok() ? std::stoi(value) : 0;
  }
  int Committed(int thread, ColumnFamilyHandle* family) {
    std::string value;
    const Status s = txn_db_->Get(ReadOptions(), family, KeyOf(thread), &value);
    return NumberOf(s, value);
  }
  void Check(int thread, const Acknowledged& acknowledged, Transactions* prepared) {
    const int value = Committed(thread, handles_[0]);
    EXPECT_EQ(Committed(thread, handles_[1]), value);
    EXPECT_GE(value, acknowledged.committed);
    EXPECT_FALSE(RollsBack(value));
    int undecided = 0;
    if (const auto found = prepared->find(KeyOf(thread)); found != prepared->end()) {
      std::string text;
      const Status s = found->second->Get(ReadOptions(), KeyOf(thread), &text);
      undecided = NumberOf(s, text);
      EXPECT_GT(undecided, value);
    }
    const int wanted = acknowledged.prepared;
    if (acknowledged.decided_after < wanted && undecided != wanted && value != wanted) {
      EXPECT_TRUE(RollsBack(wanted)) << "it is neither prepared nor committed";
    }
  }

  std::array<Progress, kThreads> progress_;
  std::atomic<bool> stop_{false};
};

TEST_F(TwoPhaseThreadsTest, AKillLeavesEachTransactionWhole) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) threads.emplace_back([this, t] { Work(t); });
  threads.emplace_back([this] { FlushOften(); });
  std::vector<std::shared_ptr<MemFileSystem>> left;
  std::vector<std::array<Acknowledged, kThreads>> acknowledged(kKills);
  for (auto& at_kill : acknowledged) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (size_t t = 0; t < kThreads; t++) {
      at_kill[t].prepared = progress_[t].prepared;
      at_kill[t].committed = progress_[t].committed;
    }
    left.push_back(Left());
    for (size_t t = 0; t < kThreads; t++) at_kill[t].decided_after = progress_[t].decided;
  }
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
  for (size_t i = 0; i < left.size(); i++) {
    SCOPED_TRACE("kill " + std::to_string(i));
    GoOnWith(left[i]);
    OpenTransactions();
    Transactions prepared = TakePrepared();
    for (int t = 0; t < kThreads; t++) Check(t, acknowledged[i][static_cast<size_t>(t)], &prepared);
    for (auto& [name, txn] : prepared) EXPECT_TRUE(txn->Commit().ok()) << name;
  }
  EXPECT_GT(acknowledged.back()[0].prepared, 0);
}

}  // namespace
}  // namespace varve::testing
