// SPDX-License-Identifier: Apache-2.0
#pragma once

// Finds out whether a memtable has entries in the key ranges of tables.

#include <vector>

#include "varve/status.h"

#include "db/ingest/placement.h"
#include "memtable/memtable.h"

namespace varve {

// Sets `in_memory` of each table in whose range the memtable has an entry or a range tombstone, of
// any age. Sets *any to true if there is such a table, and leaves it otherwise. A memtable whose
// representation is sorted lazily gets sorted.
Status MarkOverlapped(const MemTable& mem, const InternalKeyComparator& icmp, TablesToPlace* tables,
                      bool* any);

}  // namespace varve
