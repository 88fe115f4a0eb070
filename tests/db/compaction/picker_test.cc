// SPDX-License-Identifier: Apache-2.0

// Plans for trees drawn as text. One line a level:
//   L1: 5[a-d] 6[e-h]*3
// File 5 holds keys a to d; "*3" sets its size (10 otherwise), "!" marks it as being compacted,
// "?" marks it for compaction, "<" ends it in a tombstone's exclusive end. L0: newest first.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "db/compaction/manual_picker.h"
#include "db/compaction/plan_builder.h"
#include "util/options/validate_options.h"

namespace varve {
namespace {

constexpr int kPickedLevels = 5;

class PickerTest : public ::testing::Test {
 protected:
  PickerTest() {
    options_.num_levels = kPickedLevels;
    options_.level_compaction_dynamic_level_bytes = false;
    options_.compression = kNoCompression;
    options_.target_file_size_base = 10;
    options_.max_compaction_bytes = 100;
    options_.max_bytes_for_level_base = 40;
  }

  void Draw(const std::string& text) {
    std::vector<std::vector<FileRef>> levels(kPickedLevels);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word.empty()) continue;
      const auto level = static_cast<size_t>(word[1] - '0');
      uint64_t epoch = 1000;
      while (words >> word) levels[level].push_back(ParseFile(word, epoch--));
    }
    version_ = std::make_shared<Version>(&icmp_, 1, std::move(levels));
    shape_ = ComputeLevelShape(*version_, options_);
  }

  // Returns "L0: 3 2; L1: 5; to L1" with flags, or "none".
  std::string Pick() { return Show(PickCompaction(version_, shape_, options_, running_)); }
  std::string PickManual(const ManualCompactionRequest& request) {
    auto plan = PickManualCompaction(version_, shape_, options_, request, running_, &conflict_);
    return Show(std::move(plan));
  }
  std::string PickFiles(const std::vector<uint64_t>& numbers, int output_level) {
    std::unique_ptr<CompactionPlan> plan;
    status_ =
        PickCompactFiles(version_, shape_, options_, {numbers, output_level, {}}, running_, &plan);
    return Show(std::move(plan));
  }
  std::string Show(std::unique_ptr<CompactionPlan> plan) {
    plan_ = std::move(plan);
    return plan_ == nullptr ? "none" : plan_->DebugString();
  }

  static FileRef ParseFile(const std::string& word, uint64_t epoch) {
    auto file = std::make_shared<FileMetaData>();
    const size_t open = word.find('[');
    const size_t dash = word.find('-', open);
    const size_t close = word.find(']', dash);
    file->number = std::stoull(word.substr(0, open));
    file->epoch_number = epoch;
    file->smallest.Set(word.substr(open + 1, dash - open - 1), 100, kTypeValue);
    const std::string largest = word.substr(dash + 1, close - dash - 1);
    file->largest.Set(largest, 90, kTypeValue);
    file->size = 10;
    file->smallest_seq = file->largest_seq = file->number;
    for (size_t i = close + 1; i < word.size(); i++) {
      if (word[i] == '!') file->notes.being_compacted = true;
      if (word[i] == '?') file->notes.marked_for_compaction = true;
      if (word[i] == '<') file->largest.Set(largest, kMaxSequenceNumber, kTypeRangeDeletion);
      if (word[i] == '*') file->size = std::stoull(word.substr(i + 1));
    }
    return file;
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  ColumnFamilyOptions options_;
  VersionRef version_;
  LevelShape shape_;
  std::vector<const CompactionPlan*> running_;
  std::unique_ptr<CompactionPlan> plan_;
  bool conflict_ = false;
  Status status_;
};

TEST_F(PickerTest, LevelsFillPathsInTheirOrder) {
  options_.level_compaction_dynamic_level_bytes = false;
  options_.max_bytes_for_level_base = 100;
  options_.max_bytes_for_level_multiplier = 10;
  Draw("L0: 3[a-z]");
  const auto paths = [this](const std::vector<uint64_t>& rooms) {
    options_.cf_paths.clear();
    for (const uint64_t room : rooms) options_.cf_paths.emplace_back("/p", room);
    std::string text;
    for (int level = 0; level < kPickedLevels; level++) {
      text += std::to_string(PathOfLevel(options_, shape_, level));
    }
    return text;
  };
  EXPECT_EQ(paths({}), "00000");
  EXPECT_EQ(paths({0}), "00000") << "the last one takes the rest";
  EXPECT_EQ(paths({200, 0}), "00111");
  EXPECT_EQ(paths({199, 1000, 0}), "01222");
  EXPECT_EQ(paths({199, 1100, 10000, 0}), "01123");
  EXPECT_EQ(paths({50, 100, 50, 0}), "13333") << "what is too small stays empty";

  // With dynamic levels, the path follows the current target sizes.
  constexpr int kLast = kPickedLevels - 1;
  options_.level_compaction_dynamic_level_bytes = true;
  Draw("L0: 3[a-z]");
  EXPECT_EQ(PathOfLevel(options_, shape_, kLast), 3u);
  options_.cf_paths = {{"/p", 200}, {"/p", 0}};
  EXPECT_EQ(PathOfLevel(options_, shape_, kLast), 0u);
  Draw("L0: 3[a-z]\nL" + std::to_string(kLast) + ": 5[a-z]*2000");
  EXPECT_EQ(PathOfLevel(options_, shape_, 0), 0u);
  EXPECT_EQ(PathOfLevel(options_, shape_, shape_.base_level), 0u);
  EXPECT_EQ(PathOfLevel(options_, shape_, kLast), 1u);
}

TEST_F(PickerTest, WhatIsInAnotherDirectoryIsNotMoved) {
  options_.max_bytes_for_level_base = 5;
  options_.cf_paths = {{"/fast", 15}, {"/slow", 0}};
  options_.level_compaction_dynamic_level_bytes = false;
  Draw("L1: 1[a-b] 2[c-d] 3[e-f] 4[g-h]");
  EXPECT_EQ(Pick(), "L1: 1; to L2, bottommost");
  EXPECT_EQ(plan_->output.path_id, 1u);
  ManualCompactionRequest request;
  request.start_level = 1;
  request.output_level = 2;
  request.path_id = 0;
  EXPECT_EQ(PickManual(request), "L1: 1 2 3 4; to L2, move, bottommost");
  request.path_id = 1;
  EXPECT_EQ(PickManual(request), "L1: 1 2 3 4; to L2, bottommost");
}

TEST_F(PickerTest, AQuietTreeNeedsNothing) {
  Draw("L0: 3[a-z] 2[a-z] 1[a-z]\nL1: 9[a-z]");
  EXPECT_FALSE(NeedsCompaction(version_, shape_, options_, running_));
  EXPECT_EQ(Pick(), "none");
}

TEST_F(PickerTest, OverlappingL0GoesDownTogetherWithTheBaseLevel) {
  Draw("L0: 4[a-m] 3[c-z] 2[a-f] 1[k-z]\nL1: 8[a-f] 9[g-z]");
  EXPECT_TRUE(NeedsCompaction(version_, shape_, options_, running_));
  EXPECT_EQ(Pick(), "L0: 4 3 2 1; L1: 8 9; to L1, bottommost");
}

TEST_F(PickerTest, SequentialLoadsOnlyMove) {
  Draw("L0: 4[m-p] 3[i-l] 2[e-h] 1[a-d]");
  EXPECT_EQ(Pick(), "L0: 4 3 2 1; to L1, move, bottommost");
  Draw("L0: 4[m-p] 3[b-f] 2[e-h] 1[a-d]");
  // File 3 overlaps older ones: it stays, being newer, while these move.
  EXPECT_EQ(Pick(), "L0: 2 1; to L1, move, bottommost");
}

TEST_F(PickerTest, AMoveNeedsTheSameCompression) {
  options_.compression_per_level = {kNoCompression, kZSTD};
  Draw("L0: 4[m-p] 3[i-l] 2[e-h] 1[a-d]");
  EXPECT_EQ(Pick(), "L0: 1; to L1, bottommost");
  EXPECT_EQ(plan_->output.compression, kZSTD);
}

TEST_F(PickerTest, WhatMayNotMoveOutOfL0IsRewrittenByClusters) {
  // L0 fills the first path, so that L1 belongs in the second.
  options_.cf_paths = {{"/fast", 50}, {"/slow", 0}};
  Draw("L0: 4[v-w] 3[x-z] 2[a-b] 1[c-d]\nL1: 8[m-n]");
  EXPECT_EQ(Pick(), "L0: 1; to L1, bottommost");
  // Nor where another compaction writes between them.
  Draw("L0: 4[v-w] 3[x-z] 2[a-b] 1[c-d]\nL2: 8[m-n]!");
  CompactionPlan running;
  running.inputs.push_back({2, {version_->level(2).files()[0]}});
  running.output_level = 1;
  running_.push_back(&running);
  EXPECT_EQ(Pick(), "L0: 1; to L1, bottommost");
}

TEST_F(PickerTest, AnL0ClusterLeavesStrangersAlone) {
  Draw("L0: 4[p-z] 3[a-c] 2[p-q] 1[b-d]\nL1: 8[a-f] 9[n-z]");
  EXPECT_EQ(Pick(), "L0: 3 1; L1: 8; to L1, bottommost");
}

TEST_F(PickerTest, WhileL0IsBusyTheNewestAreMergedAmongThemselves) {
  Draw("L0: 7[a-z] 6[a-z] 5[a-z] 4[a-z] 3[a-z]! 2[a-z]! 1[a-z]!\nL1: 9[a-z]!");
  EXPECT_EQ(Pick(), "L0: 7 6 5 4; to L0");
  EXPECT_EQ(plan_->output.target_file_bytes, UINT64_MAX);
  Draw("L0: 6[a-z] 5[a-z] 4[a-z] 3[a-z]! 2[a-z]! 1[a-z]!\nL1: 9[a-z]!");
  EXPECT_EQ(Pick(), "none");
}

TEST_F(PickerTest, WithinL0WhatIsRewrittenAtLeastDoubles) {
  const std::string busy = " 2[a-z]! 1[a-z]!\nL1: 9[a-z]!";
  Draw("L0: 8[a-z]*2 7[a-z]*2 6[a-z]*4 5[a-z]*8 4[a-z]*18 3[a-z]*1" + busy);
  EXPECT_EQ(Pick(), "L0: 8 7 6 5; to L0");
  Draw("L0: 8[a-z]*2 7[a-z]*2 6[a-z]*4 5[a-z]*8 4[a-z]*17 3[a-z]*1" + busy);
  EXPECT_EQ(Pick(), "L0: 8 7 6 5 4 3; to L0");
  options_.max_compaction_bytes = 30;
  EXPECT_EQ(Pick(), "L0: 8 7 6 5; to L0");
  Draw("L0: 8[a-z]*60 7[a-z]*3 6[a-z]*2 5[a-z]*2" + busy);
  EXPECT_EQ(Pick(), "none");
}

TEST_F(PickerTest, WithinL0ASmallNewestFileIsInNobodysWay) {
  options_.max_compaction_bytes = 1000;
  const std::string busy = " 2[a-z]! 1[a-z]!\nL1: 9[a-z]!";
  Draw("L0: 8[a-z]*1 7[a-z]*64 6[a-z]*64 5[a-z]*64 4[a-z]*64" + busy);
  EXPECT_EQ(Pick(), "L0: 8 7 6 5 4; to L0");
  Draw("L0: 8[a-z]*60 7[a-z]*61 6[a-z]*62 5[a-z]*63" + busy);
  EXPECT_EQ(Pick(), "L0: 8 7 6 5; to L0");
}

TEST_F(PickerTest, WithinL0NothingIsMergedWhileThereAreHardlyMoreFilesThanGoDown) {
  Draw("L0: 5[a-z] 4[a-z] 3[a-z] 2[a-z] 1[a-z]!\nL1: 9[a-z]!");
  EXPECT_EQ(Pick(), "none");
}

TEST(CompactionPickerTest, OfEveryStyleThatOptionsMayNameThereIsAPicker) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal,
                                      kCompactionStyleFIFO, kCompactionStyleNone}) {
    ColumnFamilyOptions options;
    options.compaction_style = style;
    EXPECT_EQ(ValidateColumnFamilyOptions(options).ok(), FindCompactionPicker(style) != nullptr);
  }
}

TEST_F(PickerTest, TheCheapestFileOfALevelGoesFirst) {
  Draw("L1: 1[a-c]*20 2[d-f]*20 3[g-i]*20\nL2: 5[a-c]*90 6[d-e] 7[f-f] 8[g-i]*90");
  EXPECT_EQ(Pick(), "L1: 2; L2: 6 7; to L2, bottommost");
  options_.compaction_pri = kOldestLargestSeqFirst;
  EXPECT_EQ(Pick(), "L1: 1; L2: 5; to L2, bottommost");
}

TEST_F(PickerTest, BiggestFirstWhenAskedTo) {
  options_.compaction_pri = kByCompensatedSize;
  Draw("L1: 1[a-c]*20 2[d-f]*20 3[g-i]*30\nL2: 5[a-c] 6[d-f] 8[g-i]");
  EXPECT_EQ(Pick(), "L1: 3; L2: 8; to L2, bottommost");
}

TEST_F(PickerTest, RoundRobinGoesOnBehindTheNewestTableBeneath) {
  options_.compaction_pri = kRoundRobin;
  Draw("L1: 1[a-c]*20 2[d-f]*20 3[g-i]*20\nL2: 50[a-c] 6[d-f] 8[g-i]");
  EXPECT_EQ(Pick(), "L1: 2; L2: 6; to L2, bottommost");
}

TEST_F(PickerTest, FilesInTheWayOfACompactionAreLeftAlone) {
  Draw("L1: 1[a-c]*20 2[d-f]*20 3[g-i]*20\nL2: 5[a-c] 6[d-e]! 7[f-f] 8[g-i]*90");
  EXPECT_EQ(Pick(), "L1: 1; L2: 5; to L2, bottommost");
  Draw("L1: 1[a-c]!*40 2[d-f]*40\nL2: 5[a-c] 6[d-e]! 7[f-f]");
  EXPECT_EQ(Pick(), "none");
}

TEST_F(PickerTest, ARunningCompactionsOutputRangeIsTaken) {
  Draw("L1: 1[a-c]*90 2[m-p]!*90 3[w-z]!*90");
  CompactionPlan running;
  running.inputs.push_back({1, {version_->level(1).files()[1], version_->level(1).files()[2]}});
  running.output_level = 2;
  running_.push_back(&running);
  EXPECT_EQ(Pick(), "L1: 1; to L2, move, bottommost");
  Draw("L1: 1[q-r]*90 2[m-p]!*90 3[w-z]!*90");
  CompactionPlan around;
  around.inputs.push_back({1, {version_->level(1).files()[0], version_->level(1).files()[2]}});
  around.output_level = 2;
  running_ = {&around};
  EXPECT_EQ(Pick(), "none");
  EXPECT_EQ(PickFiles({1}, 2), "none");
  EXPECT_TRUE(status_.IsInvalidArgument()) << status_.ToString();
  // A deletion of files has no output there.
  around.deletion_only = true;
  EXPECT_EQ(Pick(), "L1: 1; to L2, move, bottommost");
  EXPECT_EQ(PickFiles({1}, 2), "L1: 1; to L2, move, bottommost");
  EXPECT_TRUE(status_.ok()) << status_.ToString();
}

TEST_F(PickerTest, NeighboursThatShareAKeyStayTogether) {
  Draw("L1: 1[a-c]*20 2[c-f]*20 3[f-i]*20 4[j-k]*100\nL2: 5[a-a] 6[j-k]*90");
  EXPECT_EQ(Pick(), "L1: 1 2 3; L2: 5; to L2, bottommost");
  // An exclusive end shares nothing.
  Draw("L1: 1[a-c]<*20 2[c-f]*20 4[j-k]*20\nL2: 5[a-a] 6[d-k]*90");
  EXPECT_EQ(Pick(), "L1: 1; L2: 5; to L2, bottommost");
}

TEST_F(PickerTest, TheStartLevelGrowsAsLongAsTheOutputLevelDoesNot) {
  Draw("L1: 1[a-b]*25 2[c-d]*25 3[e-f]*25\nL2: 5[a-f]*20");
  EXPECT_EQ(Pick(), "L1: 1 2 3; L2: 5; to L2, bottommost");
  options_.max_compaction_bytes = 70;
  EXPECT_EQ(Pick(), "L1: 1; L2: 5; to L2, bottommost");
}

TEST_F(PickerTest, SeveralFilesMoveUntilTheLevelHasItsSize) {
  Draw("L1: 1[a-b]*20 2[c-d]*20 3[e-f]*20 4[g-h]*20 5[i-j]*20");
  EXPECT_EQ(Pick(), "L1: 1 2 3; to L2, move, bottommost");
}

TEST_F(PickerTest, AMoveMustNotOverlapMuchTwoLevelsBelow) {
  Draw("L1: 1[a-f]*50\nL3: 5[a-c]*60 6[d-f]*60");
  EXPECT_EQ(Pick(), "L1: 1; to L2");
  EXPECT_EQ(plan_->output.grandparents.size(), 2u);
}

TEST_F(PickerTest, MarkedFilesAreRewrittenButNotInTheLastLevel) {
  Draw("L1: 1[a-c]? 2[d-f]\nL2: 5[m-n]?");
  EXPECT_TRUE(NeedsCompaction(version_, shape_, options_, running_));
  EXPECT_EQ(Pick(), "L1: 1; to L2, bottommost");
  EXPECT_EQ(plan_->reason, CompactionReason::kFilesMarkedForCompaction);
  Draw("L1: 1[a-c]\nL2: 5[m-n]?");
  EXPECT_FALSE(NeedsCompaction(version_, shape_, options_, running_));
}

TEST_F(PickerTest, WhatLiesDeeperMakesAnOutputNotBottommost) {
  Draw("L0: 4[a-m] 3[c-z] 2[a-f] 1[k-z]\nL1: 8[a-z]\nL3: 9[p-q]");
  EXPECT_EQ(Pick(), "L0: 4 3 2 1; L1: 8; to L1");
}

TEST_F(PickerTest, ManualTakesTheRangeWithItsOverlap) {
  Draw("L1: 1[a-c] 2[d-f] 3[g-i]\nL2: 5[a-b] 6[e-h]\nL3: 9[a-z]");
  const Slice begin("d");
  const Slice end("e");
  ManualCompactionRequest request;
  request.start_level = 1;
  request.output_level = 2;
  request.begin = &begin;
  request.end = &end;
  EXPECT_EQ(PickManual(request), "L1: 2; L2: 6; to L2");
  request.begin = request.end = nullptr;
  EXPECT_EQ(PickManual(request), "L1: 1 2 3; L2: 5 6; to L2");
  const Slice beyond("x");
  request.begin = &beyond;
  EXPECT_EQ(PickManual(request), "none");
  EXPECT_FALSE(conflict_);
}

TEST_F(PickerTest, ManualSaysWhenItHasToWait) {
  Draw("L1: 1[a-c] 2[d-f]!\nL2: 5[a-b]");
  ManualCompactionRequest request;
  request.start_level = 1;
  request.output_level = 2;
  EXPECT_EQ(PickManual(request), "none");
  EXPECT_TRUE(conflict_);
}

TEST_F(PickerTest, ManualInPlaceLeavesNewFilesAndRewritesRunsOnly) {
  Draw("L3: 1[a-c] 2[d-f] 30[g-i] 4[j-l]");
  ManualCompactionRequest request;
  request.start_level = 3;
  request.output_level = 3;
  const Remainder remainder(Remainder::Goal::kRewrite, "", /*end=*/11, /*first_job=*/1);
  request.remainder = &remainder;
  EXPECT_EQ(PickManual(request), "L3: 1 2; to L3, bottommost");
}

TEST_F(PickerTest, ManualL0MovesWhatOverlapsNothing) {
  Draw("L0: 2[d-f] 1[a-c]\nL1: 8[x-z]");
  ManualCompactionRequest request;
  EXPECT_EQ(PickManual(request), "L0: 2 1; to L1, move, bottommost");
  request.allow_trivial_move = false;
  EXPECT_EQ(PickManual(request), "L0: 2 1; to L1, bottommost");
}

TEST_F(PickerTest, CompactFilesTakesAlongWhatItMust) {
  Draw("L0: 3[a-c] 2[b-d] 1[x-z]\nL1: 5[a-b] 6[m-n]\nL2: 7[c-e] 8[p-q]");
  EXPECT_EQ(PickFiles({2}, 2), "L0: 3 2; L1: 5; L2: 7; to L2, bottommost");
  EXPECT_EQ(PickFiles({3, 1}, 0), "L0: 3 2 1; to L0");
  EXPECT_EQ(PickFiles({42}, 2), "none");
  EXPECT_TRUE(status_.IsInvalidArgument());
  EXPECT_EQ(PickFiles({7}, 1), "none");
  EXPECT_TRUE(status_.IsInvalidArgument());
  Draw("L1: 5[a-b]!");
  EXPECT_EQ(PickFiles({5}, 2), "none");
  EXPECT_TRUE(status_.IsInvalidArgument());
}

TEST_F(PickerTest, DeletingRangesTakesWholeFilesBelowL0) {
  Draw("L0: 9[b-c]\nL1: 1[a-c] 2[d-f] 3[f-g] 4[h-i]\nL2: 5[d-e]");
  const Slice begin("d");
  const Slice end("f");
  const RangePtr range(&begin, &end);
  CompactionPlan plan;
  PickFilesInRanges(version_, &range, 1, /*include_end=*/true, &plan);
  // File 2 shares the key f with a file that stays.
  EXPECT_EQ(plan.DebugString(), "L2: 5; to L2, delete");
  const Slice later("g");
  const RangePtr wider(&begin, &later);
  CompactionPlan all;
  PickFilesInRanges(version_, &wider, 1, /*include_end=*/true, &all);
  EXPECT_EQ(all.DebugString(), "L1: 2 3; L2: 5; to L2, delete");
  CompactionPlan exclusive;
  PickFilesInRanges(version_, &wider, 1, /*include_end=*/false, &exclusive);
  EXPECT_EQ(exclusive.DebugString(), "L2: 5; to L2, delete");
}

TEST_F(PickerTest, CompressionFollowsTheLevel) {
  options_.compression = kSnappyCompression;
  EXPECT_EQ(CompressionForLevel(options_, 3, 1, false), kSnappyCompression);
  options_.compression_per_level = {kNoCompression, kSnappyCompression, kZSTD};
  EXPECT_EQ(CompressionForLevel(options_, 0, 3, false), kNoCompression);
  EXPECT_EQ(CompressionForLevel(options_, 3, 3, false), kSnappyCompression);
  EXPECT_EQ(CompressionForLevel(options_, 4, 3, false), kZSTD);
  EXPECT_EQ(CompressionForLevel(options_, 6, 3, false), kZSTD);
  options_.bottommost_compression = kLZ4Compression;
  EXPECT_EQ(CompressionForLevel(options_, 6, 3, true), kLZ4Compression);
}

// ---- Tombstones

class SinkingTest : public PickerTest {
 protected:
  void Holds(uint64_t number, uint64_t entries, uint64_t deletions, bool settled = false) {
    TableCounts counts;
    counts.entries = entries;
    counts.deletions = deletions;
    counts.settled = settled;
    int level = 0;
    version_->FindByNumber(number, &level)->SetCounts(counts);
    shape_ = ComputeLevelShape(*version_, options_);
  }
};

TEST_F(SinkingTest, TombstonesGoDownWhereTheyFreeWhatIsRewritten) {
  Draw("L1: 5[a-f]*2\nL2: 7[a-c]*10 8[d-f]*10");
  Holds(7, 10, 0);
  Holds(8, 10, 0);
  EXPECT_FALSE(NeedsCompaction(version_, shape_, options_, running_));
  Holds(5, 20, 20);
  EXPECT_TRUE(NeedsCompaction(version_, shape_, options_, running_));
  EXPECT_EQ(Pick(), "L1: 5; L2: 7 8; to L2, bottommost");
}

TEST_F(SinkingTest, AFewOverMuchDataWait) {
  Draw("L1: 5[a-f]*2\nL2: 7[a-c]*10 8[d-f]*10");
  Holds(7, 10, 0);
  Holds(8, 10, 0);
  Holds(5, 5, 5);
  EXPECT_EQ(Pick(), "none");
}

TEST_F(SinkingTest, TheyMoveThroughEmptyLevels) {
  Draw("L1: 5[a-f]*2\nL3: 7[a-c]*10 8[d-f]*10");
  Holds(7, 10, 0);
  Holds(8, 10, 0);
  Holds(5, 5, 5);
  EXPECT_EQ(Pick(), "L1: 5; to L2, move");
}

TEST_F(SinkingTest, OverNothingTheyAreRewrittenAway) {
  Draw("L1: 5[a-f]*2\nL2: 7[p-q]*10");
  Holds(7, 10, 0);
  Holds(5, 5, 5);
  EXPECT_EQ(Pick(), "L1: 5; to L1, bottommost");
  Draw("L0: 5[a-f]*2\nL2: 7[p-q]*10");
  Holds(7, 10, 0);
  Holds(5, 5, 5);
  EXPECT_EQ(Pick(), "L0: 5; to L1, bottommost");
}

TEST_F(SinkingTest, InL0TheyTakeWhatTheyDeleteAlong) {
  Draw("L0: 6[a-f]*2 5[a-f]*10");
  Holds(5, 10, 0);
  Holds(6, 10, 10);
  EXPECT_EQ(Pick(), "L0: 6 5; to L1, bottommost");
}

TEST_F(SinkingTest, AFullLevelGoesFirst) {
  Draw("L1: 5[a-f]*2 6[g-z]*80\nL2: 7[a-c]*10 8[d-f]*10 9[g-z]*10");
  for (const uint64_t number : {6, 7, 8, 9}) Holds(number, 100, 0);
  Holds(5, 20, 20);
  ASSERT_GE(shape_.scores[1], 1);
  const std::string first = Pick();
  EXPECT_EQ(plan_->reason, CompactionReason::kLevelMaxLevelSize) << first;
}

}  // namespace
}  // namespace varve
