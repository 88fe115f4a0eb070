// SPDX-License-Identifier: Apache-2.0

// From gathered hashes to a filter block.

#include "table/filter/full_filter_builder.h"

#include <algorithm>

namespace varve {

void FullFilterBuilder::AddPrefix(const Slice& user_key) {
  if (!options_.prefix_extractor->InDomain(user_key)) return;
  AddHash(HashOf(options_.prefix_extractor->Transform(user_key)), &last_prefix_hash_, &has_prefix_);
}

Status FullFilterBuilder::Finish(bool verify, std::string* block) {
  const FilterHashes hashes = std::move(hashes_);
  hashes_.clear();
  if (options_.legacy) {
    BuildLegacyBloom(hashes, (options_.millibits_per_key + 500) / 1000, block);
  } else {
    BuildFastLocalBloom(hashes, options_.millibits_per_key, block);
  }
  if (!verify) return Status::OK();
  const FilterBits filter = FilterBits::Parse(Slice(*block));
  const bool all = std::all_of(hashes.begin(), hashes.end(),
                               [&filter](uint64_t hash) { return filter.MayMatch(hash); });
  return all ? Status::OK()
             : Status::Corruption("filter does not match a key that it was built from");
}

}  // namespace varve
