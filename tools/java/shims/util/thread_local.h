// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides the pointer per thread and object in which RocksDB's Java glue keeps the buffers of a
// comparator.

#include <map>
#include <mutex>
#include <set>

namespace varve {

using UnrefHandler = void (*)(void* ptr);

// A pointer of which each thread has its own. The handler is called with each pointer that is not
// null when its thread ends, and with those left when the object is destroyed.
//
// Thread safety: any thread; none may use the object while it is destroyed.
class ThreadLocalPtr {
 public:
  explicit ThreadLocalPtr(UnrefHandler handler = nullptr) : handler_(handler) {
    const std::lock_guard<std::mutex> lock(Objects().mutex);
    Objects().alive.insert(this);
  }
  ThreadLocalPtr(const ThreadLocalPtr&) = delete;
  ThreadLocalPtr& operator=(const ThreadLocalPtr&) = delete;
  ~ThreadLocalPtr() {
    std::map<const Thread*, void*> left;
    {
      const std::lock_guard<std::mutex> lock(Objects().mutex);
      Objects().alive.erase(this);
      left.swap(pointers_);
    }
    for (const auto& [thread, pointer] : left) Release(pointer);
  }

  void* Get() const {
    const std::lock_guard<std::mutex> lock(Objects().mutex);
    const auto it = pointers_.find(&ThisThread());
    return it == pointers_.end() ? nullptr : it->second;
  }
  // Sets the pointer without calling the handler for the one before.
  void Reset(void* pointer) {
    const std::lock_guard<std::mutex> lock(Objects().mutex);
    pointers_[&ThisThread()] = pointer;
  }

 private:
  struct Registry {
    std::mutex mutex;
    std::set<ThreadLocalPtr*> alive;
  };
  // Its address names a thread; its end is the thread's.
  struct Thread {
    ~Thread() {
      const std::lock_guard<std::mutex> lock(Objects().mutex);
      for (ThreadLocalPtr* const object : Objects().alive) {
        const auto it = object->pointers_.find(this);
        if (it == object->pointers_.end()) continue;
        object->Release(it->second);
        object->pointers_.erase(it);
      }
    }
  };

  // Never destroyed, because threads may end after the program's static objects.
  static Registry& Objects() {
    static Registry* const registry = new Registry;
    return *registry;
  }
  static const Thread& ThisThread() {
    static thread_local const Thread thread;
    return thread;
  }
  void Release(void* pointer) const {
    if (pointer != nullptr && handler_ != nullptr) handler_(pointer);
  }

  const UnrefHandler handler_;
  std::map<const Thread*, void*> pointers_;  // guarded by Objects().mutex
};

}  // namespace varve
