// SPDX-License-Identifier: Apache-2.0

// Goal: each call of a transaction is done as a whole or refused as a whole, for the right reason,
// after any other calls. Method: random calls on three transaction objects that are used again and
// again, with locks or optimistic, with save points, snapshots set and announced, notifiers that
// call back, limits of memory, handles of another database, and plain writes between, beside a
// model of what each must answer, read and hold.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "varve/utilities/optimistic_transaction_db.h"
#include "varve/utilities/write_batch_with_index.h"

#include "tests/db/transaction/transaction_fixture.h"
#include "tests/harness/random.h"

namespace varve::testing {
namespace {

struct Key {
  int family;
  std::string name;
  auto operator<=>(const Key&) const = default;
};

struct KeyUses {
  int reads = 0;
  int writes = 0;
  bool exclusive = false;
  uint64_t since = UINT64_MAX;  // no other may have changed it after this
};

struct State {
  std::map<Key, std::string> updates;  // "": deleted
  std::map<Key, KeyUses> uses;
  std::optional<uint64_t> snapshot;
  bool announced = false;
  bool lacks_log_data = false;
};

// The expected state of a transaction.
struct Expected : State {
  bool ended = false;
  size_t limit = 0;
  std::vector<State> save_points;
};

class TransactionModelTest : public TransactionTest, public ::testing::WithParamInterface<int> {
 protected:
  static constexpr int kSteps = 1500;
  static constexpr int kObjects = 3;

  void SetUp() override {
    is_locking_ = GetParam() % 2 == 0;
    transaction_options_.default_lock_timeout = 0;
    transaction_options_.transaction_lock_timeout = 0;
    if (is_locking_) {
      OpenTransactions();
    } else {
      std::vector<ColumnFamilyDescriptor> families = {{"default", options_}, {"other", options_}};
      OptimisticTransactionDB* opened = nullptr;
      ASSERT_TRUE(
          OptimisticTransactionDB::Open(options_, kName, families, &handles_, &opened).ok());
      optimistic_.reset(opened);
    }
    std::vector<ColumnFamilyDescriptor> families = {{"default", options_}, {"other", options_}};
    ASSERT_TRUE(DB::Open(options_, "/stranger", families, &strangers_, &stranger_).ok());
    for (int i = 0; i < kObjects; i++) BeginAnew(i);
  }
  ~TransactionModelTest() override {
    for (auto& txn : txns_) txn.reset();
    for (ColumnFamilyHandle* handle : strangers_) delete handle;
    stranger_.reset();
    CloseTransactions();
    optimistic_.reset();
  }

  DB* db() { return is_locking_ ? static_cast<DB*>(txn_db_.get()) : optimistic_.get(); }
  uint64_t Roll(uint64_t n) { return random_.Below(n); }
  Key AnyKey() {
    return {static_cast<int>(Roll(2)), std::string(1, static_cast<char>('a' + Roll(6)))};
  }
  std::string NewValue() { return std::to_string(++values_) + std::string(Roll(30), 'v'); }

  // An object is used again, as often as not.
  void BeginAnew(int i) {
    Expected fresh;
    TransactionOptions options = Impatient();
    options.set_snapshot = Roll(3) == 0;
    if (is_locking_ && Roll(2) == 0) options.max_write_batch_size = fresh.limit = 60 + Roll(100);
    if (options.set_snapshot) fresh.snapshot = now_;
    Transaction* const old = Roll(4) == 0 ? nullptr : txns_[i].get();
    if (old == nullptr) txns_[i].reset();
    Transaction* begun = nullptr;
    if (is_locking_) {
      begun = txn_db_->BeginTransaction(WriteOptions(), options, old);
    } else {
      OptimisticTransactionOptions optimistic;
      optimistic.set_snapshot = options.set_snapshot;
      begun = optimistic_->BeginTransaction(WriteOptions(), optimistic, old);
    }
    ASSERT_NE(begun, nullptr);
    if (old == nullptr) txns_[i].reset(begun);
    expected_[i] = fresh;
  }

  // ---- What must be answered. "" is OK.

  bool IsLockedByOther(int i, const Key& key, bool exclusive) const {
    for (int other = 0; is_locking_ && other < kObjects; other++) {
      const auto it = expected_[other].uses.find(key);
      if (other == i || it == expected_[other].uses.end()) continue;
      if (exclusive || it->second.exclusive) return true;
    }
    return false;
  }
  uint64_t LastChange(const Key& key) const {
    const auto it = changed_.find(key);
    return it == changed_.end() ? 0 : it->second;
  }
  // Uses the key: changes the model if it returns OK. The batch grows by `bytes`.
  std::string Use(int i, const Key& key, bool write, bool exclusive, size_t bytes) {
    Expected next = expected_[i];
    if (next.lacks_log_data) return "MemoryLimit";
    if (next.ended) return "InvalidArgument";
    if (IsLockedByOther(i, key, exclusive)) return "TimedOut";
    if (next.announced) next.snapshot = now_;
    next.announced = false;
    KeyUses& uses = next.uses[key];
    if (is_locking_ && next.snapshot && uses.since > *next.snapshot) {
      if (LastChange(key) > *next.snapshot) return "Busy";
      uses.since = *next.snapshot;
    }
    if (!is_locking_) uses.since = std::min(uses.since, next.snapshot ? *next.snapshot : now_);
    if (bytes != 0 && next.limit != 0 && SizeOf(i) + bytes > next.limit) return "MemoryLimit";
    (write ? uses.writes : uses.reads)++;
    uses.exclusive = uses.exclusive || exclusive;
    expected_[i] = next;
    return "";
  }
  size_t SizeOf(int i) { return txns_[i]->GetWriteBatch()->GetDataSize(); }

  static std::string CodeOf(const Status& s) {
    if (s.ok()) return "";
    if (s.IsMemoryLimit()) return "MemoryLimit";
    if (s.IsInvalidArgument()) return "InvalidArgument";
    if (s.IsTimedOut()) return "TimedOut";
    return s.IsBusy() ? "Busy" : s.ToString();
  }

  // ---- Calls. Changes by a notifier belong to the call that ran it, and come after it.

  void Update(int i) {
    const Key key = AnyKey();
    const bool is_delete = Roll(4) == 0;
    const std::string value = is_delete ? "" : NewValue();
    WriteBatch alone;
    ColumnFamilyHandle* const family = handles_[static_cast<size_t>(key.family)];
    ASSERT_TRUE(
        (is_delete ? alone.Delete(family, key.name) : alone.Put(family, key.name, value)).ok());
    const size_t bytes = alone.GetDataSize() - kHeaderBytes;
    const std::string wanted = Use(i, key, /*write=*/true, /*exclusive=*/true, bytes);
    if (wanted.empty()) expected_[i].updates[key] = value;
    const Status s =
        is_delete ? txns_[i]->Delete(family, key.name) : txns_[i]->Put(family, key.name, value);
    ASSERT_EQ(CodeOf(s), wanted) << s.ToString();
  }
  void ReadForUpdate(int i) {
    const Key key = AnyKey();
    const bool exclusive = Roll(2) == 0;
    const std::string wanted = Use(i, key, /*write=*/false, exclusive, 0);
    const std::string holds = ValueSeenBy(i, key);
    std::string value;
    const Status s = txns_[i]->GetForUpdate(
        ReadOptions(), handles_[static_cast<size_t>(key.family)], key.name, &value, exclusive);
    if (!wanted.empty()) {
      ASSERT_EQ(CodeOf(s), wanted) << s.ToString();
    } else {
      ASSERT_EQ(s.IsNotFound() ? "" : value, holds) << s.ToString();
    }
  }
  void UndoRead(int i) {
    const Key key = AnyKey();
    Expected& own = expected_[i];
    txns_[i]->UndoGetForUpdate(handles_[static_cast<size_t>(key.family)], key.name);
    const auto it = own.uses.find(key);
    if (it == own.uses.end()) return;
    int before = 0;
    if (!own.save_points.empty()) {
      const auto then = own.save_points.back().uses.find(key);
      if (then != own.save_points.back().uses.end()) before = then->second.reads;
    }
    if (it->second.reads <= before) return;
    it->second.reads--;
    if (it->second.reads == 0 && it->second.writes == 0) own.uses.erase(it);
  }
  void LogData(int i) {
    if (expected_[i].ended) return;
    const std::string blob(Roll(60), 'l');
    WriteBatch alone;
    ASSERT_TRUE(alone.PutLogData(blob).ok());
    const size_t bytes = alone.GetDataSize() - kHeaderBytes;
    const size_t limit = expected_[i].limit;
    if (limit != 0 && SizeOf(i) + bytes > limit) expected_[i].lacks_log_data = true;
    txns_[i]->PutLogData(blob);
  }
  void Foreign(int i) {
    ColumnFamilyHandle* const family = strangers_[Roll(2)];
    Transaction* const txn = txns_[i].get();
    std::string value;
    Status s;
    switch (Roll(6)) {
      case 0:
        s = txn->Put(family, "a", "foreign");
        break;
      case 1:
        s = txn->Delete(family, "a");
        break;
      case 2:
        s = txn->GetForUpdate(ReadOptions(), family, "a", &value);
        break;
      case 3:
        s = txn->Get(ReadOptions(), family, "a", &value);
        break;
      case 4:
        s = txn->DeleteRange(family, "a", "z");
        break;
      default:
        txn->UndoGetForUpdate(family, "a");
        return;
    }
    ASSERT_EQ(CodeOf(s), "InvalidArgument") << s.ToString();
  }
  void SnapshotCall(int i) {
    Expected& own = expected_[i];
    switch (Roll(4)) {
      case 0:
        txns_[i]->SetSnapshot();
        own.snapshot = now_;
        own.announced = false;
        break;
      case 1:
        txns_[i]->ClearSnapshot();
        own.snapshot.reset();
        own.announced = false;
        break;
      case 2:
        txns_[i]->SetSnapshotOnNextOperation();
        own.announced = true;
        break;
      default:
        return Notified(i);
    }
  }
  // Announces a snapshot, makes the call that takes it, and plays on the model what the notifier
  // did.
  void Notified(int i) {
    struct Teller final : TransactionNotifier {
      void SnapshotCreated(const Snapshot* /*snapshot*/) override { call(); }
      std::function<void()> call;
    };
    const auto teller = std::make_shared<Teller>();
    bool told = false;
    const uint64_t deed = Roll(4);
    Transaction* const txn = txns_[i].get();
    teller->call = [&] {
      told = true;
      if (deed == 0) {
        EXPECT_TRUE(txn->Rollback().ok());
      }
      if (deed == 1) txn->ClearSnapshot();
      if (deed == 2) txn->SetSavePoint();
    };
    txn->SetSnapshotOnNextOperation(teller);
    expected_[i].announced = true;
    Roll(2) == 0 ? Update(i) : ReadForUpdate(i);
    if (HasFatalFailure()) return;
    ASSERT_EQ(told, !expected_[i].announced);
    if (!told) {
      txn->ClearSnapshot();  // the notifier goes
      expected_[i].snapshot.reset();
      expected_[i].announced = false;
      return;
    }
    if (deed == 0) RolledBack(i);
    if (deed == 1) expected_[i].snapshot.reset();
    if (deed == 2) expected_[i].save_points.push_back(expected_[i]);
  }
  void SavePointCall(int i) {
    Expected& own = expected_[i];
    if (own.ended) return;
    const uint64_t which = Roll(3);
    if (which == 0) {
      txns_[i]->SetSavePoint();
      own.save_points.push_back(own);
      return;
    }
    const Status s = which == 1 ? txns_[i]->RollbackToSavePoint() : txns_[i]->PopSavePoint();
    ASSERT_EQ(s.IsNotFound(), own.save_points.empty()) << s.ToString();
    if (own.save_points.empty()) return;
    State then = own.save_points.back();
    own.save_points.pop_back();
    if (which == 2) return;
    for (auto& [key, uses] : then.uses) {
      // While the lock is held, the sequence number that was learnt stays.
      const KeyUses& present = own.uses.at(key);
      uses.exclusive = present.exclusive;
      uses.since = present.since;
    }
    static_cast<State&>(own) = then;
  }
  void RolledBack(int i) {
    Expected& own = expected_[i];
    own.updates.clear();
    own.uses.clear();
    own.save_points.clear();
    own.lacks_log_data = false;
  }
  void Rollback(int i) {
    const Status s = txns_[i]->Rollback();
    ASSERT_EQ(CodeOf(s), expected_[i].ended ? "InvalidArgument" : "") << s.ToString();
    if (s.ok()) RolledBack(i);
  }
  void Commit(int i) {
    Expected& own = expected_[i];
    std::string wanted = own.ended ? "InvalidArgument" : own.lacks_log_data ? "MemoryLimit" : "";
    if (wanted.empty() && !is_locking_) {
      for (const auto& [key, uses] : own.uses) {
        if (LastChange(key) > uses.since) wanted = "Busy";
      }
    }
    const Status s = txns_[i]->Commit();
    ASSERT_EQ(CodeOf(s), wanted) << s.ToString();
    if (wanted == "Busy" && own.announced) {
      own.announced = false;
      own.snapshot = now_;
    }
    if (!s.ok()) return;
    if (!own.updates.empty()) now_++;
    for (const auto& [key, value] : own.updates) Changed(key, value);
    own = Expected();
    own.ended = true;
  }
  void PlainWrite() {
    const Key key = AnyKey();
    const std::string value = NewValue();
    const bool is_locked = IsLockedByOther(-1, key, true);
    const Status s =
        db()->Put(WriteOptions(), handles_[static_cast<size_t>(key.family)], key.name, value);
    ASSERT_EQ(CodeOf(s), is_locked ? "TimedOut" : "") << s.ToString();
    if (!s.ok()) return;
    now_++;
    Changed(key, value);
  }
  void Changed(const Key& key, const std::string& value) {
    committed_[key] = value;
    changed_[key] = now_;
  }

  void Step() {
    const int i = static_cast<int>(Roll(kObjects));
    switch (Roll(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Update(i);
      case 4:
      case 5:
        return ReadForUpdate(i);
      case 6:
        return UndoRead(i);
      case 7:
        return LogData(i);
      case 8:
        return Foreign(i);
      case 9:
      case 10:
        return expected_[i].ended ? BeginAnew(i) : SnapshotCall(i);
      case 11:
        return SavePointCall(i);
      case 12:
        return Roll(3) == 0 ? BeginAnew(i) : Rollback(i);
      case 13:
        return Commit(i);
      default:
        return PlainWrite();
    }
  }

  // ---- What must be there

  std::string CommittedValue(const Key& key) const {
    const auto it = committed_.find(key);
    return it == committed_.end() ? "" : it->second;
  }
  std::string ValueSeenBy(int i, const Key& key) const {
    const auto it = expected_[i].updates.find(key);
    return it != expected_[i].updates.end() ? it->second : CommittedValue(key);
  }
  void Check() {
    std::multiset<Key> locked;
    for (int i = 0; i < kObjects; i++) {
      const Expected& own = expected_[i];
      ASSERT_EQ(txns_[i]->GetNumKeys(), own.uses.size()) << "object " << i;
      ASSERT_EQ(txns_[i]->GetSnapshot() != nullptr, own.snapshot.has_value()) << "object " << i;
      for (const auto& [key, uses] : own.uses) locked.insert(key);
      const Key key = AnyKey();
      std::string value;
      const Status s =
          txns_[i]->Get(ReadOptions(), handles_[static_cast<size_t>(key.family)], key.name, &value);
      ASSERT_EQ(s.IsNotFound() ? "" : value, ValueSeenBy(i, key)) << s.ToString();
    }
    if (!is_locking_) return;
    std::multiset<Key> found;
    for (const auto& [id, lock] : txn_db_->GetLockStatusData()) {
      for (size_t n = 0; n < lock.ids.size(); n++) found.insert({static_cast<int>(id), lock.key});
    }
    ASSERT_TRUE(found == locked) << found.size() << " locks, not " << locked.size();
  }

  static constexpr size_t kHeaderBytes = 12;

  bool is_locking_ = true;
  Random random_{static_cast<uint64_t>(GetParam())};
  std::unique_ptr<OptimisticTransactionDB> optimistic_;
  std::unique_ptr<DB> stranger_;
  std::vector<ColumnFamilyHandle*> strangers_;
  std::unique_ptr<Transaction> txns_[kObjects];
  Expected expected_[kObjects];
  std::map<Key, std::string> committed_;  // "": deleted
  std::map<Key, uint64_t> changed_;       // when last
  uint64_t now_ = 0;
  int values_ = 0;
};

TEST_P(TransactionModelTest, EachCallIsDoneOrRefusedAsAWhole) {
  for (int step = 0; step < kSteps; step++) {
    Step();
    if (!HasFatalFailure()) Check();
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "seed " << GetParam() << " step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, TransactionModelTest, ::testing::Range(0, 16));

}  // namespace
}  // namespace varve::testing
