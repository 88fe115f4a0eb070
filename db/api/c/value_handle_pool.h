// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps value handles that were given back, by thread, for the next read: neither the handle nor
// the copy of a small value then costs an allocation.
//
//      rocksdb_get_pinned               Take      the handle that was given back last, or a new one
//      rocksdb_pinnableslice_destroy    PutBack   to the pool of the thread that destroys it
//
// Invariants
// 1. A handle in a pool is empty: it pins no block, so that an idle thread keeps no memory of the
//    block cache.
// 2. A pool holds at most kKeptMax handles, each with a buffer of at most kBytesMax bytes.
// 3. A handle may be taken in one thread and given back in another one. Pools are not shared, so no
//    lock is needed.
// 4. At the end of a thread its pool is destroyed before some other thread-local objects may be.
//    gone_, which has no destructor, tells these to use the heap.

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

  // Gives a handle back to the pool, on behalf of unique_ptr.
  struct Return {
    void operator()(Handle* handle) const { PutBack(handle); }
  };
  using Owner = std::unique_ptr<Handle, Return>;

  // Returns an empty handle. Throws std::bad_alloc.
  static Owner Take() {
    // The pool's memory must not be touched after its destructor ran (invariant 4).
    if (gone_) return Owner(new Handle());
    ValueHandlePool& mine = OfThread();
    VARVE_ASSERT(mine.count_ <= kKeptMax);
    if (mine.count_ == 0) return Owner(new Handle());
    VARVE_ASSERT((*mine.kept_)[mine.count_ - 1] != nullptr);
    return Owner((*mine.kept_)[--mine.count_].release());
  }

  // Keeps the handle, or deletes it if there are enough or its copy is large. Must be called by any
  // thread once.
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
    // Giving back never fails: without memory for the pool the handle is deleted.
    if (mine.kept_ == nullptr) mine.kept_.reset(new (std::nothrow) Kept());
    if (mine.kept_ == nullptr) {
      delete handle;
      return;
    }
    // Releases what the value pins, but keeps the buffer of its copy.
    handle->rep.Reset();
    (*mine.kept_)[mine.count_++].reset(handle);
  }

 private:
  static constexpr size_t kKeptMax = 32;
  // Kept outside of the thread-local storage itself, of which a library that is loaded late gets
  // little.
  using Kept = std::array<std::unique_ptr<Handle>, kKeptMax>;
  static constexpr size_t kBytesMax = 1024;  // Larger copies free their memory.

  // Returns the calling thread's pool.
  static ValueHandlePool& OfThread() {
    static thread_local ValueHandlePool handles;
    return handles;
  }

  ValueHandlePool() = default;
  ~ValueHandlePool() { gone_ = true; }

  // True once the pool is destroyed: destructors of the thread's other objects may still read
  // values.
  static constinit thread_local bool gone_;

  // Number of handles in kept_.
  size_t count_ = 0;
  std::unique_ptr<Kept> kept_;
};

template <typename Handle>
constinit thread_local bool ValueHandlePool<Handle>::gone_ = false;

}  // namespace varve::c
