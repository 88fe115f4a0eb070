// SPDX-License-Identifier: Apache-2.0
#pragma once

// What iterators have found out about ranges of a tree in which every key is deleted, so that the
// next one does not walk over the same deletions again.

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

// Belongs to one version, whose files do not change. A range that held nothing live at a sequence
// number, in those files and the memtables before them, and no entry that is newer, has nothing
// live in the files for any later reader: what came later is in memtables. So a later reader may
// leave the files' entries out, but not the memtables'.
//
// Thread safety: all methods from any thread.
class TombstoneRuns {
 public:
  explicit TombstoneRuns(const InternalKeyComparator* icmp) : icmp_(icmp) {}
  TombstoneRuns(const TombstoneRuns&) = delete;
  TombstoneRuns& operator=(const TombstoneRuns&) = delete;

  // Who looks, or has looked: both numbers as the reader was made.
  struct Moment {
    SequenceNumber sequence = 0;
    uint64_t super_version = 0;
  };

  // No user key between `begin` and `end`, which do not belong to the range, was live at `moment`,
  // and no entry there is newer. May be forgotten at any time.
  void Add(const Slice& begin, const Slice& end, const Moment& moment);

  // The known range with the user key in it, for a reader at `moment`.
  bool Find(const Slice& user_key, const Moment& moment, std::string* begin,
            std::string* end) const;

 private:
  struct Range {
    std::string begin;
    std::string end;
    Moment moment;
  };

  static constexpr size_t kRangesMax = 256;
  static constexpr size_t kKeyBytesMax = 4096;

  [[nodiscard]] bool Before(const Slice& a, const Slice& b) const {
    return icmp_->CompareKey(a, b) < 0;
  }

  const InternalKeyComparator* const icmp_;
  std::atomic<bool> any_{false};
  mutable Mutex mu_{lock_ranks::kTombstoneRuns};
  std::vector<Range> ranges_ VARVE_GUARDED_BY(mu_);  // ascending, disjoint
  size_t next_victim_ VARVE_GUARDED_BY(mu_) = 0;
};

}  // namespace varve
