// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares benchmarks and what they run with.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "varve/options.h"
#include "varve/rate_limiter.h"

#include "tools/db_bench/database.h"
#include "tools/db_bench/keys.h"
#include "tools/db_bench/stats.h"
#include "tools/db_bench/user_timestamps.h"
#include "tools/db_bench/values.h"

namespace varve::bench {

// Holds the parameters of one benchmark: set from the flags before each, then changed by its Setup.
struct Plan {
  int64_t num = 0;  // Size of the key space.
  int64_t reads = 0;
  int64_t writes = 0;
  int64_t deletes = 0;
  int64_t reads_and_writes = 0;  // Set by benchmarks that mix both.
  int key_size = 0;              // Bytes.
  size_t value_size = 0;         // Bytes; 0: as the flags say.
  int64_t batch_size = 0;
  int threads = 0;
  WriteOptions write_options;
  ReadOptions read_options;
};

// State that the threads of one run share.
struct SharedRun {
  std::unique_ptr<RateLimiter> write_limiter;  // Null: no limit.
  std::unique_ptr<RateLimiter> read_limiter;
  // Number of threads that background work waits for. Relaxed, as it publishes nothing.
  std::atomic<int> foreground{0};

  bool ForegroundDone() const { return foreground.load(std::memory_order_relaxed) == 0; }
};

// State of one thread of a run. Only that thread uses it.
struct Worker {
  const Plan& plan;
  const Database& database;
  const ValuePool& pool;
  const std::vector<std::string>* existing_keys;  // Null: keys are generated.
  const uint64_t seed;                            // The process's seed.
  SharedRun& run;
  const int id;  // From 0.
  Random random;
  ThreadStats stats;

  DB* db() const { return database.db(); }
  KeyMaker NewKeyMaker() const { return KeyMaker(plan.key_size, plan.num, existing_keys); }
  ValueStream NewValues() const { return ValueStream(pool, plan.value_size); }

  // Discards a draw: published key streams spend one on the choice among several databases, and
  // this tool has only one.
  void SpendDraw() { random.Next(); }
  // Both wait for --benchmark_write_rate_limit or --benchmark_read_rate_limit.
  void PayForWrite(int64_t bytes);
  void PayForRead(int64_t operations);
};

// Limits the operations of a loop by a count or, instead, by time.
class Budget {
 public:
  // If `seconds` is 0, `count` decides.
  Budget(int64_t seconds, int64_t count);

  // Returns true if `n` more operations may be made. Reads the clock rarely.
  bool Take(int64_t n = 1);

 private:
  const uint64_t deadline_;  // 0: none.
  const int64_t count_;
  int64_t taken_ = 0;
};

// Describes one entry of --benchmarks.
struct Benchmark {
  using Body = void (*)(Worker& worker);
  using Setup = void (*)(Plan& plan);
  using Step = void (*)(Database& database);

  std::string_view name;
  // Every thread runs it, timed and reported. Null for a Step.
  Body body = nullptr;
  // Adjusts the plan before the run; may be null.
  Setup setup = nullptr;
  // True if it begins with an empty database.
  bool fresh = false;
  // Number of threads beyond --threads, which do background work and are not reported. They have
  // the lowest ids.
  int background_threads = 0;
  // Runs once in the main thread, without a report line.
  Step step = nullptr;
  // Runs after each run of the body, and ends the program if the result is wrong.
  Step verify = nullptr;
  // True if it runs with --user_timestamp_size.
  bool takes_timestamps = true;
};

// Each returns the benchmarks of one family, from the file of its name.
std::span<const Benchmark> FillBenchmarks();
std::span<const Benchmark> DisposableBenchmarks();
std::span<const Benchmark> LevelBenchmarks();
std::span<const Benchmark> ReadBenchmarks();
std::span<const Benchmark> SeekBenchmarks();
std::span<const Benchmark> MixedBenchmarks();
std::span<const Benchmark> MergeBenchmarks();
std::span<const Benchmark> AdminBenchmarks();
std::span<const Benchmark> IngestBenchmarks();
std::span<const Benchmark> MicroBenchmarks();
std::span<const Benchmark> ModelBenchmarks();
std::span<const Benchmark> TransactionBenchmarks();
std::span<const Benchmark> ReplayBenchmarks();
std::span<const Benchmark> VerifyBenchmarks();

// Returns false, with a line on stderr, if flags of transactions contradict each other.
[[nodiscard]] bool CheckTransactionFlags();

// Returns false, with a line on stderr, if the flags of range tombstones are wrong.
[[nodiscard]] bool CheckRangeTombstoneFlags();
// Returns false, with a line on stderr, if the flags of disposable entries contradict each other.
[[nodiscard]] bool CheckDisposableFlags();

// Returns null if there is no benchmark of that name.
const Benchmark* FindBenchmark(std::string_view name);
// Returns true if other programs know the name and this tool does not support it.
bool IsKnownElsewhere(std::string_view name);

// Writes `count` entries in batches of --batch_size, in the order of `kind`, and range tombstones
// as the flags say. A last batch that would pass the count is not written.
void WriteInOrder(Worker& worker, FillOrder::Kind kind, int64_t count);
// Runs in the background threads: writes random keys until the foreground is done.
void WriteUntilDone(Worker& worker);
// Like the call above, with merges in place of writes.
void MergeUntilDone(Worker& worker);
// Setup of benchmarks that merge: ends the program if there is no --merge_operator.
void NeedMergeOperator(Plan& plan);
// Setup of benchmarks that run in one thread whatever --threads says.
void InOneThread(Plan& plan);
// Looks random keys up; the body of readrandom.
void ReadRandom(Worker& worker);
// Looks up batches of random keys; the body of multireadrandom.
void MultiReadRandom(Worker& worker);

}  // namespace varve::bench
