// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stores ranges of a tree that iterators found to be completely deleted, so that later ones do not
// walk over the same deletions again.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "varve/slice.h"
#include "varve/types.h"

#include "db/lock_ranks.h"
#include "util/key/internal_key.h"
#include "util/sync/mutex.h"

namespace varve {

// Belongs to one version, whose files do not change. Suppose a range has no live key at a sequence
// number, in those files and the memtables before them, and no newer entry. Then the files have no
// live key there for any later reader, because later entries are in memtables. So a later reader
// may skip the files' entries, but not the memtables'. All keys are user keys without timestamps.
//
// Thread safety: all methods may be called from any thread.
class TombstoneRuns {
 public:
  explicit TombstoneRuns(const InternalKeyComparator* icmp) : icmp_(icmp) {}
  TombstoneRuns(const TombstoneRuns&) = delete;
  TombstoneRuns& operator=(const TombstoneRuns&) = delete;

  // The state a reader sees: both numbers as of the reader's creation.
  struct Moment {
    SequenceNumber sequence = 0;
    uint64_t super_version = 0;
  };

  // Adds a range (exclusive on both sides) in which no user key was live at `moment` and no entry
  // is newer. The range may be forgotten at any time.
  void Add(const Slice& begin, const Slice& end, const Moment& moment);

  // Sets *begin and *end to the known range that contains the user key, for a reader at `moment`.
  // Returns false, and leaves both, if there is none.
  bool Find(const Slice& user_key, const Moment& moment, std::string* begin,
            std::string* end) const;

 private:
  // A range without live keys for readers of `moment` and later.
  struct Range {
    std::string begin;
    std::string end;
    Moment moment;
  };

  // Limits of memory: ranges, and bytes of a bound. With more ranges the victims are replaced in
  // turn.
  static constexpr size_t kRangesMax = 256;
  static constexpr size_t kKeyBytesMax = 4096;

  [[nodiscard]] bool Before(const Slice& a, const Slice& b) const {
    return icmp_->CompareKey(a, b) < 0;
  }

  const InternalKeyComparator* const icmp_;
  // Lets Find of versions without ranges, which are nearly all, take no lock.
  std::atomic<bool> any_{false};
  mutable Mutex mu_{lock_ranks::kTombstoneRuns};
  std::vector<Range> ranges_ VARVE_GUARDED_BY(mu_);  // ascending and disjoint
  // Index of the range that the next one replaces when there are too many.
  size_t next_victim_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
