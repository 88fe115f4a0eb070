// SPDX-License-Identifier: Apache-2.0
#include "db/ingest/memtable_overlap.h"

namespace varve {

Status MarkOverlapped(const MemTable& mem, const InternalKeyComparator& icmp,
                      std::vector<TableToPlace>* tables, bool* any) {
  if (mem.entry_count() == 0) return Status::OK();
  const auto tombstones = mem.RangeTombstones();
  const auto it = mem.NewIterator();
  for (TableToPlace& table : *tables) {
    const KeyRange& range = table.range;
    bool overlapped = false;
    for (const auto& list : tombstones) {
      overlapped |= list->CoversAnyOf(&range.smallest, &range.largest);
    }
    if (!overlapped) {
      it->Seek(icmp.FirstInternalKey(range.smallest).Encode());
      if (!it->status().ok()) return it->status();
      overlapped = it->Valid() && icmp.CompareKey(icmp.KeyOf(it->key()), range.largest) <= 0;
    }
    table.in_memory |= overlapped;
    *any |= overlapped;
  }
  return Status::OK();
}

}  // namespace varve
