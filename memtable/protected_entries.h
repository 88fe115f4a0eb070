// SPDX-License-Identifier: Apache-2.0
#pragma once

// Adds checksums of single entries: behind each value is a checksum of its key, sequence number,
// type and bytes. Damage by a stray write or bad memory is detected when the entry is read, in
// particular by a flush, instead of getting into tables.

#include <cstddef>
#include <memory>
#include <string>

#include "varve/slice.h"

#include "memtable/entry.h"
#include "util/iter/internal_iterator.h"

namespace varve {

// Appends the entry's value and its checksum of `bytes` bytes: 1, 2, 4 or 8.
void AppendProtected(const MemTableEntry& entry, size_t bytes, std::string* value);

// Returns an iterator over the entries of `walk`, whose values were made by AppendProtected; it
// shows the original values. At a damaged entry it ends with Corruption, until the next seek.
std::unique_ptr<InternalIterator> NewProtectedIterator(std::unique_ptr<InternalIterator> walk,
                                                       size_t bytes);

}  // namespace varve
