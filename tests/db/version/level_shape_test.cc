// SPDX-License-Identifier: Apache-2.0

// Tests targets, scores and debt of drawn trees.

#include "db/version/level_shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr uint64_t kNone = UINT64_MAX;

ColumnFamilyOptions Options(bool dynamic) {
  ColumnFamilyOptions options;
  options.level_compaction_dynamic_level_bytes = dynamic;
  options.max_bytes_for_level_base = 1000;
  options.max_bytes_for_level_multiplier = 10;
  options.level0_file_num_compaction_trigger = 4;
  return options;
}

LevelShape ShapeOf(const std::string& drawing, bool dynamic, int num_levels = 5) {
  return ComputeLevelShape(*DrawTree(drawing, num_levels), Options(dynamic));
}

TEST(LevelShapeStatic, TargetsGrowFromTheBase) {
  const LevelShape shape = ShapeOf("", /*dynamic=*/false);
  EXPECT_EQ(shape.base_level, 1);
  EXPECT_THAT(shape.target_bytes, ElementsAre(0, 1000, 10000, 100000, 1000000));
  EXPECT_EQ(shape.pending_compaction_bytes, 0u);
  EXPECT_EQ(shape.scores[0], 0);
}

TEST(LevelShapeStatic, TheAdditionalMultiplierAppliesBelowItsLevel) {
  ColumnFamilyOptions options = Options(false);
  options.max_bytes_for_level_multiplier_additional = {1, 2, 3};
  const LevelShape shape = ComputeLevelShape(*DrawTree("", 5), options);
  EXPECT_THAT(shape.target_bytes, ElementsAre(0, 1000, 20000, 600000, 6000000));
}

TEST(LevelShapeStatic, HugeTargetsDoNotWrapAround) {
  ColumnFamilyOptions options = Options(false);
  options.max_bytes_for_level_base = uint64_t{1} << 60;
  const LevelShape shape = ComputeLevelShape(*DrawTree("", 7), options);
  EXPECT_EQ(shape.target_bytes[6], kNone);
}

TEST(LevelShapeStatic, ScoresAreSharesOfTheTargets) {
  const LevelShape shape =
      ShapeOf("L0: 1[a-b]10 2[a-b]10 L1: 3[a-b]1500 L2: 4[a-b]5000 5[c-d]2000*", false);
  EXPECT_THAT(shape.scores[0], DoubleNear(0.5, 1e-9));
  EXPECT_THAT(shape.scores[1], DoubleNear(1.5, 1e-9));
  EXPECT_THAT(shape.scores[2], DoubleNear(0.5, 1e-9));  // excludes files being compacted
  EXPECT_THAT(shape.full_levels, ElementsAre(1));
  EXPECT_EQ(shape.runs, 2);
}

TEST(LevelShapeStatic, L0IsScoredByBytesToo) {
  EXPECT_THAT(ShapeOf("L0: 1[a-b]2500", false).scores[0], DoubleNear(2.5, 1e-9));
  EXPECT_THAT(ShapeOf("L0: 1[a-b]1 2[a-b]1 3[a-b]1 4[a-b]1 5[a-b]1* 6[a-b]1", false).scores[0],
              DoubleNear(5.0 / 4, 1e-9));
}

TEST(LevelShapeStatic, TheLastLevelIsNeverAnInput) {
  const LevelShape shape = ShapeOf("L4: 1[a-b]99999999999", false);
  EXPECT_EQ(shape.scores[4], 0);
  EXPECT_THAT(shape.full_levels, ElementsAre());
}

TEST(LevelShapeDynamic, AnEmptyTreeGoesToTheLastLevel) {
  const LevelShape shape = ShapeOf("L0: 1[a-b]10", true);
  EXPECT_EQ(shape.base_level, 4);
  EXPECT_THAT(shape.target_bytes, ElementsAre(0, kNone, kNone, kNone, kNone));
}

TEST(LevelShapeDynamic, ASmallLastLevelIsTheBase) {
  const LevelShape shape = ShapeOf("L4: 1[a-b]900", true);
  EXPECT_EQ(shape.base_level, 4);
  EXPECT_EQ(shape.target_bytes[4], 1000u);
}

TEST(LevelShapeDynamic, TheBaseMovesUpAsTheLastLevelGrows) {
  // 5000 bytes: a level of a tenth of it is worth having.
  LevelShape shape = ShapeOf("L4: 1[a-b]5000", true);
  EXPECT_EQ(shape.base_level, 3);
  EXPECT_THAT(shape.target_bytes, ElementsAre(0, kNone, kNone, 1000, 5000));
  shape = ShapeOf("L4: 1[a-b]50000", true);
  EXPECT_EQ(shape.base_level, 2);
  EXPECT_THAT(shape.target_bytes, ElementsAre(0, kNone, 1000, 5000, 50000));
  // More than the levels can hold in that shape: the base keeps its size.
  shape = ShapeOf("L4: 1[a-b]50000000", true);
  EXPECT_EQ(shape.base_level, 1);
  EXPECT_THAT(shape.target_bytes, ElementsAre(0, 1000, 10000, 100000, 1000000));
}

TEST(LevelShapeDynamic, LevelsInUseStayInUse) {
  const LevelShape shape = ShapeOf("L2: 1[a-b]50 L4: 2[a-b]3000", true);
  EXPECT_EQ(shape.base_level, 2);
  EXPECT_EQ(shape.target_bytes[2], 1000u);
}

// Files of L0 in a drawing, of 10 bytes each.
std::string L0Of(int files) {
  std::string drawing = "L0:";
  for (int i = 0; i < files; i++) drawing += " " + std::to_string(100 + i) + "[a-b]10";
  return drawing;
}

TEST(LevelShapeDynamic, L0OverTheTriggerIsFullAsItsFilesSay) {
  const LevelShape shape = ShapeOf(L0Of(5) + " L3: 6[a-b]700 L4: 7[a-b]5000", true);
  EXPECT_THAT(shape.scores[0], DoubleNear(1.25, 1e-9));
  EXPECT_THAT(shape.full_levels, ElementsAre(0));
}

TEST(LevelShape, L0LetsAFullBaseLevelGoFirstHalfwayToSlowingWritersDown) {
  for (const bool dynamic : {false, true}) {
    const std::string full_base = dynamic ? " L3: 6[a-b]1500 L4: 7[a-b]5000" : " L1: 6[a-b]1500";
    const int base = dynamic ? 3 : 1;
    EXPECT_THAT(ShapeOf(L0Of(11) + full_base, dynamic).full_levels, ElementsAre(base, 0));
    const LevelShape urgent = ShapeOf(L0Of(12) + full_base, dynamic);
    EXPECT_THAT(urgent.scores[0], DoubleNear(3, 1e-9));
    EXPECT_THAT(urgent.full_levels, ElementsAre(0, base));

    ColumnFamilyOptions never_slow = Options(dynamic);
    never_slow.level0_slowdown_writes_trigger = -1;
    EXPECT_THAT(ComputeLevelShape(*DrawTree(L0Of(6) + full_base, 5), never_slow).full_levels,
                ElementsAre(0, base));
  }
}

TEST(LevelShapeDynamic, AnL0AsLargeAsTheBaseLevelDoesNotWait) {
  const std::string below = " L3: 6[a-b]1500 L4: 7[a-b]5000";
  EXPECT_THAT(ShapeOf("L0: 1[a-b]999" + below, true).full_levels, ElementsAre(3));
  const LevelShape shape = ShapeOf("L0: 1[a-b]1000" + below, true);
  EXPECT_THAT(shape.scores[0], DoubleNear(1, 1e-9));
  EXPECT_THAT(shape.full_levels, ElementsAre(0, 3));
  // However, a base level that is too large with all of L0 added is drained first.
  EXPECT_THAT(ShapeOf("L0: 1[a-b]1000 L3: 6[a-b]2500 L4: 7[a-b]5000", true).full_levels,
              ElementsAre(3, 0));
}

TEST(LevelShapeDynamic, WhatWillArriveMakesALevelLessUrgent) {
  const std::string upper = "L2: 3[a-b]1500 ";
  EXPECT_THAT(ShapeOf(upper + "L3: 1[a-b]12000 L4: 2[a-b]50000", true).full_levels,
              ElementsAre(3, 2));
  EXPECT_THAT(ShapeOf(upper + "L3: 1[a-b]8000 L4: 2[a-b]50000", true).full_levels,
              ElementsAre(2, 3));
}

TEST(LevelShape, DebtFollowsTheExcessDown) {
  // L1 has 500 too many, which meet four times as much as L1 holds in L2.
  EXPECT_EQ(ShapeOf("L1: 1[a-b]1500 L2: 2[a-b]6000", false).pending_compaction_bytes,
            500u * (6000 / 1500 + 1));
  // L0 is due: all of it and all of L1 are rewritten, and 540 bytes go on.
  EXPECT_EQ(ShapeOf("L0: 1[a-b]10 2[a-b]10 3[a-b]10 4[a-b]10 L1: 5[a-b]1500", false)
                .pending_compaction_bytes,
            40u + 1500u);
  EXPECT_EQ(ShapeOf("L0: 1[a-b]10 L1: 5[a-b]900", false).pending_compaction_bytes, 0u);
}

TableCounts Counts(uint64_t entries, uint64_t deletions) {
  TableCounts counts;
  counts.entries = entries;
  counts.deletions = deletions;
  return counts;
}

TEST(LevelShape, TombstonesWeighWhatLiesBeneathThem) {
  const VersionRef version = DrawTree("L1: 1[a-b]800 L2: 2[a-b]2000", 5);
  EXPECT_THAT(ComputeLevelShape(*version, Options(false)).scores[1], DoubleNear(0.8, 1e-9));
  // Nothing but tombstones: the file has no value to go by, but entries beneath have 100 bytes.
  version->level(1)[0]->SetCounts(Counts(10, 10));
  version->level(2)[0]->SetCounts(Counts(20, 0));
  EXPECT_THAT(ComputeLevelShape(*version, Options(false)).scores[1], DoubleNear(2.8, 1e-9));
}

TEST(LevelShape, FewDeletionsWeighNothing) {
  const VersionRef version = DrawTree("L1: 1[a-b]800 L2: 2[a-b]2000", 5);
  version->level(1)[0]->SetCounts(Counts(10, 5));
  version->level(2)[0]->SetCounts(Counts(20, 0));
  EXPECT_THAT(ComputeLevelShape(*version, Options(false)).scores[1], DoubleNear(0.8, 1e-9));
}

TEST(LevelShape, TombstonesOverNothingWeighTheirSize) {
  const VersionRef version = DrawTree("L1: 1[a-b]800", 5);
  version->level(1)[0]->SetCounts(Counts(10, 10));
  EXPECT_THAT(ComputeLevelShape(*version, Options(false)).scores[1], DoubleNear(0.8, 1e-9));
}

TEST(LevelShape, InL0OlderFilesLieBeneath) {
  const VersionRef version = DrawTree("L0: 1[a-b]200 2[a-b]100", 5);
  version->level(0)[0]->SetCounts(Counts(5, 5));  // file 2 is newer
  version->level(0)[1]->SetCounts(Counts(2, 0));
  EXPECT_THAT(ComputeLevelShape(*version, Options(false)).scores[0],
              DoubleNear((200 + 100 + 5 * 2 * 100) / 1000.0, 1e-9));
}

TEST(LevelShape, OneLevelOnly) {
  const LevelShape shape = ShapeOf("L0: 1[a-b]10", true, 1);
  EXPECT_THAT(shape.full_levels, ElementsAre());
  EXPECT_THAT(shape.scores[0], DoubleNear(0.25, 1e-9));
  EXPECT_THAT(ShapeOf(L0Of(4), true, 1).full_levels, ElementsAre(0));
}

}  // namespace
}  // namespace varve
