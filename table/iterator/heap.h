// SPDX-License-Identifier: Apache-2.0
#pragma once

// A binary heap for merging: its root is replaced in place, and the smaller child of the root is
// remembered, so that a root that stays smallest costs one comparison.
//
//                items_[0]            top: comes out next
//              .---------.
//       items_[1]       items_[2]     runner_up_: the one that comes out first
//       .-------.       .-
//
// A merge of sorted runs often takes many entries in a row from one run. After each of them the top
// has changed (TopChanged) and is compared with the runner-up alone; only if another run is now
// first does the heap sift.

#include <cstddef>
#include <utility>
#include <vector>

#include "util/base/assert.h"

namespace varve {

// `Before(a, b)` is true if a comes out before b; it must be a strict weak order.
//
// Thread safety: none.
template <typename T, typename Before>
class ReplaceTopHeap {
 public:
  // Makes an empty heap.
  explicit ReplaceTopHeap(Before before) : before_(std::move(before)) {}

  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] size_t size() const { return items_.size(); }
  // Returns the element that comes out next. Changes that may alter its place must be followed by
  // TopChanged or BuildHeap.
  [[nodiscard]] T& top() {
    VARVE_ASSERT(!items_.empty());
    return items_.front();
  }
  [[nodiscard]] const T& top() const {
    VARVE_ASSERT(!items_.empty());
    return items_.front();
  }
  // Returns all elements, in the heap's order.
  [[nodiscard]] const std::vector<T>& items() const { return items_; }

  // Removes all elements; the capacity stays.
  void Clear() {
    items_.clear();
    runner_up_ = 0;
  }
  // Allocates memory for n elements.
  void Reserve(size_t n) { items_.reserve(n); }

  // Adds an element without ordering; BuildHeap must be called before any method that needs order.
  void AddUnordered(T item) { items_.push_back(std::move(item)); }
  // Orders all elements, in time proportional to their number.
  void BuildHeap() {
    runner_up_ = 0;
    for (size_t i = items_.size() / 2; i-- > 0;) SiftDown(i);
  }

  // Must be called after top() was changed to come later than before.
  void TopChanged() {
    if (items_.size() < 2) return;
    const size_t second = RunnerUp();
    if (!before_(items_[second], items_[0])) return;
    std::swap(items_[0], items_[second]);
    SiftDown(second);
    runner_up_ = 0;
  }

  // Returns the item that comes out after top(), or null if there is none.
  [[nodiscard]] const T* Second() { return items_.size() < 2 ? nullptr : &items_[RunnerUp()]; }

  // Removes the top.
  void Pop() {
    VARVE_ASSERT(!items_.empty());
    items_.front() = std::move(items_.back());
    items_.pop_back();
    runner_up_ = 0;
    if (!items_.empty()) SiftDown(0);
  }

 private:
  // Returns the index of the child of the root that comes out first. Requires size() >= 2.
  size_t RunnerUp() {
    VARVE_ASSERT(items_.size() >= 2);
    if (runner_up_ == 0) runner_up_ = items_.size() > 2 && before_(items_[2], items_[1]) ? 2 : 1;
    return runner_up_;
  }

  // Moves the element down until no child comes before it.
  void SiftDown(size_t hole) {
    const size_t n = items_.size();
    T moving = std::move(items_[hole]);
    for (;;) {
      size_t child = 2 * hole + 1;
      if (child >= n) break;
      if (child + 1 < n && before_(items_[child + 1], items_[child])) child++;
      if (!before_(items_[child], moving)) break;
      items_[hole] = std::move(items_[child]);
      hole = child;
    }
    items_[hole] = std::move(moving);
  }

  std::vector<T> items_;
  Before before_;
  size_t runner_up_ = 0;  // index 1 or 2; 0: unknown
};

}  // namespace varve
