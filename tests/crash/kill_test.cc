// SPDX-License-Identifier: Apache-2.0

// Goal: a killed process loses no acknowledged write, and the next opening finds a prefix, in every
// write mode. Method: a child writes, in one thread or in several, and reports each acknowledged
// write in shared memory, until the parent kills it at a random moment; another child opens the
// directory and compares. Families with merges and with timestamps alternate, as do
// compaction styles and numbers of levels, between openings and by SetOptions. In every tenth round
// openings are killed as well, up to five in a row, each during its recovery. No opening mistakes a
// kill for a loss of synced data, or refuses to tolerate it. VARVE_KILL_ROUNDS=N sets the number of
// rounds, half of them with one writing thread.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/env.h"

#include "tests/crash/family_kinds.h"
#include "tests/crash/numbered_writes.h"
#include "tests/crash/parallel_writes.h"
#include "tests/harness/environment.h"
#include "tests/harness/killed_child.h"
#include "tests/harness/random.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

namespace {

constexpr uint64_t kRounds = 1000;
constexpr uint64_t kRoundsPerDirectory = 8;
constexpr uint64_t kRecoveryKilledOneIn = 10;
constexpr uint64_t kPatienceMost = 32;
constexpr uint64_t kChainMost = 5;
constexpr uint64_t kMarkEvery = 64;      // In writes.
constexpr uint64_t kSwitchEvery = 1000;  // In writes, from one style to the next.
constexpr uint64_t kHistoryKept = 40;    // In writes below the newest.

// Reports from the child to the parent: they survive the child's death.
struct Shared {
  // Stored with release after the write returned; the parent reads them after waiting for the
  // child.
  std::atomic<uint64_t> acked;
  std::atomic<uint64_t> issued;
  std::atomic<uint64_t> mark;   // The acknowledged mark of families with timestamps.
  std::atomic<uint64_t> found;  // Set by the checker: the state is that after this many writes.
  Progress parallel;
};

struct Mode {
  WriteMode writes;
  std::vector<std::string> families = {"default"};
  bool sync = false;
  bool atomic_flush = false;
  bool keep_logs = false;
  bool tolerate_tail = false;
  size_t write_buffer = 64 << 10;
};

// Draws what each opening may change: the style and the number of levels.
void DrawTree(uint64_t seed, ColumnFamilyOptions* family) {
  constexpr CompactionStyle kStyles[] = {kCompactionStyleLevel, kCompactionStyleUniversal,
                                         kCompactionStyleFIFO};
  Random random(seed);
  family->compaction_style = kStyles[random.Below(std::size(kStyles))];
  family->num_levels = 2 + static_cast<int>(random.Below(6));
  family->compaction_options_fifo.allow_compaction = random.OneIn(2);
  family->max_compaction_bytes = random.OneIn(2) ? 0 : 64 << 10;
}

// Lets another style continue with the tree.
Status SwitchStyle(DB* db, const Handles& handles, uint64_t i) {
  constexpr const char* kNames[] = {"kCompactionStyleLevel", "kCompactionStyleUniversal",
                                    "kCompactionStyleFIFO"};
  Status s;
  for (const auto& [name, handle] : handles) {
    s.UpdateIfOk(db->SetOptions(handle, {{"compaction_style", kNames[i % std::size(kNames)]}}));
  }
  return s;
}

// Returns the modes that open today. The numbered history of one thread requires that all writes
// are logged.
std::vector<const WriteMode*> RunningModes(bool all_logged) {
  std::vector<const WriteMode*> modes;
  for (const WriteMode& mode : WriteModes()) {
    if (IsExpectedRefusal(mode) || (all_logged && mode.no_log_one_in != 0)) continue;
    modes.push_back(&mode);
  }
  return modes;
}

DBOptions DbOptionsOf(const Mode& mode, ColumnFamilyOptions* family) {
  DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.avoid_flush_during_recovery = mode.keep_logs;
  if (mode.tolerate_tail) {
    options.wal_recovery_mode = WALRecoveryMode::kTolerateCorruptedTailRecords;
  }
  options.max_manifest_file_size = 8 << 10;
  options.max_background_jobs = 16;  // Four flushes at once.
  mode.writes.Apply(&options, family);
  options.atomic_flush |= mode.atomic_flush && !options.enable_pipelined_write;
  return options;
}

Mode RandomMode(Random* random, const WriteMode* writes, bool parallel) {
  static const std::vector<std::string> kFamilies[] = {{"default"},
                                                       {"default", "other"},
                                                       {"default", "texts", "sums"},
                                                       {"default", "texts"},
                                                       {"default", "versions", "sums"},
                                                       {"versions", "default"},
                                                       {"default", "bare"},
                                                       {"rows", "default"}};
  Mode mode;
  mode.writes = *writes;
  mode.families = kFamilies[random->Below(std::size(kFamilies))];
  mode.sync = random->OneIn(4);
  // A parallel thread that syncs may be told what another's sync has covered.
  if (mode.sync && parallel && writes->no_log_one_in == 0) mode.writes.sync_one_in = 4;
  mode.atomic_flush = random->OneIn(4);
  mode.keep_logs = random->OneIn(3);
  mode.tolerate_tail = random->OneIn(3);
  mode.write_buffer = random->OneIn(3) ? 1 << 20 : 64 << 10;
  // Threads write at separate timestamps, which a common mark would cut.
  ColumnFamilyOptions unused;
  if (parallel || !Allows(DbOptionsOf(mode, &unused), mode.families)) {
    std::ranges::replace(mode.families, "bare", "versions");
  }
  return mode;
}

// `seed` decides about the tree.
Status OpenIn(const std::string& directory, const Mode& mode, uint64_t seed,
              std::unique_ptr<DB>* db, Handles* handles) {
  ColumnFamilyOptions family;
  DrawTree(seed, &family);
  const DBOptions options = DbOptionsOf(mode, &family);
  family.write_buffer_size = mode.write_buffer;
  family.max_write_buffer_number = 6;
  family.level0_file_num_compaction_trigger = 2;
  family.target_file_size_base = 64 << 10;
  family.compression = kNoCompression;
  return OpenWithFamilies(options, family, directory, mode.families, db, handles);
}

// Exits with an error if a loss is reported: after a kill the files have everything that was
// synced.
void ExitIfTakenForALoss(DB* db) {
  std::map<std::string, std::string> report;
  if (!db->GetMapProperty("varve.recovery", &report) || report["synced_bytes_lost"] == "0") return;
  fprintf(stderr, "checker: %s bytes are said to be lost: %s at %s of %s\n",
          report["synced_bytes_lost"].c_str(), report["reason"].c_str(),
          report["first_bad_offset"].c_str(), report["first_bad_file"].c_str());
  _exit(kExitProblem);
}

[[noreturn]] void WriteUntilKilled(const std::string& directory, const Mode& mode, uint64_t from,
                                   Shared* shared) {
  std::unique_ptr<DB> db;
  Handles handles;
  Status s = OpenIn(directory, mode, from, &db, &handles);
  ExitUnlessOk(s, "writer: open");
  WriteOptions options;
  Random random(from);
  for (uint64_t i = from + 1;; i++) {
    options = mode.writes.DrawWriteOptions(&random);
    options.sync |= mode.sync && i % 8 == 0;
    shared->issued.store(i, std::memory_order_release);
    do {
      s = WriteNumbered(db.get(), handles, mode.families, i, options);
    } while (s.IsIncomplete() && options.no_slowdown);
    ExitUnlessOk(s, "a write");
    if (mode.writes.SurvivesKill() || options.sync) {
      shared->acked.store(i, std::memory_order_release);
    }
    if (i % kSwitchEvery == 0) {
      s = SwitchStyle(db.get(), handles, i / kSwitchEvery);
      ExitUnlessOk(s, "switching the style");
    }
    if (i % kMarkEvery != 0) continue;
    s = RaiseMarks(db.get(), handles, i - kHistoryKept);
    ExitUnlessOk(s, "raising the mark");
    shared->mark.store(i - kHistoryKept, std::memory_order_release);
  }
}

[[noreturn]] void WriteInParallelUntilKilled(const std::string& directory, const Mode& mode,
                                             size_t threads, Progress* progress) {
  std::unique_ptr<DB> db;
  Handles handles;
  Status opened = OpenIn(directory, mode, progress->begun[0].load(), &db, &handles);
  ExitUnlessOk(opened, "writers: open");
  const auto write = [&](size_t t) {
    for (uint64_t i = progress->begun[t].load() + 1;; i++) {
      const Status s = WriteParallel(db.get(), handles, mode.writes, t, i, progress);
      if (s.ok()) continue;
      fprintf(stderr, "writer %zu: write %llu: %s\n", t, static_cast<unsigned long long>(i),
              s.ToString().c_str());
      _exit(kExitProblem);
    }
  };
  std::vector<std::thread> others;
  for (size_t t = 1; t < threads; t++) others.emplace_back(write, t);
  write(0);
  _exit(kExitProblem);
}

// The thread positions found replace those of the dead process.
[[noreturn]] void CheckParallelAndExit(const std::string& directory, const Mode& mode,
                                       Progress* progress) {
  std::unique_ptr<DB> db;
  Handles handles;
  const Status s = OpenIn(directory, mode, progress->begun[0].load() + 1, &db, &handles);
  ExitUnlessOk(s, "checker: open");
  ExitIfTakenForALoss(db.get());
  const Positions least =
      mode.writes.buffers_log ? Load(progress->durable) : Load(progress->logged);
  const ParallelCheck check =
      CheckParallel(db.get(), handles, mode.writes, least, Load(progress->begun));
  if (!check.problem.empty()) {
    fprintf(stderr, "checker, mode %s: %s\n", std::string(mode.writes.name).c_str(),
            check.problem.c_str());
    _exit(kExitProblem);
  }
  for (size_t t = 0; t < kMostWriters; t++) {
    for (auto* positions :
         {&progress->begun, &progress->acked, &progress->logged, &progress->durable}) {
      (*positions)[t].store(check.at[t]);
    }
  }
  CloseWithFamilies(&db, &handles);
  _exit(0);
}

[[noreturn]] void CheckAndExit(const std::string& directory, const Mode& mode, Shared* shared) {
  std::unique_ptr<DB> db;
  Handles handles;
  Status s = OpenIn(directory, mode, shared->issued.load(), &db, &handles);
  ExitUnlessOk(s, "checker: open");
  ExitIfTakenForALoss(db.get());
  const PrefixCheck check =
      CheckPrefix(db.get(), handles, mode.families, shared->acked.load(), shared->issued.load());
  const bool marks = std::ranges::count(mode.families, "versions") != 0;
  if (!check.ok || (marks && check.mark < shared->mark.load())) {
    fprintf(stderr, "checker, mode %s: %s; mark %llu of %llu\n",
            std::string(mode.writes.name).c_str(), check.problem.c_str(),
            static_cast<unsigned long long>(check.mark),
            static_cast<unsigned long long>(shared->mark.load()));
    _exit(kExitProblem);
  }
  shared->found.store(check.n, std::memory_order_release);
  CloseWithFamilies(&db, &handles);
  _exit(0);
}

class KillRounds {
 public:
  KillRounds(uint64_t seed, bool parallel)
      : random_(seed), parallel_(parallel), modes_(RunningModes(/*all_logged=*/!parallel)) {}

  // Returns false if something was lost or wrong.
  bool Round(uint64_t round) {
    if (round % kRoundsPerDirectory == 0) {
      mode_ = RandomMode(&random_, modes_[next_mode_++ % modes_.size()], parallel_);
      Begin();
    } else if (mode_.writes.no_log_one_in != 0) {
      // Unlogged writes have left holes, from which the next writes could not continue.
      Begin();
    }
    const size_t threads = 2 + random_.Below(kMostWriters - 1);
    const auto write = [&] {
      if (parallel_) {
        WriteInParallelUntilKilled(directory_.path(), mode_, threads, &shared_->parallel);
      }
      WriteUntilKilled(directory_.path(), mode_, at_, shared_.get());
    };
    const uint64_t before = at_;
    if (!RunUntilKilled(write, patience_ * (1000 + random_.Below(60000)))) return false;
    if (round % kRecoveryKilledOneIn == 0) KillRecoveries();
    if (!Check()) return false;
    patience_ = at_ == before ? std::min(patience_ * 2, kPatienceMost)
                              : std::max<uint64_t>(patience_ / 2, 1);
    return true;
  }

  uint64_t at() const { return at_; }
  uint64_t killed_recoveries() const { return killed_recoveries_; }
  std::string mode() const { return std::string(mode_.writes.name); }

 private:
  void KillRecoveries() {
    for (uint64_t chain = 1 + random_.Below(kChainMost); chain > 0; chain--) {
      const auto recover = [&] {
        std::unique_ptr<DB> db;
        Handles handles;
        OpenIn(directory_.path(), mode_, at_, &db, &handles).PermitUncheckedError();
        pause();
      };
      if (RunUntilKilled(recover, random_.Below(8000))) killed_recoveries_++;
    }
  }

  void Begin() {
    std::filesystem::remove_all(directory_.path());
    shared_.Reset();
    at_ = 0;
  }

  bool Check() {
    const bool holds = HoldsInChild([&] {
      if (parallel_) CheckParallelAndExit(directory_.path(), mode_, &shared_->parallel);
      CheckAndExit(directory_.path(), mode_, shared_.get());
    });
    if (!holds) return false;
    at_ = parallel_ ? shared_->parallel.acked[0].load() : shared_->found.load();
    shared_->acked.store(at_);
    shared_->issued.store(at_);
    return true;
  }

  Random random_;
  const bool parallel_;
  const std::vector<const WriteMode*> modes_;
  size_t next_mode_ = 0;
  SharedWithChildren<Shared> shared_;
  const FreshDirectory directory_{"kill"};
  Mode mode_;
  uint64_t at_ = 0;
  // Factor of a writer's time. It doubles when a writer was killed before its first write, as a
  // busy machine or a sanitizer may need longer for the opening alone, and halves after a round
  // with writes.
  uint64_t patience_ = 1;
  uint64_t killed_recoveries_ = 0;
};

// Adds the successful rounds to *cases, and the killed openings to *recoveries.
void RunRounds(bool parallel, uint64_t rounds, uint64_t seed, uint64_t* cases,
               uint64_t* recoveries) {
  KillRounds run(seed, parallel);
  uint64_t most = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    const bool fine = run.Round(round);
    ASSERT_TRUE(fine) << (parallel ? "parallel" : "numbered") << " round " << round << ", mode "
                      << run.mode() << ", seed " << seed;
    most = std::max(most, run.at());
    (*cases)++;
  }
  *recoveries += run.killed_recoveries();
  EXPECT_GT(most, 0u) << "no round wrote anything: the test is blind";
}

}  // namespace

TEST(KillTest, AcknowledgedWritesSurviveSigkill) {
  const auto start = std::chrono::steady_clock::now();
  const uint64_t rounds = NumberFromEnvironment("VARVE_KILL_ROUNDS", kRounds);
  const uint64_t seed = static_cast<uint64_t>(getpid());
  uint64_t cases = 0;
  uint64_t recoveries = 0;
  RunRounds(/*parallel=*/false, rounds - rounds / 2, seed, &cases, &recoveries);
  if (!HasFailure()) RunRounds(/*parallel=*/true, rounds / 2, seed, &cases, &recoveries);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  printf(
      "RESULT killer cases=%llu recoveries=%llu wrong=%d lost=0 crash=0 hang=0 seed=%llu "
      "secs=%.0f\n",
      static_cast<unsigned long long>(cases), static_cast<unsigned long long>(recoveries),
      HasFailure() ? 1 : 0, static_cast<unsigned long long>(seed), seconds.count());
  EXPECT_GE(cases, rounds);
}

}  // namespace varve::testing
