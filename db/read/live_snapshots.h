// SPDX-License-Identifier: Apache-2.0
#pragma once

// The snapshots that users hold, as the sequence numbers that compaction must preserve.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <typeinfo>
#include <vector>

#include "varve/snapshot.h"
#include "varve/types.h"

#include "db/lock_ranks.h"
#include "db/read/evidence_holds.h"
#include "util/key/internal_key.h"
#include "util/sync/mutex.h"

namespace varve {

class LiveSnapshots;

// The object that users get a pointer to. It stores its owner, so that a read need not look in a
// table shared by all threads. Users may pass a snapshot that they have released, and get an error:
// therefore snapshots are never freed, but reused, by any database. A process keeps as many as
// its users have had at one time.
//
// Aligned to its own cache lines: reads look at one while others are taken and released.
class alignas(64) SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl() = default;
  ~SnapshotImpl() override = default;
  SnapshotImpl(const SnapshotImpl&) = delete;
  SnapshotImpl& operator=(const SnapshotImpl&) = delete;

  SequenceNumber GetSequenceNumber() const override { return sequence_; }
  int64_t GetUnixTime() const override { return unix_seconds_; }
  uint64_t GetTimestamp() const override { return timestamp_; }

 private:
  friend class LiveSnapshots;

  // Null: no user has the snapshot. Stored with release, after its numbers.
  std::atomic<const LiveSnapshots*> owner_{nullptr};
  SequenceNumber sequence_ = 0;
  int64_t unix_seconds_ = 0;
  uint64_t timestamp_ = UINT64_MAX;
  bool holds_evidence_ = false;
  std::multimap<SequenceNumber, SnapshotImpl*>::iterator place_;  // position in the owner's map
  SnapshotImpl* next_free_ = nullptr;
};

// The snapshots of one database, and its requests to keep conflict evidence (evidence_holds.h).
//
// Thread safety: all methods may be called from any thread; the mutex is a leaf. Ownership: a
// snapshot that Acquire returned must be given to Release; those that are left are released by the
// destructor. The objects live until the process ends, but only their owner may read them.
class LiveSnapshots {
 public:
  LiveSnapshots() = default;
  ~LiveSnapshots();
  LiveSnapshots(const LiveSnapshots&) = delete;
  LiveSnapshots& operator=(const LiveSnapshots&) = delete;

  // Takes a snapshot of the state at `seq`. A `timestamp` of UINT64_MAX means that the user has
  // given it none. With `holds_evidence` compactions also keep evidence of each change after it.
  // Throws std::bad_alloc, with nothing taken.
  const Snapshot* Acquire(SequenceNumber seq, int64_t unix_seconds, uint64_t timestamp = UINT64_MAX,
                          bool holds_evidence = false) VARVE_EXCLUDES(mu_);
  // Releases a snapshot. Returns false if it is null, was released already, or belongs to another
  // database. Sets *awaited (may be null) to true if what the last AwaitOldest waited for has come;
  // the caller then has to see to what waited. Otherwise leaves *awaited alone.
  bool Release(const Snapshot* snapshot, bool* awaited = nullptr) VARVE_EXCLUDES(mu_);
  // Asks that a release reports when neither a snapshot nor a hold of evidence has a number below
  // `seq`. Returns true if that is so now; then nothing will be reported. Of several requests only
  // the one with the smallest number is kept and reported, once: whoever waits for more asks again
  // then.
  bool AwaitOldest(SequenceNumber seq) VARVE_EXCLUDES(mu_);
  // True if the snapshot was taken here and is not released. May be called with a snapshot of any
  // kind that was released or belongs to another database. Takes no lock.
  bool Owns(const Snapshot* snapshot) const {
    return typeid(*snapshot) == typeid(SnapshotImpl) &&
           static_cast<const SnapshotImpl*>(snapshot)->owner_.load(std::memory_order_acquire) ==
               this;
  }
  // Returns, ascending and once each, the numbers whose states compactions must keep readable:
  // those of all snapshots, and that of the oldest evidence hold. Sets *conflict_check_floor (may
  // be null) to the number after which each changed key must leave an entry: the oldest among
  // evidence holds and snapshots with `holds_evidence`, or kMaxSequenceNumber if there are none.
  std::vector<SequenceNumber> Pinned(SequenceNumber* conflict_check_floor = nullptr) const
      VARVE_EXCLUDES(mu_);
  // Takes a hold of conflict evidence, without a lock. Returns null as EvidenceHolds::Take does.
  EvidenceHolds::Slot* HoldEvidence(SequenceNumber since, const void* holder) {
    return evidence_holds_.Take(since, holder);
  }
  // Releases a hold of conflict evidence. Sets *awaited as Release does.
  void ReleaseEvidence(EvidenceHolds::Slot* slot, bool* awaited) {
    EvidenceHolds::Release(slot);
    // Either the waiting caller sees the free slot, or this thread sees that a caller waits.
    if (awaited_.load(std::memory_order_seq_cst) != kMaxSequenceNumber) [[unlikely]]
      *awaited = TakeAwaited();
  }
  uint64_t count() const VARVE_EXCLUDES(mu_);
  // Returns the oldest snapshot's number; kMaxSequenceNumber if there is none.
  SequenceNumber oldest() const VARVE_EXCLUDES(mu_);
  // Returns the oldest number among snapshots and holds of conflict evidence.
  SequenceNumber OldestHeld() const VARVE_EXCLUDES(mu_);
  // Returns the time of the snapshot with the smallest number; 0 if there are no snapshots.
  int64_t oldest_unix_seconds() const VARVE_EXCLUDES(mu_);

 private:
  // Return what the public functions of similar names do.
  SequenceNumber Oldest() const VARVE_REQUIRES(mu_) {
    return by_sequence_.empty() ? kMaxSequenceNumber : by_sequence_.begin()->first;
  }
  SequenceNumber Held() const VARVE_REQUIRES(mu_) {
    return std::min(Oldest(), evidence_holds_.Oldest());
  }
  // Returns true, once, if the awaited condition holds.
  bool TakeAwaited() VARVE_EXCLUDES(mu_);
  bool TakeAwaitedLocked() VARVE_REQUIRES(mu_);
  // Take an object from the free list, or make one, and put one there.
  SnapshotImpl* TakeFree() VARVE_REQUIRES(mu_);
  void PutFree(SnapshotImpl* snapshot) VARVE_REQUIRES(mu_);

  EvidenceHolds evidence_holds_;
  mutable Mutex mu_{lock_ranks::kSnapshots};
  // Snapshots that are held, by sequence number; several may have the same.
  std::multimap<SequenceNumber, SnapshotImpl*> by_sequence_ VARVE_GUARDED_BY(mu_);
  // Released snapshots, linked by next_free_.
  SnapshotImpl* free_ VARVE_GUARDED_BY(mu_) = nullptr;
  // The smallest number asked for in AwaitOldest; kMaxSequenceNumber: none.
  std::atomic<SequenceNumber> awaited_{kMaxSequenceNumber};  // written under mu_
};

}  // namespace varve
