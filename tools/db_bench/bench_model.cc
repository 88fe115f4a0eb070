// SPDX-License-Identifier: Apache-2.0
// Benchmarks that follow a model of what users do: the mix of a published trace, and series of
// events.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "varve/db.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"
#include "tools/db_bench/traffic_model.h"

namespace varve::bench {

namespace {

// Holds operations back so that their rate is that of the sine, with --sine_mix_rate.
class SinePace {
 public:
  explicit SinePace(Worker& worker) : worker_(worker), begin_(NowMicros()) { NextInterval(0); }

  void Wait() {
    if (!FLAGS_sine_mix_rate) return;
    const double seconds = static_cast<double>(NowMicros() - begin_) / 1e6;
    if (seconds >= interval_end_) NextInterval(seconds);
    // The i-th operation of an interval is due i / rate_ after its begin. A thread that fell behind
    // makes the missing operations without a wait, until the next interval forgives them.
    const double due = interval_begin_ + static_cast<double>(made_++) / rate_;
    if (due > seconds) {
      std::this_thread::sleep_for(std::chrono::duration<double>(due - seconds));
      worker_.stats.SkipWait();
    }
  }

 private:
  void NextInterval(double seconds) {
    interval_begin_ = seconds;
    interval_end_ = seconds + static_cast<double>(FLAGS_sine_mix_rate_interval_milliseconds) / 1e3;
    const double noise = FLAGS_sine_mix_rate_noise * (2 * worker_.random.Share() - 1);
    rate_ = std::max(1.0, SineRate(seconds) * (1 + noise) / worker_.plan.threads);
    made_ = 0;
  }

  Worker& worker_;
  const uint64_t begin_;
  double interval_begin_ = 0;
  double interval_end_ = 0;
  double rate_ = 1;  // Operations a second of this thread.
  int64_t made_ = 0;
};

// Counts what a thread of mixgraph did.
struct MixTotals {
  int64_t gets = 0;
  int64_t puts = 0;
  int64_t seeks = 0;
  int64_t found = 0;
  int64_t get_bytes = 0;
  int64_t put_bytes = 0;
  int64_t scan_bytes = 0;
};

class MixGraph {
 public:
  explicit MixGraph(Worker& worker)
      : worker_(worker),
        traffic_(worker.plan.num),
        keys_(worker.NewKeyMaker()),
        values_(worker.NewValues()),
        options_(worker.plan.read_options),
        timestamps_(&worker.random),
        pace_(worker) {}

  void Run() {
    const int64_t count = FLAGS_mix_accesses >= 0 ? FLAGS_mix_accesses : worker_.plan.reads;
    Budget budget(FLAGS_duration, count);
    while (budget.Take()) {
      number_ = traffic_.Draw(worker_.random);
      key_ = keys_.Make(number_);
      pace_.Wait();
      switch (DrawKind(worker_.random)) {
        case TrafficKind::kGet:
          Get();
          break;
        case TrafficKind::kPut:
          Put();
          break;
        case TrafficKind::kSeek:
          Scan();
          break;
      }
    }
    Report();
  }

 private:
  ColumnFamilyHandle* family() const { return worker_.database.family(number_); }

  void Get() {
    worker_.PayForRead(1);
    timestamps_.SetFor(&options_);
    const Status s = worker_.db()->Get(options_, family(), key_, &value_);
    if (!s.ok() && !s.IsNotFound()) Fail("Get error", s);
    totals_.gets++;
    if (s.ok()) {
      totals_.found++;
      totals_.get_bytes += static_cast<int64_t>(key_.size() + value_.size());
    }
    worker_.stats.FinishedOps(1, Op::kRead);
  }

  void Put() {
    const Slice value = values_.Next(static_cast<size_t>(DrawValueSize(worker_.random)));
    const auto size = static_cast<int64_t>(key_.size() + UserTimestamps::size() + value.size());
    worker_.PayForWrite(size);
    const WriteOptions& options = worker_.plan.write_options;
    const Status s = UserTimestamps::on()
                         ? worker_.db()->Put(options, family(), key_, timestamps_.ForWrite(), value)
                         : worker_.db()->Put(options, family(), key_, value);
    if (!s.ok()) Fail("put error", s);
    totals_.puts++;
    totals_.put_bytes += size;
    worker_.stats.FinishedOps(1, Op::kWrite);
  }

  void Scan() {
    worker_.PayForRead(1);
    timestamps_.SetFor(&options_);
    const std::unique_ptr<Iterator> it(worker_.db()->NewIterator(options_, family()));
    const int64_t length = DrawScanLength(worker_.random);
    it->Seek(key_);
    for (int64_t i = 0; i < length && it->Valid(); i++) {
      totals_.scan_bytes += static_cast<int64_t>(it->key().size() + it->value().size());
      it->Next();
    }
    if (!it->status().ok()) Fail("iterator error", it->status());
    totals_.seeks++;
    worker_.stats.FinishedOps(1, Op::kSeek);
  }

  void Report() {
    worker_.stats.AddBytes(totals_.get_bytes + totals_.put_bytes + totals_.scan_bytes);
    std::array<char, 300> note{};
    std::snprintf(note.data(), note.size(),
                  "( Gets:%lld Puts:%lld Seek:%lld, reads %lld in %lld found, "
                  "avg size: %.1f value, %.1f scan)",
                  static_cast<long long>(totals_.gets), static_cast<long long>(totals_.puts),
                  static_cast<long long>(totals_.seeks), static_cast<long long>(totals_.found),
                  static_cast<long long>(totals_.gets), Mean(totals_.put_bytes, totals_.puts),
                  Mean(totals_.scan_bytes, totals_.seeks));
    worker_.stats.AddMessage(note.data());
  }

  static double Mean(int64_t sum, int64_t count) {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  }

  Worker& worker_;
  const KeyTraffic traffic_;
  KeyMaker keys_;
  ValueStream values_;
  ReadOptions options_;
  UserTimestamps timestamps_;
  SinePace pace_;
  MixTotals totals_;
  uint64_t number_ = 0;
  Slice key_;
  PinnableSlice value_;
};

void RunMixGraph(Worker& worker) {
  MixGraph(worker).Run();
}

// Keys of a series are the number of its source and the time of an event, both in the order of
// their bytes.
constexpr size_t kSeriesKey = 16;

void PutBigEndian(uint64_t number, char* out) {
  for (int i = 7; i >= 0; i--, number >>= 8) out[i] = static_cast<char>(number & 0xff);
}

Slice SeriesKey(uint64_t source, uint64_t time, std::array<char, kSeriesKey>* key) {
  PutBigEndian(source, key->data());
  PutBigEndian(time, key->data() + 8);
  return Slice(key->data(), key->size());
}

// The time of a series is the number of its last event, so that runs can be compared. Relaxed, as
// it publishes nothing.
std::atomic<uint64_t> series_time{0};

// Returns the first time that is not old.
uint64_t OldestTime() {
  const uint64_t now = series_time.load(std::memory_order_relaxed);
  return now > FLAGS_time_range ? now - FLAGS_time_range : 0;
}

uint64_t DrawSource(Worker& worker) {
  return worker.random.Below(static_cast<uint64_t>(FLAGS_key_id_range));
}

// Adds events until the readers are done.
void WriteSeries(Worker& worker) {
  worker.stats.Exclude();
  ValueStream values = worker.NewValues();
  std::array<char, kSeriesKey> buffer{};
  for (int64_t written = 0; !worker.run.ForegroundDone(); written++) {
    if (FLAGS_finish_after_writes && written == worker.plan.writes) break;
    const Slice key = SeriesKey(DrawSource(worker),
                                series_time.fetch_add(1, std::memory_order_relaxed) + 1, &buffer);
    const Slice value = values.Next();
    worker.PayForWrite(static_cast<int64_t>(key.size() + value.size()));
    const Status s = worker.db()->Put(worker.plan.write_options, key, value);
    if (!s.ok()) Fail("put error", s);
    worker.stats.FinishedOps(1, Op::kWrite);
  }
}

// Deletes the expired events of random sources until the readers are done.
void DeleteExpired(Worker& worker) {
  worker.stats.Exclude();
  std::array<char, kSeriesKey> first{};
  std::array<char, kSeriesKey> last{};
  while (!worker.run.ForegroundDone()) {
    const uint64_t source = DrawSource(worker);
    const Slice begin = SeriesKey(source, 0, &first);
    // The bound is exclusive: OldestTime() itself is the first event that readers still ask for.
    const Slice end = SeriesKey(source, OldestTime(), &last);
    ReadOptions options = worker.plan.read_options;
    options.iterate_upper_bound = &end;
    const std::unique_ptr<Iterator> it(worker.db()->NewIterator(options));
    for (it->Seek(begin); it->Valid(); it->Next()) {
      const Status s = worker.db()->Delete(worker.plan.write_options, it->key());
      if (!s.ok()) Fail("del error", s);
      worker.stats.FinishedOps(1, Op::kDelete);
    }
    if (!it->status().ok()) Fail("iterator error", it->status());
  }
}

// Reads all events of a random source within --time_range.
void ReadSeries(Worker& worker) {
  Budget budget(FLAGS_duration, worker.plan.reads);
  std::array<char, kSeriesKey> first{};
  std::array<char, kSeriesKey> last{};
  int64_t found = 0;
  int64_t read = 0;
  int64_t bytes = 0;
  while (budget.Take()) {
    const uint64_t source = DrawSource(worker);
    const Slice begin = SeriesKey(source, OldestTime(), &first);
    const Slice end = SeriesKey(source + 1, 0, &last);
    worker.PayForRead(1);
    ReadOptions options = worker.plan.read_options;
    options.iterate_upper_bound = &end;
    const std::unique_ptr<Iterator> it(worker.db()->NewIterator(options));
    int64_t events = 0;
    for (it->Seek(begin); it->Valid(); it->Next(), events++) {
      bytes += static_cast<int64_t>(it->key().size() + it->value().size());
    }
    if (!it->status().ok()) Fail("iterator error", it->status());
    found += events > 0 ? 1 : 0;
    read++;
    worker.stats.FinishedOps(1, Op::kRead);
  }
  worker.stats.AddBytes(bytes);
  std::array<char, 100> note{};
  std::snprintf(note.data(), note.size(), "(%lld of %lld found)", static_cast<long long>(found),
                static_cast<long long>(read));
  worker.stats.AddMessage(note.data());
}

void CheckSeries(Plan& /*plan*/) {
  if (FLAGS_expire_style != "none" && FLAGS_expire_style != "delete") {
    Fail("--expire_style is not none or delete; a compaction filter is not supported");
  }
  if (FLAGS_key_id_range < 1) Fail("--key_id_range is not positive");
}

// The first thread writes, the second deletes what has expired, all others read.
void TimeSeries(Worker& worker) {
  if (worker.id == 0) return WriteSeries(worker);
  if (worker.id > 1) return ReadSeries(worker);
  if (FLAGS_expire_style == "delete") return DeleteExpired(worker);
  worker.stats.Exclude();
}

constexpr std::array kModelBenchmarks = {
    Benchmark{.name = "mixgraph", .body = RunMixGraph},
    Benchmark{.name = "timeseries",
              .body = TimeSeries,
              .setup = CheckSeries,
              .background_threads = 2,
              .takes_timestamps = false},
};

}  // namespace

std::span<const Benchmark> ModelBenchmarks() {
  return kModelBenchmarks;
}

}  // namespace varve::bench
