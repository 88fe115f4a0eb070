// SPDX-License-Identifier: Apache-2.0
#pragma once

// Point reads of many keys at one moment: groups of them walk together from source to source.

#include <cstddef>
#include <cstdint>
#include <span>

#include "varve/db.h"

#include "db/column_family/super_version.h"

namespace varve {

class Statistics;
class SystemClock;

// One call of DB::MultiGet, whichever families its keys are of. Key i has its value and its status
// at place i.
struct MultiGetCall {
  const ReadOptions& options;
  const Slice* keys;
  PinnableSlice* values;  // reset
  Status* statuses;
  std::string* timestamps = nullptr;  // empty; null: not asked for
  Statistics* statistics = nullptr;   // may be null
  SystemClock* clock = nullptr;       // for options.deadline
  // As for GetFromSuperVersion.
  bool skip_memtables = false;

  // Counted while families are read.
  uint64_t found = 0;
  uint64_t value_bytes = 0;
};

// Answers the keys at `places`, all of one family, whose timestamp was checked, as Get at `seq`
// does; `places` is put into the order of the keys. Each key's status tells about that key alone:
// OK, NotFound, or why the answer is not known. Once a group of keys ends past the deadline, the
// keys that are left get TimedOut; once the values exceed value_size_soft_limit, the keys left
// get Aborted.
//
// Whether the caller says that the keys are sorted does not matter: finding out costs less than
// the first comparison of a search.
void MultiGetFromSuperVersion(MultiGetCall* call, const SuperVersion& super_version,
                              SequenceNumber seq, std::span<uint32_t> places);

}  // namespace varve
