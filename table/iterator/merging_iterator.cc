// SPDX-License-Identifier: Apache-2.0
#include "table/iterator/merging_iterator.h"

#include <cstdint>
#include <string>
#include <utility>

#include "table/iterator/heap.h"
#include "util/iter/run_reader.h"
#include "util/key/internal_key.h"
#include "util/metrics/perf_counters.h"

namespace varve {

namespace {

// A child and the run that it decoded last, of which the heap knows the first entry.
struct Child {
  static constexpr size_t kRunEntries = 16;

  std::unique_ptr<InternalIterator> iter;
  uint32_t index = 0;  // decides between equal keys
  EntryRun run;

  // False when the run is used up.
  bool Advance() {
    if (run.at + 1 == run.end) return false;
    run.at++;
    return true;
  }
};

// A child as the heaps see it.
struct Source {
  uint64_t word;  // of the current key: smaller means earlier, equal decides nothing
  Child* child;
};

// The order of one kind of comparator. With a custom one all words are 0.
template <KeyOrder kOrder>
struct SourceOrder {
  const InternalKeyComparator* icmp;

  static uint64_t WordOf(const Slice& internal_key) {
    if constexpr (kOrder == KeyOrder::kCustom) {
      return 0;
    } else {
      const uint64_t word = KeyWord(ExtractUserKey(internal_key), 0);
      return kOrder == KeyOrder::kBytewise ? word : ~word;
    }
  }

  [[nodiscard]] int CompareFull(const Slice& a, const Slice& b) const {
    if constexpr (kOrder == KeyOrder::kCustom) {
      return icmp->Compare(a, b);  // counts itself
    } else {
      CountUserKeyComparison();
      const Slice user_a = ExtractUserKey(a);
      const Slice user_b = ExtractUserKey(b);
      const int order = kOrder == KeyOrder::kBytewise ? CompareBytes(user_a, user_b)
                                                      : CompareBytes(user_b, user_a);
      if (order != 0) return order;
      return InternalKeyComparator::CompareTrailers(ExtractTrailer(a), ExtractTrailer(b));
    }
  }
};

template <KeyOrder kOrder>
struct ComesFirst {
  SourceOrder<kOrder> order;

  bool operator()(const Source& a, const Source& b) const {
    if (a.word != b.word) return a.word < b.word;
    const int c = order.CompareFull(a.child->run.at->key(), b.child->run.at->key());
    return c != 0 ? c < 0 : a.child->index < b.child->index;
  }
};

template <KeyOrder kOrder>
struct ComesLast {
  ComesFirst<kOrder> first;
  bool operator()(const Source& a, const Source& b) const { return first(b, a); }
};

// Children are ahead of the walk: each has handed over a run of entries, and the heap orders what
// is left of the runs. A run is used up before its child moves on, as that ends the life of its
// keys.
template <KeyOrder kOrder>
class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(const InternalKeyComparator* icmp,
                  std::vector<std::unique_ptr<InternalIterator>> children, MergeAhead ahead,
                  size_t memtables)
      : order_{icmp},
        run_entries_(ahead == MergeAhead::kRuns ? Child::kRunEntries : 1),
        memtables_(memtables),
        child_count_(children.size()),
        children_(std::make_unique_for_overwrite<Child[]>(children.size())),
        ahead_(ComesFirst<kOrder>{order_}),
        behind_(ComesLast<kOrder>{ComesFirst<kOrder>{order_}}) {
    for (uint32_t i = 0; i < child_count_; i++) {
      children_[i].iter = std::move(children[i]);
      children_[i].index = i;
    }
    ahead_.Reserve(child_count_);
  }

  void SeekToFirst() override {
    SeekAll([](InternalIterator* child) { child->SeekToFirst(); }, true);
  }
  void SeekToLast() override {
    SeekAll([](InternalIterator* child) { child->SeekToLast(); }, false);
  }
  void Seek(const Slice& target) override {
    for (const SeekRound round : {SeekRound::kIndex, SeekRound::kBlock, SeekRound::kEntry}) {
      for (size_t i = 0; i < child_count_; i++) children_[i].iter->PrefetchSeek(target, round);
    }
    SeekAll([&target](InternalIterator* child) { child->Seek(target); }, true);
  }
  void SeekForPrev(const Slice& target) override {
    SeekAll([&target](InternalIterator* child) { child->SeekForPrev(target); }, false);
  }

  void SeekTables(const Slice& target) override {
    MoveTables(
        &ahead_, [&](const Slice& key) { return order_.CompareFull(key, target) < 0; },
        [&](InternalIterator* table) { table->Seek(target); });
  }
  void SeekTablesForPrev(const Slice& target) override {
    MoveTables(
        &behind_, [&](const Slice& key) { return order_.CompareFull(key, target) > 0; },
        [&](InternalIterator* table) { table->SeekForPrev(target); });
  }

  bool SkipOlder(const Slice& target, SequenceNumber below) override {
    return SkipInChildren(
        &ahead_, [&](const Slice& key) { return order_.CompareFull(key, target) < 0; },
        [&](InternalIterator* child) { return child->SkipOlder(target, below); });
  }
  bool SkipOlderForPrev(const Slice& target, SequenceNumber below) override {
    return SkipInChildren(
        &behind_, [&](const Slice& key) { return order_.CompareFull(key, target) > 0; },
        [&](InternalIterator* child) { return child->SkipOlderForPrev(target, below); });
  }

  void Next() override {
    RunEntry ignored;
    NextRun(&ignored, 1);
  }
  void Prev() override {
    RunEntry ignored;
    PrevRun(&ignored, 1);
  }

  size_t NextRun(RunEntry* out, size_t max) override {
    if (forward_) [[likely]]
      return Merge(&ahead_, out, max);
    TurnForward();
    return WriteCurrent(out);
  }
  size_t PrevRun(RunEntry* out, size_t max) override {
    if (!forward_) [[likely]]
      return Merge(&behind_, out, max);
    TurnBackward();
    return WriteCurrent(out);
  }

  Status status() const override { return status_; }

  // All of a child's run can be pinned through the place where the child stands.
  bool PinValue(Cleanable* pin) override { return current_->iter->PinValue(pin); }
  // Any child may have had a part in the run; none has moved beyond its own run since.
  bool PinRun(Cleanable* pin) override {
    for (size_t i = 0; i < child_count_; i++) {
      const Child& child = children_[i];
      if (child.run.at != child.run.end && !child.iter->PinRun(pin)) return false;
    }
    return true;
  }
  bool IsValuePinned() const override { return valid_ && current_->iter->IsValuePinned(); }
  bool IsKeyPinned() const override { return valid_ && current_->iter->IsKeyPinned(); }

 private:
  // The heap's top is the current entry: moves on over up to `max` entries and writes them.
  template <typename Heap>
  size_t Merge(Heap* heap, RunEntry* out, size_t max) {
    size_t n = 0;
    while (n < max) {
      Source& top = heap->top();
      Child* const left = top.child;
      const uint64_t left_word = top.word;
      if (left->Advance()) [[likely]] {
        top.word = SourceOrder<kOrder>::WordOf(left->run.at->key());
        heap->TopChanged();
      } else if (n != 0 || !Replenish(heap)) {
        break;
      }
      const Source& next = heap->top();
      out[n] = *next.child->run.at;
      // Words tell keys of different children apart; within a child the child knows.
      if (next.child != left) {
        out[n].same_key = next.word != left_word ? SameKey::kNo : SameKey::kUnknown;
      }
      n++;
    }
    if (n != 0) {
      current_ = heap->top().child;
      PublishLast(out[n - 1]);
    }
    return n;
  }

  // Gets the top's next run and puts the heap in order. False when the walk is at its end or has
  // failed.
  template <typename Heap>
  bool Replenish(Heap* heap) {
    Source& top = heap->top();
    // Not before every entry of the last run is done with.
    Child* const child = top.child;
    if (child->run.Refill(child->iter.get(), forward_, run_entries_)) [[likely]] {
      top.word = SourceOrder<kOrder>::WordOf(child->run.at->key());
      heap->TopChanged();
      return true;
    }
    if (!NoteStatus(*child->iter)) return false;
    heap->Pop();
    valid_ = !heap->empty();
    return valid_;
  }

  // False, ending the walk, if the child that is not Valid has failed.
  bool NoteStatus(const InternalIterator& child) {
    status_ = child.status();
    if (status_.ok()) return true;
    valid_ = false;
    return false;
  }

  template <typename Move>
  void SeekAll(Move move, bool forward) {
    status_ = Status::OK();
    forward_ = forward;
    const auto move_child = [&](const Child& child) { move(child.iter.get()); };
    if (forward) {
      Fill(&ahead_, move_child);
    } else {
      Fill(&behind_, move_child);
    }
  }

  // Moves every child and makes the heap of all that are Valid.
  template <typename Heap, typename Move>
  void Fill(Heap* heap, Move move) {
    valid_ = false;
    for (size_t i = 0; i < child_count_; i++) {
      if (!TakePlace(&children_[i], move)) return;
    }
    Rebuild(heap);
  }

  // Moves the tables among the children that have entries left and stand where `behind` says.
  template <typename Heap, typename Behind, typename Move>
  void MoveTables(Heap* heap, Behind behind, Move move) {
    valid_ = false;
    for (size_t i = memtables_; i < child_count_; i++) {
      Child& child = children_[i];
      if (child.run.at == child.run.end || !behind(child.run.at->key())) continue;
      if (!TakePlace(&child, [&](const Child& moving) { move(moving.iter.get()); })) return;
    }
    Rebuild(heap);
  }

  // Asks every child that has entries left and stands where `behind` says. False if none moved.
  template <typename Heap, typename Behind, typename Skip>
  bool SkipInChildren(Heap* heap, Behind behind, Skip skip) {
    bool moved = false;
    for (size_t i = 0; i < child_count_; i++) {
      Child& child = children_[i];
      if (child.run.at == child.run.end || !behind(child.run.at->key())) continue;
      if (!skip(child.iter.get())) continue;
      moved = true;
      if (!TakePlace(&child, [](const Child&) {})) return true;
    }
    if (!moved) return false;
    valid_ = false;
    Rebuild(heap);
    return true;
  }

  // False if the child has failed.
  template <typename Move>
  bool TakePlace(Child* child, Move move) {
    move(*child);
    child->run.TakePlace(*child->iter);
    return child->iter->Valid() || NoteStatus(*child->iter);
  }

  // Makes the heap of the children that have entries left, and stands on the first.
  template <typename Heap>
  void Rebuild(Heap* heap) {
    heap->Clear();
    for (size_t i = 0; i < child_count_; i++) {
      Child& child = children_[i];
      if (child.run.at == child.run.end) continue;
      heap->AddUnordered(Source{SourceOrder<kOrder>::WordOf(child.run.at->key()), &child});
    }
    if (heap->empty()) return;
    heap->BuildHeap();
    current_ = heap->top().child;
    PublishLast(*current_->run.at);
  }

  // Both turns bring all children to the far side of the current key. Among equal keys, children of
  // lower index come first.
  void TurnForward() {
    const uint32_t pivot = current_->index;
    const std::string key = key_.ToString();
    forward_ = true;
    Fill(&ahead_, [&](const Child& child) {
      child.iter->Seek(key);
      if (child.index <= pivot) StepOff(child, key, &InternalIterator::Next);
    });
  }

  void TurnBackward() {
    const uint32_t pivot = current_->index;
    const std::string key = key_.ToString();
    forward_ = false;
    Fill(&behind_, [&](const Child& child) {
      child.iter->SeekForPrev(key);
      if (child.index >= pivot) StepOff(child, key, &InternalIterator::Prev);
    });
  }

  void StepOff(const Child& child, const Slice& key, void (InternalIterator::*step)()) {
    if (child.iter->Valid() && order_.CompareFull(child.iter->key(), key) == 0) {
      (child.iter.get()->*step)();
    }
  }

  const SourceOrder<kOrder> order_;
  const size_t run_entries_;  // at most
  const size_t memtables_;    // the children before the tables
  const size_t child_count_;
  const std::unique_ptr<Child[]> children_;
  ReplaceTopHeap<Source, ComesFirst<kOrder>> ahead_;  // while moving forward
  ReplaceTopHeap<Source, ComesLast<kOrder>> behind_;  // while moving backward
  Child* current_ = nullptr;
  bool forward_ = true;
  Status status_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewMergingIterator(
    const InternalKeyComparator* icmp, std::vector<std::unique_ptr<InternalIterator>> children,
    MergeAhead ahead, size_t memtables) {
  if (children.empty()) return NewEmptyInternalIterator();
  if (children.size() == 1) return std::move(children.front());
  switch (icmp->order()) {
    case KeyOrder::kBytewise:
      return std::make_unique<MergingIterator<KeyOrder::kBytewise>>(icmp, std::move(children),
                                                                    ahead, memtables);
    case KeyOrder::kReverseBytewise:
      return std::make_unique<MergingIterator<KeyOrder::kReverseBytewise>>(
          icmp, std::move(children), ahead, memtables);
    case KeyOrder::kBytewiseU64Ts:
    case KeyOrder::kReverseBytewiseU64Ts:
    case KeyOrder::kCustom:
      break;
  }
  return std::make_unique<MergingIterator<KeyOrder::kCustom>>(icmp, std::move(children), ahead,
                                                              memtables);
}

}  // namespace varve
