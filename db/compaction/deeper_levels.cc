// SPDX-License-Identifier: Apache-2.0

// Walks the levels beneath an output.

#include "db/compaction/deeper_levels.h"

#include <algorithm>

#include "util/base/assert.h"
#include "util/base/canary.h"

namespace varve {

DeeperLevels::DeeperLevels(const Version* version, int first_level)
    : version_(version), first_level_(first_level) {
  VARVE_ASSERT(version == nullptr || first_level >= 1 || version->level(0).empty());
  if (version_ != nullptr) {
    positions_.resize(static_cast<size_t>(std::max(0, version_->non_empty_levels() - first_level)));
  }
}

// Keys must ascend from call to call, so each level's position only moves forward and a whole
// compaction costs one pass over the bounds.
bool DeeperLevels::MayHold(const Slice& key) {
  if (version_ == nullptr) return true;
  // VARVE_CANARY plants a bug in builds that test the tests; in all others it is false.
  if (version_->reserves_last_level() && !VARVE_CANARY(kDropAboveReserved)) return true;
  const InternalKeyComparator& icmp = *version_->icmp();
  for (size_t i = 0; i < positions_.size(); i++) {
    const LevelFiles& files = version_->level(first_level_ + static_cast<int>(i));
    size_t& position = positions_[i];
    while (position < files.size() &&
           icmp.CompareKey(icmp.KeyOf(files[position]->largest), key) < 0) {
      position++;
    }
    if (position < files.size() &&
        icmp.CompareKey(icmp.KeyOf(files[position]->smallest), key) <= 0) {
      return true;
    }
  }
  return false;
}

bool DeeperLevels::MayHoldRange(const Slice& begin, const Slice& end) const {
  return version_ == nullptr || version_->RangeMayExistFrom(first_level_, begin, end);
}

}  // namespace varve
