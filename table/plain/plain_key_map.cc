// SPDX-License-Identifier: Apache-2.0
#include "table/plain/plain_key_map.h"

namespace varve {

bool PlainKeyMap::Put(uint64_t hash, uint32_t offset) {
  size_t at = BucketOf(hash);
  for (size_t i = 0; i < kBucketsOfKey; i++, at = After(at)) {
    Bucket& bucket = buckets_[at];
    for (size_t slot = 0; slot < kSlots; slot++) {
      char* const tag = bucket.tags + 2 * slot;
      if (DecodeFixed16(tag) != 0) continue;
      EncodeFixed16(tag, TagOf(hash));
      bucket.offsets[slot] = offset;
      return true;
    }
    bucket.passed = 1;
  }
  return false;
}

// If a key finds no place, the map is given up, as a map without some keys would deny them.
void PlainKeyMap::Build(const FilterHashes& hashes, const Offsets& offsets) {
  VARVE_ASSERT(hashes.size() == offsets.size());
  buckets_ = std::vector<Bucket>(BytesFor(hashes.size()) / sizeof(Bucket));
  auto offset = offsets.begin();
  const bool all = ForEachPrefetched(
      hashes, [this](uint64_t hash) { return &buckets_[BucketOf(hash)]; },
      [&](uint64_t hash) { return Put(hash, *offset++); });
  if (!all) buckets_ = std::vector<Bucket>();
}

}  // namespace varve
