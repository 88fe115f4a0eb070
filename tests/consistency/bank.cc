// SPDX-License-Identifier: Apache-2.0

// Each family holds inner accounts, whose total never changes, and outer ones, whose total over all
// families never changes. A transfer moves money between two of each in one batch, now and then
// with deletions and range deletions on the way. A reader of one moment must see both totals; a
// holder of an account's lock must read the very balance.

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>

#include "tests/consistency/checker.h"

namespace varve::testing {

namespace {

constexpr size_t kAccounts = 12;  // accounts of each kind in each family
constexpr int64_t kStart = 1000;
constexpr size_t kBankPadding = 300;
constexpr const char* kBankLower = "bank/";
constexpr const char* kBankUpper = "bank0";

struct Totals {
  std::array<int64_t, Store::kFamilies> inner{};
  int64_t outer = 0;
  size_t accounts = 0;

  void Add(size_t family, bool is_inner, int64_t balance) {
    (is_inner ? inner[family] : outer) += balance;
    accounts++;
  }
};

class BankChecker final : public Checker {
 public:
  explicit BankChecker(Store* store) : Checker(store, "bank") {
    for (size_t i = 0; i < accounts_.size(); i++) all_cells_.push_back(CellOf(i));
  }

  void Prepare(Random* random) override {
    WriteBatch batch;
    for (size_t i = 0; i < accounts_.size(); i++) SetBalance(&batch, i, kStart, random);
    store()->Write(&batch, random);
    for (Account& account : accounts_) account.balance = kStart;
  }

  void WriteOnce(size_t, Random* random) override {
    const std::array<size_t, 4> chosen = Choose(random);
    std::array<size_t, 4> order = chosen;
    std::ranges::sort(order);
    std::array<std::unique_lock<std::mutex>, 4> locks;
    for (size_t i = 0; i < 4; i++) {
      locks[i] = std::unique_lock<std::mutex>(accounts_[order[i]].lock);
    }
    CheckBalance(chosen[random->Below(4)]);
    const auto inner = static_cast<int64_t>(random->Below(100));
    const auto outer = static_cast<int64_t>(random->Below(100));
    const std::array<int64_t, 4> change = {-inner, inner, -outer, outer};
    WriteBatch batch;
    for (size_t i = 0; i < 4; i++) {
      SetBalance(&batch, chosen[i], accounts_[chosen[i]].balance + change[i], random);
    }
    store()->Write(&batch, random);
    for (size_t i = 0; i < 4; i++) accounts_[chosen[i]].balance += change[i];
    if (random->OneIn(8)) CheckBalance(chosen[random->Below(4)]);
    CountWrite();
  }

  void ReadOnce(size_t, Random* random) override {
    const uint64_t way = random->Below(7);
    const bool with_snapshot = way < 4;
    const Snapshot* const snapshot = with_snapshot ? store()->Take() : nullptr;
    Totals totals;
    std::vector<size_t> families = {0, 1, 2};
    if (way == 0) {
      for (size_t i = 0; i < accounts_.size(); i++) {
        Add(&totals, i, store()->Get(all_cells_[i], snapshot));
      }
    } else if (way == 1 || way == 4) {
      const std::vector<Content> contents = store()->MultiGet(all_cells_, snapshot);
      for (size_t i = 0; i < contents.size(); i++) Add(&totals, i, contents[i]);
    } else {
      if (way == 6) families = {random->Below(Store::kFamilies)};
      const Direction direction = random->OneIn(2) ? Direction::kForward : Direction::kBackward;
      store()->Scan({families, kBankLower, kBankUpper}, snapshot, direction,
                    [&](size_t family, const Slice& key, const Slice& value) {
                      totals.Add(family, key[5] == 'i', BalanceIn(value.ToString()));
                    });
    }
    if (with_snapshot) store()->Release(snapshot);
    Judge(totals, families, way);
    CountRead();
  }

 private:
  struct Account {
    std::mutex lock;
    int64_t balance = 0;  // guarded by the lock
  };

  static constexpr size_t kPerFamily = 2 * kAccounts;
  static bool IsInner(size_t account) { return account % kPerFamily < kAccounts; }
  static size_t FamilyOf(size_t account) { return account / kPerFamily; }
  static size_t AccountOf(size_t family, bool inner, size_t i) {
    return family * kPerFamily + (inner ? 0 : kAccounts) + i;
  }

  static Cell CellOf(size_t account) {
    char key[24];
    snprintf(key, sizeof(key), "bank/%c/%02zu", IsInner(account) ? 'i' : 'o', account);
    return Cell{FamilyOf(account), key};
  }

  // Chooses two inner accounts of one family, and two outer ones of two families.
  static std::array<size_t, 4> Choose(Random* random) {
    const size_t f = random->Below(Store::kFamilies);
    const size_t g = (f + 1 + random->Below(Store::kFamilies - 1)) % Store::kFamilies;
    const size_t a = random->Below(kAccounts);
    const size_t b = (a + 1 + random->Below(kAccounts - 1)) % kAccounts;
    return {AccountOf(f, true, a), AccountOf(f, true, b),
            AccountOf(f, false, random->Below(kAccounts)),
            AccountOf(g, false, random->Below(kAccounts))};
  }

  void SetBalance(WriteBatch* batch, size_t account, int64_t balance, Random* random) {
    ColumnFamilyHandle* const handle = store()->family(FamilyOf(account));
    const std::string& key = all_cells_[account].key;
    Status s;
    if (random->OneIn(16)) s = batch->DeleteRange(handle, key, key + "~");
    if (s.ok() && random->OneIn(16)) s = batch->Delete(handle, key);
    const std::string value =
        std::to_string(balance) + " " + random->Text(random->Below(kBankPadding));
    if (s.ok()) s = batch->Put(handle, key, value);
    store()->findings()->Expect(s, "filling a batch");
  }

  static int64_t BalanceIn(const std::string& value) { return strtoll(value.c_str(), nullptr, 10); }

  void CheckBalance(size_t account) {
    const Content content = store()->Get(all_cells_[account], nullptr);
    const int64_t expected = accounts_[account].balance;
    if (content.has_value() && BalanceIn(*content) == expected) return;
    Wrong("a Get of " + all_cells_[account].key + " returned " + content.value_or("nothing") +
          " after a write of " + std::to_string(expected) + " had returned");
  }

  void Add(Totals* totals, size_t account, const Content& content) {
    if (content.has_value()) {
      totals->Add(FamilyOf(account), IsInner(account), BalanceIn(*content));
    }
  }

  void Judge(const Totals& totals, const std::vector<size_t>& families, uint64_t way) {
    const std::string what = " in reading " + std::to_string(way);
    if (totals.accounts != families.size() * kPerFamily) {
      Wrong(std::to_string(totals.accounts) + " accounts" + what);
    }
    constexpr auto kTotal = static_cast<int64_t>(kAccounts) * kStart;
    for (const size_t family : families) {
      if (totals.inner[family] == kTotal) continue;
      Wrong("family " + std::to_string(family) + " holds " + std::to_string(totals.inner[family]) +
            what);
    }
    if (families.size() == Store::kFamilies &&
        totals.outer != kTotal * static_cast<int64_t>(Store::kFamilies)) {
      Wrong("all families hold " + std::to_string(totals.outer) + what);
    }
  }

  std::array<Account, Store::kFamilies * kPerFamily> accounts_;
  std::vector<Cell> all_cells_;
};

}  // namespace

std::unique_ptr<Checker> NewBankChecker(Store* store) {
  return std::make_unique<BankChecker>(store);
}

}  // namespace varve::testing
