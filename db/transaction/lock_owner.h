// SPDX-License-Identifier: Apache-2.0
#pragma once

// LockOwner: what the lock table knows of a transaction; HeldLock: what a transaction knows of one
// of its locks.

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

// Microseconds of a clock that only goes forward.
inline uint64_t LockClockMicros() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

// A key as the lock table looks it up.
struct LockKey {
  uint32_t family = 0;
  Slice key;
  uint64_t hash = 0;  // of both
};

// One transaction's lock on one key. It lies in its owner's memory, with the key's bytes, until the
// owner uses it again for another, or forgets all of its locks.
struct HeldLock {
  // Constant once made.
  LockKey key;
  LockOwner* owner = nullptr;

  // The lock table's, under the latch of the key's part.
  bool held = false;  // false again: given back, or taken by another when the owner had expired
  bool exclusive = false;
  // Where it is among its family's keys in order (LockedKeys); 0: not there. Set under the mutex of
  // the ranges; and by another thread than the owner's only while it is held, under the latch, or
  // to 0.
  std::atomic<uint32_t> place_in_order{0};
  LockQueue* queue = nullptr;  // while it is held
  HeldLock* next_holder = nullptr;

  // The transaction's own, by its thread. In the order in which the locks were had.
  HeldLock* previous = nullptr;
  HeldLock* next = nullptr;
  SequenceNumber unchanged_since = 0;  // nobody else has changed the key after this
  uint32_t reads = 0;                  // uses that are not taken back
  uint32_t writes = 0;
};

// Thread safety: the owner's thread, but for what is atomic or guarded, and the numbers that Begin
// sets, which others read while the owner holds or awaits a lock.
class LockOwner {
 public:
  using State = Transaction::TransactionState;

  LockOwner() = default;
  LockOwner(const LockOwner&) = delete;
  LockOwner& operator=(const LockOwner&) = delete;

  // The owner holds nothing. `expires_at`: 0 never, else by LockClockMicros.
  void Begin(TransactionID id, uint64_t expires_at) {
    id_.store(id, std::memory_order_relaxed);
    expires_at_ = expires_at;
    state_.store(State::STARTED, std::memory_order_release);
    SetLastWait({});
  }

  TransactionID id() const { return id_.load(std::memory_order_relaxed); }
  uint64_t expires_at() const { return expires_at_; }
  // Ranges that it holds; under the mutex of all ranges.
  size_t ranges_held = 0;

  bool ExpiredAt(uint64_t now) const { return expires_at_ != 0 && now >= expires_at_; }

  State state() const { return state_.load(std::memory_order_acquire); }
  void SetState(State state) { state_.store(state, std::memory_order_release); }
  // False: it is in another state; of two that try at once only one succeeds.
  bool MoveState(State from, State to) {
    if (expires_at_ == 0) {  // nobody else moves it
      if (state() != from) return false;
      SetState(to);
      return true;
    }
    return state_.compare_exchange_strong(from, to, std::memory_order_acq_rel);
  }
  // Whether others may take its locks: it had its time, and does not commit or has not begun to.
  bool LosesLocksAt(uint64_t now) {
    if (!ExpiredAt(now)) return false;
    return MoveState(State::STARTED, State::LOCKS_STOLEN) || state() == State::LOCKS_STOLEN;
  }

  // When one who waits for its locks should look again whether they may be taken; UINT64_MAX:
  // never. A commit that was under way when the time was over may fail.
  uint64_t NextRobbery() const {
    constexpr uint64_t kLookAgainMicros = 10'000;
    if (expires_at_ == 0) return UINT64_MAX;
    const uint64_t now = LockClockMicros();
    return expires_at_ > now ? expires_at_ : now + kLookAgainMicros;
  }

  // A record with a copy of the key. Throws std::bad_alloc.
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
  // A record that was refused or given back, which nobody looks at any more, makes room for
  // another.
  void Reuse(HeldLock* record) {
    const size_t kind = KindOf(record->key.key);
    record->next = spare_[kind];
    spare_[kind] = record;
    has_spare_ = true;
  }
  // None of its records is held or awaited any more.
  void ForgetLocks() {
    if (lock_bytes_ == 0) return;
    memory_.release();
    lock_bytes_ = 0;
    if (has_spare_) spare_.fill(nullptr);
    has_spare_ = false;
  }
  // What records take.
  size_t lock_bytes() const { return lock_bytes_; }

  // Whom it waited for when it last ran into a timeout. Any thread.
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
  static constexpr size_t kInlineBytes = 1024;  // some eight locks cost no allocation

  // Records take a power of two: that.
  static size_t KindOf(const Slice& key) {
    return static_cast<size_t>(std::bit_width(sizeof(HeldLock) + key.size() - 1));
  }

  std::atomic<TransactionID> id_{0};
  uint64_t expires_at_ = 0;
  size_t lock_bytes_ = 0;
  bool has_spare_ = false;
  std::array<HeldLock*, 34> spare_{};  // by kind; keys have less than 2^32 bytes
  std::atomic<State> state_{State::STARTED};
  std::atomic<bool> has_last_wait_{false};
  mutable Mutex last_wait_mu_{kLastWaitRank};
  LastWait last_wait_ VARVE_GUARDED_BY(last_wait_mu_);
  alignas(HeldLock) char inline_[kInlineBytes];
  std::pmr::monotonic_buffer_resource memory_{inline_, kInlineBytes};
};

}  // namespace varve
