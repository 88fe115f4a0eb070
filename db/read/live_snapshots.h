// SPDX-License-Identifier: Apache-2.0
#pragma once

// The snapshots that users hold, as the sequence numbers that compaction must preserve.

#include <cstdint>
#include <vector>

#include "util/sync/mutex.h"
#include "varve/snapshot.h"
#include "varve/types.h"

namespace varve {

class SnapshotImpl;

// Thread safety: all methods from any thread; the mutex is a leaf.
// Ownership: a Snapshot is freed by Release; those left at destruction are freed then.
class LiveSnapshots {
 public:
  LiveSnapshots() = default;
  ~LiveSnapshots();

  const Snapshot* Acquire(SequenceNumber seq, int64_t unix_seconds);
  // False: not one of ours (already released, or foreign).
  bool Release(const Snapshot* snapshot);
  bool Owns(const Snapshot* snapshot) const;
  // Distinct pinned numbers, ascending.
  std::vector<SequenceNumber> Pinned() const;
  uint64_t count() const;
  SequenceNumber oldest() const;      // kMaxSequenceNumber when there are none
  int64_t oldest_unix_seconds() const;  // 0 when there are none

 private:
  mutable Mutex mu_;
  SnapshotImpl* head_ VARVE_GUARDED_BY(mu_) = nullptr;  // oldest
  SnapshotImpl* tail_ VARVE_GUARDED_BY(mu_) = nullptr;  // newest
  uint64_t count_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
