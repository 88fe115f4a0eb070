// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockOwner holds what the lock table knows of a transaction, HeldLock what a transaction knows of
// one of its locks.
//
// Memory of locks. A transaction often locks a few keys, and all of its locks go at once. So a
// HeldLock is allocated, with the bytes of its key behind it, from memory that belongs to the
// owner: first 1 KiB inside the LockOwner, then blocks that double. Sizes are rounded up to powers
// of two, so that a record that was refused can serve another key of about the same length (Reuse).
// ForgetLocks frees everything together.
//
// Expiration. With TransactionOptions::expiration a transaction that lives too long may lose its
// locks to a waiter. Who wins is decided by one atomic state:
//
//      STARTED --owner: begins to prepare or commit--> AWAITING_... (locks are safe)
//         '-----waiter, after expires_at: -----------> LOCKS_STOLEN (the owner can only roll back)
//
// Both moves are compare-and-swaps from STARTED, so exactly one succeeds.

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
  Slice key;          // A user key without timestamp.
  uint64_t hash = 0;  // Hash of family and key.
};

// One transaction's lock on one key. It lies with the key's bytes in its owner's memory, until the
// owner reuses it for another key or frees all of its locks.
struct HeldLock {
  // The key and the owner do not change.
  LockKey key;
  LockOwner* owner = nullptr;

  // These belong to the lock table and are guarded by the latch of the key's part. `held` is false
  // again after a release, or after another transaction took the lock from an expired owner.
  bool held = false;
  bool exclusive = false;
  // Position among its family's keys in order (LockedKeys); 0: not there. Set under the mutex of
  // the ranges. Threads other than the owner's set it only while the lock is held, under the latch,
  // or to 0.
  std::atomic<uint32_t> place_in_order{0};
  LockQueue* queue = nullptr;  // Set while it is held.
  // Next in the queue's list of holders.
  HeldLock* next_holder = nullptr;

  // These belong to the transaction and its thread. The list is in the order of acquisition.
  HeldLock* previous = nullptr;
  HeldLock* next = nullptr;
  SequenceNumber unchanged_since = 0;  // No other transaction has changed the key after this.
  uint32_t reads = 0;                  // Uses that were not undone.
  // Uses that write the key; the lock is exclusive while there is one.
  uint32_t writes = 0;
};

// A transaction, or a write without one, as the lock table knows it; it also allocates the records
// of its locks.
//
// Thread safety: used by the owner's thread, except for members that are atomic or guarded, and the
// values set by Begin, which others read while the owner holds or awaits a lock.
class LockOwner {
 public:
  using State = Transaction::TransactionState;

  LockOwner() = default;
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  // Begins a transaction with this id, in the state STARTED. Requires that the owner holds nothing.
  // `expires_at` is a time of LockClockMicros; 0: it does not expire.
  void Begin(TransactionID id, uint64_t expires_at) {
    id_.store(id, std::memory_order_relaxed);
    expires_at_ = expires_at;
    state_.store(State::STARTED, std::memory_order_release);
    SetLastWait({});
  }

  // Returns the id under which waiters and deadlock searches know the transaction.
  TransactionID id() const { return id_.load(std::memory_order_relaxed); }
  // Returns the time of LockClockMicros from which on locks may be taken away; 0: never.
  uint64_t expires_at() const { return expires_at_; }
  // Number of ranges that it holds; guarded by the mutex of the ranges.
  size_t ranges_held = 0;

  // True if the time has passed, whether or not a waiter has taken a lock.
  bool ExpiredAt(uint64_t now) const { return expires_at_ != 0 && now >= expires_at_; }

  // Returns the state. Acquire: what the owner did before it entered the state is seen.
  State state() const { return state_.load(std::memory_order_acquire); }
  void SetState(State state) { state_.store(state, std::memory_order_release); }
  // Changes the state from `from` to `to`; returns false if it is in another one. Of two concurrent
  // calls only one succeeds.
  bool MoveState(State from, State to) {
    if (expires_at_ == 0) {  // No other thread moves it.
      if (state() != from) return false;
      SetState(to);
      return true;
    }
    return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }
  // True if others may take its locks: it expired before it began to prepare or commit. The state
  // is LOCKS_STOLEN then.
  bool LosesLocksAt(uint64_t now) {
    if (!ExpiredAt(now)) return false;
    return MoveState(State::STARTED, State::LOCKS_STOLEN) || state() == State::LOCKS_STOLEN;
  }

  // Returns the time, by LockClockMicros, at which a waiter should check again whether it may take
  // these locks; UINT64_MAX: never. After the expiration that is soon, as a commit that was under
  // way then may still fail.
  uint64_t NextExpiryCheck() const {
    constexpr uint64_t kLookAgainMicros = 10'000;
    if (expires_at_ == 0) return UINT64_MAX;
    const uint64_t now = LockClockMicros();
    return expires_at_ > now ? expires_at_ : now + kLookAgainMicros;
  }

  // Returns a new record with a copy of the key, not held yet. Throws std::bad_alloc.
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

  // A key, and the transactions that held it up when a wait of this owner timed out. Any thread may
  // set and read the last one.
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
  // Records lie in this object, then in blocks that double. They are freed all together, at the
  // end of the transaction.
  static constexpr size_t kInlineBytes = 1024;  // Room for about eight locks without an allocation.

  // Returns the exponent of the size of a record for this key, which is a power of two.
  static size_t KindOf(const Slice& key) {
    return static_cast<size_t>(std::bit_width(sizeof(HeldLock) + key.size() - 1));
  }

  std::atomic<TransactionID> id_{0};   // Set by Begin, as is expires_at_.
  uint64_t expires_at_ = 0;            // Time of LockClockMicros; 0: never.
  size_t lock_bytes_ = 0;              // Bytes of memory_ that records take, free ones included.
  bool has_spare_ = false;             // True if spare_ has a record.
  std::array<HeldLock*, 34> spare_{};  // Free lists by kind; keys have fewer than 2^32 bytes.
  // Other threads move it from STARTED to LOCKS_STOLEN if it has expired.
  std::atomic<State> state_{State::STARTED};
  // True if last_wait_ has ids; lets most calls of SetLastWait take no mutex.
  std::atomic<bool> has_last_wait_{false};
  mutable Mutex last_wait_mu_{kLastWaitRank};
  LastWait last_wait_ VARVE_GUARDED_BY(last_wait_mu_);
  // First block of memory_.
  alignas(HeldLock) char inline_[kInlineBytes];
  std::pmr::monotonic_buffer_resource memory_{inline_, kInlineBytes};
};

}  // namespace varve
