// SPDX-License-Identifier: Apache-2.0
#include "table/iterator/merging_iterator.h"

#include <cstdint>
#include <utility>

#include "table/iterator/heap.h"
#include "util/key/internal_key.h"
#include "util/metrics/perf_counters.h"

namespace varve {

namespace {

// A child as the heaps see it.
struct Source {
  uint64_t word;  // of the current key: smaller means earlier, equal decides nothing
  InternalIterator* iter;
  uint32_t index;  // among the children; decides between equal keys
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
    CountUserKeyComparison();
    if constexpr (kOrder == KeyOrder::kCustom) {
      return icmp->Compare(a, b);
    } else {
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
    const int c = order.CompareFull(a.iter->key(), b.iter->key());
    return c != 0 ? c < 0 : a.index < b.index;
  }
};

template <KeyOrder kOrder>
struct ComesLast {
  ComesFirst<kOrder> first;
  bool operator()(const Source& a, const Source& b) const { return first(b, a); }
};

template <KeyOrder kOrder>
class MergingIterator final : public InternalIterator {
 public:
  MergingIterator(const InternalKeyComparator* icmp,
                  std::vector<std::unique_ptr<InternalIterator>> children)
      : order_{icmp},
        children_(std::move(children)),
        ahead_(ComesFirst<kOrder>{order_}),
        behind_(ComesLast<kOrder>{ComesFirst<kOrder>{order_}}) {
    ahead_.Reserve(children_.size());
  }

  void SeekToFirst() override {
    SeekAll([](uint32_t, InternalIterator* child) { child->SeekToFirst(); }, true);
  }
  void SeekToLast() override {
    SeekAll([](uint32_t, InternalIterator* child) { child->SeekToLast(); }, false);
  }
  void Seek(const Slice& target) override {
    SeekAll([&target](uint32_t, InternalIterator* child) { child->Seek(target); }, true);
  }
  void SeekForPrev(const Slice& target) override {
    SeekAll([&target](uint32_t, InternalIterator* child) { child->SeekForPrev(target); }, false);
  }

  void Next() override {
    if (!forward_) [[unlikely]] {
      TurnForward();
      return;
    }
    Source& top = ahead_.top();
    top.iter->Next();
    Settle(&ahead_);
  }

  void Prev() override {
    if (forward_) [[unlikely]] {
      TurnBackward();
      return;
    }
    behind_.top().iter->Prev();
    Settle(&behind_);
  }

  Status status() const override { return status_; }

  bool PinValue(Cleanable* pin) override { return current_->PinValue(pin); }
  bool IsValuePinned() const override { return valid_ && current_->IsValuePinned(); }
  bool IsKeyPinned() const override { return valid_ && current_->IsKeyPinned(); }

 private:
  // Puts the heap in order after its top source has moved.
  template <typename Heap>
  void Settle(Heap* heap) {
    Source& top = heap->top();
    if (top.iter->Valid()) [[likely]] {
      top.word = SourceOrder<kOrder>::WordOf(top.iter->key());
      heap->TopChanged();
    } else {
      if (!NoteStatus(*top.iter)) return;
      heap->Pop();
    }
    Publish(heap);
  }

  template <typename Heap>
  void Publish(Heap* heap) {
    if (heap->empty()) {
      valid_ = false;
      return;
    }
    current_ = heap->top().iter;
    key_ = current_->key();
    value_ = current_->value();
    valid_ = true;
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
    if (forward) {
      Fill(&ahead_, move, nullptr);
    } else {
      Fill(&behind_, move, nullptr);
    }
  }

  // Moves every child but `except` and makes the heap of all that are Valid.
  template <typename Heap, typename Move>
  void Fill(Heap* heap, Move move, const InternalIterator* except) {
    heap->Clear();
    valid_ = false;
    for (uint32_t i = 0; i < children_.size(); i++) {
      InternalIterator* const child = children_[i].get();
      if (child != except) move(i, child);
      if (child->Valid()) {
        heap->AddUnordered(Source{SourceOrder<kOrder>::WordOf(child->key()), child, i});
      } else if (!NoteStatus(*child)) {
        return;
      }
    }
    heap->BuildHeap();
    Publish(heap);
  }

  // Both turns bring the other children to the far side of the current key, then make the step.
  // Among equal keys, children of lower index come first.
  void TurnForward() {
    const Source pivot = behind_.top();
    const Slice key = key_;
    forward_ = true;
    Fill(
        &ahead_,
        [&](uint32_t index, InternalIterator* child) {
          child->Seek(key);
          if (index < pivot.index && child->Valid() && order_.CompareFull(child->key(), key) == 0) {
            child->Next();
          }
        },
        pivot.iter);
    if (status_.ok()) Next();
  }

  void TurnBackward() {
    const Source pivot = ahead_.top();
    const Slice key = key_;
    forward_ = false;
    Fill(
        &behind_,
        [&](uint32_t index, InternalIterator* child) {
          child->SeekForPrev(key);
          if (index > pivot.index && child->Valid() && order_.CompareFull(child->key(), key) == 0) {
            child->Prev();
          }
        },
        pivot.iter);
    if (status_.ok()) Prev();
  }

  const SourceOrder<kOrder> order_;
  const std::vector<std::unique_ptr<InternalIterator>> children_;
  ReplaceTopHeap<Source, ComesFirst<kOrder>> ahead_;  // while moving forward
  ReplaceTopHeap<Source, ComesLast<kOrder>> behind_;  // while moving backward
  InternalIterator* current_ = nullptr;
  bool forward_ = true;
  Status status_;
};

}  // namespace

std::unique_ptr<InternalIterator> NewMergingIterator(
    const InternalKeyComparator* icmp, std::vector<std::unique_ptr<InternalIterator>> children) {
  if (children.empty()) return NewEmptyInternalIterator();
  if (children.size() == 1) return std::move(children.front());
  switch (icmp->order()) {
    case KeyOrder::kBytewise:
      return std::make_unique<MergingIterator<KeyOrder::kBytewise>>(icmp, std::move(children));
    case KeyOrder::kReverseBytewise:
      return std::make_unique<MergingIterator<KeyOrder::kReverseBytewise>>(icmp,
                                                                           std::move(children));
    case KeyOrder::kCustom:
      break;
  }
  return std::make_unique<MergingIterator<KeyOrder::kCustom>>(icmp, std::move(children));
}

}  // namespace varve
