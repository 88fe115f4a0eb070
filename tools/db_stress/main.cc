// SPDX-License-Identifier: Apache-2.0

// db_stress runs threads of every kind of operation on one database, under options that change at
// each opening, and compares it with a state that is kept outside of it and survives a kill. The
// last line counts; the exit status is 0 only if nothing is wrong and enough was done.

#include <gflags/gflags.h>

#include <chrono>
#include <cstdio>
#include <filesystem>

#include "varve/env.h"
#include "varve/version.h"

#include "tools/db_stress/database.h"
#include "tools/db_stress/flags.h"
#include "tools/db_stress/key_state.h"
#include "tools/db_stress/rounds.h"

namespace varve::stress {
namespace {

constexpr int kValueUnit = 16;  // unit of --value_size_mult
constexpr uint64_t kKeysLeast = 32;
// Long enough that nothing expires during a run: the expected state knows no lifetimes.
constexpr int kLifetimeLeast = 3600;

bool CheckFlags() {
  const int shares = FLAGS_readpercent + FLAGS_prefixpercent + FLAGS_writepercent +
                     FLAGS_mergepercent + FLAGS_delpercent + FLAGS_delrangepercent +
                     FLAGS_iterpercent + FLAGS_multigetpercent;
  const char* wrong = nullptr;
  if (shares != 100) wrong = "the percentages of operations must add up to 100";
  if (FLAGS_threads < 1) wrong = "--threads: at least 1";
  if (FLAGS_max_key < kKeysLeast) wrong = "--max_key: at least 32";
  if (FLAGS_column_families < 1) wrong = "--column_families: at least 1";
  if (FLAGS_value_size_mult < 0 || FLAGS_value_size_mult > 1 << 16) {
    wrong = "--value_size_mult: 0 to 65536";
  }
  if (FLAGS_user_timestamp_size != 0 && FLAGS_user_timestamp_size != 8) {
    wrong = "--user_timestamp_size: 0 or 8";
  }
  if (FLAGS_nooverwritepercent < 0 || FLAGS_nooverwritepercent > 50) {
    wrong = "--nooverwritepercent: 0 to 50";
  }
  if (FLAGS_kill_after_ms < 1 || FLAGS_snapshot_hold_ops < 1) {
    wrong = "--kill_after_ms, --snapshot_hold_ops: at least 1";
  }
  if (FLAGS_use_txn && FLAGS_use_optimistic_txn) {
    wrong = "--use_txn and --use_optimistic_txn exclude each other";
  }
  const bool in_transactions = FLAGS_use_txn || FLAGS_use_optimistic_txn;
  if (in_transactions && FLAGS_user_timestamp_size != 0) {
    wrong = "transactions are not supported with --user_timestamp_size";
  }
  if (FLAGS_ttl != -1 && FLAGS_ttl < kLifetimeLeast) wrong = "--ttl: -1, or 3600 and more";
  if (FLAGS_ttl != -1 && (in_transactions || FLAGS_user_timestamp_size != 0)) {
    wrong = "--ttl is not supported with transactions or --user_timestamp_size";
  }
  if (FLAGS_use_optimistic_txn && FLAGS_write_mode == "unordered") {
    wrong = "--use_optimistic_txn is not supported with --write_mode=unordered";
  }
  if (FLAGS_txn_write_policy != 0 && FLAGS_txn_write_policy != 1) {
    wrong = "--txn_write_policy: 0 (WRITE_COMMITTED) and 1 (WRITE_PREPARED) are supported";
  }
  if (wrong != nullptr) std::fprintf(stderr, "db_stress: %s\n", wrong);
  return wrong == nullptr;
}

std::string DirectoryFromFlags() {
  if (!FLAGS_db.empty()) return FLAGS_db;
  std::string path;
  if (!Env::Default()->GetTestDirectory(&path).ok()) path = "/tmp";
  return path + "/db_stress";
}

// The last round is not killed, and must complete.
uint64_t OperationsDue() {
  return static_cast<uint64_t>(FLAGS_threads) * FLAGS_ops_per_thread;
}

int Main(int argc, char** argv) {
  gflags::SetUsageMessage("\nUSAGE:\n" + std::string(argv[0]) + " [OPTIONS]...");
  gflags::SetVersionString(GetVarveVersionAsString());
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) {
    std::fprintf(stderr, "'%s' is no flag; a boolean flag takes its value after '='\n", argv[1]);
    return 1;
  }
  if (!CheckFlags()) return 1;
  SetValueSizeMost(static_cast<uint32_t>(FLAGS_value_size_mult * kValueUnit));
  const std::string directory = DirectoryFromFlags();
  FLAGS_db = directory;  // SupportsDirectIo() asks its file system
  const std::string state_folder =
      FLAGS_expected_values_dir.empty() ? directory + ".expected" : FLAGS_expected_values_dir;
  std::error_code ignored;
  if (FLAGS_destroy_db_initially) {
    std::filesystem::remove_all(directory, ignored);
    std::filesystem::remove_all(MovesDirectory(directory), ignored);
    std::filesystem::remove(state_folder + "/state", ignored);
  }
  std::filesystem::create_directories(state_folder, ignored);
  const auto start = std::chrono::steady_clock::now();
  const RunTotals totals = RunRounds(directory, state_folder + "/state");
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const auto number = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%llu checks, %llu kills\n", number(totals.checks), number(totals.kills));
  std::printf(
      "RESULT db_stress cases=%llu wrong=%llu lost=%llu crash=%llu hang=%llu seed=%llu "
      "secs=%.0f\n",
      number(totals.operations), number(totals.wrong), number(totals.lost), number(totals.crashes),
      number(totals.hangs), number(FLAGS_seed), spent.count());
  const bool clean = totals.wrong + totals.lost + totals.crashes + totals.hangs == 0;
  // Fewer operations than the last round makes would mean that the run ended early without a
  // finding. After a failure the files stay for an investigation.
  if (!clean || totals.operations < OperationsDue()) return 1;
  std::filesystem::remove_all(directory, ignored);
  std::filesystem::remove_all(state_folder, ignored);
  std::filesystem::remove_all(MovesDirectory(directory), ignored);
  return 0;
}

}  // namespace
}  // namespace varve::stress

int main(int argc, char** argv) {
  return varve::stress::Main(argc, argv);
}
