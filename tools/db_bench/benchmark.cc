// SPDX-License-Identifier: Apache-2.0
// The list of all benchmarks, and the small parts that bodies share.

#include "tools/db_bench/benchmark.h"

#include <algorithm>
#include <array>

#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// Names of RocksDB's db_bench that have no counterpart here: the message then says that the name is
// right and the tool lacks it.
constexpr std::array<std::string_view, 13> kElsewhere = {
    "cache_report_problems",
    "fillembeddedblob",
    "fillembeddedentity",
    "fillrandomblobs",
    "fillseqblobs",
    "filluniquerandomblobs",
    "heapprofile",
    "multireadrandomcoroutine",
    "multiscan",
    "multiscanrandom",
    "openandcompact",
    "readrandomcoroutine",
    "readtorowcache",
};

// A single request may not exceed the limiter's burst.
void Pay(RateLimiter* limiter, int64_t amount, RateLimiter::OpType type) {
  while (amount > 0) {
    const int64_t part = std::min(amount, limiter->GetSingleBurstBytes());
    limiter->Request(part, Env::IO_HIGH, nullptr, type);
    amount -= part;
  }
}

}  // namespace

void Worker::PayForWrite(int64_t bytes) {
  if (run.write_limiter == nullptr) return;
  Pay(run.write_limiter.get(), bytes, RateLimiter::OpType::kWrite);
  stats.SkipWait();
}

void Worker::PayForRead(int64_t operations) {
  if (run.read_limiter == nullptr) return;
  Pay(run.read_limiter.get(), operations, RateLimiter::OpType::kRead);
  stats.SkipWait();
}

Budget::Budget(int64_t seconds, int64_t count)
    : deadline_(seconds > 0 ? NowMicros() + static_cast<uint64_t>(seconds) * 1000000 : 0),
      count_(count) {}

// With a deadline, the clock is read only when taken_ passes a multiple of
// --ops_between_duration_checks. The loop hence overruns by up to that many operations, and a loop
// of fewer never reads the clock.
bool Budget::Take(int64_t n) {
  const int64_t before = taken_;
  taken_ += n;
  if (deadline_ == 0) return taken_ <= count_;
  const int64_t period = FLAGS_ops_between_duration_checks;
  return before / period == taken_ / period || NowMicros() < deadline_;
}

void InOneThread(Plan& plan) {
  plan.threads = 1;
}

const Benchmark* FindBenchmark(std::string_view name) {
  for (const auto family :
       {FillBenchmarks(), DisposableBenchmarks(), LevelBenchmarks(), ReadBenchmarks(),
        SeekBenchmarks(), MixedBenchmarks(), MergeBenchmarks(), AdminBenchmarks(),
        IngestBenchmarks(), MicroBenchmarks(), ModelBenchmarks(), TransactionBenchmarks(),
        ReplayBenchmarks(), VerifyBenchmarks()}) {
    for (const Benchmark& benchmark : family) {
      if (benchmark.name == name) return &benchmark;
    }
  }
  return nullptr;
}

bool IsKnownElsewhere(std::string_view name) {
  return std::ranges::find(kElsewhere, name) != kElsewhere.end();
}

}  // namespace varve::bench
