// SPDX-License-Identifier: Apache-2.0

// Tests what flushes and compactions do with merge operands: the rules one by one, then at random
// against readers, who must see no difference.

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "varve/merge_operator.h"
#include "varve/statistics.h"

#include "db/compaction/compaction_iterator.h"
#include "db/compaction/surviving_tombstones.h"
#include "tests/db/compaction/list_iterator.h"
#include "util/key/entity.h"

namespace varve {
namespace {

using test::Entry;
using test::ListIterator;
using Decision = CompactionFilter::Decision;

// Appends: "base,1,2", or "(1,2)" without a base, so that the results show what the merge knew.
class Append final : public MergeOperator {
 public:
  const char* Name() const override { return "test.append"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    full_calls++;
    if (throws) throw std::runtime_error("thrown");
    if (fails.count(in.key.ToString()) > 0) return false;
    if (returns_operand && in.operand_list.size() == 1) {
      out->existing_operand = in.operand_list.front();
      return true;
    }
    std::string list = in.existing_value != nullptr ? in.existing_value->ToString() : "";
    for (const Slice& operand : in.operand_list) {
      list += (list.empty() && in.existing_value == nullptr ? "" : ",") + operand.ToString();
    }
    out->new_value = in.existing_value != nullptr ? list : "(" + list + ")";
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* result,
                         Logger*) const override {
    partial_calls++;
    if (throws) throw std::runtime_error("thrown");
    if (!partial) return false;
    for (const Slice& operand : operands) {
      *result += (result->empty() ? "" : ",") + operand.ToString();
    }
    return true;
  }
  bool AllowSingleOperand() const override { return single; }

  bool partial = true;
  bool single = false;
  bool throws = false;
  bool returns_operand = false;
  std::set<std::string> fails;
  mutable int full_calls = 0;
  mutable int partial_calls = 0;
};

class OperandFilter final : public CompactionFilter {
 public:
  using Function = std::function<Decision(ValueType type, const std::string& value,
                                          std::string* new_value, std::string* skip_until)>;
  explicit OperandFilter(Function function) : function_(std::move(function)) {}
  const char* Name() const override { return "test.filter"; }
  Decision FilterV2(int, const Slice& key, ValueType type, const Slice& value,
                    std::string* new_value, std::string* skip_until) const override {
    asked += (type == kMergeOperand ? "m" : "v") + key.ToString() + value.ToString() + " ";
    return function_(type, value.ToString(), new_value, skip_until);
  }
  mutable std::string asked;

 private:
  Function function_;
};

class MergeCompactionTest : public ::testing::Test {
 protected:
  MergeCompactionTest() {
    options_.icmp = &icmp_;
    options_.merge = MergeCaller(&append_, nullptr, statistics_.get());
  }

  // Returns "key@seq=value" for values, "key@seq+value" for operands, "key@seq-" for deletions.
  std::string Run(const std::vector<Entry>& entries,
                  const std::vector<RangeTombstone>& tombstones = {}) {
    std::string first;
    for (const size_t run : {1, 2, 32}) {
      ListIterator input(entries);
      input.ServeBatchesOf(run);
      const std::string text = RunOnce(&input, tombstones);
      if (run == 1) first = text;
      EXPECT_EQ(text, first) << "in runs of " << run;
      EXPECT_TRUE(counts_.skipped || counts_.entries_in == entries.size());
      EXPECT_EQ(counts_.entries_in, counts_.entries_out + counts_.dropped());
    }
    if (tombstones.empty()) return first;
    const CompactionCounts stepping = counts_;
    ListIterator jumping(entries);
    jumping.KnowAges();
    options_.covered_before_jump = 1;
    EXPECT_EQ(RunOnce(&jumping, tombstones), first) << "with jumps";
    options_.covered_before_jump = 0;
    counts_ = stepping;
    return first;
  }
  std::string RunOnce(ListIterator* input, const std::vector<RangeTombstone>& tombstones) {
    TombstoneSet set(icmp_);
    if (!tombstones.empty()) set.Add(FragmentedTombstones::Build(tombstones, icmp_));
    CompactionIterator iterator(input, &set, options_);
    std::string text;
    std::string last;
    for (iterator.Start(nullptr); iterator.Valid(); iterator.Next()) {
      const std::string key = ExtractUserKey(iterator.key()).ToString();
      EXPECT_EQ(iterator.starts_user_key(), key != last) << key;
      last = key;
      text += key + "@" + std::to_string(ExtractSequence(iterator.key()));
      const ValueType type = ExtractValueType(iterator.key());
      text += type == kTypeValue ? "=" : type == kTypeMerge ? "+" : "-";
      text += iterator.value().ToString() + " ";
    }
    status_ = iterator.status();
    counts_ = iterator.counts();
    return text;
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  const std::shared_ptr<Statistics> statistics_ = CreateDBStatistics();
  Append append_;
  CompactionIteratorOptions options_;
  Status status_;
  CompactionCounts counts_;
};

TEST_F(MergeCompactionTest, OperandsAndTheirBaseBecomeAValueWithTheNewestNumber) {
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "3"},
                 {"a", 8, kTypeMerge, "2"},
                 {"a", 7, kTypeValue, "1"},
                 {"a", 6, kTypeValue, "0"},
                 {"b", 5, kTypeMerge, "x"},
                 {"b", 4, kTypeValue, ""}}),
            "a@9=1,2,3 b@5=,x ");
  EXPECT_EQ(counts_.merged, 1u);
  EXPECT_EQ(counts_.dropped_hidden, 3u);
}

TEST_F(MergeCompactionTest, ADeletionBeneathIsNoBaseAndGoes) {
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"},
                 {"a", 8, kTypeDeletion, ""},
                 {"a", 7, kTypeValue, "1"},
                 {"b", 6, kTypeMerge, "3"},
                 {"b", 5, kTypeDeletion, ""}}),
            "a@9=(2) b@6=(3) ");
}

TEST_F(MergeCompactionTest, ASingleDeletionBeneathStaysForTheValueThatItMayHaveInADeeperLevel) {
  const std::vector<Entry> alone = {{"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeSingleDeletion, ""}};
  EXPECT_EQ(Run(alone), "a@9=(2) a@8- ");
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"},
                 {"a", 8, kTypeSingleDeletion, ""},
                 {"a", 7, kTypeValue, "1"}}),
            "a@9=(2) ");
  options_.bottommost = true;
  EXPECT_EQ(Run(alone), "a@0=(2) ");
}

TEST_F(MergeCompactionTest, WithoutABaseOperandsBecomeOne) {
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeMerge, "1"}, {"b", 7, kTypeMerge, "x"}}),
            "a@9+1,2 b@7+x ");
  EXPECT_EQ(append_.full_calls, 0);
  append_.partial = false;
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeMerge, "1"}, {"b", 7, kTypeMerge, "x"}}),
            "a@9+2 a@8+1 b@7+x ");
  EXPECT_EQ(counts_.failed_merges, 0u);
}

TEST_F(MergeCompactionTest, ASingleOperandIsOfferedToOperatorsThatWantIt) {
  Run({{"a", 9, kTypeMerge, "2"}});
  EXPECT_EQ(append_.partial_calls, 0);
  append_.single = true;
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"}}), "a@9+2 ");
  EXPECT_EQ(append_.partial_calls, 3);
}

TEST_F(MergeCompactionTest, NothingOlderAnywhereIsNoBase) {
  const std::vector<Entry> entries = {
      {"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeMerge, "1"}, {"b", 7, kTypeMerge, "x"}};
  options_.bottommost = true;
  EXPECT_EQ(Run(entries), "a@0=(1,2) b@0=(x) ");
  options_.bottommost = false;
  // Without a version, nothing is known of deeper levels.
  DeeperLevels unknown(nullptr, 0);
  options_.deeper = &unknown;
  EXPECT_EQ(Run(entries), "a@9+1,2 b@7+x ");
}

TEST_F(MergeCompactionTest, NoSnapshotIsMergedAcross) {
  const std::vector<Entry> entries = {{"a", 9, kTypeMerge, "5"},
                                      {"a", 8, kTypeMerge, "4"},
                                      {"a", 7, kTypeMerge, "3"},
                                      {"a", 6, kTypeMerge, "2"},
                                      {"a", 5, kTypeValue, "1"}};
  options_.snapshots = {7};
  EXPECT_EQ(Run(entries), "a@9+4,5 a@7=1,2,3 ");
  options_.bottommost = true;
  EXPECT_EQ(Run(entries), "a@9+4,5 a@0=1,2,3 ");
  options_.snapshots = {5, 6, 7, 8, 9};
  EXPECT_EQ(Run(entries), "a@9+5 a@8+4 a@7+3 a@6+2 a@0=1 ");
  // A deletion in another stripe is none of the newer operands' business.
  options_.snapshots = {8};
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "5"}, {"a", 8, kTypeDeletion, ""}}), "a@9+5 ");
}

TEST_F(MergeCompactionTest, ARangeDeletionBetweenIsNoBase) {
  const std::vector<Entry> entries = {{"a", 9, kTypeMerge, "3"}, {"a", 8, kTypeMerge, "2"},
                                      {"a", 6, kTypeMerge, "1"}, {"a", 5, kTypeValue, "0"},
                                      {"b", 4, kTypeMerge, "x"}, {"c", 9, kTypeMerge, "y"}};
  EXPECT_EQ(Run(entries, {{"a", "b", 7}}), "a@9=(2,3) b@4+x c@9+y ");
  EXPECT_EQ(counts_.merged, 1u);
  EXPECT_EQ(counts_.dropped_hidden, 2u);
  // Known to be without a base although no covered entry takes part.
  EXPECT_EQ(Run({{"c", 9, kTypeMerge, "y"}}, {{"a", "d", 7}}), "c@9=(y) ");
  // A covered entry in an older stripe does not tell what lies between.
  options_.snapshots = {7};
  EXPECT_EQ(Run({{"c", 9, kTypeMerge, "y"}}, {{"a", "d", 7}}), "c@9+y ");
  EXPECT_EQ(Run({{"c", 9, kTypeMerge, "y"}, {"c", 8, kTypeValue, "v"}}, {{"a", "d", 7}}),
            "c@9=v,y ");
}

TEST_F(MergeCompactionTest, WhatFailsStaysAsItIs) {
  append_.fails = {"a", "c"};
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"},
                 {"a", 8, kTypeMerge, "1"},
                 {"a", 7, kTypeValue, "0"},
                 {"a", 6, kTypeValue, "old"},
                 {"b", 9, kTypeMerge, "2"},
                 {"b", 8, kTypeValue, "1"},
                 {"c", 5, kTypeMerge, "4"},
                 {"c", 4, kTypeDeletion, ""}}),
            "a@9+2 a@8+1 a@7=0 b@9=1,2 c@5+4 c@4- ");
  EXPECT_EQ(counts_.failed_merges, 2u);
  EXPECT_TRUE(status_.ok());
  EXPECT_EQ(statistics_->getTickerCount(NUMBER_MERGE_FAILURES), 6u);  // three runs
}

TEST_F(MergeCompactionTest, SoDoesWhatAThrowingOperatorWasGiven) {
  append_.throws = true;
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"},
                 {"a", 8, kTypeValue, "0"},
                 {"b", 9, kTypeMerge, "2"},
                 {"b", 8, kTypeMerge, "1"}}),
            "a@9+2 a@8=0 b@9+2 b@8+1 ");
  EXPECT_EQ(counts_.failed_merges, 1u);
}

TEST_F(MergeCompactionTest, WithoutAnOperatorAllStays) {
  options_.merge = MergeCaller();
  const std::vector<Entry> entries = {
      {"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeMerge, "1"}, {"a", 7, kTypeValue, "0"}};
  EXPECT_EQ(Run(entries), "a@9+2 a@8+1 a@7=0 ");
  const OperandFilter filter([](auto, auto&, auto*, auto*) { return Decision::kKeep; });
  options_.filter = &filter;
  EXPECT_EQ(Run(entries), "a@9+2 a@8+1 a@7=0 ");
  EXPECT_EQ(counts_.failed_merges, 0u);
}

TEST_F(MergeCompactionTest, AResultMayBeAnOperandOfManyRuns) {
  append_.returns_operand = true;
  options_.bottommost = true;
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, std::string(100, 'x')}, {"b", 8, kTypeMerge, "y"}}),
            "a@0=" + std::string(100, 'x') + " b@0=y ");
}

TEST_F(MergeCompactionTest, AnEntityGetsANewDefaultColumn) {
  const auto entity = [](const WideColumns& columns) {
    std::string bytes;
    EXPECT_TRUE(EncodeEntity(columns, &bytes).ok());
    return bytes;
  };
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"},
                 {"a", 8, kTypeMerge, "1"},
                 {"a", 7, kTypeWideColumnEntity, entity({{"", "d"}, {"c", "v"}})}}),
            "a@9-" + entity({{"", "d,1,2"}, {"c", "v"}}) + " ");
  EXPECT_EQ(0u, counts_.failed_merges);
  // An ill-formed entity stays, and so do the operands above it.
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"}, {"a", 7, kTypeWideColumnEntity, "e"}}), "a@9+2 a@7-e ");
  EXPECT_EQ(1u, counts_.failed_merges);
}

TEST_F(MergeCompactionTest, TheSameOperandTwiceIsOne) {
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "2"},
                 {"a", 9, kTypeMerge, "2"},
                 {"a", 8, kTypeMerge, "1"},
                 {"a", 8, kTypeMerge, "1"}}),
            "a@9+1,2 ");
}

TEST_F(MergeCompactionTest, OperandsOutOfOrderAreCorruption) {
  ListIterator input({{"a", 8, kTypeMerge, "2"}, {"a", 9, kTypeMerge, "1"}});
  RunOnce(&input, {});
  EXPECT_TRUE(status_.IsCorruption()) << status_.ToString();
}

TEST_F(MergeCompactionTest, AFailedInputEndsTheWalk) {
  ListIterator input({{"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeValue, "1"}});
  input.FailAfter(1, Status::IOError("gone"));
  RunOnce(&input, {});
  EXPECT_TRUE(status_.IsIOError()) << status_.ToString();
}

TEST_F(MergeCompactionTest, CancellationIsNoticedAmongOperandsOfOneKey) {
  std::vector<Entry> entries;
  for (SequenceNumber i = 2000; i > 0; i--) entries.push_back({"a", i, kTypeMerge, "x"});
  std::atomic<bool> cancelled{false};
  const OperandFilter filter([&cancelled](auto, auto&, auto*, auto*) {
    cancelled = true;
    return Decision::kKeep;
  });
  options_.filter = &filter;
  options_.cancel.user = &cancelled;
  ListIterator input(entries);
  RunOnce(&input, {});
  EXPECT_TRUE(status_.IsManualCompactionPaused()) << status_.ToString();
}

TEST_F(MergeCompactionTest, FilterSeesOperandsOneByOneAndNoResult) {
  const OperandFilter filter(
      [](auto, const std::string& value, std::string* new_value, auto*) -> Decision {
        if (value == "2") return Decision::kRemove;
        if (value == "3") return Decision::kPurge;
        if (value != "4" && value != "1") return Decision::kKeep;
        *new_value = value == "4" ? "four" : "one!";
        return Decision::kChangeValue;
      });
  options_.filter = &filter;
  ListIterator input({{"a", 9, kTypeMerge, "5"},
                      {"a", 8, kTypeMerge, "4"},
                      {"a", 7, kTypeMerge, "3"},
                      {"a", 6, kTypeMerge, "2"},
                      {"a", 5, kTypeMerge, "1"},
                      {"a", 4, kTypeValue, "0"}});
  EXPECT_EQ(RunOnce(&input, {}), "a@9=0,one!,four,5 ");
  EXPECT_EQ(filter.asked, "ma5 ma4 ma3 ma2 ma1 ");
  EXPECT_EQ(counts_.dropped_by_filter, 2u);
}

TEST_F(MergeCompactionTest, FilterIsNotAskedAboutOperandsThatASnapshotNeeds) {
  const OperandFilter filter([](auto, auto&, auto*, auto*) { return Decision::kRemove; });
  options_.filter = &filter;
  options_.snapshots = {7};
  EXPECT_EQ(Run({{"a", 9, kTypeMerge, "5"}, {"a", 7, kTypeMerge, "3"}, {"a", 6, kTypeValue, "1"}}),
            "a@7=1,3 ");
}

TEST_F(MergeCompactionTest, WithAllOperandsRemovedTheFilterIsAskedAboutTheValueBeneath) {
  const OperandFilter filter([](CompactionFilter::ValueType type, auto&, auto*, auto*) {
    return type == CompactionFilter::kMergeOperand ? Decision::kRemove : Decision::kKeep;
  });
  options_.filter = &filter;
  ListIterator input({{"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeValue, "1"}});
  EXPECT_EQ(RunOnce(&input, {}), "a@8=1 ");
  EXPECT_EQ(filter.asked, "ma2 va1 ");
}

// A check for changes of the key must find that it was changed.
TEST_F(MergeCompactionTest, AnOperandStaysAsATraceThoughTheFilterRemovesIt) {
  const OperandFilter filter([](CompactionFilter::ValueType type, auto&, auto*, auto*) {
    return type == CompactionFilter::kMergeOperand ? Decision::kRemove : Decision::kKeep;
  });
  options_.filter = &filter;
  options_.snapshots = {7};
  const std::vector<Entry> entries = {{"a", 9, kTypeMerge, "2"}, {"a", 6, kTypeValue, "1"}};
  EXPECT_EQ(Run(entries).find("a@9"), std::string::npos);
  options_.conflict_check_floor = 7;
  EXPECT_NE(Run(entries).find("a@9+2"), std::string::npos);
}

// A later compaction asks again, and then nothing may have been made of it.
TEST_F(MergeCompactionTest, AnOperandThatStaysAsATraceIsMergedWithNothing) {
  const OperandFilter filter(
      [](CompactionFilter::ValueType type, const std::string& value, auto*, auto*) {
        return type == CompactionFilter::kMergeOperand && value == "2" ? Decision::kRemove
                                                                       : Decision::kKeep;
      });
  options_.filter = &filter;
  options_.snapshots = {7};
  options_.conflict_check_floor = 7;
  const std::vector<Entry> entries = {
      {"a", 10, kTypeMerge, "3"}, {"a", 9, kTypeMerge, "2"}, {"a", 8, kTypeValue, "1"}};
  EXPECT_EQ(Run(entries), "a@10+3 a@9+2 a@8=1 ");
  options_.conflict_check_floor = kMaxSequenceNumber;
  EXPECT_EQ(Run(entries), "a@10=1,3 ");
}

// Skipped entries would leave no conflict evidence, so each key is asked for.
TEST_F(MergeCompactionTest, WhereTracesAreHeldNothingIsSkipped) {
  const OperandFilter filter([](auto, const std::string&, auto*, std::string* skip_until) {
    *skip_until = "c";
    return Decision::kRemoveAndSkipUntil;
  });
  options_.filter = &filter;
  options_.snapshots = {5};
  options_.conflict_check_floor = 5;
  const std::vector<Entry> entries = {{"a", 9, kTypeMerge, "2"}, {"b", 8, kTypeValue, "1"}};
  EXPECT_EQ(Run(entries), "a@9+2 b@8- ");
  EXPECT_FALSE(counts_.skipped);
  options_.conflict_check_floor = kMaxSequenceNumber;
  EXPECT_EQ(Run(entries), "");
  EXPECT_TRUE(counts_.skipped);
}

TEST_F(MergeCompactionTest, FilterMaySkipFromAnOperandOn) {
  std::string until = "c";
  const OperandFilter filter(
      [&until](auto, const std::string& value, auto*, std::string* skip_until) {
        *skip_until = until;
        return value == "2" ? Decision::kRemoveAndSkipUntil : Decision::kKeep;
      });
  options_.filter = &filter;
  const std::vector<Entry> entries = {{"a", 9, kTypeMerge, "3"}, {"a", 8, kTypeMerge, "2"},
                                      {"a", 7, kTypeValue, "1"}, {"b", 6, kTypeMerge, "x"},
                                      {"c", 5, kTypeMerge, "y"}, {"c", 4, kTypeValue, "z"}};
  EXPECT_EQ(Run(entries), "c@5=z,y ");
  // Collected operands do not come out after an entry of another kind.
  options_.bottommost = false;
  const std::vector<Entry> deleted = {{"a", 9, kTypeMerge, "3"},
                                      {"a", 8, kTypeMerge, "2"},
                                      {"c", 7, kTypeSingleDeletion, ""},
                                      {"d", 6, kTypeValue, "z"}};
  EXPECT_EQ(Run(deleted), "c@7- d@6=z ");
  EXPECT_TRUE(counts_.skipped);
  until = "a";  // not after the key: the operand stays
  EXPECT_EQ(Run(entries), "a@9=1,2,3 b@6+x c@5=z,y ");
}

TEST_F(MergeCompactionTest, FilterDecisionsThatAreNotForOperandsAreRefused) {
  for (const Decision decision : {Decision::kChangeBlobIndex, Decision::kChangeWideColumnEntity,
                                  Decision::kUndetermined, Decision::kIOError}) {
    const OperandFilter filter([decision](auto, auto&, auto*, auto*) { return decision; });
    options_.filter = &filter;
    ListIterator input({{"a", 9, kTypeMerge, "1"}});
    EXPECT_EQ(RunOnce(&input, {}), "");
    EXPECT_EQ(status_.IsNotSupported(), decision != Decision::kIOError);
    EXPECT_EQ(status_.IsIOError(), decision == Decision::kIOError);
  }
}

// ---- At random ----

// An entry, or a range tombstone [user_key, value).
using Written = Entry;

class RandomMergeTest : public ::testing::TestWithParam<int> {
 protected:
  // Returns what a reader at `at` sees of a key, with nothing merged: bases and operands, oldest
  // first.
  static std::string Read(const std::vector<Written>& ops, const std::string& key,
                          SequenceNumber at) {
    SequenceNumber covered = 0;
    std::vector<const Written*> own;
    for (const Written& op : ops) {
      if (op.sequence > at) continue;
      if (op.type == kTypeRangeDeletion) {
        if (op.user_key <= key && key < op.value) covered = std::max(covered, op.sequence);
      } else if (op.user_key == key) {
        own.push_back(&op);
      }
    }
    std::sort(own.begin(), own.end(),
              [](const Written* a, const Written* b) { return a->sequence > b->sequence; });
    std::string seen;
    for (const Written* op : own) {
      if (op->sequence < covered || op->type == kTypeDeletion) break;
      seen = op->value + seen;
      if (op->type == kTypeValue) return seen;
    }
    return seen.empty() ? "none" : "[" + seen;
  }
};

// Concatenates, "[" standing for no base. Now and then refuses, fails or throws.
class Moody final : public MergeOperator {
 public:
  explicit Moody(uint32_t seed) : random_(seed), moody_(seed % 3 == 0) {}
  const char* Name() const override { return "test.moody"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (moody_ && random_() % 4 == 0) return false;
    if (moody_ && random_() % 16 == 0) throw std::runtime_error("mood");
    out->new_value = in.existing_value == nullptr ? "[" : in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) out->new_value += operand.ToString();
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* result,
                         Logger*) const override {
    if (moody_ && random_() % 4 == 0) return false;
    for (const Slice& operand : operands) *result += operand.ToString();
    return true;
  }
  bool AllowSingleOperand() const override { return moody_; }

 private:
  mutable std::mt19937 random_;
  const bool moody_;
};

TEST_P(RandomMergeTest, NoReaderNoticesACompaction) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  const InternalKeyComparator icmp(BytewiseComparator());
  size_t left_out = 0;
  for (int round = 0; round < 300; round++) {
    const int keys = 1 + static_cast<int>(random() % 4);
    const auto key = [&] {
      return std::string(1, static_cast<char>('a' + random() % static_cast<uint32_t>(keys)));
    };
    std::vector<Written> ops;  // oldest first
    const size_t count = 1 + random() % 40;
    for (SequenceNumber i = 1; i <= count; i++) {
      const uint32_t dice = random() % 10;
      Written op{key(), i, dice < 6 ? kTypeMerge : dice < 8 ? kTypeValue : kTypeDeletion, ""};
      if (op.type != kTypeDeletion) op.value = std::to_string(i) + ".";
      if (dice == 9 && random() % 2 == 0) {
        op.type = kTypeRangeDeletion;
        op.value = std::string(1, static_cast<char>(op.user_key[0] + 1 + random() % 2));
      }
      ops.push_back(op);
    }
    std::vector<SequenceNumber> snapshots;
    for (SequenceNumber i = 1; i <= count; i++) {
      if (random() % 12 == 0) snapshots.push_back(i);
    }
    // The oldest stay beneath.
    const size_t deep = random() % 2 == 0 ? 0 : random() % count;
    const std::vector<Written> lower(ops.begin(), ops.begin() + static_cast<ptrdiff_t>(deep));
    std::vector<Entry> upper;
    std::vector<RangeTombstone> ranges;
    for (size_t i = deep; i < ops.size(); i++) {
      if (ops[i].type == kTypeRangeDeletion) {
        ranges.push_back({ops[i].user_key, ops[i].value, ops[i].sequence});
      } else {
        upper.push_back(ops[i]);
      }
    }
    std::sort(upper.begin(), upper.end(), [](const Entry& a, const Entry& b) {
      return a.user_key != b.user_key ? a.user_key < b.user_key : a.sequence > b.sequence;
    });
    std::vector<std::shared_ptr<const FragmentedTombstones>> lists;
    if (!ranges.empty()) lists.push_back(FragmentedTombstones::Build(ranges, icmp));
    const bool bottommost = deep == 0 && random() % 2 == 0;
    const SurvivingTombstones survivors(lists, icmp, snapshots, bottommost, nullptr);
    TombstoneSet covering(icmp);
    covering.Add(survivors.all());
    const Moody moody(random());
    ListIterator input(upper);
    input.ServeBatchesOf(1 + random() % 8);
    CompactionIteratorOptions options;
    options.icmp = &icmp;
    options.snapshots = snapshots;
    options.bottommost = bottommost;
    options.merge = MergeCaller(&moody, nullptr, nullptr);
    options.covered_before_jump = random() % 3;
    input.KnowAges();
    CompactionIterator iterator(&input, &covering, options);
    std::vector<Written> after = lower;
    std::string last;
    for (iterator.Start(nullptr); iterator.Valid(); iterator.Next()) {
      const std::string internal_key = iterator.key().ToString();
      ASSERT_TRUE(last.empty() || icmp.Compare(last, internal_key) < 0);
      last = internal_key;
      after.push_back({ExtractUserKey(iterator.key()).ToString(), ExtractSequence(internal_key),
                       ExtractValueType(internal_key), iterator.value().ToString()});
    }
    ASSERT_TRUE(iterator.status().ok()) << iterator.status().ToString();
    const CompactionCounts& counts = iterator.counts();
    ASSERT_EQ(counts.entries_in + input.left_out(), upper.size());
    ASSERT_TRUE(counts.jumped || input.left_out() == 0);
    left_out += input.left_out();
    ASSERT_EQ(counts.entries_in, counts.entries_out + counts.dropped());
    for (const auto& piece : survivors.Within(nullptr, nullptr)) {
      after.push_back(
          {piece.begin.ToString(), piece.sequence, kTypeRangeDeletion, piece.end.ToString()});
    }
    snapshots.push_back(kMaxSequenceNumber);
    for (const SequenceNumber at : snapshots) {
      for (char c = 'a'; c <= 'd'; c++) {
        const std::string k(1, c);
        ASSERT_EQ(Read(ops, k, at), Read(after, k, at))
            << "key " << k << " at " << at << " in round " << round;
      }
    }
  }
  EXPECT_GT(left_out, 0u) << "no jump was made";
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomMergeTest, ::testing::Range(1, 13));

}  // namespace
}  // namespace varve
