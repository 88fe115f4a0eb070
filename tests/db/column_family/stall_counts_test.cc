// SPDX-License-Identifier: Apache-2.0
#include "db/column_family/stall_counts.h"

#include <gtest/gtest.h>

namespace varve {
namespace {

using Condition = WriteStallCondition;
using Cause = WriteStallCause;

TEST(StallCountsTest, EachConditionIsCountedUnderItsName) {
  StallCounts counts;
  counts.Count(Condition::kNormal, Cause::kNone, false);
  counts.Count(Condition::kStopped, Cause::kMemtableLimit, true);
  counts.Count(Condition::kStopped, Cause::kL0FileCountLimit, false);
  counts.Count(Condition::kStopped, Cause::kL0FileCountLimit, true);
  counts.Count(Condition::kDelayed, Cause::kPendingCompactionBytes, true);
  EXPECT_EQ(counts.total_stops(), 3u);
  EXPECT_EQ(counts.total_delays(), 1u);
  auto map = counts.ToMap();
  EXPECT_EQ(map["memtable-limit-stops"], "1");
  EXPECT_EQ(map["memtable-limit-delays"], "0");
  EXPECT_EQ(map["l0-file-count-limit-stops"], "2");
  EXPECT_EQ(map["l0-file-count-limit-stops-with-ongoing-compaction"], "1");
  EXPECT_EQ(map["l0-file-count-limit-delays-with-ongoing-compaction"], "0");
  EXPECT_EQ(map["pending-compaction-bytes-delays"], "1");
  EXPECT_EQ(map["total-stops"], "3");
  EXPECT_EQ(map["total-delays"], "1");
}

}  // namespace
}  // namespace varve
