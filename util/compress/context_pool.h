// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reuses codec contexts, which are large and slow to create.

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

namespace varve {

// Keeps up to kSlots idle objects of T. Meant for constant-initialised variables of static storage:
// it has no destructor, and the kept objects live until the program ends.
//
// Thread safety: all methods may be called from any thread; they are lock-free.
template <typename T>
class ContextPool {
 public:
  constexpr ContextPool() = default;
  ContextPool(const ContextPool&) = delete;
  ContextPool& operator=(const ContextPool&) = delete;

  // Returns an idle object, or a new one made by `make`, which returns unique_ptr<T>, possibly
  // null.
  template <typename Make>
  [[nodiscard]] std::unique_ptr<T> Take(Make make) {
    const size_t first = FirstSlot();
    for (size_t i = 0; i < kSlots; i++) {
      std::atomic<T*>& slot = slots_[(first + i) % kSlots];
      if (slot.load(std::memory_order_relaxed) == nullptr) continue;
      // Acquire pairs with the release of Give, so that the last user's changes are visible.
      T* const idle = slot.exchange(nullptr, std::memory_order_acquire);
      if (idle != nullptr) return std::unique_ptr<T>(idle);
    }
    return make();
  }

  // Keeps the object if a slot is free, else destroys it.
  void Give(std::unique_ptr<T> object) {
    const size_t first = FirstSlot();
    for (size_t i = 0; i < kSlots && object != nullptr; i++) {
      std::atomic<T*>& slot = slots_[(first + i) % kSlots];
      T* expected = nullptr;
      if (slot.compare_exchange_strong(expected, object.get(), std::memory_order_release,
                                       std::memory_order_relaxed)) {
        (void)object.release();
      }
    }
  }

 private:
  static constexpr size_t kSlots = 16;

  // Returns the slot of this thread. Threads start at different slots, so that they mostly get
  // their own last object back.
  static size_t FirstSlot() {
    return (std::hash<std::thread::id>()(std::this_thread::get_id()) >> 4) % kSlots;
  }

  // Each slot holds an idle object or null.
  std::array<std::atomic<T*>, kSlots> slots_{};
};

}  // namespace varve
