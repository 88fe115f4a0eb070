// SPDX-License-Identifier: Apache-2.0

// Goal: with block_protection_bytes_per_key a read never shows what memory made of a cached block,
// and says that it met it. Method: bytes of cached blocks are changed under reads of each kind,
// over caches of ours and of programs.

#include <gtest/gtest.h>

#include <array>

#include "varve/cache.h"
#include "varve/statistics.h"
#include "varve/table.h"

#include "table/block/block.h"
#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class BlockProtectionTest : public Database {
 protected:
  void OpenWith(uint8_t protection) {
    options_.block_protection_bytes_per_key = protection;
    options_.statistics = CreateDBStatistics();
    BlockBasedTableOptions table;
    cache_ = NewLRUCache(8 << 20, 0);
    table.block_cache = cache_;
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    Open();
    MakeTable({"a", "b", "c"});
    EXPECT_EQ(Get("b"), "of b");
  }
  // Replaces "of" by "or" in each data block of the cache.
  void Spoil() {
    size_t blocks = 0;
    cache_->ApplyToAllEntries(
        [&](const Slice&, Cache::ObjectPtr object, size_t, const Cache::CacheItemHelper* helper) {
          if (helper->role != CacheEntryRole::kDataBlock) return;
          const auto* const block = static_cast<const Block*>(object);
          for (auto* p = const_cast<char*>(block->entries_begin()); p < block->entries_end(); p++) {
            if (*p == 'f') *p = 'r';
          }
          blocks++;
        });
    EXPECT_EQ(blocks, 1u);
  }
  uint64_t Met() { return options_.statistics->getTickerCount(BLOCK_CHECKSUM_MISMATCH_COUNT); }

  std::shared_ptr<Cache> cache_;
};

TEST_F(BlockProtectionTest, ReadsOfEachKindReadADamagedBlockAgain) {
  for (const uint8_t bytes : {1, 2, 4, 8}) {
    OpenWith(bytes);
    uint64_t met = 0;
    const auto spoil = [&] {
      EXPECT_EQ(Met(), met++);
      Spoil();
    };
    spoil();
    EXPECT_EQ(Get("b"), "of b");
    spoil();
    EXPECT_EQ(Scan(), "a=of a b=of b c=of c");
    spoil();
    const std::array<Slice, 2> keys = {"a", "c"};
    std::array<PinnableSlice, 2> values;
    std::array<Status, 2> statuses;
    db()->MultiGet(ReadOptions(), db()->DefaultColumnFamily(), 2, keys.data(), values.data(),
                   statuses.data());
    EXPECT_EQ(values[0].ToString() + values[1].ToString(), "of aof c");
    EXPECT_EQ(Met(), met);
    EXPECT_EQ(Get("a"), "of a");
    EXPECT_EQ(Met(), met) << "it was read once";
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(BlockProtectionTest, NothingIsComparedWithoutIt) {
  OpenWith(0);
  Spoil();
  EXPECT_EQ(Get("b"), "or b");
  EXPECT_EQ(Met(), 0u);
}

TEST_F(BlockProtectionTest, OfAReaderThatHasADamagedBlockNothingIsTaken) {
  OpenWith(8);
  const std::unique_ptr<Iterator> it(db()->NewIterator(ReadOptions()));
  it->SeekToFirst();
  Spoil();
  EXPECT_EQ(Get("c"), "of c");
  it->Next();
  EXPECT_TRUE(it->Valid()) << "what it sees is not said";
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid() && it->status().ok());
}

}  // namespace
}  // namespace varve::testing
