// SPDX-License-Identifier: Apache-2.0

// Runs the entries of --benchmarks one after another, each in its threads.
//
// A run of one entry of --benchmarks goes through these steps:
//
// 1. A benchmark that begins with an empty database is skipped on an existing one, since it would
//    destroy the user's files; otherwise the database is destroyed and opened again.
// 2. The plan is made anew from the flags and then changed by the benchmark's setup, so that no
//    entry of the list sees what an earlier one changed.
// 3. A step runs in the main thread and prints what it likes. A body runs in all threads, and its
//    figures are printed when the last thread has ended.
//
// Of what changes meanwhile, the threads of a run share only SharedRun, the count of finished
// operations and the database. Background threads have the lowest ids and run until the count of
// foreground threads has fallen to zero. A benchmark with background threads therefore ends by its
// foreground alone.
//
// Threads are all made and then released together, so that none is measured while others start.

#include "tools/db_bench/runner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <latch>
#include <optional>
#include <sstream>
#include <thread>

#include "varve/perf_context.h"

#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/options_from_flags.h"
#include "tools/db_bench/tracing.h"

namespace varve::bench {

namespace {

constexpr size_t kLargeValueBytes = 100 * 1000;  // Value size of fill100K.

// Parses "X5" or "W2".
bool ParseRepeat(std::string_view word, ListEntry* entry) {
  if (word.size() < 2) return false;
  int count = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + 1, end, count);
  if (error != std::errc() || stop != end || count < 0) return false;
  if (word[0] == 'X' && count > 0) {
    entry->runs = count;
    return true;
  }
  entry->warm_ups = count;
  return word[0] == 'W';
}

// Parses an element from its '[' on. "[X5-W2]" means five runs with an average at the end, after
// two runs that warm the caches and do not count in it. Each word is optional, and their order is
// free.
bool ParseRepeats(std::string_view suffix, ListEntry* entry) {
  if (!suffix.ends_with(']')) return false;
  std::string_view words = suffix.substr(1, suffix.size() - 2);
  for (;;) {
    const size_t dash = words.find('-');
    if (!ParseRepeat(words.substr(0, dash), entry)) return false;
    if (dash == std::string_view::npos) return true;
    words.remove_prefix(dash + 1);
  }
}

bool ParseEntry(const std::string& element, ListEntry* entry) {
  const size_t bracket = element.find('[');
  entry->name = element.substr(0, bracket);
  if (bracket != std::string::npos &&
      !ParseRepeats(std::string_view(element).substr(bracket), entry)) {
    std::fprintf(stderr, "benchmark '%s': expected name[X<runs>-W<warm-ups>]\n", element.c_str());
    return false;
  }
  entry->benchmark = FindBenchmark(entry->name);
  if (entry->benchmark != nullptr) {
    // Without this check the first write of the benchmark would fail, as each write to such a
    // database needs a timestamp. Names are checked before the database is opened or destroyed, so
    // that a misspelt list costs no data.
    if (FLAGS_user_timestamp_size == 0 || entry->benchmark->takes_timestamps) return true;
    std::fprintf(stderr, "benchmark '%s' is not supported with --user_timestamp_size\n",
                 entry->name.c_str());
    return false;
  }
  const char* const form = IsKnownElsewhere(entry->name)
                               ? "benchmark '%s' is not supported by this db_bench\n"
                               : "unknown benchmark '%s'\n";
  std::fprintf(stderr, form, entry->name.c_str());
  return false;
}

// Refills ten times a second (100 ms): often enough that the load is even, seldom enough that the
// limiter is not what is measured. The fairness of 10 has no effect, as all requests have one
// priority.
std::unique_ptr<RateLimiter> NewLimiter(uint64_t per_second, RateLimiter::Mode mode) {
  if (per_second == 0) return nullptr;
  return std::unique_ptr<RateLimiter>(
      NewGenericRateLimiter(static_cast<int64_t>(per_second), 100 * 1000, 10, mode));
}

void RunWorker(Worker& worker, Benchmark::Body body, bool background) {
  // The perf level and the counters belong to the thread, so that each worker sets its own. The
  // worker's thread is new, and its counters therefore start at zero.
  SetPerfLevel(static_cast<PerfLevel>(FLAGS_perf_level));
  PerfContext* const perf = get_perf_context();
  perf->EnablePerLevelPerfContext();
  worker.stats.Start();
  body(worker);
  if (FLAGS_perf_level > kDisable) {
    worker.stats.AddMessage("PERF_CONTEXT:\n" + perf->ToString());
  }
  worker.stats.Stop();
  // Counted down after the clock was stopped: what background threads do until they notice is not
  // within the time of this thread.
  if (!background) worker.run.foreground.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

bool ParseBenchmarkList(const std::string& list, std::vector<ListEntry>* entries) {
  std::istringstream in(list);
  for (std::string element; std::getline(in, element, ',');) {
    if (element.empty()) continue;
    ListEntry entry;
    if (!ParseEntry(element, &entry)) return false;
    entries->push_back(std::move(entry));
  }
  return true;
}

Runner::Runner(Database* database, uint64_t seed, bool traced)
    : database_(database),
      seed_(seed),
      traced_(traced),
      // The pool must contain the longest piece that any benchmark takes from it in one go: values
      // of the flags, those of fill100K and fillanddeleteuniquerandom, blocks of the codec
      // benchmarks and values of mixgraph.
      pool_(std::max({LargestValue(), kLargeValueBytes, static_cast<size_t>(FLAGS_block_size),
                      static_cast<size_t>(FLAGS_mix_max_value_size),
                      static_cast<size_t>(FLAGS_disposable_entries_value_size),
                      static_cast<size_t>(FLAGS_persistent_entries_value_size)})) {
  if (FLAGS_use_existing_keys) {
    existing_keys_ = LoadKeys(database->db());
    // Every benchmark draws numbers below --num, which thus reach each existing key and no other.
    FLAGS_num = static_cast<int64_t>(existing_keys_.size());
  }
  if (FLAGS_report_interval_seconds > 0) {
    interval_report_ = std::make_unique<IntervalReport>(
        FLAGS_report_file, static_cast<uint64_t>(FLAGS_report_interval_seconds));
  }
}

Plan Runner::NewPlan() const {
  // A negative count is the default of the flags and stands for --num.
  const auto or_num = [](int64_t count) { return count < 0 ? FLAGS_num : count; };
  Plan plan;
  plan.num = FLAGS_num;
  plan.reads = or_num(FLAGS_reads);
  plan.writes = or_num(FLAGS_writes);
  plan.deletes = or_num(FLAGS_deletes);
  plan.reads_and_writes = or_num(std::max(FLAGS_reads, FLAGS_writes));
  plan.key_size = FLAGS_key_size;
  const bool fixed = FLAGS_value_size_distribution_type == "fixed";
  plan.value_size = fixed ? static_cast<size_t>(FLAGS_value_size) : 0;
  plan.batch_size = FLAGS_batch_size;
  plan.threads = FLAGS_threads;
  plan.write_options = WriteOptionsFromFlags();
  plan.read_options = ReadOptionsFromFlags();
  return plan;
}

void Runner::Run(const ListEntry& entry) {
  const Benchmark& benchmark = *entry.benchmark;
  if (benchmark.fresh) {
    if (FLAGS_use_existing_db) {
      std::printf("%-12s : skipped (--use_existing_db is true)\n", entry.name.c_str());
      std::fflush(stdout);
      return;
    }
    database_->Close();
    database_->Destroy();
    database_->Open();
  }
  Plan plan = NewPlan();
  if (benchmark.setup != nullptr) benchmark.setup(plan);
  if (benchmark.step != nullptr) {
    benchmark.step(*database_);
  } else {
    // The trace covers the body only: what a step does, or opening the database, is no traffic of a
    // user.
    std::optional<Tracing> tracing;
    if (traced_) tracing.emplace(*database_);
    RunThreads(entry, plan);
  }
  std::fflush(stdout);
}

void Runner::RunThreads(const ListEntry& entry, const Plan& plan) {
  std::printf("DB path: [%s]\n", database_->path().c_str());
  if (entry.warm_ups > 0) {
    std::printf("Warming up benchmark by running %d times\n", entry.warm_ups);
  }
  const auto verify = [&] {
    if (entry.benchmark->verify != nullptr) entry.benchmark->verify(*database_);
  };
  for (int i = 0; i < entry.warm_ups; ++i) {
    RunOnce(*entry.benchmark, plan).Report(entry.name);
    verify();
  }
  if (entry.runs > 1) std::printf("Running benchmark for %d times\n", entry.runs);
  RepeatedRuns repeated;
  for (int i = 0; i < entry.runs; ++i) {
    const RunStats stats = RunOnce(*entry.benchmark, plan);
    stats.Report(entry.name);
    verify();
    repeated.Add(stats);
    repeated.ReportSoFar(entry.name);
  }
  repeated.ReportFinal(entry.name);
}

// Runs the body once in new threads. Each thread has a generator of its own, seeded by the
// process's seed and the number of threads started before. A repeated run therefore draws other
// keys than the first one, and the same list with the same seed draws the same keys.
RunStats Runner::RunOnce(const Benchmark& benchmark, const Plan& plan) {
  SharedRun run;
  run.write_limiter = NewLimiter(FLAGS_benchmark_write_rate_limit, RateLimiter::Mode::kWritesOnly);
  run.read_limiter = NewLimiter(FLAGS_benchmark_read_rate_limit, RateLimiter::Mode::kReadsOnly);
  run.foreground.store(plan.threads, std::memory_order_relaxed);
  std::atomic<uint64_t>* const finished =
      interval_report_ == nullptr ? nullptr : interval_report_->finished_ops();
  const int count = plan.threads + benchmark.background_threads;
  const auto* const keys = existing_keys_.empty() ? nullptr : &existing_keys_;

  std::vector<std::unique_ptr<Worker>> workers;
  for (int id = 0; id < count; ++id) {
    const bool background = id < benchmark.background_threads;
    workers.push_back(std::unique_ptr<Worker>(new Worker{
        plan, *database_, pool_, keys, seed_, run, id, Random(seed_ + ++threads_started_),
        ThreadStats(id, database_->db(), background ? nullptr : finished)}));
  }
  // The latch opens when the last thread has arrived, so that RunWorker's clock does not include
  // the creation of threads.
  std::latch start(count);
  std::vector<std::thread> threads;
  for (const auto& worker : workers) {
    threads.emplace_back([&start, &benchmark, w = worker.get()] {
      start.arrive_and_wait();
      RunWorker(*w, benchmark.body, w->id < benchmark.background_threads);
    });
  }
  for (std::thread& thread : threads) thread.join();

  RunStats total;
  for (const auto& worker : workers) total.Add(worker->stats.figures());
  return total;
}

}  // namespace varve::bench
