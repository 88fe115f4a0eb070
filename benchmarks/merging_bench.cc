// SPDX-License-Identifier: Apache-2.0

// Merging sorted runs: the merging iterator beside a std::priority_queue of the same children.
//
// Arguments: the number of runs, and how many neighbouring keys come from one run before another
// one's turn (1: from a run drawn at random for each key; 1000: long stretches). Reported beside
// the time: calls of a comparator with two user keys, and comparisons of key words in a heap like
// the iterator's, each per key.

#include <benchmark/benchmark.h>

#include <memory>
#include <queue>
#include <random>
#include <string>
#include <vector>

#include "table/iterator/heap.h"
#include "table/iterator/merging_iterator.h"
#include "util/key/internal_key.h"
#include "util/metrics/perf_counters.h"

namespace varve {
namespace {

constexpr size_t kKeys = 1 << 18;

using Run = std::vector<std::string>;

// Walks a run forward. The keys stay valid, as a memtable's do.
class RunIterator final : public InternalIterator {
 public:
  explicit RunIterator(const Run* run) : run_(*run) {}
  void SeekToFirst() override { Place(0); }
  void SeekToLast() override {}
  void Seek(const Slice&) override {}
  void SeekForPrev(const Slice&) override {}
  void Next() override { Place(at_ + 1); }
  void Prev() override {}
  size_t NextBatch(BatchEntry* out, size_t max) override {
    size_t n = 0;
    while (n < max && at_ + 1 < run_.size()) {
      Place(at_ + 1);
      out[n++].Set(key_, value_);
    }
    if (n == 0) valid_ = false;
    return n;
  }
  Status status() const override { return Status::OK(); }

 private:
  void Place(size_t at) {
    at_ = at;
    valid_ = at < run_.size();
    if (valid_) key_ = value_ = run_[at];
  }
  const Run& run_;
  size_t at_ = 0;
};

std::vector<Run> MakeRuns(size_t count, size_t stretch) {
  std::mt19937 random(17);
  std::vector<Run> runs(count);
  size_t owner = 0;
  for (uint64_t i = 0; i < kKeys; i++) {
    if (i % stretch == 0) owner = random() % count;
    std::string user_key(16, '0');
    for (size_t b = 0; b < 8; b++) user_key[b] = static_cast<char>(i >> (56 - 8 * b));
    std::string key;
    AppendInternalKey(&key, user_key, i + 1, kTypeValue);
    runs[owner].push_back(std::move(key));
  }
  return runs;
}

std::vector<std::unique_ptr<InternalIterator>> ChildrenOf(const std::vector<Run>& runs) {
  std::vector<std::unique_ptr<InternalIterator>> children;
  for (const Run& run : runs) children.push_back(std::make_unique<RunIterator>(&run));
  return children;
}

uint64_t ComparisonsSoFar() {
  return get_perf_context()->user_key_comparison_count;
}

// Returns the comparisons per key of a heap that remembers the smaller child of its root.
double PrefixComparisons(const std::vector<Run>& runs) {
  struct Head {
    uint64_t key_prefix;
    const Run* run;
    size_t at;
  };
  uint64_t comparisons = 0;
  const auto before = [&](const Head& a, const Head& b) {
    comparisons++;
    return a.key_prefix < b.key_prefix;
  };
  ReplaceTopHeap<Head, decltype(before)> heap(before);
  for (const Run& run : runs) {
    if (!run.empty()) heap.AddUnordered(Head{KeyPrefix(run[0], 0), &run, 0});
  }
  heap.BuildHeap();
  while (!heap.empty()) {
    Head& top = heap.top();
    if (++top.at == top.run->size()) {
      heap.Pop();
    } else {
      top.key_prefix = KeyPrefix((*top.run)[top.at], 0);
      heap.TopChanged();
    }
  }
  return static_cast<double>(comparisons) / kKeys;
}

void BM_MergingIterator(benchmark::State& state) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const std::vector<Run> runs =
      MakeRuns(static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  const auto merged = NewMergingIterator(&icmp, ChildrenOf(runs));
  BatchEntry entries[32];
  const uint64_t before = ComparisonsSoFar();
  uint64_t keys = 0;
  uint64_t bytes = 0;
  for (auto _ : state) {
    merged->SeekToFirst();
    for (size_t n = 1; n != 0; n = merged->NextBatch(entries, 32)) {
      keys += n;
      bytes += merged->key().size();
    }
  }
  benchmark::DoNotOptimize(bytes);
  state.SetItemsProcessed(static_cast<int64_t>(keys));
  state.counters["user_key_comparisons"] =
      static_cast<double>(ComparisonsSoFar() - before) / static_cast<double>(keys);
  state.counters["prefix_comparisons"] = PrefixComparisons(runs);
}

void BM_PriorityQueue(benchmark::State& state) {
  const InternalKeyComparator icmp(BytewiseComparator());
  const std::vector<Run> runs =
      MakeRuns(static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  const auto children = ChildrenOf(runs);
  const auto after = [&icmp](const InternalIterator* a, const InternalIterator* b) {
    return icmp.Compare(a->key(), b->key()) > 0;
  };
  const uint64_t before = ComparisonsSoFar();
  uint64_t keys = 0;
  uint64_t bytes = 0;
  for (auto _ : state) {
    std::priority_queue<InternalIterator*, std::vector<InternalIterator*>, decltype(after)> queue(
        after);
    for (const auto& child : children) {
      child->SeekToFirst();
      if (child->Valid()) queue.push(child.get());
    }
    while (!queue.empty()) {
      InternalIterator* const child = queue.top();
      queue.pop();
      keys++;
      bytes += child->key().size();
      child->Next();
      if (child->Valid()) queue.push(child);
    }
  }
  benchmark::DoNotOptimize(bytes);
  state.SetItemsProcessed(static_cast<int64_t>(keys));
  state.counters["user_key_comparisons"] =
      static_cast<double>(ComparisonsSoFar() - before) / static_cast<double>(keys);
}

BENCHMARK(BM_MergingIterator)->ArgsProduct({{2, 4, 8, 16, 64}, {1, 1000}});
BENCHMARK(BM_PriorityQueue)->ArgsProduct({{2, 4, 8, 16, 64}, {1, 1000}});

}  // namespace
}  // namespace varve
