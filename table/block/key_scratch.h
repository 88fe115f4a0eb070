// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides memory for the keys of a few decoded entries.
//
//      lent_ [key 1][key 2][   left_   ]       first; it belongs to the owner of this object
//      chunks_[0] [key 3 ........ ]            when the lent bytes are used up
//      chunks_[1] [key 4 ..................]   at least twice as large as the one before
//
// Keys of a batch must all stay valid until the batch is used, so no memory is moved or freed
// before Clear. Clear keeps the largest chunk: a walk over long keys allocates a few times and then
// no more.

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

  // Lends memory to be used first; it must outlive this object.
  void Init(char* lent, size_t size) {
    lent_ = lent;
    lent_size_ = size;
  }

  // Returns n bytes, valid until Clear.
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

  // Makes all memory free again, and keeps the largest piece.
  void Clear() {
    if (!chunks_.empty()) [[unlikely]] {
      KeepLargest();
      return;
    }
    next_ = lent_;
    left_ = lent_size_;
  }

 private:
  // A piece of memory that was allocated because those before were full.
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };

  // Allocates a chunk that holds at least `n` bytes. Throws std::bad_alloc.
  void Grow(size_t n) {
    const size_t last = chunks_.empty() ? lent_size_ : chunks_.back().size;
    const size_t size = 2 * (n > last ? n : last);
    chunks_.push_back(Chunk{std::unique_ptr<char[]>(new char[size]), size});
    next_ = chunks_.back().bytes.get();
    left_ = size;
  }
  // Frees all chunks but the last, and makes that one free.
  void KeepLargest() {
    chunks_.erase(chunks_.begin(), chunks_.end() - 1);
    next_ = chunks_.back().bytes.get();
    left_ = chunks_.back().size;
  }

  // The next free byte, and the number of free bytes from there on.
  char* next_ = nullptr;
  size_t left_ = 0;
  // The memory of Init; null if there was none.
  char* lent_ = nullptr;
  size_t lent_size_ = 0;
  std::vector<Chunk> chunks_;  // ascending in size
};

// Copies the few bytes of a key, as a call of memcpy costs more than the copy.
inline void CopyShort(char* to, const char* from, size_t n) {
  // Two copies that overlap in the middle cover every size of their range.
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
