// SPDX-License-Identifier: Apache-2.0
#pragma once

// What making caches out of text needs of those who make them, in a room above.

#include <memory>

#include "varve/cache.h"

namespace varve {

// As MakeSharedCache, which is a member and cannot be left undefined, and NewLRUCache, which
// inline functions of varve/cache.h call.
std::shared_ptr<Cache> MakeLruCache(const LRUCacheOptions& options);
std::shared_ptr<Cache> MakeHyperClockCache(const HyperClockCacheOptions& options);

}  // namespace varve
