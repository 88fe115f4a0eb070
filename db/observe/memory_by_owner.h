// SPDX-License-Identifier: Apache-2.0
#pragma once

// Lists the components that own a database's memory: the property varve.memory.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace varve {

class DbContext;
struct DbState;

// Returns the owners' names and bytes, in the order in which they are shown. Visits all entries of
// the block caches, which may take long.
//
// A name with a dot is a part of, or further information about, the name before the dot. "total" is
// the sum of the names without a dot, except mapped_files, less block_cache.reserved: the part of
// the cache that is reserved for memory that is counted elsewhere in the sum. A block cache or
// write-buffer manager shared by several databases counts with all of its contents, and so do the
// warm pages of the process, which are kept for new memtables of any database.
std::vector<std::pair<std::string, uint64_t>> MemoryByOwner(const DbContext& context,
                                                            DbState* state);

}  // namespace varve
