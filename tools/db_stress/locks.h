// SPDX-License-Identifier: Apache-2.0
#pragma once

// Locks that guard changes of keys: one mutex for a few neighbouring keys of a family, many for a
// range.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tools/db_stress/key_state.h"

namespace varve::stress {

// Thread safety: all methods are safe to call from any thread.
class KeyLocks {
 public:
  KeyLocks(uint32_t families, uint64_t keys)
      : stripes_(keys / kKeysOfStripe + 1),
        mutexes_(std::make_unique<std::mutex[]>(families * stripes_)) {}

  // Frees the keys when it is destroyed.
  using Held = std::vector<std::unique_lock<std::mutex>>;

  [[nodiscard]] Held Lock(const KeyId& key) {
    return LockRange(key.family, key.number, key.number);
  }
  // Locks the keys [first, last], and their neighbours in the outer stripes. Requires that the
  // thread holds no other lock of keys; mutexes are taken in ascending order, so that two ranges
  // cannot wait for each other.
  [[nodiscard]] Held LockRange(uint32_t family, uint64_t first, uint64_t last) {
    Held held;
    for (uint64_t stripe = first / kKeysOfStripe; stripe <= last / kKeysOfStripe; stripe++) {
      held.emplace_back(mutexes_[family * stripes_ + stripe]);
    }
    return held;
  }

 private:
  static constexpr uint64_t kKeysOfStripe = 4;

  const uint64_t stripes_;
  const std::unique_ptr<std::mutex[]> mutexes_;
};

}  // namespace varve::stress
