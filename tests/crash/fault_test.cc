// SPDX-License-Identifier: Apache-2.0

// Goal: a file system that fails at any call costs no acknowledged durable write and gives no wrong
// result, and writes work again within seconds after it stops failing. Method: workloads over the
// fault file system. Each case makes the k-th call fail in one way, once or from then on, reads
// while it fails, lifts the fault, writes on, and opens the files left by a crash, a kill and a
// clean close. Each workload and kind of fault is paired with one way to write the log, another one
// at each commit.
//
// VARVE_FAULT_SAMPLES=n is the number of cases for each workload and kind of fault (0: every k).
// VARVE_FAULT_CASE=workload/kind/log/k runs one.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "varve/env.h"
#include "varve/table.h"

#include "tests/crash/case_watch.h"
#include "tests/crash/family_kinds.h"
#include "tests/crash/tolerant_reading.h"
#include "tests/harness/database.h"
#include "tests/harness/environment.h"
#include "tests/harness/fault_file_system.h"
#include "tests/harness/write_modes.h"
#include "util/env/mem_file_system.h"

namespace varve::testing {

namespace {

const char* const kName = "/db";
constexpr uint64_t kDefaultSamples = 14;
constexpr uint64_t kCasesWanted = 1500;  // At the default number of samples or more.
constexpr int kWorkers = 6;              // They mostly wait.
constexpr uint64_t kWritesAfter = 20;
constexpr int kTriesUnderFault = 2;
constexpr uint64_t kMarkEvery = 10;  // Number of writes; families with timestamps keep as many
                                     // below it.
constexpr uint64_t kQuotas = 40;
constexpr std::chrono::milliseconds kHealsWithin{5000};

struct Workload {
  const char* name;
  std::vector<std::string> families;
  uint64_t writes;
  uint64_t sync_every;
  uint64_t flush_every;    // Flushes all families.
  uint64_t compact_every;  // 0 is never.
  bool open_under_fault;   // The recovery of a killed database fails.
  void (*tune)(DBOptions* db, ColumnFamilyOptions* cf);
  bool mapped = false;  // Logs are written by stores: allocating and syncing them fails.
};

const Workload kWorkloads[] = {
    {"flushes", {"default"}, 40, 5, 10, 0, false, [](DBOptions*, ColumnFamilyOptions*) {}},
    {"compactions",
     {"default"},
     48,
     7,
     6,
     24,
     false,
     [](DBOptions* db, ColumnFamilyOptions* cf) {
       cf->level0_file_num_compaction_trigger = 2;
       cf->target_file_size_base = 4 << 10;
       cf->max_bytes_for_level_base = 8 << 10;
       db->max_manifest_file_size = 1000;
     }},
    {"atomic_families",
     {"default", "a", "b"},
     36,
     6,
     9,
     0,
     false,
     [](DBOptions* db, ColumnFamilyOptions*) { db->atomic_flush = true; }},
    {"tables_in_two_directories",
     {"default", "a"},
     40,
     6,
     8,
     20,
     false,
     [](DBOptions* db, ColumnFamilyOptions* cf) {
       db->db_paths = {{"/fast", 8 << 10}, {"/slow", 0}};
       cf->level0_file_num_compaction_trigger = 2;
       cf->target_file_size_base = 4 << 10;
       cf->max_bytes_for_level_base = 8 << 10;
     }},
    {"recovery", {"default", "a"}, 30, 6, 12, 0, true, [](DBOptions*, ColumnFamilyOptions*) {}},
    {"recovery_keeps_logs",
     {"default", "a"},
     30,
     6,
     12,
     0,
     true,
     [](DBOptions* db, ColumnFamilyOptions*) { db->avoid_flush_during_recovery = true; }},
    {"mapped_logs",
     {"default"},
     40,
     5,
     10,
     0,
     false,
     [](DBOptions*, ColumnFamilyOptions*) {},
     true},
    {"mapped_logs_of_families",
     {"default", "a", "b"},
     36,
     6,
     9,
     0,
     false,
     [](DBOptions* db, ColumnFamilyOptions*) { db->unordered_write = true; },
     true},
    {"recovery_of_mapped_logs",
     {"default", "a"},
     30,
     6,
     12,
     0,
     true,
     [](DBOptions* db, ColumnFamilyOptions*) { db->avoid_flush_during_recovery = true; },
     true},
    {"merges",
     {"default", "texts", "sums"},
     36,
     6,
     9,
     18,
     false,
     [](DBOptions*, ColumnFamilyOptions* cf) { cf->level0_file_num_compaction_trigger = 3; }},
    {"plain_tables",
     {"default", "rows"},
     36,
     6,
     9,
     18,
     false,
     [](DBOptions*, ColumnFamilyOptions* cf) { cf->level0_file_num_compaction_trigger = 3; }},
    {"timestamps",
     {"default", "versions"},
     40,
     6,
     9,
     18,
     false,
     [](DBOptions*, ColumnFamilyOptions* cf) { cf->level0_file_num_compaction_trigger = 3; }},
    {"recovery_of_merges_and_timestamps",
     {"sums", "default", "versions"},
     30,
     6,
     12,
     0,
     true,
     [](DBOptions* db, ColumnFamilyOptions*) { db->avoid_flush_during_recovery = true; }},
};

constexpr FaultCalls kReads = Only(FaultCall::kOpenRead) | Only(FaultCall::kRead) |
                              Only(FaultCall::kList) | Only(FaultCall::kStat);
constexpr FaultCalls kSyncs = Only(FaultCall::kSync) | Only(FaultCall::kSyncDir);

struct Kind {
  const char* name;
  FaultCalls calls;
  FaultEffect effect;
  bool sticky;
  const char* path_contains;
  bool lies;      // The file system may lose data that it reported as synced.
  bool corrupts;  // Reads are wrong: an error that only reopening lifts is allowed.
};

const Kind kKinds[] = {
    {"eio", kMutatingFaultCalls, FaultEffect::kIoError, false, "", false, false},
    {"eio-sticky", kMutatingFaultCalls, FaultEffect::kIoError, true, "", false, false},
    {"enospc", kMutatingFaultCalls, FaultEffect::kNoSpace, false, "", false, false},
    {"enospc-sticky", kMutatingFaultCalls, FaultEffect::kNoSpace, true, "", false, false},
    {"short", Only(FaultCall::kWrite), FaultEffect::kShortWrite, false, "", false, false},
    {"short-sticky", Only(FaultCall::kWrite), FaultEffect::kShortWrite, true, "", false, false},
    {"fsync-drop", Only(FaultCall::kSync), FaultEffect::kFailAndForget, false, "", false, false},
    {"close-fail", Only(FaultCall::kClose), FaultEffect::kIoError, false, "", false, false},
    {"sync-eio", kSyncs, FaultEffect::kIoError, false, "", false, false},
    {"sync-lies", kSyncs, FaultEffect::kDropSync, true, "", true, false},
    {"read-eio", kReads, FaultEffect::kIoError, false, "", false, false},
    {"read-eio-sticky", kReads, FaultEffect::kIoError, true, "", false, false},
    {"read-corrupt", Only(FaultCall::kRead), FaultEffect::kCorruptRead, false, ".sst", false, true},
    {"read-short", Only(FaultCall::kRead), FaultEffect::kShortRead, false, ".sst", false, true},
};

using Clock = std::chrono::steady_clock;

Status OpenOn(Env* env, const Workload& workload, const WriteMode& log, std::unique_ptr<DB>* db,
              Handles* handles) {
  DBOptions options;
  ColumnFamilyOptions cf;
  cf.compression = kNoCompression;
  BlockBasedTableOptions table;
  table.no_block_cache = true;  // Makes reads reach the file system.
  cf.table_factory.reset(NewBlockBasedTableFactory(table));
  workload.tune(&options, &cf);
  log.Apply(&options, &cf);
  options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.info_log = SilentLogger();
  return OpenWithFamilies(options, cf, kName, workload.families, db, handles);
}

// Runs one database over a failing file system, with the writes it must hold.
class FaultRun {
 public:
  FaultRun(const Workload& workload, const WriteMode& log, const StateTable& states)
      : workload_(workload),
        log_(log),
        states_(states),
        merges_(std::ranges::any_of(workload.families, HasTexts) ||
                std::ranges::any_of(workload.families, HasSums)),
        mem_(std::make_shared<MemFileSystem>()) {
    Mount();
  }
  ~FaultRun() {
    fault_->ClearFaults();
    fault_->ReleaseQuota();
    CloseWithFamilies(&db_, &handles_);
  }

  FaultFileSystem* fault() { return fault_.get(); }

  // Runs up to the moment from which calls may fail.
  std::string Prepare() {
    std::string problem = Open("preparation");
    if (!problem.empty() || !workload_.open_under_fault) return problem;
    Work();
    if (acked_ != workload_.writes) return "the preparation failed without a fault";
    mem_ = mem_->CrashClone(CrashPolicy::kKill, 1);
    CloseWithFamilies(&db_, &handles_);
    Mount();
    // The clone made the log's contents durable.
    durable_ = acked_;
    return "";
  }

  // Runs under faults: errors are allowed, wrong results are not.
  std::string Suffer() {
    if (workload_.open_under_fault) {
      const Status s = OpenOn(env_.get(), workload_, log_, &db_, &handles_);
      if (!s.ok()) return "";
    } else {
      Work();
    }
    return LiveRead("under the fault");
  }

  // Runs after the fault: everything must work again.
  std::string GoOn(bool resume, const Kind& kind) {
    std::string problem = CheckClone(CrashPolicy::kKill, acked_);
    if (!problem.empty()) return problem;
    if (db_ == nullptr) {
      problem = Open("after the fault");
      if (!problem.empty()) return problem;
      problem = LiveRead("opened after the fault");
      if (!problem.empty()) return problem;
    }
    const uint64_t last = acked_ + kWritesAfter;
    problem = Heal(resume, kind);
    if (problem == kNeedsReopening) {
      CloseWithFamilies(&db_, &handles_);
      problem = Open("after corrupted reads");
    }
    while (problem.empty() && acked_ < last) {
      const Status s = Write(/*sync=*/acked_ % 8 == 0);
      if (!s.ok()) problem = "a later write: " + s.ToString();
    }
    if (problem.empty()) problem = StrictRead("after the fault");
    if (problem.empty() && !kind.lies) problem = CheckClone(CrashPolicy::kSyncedOnly, durable_);
    if (problem.empty()) problem = CheckClone(CrashPolicy::kKill, acked_);
    if (!problem.empty()) return problem;
    CloseWithFamilies(&db_, &handles_);
    problem = Open("at last");
    return problem.empty() ? StrictRead("at last") : problem;
  }

  // Writes until the quota stops it (returns true), or all are written.
  bool Fill() {
    for (uint64_t i = 0; i < workload_.writes; i++) {
      if (!Write(i % workload_.sync_every == 0).ok()) return true;
      if (i % workload_.flush_every == 0) FlushAll();
    }
    return false;
  }

 private:
  static constexpr const char* kNeedsReopening = "needs reopening";

  void Mount() {
    fault_ = std::make_shared<FaultFileSystem>(mem_);
    if (workload_.mapped) {
      mem_->OfferMappedFiles();
      fault_->OfferMappedFiles();
    }
    env_ = NewCompositeEnv(fault_);
  }

  std::string Open(const std::string& when) {
    const Status s = OpenOn(env_.get(), workload_, log_, &db_, &handles_);
    return s.ok() ? "" : "open " + when + ": " + s.ToString();
  }

  // Makes the next write, which is the one that failed before, if one did. Repeating it has no
  // further effect, unless it merges: then it is repeated only if it is not there.
  Status Write(bool sync) {
    WriteOptions options;
    options.sync = sync;
    if (log_.limited) options.rate_limiter_priority = Env::IO_USER;
    const uint64_t i = acked_ + 1;
    const bool again = issued_ == i;
    issued_ = std::max(issued_, i);
    Status s = again && merges_ ? IsThere(i) : Status::NotFound();
    const bool found = s.ok();
    if (s.IsNotFound()) s = WriteNumbered(db_.get(), handles_, workload_.families, i, options);
    if (s.ok() && log_.buffers_log) s = db_->FlushWAL(sync);
    if (!s.ok()) return s;
    acked_ = i;
    if (sync && !found) durable_ = i;
    if (i % kMarkEvery != 0) return s;
    return RaiseMarks(db_.get(), handles_, i - kMarkEvery);
  }

  // Returns NotFound if the database is at an earlier write.
  Status IsThere(uint64_t i) {
    std::string text;
    const Status s = db_->Get(ReadOptions(), handles_.at("default"), "#", &text);
    if (!s.ok()) return s;
    return text == std::to_string(i) ? s : Status::NotFound();
  }

  void FlushAll() {
    std::vector<ColumnFamilyHandle*> all;
    for (const auto& [name, handle] : handles_) all.push_back(handle);
    if (db_->Flush(FlushOptions(), all).ok()) durable_ = acked_;
  }

  void Work() {
    int failures = 0;
    while (acked_ < workload_.writes && failures < kTriesUnderFault) {
      const uint64_t i = acked_ + 1;
      if (!Write(i % workload_.sync_every == 0).ok()) {
        failures++;
        continue;
      }
      if (i % workload_.flush_every == 0) FlushAll();
      if (workload_.compact_every != 0 && i % workload_.compact_every == 0) {
        db_->CompactRange(CompactRangeOptions(), nullptr, nullptr).PermitUncheckedError();
      }
    }
  }

  std::string LiveRead(const std::string& when) {
    const Verdict verdict = ReadTolerantly(db_.get(), handles_, states_, acked_, issued_);
    return verdict.wrong.empty() ? "" : when + ": " + verdict.wrong;
  }

  std::string StrictRead(const std::string& when) {
    const Verdict verdict = ReadTolerantly(db_.get(), handles_, states_, acked_, acked_);
    if (!verdict.wrong.empty()) return when + ": " + verdict.wrong;
    return verdict.errors == 0 ? "" : when + ": a read failed: " + verdict.first_error;
  }

  // Waits until a write succeeds: by itself, or with Resume() at once. A write that was retried,
  // and whose log could be abandoned since, proves nothing yet: the error is lifted a moment later.
  std::string Heal(bool resume, const Kind& kind) {
    const Clock::time_point until = Clock::now() + kHealsWithin;
    Status s;
    do {
      if (resume) db_->Resume().PermitUncheckedError();
      const uint64_t before = issued_;
      s = Write(/*sync=*/true);
      if (s.ok() && issued_ > before) return "";
      if (s.ok()) continue;
      if (s.IsCorruption() && kind.corrupts) return kNeedsReopening;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (Clock::now() < until);
    return "writes still fail: " + s.ToString();
  }

  // Checks that a crash now would leave at least the first `least` writes.
  std::string CheckClone(CrashPolicy policy, uint64_t least) {
    const std::string when =
        policy == CrashPolicy::kKill ? "a kill's clone" : "a power loss's clone";
    std::unique_ptr<Env> env = NewCompositeEnv(mem_->CrashClone(policy, 7));
    std::unique_ptr<DB> db;
    Handles handles;
    const Status s = OpenOn(env.get(), workload_, log_, &db, &handles);
    if (!s.ok()) return when + ": " + s.ToString();
    const Verdict verdict = ReadTolerantly(db.get(), handles, states_, least, issued_);
    CloseWithFamilies(&db, &handles);
    if (!verdict.wrong.empty()) return when + ": " + verdict.wrong;
    return verdict.errors == 0 ? "" : when + ": " + verdict.first_error;
  }

  const Workload& workload_;
  const WriteMode& log_;
  const StateTable& states_;
  const bool merges_;
  std::shared_ptr<MemFileSystem> mem_;
  std::shared_ptr<FaultFileSystem> fault_;
  std::unique_ptr<Env> env_;
  std::unique_ptr<DB> db_;
  Handles handles_;
  uint64_t acked_ = 0;
  uint64_t durable_ = 0;
  uint64_t issued_ = 0;
};

CaseResult RunCase(const Workload& workload, const WriteMode& log, const Kind& kind,
                   const StateTable& states, uint64_t k) {
  FaultRun run(workload, log, states);
  CaseResult result;
  result.wrong = run.Prepare();
  if (!result.wrong.empty()) return result;
  FaultRule rule;
  rule.calls = kind.calls;
  rule.path_contains = kind.path_contains;
  rule.nth = k;
  rule.sticky = kind.sticky;
  rule.effect = kind.effect;
  run.fault()->Inject(rule);
  result.wrong = run.Suffer();
  result.outcome = run.fault()->strikes() > 0 ? "struck" : "missed";
  run.fault()->ClearFaults();
  if (result.wrong.empty()) result.wrong = run.GoOn(/*resume=*/k % 2 == 0, kind);
  return result;
}

// Returns the number of calls of that kind without a fault.
uint64_t CountCalls(const Workload& workload, const WriteMode& log, const Kind& kind,
                    const StateTable& states) {
  FaultRun run(workload, log, states);
  EXPECT_EQ(run.Prepare(), "");
  run.fault()->ResetCounters();
  EXPECT_EQ(run.Suffer(), "");
  return run.fault()->calls_in(kind.calls);
}

// Returns the log mode of a case's name.
const WriteMode& LogOf(const std::string& name) {
  const size_t end = name.rfind('/');
  const size_t begin = name.rfind('/', end - 1) + 1;
  return WriteModeNamed(name.substr(begin, end - begin));
}

}  // namespace

TEST(FaultTest, EveryCallMayFail) {
  const uint64_t samples = NumberFromEnvironment("VARVE_FAULT_SAMPLES", kDefaultSamples);
  const char* only = getenv("VARVE_FAULT_CASE");
  uint64_t cases = 0;
  uint64_t wrong = 0;
  const Clock::time_point start = Clock::now();
  const std::vector<const WriteMode*> logs = LogBackings();
  uint64_t pair = Rotation();
  for (const Workload& workload : kWorkloads) {
    const StateTable states(workload.families, workload.writes + 2 * kWritesAfter);
    for (const Kind& kind : kKinds) {
      // PlainTables have no checksums, so changed bytes are not noticed.
      const bool unnoticed = kind.effect == FaultEffect::kCorruptRead &&
                             std::ranges::any_of(workload.families, HasPlainTables);
      if (unnoticed) continue;
      const WriteMode& log = only == nullptr ? *logs[pair++ % logs.size()] : LogOf(only);
      const std::string name =
          std::string(workload.name) + "/" + kind.name + "/" + std::string(log.name);
      if (only != nullptr) {
        const std::string text = only;
        if (!text.starts_with(name + "/")) continue;
        const uint64_t k = strtoull(text.substr(name.size() + 1).c_str(), nullptr, 10);
        const CaseResult result = RunCase(workload, log, kind, states, k);
        printf("%s: %s %s\n", only, result.outcome.c_str(), result.wrong.c_str());
        continue;
      }
      const uint64_t calls = CountCalls(workload, log, kind, states);
      const uint64_t count = samples == 0 ? calls : std::min(calls, samples);
      ASSERT_GT(calls, 0u) << name << ": the workload makes no such call";
      const auto call_of = [&](uint64_t i) { return SpreadCase(i, count, calls); };
      const CaseTotals totals = RunCases(
          count, kWorkers, [&](uint64_t i) { return name + "/" + std::to_string(call_of(i)); },
          [&](uint64_t i) { return RunCase(workload, log, kind, states, call_of(i)); });
      PrintTotals((name + " (" + std::to_string(calls) + " calls)").c_str(), totals);
      cases += totals.cases;
      wrong += totals.wrong_count;
    }
  }
  if (only != nullptr) return;
  const std::chrono::duration<double> seconds = Clock::now() - start;
  printf("RESULT faults cases=%llu wrong=%llu lost=0 crash=0 hang=0 secs=%.0f\n",
         static_cast<unsigned long long>(cases), static_cast<unsigned long long>(wrong),
         seconds.count());
  EXPECT_EQ(wrong, 0u);
  if (samples == 0 || samples >= kDefaultSamples) {
    EXPECT_GE(cases, kCasesWanted);
  }
}

TEST(FaultTest, FullDisksAreOutlived) {
  const Kind plain = kKinds[0];
  for (const Workload& workload : kWorkloads) {
    if (workload.open_under_fault) continue;
    Workload filling = workload;
    filling.writes = 200;
    const StateTable states(filling.families, filling.writes + 2 * kWritesAfter);
    std::atomic<uint64_t> stopped{0};
    const std::vector<const WriteMode*> logs = LogBackings();
    const CaseTotals totals = RunCases(
        kQuotas, kWorkers,
        [&](uint64_t i) { return std::string(workload.name) + "/quota/" + std::to_string(i); },
        [&](uint64_t i) {
          FaultRun run(filling, *logs[(i + Rotation()) % logs.size()], states);
          CaseResult result;
          result.wrong = run.Prepare();
          if (!result.wrong.empty()) return result;
          run.fault()->SetByteQuota(1 + i * 1777);
          result.outcome = run.Fill() ? "stopped" : "roomy";
          if (result.outcome == "stopped") stopped++;
          run.fault()->ReleaseQuota();
          result.wrong = run.GoOn(/*resume=*/false, plain);
          return result;
        });
    PrintTotals((std::string(workload.name) + "/quota").c_str(), totals);
    EXPECT_EQ(totals.wrong_count, 0u);
    EXPECT_GE(stopped, kQuotas / 2) << "the quotas are too large to test anything";
  }
}

}  // namespace varve::testing
