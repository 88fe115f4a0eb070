// SPDX-License-Identifier: Apache-2.0
#include "db/read/tombstone_run_watch.h"

#include "util/base/assert.h"

namespace varve {

namespace {

// Minimum number of entries of a run that is worth remembering.
constexpr uint64_t kEntriesMin = 1024;

}  // namespace

void TombstoneRunWatch::Begin(const Slice& key, const IteratorCounters& counters) {
  VARVE_ASSERT(on());
  if (measuring()) return;
  if (run_ == nullptr) run_ = std::make_unique<Run>();
  run_->key.assign(key.data(), key.size());
  run_->passed = counters.passed();
  run_->recent = counters.recent;
  run_->all_seen = true;
  run_->measured = true;
}

void TombstoneRunWatch::MissEntries() {
  if (measuring()) run_->all_seen = false;
}

// A run is remembered for later readers only if this walk has seen every entry of it, all of them
// were old enough, and it was long.
void TombstoneRunWatch::End(const Slice& to, bool backward, SequenceNumber sequence,
                            const IteratorCounters& counters) {
  VARVE_ASSERT(measuring());
  run_->measured = false;
  const bool is_long = counters.passed() - run_->passed >= kEntriesMin;
  if (!is_long || !run_->all_seen || counters.recent != run_->recent) return;
  const Slice from(run_->key);
  runs_->Add(backward ? to : from, backward ? from : to, {sequence, super_version_});
}

}  // namespace varve
