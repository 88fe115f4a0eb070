// SPDX-License-Identifier: Apache-2.0
#include "db/ttl/ttl_state.h"

#include <algorithm>

#include "db/ttl/ttl_stamp.h"
#include "util/base/canary.h"

namespace varve {

void TtlState::AddFamily(uint32_t id, std::shared_ptr<TtlFamily> family) {
  // Families stay in the map for the life of the state, so pointers to them stay good.
  TtlFamily* const added = family.get();
  MutexLock lock(&families_mu_);
  families_[id] = std::move(family);
  // Nearly all databases have few families; those are found without a lock, at every read and
  // write.
  if (id < kQuickFamilies) quick_[id].store(added, std::memory_order_release);
}

TtlFamily* TtlState::FindFamily(uint32_t id) const {
  if (id < kQuickFamilies) return quick_[id].load(std::memory_order_acquire);
  MutexLock lock(&families_mu_);
  const auto it = families_.find(id);
  return it == families_.end() ? nullptr : it->second.get();
}

// The time is read under the lock, so that no horizon is computed between the reading and the hold.
// The clock may have to write the MANIFEST, so it is moved before the lock is taken.
TtlState::Holds::iterator TtlState::Hold() {
  clock_.Now();
  MutexLock lock(&holds_mu_);
  return holds_.insert(clock_.Last());
}

void TtlState::Release(Holds::iterator hold) {
  MutexLock lock(&holds_mu_);
  holds_.erase(hold);
}

void TtlState::NoteSnapshot(const Snapshot* snapshot, Holds::iterator hold) {
  MutexLock lock(&holds_mu_);
  snapshots_.emplace(snapshot, hold);
}

void TtlState::ForgetSnapshot(const Snapshot* snapshot) {
  MutexLock lock(&holds_mu_);
  const auto it = snapshots_.find(snapshot);
  if (it == snapshots_.end()) return;
  holds_.erase(it->second);
  snapshots_.erase(it);
}

uint32_t TtlState::TimeOf(const Snapshot& snapshot) const {
  MutexLock lock(&holds_mu_);
  if (VARVE_CANARY(kTtlReadsSnapshotsNow)) return clock_.Last();
  const auto it = snapshots_.find(&snapshot);
  if (it != snapshots_.end()) return *it->second;
  // A snapshot without a hold was taken from the database beneath: it has the wall clock's time.
  return static_cast<uint32_t>(
      std::clamp<int64_t>(snapshot.GetUnixTime(), kEarliestStamp, UINT32_MAX - 1));
}

// The horizon is the oldest time by which entries are judged, now or later.
uint32_t TtlState::Horizon() {
  // The clock may write the MANIFEST, so it is moved before the lock is taken.
  clock_.Now();
  uint32_t horizon = 0;
  {
    MutexLock lock(&holds_mu_);
    // Read under the lock of the holds: a hold that comes later has a later time.
    horizon = clock_.Last();
    if (!holds_.empty()) horizon = std::min(horizon, *holds_.begin());
  }
  uint64_t oldest = 0;
  DB* const db = this->db();
  // Snapshots that were taken from the database beneath hold no time here. Their wall-clock time
  // bounds the horizon as well.
  if (db != nullptr && db->GetIntProperty(DB::Properties::kOldestSnapshotTime, &oldest) &&
      oldest != 0) {
    horizon = static_cast<uint32_t>(std::min<uint64_t>(horizon, oldest));
  }
  return horizon;
}

}  // namespace varve
