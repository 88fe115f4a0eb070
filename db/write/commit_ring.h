// SPDX-License-Identifier: Apache-2.0
#pragma once

// The commit ring orders running writes, and decides when they become visible.
//
// A write takes four steps (ring_commit_path.h). It reserves: under the path's lock it gets its
// sequence numbers, its place in the log and the next slot of the ring. Then, beside other writers,
// it fills its place in the log and waits until the log is whole up to there; it inserts into the
// memtables; and it completes its slot. Slots retire in order. The thread that finds the oldest
// slot complete publishes the last sequence number of the complete prefix, which makes all writes
// of the prefix visible, and opens their slots for the next lap. No writer leads others. A writer
// that is the oldest when it completes, as one alone always is, retires its own slot at once.
//
//      retired            running writes              free
//    ------------+---------------------------------+----------
//     ... 55  56 |   57     58      59       60    |  61 ...        tickets
//                | taken   done   taken   parked   |                states
//    ------------+---------------------------------+----------
//                ^ head_                           ^ tail_
//
// Here writes up to 56 are visible. When 57 completes, its writer retires 57 and 58 and publishes
// the last number of 58. 59 is still inserting and stops it; the writer of 60 sleeps until then.
//
// Ticket t uses slot t mod n. A slot's word holds the low bits of a ticket and a state.
//
// Invariants
// 1. Tickets, sequence numbers and places in the log are assigned in one hold of the path's lock,
//    so their three orders are the same order.
// 2. A slot is taken only if its word says that it is open for this ticket, that is, after the
//    ticket one lap earlier has retired. A slow writer's slot is never overwritten: the ring is
//    full.
// 3. A slot that was taken is completed once, by its own writer, whether the write succeeded or
//    failed. Whatever can be wrong with a batch was found before its slot was taken.
// 4. Slots retire in the order of their tickets, by one thread at a time: the writer of the head's
//    slot while that slot is not marked complete, as nobody else can pass it; otherwise the thread
//    that holds the role (retiring_). Either publishes first, opens the slots afterwards, and moves
//    the head last, so a writer that sees its slot retired may report its write as visible, and who
//    sees the head sees all that was published.
// 5. Every completed slot retires. A writer that is not the oldest stores "done", then looks if a
//    thread has the role, then at the word of the head. The holder gives up the role, and the
//    oldest writer moves the head, and then each looks at all three. These accesses are
//    sequentially consistent, or on either side of a fence that is. If a thread has the role, it
//    sees the slot when it looks again. If the head is not complete, its writer comes later and
//    sees the slot. If the head was an old one, who moved it on sees the slot.
// 6. No wake-up is lost. A writer sleeps only after it changed "done" to "parked", and the kernel
//    compares the word again. The thread that retires the slot exchanges the word, so it learns
//    that the slot was parked. A write costs at most one wake-up.
// 7. Visibility passes the numbers of failed writes. A write whose log append failed was inserted
//    nowhere. What a failed insertion left in memtables is invalidated before its slot completes
//    (CommitHost::OnInsertError), so readers at later sequence numbers leave it out.
// 8. To wait for all running writes is to take a slot without a batch, complete it, and wait until
//    it retires (RingCommitPath::Drain).
// 9. Waiters for room are all woken. A waiter notes the head at which it wants to be woken, half a
//    ring later, then looks at its slot again; the thread that retires slots looks at the note
//    afterwards, behind a fence. The waiter's accesses and the fence are sequentially consistent,
//    so one sees the other. A note that
//    another waiter overwrote does no harm: every noted head is reached, and clearing a note counts
//    a round, which ends the sleep of all that read the count before.
//
// tests/db/write/commit_ring_model_test.cc checks 1 to 6, 8 and 9 in every interleaving of three
// threads.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "varve/types.h"

namespace varve {

// Thread safety: Take, HasRoom and next require one lock of the caller; any thread may call the
// rest. Every slot taken must be completed once. The listener must outlive the ring.
class CommitRing {
 public:
  // Counts slots from the beginning; the words in the slots store its low 30 bits.
  using Ticket = uint64_t;
  // More than the threads that usually commit at once, each of which has one slot at a time; with
  // more threads, writers wait for room.
  static constexpr uint64_t kSlots = 1024;
  // In unordered mode, writes go on up to this number behind a preempted thread: about as many as
  // are made until it runs again.
  static constexpr uint64_t kSlotsWithoutOrder = 16 << 10;
  // Gets the last sequence number of a slot when it and all before it are complete: in ascending
  // order, from one thread at a time.
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void Publish(SequenceNumber sequence) = 0;
  };

  // `slots` must be a power of two. Throws std::bad_alloc.
  explicit CommitRing(Listener* listener, uint64_t slots = kSlots);
  CommitRing(const CommitRing&) = delete;
  CommitRing& operator=(const CommitRing&) = delete;

  // True if Take has a slot.
  bool HasRoom() const { return SlotOf(tail_).word.load(std::memory_order_acquire) == Open(tail_); }
  // Returns the ticket that Take would return, for AwaitRoom.
  Ticket next() const { return tail_; }
  // Sleeps until slots are free again, for a writer that had no room when next() was `ticket`. Must
  // be called without the caller's lock; others may take slots meanwhile.
  void AwaitRoom(Ticket ticket);
  // Takes the next slot; `last` is the newest sequence number in use, including those of this
  // write.
  Ticket Take(SequenceNumber last);
  // Must be called when the write is over.
  void Complete(Ticket ticket);
  // Waits until this slot, which must be complete, and all before it have retired.
  void WaitRetired(Ticket ticket);

 private:
  static constexpr uint32_t kOpen = 0;    // Free, or taken and not complete.
  static constexpr uint32_t kDone = 1;    // Complete.
  static constexpr uint32_t kParked = 2;  // Complete, and its writer sleeps until it retires.
  // Number of sleepers that are collected before they are woken.
  static constexpr int kWakesTogether = 64;
  struct alignas(32) Slot {
    // Ticket and state of the slot. Stored by the completing writer (publishes its insertion) and
    // by the thread that retires it (which opens it for the ticket one lap later).
    std::atomic<uint32_t> word{0};
    SequenceNumber last = 0;  // Written by Take.
  };
  // Slots whose writers sleep, collected while slots retire and woken afterwards.
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
  // True if the ticket's slot is complete and not retired.
  [[nodiscard]] bool IsComplete(Ticket ticket) const;
  // Retires the head's slot, which must be the caller's, and not marked complete.
  void RetireOwn(Ticket ticket, Wakes* wakes);
  // Moves the head to `end`, and notes in *wakes if writers that wait for room are to be woken.
  void MoveHead(Ticket end, Wakes* wakes);
  // Retires completed slots from the head on, and adds to *wakes those whom the caller must wake
  // when it has given up the role. Requires the role.
  void RetireCompleted(Wakes* wakes);
  // Wakes the writers of these slots, and those that wait for room.
  void Wake(const Wakes& wakes);

  Listener* const listener_;
  const uint64_t slot_count_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(64) Ticket tail_ = 0;  // Next to take; guarded by the caller's lock.
  // The thread that has set it retires slots. Sequentially consistent, as are the words'
  // completions: of a writer that completes and a thread that gives up the role, one sees the
  // other.
  alignas(64) std::atomic<bool> retiring_{false};
  // The next to retire. Stored by who retires slots (invariant 4), with release; others read it to
  // see if there is anything to retire, and may find an old value.
  std::atomic<Ticket> head_{0};
  // The head at which writers that wait for room are woken; all tickets before it are taken.
  // Sequentially consistent, and read behind a fence after slots were opened: of a writer that
  // waits for room and one that makes it, one sees the other.
  alignas(64) std::atomic<Ticket> room_at_{UINT64_MAX};
  // The word that they sleep on; counts wake-ups.
  std::atomic<uint32_t> room_rounds_{0};
};

}  // namespace varve
