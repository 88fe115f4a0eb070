// SPDX-License-Identifier: Apache-2.0

// Tests filters, failures and bounds of one compaction pass.

#include "db/compaction/compaction_iterator.h"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/db/compaction/list_iterator.h"

namespace varve {
namespace {

using test::Entry;
using test::ListIterator;

class FunctionFilter final : public CompactionFilter {
 public:
  using Function = std::function<Decision(const Slice& key, ValueType type, std::string* new_value,
                                          std::string* skip_until)>;
  explicit FunctionFilter(Function function) : function_(std::move(function)) {}
  const char* Name() const override { return "test.filter"; }
  Decision FilterV2(int, const Slice& key, ValueType type, const Slice&, std::string* new_value,
                    std::string* skip_until) const override {
    asked.push_back(key.ToString());
    return function_(key, type, new_value, skip_until);
  }
  mutable std::vector<std::string> asked;

 private:
  Function function_;
};

class CompactionIteratorTest : public ::testing::Test {
 protected:
  CompactionIteratorTest() { options_.icmp = &icmp_; }

  // Returns "key@seq=value" for values, "key@seq-" for other types.
  std::string Run(const std::vector<Entry>& entries, const Slice* begin = nullptr) {
    ListIterator input(entries);
    return Run(&input, begin);
  }
  std::string Run(ListIterator* input, const Slice* begin = nullptr,
                  TombstoneSet* tombstones = nullptr) {
    CompactionIterator iterator(input, tombstones, options_);
    std::string text;
    for (iterator.Start(begin); iterator.Valid(); iterator.Next()) {
      text += ExtractUserKey(iterator.key()).ToString() + "@" +
              std::to_string(ExtractSequence(iterator.key()));
      const bool value = ExtractValueType(iterator.key()) == kTypeValue;
      text += value ? "=" + iterator.value().ToString() + " " : "- ";
    }
    status_ = iterator.status();
    counts_ = iterator.counts();
    return text;
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  CompactionIteratorOptions options_;
  Status status_;
  CompactionCounts counts_;
};

using Decision = CompactionFilter::Decision;

TEST_F(CompactionIteratorTest, FilterSeesTheNewestValueOnlyAndRemovesWithAMarker) {
  const FunctionFilter filter([](const Slice&, auto, auto*, auto*) { return Decision::kRemove; });
  options_.filter = &filter;
  const std::vector<Entry> entries = {{"a", 9, kTypeValue, "1"},
                                      {"a", 8, kTypeValue, "2"},
                                      {"b", 7, kTypeDeletion, ""},
                                      {"c", 6, kTypeValue, "3"}};
  EXPECT_EQ(Run(entries), "a@9- b@7- c@6- ");
  EXPECT_EQ(filter.asked, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(counts_.dropped_by_filter, 0u);
  EXPECT_EQ(counts_.entries_out + counts_.dropped(), counts_.entries_in);
  options_.bottommost = true;
  EXPECT_EQ(Run(entries), "");
  EXPECT_EQ(counts_.dropped_by_filter, 2u);
  EXPECT_EQ(counts_.entries_out + counts_.dropped(), counts_.entries_in);
  EXPECT_TRUE(status_.ok());
}

TEST_F(CompactionIteratorTest, FilterMayReplaceAValue) {
  const FunctionFilter filter([](const Slice&, auto, std::string* value, auto*) {
    *value = "new";
    return Decision::kChangeValue;
  });
  options_.filter = &filter;
  EXPECT_EQ(Run({{"a", 9, kTypeValue, "1"}, {"b", 8, kTypeValue, "2"}}), "a@9=new b@8=new ");
}

TEST_F(CompactionIteratorTest, FilterMaySkipARangeWithoutMarkers) {
  const FunctionFilter filter([](const Slice& key, auto, auto*, std::string* until) {
    *until = "c";
    return key == Slice("a") || key == Slice("d") ? Decision::kRemoveAndSkipUntil : Decision::kKeep;
  });
  options_.filter = &filter;
  // The entry "d" stays, as its range would end before it begins.
  EXPECT_EQ(Run({{"a", 9, kTypeValue, "1"},
                 {"a", 3, kTypeValue, "0"},
                 {"b", 8, kTypeValue, "2"},
                 {"c", 7, kTypeValue, "3"},
                 {"d", 6, kTypeValue, "4"}}),
            "c@7=3 d@6=4 ");
  EXPECT_TRUE(counts_.skipped);
}

TEST_F(CompactionIteratorTest, FilterSeesOperandsThatNoSnapshotNeeds) {
  const FunctionFilter filter([](const Slice&, CompactionFilter::ValueType type, auto*, auto*) {
    return type == CompactionFilter::kMergeOperand ? Decision::kRemove : Decision::kKeep;
  });
  options_.filter = &filter;
  options_.snapshots = {5};
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "1"}, {"a", 4, kTypeMerge, "0"}}), "a@4- ");
}

TEST_F(CompactionIteratorTest, AThrowingFilterAborts) {
  const FunctionFilter filter(
      [](const Slice&, auto, auto*, auto*) -> Decision { throw std::runtime_error("no"); });
  options_.filter = &filter;
  EXPECT_EQ(Run({{"a", 9, kTypeValue, "1"}}), "");
  EXPECT_TRUE(status_.IsAborted()) << status_.ToString();
  EXPECT_NE(status_.ToString().find("test.filter"), std::string::npos);
}

TEST_F(CompactionIteratorTest, AFilterThatWantsSnapshotsHiddenIsRefused) {
  class Hiding final : public CompactionFilter {
   public:
    const char* Name() const override { return "hiding"; }
    bool IgnoreSnapshots() const override { return false; }
  };
  const Hiding filter;
  options_.filter = &filter;
  EXPECT_EQ(Run({{"a", 9, kTypeValue, "1"}}), "");
  EXPECT_TRUE(status_.IsNotSupported());
}

TEST_F(CompactionIteratorTest, InputOutOfOrderIsCorruptionThatNamesTheComparator) {
  Run({{"b", 9, kTypeValue, "1"}, {"a", 8, kTypeValue, "2"}});
  EXPECT_TRUE(status_.IsCorruption());
  EXPECT_NE(status_.ToString().find(BytewiseComparator()->Name()), std::string::npos);
  Run({{"a", 8, kTypeValue, "1"}, {"a", 9, kTypeValue, "2"}});
  EXPECT_TRUE(status_.IsCorruption());
}

TEST_F(CompactionIteratorTest, OneEntryTwiceCountsOnce) {
  EXPECT_EQ(Run({{"a", 8, kTypeValue, "1"}, {"a", 8, kTypeValue, "1"}}), "a@8=1 ");
  EXPECT_TRUE(status_.ok());
}

TEST_F(CompactionIteratorTest, SingleDeleteOverDeleteIsReportedWhenAskedTo) {
  const std::vector<Entry> entries = {{"a", 9, kTypeSingleDeletion, ""},
                                      {"a", 8, kTypeDeletion, ""}};
  Run(entries);
  EXPECT_TRUE(status_.IsCorruption());
  options_.checks.enforce_single_del_contracts = false;
  EXPECT_EQ(Run(entries), "a@8- ");
  EXPECT_TRUE(status_.ok());
  EXPECT_EQ(counts_.single_delete_mismatches, 1u);
}

TEST_F(CompactionIteratorTest, AFailedInputEndsTheWalkAlsoBehindASingleDelete) {
  ListIterator input({{"a", 9, kTypeSingleDeletion, ""}, {"a", 8, kTypeValue, "1"}});
  input.FailAfter(1, Status::IOError("gone"));
  EXPECT_EQ(Run(&input), "");
  EXPECT_TRUE(status_.IsIOError());
}

// While history is kept, each timestamp is judged by itself; but the value that a SingleDelete
// belongs to may have an older one.
TEST_F(CompactionIteratorTest, ASingleDeleteUnderAValueOfItsTimestampStays) {
  const InternalKeyComparator timed(BytewiseComparatorWithU64Ts());
  options_.icmp = &timed;
  const auto at = [](uint64_t timestamp) {
    std::string key = "k";
    std::string encoded;
    key += EncodeU64Ts(timestamp, &encoded).ToString();
    return key;
  };
  const auto numbers = [&](const std::vector<Entry>& entries) {
    ListIterator input(entries);
    CompactionIterator iterator(&input, nullptr, options_);
    std::string text;
    for (iterator.Start(nullptr); iterator.Valid(); iterator.Next()) {
      text += std::to_string(ExtractSequence(iterator.key())) + " ";
    }
    EXPECT_TRUE(iterator.status().ok()) << iterator.status().ToString();
    EXPECT_EQ(iterator.counts().entries_out + iterator.counts().dropped(),
              iterator.counts().entries_in);
    return text;
  };
  EXPECT_EQ(numbers({{at(2), 8, kTypeValue, "new"}, {at(2), 7, kTypeSingleDeletion, ""}}), "8 7 ");
  EXPECT_EQ(numbers({{at(2), 8, kTypeValue, "new"},
                     {at(2), 7, kTypeSingleDeletion, ""},
                     {at(1), 6, kTypeValue, "own"}}),
            "8 7 6 ")
      << "as of 1, the value is there";
  EXPECT_EQ(numbers({{at(2), 8, kTypeValue, "new"},
                     {at(2), 7, kTypeSingleDeletion, ""},
                     {at(2), 6, kTypeValue, "own"},
                     {at(1), 5, kTypeValue, "older"}}),
            "8 5 ");
  EXPECT_EQ(
      numbers({{at(2), 8, kTypeDeletionWithTimestamp, ""}, {at(2), 7, kTypeSingleDeletion, ""}}),
      "8 ");
  options_.snapshots = {7};
  EXPECT_EQ(numbers({{at(2), 8, kTypeValue, "new"}, {at(2), 7, kTypeSingleDeletion, ""}}), "8 7 ");
  options_.snapshots.clear();
  options_.history.full_history_ts_low = at(3).substr(1);
  EXPECT_EQ(numbers({{at(2), 9, kTypeSingleDeletion, ""},
                     {at(2), 8, kTypeValue, "new"},
                     {at(2), 7, kTypeSingleDeletion, ""}}),
            "7 ");
}

TEST_F(CompactionIteratorTest, BoundsCutUserKeys) {
  const Slice begin("b");
  const Slice end("d");
  options_.end = &end;
  EXPECT_EQ(Run({{"a", 9, kTypeValue, "1"},
                 {"b", 8, kTypeValue, "2"},
                 {"c", 7, kTypeValue, "3"},
                 {"d", 6, kTypeValue, "4"}},
                &begin),
            "b@8=2 c@7=3 ");
  EXPECT_EQ(counts_.entries_in, 2u);
}

// ---- What range tombstones cover ----

class CoveredCompactionTest : public CompactionIteratorTest {
 protected:
  CoveredCompactionTest() { options_.covered_before_jump = 1; }

  std::string RunUnder(const std::vector<RangeTombstone>& tombstones,
                       const std::vector<Entry>& entries) {
    TombstoneSet set(*options_.icmp);
    set.Add(FragmentedTombstones::Build(tombstones, *options_.icmp));
    ListIterator input(entries);
    input.KnowAges();
    const std::string text = Run(&input, nullptr, &set);
    left_out_ = input.left_out();
    skips_asked_ = input.skips_asked();
    EXPECT_TRUE(!status_.ok() || counts_.entries_out + counts_.dropped() == counts_.entries_in);
    return text;
  }

  const std::vector<Entry> letters_ = {
      {"a", 1, kTypeValue, "1"}, {"b", 2, kTypeValue, "2"}, {"c", 3, kTypeValue, "3"},
      {"d", 9, kTypeValue, "9"}, {"d", 4, kTypeValue, "4"}, {"e", 5, kTypeValue, "5"},
      {"f", 6, kTypeValue, "6"}, {"g", 7, kTypeValue, "7"}, {"h", 10, kTypeValue, "0"}};
  size_t left_out_ = 0;
  size_t skips_asked_ = 0;
};

TEST_F(CoveredCompactionTest, OlderEntriesAreLeftOutUpToItsEnd) {
  EXPECT_EQ(RunUnder({{"b", "h", 8}}, letters_), "a@1=1 d@9=9 h@10=0 ");
  EXPECT_EQ(left_out_, 3u) << "c, f and g; b and e were met";
  EXPECT_TRUE(counts_.jumped);
  EXPECT_EQ(counts_.entries_in + left_out_, letters_.size());
  options_.covered_before_jump = 3;
  EXPECT_EQ(RunUnder({{"b", "h", 8}}, letters_), "a@1=1 d@9=9 h@10=0 ");
  EXPECT_EQ(left_out_, 2u) << "c was stepped over, too";
  options_.covered_before_jump = 0;
  EXPECT_EQ(RunUnder({{"b", "h", 8}}, letters_), "a@1=1 d@9=9 h@10=0 ");
  EXPECT_EQ(skips_asked_, 0u);
}

TEST_F(CoveredCompactionTest, ASnapshotOlderThanTheTombstoneNeedsThem) {
  options_.snapshots = {4};
  EXPECT_EQ(RunUnder({{"a", "i", 8}}, letters_), "a@1=1 b@2=2 c@3=3 d@9=9 d@4=4 h@10=0 ");
  EXPECT_EQ(counts_.dropped_covered, 3u);
  EXPECT_EQ(skips_asked_, 0u);
  options_.snapshots = {8};
  EXPECT_EQ(RunUnder({{"a", "i", 8}}, letters_), "d@9=9 h@10=0 ");
  EXPECT_EQ(left_out_, 5u);
}

TEST_F(CoveredCompactionTest, TombstonesThatTouchAreLeftTogether) {
  std::vector<Entry> entries;
  std::vector<RangeTombstone> tombstones;
  for (char c = 'a'; c < 'z'; c++) {
    for (const char* n : {"1", "2", "3"})
      entries.push_back({c + std::string(n), 5, kTypeValue, ""});
    tombstones.push_back({std::string(1, c), std::string(1, static_cast<char>(c + 1)),
                          static_cast<SequenceNumber>(c)});
  }
  entries.push_back({"z", 6, kTypeValue, "z"});
  options_.covered_before_jump = 2;
  EXPECT_EQ(RunUnder(tombstones, entries), "z@6=z ");
  EXPECT_LE(skips_asked_, 6u) << "each jump takes more of the 25 than the one before";
  EXPECT_LE(counts_.entries_in, 9u);
}

// Jumps between tombstones of a few entries each, with something alive between them, cost more than
// the steps.
TEST_F(CoveredCompactionTest, SmallTombstonesAreSteppedOver) {
  std::vector<Entry> entries;
  std::vector<RangeTombstone> tombstones;
  for (char c = 'a'; c < 'z'; c++) {
    for (const char* n : {"1", "2", "3"})
      entries.push_back({c + std::string(n), 5, kTypeValue, ""});
    tombstones.push_back({std::string(1, c), c + std::string("3"), 7});
  }
  options_.covered_before_jump = 3;
  RunUnder(tombstones, entries);
  EXPECT_EQ(counts_.entries_out, 25u);
  EXPECT_EQ(skips_asked_, 0u);
  EXPECT_FALSE(counts_.jumped);
}

TEST_F(CoveredCompactionTest, FiltersAreNotAskedAboutWhatIsCovered) {
  const FunctionFilter filter([](const Slice&, auto, auto*, auto*) { return Decision::kKeep; });
  options_.filter = &filter;
  for (const uint32_t before_jump : {0u, 1u}) {
    options_.covered_before_jump = before_jump;
    filter.asked.clear();
    EXPECT_EQ(RunUnder({{"b", "h", 8}}, letters_), "a@1=1 d@9=9 h@10=0 ");
    EXPECT_EQ(filter.asked, (std::vector<std::string>{"a", "d", "h"})) << before_jump;
  }
}

TEST_F(CoveredCompactionTest, NoJumpLeadsBeyondTheEndOfThePiece) {
  const Slice end("c");
  options_.end = &end;
  EXPECT_EQ(RunUnder({{"a", "i", 8}}, letters_), "");
  EXPECT_EQ(left_out_, 1u) << "b";
  EXPECT_EQ(counts_.entries_in, 1u);
}

// A tombstone's sequence number says nothing of the times before which it was written.
TEST_F(CoveredCompactionTest, TimestampsAreMetOneByOne) {
  const InternalKeyComparator timed(BytewiseComparatorWithU64Ts());
  options_.icmp = &timed;
  std::string low;
  std::string five;
  options_.history.full_history_ts_low = EncodeU64Ts(9, &low).ToString();
  std::vector<Entry> entries;
  for (const char* key : {"b", "c", "d"}) {
    for (const uint64_t time : {12, 3}) {
      std::string encoded;
      const SequenceNumber sequence = time == 12 ? 30 : 3;
      entries.push_back({key + EncodeU64Ts(time, &encoded).ToString(), sequence, kTypeValue, "v"});
    }
  }
  ListIterator input(entries);
  input.KnowAges();
  TombstoneSet set(timed);
  set.Add(FragmentedTombstones::Build(
      std::vector<RangeTombstone>{{"a", "x", 20, EncodeU64Ts(5, &five).ToString()}}, timed));
  Run(&input, nullptr, &set);
  EXPECT_EQ(counts_.entries_out, 3u) << "those of time 12";
  EXPECT_EQ(counts_.dropped_covered, 3u);
  EXPECT_EQ(input.skips_asked(), 0u);
}

TEST_F(CoveredCompactionTest, AJumpBackIsCorruption) {
  const std::vector<Entry> entries = {{"a", 1, kTypeValue, "1"},
                                      {"f", 6, kTypeValue, "6"},
                                      {"c", 9, kTypeValue, "9"},
                                      {"h", 10, kTypeValue, "0"}};
  RunUnder({{"f", "g", 8}}, entries);
  EXPECT_TRUE(status_.IsCorruption()) << status_.ToString();
}

TEST_F(CompactionIteratorTest, CancellationEndsTheWalk) {
  const std::atomic<bool> yes{true};
  options_.cancel.user = &yes;
  Run({{"a", 9, kTypeValue, "1"}});
  EXPECT_TRUE(status_.IsManualCompactionPaused());
  options_.cancel.closing = &yes;
  Run({{"a", 9, kTypeValue, "1"}});
  EXPECT_TRUE(status_.IsShutdownInProgress());
}

}  // namespace
}  // namespace varve
