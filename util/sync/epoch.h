// SPDX-License-Identifier: Apache-2.0
#pragma once

// Readers without reference counts: what was unlinked is freed once every reader that may have seen
// it has left.
//
// A reader announces the epoch it entered in, in a word of its own thread; a thread that frees asks
// which epochs are still announced. Readers are frequent and pay for no fence: a thread that frees
// makes every running thread pass one (membarrier).

#include <atomic>
#include <cassert>
#include <cstdint>

namespace varve {

// Thread safety: everything may be called from any thread. Lifetime: process-wide.
class Epoch {
 public:
  // Inside, what was reachable when it was loaded stays. Inside, nothing may wait: no lock that is
  // held for long, no I/O, no callback of the user. One inside another does nothing.
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

  // The stamp for what has been unlinked before this call, by a seq_cst store or exchange: else the
  // processor may read the stamp first.
  static uint64_t Stamp() { return now_.load(std::memory_order_seq_cst); }
  // What carries a smaller stamp than this can be reached by no reader. Costs a system call; what
  // was stamped before is free to go as soon as readers of that time have left.
  static uint64_t FreeBelow();
  // Whether no reader can have what carries this stamp. A system call only if nobody has made one
  // since, and not while the reader is still inside who was in the way before: a caller that is
  // told no looks again for a few loads.
  static bool IsFree(uint64_t stamp);
  // What was found out so far: everything with a smaller stamp. A load.
  static uint64_t KnownFree() { return known_free_.load(std::memory_order_acquire); }
  // Until everything that was stamped before this call may be freed. Not inside a Guard.
  static void WaitForReaders();

  // For assertions: whether this thread is inside a Guard.
  static bool Inside() {
    return record_ != nullptr && record_->epoch.load(std::memory_order_relaxed) != kOutside;
  }

 private:
  static constexpr uint64_t kOutside = 0;

  // One for each thread that ever read; taken over by a later thread when its own exits.
  struct alignas(64) Record {
    // The epoch that the reader entered in, or kOutside. Leaving is a release: what the reader did
    // happens before the freeing.
    std::atomic<uint64_t> epoch{kOutside};
    std::atomic<bool> taken{true};  // acquire/release: hands the record to the next thread
    Record* next = nullptr;         // constant once the record is in the list
  };
  class Release;

  // False if the thread is inside already.
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
      // The processor may still delay the store past loads that follow; FreeBelow's barrier is for
      // that.
      std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    return true;
  }
  static void Leave() { record_->epoch.store(kOutside, std::memory_order_release); }
  static void Register();
  // The oldest epoch that is announced, at most `barrier`; becomes known.
  static uint64_t Oldest(uint64_t barrier);
  // Once, before main. Returns whether readers must fence.
  static bool Prepare();
  // In a child of fork: the readers that were other threads of the parent are not there.
  static void ForgetOtherThreads();

  // Grows by one whenever a thread asks what may be freed.
  static std::atomic<uint64_t> now_;
  // What now_ was at the last barrier. A reader that announces an older epoch after it cannot reach
  // what was stamped before, as its loads come after the barrier, too.
  static std::atomic<uint64_t> barrier_;
  // Release: a thread that frees by it does so after the readers that its finder saw leave.
  static std::atomic<uint64_t> known_free_;
  // The reader that was seen with the oldest epoch: a thread that has lost its core, perhaps. Null:
  // nobody.
  static std::atomic<const Record*> oldest_reader_;
  // Set where the system has no membarrier: then readers pay for a fence each.
  static std::atomic<bool> fenced_;
  static std::atomic<Record*> records_;
  [[gnu::tls_model("initial-exec")]] static constinit thread_local Record* record_;
};

}  // namespace varve
