// SPDX-License-Identifier: Apache-2.0

// Goal: a killed process loses no acknowledged write, and the next opening finds a prefix.
// Method: a child writes and reports each acknowledged write in shared memory, until the parent
// kills it at a random moment; another child opens the directory and compares. Every few rounds the
// kill comes while the database recovers. VARVE_KILL_ROUNDS=N sets the number of rounds.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "varve/env.h"

#include "tests/crash/numbered_writes.h"
#include "tests/harness/random.h"

namespace varve::testing {

namespace {

constexpr int kExitProblem = 3;
constexpr uint64_t kRoundsPerDirectory = 15;

// What the child tells the parent: it survives the child's death.
struct Shared {
  // Stored with release after the write returned; the parent reads them after waiting for the
  // child.
  std::atomic<uint64_t> acked;
  std::atomic<uint64_t> issued;
  std::atomic<uint64_t> found;  // by the checker: the state is that after this many writes
};

struct Mode {
  std::vector<std::string> families = {"default"};
  bool sync = false;
  bool atomic_flush = false;
  bool keep_logs = false;
  size_t write_buffer = 64 << 10;
};

Mode RandomMode(Random* random) {
  Mode mode;
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
  options.atomic_flush = mode.atomic_flush;
  options.avoid_flush_during_recovery = mode.keep_logs;
  options.max_manifest_file_size = 8 << 10;
  ColumnFamilyOptions family;
  family.write_buffer_size = mode.write_buffer;
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
  for (uint64_t i = from + 1;; i++) {
    options.sync = mode.sync && i % 8 == 0;
    shared->issued.store(i, std::memory_order_release);
    s = WriteNumbered(db.get(), handles, mode.families, i, options);
    if (!s.ok()) {
      fprintf(stderr, "writer: write %llu: %s\n", static_cast<unsigned long long>(i),
              s.ToString().c_str());
      _exit(kExitProblem);
    }
    shared->acked.store(i, std::memory_order_release);
  }
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
  explicit KillRounds(uint64_t seed) : random_(seed) {
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
      std::filesystem::remove_all(directory_);
      mode_ = RandomMode(&random_);
      shared_->acked = 0;
      shared_->issued = 0;
      shared_->found = 0;
      at_ = 0;
    }
    const pid_t writer = Fork([&] { WriteUntilKilled(directory_, mode_, at_, shared_); });
    usleep(static_cast<useconds_t>(1000 + random_.Below(60000)));
    if (!Kill(writer)) return false;
    // Now and then the next opening is killed as well, in the middle of its recovery.
    if (round % 5 == 0) {
      const uint64_t acked = shared_->acked.load();
      const pid_t checker = Fork([&] { CheckAndExit(directory_, mode_, shared_); });
      usleep(static_cast<useconds_t>(random_.Below(8000)));
      kill(checker, SIGKILL);
      int status = 0;
      waitpid(checker, &status, 0);
      shared_->acked.store(acked);
    }
    const pid_t checker = Fork([&] { CheckAndExit(directory_, mode_, shared_); });
    int status = 0;
    waitpid(checker, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return false;
    at_ = shared_->found.load();
    shared_->acked.store(at_);
    shared_->issued.store(at_);
    writes_ += at_;
    return true;
  }

  uint64_t at() const { return at_; }

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

  Random random_;
  Shared* shared_;
  std::string directory_;
  Mode mode_;
  uint64_t at_ = 0;
  uint64_t writes_ = 0;
};

}  // namespace

TEST(KillTest, AcknowledgedWritesSurviveSigkill) {
  const char* text = getenv("VARVE_KILL_ROUNDS");
  const uint64_t rounds = text == nullptr ? 300 : strtoull(text, nullptr, 10);
  const uint64_t seed = static_cast<uint64_t>(getpid());
  KillRounds run(seed);
  uint64_t most = 0;
  for (uint64_t round = 0; round < rounds; round++) {
    ASSERT_TRUE(run.Round(round)) << "round " << round << ", seed " << seed;
    most = std::max(most, run.at());
  }
  EXPECT_GT(most, 0u) << "no round wrote anything: the test is blind";
  printf("RESULT killer cases=%llu wrong=0 lost=0 crash=0 hang=0 seed=%llu\n",
         static_cast<unsigned long long>(rounds), static_cast<unsigned long long>(seed));
}

}  // namespace varve::testing
