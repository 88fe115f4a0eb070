// SPDX-License-Identifier: Apache-2.0

// Each position has three values: the MANIFEST's value; the value here, which may be ahead of it;
// and the log from which on a LogHold keeps logs from deletion. The logs that the MANIFEST's value
// needs are always kept. Moves change the value here at once. The LogHold moves only when the
// MANIFEST has the new value (SetStored), so that a crash at any moment finds the logs of the
// position that it restores.

#include "db/engine/change_positions.h"

#include <algorithm>
#include <utility>

#include "util/base/assert.h"

namespace varve {

namespace {

Status NoSuchPosition(const std::string& name) {
  return Status::NotFound("change stream", "there is no position of the name '" + name + "'");
}

Status PositionInUse(const std::string& name) {
  return Status::Busy("change stream", "another stream has the position '" + name + "'");
}

}  // namespace

// Begins with what the MANIFEST has. An expired position keeps no log from deletion; it stays
// known, so that its stream learns the reason.
void ChangePositions::Recover(const std::vector<ChangePosition>& positions, LogSet* logs,
                              uint64_t now) {
  MutexLock lock(&mu_);
  for (const ChangePosition& position : positions) {
    Entry& entry = entries_[position.name];
    entry.position = position;
    entry.moved_at = now;
    entry.told = position.expired();
    if (!position.expired()) entry.hold = LogHold(logs, position.log);
  }
}

Status ChangePositions::Claim(const std::string& name, ChangePosition* position) {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  if (it == entries_.end()) return NoSuchPosition(name);
  // A claim keeps a second stream from moving the position. An expired one can be claimed, too:
  // that is how its stream learns what is lost.
  if (it->second.claimed) return PositionInUse(name);
  *position = it->second.position;
  it->second.claimed = true;
  return Status::OK();
}

void ChangePositions::GiveBack(const std::string& name) noexcept {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  if (it != entries_.end()) it->second.claimed = false;
}

Status ChangePositions::Add(const ChangePosition& position, LogSet* logs, uint64_t now) {
  MutexLock lock(&mu_);
  if (entries_.contains(position.name)) return PositionInUse(position.name);
  if (entries_.size() >= kChangePositionsMax) {
    return Status::InvalidArgument(
        "change stream", "there are " + std::to_string(kChangePositionsMax) + " positions already");
  }
  Entry entry;
  entry.position = position;
  entry.moved_at = now;
  entry.claimed = true;
  // All logs are kept from deletion until the stream has found out which one it needs.
  entry.hold = LogHold(logs, 0);
  entries_.emplace(position.name, std::move(entry));
  return Status::OK();
}

void ChangePositions::Remove(const std::string& name) noexcept {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  VARVE_ASSERT(it != entries_.end() && it->second.claimed);
  entries_.erase(it);
}

void ChangePositions::Move(const std::string& name, SequenceNumber next, uint64_t log,
                           uint64_t now) {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  // An expired position must not come back to life: its logs are gone.
  if (it == entries_.end() || it->second.position.expired()) return;
  VARVE_ASSERT(next >= it->second.position.next && log >= it->second.position.log);
  it->second.position.next = next;
  it->second.position.log = log;
  it->second.moved_at = now;
}

bool ChangePositions::Get(const std::string& name, ChangePosition* position) const {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  if (it == entries_.end()) return false;
  *position = it->second.position;
  return true;
}

void ChangePositions::SetStored(const ChangePosition& position) {
  MutexLock lock(&mu_);
  const auto it = entries_.find(position.name);
  // A position may have expired while the MANIFEST was written. It must not claim its logs again,
  // since they may be deleted already.
  if (it != entries_.end() && !it->second.position.expired()) it->second.hold.MoveTo(position.log);
}

// An expired position keeps the range of numbers that it has lost, and stays known under its name
// until it is dropped.
bool ChangePositions::Expire(uint64_t needed, const std::vector<LogSet::LogInfo>& logs,
                             SequenceNumber newest, uint64_t now) {
  bool any = false;
  MutexLock lock(&mu_);
  for (auto& [name, entry] : entries_) {
    ChangePosition& position = entry.position;
    // Log 0: the stream has not found out yet which log it needs (Add).
    if (position.expired() || position.log == 0) continue;
    uint64_t bytes = 0;
    for (const LogSet::LogInfo& log : logs) {
      // Logs that the database needs itself are not kept for the position.
      if (log.number >= position.log && log.number < needed) bytes += log.bytes;
    }
    // Neither bound matters while the position costs nothing: an idle stream of a database that
    // nobody writes does not expire.
    if (bytes == 0) continue;
    const uint64_t idle = now > entry.moved_at ? now - entry.moved_at : 0;
    const bool too_much = position.max_bytes != 0 && bytes > position.max_bytes;
    // Without a clock nothing is known of the time since the position last moved.
    const bool too_long =
        position.max_seconds != 0 && entry.moved_at != 0 && idle > position.max_seconds;
    if (!too_much && !too_long) continue;
    position.first_lost = position.next;
    // Later changes may be in logs that still exist, but without those before them they are no
    // stream: everything up to now counts as lost.
    position.last_lost = std::max(position.next, newest);
    entry.hold.Release();
    any = true;
  }
  return any;
}

std::vector<ChangePosition> ChangePositions::TakeExpired() {
  std::vector<ChangePosition> expired;
  MutexLock lock(&mu_);
  for (const auto& [name, entry] : entries_) {
    if (entry.position.expired() && !entry.told) expired.push_back(entry.position);
  }
  // The caller writes these into the MANIFEST and tells listeners; each is done once. They count as
  // told only here, where nothing fails any more: without memory for the list, the next call
  // returns them.
  for (auto& [name, entry] : entries_) {
    if (entry.position.expired()) entry.told = true;
  }
  return expired;
}

uint64_t ChangePositions::shortest_bound_seconds() const {
  uint64_t shortest = 0;
  MutexLock lock(&mu_);
  for (const auto& [name, entry] : entries_) {
    const uint64_t seconds = entry.position.max_seconds;
    if (seconds != 0 && (shortest == 0 || seconds < shortest)) shortest = seconds;
  }
  return shortest;
}

bool ChangePositions::empty() const {
  MutexLock lock(&mu_);
  return entries_.empty();
}

}  // namespace varve
