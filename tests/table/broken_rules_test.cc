// SPDX-License-Identifier: Apache-2.0

// Goal: each rule of the room that a caller inside the engine can break is seen when it is broken.
// Method: a table of ways to break one, each in a process of its own, with the rule that is named.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "table/block/data_block_cursor.h"
#include "table/cache/clock_cache.h"
#include "table/cache/handle_guard.h"
#include "table/index/prefix_blocks.h"
#include "table/iterator/heap.h"
#include "table/iterator/merging_iterator.h"
#include "table/meta/metaindex_builder.h"
#include "table/reader/block_pins.h"
#include "table/reader/probe_batch.h"
#include "tests/table/table_file.h"
#include "tests/table/table_harness.h"
#include "util/base/assert.h"

namespace varve {
namespace {

using test::IKey;

struct Breach {
  const char* rule;  // the rule as it is printed
  void (*commit)();
};

void RunBreaches(const std::vector<Breach>& breaches) {
  if (!kAssertions) GTEST_SKIP() << "assertions are off";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const Breach& breach : breaches) {
    const std::string said = std::string("broken: ") + breach.rule;
    EXPECT_DEATH(breach.commit(), ::testing::HasSubstr(said)) << breach.rule;
  }
}

// ---- cache

constexpr Cache::CacheItemHelper kHelper(CacheEntryRole::kMisc);

std::unique_ptr<ClockCache> MakeCache() {
  LRUCacheOptions options;
  options.capacity = 1 << 20;
  return std::make_unique<ClockCache>(options, 0);
}

// Returns an entry with a reference that the caller owns.
CacheEntry* Referenced(ClockCache* cache) {
  Cache::Handle* handle = nullptr;
  EXPECT_TRUE(cache->Insert("key", nullptr, &kHelper, 1, &handle, Cache::Priority::LOW).ok());
  return reinterpret_cast<CacheEntry*>(handle);
}

Cache::Handle* HandleOf(CacheEntry* entry) {
  return reinterpret_cast<Cache::Handle*>(entry);
}

// A shard outside of a cache; its entries stay for ever.
struct LooseShard {
  LooseShard() : shards(*new CacheShards(1, CacheShardOptions(), nullptr)) {
    CacheShardOptions options;
    options.capacity = 1 << 20;
    shard.Init(options, &shards, &waiting, 1);
  }
  StandaloneEntry* NewEntry() {
    auto* const entry = new StandaloneEntry;
    entry->helper = &kHelper;
    entry->charge = 1;
    entry->SetKey("key");
    return entry;
  }
  // Refers to the entry's slot.
  StandaloneEntry* Add() {
    StandaloneEntry* const entry = NewEntry();
    entry->embedded = 1;
    EXPECT_TRUE(shard.Insert(entry, &slot, /*want_handle=*/true).ok());
    return entry;
  }

  CacheShards& shards;
  CacheWaiting waiting;
  BlockSlot slot{nullptr};
  CacheShard shard;
};

const std::vector<Breach> kOfCache = {
    {"key_size == 0",
     [] {
       StandaloneEntry entry;
       entry.SetKey("a");
       entry.SetKey("b");
     }},
    {"std::has_single_bit(count)", [] { new CacheShards(3, CacheShardOptions(), nullptr); }},
    {"i < count_", [] { (void)(*new CacheShards(1, CacheShardOptions(), nullptr))[1].usage(); }},
    // More references are given up than were taken.
    {"(now & CacheEntry::kRefs) != 0",
     [] {
       const auto cache = MakeCache();
       CacheEntry* const entry = Referenced(cache.get());
       cache->Release(HandleOf(entry), false);
       cache->Release(HandleOf(entry), false);
     }},
    {"(now & CacheEntry::kRefs) != 0",
     [] {
       const auto cache = MakeCache();
       CacheEntry* const entry = Referenced(cache.get());
       cache->Release(HandleOf(entry), false);
       cache->Release(HandleOf(entry), true);
     }},
    {"(before & CacheEntry::kRefs) != 0",
     [] {
       const auto cache = MakeCache();
       CacheEntry* const entry = Referenced(cache.get());
       cache->Release(HandleOf(entry), false);
       cache->Ref(HandleOf(entry));
     }},
    {"(entry->state.load(std::memory_order_relaxed) & CacheEntry::kRefs) != 0",
     [] {
       const auto cache = MakeCache();
       CacheEntry* const entry = Referenced(cache.get());
       cache->Release(HandleOf(entry), false);
       BlockSlot slot{nullptr};
       cache->Attach(HandleOf(entry), &slot);
     }},
    {"Epoch::Inside()",
     [] {
       const auto cache = MakeCache();
       Cache::Handle* handle = nullptr;
       (void)ClockCache::TryRef(Referenced(cache.get()), &handle);
     }},
    {"reinterpret_cast<uintptr_t>(entry) % alignof(CacheEntry) == 0",
     [] {
       const auto cache = MakeCache();
       alignas(64) static char memory[128];
       Cache::Handle* handle = nullptr;
       (void)cache->InsertEmbedded(reinterpret_cast<CacheEntry*>(memory + 4), "key", nullptr,
                                   &handle);
     }},
    {"entry->state.load(std::memory_order_relaxed) == 0",
     [] {
       LooseShard loose;
       StandaloneEntry* const entry = loose.NewEntry();
       entry->state = 1;
       (void)loose.shard.Insert(entry, nullptr, false);
     }},
    {"slot == nullptr || entry->embedded != 0",
     [] {
       LooseShard loose;
       (void)loose.shard.Insert(loose.NewEntry(), &loose.slot, false);
     }},
    {"all_ == nullptr && all != nullptr",
     [] {
       LooseShard loose;
       loose.shard.Init(CacheShardOptions(), &loose.shards, &loose.waiting, 1);
     }},
    // Something is left in a shard that goes.
    {"table_.size() == 0 && usage() == 0",
     [] {
       LooseShard loose;
       loose.Add();
     }},
    // Another writer wrote to the slot of an entry.
    {"slot->load(std::memory_order_relaxed) == entry",
     [] {
       LooseShard loose;
       loose.Add();
       loose.slot = nullptr;
       loose.shard.TakeSlotsBack();
     }},
    {"!entry->removed()",
     [] {
       LooseShard loose;
       StandaloneEntry* const entry = loose.Add();
       loose.shard.Drop(entry, &loose.slot);
       loose.shard.Drop(entry, nullptr);
     }},
    {"(entry->state.load(std::memory_order_relaxed) & CacheEntry::kRefs) == 0",
     [] {
       LooseShard loose;
       loose.shard.FreeAll(loose.Add());
     }},
    {"owner_ == nullptr && owner != nullptr",
     [] {
       CacheTable table;
       table.Init(0, nullptr);
     }},
    {"Epoch::Inside()",
     [] {
       Mutex owner;
       CacheTable table;
       table.Init(0, &owner);
       StandaloneEntry entry;
       bool hides = false;
       (void)table.Push(&entry, &hides);
     }},
    {"e != nullptr && e != &closed_",
     [] {
       Mutex owner;
       CacheTable table;
       table.Init(0, &owner);
       const MutexLock lock(&owner);
       StandaloneEntry entry;
       table.Unlink(&entry);
     }},
    {"kind < 128", [] { (void)BlockCacheKeyBase().ForBlock(128, 0); }},
    {"object_ != nullptr", [] { (void)HandleGuard<Block>()->restart_count(); }},
    {"object_ != nullptr", [] { (void)*HandleGuard<Block>(); }},
    {"shareable()",
     [] {
       Cleanable pin;
       HandleGuard<Block>().Share(&pin);
     }},
};

TEST(BrokenRulesDeathTest, OfTheCache) {
  RunBreaches(kOfCache);
}

// Debug builds know who holds the lock that the owner of a table has.
TEST(BrokenRulesDeathTest, OnlyTheOwnerTakesEntriesOutOfATable) {
  if (!kAssertions) GTEST_SKIP() << "assertions are off";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  Mutex owner;
  CacheTable table;
  table.Init(0, &owner);
  StandaloneEntry entry;
  EXPECT_DEATH(table.Unlink(&entry), "required but not held");
  EXPECT_DEATH((void)table.HiddenBy(&entry), "required but not held");
  EXPECT_DEATH(table.Grow(), "required but not held");
  EXPECT_DEATH(table.FreeOld(0), "required but not held");
  EXPECT_DEATH(table.ForEach([](CacheEntry*) {}), "required but not held");
  EXPECT_DEATH(table.ForBucket(0, [](CacheEntry*) {}), "required but not held");
}

// ---- blocks

std::shared_ptr<const Block> SomeBlock() {
  BlockBuilder builder(BlockBuilder::Options{});
  for (const char* key : {"a", "ab", "b"}) builder.Add(IKey(key, 1), "value");
  const Slice bytes = builder.Finish();
  BlockContents contents;
  contents.buffer = AllocateBlockBuffer(bytes.size(), BlockRoom());
  memcpy(contents.buffer.get(), bytes.data(), bytes.size());
  contents.data = Slice(contents.buffer.get(), bytes.size());
  std::unique_ptr<Block> block;
  EXPECT_TRUE(Block::Create(std::move(contents), "test", &block).ok());
  return std::shared_ptr<const Block>(std::move(block));
}

// A cursor of it, wherever a test wants to have it.
struct SomeCursor {
  SomeCursor() { cursor.Init(block.get(), &test::Bytewise(), kMaxSequenceNumber); }
  const std::shared_ptr<const Block> block = SomeBlock();
  DataBlockCursor cursor;
  BatchEntry run[4];
};

const std::vector<Breach> kOfBlocks = {
    {"i < restart_count_", [] { (void)SomeBlock()->RestartOffset(7); }},
    {"i < index_.size()",
     [] {
       BlockEntryHeader header;
       (void)SomeBlock()->IndexedEntry(0, &header);
     }},
    {"room == BlockRoom{room.allocator}",
     [] {
       BlockContents contents;
       contents.buffer = AllocateBlockBuffer(64, BlockRoom{.front = 64});
       contents.data = Slice(contents.buffer.get(), 12);
       memset(contents.buffer.get(), 0, 64);
       contents.buffer.get()[8] = 1;  // one restart point, at 0
       std::unique_ptr<Block> block;
       (void)Block::Create(std::move(contents), "test", &block);
     }},
    {"piece.front % kFrontUnit == 0",
     [] {
       Block::Piece piece;
       piece.front = 8;
       std::unique_ptr<Block> block;
       (void)Block::CreateInOnePiece(BlockContents(), piece, "test", &block);
     }},
    {"shared == SharedWithLast(key)",
     [] {
       BlockBuilder builder(BlockBuilder::Options{});
       builder.Add("abc", "");
       builder.Add("abd", "", 1);
     }},
    {"block != nullptr && icmp != nullptr",
     [] { DataBlockCursor().Init(nullptr, &test::Bytewise(), kMaxSequenceNumber); }},
    {"restart < block_->restart_count()", [] { SomeCursor().cursor.SeekToRestart(1); }},
    {"valid_", [] { SomeCursor().cursor.Next(); }},
    {"valid_", [] { SomeCursor().cursor.Prev(); }},
    {"current_ >= block_->entries_begin() && current_ < limit_",
     [] { (void)SomeCursor().cursor.entry_offset(); }},
    {"valid_ && max > 0",
     [] {
       SomeCursor some;
       some.cursor.NextBatch(some.run, 4);
     }},
    {"valid_ && max > 0",
     [] {
       SomeCursor some;
       some.cursor.SeekToFirst();
       some.cursor.NextBatch(some.run, 0);
     }},
    {"i < size()", [] { (void)EntryIndex().offset(0); }},
    {"size() != 0",
     [] {
       uint32_t begin = 0;
       uint32_t end = 0;
       EntryIndex().Find("key", &begin, &end);
     }},
    {"size() == 0 && tail_bytes <= kTailBytesMax", [] { EntryIndex().Await(17); }},
    {"size_ > 0 && index->size() == 0",
     [] {
       EntryIndex index;
       std::make_unique<EntryIndexBuilder>()->Write(&index);
     }},
    {"room.allocator == nullptr || !room.huge_pages",
     [] {
       char bytes[8];
       BlockBufferDeleter{BlockRoom{reinterpret_cast<MemoryAllocator*>(bytes), 0, true}, 8}(bytes);
     }},
};

TEST(BrokenRulesDeathTest, OfBlocks) {
  RunBreaches(kOfBlocks);
}

// ---- filters, indexes, and what else is built

std::unique_ptr<DecodedIndex> SomeIndex() {
  IndexBlockBuilder builder(1, false);
  builder.Add("k", BlockHandle{0, 95});
  std::unique_ptr<DecodedIndex> index;
  IndexForm form;
  form.user_keys = true;
  EXPECT_TRUE(
      DecodedIndex::Decode(builder.Finish(), form, test::Bytewise(), 1000, "test", &index).ok());
  return index;
}

const std::vector<Breach> kOfBuilding = {
    {"blocks > 0 && segments >= blocks", [] { RibbonLayout(3, 2); }},
    {"block < blocks_", [] { (void)RibbonLayout(3, 3).ColumnsOf(3); }},
    {"is_partitioned() || partitions_.empty()",
     [] {
       FilterBuilder builder{FilterBuilder::Options()};
       builder.Add("key");
       (void)builder.Finish("key");
       (void)builder.Finish("key");
     }},
    {"i < size()", [] { (void)SomeIndex()->handle(1); }},
    {"i < size()", [] { (void)SomeIndex()->separator(1); }},
    {"i < size()", [] { (void)SomeIndex()->slot(1); }},
    {"slots_.empty() && cache != nullptr",
     [] {
       const auto cache = MakeCache();
       const auto index = SomeIndex();
       index->MakeSlots(cache.get());
       index->MakeSlots(cache.get());
     }},
    {"targets.size() <= kSoughtMax",
     [] {
       const std::vector<Slice> targets(33);
       size_t places[33];
       SomeIndex()->Seek(test::Bytewise(), targets, places);
     }},
    {"built_", [] { (void)SeparatorPrefixes().Find("key"); }},
    {"built_", [] { (void)SeparatorPrefixes().MayBe(0, "key"); }},
    {"built_ && keys.size() <= kSoughtMax",
     [] {
       const Slice key("key");
       SeparatorPrefixes::Range range;
       SeparatorPrefixes().Find({&key, 1}, &range);
     }},
    {"i < size_",
     [] {
       StaticBTree tree;
       tree.Build({1, 2});
       (void)tree.word(2);
     }},
    {"std::is_sorted",
     [] {
       StaticBTree().Build({2, 1});
     }},
    {"handles_.empty() || handle.offset >= handles_.back().end()",
     [] {
       IndexBuilder builder{IndexBuilder::Options()};
       builder.AddHandle({0, 95});
       builder.AddHandle({99, 95});
     }},
    {"block + 1 >= first_block_ + block_count_",
     [] {
       const std::unique_ptr<const SliceTransform> prefix(NewFixedPrefixTransform(1));
       PrefixBlocks blocks(prefix.get());
       blocks.Add("a", 5);
       blocks.Add("a", 6);
       blocks.Add("a", 5);
     }},
    {"std::has_single_bit(alignment)",
     [] {
       std::string file;
       WritableFileWriter writer(std::make_unique<test::StringFile>(&file), "test.sst",
                                 WritableFileWriter::Options());
       (void)BlockWriter(BlockWriter::Options(), &writer).PadTo(3);
     }},
    {"entries_.count(name) == 0",
     [] {
       MetaindexBuilder builder;
       builder.Add("name", {0, 1});
       builder.Add("name", {6, 1});
     }},
};

TEST(BrokenRulesDeathTest, OfFiltersIndexesAndBuilders) {
  RunBreaches(kOfBuilding);
}

TEST(BrokenRulesDeathTest, MoreProbesThanAVectorHas) {
  if (!kAssertions || !HasVectorProbe()) GTEST_SKIP() << "no assertions, or no vectors";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char line[kFilterLineBytes] = {};
  EXPECT_DEATH((void)LineMatchesByVector(line, 0, kVectorProbes + 1), "broken: probes >= 1");
}

// ---- readers and walks

// An open table of a few keys.
struct SomeTable {
  SomeTable() {
    BlockTableBuildOptions build;
    build.icmp = &test::Bytewise();
    test::BuiltTable built(build);
    for (const char* key : {"a", "b", "c"}) built.builder->Add(IKey(key, 1), "value");
    EXPECT_TRUE(built.Finish().ok());
    open.options.table.block_cache = NewLRUCache(1 << 20);
    EXPECT_TRUE(open.Open(built.file).ok());
    walk = open.reader->NewIterator(read, TableIterOptions());
  }
  const BlockTableParts& parts() const {
    return static_cast<const BlockTableReader&>(*open.reader).parts();
  }

  const ReadOptions read;
  test::OpenTable open;
  std::unique_ptr<InternalIterator> walk;
  BatchEntry run[4];
};

struct Earlier {
  bool operator()(int a, int b) const { return a < b; }
};

const std::vector<Breach> kOfReading = {
    {"valid_", [] { SomeTable().walk->Next(); }},
    {"valid_", [] { SomeTable().walk->Prev(); }},
    {"valid_ && max > 0",
     [] {
       SomeTable some;
       some.walk->SeekToFirst();
       some.walk->NextBatch(some.run, 0);
     }},
    {"valid_ && max > 0",
     [] {
       SomeTable some;
       some.walk->PrevBatch(some.run, 4);
     }},
    {"block_.get() != nullptr",
     [] {
       Cleanable pin;
       SomeTable().walk->PinValue(&pin);
     }},
    {"Valid()",
     [] {
       IndexCursor cursor;
       (void)cursor.handle();
     }},
    {"Valid()",
     [] {
       IndexCursor cursor;
       (void)cursor.slot();
     }},
    {"Valid()",
     [] {
       IndexCursor cursor;
       cursor.Next();
     }},
    {"Valid()",
     [] {
       IndexCursor cursor;
       cursor.Prev();
     }},
    {"Epoch::Inside()",
     [] {
       SomeTable some;
       CacheEntry* entry = nullptr;
       const BlockSlot slot{nullptr};
       (void)some.parts().store->Peek(slot, &entry);
     }},
    {"Epoch::Inside()",
     [] {
       StandaloneEntry entry;
       SlotPin(nullptr, &entry).Renew();
     }},
    {"held_->get() != nullptr",
     [] {
       HandleGuard<Block> none;
       GuardedBlockPin pin(&none);
     }},
    {"probes.size() <= kProbesMax",
     [] {
       const SomeTable some;
       PointLookup lookup("a", 1, nullptr);
       const std::vector<TableProbe> probes(33, TableProbe{some.open.reader.get(), &lookup});
       MultiGetFromTables(some.read, probes);
     }},
    {"first == kNotSought || first <= index.size()",
     [] {
       const SomeTable some;
       PointLookup lookup("a", 1, nullptr);
       (void)some.open.reader->Get(some.read, &lookup, TableHint{some.open.reader.get(), 9});
     }},
    {"!items_.empty()", [] { (void)ReplaceTopHeap<int, Earlier>(Earlier()).top(); }},
    {"!items_.empty()", [] { ReplaceTopHeap<int, Earlier>(Earlier()).Pop(); }},
    {"valid_",
     [] {
       std::vector<std::unique_ptr<InternalIterator>> children;
       children.push_back(NewEmptyInternalIterator());
       children.push_back(NewEmptyInternalIterator());
       Cleanable pin;
       NewMergingIterator(&test::Bytewise(), std::move(children))->PinValue(&pin);
     }},
    {"valid_ && forward_",
     [] {
       std::vector<std::unique_ptr<InternalIterator>> children;
       children.push_back(NewEmptyInternalIterator());
       children.push_back(NewEmptyInternalIterator());
       NewMergingIterator(&test::Bytewise(), std::move(children))->Prev();
     }},
};

TEST(BrokenRulesDeathTest, OfReadersAndWalks) {
  RunBreaches(kOfReading);
}

}  // namespace
}  // namespace varve
