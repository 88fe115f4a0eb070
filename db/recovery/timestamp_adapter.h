// SPDX-License-Identifier: Apache-2.0
#pragma once

// Makes the keys of logged batches those of the families as they are opened now: timestamps may
// have been switched on or off since. What a log does not say of them is no proof that there were
// none: RocksDB before 8.4 did not write it down.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "varve/slice.h"
#include "varve/status.h"

#include "db/wal/timestamp_sizes.h"

namespace varve {

class ColumnFamilySet;
struct BatchRecord;

// The families that there are, and the size of their timestamps; 0: none.
struct FamilyTimestamps {
  std::string name;
  size_t size = 0;
  // Its tables hold them. Then it has had them since it was made, as they cannot be switched on.
  bool persisted = false;
};
std::map<uint32_t, FamilyTimestamps> TimestampsOf(const ColumnFamilySet& families);

// A family's keys lose the timestamp that they were logged with when it has none now, and get the
// smallest one, of zeros, when they were logged without. Where the log does not say, keys of a
// family that persists timestamps have them, and those of others have none. One for each log.
// Thread safety: none.
class TimestampAdapter {
 public:
  // Families that are not there keep their keys.
  explicit TimestampAdapter(std::map<uint32_t, FamilyTimestamps> families)
      : families_(std::move(families)) {}

  // Sets *result to the batch itself, if nothing is to be changed, or to what is made of it in
  // *scratch, with as many updates. Its structure has been checked. `recorded` is what the log says
  // before it, and only grows from one call to the next. InvalidArgument naming the family: it was
  // written with timestamps of another size, or without any by what did not write sizes down.
  // Corruption: a key is too short for the timestamp that it is said to have.
  Status Adapt(const Slice& batch, const wal::TimestampSizes& recorded, std::string* scratch,
               Slice* result);

 private:
  struct Change {
    size_t from = 0;
    size_t to = 0;
  };

  void FindChanges(const wal::TimestampSizes& recorded);
  // Whether a key, or the end of a range, has no room for the timestamp that it must have.
  Status CheckUnrecorded(const BatchRecord& record) const;
  static void AppendChanged(const Slice& key, const Change& change, std::string* out);
  Status Rewrite(const Slice& batch, std::string* out) const;
  Status Refusal(uint32_t family, const Change& change) const;

  const std::map<uint32_t, FamilyTimestamps> families_;
  size_t recorded_count_ = SIZE_MAX;    // when changes_ was found
  std::map<uint32_t, Change> changes_;  // of the families whose sizes differ
  std::set<uint32_t> unrecorded_;       // families whose keys are taken to have timestamps
};

}  // namespace varve
