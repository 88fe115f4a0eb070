// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adapts the keys of logged batches to the current timestamp sizes of the families, which may have
// been opened with another comparator since. A log without sizes does not prove that there were no
// timestamps, because RocksDB before 8.4 did not write them.

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

// An existing family, and the size of its timestamps in bytes, or 0.
struct FamilyTimestamps {
  std::string name;
  size_t size = 0;
  // True if its tables store timestamps. Then it has had them since its creation, because they
  // cannot be enabled later.
  bool persisted = false;
};
// Returns the present families by id.
std::map<uint32_t, FamilyTimestamps> TimestampsOf(const ColumnFamilySet& families);

// Removes timestamps from the keys of a family that has none now, and adds the smallest one, of
// zeros, to keys that were logged without. If the log has no size for a family, its keys are
// assumed to have timestamps exactly if the family persists them. Used for one log. Thread safety:
// none.
class TimestampAdapter {
 public:
  // The keys of families that do not exist are unchanged.
  explicit TimestampAdapter(std::map<uint32_t, FamilyTimestamps> families)
      : families_(std::move(families)) {}

  // Sets *result to the batch itself if nothing changes, or to a batch in *scratch with as many
  // updates. Requires that the structure was checked. `recorded` has the sizes that the log has so
  // far; entries are only added between calls. InvalidArgument, naming the family: it was written
  // with timestamps of another size, or without any by a version that did not write sizes.
  // Corruption: a key is too short for its timestamp.
  Status Adapt(const Slice& batch, const wal::TimestampSizes& recorded, std::string* scratch,
               Slice* result);

 private:
  // The size of a family's timestamps in the log, and the current size. One of them must be 0, or
  // the batch is refused.
  struct Change {
    size_t from = 0;
    size_t to = 0;
  };

  // Computes changes_ and unrecorded_ from the sizes in the log.
  void FindChanges(const wal::TimestampSizes& recorded);
  // Returns an error if a key, or the end of a range, is too short for the timestamp that it must
  // have.
  Status CheckUnrecorded(const BatchRecord& record) const;
  // Appends the key without its timestamp, or with one of zeros.
  static void AppendChanged(const Slice& key, const Change& change, std::string* out);
  // Sets *out to the batch with the keys of changed families rewritten.
  Status Rewrite(const Slice& batch, std::string* out) const;
  // Returns the error for a family whose timestamps have another size than in the log.
  Status Refusal(uint32_t family, const Change& change) const;

  const std::map<uint32_t, FamilyTimestamps> families_;
  size_t recorded_count_ = SIZE_MAX;    // Size of `recorded` when changes_ was computed.
  std::map<uint32_t, Change> changes_;  // Families whose sizes differ.
  std::set<uint32_t> unrecorded_;       // Families whose keys are assumed to have timestamps.
};

}  // namespace varve
