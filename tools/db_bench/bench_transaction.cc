// SPDX-License-Identifier: Apache-2.0

// Transactions that add the same amount to a number of each set, so that all sets have one sum.
//
// The invariant: a transaction adds the same amount to one number of each set, all or nothing. The
// sums over all keys of a set are therefore equal for all sets after any number of commits and
// aborts. A lost update or a half-visible commit makes them differ, and VerifySums ends the
// program.
//
//      "0000.<key>"  "0001.<key>"  ...      +addend each, keys drawn independently

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/transaction_db.h"
#include "varve/write_batch.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

constexpr uint64_t kAddendMax = 100;

std::string SetName(uint64_t set) {
  std::array<char, 24> name{};
  std::snprintf(name.data(), name.size(), "%04llu.", static_cast<unsigned long long>(set));
  return name.data();
}

// Returns true if a transaction met a conflict, which is no failure of the run.
bool MetAnother(const Status& s) {
  return s.IsBusy() || s.IsTimedOut() || s.IsTryAgain();
}

// Runs one thread's transactions, of the kind that the flags name, or plain batches.
class Adder {
 public:
  explicit Adder(Worker& worker)
      : worker_(worker),
        keys_(worker.NewKeyMaker()),
        order_(FLAGS_transaction_sets),
        in_transactions_(worker.database.has_transactions()) {
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
  }

  // Adds to a number of each set, in an order that may differ between threads.
  void AddOnce() {
    // Shuffled so that threads lock in different orders: deadlocks are wanted here. They end as a
    // time-out.
    for (size_t i = order_.size(); i > 1; --i) {
      std::swap(order_[i - 1], order_[worker_.random.Below(i)]);
    }
    const uint64_t addend = worker_.random.Below(kAddendMax);
    int64_t bytes = 0;
    const Status s = in_transactions_ ? Transact(addend, &bytes) : WriteBatched(addend, &bytes);
    if (s.ok()) {
      ++done_;
      bytes_ += bytes;
    } else if (in_transactions_ && MetAnother(s)) {
      ++aborted_;
    } else {
      Fail("transaction error", s);
    }
  }

  int64_t done() const { return done_; }
  int64_t aborted() const { return aborted_; }
  int64_t bytes() const { return bytes_; }

 private:
  std::string DrawKey(uint64_t set) {
    const uint64_t number = worker_.random.Below(static_cast<uint64_t>(worker_.plan.num));
    return SetName(set) + keys_.Make(number).ToString();
  }

  void Sleep() {
    if (FLAGS_transaction_sleep <= 0) return;
    const uint64_t micros = worker_.random.Below(static_cast<uint64_t>(FLAGS_transaction_sleep));
    std::this_thread::sleep_for(std::chrono::microseconds(micros));
  }

  // Calls read(key, &value), then write(key, sum), for each set.
  template <typename Read, typename Write>
  Status AddAll(uint64_t addend, int64_t* bytes, const Read& read, const Write& write) {
    std::string value;
    for (const uint64_t set : order_) {
      const std::string key = DrawKey(set);
      Status s = read(key, &value);
      if (s.IsNotFound()) {
        value = "0";
      } else if (!s.ok()) {
        return s;
      }
      Sleep();
      const std::string sum = std::to_string(std::strtoull(value.c_str(), nullptr, 10) + addend);
      s = write(key, sum);
      if (!s.ok()) return s;
      *bytes += static_cast<int64_t>(key.size() + sum.size());
    }
    return Status::OK();
  }

  Status Transact(uint64_t addend, int64_t* bytes) {
    transaction_ = worker_.database.Begin(worker_.plan.write_options, std::move(transaction_));
    const Status s = AddAll(
        addend, bytes,
        [&](const std::string& key, std::string* value) {
          // A plain Get would let another transaction commit between it and the Put, and an update
          // would be lost.
          return transaction_->GetForUpdate(worker_.plan.read_options, key, value);
        },
        [&](const std::string& key, const std::string& sum) {
          return transaction_->Put(key, sum);
        });
    if (s.ok()) return transaction_->Commit();
    // Rolled back now and not by the next Begin, so that its locks do not keep others waiting
    // meanwhile. The reason for the abort is what counts, so that a failure of this call changes
    // nothing.
    transaction_->Rollback().PermitUncheckedError();
    return s;
  }

  Status WriteBatched(uint64_t addend, int64_t* bytes) {
    WriteBatch batch;
    const Status s = AddAll(
        addend, bytes,
        [&](const std::string& key, std::string* value) {
          return worker_.db()->Get(worker_.plan.read_options, key, value);
        },
        [&](const std::string& key, const std::string& sum) { return batch.Put(key, sum); });
    return s.ok() ? worker_.db()->Write(worker_.plan.write_options, &batch) : s;
  }

  Worker& worker_;
  KeyMaker keys_;
  std::vector<uint64_t> order_;  // order of the sets
  const bool in_transactions_;
  std::unique_ptr<Transaction> transaction_;
  int64_t done_ = 0;
  int64_t aborted_ = 0;
  int64_t bytes_ = 0;
};

void RandomTransaction(Worker& worker) {
  Adder adder(worker);
  Budget budget(FLAGS_duration, worker.plan.reads_and_writes);
  while (budget.Take()) {
    adder.AddOnce();
    worker.stats.FinishedOps(1, Op::kOther);
  }
  worker.stats.AddBytes(adder.bytes());
  std::array<char, 100> note{};
  if (worker.database.has_transactions()) {
    std::snprintf(note.data(), note.size(), "( transactions:%lld aborts:%lld)",
                  static_cast<long long>(adder.done() + adder.aborted()),
                  static_cast<long long>(adder.aborted()));
  } else {
    std::snprintf(note.data(), note.size(), "( batches:%lld )",
                  static_cast<long long>(adder.done()));
  }
  worker.stats.AddMessage(note.data());
}

uint64_t SumOf(DB* db, uint64_t set) {
  const std::string name = SetName(set);
  ReadOptions options;
  options.total_order_seek = true;
  const std::unique_ptr<Iterator> it(db->NewIterator(options));
  uint64_t sum = 0;
  for (it->Seek(name); it->Valid() && it->key().starts_with(name); it->Next()) {
    sum += std::strtoull(it->value().ToString().c_str(), nullptr, 10);
  }
  if (!it->status().ok()) Fail("iterator error", it->status());
  return sum;
}

// Only transactions have right sums, as plain batches overwrite what others added.
void VerifySums(Database& database) {
  if (!database.has_transactions()) return;
  const uint64_t first = SumOf(database.db(), 0);
  for (uint64_t set = 1; set < FLAGS_transaction_sets; ++set) {
    const uint64_t sum = SumOf(database.db(), set);
    if (sum == first) continue;
    Fail("RandomTransactionVerify FAILED!! set 0 has " + std::to_string(first) + ", set " +
         std::to_string(set) + " has " + std::to_string(sum));
  }
  std::printf("RandomTransactionVerify Success.\n");
}

constexpr std::array kTransactionBenchmarks = {
    Benchmark{.name = "randomtransaction",
              .body = RandomTransaction,
              .verify = VerifySums,
              .takes_timestamps = false},
};

}  // namespace

bool CheckTransactionFlags() {
  const char* wrong = nullptr;
  const bool any = FLAGS_transaction_db || FLAGS_optimistic_transaction_db;
  if (FLAGS_transaction_db && FLAGS_optimistic_transaction_db) {
    wrong = "--transaction_db and --optimistic_transaction_db exclude each other";
  } else if (any && FLAGS_readonly) {
    wrong = "--readonly and transactions exclude each other";
  } else if (any && FLAGS_user_timestamp_size != 0) {
    wrong = "transactions are not supported with --user_timestamp_size";
  } else if (FLAGS_transaction_sets == 0 || FLAGS_transaction_sets > 9999) {
    wrong = "--transaction_sets: 1 to 9999";
  } else if (FLAGS_txn_write_policy != 0 && FLAGS_txn_write_policy != 1) {
    wrong = "--txn_write_policy is not supported but 0 (WRITE_COMMITTED) and 1 (WRITE_PREPARED)";
  }
  if (wrong != nullptr) std::fprintf(stderr, "%s\n", wrong);
  return wrong == nullptr;
}

std::span<const Benchmark> TransactionBenchmarks() {
  return kTransactionBenchmarks;
}

}  // namespace varve::bench
