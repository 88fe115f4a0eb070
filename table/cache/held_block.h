// SPDX-License-Identifier: Apache-2.0
#pragma once

// A block object in use: a reference into the block cache, an object of one's own, or an object
// that somebody else keeps.

#include <memory>
#include <utility>

#include "varve/cache.h"
#include "varve/cleanable.h"

namespace varve {

// Thread safety: none; the object referred to is immutable. Movable. The cache outlives it.
template <typename T>
class Held {
 public:
  Held() = default;
  Held(Cache* cache, Cache::Handle* handle)
      : object_(static_cast<const T*>(cache->Value(handle))), cache_(cache), handle_(handle) {}
  explicit Held(std::unique_ptr<const T> own) : object_(own.release()), owned_(true) {}
  // Borrowed: `object` outlives this.
  explicit Held(const T* object) : object_(object) {}
  Held(Held&& other) noexcept { Take(&other); }
  Held& operator=(Held&& other) noexcept {
    if (this != &other) {
      Reset();
      Take(&other);
    }
    return *this;
  }
  ~Held() { Reset(); }

  [[nodiscard]] const T* get() const { return object_; }
  const T* operator->() const { return object_; }
  const T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

  void Reset() {
    if (handle_ != nullptr) {
      cache_->Release(handle_);
    } else if (owned_) {
      std::default_delete<const T>()(object_);
    }
    Forget();
  }

  // Null unless it is in the cache.
  [[nodiscard]] Cache::Handle* cache_handle() const { return handle_; }
  // True if Share works: the object is in the cache.
  [[nodiscard]] bool shareable() const { return handle_ != nullptr; }
  // Registers one more reference with `pin`. Requires shareable().
  void Share(Cleanable* pin) const {
    cache_->Ref(handle_);
    pin->RegisterCleanup(&ReleaseHandle, cache_, handle_);
  }
  // Gives what is held to `pin` and forgets it; get() of before stays valid while the pin lives.
  void MoveTo(Cleanable* pin) {
    if (handle_ != nullptr) {
      pin->RegisterCleanup(&ReleaseHandle, cache_, handle_);
    } else if (owned_) {
      pin->RegisterCleanup(&DeleteObject, const_cast<T*>(object_), nullptr);
    }
    Forget();
  }

 private:
  static void ReleaseHandle(void* cache, void* handle) {
    static_cast<Cache*>(cache)->Release(static_cast<Cache::Handle*>(handle));
  }
  static void DeleteObject(void* object, void*) {
    std::default_delete<const T>()(static_cast<const T*>(object));
  }

  void Forget() {
    object_ = nullptr;
    cache_ = nullptr;
    handle_ = nullptr;
    owned_ = false;
  }
  void Take(Held* other) {
    object_ = other->object_;
    cache_ = other->cache_;
    handle_ = other->handle_;
    owned_ = other->owned_;
    other->Forget();
  }

  const T* object_ = nullptr;
  Cache* cache_ = nullptr;
  Cache::Handle* handle_ = nullptr;
  bool owned_ = false;
};

}  // namespace varve
