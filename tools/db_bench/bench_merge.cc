// SPDX-License-Identifier: Apache-2.0
// Benchmarks of merging. That which reads operands one by one is among the reads.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

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

// Holds the lists of getmergeoperands: some keys, each of sorted lists that are merged.
constexpr int64_t kListKeys = 100;
constexpr int kListsOfAKey = 50;
constexpr int kNumbersOfAList = 100;
constexpr uint64_t kListNumbers = 1000000;

// Returns true if the sorted list, such as "1,3,8", has the number.
bool Contains(std::string_view list, uint64_t number) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    uint64_t found = 0;
    std::from_chars(list.data(), list.data() + end, found);
    if (found >= number) return found == number;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

void WriteLists(Worker& worker, KeyMaker* keys) {
  for (int i = 0; i < kListsOfAKey; ++i) {
    for (int64_t key = 0; key < kListKeys; ++key) {
      std::vector<uint64_t> numbers(kNumbersOfAList);
      for (uint64_t& number : numbers) number = worker.random.Below(kListNumbers);
      std::ranges::sort(numbers);
      std::string list;
      for (const uint64_t number : numbers) {
        list += (list.empty() ? "" : ",") + std::to_string(number);
      }
      const Status s = worker.db()->Merge(worker.plan.write_options,
                                          keys->Make(static_cast<uint64_t>(key)), list);
      if (!s.ok()) Fail("merge error", s);
    }
  }
}

// Looks for a number by the merged list.
bool FindInValue(Worker& worker, const Slice& key, uint64_t number) {
  PinnableSlice value;
  const Status s =
      worker.db()->Get(worker.plan.read_options, worker.db()->DefaultColumnFamily(), key, &value);
  if (!s.ok()) Fail("Get error", s);
  return Contains(value.ToStringView(), number);
}

// Looks for a number in each list as it was written.
bool FindInOperands(Worker& worker, const Slice& key, uint64_t number) {
  std::array<PinnableSlice, kListsOfAKey> operands;
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = kListsOfAKey;
  int count = 0;
  const Status s =
      worker.db()->GetMergeOperands(worker.plan.read_options, worker.db()->DefaultColumnFamily(),
                                    key, operands.data(), &options, &count);
  if (!s.ok()) Fail("GetMergeOperands error", s);
  return std::any_of(operands.begin(), operands.begin() + count, [number](const auto& operand) {
    return Contains(operand.ToStringView(), number);
  });
}

// Compares looking for numbers by the merged value and by the operands. Ends the program if the
// answers differ.
void CompareMergeOperands(Worker& worker) {
  KeyMaker keys = worker.NewKeyMaker();
  WriteLists(worker, &keys);
  worker.stats.Start();  // Writing is not measured.
  std::array<uint64_t, 2> micros{};
  int64_t reads = 0;
  Budget budget(FLAGS_duration, worker.plan.reads);
  while (budget.Take()) {
    const Slice key = keys.Make(worker.random.Below(kListKeys));
    const uint64_t number = worker.random.Below(kListNumbers);
    const uint64_t begin = NowMicros();
    const bool in_value = FindInValue(worker, key, number);
    const uint64_t middle = NowMicros();
    if (FindInOperands(worker, key, number) != in_value) Fail("operands and value differ");
    micros[0] += middle - begin;
    micros[1] += NowMicros() - middle;
    ++reads;
    worker.stats.FinishedOps(1, Op::kRead);
  }
  std::array<char, 120> note{};
  std::snprintf(note.data(), note.size(), "(micros by Get: %.1f, by GetMergeOperands: %.1f)",
                static_cast<double>(micros[0]) / static_cast<double>(std::max<int64_t>(reads, 1)),
                static_cast<double>(micros[1]) / static_cast<double>(std::max<int64_t>(reads, 1)));
  worker.stats.AddMessage(note.data());
}

void NeedSortedLists(Plan& plan) {
  if (FLAGS_merge_operator != "sortlist") Fail("--merge_operator=sortlist is needed");
  if (plan.num < kListKeys) Fail("--num is less than 100");
  plan.threads = 1;
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
    Benchmark{.name = "getmergeoperands",
              .body = CompareMergeOperands,
              .setup = NeedSortedLists,
              .fresh = true,
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
