// SPDX-License-Identifier: Apache-2.0
#pragma once

// Decides if a family may be opened with another comparator than before. A comparator with
// timestamps may replace the same one without, and the other way round, as long as no table holds
// timestamps: "X" and "X.u64ts".

#include <cstdint>
#include <string>

#include "varve/comparator.h"
#include "varve/status.h"

#include "db/version/version_edit.h"
#include "util/key/internal_key.h"

namespace varve {

// Says if timestamps are switched on or off by an opening.
enum class TimestampSwitch : uint8_t { kSame, kOn, kOff };

// Stores a family's comparator, and if its tables hold the timestamps of keys that have any.
struct FamilyOrder {
  std::string comparator;
  bool persist_timestamps = true;
};

// Checks whether a family of order `before` may be opened with this comparator, and sets *change.
// Otherwise returns InvalidArgument, which names both; then *change is undefined. `context` begins
// the message, unless the two comparators are strangers.
Status CheckComparatorChange(const std::string& context, const FamilyOrder& before,
                             const Comparator& comparator, bool persist_timestamps,
                             TimestampSwitch* change);

// Names the comparator in the edit that begins a family in a MANIFEST.
void NameComparator(const Comparator& comparator, bool persist_timestamps, VersionEdit* edit);

// Adapts the files of an edit that was read from a MANIFEST to this comparator. Files written
// before timestamps were switched on are marked as having none. Bounds of files without timestamps
// get one: the smallest, or, if the bound is the exclusive end of a range tombstone, the largest.
// InvalidArgument: timestamps were switched off but the file has them, or they were switched on and
// the file refers to blob files. Corruption: a bound is too short for the timestamp that it should
// have. After an error the edit must not be used.
Status AdaptFiles(TimestampSwitch change, const InternalKeyComparator& icmp, VersionEdit* edit);

}  // namespace varve
