// SPDX-License-Identifier: Apache-2.0
#include "db/ingest/memtable_overlap.h"

#include "util/base/canary.h"

namespace varve {

// Visits the tables in key order. The entry that a seek finds for one table also shows that the
// ranges of later tables before that entry's key are empty, so a memtable without entries near the
// tables costs only one seek.
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
