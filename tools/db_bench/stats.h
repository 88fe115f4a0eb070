// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a thread did and how long it took, and the lines that tell it.

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

// What a latency belongs to.
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

// Microseconds of a clock that never goes back.
uint64_t NowMicros();

// The figures of one thread, and merged ones of several.
//
// Thread safety: none; one thread at a time.
class ThreadStats {
 public:
  // `finished_ops` counts the operations of all threads for the interval report; may be null and
  // otherwise must outlive this. `db` is asked by --stats_per_interval; not owned.
  ThreadStats(int thread, DB* db, std::atomic<uint64_t>* finished_ops);

  void Start();
  void Stop();

  // `n` operations have ended; with --histogram they took, together, the time since the last call.
  void FinishedOps(int64_t n, Op op) {
    if (histograms_ != nullptr) RecordLatency(op);
    done_ += n;
    if (finished_ops_ != nullptr) {
      finished_ops_->fetch_add(static_cast<uint64_t>(n), std::memory_order_relaxed);
    }
    if (done_ >= next_report_) ReportProgress();
  }
  // The wait before this call does not count as latency.
  void SkipWait() {
    if (histograms_ != nullptr) last_op_ = NowMicros();
  }
  void AddBytes(int64_t n) { bytes_ += n; }
  // Joined by spaces.
  void AddMessage(const std::string& message);
  // Leaves this thread out of what is printed: it is part of the surroundings.
  void Exclude() { excluded_ = true; }

  // Adds what another thread did. Only the first message is kept.
  void Merge(const ThreadStats& other);

  // The line of a benchmark, and its histograms, on stdout.
  void Report(const std::string& name) const;

  // Of all threads together; in seconds of wall time.
  double OpsPerSecond() const;
  double MegabytesPerSecond() const;
  bool has_bytes() const { return bytes_ > 0; }

 private:
  struct Latencies {
    std::array<Histogram, kOpKinds> by_op;
  };

  double Elapsed() const;
  void RecordLatency(Op op);
  void ReportProgress();
  void ReportInterval(uint64_t now);

  const int thread_;
  DB* const db_;
  std::atomic<uint64_t>* const finished_ops_;
  uint64_t start_ = 0;
  uint64_t finish_ = 0;
  double seconds_ = 0;  // Summed over threads.
  int64_t done_ = 0;
  int64_t bytes_ = 0;
  int64_t next_report_ = 0;
  int64_t last_report_done_ = 0;
  uint64_t last_report_ = 0;
  uint64_t last_op_ = 0;
  bool excluded_ = false;
  std::string message_;
  std::unique_ptr<Latencies> histograms_;  // With --histogram.
};

// Collects the rates of repeated runs.
class RepeatedRuns {
 public:
  void Add(const ThreadStats& run);
  // The averages so far, after each run but the first.
  void ReportSoFar(const std::string& name) const;
  void ReportFinal(const std::string& name) const;

 private:
  struct Figures {
    double mean = 0;
    double half_width = 0;  // Of the 95% interval.
    double median = 0;
  };
  static Figures FiguresOf(std::vector<double> samples);

  std::vector<double> ops_;
  std::vector<double> megabytes_;
};

}  // namespace varve::bench
