// SPDX-License-Identifier: Apache-2.0

// Operations that hold snapshots for some time: when a snapshot is released, a few keys must still
// be what they were when it was taken, by Get and by a scan.

#include <algorithm>

#include "tools/db_stress/flags.h"
#include "tools/db_stress/worker.h"

namespace varve::stress {

namespace {

constexpr size_t kHeldMost = 6;     // snapshots of a worker at a time
constexpr uint64_t kKeysSeen = 40;  // keys that are compared for each

}  // namespace

// No lock is held: other workers write meanwhile, and the snapshot must hide that. The reads that
// follow at once decide what it shows; those at the release must see the same.
void Worker::TakeSnapshot() {
  if (snapshots_.size() >= kHeldMost) return;
  HeldSnapshot held;
  held.family = RandomFamily();
  held.generation = database_->generation(held.family);
  held.until = operation_ + 1 + dice_.Below(static_cast<uint64_t>(FLAGS_snapshot_hold_ops));
  held.snapshot = db()->GetSnapshot();
  ReadOptions read = database_->Now();
  read.snapshot = held.snapshot;
  const uint64_t first = dice_.Below(expected().keys());
  const uint64_t end = std::min(first + kKeysSeen, expected().keys());
  for (uint64_t number = first; number < end; number++) {
    std::string value;
    const Status s = db()->Get(read, handle(held.family), KeyBytes(number), &value);
    if (!s.ok() && !s.IsNotFound()) database_->Wrong("Get at a snapshot: " + s.ToString());
    held.values.emplace_back(number, s.ok() ? value : "");
  }
  snapshots_.push_back(std::move(held));
}

void Worker::LookAt(const HeldSnapshot& held) {
  if (held.generation != database_->generation(held.family)) return;
  ReadOptions read = database_->Now();
  read.snapshot = held.snapshot;
  read.total_order_seek = true;
  const std::unique_ptr<Iterator> it(db()->NewIterator(read, handle(held.family)));
  it->Seek(KeyBytes(held.values.front().first));
  for (const auto& [number, was] : held.values) {
    std::string value;
    const std::string bytes = KeyBytes(number);
    const Status s = db()->Get(read, handle(held.family), bytes, &value);
    expected().counts().checks += 2;
    if (was.empty() ? !s.IsNotFound() : !s.ok() || value != was) {
      database_->Wrong("Get at a held snapshot: " + s.ToString() + " key " +
                       std::to_string(number));
    }
    const bool there = it->Valid() && it->key() == Slice(bytes);
    if (there == was.empty() || (there && it->value() != Slice(was))) {
      database_->Wrong("a scan at a held snapshot: key " + std::to_string(number));
    }
    if (there) it->Next();
  }
}

void Worker::ReleaseDue() {
  while (!snapshots_.empty() && snapshots_.front().until <= operation_) {
    LookAt(snapshots_.front());
    db()->ReleaseSnapshot(snapshots_.front().snapshot);
    snapshots_.pop_front();
  }
}

void Worker::ReleaseSnapshots() {
  const std::shared_lock<std::shared_mutex> use(database_->in_use);
  for (const HeldSnapshot& held : snapshots_) {
    LookAt(held);
    db()->ReleaseSnapshot(held.snapshot);
  }
  snapshots_.clear();
}

}  // namespace varve::stress
