// SPDX-License-Identifier: Apache-2.0
#pragma once

// Measures the long runs of deletions that a walk meets, and remembers them for later walks.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/slice.h"
#include "varve/types.h"

#include "db/read/iterator_counters.h"
#include "db/version/tombstone_runs.h"

namespace varve {

// A run begins at a key that a move has skipped, and ends where the move ends. It is remembered if
// it is long, and if the walk has seen every entry in it and none that was too new: only then is it
// known that the tables have no live key there. All keys are user keys without timestamps.
//
// Thread safety: none. Lifetime: the known runs must outlive it.
class TombstoneRunWatch {
 public:
  // Sets the known runs, which belong to the version that is walked, and the number of the walk's
  // super-version. Null: no run is looked for or remembered.
  void Use(TombstoneRuns* runs, uint64_t super_version) {
    runs_ = runs;
    super_version_ = super_version;
  }
  // True if runs are looked for and remembered.
  [[nodiscard]] bool on() const { return runs_ != nullptr; }

  // True while a run is measured.
  [[nodiscard]] bool measuring() const { return run_ != nullptr && run_->measured; }
  // Begins a run behind `key`, unless one is measured. Requires on().
  void Begin(const Slice& key, const IteratorCounters& counters);
  // Notes that entries which may be too new are skipped without being counted.
  void MissEntries();
  // Ends the run at `to`, and remembers it if it is worth that. Requires measuring(), and that no
  // key between the run's beginning and `to` is live for a reader at the sequence number.
  void End(const Slice& to, bool backward, SequenceNumber sequence,
           const IteratorCounters& counters);
  // Ends the run, if there is one, without remembering it.
  void Forget() {
    if (run_ != nullptr) [[unlikely]]
      run_->measured = false;
  }

  // Sets *begin and *end to the known run around the key, as TombstoneRuns::Find does. Returns
  // false if there is none. Requires on().
  [[nodiscard]] bool Find(const Slice& key, SequenceNumber sequence, std::string* begin,
                          std::string* end) const {
    return runs_->Find(key, {sequence, super_version_}, begin, end);
  }

 private:
  // Is allocated on demand, because most walks meet no run.
  struct Run {
    std::string key;  // the run begins behind it
    // Counts of entries at the run's beginning: passed over, and among these too new to be seen.
    uint64_t passed = 0;
    uint64_t recent = 0;
    // False if entries were skipped without being looked at, so that the run must not be
    // remembered.
    bool all_seen = false;
    // True between Begin and the run's end.
    bool measured = false;
  };

  TombstoneRuns* runs_ = nullptr;
  uint64_t super_version_ = 0;
  std::unique_ptr<Run> run_;
};

}  // namespace varve
