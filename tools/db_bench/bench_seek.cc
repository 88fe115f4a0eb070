// SPDX-License-Identifier: Apache-2.0
// Benchmarks of iterators: making them, and placing them at random keys.

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "varve/db.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// Makes one seek in the default column family and the steps after it. Each seek has a new iterator,
// except for a tailing one, which is meant to be kept.
class Seeker {
 public:
  explicit Seeker(Worker& worker)
      : worker_(worker),
        options_(worker.plan.read_options),
        timestamps_(&worker.random),
        keys_(worker.NewKeyMaker()),
        bound_keys_(worker.NewKeyMaker()) {}

  void SeekOnce() {
    const uint64_t number = worker_.random.Below(static_cast<uint64_t>(worker_.plan.num));
    const Slice key = keys_.Make(number);
    SetBound(number);
    // The old iterator goes first: it pins a version, and two would be alive while the new one is
    // made.
    if (iterator_ == nullptr || !options_.tailing) {
      iterator_.reset();
      timestamps_.SetFor(&options_);
      iterator_.reset(worker_.db()->NewIterator(options_));
    }
    iterator_->Seek(key);
    ++read_;
    if (iterator_->Valid() && iterator_->key() == key) ++found_;
    for (int i = 0; i < FLAGS_seek_nexts && iterator_->Valid(); ++i) {
      bytes_ += static_cast<int64_t>(iterator_->key().size() + iterator_->value().size());
      FLAGS_reverse_iterator ? iterator_->Prev() : iterator_->Next();
    }
    if (!iterator_->status().ok()) Fail("iterator error", iterator_->status());
  }

  void Report() {
    worker_.stats.AddBytes(bytes_);
    std::array<char, 80> note{};
    std::snprintf(note.data(), note.size(), "(%lld of %lld found)\n",
                  static_cast<long long>(found_), static_cast<long long>(read_));
    worker_.stats.AddMessage(note.data());
  }

 private:
  void SetBound(uint64_t number) {
    if (FLAGS_max_scan_distance <= 0) return;
    const auto distance = static_cast<uint64_t>(FLAGS_max_scan_distance);
    if (FLAGS_reverse_iterator) {
      bound_ = bound_keys_.MakeBefore(number, distance);
      options_.iterate_lower_bound = &bound_;
    } else {
      const bool bounded = bound_keys_.MakeAfter(number, distance, &bound_);
      options_.iterate_upper_bound = bounded ? &bound_ : nullptr;
    }
  }

  Worker& worker_;
  ReadOptions options_;
  UserTimestamps timestamps_;
  KeyMaker keys_;
  KeyMaker bound_keys_;
  Slice bound_;  // Into bound_keys_; options_ and the iterator refer to it.
  std::unique_ptr<Iterator> iterator_;
  int64_t read_ = 0;
  int64_t found_ = 0;
  int64_t bytes_ = 0;
};

void SeekRandom(Worker& worker) {
  Seeker seeker(worker);
  Budget budget(FLAGS_duration, worker.plan.reads);
  int64_t unpaid = 0;
  while (budget.Take()) {
    seeker.SeekOnce();
    // The rate limiter is asked once for many reads, as in bench_read.cc.
    if (++unpaid == 256) {
      worker.PayForRead(unpaid);
      unpaid = 0;
    }
    worker.stats.FinishedOps(1, Op::kSeek);
  }
  seeker.Report();
}

void NewIterator(Worker& worker) {
  ReadOptions options = worker.plan.read_options;
  UserTimestamps timestamps(&worker.random);
  Budget budget(FLAGS_duration, worker.plan.reads);
  while (budget.Take()) {
    timestamps.SetFor(&options);
    const std::unique_ptr<Iterator> it(worker.db()->NewIterator(options));
    if (!it->status().ok()) Fail("iterator error", it->status());
    worker.stats.FinishedOps(1, Op::kOther);
  }
}

// Writes keys in order, and seeks each as soon as it is written; then --seek_nexts keys before it
// are read, those with its prefix if keys have prefixes. Ends the program if an iterator does not
// show them.
void FillSeekSequential(Worker& worker) {
  KeyMaker keys = worker.NewKeyMaker();
  ValueStream values = worker.NewValues();
  const auto steps = static_cast<uint64_t>(std::max(FLAGS_seek_nexts, 0));
  if (steps > 0 && !keys.HoldsAllNumbers()) {
    Fail("fillseekseq: --key_size or --prefix_size is too small for --num different keys");
  }
  Budget budget(0, worker.plan.num);
  for (uint64_t number = 0; budget.Take(); ++number) {
    const std::string key = keys.Make(number).ToString();
    const Status s = worker.db()->Put(worker.plan.write_options, key, values.Next());
    if (!s.ok()) Fail("put error", s);
    const std::unique_ptr<Iterator> it(worker.db()->NewIterator(worker.plan.read_options));
    it->Seek(key);
    const uint64_t last = std::min(steps, keys.CountBefore(number));
    for (uint64_t back = 0; back <= last; ++back, it->Prev()) {
      if (!it->Valid() || it->key() != keys.MakeBefore(number, back)) {
        Fail("an iterator does not show a key that was written", it->status());
      }
    }
    worker.stats.FinishedOps(1, Op::kSeek);
  }
}

void SeekRandomWhileWriting(Worker& worker) {
  worker.id == 0 ? WriteUntilDone(worker) : SeekRandom(worker);
}

void SeekRandomWhileMerging(Worker& worker) {
  worker.id == 0 ? MergeUntilDone(worker) : SeekRandom(worker);
}

void NewIteratorWhileWriting(Worker& worker) {
  worker.id == 0 ? WriteUntilDone(worker) : NewIterator(worker);
}

constexpr std::array kSeekBenchmarks = {
    Benchmark{.name = "seekrandom", .body = SeekRandom},
    Benchmark{
        .name = "seekrandomwhilewriting", .body = SeekRandomWhileWriting, .background_threads = 1},
    Benchmark{.name = "seekrandomwhilemerging",
              .body = SeekRandomWhileMerging,
              .setup = NeedMergeOperator,
              .background_threads = 1,
              .takes_timestamps = false},
    Benchmark{.name = "fillseekseq",
              .body = FillSeekSequential,
              .setup = InOneThread,
              .fresh = true,
              .takes_timestamps = false},
    Benchmark{.name = "newiterator", .body = NewIterator},
    Benchmark{.name = "newiteratorwhilewriting",
              .body = NewIteratorWhileWriting,
              .background_threads = 1},
};

}  // namespace

std::span<const Benchmark> SeekBenchmarks() {
  return kSeekBenchmarks;
}

}  // namespace varve::bench
