// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the owners of a database's memory: the property varve.memory.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace varve {

class DbContext;
struct DbState;

// Returns owners and their bytes, in the order in which they are shown.
//
// A name with a dot is a part of, or a remark on, the name before the dot. "total" is the sum of
// the names without a dot, less block_cache.reserved: the part of the cache that is reserved for
// memory counted elsewhere in the sum. A block cache or write-buffer manager shared by several
// databases counts with all of its contents, and so do the process's warm pages, which memtables of
// any database left for the next ones.
std::vector<std::pair<std::string, uint64_t>> MemoryByOwner(const DbContext& context,
                                                            DbState* state);

}  // namespace varve
