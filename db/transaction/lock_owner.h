// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockOwner holds what the lock table knows of a transaction, HeldLock what a transaction knows of
// one of its locks.

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory_resource>
#include <string>
#include <utility>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"
#include "varve/utilities/transaction.h"

#include "db/transaction/lock_ranks.h"
#include "util/sync/mutex.h"

namespace varve {

class LockOwner;
class LockQueue;

// Returns the microseconds of a monotonic clock.
inline uint64_t LockClockMicros() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// A key in the form in which the lock table looks it up.
struct LockKey {
  uint32_t family = 0;
  Slice key;
  uint64_t hash = 0;  // Hash of family and key.
};

// One transaction's lock on one key. It lies with the key's bytes in its owner's memory, until the
// owner reuses it for another key or frees all of its locks.
struct HeldLock {
  // The key and the owner do not change.
  LockKey key;
  LockOwner* owner = nullptr;

  // These belong to the lock table and are guarded by the latch of the key's part.
  // False again after a release, or after another took it from an expired owner.
  bool held = false;
  bool exclusive = false;
  // Position among its family's keys in order (LockedKeys); 0: not there. Set under the mutex of
  // the ranges. Threads other than the owner's set it only while the lock is held, under the latch,
  // or to 0.
  std::atomic<uint32_t> place_in_order{0};
  LockQueue* queue = nullptr;  // Set while it is held.
  HeldLock* next_holder = nullptr;

  // These belong to the transaction and its thread. The list is in the order of acquisition.
  HeldLock* previous = nullptr;
  HeldLock* next = nullptr;
  SequenceNumber unchanged_since = 0;  // No other transaction has changed the key after this.
  uint32_t reads = 0;                  // Uses that were not undone.
  uint32_t writes = 0;
};

// Thread safety: used by the owner's thread, except for members that are atomic or guarded, and the
// values set by Begin, which others read while the owner holds or awaits a lock.
class LockOwner {
 public:
  using State = Transaction::TransactionState;

  LockOwner() = default;
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  // Requires that the owner holds nothing. `expires_at`: 0 means never, otherwise a time of
  // LockClockMicros.
  void Begin(TransactionID id, uint64_t expires_at) {
    id_.store(id, std::memory_order_relaxed);
    expires_at_ = expires_at;
    state_.store(State::STARTED, std::memory_order_release);
    SetLastWait({});
  }

  TransactionID id() const { return id_.load(std::memory_order_relaxed); }
  uint64_t expires_at() const { return expires_at_; }
  // Number of ranges that it holds; guarded by the mutex of the ranges.
  size_t ranges_held = 0;

  bool ExpiredAt(uint64_t now) const { return expires_at_ != 0 && now >= expires_at_; }

  State state() const { return state_.load(std::memory_order_acquire); }
  void SetState(State state) { state_.store(state, std::memory_order_release); }
  // Returns false if it is in another state; of two concurrent calls only one succeeds.
  bool MoveState(State from, State to) {
    if (expires_at_ == 0) {  // No other thread moves it.
      if (state() != from) return false;
      SetState(to);
      return true;
    }
    return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }
  // True if others may take its locks: it expired before it began to prepare or commit.
  bool LosesLocksAt(uint64_t now) {
    if (!ExpiredAt(now)) return false;
    return MoveState(State::STARTED, State::LOCKS_STOLEN) || state() == State::LOCKS_STOLEN;
  }

  // Returns the time when a waiter should check again whether it may take these locks; UINT64_MAX:
  // never. A commit that was under way at the expiration may still fail.
  uint64_t NextRobbery() const {
    constexpr uint64_t kLookAgainMicros = 10'000;
    if (expires_at_ == 0) return UINT64_MAX;
    const uint64_t now = LockClockMicros();
    return expires_at_ > now ? expires_at_ : now + kLookAgainMicros;
  }

  // Returns a record with a copy of the key. Throws std::bad_alloc.
  HeldLock* NewLock(const LockKey& key) {
    const size_t kind = KindOf(key.key);
    void* place = spare_[kind];
    if (place != nullptr) {
      spare_[kind] = spare_[kind]->next;
    } else {
      place = memory_.allocate(size_t{1} << kind, alignof(HeldLock));
      lock_bytes_ += size_t{1} << kind;
    }
    char* const bytes = static_cast<char*>(place) + sizeof(HeldLock);
    if (!key.key.empty()) memcpy(bytes, key.key.data(), key.key.size());
    return new (place)
        HeldLock{.key = {key.family, Slice(bytes, key.key.size()), key.hash}, .owner = this};
  }
  // Recycles a record that was refused or released and that no thread uses any more.
  void Reuse(HeldLock* record) {
    const size_t kind = KindOf(record->key.key);
    record->next = spare_[kind];
    spare_[kind] = record;
    has_spare_ = true;
  }
  // Frees all records. Requires that none is held or awaited.
  void ForgetLocks() {
    if (lock_bytes_ == 0) return;
    memory_.release();
    lock_bytes_ = 0;
    if (has_spare_) spare_.fill(nullptr);
    has_spare_ = false;
  }
  // Returns the bytes of the records.
  size_t lock_bytes() const { return lock_bytes_; }

  // The transactions that it waited for when it last timed out. Any thread may call these.
  struct LastWait {
    uint32_t family = 0;
    std::string key;
    std::vector<TransactionID> ids;
  };
  void SetLastWait(LastWait wait) {
    if (wait.ids.empty() && !has_last_wait_.load(std::memory_order_relaxed)) return;
    MutexLock lock(&last_wait_mu_);
    has_last_wait_.store(!wait.ids.empty(), std::memory_order_relaxed);
    last_wait_ = std::move(wait);
  }
  LastWait last_wait() const {
    MutexLock lock(&last_wait_mu_);
    return last_wait_;
  }

 private:
  static constexpr size_t kInlineBytes = 1024;  // Room for about eight locks without an allocation.

  // Returns the exponent of the record's size, which is a power of two.
  static size_t KindOf(const Slice& key) {
    return static_cast<size_t>(std::bit_width(sizeof(HeldLock) + key.size() - 1));
  }

  std::atomic<TransactionID> id_{0};
  uint64_t expires_at_ = 0;
  size_t lock_bytes_ = 0;
  bool has_spare_ = false;
  std::array<HeldLock*, 34> spare_{};  // Free lists by kind; keys have fewer than 2^32 bytes.
  std::atomic<State> state_{State::STARTED};
  std::atomic<bool> has_last_wait_{false};
  mutable Mutex last_wait_mu_{kLastWaitRank};
  LastWait last_wait_ VARVE_GUARDED_BY(last_wait_mu_);
  alignas(HeldLock) char inline_[kInlineBytes];
  std::pmr::monotonic_buffer_resource memory_{inline_, kInlineBytes};
};

}  // namespace varve
