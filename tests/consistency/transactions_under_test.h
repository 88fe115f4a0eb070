// SPDX-License-Identifier: Apache-2.0
#pragma once

// Owns the database of a test that runs many transactions at a time in every write mode, and the
// threads that run them. Findings of any thread stop the run.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/env.h"
#include "varve/utilities/merge_operators.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"

#include "tests/consistency/findings.h"
#include "tests/harness/database.h"
#include "tests/harness/random.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

inline constexpr std::chrono::seconds kTransactionsHang{120};

// Returns true for an error with which a transaction may end on a conflict.
inline bool IsRefusal(const Status& s) {
  return s.IsBusy() || s.IsTimedOut() || s.IsTryAgain() || s.IsIncomplete();
}

// Holds a database in one write mode, for one kind of transactions. It is in memory, unless the
// mode has an environment of its own, which is the system's.
class TransactionsUnderTest {
 public:
  TransactionsUnderTest(const WriteMode& mode, bool optimistic,
                        OccValidationPolicy checks = OccValidationPolicy::kValidateParallel)
      : mode_(mode),
        env_(NewMemEnv(Env::Default())),
        directory_(std::filesystem::temp_directory_path() /
                   ("varve-transactions-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(directory_);
    DBOptions options;
    options.env = env_.get();
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.info_log = SilentLogger();
    ColumnFamilyOptions family;
    mode.Apply(&options, &family);
    family.merge_operator = MergeOperators::CreateStringAppendOperator(std::string());
    family.write_buffer_size = 64 << 10;
    family.max_write_buffer_number = 6;
    family.level0_file_num_compaction_trigger = 2;
    const std::vector<ColumnFamilyDescriptor> families = {{"default", family}, {"second", family}};
    if (optimistic) {
      OptimisticTransactionDBOptions of_transactions;
      of_transactions.validate_policy = checks;
      opened_ = OptimisticTransactionDB::Open(options, of_transactions, directory_, families,
                                              &handles_, &optimistic_);
      db_.reset(optimistic_);
    } else {
      TransactionDBOptions of_transactions;
      of_transactions.transaction_lock_timeout = 20;
      if (options.unordered_write) of_transactions.write_policy = WRITE_PREPARED;
      opened_ = TransactionDB::Open(options, of_transactions, directory_, families, &handles_,
                                    &pessimistic_);
      db_.reset(pessimistic_);
    }
  }
  ~TransactionsUnderTest() {
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    if (db_ != nullptr) {
      EXPECT_TRUE(db_->Close().ok());
    }
    db_.reset();
    std::filesystem::remove_all(directory_);
  }
  TransactionsUnderTest(const TransactionsUnderTest&) = delete;
  TransactionsUnderTest& operator=(const TransactionsUnderTest&) = delete;

  [[nodiscard]] const Status& opened() const { return opened_; }
  [[nodiscard]] const WriteMode& mode() const { return mode_; }
  DB* db() { return db_.get(); }
  DB* base() { return optimistic_->GetBaseDB(); }
  ColumnFamilyHandle* family(size_t i) { return handles_[i % handles_.size()]; }
  Findings* findings() { return &findings_; }
  void Wrong(const std::string& what) { findings_.Report(what); }

  std::unique_ptr<Transaction> Begin(Random* random, bool set_snapshot = false) {
    const WriteOptions write = mode_.DrawWriteOptions(random);
    if (optimistic_ != nullptr) {
      OptimisticTransactionOptions options;
      options.set_snapshot = set_snapshot;
      return std::unique_ptr<Transaction>(optimistic_->BeginTransaction(write, options));
    }
    TransactionOptions options;
    options.set_snapshot = set_snapshot;
    options.deadlock_detect = random->OneIn(2);
    return std::unique_ptr<Transaction>(pessimistic_->BeginTransaction(write, options));
  }
  // Writes beside transactions. The write may be refused.
  void WritePlain(DB* to, WriteBatch* batch, Random* random) {
    const WriteOptions write = mode_.DrawWriteOptions(random);
    Status s;
    do s = to->Write(write, batch);
    while (s.IsIncomplete() && write.no_slowdown);
    findings_.Expect(s, "Write");
  }

  // Runs `step` in this many threads, and flushes beside them, until `done` or a finding.
  void Run(size_t threads, const std::function<void(size_t, Random*)>& step,
           const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + kTransactionsHang;
    const auto over = [&] { return done() || findings_.any(); };
    std::vector<std::thread> running;
    for (size_t i = 0; i < threads; i++) {
      running.emplace_back([&, i] {
        Random random(i + 1);
        while (!over()) step(i, &random);
      });
    }
    while (!over()) {
      if (std::chrono::steady_clock::now() > end) findings_.Report("no progress");
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      FlushOptions options;
      options.allow_write_stall = true;
      for (ColumnFamilyHandle* handle : handles_) {
        findings_.Expect(db_->Flush(options, handle), "Flush");
      }
    }
    for (std::thread& thread : running) thread.join();
  }
  [[nodiscard]] std::string first_finding() const { return findings_.first(); }

 private:
  const WriteMode& mode_;
  const std::unique_ptr<Env> env_;
  const std::string directory_;
  Findings findings_;
  Status opened_;
  std::unique_ptr<DB> db_;
  TransactionDB* pessimistic_ = nullptr;  // db_, or null, as the next
  OptimisticTransactionDB* optimistic_ = nullptr;
  std::vector<ColumnFamilyHandle*> handles_;
};

inline bool IsUnordered(const WriteMode& mode) {
  DBOptions options;
  ColumnFamilyOptions family;
  mode.Apply(&options, &family);
  return options.unordered_write;
}

// Calls check(mode) for each mode that supports such transactions: validation at commit requires
// ordered writes.
inline void InEachMode(bool optimistic, const std::function<void(const WriteMode&)>& check) {
  const char* const only = getenv("VARVE_CONSISTENCY_MODE");
  for (const WriteMode& mode : WriteModes()) {
    if (IsExpectedRefusal(mode) || (only != nullptr && mode.name != only)) continue;
    SCOPED_TRACE(std::string(mode.name));
    if (optimistic && IsUnordered(mode)) {
      EXPECT_TRUE(TransactionsUnderTest(mode, optimistic).opened().IsNotSupported());
      continue;
    }
    check(mode);
    if (::testing::Test::HasFailure()) return;
  }
}

inline uint64_t SharedByModes(uint64_t all) {
  return getenv("VARVE_CONSISTENCY_MODE") != nullptr
             ? all
             : std::max<uint64_t>(all / WriteModes().size(), 10);
}

}  // namespace varve::testing
