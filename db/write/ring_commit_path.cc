// SPDX-License-Identifier: Apache-2.0

// The path of a write from its request to its visibility.
//
//    Reserve         lock_: place in the log, sequence numbers, ticket; small records are copied
//    LogAndInsert    no lock: fill the log's place; wait until all before it are whole; sync if
//                    asked; insert into memtables
//    Complete        ring: the ticket's slot is done
//    Finish          ordered: wait until all earlier tickets are complete, so visible
//
// All orders are one order, that of lock_: it is held for the assignment of numbers, and for no
// system call. Everything that takes long happens outside of it, in parallel with other writes.
// CommitRing (commit_ring.h) then makes writes visible in that order.
//
// Invariants, beside those of the ring:
//
// 1. What can be wrong with a write is found before it has a ticket; afterwards it fails only for
//    reasons that concern the database (the log, memory), and its ticket is completed all the same.
// 2. A write is inserted into memtables only after its record and all earlier ones are whole in the
//    log, so a crash never keeps a write that depended on a lost one.
// 3. A conditional write is decided under lock_ against the stamps of its keys (KeyStamps), which
//    are raised in the same hold as sequence numbers are assigned: a conflicting write is either
//    stamped already, or comes later.
// 4. An exclusive holder (a memtable switch, LockWAL) closes the gate under lock_ and then waits
//    until the ring has drained; writers wait at the gate without a ticket, so the two cannot wait
//    for each other.
// 5. The DB mutex is never held here (RefuseUnderDbMutex), as a writer may wait for what its holder
//    does.

#include "db/write/ring_commit_path.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
#include "util/base/probes.h"
#include "util/base/status_macros.h"

namespace varve {

namespace {

// Records up to this size are copied into the log while their place is assigned: that takes less
// time than a thread would lose by waiting for a hole in the log.
constexpr size_t kBytesCopiedUnderLock = 2 << 10;

// Active work for which a write, or an exclusive holder, may wait: they include a sync of the log.
constexpr uint32_t kHoldsUp = ActiveWork::kCommit | ActiveWork::kLog;

// Returns an error if the thread has the DB mutex, before which the call's locks must be taken. A
// comparator, for example, runs under that mutex.
Status RefuseUnderDbMutex(const char* call) {
  return active_work::mutex == nullptr ? Status::OK() : HeldUp(call, "the database's mutex,");
}

// Returns what is left of a wait of at most `micros` that began at `began`.
uint64_t MicrosLeft(std::chrono::steady_clock::time_point began, uint64_t micros) {
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now() - began);
  return micros - std::min(micros, static_cast<uint64_t>(waited.count()));
}

// Throws if the thread holds something that others in the path may wait for.
void CheckMayEnter(const CommitPath* path) {
  ThrowIfItWouldDeadlock("call", kHoldsUp, path);
  if (Status s = RefuseUnderDbMutex("call"); !s.ok()) throw RefusedCall{std::move(s)};
}

// Calls the callback and ignores its exceptions: the write is already under way and cannot fail for
// them.
void Tell(UserWriteCallback* callback, void (UserWriteCallback::*what)()) {
  try {
    (callback->*what)();
  } catch (...) {
  }
}

}  // namespace

RingCommitPath::RingCommitPath(const CommitOptions& options, CommitHost* host,
                               SequenceNumber last_sequence)
    : host_(host),
      insert_one_at_a_time_(options.insert_one_at_a_time),
      newest_(last_sequence),
      ring_(this, options.mode == CommitMode::kUnordered ? CommitRing::kSlotsWithoutOrder
                                                         : CommitRing::kSlots),
      visible_(last_sequence) {}

// Runs in the writer's thread from end to end. The two refusals come before anything is reserved: a
// thread that holds up other writers, or has the DB mutex, would wait for itself below.
Status RingCommitPath::Commit(const WriteOptions& options, WriteRequest* request,
                              UserWriteCallback* callback) {
  const auto* const self = static_cast<const CommitPath*>(this);
  VARVE_RETURN_IF_ERROR(RefuseHeldUp("write", kHoldsUp, self));
  VARVE_RETURN_IF_ERROR(RefuseUnderDbMutex("write"));
  const ActiveWork active(ActiveWork::kCommit, self, "a write");
  // The record does not contain the updates of a prepared transaction: they may be of any keys.
  const KeyStamps* const watched = watched_.load(std::memory_order_acquire);
  if (watched != nullptr && request->step() == nullptr) [[unlikely]] {
    return CommitWatched(options, request, callback, *watched);
  }
  return CommitWithKeys(options, request, callback, /*keys=*/nullptr);
}

// The keys are hashed here, before lock_ is taken, and their buckets are fetched into the cache.
Status RingCommitPath::CommitWatched(const WriteOptions& options, WriteRequest* request,
                                     UserWriteCallback* callback, const KeyStamps& watched) {
  const KeyHashes keys(*request, host_);
  for (const uint64_t hash : keys.hashes()) watched.Prefetch(hash);
  return CommitWithKeys(options, request, callback, &keys);
}

// From Reserve on there is one way out, through Complete, whatever LogAndInsert says: a slot that
// is never completed would stop visibility for good.
Status RingCommitPath::CommitWithKeys(const WriteOptions& options, WriteRequest* request,
                                      UserWriteCallback* callback, const KeyHashes* keys) {
  Reservation reservation;
  reservation.keys = keys;
  // A static probe, for tracing programs (util/base/probes.h).
  VARVE_PROBE_WRITE_BEGIN(request->bytes(), request->count(), options.sync);
  Status s = Reserve(options, request, &reservation);
  if (s.ok()) {
    s = LogAndInsert(options, *request, reservation, callback);
    ring_.Complete(reservation.ticket);
    if (s.ok()) Finish(reservation.ticket);
  }
  VARVE_PROBE_WRITE_END(reservation.sequence, s);
  return s;
}

// Tries until the write has a place, or an error. Every reason to wait is found under lock_ and
// waited for without it: the gate (an exclusive holder), the host's refusal (the database does not
// take writes, or a family of the batch was dropped), and a full ring. After each wait all of them
// are asked again, as another may hold by then.
Status RingCommitPath::Reserve(const WriteOptions& options, WriteRequest* request,
                               Reservation* reservation) {
  for (;;) {
    lock_.Lock();
    const bool closed = closed_;
    const bool refused = !closed && host_->Refuses(*request);
    if (!closed && !refused && ring_.HasRoom()) [[likely]] {
      // While tables are being added, readers may not have them although their numbers are
      // assigned, so what a condition relies on may be incomplete.
      if (request->condition() != nullptr &&
          (additions_ > 0 || !stamps_->Allow(*request->condition()))) {
        lock_.Unlock();
        request->condition()->refused = true;
        return Status::Busy();
      }
      Status s = ReserveLocked(options, request, reservation);
      lock_.Unlock();
      // The log could not give a place. No ticket was taken, so nothing has to be completed.
      return s.ok() ? s : host_->OnLogError(s);
    }
    // The lock is released before waiting. AwaitRoom compares with this ticket, so room that is
    // made in between is noticed.
    const CommitRing::Ticket ticket = ring_.next();
    lock_.Unlock();
    if (closed) {
      VARVE_RETURN_IF_ERROR(WaitAtGate(options));
    } else if (refused) {
      VARVE_RETURN_IF_ERROR(host_->Refusal(request));
    } else {
      ring_.AwaitRoom(ticket);
    }
  }
}

// Gives the write its place in the log, its sequence numbers and its slot, which must be free.
// Nothing throws after the log has assigned a place; before that, a failure has no effect.
Status RingCommitPath::ReserveLocked(const WriteOptions& options, WriteRequest* request,
                                     Reservation* reservation) try {
  const size_t bytes = request->bytes();
  // The log comes first, because it is the only step that can fail. A place in the log that nobody
  // fills would stop all later records, so nothing after it may return early.
  if (!options.disableWAL) VARVE_RETURN_IF_ERROR(host_->ReserveLog(bytes, &reservation->place));
  const SequenceNumber before = newest_.load(std::memory_order_relaxed);
  const SequenceNumber last = before + request->count();
  VARVE_ASSERT(last >= before && last <= kMaxSequenceNumber);
  VARVE_ASSERT(options.disableWAL || reservation->place.log != nullptr);
  reservation->sequence = before + 1;
  reservation->ticket = ring_.Take(last);
  // The number is stored after the slot is taken, so that a reader without order that sees it can
  // drain the ring and find the write in it.
  newest_.store(last, std::memory_order_release);
  totals_.writes++;
  totals_.keys += last - before;
  totals_.bytes += bytes;
  if (!options.disableWAL) {
    totals_.logged_writes++;
    totals_.logged_bytes += bytes;
  }
  if (stamps_ != nullptr) [[unlikely]] {
    if (reservation->keys != nullptr) {
      // VARVE_CANARY: a bug that only test builds plant (util/base/canary.h).
      if (!VARVE_CANARY(kForgetStamps)) stamps_->Raise(*reservation->keys, last);
    } else {
      // The write has no list of keys: it is a step of two-phase commit, or read watched_ before
      // WatchKeys set it.
      stamps_->RaiseAll(last);
    }
  }
  // The number is part of the record's bytes, so it is written before they are copied into the log.
  request->SetSequence(before + 1);
  if (!options.disableWAL && bytes <= kBytesCopiedUnderLock) {
    reservation->place.log->Fill(reservation->place, request->head(), request->tail());
    reservation->filled = true;
  }
  return Status::OK();
} catch (...) {
  return CaughtException();
}

// A failure says that the record is not in the log, or, with `sync`, that it may not be durable.
Status RingCommitPath::WaitForLog(const wal::LogReservation& place, bool sync) try {
  const ActiveWork active(ActiveWork::kLog, static_cast<const CommitPath*>(this), "the log,");
  Status s = place.log->WaitWhole(place);
  return s.ok() && sync ? host_->SyncLog(place) : s;
} catch (...) {
  return CaughtException();
}

// The log comes before the memtable, so that an unlogged write never becomes visible. Nothing is
// thrown here, because the write has its place among others.
Status RingCommitPath::LogAndInsert(const WriteOptions& options, const WriteRequest& request,
                                    const Reservation& reservation, UserWriteCallback* callback) {
  const wal::LogReservation& place = reservation.place;
  VARVE_ASSERT(options.disableWAL == (place.log == nullptr));
  if (!options.disableWAL && !reservation.filled) {
    place.log->Fill(place, request.head(), request.tail());
  }
  if (callback != nullptr) Tell(callback, &UserWriteCallback::OnWriteEnqueued);
  if (!options.disableWAL) {
    Status s = WaitForLog(place, options.sync);
    if (!s.ok()) return host_->OnLogError(s);
    if (callback != nullptr) Tell(callback, &UserWriteCallback::OnWalWriteFinish);
  }
  // Only a test's planted fault makes this publish early, to prove that the tests notice it.
  if (VARVE_CANARY(kPublishBeforeInsert)) Publish(newest_.load(std::memory_order_acquire));
  Status s = Insert(request, reservation.sequence);
  // A part may be inserted: it is hidden before visibility reaches it.
  const SequenceNumber first = reservation.sequence;
  if (!s.ok()) s = host_->OnInsertError(s, first, first + request.count() - 1);
  return s;
}

// Verifies the checksums of a checked batch again: what is logged must be what readers see.
Status RingCommitPath::Insert(const WriteRequest& request, SequenceNumber sequence) try {
  VARVE_RETURN_IF_ERROR(request.VerifyChecksum());
  if (!insert_one_at_a_time_) return host_->Insert(request, sequence);
  MutexLock lock(&insert_mu_);
  return host_->Insert(request, sequence);
} catch (...) {
  return CaughtException();
}

CommitTotals RingCommitPath::Totals() const {
  lock_.Lock();
  const CommitTotals totals = totals_;
  lock_.Unlock();
  return totals;
}

// The host's number, which readers load, goes up before visible_, from which this path says what is
// visible, and whether a reader has to wait.
void RingCommitPath::Publish(SequenceNumber sequence) {
  VARVE_ASSERT(sequence >= visible() && sequence <= newest());  // Invariant 4 of commit_ring.h.
  host_->Publish(sequence);
  visible_.store(sequence, std::memory_order_release);
}

// A slot that is taken now retires when all before it have.
void RingCommitPath::Drain() {
  for (;;) {
    lock_.Lock();
    const bool room = ring_.HasRoom();
    const CommitRing::Ticket ticket =
        room ? ring_.Take(newest_.load(std::memory_order_relaxed)) : ring_.next();
    lock_.Unlock();
    if (room) {
      ring_.Complete(ticket);
      ring_.WaitRetired(ticket);
      return;
    }
    ring_.AwaitRoom(ticket);
  }
}

// Replaces no stamps that are there: their history would be lost. Writes that were assigned before
// are unknown by key, so the floor of all stamps is the newest number; conditions that rely on
// older reads are refused once, and looked up.
void RingCommitPath::WatchKeys() {
  auto stamps = std::make_unique<KeyStamps>(0);
  lock_.Lock();
  if (stamps_ == nullptr) {
    stamps->RaiseAll(newest_.load(std::memory_order_relaxed));
    stamps_ = std::move(stamps);
  }
  const KeyStamps* const watched = stamps_.get();
  lock_.Unlock();
  watched_.store(watched, std::memory_order_release);
}

// Room is needed even for a count of 0: the slot orders the change of `additions_` among the
// writes, and its retirement says that all writes before it are visible.
template <typename Change>
SequenceNumber RingCommitPath::GiveOut(uint64_t count, Change change) {
  for (;;) {
    lock_.Lock();
    if (ring_.HasRoom()) break;
    const CommitRing::Ticket next = ring_.next();
    lock_.Unlock();
    ring_.AwaitRoom(next);
  }
  const SequenceNumber before = newest_.load(std::memory_order_relaxed);
  // The change and the numbers are one step for all writers: a condition sees both or neither.
  count = change(count);
  const SequenceNumber last = before + count;
  VARVE_ASSERT(last >= before && last <= kMaxSequenceNumber);
  const CommitRing::Ticket ticket = ring_.Take(last);
  newest_.store(last, std::memory_order_release);
  if (stamps_ != nullptr && count > 0) stamps_->RaiseAll(last);
  lock_.Unlock();
  ring_.Complete(ticket);
  ring_.WaitRetired(ticket);
  return before;
}

SequenceNumber RingCommitPath::BeginAddition(uint64_t count) {
  // Without numbers nothing has to become visible, and the caller does not wait for running writes.
  if (count == 0) {
    lock_.Lock();
    additions_++;
    const SequenceNumber newest = newest_.load(std::memory_order_relaxed);
    lock_.Unlock();
    return newest + 1;
  }
  // The analysis does not see through the lambda that GiveOut calls with lock_ held.
  return 1 + GiveOut(count, [this](uint64_t n) VARVE_NO_THREAD_SAFETY_ANALYSIS {
           additions_++;
           return n;
         });
}

SequenceNumber RingCommitPath::EndAddition() {
  GiveOut(0, [this](uint64_t) VARVE_NO_THREAD_SAFETY_ANALYSIS -> uint64_t {
    VARVE_ASSERT(additions_ > 0);
    additions_--;
    return stamps_ == nullptr ? 0 : 1;
  });
  return newest();
}

void RingCommitPath::ExpectCondition(const WriteCondition& condition) {
  const KeyStamps* const watched = watched_.load(std::memory_order_acquire);
  if (watched == nullptr) return;
  for (const StampLimit& limit : condition.limits) watched->Prefetch(limit.hash);
}

// OK does not say that the gate is open: the caller looks at it again under lock_.
Status RingCommitPath::WaitAtGate(const WriteOptions& options) {
  MutexLock lock(&gate_mu_);
  // Another holder may come between the signal and the wake-up, so the state is asked again. The
  // time limit of no_slowdown is for all of it.
  const auto began = std::chrono::steady_clock::now();
  while (exclusive_ && !shut_down_) {
    if (!options.no_slowdown) {
      gate_opened_.Wait();
      continue;
    }
    const uint64_t left = MicrosLeft(began, kNoSlowdownMicros);
    if (left == 0) return Status::Incomplete("write: no_slowdown, and writes are kept out for now");
    gate_opened_.WaitFor(left);
  }
  return shut_down_ ? Status::ShutdownInProgress("write: the database is being closed")
                    : Status::OK();
}

// lock_ makes the closing a point in the order of writes: whoever got a ticket before it is in the
// ring, where Drain finds it; whoever comes later sees closed_.
void RingCommitPath::CloseGate() {
  lock_.Lock();
  closed_ = true;
  lock_.Unlock();
}

// Two stages, as a lock alone would not do: the gate keeps new writers out, then the ring is
// drained of those that are inside. gate_mu_ is released before the drain, so that writers at the
// gate can give up meanwhile, and Shutdown can be called.
void RingCommitPath::EnterExclusive() {
  CheckMayEnter(this);
  {
    MutexLock lock(&gate_mu_);
    while (exclusive_) gate_opened_.Wait();
    exclusive_ = true;
    CloseGate();
  }
  Drain();
}

// The limit is for the wait for another holder. The drain has none, as writers that are inside do
// not wait for the caller.
bool RingCommitPath::EnterExclusiveWithin(uint64_t micros) {
  CheckMayEnter(this);
  {
    MutexLock lock(&gate_mu_);
    const auto began = std::chrono::steady_clock::now();
    while (exclusive_) {
      const uint64_t left = MicrosLeft(began, micros);
      if (left == 0) return false;
      gate_opened_.WaitFor(left);
    }
    exclusive_ = true;
    CloseGate();
  }
  Drain();
  return true;
}

// The gate opens before the waiters are woken, so none of them goes back to sleep.
void RingCommitPath::ExitExclusive() {
  MutexLock lock(&gate_mu_);
  VARVE_ASSERT(exclusive_);
  exclusive_ = false;
  // After a shutdown the gate stays closed for writers, who are told so in WaitAtGate.
  if (!shut_down_) {
    lock_.Lock();
    closed_ = false;
    lock_.Unlock();
  }
  gate_opened_.SignalAll();
}

// The caller keeps all writers out, so nothing is in the ring. The numbers are passed by a slot
// without a write, whose retirement makes them visible in order.
void RingCommitPath::RaiseTo(SequenceNumber sequence) {
  VARVE_ASSERT(sequence <= kMaxSequenceNumber);
  lock_.Lock();
  VARVE_ASSERT(closed_ && ring_.HasRoom());  // All slots have retired.
  if (newest_.load(std::memory_order_relaxed) >= sequence) {
    lock_.Unlock();
    return;
  }
  const CommitRing::Ticket ticket = ring_.Take(sequence);
  newest_.store(sequence, std::memory_order_release);
  lock_.Unlock();
  ring_.Complete(ticket);
  ring_.WaitRetired(ticket);
}

// Does not wait for an exclusive holder, which may itself be waiting for the caller. Writers at the
// gate are woken and leave with ShutdownInProgress.
void RingCommitPath::Shutdown() {
  {
    MutexLock lock(&gate_mu_);
    shut_down_ = true;
    CloseGate();
    gate_opened_.SignalAll();
  }
  Drain();
}

std::unique_ptr<CommitPath> NewCommitPath(const CommitOptions& options, CommitHost* host,
                                          SequenceNumber last_sequence) {
  return options.mode == CommitMode::kUnordered
             ? NewUnorderedCommitPath(options, host, last_sequence)
             : NewOrderedCommitPath(options, host, last_sequence);
}

}  // namespace varve
