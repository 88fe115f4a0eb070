// SPDX-License-Identifier: Apache-2.0

// Looks up several keys in several tables at once, for MultiGet. A single look-up mostly waits for
// memory: it touches a filter line, an index node, a slot, a block, each of which depends on the
// one before. So the steps are done for all keys in turn, and each step prefetches what the next
// one needs:
//
//    MakeGroups     keys by table; prefetch: filter lines
//    AskFilters     drop keys that a filter excludes
//    SearchIndexes  all keys of a table by one descent; prefetch: slots
//    SearchInPlace  blocks whose slots are set, within one epoch and without references
//    SearchHeld     the rest: referenced blocks, read together from the files where missing
//
// Invariants:
//
// 1. The keys of a group are neighbours in probes_, so a block that several keys need is looked up
//    once.
// 2. A pointer that SearchInPlace took from a slot (Key::block, Key::entry) is used only within its
//    epoch. What is found is copied into the look-up, or pinned, before the epoch ends.
// 3. A key leaves keys_ when its look-up is over in this table; no later step sees it.
// 4. An error concerns the keys that needed the block, and no others.
// 5. MemoryLimit of a strict cache, which had no room for all blocks at once, is not an error of a
//    key: such keys are searched again, one by one.
//
// Versions of a key may continue in the next block: GoOn reads on from there, key by key, as that
// is rare.

#include "table/reader/probe_batch.h"

#include <cstdint>
#include <utility>

#include "table/block/point_search.h"
#include "table/reader/block_pins.h"
#include "table/reader/block_reads.h"
#include "table/reader/block_table_reader.h"
#include "util/base/assert.h"
#include "util/mem/bounded_array.h"
#include "util/mem/prefetch.h"
#include "util/metrics/perf_counters.h"
#include "util/metrics/statistics.h"
#include "util/sync/epoch.h"

namespace varve {

namespace {

static_assert(kProbesMax <= DecodedIndex::kSoughtMax);

class ProbeBatch {
 public:
  ProbeBatch(const ReadOptions& options, std::span<const TableProbe> probes) : probes_(probes) {
    VARVE_ASSERT(probes.size() <= kProbesMax);
    context_.options = &options;
    context_.fill_cache = options.fill_cache;
    context_.activity = Env::IOActivity::kMultiGet;
    context_.meta_reads = &reads_.meta_blocks;
  }

  ProbeReads Run() {
    MakeGroups();
    AskFilters();
    SearchIndexes();
    SearchInPlace();
    if (!keys_.empty()) [[unlikely]] {
      SearchHeld();
    }
    // Undoes what MakeGroups has done to the lookups of these tables.
    for (const Group& group : groups_) {
      if (group.table->lacks_timestamps()) [[unlikely]] {
        ForEachLookup(group, &PointLookup::LeaveKeysWithoutTimestamp);
      }
    }
    return reads_;
  }

 private:
  // Holds the probes of one table.
  struct Group {
    const BlockTableReader* table;
    size_t begin;
    size_t end;
    HandleGuard<FilterBlock> filter;
    HandleGuard<DecodedIndex> index;

    [[nodiscard]] const BlockTableParts& parts() const { return table->parts(); }
    [[nodiscard]] const BlockStore& store() const { return *table->parts().store; }
  };
  // A data block that one or more keys need.
  struct Wanted {
    const Group* group;
    size_t pos;  // position in the index
    HandleGuard<Block> held;
    Status status;

    [[nodiscard]] BlockHandle handle() const { return group->index->handle(pos); }
    [[nodiscard]] BlockSlot* slot() const { return group->index->slot(pos); }
  };
  // A probe that has passed its filter.
  struct Key {
    PointLookup* lookup;
    Group* group;
    size_t pos = 0;  // position of the block in the index
    // Valid only within the epoch.
    const Block* block = nullptr;
    CacheEntry* entry = nullptr;
    size_t wanted = 0;     // index into wanted_
    bool matched = false;  // true: an entry of the key was met
    bool over = false;     // true: the table needs no further search

    [[nodiscard]] BlockSlot* slot() const { return group->index->slot(pos); }
  };

  void ForEachLookup(const Group& group, void (PointLookup::*act)()) const {
    for (size_t i = group.begin; i < group.end; i++) (probes_[i].lookup->*act)();
  }
  void MakeGroups();
  void AskFilters();
  void AskFilter(Group* group);
  void SearchIndexes();
  bool SearchIndex(Group* group, std::span<Key> keys);
  void SearchInPlace();
  void FindInPlace();
  void SearchHeld();
  void HoldBlocks();
  void ReadMissing();
  // The missing blocks of one table.
  struct TableBlocks {
    const BlockStore* store;
    std::span<Wanted*> blocks;
    BlockReads* reads;  // null if they are read one by one
  };
  // Chooses the tables whose blocks are read together, and reads them.
  void ReadTogether(std::span<TableBlocks> tables, BoundedArray<BlockReads, kProbesMax>* reads);
  // Holds the table's blocks for the search: takes what ReadTogether has read, and reads the rest
  // one by one. The error of a block goes to its Wanted::status.
  void TakeBlocks(const TableBlocks& table);
  [[nodiscard]] bool MayRead() const { return context_.options->read_tier != kBlockCacheTier; }
  void Search(Key* key, const Block& block, ValuePin* pin) const;
  void GoOn(Key* key, size_t pos) const;
  // Ends the key's search in this table; with an error its lookup fails.
  static void Conclude(Key* key, const Status& s);

  const std::span<const TableProbe> probes_;
  BlockReadContext context_;
  BoundedArray<Group, kProbesMax> groups_;
  BoundedArray<Key, kProbesMax> keys_;
  BoundedArray<Wanted, kProbesMax> wanted_;
  ProbeReads reads_;
};

// Probes of one table are neighbours. Tombstones are asked here, because they concern every key,
// and a filter's lines are prefetched for the next step.
void ProbeBatch::MakeGroups() {
  for (size_t begin = 0, end = 0; begin < probes_.size(); begin = end) {
    const TableReader* const any = probes_[begin].table;
    while (end < probes_.size() && probes_[end].table == any) end++;
    const auto* const table = static_cast<const BlockTableReader*>(any);
    Group& group = groups_.emplace_back(Group{table, begin, end, {}, {}});
    RecordInHistogram(group.store().statistics, SST_BATCH_SIZE, end - begin);
    if (table->lacks_timestamps()) [[unlikely]] {
      ForEachLookup(group, &PointLookup::EnterKeysWithoutTimestamp);
    }
    const FragmentedTombstones* const tombstones = group.parts().tombstones.get();
    if (tombstones != nullptr) {
      for (size_t i = begin; i < end; i++) probes_[i].lookup->CoverWith(*tombstones);
    }
    if (group.parts().filter == nullptr) continue;
    group.filter = group.parts().filter->ForHashes(context_);
    if (!group.filter) continue;
    for (size_t i = begin; i < end; i++) {
      group.filter->bits().Prefetch<CacheLevel::kSecond>(probes_[i].lookup->hash());
    }
  }
}

void ProbeBatch::AskFilters() {
  for (Group& group : groups_) {
    if (group.parts().filter != nullptr) {
      AskFilter(&group);
      continue;
    }
    for (size_t i = group.begin; i < group.end; i++) keys_.push_back({probes_[i].lookup, &group});
  }
}

// Adds those keys of the group to keys_ that the filter lets pass, and counts both kinds.
void ProbeBatch::AskFilter(Group* group) {
  const size_t before = keys_.size();
  for (size_t i = group->begin; i < group->end; i++) {
    PointLookup* const lookup = probes_[i].lookup;
    const bool may_match = group->filter ? group->filter->bits().MayMatch(lookup->hash())
                                         : group->parts().filter->KeyMayMatch(context_, *lookup);
    if (may_match) keys_.push_back({lookup, group});
  }
  const size_t passed = keys_.size() - before;
  const size_t stopped = group->end - group->begin - passed;
  AddPerfCount<&PerfContext::bloom_sst_miss_count>(stopped);
  AddPerfCount<&PerfContext::bloom_sst_hit_count>(passed);
  if (Statistics* const statistics = group->store().statistics; statistics != nullptr) {
    RecordTick(statistics, BLOOM_FILTER_USEFUL, stopped);
    RecordTick(statistics, BLOOM_FILTER_FULL_POSITIVE, passed);
  }
}

// Searches each group's index for all its keys together. Keys that are decided here, lie behind the
// last block, or whose index cannot be read leave keys_.
void ProbeBatch::SearchIndexes() {
  size_t left = 0;
  for (size_t begin = 0, end = 0; begin < keys_.size(); begin = end) {
    Group* const group = keys_[begin].group;
    while (end < keys_.size() && keys_[end].group == group) end++;
    const std::span<Key> keys = keys_.span().subspan(begin, end - begin);
    if (!SearchIndex(group, keys)) continue;
    for (const Key& key : keys) {
      if (key.pos < group->index->size()) keys_[left++] = key;
    }
  }
  keys_.truncate(left);
}

// Sets each key's position in the index, and prefetches its slot. Returns false if nothing is left
// to do for these keys: the index cannot be read, or has two levels, under which they are looked up
// here one by one, to the end.
bool ProbeBatch::SearchIndex(Group* group, std::span<Key> keys) {
  const IndexReader& reader = *group->parts().index;
  if (reader.two_level()) {
    for (Key& key : keys) {
      Conclude(&key, group->table->SearchBlocks(context_, key.lookup, &key.matched));
    }
    return false;
  }
  if (const Status s = reader.GetRoot(context_, &group->index); !s.ok()) {
    for (Key& key : keys) Conclude(&key, s);
    return false;
  }
  BoundedArray<Slice, kProbesMax> targets;
  size_t places[kProbesMax];
  for (const Key& key : keys) targets.push_back(key.lookup->internal_key());
  group->index->Seek(*group->store().icmp, targets.span(), places);
  for (size_t i = 0; i < keys.size(); i++) {
    keys[i].pos = places[i];
    if (places[i] < group->index->size()) PrefetchLine<CacheLevel::kSecond>(keys[i].slot());
  }
  return true;
}

// Searches the blocks that slots refer to, without references: what is found is copied, or pinned,
// before the epoch is left.
void ProbeBatch::SearchInPlace() {
  for (const Key& key : keys_) {
    if (const BlockSlot* slot = key.slot(); slot != nullptr)
      BlockStore::Prefetch<CacheLevel::kSecond>(*slot);
  }
  {
    const Epoch::Guard guard;
    FindInPlace();
    for (Key& key : keys_) {
      if (key.block == nullptr) continue;
      SlotPin pin(key.group->store().slot_cache, key.entry);
      Search(&key, *key.block, &pin);
    }
  }
  // Keys without a block are left for SearchHeld, also those from which Search has taken it away.
  size_t left = 0;
  for (Key& key : keys_) {
    if (key.block == nullptr) {
      keys_[left++] = key;
    } else if (!key.over) {
      GoOn(&key, key.pos + 1);
    }
  }
  keys_.truncate(left);
}

// Sets each key's block from its slot; neighbours often need the same one. Keys whose slot is
// empty, or must not be used, keep a null block.
void ProbeBatch::FindInPlace() {
  const BlockSlot* last_slot = nullptr;
  const Key* last = nullptr;
  for (Key& key : keys_) {
    VARVE_ASSERT(Epoch::Inside());
    const BlockSlot* const slot = key.slot();
    if (slot == nullptr || !key.group->store().searches_in_place()) continue;
    if (slot == last_slot) {
      key.block = last->block;
      key.entry = last->entry;
    } else {
      key.block = key.group->store().Peek(*slot, &key.entry);
      last_slot = slot;
      last = &key;
    }
    if (key.block != nullptr) PrefetchEntry(*key.block, key.lookup->key());
  }
}

// Searches the blocks that need a reference, some of which have to be read first.
void ProbeBatch::SearchHeld() {
  HoldBlocks();
  BoundedArray<Key*, kProbesMax> without_room;
  for (Key& key : keys_) {
    VARVE_ASSERT(key.block == nullptr && !key.over);
    const Wanted& wanted = wanted_[key.wanted];
    if (wanted.status.IsMemoryLimit()) {
      without_room.push_back(&key);
      continue;
    }
    if (!wanted.held) {
      Conclude(&key, wanted.status);
      continue;
    }
    SharedBlockPin pin(&wanted.held);
    Search(&key, *wanted.held, &pin);
    if (!key.over) GoOn(&key, key.pos + 1);
  }
  if (without_room.empty()) return;
  // A cache with a strict limit may have room for one block but not for all.
  for (Wanted& wanted : wanted_) wanted.held.Reset();
  for (Key* key : without_room) GoOn(key, key->pos);
}

// Makes a list of the blocks that the remaining keys need, each once, and references those that the
// cache has; the others are read.
void ProbeBatch::HoldBlocks() {
  for (Key& key : keys_) {
    if (wanted_.empty() || wanted_.back().group != key.group || wanted_.back().pos != key.pos) {
      wanted_.emplace_back(Wanted{key.group, key.pos, {}, Status::OK()});
    }
    key.wanted = wanted_.size() - 1;
  }
  size_t missing = 0;
  for (Wanted& wanted : wanted_) {
    const BlockStore& store = wanted.group->store();
    missing += store.GetIfCached(wanted.handle(), wanted.slot(), &wanted.held) ? 0 : 1;
  }
  if (missing != 0) ReadMissing();
}

// Groups the missing blocks by table, reads those of all tables together if there are several, and
// then takes each from what was read, or reads it alone.
void ProbeBatch::ReadMissing() {
  BoundedArray<Wanted*, kProbesMax> missing;
  for (Wanted& wanted : wanted_) {
    if (!wanted.held) missing.push_back(&wanted);
  }
  BoundedArray<TableBlocks, kProbesMax> tables;
  for (size_t begin = 0, end = 0; begin < missing.size(); begin = end) {
    const Group* const group = missing[begin]->group;
    while (end < missing.size() && missing[end]->group == group) end++;
    tables.push_back({&group->store(), missing.span().subspan(begin, end - begin), nullptr});
  }
  BoundedArray<BlockReads, kProbesMax> reads;
  if (missing.size() > 1 && MayRead()) ReadTogether(tables.span(), &reads);
  for (const TableBlocks& table : tables) TakeBlocks(table);
}

// A table whose blocks cannot be read together, or need not be, keeps null `reads`; TakeBlocks then
// reads its blocks one by one. Errors are not looked at here: a block that was not read is read
// again there.
void ProbeBatch::ReadTogether(std::span<TableBlocks> tables,
                              BoundedArray<BlockReads, kProbesMax>* reads) {
  const bool async_io = context_.options->async_io;
  for (TableBlocks& table : tables) {
    const BlockStore& store = *table.store;
    const RandomAccessFileReader& file = *store.file.reader;
    const bool overlaps = file.overlaps(async_io);
    const bool asks_ahead = async_io && !overlaps;
    // A mapped file needs no reads. A single block is read alone if its read neither overlaps with
    // those of other files nor can be asked for ahead.
    const bool alone = table.blocks.size() == 1 && !overlaps && !asks_ahead;
    if (store.file.mapped || alone) continue;
    BlockFetch fetch = store.MakeFetch(context_);
    if (fetch.deadline.count() != 0 && !file.LimitTime(fetch.deadline, &fetch.io).ok()) continue;
    table.reads = &reads->emplace_back(file, fetch.io, store.RoomFor(context_));
    for (const Wanted* wanted : table.blocks) table.reads->Add(wanted->handle());
    // The first file is read while the transfers of the others are in progress.
    if (asks_ahead) table.reads->ReadAhead();
  }
  BlockReads::Run(reads->span(), async_io);
  for (const TableBlocks& table : tables) {
    if (table.reads == nullptr) continue;
    AddPerfCount<&PerfContext::block_read_count>(table.blocks.size());
    RecordInHistogram(table.store->statistics, MULTIGET_IO_BATCH_SIZE, table.reads->requests());
  }
}

void ProbeBatch::TakeBlocks(const TableBlocks& table) {
  for (Wanted* wanted : table.blocks) {
    BlockReadContext context = context_;
    BlockBuffer buffer;
    context.preread_buffer = &buffer;
    // A block that was not read here is read alone, and then reports its error.
    if (table.reads != nullptr) {
      (void)table.reads->Find(wanted->handle(), &context.preread, &context.preread_offset, &buffer);
    }
    wanted->status =
        table.store->GetMissing(wanted->handle(), wanted->slot(), context, &wanted->held);
  }
  if (!MayRead()) return;
  reads_.tables++;
  reads_.blocks += table.blocks.size();
}

// Searches the block for the key. key->over stays false if the next block may have more of its
// versions; key->block becomes null if the search has to be done again with a referenced block.
void ProbeBatch::Search(Key* key, const Block& block, ValuePin* pin) const {
  const BlockStore& store = key->group->store();
  const DecodedIndex& index = *key->group->index;
  PointLookup* const lookup = key->lookup;
  const BlockSearchResult result =
      SearchBlock(block, *store.icmp, key->group->parts().override_seq, lookup, pin, &key->matched);
  if (lookup->TakeDeferred()) [[unlikely]] {
    key->block = nullptr;  // as if it were not in the cache
    key->matched = false;
    return;
  }
  // If the separator is of another key, later blocks have only larger keys.
  if (result == BlockSearchResult::kEndOfBlock && key->pos + 1 < index.size() &&
      index.SeparatorIsOf(key->pos, lookup->key(), *store.icmp)) {
    return;
  }
  Conclude(key, result == BlockSearchResult::kCorrupt
                    ? MalformedEntry(store, index.handle(key->pos))
                    : Status::OK());
}

// Searches the blocks from `pos` on: the versions of a key may fill several.
void ProbeBatch::GoOn(Key* key, size_t pos) const {
  const DecodedIndex& index = *key->group->index;
  Status s;
  for (; s.ok() && !key->over && pos < index.size(); pos++) {
    s = key->group->table->SearchBlockAt(index, pos, context_, key->lookup, &key->matched,
                                         &key->over);
  }
  Conclude(key, s);
}

void ProbeBatch::Conclude(Key* key, const Status& s) {
  key->over = true;
  if (!s.ok()) [[unlikely]] {
    key->lookup->Fail(s);
  } else if (key->matched && key->group->parts().filter != nullptr) {
    RecordTick(key->group->store().statistics, BLOOM_FILTER_FULL_TRUE_POSITIVE);
  }
}

}  // namespace

ProbeReads MultiGetFromBlockTables(const ReadOptions& options, std::span<const TableProbe> probes) {
  return ProbeBatch(options, probes).Run();
}

}  // namespace varve
