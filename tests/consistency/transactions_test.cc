// SPDX-License-Identifier: Apache-2.0

// Goal: transactions keep what they promise in every write mode: transfers under locks or checks
// keep every total in every snapshot, iterator and transaction; two that read each other's keys
// with a plain snapshot may break what each of them found to hold, and never do if they read for
// update; plain writes beside optimistic transactions are not overwritten by what had been read
// before. Method: threads of each on one database under constant flushes; a transaction that was
// committed must have read what there was. The same threads are told to read without locks and
// checks, and must be found out. VARVE_CONSISTENCY=n: a twentieth of it are transactions
// of each kind; VARVE_CONSISTENCY_MODE=name takes one mode.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/consistency/transactions_under_test.h"
#include "tests/harness/environment.h"

namespace varve::testing {

namespace {

constexpr uint64_t kCasesWanted = 220'000;
constexpr size_t kTransferThreads = 6;
constexpr size_t kTransferAccounts = 16;
constexpr int64_t kTransferStart = 1000;

uint64_t TransactionsWanted() {
  return NumberFromEnvironment("VARVE_CONSISTENCY", kCasesWanted) / 20;
}

// ---- Transfers.

class Transfers {
 public:
  // If `careless`, nothing is locked or tracked.
  explicit Transfers(TransactionsUnderTest* under_test, bool careless = false)
      : test_(*under_test), careless_(careless) {
    WriteBatch batch;
    for (size_t i = 0; i < kTransferAccounts; i++) {
      test_.findings()->Expect(batch.Put(test_.family(i), Key(i), std::to_string(kTransferStart)),
                               "filling a batch");
    }
    Random random(1);
    test_.WritePlain(test_.db(), &batch, &random);
  }

  void Run(uint64_t wanted) {
    test_.Run(
        kTransferThreads,
        [this](size_t thread, Random* random) {
          thread % 3 == 2 ? ReadAll(random) : Transfer(random);
        },
        [&] { return committed_ >= wanted && read_ >= wanted / 50; });
  }
  [[nodiscard]] uint64_t committed() const { return committed_; }
  [[nodiscard]] uint64_t cases() const { return committed_ + read_; }

 private:
  static constexpr int64_t kTotal = kTransferStart * static_cast<int64_t>(kTransferAccounts);

  static std::string Key(size_t account) { return "account" + std::to_string(100 + account); }
  static int64_t Number(const std::string& value) {
    return std::strtoll(value.c_str(), nullptr, 10);
  }

  // Moves money, now and then back and forth. Right before the end the transaction must see the
  // total itself, unless another has changed what it read; then it cannot be committed.
  void Transfer(Random* random) {
    const size_t from = random->Below(kTransferAccounts);
    const size_t to = (from + 1 + random->Below(kTransferAccounts - 1)) % kTransferAccounts;
    const std::unique_ptr<Transaction> txn = test_.Begin(random, random->OneIn(3));
    const auto amount = static_cast<int64_t>(random->Below(100));
    Status s = Change(txn.get(), from, -amount);
    if (s.ok() && random->OneIn(6)) {
      txn->SetSavePoint();
      s = Change(txn.get(), to, 7 * amount);
      if (s.ok()) s = txn->RollbackToSavePoint();
    }
    if (s.ok()) s = Change(txn.get(), to, amount);
    int64_t seen = kTotal;
    if (s.ok() && random->OneIn(8)) seen = SumIn(txn.get());
    if (s.ok() && random->OneIn(20)) {
      test_.findings()->Expect(txn->Rollback(), "Rollback");
      return;
    }
    if (s.ok()) s = txn->Commit();
    if (s.ok()) {
      committed_++;
      if (seen != kTotal) test_.Wrong("a transaction saw " + std::to_string(seen));
    } else if (!IsRefusal(s)) {
      test_.Wrong("a transfer: " + s.ToString());
    }
  }

  Status Change(Transaction* txn, size_t account, int64_t amount) {
    ColumnFamilyHandle* const family = test_.family(account);
    const std::string key = Key(account);
    std::string value;
    const Status s = careless_ ? txn->Get(ReadOptions(), family, key, &value)
                               : txn->GetForUpdate(ReadOptions(), family, key, &value);
    if (!s.ok()) return s;
    if (careless_) std::this_thread::yield();
    const std::string changed = std::to_string(Number(value) + amount);
    return careless_ ? txn->PutUntracked(family, key, changed) : txn->Put(family, key, changed);
  }

  // Sums the transaction's changes over one state of both families.
  int64_t SumIn(Transaction* txn) {
    const Snapshot* const snapshot = test_.db()->GetSnapshot();
    ReadOptions read;
    read.snapshot = snapshot;
    int64_t sum = 0;
    size_t accounts = 0;
    for (size_t family = 0; family < 2; family++) {
      const std::unique_ptr<Iterator> it(txn->GetIterator(read, test_.family(family)));
      for (it->SeekToFirst(); it->Valid(); it->Next(), accounts++) {
        sum += Number(it->value().ToString());
      }
      test_.findings()->Expect(it->status(), "a transaction's iterator");
    }
    test_.db()->ReleaseSnapshot(snapshot);
    if (accounts != kTransferAccounts) test_.Wrong(std::to_string(accounts) + " accounts");
    return sum;
  }

  void ReadAll(Random* random) {
    const Snapshot* const snapshot = test_.db()->GetSnapshot();
    ReadOptions read;
    read.snapshot = snapshot;
    int64_t sum = 0;
    std::string value;
    if (random->OneIn(2)) {
      for (size_t i = 0; i < kTransferAccounts; i++) {
        test_.findings()->Expect(test_.db()->Get(read, test_.family(i), Key(i), &value), "Get");
        sum += Number(value);
      }
    } else {
      for (size_t family = 0; family < 2; family++) {
        const std::unique_ptr<Iterator> it(test_.db()->NewIterator(read, test_.family(family)));
        for (it->SeekToLast(); it->Valid(); it->Prev()) sum += Number(it->value().ToString());
        test_.findings()->Expect(it->status(), "an iterator");
      }
    }
    test_.db()->ReleaseSnapshot(snapshot);
    if (sum != kTotal) test_.Wrong("a snapshot holds " + std::to_string(sum));
    read_++;
    std::this_thread::yield();
  }

  TransactionsUnderTest& test_;
  const bool careless_;
  // Relaxed: they publish nothing.
  std::atomic<uint64_t> committed_{0};
  std::atomic<uint64_t> read_{0};
};

// ---- Write skew.

// Pairs of which at least one must stay 1: each transaction reads both before it sets one to 0.
class Skew {
 public:
  Skew(TransactionsUnderTest* under_test, bool for_update)
      : test_(*under_test), for_update_(for_update) {
    WriteBatch batch;
    for (size_t i = 0; i < 2 * kPairs; i++) {
      test_.findings()->Expect(batch.Put(test_.family(i), Key(i), "1"), "filling a batch");
    }
    Random random(1);
    test_.WritePlain(test_.db(), &batch, &random);
  }

  void Run(const std::function<bool(const Skew&)>& done) {
    test_.Run(
        4, [this](size_t, Random* random) { Step(random); }, [&] { return done(*this); });
  }
  [[nodiscard]] uint64_t committed() const { return committed_; }
  [[nodiscard]] uint64_t skewed() const { return skewed_; }

 private:
  static constexpr size_t kPairs = 2;

  static std::string Key(size_t i) { return "doctor" + std::to_string(i); }

  void Step(Random* random) {
    const size_t pair = random->Below(kPairs);
    const std::array<size_t, 2> both = {2 * pair, 2 * pair + 1};
    const std::unique_ptr<Transaction> txn = test_.Begin(random, /*set_snapshot=*/true);
    ReadOptions read;
    read.snapshot = txn->GetSnapshot();
    std::array<bool, 2> is_one = {};
    for (size_t i = 0; i < 2; i++) {
      std::string value;
      ColumnFamilyHandle* const family = test_.family(both[i]);
      const Status s = for_update_ ? txn->GetForUpdate(read, family, Key(both[i]), &value)
                                   : txn->Get(read, family, Key(both[i]), &value);
      if (!s.ok()) return Refused(s);
      is_one[i] = value == "1";
    }
    std::this_thread::yield();
    const bool skewed = !is_one[0] && !is_one[1];
    // If both are 1, one becomes 0. Otherwise what is 0 becomes 1.
    Status s;
    const size_t leaves = random->Below(2);
    for (size_t i = 0; i < 2 && s.ok(); i++) {
      if (is_one[0] && is_one[1] && i != leaves) continue;
      const char* const value = is_one[0] && is_one[1] ? "0" : "1";
      s = txn->Put(test_.family(both[i]), Key(both[i]), value);
    }
    if (s.ok()) s = txn->Commit();
    if (!s.ok()) return Refused(s);
    committed_++;
    if (skewed) skewed_++;
  }

  void Refused(const Status& s) {
    if (!IsRefusal(s)) test_.Wrong("a transaction: " + s.ToString());
  }

  TransactionsUnderTest& test_;
  const bool for_update_;
  // Relaxed: they publish nothing.
  std::atomic<uint64_t> committed_{0};
  std::atomic<uint64_t> skewed_{0};
};

// ---- Optimistic transactions beside plain writes of the base database.

// Pairs that hold the same total, or nothing: plain batches and range deletions set both blindly,
// transactions move money between them. A single plain writer counts up the high part of a number,
// while transactions count its low part.
class BesidePlain {
 public:
  // If `careless`, reads are not tracked.
  explicit BesidePlain(TransactionsUnderTest* under_test, bool careless = false)
      : test_(*under_test), careless_(careless) {}

  void Run(uint64_t wanted) {
    test_.Run(
        kTransferThreads,
        [this](size_t thread, Random* random) {
          if (thread == 0) return CountHigh(random);
          thread % 2 == 0 ? Deal(random) : Transact(random);
        },
        [&] { return committed_ >= wanted && plain_ >= wanted / 20; });
  }
  [[nodiscard]] uint64_t committed() const { return committed_; }
  [[nodiscard]] uint64_t plain() const { return plain_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }

 private:
  static constexpr size_t kPairs = 12;
  static constexpr int64_t kTotal = 1000;
  static constexpr int64_t kHigh = 1'000'000;

  static std::string Key(size_t pair, size_t i) {
    return "pair" + std::to_string(10 + pair) + std::to_string(i);
  }

  void Deal(Random* random) {
    const size_t pair = random->Below(kPairs);
    ColumnFamilyHandle* const family = test_.family(pair);
    WriteBatch batch;
    Status s;
    if (random->OneIn(3)) s = batch.DeleteRange(family, Key(pair, 0), Key(pair, 2));
    if (s.ok() && !random->OneIn(6)) {
      const auto share = static_cast<int64_t>(random->Below(kTotal + 1));
      s = batch.Put(family, Key(pair, 0), std::to_string(share));
      if (s.ok()) s = batch.Put(family, Key(pair, 1), std::to_string(kTotal - share));
    }
    test_.findings()->Expect(s, "filling a batch");
    test_.WritePlain(test_.base(), &batch, random);
    plain_++;
    std::this_thread::sleep_for(std::chrono::microseconds(random->Below(50)));
  }

  void CountHigh(Random* random) {
    WriteBatch batch;
    const int64_t high = high_ + 1;
    test_.findings()->Expect(batch.Put(test_.family(0), "number", std::to_string(high * kHigh)),
                             "filling a batch");
    test_.WritePlain(test_.base(), &batch, random);
    high_ = high;
    plain_++;
    CheckPairs(random);
    std::this_thread::sleep_for(std::chrono::microseconds(random->Below(200)));
  }

  void Transact(Random* random) {
    const std::unique_ptr<Transaction> txn = test_.Begin(random, random->OneIn(3));
    std::string fault;
    const int64_t high = high_;
    Status s =
        random->OneIn(3) ? CountLow(txn.get(), high, &fault) : Move(txn.get(), random, &fault);
    if (s.ok()) s = txn->Commit();
    if (s.ok()) {
      committed_++;
      // The reads did not match the database, and yet the commit succeeded.
      if (!fault.empty()) test_.Wrong("a committed transaction read " + fault);
    } else if (IsRefusal(s)) {
      refused_++;
    } else {
      test_.Wrong("a transaction: " + s.ToString());
    }
  }

  Status CountLow(Transaction* txn, int64_t high, std::string* fault) {
    std::string value;
    Status s = Read(txn, test_.family(0), "number", &value);
    if (s.IsNotFound()) {
      s = Status::OK();
      value = "0";
    }
    if (!s.ok()) return s;
    const int64_t number = std::strtoll(value.c_str(), nullptr, 10);
    if (number / kHigh < high) *fault = value + " after " + std::to_string(high);
    std::this_thread::yield();
    return Write(txn, test_.family(0), "number", number + 1);
  }

  Status Move(Transaction* txn, Random* random, std::string* fault) {
    const size_t pair = random->Below(kPairs);
    ColumnFamilyHandle* const family = test_.family(pair);
    std::array<int64_t, 2> share = {};
    size_t found = 0;
    for (size_t i = 0; i < 2; i++) {
      std::string value;
      const Status s = Read(txn, family, Key(pair, i), &value);
      if (!s.ok() && !s.IsNotFound()) return s;
      if (s.ok()) found++;
      if (s.ok()) share[i] = std::strtoll(value.c_str(), nullptr, 10);
      std::this_thread::yield();
    }
    if (found == 0) share[0] = kTotal;
    if (found == 1 || share[0] + share[1] != kTotal) {
      *fault = std::to_string(share[0]) + " and " + std::to_string(share[1]);
    }
    const auto amount = static_cast<int64_t>(random->Below(10));
    const Status s = Write(txn, family, Key(pair, 0), share[0] - amount);
    return s.ok() ? Write(txn, family, Key(pair, 1), share[1] + amount) : s;
  }

  Status Read(Transaction* txn, ColumnFamilyHandle* family, const std::string& key,
              std::string* value) const {
    return careless_ ? txn->Get(ReadOptions(), family, key, value)
                     : txn->GetForUpdate(ReadOptions(), family, key, value);
  }
  Status Write(Transaction* txn, ColumnFamilyHandle* family, const std::string& key,
               int64_t number) const {
    const std::string value = std::to_string(number);
    return careless_ ? txn->PutUntracked(family, key, value) : txn->Put(family, key, value);
  }

  // Checks the pairs in a snapshot.
  void CheckPairs(Random* random) {
    const size_t pair = random->Below(kPairs);
    ManagedSnapshot snapshot(test_.db());
    ReadOptions read;
    read.snapshot = snapshot.snapshot();
    int64_t sum = 0;
    size_t found = 0;
    for (size_t i = 0; i < 2; i++) {
      std::string value;
      const Status s = test_.db()->Get(read, test_.family(pair), Key(pair, i), &value);
      if (s.IsNotFound()) continue;
      test_.findings()->Expect(s, "Get");
      found++;
      sum += std::strtoll(value.c_str(), nullptr, 10);
    }
    if (found == 1 || (found == 2 && sum != kTotal)) {
      test_.Wrong("a snapshot has " + std::to_string(found) + " of a pair, with " +
                  std::to_string(sum));
    }
  }

  TransactionsUnderTest& test_;
  const bool careless_;
  std::atomic<int64_t> high_{0};  // acknowledged
  // Relaxed: they publish nothing.
  std::atomic<uint64_t> committed_{0};
  std::atomic<uint64_t> plain_{0};
  std::atomic<uint64_t> refused_{0};
};

void TransferInAllModes(bool optimistic) {
  uint64_t cases = 0;
  InEachMode(optimistic, [&](const WriteMode& mode) {
    TransactionsUnderTest under_test(mode, optimistic);
    ASSERT_TRUE(under_test.opened().ok()) << under_test.opened().ToString();
    Transfers transfers(&under_test);
    transfers.Run(SharedByModes(TransactionsWanted()));
    EXPECT_EQ(under_test.first_finding(), "");
    cases += transfers.cases();
  });
  printf("RESULT transfers cases=%llu\n", static_cast<unsigned long long>(cases));
}

}  // namespace

TEST(TransactionConsistencyTest, TransfersUnderLocksKeepTheTotal) {
  TransferInAllModes(/*optimistic=*/false);
}

TEST(TransactionConsistencyTest, TransfersUnderChecksKeepTheTotal) {
  TransferInAllModes(/*optimistic=*/true);
}

TEST(TransactionConsistencyTest, SnapshotsAloneAllowWriteSkew) {
  for (const bool optimistic : {false, true}) {
    TransactionsUnderTest under_test(WriteModeNamed("ordered"), optimistic);
    Skew skew(&under_test, /*for_update=*/false);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    skew.Run(
        [&](const Skew& s) { return s.skewed() != 0 || std::chrono::steady_clock::now() > end; });
    EXPECT_EQ(under_test.first_finding(), "");
    EXPECT_GT(skew.skewed(), 0u) << "not once in " << skew.committed();
  }
}

TEST(TransactionConsistencyTest, ReadsForUpdateDoNotAllowWriteSkew) {
  for (const bool optimistic : {false, true}) {
    InEachMode(optimistic, [&](const WriteMode& mode) {
      TransactionsUnderTest under_test(mode, optimistic);
      ASSERT_TRUE(under_test.opened().ok()) << under_test.opened().ToString();
      Skew skew(&under_test, /*for_update=*/true);
      const uint64_t wanted = SharedByModes(TransactionsWanted() / 8);
      skew.Run([&](const Skew& s) { return s.skewed() != 0 || s.committed() >= wanted; });
      EXPECT_EQ(under_test.first_finding(), "");
      EXPECT_EQ(skew.skewed(), 0u);
    });
  }
}

TEST(TransactionConsistencyTest, PlainWritesBesideOptimisticOnesAreNotOverwritten) {
  uint64_t refused = 0;
  InEachMode(/*optimistic=*/true, [&](const WriteMode& mode) {
    TransactionsUnderTest under_test(mode, /*optimistic=*/true);
    ASSERT_TRUE(under_test.opened().ok()) << under_test.opened().ToString();
    BesidePlain beside(&under_test);
    beside.Run(SharedByModes(TransactionsWanted()));
    EXPECT_EQ(under_test.first_finding(), "");
    refused += beside.refused();
  });
  EXPECT_GT(refused, 0u) << "nobody ever met";
}

TEST(TransactionConsistencyTest, WhoReadsWithoutLocksIsFoundOut) {
  constexpr uint64_t kUntilFound = UINT64_MAX;
  for (const bool optimistic : {false, true}) {
    TransactionsUnderTest under_test(WriteModeNamed("ordered"), optimistic);
    Transfers transfers(&under_test, /*careless=*/true);
    transfers.Run(kUntilFound);
    EXPECT_THAT(under_test.first_finding(),
                ::testing::AnyOf(::testing::HasSubstr("holds"), ::testing::HasSubstr("saw")));
  }
  TransactionsUnderTest under_test(WriteModeNamed("ordered"), /*optimistic=*/true);
  BesidePlain beside(&under_test, /*careless=*/true);
  beside.Run(kUntilFound);
  EXPECT_THAT(under_test.first_finding(),
              ::testing::AnyOf(::testing::HasSubstr("read"), ::testing::HasSubstr("of a pair")));
}

}  // namespace varve::testing
