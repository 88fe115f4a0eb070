// SPDX-License-Identifier: Apache-2.0
#pragma once

// Whether a memtable has anything in ranges of keys.

#include <vector>

#include "varve/status.h"

#include "db/ingest/placement.h"
#include "memtable/memtable.h"

namespace varve {

// Marks the tables in whose range the memtable has an entry, or a range tombstone, of any age.
// *any, which may be set already, is set if there is one. A memtable that is sorted by reads is
// sorted here.
Status MarkOverlapped(const MemTable& mem, const InternalKeyComparator& icmp, TablesToPlace* tables,
                      bool* any);

}  // namespace varve
