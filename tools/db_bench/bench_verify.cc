// SPDX-License-Identifier: Apache-2.0
// A benchmark that checks what it reads: each number stands for ten keys that are changed together.

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "varve/db.h"
#include "varve/write_batch.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// The keys of a number end in one of these digits; so do their values.
constexpr std::string_view kDigits = "9876543210";

// Changes and reads the ten keys of a number at once.
class TenKeys {
 public:
  explicit TenKeys(Worker& worker) : worker_(worker), keys_(worker.NewKeyMaker()) {}

  void Choose() {
    worker_.SpendDraw();
    number_ = worker_.random.Below(static_cast<uint64_t>(worker_.plan.num));
    key_ = keys_.Make(number_).ToString();
  }

  void Put(const Slice& value) {
    WriteBatch batch;
    for (const char digit : kDigits) {
      Check("put error", batch.Put(family(), key_ + digit, value.ToString() + digit));
    }
    Check("put error", worker_.db()->Write(worker_.plan.write_options, &batch));
  }

  void Delete() {
    WriteBatch batch;
    for (const char digit : kDigits) Check("delete error", batch.Delete(family(), key_ + digit));
    Check("delete error", worker_.db()->Write(worker_.plan.write_options, &batch));
  }

  // Returns true if the keys exist. Ends the program if they are not of one moment. A batch puts or
  // deletes all ten keys, and the snapshot shows all of a batch or none of it. Hence all ten exist
  // with the same value but for the digit, or none exists.
  bool Get() {
    ManagedSnapshot snapshot(worker_.db());
    ReadOptions options = worker_.plan.read_options;
    options.snapshot = snapshot.snapshot();
    std::string first;
    for (const char digit : kDigits) {
      std::string value;
      const Status s = worker_.db()->Get(options, family(), key_ + digit, &value);
      if (!s.ok() && !s.IsNotFound()) Fail("get error", s);
      if (s.ok() && (value.empty() || value.back() != digit)) Fail("value of another key");
      if (s.ok()) value.back() = 'v';  // Tells a value from no value.
      if (digit == kDigits.front()) first = value;
      if (value != first) Fail("keys of one number differ: " + Slice(key_).ToString(/*hex=*/true));
    }
    return !first.empty();
  }

 private:
  static void Check(const char* what, const Status& s) {
    if (!s.ok()) Fail(what, s);
  }
  ColumnFamilyHandle* family() const { return worker_.database.family(number_); }

  Worker& worker_;
  KeyMaker keys_;
  uint64_t number_ = 0;
  std::string key_;
};

// Reads in --readwritepercent of each hundred operations, deletes in --deletepercent, and puts in
// the rest.
void RandomWithVerify(Worker& worker) {
  TenKeys keys(worker);
  ValueStream values = worker.NewValues();
  int64_t gets = 0;
  int64_t puts = 0;
  int64_t deletes = 0;
  int64_t found = 0;
  Budget budget(FLAGS_duration, worker.plan.reads_and_writes);
  while (budget.Take()) {
    keys.Choose();
    const int64_t turn = (gets + puts + deletes) % 100;
    if (turn < FLAGS_readwritepercent) {
      if (keys.Get()) found++;
      gets++;
      worker.stats.FinishedOps(1, Op::kRead);
    } else if (turn < FLAGS_readwritepercent + FLAGS_deletepercent) {
      keys.Delete();
      deletes++;
      worker.stats.FinishedOps(1, Op::kDelete);
    } else {
      keys.Put(values.Next());
      puts++;
      worker.stats.FinishedOps(1, Op::kWrite);
    }
  }
  std::array<char, 160> note{};
  std::snprintf(
      note.data(), note.size(), "( get:%lld put:%lld del:%lld total:%lld found:%lld)",
      static_cast<long long>(gets), static_cast<long long>(puts), static_cast<long long>(deletes),
      static_cast<long long>(worker.plan.reads_and_writes), static_cast<long long>(found));
  worker.stats.AddMessage(note.data());
}

// Ends the program unless the two iterators, both new, show the same entries.
void CompareEntries(Iterator* ours, Iterator* truth, Worker& worker) {
  ours->SeekToFirst();
  truth->SeekToFirst();
  for (; ours->Valid() && truth->Valid(); ours->Next(), truth->Next()) {
    if (ours->key() != truth->key() || ours->value() != truth->value()) {
      Fail("--truth_db differs at key " + truth->key().ToString(/*hex=*/true));
    }
    worker.stats.FinishedOps(1, Op::kRead);
  }
  if (!ours->status().ok()) Fail("iterator error", ours->status());
  if (!truth->status().ok()) Fail("iterator error of --truth_db", truth->status());
  if (ours->Valid()) Fail("--truth_db lacks key " + ours->key().ToString(/*hex=*/true));
  if (truth->Valid()) Fail("--truth_db has more: key " + truth->key().ToString(/*hex=*/true));
}

// Compares the default column family with that of --truth_db.
void VerifyAgainstTruth(Worker& worker) {
  std::unique_ptr<DB> truth;
  Options options(worker.database.options());
  options.create_if_missing = false;
  const Status s = DB::OpenForReadOnly(options, FLAGS_truth_db, &truth);
  if (!s.ok()) Fail("cannot open --truth_db", s);
  ReadOptions reads = worker.plan.read_options;
  reads.total_order_seek = true;
  const std::unique_ptr<Iterator> ours(worker.db()->NewIterator(reads));
  const std::unique_ptr<Iterator> theirs(truth->NewIterator(reads));
  CompareEntries(ours.get(), theirs.get(), worker);
}

constexpr std::array kVerifyBenchmarks = {
    Benchmark{.name = "randomwithverify", .body = RandomWithVerify, .takes_timestamps = false},
    Benchmark{.name = "verify",
              .body = VerifyAgainstTruth,
              .setup = InOneThread,
              .takes_timestamps = false},
};

}  // namespace

std::span<const Benchmark> VerifyBenchmarks() {
  return kVerifyBenchmarks;
}

}  // namespace varve::bench
