// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/memory_table.h"

#include "varve/cache.h"
#include "varve/slice_transform.h"

#include "tests/fuzz/target.h"
#include "tests/table/table_harness.h"

namespace varve::fuzz {

namespace {

void Configure(const TableUse& use, test::OpenTable* table) {
  table->mapped = use.mapped;
  table->options.table.no_block_cache = !use.cached;
  if (use.cached) {
    table->options.table.block_cache = NewLRUCache(1 << 20, 0);
    table->options.table.cache_index_and_filter_blocks = true;
  }
  if (use.prefixes) table->options.prefix_extractor.reset(NewFixedPrefixTransform(3));
}

// Returns keys to look for, which the walk met.
Seeds Walk(const TableReader& reader, bool forward, size_t most, uint64_t* count) {
  ReadOptions read;
  const std::unique_ptr<InternalIterator> it = reader.NewIterator(read, TableIterOptions());
  Seeds keys;
  *count = 0;
  for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid() && *count < most;
       forward ? it->Next() : it->Prev()) {
    if (++*count % 16 == 1 && keys.size() < 8) keys.push_back(it->key().ToString());
  }
  Note(it->status());
  if (!it->status().ok()) *count = UINT64_MAX;
  for (const std::string& key : keys) {
    it->Seek(key);
    it->SeekForPrev(key);
  }
  return keys;
}

void Look(const test::OpenTable& table, const Slice& internal_key) {
  const size_t ts_size = table.icmp.timestamp_size();
  if (internal_key.size() < 8 + ts_size) return;
  const Slice user_key(internal_key.data(), internal_key.size() - 8 - ts_size);
  const std::string newest(ts_size, '\xff');
  PinnableSlice value;
  const ReadTimestamp as_of = ts_size == 0 ? ReadTimestamp() : ReadTimestamp{&table.icmp, newest};
  PointLookup lookup(user_key, kMaxSequenceNumber, &value, nullptr, as_of);
  TableHint hint;
  table.reader->PrefetchSpeculatively(lookup, &hint);
  (void)table.reader->KeyMayMatch(ReadOptions(), lookup);
  Note(table.reader->Get(ReadOptions(), &lookup, hint));
  (void)table.reader->ApproximateOffsetOf(ReadOptions(), internal_key);
}

}  // namespace

void UseTable(const std::string& file, const TableUse& use, size_t entries_most) {
  test::OpenTable table(use.timestamps ? BytewiseComparatorWithU64Ts() : BytewiseComparator());
  Configure(use, &table);
  const Status s = table.Open(file);
  Note(s);
  if (!s.ok()) return;
  uint64_t forward = 0;
  uint64_t backward = 0;
  const Seeds keys = Walk(*table.reader, true, entries_most, &forward);
  Walk(*table.reader, false, entries_most, &backward);
  Note(forward);
  for (const std::string& key : keys) Look(table, key);
  std::string absent;
  AppendInternalKey(&absent, "no such key of any table", 7, kTypeValue);
  Look(table, absent);
  if (table.reader->tombstones() != nullptr) {
    const FragmentedTombstones& tombstones = *table.reader->tombstones();
    for (size_t i = 0; i < tombstones.size(); i++) {
      const FragmentedTombstones::Fragment fragment = tombstones.fragment(i);
      Promise(tombstones.MaxCoveringSeq(fragment.start, kMaxSequenceNumber) ==
                  (use.timestamps ? 0 : fragment.newest),
              "a fragment covers its start");
    }
  }
  Note(table.reader->VerifyChecksum(ReadOptions()));
}

}  // namespace varve::fuzz
