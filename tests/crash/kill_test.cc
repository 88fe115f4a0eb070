// SPDX-License-Identifier: Apache-2.0

// Goal: a killed process loses no acknowledged write, and the next opening finds a prefix, in every
// write mode. Method: a child writes, in one thread or in several, and reports each acknowledged
// write in shared memory, until the parent kills it at a random moment; another child opens the
// directory and compares. Every few rounds the kill comes while the database recovers.
// VARVE_KILL_ROUNDS=N sets the number of rounds.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "varve/env.h"

#include "tests/crash/numbered_writes.h"
#include "tests/crash/parallel_writes.h"
#include "tests/harness/random.h"
#include "tests/harness/write_modes.h"

namespace varve::testing {

namespace {

constexpr int kExitProblem = 3;
constexpr uint64_t kRounds = 300;
constexpr uint64_t kRoundsPerDirectory = 8;

// What the child tells the parent: it survives the child's death.
struct Shared {
  // Stored with release after the write returned; the parent reads them after waiting for the
  // child.
  std::atomic<uint64_t> acked;
  std::atomic<uint64_t> issued;
  std::atomic<uint64_t> found;  // by the checker: the state is that after this many writes
  Progress parallel;
};

struct Mode {
  const WriteMode* writes = nullptr;
  std::vector<std::string> families = {"default"};
  bool sync = false;
  bool atomic_flush = false;
  bool keep_logs = false;
  size_t write_buffer = 64 << 10;
};

// Modes that open today. The numbered history of one thread asks that all writes are logged.
std::vector<const WriteMode*> RunningModes(bool all_logged) {
  std::vector<const WriteMode*> modes;
  for (const WriteMode& mode : WriteModes()) {
    if (IsExpectedRefusal(mode) || (all_logged && mode.no_log_one_in != 0)) continue;
    modes.push_back(&mode);
  }
  return modes;
}

Mode RandomMode(Random* random, const WriteMode* writes) {
  Mode mode;
  mode.writes = writes;
  if (random->OneIn(2)) mode.families = {"default", "other"};
  mode.sync = random->OneIn(4);
  mode.atomic_flush = random->OneIn(4);
  mode.keep_logs = random->OneIn(3);
  mode.write_buffer = random->OneIn(3) ? 1 << 20 : 64 << 10;
  return mode;
}

Status OpenIn(const std::string& directory, const Mode& mode, std::unique_ptr<DB>* db,
              Handles* handles) {
  DBOptions options;
  options.create_if_missing = true;
  options.create_missing_column_families = true;
  options.avoid_flush_during_recovery = mode.keep_logs;
  options.max_manifest_file_size = 8 << 10;
  options.max_background_jobs = 16;  // four flushes at once
  ColumnFamilyOptions family;
  mode.writes->Apply(&options, &family);
  options.atomic_flush |= mode.atomic_flush && !options.enable_pipelined_write;
  family.write_buffer_size = mode.write_buffer;
  family.max_write_buffer_number = 6;
  family.level0_file_num_compaction_trigger = 2;
  family.target_file_size_base = 64 << 10;
  family.compression = kNoCompression;
  return OpenWithFamilies(options, family, directory, mode.families, db, handles);
}

[[noreturn]] void WriteUntilKilled(const std::string& directory, const Mode& mode, uint64_t from,
                                   Shared* shared) {
  std::unique_ptr<DB> db;
  Handles handles;
  Status s = OpenIn(directory, mode, &db, &handles);
  if (!s.ok()) {
    fprintf(stderr, "writer: open: %s\n", s.ToString().c_str());
    _exit(kExitProblem);
  }
  WriteOptions options;
  Random random(from);
  for (uint64_t i = from + 1;; i++) {
    options = mode.writes->DrawWriteOptions(&random);
    options.sync |= mode.sync && i % 8 == 0;
    shared->issued.store(i, std::memory_order_release);
    do {
      s = WriteNumbered(db.get(), handles, mode.families, i, options);
    } while (s.IsIncomplete() && options.no_slowdown);
    if (!s.ok()) {
      fprintf(stderr, "writer: write %llu: %s\n", static_cast<unsigned long long>(i),
              s.ToString().c_str());
      _exit(kExitProblem);
    }
    if (mode.writes->SurvivesKill() || options.sync) {
      shared->acked.store(i, std::memory_order_release);
    }
  }
}

[[noreturn]] void WriteInParallelUntilKilled(const std::string& directory, const Mode& mode,
                                             size_t threads, Progress* progress) {
  std::unique_ptr<DB> db;
  Handles handles;
  Status opened = OpenIn(directory, mode, &db, &handles);
  if (!opened.ok()) {
    fprintf(stderr, "writers: open: %s\n", opened.ToString().c_str());
    _exit(kExitProblem);
  }
  const auto write = [&](size_t t) {
    for (uint64_t i = progress->begun[t].load() + 1;; i++) {
      const Status s = WriteParallel(db.get(), handles, *mode.writes, t, i, progress);
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

// The thread positions that were found replace those of the dead process.
[[noreturn]] void CheckParallelAndExit(const std::string& directory, const Mode& mode,
                                       Progress* progress) {
  std::unique_ptr<DB> db;
  Handles handles;
  const Status s = OpenIn(directory, mode, &db, &handles);
  if (!s.ok()) {
    fprintf(stderr, "checker: open: %s\n", s.ToString().c_str());
    _exit(kExitProblem);
  }
  const Positions least =
      mode.writes->buffers_log ? Load(progress->durable) : Load(progress->logged);
  const ParallelCheck check =
      CheckParallel(db.get(), handles, *mode.writes, least, Load(progress->begun));
  if (!check.problem.empty()) {
    fprintf(stderr, "checker, mode %s: %s\n", std::string(mode.writes->name).c_str(),
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
  Status s = OpenIn(directory, mode, &db, &handles);
  if (!s.ok()) {
    fprintf(stderr, "checker: open: %s\n", s.ToString().c_str());
    _exit(kExitProblem);
  }
  const PrefixCheck check =
      CheckPrefix(db.get(), handles, mode.families, shared->acked.load(), shared->issued.load());
  if (!check.ok) {
    fprintf(stderr, "checker: %s\n", check.problem.c_str());
    _exit(kExitProblem);
  }
  shared->found.store(check.n, std::memory_order_release);
  CloseWithFamilies(&db, &handles);
  _exit(0);
}

class KillRounds {
 public:
  KillRounds(uint64_t seed, bool parallel)
      : random_(seed), parallel_(parallel), modes_(RunningModes(/*all_logged=*/!parallel)) {
    shared_ = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    const char* base = getenv("TEST_TMPDIR");
    directory_ =
        std::string(base != nullptr ? base : "/tmp") + "/varve-kill-" + std::to_string(getpid());
  }
  ~KillRounds() {
    munmap(shared_, sizeof(Shared));
    std::filesystem::remove_all(directory_);
  }

  // False when something was lost or wrong.
  bool Round(uint64_t round) {
    if (round % kRoundsPerDirectory == 0) {
      mode_ = RandomMode(&random_, modes_[next_mode_++ % modes_.size()]);
      Begin();
    } else if (mode_.writes->no_log_one_in != 0) {
      // What was not logged left holes that the next writes could not go on from.
      Begin();
    }
    const size_t threads = 2 + random_.Below(kMostWriters - 1);
    const pid_t writer = Fork([&] {
      if (parallel_) {
        WriteInParallelUntilKilled(directory_, mode_, threads, &shared_->parallel);
      }
      WriteUntilKilled(directory_, mode_, at_, shared_);
    });
    usleep(static_cast<useconds_t>(1000 + random_.Below(60000)));
    if (!Kill(writer)) return false;
    // Now and then the next opening is killed as well, in the middle of its recovery.
    if (round % 5 == 0) {
      const pid_t recovery = Fork([&] {
        std::unique_ptr<DB> db;
        Handles handles;
        OpenIn(directory_, mode_, &db, &handles).PermitUncheckedError();
        pause();
        _exit(0);
      });
      usleep(static_cast<useconds_t>(random_.Below(8000)));
      kill(recovery, SIGKILL);
      int status = 0;
      waitpid(recovery, &status, 0);
    }
    return Check();
  }

  uint64_t at() const { return at_; }
  std::string mode() const { return std::string(mode_.writes->name); }

 private:
  template <typename Body>
  static pid_t Fork(Body body) {
    fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) body();
    return pid;
  }

  // False when the writer had ended by itself: it met an error.
  static bool Kill(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) return false;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status);
  }

  void Begin() {
    std::filesystem::remove_all(directory_);
    new (shared_) Shared();
    at_ = 0;
  }

  bool Check() {
    const pid_t checker = Fork([&] {
      if (parallel_) CheckParallelAndExit(directory_, mode_, &shared_->parallel);
      CheckAndExit(directory_, mode_, shared_);
    });
    int status = 0;
    waitpid(checker, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return false;
    at_ = parallel_ ? shared_->parallel.acked[0].load() : shared_->found.load();
    shared_->acked.store(at_);
    shared_->issued.store(at_);
    return true;
  }

  Random random_;
  const bool parallel_;
  const std::vector<const WriteMode*> modes_;
  size_t next_mode_ = 0;
  Shared* shared_;
  std::string directory_;
  Mode mode_;
  uint64_t at_ = 0;
};

void RunRounds(bool parallel) {
  const char* text = getenv("VARVE_KILL_ROUNDS");
  const uint64_t rounds = text == nullptr ? kRounds : strtoull(text, nullptr, 10);
  const uint64_t seed = static_cast<uint64_t>(getpid());
  KillRounds run(seed, parallel);
  uint64_t most = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    ASSERT_TRUE(run.Round(round)) << "round " << round << ", mode " << run.mode() << ", seed "
                                  << seed;
    most = std::max(most, run.at());
  }
  EXPECT_GT(most, 0u) << "no round wrote anything: the test is blind";
  printf("RESULT %s cases=%llu wrong=0 lost=0 crash=0 hang=0 seed=%llu\n",
         parallel ? "killer_parallel" : "killer", static_cast<unsigned long long>(rounds),
         static_cast<unsigned long long>(seed));
}

}  // namespace

TEST(KillTest, AcknowledgedWritesSurviveSigkill) {
  RunRounds(/*parallel=*/false);
}

TEST(KillTest, EveryWriterFindsItsAcknowledgedWrites) {
  RunRounds(/*parallel=*/true);
}

}  // namespace varve::testing
