// SPDX-License-Identifier: Apache-2.0

#include "table/iterator/merging_iterator.h"

#include <gtest/gtest.h>

#include <random>

#include "table/iterator/heap.h"
#include "tests/table/iterator_walk.h"

namespace varve {
namespace {

using test::IKey;
using test::InternalKeyLess;
using test::Model;

// Walks a model of its own; fails on request.
class ModelIterator final : public InternalIterator {
 public:
  explicit ModelIterator(Model model) : model_(std::move(model)), at_(model_.end()) {}

  void SeekToFirst() override { Place(model_.begin()); }
  void SeekToLast() override { Place(model_.empty() ? model_.end() : std::prev(model_.end())); }
  void Seek(const Slice& target) override { Place(model_.lower_bound(target.ToString())); }
  void SeekForPrev(const Slice& target) override {
    const auto it = model_.upper_bound(target.ToString());
    Place(it == model_.begin() ? model_.end() : std::prev(it));
  }
  void Next() override {
    if (fail_after > 0 && --fail_after == 0) {
      failed_ = true;
      valid_ = false;
      return;
    }
    Place(std::next(at_));
  }
  void Prev() override { Place(at_ == model_.begin() ? model_.end() : std::prev(at_)); }
  // Runs of up to three, which know their keys.
  size_t NextBatch(BatchEntry* out, size_t max) override {
    return Run(
        out, max, [this] { return std::next(at_) == model_.end(); }, [this] { Next(); });
  }
  size_t PrevBatch(BatchEntry* out, size_t max) override {
    return Run(
        out, max, [this] { return at_ == model_.begin(); }, [this] { Prev(); });
  }
  Status status() const override { return failed_ ? Status::Corruption("child") : Status::OK(); }

  int fail_after = 0;

 private:
  template <typename IsLast, typename Step>
  size_t Run(BatchEntry* out, size_t max, IsLast is_last, Step step) {
    size_t n = 0;
    while (n < std::min<size_t>(max, 3)) {
      // A batch ends before what cannot be read, and stands on its last entry.
      if (n > 0 && (is_last() || fail_after == 1)) break;
      const std::string before = ExtractUserKey(key_).ToString();
      step();
      if (!valid_) break;
      out[n].Set(key_, value_);
      out[n].same_key = ExtractUserKey(key_) == Slice(before) ? SameKey::kYes : SameKey::kNo;
      n++;
    }
    return n;
  }
  void Place(Model::const_iterator at) {
    failed_ = false;
    at_ = at;
    valid_ = at != model_.end();
    if (!valid_) return;
    key_ = at->first;
    value_ = at->second;
  }

  const Model model_;
  Model::const_iterator at_;
  bool failed_ = false;
};

class BackwardsComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Backwards"; }
  int Compare(const Slice& a, const Slice& b) const override { return -a.compare(b); }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST(MergingIterator, WalksAsTheUnionInBothDirections) {
  static const BackwardsComparator custom;
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(),
                                       static_cast<const Comparator*>(&custom)}) {
    const InternalKeyComparator icmp(comparator);
    for (uint32_t seed = 0; seed < 60; seed++) {
      std::mt19937 random(seed);
      Model all{InternalKeyLess{&icmp}};
      std::vector<std::unique_ptr<InternalIterator>> children;
      const size_t count = random() % 7;
      for (size_t c = 0; c < count; c++) {
        Model own{InternalKeyLess{&icmp}};
        for (size_t n = random() % 60; n > 0; n--) {
          const std::string key = IKey(test::RandomUserKey(&random, 3, 10), 1 + random() % 1000);
          if (all.count(key) != 0) continue;
          own[key] = all[key] = std::to_string(c);
        }
        children.push_back(std::make_unique<ModelIterator>(std::move(own)));
      }
      const auto iter = NewMergingIterator(&icmp, std::move(children));
      test::WalkAtRandom(iter.get(), all, test::TargetsFor(all, seed), seed, 1000);
      if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed << comparator->Name();
    }
  }
}

TEST(MergingIterator, EqualKeysComeOutInTheOrderOfTheChildren) {
  const InternalKeyComparator icmp(BytewiseComparator());
  std::vector<std::unique_ptr<InternalIterator>> children;
  for (int c = 0; c < 4; c++) {
    Model own{InternalKeyLess{&icmp}};
    for (const char* key : {"a", "b", "c"}) own[IKey(key, 5)] = std::to_string(c);
    children.push_back(std::make_unique<ModelIterator>(std::move(own)));
  }
  const auto iter = NewMergingIterator(&icmp, std::move(children));
  std::string order;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) order += iter->value().ToString();
  EXPECT_EQ(order, "012301230123");
  order.clear();
  for (iter->SeekToLast(); iter->Valid(); iter->Prev()) order += iter->value().ToString();
  EXPECT_EQ(order, "321032103210");
  // Back and forth over equal keys loses and repeats nothing.
  iter->Seek(IKey("b", 5));
  order = iter->value().ToString();
  for (const char step : std::string("nnpnppnnnnpp")) {
    if (step == 'n') {
      iter->Next();
    } else {
      iter->Prev();
    }
    ASSERT_TRUE(iter->Valid());
    order += iter->value().ToString();
  }
  EXPECT_EQ(order, "0121210123032");
}

TEST(MergingIterator, ComparesNoUserKeysWhereTheirPrefixesDiffer) {
  const InternalKeyComparator icmp(BytewiseComparator());
  for (const bool interleaved : {false, true}) {
    std::vector<Model> models(15, Model{InternalKeyLess{&icmp}});
    for (size_t i = 0; i < 1500; i++) {
      models[interleaved ? i * 7 % 15 : i / 100][IKey(std::to_string(1000000 + i), 5)] = "v";
    }
    std::vector<std::unique_ptr<InternalIterator>> children;
    for (Model& model : models) children.push_back(std::make_unique<ModelIterator>(model));
    const auto iter = NewMergingIterator(&icmp, std::move(children));
    get_perf_context()->Reset();
    size_t entries = 0;
    for (iter->SeekToFirst(); iter->Valid(); iter->Next()) entries++;
    EXPECT_EQ(entries, 1500u);
    EXPECT_EQ(get_perf_context()->user_key_comparison_count, 0u);
  }
}

TEST(MergingIterator, AFailedChildEndsTheWalkUntilTheNextSeek) {
  const InternalKeyComparator icmp(BytewiseComparator());
  std::vector<std::unique_ptr<InternalIterator>> children;
  for (int c = 0; c < 3; c++) {
    Model own{InternalKeyLess{&icmp}};
    for (int i = 0; i < 10; i++) own[IKey("k" + std::to_string(3 * i + c), 5)] = "v";
    auto child = std::make_unique<ModelIterator>(std::move(own));
    if (c == 1) child->fail_after = 3;
    children.push_back(std::move(child));
  }
  const auto iter = NewMergingIterator(&icmp, std::move(children));
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) {
  }
  EXPECT_TRUE(iter->status().IsCorruption());
  size_t count = 0;
  for (iter->SeekToFirst(); iter->Valid(); iter->Next()) count++;
  EXPECT_TRUE(iter->status().ok());
  EXPECT_EQ(count, 30u);
}

TEST(MergingIterator, OneChildIsReturnedAsItIsAndNoneIsEmpty) {
  const InternalKeyComparator icmp(BytewiseComparator());
  auto child = std::make_unique<ModelIterator>(Model{InternalKeyLess{&icmp}});
  InternalIterator* const raw = child.get();
  std::vector<std::unique_ptr<InternalIterator>> children;
  children.push_back(std::move(child));
  EXPECT_EQ(NewMergingIterator(&icmp, std::move(children)).get(), raw);
  const auto empty = NewMergingIterator(&icmp, {});
  empty->SeekToFirst();
  EXPECT_FALSE(empty->Valid());
  EXPECT_TRUE(empty->status().ok());
  EXPECT_TRUE(NewEmptyInternalIterator(Status::IOError("x"))->status().IsIOError());
}

TEST(ReplaceTopHeap, ComesOutSortedWhateverIsReplaced) {
  const auto before = [](int a, int b) { return a < b; };
  std::mt19937 random(4);
  ReplaceTopHeap<int, decltype(before)> heap(before);
  for (int i = 0; i < 50; i++) heap.AddUnordered(static_cast<int>(random() % 100));
  heap.BuildHeap();
  int last = -1;
  while (!heap.empty()) {
    ASSERT_GE(heap.top(), last);
    last = heap.top();
    if (random() % 3 != 0 && last < 1000) {
      heap.top() = last + static_cast<int>(random() % 50);
      heap.TopChanged();
      if (const int* second = heap.Second(); second != nullptr) {
        ASSERT_GE(*second, heap.top());
      }
    } else {
      heap.Pop();
    }
  }
  EXPECT_GE(last, 100);
}

}  // namespace
}  // namespace varve
