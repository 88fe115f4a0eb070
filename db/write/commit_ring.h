// SPDX-License-Identifier: Apache-2.0
#pragma once

// The order of writes under way, as a ring of slots: each write takes the next slot, completes it
// when its insertion is over, and slots retire in order. README.md has the argument.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "varve/types.h"

namespace varve {

// Thread safety: Take and HasRoom under one lock of the caller; everything else from any thread.
//   Every slot taken must be completed, once.
class CommitRing {
 public:
  // Counts slots from the beginning; the words in the slots keep its low 30 bits.
  using Ticket = uint64_t;
  // More than threads that commit at once, each of which has one slot at a time.
  static constexpr uint64_t kSlots = 1024;
  // Without order a thread that lost the processor holds up this many writes before others wait for
  // it: about as many as they make until it has the processor again.
  static constexpr uint64_t kSlotsWithoutOrder = 16 << 10;
  // Told the last sequence of a slot when it and all before it are complete: never smaller ones,
  // by one thread at a time.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void Publish(SequenceNumber sequence) = 0;
  };

  // `slots`: a power of two. Throws std::bad_alloc.
  explicit CommitRing(Listener* listener, uint64_t slots = kSlots);
  CommitRing(const CommitRing&) = delete;
  CommitRing& operator=(const CommitRing&) = delete;

  // Whether Take has a slot.
  bool HasRoom() const { return SlotOf(tail_).word.load(std::memory_order_acquire) == Open(tail_); }
  // For AwaitRoom: what Take would return.
  Ticket next() const { return tail_; }
  // Sleeps until slots are free again, for a writer that had no room when next() was `ticket`;
  // without the caller's lock. Slots may be taken by others in between.
  void AwaitRoom(Ticket ticket);
  // The next slot; `last` is the newest sequence in use, with those of this write.
  Ticket Take(SequenceNumber last);
  // The write is over.
  void Complete(Ticket ticket);
  // Returns when this slot, which is complete, and all before it have retired.
  void WaitRetired(Ticket ticket);

 private:
  static constexpr uint32_t kOpen = 0;    // free, or taken and not complete
  static constexpr uint32_t kDone = 1;    // complete
  static constexpr uint32_t kParked = 2;  // complete, and its writer sleeps until it retires
  static constexpr int kWakesTogether = 64;
  struct alignas(32) Slot {
    // Ticket and state of the slot. Stored by the completing writer (publishes its insertion) and
    // by the one who retires it (which opens it to the ticket a lap later).
    std::atomic<uint32_t> word{0};
    SequenceNumber last = 0;  // written by Take
  };
  struct Wakes {
    std::array<Slot*, kWakesTogether> slots;
    int count = 0;
    bool room = false;
  };

  static uint32_t Low(Ticket ticket) { return static_cast<uint32_t>(ticket) & ((1u << 30) - 1); }
  static uint32_t Word(Ticket ticket, uint32_t state) { return Low(ticket) << 2 | state; }
  static uint32_t Open(Ticket ticket) { return Word(ticket, kOpen); }
  Slot& SlotOf(Ticket ticket) { return slots_[ticket & (slot_count_ - 1)]; }
  const Slot& SlotOf(Ticket ticket) const { return slots_[ticket & (slot_count_ - 1)]; }
  [[nodiscard]] bool IsComplete(Ticket ticket) const;
  void RetireCompleted(Wakes* wakes);
  void Wake(const Wakes& wakes);

  Listener* const listener_;
  const uint64_t slot_count_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(64) Ticket tail_ = 0;  // the next to take; under the caller's lock
  // The thread that has set it retires slots. Sequentially consistent, as are the words'
  // completions: of a writer that completes and one that gives up the role, one sees the other.
  alignas(64) std::atomic<bool> retiring_{false};
  // The next to retire. Stored by the holder of retiring_, which publishes it; others look whether
  // there is anything to retire before they ask for that, and may find an old one.
  std::atomic<Ticket> head_{0};
  // The head at which those who await room are woken; all tickets before it are taken. Sequentially
  // consistent, as are the exchanges that retire slots: of a writer that awaits room and one that
  // makes it, one sees the other.
  alignas(64) std::atomic<Ticket> room_at_{UINT64_MAX};
  // What they sleep on: counts the times they were woken.
  std::atomic<uint32_t> room_rounds_{0};
};

}  // namespace varve
