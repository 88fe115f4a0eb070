// SPDX-License-Identifier: Apache-2.0

// Tombstones cut to files still delete for every reader what they deleted before, and no more.

#include "db/compaction/surviving_tombstones.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace varve {
namespace {

using Tombstones = std::vector<RangeTombstone>;

// Returns true if a reader at `at` finds an entry (key, sequence) deleted.
bool Deletes(const Tombstones& tombstones, const std::string& key, SequenceNumber sequence,
             SequenceNumber at) {
  for (const RangeTombstone& t : tombstones) {
    if (t.start <= key && key < t.end && t.seq <= at && t.seq > sequence) return true;
  }
  return false;
}

class SurvivingTombstonesTest : public ::testing::Test {
 protected:
  Tombstones Cut(const Tombstones& input, const std::vector<SequenceNumber>& snapshots,
                 bool bottommost, const std::vector<std::string>& cuts) {
    std::vector<std::shared_ptr<const FragmentedTombstones>> lists;
    // Two inputs, as if from two files.
    const size_t half = input.size() / 2;
    lists.push_back(FragmentedTombstones::Build(std::span(input).subspan(0, half), icmp_));
    lists.push_back(FragmentedTombstones::Build(std::span(input).subspan(half), icmp_));
    const SurvivingTombstones survivors(lists, icmp_, snapshots, bottommost, nullptr);
    Tombstones result;
    for (size_t file = 0; file <= cuts.size(); file++) {
      const Slice lower = file == 0 ? Slice() : Slice(cuts[file - 1]);
      const Slice upper = file == cuts.size() ? Slice() : Slice(cuts[file]);
      const auto pieces =
          survivors.Within(file == 0 ? nullptr : &lower, file == cuts.size() ? nullptr : &upper);
      for (const auto& piece : pieces) {
        if (file > 0) {
          EXPECT_GE(piece.begin.compare(lower), 0);
        }
        if (file < cuts.size()) {
          EXPECT_LE(piece.end.compare(upper), 0);
        }
        EXPECT_LT(piece.begin.compare(piece.end), 0);
        result.push_back({piece.begin.ToString(), piece.end.ToString(), piece.sequence});
      }
    }
    return result;
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
};

TEST_F(SurvivingTombstonesTest, EveryReaderFindsTheSameDeletedBeneath) {
  std::mt19937 random(301);
  for (int round = 0; round < 300; round++) {
    Tombstones input;
    for (int i = 0; i < 6; i++) {
      const char a = static_cast<char>('a' + random() % 8);
      const char b = static_cast<char>('a' + random() % 8);
      if (a < b) input.push_back({std::string(1, a), std::string(1, b), 1 + random() % 9});
    }
    const std::vector<SequenceNumber> snapshots =
        round % 3 == 0 ? std::vector<SequenceNumber>{} : std::vector<SequenceNumber>{3, 6};
    const Tombstones output = Cut(input, snapshots, false, {"c", "f"});
    std::vector<SequenceNumber> readers = snapshots;
    readers.push_back(kMaxSequenceNumber);
    for (char key = 'a'; key < 'i'; key++) {
      for (const SequenceNumber at : readers) {
        // Entries beneath are older than every tombstone.
        EXPECT_EQ(Deletes(input, std::string(1, key), 0, at),
                  Deletes(output, std::string(1, key), 0, at))
            << "key " << key << " at " << at;
      }
    }
  }
}

TEST_F(SurvivingTombstonesTest, OneSequenceAStripeIsEnough) {
  const Tombstones input = {{"a", "z", 2}, {"a", "z", 3}, {"a", "z", 5}, {"a", "z", 9}};
  const Tombstones output = Cut(input, {4}, false, {});
  ASSERT_EQ(output.size(), 2u);
  EXPECT_EQ(output[0].seq, 9u);
  EXPECT_EQ(output[1].seq, 3u);
}

TEST_F(SurvivingTombstonesTest, NestedOnesMakeNoMorePiecesThanTwiceTheirNumber) {
  constexpr int kNested = 1000;
  Tombstones input;
  std::vector<SequenceNumber> snapshots;
  for (int i = 0; i < kNested; i++) {
    input.push_back(
        {std::to_string(10000 + i), std::to_string(90000 - i), static_cast<SequenceNumber>(i + 1)});
    snapshots.push_back(static_cast<SequenceNumber>(i + 1));
  }
  // Each is needed by a snapshot, and whole.
  EXPECT_EQ(Cut(input, snapshots, false, {}).size(), size_t{kNested});
  // Each shows on both sides of the next.
  EXPECT_EQ(Cut(input, {}, false, {}).size(), size_t{2 * kNested - 1});
  snapshots = {100, 500};
  EXPECT_LE(Cut(input, snapshots, false, {}).size(), size_t{2 * kNested});
}

// Files hold them in the order of internal keys, which have timestamps or not.
TEST_F(SurvivingTombstonesTest, AtOneBeginTheirOrderIsThatOfTheKeysInTheFile) {
  const InternalKeyComparator timed(BytewiseComparatorWithU64Ts());
  Tombstones input = {{"a", "c", 2}, {"a", "d", 5}, {"a", "b", 9}};
  const uint64_t times[] = {70, 90, 80};
  for (size_t i = 0; i < input.size(); i++) EncodeU64Ts(times[i], &input[i].timestamp);
  std::string above_all;
  EncodeU64Ts(100, &above_all);
  const auto order = [&](bool leaves_out) {
    const SurvivingTombstones survivors({FragmentedTombstones::Build(input, timed)}, timed, {3, 6},
                                        false, nullptr, {above_all, ""}, leaves_out);
    std::vector<SequenceNumber> seqs;
    for (const auto& piece : survivors.Within(nullptr, nullptr)) {
      if (piece.begin == Slice("a")) seqs.push_back(piece.sequence);
    }
    return seqs;
  };
  EXPECT_EQ(order(false), (std::vector<SequenceNumber>{5, 9, 2}));
  EXPECT_EQ(order(true), (std::vector<SequenceNumber>{9, 5, 2}));
}

TEST_F(SurvivingTombstonesTest, InTheLastLevelOnlySnapshotsKeepThem) {
  const Tombstones input = {{"a", "m", 3}, {"c", "z", 9}};
  EXPECT_TRUE(Cut(input, {}, true, {}).empty());
  const Tombstones output = Cut(input, {4}, true, {});
  ASSERT_EQ(output.size(), 1u);
  EXPECT_EQ(output[0].start, "c");
  EXPECT_EQ(output[0].end, "z");
  EXPECT_EQ(output[0].seq, 9u);
}

}  // namespace
}  // namespace varve
