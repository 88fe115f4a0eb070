// SPDX-License-Identifier: Apache-2.0

// Implements the orders that compaction_pri names.

#include "db/compaction/candidate_order.h"

#include <algorithm>
#include <numeric>

#include "db/compaction/input_span.h"
#include "db/version/file_weights.h"
#include "util/base/assert.h"

namespace varve {

namespace {

// Returns for each file of the level how many bytes of the next level must be rewritten for each of
// its own that move down. Own bytes count as FileWeights weighs them, so that a file with many
// deletions, which free space beneath, is compacted early.
std::vector<double> OverlapRatios(const Version& version, int level) {
  const FileWeights weights(version);
  const InternalKeyComparator& icmp = *version.icmp();
  const LevelFiles& files = version.level(level);
  const LevelFiles& below = version.level(level + 1);
  std::vector<double> ratios(files.size());
  size_t first = 0;
  for (size_t i = 0; i < files.size(); i++) {
    while (first < below.size() &&
           icmp.CompareKey(icmp.KeyOf(below[first]->largest), icmp.KeyOf(files[i]->smallest)) < 0) {
      first++;
    }
    uint64_t overlap = 0;
    for (size_t j = first; j < below.size() && icmp.CompareKey(icmp.KeyOf(below[j]->smallest),
                                                               icmp.KeyOf(files[i]->largest)) <= 0;
         j++) {
      overlap += below[j]->size;
    }
    const uint64_t weight = std::max<uint64_t>(1, weights.Weigh(level, *files[i]));
    ratios[i] = static_cast<double>(overlap) / static_cast<double>(weight);
  }
  return ratios;
}

// Returns the index of the file where kRoundRobin goes on: the first one behind the newest table of
// the next level, which the last compaction out of this level has probably written. Begins anew
// with file 0 if there is none.
size_t RoundRobinStart(const Version& version, int level) {
  const InternalKeyComparator& icmp = *version.icmp();
  const LevelFiles& files = version.level(level);
  const LevelFiles& below = version.level(level + 1);
  const FileMetaData* newest = nullptr;
  for (const FileRef& file : below.files()) {
    if (newest == nullptr || file->number > newest->number) newest = file.get();
  }
  if (newest == nullptr) return 0;
  for (size_t i = 0; i < files.size(); i++) {
    if (icmp.CompareKey(icmp.KeyOf(files[i]->smallest), icmp.KeyOf(newest->largest)) > 0) return i;
  }
  return 0;
}

}  // namespace

std::vector<size_t> OrderCandidates(const Version& version, int level, CompactionPri priority) {
  VARVE_ASSERT(level >= 1 && level + 1 < version.num_levels());
  const LevelFiles& files = version.level(level);
  std::vector<size_t> order(files.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // `before(a, b)` is true if file a is the better candidate. Ties keep the order of keys.
  const auto sort = [&](auto before) { std::stable_sort(order.begin(), order.end(), before); };
  switch (priority) {
    case kByCompensatedSize: {
      const FileWeights weights(version);
      sort([&](size_t a, size_t b) {
        return weights.Weigh(level, *files[a]) > weights.Weigh(level, *files[b]);
      });
      break;
    }
    case kOldestLargestSeqFirst:
      sort([&](size_t a, size_t b) { return files[a]->largest_seq < files[b]->largest_seq; });
      break;
    case kOldestSmallestSeqFirst:
      sort([&](size_t a, size_t b) { return files[a]->smallest_seq < files[b]->smallest_seq; });
      break;
    case kMinOverlappingRatio: {
      const std::vector<double> ratios = OverlapRatios(version, level);
      sort([&](size_t a, size_t b) { return ratios[a] < ratios[b]; });
      break;
    }
    case kRoundRobin:
      std::rotate(order.begin(),
                  order.begin() + static_cast<ptrdiff_t>(RoundRobinStart(version, level)),
                  order.end());
      break;
  }
  return order;
}

}  // namespace varve
