// SPDX-License-Identifier: Apache-2.0
// db_bench: measures the engine with the command lines of published benchmarks.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "varve/perf_level.h"
#include "varve/statistics.h"
#include "varve/version.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/database.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/header.h"
#include "tools/db_bench/options_from_flags.h"
#include "tools/db_bench/runner.h"
#include "tools/db_bench/traffic_model.h"

namespace varve::bench {
namespace {

// A flag with a count that must be at least `least`.
struct Bound {
  const char* flag;
  int64_t value;
  int64_t least;
};

// Finds what cannot work before anything is opened or destroyed. gflags' validators check flags one
// by one; this function checks bounds with a line of their own and flags that depend on each other.
bool CheckFlags() {
  const std::array<Bound, 13> bounds = {{
      {"num", FLAGS_num, 1},
      {"batch_size", FLAGS_batch_size, 1},
      {"duration", FLAGS_duration, 0},
      {"seek_nexts", FLAGS_seek_nexts, 0},
      {"prefix_size", FLAGS_prefix_size, 0},
      {"keys_per_prefix", FLAGS_keys_per_prefix, 0},
      {"multiread_stride", FLAGS_multiread_stride, 0},
      {"block_size", FLAGS_block_size, 1},
      {"cache_size", FLAGS_cache_size, 0},
      {"rate_limiter_single_burst_bytes", FLAGS_rate_limiter_single_burst_bytes, 0},
      {"universal_max_read_amp", FLAGS_universal_max_read_amp, -1},
      {"disposable_entries_value_size", FLAGS_disposable_entries_value_size, 0},
      {"persistent_entries_value_size", FLAGS_persistent_entries_value_size, 0},
  }};
  for (const Bound& bound : bounds) {
    if (bound.value >= bound.least) continue;
    std::fprintf(stderr, "--%s=%lld: must be at least %lld\n", bound.flag,
                 static_cast<long long>(bound.value), static_cast<long long>(bound.least));
    return false;
  }
  if (FLAGS_perf_level < kDisable || FLAGS_perf_level >= kOutOfBounds) {
    std::fprintf(stderr, "--perf_level=%d: 1 to 6\n", FLAGS_perf_level);
    return false;
  }
  if (FLAGS_universal_stop_style != 0 && FLAGS_universal_stop_style != 1) {
    std::fprintf(stderr, "--universal_stop_style=%d: 0 or 1\n", FLAGS_universal_stop_style);
    return false;
  }
  if (FLAGS_use_existing_keys && (!FLAGS_use_existing_db || FLAGS_num_column_families > 1)) {
    std::fprintf(stderr,
                 "--use_existing_keys needs --use_existing_db and a single column family\n");
    return false;
  }
  if (FLAGS_keys_per_prefix > 0 && FLAGS_prefix_size == 0) {
    std::fprintf(stderr, "--keys_per_prefix needs --prefix_size\n");
    return false;
  }
  return CheckValueFlags() && CheckRangeTombstoneFlags() && CheckDisposableFlags() &&
         CheckTransactionFlags() && CheckTrafficFlags() && CheckRefusedFlags();
}

std::string DirectoryFromFlags() {
  if (!FLAGS_db.empty()) return FLAGS_db;
  std::string path;
  const Status s = Env::Default()->GetTestDirectory(&path);
  if (!s.ok()) Fail("test directory", s);
  return path + "/dbbench";
}

uint64_t SeedFromFlags() {
  if (FLAGS_seed != 0) return static_cast<uint64_t>(FLAGS_seed);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seed = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  std::printf("Set seed to %lld because --seed was 0\n", static_cast<long long>(seed));
  return static_cast<uint64_t>(seed);
}

int Main(int argc, char** argv) {
  gflags::SetUsageMessage("\nUSAGE:\n" + std::string(argv[0]) +
                          " [OPTIONS]...\nof the list below, and --<name>=<value> for every "
                          "option of the engine that has a text");
  gflags::SetVersionString(GetVarveVersionAsString());
  OptionFlags option_flags;
  // The option flags go first: gflags ends the program when it meets a flag that was not defined.
  if (!option_flags.TakeFrom(&argc, argv)) return 1;
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  if (argc > 1) {
    std::fprintf(stderr, "'%s' is no flag; a boolean flag takes its value after '='\n", argv[1]);
    return 1;
  }
  // A read-only open creates nothing, so that it needs the database that would otherwise be
  // destroyed.
  if (FLAGS_readonly) FLAGS_use_existing_db = true;
  std::vector<ListEntry> entries;
  Options options;
  if (!ParseBenchmarkList(FLAGS_benchmarks, &entries) || !CheckFlags() ||
      !OptionsFromFlags(option_flags, &options)) {
    return 1;
  }
  const uint64_t seed = SeedFromFlags();
  Database database(DirectoryFromFlags(), options);
  // The database of an earlier run goes even if no benchmark of the list is a fresh one, so that
  // runs do not depend on each other.
  if (!FLAGS_use_existing_db) database.Destroy();
  PrintEnvironment();
  PrintHeader(options);
  database.Open();
  {
    // A list that replays the trace does not write it.
    const bool replays =
        std::ranges::any_of(entries, [](const auto& e) { return e.name == "replay"; });
    Runner runner(&database, seed, !FLAGS_trace_file.empty() && !replays);
    for (const ListEntry& entry : entries) runner.Run(entry);
  }
  // The runner has ended here, and with it the interval report. The database is still open, so that
  // the statistics contain all that background threads have finished so far.
  if (options.statistics != nullptr) {
    std::printf("STATISTICS:\n%s\n", options.statistics->ToString().c_str());
  }
  database.Close();
  std::fflush(stdout);
  return 0;
}

}  // namespace
}  // namespace varve::bench

int main(int argc, char** argv) {
  return varve::bench::Main(argc, argv);
}
