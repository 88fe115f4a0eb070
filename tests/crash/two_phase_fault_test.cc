// SPDX-License-Identifier: Apache-2.0

// Goal: whichever call of Prepare, Commit or Rollback fails, the transaction stays as it was,
// readers and other prepared transactions are not affected, the call can be repeated or the other
// decision taken, and a kill, a power loss and a reopening find the last result. Method: the calls
// run on a file system that fails at the k-th call, for each k until none fails, once or from then
// on; with and without a new log, with which the call begins; recovery needs nothing, Resume or
// waiting. VARVE_TWO_PHASE_PAIRS=n runs every n-th pair of a mode and a kind of fault; 5 gives each
// mode another kind.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "varve/utilities/transaction_db.h"

#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/fault_file_system.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

namespace {

const char* const kFaultedName = "/db";
constexpr std::chrono::seconds kPhasesHealWithin{5};
constexpr size_t kFaultedBuffer = 64 << 10;

enum class PhaseCall { kPrepare, kCommit, kRollback };
constexpr PhaseCall kPhaseCalls[] = {PhaseCall::kPrepare, PhaseCall::kCommit, PhaseCall::kRollback};
const char* const kPhaseCallNames[] = {"prepare", "commit", "rollback"};

// The step after the failed call.
enum class Next { kRepeat, kOtherwise, kLeave };

struct FaultedMode {
  const char* name;
  bool mapped;
  bool unordered;
  bool manual_flush;
};
constexpr FaultedMode kFaultedModes[] = {{"buffered", false, false, false},
                                         {"mapped", true, false, false},
                                         {"unordered", false, true, false},
                                         {"manual", false, false, true}};

struct PhaseFault {
  const char* name;
  FaultEffect effect;
  bool sticky;
};
constexpr PhaseFault kPhaseFaults[] = {{"error", FaultEffect::kIoError, false},
                                       {"no_space", FaultEffect::kNoSpace, true},
                                       {"half", FaultEffect::kShortWrite, false},
                                       {"forget", FaultEffect::kFailAndForget, false}};

// The values that readers see, and the prepared transactions.
struct Phases {
  std::map<std::string, std::string> values;
  std::set<std::string> prepared;

  bool operator==(const Phases&) const = default;
};

std::string Shown(const Phases& phases) {
  std::string text;
  for (const auto& [key, value] : phases.values) {
    if (value.size() < 20) text += key + "=" + value + " ";
  }
  for (const std::string& name : phases.prepared) text += "prepared:" + name + " ";
  return text;
}

class FaultedPhases {
 public:
  explicit FaultedPhases(const FaultedMode& mode)
      : mode_(mode),
        memory_(std::make_shared<MemFileSystem>()),
        fault_(std::make_shared<FaultFileSystem>(memory_)),
        env_(NewCompositeEnv(fault_)) {
    if (mode.mapped) {
      memory_->OfferMappedFiles();
      fault_->OfferMappedFiles();
    }
  }
  ~FaultedPhases() { Close(); }
  FaultedPhases(const FaultedPhases&) = delete;
  FaultedPhases& operator=(const FaultedPhases&) = delete;

  FaultFileSystem* fault() { return fault_.get(); }
  const Phases& model() const { return model_; }

  // Prepares two other transactions, one of them in a log that has been flushed, and brings "asked"
  // to the state that `call` needs.
  void Begin(PhaseCall call, bool at_new_log) {
    ASSERT_TRUE(Open(env_.get()).ok());
    Put("before", "1");
    Prepare("first");
    ASSERT_TRUE(db_->Flush(FlushOptions(), handles_).ok());
    Put("between", "2");
    Prepare("second");
    Make("asked");
    if (call != PhaseCall::kPrepare) {
      ASSERT_TRUE(Do(PhaseCall::kPrepare).ok());
      model_.prepared.insert("asked");
    }
    if (at_new_log) FillMemtable();
  }

  Status Do(PhaseCall call) {
    Transaction* const txn = transactions_.at("asked").get();
    switch (call) {
      case PhaseCall::kPrepare:
        return txn->Prepare();
      case PhaseCall::kCommit:
        return txn->Commit();
      case PhaseCall::kRollback:
        break;
    }
    return txn->Rollback();
  }
  // Updates the model after `call` has succeeded.
  void Expect(PhaseCall call) { Apply(call, &model_); }
  static void Apply(PhaseCall call, Phases* phases) {
    if (call == PhaseCall::kPrepare) phases->prepared.insert("asked");
    if (call != PhaseCall::kPrepare) phases->prepared.erase("asked");
    if (call == PhaseCall::kCommit) phases->values["asked"] = phases->values["other/asked"] = "new";
  }

  Transaction::TransactionState state() const { return transactions_.at("asked")->GetState(); }
  Phases Live() const {
    Phases found = Read();
    std::vector<Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    for (const Transaction* txn : prepared) found.prepared.insert(txn->GetName());
    for (const auto& [name, txn] : transactions_) {
      if (txn->GetState() == Transaction::PREPARED) found.prepared.insert(name);
    }
    return found;
  }

  // Waits until a write succeeds.
  void Heal(bool resume) {
    const auto until = std::chrono::steady_clock::now() + kPhasesHealWithin;
    Status s;
    do {
      if (resume) db_->Resume().PermitUncheckedError();
      WriteOptions sync;
      sync.sync = true;
      s = db_->Put(sync, "healed", "1");
      if (s.ok()) {
        model_.values["healed"] = "1";
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    } while (std::chrono::steady_clock::now() < until);
    FAIL() << "writes still fail: " << s.ToString();
  }

  // Returns the state that a crash now would leave.
  Phases AfterCrash(CrashPolicy policy, uint64_t seed) const {
    const std::shared_ptr<MemFileSystem> left = memory_->CrashClone(policy, seed);
    const std::unique_ptr<Env> env = NewCompositeEnv(left);
    FaultedPhases after(mode_);
    const Status s = after.Open(env.get());
    EXPECT_TRUE(s.ok()) << s.ToString();
    if (!s.ok()) return {};
    Phases found = after.Live();
    after.Close();
    return found;
  }
  Phases AfterReopening() {
    Close();
    const Status s = Open(env_.get());
    EXPECT_TRUE(s.ok()) << s.ToString();
    return s.ok() ? Live() : Phases();
  }

 private:
  Status Open(Env* env) {
    Options options;
    options.env = env;
    options.info_log = SilentLogger();
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.write_buffer_size = kFaultedBuffer;
    options.unordered_write = mode_.unordered;
    options.manual_wal_flush = mode_.manual_flush;
    TransactionDBOptions of_transactions;
    if (mode_.unordered) of_transactions.write_policy = WRITE_PREPARED;
    TransactionDB* opened = nullptr;
    Status s = TransactionDB::Open(options, of_transactions, kFaultedName,
                                   {{"default", options}, {"other", options}}, &handles_, &opened);
    db_.reset(opened);
    return s;
  }
  void Close() {
    transactions_.clear();
    if (db_ == nullptr) return;
    std::vector<Transaction*> prepared;
    db_->GetAllPreparedTransactions(&prepared);
    for (Transaction* txn : prepared) delete txn;
    for (ColumnFamilyHandle* handle : handles_) delete handle;
    handles_.clear();
    db_.reset();
  }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put(WriteOptions(), key, value).ok());
    model_.values[key] = value;
  }
  void Make(const std::string& name) {
    WriteOptions sync;
    sync.sync = true;
    auto& txn = transactions_[name];
    txn.reset(db_->BeginTransaction(sync));
    ASSERT_TRUE(txn->SetName(name).ok());
    ASSERT_TRUE(txn->Put(name, "new").ok());
    ASSERT_TRUE(txn->Put(handles_[1], name, "new").ok());
  }
  void Prepare(const std::string& name) {
    Make(name);
    ASSERT_TRUE(transactions_[name]->Prepare().ok());
    model_.prepared.insert(name);
  }
  // Makes the next write take a new memtable and a new log.
  void FillMemtable() {
    uint64_t used = 0;
    for (int i = 0; used < kFaultedBuffer - kFaultedBuffer / 8 && i < 400; i++) {
      Put("fill" + std::to_string(i), std::string(1000, 'f'));
      ASSERT_TRUE(db_->GetIntProperty(DB::Properties::kCurSizeActiveMemTable, &used));
    }
  }
  Phases Read() const {
    Phases found;
    for (ColumnFamilyHandle* handle : handles_) {
      const std::string prefix = handle->GetName() == "default" ? "" : handle->GetName() + "/";
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), handle));
      for (it->SeekToFirst(); it->Valid(); it->Next()) {
        found.values[prefix + it->key().ToString()] = it->value().ToString();
      }
      EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    }
    return found;
  }

  const FaultedMode& mode_;
  std::shared_ptr<MemFileSystem> memory_;
  std::shared_ptr<FaultFileSystem> fault_;
  std::unique_ptr<Env> env_;
  std::unique_ptr<TransactionDB> db_;
  std::vector<ColumnFamilyHandle*> handles_;
  std::map<std::string, std::unique_ptr<Transaction>> transactions_;
  Phases model_;
};

struct PhaseCase {
  const FaultedMode& mode;
  const PhaseFault& fault;
  PhaseCall call;
  bool at_new_log;
  uint64_t k;
  Next next;

  std::string Name() const {
    return std::string(mode.name) + "/" + fault.name + "/" +
           kPhaseCallNames[static_cast<int>(call)] + (at_new_log ? "/new_log/" : "/same_log/") +
           std::to_string(k) +
           (next == Next::kRepeat      ? "/repeat"
            : next == Next::kOtherwise ? "/otherwise"
                                       : "/leave");
  }
};

PhaseCall OtherThan(PhaseCall call) {
  return call == PhaseCall::kCommit ? PhaseCall::kRollback : PhaseCall::kCommit;
}

// Checks the state after the call returned an error: it is that before the call, or, after a crash,
// possibly that after it.
void CheckFailed(const PhaseCase& one, const FaultedPhases& phases) {
  EXPECT_EQ(phases.state(),
            one.call == PhaseCall::kPrepare ? Transaction::STARTED : Transaction::PREPARED);
  EXPECT_EQ(Shown(phases.Live()), Shown(phases.model()));
  Phases done = phases.model();
  FaultedPhases::Apply(one.call, &done);
  for (const CrashPolicy policy : {CrashPolicy::kKill, CrashPolicy::kSyncedOnly}) {
    const Phases found = phases.AfterCrash(policy, one.k);
    if (found == done) continue;
    EXPECT_EQ(Shown(found), Shown(phases.model())) << "a crash at once";
  }
}

// Returns true if the fault struck, false if there are fewer calls.
bool RunPhaseCase(const PhaseCase& one) {
  FaultedPhases phases(one.mode);
  phases.Begin(one.call, one.at_new_log);
  FaultRule rule;
  rule.calls = kMutatingFaultCalls;
  rule.nth = one.k;
  rule.sticky = one.fault.sticky;
  rule.effect = one.fault.effect;
  phases.fault()->Inject(rule);
  const Status s = phases.Do(one.call);
  if (s.ok()) {
    phases.Expect(one.call);
  } else {
    CheckFailed(one, phases);
  }
  const bool struck = phases.fault()->strikes() != 0;
  phases.fault()->ClearFaults();
  phases.Heal(/*resume=*/one.k % 2 == 0);
  if (!s.ok() && one.next != Next::kLeave) {
    const PhaseCall next = one.next == Next::kRepeat || one.call == PhaseCall::kPrepare
                               ? one.call
                               : OtherThan(one.call);
    const Status again = phases.Do(next);
    EXPECT_TRUE(again.ok()) << again.ToString();
    phases.Expect(next);
  }
  EXPECT_EQ(Shown(phases.Live()), Shown(phases.model()));
  // Everything was synced, and transactions prepared before are still undecided.
  const std::string left = Shown(phases.model());
  for (const CrashPolicy policy : {CrashPolicy::kKill, CrashPolicy::kSyncedOnly}) {
    EXPECT_EQ(Shown(phases.AfterCrash(policy, one.k)), left) << "a crash afterwards";
  }
  EXPECT_EQ(Shown(phases.AfterReopening()), left) << "reopened";
  return struck;
}

// Runs them concurrently, because they mostly wait.
bool RunWithEachNext(const FaultedMode& mode, const PhaseFault& fault, PhaseCall call,
                     bool at_new_log, uint64_t k) {
  std::atomic<bool> struck{false};
  std::vector<std::thread> threads;
  for (const Next next : {Next::kRepeat, Next::kOtherwise, Next::kLeave}) {
    threads.emplace_back([&, next] {
      const PhaseCase one{mode, fault, call, at_new_log, k, next};
      SCOPED_TRACE(one.Name());
      if (RunPhaseCase(one)) struck = true;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return struck;
}

}  // namespace

TEST(TwoPhaseFaultTest, EveryCallOfEveryPhaseMayFail) {
  constexpr uint64_t kCallsMax = 60;
  const uint64_t one_in = NumberFromEnvironment("VARVE_TWO_PHASE_PAIRS", 1);
  uint64_t cases = 0;
  uint64_t pair = 0;
  for (const FaultedMode& mode : kFaultedModes) {
    for (const PhaseFault& fault : kPhaseFaults) {
      if (pair++ % one_in != 0) continue;
      for (const PhaseCall call : kPhaseCalls) {
        for (const bool at_new_log : {false, true}) {
          bool struck = true;
          uint64_t k = 0;
          while (struck && k++ < kCallsMax) {
            struck = RunWithEachNext(mode, fault, call, at_new_log, k);
            cases += 3;
            if (HasFailure()) return;
          }
          EXPECT_GT(k, 1u) << "nothing failed";
        }
      }
    }
  }
  printf("RESULT two_phase_faults cases=%llu wrong=0 lost=0 crash=0 hang=0\n",
         static_cast<unsigned long long>(cases));
}

}  // namespace varve::testing
