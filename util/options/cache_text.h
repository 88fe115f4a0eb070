// SPDX-License-Identifier: Apache-2.0
#pragma once

// Declares the functions by which util creates caches from text. The cache itself is in a higher
// layer, which defines them.

#include <memory>

#include "varve/cache.h"

namespace varve {

// Return a cache with these options, or null if one is out of range or not supported. They do the
// same as the two member functions MakeSharedCache of varve/cache.h. Util refers to these by weak
// symbols, which are null in a program that links no caches.
std::shared_ptr<Cache> MakeLruCache(const LRUCacheOptions& options);
std::shared_ptr<Cache> MakeHyperClockCache(const HyperClockCacheOptions& options);

}  // namespace varve
