// SPDX-License-Identifier: Apache-2.0

// Snapshots with equal numbers have an entry each, as each is released by itself. A snapshot object
// is never freed, so that a stale pointer can be told from a live one by its owner; objects go to
// the list of their database, and from there, when it closes, to one list of the process.
//
// Some holders need no snapshot but the evidence that a key was changed since (evidence_holds.h).
// Compactions get both: `Pinned` returns the numbers whose state must stay readable, and the number
// above which each changed key must leave an entry.

#include "db/read/live_snapshots.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

namespace {

// Snapshots left by closed databases, for later ones. Lists are only added, and taken whole, so
// this needs no lock, which a fork() could leave locked.
std::atomic<SnapshotImpl*> left_over{nullptr};

}  // namespace

// Puts the free list, snapshots that users have not released included, in front of the process's
// list of free snapshots: they are never freed, as a user may still have a pointer to one.
LiveSnapshots::~LiveSnapshots() {
  MutexLock lock(&mu_);
  for (const auto& [sequence, snapshot] : by_sequence_) PutFree(snapshot);
  if (free_ == nullptr) return;
  SnapshotImpl* last = free_;
  while (last->next_free_ != nullptr) last = last->next_free_;
  last->next_free_ = left_over.load(std::memory_order_relaxed);
  while (!left_over.compare_exchange_weak(last->next_free_, free_, std::memory_order_release,
                                          std::memory_order_relaxed)) {
  }
}

SnapshotImpl* LiveSnapshots::TakeFree() {
  if (free_ == nullptr) free_ = left_over.exchange(nullptr, std::memory_order_acquire);
  if (free_ == nullptr) return new SnapshotImpl;
  return std::exchange(free_, free_->next_free_);
}

void LiveSnapshots::PutFree(SnapshotImpl* snapshot) {
  VARVE_ASSERT(snapshot->owner_.load(std::memory_order_relaxed) == this);
  snapshot->owner_.store(nullptr, std::memory_order_release);
  snapshot->next_free_ = std::exchange(free_, snapshot);
}

const Snapshot* LiveSnapshots::Acquire(SequenceNumber seq, int64_t unix_seconds, uint64_t timestamp,
                                       bool holds_evidence) {
  MutexLock lock(&mu_);
  // The map entry comes first: if there is no memory for it, nothing was taken.
  const auto place = by_sequence_.emplace_hint(by_sequence_.end(), seq, nullptr);
  SnapshotImpl* snapshot = nullptr;
  try {
    snapshot = TakeFree();
  } catch (...) {
    by_sequence_.erase(place);
    throw;
  }
  VARVE_ASSERT(snapshot->owner_.load(std::memory_order_relaxed) == nullptr);
  place->second = snapshot;
  snapshot->sequence_ = seq;
  snapshot->unix_seconds_ = unix_seconds;
  snapshot->timestamp_ = timestamp;
  snapshot->holds_evidence_ = holds_evidence;
  snapshot->place_ = place;
  snapshot->owner_.store(this, std::memory_order_release);
  return snapshot;
}

bool LiveSnapshots::Release(const Snapshot* snapshot, bool* awaited) {
  if (snapshot == nullptr) return false;
  MutexLock lock(&mu_);
  if (!Owns(snapshot)) return false;
  const auto place = static_cast<const SnapshotImpl*>(snapshot)->place_;
  VARVE_ASSERT(place->second == snapshot && place->first == snapshot->GetSequenceNumber());
  PutFree(place->second);
  by_sequence_.erase(place);
  if (awaited != nullptr && TakeAwaitedLocked()) *awaited = true;
  return true;
}

bool LiveSnapshots::TakeAwaited() {
  MutexLock lock(&mu_);
  return TakeAwaitedLocked();
}

bool LiveSnapshots::TakeAwaitedLocked() {
  const SequenceNumber awaited = awaited_.load(std::memory_order_relaxed);
  if (awaited == kMaxSequenceNumber || Held() < awaited) return false;
  awaited_.store(kMaxSequenceNumber, std::memory_order_relaxed);
  return true;
}

// The request is stored before Held() is read, because evidence holds are released without the
// mutex: either Held() sees the slot free, or the releasing thread sees the request.
bool LiveSnapshots::AwaitOldest(SequenceNumber seq) {
  MutexLock lock(&mu_);
  const SequenceNumber before = awaited_.load(std::memory_order_relaxed);
  awaited_.store(std::min(before, seq), std::memory_order_seq_cst);
  if (Held() < seq) return false;
  awaited_.store(before, std::memory_order_relaxed);
  return true;
}

// The map ascends, so its first snapshot with evidence is the oldest. The oldest evidence hold is
// read once and becomes one of the numbers, so that both results agree about it.
std::vector<SequenceNumber> LiveSnapshots::Pinned(SequenceNumber* conflict_check_floor) const {
  MutexLock lock(&mu_);
  const auto with_evidence = std::ranges::find_if(
      by_sequence_, [](const auto& held) { return held.second->holds_evidence_; });
  const SequenceNumber evidence =
      VARVE_CANARY(kForgetEvidence) ? kMaxSequenceNumber : evidence_holds_.Oldest();
  if (conflict_check_floor != nullptr) {
    *conflict_check_floor =
        with_evidence == by_sequence_.end() ? evidence : std::min(evidence, with_evidence->first);
  }
  std::vector<SequenceNumber> pinned;
  for (const auto& [sequence, snapshot] : by_sequence_) {
    if (pinned.empty() || pinned.back() != sequence) pinned.push_back(sequence);
  }
  if (VARVE_CANARY(kForgetSnapshot) && !pinned.empty()) pinned.pop_back();
  if (evidence == kMaxSequenceNumber) return pinned;
  const auto at = std::ranges::lower_bound(pinned, evidence);
  if (at == pinned.end() || *at != evidence) pinned.insert(at, evidence);
  return pinned;
}

uint64_t LiveSnapshots::count() const {
  MutexLock lock(&mu_);
  return by_sequence_.size();
}

SequenceNumber LiveSnapshots::oldest() const {
  MutexLock lock(&mu_);
  return Oldest();
}

SequenceNumber LiveSnapshots::OldestHeld() const {
  MutexLock lock(&mu_);
  return Held();
}

int64_t LiveSnapshots::oldest_unix_seconds() const {
  MutexLock lock(&mu_);
  return by_sequence_.empty() ? 0 : by_sequence_.begin()->second->GetUnixTime();
}

}  // namespace varve
