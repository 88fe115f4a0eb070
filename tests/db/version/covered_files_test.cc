// SPDX-License-Identifier: Apache-2.0

// Tests what range tombstones of one table mean for the entries of another.

#include "db/version/covered_files.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "varve/perf_context.h"

#include "db/version/file_bounds.h"
#include "table/factory/table_format.h"
#include "table/table_reader.h"
#include "tests/db/version/drawn_tree.h"
#include "util/key/range_tombstone.h"

namespace varve {
namespace {

class CoverTest : public ::testing::Test {
 protected:
  // File 5 holds [d, h], with sequence numbers up to 5; file 9, with the tombstones, [a, p].
  Cover Of(const std::vector<RangeTombstone>& tombstones, SequenceNumber oldest = 100) {
    const VersionRef tree = DrawTree("L1: 9[a-p]1 L2: 5[d-h]1");
    int level = 0;
    return CoverOf(*tree->FindByNumber(5, &level), *tree->FindByNumber(9, &level),
                   *FragmentedTombstones::Build(tombstones, BytewiseOrder()), oldest);
  }
};

TEST_F(CoverTest, ATombstoneOverAllKeysCoversTheFile) {
  EXPECT_TRUE(Of({{"a", "p", 9}}).whole);
  EXPECT_TRUE(Of({{"d", "i", 6}}).whole) << "from its first key to behind its last";
}

TEST_F(CoverTest, TheEndOfATombstoneIsNotUnderIt) {
  EXPECT_FALSE(Of({{"d", "h", 9}}).whole);
  EXPECT_FALSE(Of({{"e", "p", 9}}).whole);
}

TEST_F(CoverTest, SeveralTombstonesCoverItTogetherIfTheyTouch) {
  EXPECT_TRUE(Of({{"a", "e", 7}, {"e", "g", 8}, {"f", "p", 6}}).whole);
  EXPECT_FALSE(Of({{"a", "e", 7}, {"f", "p", 6}}).whole);
  EXPECT_FALSE(Of({{"a", "e", 7}, {"e", "p", 5}}).whole) << "not newer than an entry may be";
}

TEST_F(CoverTest, ASnapshotFromBeforeTheTombstoneStillSeesTheFile) {
  const Cover waits = Of({{"a", "f", 7}, {"e", "p", 8}}, 7);
  EXPECT_FALSE(waits.whole);
  EXPECT_EQ(waits.whole_from, 8u);
  EXPECT_TRUE(Of({{"a", "f", 7}, {"e", "p", 8}}, 8).whole);
  EXPECT_TRUE(Of({{"a", "p", 7}, {"a", "p", 9}}, 8).whole) << "by the older of two";
  EXPECT_EQ(Of({{"e", "p", 8}}, 7).whole_from, kMaxSequenceNumber) << "never";
}

TEST_F(CoverTest, TombstonesCountWithinTheBoundsOfTheirTable) {
  const VersionRef tree = DrawTree("L1: 9[a-g]1 L2: 5[d-h]1");
  int level = 0;
  const std::vector<RangeTombstone> wide = {{"a", "p", 9}};
  EXPECT_FALSE(CoverOf(*tree->FindByNumber(5, &level), *tree->FindByNumber(9, &level),
                       *FragmentedTombstones::Build(wide, BytewiseOrder()), 100)
                   .whole);
}

// ---- Whole trees, looked at again and again ----

// An open table that is asked only for its tombstones.
class TombstonesOnly final : public TableReader {
 public:
  explicit TombstonesOnly(const std::vector<RangeTombstone>& tombstones)
      : tombstones_(FragmentedTombstones::Build(tombstones, BytewiseOrder())) {}
  const std::shared_ptr<const FragmentedTombstones>& tombstones() const override {
    return tombstones_;
  }
  using TableReader::Get;
  Status Get(const ReadOptions&, PointLookup*, const TableHint&) const override {
    return Unasked();
  }
  bool KeyMayMatch(const ReadOptions&, const PointLookup&) const override { return true; }
  std::unique_ptr<InternalIterator> NewIterator(const ReadOptions&,
                                                const TableIterOptions&) const override {
    return nullptr;
  }
  const std::shared_ptr<const TableProperties>& properties() const override { return properties_; }
  void SetSequence(SequenceNumber /*sequence*/) override {}
  const std::string& newest_timestamp() const override { return newest_timestamp_; }
  uint64_t ApproximateOffsetOf(const ReadOptions&, const Slice&) const override { return 0; }
  Status VerifyChecksum(const ReadOptions&, const PaceReads&) const override { return Unasked(); }
  Status Salvage(const TakeEntry&, SalvageCount*) const override { return Unasked(); }
  size_t MemoryUsage() const override { return 0; }
  const TableFormat& format() const override { return BlockBasedTableFormat(); }

 private:
  static Status Unasked() { return Status::NotSupported("not asked here"); }

  const std::shared_ptr<const FragmentedTombstones> tombstones_;
  const std::shared_ptr<const TableProperties> properties_;
  const std::string newest_timestamp_;
};

std::string Digits(uint64_t n) {
  std::string digits = std::to_string(n);
  return std::string(6 - digits.size(), '0') + digits;
}

class FindCoveredFilesTest : public ::testing::Test {
 protected:
  static constexpr SequenceNumber kNoSnapshot = kMaxSequenceNumber;

  // Sequences are the number.
  static FileRef File(uint64_t number, uint64_t first, uint64_t last) {
    auto file = std::make_shared<FileMetaData>();
    file->number = file->epoch_number = file->smallest_seq = file->largest_seq = number;
    file->smallest = InternalKey(Digits(first), number, kTypeValue);
    file->largest = InternalKey(Digits(last), number, kTypeValue);
    file->size = 1;
    return file;
  }
  static void Open(const FileRef& file, const std::vector<RangeTombstone>& tombstones) {
    file->reader = new TombstonesOnly(tombstones);
  }
  static RangeTombstone Range(uint64_t first, uint64_t end, SequenceNumber seq) {
    return {Digits(first), Digits(end), seq};
  }
  // Returns the numbers of covered files, and counts the comparisons.
  std::set<uint64_t> Find(SequenceNumber oldest = kNoSnapshot) {
    const Version version(&BytewiseOrder(), 1, levels_);
    const uint64_t before = get_perf_context()->user_key_comparison_count;
    found_ = FindCoveredFiles(version, oldest);
    comparisons_ = get_perf_context()->user_key_comparison_count - before;
    std::set<uint64_t> numbers;
    for (const CoveredFile& file : found_.files) {
      numbers.insert(version.level(file.level)[file.index]->number);
    }
    return numbers;
  }

  std::vector<std::vector<FileRef>> levels_{7};
  CoveredFiles found_;
  uint64_t comparisons_ = 0;
};

TEST_F(FindCoveredFilesTest, ManyTombstonesOverManyFilesAreHeldAgainstThemOnce) {
  for (uint64_t i = 0; i < 10000; i++) levels_[6].push_back(File(i + 1, 10 * i, 10 * i + 9));
  for (uint64_t n = 0; n < 8; n++) {
    levels_[0].push_back(File(20000 + n, 0, 100000));
    std::vector<RangeTombstone> tombstones;
    for (uint64_t i = 0; i < 100; i++) {
      // Each covers one file, and keys of two others; those of every second table cover only keys.
      const uint64_t at = 1000 * i + 100 * n;
      tombstones.push_back(Range(at + 5, at + (n % 2 == 0 ? 25 : 15), 20000 + n));
    }
    Open(levels_[0].back(), tombstones);
  }
  EXPECT_EQ(Find().size(), 400u);
  EXPECT_LT(comparisons_, 200000u) << "not for each of the files";
  EXPECT_EQ(Find().size(), 400u);
  EXPECT_EQ(comparisons_, 0u) << "nothing was new";
  levels_[6].erase(levels_[6].begin() + 11);
  levels_[6].insert(levels_[6].begin() + 11, File(15000, 110, 119));
  EXPECT_EQ(Find().size(), 400u);
  EXPECT_LT(comparisons_, 200u) << "one file was new";
}

TEST_F(FindCoveredFilesTest, OneTombstoneOverAllIsALookAtEachOnce) {
  for (uint64_t i = 0; i < 10000; i++) levels_[6].push_back(File(i + 1, 10 * i, 10 * i + 9));
  levels_[0] = {File(20000, 0, 200000)};
  Open(levels_[0][0], {Range(0, 200000, 20000)});
  EXPECT_TRUE(Find(/*oldest=*/19999).empty());
  EXPECT_EQ(found_.waits_for_snapshot, 20000u);
  EXPECT_LT(comparisons_, 10000 * 20u);
  EXPECT_TRUE(Find(/*oldest=*/19999).empty());
  EXPECT_EQ(found_.waits_for_snapshot, 20000u);
  EXPECT_EQ(comparisons_, 0u);
  EXPECT_EQ(Find(/*oldest=*/20000).size(), 10000u) << "the snapshot went";
  EXPECT_EQ(comparisons_, 0u);
}

TEST_F(FindCoveredFilesTest, WhatWasBusyIsFoundAfterwards) {
  levels_[0] = {File(9, 0, 100)};
  levels_[2] = {File(1, 10, 20), File(2, 30, 40)};
  Open(levels_[0][0], {Range(0, 50, 9)});
  levels_[2][0]->notes.being_compacted = true;
  EXPECT_EQ(Find(), (std::set<uint64_t>{2}));
  levels_[2][0]->notes.being_compacted = false;
  EXPECT_EQ(Find(), (std::set<uint64_t>{1, 2}));
}

TEST_F(FindCoveredFilesTest, ATableThatIsOpenedLaterCountsThen) {
  levels_[0] = {File(9, 0, 100)};
  levels_[2] = {File(1, 10, 20)};
  TableCounts counts;
  counts.entries = counts.deletions = counts.range_deletions = 1;
  levels_[0][0]->SetCounts(counts);
  EXPECT_TRUE(Find().empty());
  EXPECT_EQ(found_.unopened.size(), 1u);
  Open(levels_[0][0], {Range(0, 50, 9)});
  EXPECT_EQ(Find(), (std::set<uint64_t>{1}));
  EXPECT_TRUE(found_.unopened.empty());
}

// Trees change at random; each look must find what holding every file against every tombstone that
// was ever above it would.
TEST_F(FindCoveredFilesTest, LooksThatFollowEachOtherFindWhatOneWould) {
  std::mt19937 random(5);
  size_t found = 0;
  for (int round = 0; round < 60; round++) {
    levels_.assign(7, {});
    uint64_t number = 1;
    std::map<uint64_t, SequenceNumber> covered_from;
    for (int step = 0; step < 12; step++) {
      // A level is laid anew, as far as dice say so: files that touch, or do not.
      const size_t level = random() % 4;
      auto& files = levels_[level];
      if (level == 0) {
        if (files.size() > 3) files.pop_back();
        const uint64_t first = random() % 40;
        files.insert(files.begin(), File(1000 + number, first, first + random() % 60));
        number++;
      } else {
        std::vector<FileRef> kept;
        uint64_t key = random() % 10;
        for (const FileRef& file : files) {
          if (random() % 2 == 0) kept.push_back(file);
        }
        if (kept.empty()) {
          for (; key < 90; key += 1 + random() % 4) {
            const uint64_t last = key + random() % 12;
            kept.push_back(File(number++, key, last));
            key = last;
          }
        }
        files = kept;
      }
      for (const auto& each : levels_) {
        for (const FileRef& file : each) {
          if (file->reader.load() != nullptr || random() % 3 != 0) continue;
          std::vector<RangeTombstone> tombstones;
          for (uint32_t i = random() % 4; i > 0; i--) {
            const uint64_t first = random() % 90;
            tombstones.push_back(Range(first, first + random() % 50, file->number));
          }
          Open(file, tombstones);
        }
      }
      const SequenceNumber oldest = random() % 2 == 0 ? kNoSnapshot : 1 + random() % 1200;
      std::set<uint64_t> expected;
      SequenceNumber waits = kMaxSequenceNumber;
      const Version version(&BytewiseOrder(), 1, levels_);
      for (int at = 0; at < 4; at++) {
        for (size_t i = 0; i < version.level(at).size(); i++) {
          SequenceNumber& from =
              covered_from.emplace(version.level(at)[i]->number, kMaxSequenceNumber).first->second;
          for (int above = 0; above <= at; above++) {
            for (size_t j = 0; j < version.level(above).size(); j++) {
              if (above == at && (at > 0 || j >= i)) continue;
              const FileMetaData& owner = *version.level(above)[j];
              const TableReader* const reader = owner.reader;
              if (reader == nullptr || reader->tombstones()->empty()) continue;
              const Cover cover =
                  CoverOf(*version.level(at)[i], owner, *reader->tombstones(), oldest);
              EXPECT_EQ(cover.whole,
                        cover.whole_from != kMaxSequenceNumber && cover.whole_from <= oldest);
              from = std::min(from, cover.whole_from);
            }
          }
          if (from == kMaxSequenceNumber) continue;
          if (from <= oldest) expected.insert(version.level(at)[i]->number);
          if (from > oldest) waits = std::min(waits, from);
        }
      }
      ASSERT_EQ(Find(oldest), expected) << "round " << round << " step " << step;
      ASSERT_EQ(found_.waits_for_snapshot, waits) << "round " << round << " step " << step;
      found += expected.size();
    }
  }
  EXPECT_GT(found, 100u);
}

}  // namespace
}  // namespace varve
