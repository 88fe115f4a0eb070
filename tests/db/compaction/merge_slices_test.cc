// SPDX-License-Identifier: Apache-2.0

// Goal: merges are cut only where no file goes on, and what was begun is recognised. Method: drawn
// trees (drawn_tree.h).

#include "db/compaction/merge_slices.h"

#include <gtest/gtest.h>

#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

bool HasNewer(const MergePart& part) {
  return part.newer_files > 0;
}

class MergeSlicesTest : public ::testing::Test {
 protected:
  void Draw(const std::string& drawing) { version_ = DrawTree(drawing); }
  // Returns the numbers of the files of each part.
  std::string Parts() const {
    std::string text;
    for (const MergePart& part : FindParts(*version_, levels_)) {
      text += text.empty() ? "" : " | ";
      for (size_t i = 0; i < levels_.size(); i++) {
        text += i == 0 ? "" : ",";
        for (size_t f = part.spans[i].first; f < part.spans[i].last; f++) {
          text += std::to_string(version_->level(levels_[i])[f]->number) + ".";
        }
      }
    }
    return text;
  }
  // Returns the numbers of the inputs of the first slice.
  std::string Slice(uint64_t least_bytes, uint64_t least_moved_bytes = UINT64_MAX) {
    const std::vector<MergePart> parts = FindParts(*version_, levels_);
    slice_ = FirstSlice(
        *version_, levels_, parts,
        {.least_bytes = least_bytes, .least_moved_bytes = least_moved_bytes, .wants = &HasNewer});
    std::string text;
    for (const CompactionInputLevel& level : slice_.inputs) {
      text += (text.empty() ? "L" : " L") + std::to_string(level.level) + ":";
      for (const FileRef& file : level.files) text += " " + std::to_string(file->number);
    }
    return text;
  }
  using Levels = std::vector<int>;
  Levels Unfinished() const { return FindUnfinished(*version_, levels_); }

  Levels levels_ = {4, 5, 6};
  VersionRef version_;
  MergeSlice slice_;
};

TEST_F(MergeSlicesTest, PartsEndWhereNoFileGoesOn) {
  Draw("L4: 1[a-c]1 2[h-k]1 L5: 3[a-e]1 4[g-k]1 L6: 5[a-d]1 6[e-f]1 7[g-k]1 8[m-n]1");
  EXPECT_EQ(Parts(), "1.,3.,5.6. | 2.,4.,7. | ,,8.");
  Draw("L4: 1[a-b]1 2[c-f]1 L5: 3[e-g]1 L6: 5[a-c]1 7[h-i]1");
  EXPECT_EQ(Parts(), "1.2.,3.,5. | ,,7.") << "an older file leads to a newer one";
  Draw("L5: 3[a-e]1 4[g-z]1");
  EXPECT_EQ(Parts(), ",3., | ,4.,");
  Draw("L4: 1[a-z]1 L6: 5[b-c]1 6[d-e]1");
  EXPECT_EQ(Parts(), "1.,,5.6.");
  Draw("");
  EXPECT_EQ(Parts(), "");
}

TEST_F(MergeSlicesTest, AKeyIsInOnePart) {
  Draw("L4: 1[a-c]1 2[c-e]1 L6: 5[e-g]1 6[g-h]1");
  EXPECT_EQ(Parts(), "1.2.,,5.6.");
}

// A file that ends with a range tombstone's end has nothing of that key.
TEST_F(MergeSlicesTest, AnExclusiveEndIsACut) {
  Draw("L4: 1[a-c]1 2[c-e]1 L6: 5[c-e]1");
  FileMetaData& first = *version_->level(4)[0];
  first.largest = InternalKey("c", kMaxSequenceNumber, kTypeRangeDeletion);
  EXPECT_EQ(Parts(), "1.,, | 2.,,5.");
  Draw("L4: 1[a-c]1 L5: 3[b-c]1 L6: 5[c-e]1");
  version_->level(4)[0]->largest = InternalKey("c", kMaxSequenceNumber, kTypeRangeDeletion);
  EXPECT_EQ(Parts(), "1.,3.,5.") << "another file of the part has the key";
  version_->level(5)[0]->largest = InternalKey("c", kMaxSequenceNumber, kTypeRangeDeletion);
  EXPECT_EQ(Parts(), "1.,3., | ,,5.");
}

TEST_F(MergeSlicesTest, SlicesHaveASizeAndLeaveEnoughForAnother) {
  Draw("L5: 1[a-b]10 2[c-d]10 3[e-f]10 4[g-h]10 L6: 5[a-b]10 6[c-d]10 7[e-f]10 8[g-h]10");
  EXPECT_EQ(Slice(1), "L5: 1 L6: 5");
  EXPECT_EQ(Slice(21), "L5: 1 2 L6: 5 6");
  EXPECT_FALSE(slice_.is_all);
  EXPECT_EQ(slice_.wanted_bytes, 80u);
  EXPECT_EQ(Slice(41), "L5: 1 2 3 4 L6: 5 6 7 8");
  EXPECT_TRUE(slice_.is_all);
}

TEST_F(MergeSlicesTest, SlicesReachOverNothingThatIsNotWanted) {
  Draw("L5: 2[c-d]10 3[e-f]10 4[i-j]10 L6: 5[a-b]10 6[c-d]10 8[g-h]10");
  EXPECT_EQ(Slice(1000), "L5: 2 3 L6: 6");
  Draw("L6: 5[a-b]10 6[c-d]10 8[g-h]10");
  EXPECT_EQ(Slice(1000), "");
}

TEST_F(MergeSlicesTest, WhatIsAloneMayMove) {
  Draw("L4: 1[a-b]10 L5: 2[c-d]10 3[e-f]10 4[i-j]10 L6: 6[e-f]10");
  EXPECT_EQ(Slice(1), "L4: 1");
  EXPECT_FALSE(slice_.moves);
  EXPECT_EQ(Slice(1, /*least_moved_bytes=*/10), "L4: 1 L5: 2");
  EXPECT_TRUE(slice_.moves);
  EXPECT_EQ(Slice(1000, /*least_moved_bytes=*/11), "L4: 1 L5: 2 3 4 L6: 6");
  Draw("L5: 3[e-f]10 4[i-j]10 L6: 6[e-f]10");
  EXPECT_EQ(Slice(1000, /*least_moved_bytes=*/10), "L5: 3 L6: 6");
  EXPECT_FALSE(slice_.moves);
}

TEST_F(MergeSlicesTest, TheLastLevelMayBeEmpty) {
  Draw("L4: 1[a-b]10 L5: 2[a-b]10 3[c-d]10");
  EXPECT_EQ(Slice(1), "L4: 1 L5: 2");
}

TEST_F(MergeSlicesTest, AYoungerFileToTheLeftIsTheSignOfABeginning) {
  Draw("L4: 21[e-h]10 L5: 22[c-d]10 23[e-h]10 L6: 31[a-b]10 12[c-d]10 13[e-h]10");
  EXPECT_EQ(Unfinished(), (Levels{4, 5, 6}));
  Draw("L4: 40[e-h]10 L5: 22[c-d]10 23[e-h]10 L6: 31[a-b]10 12[c-d]10 13[e-h]10");
  EXPECT_EQ(Unfinished(), (Levels{5, 6})) << "L4 is of a later time";
  Draw("L4: 21[a-h]10 L5: 22[c-d]10 23[e-h]10 L6: 31[a-b]10 12[c-d]10 13[e-h]10");
  EXPECT_EQ(Unfinished(), (Levels{5, 6})) << "L4 has keys to the left";
  levels_ = {5, 6};
  Draw("L5: 22[c-d]10 23[e-h]10 L6: 11[a-b]10 12[c-d]10 13[e-h]10");
  EXPECT_EQ(Unfinished(), (Levels{})) << "an old run to the left means nothing";
  Draw("L5: 22[c-d]10 23[e-h]10 L6: 12[c-d]10 13[e-h]10 31[i-j]10");
  EXPECT_EQ(Unfinished(), (Levels{}));
  Draw("L5: 22[c-d]10 23[e-h]10 L6: 31[a-b]10 12[c-d]20 13[e-h]21");
  EXPECT_EQ(Unfinished(), (Levels{5, 6}));
  Draw("L5: 22[c-d]10 23[e-h]10 L6: 31[a-b]10 12[c-d]21 13[e-h]21");
  EXPECT_EQ(Unfinished(), (Levels{})) << "it would cost too much, if nothing had begun";
}

TEST_F(MergeSlicesTest, AMergeIntoAnEmptyLevelIsRecognised) {
  levels_ = {3, 4, 5, 6};
  Draw("L3: 21[e-h]10 L4: 22[e-h]10 L5: 31[a-d]10 L6: 12[a-z]1000");
  EXPECT_EQ(Unfinished(), (Levels{3, 4, 5}));
}

}  // namespace
}  // namespace varve
