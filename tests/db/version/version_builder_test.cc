// SPDX-License-Identifier: Apache-2.0

// Versions out of edits, and edits that cannot be.

#include "db/version/version_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/version/drawn_tree.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

NewFile File(int level, uint64_t number, const char* smallest, const char* largest,
             SequenceNumber smallest_seq = 1, SequenceNumber largest_seq = 2) {
  NewFile file;
  file.level = level;
  file.number = number;
  file.size = 100;
  file.smallest = InternalKey(smallest, 1, kTypeValue);
  file.largest = InternalKey(largest, 1, kTypeValue);
  file.smallest_seq = smallest_seq;
  file.largest_seq = largest_seq;
  return file;
}

VersionEdit Edit(std::vector<std::pair<int, uint64_t>> deleted, std::vector<NewFile> added) {
  VersionEdit edit;
  edit.deleted_files = std::move(deleted);
  edit.new_files = std::move(added);
  return edit;
}

struct Built {
  Status status;
  VersionRef version;
  std::vector<FileRef> removed;
  uint64_t next_epoch = 0;
};

Built Apply(const Version* base, const std::vector<VersionEdit>& edits, bool recovery = false) {
  const std::string context = "MANIFEST-000001: column family default";
  VersionBuilder builder(&BytewiseOrder(), 7, base, std::make_shared<ObsoleteFileQueue>(),
                         &context);
  Built built;
  for (const VersionEdit& edit : edits) {
    built.status = builder.Apply(edit);
    if (!built.status.ok()) return built;
  }
  if (recovery) builder.FinishRecovery(1000, &built.next_epoch);
  built.status = builder.Build(2, &built.version, &built.removed);
  return built;
}

TEST(VersionBuilder, AddsDeletesAndMoves) {
  const VersionRef base = DrawTree("L0: 1[a-c]100 2[d-f]100 L1: 3[a-z]100");
  const FileRef moved = base->FindByNumber(2, nullptr);
  const Built built = Apply(base.get(), {Edit({{0, 1}, {1, 3}}, {File(1, 4, "a", "c")}),
                                         Edit({{0, 2}}, {[&] {
                                                NewFile file = DescribeFile(*moved, 1);
                                                return file;
                                              }()})});
  ASSERT_TRUE(built.status.ok()) << built.status.ToString();
  EXPECT_THAT(Numbers(built.version->level(0).files()), IsEmpty());
  EXPECT_THAT(Numbers(built.version->level(1).files()), ElementsAre(4, 2));
  EXPECT_EQ(built.version->level(1)[1], moved.get()) << "a move must keep the open reader";
  EXPECT_THAT(Numbers(built.removed), ElementsAre(1, 3));
}

TEST(VersionBuilder, AnEditMayDeleteWhatAnEarlierOneAdded) {
  const Built built =
      Apply(nullptr, {Edit({}, {File(0, 1, "a", "b")}), Edit({{0, 1}}, {File(1, 1, "a", "b")})});
  ASSERT_TRUE(built.status.ok());
  EXPECT_THAT(Numbers(built.version->level(1).files()), ElementsAre(1));
}

TEST(VersionBuilder, NeighboursMayShareAUserKey) {
  NewFile left = File(1, 1, "a", "m");
  left.largest = InternalKey("m", 9, kTypeValue);
  NewFile right = File(1, 2, "m", "z");
  right.smallest = InternalKey("m", 8, kTypeValue);
  EXPECT_TRUE(Apply(nullptr, {Edit({}, {right, left})}).status.ok());
  std::swap(left.largest, right.smallest);
  EXPECT_TRUE(Apply(nullptr, {Edit({}, {right, left})}).status.IsCorruption());
}

TEST(VersionBuilder, RefusesWhatCannotBe) {
  const VersionRef base = DrawTree("L0: 1[a-c]100 L1: 3[a-k]100 4[m-z]100");
  const std::pair<const char*, std::vector<VersionEdit>> cases[] = {
      {"table 9 is deleted from L0 but is not there", {Edit({{0, 9}}, {})}},
      {"table 1 (L0) is deleted from L1", {Edit({{1, 1}}, {})}},
      {"table 1 is deleted from L0 but is not there", {Edit({{0, 1}}, {}), Edit({{0, 1}}, {})}},
      {"table 1 (L0) is added to L2 but is in the tree", {Edit({}, {File(2, 1, "a", "c")})}},
      {"table 8 is added to L3 but is in L2 already",
       {Edit({}, {File(2, 8, "a", "c"), File(3, 8, "a", "c")})}},
      {"table 3 (L1) and table 5 (L1) overlap", {Edit({}, {File(1, 5, "j", "l")})}},
      {"smallest key after its largest", {Edit({}, {File(2, 5, "z", "a")})}},
      {"smallest sequence above its largest", {Edit({}, {File(2, 5, "a", "z", 5, 4)})}},
      {"moved, but with another size", {Edit({{0, 1}}, {File(2, 1, "a", "d")})}},
  };
  for (const auto& [message, edits] : cases) {
    const Built built = Apply(base.get(), edits);
    EXPECT_TRUE(built.status.IsCorruption()) << message;
    EXPECT_THAT(built.status.ToString(), HasSubstr(message));
  }
  // A running database puts nothing beneath its levels, and none has more than 64.
  for (const Version* const before : {base.get(), static_cast<const Version*>(nullptr)}) {
    const int level = before == nullptr ? 64 : 7;
    const Status deep = Apply(before, {Edit({}, {File(level, 5, "a", "b")})}).status;
    EXPECT_TRUE(deep.IsInvalidArgument());
    EXPECT_THAT(deep.ToString(), HasSubstr("num_levels"));
  }
}

TEST(VersionBuilder, SurplusLevelsAreThereWhileTheyHoldTables) {
  const Built deep = Apply(nullptr, {Edit({}, {File(8, 5, "a", "b"), File(1, 6, "a", "b")})});
  ASSERT_TRUE(deep.status.ok()) << deep.status.ToString();
  EXPECT_EQ(deep.version->num_levels(), 9);
  EXPECT_EQ(deep.version->usable_levels(), 7);
  EXPECT_EQ(deep.version->surplus_levels(), 2);
  const Built other = Apply(deep.version.get(), {Edit({{1, 6}}, {})});
  ASSERT_TRUE(other.status.ok());
  EXPECT_EQ(other.version->surplus_levels(), 2);
  const Built drained = Apply(deep.version.get(), {Edit({{8, 5}}, {File(6, 5, "a", "b")})});
  ASSERT_TRUE(drained.status.ok());
  EXPECT_EQ(drained.version->num_levels(), 7);
  EXPECT_EQ(drained.version->surplus_levels(), 0);
}

TEST(VersionBuilder, RecoveryInfersEpochsFromSequences) {
  const Built built = Apply(nullptr,
                            {Edit({}, {File(0, 8, "a", "z", 20, 25), File(0, 9, "a", "z", 11, 19),
                                       File(1, 3, "a", "z", 1, 10), File(5, 2, "a", "z", 0, 0)})},
                            /*recovery=*/true);
  ASSERT_TRUE(built.status.ok());
  EXPECT_THAT(Numbers(built.version->level(0).files()), ElementsAre(8, 9));
  EXPECT_EQ(built.version->level(5)[0]->epoch_number, 1u);
  EXPECT_EQ(built.version->level(1)[0]->epoch_number, 2u);
  EXPECT_EQ(built.version->level(0)[1]->epoch_number, 3u);
  EXPECT_EQ(built.version->level(0)[0]->epoch_number, 4u);
  EXPECT_EQ(built.next_epoch, 5u);
}

TEST(VersionBuilder, RecoveryKeepsEpochsThatAreAllThere) {
  NewFile a = File(0, 8, "a", "z", 20, 25);
  NewFile b = File(0, 9, "a", "z", 11, 19);
  a.epoch_number = 4;
  b.epoch_number = 6;
  const Built built = Apply(nullptr, {Edit({}, {a, b})}, /*recovery=*/true);
  EXPECT_THAT(Numbers(built.version->level(0).files()), ElementsAre(9, 8));
  EXPECT_EQ(built.next_epoch, 7u);
}

TEST(VersionBuilder, FilesWithoutSequencesAreOrderedByNumber) {
  NewFile a = File(0, 8, "a", "z", 0, 0);
  NewFile b = File(0, 12, "a", "z", 0, 0);
  NewFile c = File(0, 10, "a", "z", 0, 0);
  a.seqs_known = b.seqs_known = c.seqs_known = false;
  const Built built = Apply(nullptr, {Edit({}, {a, b, c})}, /*recovery=*/true);
  EXPECT_THAT(Numbers(built.version->level(0).files()), ElementsAre(12, 10, 8));
  EXPECT_EQ(built.version->level(0)[0]->largest_seq, 1000u);
}

TEST(ObsoleteFileQueue, GetsTheFileWithTheLastRelease) {
  auto queue = std::make_shared<ObsoleteFileQueue>();
  FileRef kept = ObsoleteFileQueue::Track(queue, MakeFileMetaData(File(0, 1, "a", "b")));
  FileRef gone = ObsoleteFileQueue::Track(queue, MakeFileMetaData(File(0, 2, "a", "b")));
  FileRef reader = gone;
  gone->obsolete.store(true);
  kept.reset();
  gone.reset();
  EXPECT_TRUE(queue->Empty());
  reader.reset();
  const auto taken = queue->TakeAll();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0]->number, 2u);
  EXPECT_TRUE(queue->Empty());
}

}  // namespace
}  // namespace varve
