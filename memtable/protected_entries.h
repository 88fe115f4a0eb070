// SPDX-License-Identifier: Apache-2.0
#pragma once

// Checksums of single entries: behind each value stand some bytes that its key, sequence number,
// type and bytes give. What a stray write or a broken module of memory does to an entry is found
// out when it is read, flushed before all, instead of getting into tables.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/slice.h"

#include "memtable/entry.h"
#include "util/iter/internal_iterator.h"

namespace varve {

// Appends the entry's value and its checksum of `bytes` bytes: 1, 2, 4 or 8.
void AppendProtected(const MemTableEntry& entry, size_t bytes, std::string* value);

// A walk through entries with values of AppendProtected, that shows the values as they were given.
// At an entry that is not what was added it ends with Corruption.
std::unique_ptr<InternalIterator> NewProtectedIterator(std::unique_ptr<InternalIterator> walk,
                                                       size_t bytes);

}  // namespace varve
