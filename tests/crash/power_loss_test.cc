// SPDX-License-Identifier: Apache-2.0

// Goal: after a power loss at any file-system call, every durable write is there, and the state is
// that after some first n writes, over all column families. Method: workloads on the in-memory file
// system; at every changing call clones are taken of what a crash would leave, under several
// policies; each clone is opened, compared, and written to. In some recoveries power is lost again,
// and once more in the recovery from that. VARVE_CRASH_STRIDE=k takes every k-th call only,
// VARVE_CRASH_SEEDS=k takes k states at each under every policy that leaves something to chance.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "varve/env.h"
#include "varve/table.h"

#include "tests/crash/case_watch.h"
#include "tests/crash/crash_recorder.h"
#include "tests/crash/numbered_writes.h"
#include "tests/crash/power_loss_workloads.h"
#include "tests/harness/environment.h"
#include "tests/harness/random.h"
#include "tests/harness/write_modes.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

namespace {

const char* const kLossName = "/db";
constexpr uint64_t kDefaultStride = 19;
constexpr uint64_t kStatesWanted = 7500;
constexpr uint64_t kStrideOfModes = 5;             // All modes have the same few kinds of calls.
constexpr uint64_t kRecoveriesOneIn = 12;          // One recovery in this many loses power as well.
constexpr uint64_t kRecoveryCallsOneIn = 10;       // It does so at one call in this many.
constexpr int kDeepest = 3;                        // Number of consecutive power losses.
constexpr uint64_t kBetweenCalls = 1'000'000'000;  // First index of moments between calls.

class PowerLoss {
 public:
  explicit PowerLoss(const LossWorkload& workload)
      : workload_(workload),
        fs_(std::make_shared<MemFileSystem>()),
        env_(NewCompositeEnv(fs_)),
        table_factory_(NewBlockBasedTableFactory(Uncached())),
        stride_(Stride() * (workload.mode == nullptr ? 1 : kStrideOfModes)),
        recorder_(fs_.get(), stride_, NumberFromEnvironment("VARVE_CRASH_SEEDS", 1)) {
    if (workload.mapped) fs_->OfferMappedFiles();
  }

  static uint64_t Stride() { return NumberFromEnvironment("VARVE_CRASH_STRIDE", kDefaultStride); }

  // Number of states of crashes within recoveries.
  uint64_t deeper() const { return deeper_; }

  uint64_t Run() {
    fs_->SetCallHook(&recorder_);
    Open();
    recorder_.created = true;
    for (uint64_t i = 1; i <= workload_.writes && !::testing::Test::HasFailure(); i++) {
      WriteOne(i);
      if (workload_.mapped && i % stride_ == 0) recorder_.TakeClones(kBetweenCalls + i);
      workload_.after(db_.get(), handles_, i);
      if (workload_.no_log && i % 6 == 0) recorder_.durable = i;
      RaiseMark(i);
      if (workload_.reopen_every != 0 && i % workload_.reopen_every == 0) {
        CloseWithFamilies(&db_, &handles_);
        Open();
      }
      CheckStates();
    }
    CloseWithFamilies(&db_, &handles_);
    fs_->SetCallHook(nullptr);
    CheckStates();
    return checked_;
  }

 private:
  // Options without caches: so many databases are opened that creating caches would take most of
  // the time.
  static BlockBasedTableOptions Uncached() {
    BlockBasedTableOptions options;
    options.no_block_cache = true;
    return options;
  }

  DBOptions DbOptionsOn(Env* env) const {
    DBOptions db;
    ColumnFamilyOptions cf;
    workload_.tune(&db, &cf);
    if (workload_.mode != nullptr) workload_.mode->Apply(&db, &cf);
    db.env = env;
    db.create_if_missing = true;
    db.create_missing_column_families = true;
    return db;
  }

  ColumnFamilyOptions FamilyOptions() const {
    DBOptions db;
    ColumnFamilyOptions cf;
    cf.compression = kNoCompression;
    cf.table_factory = table_factory_;
    workload_.tune(&db, &cf);
    if (workload_.mode != nullptr) workload_.mode->Apply(&db, &cf);
    return cf;
  }

  void Open() {
    Status s = OpenWithFamilies(DbOptionsOn(env_.get()), FamilyOptions(), kLossName,
                                workload_.families, &db_, &handles_);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void WriteOne(uint64_t i) {
    WriteOptions options;
    options.sync = workload_.sync_every != 0 && i % workload_.sync_every == 0;
    options.disableWAL = workload_.no_log;
    const bool buffers_log = workload_.mode != nullptr && workload_.mode->buffers_log;
    recorder_.issued = i;
    Status s = WriteNumbered(db_.get(), handles_, workload_.families, i, options);
    ASSERT_TRUE(s.ok()) << s.ToString();
    if (options.sync) recorder_.durable = i;
    if (!workload_.no_log && !buffers_log) recorder_.acked = i;
    if (!buffers_log || i % 4 != 0) return;
    // Data that the system has survive a kill, synced data a power loss.
    const bool sync = i % 8 == 0;
    s = db_->FlushWAL(sync);
    ASSERT_TRUE(s.ok()) << s.ToString();
    recorder_.acked = i;
    if (sync) recorder_.durable = i;
  }

  void RaiseMark(uint64_t i) {
    const uint64_t every = workload_.marks_every;
    if (every == 0 || i % every != 0) return;
    const Status s = RaiseMarks(db_.get(), handles_, i - every);
    ASSERT_TRUE(s.ok()) << s.ToString();
    recorder_.mark = i - every;
  }

  void CheckStates() {
    for (CrashState& state : recorder_.Take()) {
      SCOPED_TRACE(std::string(workload_.name) + (workload_.mapped ? ", mapped" : "") + ", call " +
                   std::to_string(state.call) + ", policy " +
                   std::to_string(static_cast<int>(state.policy)));
      CheckOne(state, /*depth=*/1);
      if (::testing::Test::HasFailure()) return;
    }
  }

  // Records, at some calls of a recovery, the states that a crash would leave.
  class RecoveryRecorder final : public MemFileSystem::CallHook {
   public:
    RecoveryRecorder(const CrashState& state, uint64_t least) : state_(state), least_(least) {
      state_.fs->SetCallHook(this);
    }
    ~RecoveryRecorder() override { state_.fs->SetCallHook(nullptr); }

    void BeforeCall(uint64_t index, MemCall, const std::string&) override {
      const uint64_t dice = Random(index * 31 + state_.call).Next();
      if (dice % kRecoveryCallsOneIn != 0) return;
      MutexLock lock(&mu_);
      if (!recovering_) return;
      CrashState left = state_;
      left.policy = kCrashPolicies[dice / kRecoveryCallsOneIn % std::size(kCrashPolicies)];
      left.fs = state_.fs->CrashClone(left.policy, dice);
      left.call = state_.call + index;
      // Writes that were found once must stay.
      left.durable = left.acked = least_;
      states_.push_back(std::move(left));
    }
    std::vector<CrashState> Take() {
      MutexLock lock(&mu_);
      return std::move(states_);
    }

    // No clone is taken after this call, nor by a background thread that has begun one: the next
    // writes belong to none.
    void Recovered() {
      MutexLock lock(&mu_);
      recovering_ = false;
    }

   private:
    const CrashState& state_;
    const uint64_t least_;
    Mutex mu_;
    bool recovering_ VARVE_GUARDED_BY(mu_) = true;
    std::vector<CrashState> states_ VARVE_GUARDED_BY(mu_);
  };

  std::vector<std::string> FamiliesIn(Env* env) const {
    std::vector<std::string> families = workload_.families;
    std::vector<std::string> names;
    const Status s = DB::ListColumnFamilies(DbOptionsOn(env), kLossName, &names);
    for (const std::string& name : names) {
      if (s.ok() && std::ranges::count(families, name) == 0) families.push_back(name);
    }
    return families;
  }

  void CheckOne(const CrashState& state, int depth) {
    checked_++;
    deeper_ += depth > 1 ? 1 : 0;
    // The next opening may map files or not, independently of the writer.
    if (workload_.mapped && state.call % 2 == 0) state.fs->OfferMappedFiles();
    const uint64_t least =
        state.policy == CrashPolicy::kKill ? std::max(state.acked, state.durable) : state.durable;
    std::unique_ptr<RecoveryRecorder> again;
    if (depth < kDeepest && checked_ % kRecoveriesOneIn == 0) {
      again = std::make_unique<RecoveryRecorder>(state, least);
    }
    std::unique_ptr<Env> env = NewCompositeEnv(state.fs);
    CheckOpening(state, env.get(), least, again.get());
    if (again == nullptr) return;
    for (const CrashState& left : again->Take()) {
      if (::testing::Test::HasFailure()) return;
      SCOPED_TRACE("and again in its recovery, policy " +
                   std::to_string(static_cast<int>(left.policy)));
      CheckOne(left, depth + 1);
    }
  }

  void CheckOpening(const CrashState& state, Env* env, uint64_t least, RecoveryRecorder* again) {
    std::unique_ptr<DB> db;
    Handles handles;
    const std::vector<std::string> families = FamiliesIn(env);
    Status s =
        OpenWithFamilies(DbOptionsOn(env), FamilyOptions(), kLossName, families, &db, &handles);
    if (again != nullptr) again->Recovered();
    ASSERT_TRUE(s.ok()) << s.ToString();
    PrefixCheck check = CheckPrefix(db.get(), handles, workload_.families, least, state.issued);
    ASSERT_TRUE(check.ok) << check.problem;
    ASSERT_GE(check.mark, state.mark) << "a mark went back";
    // The database goes on: a few writes, and another opening.
    const uint64_t last = check.n + 3;
    for (uint64_t i = check.n + 1; i <= last; i++) {
      s = WriteNumbered(db.get(), handles, workload_.families, i, WriteOptions());
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
    CloseWithFamilies(&db, &handles);
    s = OpenWithFamilies(DbOptionsOn(env), FamilyOptions(), kLossName, families, &db, &handles);
    ASSERT_TRUE(s.ok()) << s.ToString();
    check = CheckPrefix(db.get(), handles, workload_.families, last, last);
    ASSERT_TRUE(check.ok) << "after going on: " << check.problem;
    CloseWithFamilies(&db, &handles);
  }

  const LossWorkload& workload_;
  std::shared_ptr<MemFileSystem> fs_;
  std::unique_ptr<Env> env_;
  const std::shared_ptr<TableFactory> table_factory_;
  const uint64_t stride_;
  CrashRecorder recorder_;
  std::unique_ptr<DB> db_;
  Handles handles_;
  uint64_t checked_ = 0;
  uint64_t deeper_ = 0;
};

}  // namespace

TEST(PowerLossTest, DurableWritesSurviveAtEveryCall) {
  uint64_t states = 0;
  uint64_t mapped_states = 0;
  uint64_t deeper = 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<LossWorkload> workloads = LossWorkloads();
  for (size_t i = 0, n = workloads.size(); i < n; i++) {
    workloads.push_back(workloads[i]);
    workloads.back().mapped = true;
  }
  for (const LossWorkload& workload : workloads) {
    PowerLoss run(workload);
    const uint64_t checked = run.Run();
    printf("  %s%s: %llu states\n", workload.name, workload.mapped ? ", mapped" : "",
           static_cast<unsigned long long>(checked));
    states += checked;
    deeper += run.deeper();
    if (workload.mapped) mapped_states += checked;
    if (HasFailure()) {
      printf("RESULT power_loss cases=%llu wrong=1\n", static_cast<unsigned long long>(states));
      return;
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printf(
      "RESULT power_loss cases=%llu mapped=%llu deeper=%llu wrong=0 lost=0 crash=0 hang=0 "
      "secs=%.0f\n",
      static_cast<unsigned long long>(states), static_cast<unsigned long long>(mapped_states),
      static_cast<unsigned long long>(deeper), seconds.count());
  if (PowerLoss::Stride() <= kDefaultStride) {
    EXPECT_GE(states, kStatesWanted);
  }
}

}  // namespace varve::testing
