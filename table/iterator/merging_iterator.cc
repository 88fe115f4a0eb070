// SPDX-License-Identifier: Apache-2.0
#include "table/iterator/merging_iterator.h"

#include <cstdint>
#include <string>
#include <utility>

#include "table/iterator/heap.h"
#include "util/base/assert.h"
#include "util/iter/entry_batch.h"
#include "util/key/internal_key.h"
#include "util/metrics/perf_counters.h"

namespace varve {

namespace {

// A child and the batch that it decoded last, of which the heap knows the first entry.
struct Child {
  static constexpr size_t kBatchEntries = 16;

  std::unique_ptr<InternalIterator> iter;
  uint32_t index = 0;  // decides between equal keys
  EntryBatch batch;

  // False when the batch is used up.
  bool Advance() {
    VARVE_ASSERT(batch.at != batch.end);
    if (batch.at + 1 == batch.end) return false;
    batch.at++;
    return true;
  }
};

// A child as the heaps see it.
struct Source {
  uint64_t key_prefix;  // of the current key: smaller means earlier, equal decides nothing
  Child* child;
};

// The order of one kind of comparator. With a custom one all words are 0.
template <KeyOrder kOrder>
struct SourceOrder {
  const InternalKeyComparator* icmp;

  static uint64_t KeyPrefixOf(const Slice& internal_key) {
    if constexpr (kOrder == KeyOrder::kCustom) {
      return 0;
    } else {
      const uint64_t key_prefix = KeyPrefix(ExtractUserKey(internal_key), 0);
      return kOrder == KeyOrder::kBytewise ? key_prefix : ~key_prefix;
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
    if (a.key_prefix != b.key_prefix) return a.key_prefix < b.key_prefix;
    const int c = order.CompareFull(a.child->batch.at->key(), b.child->batch.at->key());
    return c != 0 ? c < 0 : a.child->index < b.child->index;
  }
};

template <KeyOrder kOrder>
struct ComesLast {
  ComesFirst<kOrder> first;
  bool operator()(const Source& a, const Source& b) const { return first(b, a); }
};

// Children are ahead of the walk: each has handed over a batch of entries, and the heap orders what
// is left of the batches. A batch is used up before its child moves on, as that ends the life of
// its keys.
template <KeyOrder kOrder>
class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(const InternalKeyComparator* icmp,
                  std::vector<std::unique_ptr<InternalIterator>> children, MergeAhead ahead,
                  size_t memtables)
      : order_{icmp},
        batch_entries_(ahead == MergeAhead::kBatches ? Child::kBatchEntries : 1),
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
    BatchEntry ignored;
    NextBatch(&ignored, 1);
  }
  void Prev() override {
    BatchEntry ignored;
    PrevBatch(&ignored, 1);
  }

  size_t NextBatch(BatchEntry* out, size_t max) override {
    if (forward_) [[likely]]
      return Merge(&ahead_, out, max);
    TurnForward();
    return WriteCurrent(out);
  }
  size_t PrevBatch(BatchEntry* out, size_t max) override {
    if (!forward_) [[likely]]
      return Merge(&behind_, out, max);
    TurnBackward();
    return WriteCurrent(out);
  }

  Status status() const override { return status_; }

  // All of a child's batch can be pinned through the place where the child stands.
  bool PinValue(Cleanable* pin) override {
    VARVE_ASSERT(valid_);
    return current_->iter->PinValue(pin);
  }
  // Any child may have had a part in the batch; none has moved beyond its own batch since.
  bool PinBatch(Cleanable* pin) override {
    for (size_t i = 0; i < child_count_; i++) {
      const Child& child = children_[i];
      if (child.batch.at != child.batch.end && !child.iter->PinBatch(pin)) return false;
    }
    return true;
  }
  bool IsValuePinned() const override { return valid_ && current_->iter->IsValuePinned(); }
  bool IsKeyPinned() const override { return valid_ && current_->iter->IsKeyPinned(); }

 private:
  // The heap's top is the current entry: moves on over up to `max` entries and writes them.
  template <typename Heap>
  size_t Merge(Heap* heap, BatchEntry* out, size_t max) {
    size_t n = 0;
    while (n < max) {
      Source& top = heap->top();
      Child* const left = top.child;
      const uint64_t left_prefix = top.key_prefix;
      if (left->Advance()) [[likely]] {
        top.key_prefix = SourceOrder<kOrder>::KeyPrefixOf(left->batch.at->key());
        heap->TopChanged();
      } else if (n != 0 || !Replenish(heap)) {
        break;
      }
      const Source& next = heap->top();
      out[n] = *next.child->batch.at;
      // Words tell keys of different children apart; within a child the child knows.
      if (next.child != left) {
        out[n].same_key = next.key_prefix != left_prefix ? SameKey::kNo : SameKey::kUnknown;
      }
      n++;
    }
    if (n != 0) {
      current_ = heap->top().child;
      PublishLast(out[n - 1]);
    }
    return n;
  }

  // Gets the top's next batch and puts the heap in order. False when the walk is at its end or has
  // failed.
  template <typename Heap>
  bool Replenish(Heap* heap) {
    Source& top = heap->top();
    // Not before every entry of the last batch is done with.
    Child* const child = top.child;
    if (child->batch.Refill(child->iter.get(), forward_, batch_entries_)) [[likely]] {
      top.key_prefix = SourceOrder<kOrder>::KeyPrefixOf(child->batch.at->key());
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
      if (child.batch.at == child.batch.end || !behind(child.batch.at->key())) continue;
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
      if (child.batch.at == child.batch.end || !behind(child.batch.at->key())) continue;
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
    child->batch.TakePlace(*child->iter);
    return child->iter->Valid() || NoteStatus(*child->iter);
  }

  // Makes the heap of the children that have entries left, and stands on the first.
  template <typename Heap>
  void Rebuild(Heap* heap) {
    heap->Clear();
    for (size_t i = 0; i < child_count_; i++) {
      Child& child = children_[i];
      if (child.batch.at == child.batch.end) continue;
      heap->AddUnordered(Source{SourceOrder<kOrder>::KeyPrefixOf(child.batch.at->key()), &child});
    }
    if (heap->empty()) return;
    heap->BuildHeap();
    current_ = heap->top().child;
    PublishLast(*current_->batch.at);
  }

  // Both turns bring all children to the far side of the current key. Among equal keys, children of
  // lower index come first.
  void TurnForward() {
    VARVE_ASSERT(valid_ && !forward_);
    const uint32_t pivot = current_->index;
    const std::string key = key_.ToString();
    forward_ = true;
    Fill(&ahead_, [&](const Child& child) {
      child.iter->Seek(key);
      if (child.index <= pivot) StepOff(child, key, &InternalIterator::Next);
    });
  }

  void TurnBackward() {
    VARVE_ASSERT(valid_ && forward_);
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
  const size_t batch_entries_;  // at most
  const size_t memtables_;      // the children before the tables
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
