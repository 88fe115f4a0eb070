// SPDX-License-Identifier: Apache-2.0

// Options of an open database change together or not at all.

#include "util/options/change_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace varve {
namespace {

TEST(ChangeOptionsTest, NamedOptionsChangeTogether) {
  ColumnFamilyOptions cf;
  const Status s = ChangeColumnFamilyOptions(DBOptions(), ColumnFamilyOptions(),
                                             {{"write_buffer_size", "1M"},
                                              {"compression_opts", "{level=7}"},
                                              {"disable_auto_compactions", "true"}},
                                             &cf);
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(cf.write_buffer_size, 1u << 20);
  EXPECT_EQ(cf.compression_opts.level, 7);
  EXPECT_TRUE(cf.disable_auto_compactions);

  DBOptions db;
  ASSERT_TRUE(ChangeDbOptions(DBOptions(), {{"max_background_jobs", "4"}}, &db).ok());
  EXPECT_EQ(db.max_background_jobs, 4);
}

TEST(ChangeOptionsTest, NothingChangesAfterAnError) {
  for (const OptionChanges& changes : std::vector<OptionChanges>{
           {},
           {{"write_buffer_size", "1M"}, {"num_levels", "3"}},
           {{"write_buffer_size", "1M"}, {"no_such_option", "3"}},
           {{"write_buffer_size", "1M"}, {"max_bytes_for_level_multiplier", "0"}},
           {{"write_buffer_size", "1M"}, {"compression", "kXpressCompression"}},
           {{"write_buffer_size", "1M"}, {"compression", "kNone"}},
           {{"write_buffer_size", "1M"}, {"ttl", "soon"}},
       }) {
    ColumnFamilyOptions cf;
    cf.write_buffer_size = 12345;
    EXPECT_FALSE(ChangeColumnFamilyOptions(DBOptions(), ColumnFamilyOptions(), changes, &cf).ok());
    EXPECT_EQ(cf.write_buffer_size, 12345u);
  }
}

TEST(ChangeOptionsTest, WhatIsFixedAtOpenIsRefusedByName) {
  DBOptions db;
  const Status s = ChangeDbOptions(DBOptions(), {{"wal_dir", "/x"}}, &db);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("wal_dir"), std::string::npos) << s.ToString();
  EXPECT_TRUE(
      ChangeDbOptions(DBOptions(), {{"max_background_jobs", "0"}}, &db).IsInvalidArgument());
  EXPECT_EQ(db.max_background_jobs, 2);
}

}  // namespace
}  // namespace varve
