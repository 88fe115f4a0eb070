// SPDX-License-Identifier: Apache-2.0
#pragma once

// Holds a copy of the key that an iterator was on last.

#include <cstddef>
#include <cstring>
#include <memory>

#include "varve/slice.h"

#include "util/base/assert.h"

namespace varve {

// Keys of usual size are stored in the object; larger ones allocate if they exceed all earlier
// ones.
//
// Thread safety: none. A slice of it lives until the next change.
class KeyBuffer {
 public:
  KeyBuffer() = default;
  KeyBuffer(const KeyBuffer&) = delete;
  KeyBuffer& operator=(const KeyBuffer&) = delete;

  // Copies `key`, which may be this buffer's own slice().
  void Assign(const Slice& key) {
    if (key.size() > capacity_) [[unlikely]] {
      Grow(key.size());
    }
    VARVE_ASSERT(key.size() <= capacity_);
    size_ = key.size();
    if (size_ != 0 && key.data() != data_) memcpy(data_, key.data(), size_);
  }

  // Returns the copy; valid until the next Assign.
  Slice slice() const { return Slice(data_, size_); }

 private:
  // Larger than most keys, so that most walks never allocate.
  static constexpr size_t kInlineBytes = 64;

  // Discards the old bytes: a key larger than the buffer cannot lie in it.
  void Grow(size_t need) {
    capacity_ = need * 2;
    heap_ = std::make_unique<char[]>(capacity_);
    data_ = heap_.get();
  }

  // The bytes are in inline_ or in heap_; data_ points there.
  char* data_ = inline_;
  size_t size_ = 0;
  size_t capacity_ = kInlineBytes;
  // Memory for keys that are too large for the object; it is kept for later ones.
  std::unique_ptr<char[]> heap_;
  char inline_[kInlineBytes];
};

}  // namespace varve
