// SPDX-License-Identifier: Apache-2.0
#pragma once

// TtlState is what reads, writes, merges and compactions of one database with lifetimes share: its
// clock, its families, and the times by which readers and writers still judge entries.

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "varve/db.h"
#include "varve/snapshot.h"

#include "db/ttl/ttl_clock.h"
#include "db/ttl/ttl_host.h"
#include "util/sync/mutex.h"

namespace varve {

// A column family and its lifetime. Any thread may read or change the lifetime.
struct TtlFamily {
  TtlFamily(std::string family_name, int32_t lifetime)
      : name(std::move(family_name)), ttl(lifetime) {}

  const std::string name;
  std::atomic<int32_t> ttl;  // Seconds; not positive: for ever.
};

// Compactions and iterators share it, and may outlive the database. Thread safety: any thread.
class TtlState {
 public:
  // The state before Start: lifetimes are judged by the time of `wall`.
  explicit TtlState(std::shared_ptr<SystemClock> wall)
      : wall_(std::move(wall)), clock_(wall_.get()) {}

  // Must be called once when the database is open, before its background work starts. Both pointers
  // stay valid until Stop.
  void Start(DB* db, TtlHost* host, bool read_only) {
    clock_.Start(host, read_only, db->GetDBOptions().info_log);
    host_.store(host, std::memory_order_relaxed);
    db_.store(db, std::memory_order_release);
  }
  // Must be called when the database is being closed: saves the clock's last time, after which
  // nothing more is saved.
  void Stop() {
    clock_.Settle();
    clock_.Stop();
  }

  // Returns the clock by which stamps are made and judged.
  TtlClock& clock() { return clock_; }
  // Returns the database beneath; null while it is being opened.
  DB* db() const { return db_.load(std::memory_order_acquire); }
  // Returns what the database offers beyond its public calls; null while it is being opened.
  TtlHost* host() const { return host_.load(std::memory_order_relaxed); }

  // --- Families. They stay registered when they are dropped: ids are not used again.
  // Registers the family with this id.
  void AddFamily(uint32_t id, std::shared_ptr<TtlFamily> family);
  // Returns nullptr if no family has this id.
  TtlFamily* FindFamily(uint32_t id) const;

  // --- Times that readers and writers still judge by.
  using Holds = std::multiset<uint32_t>;
  // Holds the present time: Horizon stays at or before it until Release.
  Holds::iterator Hold();
  // Ends a hold.
  void Release(Holds::iterator hold);
  // Ties the time of a Hold to a snapshot: ForgetSnapshot releases both.
  void NoteSnapshot(const Snapshot* snapshot, Holds::iterator hold);
  // Ends the hold of the snapshot, if there is one.
  void ForgetSnapshot(const Snapshot* snapshot);
  // Returns the time by which reads through the snapshot judge: that at which it was taken. The
  // caller has checked that the snapshot is the database's own.
  uint32_t TimeOf(const Snapshot& snapshot) const;
  // Returns a time at which expired entries are expired for every present and future reader and
  // writer.
  uint32_t Horizon();

 private:
  // Families with smaller ids are found without a lock.
  static constexpr uint32_t kQuickFamilies = 64;

  const std::shared_ptr<SystemClock> wall_;
  TtlClock clock_;
  std::atomic<DB*> db_{nullptr};
  std::atomic<TtlHost*> host_{nullptr};

  // The families with the first ids, for reads without the lock; families_ owns them.
  std::array<std::atomic<TtlFamily*>, kQuickFamilies> quick_{};
  mutable Mutex families_mu_;
  std::map<uint32_t, std::shared_ptr<TtlFamily>> families_ VARVE_GUARDED_BY(families_mu_);

  mutable Mutex holds_mu_;
  // Times that are in use; the smallest bounds what compactions may drop.
  Holds holds_ VARVE_GUARDED_BY(holds_mu_);
  std::map<const Snapshot*, Holds::iterator> snapshots_ VARVE_GUARDED_BY(holds_mu_);
};

// Holds the present time for a merge, from before its stamp is made until the merge is visible. So
// the stamp is not earlier than the held time. The state must outlive it.
class TtlHold {
 public:
  explicit TtlHold(TtlState* state) : state_(state), hold_(state->Hold()) {}
  ~TtlHold() { state_->Release(hold_); }
  TtlHold(const TtlHold&) = delete;
  TtlHold& operator=(const TtlHold&) = delete;

 private:
  TtlState* const state_;
  const TtlState::Holds::iterator hold_;
};

}  // namespace varve
