// SPDX-License-Identifier: Apache-2.0
// fillanddeleteuniquerandom: a fill in which later entries replace earlier ones under other keys,
// as a job does that stores its inputs, computes, stores its results and deletes the inputs. The
// keys are cut into rounds:
//
//    in random order   | disposable | persistent | disposable | persistent | ...
//                      '-------- round 0 --------'-------- round 1 --------'
//
// The disposable entries of a round (--disposable_entries_batch_size) are written first. When
// --disposable_entries_delete_delay microseconds have passed, its persistent entries
// (--persistent_entries_batch_size) are written, and then its disposable ones deleted. Meanwhile
// later rounds begin.

#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <thread>

#include "varve/write_batch.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// One operation of the fill.
struct RoundStep {
  enum class Kind { kPutDisposable, kPutPersistent, kDelete };
  Kind kind = Kind::kPutDisposable;
  uint64_t number = 0;  // of the key
};

// Says which operation comes next. Only whole rounds are begun.
class Rounds {
 public:
  // `order` must outlive this, and be of unique keys.
  Rounds(const FillOrder& order, int64_t num)
      : order_(order), count_(static_cast<uint64_t>(num) / size()) {}

  // Returns false when all rounds are over. Sleeps if nothing is left but rounds that wait.
  bool Next(RoundStep* step) {
    const bool all_begun = begun_ == count_;
    if (all_begun && due_.empty()) return false;
    if (all_begun) SleepUntil(due_.front().micros);
    if (all_begun || (!due_.empty() && due_.front().micros <= NowMicros())) {
      EndRound(step);
    } else {
      BeginRound(step);
    }
    return true;
  }

 private:
  struct DueRound {
    uint64_t micros = 0;  // when its results are due
    uint64_t start = 0;   // place of its first key in the order
  };

  static uint64_t size() {
    return FLAGS_disposable_entries_batch_size + FLAGS_persistent_entries_batch_size;
  }

  static void SleepUntil(uint64_t micros) {
    const uint64_t now = NowMicros();
    if (now < micros) std::this_thread::sleep_for(std::chrono::microseconds(micros - now));
  }

  void BeginRound(RoundStep* step) {
    const uint64_t start = begun_ * size();
    *step = {RoundStep::Kind::kPutDisposable, order_.At(start + written_)};
    if (++written_ < FLAGS_disposable_entries_batch_size) return;
    due_.push_back({NowMicros() + FLAGS_disposable_entries_delete_delay, start});
    written_ = 0;
    ++begun_;
  }

  void EndRound(RoundStep* step) {
    const uint64_t start = due_.front().start;
    const uint64_t persistent = FLAGS_persistent_entries_batch_size;
    if (ended_ < persistent) {
      const uint64_t place = start + FLAGS_disposable_entries_batch_size + ended_;
      *step = {RoundStep::Kind::kPutPersistent, order_.At(place)};
    } else {
      *step = {RoundStep::Kind::kDelete, order_.At(start + ended_ - persistent)};
    }
    if (++ended_ < size()) return;
    due_.pop_front();
    ended_ = 0;
  }

  const FillOrder& order_;
  const uint64_t count_;      // number of rounds
  uint64_t begun_ = 0;        // rounds whose disposable entries are all written
  uint64_t written_ = 0;      // disposable entries of the round after these
  std::deque<DueRound> due_;  // rounds that have begun, and have not ended
  uint64_t ended_ = 0;        // operations of the first of these since it was due
};

// Writes the rounds, and counts what it has written by kinds.
class RoundWriter {
 public:
  explicit RoundWriter(Worker& worker)
      : worker_(worker), keys_(worker.NewKeyMaker()), values_(worker.NewValues()) {}

  // Adds the operation to the batch, and returns the bytes of its key and value.
  int64_t Add(const RoundStep& step, WriteBatch* batch) {
    ColumnFamilyHandle* const family = worker_.database.family(step.number);
    const Slice key = keys_.Make(step.number);
    const bool deletes = step.kind == RoundStep::Kind::kDelete;
    const int size = step.kind == RoundStep::Kind::kPutDisposable
                         ? FLAGS_disposable_entries_value_size
                         : FLAGS_persistent_entries_value_size;
    const Slice value = deletes ? Slice() : values_.Next(static_cast<size_t>(size));
    const Status s = deletes ? batch->Delete(family, key) : batch->Put(family, key, value);
    if (!s.ok()) Fail("put error", s);
    ++(deletes ? deleted_ : put_);
    return static_cast<int64_t>(key.size() + UserTimestamps::size() + value.size());
  }

  void PrintCounts() const {
    std::printf(
        "Number of unique keys inserted (disposable+persistent): %llu.\n"
        "Number of 'disposable entry delete': %llu\n",
        static_cast<unsigned long long>(put_), static_cast<unsigned long long>(deleted_));
  }

 private:
  Worker& worker_;
  KeyMaker keys_;
  ValueStream values_;
  uint64_t put_ = 0;
  uint64_t deleted_ = 0;
};

// Without disposable entries it is filluniquerandom.
void FillAndDelete(Worker& worker) {
  const Plan& plan = worker.plan;
  const int64_t count = plan.writes == 0 ? plan.num : plan.writes;
  if (FLAGS_disposable_entries_batch_size == 0) {
    WriteInOrder(worker, FillOrder::Kind::kUniqueRandom, count);
    return;
  }
  const FillOrder order(FillOrder::Kind::kUniqueRandom, plan.num, worker.seed, &worker.random);
  Rounds rounds(order, plan.num);
  RoundWriter writer(worker);
  WriteBatch batch(0, 0, plan.write_options.protection_bytes_per_key, UserTimestamps::size());
  UserTimestamps timestamps(&worker.random);
  Budget budget(0, count);
  RoundStep step;
  int64_t bytes = 0;
  for (bool more = true; more && budget.Take(plan.batch_size);) {
    worker.SpendDraw();
    batch.Clear();
    int64_t batch_bytes = 0;
    int64_t operations = 0;
    while (operations < plan.batch_size && (more = rounds.Next(&step))) {
      batch_bytes += writer.Add(step, &batch);
      ++operations;
    }
    if (operations == 0) break;
    timestamps.Fill(&batch);
    worker.PayForWrite(batch_bytes);
    const Status s = worker.db()->Write(plan.write_options, &batch);
    if (!s.ok()) Fail("put error", s);
    bytes += batch_bytes;
    worker.stats.FinishedOps(operations, Op::kWrite);
  }
  writer.PrintCounts();
  worker.stats.AddBytes(bytes);
}

constexpr std::array kDisposableBenchmarks = {
    Benchmark{.name = "fillanddeleteuniquerandom",
              .body = FillAndDelete,
              .setup = InOneThread,
              .fresh = true},
};

}  // namespace

bool CheckDisposableFlags() {
  const uint64_t disposable = FLAGS_disposable_entries_batch_size;
  const uint64_t persistent = FLAGS_persistent_entries_batch_size;
  const auto num = static_cast<uint64_t>(FLAGS_num);
  const char* wrong = nullptr;
  if (disposable == 0 && persistent > 0) {
    wrong = "--persistent_entries_batch_size needs --disposable_entries_batch_size";
  } else if (disposable > num || persistent > num - disposable) {
    wrong = "--num is too small for one round of disposable and persistent entries";
  } else if (disposable > 0 && FLAGS_overwrite_probability > 0.0) {
    wrong = "--overwrite_probability and --disposable_entries_batch_size exclude each other";
  }
  if (wrong != nullptr) std::fprintf(stderr, "%s\n", wrong);
  return wrong == nullptr;
}

std::span<const Benchmark> DisposableBenchmarks() {
  return kDisposableBenchmarks;
}

}  // namespace varve::bench
