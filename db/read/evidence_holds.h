// SPDX-License-Identifier: Apache-2.0
#pragma once

// An evidence hold is a request to compactions. As long as it is there, each key that was changed
// after the hold's sequence number must keep an entry of such a number, by which a transaction can
// tell that there was a conflicting write. A snapshot can ask for the same; a hold is cheaper, as
// it takes no lock, allocates nothing, and keeps no old version for reading.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "varve/types.h"

#include "util/key/internal_key.h"

namespace varve {

// A hold that Oldest did not see was taken after that call. So a job that calls Oldest once its
// inputs are visible, and a holder that reads the visible sequence number after Take, agree: either
// the job knows of the hold, or nothing in its inputs is newer than what the holder read.
//
// Thread safety: all methods may be called from any thread. Whoever took a slot releases it, once,
// while this object lives.
class EvidenceHolds {
 public:
  struct alignas(64) Slot {
    std::atomic<SequenceNumber> since{kMaxSequenceNumber};  // kMaxSequenceNumber: free
  };

  // Takes a hold for changes after `since`. Returns null if all slots are in use; then a snapshot
  // can be used. Holders at different addresses rarely contend.
  Slot* Take(SequenceNumber since, const void* holder) {
    // The address, multiplied by 2^64 divided by the golden ratio, whose upper bits are well mixed.
    const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(holder));
    const size_t first = (address * 0x9e3779b97f4a7c15ull) >> (64 - kSlotBits);
    for (size_t i = 0; i < kTries; i++) {
      Slot& slot = slots_[(first + i) % kSlots];
      SequenceNumber none = kMaxSequenceNumber;
      if (!slot.since.compare_exchange_strong(none, since, std::memory_order_seq_cst)) continue;
      std::atomic_thread_fence(std::memory_order_seq_cst);
      return &slot;
    }
    return nullptr;
  }
  // Ends a hold; compactions that begin later need keep nothing for it.
  static void Release(Slot* slot) {
    slot->since.store(kMaxSequenceNumber, std::memory_order_seq_cst);
  }
  // Returns the smallest number of all holds, or kMaxSequenceNumber if there are none.
  SequenceNumber Oldest() const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    SequenceNumber oldest = kMaxSequenceNumber;
    for (const Slot& slot : slots_) {
      oldest = std::min(oldest, slot.since.load(std::memory_order_seq_cst));
    }
    return oldest;
  }

 private:
  static constexpr int kSlotBits = 6;
  // Number of holds at a time; each is on a cache line of its own.
  static constexpr size_t kSlots = size_t{1} << kSlotBits;
  // Number of slots that are tried before Take gives up.
  static constexpr size_t kTries = 8;

  Slot slots_[kSlots];
};

}  // namespace varve
