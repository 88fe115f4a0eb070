// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs the benchmarks of a list one after the other on one database.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/database.h"
#include "tools/db_bench/interval_report.h"
#include "tools/db_bench/stats.h"
#include "tools/db_bench/values.h"

namespace varve::bench {

// One element of --benchmarks.
struct ListEntry {
  std::string name;
  const Benchmark* benchmark = nullptr;
  int runs = 1;
  int warm_ups = 0;
};

// Parses the list: "name", "name[X5]", "name[W2]", "name[X5-W2]"; empty elements are skipped.
// Returns false, with a line on stderr, for an element that cannot run.
[[nodiscard]] bool ParseBenchmarkList(const std::string& list, std::vector<ListEntry>* entries);

// Thread safety: only one thread may use it.
class Runner {
 public:
  // `database` is open and must outlive this. With `traced` each benchmark's calls are recorded.
  Runner(Database* database, uint64_t seed, bool traced);

  void Run(const ListEntry& entry);

 private:
  Plan NewPlan() const;
  void RunThreads(const ListEntry& entry, const Plan& plan);
  // Runs all threads once and returns their merged figures.
  RunStats RunOnce(const Benchmark& benchmark, const Plan& plan);

  Database* const database_;
  const uint64_t seed_;
  const bool traced_;
  const ValuePool pool_;
  std::vector<std::string> existing_keys_;  // With --use_existing_keys.
  // Each thread's seed is seed_ plus its number, counted from 1 over all benchmarks.
  uint64_t threads_started_ = 0;
  std::unique_ptr<IntervalReport> interval_report_;  // With --report_interval_seconds.
};

}  // namespace varve::bench
