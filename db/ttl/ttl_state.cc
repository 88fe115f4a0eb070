// SPDX-License-Identifier: Apache-2.0
#include "db/ttl/ttl_state.h"

#include <algorithm>

#include "db/ttl/ttl_stamp.h"

namespace varve {

void TtlState::AddFamily(uint32_t id, std::shared_ptr<TtlFamily> family) {
  TtlFamily* const added = family.get();
  MutexLock lock(&families_mu_);
  families_[id] = std::move(family);
  if (id < kQuickFamilies) quick_[id].store(added, std::memory_order_release);
}

TtlFamily* TtlState::FindFamily(uint32_t id) const {
  if (id < kQuickFamilies) return quick_[id].load(std::memory_order_acquire);
  MutexLock lock(&families_mu_);
  const auto it = families_.find(id);
  return it == families_.end() ? nullptr : it->second.get();
}

// The time is read under the lock, so that no horizon comes between it and the hold. The clock may
// have to write the MANIFEST, so it is asked once before the lock.
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
  const auto it = snapshots_.find(&snapshot);
  if (it != snapshots_.end()) return *it->second;
  // The snapshot comes from the database beneath, which notes the wall clock's time.
  return static_cast<uint32_t>(
      std::clamp<int64_t>(snapshot.GetUnixTime(), kEarliestStamp, UINT32_MAX - 1));
}

uint32_t TtlState::Horizon() {
  clock_.Now();
  uint32_t horizon = 0;
  {
    MutexLock lock(&holds_mu_);
    horizon = clock_.Last();
    if (!holds_.empty()) horizon = std::min(horizon, *holds_.begin());
  }
  uint64_t oldest = 0;
  DB* const db = this->db();
  if (db != nullptr && db->GetIntProperty(DB::Properties::kOldestSnapshotTime, &oldest) &&
      oldest != 0) {
    horizon = static_cast<uint32_t>(std::min<uint64_t>(horizon, oldest));
  }
  return horizon;
}

}  // namespace varve
