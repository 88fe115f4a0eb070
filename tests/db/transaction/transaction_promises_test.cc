// SPDX-License-Identifier: Apache-2.0

// Goal: a call of a transaction that is refused leaves all as it was, what a transaction holds is
// counted, what it was given without a status is not lost without a word, a notifier may call what
// it likes, and a rollback does not turn checks off. Method: transactions with locks, optimistic
// ones where they promise the same, limits of batches, failing reads, and a clock that throws where
// a snapshot is taken, as an allocation may.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>
#include <set>

#include "varve/env_wrappers.h"
#include "varve/system_clock.h"
#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/write_batch_with_index.h"

#include "tests/db/transaction/transaction_fixture.h"

namespace varve::testing {
namespace {

// Throws while the test wants it, so that no snapshot can be taken.
class StingyClock final : public SystemClockWrapper {
 public:
  using SystemClockWrapper::SystemClockWrapper;

  const char* Name() const override { return "StingyClock"; }
  Status GetCurrentTime(int64_t* seconds) override {
    if (throws) throw std::bad_alloc();
    return SystemClockWrapper::GetCurrentTime(seconds);
  }

  std::atomic<bool> throws{false};
};

class StingyEnv final : public EnvWrapper {
 public:
  StingyEnv(Env* base, std::shared_ptr<SystemClock> clock) : EnvWrapper(base) {
    file_system_ = base->GetFileSystem();
    system_clock_ = std::move(clock);
  }
  const char* Name() const override { return "StingyEnv"; }
};

class Teller final : public TransactionNotifier {
 public:
  explicit Teller(std::function<void()> call) : call_(std::move(call)) {}
  void SnapshotCreated(const Snapshot* snapshot) override {
    EXPECT_NE(snapshot, nullptr);
    told++;
    call_();
  }

  int told = 0;

 private:
  const std::function<void()> call_;
};

class TransactionPromisesTest : public TransactionTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    auto clock = std::make_shared<StingyClock>(SystemClock::Default());
    clock_ = clock.get();
    stingy_env_ = std::make_unique<StingyEnv>(options_.env, std::move(clock));
    options_.env = stingy_env_.get();
    if (IsLocking()) return OpenTransactions();
    std::vector<ColumnFamilyDescriptor> families = {{"default", options_}, {"other", options_}};
    OptimisticTransactionDB* opened = nullptr;
    const Status s = OptimisticTransactionDB::Open(options_, kName, families, &handles_, &opened);
    ASSERT_TRUE(s.ok()) << s.ToString();
    optimistic_.reset(opened);
  }
  ~TransactionPromisesTest() override {
    CloseTransactions();
    optimistic_.reset();
  }

  bool IsLocking() const { return GetParam(); }
  DB* db() { return IsLocking() ? static_cast<DB*>(txn_db_.get()) : optimistic_.get(); }
  std::unique_ptr<Transaction> Start(TransactionOptions options = Impatient()) {
    if (IsLocking()) return Begin(options);
    OptimisticTransactionOptions optimistic;
    optimistic.set_snapshot = options.set_snapshot;
    return std::unique_ptr<Transaction>(optimistic_->BeginTransaction(WriteOptions(), optimistic));
  }
  static TransactionOptions Small() {
    TransactionOptions options = Impatient();
    options.max_write_batch_size = 64;
    return options;
  }
  void Plain(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db()->Put(WriteOptions(), key, value).ok());
  }
  std::string Value(const std::string& key) {
    std::string value;
    const Status s = db()->Get(ReadOptions(), key, &value);
    return Said(s, value);
  }
  uint64_t Counted() {
    std::map<std::string, std::string> owners;
    EXPECT_TRUE(db()->GetMapProperty("varve.memory", &owners));
    return std::stoull(owners.at("transactions"));
  }
  // Whatever a notifier did: who has an update of a key has its lock.
  void ExpectUpdatesLocked(Transaction* txn) {
    if (!IsLocking()) return;
    std::set<std::string> locked;
    for (const auto& [id, lock] : txn_db_->GetLockStatusData()) locked.insert(lock.key);
    const std::unique_ptr<WBWIIterator> it(txn->GetWriteBatch()->NewIterator());
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      EXPECT_TRUE(locked.contains(it->Entry().key.ToString())) << it->Entry().key.ToString();
    }
  }

  StingyClock* clock_ = nullptr;
  std::unique_ptr<Env> stingy_env_;
  std::unique_ptr<OptimisticTransactionDB> optimistic_;
};

using Update = std::function<Status(Transaction*, const Slice& key, const Slice& value)>;

// ---- Refusals leave all as it was

TEST_P(TransactionPromisesTest, ARefusedUpdateKeepsNoLock) {
  if (!IsLocking()) return;  // their batches have no limit
  const std::vector<Update> updates = {
      [](auto* txn, auto& key, auto& value) { return txn->Put(key, value); },
      [](auto* txn, auto& key, auto& value) { return txn->Merge(key, value); },
      [](auto* txn, auto& key, auto& value) {
        return txn->Delete(key.ToString() + value.ToString());
      },
      [](auto* txn, auto& key, auto& value) {
        return txn->SingleDelete(key.ToString() + value.ToString());
      },
      [](auto* txn, auto& key, auto& value) { return txn->PutUntracked(key, value); },
      [](auto* txn, auto& key, auto& value) {
        return txn->DeleteRange(nullptr, key, key.ToString() + value.ToString());
      },
      [](auto* txn, auto& key, auto& value) {
        txn->DisableIndexing();
        return txn->Put(key, value);
      },
      [](auto* txn, auto& key, auto& value) {
        const SliceParts k(&key, 1);
        const SliceParts v(&value, 1);
        return txn->Put(k, v);
      },
  };
  const std::string large(100, 'v');
  for (const bool has_save_point : {false, true}) {
    for (size_t i = 0; i < updates.size(); i++) {
      SCOPED_TRACE(i);
      const auto txn = Start(Small());
      ASSERT_TRUE(txn->Put("held", "1").ok());
      if (has_save_point) txn->SetSavePoint();
      EXPECT_TRUE(updates[i](txn.get(), "k", large).IsMemoryLimit());
      EXPECT_EQ(txn->GetNumKeys(), 1u);
      const auto other = Start();
      for (const std::string& key : {std::string("k"), "k" + large, std::string("kk")}) {
        EXPECT_TRUE(other->Put(key, "2").ok()) << key;
      }
      EXPECT_TRUE(other->Put("held", "2").IsTimedOut());
      if (has_save_point) {
        EXPECT_TRUE(txn->RollbackToSavePoint().ok());
      }
      EXPECT_TRUE(txn->Commit().ok());
      EXPECT_EQ(Value("held") + Value("k"), "1NOT_FOUND");
    }
  }
}

TEST_P(TransactionPromisesTest, ALockThatARefusedCallUpgradedIsSharedAgain) {
  if (!IsLocking()) return;
  const auto txn = Start(Small());
  ASSERT_EQ(ReadForUpdate(txn.get(), "k", /*exclusive=*/false), "NOT_FOUND");
  EXPECT_TRUE(txn->Put("k", std::string(100, 'v')).IsMemoryLimit());
  EXPECT_EQ(txn->GetNumKeys(), 1u);
  const auto other = Start();
  EXPECT_EQ(ReadForUpdate(other.get(), "k", /*exclusive=*/false), "NOT_FOUND");
  EXPECT_TRUE(other->Put("k", "2").IsTimedOut());
}

TEST_P(TransactionPromisesTest, AReadForUpdateThatFailsKeepsNoLock) {
  Plain("k", "1");
  Plain("l", "1");
  ASSERT_TRUE(db()->Flush(FlushOptions()).ok());
  const auto txn = Start();
  FaultRule rule;
  rule.calls = Only(FaultCall::kRead);
  rule.path_contains = ".sst";
  std::string value;
  faults().Inject(rule);
  Status s = txn->GetForUpdate(ReadOptions(), "k", &value);
  faults().ClearFaults();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  const auto other = Start();
  ASSERT_TRUE(other->Put("l", "2").ok());
  std::vector<std::string> values;
  if (IsLocking()) {
    EXPECT_TRUE(txn->MultiGetForUpdate(ReadOptions(), {"k", "l"}, &values)[0].IsTimedOut());
    EXPECT_EQ(txn->GetNumKeys(), 0u);
  }
  EXPECT_TRUE(other->Put("k", "2").ok());
  EXPECT_TRUE(other->Commit().ok());
  EXPECT_TRUE(txn->Put("k", "3").ok());
  EXPECT_TRUE(txn->Commit().ok()) << "nothing of the failed read is checked";
}

// ---- What is held is counted, and what does not fit is told

TEST_P(TransactionPromisesTest, RangeDeletionsAndLogDataAreCounted) {
  const auto txn = Start();
  for (int i = 0; i < 3000; i++) {
    const std::string key = "k" + std::to_string(10000 + i);
    ASSERT_TRUE(txn->DeleteRange(nullptr, key, key + "\x01").ok());
  }
  const uint64_t ranges = Counted();
  EXPECT_GT(ranges, IsLocking() ? 100'000u : 30'000u);
  txn->PutLogData(std::string(1 << 20, 'l'));
  EXPECT_GE(Counted(), ranges + (1 << 20) - (16 << 10));
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_EQ(Counted(), 0u);
}

TEST_P(TransactionPromisesTest, LogDataThatFindsNoRoomRefusesTheTransaction) {
  if (!IsLocking()) return;
  const auto txn = Start(Small());
  ASSERT_TRUE(txn->SetName("n").ok());
  ASSERT_TRUE(txn->Put("a", "1").ok());
  txn->SetSavePoint();
  txn->PutLogData(std::string(100, 'l'));
  EXPECT_TRUE(txn->Put("b", "1").IsMemoryLimit());
  std::string value;
  EXPECT_TRUE(txn->GetForUpdate(ReadOptions(), "b", &value).IsMemoryLimit()) << "a lock, too";
  EXPECT_TRUE(txn->Commit().IsMemoryLimit());
  EXPECT_TRUE(txn->Prepare().IsMemoryLimit());
  EXPECT_EQ(txn->GetState(), Transaction::STARTED);
  ASSERT_TRUE(txn->RollbackToSavePoint().ok());
  EXPECT_TRUE(txn->Put("b", "1").ok());
  txn->PutLogData(std::string(100, 'l'));
  ASSERT_TRUE(txn->Rollback().ok());
  ASSERT_TRUE(txn->Put("c", "1").ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Value("a") + Value("b") + Value("c"), "NOT_FOUNDNOT_FOUND1");
}

// ---- Snapshots

TEST_P(TransactionPromisesTest, WithoutItsSnapshotATransactionDoesNotGoOn) {
  const auto txn = Start();
  clock_->throws = true;
  txn->SetSnapshot();
  clock_->throws = false;
  EXPECT_EQ(txn->GetSnapshot(), nullptr);
  Plain("k", "theirs");
  const Status s = txn->Put("k", "mine");
  EXPECT_TRUE(s.IsMemoryLimit()) << s.ToString();
  EXPECT_NE(s.ToString().find("SetSnapshot"), std::string::npos) << s.ToString();
  EXPECT_TRUE(txn->Commit().IsMemoryLimit());
  EXPECT_TRUE(txn->Rollback().ok());
  EXPECT_TRUE(txn->Put("k", "mine").IsMemoryLimit()) << "it was to be checked";
  txn->SetSnapshot();
  EXPECT_TRUE(txn->Put("k", "mine").ok());
  EXPECT_TRUE(txn->Commit().ok());

  clock_->throws = true;
  TransactionOptions options = Impatient();
  options.set_snapshot = true;
  const auto unchecked = Start(options);
  clock_->throws = false;
  ASSERT_NE(unchecked, nullptr);
  EXPECT_TRUE(unchecked->Put("k", "mine").IsMemoryLimit());
  unchecked->ClearSnapshot();
  EXPECT_TRUE(unchecked->Put("k", "mine").ok()) << "it is not to be checked";
}

TEST_P(TransactionPromisesTest, AnAnnouncedSnapshotStaysAnnouncedUntilItIsTaken) {
  const auto teller = std::make_shared<Teller>([] {});
  const auto txn = Start();
  txn->SetSnapshotOnNextOperation(teller);
  clock_->throws = true;
  EXPECT_TRUE(txn->Put("k", "1").IsMemoryLimit());
  std::string value;
  EXPECT_TRUE(txn->GetForUpdate(ReadOptions(), "k", &value).IsMemoryLimit());
  EXPECT_TRUE(txn->Commit().IsMemoryLimit());
  clock_->throws = false;
  EXPECT_EQ(txn->GetNumKeys(), 0u);
  EXPECT_EQ(teller->told, 0);
  ASSERT_TRUE(txn->Put("k", "1").ok());
  EXPECT_EQ(teller->told, 1);
  EXPECT_NE(txn->GetSnapshot(), nullptr);
}

TEST_P(TransactionPromisesTest, ACallThatIsRefusedGivesItsSnapshotBack) {
  if (!IsLocking()) return;
  const auto teller = std::make_shared<Teller>([] {});
  const auto txn = Start(Small());
  txn->SetSnapshotOnNextOperation(teller);
  EXPECT_TRUE(txn->Put("k", std::string(100, 'v')).IsMemoryLimit());
  EXPECT_EQ(txn->GetSnapshot(), nullptr);
  EXPECT_EQ(teller->told, 0);
  EXPECT_EQ(ReadForUpdate(txn.get(), "k"), "NOT_FOUND");
  EXPECT_EQ(teller->told, 1) << "not found is an answer";
}

// With all slots taken, each transaction needs a snapshot to see changes without evidence.
TEST_P(TransactionPromisesTest, WithoutEvidenceAnOptimisticKeyIsNotTracked) {
  if (IsLocking()) return;
  std::vector<std::unique_ptr<Transaction>> others;
  for (int i = 0; i < 200; i++) {
    others.push_back(Start());
    ASSERT_TRUE(others.back()->Put("o", "1").ok());
  }
  int refused = 0;
  clock_->throws = true;
  std::vector<std::unique_ptr<Transaction>> late;
  for (int i = 0; i < 20; i++) {
    late.push_back(Start());
    const Status s = late.back()->Put("k", "1");
    EXPECT_TRUE(s.ok() || s.IsMemoryLimit()) << s.ToString();
    if (s.ok()) continue;
    refused++;
    EXPECT_EQ(late.back()->GetNumKeys(), 0u);
  }
  clock_->throws = false;
  EXPECT_GT(refused, 0);
}

TEST_P(TransactionPromisesTest, ARollbackKeepsTheSnapshot) {
  TransactionOptions options = Impatient();
  options.set_snapshot = true;
  const auto txn = Start(options);
  const Snapshot* const snapshot = txn->GetSnapshot();
  ASSERT_TRUE(txn->Put("a", "1").ok());
  Plain("k", "theirs");
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_EQ(txn->GetSnapshot(), snapshot);
  ReadOptions then;
  then.snapshot = txn->GetSnapshot();
  EXPECT_EQ(Read(txn.get(), "k", then), "NOT_FOUND");
  const Status put = txn->Put("k", "mine");
  EXPECT_TRUE(IsLocking() ? put.IsBusy() : put.ok()) << put.ToString();
  if (!IsLocking()) {
    EXPECT_TRUE(txn->Commit().IsBusy());
  }
  EXPECT_EQ(Value("k"), "theirs");
  ASSERT_TRUE(txn->Rollback().ok());
  txn->ClearSnapshot();
  EXPECT_TRUE(txn->Put("k", "mine").ok());
  EXPECT_TRUE(txn->Commit().ok());
}

TEST_P(TransactionPromisesTest, ARollbackKeepsWhatWasAnnounced) {
  const auto teller = std::make_shared<Teller>([] {});
  const auto txn = Start();
  txn->SetSnapshotOnNextOperation(teller);
  ASSERT_TRUE(txn->Rollback().ok());
  EXPECT_EQ(teller->told, 0);
  ASSERT_TRUE(txn->Put("k", "1").ok());
  EXPECT_EQ(teller->told, 1);
}

// ---- Notifiers

// Lists what makes a transaction take its snapshot, and what its notifier may do then.
struct Deed {
  const char* name;
  std::function<Status(Transaction*)> make;
};

TEST_P(TransactionPromisesTest, ANotifierMayCallWhateverItLikes) {
  const std::vector<Deed> operations = {
      {"Put", [](auto* txn) { return txn->Put("k", "1"); }},
      {"GetForUpdate",
       [](auto* txn) {
         std::string value;
         Status s = txn->GetForUpdate(ReadOptions(), "k", &value);
         return s.IsNotFound() ? Status::OK() : s;
       }},
      {"MultiGetForUpdate",
       [](auto* txn) {
         std::vector<std::string> values;
         txn->MultiGetForUpdate(ReadOptions(), {"k", "l"}, &values);
         return Status::OK();
       }},
      {"DeleteRange", [](auto* txn) { return txn->DeleteRange(nullptr, "k", "m"); }},
      {"Commit", [](auto* txn) { return txn->Commit(); }},
  };
  const std::vector<Deed> deeds = {
      {"Rollback", [](auto* txn) { return txn->Rollback(); }},
      {"Commit", [](auto* txn) { return txn->Commit(); }},
      {"Prepare", [](auto* txn) { return txn->Prepare(); }},
      {"Put", [](auto* txn) { return txn->Put("k", "2"); }},
      {"Delete", [](auto* txn) { return txn->Delete("d"); }},
      {"DeleteRange", [](auto* txn) { return txn->DeleteRange(nullptr, "a", "z"); }},
      {"RollbackToSavePoint", [](auto* txn) { return txn->RollbackToSavePoint(); }},
      {"PopSavePoint", [](auto* txn) { return txn->PopSavePoint(); }},
      {"SetSavePoint", [](auto* txn) { return txn->SetSavePoint(), Status::OK(); }},
      {"SetSnapshot", [](auto* txn) { return txn->SetSnapshot(), Status::OK(); }},
      {"ClearSnapshot", [](auto* txn) { return txn->ClearSnapshot(), Status::OK(); }},
      {"UndoGetForUpdate", [](auto* txn) { return txn->UndoGetForUpdate("k"), Status::OK(); }},
      {"an exception", [](auto*) -> Status { throw std::bad_alloc(); }},
  };
  for (const Deed& operation : operations) {
    for (const Deed& deed : deeds) {
      SCOPED_TRACE(std::string(deed.name) + " in " + operation.name);
      const auto txn = Start();
      if (IsLocking()) {
        ASSERT_TRUE(txn->SetName("n").ok());
      }
      ASSERT_TRUE(txn->Put("before", "1").ok());
      txn->SetSavePoint();
      const auto teller =
          std::make_shared<Teller>([&] { deed.make(txn.get()).PermitUncheckedError(); });
      txn->SetSnapshotOnNextOperation(teller);
      const Status s = operation.make(txn.get());
      const bool is_commit = std::string(operation.name) == "Commit";
      EXPECT_TRUE(s.ok() || (is_commit && s.IsInvalidArgument())) << s.ToString();
      EXPECT_EQ(teller->told, 1);
      ExpectUpdatesLocked(txn.get());
      txn->Rollback().PermitUncheckedError();
      EXPECT_EQ(txn->GetNumKeys(), 0u);
      if (IsLocking()) {
        EXPECT_TRUE(txn_db_->GetLockStatusData().empty());
      }
      EXPECT_EQ(Counted(), 0u);
    }
  }
}

TEST_P(TransactionPromisesTest, ANotifiersRollbackTakesTheCallThatToldItBack) {
  const auto txn = Start();
  const auto teller = std::make_shared<Teller>([&] { EXPECT_TRUE(txn->Rollback().ok()); });
  txn->SetSnapshotOnNextOperation(teller);
  ASSERT_TRUE(txn->Put("k", "1").ok());
  EXPECT_EQ(txn->GetNumKeys() + txn->GetNumPuts(), 0u);
  EXPECT_EQ(Read(txn.get(), "k"), "NOT_FOUND");
  const auto other = Start();
  EXPECT_TRUE(other->Put("k", "2").ok());
  ASSERT_TRUE(other->Commit().ok());
  ASSERT_TRUE(txn->Commit().ok());
  EXPECT_EQ(Value("k"), "2");
}

INSTANTIATE_TEST_SUITE_P(Kinds, TransactionPromisesTest, ::testing::Bool(), [](const auto& kind) {
  return std::string(kind.param ? "locking" : "optimistic");
});

}  // namespace
}  // namespace varve::testing
