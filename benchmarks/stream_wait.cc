// SPDX-License-Identifier: Apache-2.0

// Measures change streams that wait (ChangeStream::WaitNext):
//
//   stream_wait [DIRECTORY]
//
// Prints the time from the beginning of a Put to the return of the WaitNext that it wakes, in a
// stream that sleeps; the processor time that a waiting stream uses a second while nobody writes;
// and, over pairs of 100,000 Puts in turn without a stream and with one that waits and reads along,
// the median ratios of the writer's processor time and of its wall time, and where a tenth and nine
// tenths of the pairs are. Keys of 16 bytes, values of 100, no sync.

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "varve/change_stream.h"
#include "varve/db.h"

namespace {

using varve::ChangeRecord;
using varve::ChangeStream;
using varve::DB;
using varve::Options;
using varve::Status;

constexpr int kWakes = 5'000;
constexpr auto kBetweenWakes = std::chrono::milliseconds(1);
constexpr int kIdleSeconds = 5;
constexpr uint64_t kLongestWaitMicros = 60'000'000;
constexpr int kPuts = 100'000;
constexpr int kPairs = 21;

void Check(const Status& s) {
  if (s.ok()) return;
  std::fprintf(stderr, "%s\n", s.ToString().c_str());
  std::exit(1);
}

uint64_t Nanos(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

std::string KeyOf(uint64_t number) {
  char key[24];
  std::snprintf(key, sizeof(key), "%016llu", static_cast<unsigned long long>(number));
  return key;
}

// Reads a stream in a thread of its own until it is destroyed.
class Consumer {
 public:
  explicit Consumer(DB* db) : db_(db), thread_([this] { Run(); }) {
    while (!opened_.load()) std::this_thread::yield();
  }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;
  ~Consumer() {
    ended_.store(true);
    Check(db_->Put(varve::WriteOptions(), "end", ""));  // Wakes it.
    thread_.join();
  }

  // The last number that was read, and when.
  uint64_t last() const { return last_.load(std::memory_order_acquire); }
  uint64_t read_at() const { return read_at_.load(std::memory_order_relaxed); }
  uint64_t cpu_nanos() {
    clockid_t clock = 0;
    return pthread_getcpuclockid(thread_.native_handle(), &clock) == 0 ? Nanos(clock) : 0;
  }

 private:
  void Run() {
    varve::ChangeStreamOptions options;
    options.name = "consumer";
    std::unique_ptr<ChangeStream> stream;
    Check(db_->OpenChangeStream(options, &stream));
    opened_.store(true);
    ChangeRecord record;
    for (int read = 1; !ended_.load(std::memory_order_relaxed); read++) {
      Check(stream->WaitNext(kLongestWaitMicros, &record));
      if (record.kind == ChangeRecord::Kind::kNothing) continue;
      read_at_.store(Nanos(CLOCK_MONOTONIC), std::memory_order_relaxed);
      last_.store(record.last, std::memory_order_release);
      if (read % 1000 == 0) Check(stream->Acknowledge(record.last));
    }
    stream.reset();
    Check(db_->DropChangeStream(options.name));
  }

  DB* const db_;
  std::atomic<bool> opened_{false};
  std::atomic<bool> ended_{false};
  std::atomic<uint64_t> last_{0};
  std::atomic<uint64_t> read_at_{0};
  std::thread thread_;
};

double At(std::vector<double>* values, double share) {
  std::sort(values->begin(), values->end());
  return (*values)[std::min(values->size() - 1,
                            static_cast<size_t>(share * static_cast<double>(values->size())))];
}

void MeasureWakes(DB* db) {
  Consumer consumer(db);
  const std::string value(100, 'v');
  std::vector<double> micros;
  for (int i = 0; i < kWakes; i++) {
    std::this_thread::sleep_for(kBetweenWakes);
    const uint64_t begin = Nanos(CLOCK_MONOTONIC);
    Check(db->Put(varve::WriteOptions(), KeyOf(static_cast<uint64_t>(i)), value));
    const uint64_t wanted = db->GetLatestSequenceNumber();
    while (consumer.last() < wanted) std::this_thread::yield();
    micros.push_back(static_cast<double>(consumer.read_at() - begin) / 1000);
  }
  std::printf("wake: median %.1f us, p99 %.1f us, most %.1f us\n", At(&micros, 0.5),
              At(&micros, 0.99), At(&micros, 1));
}

void MeasureIdle(DB* db) {
  Consumer consumer(db);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const uint64_t before = consumer.cpu_nanos();
  std::this_thread::sleep_for(std::chrono::seconds(kIdleSeconds));
  const uint64_t used = consumer.cpu_nanos() - before;
  std::printf("idle: %.1f us of processor time a second\n",
              static_cast<double>(used) / 1000 / kIdleSeconds);
}

struct Times {
  double cpu = 0;
  double wall = 0;
};

Times WriteMany(DB* db, uint64_t first) {
  const std::string value(100, 'v');
  const uint64_t cpu = Nanos(CLOCK_THREAD_CPUTIME_ID);
  const uint64_t wall = Nanos(CLOCK_MONOTONIC);
  for (uint64_t i = 0; i < kPuts; i++) {
    Check(db->Put(varve::WriteOptions(), KeyOf(first + i), value));
  }
  return {static_cast<double>(Nanos(CLOCK_THREAD_CPUTIME_ID) - cpu) / kPuts,
          static_cast<double>(Nanos(CLOCK_MONOTONIC) - wall) / kPuts};
}

void MeasureWriter(DB* db) {
  std::vector<double> cpu;
  std::vector<double> wall;
  std::vector<double> base;
  uint64_t next = 0;
  for (int i = 0; i < kPairs; i++) {
    Times with;
    Times without;
    for (const bool follows : {i % 2 == 0, i % 2 != 0}) {
      Check(db->Flush(varve::FlushOptions()));
      if (follows) {
        Consumer consumer(db);
        with = WriteMany(db, next);
      } else {
        without = WriteMany(db, next);
      }
      next += kPuts;
    }
    cpu.push_back(with.cpu / without.cpu);
    wall.push_back(with.wall / without.wall);
    base.push_back(without.cpu);
  }
  std::printf(
      "writer: %.0f ns of processor time a Put without a stream; with one that waits %.3f "
      "of it (%.3f to %.3f), and %.3f of the wall time (%.3f to %.3f)\n",
      At(&base, 0.5), At(&cpu, 0.5), At(&cpu, 0.1), At(&cpu, 0.9), At(&wall, 0.5), At(&wall, 0.1),
      At(&wall, 0.9));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = argc > 1 ? argv[1] : "/dev/shm/stream_wait";
  Options options;
  options.create_if_missing = true;
  options.compression = varve::kNoCompression;
  options.write_buffer_size = size_t{256} << 20;
  Check(varve::DestroyDB(directory, options));
  std::unique_ptr<DB> db;
  Check(DB::Open(options, directory, &db));
  MeasureWakes(db.get());
  MeasureIdle(db.get());
  MeasureWriter(db.get());
  db.reset();
  Check(varve::DestroyDB(directory, options));
  return 0;
}
