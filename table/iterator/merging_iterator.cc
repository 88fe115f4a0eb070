// SPDX-License-Identifier: Apache-2.0

// Merges sorted iterators, of memtables, tables of L0 and levels, into one in internal key order.
//
//    child 0   [ a  c  d ] e ...        each child has decoded a batch of its next entries
//    child 1   [ b  f  g ] ...
//    child 2   [ c  h ] ...
//                  \ | /
//       heap of the batches' first entries, compared by 8 bytes of the key, then in full
//
// A step takes the heap's top, moves its child to the next entry of the batch, and restores the
// heap by one sift from the root. That a child decodes several entries per virtual call, and that
// most comparisons are of one integer, is what makes scans fast; the rest follows from it:
//
// 1. A batch's keys live until its child moves. So a child moves only when its batch is used up,
//    and everything that the caller holds of a batch is pinned or copied before.
// 2. A child's position is therefore ahead of what was returned. A change of direction puts every
//    child on the right side of the current key first (TurnForward, TurnBackward).
// 3. Equal internal keys of two children come in the order of the children, which is that of their
//    age, so results do not depend on the shape of the heap.
// 4. A child that is not valid is either at its end, and leaves the heap, or has failed: then the
//    merged iterator is invalid and has the child's status. An entry is never skipped because of an
//    error.
// 5. same_key tells the caller, without a comparison, that two neighbouring entries have different
//    user keys; kUnknown is always correct.

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

// A child and the batch that it decoded last, whose first entry is in the heap.
struct Child {
  static constexpr size_t kBatchEntries = 16;

  std::unique_ptr<InternalIterator> iter;
  uint32_t index = 0;  // decides between equal keys
  EntryBatch batch;

  // Moves on within the batch. Returns false if the batch is used up.
  bool Advance() {
    VARVE_ASSERT(batch.at != batch.end);
    if (batch.at + 1 == batch.end) return false;
    batch.at++;
    return true;
  }
};

// An element of the heaps: a child and its current key.
struct Source {
  uint64_t key_prefix;  // prefix of the current key; equal ones decide nothing
  Child* child;
};

// The order for one kind of comparator. With a custom one all prefixes are 0.
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
      return icmp->Compare(a, b);  // counts the comparison itself
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

// True if a forward walk meets `a` before `b`: of equal internal keys, the one of the child with
// the smaller index.
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

// Children are ahead of the merged iterator: each has returned a batch of entries, and the heap
// orders the rest of the batches. A child moves on only when its batch is used up, as that ends the
// life of the batch's keys.
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

  // The position of the child can pin its whole batch.
  bool PinValue(Cleanable* pin) override {
    VARVE_ASSERT(valid_);
    return current_->iter->PinValue(pin);
  }
  // Any child may have contributed to the batch; none has moved beyond its own batch since.
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
  // Moves over up to `max` entries in the heap's direction, and writes them to `out`. Requires that
  // the heap's top is the current entry. Stops early when the top's batch is used up: to fetch the
  // next one would end the life of entries that were written already. Only the first step may do
  // that, as nothing was written before it.
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
      // The prefixes distinguish keys of different children; within a child, the child knows.
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

  // Fetches the top's next batch and restores the heap order. Returns false if the iterator is at
  // its end or has failed.
  template <typename Heap>
  bool Replenish(Heap* heap) {
    Source& top = heap->top();
    // This must wait until every entry of the last batch is processed.
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

  // Takes over the status of a child that is not Valid. Returns false, and ends the iteration, if
  // the child has failed.
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

  // Moves every child and builds the heap of all that are Valid.
  template <typename Heap, typename Move>
  void Fill(Heap* heap, Move move) {
    valid_ = false;
    for (size_t i = 0; i < child_count_; i++) {
      if (!TakePlace(&children_[i], move)) return;
    }
    Rebuild(heap);
  }

  // Moves those tables among the children that have entries left and for which `behind` is true.
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

  // Calls `skip` for every child that has entries left and for which `behind` is true. Returns
  // false if none moved. A child that fails ends the iteration, and counts as moved.
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

  // Moves a child. Returns false if it has failed.
  template <typename Move>
  bool TakePlace(Child* child, Move move) {
    move(*child);
    child->batch.TakePlace(*child->iter);
    return child->iter->Valid() || NoteStatus(*child->iter);
  }

  // Builds the heap of the children that have entries left, and moves to the first entry.
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

  // Both turns put each child on its first entry after (before) the current one. Equal keys of two
  // children come in the order of the children, so a child steps off an equal key only if it comes
  // before (after) the current child, or is that itself. The key is copied, because the move of its
  // child ends its life.
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
  const size_t batch_entries_;  // maximum size of a batch
  const size_t memtables_;      // number of children before the tables
  const size_t child_count_;
  const std::unique_ptr<Child[]> children_;
  ReplaceTopHeap<Source, ComesFirst<kOrder>> ahead_;  // used while moving forward
  ReplaceTopHeap<Source, ComesLast<kOrder>> behind_;  // used while moving backward
  Child* current_ = nullptr;
  bool forward_ = true;
  Status status_;
};

}  // namespace

// The two orders by bytes have code of their own, which compares keys without a call.
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
