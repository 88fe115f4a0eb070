// SPDX-License-Identifier: Apache-2.0

// Rows that measure the latency of single calls while flushes and compactions run: one thread
// overwrites and one reads, each by a timetable that does not wait for slow calls (an open loop). A
// call's latency counts from when it was due, so that a stall is charged to every call it delays.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/compare/row.h"

namespace compare {
namespace {

using std::chrono::steady_clock;

constexpr uint64_t kWritesPerSecond = 60'000;
constexpr uint64_t kReadsPerSecond = 30'000;
constexpr size_t kTailCacheBytes = size_t{256} << 20;
constexpr double kMegabyte = 1e6;

struct Percentile {
  const char* name;
  double share;
};
constexpr Percentile kPercentiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}};

// Makes `rate` calls a second for `seconds`. Returns their latencies in microseconds.
std::vector<float> OpenLoop(uint64_t rate, double seconds, const std::function<void()>& call) {
  const auto calls =
      std::max<uint64_t>(static_cast<uint64_t>(static_cast<double>(rate) * seconds), 1);
  std::vector<float> latencies;
  latencies.reserve(calls);
  const auto start = steady_clock::now();
  const double step = 1e9 / static_cast<double>(rate);
  for (uint64_t i = 0; i < calls; i++) {
    const auto due =
        start + std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(i) * step));
    for (auto now = steady_clock::now(); now < due; now = steady_clock::now()) {
      // The loop spins for the last part, as a sleep is not exact enough.
      if (due - now > std::chrono::microseconds(200)) {
        std::this_thread::sleep_for(std::chrono::microseconds(60));
      }
    }
    call();
    latencies.push_back(
        std::chrono::duration<float, std::micro>(steady_clock::now() - due).count());
  }
  return latencies;
}

void ReportLatencies(Run* run, const std::string& what, std::vector<float> latencies) {
  std::sort(latencies.begin(), latencies.end());
  for (const Percentile& percentile : kPercentiles) {
    const auto last = static_cast<double>(latencies.size() - 1);
    run->Report(what + " " + percentile.name, Unit::kMicroseconds,
                latencies[static_cast<size_t>(percentile.share * last)]);
  }
}

double BytesIn(const std::string& folder) {
  double sum = 0;
  std::error_code gone;
  for (const auto& file : std::filesystem::directory_iterator(folder, gone)) {
    const auto size = file.file_size(gone);
    if (!gone) sum += static_cast<double>(size);
  }
  return sum;
}

// Writes drawn keys. One thread may use it.
class Writer {
 public:
  explicit Writer(Run* run)
      : session_(run->engine().NewSession()),
        keys_(5 * run->scale().n),
        random_(run->scale().seed),
        values_(kValueSize) {}
  void WriteOne() {
    const uint64_t number = random_.Below(keys_);
    session_->Put(Key(number).view(), values_.Of(number, version_++), Durability::kLogged);
  }
  uint64_t keys() const { return keys_; }

 private:
  const std::unique_ptr<Session> session_;
  const uint64_t keys_;
  uint64_t version_ = 0;
  Random random_;
  Values values_;
};

// Records the peak of the disk space in use while it lives.
class DiskWatch {
 public:
  explicit DiskWatch(std::string folder) : folder_(std::move(folder)) {}
  ~DiskWatch() {
    ends_ = true;
    thread_.join();
  }
  double most_bytes() const { return most_bytes_; }

 private:
  void Watch() {
    while (!ends_) {
      most_bytes_ = std::max(most_bytes_.load(), BytesIn(folder_));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }

  const std::string folder_;
  std::atomic<bool> ends_ = false;
  std::atomic<double> most_bytes_ = 0;
  std::thread thread_{[this] { Watch(); }};
};

// Returns true if the key has no value, or one of its own. Which of its versions that is depends on
// the writer's progress and is not judged.
bool ReadsItsOwn(Session* session, uint64_t number) {
  Digest found(Digest::Covers::kStamps);
  Digest expected(Digest::Covers::kStamps);
  expected.AddStamp(number);
  return !session->Get(Key(number).view(), &found) || found.state() == expected.state();
}

// Runs the timetables of a writer and a reader at the same time.
void RunTimetables(Run* run, Writer* writer) {
  const double seconds = run->scale().seconds;
  const DiskWatch disk(run->path());
  std::vector<float> writes;
  std::thread writing(
      [&] { writes = OpenLoop(kWritesPerSecond, seconds, [&] { writer->WriteOne(); }); });
  const std::unique_ptr<Session> session = run->engine().NewSession();
  Random random(run->scale().seed + 1);
  uint64_t wrong = 0;
  std::vector<float> reads = OpenLoop(kReadsPerSecond, seconds, [&] {
    if (!ReadsItsOwn(session.get(), random.Below(writer->keys()))) wrong++;
  });
  writing.join();
  ReportLatencies(run, "write", std::move(writes));
  ReportLatencies(run, "read", std::move(reads));
  run->Report("disk", Unit::kMegabytes, disk.most_bytes() / kMegabyte);
  run->digest().Add(wrong);
}

// Writes 5n keys, then runs the timetables.
void Latencies(Run* run, bool small) {
  Settings settings = run->settings();
  settings.cache_bytes = kTailCacheBytes;
  settings.small_levels = small;
  if (small) settings.write_buffer = size_t{16} << 20;
  run->engine().Open(run->path(), settings);
  {
    Writer writer(run);
    for (uint64_t i = 0; i < writer.keys(); i++) writer.WriteOne();
    RunTimetables(run, &writer);
  }
  run->ReadBack(Digest::Covers::kStamps);
  run->engine().Close();
}

}  // namespace

std::vector<Row> LatencyRows() {
  return {
      {"tails/small-levels", "", {}, [](Run* run) { Latencies(run, true); }},
      {"tails/defaults", "", {}, [](Run* run) { Latencies(run, false); }},
  };
}

}  // namespace compare
