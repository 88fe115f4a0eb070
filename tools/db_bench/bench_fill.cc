// SPDX-License-Identifier: Apache-2.0
// Benchmarks that write: loads of an empty database, overwrites, deletes.

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "varve/write_batch.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// Adds the range tombstones of --writes_per_range_tombstone to the batches of a fill.
class RangeTombstones {
 public:
  // `order` must outlive this.
  RangeTombstones(Worker& worker, FillOrder* order, FillOrder::Kind kind)
      : worker_(worker), order_(*order), kind_(kind), keys_(worker.NewKeyMaker()) {}

  // Is called after each entry. Adds a tombstone if one is due, and returns the bytes of its keys.
  int64_t AfterEntry(WriteBatch* batch) {
    if (FLAGS_writes_per_range_tombstone == 0) return 0;
    const int64_t counted = ++entries_ - FLAGS_writes_before_delete_range;
    const bool due = counted > 0 && counted % FLAGS_writes_per_range_tombstone == 0;
    if (!due || added_ >= FLAGS_max_num_range_tombstones) return 0;
    ++added_;
    // A drawn number may be written again; one of a list of unique numbers would be missing later.
    const uint64_t number = kind_ == FillOrder::Kind::kUniqueRandom
                                ? worker_.random.Below(static_cast<uint64_t>(worker_.plan.num))
                                : order_.Next();
    return FLAGS_expand_range_tombstones ? AddDeletions(number, batch) : AddRange(number, batch);
  }

  void PrintCount() const {
    if (added_ == 0) return;
    std::printf("Number of range deletions: %lld\n", static_cast<long long>(added_));
  }

 private:
  static uint64_t width() { return static_cast<uint64_t>(FLAGS_range_tombstone_width); }

  int64_t AddRange(uint64_t number, WriteBatch* batch) {
    const std::string begin = keys_.Make(number).ToString();
    const Slice end = keys_.Make(number + width());
    const Status s = batch->DeleteRange(worker_.database.family(number), begin, end);
    if (!s.ok()) Fail("del error", s);
    return static_cast<int64_t>(begin.size() + end.size());
  }

  int64_t AddDeletions(uint64_t number, WriteBatch* batch) {
    int64_t bytes = 0;
    for (uint64_t i = 0; i < width(); ++i) {
      const Slice key = keys_.Make(number + i);
      const Status s = batch->Delete(worker_.database.family(number), key);
      if (!s.ok()) Fail("del error", s);
      bytes += static_cast<int64_t>(key.size());
    }
    return bytes;
  }

  Worker& worker_;
  FillOrder& order_;
  const FillOrder::Kind kind_;
  KeyMaker keys_;
  int64_t entries_ = 0;
  int64_t added_ = 0;
};

// Each thread writes the whole count, --writes or else --num: with n threads a sequential fill
// writes every key n times.
void Fill(Worker& worker, FillOrder::Kind kind) {
  const Plan& plan = worker.plan;
  // The report notes a key space that differs from the one that was asked for.
  if (plan.num != FLAGS_num) {
    std::array<char, 40> note{};
    std::snprintf(note.data(), note.size(), "(%lld ops)", static_cast<long long>(plan.num));
    worker.stats.AddMessage(note.data());
  }
  WriteInOrder(worker, kind, plan.writes == 0 ? plan.num : plan.writes);
}

void FillSequential(Worker& worker) {
  Fill(worker, FillOrder::Kind::kSequential);
}

void FillRandom(Worker& worker) {
  Fill(worker, FillOrder::Kind::kRandom);
}

void FillUniqueRandom(Worker& worker) {
  Fill(worker, FillOrder::Kind::kUniqueRandom);
}

// Deletes without asking whether the keys exist, and is not held back by any limit of the rate.
void Delete(Worker& worker, bool sequential) {
  const Plan& plan = worker.plan;
  KeyMaker keys = worker.NewKeyMaker();
  WriteBatch batch(0, 0, plan.write_options.protection_bytes_per_key, UserTimestamps::size());
  UserTimestamps timestamps(&worker.random);
  Budget budget(sequential ? 0 : FLAGS_duration, plan.deletes);
  uint64_t next = 0;
  while (budget.Take(plan.batch_size)) {
    worker.SpendDraw();
    batch.Clear();
    for (int64_t i = 0; i < plan.batch_size; ++i) {
      const uint64_t number =
          sequential ? next++ : worker.random.Below(static_cast<uint64_t>(plan.num));
      const Status s = batch.Delete(worker.database.family(number), keys.Make(number));
      if (!s.ok()) Fail("del error", s);
    }
    timestamps.Fill(&batch);
    const Status s = worker.db()->Write(plan.write_options, &batch);
    if (!s.ok()) Fail("del error", s);
    worker.stats.FinishedOps(plan.batch_size, Op::kDelete);
  }
}

void DeleteSequential(Worker& worker) {
  Delete(worker, true);
}

void DeleteRandom(Worker& worker) {
  Delete(worker, false);
}

void OneThread(Plan& plan) {
  if (plan.threads > 1) {
    std::fprintf(stderr, "filluniquerandom runs in one thread, not in %d\n", plan.threads);
  }
  plan.threads = 1;
}

void ThousandPerBatch(Plan& plan) {
  plan.batch_size = 1000;
}

// Uses a thousandth of the key space; the number of operations stays.
void FewKeys(Plan& plan) {
  plan.num = std::max<int64_t>(1, plan.num / 1000);
}

void FewKeysSynced(Plan& plan) {
  FewKeys(plan);
  plan.write_options.sync = true;
}

void FewLargeValues(Plan& plan) {
  FewKeys(plan);
  plan.value_size = 100 * 1000;
}

constexpr std::array kFillBenchmarks = {
    Benchmark{.name = "fillseq", .body = FillSequential, .fresh = true},
    Benchmark{
        .name = "fillbatch", .body = FillSequential, .setup = ThousandPerBatch, .fresh = true},
    Benchmark{.name = "fillrandom", .body = FillRandom, .fresh = true},
    Benchmark{
        .name = "filluniquerandom", .body = FillUniqueRandom, .setup = OneThread, .fresh = true},
    Benchmark{.name = "fillsync", .body = FillRandom, .setup = FewKeysSynced, .fresh = true},
    Benchmark{.name = "fill100K", .body = FillRandom, .setup = FewLargeValues, .fresh = true},
    Benchmark{.name = "overwrite", .body = FillRandom},
    Benchmark{.name = "deleteseq", .body = DeleteSequential},
    Benchmark{.name = "deleterandom", .body = DeleteRandom},
};

}  // namespace

// Only fills in random order obey --duration: the others write a known set of keys, on which later
// benchmarks of the list rely. A batch may span column families and is paid for before it is
// written, so that the wait is not part of the latency.
void WriteInOrder(Worker& worker, FillOrder::Kind kind, int64_t count) {
  const Plan& plan = worker.plan;
  FillOrder order(kind, plan.num, worker.seed, &worker.random);
  KeyMaker keys = worker.NewKeyMaker();
  ValueStream values = worker.NewValues();
  WriteBatch batch(0, 0, plan.write_options.protection_bytes_per_key, UserTimestamps::size());
  UserTimestamps timestamps(&worker.random);
  RangeTombstones tombstones(worker, &order, kind);
  Budget budget(kind == FillOrder::Kind::kRandom ? FLAGS_duration : 0, count);
  int64_t bytes = 0;
  while (budget.Take(plan.batch_size)) {
    worker.SpendDraw();
    batch.Clear();
    int64_t batch_bytes = 0;
    for (int64_t i = 0; i < plan.batch_size; ++i) {
      const uint64_t number = order.Next();
      const Slice key = keys.Make(number);
      const Slice value = values.Next();
      const Status s = batch.Put(worker.database.family(number), key, value);
      if (!s.ok()) Fail("put error", s);
      batch_bytes += static_cast<int64_t>(key.size() + UserTimestamps::size() + value.size());
      batch_bytes += tombstones.AfterEntry(&batch);
    }
    timestamps.Fill(&batch);
    worker.PayForWrite(batch_bytes);
    const Status s = worker.db()->Write(plan.write_options, &batch);
    if (!s.ok()) Fail("put error", s);
    bytes += batch_bytes;
    worker.stats.FinishedOps(plan.batch_size, Op::kWrite);
  }
  tombstones.PrintCount();
  worker.stats.AddBytes(bytes);
}

bool CheckRangeTombstoneFlags() {
  const char* wrong = nullptr;
  if (FLAGS_writes_per_range_tombstone < 0 || FLAGS_writes_before_delete_range < 0 ||
      FLAGS_max_num_range_tombstones < 0) {
    wrong = "counts of range tombstones are at least 0";
  } else if (FLAGS_range_tombstone_width < 1) {
    wrong = "--range_tombstone_width is at least 1";
  } else if (FLAGS_writes_per_range_tombstone > 0 &&
             (FLAGS_keys_per_prefix > 0 || FLAGS_use_existing_keys)) {
    wrong = "--writes_per_range_tombstone needs keys in the order of their numbers";
  } else if (FLAGS_writes_per_range_tombstone > 0 && FLAGS_user_timestamp_size > 0) {
    wrong = "--writes_per_range_tombstone is not supported with --user_timestamp_size";
  }
  if (wrong != nullptr) std::fprintf(stderr, "%s\n", wrong);
  return wrong == nullptr;
}

std::span<const Benchmark> FillBenchmarks() {
  return kFillBenchmarks;
}

}  // namespace varve::bench
