// SPDX-License-Identifier: Apache-2.0

// Tests when garbage of blob files may be punched: not while an older version has the file, only
// what is wanted, and once; and that what cannot be punched comes again. Method: versions that have
// blob files and no tables.

#include "db/version/blob_holes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/db/version/set_fixture.h"

namespace varve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kHoledFileBytes = 10 << 20;

class BlobHolesOrderTest : public ::testing::Test {
 protected:
  std::shared_ptr<const BlobFile> File(uint64_t number) {
    BlobFileFacts facts;
    facts.number = number;
    facts.count = 100;
    facts.bytes = kHoledFileBytes;
    facts.referred_once = true;
    return std::make_shared<const BlobFile>(facts, nullptr);
  }
  VersionRef VersionOf(uint64_t number, const std::vector<std::shared_ptr<const BlobFile>>& files) {
    std::vector<BlobFileState> states;
    for (const auto& file : files) states.emplace_back().blobs = file;
    return std::make_shared<const Version>(&icmp_, number, std::vector<std::vector<FileRef>>(7),
                                           false, 0, BlobFiles(std::move(states)));
  }
  void Add(const std::shared_ptr<const BlobFile>& file, uint64_t without, ByteRange range) {
    NobodyElseIsThere();
    ByteRanges ranges;
    ranges.Add(range);
    holes_.Add(/*family=*/1, file, without, std::move(ranges));
  }
  std::vector<ByteRange> Take(const std::vector<VersionRef>& live, bool wanted = true) {
    NobodyElseIsThere();
    std::vector<BlobHoles::Task> tasks;
    holes_.TakeReady(
        live, [&](uint32_t) { return wanted; }, &tasks);
    std::vector<ByteRange> all;
    for (const auto& task : tasks) {
      all.insert(all.end(), task.holes.begin(), task.holes.end());
    }
    return all;
  }
  void Return(uint64_t number, ByteRange hole) {
    NobodyElseIsThere();
    holes_.Return(number, hole);
  }
  bool Empty() {
    NobodyElseIsThere();
    return holes_.empty();
  }

  InternalKeyComparator icmp_{BytewiseComparator()};
  BlobHoles holes_;
};

TEST_F(BlobHolesOrderTest, OlderVersionsWithTheFileAreWaitedFor) {
  const auto file = File(10);
  const auto other = File(11);
  const VersionRef current = VersionOf(5, {file});
  Add(file, 5, {100, 20000});
  EXPECT_THAT(Take({VersionOf(3, {file}), VersionOf(4, {other}), current}), IsEmpty());
  EXPECT_THAT(Take({VersionOf(4, {other}), current}), ElementsAre(ByteRange{4096, 16384}));
  EXPECT_TRUE(Empty());
  Add(file, 6, {20000, 20480});
  EXPECT_THAT(Take({current}), IsEmpty()) << "the present version is older now";
  EXPECT_THAT(Take({VersionOf(6, {file})}), ElementsAre(ByteRange{16384, 20480}))
      << "what is punched already does not come again";
}

// Several compactions drop values of the same files, and each waits for its own versions.
TEST_F(BlobHolesOrderTest, EachCompactionWaitsForItsVersions) {
  const auto file = File(10);
  const auto other = File(11);
  Add(file, 4, {4096, 8192});
  Add(file, 6, {16384, 20480});
  Add(other, 6, {4096, 8192});
  Add(file, 5, {8192, 12288});
  EXPECT_THAT(Take({VersionOf(3, {other}), VersionOf(4, {file, other}), VersionOf(6, {file})}),
              ElementsAre(ByteRange{4096, 8192}));
  EXPECT_THAT(Take({VersionOf(6, {file, other}), VersionOf(5, {file})}),
              ElementsAre(ByteRange{4096, 8192}, ByteRange{8192, 12288}))
      << "the order of versions does not matter";
  EXPECT_THAT(Take({VersionOf(6, {file})}), ElementsAre(ByteRange{16384, 20480}));
  EXPECT_TRUE(Empty());
}

TEST_F(BlobHolesOrderTest, WhatWasNotPunchedComesAgain) {
  const auto file = File(10);
  const VersionRef current = VersionOf(5, {file});
  Add(file, 5, {4096, 12288});
  EXPECT_THAT(Take({current}), SizeIs(1));
  Return(10, {4096, 12288});
  Return(99, {4096, 12288});
  EXPECT_TRUE(Empty()) << "until there is more garbage";
  Add(file, 5, {40960, 45056});
  EXPECT_THAT(Take({current}), ElementsAre(ByteRange{4096, 12288}, ByteRange{40960, 45056}));
}

TEST_F(BlobHolesOrderTest, GarbageThatNobodyWantsIsForgotten) {
  auto file = File(10);
  Add(file, 5, {4096, 12288});
  EXPECT_THAT(Take({VersionOf(5, {file})}, /*wanted=*/false), IsEmpty());
  EXPECT_TRUE(Empty());
  Add(file, 5, {4096, 12288});
  file.reset();
  EXPECT_THAT(Take({}), IsEmpty()) << "the file is gone";
  EXPECT_TRUE(Empty());
}

TEST_F(BlobHolesOrderTest, NothingIsPunchedDuringACopy) {
  NobodyElseIsThere();
  const auto file = File(10);
  const VersionRef current = VersionOf(5, {file});
  Add(file, 5, {4096, 12288});
  holes_.Hold();
  holes_.Hold();
  EXPECT_TRUE(Empty());
  EXPECT_THAT(Take({current}), IsEmpty());
  holes_.EndHold();
  EXPECT_TRUE(Empty());
  holes_.EndHold();
  EXPECT_FALSE(Empty());
  EXPECT_THAT(Take({current}), SizeIs(1));
}

TEST_F(BlobHolesOrderTest, MemoryIsBounded) {
  NobodyElseIsThere();
  const auto first = File(10);
  const auto second = File(11);
  const auto scattered = [](size_t n) {
    ByteRanges ranges;
    for (uint64_t i = 0; i < n; ++i) ranges.Add({i * 10000, i * 10000 + 9000});
    return ranges;
  };
  const size_t most = BlobHoles::kMostRanges;
  holes_.Add(1, first, 5, scattered(most));
  EXPECT_FALSE(Empty());
  holes_.Add(1, second, 5, scattered(10));
  EXPECT_THAT(Take({VersionOf(5, {first, second})}), SizeIs(10)) << "the oldest file is forgotten";
}

}  // namespace
}  // namespace varve
