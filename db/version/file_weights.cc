// SPDX-License-Identifier: Apache-2.0
#include "db/version/file_weights.h"

#include <algorithm>

namespace varve {

namespace {

// Weight factor of a tombstone: it counts for the data that it will remove, and for making room on
// the way.
constexpr double kTombstoneWeight = 2;

uint64_t AddSaturating(uint64_t bytes, double more) {
  const double sum = static_cast<double>(bytes) + more;
  return sum >= static_cast<double>(UINT64_MAX) ? UINT64_MAX : static_cast<uint64_t>(sum);
}

}  // namespace

// Goes from the deepest level up, with the sum of all levels passed so far: beneath_[level] becomes
// the average size of an entry in the levels below it.
FileWeights::FileWeights(const Version& version)
    : beneath_(static_cast<size_t>(std::max(version.num_levels(), 1)), 0) {
  double bytes = 0;
  double entries = 0;
  for (int level = version.num_levels() - 1; level >= 0; level--) {
    const auto average = [&] { return entries > 0 ? bytes / entries : 0; };
    // In L0 a newer file also deletes from older ones of the level.
    if (level > 0) beneath_[static_cast<size_t>(level)] = average();
    for (const FileRef& file : version.level(level).files()) {
      const TableCounts& counts = file->counts();
      if (!counts.known()) continue;
      any_deletions_ |= counts.deletions > 0;
      if (counts.SurplusDeletions() > 0) continue;  // small entries that are no data
      bytes += static_cast<double>(file->size);
      entries += static_cast<double>(counts.entries);
    }
    if (level == 0) beneath_[0] = average();
  }
}

uint64_t FileWeights::Weigh(int level, const FileMetaData& file) const {
  if (!any_deletions_) return file.size;
  const uint64_t surplus = file.counts().SurplusDeletions();
  if (surplus == 0) return file.size;
  return AddSaturating(file.size,
                       kTombstoneWeight * static_cast<double>(surplus) * EntryBytesBeneath(level));
}

}  // namespace varve
