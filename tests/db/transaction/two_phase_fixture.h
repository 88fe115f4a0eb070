// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides a database in memory whose transactions have two phases, and which crashes.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/utilities/merge_operators.h"

#include "tests/db/transaction/transaction_fixture.h"

namespace varve::testing {

class TwoPhaseFixture : public TransactionTest {
 protected:
  using Transactions = std::map<std::string, std::unique_ptr<Transaction>>;

  TwoPhaseFixture() {
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    options_.disable_auto_compactions = true;
    options_.max_bgerror_resume_count = 0;
  }
  void SetUp() override { OpenTransactions(); }

  std::unique_ptr<Transaction> Named(const std::string& name, bool sync = false) {
    WriteOptions options;
    options.sync = sync;
    TransactionOptions impatient = Impatient();
    std::unique_ptr<Transaction> txn(txn_db_->BeginTransaction(options, impatient));
    EXPECT_TRUE(txn->SetName(name).ok()) << name;
    return txn;
  }
  // Returns a prepared transaction that has put key=value.
  std::unique_ptr<Transaction> Prepared(const std::string& name, const std::string& key,
                                        const std::string& value, bool sync = false) {
    auto txn = Named(name, sync);
    EXPECT_TRUE(txn->Put(key, value).ok()) << name;
    const Status s = txn->Prepare();
    EXPECT_TRUE(s.ok()) << name << ": " << s.ToString();
    return txn;
  }
  // Returns all prepared transactions by name.
  Transactions TakePrepared() {
    std::vector<Transaction*> all;
    txn_db_->GetAllPreparedTransactions(&all);
    Transactions result;
    for (Transaction* txn : all) result[txn->GetName()].reset(txn);
    return result;
  }
  std::string NamesPrepared() {
    std::vector<Transaction*> all;
    txn_db_->GetAllPreparedTransactions(&all);
    std::map<std::string, int> names;
    for (Transaction* txn : all) names[txn->GetName()]++;
    std::string text;
    for (const auto& [name, count] : names) {
      EXPECT_EQ(count, 1) << name;
      text += (text.empty() ? "" : " ") + name;
    }
    return text;
  }
  std::string ScanAll(ColumnFamilyHandle* family = nullptr) {
    if (family == nullptr) family = txn_db_->DefaultColumnFamily();
    const std::unique_ptr<Iterator> it(txn_db_->NewIterator(ReadOptions(), family));
    it->SeekToFirst();
    return Rest(it.get());
  }
  void FlushAll() { ASSERT_TRUE(txn_db_->Flush(FlushOptions(), handles_).ok()); }
  std::string TextOf(const std::string& property) {
    std::string text;
    EXPECT_TRUE(txn_db_->GetProperty(property, &text)) << property;
    return text;
  }
  // Returns the files that a crash at this moment leaves. All transactions must be gone before.
  std::shared_ptr<MemFileSystem> Left(CrashPolicy policy = CrashPolicy::kKill, uint64_t seed = 1) {
    return mem().CrashClone(policy, seed);
  }
  // Goes on with that, nothing being open.
  void GoOnWith(std::shared_ptr<MemFileSystem> left) {
    CloseTransactions();
    Remount(std::move(left));
  }
  void ReopenTransactions() {
    CloseTransactions();
    OpenTransactions();
  }
};

}  // namespace varve::testing
