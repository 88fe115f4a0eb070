// SPDX-License-Identifier: Apache-2.0
#pragma once

// Value handles that were given back, kept by their thread for the next read: neither the handle
// nor the copy of a small value then costs an allocation.

#include <cstddef>
#include <memory>

namespace varve::c {

// Handle has a PinnableSlice `rep`.
//
// Thread safety: any; a handle goes to the thread that gives it back.
template <typename Handle>
class SpareHandles {
 public:
  SpareHandles(const SpareHandles&) = delete;
  SpareHandles& operator=(const SpareHandles&) = delete;

  struct Return {
    void operator()(Handle* handle) const { GiveBack(handle); }
  };
  using Owner = std::unique_ptr<Handle, Return>;

  static Owner Take() {
    if (gone_) return Owner(new Handle());
    SpareHandles& mine = OfThread();
    if (mine.count_ == 0) return Owner(new Handle());
    return Owner(mine.kept_[--mine.count_].release());
  }

  static void GiveBack(Handle* handle) {
    if (handle == nullptr) return;
    if (gone_) {
      delete handle;
      return;
    }
    SpareHandles& mine = OfThread();
    if (mine.count_ == kKeptMax || handle->rep.GetSelf()->capacity() > kBytesMax) {
      delete handle;
      return;
    }
    handle->rep.Reset();
    mine.kept_[mine.count_++].reset(handle);
  }

 private:
  static constexpr size_t kKeptMax = 32;
  static constexpr size_t kBytesMax = 1024;  // of a copied value whose memory is kept

  static SpareHandles& OfThread() {
    static thread_local SpareHandles handles;
    return handles;
  }

  SpareHandles() = default;
  ~SpareHandles() { gone_ = true; }

  // Destructors of the thread's and the program's other objects may still read values.
  static constinit thread_local bool gone_;

  size_t count_ = 0;
  std::unique_ptr<Handle> kept_[kKeptMax];
};

template <typename Handle>
constinit thread_local bool SpareHandles<Handle>::gone_ = false;

}  // namespace varve::c
