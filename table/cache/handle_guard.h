// SPDX-License-Identifier: Apache-2.0
#pragma once

// HandleGuard refers to an object in use, usually a block, in one of three ways: by a reference
// into the block cache, as its owner, or as a borrower.
//
//      state       handle_   owned_    destructor
//      in cache    set       false     releases the reference
//      owned       null      true      deletes the object
//      borrowed    null      false     does nothing
//      empty       null      false     does nothing; object_ is null
//
// A reader of blocks does not care which of these it has. MoveTo gives the reference or the
// ownership to a Cleanable, and Share gives it one more reference; a value that points into the
// block then outlives the guard, and even the cache object.

#include <memory>
#include <utility>

#include "varve/cache.h"
#include "varve/cleanable.h"

#include "table/cache/clock_cache.h"
#include "util/base/assert.h"

namespace varve {

// Moves the reference of `handle` to `pin`, which may outlive the cache's present owners. With a
// cache of our own this costs nothing; of any other cache the pin also shares the ownership.
inline void MoveHandleTo(const std::shared_ptr<Cache>& cache, Cache::Handle* handle,
                         Cleanable* pin) {
  if (ClockCache* const ours = ClockCache::From(cache.get())) return ours->MoveTo(handle, pin);
  const auto release = [](void* owner, void* held) {
    const std::unique_ptr<std::shared_ptr<Cache>> share(
        static_cast<std::shared_ptr<Cache>*>(owner));
    (*share)->Release(static_cast<Cache::Handle*>(held));
  };
  pin->RegisterCleanup(release, new std::shared_ptr<Cache>(cache), handle);
}

// Thread safety: none; the object referred to is immutable. Movable. The shared_ptr to the cache is
// kept by address and must outlive the guard, but not the pins it was moved or shared to.
template <typename T>
class HandleGuard {
 public:
  HandleGuard() = default;
  // Takes over a reference to an entry of the cache, whose object must be a T.
  HandleGuard(const std::shared_ptr<Cache>* cache, Cache::Handle* handle)
      : object_(static_cast<const T*>((*cache)->Value(handle))), cache_(cache), handle_(handle) {}
  // Owns the object. `cache` is the one whose allocator the object's memory came from, or null.
  explicit HandleGuard(std::unique_ptr<const T> own, const std::shared_ptr<Cache>* cache = nullptr)
      : object_(own.release()), cache_(cache), owned_(true) {}
  // Borrows the object, which must outlive this guard.
  explicit HandleGuard(const T* object) : object_(object) {}
  // Takes over the other's reference or object; the other one is empty afterwards.
  HandleGuard(HandleGuard&& other) noexcept { Take(&other); }
  HandleGuard& operator=(HandleGuard&& other) noexcept {
    if (this != &other) {
      Reset();
      Take(&other);
    }
    return *this;
  }
  ~HandleGuard() { Reset(); }

  // Returns the object, or null if the guard is empty.
  [[nodiscard]] const T* get() const { return object_; }
  const T* operator->() const {
    VARVE_ASSERT(object_ != nullptr);
    return object_;
  }
  const T& operator*() const {
    VARVE_ASSERT(object_ != nullptr);
    return *object_;
  }
  explicit operator bool() const { return object_ != nullptr; }

  // Releases the reference, or deletes the owned object; the guard is empty afterwards.
  void Reset() {
    if (handle_ != nullptr) {
      (*cache_)->Release(handle_);
    } else if (owned_) {
      std::default_delete<const T>()(object_);
    }
    Forget();
  }

  // Returns the handle, or null if the object is not in the cache.
  [[nodiscard]] Cache::Handle* cache_handle() const { return handle_; }
  // True if Share may be called: the object is in the cache.
  [[nodiscard]] bool shareable() const { return handle_ != nullptr; }
  // Registers one more reference with `pin`. Requires shareable().
  void Share(Cleanable* pin) const {
    VARVE_ASSERT(shareable());
    // The reference is taken first and then moved to the pin, by a guard of its own.
    (*cache_)->Ref(handle_);
    HandleGuard(cache_, handle_).MoveTo(pin);
  }
  // Moves the reference or the ownership to `pin`, and is empty afterwards; the object that get()
  // returned lives as long as the pin. A borrowed object gets no longer life.
  void MoveTo(Cleanable* pin) {
    if (handle_ != nullptr) {
      MoveHandleTo(*cache_, handle_, pin);
    } else if (owned_) {
      auto* const allocator = cache_ != nullptr ? new std::shared_ptr<Cache>(*cache_) : nullptr;
      pin->RegisterCleanup(&DeleteObject, const_cast<T*>(object_), allocator);
    }
    Forget();
  }

 private:
  // Deletes an owned object, then lets go of the cache whose allocator its memory came from.
  static void DeleteObject(void* object, void* allocator) {
    const std::unique_ptr<std::shared_ptr<Cache>> goes_last(
        static_cast<std::shared_ptr<Cache>*>(allocator));
    std::default_delete<const T>()(static_cast<const T*>(object));
  }

  // Makes the guard empty without a release.
  void Forget() {
    object_ = nullptr;
    cache_ = nullptr;
    handle_ = nullptr;
    owned_ = false;
  }
  void Take(HandleGuard* other) {
    object_ = other->object_;
    cache_ = other->cache_;
    handle_ = other->handle_;
    owned_ = other->owned_;
    other->Forget();
  }

  const T* object_ = nullptr;
  const std::shared_ptr<Cache>* cache_ = nullptr;
  Cache::Handle* handle_ = nullptr;
  bool owned_ = false;
};

}  // namespace varve
