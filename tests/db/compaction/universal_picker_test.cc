// SPDX-License-Identifier: Apache-2.0

// Goal: universal compaction merges neighbours in age by RocksDB's rules, and into its levels.
// Method: plans for drawn trees (drawn_tree.h).

#include <gtest/gtest.h>

#include "db/compaction/compaction_picker.h"
#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

class UniversalPickerTest : public ::testing::Test {
 protected:
  UniversalPickerTest() {
    options_.compaction_style = kCompactionStyleUniversal;
    options_.ttl = options_.periodic_compaction_seconds = 0;
    options_.compression = kSnappyCompression;
    options_.write_buffer_size = 100;
    rules_.max_size_amplification_percent = 100000;  // so that other rules are seen
  }

  void Draw(const std::string& drawing, int num_levels = 7) {
    version_ = DrawTree(drawing, num_levels);
  }
  std::string Pick() {
    ShapeMoment moment;
    moment.now = 1000;
    shape_ = ComputeLevelShape(*version_, options_, moment);
    plan_ = PickCompaction(version_, shape_, options_, running_);
    EXPECT_EQ(plan_ != nullptr, NeedsCompaction(version_, shape_, options_, running_));
    return plan_ == nullptr ? "none" : plan_->DebugString();
  }
  std::string Step(Remainder::Goal goal, uint64_t end) {
    shape_ = ComputeLevelShape(*version_, options_);
    const Remainder remainder(goal, "", end, 1);
    plan_ = PickRangeStep(version_, shape_, options_, {}, remainder, running_, &conflict_);
    return plan_ == nullptr ? "none" : plan_->DebugString();
  }
  CompactionReason Reason() const {
    return plan_ == nullptr ? CompactionReason::kUnknown : plan_->reason;
  }
  FileMetaData* File(uint64_t number) { return version_->FindByNumber(number, nullptr).get(); }

  ColumnFamilyOptions options_;
  CompactionOptionsUniversal& rules_ = options_.compaction_options_universal;
  VersionRef version_;
  LevelShape shape_;
  std::vector<const CompactionPlan*> running_;
  std::unique_ptr<CompactionPlan> plan_;
  bool conflict_ = false;
};

TEST_F(UniversalPickerTest, NothingIsMergedBelowTheTrigger) {
  Draw("L0: 3[a-z]10 2[a-z]10 1[a-z]10");
  EXPECT_EQ(Pick(), "none");
  EXPECT_EQ(shape_.runs, 3);
}

TEST_F(UniversalPickerTest, TheGoldenLayout) {
  rules_.max_size_amplification_percent = 200;
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]10");
  EXPECT_EQ(Pick(), "L0: 4 3 2 1; to L6, bottommost");
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSizeAmplification);
  Draw("L0: 8[a-z]10 7[a-z]10 6[a-z]10 L6: 5[a-z]20");
  EXPECT_EQ(Pick(), "L0: 8 7 6; L6: 5; to L6, bottommost");
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSizeRatio);
  EXPECT_EQ(plan_->max_subcompactions, 0u) << "it may be cut into pieces";
}

TEST_F(UniversalPickerTest, WindowsOfTheSecondOldestRunAreMergedByTheirCost) {
  rules_.max_size_amplification_percent = 100;
  rules_.incremental = true;
  options_.max_compaction_bytes = 100;
  const std::string runs = "L0: 9[a-z]10 8[a-z]10 7[a-z]10 ";
  const std::string older =
      "L5: 1[a-c]40 2[d-f]40 3[g-i]40 4[j-l]40 "
      "L6: 11[a-c]40 12[d-e]10 13[g-i]40 14[j-l]40";
  Draw(runs + older);
  EXPECT_EQ(Pick(), "L5: 2; L6: 12; to L6, bottommost") << "it rewrites 10 bytes for 40";
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSizeAmplification);
  // A window has at least half of max_compaction_bytes.
  options_.max_compaction_bytes = 180;
  EXPECT_EQ(Pick(), "L5: 1 2; L6: 11 12; to L6, bottommost");
  // Without levels beneath L0 that have windows, and in trees that are smaller than a window.
  options_.max_compaction_bytes = 1000;
  EXPECT_EQ(Pick(), "L0: 9 8 7; L5: 1 2 3 4; L6: 11 12 13 14; to L6, bottommost");
  options_.max_compaction_bytes = 100;
  Draw("L0: 9[a-z]40 8[a-z]40 7[a-z]40 L6: 11[a-c]40 12[d-e]10");
  EXPECT_EQ(Pick(), "L0: 9 8 7; L6: 11 12; to L6, bottommost");
}

TEST_F(UniversalPickerTest, AWindowThatCostsTooMuchIsNotTaken) {
  rules_.max_size_amplification_percent = 50;
  rules_.incremental = true;
  options_.max_compaction_bytes = 100;
  // All at once: 100 bytes of the oldest run for 110 newer ones. The only window: 100 for 10.
  Draw("L0: 9[a-z]50 8[a-z]50 L5: 1[a-z]10 L6: 11[a-m]50 12[n-z]50");
  options_.level0_file_num_compaction_trigger = 2;
  EXPECT_EQ(Pick(), "L0: 9 8; L5: 1; L6: 11 12; to L6, bottommost");
  rules_.incremental = false;
  EXPECT_EQ(Pick(), "L0: 9 8; L5: 1; L6: 11 12; to L6, bottommost");
}

// A window without anything beneath moves.
TEST_F(UniversalPickerTest, AWindowMayMove) {
  rules_.max_size_amplification_percent = 100;
  rules_.incremental = true;
  options_.max_compaction_bytes = 60;
  Draw("L0: 9[a-z]10 8[a-z]10 7[a-z]10 L5: 1[a-c]40 2[d-f]40 L6: 11[g-i]80");
  EXPECT_EQ(Pick(), "L5: 1; to L6, move, bottommost");
}

TEST_F(UniversalPickerTest, OneLevelKeepsItsRunsInL0) {
  rules_.max_size_amplification_percent = 200;
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]10", 1);
  EXPECT_EQ(Pick(), "L0: 4 3 2 1; to L0, bottommost");
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]1000", 1);
  EXPECT_EQ(Pick(), "L0: 4 3 2; to L0") << "the oldest one does not take part";
}

TEST_F(UniversalPickerTest, OutputsLieAboveTheNextOlderRun) {
  Draw("L0: 4[a-z]10 3[a-z]10 L4: 2[a-z]15 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 4 3; L4: 2; to L5");
  Draw("L0: 4[a-z]10 3[a-z]10 L4: 2[a-z]150 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 4 3; to L3");
  Draw("L0: 4[a-z]10 3[a-z]10 L1: 2[a-z]150 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 4 3; to L0");
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]150 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 4 3; to L0");
}

TEST_F(UniversalPickerTest, TheSizeRatioSaysHowMuchLargerTheNextRunMayBe) {
  Draw("L0: 4[a-z]100 3[a-z]101 2[a-z]204 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 4 3; to L0") << "204 is more than 1.01 * 201";
  rules_.size_ratio = 2;
  EXPECT_EQ(Pick(), "L0: 4 3 2; to L5");
  Draw("L0: 4[a-z]10 3[a-z]100 2[a-z]100 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 3 2; to L5") << "the first run that has a neighbour begins";
}

TEST_F(UniversalPickerTest, SimilarSizesAreComparedWithTheLast) {
  rules_.stop_style = kCompactionStopStyleSimilarSize;
  Draw("L0: 5[a-z]100 4[a-z]100 3[a-z]150 2[a-z]150 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 5 4; to L0");
  Draw("L0: 5[a-z]150 4[a-z]100 3[a-z]100 2[a-z]300 L6: 1[a-z]1000");
  EXPECT_EQ(Pick(), "L0: 4 3; to L0") << "a smaller one is not similar, too";
}

TEST_F(UniversalPickerTest, WidthsBoundAMerge) {
  rules_.max_merge_width = 2;
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]10");
  EXPECT_EQ(Pick(), "L0: 4 3; to L0");
  rules_.max_merge_width = 100;
  rules_.min_merge_width = 4;
  Draw("L0: 5[a-z]10 4[a-z]10 3[a-z]10 2[a-z]100 1[a-z]200");
  EXPECT_EQ(Pick(), "none");
}

TEST_F(UniversalPickerTest, TooManyRunsAreMergedWhateverTheirSizes) {
  const std::string growing = "L0: 6[a-z]1 5[a-z]10 4[a-z]100 3[a-z]1000 2[a-z]10000 1[a-z]100000";
  Draw(growing);
  EXPECT_EQ(Pick(), "L0: 6 5 4; to L0") << "6 runs, 4 may stay";
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSortedRunNum);
  rules_.max_read_amp = 5;
  EXPECT_EQ(Pick(), "L0: 6 5; to L0");
  rules_.max_read_amp = 6;
  EXPECT_EQ(Pick(), "none") << "and no rule has anything to do";
  rules_.max_read_amp = 0;
  EXPECT_EQ(Pick(), "none") << "100000 bytes are 12 runs, each as large as all newer ones";
}

TEST_F(UniversalPickerTest, SpaceCountsNewerRunsAgainstTheOldest) {
  rules_.max_size_amplification_percent = 50;
  Draw("L0: 4[a-z]1 3[a-z]10 2[a-z]89 L6: 1[a-z]201");
  EXPECT_EQ(Pick(), "none");
  Draw("L0: 4[a-z]1 3[a-z]10 2[a-z]90 L6: 1[a-z]202");
  EXPECT_EQ(Pick(), "L0: 4 3 2; L6: 1; to L6, bottommost");
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSizeAmplification);
}

TEST_F(UniversalPickerTest, BusyRunsAreNeitherTakenNorJumpedOver) {
  rules_.max_size_amplification_percent = 1;
  Draw("L0: 7[a-z]10 6[a-z]10 5[a-z]10* 4[a-z]10 3[a-z]10 L6: 1[a-c]50 2[d-f]50*");
  EXPECT_EQ(Pick(), "L0: 7 6; to L0") << "a level is busy if one of its files is";
  Draw("L0: 7[a-z]10* 6[a-z]10 5[a-z]10 L6: 1[a-c]50");
  EXPECT_EQ(Pick(), "L0: 6 5; L6: 1; to L6, bottommost");
}

TEST_F(UniversalPickerTest, AtRestNothingIsWanted) {
  rules_.max_size_amplification_percent = 200;
  Draw("L0: 4[a-z]10 3[a-z]100 2[a-z]1000 1[a-z]10000");
  EXPECT_EQ(Pick(), "none") << "at exactly the trigger";
}

TEST_F(UniversalPickerTest, OldFilesCauseAFullMerge) {
  options_.periodic_compaction_seconds = 100;
  Draw("L0: 9[a-z]10 L5: 2[a-z]100 L6: 1[a-z]10000");
  for (const uint64_t number : {9, 2, 1}) File(number)->times.created = 950;
  EXPECT_EQ(Pick(), "none");
  EXPECT_EQ(shape_.due.next_due, 1051u);
  File(1)->times.created = 899;
  EXPECT_EQ(Pick(), "L0: 9; L5: 2; L6: 1; to L6, bottommost");
  EXPECT_EQ(Reason(), CompactionReason::kPeriodicCompaction);
  options_.periodic_compaction_seconds = 0;
  options_.ttl = 100;
  EXPECT_EQ(Pick(), "L0: 9; L5: 2; L6: 1; to L6, bottommost") << "the smaller of both counts";
}

TEST_F(UniversalPickerTest, MarkedFilesGoIntoTheNextRun) {
  options_.level0_file_num_compaction_trigger = 10;
  Draw("L0: 9[a-c]10 8[x-z]10 L5: 2[a-b]10 3[c-d]10 L6: 1[a-z]10000");
  File(9)->notes.marked_for_compaction = true;
  EXPECT_EQ(Pick(), "L0: 9; L5: 2 3; to L5");
  File(9)->notes.marked_for_compaction = false;
  File(3)->notes.marked_for_compaction = true;
  EXPECT_EQ(Pick(), "L5: 3; L6: 1; to L6, bottommost");
  File(3)->notes.marked_for_compaction = false;
  File(1)->notes.marked_for_compaction = true;
  EXPECT_EQ(Pick(), "none") << "nothing lies beneath";
  Draw("L0: 3[a-c]10 2[x-z]10 1[a-z]10", 1);
  File(2)->notes.marked_for_compaction = true;
  EXPECT_EQ(Pick(), "L0: 2 1; to L0, bottommost");
}

TEST_F(UniversalPickerTest, DisjointFilesAreMovedIfAllowed) {
  const std::string disjoint = "L0: 4[a-c]10 3[d-f]10 2[g-i]10 L6: 1[k-z]20";
  Draw(disjoint);
  EXPECT_EQ(Pick(), "L0: 4 3 2; L6: 1; to L6, bottommost");
  rules_.allow_trivial_move = true;
  EXPECT_EQ(Pick(), "L0: 4 3 2; L6: 1; to L6, move, bottommost");
  Draw("L0: 4[a-d]10 3[d-f]10 2[g-i]10 L6: 1[k-z]20");
  EXPECT_EQ(Pick(), "L0: 4 3 2; L6: 1; to L6, bottommost") << "two files share a key";
}

TEST_F(UniversalPickerTest, OnlyTheOldestShareIsCompressed) {
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 L6: 1[a-z]100");
  (void)Pick();
  EXPECT_EQ(plan_->output.compression, kSnappyCompression);
  rules_.compression_size_percent = 76;
  (void)Pick();
  EXPECT_EQ(plan_->output.compression, kNoCompression) << "100 of 130 bytes are compressed";
  rules_.compression_size_percent = 77;
  (void)Pick();
  EXPECT_EQ(plan_->output.compression, kSnappyCompression);
}

TEST_F(UniversalPickerTest, OutputsGoToThePathThatHasRoomForTheNextOnes) {
  options_.cf_paths = {{"/fast", 100}, {"/slow", 0}};
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]10");
  (void)Pick();
  EXPECT_EQ(plan_->output.path_id, 0u);
  Draw("L0: 4[a-z]20 3[a-z]20 2[a-z]20 1[a-z]20");
  (void)Pick();
  EXPECT_EQ(plan_->output.path_id, 1u) << "a second one of 80 bytes would have no room";
}

TEST_F(UniversalPickerTest, ACallMergesEverythingIntoTheLastLevel) {
  using Goal = Remainder::Goal;
  Draw("L0: 4[a-b]10 L4: 2[c-d]100 L6: 1[e-z]1000");
  EXPECT_EQ(Step(Goal::kSink, 5), "L0: 4; L4: 2; L6: 1; to L6, bottommost");
  EXPECT_EQ(Step(Goal::kSink, 3), "L0: 4; L4: 2; L6: 1; to L6, bottommost");
  Draw("L0: 9[a-b]10 L6: 1[e-z]1000");
  EXPECT_EQ(Step(Goal::kSink, 5), "none") << "what was there is at the bottom";
  EXPECT_EQ(Step(Goal::kRewrite, 5), "L0: 9; L6: 1; to L6, bottommost");
  Draw("L6: 1[e-z]1000*");
  EXPECT_EQ(Step(Goal::kRewrite, 5), "none");
  EXPECT_TRUE(conflict_);
  Draw("L0: 1[e-z]1000", 1);
  EXPECT_EQ(Step(Goal::kSink, 5), "none");
  Draw("L0: 2[e-z]10 1[e-z]1000", 1);
  EXPECT_EQ(Step(Goal::kSink, 5), "L0: 2 1; to L0, bottommost");
}

// Runs with the same guards: each slice takes four target files, and a large merge has eight.
class UniversalSlicesTest : public UniversalPickerTest {
 protected:
  UniversalSlicesTest() {
    options_.target_file_size_base = 10;
    options_.level0_file_num_compaction_trigger = 3;
  }
  static constexpr const char* kNewer = " L4: 21[a-b]20 22[c-d]20 23[e-f]20 24[g-h]20";
  static constexpr const char* kOldest = " L6: 11[a-b]20 12[c-d]20 13[e-f]20 14[g-h]20";
};

TEST_F(UniversalSlicesTest, ALargeMergeIsDoneInSlices) {
  rules_.max_size_amplification_percent = 100;
  Draw(std::string("L0: 30[a-z]5") + kNewer + kOldest);
  EXPECT_EQ(Pick(), "L4: 21; L6: 11; to L6, bottommost") << "L0 stays behind";
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSizeAmplification);
  EXPECT_EQ(plan_->output.border_file_bytes, 2u);
  EXPECT_EQ(plan_->output.grandparents.size(), 1u) << "the oldest run";
  // Whatever the rules say by now, the merge is finished.
  rules_.max_size_amplification_percent = 100000;
  Draw("L4: 22[c-d]20 23[e-f]20 24[g-h]20 L6: 31[a-b]25 12[c-d]20 13[e-f]20 14[g-h]20");
  EXPECT_EQ(Pick(), "L4: 22; L6: 12; to L6, bottommost");
  Draw("L4: 24[g-h]20 L6: 31[a-b]25 32[c-d]25 33[e-f]25 14[g-h]20");
  EXPECT_EQ(Pick(), "L4: 24; L6: 14; to L6, bottommost");
  Draw("L6: 31[a-b]25 32[c-d]25 33[e-f]25 34[g-h]25");
  EXPECT_EQ(Pick(), "none");
  Draw("L4: 22[c-d]20 23[e-f]20 24[g-h]20 L6: 15[a-b]25 12[c-d]20 13[e-f]20 14[g-h]20");
  EXPECT_EQ(Pick(), "none") << "nothing was begun";
  Draw("L4: 24[g-h]15 L6: 31[a-b]25 32[c-d]25 33[e-f]25 14[g-h]20");
  EXPECT_EQ(Pick(), "none") << "a merge leaves no such remainder";
}

TEST_F(UniversalSlicesTest, BusyRunsAreNotSliced) {
  Draw("L4: 22[c-d]20* 23[e-f]20 24[g-h]20 L6: 31[a-b]25 12[c-d]20 13[e-f]20 14[g-h]20");
  EXPECT_EQ(Pick(), "none");
}

TEST_F(UniversalSlicesTest, MergesOfFewFilesAndWithoutCutsAreDoneAtOnce) {
  rules_.max_size_amplification_percent = 100;
  options_.target_file_size_base = 30;
  const std::string runs = std::string("L0: 30[a-z]5") + kNewer + kOldest;
  Draw(runs);
  EXPECT_EQ(Pick(), "L0: 30; L4: 21 22 23 24; L6: 11 12 13 14; to L6, bottommost");
  options_.target_file_size_base = 10;
  Draw(std::string("L0: 30[a-z]5 L4: 21[a-h]80") + kOldest);
  EXPECT_EQ(Pick(), "L0: 30; L4: 21; L6: 11 12 13 14; to L6, bottommost");
  Draw("L0: 30[a-z]90 L4: 21[a-b]20 22[c-d]20 L6: 11[a-b]20 12[c-d]20");
  EXPECT_EQ(Pick(), "L0: 30; L4: 21 22; L6: 11 12; to L6, bottommost")
      << "what would stay in L0 is most of it";
}

TEST_F(UniversalSlicesTest, SlicesGoAboveTheNextOlderRun) {
  rules_.size_ratio = 10;
  const std::string runs = "L2: 25[a-b]40 26[c-d]40 L3: 21[a-b]40 22[c-d]40 L6: 11[a-z]1000";
  Draw("L0: 30[a-z]50 " + runs);
  EXPECT_EQ(Pick(), "L2: 25; L3: 21; to L5");
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSizeRatio);
  EXPECT_EQ(plan_->output.grandparents.size(), 1u) << "the oldest run";
  Draw("L2: 26[c-d]20 L3: 22[c-d]20 L5: 31[a-b]30 L6: 11[a-z]1000");
  EXPECT_EQ(Pick(), "L2: 26; L3: 22; to L5");
  Draw("L0: 30[a-z]74 " + runs);
  EXPECT_EQ(Pick(), "L0: 30; to L1") << "too much to stay in L0";
  Draw("L0: 30[a-z]161 " + runs);
  EXPECT_EQ(Pick(), "L0: 30; L2: 25 26; L3: 21 22; to L5") << "L0 has more than the levels";
}

TEST_F(UniversalSlicesTest, NewerRunsThatHavePiledUpGoFirst) {
  options_.level0_slowdown_writes_trigger = 6;
  const std::string rest = " L4: 24[g-h]20 L6: 31[a-b]25 14[g-h]20";
  Draw("L0: 43[a-z]5 42[a-z]5" + rest);
  EXPECT_EQ(Pick(), "L4: 24; L6: 14; to L6, bottommost");
  Draw("L0: 43[a-z]5 42[a-z]5 41[a-z]5" + rest);
  EXPECT_EQ(Pick(), "L0: 43 42 41; to L3");
  options_.level0_slowdown_writes_trigger = 8;
  EXPECT_EQ(Pick(), "L4: 24; L6: 14; to L6, bottommost");
  options_.level0_slowdown_writes_trigger = 6;
  Draw("L0: 43[a-z]5 42[a-z]50 41[a-z]500" + rest);
  EXPECT_EQ(Pick(), "L4: 24; L6: 14; to L6, bottommost") << "none of them are similar";
}

TEST_F(UniversalSlicesTest, RunsSinkIfL0HasNoFreeLevel) {
  Draw("L0: 30[a-z]5 L1: 25[a-b]40 L2: 21[a-b]80 22[c-d]80 L6: 11[a-b]500 12[c-d]500");
  EXPECT_EQ(Pick(), "L2: 21 22; to L5, move");
  Draw("L0: 30[a-z]5 L1: 25[a-b]40 L5: 21[a-b]80 22[c-d]80 L6: 11[a-b]500 12[c-d]500");
  EXPECT_EQ(Pick(), "L1: 25; to L4, move");
  Draw("L0: 30[a-z]5 L2: 25[a-b]40 L5: 21[a-b]80 22[c-d]80 L6: 11[a-b]500 12[c-d]500");
  EXPECT_NE(Pick(), "L2: 25; to L4, move") << "there is room";
  options_.target_file_size_base = 1000;
  Draw("L0: 30[a-z]5 L1: 25[a-b]40 L2: 21[a-b]80 22[c-d]80 L6: 11[a-b]500 12[c-d]500");
  EXPECT_NE(Pick(), "L2: 21 22; to L5, move") << "in small trees all is as in RocksDB";
}

TEST_F(UniversalSlicesTest, RipeLevelsAreMergedRatherThanTheNewestRuns) {
  Draw(std::string("L0: 30[a-z]1 L3: 26[a-b]5") + kNewer + " L6: 11[a-b]90 12[c-d]16");
  EXPECT_EQ(Pick(), "L3: 26; L4: 21; L6: 11; to L6, bottommost");
  EXPECT_EQ(Reason(), CompactionReason::kUniversalSortedRunNum);
  Draw(std::string("L0: 30[a-z]1 L3: 26[a-b]5") + kNewer + " L6: 11[a-b]90 12[c-d]20");
  EXPECT_EQ(Pick(), "L0: 30; L3: 26; to L3");
}

TEST_F(UniversalSlicesTest, WhatIsDisjointMoves) {
  rules_.max_size_amplification_percent = 50;
  const std::string runs = "L0: 30[a-z]5 L4: 21[a-b]20 22[e-f]40 L6: 11[c-d]40 12[e-f]40";
  Draw(runs);
  EXPECT_EQ(Pick(), "L4: 21; to L6, move, bottommost");
  options_.bottommost_compression = kZlibCompression;
  EXPECT_EQ(Pick(), "L4: 21; to L6, bottommost") << "the last level is compressed otherwise";
}

TEST_F(UniversalSlicesTest, OldFilesAreRewrittenWithWhatTheyOverlap) {
  options_.periodic_compaction_seconds = 100;
  Draw(std::string("L0: 30[a-z]5") + kNewer + kOldest);
  File(13)->times.created = 899;
  EXPECT_EQ(Pick(), "L4: 23; L6: 13; to L6, bottommost");
  EXPECT_EQ(Reason(), CompactionReason::kPeriodicCompaction);
  File(13)->times.created = 0;
  File(30)->times.created = 899;
  EXPECT_EQ(Pick(), "L0: 30; to L3") << "large levels need not be rewritten for that";
}

TEST_F(UniversalSlicesTest, ACallMergesStepByStep) {
  using Goal = Remainder::Goal;
  Draw(std::string("L0: 30[a-z]5") + kNewer + kOldest);
  EXPECT_EQ(Step(Goal::kSink, 40), "L0: 30; to L3");
  EXPECT_EQ(Step(Goal::kSink, 30), "L4: 21; L6: 11; to L6, bottommost") << "L0 is newer";
  Draw("L4: 22[c-d]20 23[e-f]20 24[g-h]20 L6: 31[a-b]25 12[c-d]20 13[e-f]20 14[g-h]20");
  EXPECT_EQ(Step(Goal::kSink, 30), "L4: 22; L6: 12; to L6, bottommost");
  EXPECT_EQ(Step(Goal::kSink, 20), "none");
  EXPECT_FALSE(conflict_);
  EXPECT_EQ(Step(Goal::kRewrite, 13), "L4: 22; L6: 12; to L6, bottommost");
  Draw(kOldest);
  EXPECT_EQ(Step(Goal::kRewrite, 40), "L6: 11 12; to L6, bottommost");
  Draw("L4: 21[a-b]40 L6: 11[c-d]40 12[e-f]40");
  EXPECT_EQ(Step(Goal::kSink, 40), "L4: 21; to L6, move, bottommost");
  EXPECT_EQ(Step(Goal::kRewrite, 40), "L4: 21; to L6, bottommost");
  Draw("L4: 21[a-b]40* L6: 11[a-b]40 12[e-f]40");
  EXPECT_EQ(Step(Goal::kSink, 40), "none");
  EXPECT_TRUE(conflict_);
}

}  // namespace
}  // namespace varve
