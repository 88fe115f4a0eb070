// SPDX-License-Identifier: Apache-2.0

// Measures how writing scales with threads: the work of many writers of small batches, in each
// write mode, with 1 to 32 threads; what an operation costs in CPU time, context switches and
// system calls; and a model of it that is fitted to the runs, with its residuals, and asked about a
// larger machine. What it then says is an estimate, and printed as one.
//
// The model: an operation, the write of one key, has a part that is done by one thread at a time
// (s), a part that threads do beside each other (p), and a part that grows with every further
// thread, for cache lines and wake-ups that go back and forth (c). With m = min(threads, cores),
// the time from one operation's end to the next one's is  t = s + (p + c * (threads - 1)) / m.
//
// Usage: write_scaling [--db=DIR] [--writes=N] [--threads=1,2,4,8,16,32] [--cores=64] [--rounds=3]
// Of all rounds of a case the fastest counts: what else the machine does only ever slows it down.

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "varve/db.h"
#include "varve/write_batch.h"

namespace {

constexpr int kBatch = 8;
constexpr uint64_t kKeySpace = 10'000'000;
constexpr size_t kValueBytes = 100;

struct Arguments {
  std::string db = "/tmp/varve-write-scaling";
  uint64_t writes = 2'000'000;  // keys of all threads together
  std::vector<int> threads = {1, 2, 4, 8, 16, 32};
  int cores = 64;  // cores of the estimated machine
  int rounds = 3;
};

struct Mode {
  const char* name;
  bool pipelined;
  bool unordered;
  bool two_queues;
  bool log;
};

constexpr Mode kModes[] = {
    {"ordered", false, false, false, true},   {"ordered, no log", false, false, false, false},
    {"pipelined", true, false, false, true},  {"pipelined, no log", true, false, false, false},
    {"unordered", false, true, false, true},  {"unordered, no log", false, true, false, false},
    {"two queues", false, false, true, true},
};

// Counts the system calls of this process, where the kernel allows it.
class SystemCalls {
 public:
  SystemCalls() {
    std::ifstream id("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id");
    perf_event_attr attributes{};
    if (!(id >> attributes.config)) return;
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.size = sizeof(attributes);
    attributes.inherit = 1;
    file_ = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
  }
  ~SystemCalls() {
    if (file_ >= 0) close(file_);
  }
  SystemCalls(const SystemCalls&) = delete;
  SystemCalls& operator=(const SystemCalls&) = delete;

  std::optional<uint64_t> count() const {
    uint64_t calls = 0;
    if (file_ < 0 || read(file_, &calls, sizeof(calls)) != sizeof(calls)) return std::nullopt;
    return calls;
  }

 private:
  int file_ = -1;
};

struct Run {
  int threads = 0;
  double micros = 0;      // wall time per key
  double cpu_micros = 0;  // per key
  double switches = 0;    // context switches per key
  std::optional<double> calls;
};

double CpuMicros(const rusage& usage) {
  const auto micros = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

varve::Status WriteSome(varve::DB* db, const varve::WriteOptions& options, uint64_t keys,
                        uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::string value(kValueBytes, 'v');
  varve::WriteBatch batch;
  for (uint64_t done = 0; done < keys; done += kBatch) {
    batch.Clear();
    for (int i = 0; i < kBatch; i++) {
      std::array<char, 17> key{};
      std::snprintf(key.data(), key.size(), "%016llu",
                    static_cast<unsigned long long>(random() % kKeySpace));
      varve::Status s = batch.Put(varve::Slice(key.data(), 16), value);
      if (!s.ok()) return s;
    }
    varve::Status s = db->Write(options, &batch);
    if (!s.ok()) return s;
  }
  return varve::Status::OK();
}

varve::Status Measure(const Arguments& arguments, const Mode& mode, int threads, Run* run) {
  varve::Options options;
  options.create_if_missing = true;
  options.enable_pipelined_write = mode.pipelined;
  options.unordered_write = mode.unordered;
  options.two_write_queues = mode.two_queues;
  options.max_write_buffer_number = 16;
  options.disable_auto_compactions = true;
  options.level0_slowdown_writes_trigger = 99999;
  options.level0_stop_writes_trigger = 99999;
  varve::DestroyDB(arguments.db, options).PermitUncheckedError();
  std::unique_ptr<varve::DB> db;
  varve::Status s = varve::DB::Open(options, arguments.db, &db);
  if (!s.ok()) return s;

  varve::WriteOptions write;
  write.disableWAL = !mode.log;
  const uint64_t keys = arguments.writes / static_cast<uint64_t>(threads);
  std::vector<varve::Status> results(static_cast<size_t>(threads));
  const SystemCalls calls;
  const uint64_t calls_before = calls.count().value_or(0);
  rusage before{};
  getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> writers;
  for (size_t t = 0; t < results.size(); t++) {
    writers.emplace_back([&, t] { results[t] = WriteSome(db.get(), write, keys, /*seed=*/t + 1); });
  }
  for (std::thread& writer : writers) writer.join();
  const std::chrono::duration<double, std::micro> wall = std::chrono::steady_clock::now() - start;
  rusage after{};
  getrusage(RUSAGE_SELF, &after);
  for (varve::Status& result : results) {
    if (!result.ok()) return result;
  }
  const auto all = static_cast<double>(keys * static_cast<uint64_t>(threads));
  run->threads = threads;
  run->micros = wall.count() / all;
  run->cpu_micros = (CpuMicros(after) - CpuMicros(before)) / all;
  run->switches =
      static_cast<double>(after.ru_nvcsw - before.ru_nvcsw + after.ru_nivcsw - before.ru_nivcsw) /
      all;
  if (calls.count()) run->calls = static_cast<double>(*calls.count() - calls_before) / all;
  return s;
}

varve::Status MeasureBest(const Arguments& arguments, const Mode& mode, int threads, Run* best) {
  for (int round = 0; round < arguments.rounds; round++) {
    Run run;
    varve::Status s = Measure(arguments, mode, threads, &run);
    if (!s.ok()) return s;
    if (round == 0 || run.micros < best->micros) *best = run;
  }
  return varve::Status::OK();
}

// ---- The model ----

using Terms = std::array<double, 3>;  // s, p, c: microseconds

Terms FactorsOf(int threads, int cores) {
  const double m = std::min(threads, cores);
  return {1.0, 1.0 / m, (threads - 1) / m};
}

double Predict(const Terms& model, int threads, int cores) {
  const Terms factors = FactorsOf(threads, cores);
  return model[0] * factors[0] + model[1] * factors[1] + model[2] * factors[2];
}

// Solves a * x = b of n <= 3 unknowns by elimination. Returns false if it has no unique solution.
bool Solve(std::array<Terms, 3> a, Terms b, size_t n, Terms* x) {
  for (size_t i = 0; i < n; i++) {
    size_t pivot = i;
    for (size_t r = i + 1; r < n; r++) {
      if (std::fabs(a[r][i]) > std::fabs(a[pivot][i])) pivot = r;
    }
    if (std::fabs(a[pivot][i]) < 1e-9) return false;
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (size_t r = 0; r < n; r++) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (size_t c = 0; c < n; c++) a[r][c] -= factor * a[i][c];
      b[r] -= factor * b[i];
    }
  }
  for (size_t i = 0; i < n; i++) (*x)[i] = b[i] / a[i][i];
  return true;
}

double Error(const std::vector<Run>& runs, const Terms& model, int cores) {
  double sum = 0;
  for (const Run& run : runs) {
    const double off = Predict(model, run.threads, cores) / run.micros - 1;
    sum += off * off;
  }
  return sum;
}

// Fits the terms of `subset` by least squares of relative errors, with the other terms 0.
bool FitSubset(const std::vector<Run>& runs, int cores, unsigned subset, Terms* model) {
  std::vector<size_t> used;
  for (size_t i = 0; i < 3; i++) {
    if ((subset >> i & 1) != 0) used.push_back(i);
  }
  std::array<Terms, 3> a{};
  Terms b{};
  for (const Run& run : runs) {
    const Terms factors = FactorsOf(run.threads, cores);
    for (size_t i = 0; i < used.size(); i++) {
      for (size_t j = 0; j < used.size(); j++) {
        a[i][j] += factors[used[i]] * factors[used[j]] / (run.micros * run.micros);
      }
      b[i] += factors[used[i]] / run.micros;
    }
  }
  Terms x{};
  if (!Solve(a, b, used.size(), &x)) return false;
  *model = {};
  for (size_t i = 0; i < used.size(); i++) (*model)[used[i]] = x[i];
  return std::ranges::all_of(*model, [](double term) { return term >= 0; });
}

// Returns the best fit among all subsets of terms that has no negative term.
Terms Fit(const std::vector<Run>& runs, int cores) {
  Terms best{};
  double least = HUGE_VAL;
  for (unsigned subset = 1; subset < 8; subset++) {
    Terms model{};
    if (!FitSubset(runs, cores, subset, &model)) continue;
    const double error = Error(runs, model, cores);
    if (error < least - 1e-12) {
      least = error;
      best = model;
    }
  }
  return best;
}

void PrintEstimate(const std::vector<Run>& runs, const Arguments& arguments) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const Terms model = Fit(runs, cores);
  std::printf("    model: s=%.3f p=%.3f c=%.4f us; residuals", model[0], model[1], model[2]);
  for (const Run& run : runs) {
    std::printf(" %+.0f%%", 100 * (Predict(model, run.threads, cores) / run.micros - 1));
  }
  std::printf("\n    ESTIMATE from %d cores for %d:", cores, arguments.cores);
  for (const int threads : {32, arguments.cores}) {
    std::printf(" %d threads %.0f keys/s;", threads,
                1e6 / Predict(model, threads, arguments.cores));
  }
  std::printf(" the part that is alone bounds it at %s\n",
              model[0] > 0 ? (std::to_string(std::lround(1e6 / model[0])) + " keys/s").c_str()
                           : "no rate that these runs show");
}

// Returns false, after a message, if a thread would have no key to write.
bool EachThreadWrites(const Arguments& arguments) {
  for (const int threads : arguments.threads) {
    if (arguments.writes >= static_cast<uint64_t>(threads)) continue;
    std::fprintf(stderr, "--writes=%llu: %d threads need at least a key each\n",
                 static_cast<unsigned long long>(arguments.writes), threads);
    return false;
  }
  return true;
}

bool Parse(int argc, char** argv, Arguments* arguments) {
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    if (name == "--db") {
      arguments->db = value;
    } else if (name == "--writes") {
      arguments->writes = std::strtoull(value.c_str(), nullptr, 10);
    } else if (name == "--cores") {
      arguments->cores = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--rounds") {
      arguments->rounds = std::max(1, std::atoi(value.c_str()));
    } else if (name == "--threads") {
      arguments->threads.clear();
      std::istringstream in(value);
      for (std::string item; std::getline(in, item, ',');) {
        arguments->threads.push_back(std::max(1, std::atoi(item.c_str())));
      }
    } else {
      std::fprintf(stderr, "unknown argument %s; see the head of write_scaling.cc\n", argv[i]);
      return false;
    }
  }
  return EachThreadWrites(*arguments);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, &arguments)) return 1;
  std::printf("batches of %d, keys of 16 bytes, values of %zu, %llu keys a run, %u cores\n", kBatch,
              kValueBytes, static_cast<unsigned long long>(arguments.writes),
              std::thread::hardware_concurrency());
  for (const Mode& mode : kModes) {
    std::printf("%s\n", mode.name);
    std::vector<Run> runs;
    for (const int threads : arguments.threads) {
      Run run;
      const varve::Status s = MeasureBest(arguments, mode, threads, &run);
      if (!s.ok()) {
        std::printf("    %s\n", s.ToString().c_str());
        if (!s.IsNotSupported()) return 1;
        break;
      }
      std::printf("    %2d threads %9.0f keys/s, CPU %.3f us, %.4f context switches", threads,
                  1e6 / run.micros, run.cpu_micros, run.switches);
      if (run.calls) std::printf(", %.4f system calls", *run.calls);
      std::printf(" a key\n");
      std::fflush(stdout);
      runs.push_back(run);
    }
    if (runs.size() >= 3) PrintEstimate(runs, arguments);
  }
  varve::DestroyDB(arguments.db, varve::Options()).PermitUncheckedError();
  return 0;
}
