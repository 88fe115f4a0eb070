// SPDX-License-Identifier: Apache-2.0

// Goal: after a power loss at any file-system call, two-phase transactions are as they were after
// some first n steps: committed ones are there whole, undecided ones are prepared, by name, and
// durable decisions stay. Method: as in power_loss_test.cc, with the states of the model after
// every step; in each state found, the undecided transactions are then decided, and it is compared
// again.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "varve/utilities/transaction_db.h"

#include "tests/crash/crash_recorder.h"
#include "tests/harness/environment.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

namespace {

const char* const kTwoPhaseName = "/db";
constexpr uint64_t kTwoPhaseStride = 19;
constexpr int kTwoPhaseRounds = 30;
constexpr int kKeysOfEach = 5;  // Rounds that may be undecided at the same time have different
                                // keys.

// The kind of log.
struct LossMode {
  const char* name;
  bool mapped;
  bool unordered;
  bool atomic_flush;
};
constexpr LossMode kLossModes[] = {{"buffered", false, false, false},
                                   {"mapped", true, false, false},
                                   {"unordered", false, true, false},
                                   {"atomic flush", true, false, true}};

// The values that readers see, and the prepared rounds.
struct TwoPhaseState {
  std::map<std::string, std::string> values;  // Keys like "default/a1".
  std::set<int> prepared;

  void Commit(int round) {
    const std::string digit = std::to_string(round % kKeysOfEach);
    values["default/a" + digit] = values["other/b" + digit] = std::to_string(round);
    prepared.erase(round);
  }
  bool operator==(const TwoPhaseState&) const = default;
};

std::string Shown(const TwoPhaseState& state) {
  std::string text;
  for (const auto& [key, value] : state.values) text += key + "=" + value + " ";
  for (const int round : state.prepared) text += "prepared:" + std::to_string(round) + " ";
  return text;
}

// A database and its prepared transactions.
class OpenTwoPhases {
 public:
  OpenTwoPhases(Env* env, const LossMode& mode) {
    Options options;
    options.env = env;
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.unordered_write = mode.unordered;
    options.atomic_flush = mode.atomic_flush;
    TransactionDBOptions of_transactions;
    if (mode.unordered) of_transactions.write_policy = WRITE_PREPARED;
    const std::vector<ColumnFamilyDescriptor> families = {{"default", options}, {"other", options}};
    TransactionDB* opened = nullptr;
    status_ =
        TransactionDB::Open(options, of_transactions, kTwoPhaseName, families, &handles_, &opened);
    db_.reset(opened);
    if (!status_.ok()) return;
    std::vector<Transaction*> found;
    db_->GetAllPreparedTransactions(&found);
    for (Transaction* txn : found) prepared_[std::stoi(txn->GetName())].reset(txn);
  }
  ~OpenTwoPhases() {
    prepared_.clear();
    for (ColumnFamilyHandle* handle : handles_) delete handle;
  }
  OpenTwoPhases(const OpenTwoPhases&) = delete;
  OpenTwoPhases& operator=(const OpenTwoPhases&) = delete;

  const Status& status() const { return status_; }

  TwoPhaseState State() const {
    TwoPhaseState state;
    for (ColumnFamilyHandle* handle : handles_) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        state.values[handle->GetName() + "/" + it->key().ToString()] = it->value().ToString();
      }
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    }
    for (const auto& [round, txn] : prepared_) state.prepared.insert(round);
    return state;
  }
  Status Prepare(int round, bool sync) {
    WriteOptions options;
    options.sync = sync;
    std::unique_ptr<Transaction> txn(db_->BeginTransaction(options));
    const std::string digit = std::to_string(round % kKeysOfEach);
    Status s = txn->SetName(std::to_string(round));
    if (s.ok()) s = txn->Put("a" + digit, std::to_string(round));
    if (s.ok()) s = txn->Put(handles_[1], "b" + digit, std::to_string(round));
    if (s.ok()) s = txn->Prepare();
    if (s.ok()) prepared_[round] = std::move(txn);
    return s;
  }
  Status Decide(int round, bool commit, bool sync) {
    Transaction* const txn = prepared_.at(round).get();
    txn->GetWriteOptions()->sync = sync;
    Status s = commit ? txn->Commit() : txn->Rollback();
    if (s.ok()) prepared_.erase(round);
    return s;
  }
  Status PutPlain(int round) {
    return db_->Put(WriteOptions(), handles_[0], "plain", std::to_string(round));
  }
  Status Flush(bool both) {
    return both ? db_->Flush(FlushOptions(), handles_) : db_->Flush(FlushOptions(), handles_[0]);
  }

 private:
  std::unique_ptr<TransactionDB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::map<int, std::unique_ptr<Transaction>> prepared_;
  Status status_;
};

bool IsCommitted(int round) {
  return round % 3 != 0;
}

class TwoPhaseLoss {
 public:
  explicit TwoPhaseLoss(const LossMode& mode)
      : mode_(mode),
        fs_(std::make_shared<MemFileSystem>()),
        env_(NewCompositeEnv(fs_)),
        stride_(NumberFromEnvironment("VARVE_CRASH_STRIDE", kTwoPhaseStride)),
        recorder_(fs_.get(), stride_, NumberFromEnvironment("VARVE_CRASH_SEEDS", 1)) {
    if (mode.mapped) fs_->OfferMappedFiles();
  }

  uint64_t Run() {
    fs_->SetCallHook(&recorder_);
    Open();
    recorder_.created = true;
    for (int round = 1; round <= kTwoPhaseRounds && !::testing::Test::HasFailure(); round++) {
      RunRound(round);
      CheckStates();
    }
    db_.reset();
    fs_->SetCallHook(nullptr);
    CheckStates();
    return checked_;
  }

 private:
  void Open() {
    db_.reset();
    db_ = std::make_unique<OpenTwoPhases>(env_.get(), mode_);
    ASSERT_TRUE(db_->status().ok()) << db_->status().ToString();
    ASSERT_EQ(Shown(db_->State()), Shown(states_.back()));
  }

  // Runs one step, all of which is logged in one record.
  template <typename Act, typename Model>
  void Step(bool sync, Act act, Model model) {
    TwoPhaseState next = states_.back();
    model(&next);
    states_.push_back(std::move(next));
    recorder_.issued = states_.size() - 1;
    const Status s = act();
    ASSERT_TRUE(s.ok()) << s.ToString();
    recorder_.acked = recorder_.issued.load();
    if (sync) recorder_.durable = recorder_.issued.load();
    if (mode_.mapped) recorder_.TakeClones(1'000'000'000 + states_.size());
  }

  void RunRound(int round) {
    const bool sync = round % 4 == 0;
    Step(
        sync, [&] { return db_->Prepare(round, sync); },
        [&](TwoPhaseState* state) { state->prepared.insert(round); });
    Step(
        false, [&] { return db_->PutPlain(round); },
        [&](TwoPhaseState* state) { state->values["default/plain"] = std::to_string(round); });
    if (round % 6 == 0) {
      ASSERT_TRUE(db_->Flush(round % 12 == 0).ok());
    }
    if (round > 2) Decide(round - 2, round % 5 == 0);
    if (round % 9 == 0) Open();
  }

  void Decide(int round, bool sync) {
    const bool commit = IsCommitted(round);
    Step(
        sync, [&] { return db_->Decide(round, commit, sync); },
        [&](TwoPhaseState* state) {
          if (commit) state->Commit(round);
          state->prepared.erase(round);
        });
  }

  void CheckStates() {
    for (const CrashState& state : recorder_.Take()) {
      SCOPED_TRACE(std::string(mode_.name) + ", call " + std::to_string(state.call) + ", policy " +
                   std::to_string(static_cast<int>(state.policy)));
      CheckOne(state);
      if (::testing::Test::HasFailure()) return;
    }
  }

  void CheckOne(const CrashState& left) {
    checked_++;
    // The next opening may map files or not, independently of the writer.
    if (mode_.mapped && left.call % 2 == 0) left.fs->OfferMappedFiles();
    const uint64_t least =
        left.policy == CrashPolicy::kKill ? std::max(left.acked, left.durable) : left.durable;
    const std::unique_ptr<Env> env = NewCompositeEnv(left.fs);
    auto db = std::make_unique<OpenTwoPhases>(env.get(), mode_);
    ASSERT_TRUE(db->status().ok()) << db->status().ToString();
    TwoPhaseState found = db->State();
    uint64_t step = least;
    while (step <= left.issued && !(states_[step] == found)) step++;
    ASSERT_LE(step, left.issued) << "of none of the steps " << least << " to " << left.issued
                                 << ": " << Shown(found);
    // The database goes on: undecided transactions are decided, and the decisions stay.
    for (const int round : std::set<int>(found.prepared)) {
      const Status s = db->Decide(round, IsCommitted(round), /*sync=*/false);
      ASSERT_TRUE(s.ok()) << round << ": " << s.ToString();
      if (IsCommitted(round)) found.Commit(round);
      found.prepared.erase(round);
    }
    ASSERT_TRUE(db->PutPlain(0).ok());
    found.values["default/plain"] = "0";
    ASSERT_EQ(Shown(db->State()), Shown(found)) << "decided";
    db.reset();
    db = std::make_unique<OpenTwoPhases>(env.get(), mode_);
    ASSERT_TRUE(db->status().ok()) << db->status().ToString();
    ASSERT_EQ(Shown(db->State()), Shown(found)) << "opened again";
  }

  const LossMode& mode_;
  std::shared_ptr<MemFileSystem> fs_;
  std::unique_ptr<Env> env_;
  const uint64_t stride_;
  CrashRecorder recorder_;
  std::vector<TwoPhaseState> states_{TwoPhaseState()};  // States after each step.
  std::unique_ptr<OpenTwoPhases> db_;
  uint64_t checked_ = 0;
};

}  // namespace

TEST(TwoPhaseLossTest, TransactionsAreDecidedOrPreparedAtEveryCall) {
  uint64_t states = 0;
  for (const LossMode& mode : kLossModes) {
    TwoPhaseLoss run(mode);
    states += run.Run();
    if (HasFailure()) break;
  }
  printf("RESULT power_loss_two_phase cases=%llu wrong=%d lost=0 crash=0 hang=0\n",
         static_cast<unsigned long long>(states), HasFailure() ? 1 : 0);
  EXPECT_GT(states, 100u);
}

}  // namespace varve::testing
