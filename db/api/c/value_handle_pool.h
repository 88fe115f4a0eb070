// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps value handles that were given back, by thread, for the next read: neither the handle nor
// the copy of a small value then costs an allocation.

#include <array>
#include <cstddef>
#include <memory>
#include <new>

#include "util/base/assert.h"

namespace varve::c {

// Handle has a PinnableSlice `rep`.
//
// Thread safety: any; a handle goes to the thread that gives it back.
template <typename Handle>
class ValueHandlePool {
 public:
  ValueHandlePool(const ValueHandlePool&) = delete;
  ValueHandlePool& operator=(const ValueHandlePool&) = delete;

  struct Return {
    void operator()(Handle* handle) const { PutBack(handle); }
  };
  using Owner = std::unique_ptr<Handle, Return>;

  static Owner Take() {
    if (gone_) return Owner(new Handle());
    ValueHandlePool& mine = OfThread();
    VARVE_ASSERT(mine.count_ <= kKeptMax);
    if (mine.count_ == 0) return Owner(new Handle());
    VARVE_ASSERT((*mine.kept_)[mine.count_ - 1] != nullptr);
    return Owner((*mine.kept_)[--mine.count_].release());
  }

  static void PutBack(Handle* handle) {
    if (handle == nullptr) return;
    if (gone_) {
      delete handle;
      return;
    }
    ValueHandlePool& mine = OfThread();
    if (mine.count_ == kKeptMax || handle->rep.GetSelf()->capacity() > kBytesMax) {
      delete handle;
      return;
    }
    if (mine.kept_ == nullptr) mine.kept_.reset(new (std::nothrow) Kept());
    if (mine.kept_ == nullptr) {
      delete handle;
      return;
    }
    handle->rep.Reset();
    (*mine.kept_)[mine.count_++].reset(handle);
  }

 private:
  static constexpr size_t kKeptMax = 32;
  // Kept outside of the thread-local storage itself, of which a library that is loaded late gets
  // little.
  using Kept = std::array<std::unique_ptr<Handle>, kKeptMax>;
  static constexpr size_t kBytesMax = 1024;  // Larger copies free their memory.

  static ValueHandlePool& OfThread() {
    static thread_local ValueHandlePool handles;
    return handles;
  }

  ValueHandlePool() = default;
  ~ValueHandlePool() { gone_ = true; }

  // True once the pool is destroyed: destructors of the thread's other objects may still read
  // values.
  static constinit thread_local bool gone_;

  size_t count_ = 0;
  std::unique_ptr<Kept> kept_;
};

template <typename Handle>
constinit thread_local bool ValueHandlePool<Handle>::gone_ = false;

}  // namespace varve::c
