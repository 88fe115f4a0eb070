// SPDX-License-Identifier: Apache-2.0
// The benchmark that makes the calls of a trace again.

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "varve/db.h"
#include "varve/trace_reader_writer.h"
#include "varve/trace_record_result.h"
#include "varve/utilities/replayer.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

void NeedTrace(Plan& plan) {
  InOneThread(plan);
  if (FLAGS_trace_file.empty()) Fail("replay needs --trace_file, the trace to be replayed");
}

// Replays all calls. A call that fails is counted and does not end the run, as the database need
// not be the one that was traced.
void Replay(Worker& worker) {
  std::unique_ptr<TraceReader> reader;
  Status s =
      NewFileTraceReader(worker.database.options().env, EnvOptions(), FLAGS_trace_file, &reader);
  std::unique_ptr<Replayer> replayer;
  if (s.ok()) {
    s = worker.db()->NewDefaultReplayer(worker.database.families(), std::move(reader), &replayer);
  }
  if (s.ok()) s = replayer->Prepare();
  if (!s.ok()) Fail("--trace_file=" + FLAGS_trace_file, s);
  std::atomic<int64_t> calls{0};
  std::atomic<int64_t> failed{0};
  const auto count = [&](const Status& status, std::unique_ptr<TraceRecordResult>&&) {
    calls.fetch_add(1, std::memory_order_relaxed);
    if (!status.ok()) failed.fetch_add(1, std::memory_order_relaxed);
  };
  s = replayer->Replay(ReplayOptions(static_cast<uint32_t>(FLAGS_trace_replay_threads),
                                     FLAGS_trace_replay_fast_forward),
                       count);
  worker.stats.FinishedOps(calls.load(), Op::kOther);
  if (failed.load() > 0) {
    worker.stats.AddMessage("(" + std::to_string(failed.load()) + " calls failed)");
  }
  if (s.ok()) return;
  std::fprintf(stderr, "Replay ended early: %s\n", s.ToString().c_str());
  worker.stats.AddMessage("(the trace is damaged or cut)");
}

constexpr Benchmark kReplay[] = {{.name = "replay", .body = &Replay, .setup = &NeedTrace}};

}  // namespace

std::span<const Benchmark> ReplayBenchmarks() {
  return kReplay;
}

}  // namespace varve::bench
