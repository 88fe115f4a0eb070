// SPDX-License-Identifier: Apache-2.0
#include "db/read/live_snapshots.h"

#include <limits>
#include <utility>

#include "util/base/canary.h"
#include "util/key/internal_key.h"

namespace varve {

class SnapshotImpl final : public Snapshot {
 public:
  SnapshotImpl(SequenceNumber sequence, int64_t unix_seconds)
      : sequence_(sequence), unix_seconds_(unix_seconds) {}
  ~SnapshotImpl() override = default;

  SequenceNumber GetSequenceNumber() const override { return sequence_; }
  int64_t GetUnixTime() const override { return unix_seconds_; }
  uint64_t GetTimestamp() const override { return std::numeric_limits<uint64_t>::max(); }

 private:
  const SequenceNumber sequence_;
  const int64_t unix_seconds_;
};

LiveSnapshots::LiveSnapshots() = default;

LiveSnapshots::~LiveSnapshots() = default;

const Snapshot* LiveSnapshots::Acquire(SequenceNumber seq, int64_t unix_seconds) {
  auto snapshot = std::make_unique<SnapshotImpl>(seq, unix_seconds);
  const Snapshot* const result = snapshot.get();
  MutexLock lock(&mu_);
  places_.emplace(result, by_sequence_.emplace(seq, std::move(snapshot)));
  return result;
}

bool LiveSnapshots::Release(const Snapshot* snapshot) {
  MutexLock lock(&mu_);
  const auto place = places_.find(snapshot);
  if (place == places_.end()) return false;
  by_sequence_.erase(place->second);
  places_.erase(place);
  return true;
}

bool LiveSnapshots::Owns(const Snapshot* snapshot) const {
  MutexLock lock(&mu_);
  return places_.count(snapshot) != 0;
}

std::vector<SequenceNumber> LiveSnapshots::Pinned() const {
  MutexLock lock(&mu_);
  std::vector<SequenceNumber> pinned;
  for (const auto& [sequence, snapshot] : by_sequence_) {
    if (pinned.empty() || pinned.back() != sequence) pinned.push_back(sequence);
  }
  if (VARVE_CANARY(kForgetSnapshot) && !pinned.empty()) pinned.pop_back();
  return pinned;
}

uint64_t LiveSnapshots::count() const {
  MutexLock lock(&mu_);
  return by_sequence_.size();
}

SequenceNumber LiveSnapshots::oldest() const {
  MutexLock lock(&mu_);
  return by_sequence_.empty() ? kMaxSequenceNumber : by_sequence_.begin()->first;
}

int64_t LiveSnapshots::oldest_unix_seconds() const {
  MutexLock lock(&mu_);
  return by_sequence_.empty() ? 0 : by_sequence_.begin()->second->GetUnixTime();
}

}  // namespace varve
