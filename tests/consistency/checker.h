// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines the contract of a checker: it owns a part of the key space, writes it from many threads,
// and knows from the acknowledged writes which answers are possible.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "tests/consistency/store.h"

namespace varve::testing {

class Checker {
 public:
  Checker(Store* store, const char* name) : store_(store), name_(name) {}
  virtual ~Checker() = default;
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  const char* name() const { return name_; }

  // Writes the initial state. One thread calls it.
  virtual void Prepare(Random* random) = 0;
  // Runs one transaction. `thread` is in [0, threads) of its kind; one thread at a time uses it.
  virtual void WriteOnce(size_t thread, Random* random) = 0;
  // Makes one reading, or several of one moment.
  virtual void ReadOnce(size_t thread, Random* random) = 0;
  // Judges what requires all readings. Called after the threads ended.
  virtual void Finish() {}

  // Return the number of acknowledged transactions that can be judged, and of judged readings.
  uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  uint64_t reads() const { return reads_.load(std::memory_order_relaxed); }

 protected:
  Store* store() const { return store_; }
  void CountWrite() { writes_.fetch_add(1, std::memory_order_relaxed); }
  void CountRead() { reads_.fetch_add(1, std::memory_order_relaxed); }
  void Wrong(const std::string& what) {
    store_->findings()->Report(std::string(name_) + ": " + what);
  }

 private:
  Store* const store_;
  const char* const name_;
  // Relaxed counters; they only end the run.
  std::atomic<uint64_t> writes_{0};
  std::atomic<uint64_t> reads_{0};
};

// Checks transfers between accounts: totals never change, and a finished transfer is seen.
std::unique_ptr<Checker> NewBankChecker(Store* store);
// Checks lists that only grow: every reading of one moment is a cut that agrees with the order of
// transactions and with real time, and snapshots are ordered by their sequence numbers. Sets
// *torn_gets to how often plain Gets saw a part of a batch where the mode allows it.
std::unique_ptr<Checker> NewListChecker(Store* store, size_t reader_threads,
                                        std::atomic<uint64_t>* torn_gets);
// Makes the same changes in all families: a snapshot shows equal families, and never changes.
std::unique_ptr<Checker> NewMirrorChecker(Store* store, size_t reader_threads);
// Checks numbers that one writer counts up: no read returns less than what was acknowledged before.
std::unique_ptr<Checker> NewRegisterChecker(Store* store, size_t writer_threads);
// Checks accounts that are only merged into: totals never change, and every operand counts once.
// The families must add numbers.
std::unique_ptr<Checker> NewLedgerChecker(Store* store);
// Checks that reads at a timestamp always find what was written at it.
std::unique_ptr<Checker> NewTimestampsChecker(Store* store);

}  // namespace varve::testing
