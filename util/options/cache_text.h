// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions that create caches from text need; a higher layer defines them.

#include <memory>

#include "varve/cache.h"

namespace varve {

// These do what MakeSharedCache, which is a member and cannot be left undefined, and NewLRUCache,
// which inline functions of varve/cache.h call, do.
std::shared_ptr<Cache> MakeLruCache(const LRUCacheOptions& options);
std::shared_ptr<Cache> MakeHyperClockCache(const HyperClockCacheOptions& options);

}  // namespace varve
