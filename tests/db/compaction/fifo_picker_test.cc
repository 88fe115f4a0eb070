// SPDX-License-Identifier: Apache-2.0

// Goal: FIFO compaction drops the oldest files, no more than it must, and merges only what stays
// together. Method: plans for drawn trees (drawn_tree.h).

#include <gtest/gtest.h>

#include "db/compaction/compaction_picker.h"
#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

class FifoPickerTest : public ::testing::Test {
 protected:
  FifoPickerTest() {
    options_.compaction_style = kCompactionStyleFIFO;
    options_.ttl = 0;
    options_.write_buffer_size = 100;
    options_.compaction_options_fifo.max_table_files_size = 1000;
  }

  // The files of L0 were written at these seconds, the newest first.
  void Draw(const std::string& drawing, const std::vector<uint64_t>& times = {}) {
    version_ = DrawTree(drawing, 3);
    for (size_t i = 0; i < times.size(); i++) version_->level(0)[i]->times.created = times[i];
  }
  std::string Pick() {
    ShapeMoment moment;
    moment.now = now_;
    shape_ = ComputeLevelShape(*version_, options_, moment);
    const auto plan = PickCompaction(version_, shape_, options_, running_);
    EXPECT_EQ(plan != nullptr, NeedsCompaction(version_, shape_, options_, running_));
    if (plan == nullptr) return "none";
    reason_ = plan->reason;
    temperature_ = plan->output.temperature;
    return plan->DebugString();
  }

  ColumnFamilyOptions options_;
  VersionRef version_;
  LevelShape shape_;
  std::vector<const CompactionPlan*> running_;
  uint64_t now_ = 1000;
  CompactionReason reason_ = CompactionReason::kUnknown;
  Temperature temperature_ = Temperature::kUnknown;
};

TEST_F(FifoPickerTest, TheOldestGoUntilTheRestIsWithinTheCap) {
  Draw("L0: 4[a-z]400 3[a-z]400 2[a-z]200 1[a-z]300");
  EXPECT_EQ(Pick(), "L0: 1; to L0, delete") << "1000 bytes are left, and allowed";
  EXPECT_EQ(reason_, CompactionReason::kFIFOMaxSize);
  Draw("L0: 4[a-z]400 3[a-z]401 2[a-z]200 1[a-z]300");
  EXPECT_EQ(Pick(), "L0: 2 1; to L0, delete");
  Draw("L0: 4[a-z]500 3[a-z]500");
  EXPECT_EQ(Pick(), "none");
  Draw("L0: 4[a-z]5000");
  EXPECT_EQ(Pick(), "L0: 4; to L0, delete") << "a window that is smaller than a file";
}

TEST_F(FifoPickerTest, TheCapOfAllDataReplacesThatOfTables) {
  options_.compaction_options_fifo.max_data_files_size = 400;
  Draw("L0: 2[a-z]400 1[a-z]300");
  EXPECT_EQ(Pick(), "L0: 1; to L0, delete");
}

TEST_F(FifoPickerTest, LevelsOfAnotherStyleAreOlder) {
  Draw("L0: 9[a-z]500 L1: 5[a-c]300 6[d-f]300 L2: 3[a-f]100");
  version_->level(1)[0]->times.created = 20;
  version_->level(1)[1]->times.created = 10;
  EXPECT_EQ(Pick(), "L1: 6; L2: 3; to L2, delete") << "in a level, those with the oldest data";
}

TEST_F(FifoPickerTest, TemperaturesFollowTheAge) {
  options_.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kWarm, 100},
                                                                      {Temperature::kCold, 200}};
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]10", {950, 900, 800, 0});
  EXPECT_EQ(Pick(), "L0: 2; to L0") << "the oldest whose age is known";
  EXPECT_EQ(reason_, CompactionReason::kChangeTemperature);
  EXPECT_EQ(temperature_, Temperature::kCold);
  version_->level(0)[2]->temperature = Temperature::kCold;
  EXPECT_EQ(Pick(), "L0: 3; to L0");
  EXPECT_EQ(temperature_, Temperature::kWarm);
  EXPECT_EQ(shape_.due.next_due, 1100u) << "then it is old enough to be cold";
  version_->level(0)[1]->temperature = Temperature::kWarm;
  EXPECT_EQ(Pick(), "none");
  EXPECT_EQ(shape_.due.next_due, 1050u);
  now_ = 1049;
  EXPECT_EQ(Pick(), "none");
  now_ = 1050;
  EXPECT_EQ(Pick(), "L0: 4; to L0");
  version_->level(0)[0]->notes.being_compacted = true;
  EXPECT_EQ(Pick(), "none");
}

TEST_F(FifoPickerTest, AnOldMeasurementNamesNoFile) {
  options_.compaction_options_fifo.file_temperature_age_thresholds = {{Temperature::kWarm, 100}};
  Draw("L0: 2[a-z]10 1[a-z]10", {950, 800});
  EXPECT_EQ(Pick(), "L0: 1; to L0");
  Draw("L0: 2[a-z]10", {950});
  EXPECT_FALSE(NeedsCompaction(version_, shape_, options_, running_));
}

TEST_F(FifoPickerTest, DroppingAndMergingComeBeforeTemperatures) {
  options_.compaction_options_fifo.age_for_warm = 10;
  options_.compaction_options_fifo.allow_compaction = true;
  options_.level0_file_num_compaction_trigger = 2;
  options_.ttl = 500;
  Draw("L0: 3[a-z]10 2[a-z]10 1[a-z]10", {900, 890, 10});
  EXPECT_EQ(Pick(), "L0: 1; to L0, delete");
  Draw("L0: 3[a-z]10 2[a-z]10", {900, 890});
  EXPECT_EQ(Pick(), "L0: 3 2; to L0");
  EXPECT_EQ(reason_, CompactionReason::kFIFOReduceNumFiles);
  Draw("L0: 3[a-z]10", {900});
  EXPECT_EQ(Pick(), "L0: 3; to L0");
  EXPECT_EQ(temperature_, Temperature::kWarm);
}

TEST_F(FifoPickerTest, FilesExpireByTheTimeOfTheirNewestData) {
  options_.ttl = 100;
  Draw("L0: 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]10", {950, 899, 890, 880});
  EXPECT_EQ(Pick(), "L0: 3 2 1; to L0, delete");
  EXPECT_EQ(reason_, CompactionReason::kFIFOTtl);
  EXPECT_EQ(shape_.due.next_due, 1051u);
  version_->level(0)[1]->times.newest = 960;
  EXPECT_EQ(Pick(), "L0: 2 1; to L0, delete") << "what was merged is as young as its youngest data";
  EXPECT_EQ(shape_.due.next_due, 1061u);
  now_ = 0;
  EXPECT_EQ(Pick(), "none") << "without a clock nothing expires";
}

TEST_F(FifoPickerTest, AFileOfUnknownAgeExpiresWithTheNextNewerOne) {
  options_.ttl = 100;
  Draw("L0: 3[a-z]10 2[a-z]10 1[a-z]10", {990, 890, 0});
  EXPECT_EQ(Pick(), "L0: 2 1; to L0, delete");
  Draw("L0: 3[a-z]10 2[a-z]10 1[a-z]10", {990, 0, 890});
  EXPECT_EQ(Pick(), "L0: 1; to L0, delete");
}

TEST_F(FifoPickerTest, AFileOfUnknownAgeInADeepLevelKeepsNothingAboveItFromExpiring) {
  options_.ttl = 100;
  const std::string tree = "L0: 9[a-z]10 8[a-z]10 L1: 5[a-c]10 6[d-f]10 L2: 3[a-f]10";
  Draw(tree, {990, 890});
  EXPECT_EQ(Pick(), "L0: 8; L1: 5 6; L2: 3; to L2, delete")
      << "what is older than L0's 8 goes, too";
  Draw(tree, {990, 980});
  version_->level(1)[1]->times.created = 880;
  EXPECT_EQ(Pick(), "L1: 6; L2: 3; to L2, delete") << "5 may be younger than 6";
  Draw(tree, {890, 890});
  version_->level(1)[0]->times.created = 950;
  EXPECT_EQ(Pick(), "none") << "5 is young, and older than L0";
}

TEST_F(FifoPickerTest, AnOldFileAboveAYoungOneStays) {
  options_.ttl = 100;
  Draw("L0: 3[a-z]10 2[a-z]10 1[a-z]10", {890, 990, 880});
  EXPECT_EQ(Pick(), "L0: 1; to L0, delete") << "it may hold the deletions of the young one's data";
}

TEST_F(FifoPickerTest, OneJobRunsAtATime) {
  Draw("L0: 2[a-z]800 1[a-z]800");
  const CompactionPlan other;
  running_ = {&other};
  EXPECT_EQ(Pick(), "none");
}

TEST_F(FifoPickerTest, SmallFilesAreMergedIfAllowed) {
  const std::string small = "L0: 5[a-z]10 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]500";
  Draw(small);
  EXPECT_EQ(Pick(), "none");
  options_.compaction_options_fifo.allow_compaction = true;
  EXPECT_EQ(Pick(), "L0: 5 4 3 2; to L0");
  EXPECT_EQ(reason_, CompactionReason::kFIFOReduceNumFiles);
  options_.level0_file_num_compaction_trigger = 5;
  EXPECT_EQ(Pick(), "none");
  Draw("L0: 5[a-z]90 4[a-z]90 3[a-z]90 2[a-z]90 1[a-z]90");
  EXPECT_EQ(Pick(), "none") << "each file less costs 112 bytes, and 110 are allowed";
}

TEST_F(FifoPickerTest, FilesOfDifferentTimesAreNotMerged) {
  options_.compaction_options_fifo.allow_compaction = true;
  options_.ttl = 1600;
  now_ = 2000;
  const std::string small = "L0: 5[a-z]10 4[a-z]10 3[a-z]10 2[a-z]10";
  Draw(small, {1900, 1870, 1850, 1800});
  EXPECT_EQ(Pick(), "L0: 5 4 3 2; to L0");
  Draw(small, {1900, 1870, 1850, 1799});
  EXPECT_EQ(Pick(), "none") << "the oldest would live longer by more than a sixteenth";
}

TEST_F(FifoPickerTest, TiersMergeFilesOfLikeSize) {
  CompactionOptionsFIFO& fifo = options_.compaction_options_fifo;
  fifo.allow_compaction = fifo.use_kv_ratio_compaction = true;
  fifo.max_data_files_size = 1 << 20;
  options_.level0_file_num_compaction_trigger = 4;
  // The tiers end at 10 KiB, 16 KiB, 64 KiB and 256 KiB.
  Draw("L0: 6[a-z]4000 5[a-z]4000 4[a-z]4000 3[a-z]4000 2[a-z]20000 1[a-z]300000");
  EXPECT_EQ(Pick(), "L0: 6 5 4 3; to L0");
  Draw("L0: 6[a-z]4000 5[a-z]4000 4[a-z]4000 2[a-z]20000 1[a-z]300000");
  EXPECT_EQ(Pick(), "none");
  Draw("L0: 6[a-z]4000 5[a-z]20000 4[a-z]20000 3[a-z]20000 2[a-z]20000 1[a-z]300000");
  EXPECT_EQ(Pick(), "L0: 5 4 3 2; to L0");
}

TEST_F(FifoPickerTest, NoCallMovesTablesOutOfL0) {
  Draw("L0: 2[a-z]400 1[a-z]300");
  const Remainder remainder(Remainder::Goal::kRewrite, "", 100, 1);
  bool conflict = true;
  EXPECT_EQ(PickRangeStep(version_, shape_, options_, {}, remainder, running_, &conflict), nullptr);
  EXPECT_FALSE(conflict);
  shape_ = ComputeLevelShape(*version_, options_);
  std::unique_ptr<CompactionPlan> plan;
  FilesCall call;
  call.numbers = {1, 2};
  call.output_level = 1;
  EXPECT_TRUE(
      PickCompactFiles(version_, shape_, options_, call, running_, &plan).IsInvalidArgument());
  call.output_level = 0;
  EXPECT_TRUE(PickCompactFiles(version_, shape_, options_, call, running_, &plan).ok());
}

TEST_F(FifoPickerTest, TheNumberOfFilesStallsNothing) {
  Draw("L0: 5[a-z]10 4[a-z]10 3[a-z]10 2[a-z]10 1[a-z]10");
  (void)Pick();
  EXPECT_EQ(shape_.runs + shape_.runs_per_flush, 0);
  EXPECT_EQ(shape_.pending_compaction_bytes, 0u);
}

}  // namespace
}  // namespace varve
