// SPDX-License-Identifier: Apache-2.0
// Benchmarks of merging. That which reads operands one by one is among the reads.

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "varve/db.h"

#include "tools/db_bench/benchmark.h"
#include "tools/db_bench/fail.h"
#include "tools/db_bench/flags.h"

namespace varve::bench {

namespace {

// Merges into random keys out of --merge_keys, and counts the bytes moved.
class Merger {
 public:
  explicit Merger(Worker& worker)
      : worker_(worker),
        num_(FLAGS_merge_keys < 0 ? worker.plan.num : FLAGS_merge_keys),
        keys_(worker.plan.key_size, num_, worker.existing_keys),
        values_(worker.NewValues()) {}

  // Chooses the key of the following calls.
  void Choose() {
    worker_.SpendDraw();
    number_ = worker_.random.Below(static_cast<uint64_t>(num_));
    key_ = keys_.Make(number_);
  }

  void Merge(ColumnFamilyHandle* family) {
    const Slice value = values_.Next();
    const auto size = static_cast<int64_t>(key_.size() + value.size());
    worker_.PayForWrite(size);
    const Status s = worker_.db()->Merge(worker_.plan.write_options, family, key_, value);
    if (!s.ok()) Fail("merge error", s);
    bytes_ += size;
    worker_.stats.FinishedOps(1, Op::kMerge);
  }

  uint64_t number() const { return number_; }
  const Slice& key() const { return key_; }
  int64_t bytes() const { return bytes_; }

 private:
  Worker& worker_;
  const int64_t num_;
  KeyMaker keys_;
  ValueStream values_;
  uint64_t number_ = 0;
  Slice key_;
  int64_t bytes_ = 0;
};

void MergeRandom(Worker& worker) {
  Merger merger(worker);
  Budget budget(FLAGS_duration, worker.plan.reads_and_writes);
  while (budget.Take()) {
    merger.Choose();
    merger.Merge(worker.database.family(merger.number()));
  }
  worker.stats.AddBytes(merger.bytes());
  worker.stats.AddMessage("( updates:" + std::to_string(worker.plan.reads_and_writes) + ")");
}

// Counts the results of the reads of readrandommergerandom.
struct MixedReads {
  int64_t reads = 0;
  int64_t hits = 0;
  size_t longest = 0;
};

// Reports a read that fails and goes on, as the next key may be readable.
void ReadOne(Worker& worker, const Slice& key, std::string* value, MixedReads* totals) {
  const Status s = worker.db()->Get(worker.plan.read_options, key, value);
  if (s.ok()) {
    ++totals->hits;
    totals->longest = std::max(totals->longest, value->size());
  } else if (!s.IsNotFound()) {
    std::fprintf(stderr, "get error: %s\n", s.ToString().c_str());
  }
  ++totals->reads;
  worker.stats.FinishedOps(1, Op::kRead);
}

// Uses the default column family only.
void ReadRandomMergeRandom(Worker& worker) {
  Merger merger(worker);
  MixedReads totals;
  int64_t merges = 0;
  std::string value;
  Budget budget(FLAGS_duration, worker.plan.reads_and_writes);
  while (budget.Take()) {
    merger.Choose();
    if (worker.random.Below(100) < static_cast<uint64_t>(FLAGS_mergereadpercent)) {
      merger.Merge(worker.db()->DefaultColumnFamily());
      ++merges;
    } else {
      ReadOne(worker, merger.key(), &value, &totals);
    }
  }
  std::array<char, 160> note{};
  std::snprintf(note.data(), note.size(),
                "(reads:%lld merges:%lld total:%lld hits:%lld maxlength:%zu)",
                static_cast<long long>(totals.reads), static_cast<long long>(merges),
                static_cast<long long>(worker.plan.reads_and_writes),
                static_cast<long long>(totals.hits), totals.longest);
  worker.stats.AddMessage(note.data());
}

void ReadWhileMerging(Worker& worker) {
  worker.id == 0 ? MergeUntilDone(worker) : ReadRandom(worker);
}

constexpr std::array kMergeBenchmarks = {
    Benchmark{.name = "mergerandom",
              .body = MergeRandom,
              .setup = NeedMergeOperator,
              .takes_timestamps = false},
    Benchmark{.name = "readrandommergerandom",
              .body = ReadRandomMergeRandom,
              .setup = NeedMergeOperator,
              .takes_timestamps = false},
    Benchmark{.name = "readwhilemerging",
              .body = ReadWhileMerging,
              .setup = NeedMergeOperator,
              .background_threads = 1,
              .takes_timestamps = false},
};

}  // namespace

void NeedMergeOperator(Plan& /*plan*/) {
  if (FLAGS_merge_operator.empty()) Fail("--merge_operator is needed");
  if (FLAGS_merge_keys == 0) Fail("--merge_keys=0 leaves nothing to merge");
}

std::span<const Benchmark> MergeBenchmarks() {
  return kMergeBenchmarks;
}

}  // namespace varve::bench
