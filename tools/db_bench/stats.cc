// SPDX-License-Identifier: Apache-2.0
// The forms of the lines are read by scripts; README.md tells what they mean.

#include "tools/db_bench/stats.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "varve/db.h"
#include "varve/env.h"
#include "varve/thread_status.h"

#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

constexpr std::array<const char*, kOpKinds> kOpNames = {"read",   "write", "delete",   "seek",
                                                        "update", "merge", "compress", "uncompress",
                                                        "crc",    "hash",  "op"};
constexpr double kMebibyte = 1048576.0;
// Number of operations between clock reads with --stats_interval_seconds: reading the clock costs
// as much as a fast operation.
constexpr int64_t kOpsBetweenClocks = 1000;

// Returns the count at which progress is reported next: an eighth more, in whole hundreds.
int64_t NextProgress(int64_t done) {
  const int64_t step = std::clamp<int64_t>(done / 8, 100, 100000);
  return (done + step) / 100 * 100;
}

std::unique_ptr<Latencies> NewLatencies() {
  return FLAGS_histogram ? std::make_unique<Latencies>() : nullptr;
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

// Prints what the threads of `env` do, a line each.
void TellThreads(Env* env) {
  std::vector<ThreadStatus> threads;
  const Status s = env->GetThreadList(&threads);
  if (!s.ok()) std::fprintf(stderr, "%s\n", s.ToString().c_str());
  for (const ThreadStatus& thread : threads) {
    std::string properties;
    for (const auto& [name, value] :
         ThreadStatus::InterpretOperationProperties(thread.operation_type, thread.op_properties)) {
      properties += " " + name + " " + std::to_string(value);
    }
    std::fprintf(stderr, "thread %llu %s %s: %s %s %s %s%s\n",
                 static_cast<unsigned long long>(thread.thread_id),
                 ThreadStatus::GetThreadTypeName(thread.thread_type).c_str(),
                 thread.cf_name.c_str(),
                 ThreadStatus::GetOperationName(thread.operation_type).c_str(),
                 ThreadStatus::MicrosToString(thread.op_elapsed_micros).c_str(),
                 ThreadStatus::GetOperationStageName(thread.operation_stage).c_str(),
                 ThreadStatus::GetStateName(thread.state_type).c_str(), properties.c_str());
  }
}

}  // namespace

uint64_t NowMicros() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

ThreadStats::ThreadStats(int thread, DB* db, std::atomic<uint64_t>* finished_ops)
    : thread_(thread), db_(db), finished_ops_(finished_ops) {
  figures_.latencies = NewLatencies();
}

void ThreadStats::Start() {
  figures_.start_micros = last_op_ = last_report_ = NowMicros();
  if (FLAGS_stats_interval_seconds > 0) {
    next_look_ = kOpsBetweenClocks;
  } else if (FLAGS_stats_interval > 0) {
    next_look_ = FLAGS_stats_interval;
  } else {
    next_look_ = FLAGS_progress_reports ? NextProgress(0) : INT64_MAX;
  }
}

void ThreadStats::Stop() {
  figures_.end_micros = NowMicros();
}

void ThreadStats::AddMessage(const std::string& message) {
  if (!figures_.message.empty() && !message.empty()) figures_.message.push_back(' ');
  figures_.message += message;
}

void ThreadStats::RecordLatency(Op op) {
  const uint64_t now = NowMicros();
  const uint64_t micros = now - last_op_;
  last_op_ = now;
  (*figures_.latencies)[static_cast<size_t>(op)].Add(micros);
  if (micros >= FLAGS_slow_usecs && FLAGS_stats_interval <= 0) {
    std::fprintf(stderr, "long op: %llu micros%30s\r", static_cast<unsigned long long>(micros), "");
    std::fflush(stderr);
  }
}

// Called when figures_.ops has reached next_look_. Of the three kinds of progress only one is
// active, in the order of Start(): by time, by count, or the growing steps of a terminal's line.
// The step by time looks at the clock once in kOpsBetweenClocks operations and reports when the
// period is over, so that a slow thread reports late.
void ThreadStats::Look() {
  const int64_t done = figures_.ops;
  if (FLAGS_stats_interval_seconds > 0) {
    next_look_ = done + kOpsBetweenClocks;
    const uint64_t now = NowMicros();
    const auto period = static_cast<uint64_t>(FLAGS_stats_interval_seconds) * 1000000;
    if (now - last_report_ >= period) ReportInterval(now);
  } else if (FLAGS_stats_interval > 0) {
    next_look_ = done + FLAGS_stats_interval;
    ReportInterval(NowMicros());
  } else {
    next_look_ = NextProgress(done);
    std::fprintf(stderr, "... finished %lld ops%30s\r", static_cast<long long>(done), "");
  }
}

void ThreadStats::ReportInterval(uint64_t now) {
  const int64_t done = figures_.ops;
  const int64_t ops = done - reported_ops_;
  const uint64_t interval = now - last_report_;
  const uint64_t total = now - figures_.start_micros;
  std::fprintf(stderr,
               "%s  ... thread %d: (%lld,%lld) ops and (%.1f,%.1f) ops/second in (%.6f,%.6f) "
               "seconds\n",
               WallTime().c_str(), thread_, static_cast<long long>(ops),
               static_cast<long long>(done), Rate(ops, interval), Rate(done, total),
               static_cast<double>(interval) * 1e-6, static_cast<double>(total) * 1e-6);
  std::string text;
  // Thread 0 speaks for all, as the text is about the database.
  if (FLAGS_stats_per_interval > 0 && thread_ == 0 && db_ != nullptr &&
      db_->GetProperty(DB::Properties::kStats, &text)) {
    std::fprintf(stderr, "%s\n", text.c_str());
  }
  if (FLAGS_thread_status_per_interval > 0 && thread_ == 0 && db_ != nullptr) {
    TellThreads(db_->GetEnv());
  }
  std::fflush(stderr);
  last_report_ = now;
  reported_ops_ = done;
}

RunStats::RunStats() {
  sum_.start_micros = UINT64_MAX;
  sum_.latencies = NewLatencies();
}

void RunStats::Add(const ThreadFigures& thread) {
  if (thread.is_surroundings) return;
  thread_seconds_ += static_cast<double>(thread.end_micros - thread.start_micros) * 1e-6;
  sum_.start_micros = std::min(sum_.start_micros, thread.start_micros);
  sum_.end_micros = std::max(sum_.end_micros, thread.end_micros);
  sum_.ops += thread.ops;
  sum_.bytes += thread.bytes;
  if (sum_.message.empty()) sum_.message = thread.message;
  for (size_t op = 0; sum_.latencies != nullptr && op < kOpKinds; ++op) {
    (*sum_.latencies)[op].Merge((*thread.latencies)[op]);
  }
}

double RunStats::Elapsed() const {
  if (sum_.end_micros <= sum_.start_micros) return 0;
  return static_cast<double>(sum_.end_micros - sum_.start_micros) * 1e-6;
}

double RunStats::OpsPerSecond() const {
  // Half a microsecond keeps rates of runs below the clock's resolution finite.
  return static_cast<double>(std::max<int64_t>(sum_.ops, 1)) / std::max(Elapsed(), 0.5e-6);
}

double RunStats::MegabytesPerSecond() const {
  return static_cast<double>(sum_.bytes) / kMebibyte / std::max(Elapsed(), 0.5e-6);
}

// Micros per operation are those of a thread: the time of all threads together over the operations
// of all. The rate is that of the wall clock. With n threads the two therefore differ by the factor
// n.
void RunStats::Report(const std::string& name) const {
  const int64_t ops = std::max<int64_t>(sum_.ops, 1);
  std::string extra;
  if (has_bytes()) {
    std::array<char, 64> rate{};
    std::snprintf(rate.data(), rate.size(), " %6.1f MB/s", MegabytesPerSecond());
    extra = rate.data();
  }
  if (!sum_.message.empty()) extra += " " + sum_.message;
  std::fprintf(stdout, "%-12s : %11.3f micros/op %lld ops/sec %.3f seconds %lld operations;%s\n",
               name.c_str(), thread_seconds_ * 1e6 / static_cast<double>(ops),
               static_cast<long long>(OpsPerSecond()), Elapsed(), static_cast<long long>(ops),
               extra.c_str());
  for (size_t op = 0; sum_.latencies != nullptr && op < kOpKinds; ++op) {
    const Histogram& latencies = (*sum_.latencies)[op];
    if (latencies.count() == 0) continue;
    std::fprintf(stdout, "Microseconds per %s:\n%s\n", kOpNames[op], latencies.ToString().c_str());
  }
  std::fflush(stdout);
}

void RepeatedRuns::Add(const RunStats& run) {
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
    // The normal approximation of the mean's 95 % confidence interval: 1.96 standard errors, with
    // the variance estimated from the sample.
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
