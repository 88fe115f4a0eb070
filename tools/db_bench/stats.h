// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures what a thread did and how long it took, and prints it.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "util/metrics/histogram.h"

namespace varve {
class DB;
}

namespace varve::bench {

// The kind of operation that a latency belongs to.
enum class Op : uint8_t {
  kRead,
  kWrite,
  kDelete,
  kSeek,
  kUpdate,
  kMerge,
  kCompress,
  kUncompress,
  kCrc,
  kHash,
  kOther,
};
inline constexpr size_t kOpKinds = static_cast<size_t>(Op::kOther) + 1;

// Returns the microseconds of a monotonic clock.
uint64_t NowMicros();

// Microseconds per operation, by kind.
using Latencies = std::array<Histogram, kOpKinds>;

// Holds what one thread did between its start and its end.
struct ThreadFigures {
  uint64_t start_micros = 0;
  uint64_t end_micros = 0;
  int64_t ops = 0;
  int64_t bytes = 0;
  std::string message;
  std::unique_ptr<Latencies> latencies;  // With --histogram.
  bool is_surroundings = false;          // Of a background thread: RunStats leaves it out.
};

// Records the figures of a thread, and reports its progress on stderr.
//
// Thread safety: one thread at a time may use it.
class ThreadStats {
 public:
  // `finished_ops` counts the operations of all threads for the interval report; it may be null and
  // otherwise must outlive this. --stats_per_interval and --thread_status_per_interval ask `db`,
  // which is not owned.
  ThreadStats(int thread, DB* db, std::atomic<uint64_t>* finished_ops);

  void Start();
  void Stop();

  // Records that `n` operations have ended. With --histogram they took, together, the time since
  // the last call.
  void FinishedOps(int64_t n, Op op) {
    if (figures_.latencies != nullptr) RecordLatency(op);
    figures_.ops += n;
    if (finished_ops_ != nullptr) {
      finished_ops_->fetch_add(static_cast<uint64_t>(n), std::memory_order_relaxed);
    }
    if (figures_.ops >= next_look_) Look();
  }
  // Excludes the wait before this call from latencies.
  void SkipWait() {
    if (figures_.latencies != nullptr) last_op_ = NowMicros();
  }
  void AddBytes(int64_t n) { figures_.bytes += n; }
  // Adds a message; messages are joined by spaces.
  void AddMessage(const std::string& message);
  // Marks the thread as one in the background: RunStats leaves out what it did.
  void Exclude() { figures_.is_surroundings = true; }

  const ThreadFigures& figures() const { return figures_; }

 private:
  void RecordLatency(Op op);
  // Prints an interim line if it is due, and decides when to look again.
  void Look();
  void ReportInterval(uint64_t now);

  const int thread_;
  DB* const db_;
  std::atomic<uint64_t>* const finished_ops_;
  ThreadFigures figures_;
  int64_t next_look_ = 0;  // Checked after this many operations.
  int64_t reported_ops_ = 0;
  uint64_t last_report_ = 0;
  uint64_t last_op_ = 0;
};

// Holds the figures of all threads of a benchmark's run. One thread adds them, when all have ended.
class RunStats {
 public:
  RunStats();

  // Adds a thread's figures, except those of background threads. Of messages the first one stays.
  void Add(const ThreadFigures& thread);

  // Prints the line of a benchmark, and its histograms, on stdout.
  void Report(const std::string& name) const;

  // Return the rates from the first start to the last end.
  double OpsPerSecond() const;
  double MegabytesPerSecond() const;
  bool has_bytes() const { return sum_.bytes > 0; }

 private:
  double Elapsed() const;

  ThreadFigures sum_;
  double thread_seconds_ = 0;
};

// Collects the rates of repeated runs.
class RepeatedRuns {
 public:
  void Add(const RunStats& run);
  // Prints the averages so far. It is called after each run but the first, of which an interval
  // cannot be told.
  void ReportSoFar(const std::string& name) const;
  void ReportFinal(const std::string& name) const;

 private:
  struct Figures {
    double mean = 0;
    double half_width = 0;  // Half of the 95% interval of the mean.
    double median = 0;
  };
  static Figures FiguresOf(std::vector<double> samples);

  std::vector<double> ops_;
  std::vector<double> megabytes_;
};

}  // namespace varve::bench
