// SPDX-License-Identifier: Apache-2.0
#include "db/ingest/memtable_overlap.h"

#include "util/base/canary.h"

namespace varve {

// Walks the tables in key order: the entry found for one also shows that the range of each later
// table before that key is empty. So one search suffices in a memtable with no entries near them,
// however many tables there are.
Status MarkOverlapped(const MemTable& mem, const InternalKeyComparator& icmp, TablesToPlace* tables,
                      bool* any) {
  if (mem.entry_count() == 0 || VARVE_CANARY(kIngestBelowMemTables)) return Status::OK();
  const auto tombstones = mem.RangeTombstones();
  const auto it = mem.NewIterator();
  bool sought = false;
  for (const size_t i : tables->in_key_order) {
    TableToPlace& table = tables->tables[i];
    const KeyRange& range = table.range;
    bool overlapped = false;
    for (const auto& list : tombstones) {
      overlapped |= list->CoversAnyOf(&range.smallest, &range.largest);
    }
    const bool behind =
        sought && it->Valid() && icmp.CompareKey(icmp.KeyOf(it->key()), range.smallest) < 0;
    if (!overlapped && (!sought || behind)) {
      it->Seek(icmp.FirstInternalKey(range.smallest).Encode());
      if (!it->status().ok()) return it->status();
      sought = true;
    }
    if (!overlapped && it->Valid()) {
      overlapped = icmp.CompareKey(icmp.KeyOf(it->key()), range.largest) <= 0;
    }
    table.in_memory |= overlapped;
    *any |= overlapped;
  }
  return Status::OK();
}

}  // namespace varve
