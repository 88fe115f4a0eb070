// SPDX-License-Identifier: Apache-2.0

// Goal: committed and prepared transactions are the same before and after any crash, and prepared
// keys are locked until they are decided. Method: random steps (prepare keys and ranges, some by
// the hundred, commit, roll back, give the transaction up or use it for another, write, flush, open
// again with this limit of locks or that, a failing log) beside a model of what must be there and
// who must be refused; every few steps the process is killed, or, where each step was durable, the
// power goes.

#include <gtest/gtest.h>

#include <set>

#include "tests/db/transaction/two_phase_fixture.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

class TwoPhaseModelTest : public TwoPhaseFixture, public ::testing::WithParamInterface<int> {
 protected:
  using Data = std::map<std::string, std::string>;

  // An update: of a key, or, with an end, the deletion of a range.
  struct Update {
    uint64_t family;
    std::string key;
    std::string value;
    std::string end = "";
  };
  struct Prepared {
    std::vector<Update> updates;
    bool given_up = false;  // it cannot be decided before the next opening
  };

  static constexpr int kSteps = 400;

  void SetUp() override {
    seed_ = static_cast<uint64_t>(GetParam());
    durable_ = seed_ % 2 == 0;
    mapped_ = seed_ % 4 < 2;
    if (mapped_) faults().OfferMappedFiles();
    if (seed_ % 8 >= 4) UseUnorderedWrites();
    transaction_options_.default_lock_timeout = 0;
    TwoPhaseFixture::SetUp();
  }

  static std::string Shown(const Data& data) {
    std::string text;
    for (const auto& [key, value] : data) text += (text.empty() ? "" : " ") + key + "=" + value;
    return text;
  }
  void Check(const std::string& when) {
    ASSERT_EQ(ScanAll(), Shown(data_[0])) << when;
    ASSERT_EQ(ScanAll(Other()), Shown(data_[1])) << when;
    std::string names;
    for (const auto& [name, prepared] : prepared_) {
      if (!prepared.given_up) names += (names.empty() ? "" : " ") + name;
    }
    ASSERT_EQ(NamesPrepared(), names) << when;
    CheckLocks(when);
  }

  // ---- Who may lock what

  // Returns the answer expected by a transaction that has made these updates.
  std::string Answer(const std::vector<Update>& own, const Update& wanted) const {
    const bool is_range = !wanted.end.empty();
    bool taken = false;
    bool is_key_of_another = false;
    bool had = false;
    std::set<std::string> keys;
    int64_t locks = 0;
    const auto count = [&](const Update& update, bool mine) {
      if (update.family != wanted.family) return;
      if (!update.end.empty()) {
        locks++;
      } else if (keys.insert(update.key).second) {
        locks++;
      }
      if (mine) {
        had |= !is_range && update.end.empty() && update.key == wanted.key;
      } else {
        taken |= Meet(update, wanted);
        is_key_of_another |= !is_range && update.end.empty() && update.key == wanted.key;
      }
    };
    for (const auto& [name, prepared] : prepared_) {
      for (const Update& update : prepared.updates) count(update, false);
    }
    for (const Update& update : own) count(update, true);
    const int64_t limit = transaction_options_.max_num_locks;
    if (had) return "ok";
    if (!is_key_of_another && limit > 0 && locks >= limit) return "limit";
    return taken ? "taken" : "ok";
  }
  static bool Meet(const Update& a, const Update& b) {
    const auto ends_before = [](const Update& x, const Update& y) {
      return x.end.empty() ? x.key < y.key : x.end <= y.key;
    };
    return !ends_before(a, b) && !ends_before(b, a);
  }
  static std::string Answered(const Status& s) {
    if (s.ok()) return "ok";
    return s.IsLockLimit() ? "limit" : (s.IsTimedOut() ? "taken" : s.ToString());
  }
  // Checks the first and the last lock of each prepared transaction, and some that are free.
  void CheckLocks(const std::string& when) {
    std::vector<Update> asked;
    for (const auto& [name, prepared] : prepared_) {
      if (prepared.updates.empty()) continue;
      asked.push_back(prepared.updates.front());
      asked.push_back(prepared.updates.back());
    }
    asked.push_back(Update{0, "nobody's", "x"});
    asked.push_back(Update{1, "nobody's", "x", "of them"});
    for (const Update& wanted : asked) {
      const auto txn = Begin(Impatient());
      ASSERT_EQ(Answered(Do(txn.get(), wanted)), Answer({}, wanted)) << when << " " << wanted.key;
    }
  }
  Status Do(Transaction* txn, const Update& update) {
    ColumnFamilyHandle* const family = handles_[update.family];
    return update.end.empty() ? txn->Put(family, update.key, update.value)
                              : txn->DeleteRange(family, update.key, update.end);
  }

  // ---- Steps
  WriteOptions Writes() const {
    WriteOptions options;
    options.sync = durable_;
    return options;
  }
  void PrepareOne() {
    const std::string name = "t" + std::to_string(next_name_++ % 7);
    if (prepared_.contains(name)) return;
    std::unique_ptr<Transaction> txn(txn_db_->BeginTransaction(Writes(), Impatient()));
    ASSERT_TRUE(txn->SetName(name).ok());
    std::vector<Update> updates;
    const auto make = [&](const Update& update) {
      const std::string expected = Answer(updates, update);
      ASSERT_EQ(Answered(Do(txn.get(), update)), expected) << update.key;
      if (expected == "ok") updates.push_back(update);
    };
    for (uint64_t i = Roll(4); i > 0 && !HasFatalFailure(); i--) {
      const uint64_t at = Roll(30);
      Update update{Roll(2), KeyAt('k', at), std::to_string(next_value_++)};
      if (Roll(4) == 0) update.end = KeyAt('k', at + 1 + Roll(5));
      make(update);
    }
    if (Roll(8) == 0) {
      const uint64_t first = Roll(500);
      for (uint64_t i = 0; i < 300 && !HasFatalFailure(); i++) {
        make(Update{0, KeyAt('m', 2 * (first + i)), "", KeyAt('m', 2 * (first + i) + 1)});
      }
    }
    if (HasFatalFailure()) return;
    ASSERT_TRUE(txn->Prepare().ok());
    prepared_[name] = {updates};
    txns_[name] = std::move(txn);
  }
  static std::string KeyAt(char kind, uint64_t i) {
    std::string digits = std::to_string(i);
    return kind + std::string(4 - digits.size(), '0') + digits;
  }
  // Deletes the transaction of one, or begins it anew.
  void GiveUpOne() {
    if (txns_.empty()) return;
    const auto it = std::next(txns_.begin(), static_cast<long>(Roll(txns_.size())));
    prepared_.at(it->first).given_up = true;
    if (Roll(2) == 0) {
      ASSERT_EQ(txn_db_->BeginTransaction(Writes(), Impatient(), it->second.get()),
                it->second.get());
      const Update wanted{0, KeyAt('k', Roll(30)), "x"};
      ASSERT_EQ(Answered(Do(it->second.get(), wanted)), Answer({}, wanted));
    }
    txns_.erase(it);
    CheckLocks("given up");
  }
  // Decides one of them; with `fails` the log does, and all is as before.
  void DecideOne(bool fails) {
    if (txns_.empty()) return;
    const auto one = std::next(txns_.begin(), static_cast<long>(Roll(txns_.size())));
    const std::string name = one->first;
    Transaction* const txn = one->second.get();
    const bool commit = Roll(2) == 0;
    if (fails) {
      FaultRule rule;
      rule.calls = Only(FaultCall::kWrite) | Only(FaultCall::kSync);
      rule.path_contains = ".log";
      faults().Inject(rule);
    }
    Status s = commit ? txn->Commit() : txn->Rollback();
    faults().ClearFaults();
    if (!s.ok()) {
      ASSERT_TRUE(fails) << s.ToString();
      failed_++;
      s = txn_db_->Resume();
      ASSERT_TRUE(s.ok()) << s.ToString();
      return;
    }
    for (const Update& update : prepared_.at(name).updates) {
      if (!commit) break;
      Data& data = data_[update.family];
      if (update.end.empty()) {
        data[update.key] = update.value;
      } else {
        data.erase(data.lower_bound(update.key), data.lower_bound(update.end));
      }
    }
    prepared_.erase(name);
    txns_.erase(name);
  }
  void WriteOne() {
    const std::string keys[] = {"p" + std::to_string(Roll(20)), KeyAt('k', Roll(30)),
                                KeyAt('m', Roll(1000))};
    const Update update{Roll(2), keys[Roll(3)], std::to_string(next_value_++)};
    const std::string expected = Answer({}, update);
    const Status s = txn_db_->Put(Writes(), handles_[update.family], update.key, update.value);
    ASSERT_EQ(Answered(s), expected) << update.key;
    if (s.ok()) data_[update.family][update.key] = update.value;
  }
  void FlushSome() {
    const uint64_t which = Roll(3);
    if (which == 2) return FlushAll();
    ASSERT_TRUE(txn_db_->Flush(FlushOptions(), handles_[which]).ok());
  }
  void OpenAgain(bool crash) {
    static constexpr CrashPolicy kPolicies[] = {CrashPolicy::kSyncedOnly, CrashPolicy::kAllNames,
                                                CrashPolicy::kOrderedPrefix, CrashPolicy::kKill};
    const CrashPolicy policy = durable_ ? kPolicies[Roll(4)] : CrashPolicy::kKill;
    std::shared_ptr<MemFileSystem> left;
    if (crash) left = Left(policy, Roll(1000));
    txns_.clear();
    if (crash) {
      GoOnWith(left);
      if (mapped_) faults().OfferMappedFiles();
      if (seed_ % 8 >= 4) UseUnorderedWrites();
    } else {
      CloseTransactions();
    }
    static constexpr int64_t kLimits[] = {-1, 1, 6, 20};
    transaction_options_.max_num_locks = seed_ % 3 == 0 ? -1 : kLimits[Roll(4)];
    OpenTransactions();
    if (HasFatalFailure()) return;
    for (auto& [name, prepared] : prepared_) prepared.given_up = false;
    Check(crash ? "after a crash" : "opened again");
    for (auto& [name, txn] : TakePrepared()) {
      txn->SetWriteOptions(Writes());
      txns_[name] = std::move(txn);
    }
  }
  void Step() {
    switch (Roll(13)) {
      case 0:
      case 1:
      case 2:
        return PrepareOne();
      case 3:
      case 4:
        return DecideOne(false);
      case 5:
        return DecideOne(true);
      case 6:
      case 7:
        return WriteOne();
      case 8:
      case 9:
        return FlushSome();
      case 10:
        return OpenAgain(false);
      case 11:
        return GiveUpOne();
      default:
        return OpenAgain(true);
    }
  }
  uint64_t Roll(uint64_t n) { return random_.Below(n); }

  uint64_t seed_ = 0;
  bool durable_ = false;
  bool mapped_ = false;
  Random random_{static_cast<uint64_t>(GetParam())};
  Data data_[2];
  std::map<std::string, Prepared> prepared_;
  Transactions txns_;
  int failed_ = 0;
  int next_name_ = 0;
  int next_value_ = 0;
};

TEST_P(TwoPhaseModelTest, CrashesChangeNothing) {
  for (int step = 0; step < kSteps; step++) {
    Step();
    if (HasFatalFailure()) FAIL() << "seed " << seed_ << " step " << step;
  }
  Check("at the end");
  // A mapped log fails only where it is synced.
  if (durable_ || !mapped_) {
    EXPECT_GT(failed_, 0);
  }
  txns_.clear();
}

INSTANTIATE_TEST_SUITE_P(Seeds, TwoPhaseModelTest, ::testing::Range(0, 16));

}  // namespace
}  // namespace varve::testing
