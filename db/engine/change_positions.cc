// SPDX-License-Identifier: Apache-2.0
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
  if (it->second.claimed) return PositionInUse(name);
  it->second.claimed = true;
  *position = it->second.position;
  return Status::OK();
}

void ChangePositions::GiveBack(const std::string& name) noexcept {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  if (it != entries_.end()) it->second.claimed = false;
}

Status ChangePositions::Add(const ChangePosition& position, LogSet* logs, uint64_t now) {
  MutexLock lock(&mu_);
  if (entries_.contains(position.name)) {
    return Status::InvalidArgument("change stream", "there is a position '" + position.name + "'");
  }
  Entry& entry = entries_[position.name];
  entry.position = position;
  entry.moved_at = now;
  entry.claimed = true;
  entry.hold = LogHold(logs, 0);
  return Status::OK();
}

Status ChangePositions::Remove(const std::string& name) {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
  if (it == entries_.end()) return NoSuchPosition(name);
  if (it->second.claimed) return PositionInUse(name);
  entries_.erase(it);
  return Status::OK();
}

void ChangePositions::Move(const std::string& name, SequenceNumber next, uint64_t log,
                           uint64_t now) {
  MutexLock lock(&mu_);
  const auto it = entries_.find(name);
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
  if (it != entries_.end() && !it->second.position.expired()) it->second.hold.MoveTo(position.log);
}

bool ChangePositions::Expire(uint64_t needed, const std::vector<LogSet::LogInfo>& logs,
                             SequenceNumber newest, uint64_t now) {
  bool any = false;
  MutexLock lock(&mu_);
  for (auto& [name, entry] : entries_) {
    ChangePosition& position = entry.position;
    if (position.expired() || position.log == 0) continue;
    uint64_t bytes = 0;
    for (const LogSet::LogInfo& log : logs) {
      if (log.number >= position.log && log.number < needed) bytes += log.bytes;
    }
    if (bytes == 0) continue;
    const uint64_t idle = now > entry.moved_at ? now - entry.moved_at : 0;
    const bool too_much = position.max_bytes != 0 && bytes > position.max_bytes;
    const bool too_long = position.max_seconds != 0 && idle > position.max_seconds;
    if (!too_much && !too_long) continue;
    position.first_lost = position.next;
    position.last_lost = std::max(position.next, newest);
    entry.hold.Release();
    any = true;
  }
  return any;
}

std::vector<ChangePosition> ChangePositions::TakeExpired() {
  std::vector<ChangePosition> expired;
  MutexLock lock(&mu_);
  for (auto& [name, entry] : entries_) {
    if (!entry.position.expired() || std::exchange(entry.told, true)) continue;
    expired.push_back(entry.position);
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
