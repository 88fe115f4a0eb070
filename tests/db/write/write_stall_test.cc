// SPDX-License-Identifier: Apache-2.0

// Tests the stall rules, one row each, and the pace of delayed writes.

#include "db/write/write_stall.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace varve {
namespace {

using Condition = WriteStallCondition;
using Cause = WriteStallCause;

ColumnFamilyOptions Options(int max_write_buffer_number) {
  ColumnFamilyOptions options;
  options.max_write_buffer_number = max_write_buffer_number;
  options.min_write_buffer_number_to_merge = 2;
  options.level0_slowdown_writes_trigger = 20;
  options.level0_stop_writes_trigger = 36;
  options.soft_pending_compaction_bytes_limit = 1000;
  options.hard_pending_compaction_bytes_limit = 2000;
  return options;
}

TEST(HasteTest, CompactionsHurryAsAStallComesNear) {
  const struct {
    const char* name;
    StallInput input;  // memtables, L0 files, bytes, worst score
    Urgency urgency;
  } cases[] = {
      {"nothing", {0, 0, 0, 0}, Urgency::kCalm},
      {"memtables are not theirs", {9, 4, 0, 0.9}, Urgency::kCalm},
      {"a quarter of the way less one", {0, 5, 249, 0.9}, Urgency::kCalm},
      {"a quarter of the files", {0, 6, 0, 0}, Urgency::kSoon},
      {"a quarter of the bytes", {0, 0, 250, 0}, Urgency::kSoon},
      {"a full level", {0, 0, 0, 1}, Urgency::kSoon},
      {"half of the way less one", {0, 6, 499, 1.4}, Urgency::kSoon},
      {"half of the files", {0, 7, 0, 0}, Urgency::kPressing},
      {"half of the bytes", {0, 0, 500, 0}, Urgency::kPressing},
      {"less than three quarters of the files", {0, 8, 0, 0}, Urgency::kPressing},
      {"three quarters of the files", {0, 9, 0, 0}, Urgency::kHurry},
      {"three quarters of the bytes", {0, 0, 750, 0}, Urgency::kHurry},
      {"a level with half its size too much", {0, 0, 0, 1.5}, Urgency::kPressing},
      {"a level of twice its size", {0, 0, 0, 2}, Urgency::kHurry},
      {"stopped", {0, 40, 9999, 9}, Urgency::kHurry},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(CompactionUrgency(c.input, Options(4)), c.urgency) << c.name;
  }
  ColumnFamilyOptions options = Options(4);
  options.level0_slowdown_writes_trigger = 0;  // never delayed, but stopped
  EXPECT_EQ(CompactionUrgency({0, 6, 0, 0}, options), Urgency::kSoon);
  EXPECT_EQ(CompactionUrgency({0, 9, 0, 0}, options), Urgency::kHurry);
  options.level0_slowdown_writes_trigger = 8;  // nearer than two and a half times the trigger
  EXPECT_EQ(CompactionUrgency({0, 7, 0, 0}, options), Urgency::kHurry);
  options.level0_slowdown_writes_trigger = 2;  // below what starts a compaction
  EXPECT_EQ(CompactionUrgency({0, 4, 0, 0}, options), Urgency::kCalm);
  EXPECT_EQ(CompactionUrgency({0, 5, 0, 0}, options), Urgency::kHurry);
  options.disable_auto_compactions = true;  // then nothing is delayed either
  EXPECT_EQ(CompactionUrgency({0, 40, 9999, 9}, options), Urgency::kCalm);
}

TEST(ProximityTest, TheMeasureThatHasComeFarthestCounts) {
  EXPECT_EQ(StallProximity({0, 0, 0, 0}, Options(4)), 0);
  EXPECT_EQ(StallProximity({0, 5, 100, 99}, Options(4)), 25);
  EXPECT_EQ(StallProximity({0, 5, 999, 0}, Options(4)), 99);
  EXPECT_EQ(StallProximity({0, 20, 0, 0}, Options(4)), 100);
  EXPECT_EQ(StallProximity({0, 30, 0, 0}, Options(4)), 150);
  EXPECT_EQ(StallProximity({1, 0, 0, 0}, Options(2)), 50) << "of a stop, as nothing delays";
  ColumnFamilyOptions none = Options(4);
  none.soft_pending_compaction_bytes_limit = none.hard_pending_compaction_bytes_limit = 0;
  EXPECT_EQ(StallProximity({0, 0, UINT64_MAX, 0}, none), 0);
}

TEST(HasteTest, FlushesHurryWhenTheNextMemtableIsTheLast) {
  EXPECT_EQ(FlushUrgency({1, 40, 9999, 9}, Options(2)), Urgency::kCalm);
  EXPECT_EQ(FlushUrgency({2, 0, 0, 0}, Options(2)), Urgency::kHurry);
  EXPECT_EQ(FlushUrgency({2, 0, 0, 0}, Options(4)), Urgency::kCalm);
  EXPECT_EQ(FlushUrgency({3, 0, 0, 0}, Options(4)), Urgency::kHurry);
  EXPECT_EQ(FlushUrgency({1, 0, 0, 0}, Options(1)), Urgency::kHurry);
}

TEST(JudgeStallTest, TheFirstMatchingRuleDecides) {
  const struct {
    const char* name;
    int max_buffers;
    StallInput input;  // memtables, L0 files, bytes
    Condition condition;
    Cause cause;
    const char* option;
  } cases[] = {
      {"nothing", 4, {0, 0, 0}, Condition::kNormal, Cause::kNone, "no stall"},
      {"just below all", 4, {2, 19, 999}, Condition::kNormal, Cause::kNone, "no stall"},
      {"memtables",
       2,
       {2, 0, 0},
       Condition::kStopped,
       Cause::kMemtableLimit,
       "max_write_buffer_number is 2"},
      {"memtables before the rest",
       2,
       {2, 99, 9999},
       Condition::kStopped,
       Cause::kMemtableLimit,
       "max_write_buffer_number"},
      {"files stop",
       4,
       {0, 36, 9999},
       Condition::kStopped,
       Cause::kL0FileCountLimit,
       "level0_stop_writes_trigger is 36"},
      {"bytes stop",
       4,
       {3, 35, 2000},
       Condition::kStopped,
       Cause::kPendingCompactionBytes,
       "hard_pending_compaction_bytes_limit"},
      {"memtables delay",
       4,
       {3, 35, 1999},
       Condition::kDelayed,
       Cause::kMemtableLimit,
       "3 memtables"},
      {"no delay with three buffers", 3, {2, 0, 0}, Condition::kNormal, Cause::kNone, "no stall"},
      {"files delay",
       4,
       {2, 20, 1999},
       Condition::kDelayed,
       Cause::kL0FileCountLimit,
       "level0_slowdown_writes_trigger"},
      {"bytes delay",
       4,
       {2, 19, 1000},
       Condition::kDelayed,
       Cause::kPendingCompactionBytes,
       "soft_pending_compaction_bytes_limit"},
  };
  for (const auto& c : cases) {
    const ColumnFamilyOptions options = Options(c.max_buffers);
    const StallVerdict verdict = JudgeStall(c.input, options);
    EXPECT_EQ(verdict.condition, c.condition) << c.name;
    EXPECT_EQ(verdict.cause, c.cause) << c.name;
    EXPECT_NE(verdict.Reason(c.input, options).find(c.option), std::string::npos)
        << c.name << ": " << verdict.Reason(c.input, options);
  }
}

TEST(JudgeStallTest, OnlyMemtablesCountWithoutAutomaticCompaction) {
  ColumnFamilyOptions options = Options(4);
  options.disable_auto_compactions = true;
  EXPECT_EQ(JudgeStall({0, 100, 100000}, options).condition, Condition::kNormal);
  EXPECT_EQ(JudgeStall({4, 0, 0}, options).condition, Condition::kStopped);
  EXPECT_EQ(JudgeStall({3, 0, 0}, options).condition, Condition::kDelayed);
}

TEST(JudgeStallTest, ALimitOfZeroIsNone) {
  ColumnFamilyOptions options = Options(4);
  options.soft_pending_compaction_bytes_limit = 0;
  options.hard_pending_compaction_bytes_limit = 0;
  EXPECT_EQ(JudgeStall({0, 0, uint64_t{1} << 60}, options).condition, Condition::kNormal);
}

TEST(JudgeStallTest, MemtablesThatWaitToBeMergedDoNotDelay) {
  ColumnFamilyOptions options = Options(6);
  options.min_write_buffer_number_to_merge = 5;
  EXPECT_EQ(JudgeStall({5, 0, 0}, options).condition, Condition::kNormal);
  options.min_write_buffer_number_to_merge = 4;
  EXPECT_EQ(JudgeStall({5, 0, 0}, options).condition, Condition::kDelayed);
}

TEST(JudgeStallTest, DelaysTellWhenAStopIsNear) {
  const ColumnFamilyOptions options = Options(4);
  EXPECT_FALSE(JudgeStall({0, 33, 0}, options).near_stop);
  EXPECT_TRUE(JudgeStall({0, 34, 0}, options).near_stop);
  EXPECT_FALSE(JudgeStall({0, 0, 1749}, options).near_stop);
  EXPECT_TRUE(JudgeStall({0, 0, 1750}, options).near_stop);
}

constexpr uint64_t kMiB = 1 << 20;

TEST(DelayPacerTest, TheRateFollowsTheDebt) {
  DelayPacer pacer(10 * kMiB);
  EXPECT_EQ(pacer.bytes_per_second(), 10 * kMiB);
  pacer.Adjust(100, 200, false, false);
  EXPECT_EQ(pacer.bytes_per_second(), 8 * kMiB);
  pacer.Adjust(200, 200, false, false);
  EXPECT_NEAR(static_cast<double>(pacer.bytes_per_second()), 6.4 * kMiB, 2);
  pacer.Adjust(200, 100, false, false);
  EXPECT_NEAR(static_cast<double>(pacer.bytes_per_second()), 8.0 * kMiB, 4);
  pacer.Adjust(100, 50, true, false);
  EXPECT_NEAR(static_cast<double>(pacer.bytes_per_second()), 4.8 * kMiB, 4);
  pacer.Adjust(100, 50, false, true);
  EXPECT_NEAR(static_cast<double>(pacer.bytes_per_second()), 2.88 * kMiB, 4);
  pacer.Release();
  EXPECT_NEAR(static_cast<double>(pacer.bytes_per_second()), 4.032 * kMiB, 8);
  pacer.Release();
  EXPECT_NEAR(static_cast<double>(pacer.bytes_per_second()), 4.032 * kMiB, 8);
}

TEST(DelayPacerTest, TheRateStaysWithinItsBounds) {
  DelayPacer pacer(kMiB);
  for (int i = 0; i < 100; i++) pacer.Adjust(0, 1, true, false);
  EXPECT_EQ(pacer.bytes_per_second(), 16u << 10);
  for (int i = 0; i < 100; i++) pacer.Adjust(1, 0, false, false);
  EXPECT_EQ(pacer.bytes_per_second(), kMiB);
  EXPECT_EQ(DelayPacer(0).bytes_per_second(), 16 * kMiB);
  EXPECT_EQ(DelayPacer(1).bytes_per_second(), 16u << 10);
}

TEST(DelayPacerTest, ManyWritesTogetherKeepTheRate) {
  for (const uint64_t bytes : {uint64_t{100}, uint64_t{5000}, uint64_t{300000}}) {
    DelayPacer pacer(kMiB);
    uint64_t now = 1000000;
    uint64_t longest = 0;
    uint64_t written = 0;
    while (written < 10 * kMiB) {
      const uint64_t wait = pacer.DelayMicros(bytes, now);
      longest = std::max(longest, wait);
      now += wait + 1;
      written += bytes;
    }
    const double seconds = static_cast<double>(now - 1000000) / 1e6;
    EXPECT_NEAR(seconds, 10, 0.5) << bytes;
    // A delay is no longer than what the previous write owes, or a slice.
    EXPECT_LE(longest, bytes + 1200) << bytes;
  }
}

TEST(DelayPacerTest, ALoneWriteAfterAPauseDoesNotWait) {
  DelayPacer pacer(kMiB);
  EXPECT_EQ(pacer.DelayMicros(kMiB, 5000000), 0u);
  EXPECT_NEAR(static_cast<double>(pacer.DelayMicros(1, 5000000)), 1e6, 10);
  EXPECT_EQ(pacer.DelayMicros(1, 7000000), 0u);
  EXPECT_EQ(pacer.DelayMicros(kMiB, 7000000), 0u);
  pacer.Adjust(0, 1, false, false);
  pacer.Release();
  EXPECT_EQ(pacer.DelayMicros(1, 7000000), 0u);
}

}  // namespace
}  // namespace varve
