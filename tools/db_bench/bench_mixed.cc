// SPDX-License-Identifier: Apache-2.0
// Benchmarks that read and write: readers beside a background thread, and loops of both.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "varve/db.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// Scans everything, again and again.
void ScanUntilDone(Worker& worker) {
  worker.stats.Exclude();
  ReadOptions options = worker.plan.read_options;
  UserTimestamps timestamps(&worker.random);
  std::unique_ptr<Iterator> it;
  while (!worker.run.ForegroundDone()) {
    if (it == nullptr || !it->Valid()) {
      if (it != nullptr && !it->status().ok()) Fail("iterator error", it->status());
      it.reset();
      timestamps.SetFor(&options);
      it.reset(worker.db()->NewIterator(options));
      it->SeekToFirst();
      if (!it->Valid()) continue;
    }
    worker.stats.FinishedOps(1, Op::kOther);
    it->Next();
  }
}

using Change = Status (*)(Worker& worker, UserTimestamps& timestamps, ColumnFamilyHandle* family,
                          const Slice& key, const Slice& value);

Status PutOne(Worker& worker, UserTimestamps& timestamps, ColumnFamilyHandle* family,
              const Slice& key, const Slice& value) {
  const WriteOptions& options = worker.plan.write_options;
  if (!UserTimestamps::on()) return worker.db()->Put(options, family, key, value);
  return worker.db()->Put(options, family, key, timestamps.ForWrite(), value);
}

// Changes random keys until the foreground is done.
void ChangeUntilDone(Worker& worker, Op op, const char* failure, Change change) {
  worker.stats.Exclude();
  const Plan& plan = worker.plan;
  const int64_t num = FLAGS_bgwriter_num > 0 ? FLAGS_bgwriter_num : plan.num;
  KeyMaker keys = worker.NewKeyMaker();
  ValueStream values = worker.NewValues();
  UserTimestamps timestamps(&worker.random);
  for (int64_t written = 0; !worker.run.ForegroundDone(); ++written) {
    if (FLAGS_finish_after_writes && written == plan.writes) break;
    const uint64_t number = worker.random.Below(static_cast<uint64_t>(num));
    const Slice key = keys.Make(number);
    const Slice value = values.Next();
    const Status s = change(worker, timestamps, worker.database.family(number), key, value);
    if (!s.ok()) Fail(failure, s);
    worker.stats.FinishedOps(1, op);
    // Paid after the write: a background thread has no latency of its own that the wait could
    // spoil.
    worker.PayForWrite(static_cast<int64_t>(key.size() + value.size()));
  }
}

void ReadWhileWriting(Worker& worker) {
  worker.id == 0 ? WriteUntilDone(worker) : ReadRandom(worker);
}

void MultiReadWhileWriting(Worker& worker) {
  worker.id == 0 ? WriteUntilDone(worker) : MultiReadRandom(worker);
}

void ReadWhileScanning(Worker& worker) {
  worker.id == 0 ? ScanUntilDone(worker) : ReadRandom(worker);
}

// Makes single reads and writes for one thread, and counts the bytes moved.
class Mixer {
 public:
  explicit Mixer(Worker& worker)
      : worker_(worker),
        options_(worker.plan.read_options),
        timestamps_(&worker.random),
        keys_(worker.NewKeyMaker()),
        values_(worker.NewValues()) {}

  // Chooses the key of the following calls.
  void Choose() {
    worker_.SpendDraw();
    number_ = worker_.random.Below(static_cast<uint64_t>(worker_.plan.num));
    key_ = keys_.Make(number_);
  }

  // Returns false, with an empty value, if the key is absent.
  bool Read() {
    timestamps_.SetFor(&options_);
    const Status s = worker_.db()->Get(options_, family(), key_, &value_);
    if (s.ok()) {
      bytes_ += static_cast<int64_t>(key_.size() + UserTimestamps::size() + value_.size());
      ++found_;
      return true;
    }
    if (!s.IsNotFound()) Fail("Get error", s);
    value_.clear();
    return false;
  }

  void Write(const Slice& value) {
    const auto size = static_cast<int64_t>(key_.size() + UserTimestamps::size() + value.size());
    worker_.PayForWrite(size);
    const Status s = PutOne(worker_, timestamps_, family(), key_, value);
    if (!s.ok()) Fail("put error", s);
    bytes_ += size;
  }

  Slice NextValue() { return values_.Next(); }
  std::string* value() { return &value_; }
  int64_t found() const { return found_; }
  int64_t bytes() const { return bytes_; }

 private:
  ColumnFamilyHandle* family() const { return worker_.database.family(number_); }

  Worker& worker_;
  ReadOptions options_;
  UserTimestamps timestamps_;
  KeyMaker keys_;
  ValueStream values_;
  uint64_t number_ = 0;
  Slice key_;
  std::string value_;
  int64_t found_ = 0;
  int64_t bytes_ = 0;
};

// The first --readwritepercent of each hundred operations are reads.
void ReadRandomWriteRandom(Worker& worker) {
  Mixer mixer(worker);
  int64_t reads = 0;
  int64_t writes = 0;
  Budget budget(FLAGS_duration, worker.plan.reads_and_writes);
  while (budget.Take()) {
    mixer.Choose();
    const bool read = (reads + writes) % 100 < FLAGS_readwritepercent;
    if (read) {
      static_cast<void>(mixer.Read());
      ++reads;
    } else {
      mixer.Write(mixer.NextValue());
      ++writes;
    }
    worker.stats.FinishedOps(1, read ? Op::kRead : Op::kWrite);
  }
  std::array<char, 160> note{};
  std::snprintf(note.data(), note.size(), "( reads:%lld writes:%lld total:%lld found:%lld)",
                static_cast<long long>(reads), static_cast<long long>(writes),
                static_cast<long long>(worker.plan.reads_and_writes),
                static_cast<long long>(mixer.found()));
  worker.stats.AddMessage(note.data());
}

// Says what is written of an old value and a new one.
enum class UpdateKind : uint8_t { kReplace, kAppend, kXor };

// Changes the bytes of the old value by those of the new one, which decides the length.
void XorInto(const Slice& fresh, std::string* value) {
  value->resize(fresh.size());
  for (size_t i = 0; i < fresh.size(); ++i) {
    (*value)[i] = static_cast<char>((*value)[i] ^ fresh[i]);
  }
}

// Reads a value and writes the key again.
void Update(Worker& worker, UpdateKind kind) {
  Mixer mixer(worker);
  int64_t updates = 0;
  Budget budget(FLAGS_duration, worker.plan.reads_and_writes);
  while (budget.Take()) {
    mixer.Choose();
    const bool found = mixer.Read();
    const Slice fresh = mixer.NextValue();
    if (kind == UpdateKind::kXor) {
      XorInto(fresh, mixer.value());
      mixer.Write(*mixer.value());
    } else if (kind == UpdateKind::kAppend) {
      if (found) mixer.value()->push_back(',');
      mixer.value()->append(fresh.data(), fresh.size());
      mixer.Write(*mixer.value());
    } else {
      mixer.Write(fresh);
    }
    ++updates;
    worker.stats.FinishedOps(1, Op::kUpdate);
  }
  worker.stats.AddBytes(mixer.bytes());
  std::array<char, 100> note{};
  std::snprintf(note.data(), note.size(), "( updates:%lld found:%lld)",
                static_cast<long long>(updates), static_cast<long long>(mixer.found()));
  worker.stats.AddMessage(note.data());
}

void UpdateRandom(Worker& worker) {
  Update(worker, UpdateKind::kReplace);
}

void AppendRandom(Worker& worker) {
  Update(worker, UpdateKind::kAppend);
}

void XorUpdateRandom(Worker& worker) {
  Update(worker, UpdateKind::kXor);
}

// Draws the slot whose key is replaced; each slot has one key that exists. Slots near the middle
// are drawn most often, and what falls outside counts as the first or the last one.
uint64_t DrawSlot(std::normal_distribution<double>* normal, std::mt19937_64* engine,
                  int64_t slots) {
  const double drawn = std::round((*normal)(*engine));
  return static_cast<uint64_t>(std::clamp(drawn, 0.0, static_cast<double>(slots - 1)));
}

// Replaces keys: deletes the one of a slot and puts its successor.
void RandomReplaceKeys(Worker& worker) {
  const Plan& plan = worker.plan;
  const int64_t slots = std::clamp<int64_t>(FLAGS_numdistinct, 1, plan.num);
  // The numbers of a slot are [slot * versions, (slot + 1) * versions). At most one of them exists
  // at any time, that of the current version. Each key is put once between two deletions, which is
  // the condition of SingleDelete.
  const auto versions = static_cast<uint64_t>(plan.num / slots);
  std::vector<uint64_t> version(static_cast<size_t>(slots));
  KeyMaker keys = worker.NewKeyMaker();
  ValueStream values = worker.NewValues();
  const auto number_of = [&](uint64_t slot) { return slot * versions + version[slot] % versions; };
  const auto change = [&](uint64_t slot, bool put) {
    const uint64_t number = number_of(slot);
    ColumnFamilyHandle* const family = worker.database.family(number);
    const Slice key = keys.Make(number);
    const WriteOptions& options = plan.write_options;
    const Status s = put ? worker.db()->Put(options, family, key, values.Next())
                     : FLAGS_use_single_deletes ? worker.db()->SingleDelete(options, family, key)
                                                : worker.db()->Delete(options, family, key);
    if (!s.ok()) Fail(put ? "put error" : "del error", s);
  };
  for (int64_t slot = 0; slot < slots; ++slot) change(static_cast<uint64_t>(slot), true);
  worker.stats.Start();  // The keys that exist before are not measured.
  std::mt19937_64 engine(worker.seed);
  std::normal_distribution<double> normal(static_cast<double>(slots) / 2, FLAGS_stddev);
  Budget budget(FLAGS_duration, plan.writes);
  while (budget.Take()) {
    const uint64_t slot = DrawSlot(&normal, &engine, slots);
    change(slot, false);
    ++version[slot];
    change(slot, true);
    worker.stats.FinishedOps(1, Op::kOther);
  }
  std::array<char, 120> note{};
  std::snprintf(note.data(), note.size(), "use single deletes: %d, standard deviation: %f\n",
                FLAGS_use_single_deletes ? 1 : 0, FLAGS_stddev);
  worker.stats.AddMessage(note.data());
}

// Two threads would put a key twice, which SingleDelete does not allow.
void ReplaceInOneThread(Plan& plan) {
  if (!(FLAGS_stddev >= 0)) Fail("--stddev is negative");
  plan.threads = 1;
}

constexpr std::array kMixedBenchmarks = {
    Benchmark{.name = "readwhilewriting", .body = ReadWhileWriting, .background_threads = 1},
    Benchmark{
        .name = "multireadwhilewriting", .body = MultiReadWhileWriting, .background_threads = 1},
    Benchmark{.name = "readwhilescanning", .body = ReadWhileScanning, .background_threads = 1},
    Benchmark{.name = "readrandomwriterandom", .body = ReadRandomWriteRandom},
    Benchmark{.name = "updaterandom", .body = UpdateRandom},
    Benchmark{.name = "appendrandom", .body = AppendRandom},
    Benchmark{.name = "xorupdaterandom", .body = XorUpdateRandom},
    Benchmark{.name = "randomreplacekeys",
              .body = RandomReplaceKeys,
              .setup = ReplaceInOneThread,
              .fresh = true,
              .takes_timestamps = false},
};

}  // namespace

void WriteUntilDone(Worker& worker) {
  ChangeUntilDone(worker, Op::kWrite, "put error", PutOne);
}

void MergeUntilDone(Worker& worker) {
  ChangeUntilDone(
      worker, Op::kMerge, "merge error",
      [](Worker& w, UserTimestamps& /*timestamps*/, ColumnFamilyHandle* family, const Slice& key,
         const Slice& value) { return w.db()->Merge(w.plan.write_options, family, key, value); });
}

std::span<const Benchmark> MixedBenchmarks() {
  return kMixedBenchmarks;
}

}  // namespace varve::bench
