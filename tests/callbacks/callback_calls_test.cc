// SPDX-License-Identifier: Apache-2.0

// Goal: user code that is registered may call the database from inside: each call works there, or
// is refused as Busy, by the name of the function if it has one. None hangs, and only those of the
// recovery come before Open has given its outputs. Method: every function of every object
// (callbacks.h, held to varve/listener.h) x every call of tests/matrix's table, while a database is
// opened, runs, stops its writers, and is closed; each case has a limit of time. Everyday a slice
// that VARVE_ROTATION chooses. VARVE_CALLBACKS_ALL=1: all; VARVE_CALLBACKS_ONLY=text: those whose
// name has it; VARVE_CALLBACKS_TABLE=1: prints what is refused where.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <thread>

#include "varve/comparator.h"
#include "varve/utilities/checkpoint.h"
#include "varve/utilities/copy_plan.h"
#include "varve/utilities/transaction.h"
#include "varve/utilities/transaction_db.h"

#include "tests/callbacks/callbacks.h"
#include "tests/crash/case_watch.h"
#include "tests/harness/after_log.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/fault_file_system.h"
#include "tests/harness/source_root.h"
#include "tests/matrix/call_table.h"
#include "util/base/refused_call.h"

namespace varve::testing {
namespace {

constexpr uint64_t kSlices = 16;
enum class Phase { kOpening, kRunning, kStopped, kClosing };
constexpr const char* kPhases[] = {"opening", "running", "stopped", "closing"};
constexpr const char* kFamilies[] = {"default", "a", "b", "t"};

struct CaseOf {
  const Callback* callback;
  const Call* call;
  Phase phase;
};

std::string NameOf(const CaseOf& c) {
  return std::string(c.call->name) + " in " + c.callback->name + ", " +
         kPhases[static_cast<int>(c.phase)];
}

class Case {
 public:
  explicit Case(const CaseOf& of)
      : of_(of),
        name_(of.callback->name),
        comparator_(NewComparatorCallback(&trigger_)),
        file_system_(NewFileSystemCallback(&trigger_)),
        player_(&stage_, 'c', 1) {
    stage_.disk = std::make_shared<MemFileSystem>();
    faults_ = std::make_shared<FaultFileSystem>(stage_.disk);
    stage_.env = NewCompositeEnv(faults_);
    Options& options = stage_.options;
    options.env = stage_.env.get();
    options.create_if_missing = true;
    options.create_missing_column_families = true;
    options.compression = kNoCompression;
    options.comparator = comparator_.get();
    options.level0_file_num_compaction_trigger = 2;
    options.disable_auto_compactions = true;
    RegisterCallbacks(&options, &trigger_, name_);
  }

  CaseResult Run() {
    Status s = Open();
    if (s.ok()) s = Furnish();
    if (!s.ok()) return {"could not begin: " + s.ToString(), "wrong"};
    stage_.disk->SetCallHook(file_system_.get());
    switch (of_.phase) {
      case Phase::kOpening:
        RunOpening();
        break;
      case Phase::kRunning:
        Arm(), Provoke();
        break;
      case Phase::kStopped:
        RunStopped();
        break;
      case Phase::kClosing:
        RunClosing();
        break;
    }
    // A call that has begun ends before its stage does, also one after a call that came too early.
    trigger_.Disarm();
    End();
    return Judge();
  }

 private:
  Status Open() {
    handles_.clear();
    raw_ = nullptr;
    std::vector<ColumnFamilyDescriptor> families;
    for (const char* name : kFamilies) {
      families.emplace_back(name, stage_.options);
      if (std::string(name) == "t")
        families.back().options.comparator = BytewiseComparatorWithU64Ts();
    }
    Status s;
    if (name_ == "TransactionNotifier") {
      s = TransactionDB::Open(stage_.options, TransactionDBOptions(), "/db", families, &handles_,
                              &transactions_);
      raw_ = transactions_;
    } else {
      s = DB::Open(stage_.options, "/db", families, &handles_, &raw_);
    }
    if (s.ok()) Adopt();
    return s;
  }

  // Returns false if Open has not set its outputs yet.
  bool Adopt() {
    const std::lock_guard<std::mutex> lock(mu_);
    if (raw_ == nullptr || handles_.size() != std::size(kFamilies)) return false;
    if (stage_.db != nullptr) return true;
    stage_.db.reset(raw_);
    for (size_t i = 0; i < handles_.size(); i++) stage_.handles[kFamilies[i]] = handles_[i];
    return true;
  }

  // Puts a table into each family, and more entries into memory.
  Status Furnish() {
    Status s;
    for (int i = 0; i < kFirstKeys; i++) {
      const std::string key = std::string("i") + std::string(i < 10 ? "0" : "") + std::to_string(i);
      for (const auto& [name, handle] : stage_.handles) {
        std::string timestamp;
        EncodeU64Ts(60, &timestamp);
        s.UpdateIfOk(name == "t" ? db()->Put(WriteOptions(), handle, key, timestamp, "first")
                                 : db()->Put(WriteOptions(), handle, key, "first"));
      }
      if (i != kFirstKeys / 2) continue;
      for (const auto& [name, handle] : stage_.handles) {
        s.UpdateIfOk(db()->Flush(FlushOptions(), handle));
      }
    }
    return s;
  }

  void Arm() {
    trigger_.Arm(name_, [this] {
      if (!Adopt()) {
        early_ = true;
        return false;
      }
      try {
        of_.call->play(player_);
      } catch (const RefusedCall& refused) {
        // This is for calls that return no status.
        player_.Wrong(refused.status.ToString());
      }
      return true;
    });
  }

  DB* db() { return stage_.db.get(); }

  // Statuses are ignored: calls may have closed the database, dropped families or paused work.
  void Ignore(const Status& s) { s.PermitUncheckedError(); }

  void Count(int times) {
    std::string one(8, '\0');
    one[0] = 1;
    for (int i = 0; i < times; i++) Ignore(db()->Merge(WriteOptions(), "sum", one));
  }

  void Provoke() {
    Count(1);
    const Snapshot* const snapshot = db()->GetSnapshot();
    Count(1);
    AfterLog callback([this] { trigger_.Fire("UserWriteCallback"); });
    WriteBatch batch;
    Ignore(batch.Put("batch", "b"));
    Ignore(db()->WriteWithCallback(WriteOptions(), &batch, &callback));
    std::string value;
    Ignore(db()->Get(ReadOptions(), "sum", &value));
    Ignore(db()->SyncWAL());
    if (IsOfErrors(name_)) ProvokeError();
    if (transactions_ != nullptr) ProvokeNotifier();
    Ignore(db()->SetOptions({{"level0_slowdown_writes_trigger", "2"}}));
    Compact();
    Ignore(db()->SetOptions({{"level0_slowdown_writes_trigger", "20"}}));
    if (snapshot != nullptr) db()->ReleaseSnapshot(snapshot);
    if (name_ == "OnDataMoved") MoveData();
    ColumnFamilyHandle* made = nullptr;
    Ignore(db()->CreateColumnFamily(ColumnFamilyOptions(), "made", &made));
    if (made == nullptr) return;
    Ignore(db()->DropColumnFamily(made));
    Ignore(db()->DestroyColumnFamilyHandle(made));
  }

  void MoveData() {
    Checkpoint* raw = nullptr;
    Ignore(Checkpoint::Create(db(), &raw));
    const std::unique_ptr<Checkpoint> checkpoint(raw);
    if (checkpoint != nullptr) Ignore(checkpoint->CreateCheckpoint("/moved"));
    std::unique_ptr<CopyPlan> plan;
    Ignore(CopyPlan::Make(CopyPlanOptions(), db(), "/plan", &plan));
  }

  void Compact() {
    Ignore(db()->Flush(FlushOptions()));
    CompactRangeOptions options;
    options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    options.allow_write_stall = true;
    Ignore(db()->CompactRange(options, nullptr, nullptr));
    Ignore(db()->EnableAutoCompaction({stage_.family("a")}));
  }

  void ProvokeError() {
    FaultRule rule;
    rule.calls = Only(FaultCall::kSync);
    rule.path_contains = ".sst";
    faults_->Inject(rule);
    Count(1);
    Ignore(db()->Flush(FlushOptions()));
    faults_->ClearFaults();
    Ignore(db()->Resume());
  }

  void ProvokeNotifier() {
    struct Notifier final : TransactionNotifier {
      explicit Notifier(Trigger* t) : trigger(*t) {}
      void SnapshotCreated(const Snapshot*) override { trigger.Fire("TransactionNotifier"); }
      Trigger& trigger;
    };
    const std::unique_ptr<Transaction> txn(transactions_->BeginTransaction(WriteOptions()));
    txn->SetSnapshotOnNextOperation(std::make_shared<Notifier>(&trigger_));
    Ignore(txn->Put("txn", "t"));
    Ignore(txn->Commit());
  }

  // L0 has more than one table, so a compaction is due.
  void RunOpening() {
    for (int i = 0; i < 2; i++) {
      Count(1);
      Ignore(db()->Flush(FlushOptions()));
    }
    GiveBack();
    Options& options = stage_.options;
    options.disable_auto_compactions = false;
    options.level0_slowdown_writes_trigger = 2;
    Arm();
    const Status s = Open();
    if (!s.ok()) return Wrong("it does not open: " + s.ToString());
    WaitForCompactOptions wait;
    wait.timeout = std::chrono::milliseconds(200);
    Ignore(db()->WaitForCompact(wait));
  }

  // Only a compaction, which does not run, or a raised limit ends the stop.
  void RunStopped() {
    Count(1);
    Ignore(db()->SetOptions({{"level0_stop_writes_trigger", "1"},
                             {"level0_slowdown_writes_trigger", "1"},
                             {"level0_file_num_compaction_trigger", "1"}}));
    std::thread rescuer([&] {
      for (int i = 0; i < 20 && !trigger_.begun(); i++) Sleep();
      for (int i = 0; i < 3; i++) Sleep();
      Ignore(db()->SetOptions(
          {{"level0_stop_writes_trigger", "100"}, {"level0_slowdown_writes_trigger", "100"}}));
    });
    Arm();
    FlushOptions flush;
    flush.allow_write_stall = true;
    Ignore(db()->Flush(flush));
    Compact();
    std::string value;
    Ignore(db()->Get(ReadOptions(), "sum", &value));
    rescuer.join();
  }

  void RunClosing() {
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    Ignore(db()->Put(unlogged, "unlogged", "u"));
    Arm();
    Ignore(db()->Close());
  }

  static void Sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

  void GiveBack() {
    for (auto& [name, handle] : stage_.handles) Ignore(db()->DestroyColumnFamilyHandle(handle));
    stage_.handles.clear();
    stage_.db.reset();
    transactions_ = nullptr;
    raw_ = nullptr;
  }

  void End() {
    Ignore(db()->ContinueBackgroundWork());
    // The status of a working database only says that it was closed, or why writes are refused.
    Ignore(db()->Put(WriteOptions(), "after", "a"));
    player_.ReleasePins();
    GiveBack();
    player_.UseAfterDelete();
    stage_.disk->SetCallHook(nullptr);
  }

  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  CaseResult Judge() {
    if (early_ && !of_.callback->in_recovery) Wrong("it was called before Open gave its outputs");
    if (!wrong_.empty()) return {wrong_, "wrong"};
    if (!trigger_.done()) return {"", "not called"};
    const std::string& answer = player_.wrong();
    // The error that the callback reports is an answer, too.
    const bool of_error = answer.find("injected") != std::string::npos;
    if (answer.empty() || of_error) return {"", "works"};
    // GetProperty has no status.
    if (answer == "GetProperty has no answer") return {"", "refused"};
    const bool busy = answer.find("Resource busy") != std::string::npos;
    const bool named = answer.find("called in " + name_) != std::string::npos ||
                       answer.find("called in a callback") != std::string::npos;
    if (busy && named) return {"", "refused"};
    return {answer, "wrong"};
  }

  const CaseOf of_;
  const std::string name_;
  Trigger trigger_;
  const std::unique_ptr<Comparator> comparator_;
  const std::unique_ptr<MemFileSystem::CallHook> file_system_;
  std::shared_ptr<FaultFileSystem> faults_;
  Stage stage_;
  Player player_;
  std::mutex mu_;
  DB* raw_ = nullptr;
  TransactionDB* transactions_ = nullptr;
  std::vector<ColumnFamilyHandle*> handles_;
  std::atomic<bool> early_{false};
  std::string wrong_;
};

// Returns true for calls that have hung: they are in every slice.
bool IsEveryday(const CaseOf& c) {
  static const std::set<std::string> calls = {"Close", "CreateColumnFamily", "Flush", "Put"};
  return c.phase == Phase::kRunning && calls.count(c.call->name) != 0;
}

// Chooses cases so that each slice has every callback in every phase.
std::vector<CaseOf> ChosenCases(bool all, const char* only) {
  const uint64_t slice = Rotation() % kSlices;
  std::vector<CaseOf> cases;
  uint64_t row = 0;
  for (const Callback& callback : Callbacks()) {
    for (int phase = 0; phase < 4; phase++, row++) {
      uint64_t number = row;
      for (const Call& call : AllCalls()) {
        const CaseOf c = {&callback, &call, static_cast<Phase>(phase)};
        const bool chosen = only != nullptr ? NameOf(c).find(only) != std::string::npos
                                            : all || number++ % kSlices == slice || IsEveryday(c);
        if (chosen) cases.push_back(c);
      }
    }
  }
  return cases;
}

void PrintTable(const std::vector<CaseOf>& cases, const std::vector<std::string>& outcomes) {
  std::map<std::string, std::set<std::string>> refused;
  for (size_t i = 0; i < cases.size(); i++) {
    if (outcomes[i] == "refused") refused[cases[i].callback->name].insert(cases[i].call->name);
  }
  for (const auto& [callback, calls] : refused) {
    printf("| %s |", callback.c_str());
    for (const std::string& call : calls) printf(" %s;", call.c_str());
    printf(" |\n");
  }
}

TEST(CallbackCallsTest, EveryCallInEveryCallback) {
  const char* const only = getenv("VARVE_CALLBACKS_ONLY");
  const std::vector<CaseOf> cases =
      ChosenCases(NumberFromEnvironment("VARVE_CALLBACKS_ALL", 0) != 0, only);
  ASSERT_FALSE(cases.empty());
  std::vector<std::string> outcomes(cases.size());
  const auto name = [&](uint64_t i) { return NameOf(cases[i]); };
  const auto run = [&](uint64_t i) {
    CaseResult result = Case(cases[i]).Run();
    outcomes[i] = result.outcome;
    return result;
  };
  const CaseTotals totals = RunCases(cases.size(), 2, name, run);
  PrintTotals("calls in callbacks", totals);
  if (NumberFromEnvironment("VARVE_CALLBACKS_TABLE", 0) != 0) PrintTable(cases, outcomes);
  printf("RESULT callbacks cases=%llu wrong=%llu lost=0 crash=0 hang=0\n",
         static_cast<unsigned long long>(totals.cases),
         static_cast<unsigned long long>(totals.wrong_count));
  EXPECT_EQ(totals.wrong_count, 0u);
  std::set<std::string> called;
  for (size_t i = 0; i < cases.size(); i++) {
    if (outcomes[i] != "not called") called.insert(cases[i].callback->name);
  }
  for (const Callback& callback : Callbacks()) {
    EXPECT_TRUE(only != nullptr || called.count(callback.name) != 0) << callback.name;
  }
  EXPECT_TRUE(only != nullptr || cases.size() >= 500) << "too few to prove anything";
}

// Every method of the interface must have a row.
TEST(CallbackCallsTest, EveryMethodOfAListenerHasItsRow) {
  std::ifstream header(testing::SourceRoot() + "/include/varve/listener.h");
  const std::string text((std::istreambuf_iterator<char>(header)),
                         std::istreambuf_iterator<char>());
  std::set<std::string> rows = NeverCalled();
  for (const Callback& callback : Callbacks()) rows.insert(callback.name);
  const std::regex method(R"(virtual (?:void|bool) ([A-Z][A-Za-z]*)\()");
  int methods = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), method), end; it != end; ++it, methods++) {
    EXPECT_TRUE(rows.count((*it)[1]) != 0) << (*it)[1];
  }
  EXPECT_GT(methods, 25);
}

}  // namespace
}  // namespace varve::testing
