// SPDX-License-Identifier: Apache-2.0

// Goal: transactions of many threads add up as if they came one after the other; write skew is
// there where snapshots alone guard, and nowhere else. Method: threads move money between accounts,
// or raise counters, through either kind of transaction, beside plain writes to the base database;
// sums and counts are held against what was committed.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"

#include "tests/harness/database.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

constexpr int kThreads = 6;
constexpr int kAccounts = 12;
constexpr int kRounds = 300;
constexpr int64_t kEach = 1000;

std::string Account(uint64_t i) {
  return "account" + std::to_string(i);
}

class ThreadsTest : public Database {
 protected:
  ~ThreadsTest() override { db_.reset(); }

  void OpenPessimistic(bool unordered = false) {
    TransactionDB* opened = nullptr;
    TransactionDBOptions of_transactions;
    options_.unordered_write = unordered;
    if (unordered) of_transactions.write_policy = WRITE_PREPARED;
    ASSERT_TRUE(TransactionDB::Open(options_, of_transactions, kName, &opened).ok());
    db_.reset(opened);
    TransactionOptions options;
    options.deadlock_detect = true;
    options.deadlock_timeout_us = 50;
    options.lock_timeout = 60 * 1000;
    begin_ = [=] { return opened->BeginTransaction(WriteOptions(), options); };
  }
  void OpenOptimistic() {
    OptimisticTransactionDB* opened = nullptr;
    ASSERT_TRUE(OptimisticTransactionDB::Open(options_, kName, &opened).ok());
    db_.reset(opened);
    begin_ = [=] { return opened->BeginTransaction(WriteOptions()); };
  }

  static void Run(int threads, const std::function<void(Random*)>& work) {
    std::vector<std::thread> all;
    for (int i = 0; i < threads; i++) {
      all.emplace_back([&work, i] {
        Random random(static_cast<uint64_t>(i) + 1);
        work(&random);
      });
    }
    for (std::thread& thread : all) thread.join();
  }

  // True: it is committed.
  bool Move(Random* random) {
    const uint64_t from = random->Below(kAccounts);
    const uint64_t to = (from + 1 + random->Below(kAccounts - 1)) % kAccounts;
    const std::unique_ptr<Transaction> txn(begin_());
    int64_t amounts[2];
    const uint64_t accounts[2] = {from, to};
    for (int i = 0; i < 2; i++) {
      std::string value;
      const Status s = txn->GetForUpdate(ReadOptions(), Account(accounts[i]), &value);
      if (!s.ok()) return Refused(s);
      amounts[i] = std::stoll(value);
    }
    if (random->OneIn(4)) std::this_thread::yield();
    EXPECT_TRUE(txn->Put(Account(from), std::to_string(amounts[0] - 1)).ok());
    EXPECT_TRUE(txn->Put(Account(to), std::to_string(amounts[1] + 1)).ok());
    const Status s = txn->Commit();
    return s.ok() || Refused(s);
  }
  bool Refused(const Status& s) {
    EXPECT_TRUE(s.IsBusy()) << s.ToString();
    refused_++;
    return false;
  }
  int64_t Sum() {
    ManagedSnapshot snapshot(db_.get());
    ReadOptions options;
    options.snapshot = snapshot.snapshot();
    int64_t sum = 0;
    for (int i = 0; i < kAccounts; i++) {
      std::string value;
      EXPECT_TRUE(db_->Get(options, Account(static_cast<uint64_t>(i)), &value).ok());
      sum += std::stoll(value);
    }
    return sum;
  }
  void Bank() {
    for (int i = 0; i < kAccounts; i++) {
      ASSERT_TRUE(
          db_->Put(WriteOptions(), Account(static_cast<uint64_t>(i)), std::to_string(kEach)).ok());
    }
    Run(kThreads, [this](Random* random) {
      for (int round = 0; round < kRounds;) {
        if (Move(random)) round++;
        if (random->OneIn(50)) {
          EXPECT_EQ(Sum(), kEach * kAccounts);
        }
      }
    });
    EXPECT_EQ(Sum(), kEach * kAccounts);
  }

  std::unique_ptr<DB> db_;
  std::function<Transaction*()> begin_;
  std::atomic<uint64_t> refused_{0};
};

TEST_F(ThreadsTest, MoneyStaysUnderLocks) {
  OpenPessimistic();
  Bank();
  EXPECT_TRUE(static_cast<TransactionDB*>(db_.get())->GetLockStatusData().empty());
}

TEST_F(ThreadsTest, MoneyStaysUnderLocksWithoutOrder) {
  OpenPessimistic(/*unordered=*/true);
  Bank();
}

TEST_F(ThreadsTest, MoneyStaysUnderChecks) {
  OpenOptimistic();
  Bank();
}

// A counter that both transactions and plain writes of the base database change: a plain write must
// come between no transaction's read and its commit. Each plain write has a value of its own, so
// that a lost one shows: the counter's low part counts what was committed since.
TEST_F(ThreadsTest, PlainWritesAreNotOverwritten) {
  OpenOptimistic();
  DB* const base = static_cast<OptimisticTransactionDB*>(db_.get())->GetBaseDB();
  constexpr int64_t kStep = 1000 * 1000;
  std::atomic<int64_t> plain{0};
  ASSERT_TRUE(base->Put(WriteOptions(), "k", "0").ok());
  std::atomic<int> writers{1};
  std::thread writer([&] {
    for (int i = 0; i < 100; i++) {
      EXPECT_TRUE(base->Put(WriteOptions(), "k", std::to_string((plain + 1) * kStep)).ok());
      plain++;
      std::this_thread::yield();
    }
    writers = 0;
  });
  Run(2, [&](Random*) {
    while (writers != 0) {
      const int64_t before = plain;
      const std::unique_ptr<Transaction> txn(begin_());
      std::string value;
      EXPECT_TRUE(txn->GetForUpdate(ReadOptions(), "k", &value).ok());
      EXPECT_GE(std::stoll(value) / kStep, before) << "an older value came back";
      EXPECT_TRUE(txn->Put("k", std::to_string(std::stoll(value) + 1)).ok());
      const Status s = txn->Commit();
      if (!s.ok()) Refused(s);
    }
  });
  writer.join();
}

// Two read both accounts at a snapshot, and write one each.
class SkewTest : public ThreadsTest {
 protected:
  // Returns true if both were committed though together they break what each one found to hold.
  bool Skews(bool for_update) {
    EXPECT_TRUE(db_->Put(WriteOptions(), "x", "1").ok());
    EXPECT_TRUE(db_->Put(WriteOptions(), "y", "1").ok());
    TransactionOptions options;
    options.lock_timeout = 0;
    options.set_snapshot = true;
    auto* const txn_db = static_cast<TransactionDB*>(db_.get());
    bool committed[2];
    std::unique_ptr<Transaction> txns[2];
    for (auto& txn : txns) txn.reset(txn_db->BeginTransaction(WriteOptions(), options));
    bool readable[2] = {true, true};
    for (int i = 0; i < 2; i++) {
      ReadOptions read;
      read.snapshot = txns[i]->GetSnapshot();
      for (const char* key : {"x", "y"}) {
        std::string value;
        const Status s = for_update ? txns[i]->GetForUpdate(read, key, &value, /*exclusive=*/false)
                                    : txns[i]->Get(read, key, &value);
        readable[i] = readable[i] && s.ok();
      }
    }
    for (int i = 0; i < 2; i++) {
      committed[i] =
          readable[i] && txns[i]->Put(i == 0 ? "x" : "y", "0").ok() && txns[i]->Commit().ok();
    }
    return committed[0] && committed[1];
  }
};

TEST_F(SkewTest, SnapshotsAloneAllowIt) {
  OpenPessimistic();
  EXPECT_TRUE(Skews(/*for_update=*/false));
}

TEST_F(SkewTest, ReadsForUpdateDoNot) {
  for (const bool unordered : {false, true}) {
    OpenPessimistic(unordered);
    EXPECT_FALSE(Skews(/*for_update=*/true));
    db_.reset();
  }
}

}  // namespace
}  // namespace varve::testing
