// SPDX-License-Identifier: Apache-2.0

// Goal: what the options of a family say about memtables reaches them, and the dynamic ones reach
// the next memtable. Method: a filter and large blocks show in a memtable's size.

#include <gmock/gmock.h>

#include "varve/slice_transform.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

class MemTableOptionsTest : public Database {
 protected:
  MemTableOptionsTest() { options_.write_buffer_size = 8 << 20; }
  void Set(const std::string& name, const std::string& value) {
    const Status s = db()->SetOptions({{name, value}});
    ASSERT_TRUE(s.ok()) << s.ToString();
  }
  // Of a new memtable with a few blocks of data.
  uint64_t Size() {
    Put("first", "v");
    Flush();
    for (int i = 0; i < 1000; i++) Put(std::to_string(i), std::string(100, 'v'));
    return Number("rocksdb.cur-size-active-mem-table");
  }
};

TEST_F(MemTableOptionsTest, TheFilterIsAsLargeAsAskedAndOnlyWhereItHasKeys) {
  constexpr uint64_t kQuarter = 2 << 20;
  Open();
  const uint64_t plain = Size();
  EXPECT_LT(plain, kQuarter);
  Set("memtable_prefix_bloom_size_ratio", "0.25");
  EXPECT_LT(Size(), kQuarter) << "neither prefixes nor whole keys";
  Set("memtable_whole_key_filtering", "true");
  EXPECT_GE(Size(), plain + kQuarter / 2);
  EXPECT_EQ(Get("500"), std::string(100, 'v'));
  EXPECT_EQ(Get("absent"), "NOT_FOUND");
  Set("memtable_prefix_bloom_size_ratio", "0");
  EXPECT_LT(Size(), kQuarter);
  ASSERT_TRUE(Close().ok());
  options_.memtable_prefix_bloom_size_ratio = 0.25;
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  Open();
  EXPECT_GE(Size(), plain + kQuarter / 2);
  EXPECT_EQ(Get("500"), std::string(100, 'v'));
}

TEST_F(MemTableOptionsTest, BlocksAreAsLargeAsAsked) {
  options_.arena_block_size = 1 << 20;
  Open();
  const uint64_t large = Size();
  Set("arena_block_size", "4096");
  EXPECT_LT(Size(), large);
}

}  // namespace
}  // namespace varve::testing
