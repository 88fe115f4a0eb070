// SPDX-License-Identifier: Apache-2.0

// Goal: what is committed, and what is prepared, is the same before and after any crash. Method:
// random steps (prepare, commit, roll back, write, flush, open again, a failing log) beside a model
// of what must be there; every few steps the process is killed, or, where each step was durable,
// the power goes.

#include <gtest/gtest.h>

#include "tests/db/transaction/two_phase_fixture.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

class TwoPhaseModelTest : public TwoPhaseFixture, public ::testing::WithParamInterface<int> {
 protected:
  using Data = std::map<std::string, std::string>;

  static constexpr int kSteps = 400;

  void SetUp() override {
    seed_ = static_cast<uint64_t>(GetParam());
    durable_ = seed_ % 2 == 0;
    mapped_ = seed_ % 4 < 2;
    if (mapped_) faults().OfferMappedFiles();
    if (seed_ % 8 >= 4) UseUnorderedWrites();
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
    for (const auto& [name, updates] : prepared_) names += (names.empty() ? "" : " ") + name;
    ASSERT_EQ(NamesPrepared(), names) << when;
  }
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
    Data updates[2];
    for (uint64_t i = Roll(4); i > 0; i--) {
      const std::string key = "k" + std::to_string(Roll(30));
      const std::string value = std::to_string(next_value_++);
      const uint64_t family = Roll(2);
      if (txn->Put(handles_[family], key, value).ok()) updates[family][key] = value;
    }
    ASSERT_TRUE(txn->Prepare().ok());
    prepared_[name] = {updates[0], updates[1]};
    txns_[name] = std::move(txn);
  }
  // Decides one of them; with `fails` the log does, and all is as before.
  void DecideOne(bool fails) {
    if (prepared_.empty()) return;
    auto it = std::next(prepared_.begin(), static_cast<long>(Roll(prepared_.size())));
    const std::string name = it->first;
    Transaction* const txn = txns_.at(name).get();
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
    for (int family : {0, 1}) {
      if (!commit) break;
      for (const auto& [key, value] : it->second[family]) data_[family][key] = value;
    }
    prepared_.erase(it);
    txns_.erase(name);
  }
  void WriteOne() {
    const std::string key = "p" + std::to_string(Roll(20));
    const uint64_t family = Roll(2);
    const std::string value = std::to_string(next_value_++);
    ASSERT_TRUE(txn_db_->Put(Writes(), handles_[family], key, value).ok());
    data_[family][key] = value;
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
    OpenTransactions();
    if (HasFatalFailure()) return;
    Check(crash ? "after a crash" : "opened again");
    for (auto& [name, txn] : TakePrepared()) {
      txn->SetWriteOptions(Writes());
      txns_[name] = std::move(txn);
    }
  }
  void Step() {
    switch (Roll(12)) {
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
  std::map<std::string, std::vector<Data>> prepared_;
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
