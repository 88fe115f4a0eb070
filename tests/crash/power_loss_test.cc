// SPDX-License-Identifier: Apache-2.0

// Goal: after the power goes at any file-system call, every durable write is there, and the state
// is that after some first n writes, over all column families. Method: workloads on the in-memory
// file system; at every changing call a clone is taken of what a crash would leave, under several
// policies; each clone is opened, compared, and written to. VARVE_CRASH_STRIDE=k takes every k-th
// call only.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <vector>

#include "varve/env.h"
#include "varve/table.h"

#include "tests/crash/numbered_writes.h"
#include "tests/crash/parallel_writes.h"
#include "tests/harness/write_modes.h"
#include "util/env/mem_file_system.h"
#include "util/sync/mutex.h"

namespace varve::testing {

namespace {

const char* const kName = "/db";
constexpr uint64_t kStatesWanted = 5000;
constexpr uint64_t kStrideOfModes = 7;             // every mode has the same few kinds of calls
constexpr uint64_t kBetweenCalls = 1'000'000'000;  // indexes of moments that are no calls

struct CrashState {
  std::shared_ptr<MemFileSystem> fs;
  CrashPolicy policy;
  uint64_t call = 0;
  uint64_t durable = 0;  // writes that must be there
  uint64_t acked = 0;    // writes that must be there if only the process died
  uint64_t issued = 0;   // writes that may be there
};

// Takes clones at calls and keeps them until they are checked.
class Recorder final : public MemFileSystem::CallHook {
 public:
  Recorder(MemFileSystem* fs, uint64_t stride) : fs_(fs), stride_(stride) {}

  void BeforeCall(uint64_t index, MemCall, const std::string&) override {
    if (index % stride_ == 0) TakeClones(index);
  }

  // Also between calls, where nothing but stores into mapped files may lie.
  void TakeClones(uint64_t index) {
    static constexpr CrashPolicy kPolicies[] = {CrashPolicy::kSyncedOnly,
                                                CrashPolicy::kOrderedPrefix, CrashPolicy::kAllNames,
                                                CrashPolicy::kAdversarial, CrashPolicy::kKill};
    for (CrashPolicy policy : kPolicies) {
      // Until the database's creation is durable an adversary can leave anything of it.
      if (policy == CrashPolicy::kAdversarial && !created.load()) continue;
      CrashState state;
      // The numbers are read on the safe side: what must be there before the clone, what may be
      // after.
      state.durable = durable.load();
      state.acked = acked.load();
      state.fs = fs_->CrashClone(policy, index);
      state.issued = issued.load();
      state.policy = policy;
      state.call = index;
      MutexLock lock(&mu_);
      states_.push_back(std::move(state));
    }
  }

  std::vector<CrashState> Take() {
    MutexLock lock(&mu_);
    return std::move(states_);
  }

  std::atomic<bool> created{false};
  std::atomic<uint64_t> durable{0};
  std::atomic<uint64_t> acked{0};
  std::atomic<uint64_t> issued{0};

 private:
  MemFileSystem* const fs_;
  const uint64_t stride_;
  Mutex mu_;
  std::vector<CrashState> states_;
};

struct Workload {
  const char* name;
  std::vector<std::string> families;
  uint64_t writes;
  void (*tune)(DBOptions* db, ColumnFamilyOptions* cf);
  // What happens beside the writes after write i.
  void (*after)(DB* db, const Handles& handles, uint64_t i);
  uint64_t sync_every;    // 0: never
  uint64_t reopen_every;  // 0: never
  bool no_log = false;    // disableWAL: durable by flushing alone
  const WriteMode* mode = nullptr;
  bool mapped = false;  // logs are stored into, which no call tells of
};

void FlushAll(DB* db, const Handles& handles) {
  std::vector<ColumnFamilyHandle*> all;
  for (const auto& [name, handle] : handles) all.push_back(handle);
  EXPECT_TRUE(db->Flush(FlushOptions(), all).ok());
}

const Workload kWorkloads[] = {
    {"log_only",
     {"default"},
     60,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB*, const Handles&, uint64_t) {},
     5,
     0},
    {"flushes",
     {"default"},
     80,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 9 == 0) FlushAll(db, handles);
     },
     7,
     0},
    {"compactions",
     {"default"},
     120,
     [](DBOptions*, ColumnFamilyOptions* cf) {
       cf->level0_file_num_compaction_trigger = 2;
       cf->target_file_size_base = 4 << 10;
       cf->max_bytes_for_level_base = 8 << 10;
     },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 8 == 0) FlushAll(db, handles);
       if (i % 40 == 0) {
         EXPECT_TRUE(db->CompactRange(CompactRangeOptions(), nullptr, nullptr).ok());
       }
     },
     11,
     0},
    {"families",
     {"default", "a", "b"},
     60,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 10 == 0) {
         EXPECT_TRUE(db->Flush(FlushOptions(), handles.at("a")).ok());
       }
       if (i % 15 == 0) {
         EXPECT_TRUE(db->Flush(FlushOptions(), handles.at("default")).ok());
       }
     },
     6,
     0},
    {"atomic_flush_without_log",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions*) { db->atomic_flush = true; },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 6 == 0) FlushAll(db, handles);
     },
     0,
     0,
     true},
    {"reopens_and_small_manifests",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions*) { db->max_manifest_file_size = 500; },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 5 == 0) FlushAll(db, handles);
     },
     4,
     13},
    {"recovery_keeps_logs",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions*) { db->avoid_flush_during_recovery = true; },
     [](DB* db, const Handles& handles, uint64_t i) {
       if (i % 17 == 0) {
         EXPECT_TRUE(db->Flush(FlushOptions(), handles.at("a")).ok());
       }
     },
     4,
     7},
    {"logs_of_many_memtables",
     {"default"},
     60,
     [](DBOptions*, ColumnFamilyOptions* cf) {
       cf->write_buffer_size = 2 << 10;
       cf->min_write_buffer_number_to_merge = 4;
       cf->max_write_buffer_number = 8;
     },
     [](DB*, const Handles&, uint64_t) {},
     23,
     0},
    {"flushes_side_by_side",
     {"default", "a"},
     60,
     [](DBOptions* db, ColumnFamilyOptions* cf) {
       db->max_background_jobs = 16;
       cf->write_buffer_size = 2 << 10;
       cf->max_write_buffer_number = 8;
     },
     [](DB*, const Handles&, uint64_t) {},
     9,
     0},
    {"families_come_and_go",
     {"default"},
     50,
     [](DBOptions*, ColumnFamilyOptions*) {},
     [](DB* db, const Handles&, uint64_t i) {
       ColumnFamilyHandle* handle = nullptr;
       if (i % 6 != 0) return;
       ASSERT_TRUE(
           db->CreateColumnFamily(ColumnFamilyOptions(), "t" + std::to_string(i), &handle).ok());
       EXPECT_TRUE(db->Put(WriteOptions(), handle, "k", "v").ok());
       EXPECT_TRUE(db->DropColumnFamily(handle).ok());
       EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
     },
     5,
     0},
};

class PowerLoss {
 public:
  explicit PowerLoss(const Workload& workload)
      : workload_(workload),
        fs_(std::make_shared<MemFileSystem>()),
        env_(NewCompositeEnv(fs_)),
        stride_(Stride() * (workload.mode == nullptr ? 1 : kStrideOfModes)),
        recorder_(fs_.get(), stride_) {
    if (workload.mapped) fs_->OfferMappedFiles();
  }

  static uint64_t Stride() {
    const char* text = getenv("VARVE_CRASH_STRIDE");
    return text == nullptr ? 1 : strtoull(text, nullptr, 10);
  }

  uint64_t Run() {
    fs_->SetCallHook(&recorder_);
    Open();
    recorder_.created = true;
    for (uint64_t i = 1; i <= workload_.writes && !::testing::Test::HasFailure(); i++) {
      WriteOne(i);
      if (workload_.mapped && i % stride_ == 0) recorder_.TakeClones(kBetweenCalls + i);
      workload_.after(db_.get(), handles_, i);
      if (workload_.no_log && i % 6 == 0) recorder_.durable = i;
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
    workload_.tune(&db, &cf);
    if (workload_.mode != nullptr) workload_.mode->Apply(&db, &cf);
    return cf;
  }

  void Open() {
    Status s = OpenWithFamilies(DbOptionsOn(env_.get()), FamilyOptions(), kName, workload_.families,
                                &db_, &handles_);
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
    // What the system has survives a kill, what is synced a power loss.
    const bool sync = i % 8 == 0;
    s = db_->FlushWAL(sync);
    ASSERT_TRUE(s.ok()) << s.ToString();
    recorder_.acked = i;
    if (sync) recorder_.durable = i;
  }

  void CheckStates() {
    for (CrashState& state : recorder_.Take()) {
      SCOPED_TRACE(std::string(workload_.name) + (workload_.mapped ? ", mapped" : "") + ", call " +
                   std::to_string(state.call) + ", policy " +
                   std::to_string(static_cast<int>(state.policy)));
      CheckOne(state);
      checked_++;
      if (::testing::Test::HasFailure()) return;
    }
  }

  void CheckOne(const CrashState& state) {
    // Who opens it maps files, or not, whatever wrote it.
    if (workload_.mapped && state.call % 2 == 0) state.fs->OfferMappedFiles();
    std::unique_ptr<Env> env = NewCompositeEnv(state.fs);
    std::unique_ptr<DB> db;
    Handles handles;
    std::vector<std::string> names;
    Status s = DB::ListColumnFamilies(DbOptionsOn(env.get()), kName, &names);
    std::vector<std::string> families = workload_.families;
    for (const std::string& name : names) {
      if (s.ok() && std::find(families.begin(), families.end(), name) == families.end()) {
        families.push_back(name);
      }
    }
    s = OpenWithFamilies(DbOptionsOn(env.get()), FamilyOptions(), kName, families, &db, &handles);
    ASSERT_TRUE(s.ok()) << s.ToString();
    const uint64_t least =
        state.policy == CrashPolicy::kKill ? std::max(state.acked, state.durable) : state.durable;
    PrefixCheck check = CheckPrefix(db.get(), handles, workload_.families, least, state.issued);
    ASSERT_TRUE(check.ok) << check.problem;
    // It goes on from there: a few writes, and another opening.
    const uint64_t last = check.n + 3;
    for (uint64_t i = check.n + 1; i <= last; i++) {
      s = WriteNumbered(db.get(), handles, workload_.families, i, WriteOptions());
      ASSERT_TRUE(s.ok()) << s.ToString();
    }
    CloseWithFamilies(&db, &handles);
    s = OpenWithFamilies(DbOptionsOn(env.get()), FamilyOptions(), kName, families, &db, &handles);
    ASSERT_TRUE(s.ok()) << s.ToString();
    check = CheckPrefix(db.get(), handles, workload_.families, last, last);
    ASSERT_TRUE(check.ok) << "after going on: " << check.problem;
    CloseWithFamilies(&db, &handles);
  }

  const Workload& workload_;
  std::shared_ptr<MemFileSystem> fs_;
  std::unique_ptr<Env> env_;
  const uint64_t stride_;
  Recorder recorder_;
  std::unique_ptr<DB> db_;
  Handles handles_;
  uint64_t checked_ = 0;
};

// A short history with flushes, in each write mode. Writes that skip the log by chance have no
// prefix to compare with.
std::vector<Workload> WorkloadsOfModes() {
  std::vector<Workload> workloads;
  for (const WriteMode& mode : WriteModes()) {
    if (IsExpectedRefusal(mode) || LeavesHoles(mode)) continue;
    const bool no_log = mode.no_log_one_in == 1;
    Workload workload{mode.name.data(),
                      {"default", "a"},
                      30,
                      [](DBOptions*, ColumnFamilyOptions*) {},
                      [](DB* db, const Handles& handles, uint64_t i) {
                        if (i % 6 == 0) FlushAll(db, handles);
                      },
                      mode.sync_one_in == 1 ? 1u : 5u,
                      13,
                      no_log,
                      &mode};
    if (no_log) {
      workload.sync_every = 0;
      workload.tune = [](DBOptions* db, ColumnFamilyOptions*) { db->atomic_flush = true; };
    }
    workloads.push_back(std::move(workload));
  }
  return workloads;
}

}  // namespace

TEST(PowerLossTest, DurableWritesSurviveAtEveryCall) {
  uint64_t states = 0;
  uint64_t mapped_states = 0;
  std::vector<Workload> workloads(std::begin(kWorkloads), std::end(kWorkloads));
  for (Workload& workload : WorkloadsOfModes()) workloads.push_back(std::move(workload));
  for (size_t i = 0, n = workloads.size(); i < n; i++) {
    workloads.push_back(workloads[i]);
    workloads.back().mapped = true;
  }
  for (const Workload& workload : workloads) {
    PowerLoss run(workload);
    const uint64_t checked = run.Run();
    printf("  %s%s: %llu states\n", workload.name, workload.mapped ? ", mapped" : "",
           static_cast<unsigned long long>(checked));
    states += checked;
    if (workload.mapped) mapped_states += checked;
    if (HasFailure()) return;
  }
  printf("RESULT power_loss cases=%llu mapped=%llu wrong=0 lost=0 crash=0 hang=0\n",
         static_cast<unsigned long long>(states), static_cast<unsigned long long>(mapped_states));
  if (PowerLoss::Stride() == 1) {
    EXPECT_GE(states, kStatesWanted);
  }
}

}  // namespace varve::testing
