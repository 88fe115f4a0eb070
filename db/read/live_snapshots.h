// SPDX-License-Identifier: Apache-2.0
#pragma once

// The snapshots that users hold, as the sequence numbers that compaction must preserve.

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "varve/snapshot.h"
#include "varve/types.h"

#include "util/sync/mutex.h"

namespace varve {

class SnapshotImpl;

// Thread safety: all methods from any thread; the mutex is a leaf.
// Ownership: a Snapshot is freed by Release; those left at destruction are freed then.
class LiveSnapshots {
 public:
  LiveSnapshots();
  ~LiveSnapshots();
  LiveSnapshots(const LiveSnapshots&) = delete;
  LiveSnapshots& operator=(const LiveSnapshots&) = delete;

  const Snapshot* Acquire(SequenceNumber seq, int64_t unix_seconds) VARVE_EXCLUDES(mu_);
  // False: not one of ours (already released, or foreign). The pointer is not followed.
  bool Release(const Snapshot* snapshot) VARVE_EXCLUDES(mu_);
  bool Owns(const Snapshot* snapshot) const VARVE_EXCLUDES(mu_);
  // Distinct pinned numbers, ascending.
  std::vector<SequenceNumber> Pinned() const VARVE_EXCLUDES(mu_);
  uint64_t count() const VARVE_EXCLUDES(mu_);
  // kMaxSequenceNumber when there are none.
  SequenceNumber oldest() const VARVE_EXCLUDES(mu_);
  // 0 when there are none.
  int64_t oldest_unix_seconds() const VARVE_EXCLUDES(mu_);

 private:
  using BySequence = std::multimap<SequenceNumber, std::unique_ptr<SnapshotImpl>>;

  mutable Mutex mu_;
  BySequence by_sequence_ VARVE_GUARDED_BY(mu_);
  std::unordered_map<const Snapshot*, BySequence::iterator> places_ VARVE_GUARDED_BY(mu_);
};

}  // namespace varve
