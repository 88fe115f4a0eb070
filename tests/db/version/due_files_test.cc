// SPDX-License-Identifier: Apache-2.0

// Tests which files of drawn trees are due for what they hold, and for their age.

#include "db/version/due_files.h"

#include <gtest/gtest.h>

#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

struct Held {
  uint64_t entries = 10;
  uint64_t deletions = 0;
  uint64_t hidden = 0;
  bool settled = false;
};

class DueFilesTest : public ::testing::Test {
 protected:
  void Draw(const std::string& drawing) { version_ = DrawTree(drawing, 5); }
  FileMetaData* File(uint64_t number) {
    int level = 0;
    return version_->FindByNumber(number, &level).get();
  }
  void Holds(uint64_t number, const Held& held) {
    TableCounts counts;
    counts.entries = held.entries;
    counts.deletions = held.deletions;
    counts.hidden = held.hidden;
    counts.settled = held.settled;
    File(number)->SetCounts(counts);
  }
  // Returns the files that sink, then the others, each with its reason's first letter: "7 8 | 9".
  std::string Due() {
    due_ = FindDueFiles(*version_, options_, moment_);
    std::string text;
    for (const DueFile& due : due_.sinking) text += NumberOf(due) + " ";
    text += "|";
    for (const DueFile& due : due_.files) {
      text += " " + NumberOf(due) +
              (due.reason == CompactionReason::kBottommostFiles ? "b"
               : due.reason == CompactionReason::kTtl           ? "t"
                                                                : "p");
    }
    return text;
  }
  std::string NumberOf(const DueFile& due) {
    return std::to_string(version_->level(due.level)[due.index]->number);
  }

  ColumnFamilyOptions options_ = [] {
    ColumnFamilyOptions options;
    options.ttl = 0;
    options.periodic_compaction_seconds = 0;
    return options;
  }();
  VersionRef version_;
  ShapeMoment moment_;
  DueFiles due_;
};

TEST_F(DueFilesTest, DataAloneIsNotDue) {
  Draw("L1: 5[a-c]10 L2: 3[a-b]10 4[c-d]10");
  Holds(5, {});
  Holds(3, {});
  EXPECT_EQ(Due(), "|") << "nor is what nothing is known of";
  EXPECT_EQ(due_.waits_for_snapshot, kMaxSequenceNumber);
  EXPECT_EQ(due_.next_due, UINT64_MAX);
}

TEST_F(DueFilesTest, DeadEntriesWithNothingBeneathAreDue) {
  Draw("L1: 5[a-c]10 6[x-y]10 L2: 3[a-b]10 4[c-d]10 7[e-f]10*");
  Holds(3, {.deletions = 1});
  Holds(4, {.hidden = 1});
  Holds(5, {.deletions = 1});  // something lies beneath, and most of it is data
  Holds(6, {.deletions = 1});
  Holds(7, {.deletions = 1});
  EXPECT_EQ(Due(), "| 6b 3b 4b");
}

TEST_F(DueFilesTest, WhatACompactionWithNothingInItsWayLeftIsNot) {
  Draw("L2: 3[a-b]10");
  Holds(3, {.deletions = 1, .settled = true});
  EXPECT_EQ(Due(), "|");
}

TEST_F(DueFilesTest, ASnapshotIsWaitedForThatIsOlderThanTheFile) {
  Draw("L2: 30[a-b]10 40[c-d]10");
  Holds(30, {.hidden = 2});
  Holds(40, {.hidden = 2});
  moment_.oldest_snapshot = 29;
  EXPECT_EQ(Due(), "|");
  EXPECT_EQ(due_.waits_for_snapshot, 30u);
  moment_.oldest_snapshot = 30;  // it sees the newest entry of the file
  EXPECT_EQ(Due(), "| 30b");
  EXPECT_EQ(due_.waits_for_snapshot, 40u);
  moment_.oldest_snapshot = kMaxSequenceNumber;
  EXPECT_EQ(Due(), "| 30b 40b");
  EXPECT_EQ(due_.waits_for_snapshot, kMaxSequenceNumber);
}

TEST_F(DueFilesTest, TheDelayCountsFromTheFilesCreation) {
  Draw("L2: 30[a-b]10");
  Holds(30, {.hidden = 2});
  File(30)->times.created = 1000;
  options_.bottommost_file_compaction_delay = 60;
  moment_.now = 1060;
  EXPECT_EQ(Due(), "|");
  EXPECT_EQ(due_.next_due, 1061u);
  moment_.now = 1061;
  EXPECT_EQ(Due(), "| 30b");
}

TEST_F(DueFilesTest, FilesOfTombstonesSinkTheHeaviestFirst) {
  Draw("L0: 9[a-c]10 L1: 5[a-c]10 6[d-f]10 L2: 3[a-f]10");
  Holds(9, {.deletions = 9});
  Holds(5, {.deletions = 5});  // no more than data
  Holds(6, {.deletions = 10});
  Holds(3, {});
  EXPECT_EQ(Due(), "6 9 |");
  moment_.oldest_snapshot = 7;  // older than file 9: entries that this deletes have to stay
  EXPECT_EQ(Due(), "6 |");
  EXPECT_EQ(due_.waits_for_snapshot, 9u);
}

// Tombstones that a compaction left for data beneath sink on to it.
TEST_F(DueFilesTest, SettledTombstonesSinkAsOthersDo) {
  Draw("L1: 6[d-f]10 L2: 3[a-f]10");
  Holds(6, {.deletions = 10, .settled = true});
  Holds(3, {});
  EXPECT_EQ(Due(), "6 |");
}

TEST_F(DueFilesTest, OldDataGoesDownAndOldFilesAreRewritten) {
  Draw("L0: 9[a-c]10 L1: 5[a-c]10 L4: 3[a-f]10");
  for (const uint64_t number : {9, 5, 3}) {
    File(number)->times.oldest_ancestor = 1000;
    File(number)->times.created = 2000;
  }
  moment_.now = 1100;
  EXPECT_EQ(Due(), "|") << "0: never";
  options_.ttl = 100;
  EXPECT_EQ(Due(), "|") << "not yet";
  EXPECT_EQ(due_.next_due, 1101u);
  moment_.now = 1101;
  EXPECT_EQ(Due(), "| 9t 5t") << "in the last level it can go no further";
  options_.periodic_compaction_seconds = 50;
  EXPECT_EQ(Due(), "| 9t 5t");
  EXPECT_EQ(due_.next_due, 2051u);
  moment_.now = 2051;
  EXPECT_EQ(Due(), "| 9t 5t 9p 5p 3p");
  moment_.now = 0;
  EXPECT_EQ(Due(), "|") << "a clock that cannot be read";
}

}  // namespace
}  // namespace varve
