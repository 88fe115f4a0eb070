// SPDX-License-Identifier: Apache-2.0
#include "table/cache/block_cache_key.h"

#include <string>

#include "util/coding/fixed.h"
#include "util/coding/hash.h"
#include "util/coding/varint.h"

namespace varve {

BlockCacheKeyBase BlockCacheKeyBase::ForTable(const TableProperties& properties, uint64_t file_size,
                                              Cache* cache) {
  if (properties.db_id.empty() || properties.db_session_id.empty() ||
      properties.orig_file_number == 0) {
    // Any second word would do, as the first is in no other key. ForBlock, whose kinds are below
    // 128, leaves the top bit as it is.
    return BlockCacheKeyBase(cache->NewId(), uint64_t{1} << 63);
  }
  std::string identity;
  PutLengthPrefixedSlice(&identity, properties.db_id);
  PutLengthPrefixedSlice(&identity, properties.db_session_id);
  PutFixed64(&identity, properties.orig_file_number);
  PutFixed64(&identity, file_size);
  const Hash128 hash = XXH3Hash128(identity.data(), identity.size(), 0);
  return BlockCacheKeyBase(hash.high, hash.low);
}

}  // namespace varve
