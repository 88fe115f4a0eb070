// SPDX-License-Identifier: Apache-2.0
#pragma once

// Who holds the memory of a database: the property varve.memory.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace varve {

class DbContext;
struct DbState;

// Owners and their bytes, in the order in which they are shown.
//
// A name with a dot is a part of, or a remark to, the one before the dot. "total" is the sum of the
// names without a dot, less block_cache.reserved: what stands in the cache for memory that is in
// the sum already. A block cache, or a write-buffer manager, that several databases share counts
// with all that is in it.
std::vector<std::pair<std::string, uint64_t>> MemoryByOwner(const DbContext& context,
                                                            DbState* state);

}  // namespace varve
