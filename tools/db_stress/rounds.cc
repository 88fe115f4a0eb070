// SPDX-License-Identifier: Apache-2.0

// The processes of a run.
//
//      parent   fork --- wait --------------- fork --- wait ----- ...   counts, decides
//      child         open, adopt, operate,         the same on what
//                    verify, close  X SIGKILL      the killed one left
//
// The parent starts no thread and opens no database, so that fork copies nothing that another
// thread may have locked. It shares with its children only the mapping of the expected state, in
// which a child's stores stay when it dies. A killed child has not cleaned up anything: locks are
// freed by the kernel, and files are left as they were at that moment.
//
// The last round is never killed, and must end by itself with all data in place.

#include "tools/db_stress/rounds.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "tools/db_stress/flags.h"
#include "tools/db_stress/worker.h"

namespace varve::stress {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kStuckStatus = 3;
// One in this many rounds is killed while it opens, or soon after.
constexpr uint64_t kEarlyKillOneIn = 10;
constexpr uint64_t kEarlyMicros = 15000;

// Runs the threads of operations on an open database until all are done.
void Operate(Database* database, uint64_t seed, uint64_t operations) {
  std::vector<std::thread> threads;
  for (int i = 0; i < FLAGS_threads; i++) {
    threads.emplace_back([database, seed, operations, i] {
      Worker worker(database, static_cast<uint32_t>(i), seed);
      worker.Run(operations);
      worker.ReleaseSnapshots();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Returns false if the database cannot be opened or closed.
bool RunRound(const std::string& directory, Expected* expected, uint64_t seed, bool after_kill) {
  Dice dice(seed);
  Database database(directory, expected);
  const int openings = 1 + std::max(0, FLAGS_reopen);
  const uint64_t operations = FLAGS_ops_per_thread / static_cast<uint64_t>(openings);
  for (int i = 0; i < openings; i++) {
    // Only the first opening can meet the leavings of a kill; the others follow a close, which
    // loses nothing.
    if (!database.Open(&dice, after_kill && i == 0)) return false;
    const uint64_t rest = i == 0 ? FLAGS_ops_per_thread % static_cast<uint64_t>(openings) : 0;
    Operate(&database, dice.Next(), operations + rest);
    database.VerifyAll();
    if (!database.Close()) return false;
  }
  // All data must be there after reopening.
  return database.Open(&dice, false) && database.Close();
}

enum class Ending { kDone, kKilled, kCannotGoOn, kCrashed, kHung };

// A child hangs if it finishes no operation and no check any more; a slow one does not. The counts
// are in the shared mapping. SIGABRT may leave a core, which shows where the threads stand.
Ending Await(pid_t child, const Counts& counts) {
  uint64_t done = 0;
  auto progressed = Clock::now();
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const uint64_t done_now = counts.operations + counts.checks;
    if (done_now != std::exchange(done, done_now)) progressed = Clock::now();
    if (Clock::now() > progressed + std::chrono::seconds(FLAGS_hang_seconds)) {
      kill(child, SIGABRT);
      waitpid(child, &status, 0);
      return Ending::kHung;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGKILL ? Ending::kKilled : Ending::kCrashed;
  }
  if (WEXITSTATUS(status) == kStuckStatus) return Ending::kCannotGoOn;
  return WEXITSTATUS(status) == 0 ? Ending::kDone : Ending::kCrashed;
}

// Forks, before any thread runs. The child kills itself after `micros`; 0 means never.
Ending RunInChild(const std::function<bool()>& round, const Counts& counts, uint64_t micros) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return Ending::kCannotGoOn;
  if (child > 0) return Await(child, counts);
  // A thread of the child kills it, and not the parent, so that the delay counts from the fork and
  // the parent's load does not move the moment.
  if (micros != 0) {
    std::thread([micros] {
      std::this_thread::sleep_for(std::chrono::microseconds(micros));
      kill(getpid(), SIGKILL);
    }).detach();
  }
  const bool done = round();
  std::fflush(stderr);
  _exit(done ? 0 : kStuckStatus);
}

uint64_t DrawKillMicros(Dice* dice) {
  if (dice->OneIn(kEarlyKillOneIn)) return 1 + dice->Below(kEarlyMicros);
  return 1 + dice->Below(static_cast<uint64_t>(FLAGS_kill_after_ms) * 1000);
}

}  // namespace

RunTotals RunRounds(const std::string& directory, const std::string& expected_path) {
  RunTotals totals;
  Expected expected;
  if (!expected.Open(expected_path, static_cast<uint32_t>(FLAGS_column_families), FLAGS_max_key)) {
    totals.crashes++;
    return totals;
  }
  Dice dice(FLAGS_seed);
  bool after_kill = true;  // it is unknown how the last user of the directory ended
  for (int round = 0; round <= FLAGS_kill_random_test; round++) {
    const bool last = round == FLAGS_kill_random_test;
    const uint64_t seed = dice.Next();
    const Ending ending =
        RunInChild([&] { return RunRound(directory, &expected, seed, after_kill); },
                   expected.counts(), last ? 0 : DrawKillMicros(&dice));
    after_kill = ending != Ending::kDone;
    if (ending == Ending::kKilled) totals.kills++;
    // Nothing here kills the last round: SIGKILL came from outside, such as for a lack of memory.
    if (ending == Ending::kCrashed || (ending == Ending::kKilled && last)) totals.crashes++;
    if (ending == Ending::kHung) totals.hangs++;
    const Counts& counts = expected.counts();
    // A child that gives up has normally told its reason as a finding. One that has not must still
    // fail the run.
    if (ending == Ending::kCannotGoOn && counts.lost + counts.wrong == 0) totals.crashes++;
    if (totals.crashes + totals.hangs + counts.lost + counts.wrong > 0) {
      std::fprintf(stderr, "round %d failed: %s is left as it is\n", round, directory.c_str());
      break;
    }
  }
  const Counts& counts = expected.counts();
  totals.operations = counts.operations;
  totals.checks = counts.checks;
  totals.wrong = counts.wrong;
  totals.lost = counts.lost;
  return totals;
}

}  // namespace varve::stress
