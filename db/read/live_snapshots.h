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
#include "db/read/trace_holds.h"
#include "util/key/internal_key.h"
#include "util/sync/mutex.h"

namespace varve {

class LiveSnapshots;

// What users get a pointer to. It says itself whose it is, so that a read need not ask in a table
// that all threads share. Users may name one that they have released, and are told so: therefore
// none is ever freed, but used again, for whatever database comes first. A process keeps as many as
// it held at one time.
//
// Alone in its cache lines: reads look at one while others are taken and released.
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

  // Null: nobody holds it. Release: its numbers are written before.
  std::atomic<const LiveSnapshots*> owner_{nullptr};
  SequenceNumber sequence_ = 0;
  int64_t unix_seconds_ = 0;
  uint64_t timestamp_ = UINT64_MAX;
  bool holds_traces_ = false;
  std::multimap<SequenceNumber, SnapshotImpl*>::iterator place_;  // of the owner
  SnapshotImpl* next_free_ = nullptr;
};

// Thread safety: all methods from any thread; the mutex is a leaf.
// Ownership: a Snapshot is released by Release; those left at destruction are released then.
class LiveSnapshots {
 public:
  LiveSnapshots() = default;
  ~LiveSnapshots();
  LiveSnapshots(const LiveSnapshots&) = delete;
  LiveSnapshots& operator=(const LiveSnapshots&) = delete;

  // With `holds_traces` it is a hold of traces, too.
  const Snapshot* Acquire(SequenceNumber seq, int64_t unix_seconds, uint64_t timestamp = UINT64_MAX,
                          bool holds_traces = false) VARVE_EXCLUDES(mu_);
  // False: not one of ours (already released, or another database's). *awaited (may be null)
  // becomes true if a caller asked to be told of that (AwaitOldest), once.
  bool Release(const Snapshot* snapshot, bool* awaited = nullptr) VARVE_EXCLUDES(mu_);
  // Asks to be told by a release when nothing that is held is older than `seq` any more. True:
  // nothing is now; nobody will be told.
  bool AwaitOldest(SequenceNumber seq) VARVE_EXCLUDES(mu_);
  // Takes no lock: two loads from the snapshot.
  bool Owns(const Snapshot* snapshot) const {
    return typeid(*snapshot) == typeid(SnapshotImpl) &&
           static_cast<const SnapshotImpl*>(snapshot)->owner_.load(std::memory_order_acquire) ==
               this;
  }
  // Distinct pinned numbers, ascending; the oldest hold of traces is one of them, and
  // *traces_since (may be null), which is kMaxSequenceNumber if there is none.
  std::vector<SequenceNumber> Pinned(SequenceNumber* traces_since = nullptr) const
      VARVE_EXCLUDES(mu_);
  // Holds of traces, without a lock. Null as Take.
  TraceHolds::Slot* HoldTraces(SequenceNumber since, const void* holder) {
    return traces_.Take(since, holder);
  }
  // *awaited as Release.
  void ReleaseTraces(TraceHolds::Slot* slot, bool* awaited) {
    TraceHolds::Release(slot);
    // Either who awaits sees the slot free, or this sees that somebody awaits.
    if (awaited_.load(std::memory_order_seq_cst) != kMaxSequenceNumber) [[unlikely]]
      *awaited = TakeAwaited();
  }
  uint64_t count() const VARVE_EXCLUDES(mu_);
  // Of the snapshots; kMaxSequenceNumber when there are none.
  SequenceNumber oldest() const VARVE_EXCLUDES(mu_);
  // Of them and the holds of traces.
  SequenceNumber OldestHeld() const VARVE_EXCLUDES(mu_);
  // 0 when there are none.
  int64_t oldest_unix_seconds() const VARVE_EXCLUDES(mu_);

 private:
  SequenceNumber Oldest() const VARVE_REQUIRES(mu_) {
    return by_sequence_.empty() ? kMaxSequenceNumber : by_sequence_.begin()->first;
  }
  SequenceNumber Held() const VARVE_REQUIRES(mu_) { return std::min(Oldest(), traces_.Oldest()); }
  // True, once, when what somebody waits for has come.
  bool TakeAwaited() VARVE_EXCLUDES(mu_);
  bool TakeAwaitedLocked() VARVE_REQUIRES(mu_);
  SnapshotImpl* TakeFree() VARVE_REQUIRES(mu_);
  void PutFree(SnapshotImpl* snapshot) VARVE_REQUIRES(mu_);

  TraceHolds traces_;
  mutable Mutex mu_{lock_ranks::kSnapshots};
  std::multimap<SequenceNumber, SnapshotImpl*> by_sequence_ VARVE_GUARDED_BY(mu_);
  SnapshotImpl* free_ VARVE_GUARDED_BY(mu_) = nullptr;
  // The smallest number that was asked for; kMaxSequenceNumber: none.
  std::atomic<SequenceNumber> awaited_{kMaxSequenceNumber};  // written under mu_
};

}  // namespace varve
