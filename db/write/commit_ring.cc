// SPDX-License-Identifier: Apache-2.0

// The ring's states, invariants and the argument that no wake-up is lost are at the head of
// commit_ring.h; the asserts here name the invariant that they check. A slot's word goes through
// these values for ticket t:
//
//      Open(t) --Complete--> Done(t) --the writer waits--> Parked(t)
//         |                     |                             |
//         +-- of the oldest ----+--------- retired -----------+--> Open(t + slots), the next lap
//
// A word that is not of ticket t any more, whatever its state, therefore means that t has retired.

#include "db/write/commit_ring.h"

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/sync/futex.h"
#include "util/sync/spin.h"

namespace varve {

namespace {

// Number of checks for retirement before a writer sleeps: about the time that earlier writers need
// if they have a processor.
constexpr int kLooksBeforeSleep = 100;

}  // namespace

// Each slot is open for its ticket of the first lap, so that HasRoom needs no case for an empty
// ring.
CommitRing::CommitRing(Listener* listener, uint64_t slots)
    : listener_(listener), slot_count_(slots), slots_(std::make_unique<Slot[]>(slots)) {
  VARVE_ASSERT(slots >= 2 && (slots & (slots - 1)) == 0);
  for (Ticket ticket = 0; ticket < slots; ticket++) {
    SlotOf(ticket).word.store(Open(ticket), std::memory_order_relaxed);
  }
}

CommitRing::Ticket CommitRing::Take(SequenceNumber last) {
  VARVE_ASSERT(HasRoom());                                     // Invariant 2.
  VARVE_ASSERT(tail_ == 0 || SlotOf(tail_ - 1).last <= last);  // Invariant 1.
  SlotOf(tail_).last = last;
  return tail_++;
}

// The oldest writer retires its slot without marking it, which saves three of four serialising
// instructions. Any other marks its slot, and leaves the rest to a thread that has the role, or to
// the oldest writer. Then each retires what is complete behind.
void CommitRing::Complete(Ticket ticket) {
  // Invariant 3: this is the first completion.
  VARVE_ASSERT(SlotOf(ticket).word.load(std::memory_order_relaxed) == Open(ticket));
  Wakes wakes;
  if (head_.load(std::memory_order_acquire) == ticket) {
    RetireOwn(ticket, &wakes);
  } else {
    SlotOf(ticket).word.store(Word(ticket, kDone), std::memory_order_seq_cst);
  }
  // The thread that has the role sees the slot, or gives up the role before this thread tries to
  // take it. While the head waits for its writer, most other threads only check. The loop runs
  // again after the role is given up, because a slot may have become complete while this thread
  // still had the role: its writer saw the role taken, and left. The wake-ups come after the loop,
  // when the role is free, since each is a system call.
  while (!retiring_.load(std::memory_order_seq_cst) &&
         IsComplete(head_.load(std::memory_order_seq_cst)) &&
         !retiring_.exchange(true, std::memory_order_seq_cst)) {
    RetireCompleted(&wakes);
    retiring_.store(false, std::memory_order_seq_cst);
  }
  Wake(wakes);
}

// The slot has no sleeper, as only its writer would be one. From the store of the word on, a writer
// may take the slot for the next lap.
void CommitRing::RetireOwn(Ticket ticket, Wakes* wakes) {
  Slot& slot = SlotOf(ticket);
  listener_->Publish(slot.last);
  slot.word.store(Open(ticket + slot_count_), std::memory_order_release);
  MoveHead(ticket + 1, wakes);
}

// The fence stands between the stores that retired slots and what is looked at afterwards: the note
// of a waiter for room, and the role and the head's word (invariants 5 and 9).
void CommitRing::MoveHead(Ticket end, Wakes* wakes) {
  head_.store(end, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (end >= room_at_.load(std::memory_order_seq_cst)) [[unlikely]] {
    room_at_.store(UINT64_MAX, std::memory_order_seq_cst);
    wakes->room = true;
  }
}

// Compares the whole word, ticket included: the head that a caller without the role has read may be
// old, and its slot may serve a later lap by now.
bool CommitRing::IsComplete(Ticket ticket) const {
  const uint32_t word = SlotOf(ticket).word.load(std::memory_order_seq_cst);
  return word == Word(ticket, kDone) || word == Word(ticket, kParked);
}

void CommitRing::Wake(const Wakes& wakes) {
  // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
  if (VARVE_CANARY(kLostWakeUp)) return;
  // A woken slot may be in use by a later ticket already. Its writer then finds another word than
  // the one it sleeps on, or is woken for nothing and sleeps again.
  for (int i = 0; i < wakes.count; i++) FutexWakeAll(wakes.slots[i]->word);
  if (wakes.room) [[unlikely]] {
    room_rounds_.fetch_add(1, std::memory_order_release);
    FutexWakeAll(room_rounds_);
  }
}

// Publishes the last number of the complete slots at the head, then opens these slots. Sleeping
// writers are collected, and woken by the caller when the role is free. The head may be moved by
// its writer meanwhile, but only while its slot is not complete: then nothing is done here.
void CommitRing::RetireCompleted(Wakes* wakes) {
  VARVE_ASSERT(retiring_.load(std::memory_order_relaxed));  // Invariant 4.
  // Visibility first: a writer whose slot has retired may report that its write is visible.
  const Ticket begin = head_.load(std::memory_order_acquire);
  Ticket end = begin;
  while (IsComplete(end)) end++;
  if (end == begin) return;
  VARVE_ASSERT(end - begin <= slot_count_);  // Invariant 2.
  listener_->Publish(SlotOf(end - 1).last);
  for (Ticket ticket = begin; ticket != end; ticket++) {
    Slot& slot = SlotOf(ticket);
    // From this exchange on, a writer may take the slot for the next lap and overwrite `last`,
    // which was read above.
    const uint32_t open = Open(ticket + slot_count_);
    if (slot.word.exchange(open, std::memory_order_seq_cst) != Word(ticket, kParked)) continue;
    if (wakes->count < kWakesTogether) {
      wakes->slots[wakes->count++] = &slot;
    } else {
      FutexWakeAll(slot.word);
    }
  }
  MoveHead(end, wakes);
}

// A thread that is late here may lower or raise the head that another has stored. Either is
// reached, because all tickets before it are taken; and a thread that clears it increments the
// round afterwards, which wakes those who had stored it.
void CommitRing::AwaitRoom(Ticket ticket) {
  VARVE_ASSERT(ticket >= slot_count_);  // The ring has been full.
  const uint32_t round = room_rounds_.load(std::memory_order_acquire);
  // Waiters for room are woken together, when half of the ring has retired: a wake-up for a few
  // slots would be followed by the next sleep.
  room_at_.store(ticket - slot_count_ / 2, std::memory_order_seq_cst);
  // Sleeps only while the ticket one lap earlier still has the slot, as its word says above the two
  // bits of the state. If that has retired meanwhile, the caller looks for room again at once.
  if (SlotOf(ticket).word.load(std::memory_order_seq_cst) >> 2 == Low(ticket - slot_count_)) {
    FutexWait(room_rounds_, round);
  }
}

// Looks for a while, then parks the slot and sleeps. Who retires the slot exchanges its word, sees
// that it was parked, and wakes this thread.
void CommitRing::WaitRetired(Ticket ticket) {
  std::atomic<uint32_t>& word = SlotOf(ticket).word;
  const uint32_t parked = Word(ticket, kParked);
  uint32_t seen = word.load(std::memory_order_acquire);
  VARVE_ASSERT(seen != Open(ticket));  // It is complete, so it will retire (invariant 5).
  // The ticket stands above the two bits of the state; while it is this one, the slot has not
  // retired.
  for (int i = 0; i < kLooksBeforeSleep && seen >> 2 == Low(ticket); i++) {
    CpuPause();
    seen = word.load(std::memory_order_acquire);
  }
  while (seen >> 2 == Low(ticket)) {
    if (seen == parked || word.compare_exchange_weak(seen, parked, std::memory_order_acquire,
                                                     std::memory_order_acquire)) {
      FutexWait(word, parked);
      seen = word.load(std::memory_order_acquire);
    }
  }
}

}  // namespace varve
