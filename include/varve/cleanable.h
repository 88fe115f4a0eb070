// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Cleanable: an object that carries work to be done when it dies or is reset, such as the release
// of a cache entry that its bytes point into. Base of iterators and of PinnableSlice.

#include "varve/export.h"

namespace varve {

/// A list of cleanup calls with one inline slot, so the usual single cleanup needs no allocation.
/// The order in which cleanups run is not specified. Not thread-safe.
class VARVE_EXPORT Cleanable {
 public:
  using CleanupFunction = void (*)(void* arg1, void* arg2);

  Cleanable() = default;
  Cleanable(const Cleanable&) = delete;
  Cleanable& operator=(const Cleanable&) = delete;
  /// The source is left without cleanups. Assignment first runs those of the target.
  Cleanable(Cleanable&& other) noexcept;
  Cleanable& operator=(Cleanable&& other) noexcept;
  /// Runs all cleanups.
  ~Cleanable() { RunAll(); }

  /// Arranges for `function(arg1, arg2)` to run once, at destruction or Reset(). It must not throw.
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2) {
    if (first_.function == nullptr) {
      first_.function = function;
      first_.arg1 = arg1;
      first_.arg2 = arg2;
    } else {
      Append(function, arg1, arg2);
    }
  }

  /// Hands all cleanups to `other`, which must not be null and must not be this object.
  void DelegateCleanupsTo(Cleanable* other);

  /// Runs all cleanups now; the object can be used again.
  void Reset() { RunAll(); }

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
    // Detached first: a cleanup that looks at this object finds it empty.
    first_.function = nullptr;
    function(first_.arg1, first_.arg2);
  }
  void RunList();
  void Append(CleanupFunction function, void* arg1, void* arg2);
  void Adopt(Node* node);

  // Invariant: an empty inline slot means an empty list, so HasCleanups() is one load, and `next`
  // is null then.
  Node first_;
};

/// A counted reference to one Cleanable: the cleanups run when the last copy goes. The count is
/// atomic; one object must not be used by two threads at once.
class VARVE_EXPORT SharedCleanablePtr {
 public:
  SharedCleanablePtr() = default;
  SharedCleanablePtr(const SharedCleanablePtr& from);
  SharedCleanablePtr(SharedCleanablePtr&& from) noexcept;
  SharedCleanablePtr& operator=(const SharedCleanablePtr& from);
  SharedCleanablePtr& operator=(SharedCleanablePtr&& from) noexcept;
  ~SharedCleanablePtr() { Reset(); }

  /// Drops the present target, if any, and makes a new empty Cleanable.
  void Allocate();
  /// Drops the reference; afterwards get() is null.
  void Reset();

  /// Defined only after Allocate() or from a non-null source; get() may be null.
  Cleanable& operator*() { return *get(); }
  Cleanable* operator->() { return get(); }
  Cleanable* get();

  /// Makes `target` hold a copy of this reference until its own cleanup. No-op when null.
  void RegisterCopyWith(Cleanable* target);
  /// As RegisterCopyWith, and gives up this reference.
  void MoveAsCleanupTo(Cleanable* target);

 private:
  struct Shared;
  Shared* shared_ = nullptr;
};

}  // namespace varve
