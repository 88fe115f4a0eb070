// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds whether a memtable has entries in ranges of keys.

#include <vector>

#include "varve/status.h"

#include "db/ingest/placement.h"
#include "memtable/memtable.h"

namespace varve {

// Marks the tables in whose range the memtable has an entry, or a range tombstone, of any age. Sets
// *any, which may be set already, if there is one. Sorts a memtable that is sorted by reads.
Status MarkOverlapped(const MemTable& mem, const InternalKeyComparator& icmp, TablesToPlace* tables,
                      bool* any);

}  // namespace varve
