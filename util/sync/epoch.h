// SPDX-License-Identifier: Apache-2.0
#pragma once

// Implements epoch-based reclamation, without reference counts: unlinked memory is freed once every
// reader that may have seen it has left.
//
// A reader announces the epoch it entered in, in a word of its own thread; a thread that frees asks
// which epochs are still announced. Readers are frequent and execute no fence: a thread that frees
// makes every running thread execute one (membarrier).

#include <atomic>
#include <cassert>
#include <cstdint>

namespace varve {

// Thread safety: everything may be called from any thread. Lifetime: process-wide.
class Epoch {
 public:
  // While a Guard lives, objects that were reachable when they were loaded stay valid. The thread
  // must not wait meanwhile: no lock that is held for long, no I/O, no callback of the user. A
  // nested Guard does nothing.
  class Guard {
   public:
    Guard() : entered_(Enter()) {}
    ~Guard() {
      if (entered_) Leave();
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    const bool entered_;
  };

  // Returns the stamp for an object that the caller has unlinked: the current epoch. Requires that
  // the unlinking was a seq_cst store or exchange: otherwise the processor may read the stamp
  // before the store takes effect.
  static uint64_t Stamp() { return now_.load(std::memory_order_seq_cst); }
  // Returns the stamp below which no reader can reach anything. Costs a system call; what was
  // stamped before it can be freed as soon as the readers of that time have left.
  static uint64_t FreeBelow();
  // True if no reader can reach an object with this stamp. Makes a system call only if no thread
  // has made one since the stamp, and not while the reader that last prevented it is still inside:
  // a later retry then costs a few loads.
  static bool IsFree(uint64_t stamp);
  // Returns the known limit: objects with a smaller stamp may be freed. Costs a load.
  static uint64_t KnownFree() { return known_free_.load(std::memory_order_acquire); }
  // Waits until everything that was stamped before this call may be freed. Must not be called
  // inside a Guard.
  static void WaitForReaders();

  // True if this thread is inside a Guard; for assertions.
  static bool Inside() {
    return record_ != nullptr && record_->epoch.load(std::memory_order_relaxed) != kOutside;
  }

 private:
  static constexpr uint64_t kOutside = 0;

  // The record of a thread that has read; a later thread takes it over when this one exits.
  struct alignas(64) Record {
    // The epoch that the reader entered in, or kOutside. Leaving is a release: what the reader did
    // happens before the freeing.
    std::atomic<uint64_t> epoch{kOutside};
    std::atomic<bool> taken{true};  // acquire/release: transfers the record to the next thread
    Record* next = nullptr;         // constant once the record is in the list
  };
  class Release;

  // Returns false if the thread is inside already.
  static bool Enter() {
    if (record_ == nullptr) [[unlikely]]
      Register();
    if (Inside()) [[unlikely]]
      return false;
    const uint64_t now = now_.load(std::memory_order_acquire);
    if (fenced_.load(std::memory_order_relaxed)) [[unlikely]] {
      record_->epoch.exchange(now, std::memory_order_seq_cst);
    } else {
      record_->epoch.store(now, std::memory_order_relaxed);
      // The processor may still delay the store past later loads; the barrier of FreeBelow handles
      // that.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    return true;
  }
  static void Leave() { record_->epoch.store(kOutside, std::memory_order_release); }
  // Gives the calling thread a record: that of a thread that has ended, or a new one.
  static void Register();
  // Returns the oldest announced epoch, at most `barrier`, and stores it as known.
  static uint64_t Oldest(uint64_t barrier);
  // Runs once, before main. Returns true if readers must fence.
  static bool Prepare();
  // Clears the records of the parent's other threads in a child of fork.
  static void ForgetOtherThreads();

  // Incremented whenever a thread asks what may be freed.
  static std::atomic<uint64_t> now_;
  // The value of now_ at the last barrier. A reader whose announcement was not visible at the
  // barrier loads its pointers after it, and so cannot reach what was stamped before.
  static std::atomic<uint64_t> barrier_;
  // Release: a thread that frees by it does so after the readers whose leaving was seen.
  static std::atomic<uint64_t> known_free_;
  // The reader that was last seen with the oldest epoch, perhaps a preempted thread; null if none.
  static std::atomic<const Record*> oldest_reader_;
  // Set if the system has no membarrier: then every reader executes a fence.
  static std::atomic<bool> fenced_;
  static std::atomic<Record*> records_;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Record* record_;
};

}  // namespace varve
