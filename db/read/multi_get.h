// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads many keys as of one moment: groups of keys move together from source to source.

#include <cstddef>
#include <cstdint>
#include <span>

#include "varve/db.h"

#include "db/column_family/super_version.h"

namespace varve {

class Statistics;
class SystemClock;

// One call of DB::MultiGet, for keys of any families. Key i has its value and its status at index
// i.
struct MultiGetCall {
  const ReadOptions& options;
  const Slice* keys;
  PinnableSlice* values;  // reset by the caller
  Status* statuses;
  std::string* timestamps = nullptr;  // empty strings; null: not wanted
  Statistics* statistics = nullptr;   // may be null
  SystemClock* clock = nullptr;       // used for options.deadline
  // Has the same meaning as for GetFromSuperVersion.
  bool skip_memtables = false;

  // Counted while families are read.
  uint64_t found = 0;
  uint64_t value_bytes = 0;
};

// Reads the keys at `places`, all of one family, with checked timestamps, as Get at `seq` does;
// reorders `places` by key. Each key's status is about that key alone: OK, NotFound, or why the
// result is unknown. Once a group of keys ends past the deadline, the remaining keys get TimedOut;
// once the values exceed value_size_soft_limit, they get Aborted.
//
// The caller's sorted_input is ignored: a check costs less than the first comparison of a search.
void MultiGetFromSuperVersion(MultiGetCall* call, const SuperVersion& super_version,
                              SequenceNumber seq, std::span<uint32_t> places);

}  // namespace varve
