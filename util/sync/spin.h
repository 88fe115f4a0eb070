// SPDX-License-Identifier: Apache-2.0
#pragma once

// Provides short waits without sleeping.

#include <sched.h>

namespace varve {

// Tells the core that this is a busy-wait: saves power and lets the sibling thread run.
inline void CpuPause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#endif
}

// Backs off in a loop that waits for another thread: first pauses, each time twice as long, then
// yields the core. Use it for waits of microseconds, and a CondVar for anything longer.
//
//   SpinWait spin;
//   while (!ready.load(std::memory_order_acquire)) spin.Once();
//
// Thread safety: none; one per waiting thread.
class SpinWait {
 public:
  // `pause_rounds` is the number of rounds that only pause. 7 rounds are 127 pauses, 2 to 5
  // microseconds, above which yielding the core costs less; use fewer if the other thread may have
  // lost its core.
  explicit SpinWait(unsigned pause_rounds = 7) : pause_rounds_(pause_rounds) {}

  // Waits for one round.
  void Once() {
    if (round_ < pause_rounds_) {
      for (unsigned i = 0; i < 1u << round_; i++) CpuPause();
      round_++;
    } else {
      sched_yield();
    }
  }

  // True once Once() yields: a caller with an alternative, such as sleeping, should take it now.
  [[nodiscard]] bool yielding() const { return round_ == pause_rounds_; }
  void Reset() { round_ = 0; }

 private:
  const unsigned pause_rounds_;
  unsigned round_ = 0;
};

}  // namespace varve
