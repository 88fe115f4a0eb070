// SPDX-License-Identifier: Apache-2.0
// The forms of the lines are read by scripts; README.md tells what they mean.

#include "tools/db_bench/stats.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "varve/db.h"

#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

constexpr std::array<const char*, kOpKinds> kOpNames = {"read",   "write", "delete",   "seek",
                                                        "update", "merge", "compress", "uncompress",
                                                        "crc",    "hash",  "op"};
constexpr double kMebibyte = 1048576.0;

// The next count to tell: steps of 100 up to 1000, then 1.5, 2, ... 5, 6, ... 10 times powers of
// ten, and steps of 100000 in the end.
int64_t NextProgress(int64_t done) {
  int64_t unit = 100;
  while (unit < 100000 && done >= unit * 10) unit *= 10;
  const bool halves = unit > 100 && done < unit * 5;
  const int64_t step = halves ? unit / 2 : unit;
  return (done / step + 1) * step;
}

std::string WallTime() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, 32> text{};
  const size_t n = std::strftime(text.data(), text.size(), "%Y/%m/%d-%H:%M:%S", &parts);
  return std::string(text.data(), n);
}

double Rate(int64_t count, uint64_t micros) {
  return static_cast<double>(count) * 1e6 / static_cast<double>(std::max<uint64_t>(micros, 1));
}

}  // namespace

uint64_t NowMicros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

ThreadStats::ThreadStats(int thread, DB* db, std::atomic<uint64_t>* finished_ops)
    : thread_(thread), db_(db), finished_ops_(finished_ops) {
  if (FLAGS_histogram) histograms_ = std::make_unique<Latencies>();
}

void ThreadStats::Start() {
  if (FLAGS_stats_interval_seconds > 0) {
    next_report_ = 1000;  // How often the clock is read.
  } else if (FLAGS_stats_interval > 0) {
    next_report_ = FLAGS_stats_interval;
  } else {
    next_report_ = FLAGS_progress_reports ? NextProgress(0) : INT64_MAX;
  }
  start_ = NowMicros();
  finish_ = last_op_ = last_report_ = start_;
}

void ThreadStats::Stop() {
  finish_ = NowMicros();
  seconds_ = static_cast<double>(finish_ - start_) * 1e-6;
}

void ThreadStats::AddMessage(const std::string& message) {
  if (message.empty()) return;
  if (!message_.empty()) message_.push_back(' ');
  message_ += message;
}

void ThreadStats::RecordLatency(Op op) {
  const uint64_t now = NowMicros();
  const uint64_t micros = now - last_op_;
  last_op_ = now;
  histograms_->by_op[static_cast<size_t>(op)].Add(micros);
  if (micros >= FLAGS_slow_usecs && FLAGS_stats_interval <= 0) {
    std::fprintf(stderr, "long op: %llu micros%30s\r", static_cast<unsigned long long>(micros), "");
    std::fflush(stderr);
  }
}

void ThreadStats::ReportProgress() {
  if (FLAGS_stats_interval_seconds <= 0 && FLAGS_stats_interval <= 0) {
    next_report_ = NextProgress(done_);
    std::fprintf(stderr, "... finished %lld ops%30s\r", static_cast<long long>(done_), "");
    return;
  }
  const uint64_t now = NowMicros();
  if (FLAGS_stats_interval_seconds > 0) {
    next_report_ = done_ + 1000;
    const auto period = static_cast<uint64_t>(FLAGS_stats_interval_seconds) * 1000000;
    if (now - last_report_ < period) return;
  } else {
    next_report_ = done_ + FLAGS_stats_interval;
  }
  ReportInterval(now);
}

void ThreadStats::ReportInterval(uint64_t now) {
  const int64_t interval_ops = done_ - last_report_done_;
  const uint64_t interval = now - last_report_;
  const uint64_t total = now - start_;
  std::fprintf(stderr,
               "%s  ... thread %d: (%lld,%lld) ops and (%.1f,%.1f) ops/second in (%.6f,%.6f) "
               "seconds\n",
               WallTime().c_str(), thread_, static_cast<long long>(interval_ops),
               static_cast<long long>(done_), Rate(interval_ops, interval), Rate(done_, total),
               static_cast<double>(interval) * 1e-6, static_cast<double>(total) * 1e-6);
  std::string text;
  if (FLAGS_stats_per_interval > 0 && thread_ == 0 && db_ != nullptr &&
      db_->GetProperty(DB::Properties::kStats, &text)) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  std::fflush(stderr);
  last_report_ = now;
  last_report_done_ = done_;
}

void ThreadStats::Merge(const ThreadStats& other) {
  if (other.excluded_) return;
  if (histograms_ != nullptr && other.histograms_ != nullptr) {
    for (size_t i = 0; i < kOpKinds; ++i) {
      histograms_->by_op[i].Merge(other.histograms_->by_op[i]);
    }
  }
  start_ = start_ == 0 ? other.start_ : std::min(start_, other.start_);
  finish_ = std::max(finish_, other.finish_);
  seconds_ += other.seconds_;
  done_ += other.done_;
  bytes_ += other.bytes_;
  if (message_.empty()) message_ = other.message_;
}

double ThreadStats::Elapsed() const {
  // Half a microsecond keeps rates of runs below the clock's resolution finite.
  return std::max(static_cast<double>(finish_ - start_) * 1e-6, 0.5e-6);
}

double ThreadStats::OpsPerSecond() const {
  return static_cast<double>(std::max<int64_t>(done_, 1)) / Elapsed();
}

double ThreadStats::MegabytesPerSecond() const {
  return static_cast<double>(bytes_) / kMebibyte / Elapsed();
}

void ThreadStats::Report(const std::string& name) const {
  const int64_t ops = std::max<int64_t>(done_, 1);
  std::string extra;
  if (bytes_ > 0) {
    std::array<char, 64> rate{};
    std::snprintf(rate.data(), rate.size(), " %6.1f MB/s", MegabytesPerSecond());
    extra = rate.data();
  }
  if (!message_.empty()) extra += " " + message_;
  std::fprintf(stdout, "%-12s : %11.3f micros/op %lld ops/sec %.3f seconds %lld operations;%s\n",
               name.c_str(), seconds_ * 1e6 / static_cast<double>(ops),
               static_cast<long long>(OpsPerSecond()), static_cast<double>(finish_ - start_) * 1e-6,
               static_cast<long long>(ops), extra.c_str());
  if (histograms_ != nullptr) {
    for (size_t i = 0; i < kOpKinds; ++i) {
      const Histogram& latencies = histograms_->by_op[i];
      if (latencies.count() == 0) continue;
      std::fprintf(stdout, "Microseconds per %s:\n%s\n", kOpNames[i], latencies.ToString().c_str());
    }
  }
  std::fflush(stdout);
}

void RepeatedRuns::Add(const ThreadStats& run) {
  ops_.push_back(run.OpsPerSecond());
  if (run.has_bytes()) megabytes_.push_back(run.MegabytesPerSecond());
}

RepeatedRuns::Figures RepeatedRuns::FiguresOf(std::vector<double> samples) {
  Figures figures;
  if (samples.empty()) return figures;
  const auto n = static_cast<double>(samples.size());
  for (const double x : samples) figures.mean += x / n;
  if (samples.size() > 1) {
    double squares = 0;
    for (const double x : samples) squares += (x - figures.mean) * (x - figures.mean);
    figures.half_width = 1.96 * std::sqrt(squares / (n - 1) / n);
  }
  std::sort(samples.begin(), samples.end());
  const size_t middle = samples.size() / 2;
  const bool odd = samples.size() % 2 == 1;
  figures.median = odd ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return figures;
}

void RepeatedRuns::ReportSoFar(const std::string& name) const {
  if (ops_.size() < 2) return;
  const Figures ops = FiguresOf(ops_);
  const Figures mb = FiguresOf(megabytes_);
  if (FLAGS_confidence_interval_only) {
    std::printf("%s [CI95 %zu runs] : (%.0f, %.0f) ops/sec", name.c_str(), ops_.size(),
                ops.mean - ops.half_width, ops.mean + ops.half_width);
    if (!megabytes_.empty()) {
      std::printf("; (%.1f, %.1f) MB/sec", mb.mean - mb.half_width, mb.mean + mb.half_width);
    }
  } else {
    std::printf("%s [AVG %zu runs] : %.0f (\xC2\xB1 %.0f) ops/sec", name.c_str(), ops_.size(),
                ops.mean, ops.half_width);
    if (!megabytes_.empty()) std::printf("; %6.1f (\xC2\xB1 %.1f) MB/sec", mb.mean, mb.half_width);
  }
  std::printf("\n");
}

void RepeatedRuns::ReportFinal(const std::string& name) const {
  if (ops_.size() < 2) return;
  const Figures ops = FiguresOf(ops_);
  const Figures mb = FiguresOf(megabytes_);
  std::printf("%s [AVG    %zu runs] : %.0f (\xC2\xB1 %.0f) ops/sec", name.c_str(), ops_.size(),
              ops.mean, ops.half_width);
  if (!megabytes_.empty()) std::printf("; %6.1f (\xC2\xB1 %.1f) MB/sec", mb.mean, mb.half_width);
  std::printf("\n%s [MEDIAN %zu runs] : %.0f ops/sec", name.c_str(), ops_.size(), ops.median);
  if (!megabytes_.empty()) std::printf("; %6.1f MB/sec", mb.median);
  std::printf("\n");
}

}  // namespace varve::bench
