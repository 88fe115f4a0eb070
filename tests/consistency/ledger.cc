// SPDX-License-Identifier: Apache-2.0

// Accounts that are only merged into: a transfer adds to one and takes from another, in two
// families and one batch, and no writer knows a balance. A reader of one moment must see a total of
// nothing; each writer counts its transfers by a merge of its own, which it must see at once; in
// the end every operand has counted once.

#include <array>
#include <cstdio>

#include "tests/consistency/checker.h"
#include "util/coding/fixed.h"

namespace varve::testing {

namespace {

constexpr size_t kLedgerAccounts = 24;
constexpr size_t kLedgerWriters = 16;  // at most
constexpr const char* kLedgerLower = "ledger/";
constexpr const char* kLedgerUpper = "ledger0";

std::string Bytes(uint64_t number) {
  std::string bytes(sizeof(number), '\0');
  EncodeFixed64(bytes.data(), number);
  return bytes;
}

uint64_t BalanceOf(const Content& content) {
  return content.has_value() && content->size() == sizeof(uint64_t) ? DecodeFixed64(content->data())
                                                                    : 0;
}

class LedgerChecker final : public Checker {
 public:
  explicit LedgerChecker(Store* store) : Checker(store, "ledger") {
    for (size_t i = 0; i < kLedgerAccounts; i++) {
      char key[24];
      snprintf(key, sizeof(key), "ledger/%02zu", i);
      cells_.push_back(Cell{i % Store::kFamilies, key});
    }
  }

  void Prepare(Random*) override {}

  void WriteOnce(size_t thread, Random* random) override {
    const size_t from = random->Below(kLedgerAccounts);
    const size_t to = random->Below(kLedgerAccounts);
    const uint64_t amount = random->Below(1000);
    const Cell own{thread % Store::kFamilies, "own/" + std::to_string(thread)};
    WriteBatch batch;
    Merge(&batch, cells_[from], uint64_t{0} - amount);
    Merge(&batch, cells_[to], amount);
    Merge(&batch, own, 1);
    store()->Write(&batch, random);
    balances_[from].fetch_sub(amount, std::memory_order_relaxed);
    balances_[to].fetch_add(amount, std::memory_order_relaxed);
    const uint64_t count = ++transfers_[thread % kLedgerWriters];
    const uint64_t seen = BalanceOf(store()->Get(own, nullptr));
    if (seen != count) {
      Wrong("a writer of " + std::to_string(count) + " transfers finds " + std::to_string(seen));
    }
    CountWrite();
  }

  void ReadOnce(size_t, Random* random) override {
    const uint64_t way = random->Below(4);
    const Snapshot* const snapshot = way < 2 ? store()->Take() : nullptr;
    uint64_t total = 0;
    if (way % 2 == 0) {
      for (const Content& content : store()->MultiGet(cells_, snapshot)) {
        total += BalanceOf(content);
      }
    } else {
      const Direction direction = random->OneIn(2) ? Direction::kForward : Direction::kBackward;
      store()->Scan(
          {{0, 1, 2}, kLedgerLower, kLedgerUpper}, snapshot, direction,
          [&](size_t, const Slice&, const Slice& value) { total += BalanceOf(value.ToString()); });
    }
    if (snapshot != nullptr) store()->Release(snapshot);
    if (total != 0) {
      Wrong("all accounts hold " + std::to_string(total) + " in reading " + std::to_string(way));
    }
    CountRead();
  }

  void Finish() override {
    for (size_t i = 0; i < kLedgerAccounts; i++) {
      const uint64_t seen = BalanceOf(store()->Get(cells_[i], nullptr));
      if (seen == balances_[i].load()) continue;
      Wrong(cells_[i].key + " holds " + std::to_string(seen) + ", not " +
            std::to_string(balances_[i].load()));
    }
  }

 private:
  void Merge(WriteBatch* batch, const Cell& cell, uint64_t amount) {
    store()->findings()->Expect(batch->Merge(store()->family(cell.family), cell.key, Bytes(amount)),
                                "filling a batch");
  }

  std::vector<Cell> cells_;
  std::array<std::atomic<uint64_t>, kLedgerAccounts> balances_{};  // read when all threads ended
  std::array<uint64_t, kLedgerWriters> transfers_{};               // by thread
};

}  // namespace

std::unique_ptr<Checker> NewLedgerChecker(Store* store) {
  return std::make_unique<LedgerChecker>(store);
}

}  // namespace varve::testing
