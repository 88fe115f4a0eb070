// SPDX-License-Identifier: Apache-2.0

// Goal: levels beneath num_levels are drained, and nothing that comes up passes what is newer.
// Method: plans for drawn trees (drawn_tree.h); random trees of numbered keys, whose newest
// versions a reader finds first after every step.

#include "db/compaction/surplus_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "db/compaction/compaction_picker.h"
#include "tests/db/version/drawn_tree.h"
#include "tests/harness/random.h"

namespace varve {
namespace {

class SurplusTest : public ::testing::Test {
 protected:
  SurplusTest() {
    options_.compression = kNoCompression;
    options_.max_compaction_bytes = 100;
    options_.ttl = options_.periodic_compaction_seconds = 0;
  }
  // Draws seven levels, of which the options allow `allowed`.
  std::string Pick(const std::string& drawing, int allowed) {
    version_ = DrawTree(drawing, 7, &BytewiseOrder(), 7 - allowed);
    const LevelShape shape = ComputeLevelShape(*version_, options_);
    plan_ = PickCompaction(version_, shape, options_, running_);
    if (plan_ != nullptr) {
      EXPECT_TRUE(NeedsCompaction(version_, shape, options_, running_));
    }
    return plan_ == nullptr ? "none" : plan_->DebugString();
  }

  ColumnFamilyOptions options_;
  VersionRef version_;
  std::vector<const CompactionPlan*> running_;
  std::unique_ptr<CompactionPlan> plan_;
};

TEST_F(SurplusTest, TablesMoveUpWhereTheWayIsFree) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    EXPECT_EQ(Pick("L6: 1[a-c]10 2[d-f]10", 4), "L6: 1 2; to L3, move, bottommost");
    EXPECT_EQ(Pick("L3: 3[a-b]10 L6: 1[a-c]10 2[d-f]10", 4), "L6: 2; to L3, move, bottommost");
    EXPECT_EQ(Pick("L5: 3[a-b]10 L6: 1[a-c]10*", 4), "none");
    EXPECT_EQ(Pick("L5: 3[a-b]10", 6), "none");
  }
  options_.compaction_style = kCompactionStyleFIFO;
  EXPECT_EQ(Pick("L6: 1[a-c]10 2[d-f]10", 4), "none") << "it drops them, when they are due";
}

TEST_F(SurplusTest, WhatOverlapsAboveIsMerged) {
  EXPECT_EQ(Pick("L2: 9[a-z]10 L3: 4[b-e]10 L5: 3[c-g]10 L6: 1[a-c]10 2[f-h]10 8[x-z]10*", 4),
            "L3: 4; L5: 3; L6: 1 2; to L3, bottommost");
  options_.max_compaction_bytes = 30;
  EXPECT_EQ(Pick("L3: 4[b-e]10 L5: 3[c-g]10 L6: 1[a-c]10 2[f-h]10", 4),
            "L3: 4; L5: 3; L6: 1; to L3")
      << "the other one is older than what is merged, and stays beneath it";
}

// Between the edit that takes the last surplus level away and the next measurement the family is
// asked with the old one.
TEST_F(SurplusTest, AMeasurementOfMoreLevelsThanThereAreAsksForAJob) {
  for (const CompactionStyle style :
       {kCompactionStyleLevel, kCompactionStyleUniversal, kCompactionStyleFIFO}) {
    options_.compaction_style = style;
    const LevelShape old =
        ComputeLevelShape(*DrawTree("L6: 1[a-c]10", 7, &BytewiseOrder(), 3), options_);
    const VersionRef drained = DrawTree("L3: 1[a-c]10", 4, &BytewiseOrder(), 0);
    EXPECT_TRUE(NeedsCompaction(drained, old, options_, running_)) << style;
    const LevelShape fresh = ComputeLevelShape(*drained, options_);
    EXPECT_FALSE(NeedsCompaction(drained, fresh, options_, running_)) << style;
  }
}

TEST_F(SurplusTest, NeighboursThatShareAKeyMoveTogether) {
  EXPECT_EQ(Pick("L3: 3[f-f]10 L6: 1[a-c]10 2[c-f]10", 4), "L3: 3; L6: 1 2; to L3, bottommost");
}

TEST_F(SurplusTest, L0AloneTakesEverythingOrNothing) {
  options_.compaction_style = kCompactionStyleUniversal;
  EXPECT_EQ(Pick("L0: 9[a-b]10 8[c-d]10 L2: 3[x-z]10 L6: 1[a-c]10", 1),
            "L0: 9 8; L2: 3; L6: 1; to L0, bottommost");
  EXPECT_EQ(Pick("L0: 9[a-b]10* 8[c-d]10 L6: 1[a-c]10", 1), "none");
}

TEST_F(SurplusTest, CompactRangeDrainsWhatOverlapsIt) {
  for (const CompactionStyle style : {kCompactionStyleLevel, kCompactionStyleUniversal}) {
    options_.compaction_style = style;
    version_ = DrawTree("L1: 2[a-b]10 L6: 1[a-c]10", 7, &BytewiseOrder(), 3);
    const LevelShape shape = ComputeLevelShape(*version_, options_);
    const Remainder remainder(Remainder::Goal::kSink, "", 100, 1);
    bool conflict = false;
    const auto step = [&](const RangeCall& call) {
      const auto plan =
          PickRangeStep(version_, shape, options_, call, remainder, running_, &conflict);
      return plan == nullptr ? "none" : plan->DebugString();
    };
    EXPECT_EQ(step({}), "L6: 1; to L3, move, bottommost");
    version_->FindByNumber(1, nullptr)->notes.being_compacted = true;
    EXPECT_EQ(step({}), "none");
    EXPECT_TRUE(conflict);
    version_->FindByNumber(1, nullptr)->notes.being_compacted = false;
  }
  options_.compaction_style = kCompactionStyleLevel;
  const Slice begin = "x";
  RangeCall call;
  call.begin = &begin;
  const Remainder remainder(Remainder::Goal::kSink, "", 100, 1);
  bool conflict = false;
  EXPECT_EQ(PickRangeStep(version_, ComputeLevelShape(*version_, options_), options_, call,
                          remainder, running_, &conflict),
            nullptr);
}

// A tree whose tables hold whole ranges of one-letter keys; the age of a table is its number.
class AgedTree {
 public:
  explicit AgedTree(testing::Random* random) : random_(*random) {
    uint64_t number = 1;
    for (int level = 6; level >= 0; level--) {
      for (char at = 'a'; at <= 'p';) {
        const char end = static_cast<char>(std::min<int>('p', at + random_.Below(5)));
        if (random_.OneIn(2)) Add(level, at, end, number++);
        at = static_cast<char>(end + 1 + random_.Below(3));
      }
    }
  }

  VersionRef version(int allowed) const {
    std::vector<std::vector<FileRef>> levels = levels_;
    const auto own = static_cast<size_t>(allowed);
    while (levels.size() > own && levels.back().empty()) levels.pop_back();
    const int surplus = static_cast<int>(levels.size() - own);
    return std::make_shared<const Version>(&BytewiseOrder(), 1, std::move(levels), false, surplus);
  }

  // Returns, for each key, the age of what a reader finds first.
  std::map<char, uint64_t> Newest() const {
    std::map<char, uint64_t> found;
    for (const auto& level : levels_) {
      for (const FileRef& file : level) {
        for (const auto& [key, age] : contents_.at(file->number)) found.try_emplace(key, age);
      }
    }
    return found;
  }

  void Run(const CompactionPlan& plan) {
    std::map<char, uint64_t> merged;
    std::vector<FileRef> moved;
    for (const CompactionInputLevel& level : plan.inputs) {
      for (const FileRef& file : level.files) {
        for (const auto& [key, age] : contents_.at(file->number)) merged.try_emplace(key, age);
        ASSERT_EQ(std::erase(levels_[static_cast<size_t>(level.level)], file), 1u);
        moved.push_back(file);
      }
    }
    auto& target = levels_[static_cast<size_t>(plan.output_level)];
    if (plan.trivial_move) {
      target.insert(target.end(), moved.begin(), moved.end());
      return;
    }
    const char first = merged.begin()->first;
    const char last = merged.rbegin()->first;
    for (const FileRef& file : target) {
      ASSERT_TRUE(plan.output_level == 0 || contents_.at(file->number).rbegin()->first < first ||
                  contents_.at(file->number).begin()->first > last);
    }
    Add(plan.output_level, first, last, next_number_++);
    contents_[target.back()->number] = std::move(merged);
  }

 private:
  void Add(int level, char first, char last, uint64_t number) {
    auto file = std::make_shared<FileMetaData>();
    file->number = file->epoch_number = number;
    file->smallest = InternalKey(std::string(1, first), number, kTypeValue);
    file->largest = InternalKey(std::string(1, last), number, kTypeValue);
    file->size = 10;
    for (char key = first; key <= last; key++) contents_[number][key] = number;
    levels_[static_cast<size_t>(level)].push_back(std::move(file));
  }

  testing::Random& random_;
  std::vector<std::vector<FileRef>> levels_{7};
  std::map<uint64_t, std::map<char, uint64_t>> contents_;
  uint64_t next_number_ = 1000;
};

TEST_F(SurplusTest, EveryTreeIsDrainedAndReadsTheSame) {
  for (uint64_t seed = 0; seed < 300; seed++) {
    SCOPED_TRACE(seed);
    testing::Random random(seed);
    AgedTree tree(&random);
    const auto before = tree.Newest();
    const int allowed = 1 + static_cast<int>(random.Below(6));
    options_.max_compaction_bytes = 10 + random.Below(60);
    VersionRef version = tree.version(allowed);
    for (int steps = 0; version->surplus_levels() > 0; steps++) {
      ASSERT_LT(steps, 200);
      const LevelShape shape;
      const PlanBuilder builder(version, shape, options_, running_);
      const auto plan = PickSurplus(version, builder, CompactionReason::kUnknown);
      ASSERT_NE(plan, nullptr);
      ASSERT_EQ(plan->output_level, allowed - 1);
      tree.Run(*plan);
      ASSERT_EQ(tree.Newest(), before) << plan->DebugString();
      version = tree.version(allowed);
    }
  }
}

}  // namespace
}  // namespace varve
