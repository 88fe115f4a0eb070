// SPDX-License-Identifier: Apache-2.0
#pragma once

// Runs children that report in shared memory until they are killed, and others that look at what is
// left: a child of a process with threads would lack them, so the parent never opens anything.

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>

#include "varve/status.h"

#include "tests/harness/child_process.h"

namespace varve::testing {

// A child that has met a problem ends with this status.
inline constexpr int kExitProblem = 3;

// Holds a T that children share with their parent. What a child stores survives its death.
template <typename T>
class SharedWithChildren {
 public:
  SharedWithChildren()
      : memory_(
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(memory_, MAP_FAILED);
    Reset();
  }
  ~SharedWithChildren() { munmap(memory_, sizeof(T)); }
  SharedWithChildren(const SharedWithChildren&) = delete;
  SharedWithChildren& operator=(const SharedWithChildren&) = delete;

  void Reset() { new (memory_) T(); }
  T* get() const { return static_cast<T*>(memory_); }
  T* operator->() const { return get(); }

 private:
  void* const memory_;
};

// Ends a child with a message unless the status is OK.
inline void ExitUnlessOk(const Status& s, const char* what) {
  if (s.ok()) return;
  fprintf(stderr, "%s: %s\n", what, s.ToString().c_str());
  _exit(kExitProblem);
}

// Kills a child that runs `body`, so many microseconds after `reached` is true, or after 20
// seconds. Returns false if the child had ended by itself, because of a problem.
inline bool RunUntilKilled(
    const std::function<void()>& body, uint64_t micros,
    const std::function<bool()>& reached = [] { return true; }) {
  constexpr int kPatienceMillis = 20'000;
  ChildProcess child(body);
  for (int i = 0; i < kPatienceMillis && !reached(); i++) usleep(1000);
  usleep(static_cast<useconds_t>(micros));
  return child.Kill();
}

// Returns true if a child that runs `check`, with assertions of its own, ends well.
inline bool HoldsInChild(const std::function<void()>& check) {
  return ChildProcess([&] {
           check();
           fflush(nullptr);
           if (::testing::Test::HasFailure()) _exit(kExitProblem);
         })
      .EndsWell();
}

}  // namespace varve::testing
