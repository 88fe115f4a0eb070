// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides memory for the keys of a few decoded entries.

#include <cstddef>
#include <memory>
#include <vector>

#include "util/base/assert.h"

namespace varve {

// Hands out bytes whose addresses do not change until Clear(). Keys of usual size fit into the
// bytes that its owner lends it; larger ones allocate.
//
// Thread safety: none.
class KeyScratch {
 public:
  KeyScratch() = default;
  KeyScratch(const KeyScratch&) = delete;
  KeyScratch& operator=(const KeyScratch&) = delete;

  void Init(char* lent, size_t size) {
    lent_ = lent;
    lent_size_ = size;
  }

  char* Take(size_t n) {
    if (n > left_) [[unlikely]] {
      Grow(n);
    }
    VARVE_ASSERT(n <= left_);
    char* const taken = next_;
    next_ += n;
    left_ -= n;
    return taken;
  }

  void Clear() {
    if (!chunks_.empty()) [[unlikely]] {
      KeepLargest();
      return;
    }
    next_ = lent_;
    left_ = lent_size_;
  }

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };

  void Grow(size_t n) {
    const size_t last = chunks_.empty() ? lent_size_ : chunks_.back().size;
    const size_t size = 2 * (n > last ? n : last);
    chunks_.push_back(Chunk{std::unique_ptr<char[]>(new char[size]), size});
    next_ = chunks_.back().bytes.get();
    left_ = size;
  }
  void KeepLargest() {
    chunks_.erase(chunks_.begin(), chunks_.end() - 1);
    next_ = chunks_.back().bytes.get();
    left_ = chunks_.back().size;
  }

  char* next_ = nullptr;
  size_t left_ = 0;
  char* lent_ = nullptr;
  size_t lent_size_ = 0;
  std::vector<Chunk> chunks_;  // ascending in size
};

// Copies the few bytes of a key, as a call of memcpy costs more than the copy.
inline void CopyShort(char* to, const char* from, size_t n) {
  if (n >= 8 && n <= 32) [[likely]] {
    if (n >= 16) {
      __builtin_memcpy(to, from, 16);
      __builtin_memcpy(to + n - 16, from + n - 16, 16);
    } else {
      __builtin_memcpy(to, from, 8);
      __builtin_memcpy(to + n - 8, from + n - 8, 8);
    }
    return;
  }
  if (n > 32) {
    __builtin_memcpy(to, from, n);
    return;
  }
  if (n >= 4) {
    __builtin_memcpy(to, from, 4);
    __builtin_memcpy(to + n - 4, from + n - 4, 4);
    return;
  }
  for (size_t i = 0; i < n; i++) to[i] = from[i];
}

}  // namespace varve
