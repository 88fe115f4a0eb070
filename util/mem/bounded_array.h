// SPDX-License-Identifier: Apache-2.0
#pragma once

// Defines a list of at most N elements without an allocation: unused elements are not constructed.

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "util/base/assert.h"

namespace varve {

// Elements stay in place; T need be neither copyable nor movable.
//
// Thread safety: none.
template <typename T, size_t N>
class BoundedArray {
 public:
  BoundedArray() = default;
  BoundedArray(const BoundedArray&) = delete;
  BoundedArray& operator=(const BoundedArray&) = delete;
  ~BoundedArray() { clear(); }

  // Requires size() < N.
  template <typename... Args>
  T& emplace_back(Args&&... args) {
    VARVE_ASSERT(size_ < N);
    T* const place = std::construct_at(data() + size_, std::forward<Args>(args)...);
    size_++;
    return *place;
  }
  void push_back(T value) { emplace_back(std::move(value)); }

  // Returns the number of elements that exist.
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] T* data() { return reinterpret_cast<T*>(bytes_); }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size_; }
  [[nodiscard]] T& operator[](size_t i) {
    VARVE_ASSERT(i < size_);
    return data()[i];
  }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  // Returns all elements; valid until one is added or removed.
  [[nodiscard]] std::span<T> span() { return {data(), size_}; }

  // Destroys the elements from n on. Requires n <= size().
  void truncate(size_t n) {
    VARVE_ASSERT(n <= size_);
    std::destroy(data() + n, data() + size_);
    size_ = n;
  }
  void clear() { truncate(0); }

 private:
  // Memory of N elements, of which the first size_ exist.
  alignas(T) std::byte bytes_[sizeof(T) * N];
  size_t size_ = 0;
};

}  // namespace varve
