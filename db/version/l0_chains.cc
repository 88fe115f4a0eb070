// SPDX-License-Identifier: Apache-2.0
#include "db/version/l0_chains.h"

#include <algorithm>
#include <utility>

namespace varve {

namespace {

// With fewer files, or fewer in a chain on the average, a search by chains saves too little.
constexpr size_t kFewestFiles = 16;
constexpr size_t kFewestPerChain = 4;

// Collects files that share no keys, in key order.
class ChainMaker {
 public:
  explicit ChainMaker(const InternalKeyComparator& icmp) : icmp_(icmp) {}

  // Returns false if the file shares a key with one of the chain, or might.
  bool Add(const FileRef& file) {
    const auto after = std::ranges::partition_point(files_, [&](const FileRef& other) {
      return icmp_.CompareKey(icmp_.KeyOf(other->largest), icmp_.KeyOf(file->smallest)) < 0;
    });
    const bool fits =
        after == files_.end() ||
        icmp_.CompareKey(icmp_.KeyOf(file->largest), icmp_.KeyOf((*after)->smallest)) < 0;
    if (fits) files_.insert(after, file);
    return fits;
  }

  // Ends the chain with the file of this index, and begins the next one.
  L0Chain End(size_t oldest) {
    // Below L0 files are in key order.
    return {LevelFiles(&icmp_, /*level=*/1, std::exchange(files_, {})), oldest};
  }

 private:
  const InternalKeyComparator& icmp_;
  std::vector<FileRef> files_;
};

}  // namespace

// Takes files from the newest on into a chain until one shares a key with it; that one begins the
// next chain. Gives up as soon as there are too many chains.
std::vector<L0Chain> CutIntoChains(const LevelFiles& l0, const InternalKeyComparator* icmp) {
  std::vector<L0Chain> chains;
  if (l0.size() < kFewestFiles) return chains;
  const size_t most = l0.size() / kFewestPerChain;
  ChainMaker chain(*icmp);
  for (size_t i = 0; i < l0.size(); i++) {
    if (chain.Add(l0.files()[i])) continue;
    chains.push_back(chain.End(i - 1));  // i > 0, since the first file fits
    if (chains.size() >= most) return {};
    (void)chain.Add(l0.files()[i]);  // cannot fail: the new chain is empty
  }
  chains.push_back(chain.End(l0.size() - 1));
  return chains;
}

}  // namespace varve
