// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace varve {

// Set if the next writer has to check stalls, full memtables or an exclusive holder; set by the
// thread that changes one of these, and cleared by a writer that has found none of them. Writers
// read it relaxed: they take the DB mutex before they act.
class SlowPathFlag {
 public:
  bool is_set() const { return set_.load(std::memory_order_relaxed); }
  void Set(bool set = true) { set_.store(set, std::memory_order_release); }

 private:
  std::atomic<bool> set_{false};
};

}  // namespace varve
