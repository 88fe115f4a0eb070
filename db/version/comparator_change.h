// SPDX-License-Identifier: Apache-2.0
#pragma once

// Opening a family with another comparator than it was last opened with. One with timestamps may
// take the place of the same one without, and the other way round, as long as no table holds
// timestamps: "X" and "X.u64ts".

#include <cstdint>
#include <string>

#include "varve/comparator.h"
#include "varve/status.h"

#include "db/version/version_edit.h"
#include "util/key/internal_key.h"

namespace varve {

enum class TimestampSwitch : uint8_t { kSame, kOn, kOff };

// A family's comparator, and whether its tables hold the timestamps of keys, if there are any.
struct FamilyOrder {
  std::string comparator;
  bool persist_timestamps = true;
};

// Whether a family of the one order may be opened with the other. InvalidArgument, beginning with
// `context` and naming both, if not.
Status CheckComparatorChange(const std::string& context, const FamilyOrder& before,
                             const Comparator& comparator, bool persist_timestamps,
                             TimestampSwitch* change);

// Names it in the edit that begins a family in a MANIFEST.
void NameComparator(const Comparator& comparator, bool persist_timestamps, VersionEdit* edit);

// Makes the files of an edit that was read what they are to this comparator. Those that were
// written before timestamps were switched on have none from now on; the bounds of files without
// timestamps get the smallest one. InvalidArgument: timestamps were switched off, but the file has
// them. Corruption: a bound is too short to have one.
Status AdaptFiles(TimestampSwitch change, const InternalKeyComparator& icmp, VersionEdit* edit);

}  // namespace varve
