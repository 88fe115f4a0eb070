// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads many keys as of one moment: groups of keys move together from source to source.

#include <cstddef>
#include <cstdint>
#include <span>

#include "varve/db.h"

#include "db/column_family/super_version.h"
#include "util/key/entity.h"

namespace varve {

class Statistics;
class SystemClock;

// One call of DB::MultiGet, for keys of any families. Key i has its value and its status at index
// i. All pointers are borrowed for the call. One thread uses an object.
struct MultiGetCall {
  const ReadOptions& options;
  const Slice* keys;      // without timestamps
  PinnableSlice* values;  // reset by the caller
  Status* statuses;       // set for each key that is read
  // Null if timestamps are not wanted; else one string for each key, emptied by the caller.
  std::string* timestamps = nullptr;
  // If null, a read of an entity returns its default column. Otherwise it returns the whole entity,
  // and forms[i] says whether values[i] is a plain value or an entity.
  ValueForm* forms = nullptr;
  Statistics* statistics = nullptr;  // may be null
  SystemClock* clock = nullptr;      // for options.deadline; may be null if that is 0
  // Has the same meaning as for GetFromSuperVersion.
  bool skip_memtables = false;

  // Keys found, and bytes of their values, in all families that were read so far.
  uint64_t found = 0;
  uint64_t value_bytes = 0;
};

// Reads the keys whose indexes are in `places`, all of the super-version's family, as Get at `seq`
// does; reorders `places` by key. The caller has checked options.timestamp (read_timestamp.h). Each
// key's status is about that key alone: OK, NotFound, or why the result is unknown. The deadline is
// looked at before each group of keys; once it has passed, all keys left get TimedOut. Once the
// values of the call exceed value_size_soft_limit, all keys left get Aborted.
//
// The caller's sorted_input is ignored: a check costs less than the first comparison of a search.
void MultiGetFromSuperVersion(MultiGetCall* call, const SuperVersion& super_version,
                              SequenceNumber seq, std::span<uint32_t> places);

}  // namespace varve
