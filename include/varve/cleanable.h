// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Cleanable is an object with functions to call when it is destroyed or reset, for instance to
// release the cache entry that its bytes point into. Base of iterators and of PinnableSlice.
//
//   void Unlock(void* mutex, void*) { static_cast<std::mutex*>(mutex)->unlock(); }
//   ...
//   mutex.lock();
//   value.RegisterCleanup(&Unlock, &mutex, nullptr);  // unlocked when `value` is reset

#include "varve/export.h"

namespace varve {

/// A list of cleanup calls with one inline slot, so that a single cleanup needs no allocation.
/// Cleanups run in unspecified order. Not thread-safe.
class VARVE_EXPORT Cleanable {
 public:
  /// A function with the two arguments that were registered with it.
  using CleanupFunction = void (*)(void* arg1, void* arg2);

  /// Makes an object without cleanups.
  Cleanable() = default;
  Cleanable(const Cleanable&) = delete;
  Cleanable& operator=(const Cleanable&) = delete;
  /// Leaves the source without cleanups. Assignment first runs those of the target.
  Cleanable(Cleanable&& other) noexcept;
  Cleanable& operator=(Cleanable&& other) noexcept;
  /// Runs all cleanups.
  ~Cleanable() { RunAll(); }

  /// Registers `function(arg1, arg2)` to run once, at destruction or Reset(). It must not throw.
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
    if (first_.function == nullptr) {
      first_.function = function;
      first_.arg1 = arg1;
      first_.arg2 = arg2;
    } else {
      Append(function, arg1, arg2);
    }
  }

  /// Moves all cleanups to `other`, which must be neither null nor this object.
  void DelegateCleanupsTo(Cleanable* other);

  /// Runs all cleanups now; the object can be used again.
  void Reset() { RunAll(); }

  /// True if a cleanup is registered.
  bool HasCleanups() const { return first_.function != nullptr; }

 private:
  struct Node {
    CleanupFunction function = nullptr;
    void* arg1 = nullptr;
    void* arg2 = nullptr;
    Node* next = nullptr;
  };

  void RunAll() {
    const CleanupFunction function = first_.function;
    if (function == nullptr) return;
    if (first_.next != nullptr) return RunList();
    // Detached first, so that a cleanup that accesses this object finds it empty.
    first_.function = nullptr;
    function(first_.arg1, first_.arg2);
  }
  void RunList();
  void Append(CleanupFunction function, void* arg1, void* arg2);
  void Adopt(Node* node);

  // An empty inline slot means an empty list, so HasCleanups() is one load; `next` is null then.
  Node first_;
};

/// A counted reference to one Cleanable, whose cleanups run when the last copy is destroyed. The
/// count is atomic; one object must not be used by two threads at once.
class VARVE_EXPORT SharedCleanablePtr {
 public:
  /// Makes a reference to nothing.
  SharedCleanablePtr() = default;
  /// Copies share the Cleanable; a source that is moved from refers to nothing. Assignment first
  /// drops the reference that the target had.
  SharedCleanablePtr(const SharedCleanablePtr& from);
  SharedCleanablePtr(SharedCleanablePtr&& from) noexcept;
  SharedCleanablePtr& operator=(const SharedCleanablePtr& from);
  SharedCleanablePtr& operator=(SharedCleanablePtr&& from) noexcept;
  ~SharedCleanablePtr() { Reset(); }

  /// Drops the current reference, if any, and makes a new empty Cleanable.
  void Allocate();
  /// Drops the reference; get() is null afterwards.
  void Reset();

  /// Access the Cleanable. They require that get() is not null.
  Cleanable& operator*() { return *get(); }
  Cleanable* operator->() { return get(); }
  /// Returns the Cleanable, or null before Allocate().
  Cleanable* get();

  /// Makes `target` hold a copy of this reference until the cleanups of `target` run. Does nothing
  /// if get() is null.
  void RegisterCopyWith(Cleanable* target);
  /// Like RegisterCopyWith, but moves this reference to `target`: get() is null afterwards.
  void MoveAsCleanupTo(Cleanable* target);

 private:
  struct Shared;
  Shared* shared_ = nullptr;
};

}  // namespace varve
