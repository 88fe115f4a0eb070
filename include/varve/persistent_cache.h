// SPDX-License-Identifier: Apache-2.0
#pragma once

// The cache of blocks in files, which Varve does not have: the page cache and the block cache do
// its work.
//
// Opening a table with a PersistentCache returns NotSupported, which names the option. The
// declarations exist so that sources that mention them compile.

#include <cstdint>
#include <memory>
#include <string>

#include "varve/export.h"
#include "varve/status.h"

namespace varve {

class Env;
class Logger;

// The type of BlockBasedTableOptions::persistent_cache, which must be null.
class VARVE_EXPORT PersistentCache {
 public:
  virtual ~PersistentCache() = default;
};

// Returns NotSupported always; *cache stays as it is.
inline Status NewPersistentCache(Env* /*env*/, const std::string& /*path*/, uint64_t /*size*/,
                                 const std::shared_ptr<Logger>& /*log*/, bool /*optimized_for_nvm*/,
                                 std::shared_ptr<PersistentCache>* /*cache*/) {
  return Status::NotSupported("NewPersistentCache: there is no cache of blocks in files");
}

}  // namespace varve
