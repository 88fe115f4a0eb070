// SPDX-License-Identifier: Apache-2.0
#include "db/write/ring_commit_path.h"

#include <optional>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"
#include "util/base/caught_exception.h"
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

// Throws if the thread holds something that others in the path may wait for.
void CheckMayEnter(const CommitPath* path) {
  ThrowIfHeldUp("call", kHoldsUp, path);
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

Status RingCommitPath::Commit(const WriteOptions& options, WriteRequest* request,
                              UserWriteCallback* callback) {
  const auto* const self = static_cast<const CommitPath*>(this);
  VARVE_RETURN_IF_ERROR(RefuseHeldUp("write", kHoldsUp, self));
  VARVE_RETURN_IF_ERROR(RefuseUnderDbMutex("write"));
  const ActiveWork active(ActiveWork::kCommit, self, "a write");
  Reservation reservation;
  std::optional<KeyHashes> keys;
  // The record does not contain the updates of a prepared transaction: they may be of any keys.
  const KeyStamps* const watched = watched_.load(std::memory_order_acquire);
  if (watched != nullptr && request->step() == nullptr) [[unlikely]] {
    reservation.keys = &keys.emplace(*request, host_);
    for (const uint64_t hash : keys->hashes()) watched->Prefetch(hash);
  }
  VARVE_RETURN_IF_ERROR(Reserve(options, request, &reservation));
  Status s = LogAndInsert(options, *request, reservation, callback);
  ring_.Complete(reservation.ticket);
  if (s.ok()) Finish(reservation.ticket);
  return s;
}

Status RingCommitPath::Reserve(const WriteOptions& options, WriteRequest* request,
                               Reservation* reservation) {
  for (;;) {
    lock_.Lock();
    const bool closed = closed_;
    const bool refused = !closed && host_->Refuses(*request);
    if (!closed && !refused && ring_.HasRoom()) [[likely]] {
      if (request->condition() != nullptr &&
          (additions_ > 0 || !stamps_->Allow(*request->condition()))) {
        lock_.Unlock();
        request->condition()->refused = true;
        return Status::Busy();
      }
      Status s = ReserveLocked(options, request, reservation);
      lock_.Unlock();
      return s.ok() ? s : host_->OnLogError(s);
    }
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

// Nothing throws after the log has assigned a place; before that, a failure has no effect.
Status RingCommitPath::ReserveLocked(const WriteOptions& options, WriteRequest* request,
                                     Reservation* reservation) try {
  const size_t bytes = request->bytes();
  if (!options.disableWAL) VARVE_RETURN_IF_ERROR(host_->ReserveLog(bytes, &reservation->place));
  const SequenceNumber before = newest_.load(std::memory_order_relaxed);
  const SequenceNumber last = before + request->count();
  VARVE_ASSERT(last >= before && last <= kMaxSequenceNumber);
  VARVE_ASSERT(options.disableWAL || reservation->place.log != nullptr);
  reservation->sequence = before + 1;
  reservation->ticket = ring_.Take(last);
  newest_.store(last, std::memory_order_release);
  if (stamps_ != nullptr) [[unlikely]] {
    if (reservation->keys != nullptr) {
      if (!VARVE_CANARY(kForgetStamps)) stamps_->Raise(*reservation->keys, last);
    } else {
      stamps_->RaiseAll(last);
    }
  }
  request->SetSequence(before + 1);
  if (!options.disableWAL && bytes <= kBytesCopiedUnderLock) {
    reservation->place.log->Fill(reservation->place, request->head(), request->tail());
    reservation->filled = true;
  }
  return Status::OK();
} catch (...) {
  return CaughtException();
}

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
  if (count == 0) {
    lock_.Lock();
    additions_++;
    const SequenceNumber newest = newest_.load(std::memory_order_relaxed);
    lock_.Unlock();
    return newest + 1;
  }
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

Status RingCommitPath::WaitAtGate(const WriteOptions& options) {
  MutexLock lock(&gate_mu_);
  while (exclusive_ && !shut_down_) {
    if (!options.no_slowdown) {
      gate_opened_.Wait();
    } else if (!gate_opened_.WaitFor(kNoSlowdownMicros) && exclusive_ && !shut_down_) {
      return Status::Incomplete("write: no_slowdown, and writes are kept out for now");
    }
  }
  return shut_down_ ? Status::ShutdownInProgress("write: the database is being closed")
                    : Status::OK();
}

void RingCommitPath::CloseGate() {
  lock_.Lock();
  closed_ = true;
  lock_.Unlock();
}

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

bool RingCommitPath::EnterExclusiveWithin(uint64_t micros) {
  CheckMayEnter(this);
  {
    MutexLock lock(&gate_mu_);
    while (exclusive_) {
      if (!gate_opened_.WaitFor(micros) && exclusive_) return false;
    }
    exclusive_ = true;
    CloseGate();
  }
  Drain();
  return true;
}

void RingCommitPath::ExitExclusive() {
  MutexLock lock(&gate_mu_);
  VARVE_ASSERT(exclusive_);
  exclusive_ = false;
  if (!shut_down_) {
    lock_.Lock();
    closed_ = false;
    lock_.Unlock();
  }
  gate_opened_.SignalAll();
}

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
