// SPDX-License-Identifier: Apache-2.0

// Compactions of every small history of one key, judged by what readers see before and after.

#include "db/compaction/drop_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "varve/merge_operator.h"

#include "db/compaction/compaction_iterator.h"
#include "db/compaction/surviving_tombstones.h"
#include "tests/db/compaction/list_iterator.h"
#include "tests/harness/environment.h"

namespace varve {
namespace {

using test::Entry;

// An operation on the key, or a range tombstone over it.
struct Op {
  SequenceNumber sequence;
  ValueType type;  // kTypeRangeDeletion: the tombstone
  std::string value;
};

// Newest first.
using History = std::vector<Op>;

// Merges to what Read sees of the operands alone. As a user's operator may, it refuses, or fails.
class Joining final : public MergeOperator {
 public:
  enum class Mood : uint8_t { kWilling, kFullOnly, kPartlyOnly, kSinglesToo };
  explicit Joining(Mood mood) : mood_(mood) {}

  const char* Name() const override { return "joining"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (mood_ == Mood::kPartlyOnly) return false;
    for (auto it = in.operand_list.rbegin(); it != in.operand_list.rend(); ++it) {
      out->new_value += it->ToString() + "+";
    }
    out->new_value += in.existing_value != nullptr ? in.existing_value->ToString() : "-";
    return true;
  }
  bool PartialMergeMulti(const Slice&, const std::deque<Slice>& operands, std::string* result,
                         Logger*) const override {
    if (mood_ == Mood::kFullOnly) return false;
    for (auto it = operands.rbegin(); it != operands.rend(); ++it) {
      *result += (result->empty() ? "" : "+") + it->ToString();
    }
    return true;
  }
  bool AllowSingleOperand() const override { return mood_ == Mood::kSinglesToo; }

 private:
  const Mood mood_;
};

const Joining kWilling(Joining::Mood::kWilling);
const Joining kFullOnly(Joining::Mood::kFullOnly);
const Joining kPartlyOnly(Joining::Mood::kPartlyOnly);
const Joining kSinglesToo(Joining::Mood::kSinglesToo);
constexpr const MergeOperator* kOperators[] = {nullptr, &kWilling, &kFullOnly, &kPartlyOnly,
                                               &kSinglesToo};

// Operands newest first, then the value they apply to, or "-".
std::string Read(const History& history, SequenceNumber at) {
  SequenceNumber tombstone = 0;
  for (const Op& op : history) {
    if (op.type == kTypeRangeDeletion && op.sequence <= at) {
      tombstone = std::max(tombstone, op.sequence);
    }
  }
  std::string seen;
  for (const Op& op : history) {
    if (op.type == kTypeRangeDeletion || op.sequence > at) continue;
    if (op.sequence < tombstone) break;
    if (op.type == kTypeMerge) {
      seen += op.value + "+";
      continue;
    }
    if (op.type == kTypeValue) return seen + op.value;
    break;
  }
  return seen + "-";
}

struct Setting {
  std::vector<SequenceNumber> snapshots;
  bool bottommost = false;
  const MergeOperator* merge = nullptr;
  SequenceNumber conflict_check_floor = kMaxSequenceNumber;
};

History Compact(const History& history, const Setting& setting) {
  const InternalKeyComparator icmp(BytewiseComparator());
  std::vector<Entry> entries;
  std::vector<RangeTombstone> ranges;
  for (const Op& op : history) {
    if (op.type == kTypeRangeDeletion) {
      ranges.push_back({"a", "z", op.sequence});
    } else {
      entries.push_back({"k", op.sequence, op.type, op.value});
    }
  }
  std::vector<std::shared_ptr<const FragmentedTombstones>> lists;
  if (!ranges.empty()) lists.push_back(FragmentedTombstones::Build(ranges, icmp));
  const SurvivingTombstones survivors(lists, icmp, setting.snapshots, setting.bottommost, nullptr);
  TombstoneSet covering(icmp);
  covering.Add(survivors.all());
  test::ListIterator input(entries);
  CompactionIteratorOptions options;
  options.icmp = &icmp;
  options.snapshots = setting.snapshots;
  options.bottommost = setting.bottommost;
  options.conflict_check_floor = setting.conflict_check_floor;
  options.merge = MergeCaller(setting.merge, nullptr, nullptr);
  CompactionIterator iterator(&input, &covering, options);
  History result;
  uint64_t trailer = UINT64_MAX;
  for (iterator.Start(nullptr); iterator.Valid(); iterator.Next()) {
    EXPECT_LT(ExtractTrailer(iterator.key()), trailer) << "outputs are out of order";
    trailer = ExtractTrailer(iterator.key());
    result.push_back({UnpackSequence(trailer), UnpackType(trailer), iterator.value().ToString()});
  }
  EXPECT_TRUE(iterator.status().ok()) << iterator.status().ToString();
  const CompactionCounts& counts = iterator.counts();
  EXPECT_EQ(counts.entries_in, entries.size());
  EXPECT_EQ(counts.entries_in, counts.entries_out + counts.dropped());
  for (const auto& piece : survivors.Within(nullptr, nullptr)) {
    result.push_back({piece.sequence, kTypeRangeDeletion, ""});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Op& a, const Op& b) { return a.sequence > b.sequence; });
  return result;
}

History Join(const History& newer, const History& older) {
  History all = newer;
  all.insert(all.end(), older.begin(), older.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const Op& a, const Op& b) { return a.sequence > b.sequence; });
  return all;
}

std::string Show(const History& history) {
  std::string text;
  for (const Op& op : history) {
    const char* name = op.type == kTypeValue            ? "Put"
                       : op.type == kTypeDeletion       ? "Del"
                       : op.type == kTypeSingleDeletion ? "Single"
                       : op.type == kTypeMerge          ? "Merge"
                                                        : "Range";
    text += std::string(name) + "@" + std::to_string(op.sequence) + " ";
  }
  return text;
}

// Returns true if SingleDelete is used legally: each deletes exactly one Put since the last one,
// and nothing else. A range deletion may end a Put's life but leaves nothing for a SingleDelete.
bool Legal(const History& history) {
  int puts = 0;
  bool mixed = false;
  for (auto op = history.rbegin(); op != history.rend(); ++op) {
    switch (op->type) {
      case kTypeValue:
        puts++;
        break;
      case kTypeSingleDeletion:
        if (puts != 1 || mixed) return false;
        puts = 0;
        break;
      case kTypeRangeDeletion:
        puts = 0;
        mixed = false;
        break;
      default:
        mixed = true;
    }
  }
  return true;
}

// Visits all histories of `length` operations at 10, 20, 30, ...
void ForEachHistory(int length, const std::function<void(const History&)>& visit) {
  constexpr ValueType kTypes[] = {kTypeValue, kTypeDeletion, kTypeSingleDeletion, kTypeMerge,
                                  kTypeRangeDeletion};
  int combinations = 1;
  for (int i = 0; i < length; i++) combinations *= 5;
  for (int code = 0; code < combinations; code++) {
    History history;
    for (int i = length, rest = code; i > 0; i--, rest /= 5) {
      history.push_back({static_cast<SequenceNumber>(10 * i), kTypes[rest % 5], ""});
      Op& op = history.back();
      if (op.type == kTypeValue || op.type == kTypeMerge) op.value = std::to_string(op.sequence);
    }
    if (Legal(history)) visit(history);
  }
}

std::vector<std::vector<SequenceNumber>> AllSnapshots(int length) {
  std::vector<std::vector<SequenceNumber>> result;
  for (int mask = 0; mask < 1 << (length - 1); mask++) {
    std::vector<SequenceNumber> snapshots;
    for (int i = 1; i < length; i++) {
      if (mask >> (i - 1) & 1) snapshots.push_back(static_cast<SequenceNumber>(10 * i + 5));
    }
    result.push_back(std::move(snapshots));
  }
  return result;
}

void ExpectSameReads(const History& before, const History& after,
                     const std::vector<SequenceNumber>& snapshots, const std::string& what) {
  for (const SequenceNumber at : snapshots) {
    EXPECT_EQ(Read(before, at), Read(after, at)) << what << "at snapshot " << at;
  }
  EXPECT_EQ(Read(before, kMaxSequenceNumber), Read(after, kMaxSequenceNumber)) << what << "now";
}

TEST(DropRules, NoReaderSeesADifferenceInAnySmallHistory) {
  constexpr int kLength = 4;
  const uint64_t step = testing::StepUnderSanitizer();
  uint64_t number = 0;
  uint64_t cases = 0;
  ForEachHistory(kLength, [&](const History& history) {
    if (number++ % step != testing::FirstUnderSanitizer()) return;
    for (const auto& snapshots : AllSnapshots(kLength)) {
      // The oldest `deep` operations lie in a deeper level that takes no part.
      for (int deep = 0; deep < kLength; deep++) {
        const History upper(history.begin(), history.end() - deep);
        const History lower(history.end() - deep, history.end());
        for (const bool bottommost : {false, true}) {
          if (bottommost && deep > 0) continue;
          for (const MergeOperator* merge : kOperators) {
            const History output = Compact(upper, {snapshots, bottommost, merge});
            const History after = Join(output, lower);
            ExpectSameReads(history, after, snapshots,
                            Show(upper) + "above " + Show(lower) + "became " + Show(output));
            cases++;
            if (::testing::Test::HasFailure()) return;
          }
        }
      }
    }
  });
  EXPECT_GT(cases, 10000 / step);
}

TEST(DropRules, WhatComesLaterFindsWhatItNeeds) {
  constexpr int kLength = 3;
  ForEachHistory(kLength + 1, [&](const History& history) {
    const History later(history.begin(), history.begin() + 1);
    for (const auto& snapshots : AllSnapshots(kLength)) {
      for (int code = 0; code < 2 * kLength; code++) {
        const int deep = code / 2;
        const MergeOperator* const merge = code % 2 == 0 ? nullptr : &kWilling;
        const auto at_bottom = [merge](std::vector<SequenceNumber> held, bool bottom) {
          return Setting{std::move(held), bottom, merge};
        };
        const History upper(history.begin() + 1, history.end() - deep);
        const History lower(history.end() - deep, history.end());
        const History first = Compact(upper, at_bottom(snapshots, deep == 0));
        // The snapshots are released; the next operation meets the first output, then all the rest.
        const History second = Compact(Join(later, first), at_bottom({}, deep == 0));
        const std::string what = Show(history) + "became " + Show(first) + "then " + Show(second);
        ExpectSameReads(history, Join(second, lower), {}, what);
        const History third = Compact(Join(second, lower), at_bottom({}, true));
        ExpectSameReads(history, third, {}, what + "then " + Show(third));
        if (::testing::Test::HasFailure()) return;
      }
    }
  });
}

TEST(DropRules, WithoutSnapshotsTheLastLevelKeepsOneEntryAndNoMarker) {
  ForEachHistory(4, [](const History& history) {
    const History output = Compact(history, {{}, true});
    size_t bases = 0;
    for (const Op& op : output) {
      EXPECT_NE(op.type, kTypeDeletion) << Show(history);
      EXPECT_NE(op.type, kTypeSingleDeletion) << Show(history);
      EXPECT_NE(op.type, kTypeRangeDeletion) << Show(history);
      if (op.type == kTypeValue) {
        bases++;
        EXPECT_EQ(op.sequence, 0u) << Show(history);
      }
    }
    EXPECT_LE(bases, 1u) << Show(history);
  });
}

TEST(DropRules, OperandsBecomeAValueInTheLastLevelAndFewElsewhere) {
  ForEachHistory(4, [](const History& history) {
    const History bottom = Compact(history, {{}, true, &kWilling});
    EXPECT_LE(bottom.size(), 1u) << Show(history);
    for (const Op& op : bottom) {
      EXPECT_EQ(op.type, kTypeValue) << Show(history);
      EXPECT_EQ(op.sequence, 0u) << Show(history);
    }
    const History above = Compact(history, {{}, false, &kWilling});
    const bool merges = !above.empty() && above.front().type == kTypeMerge;
    EXPECT_EQ(std::count_if(above.begin(), above.end(),
                            [](const Op& op) { return op.type == kTypeMerge; }),
              merges ? 1 : 0)
        << Show(history);
  });
}

TEST(DropRules, ASnapshotKeepsExactlyTheVersionItSees) {
  const History history = {
      {40, kTypeValue, "d"}, {30, kTypeValue, "c"}, {20, kTypeValue, "b"}, {10, kTypeValue, "a"}};
  EXPECT_EQ(Show(Compact(history, {{25}, false})), "Put@40 Put@20 ");
  EXPECT_EQ(Show(Compact(history, {{25}, true})), "Put@40 Put@0 ");
  EXPECT_EQ(Show(Compact(history, {{}, false})), "Put@40 ");
}

TEST(DropRules, ADeletionStaysWhileSomethingDeeperMayNeedIt) {
  const History history = {{20, kTypeDeletion, ""}, {10, kTypeValue, "a"}};
  EXPECT_EQ(Show(Compact(history, {{}, false})), "Del@20 ");
  EXPECT_EQ(Show(Compact(history, {{}, true})), "");
  EXPECT_EQ(Show(Compact(history, {{15}, true})), "Del@20 Put@0 ");
}

TEST(DropRules, SingleDeleteGoesWithItsValueUnlessASnapshotIsBetween) {
  const History history = {{20, kTypeSingleDeletion, ""}, {10, kTypeValue, "a"}};
  EXPECT_EQ(Show(Compact(history, {{}, false})), "");
  EXPECT_EQ(Show(Compact(history, {{15}, false})), "Single@20 Put@10 ");
  EXPECT_EQ(Show(Compact(history, {{5, 25}, false})), "");
}

TEST(DropRules, AnOverwrittenValueDoesNotComeBackWhenItsSuccessorGoesWithASingleDelete) {
  // This breaks the rules of SingleDelete, which is no reason to show an overwritten value.
  const History history = {
      {30, kTypeSingleDeletion, ""}, {20, kTypeValue, "b"}, {10, kTypeValue, "a"}};
  EXPECT_EQ(Show(Compact(history, {{}, false})), "");
}

// A check for changes of the key must find that it was changed.
TEST(DropRules, SingleDeleteOutlivesItsValueWhereTracesAreHeld) {
  const std::vector<SequenceNumber> snapshots = {15};
  const History history = {{30, kTypeSingleDeletion, ""}, {20, kTypeValue, "b"}};
  const History kept = Compact(history, {snapshots, true, nullptr, 15});
  EXPECT_EQ(Show(kept), "Single@30 Put@20 ");
  EXPECT_EQ(kept.back().value, "") << "nobody reads it";
  EXPECT_EQ(Show(Compact(kept, {snapshots, true, nullptr, 15})), Show(kept));
  EXPECT_EQ(Show(Compact(kept, {snapshots, true})), "") << "readers need no trace";
  EXPECT_EQ(Show(Compact(history, {snapshots, true})), "");
  const History older = {{12, kTypeSingleDeletion, ""}, {11, kTypeValue, "b"}};
  EXPECT_EQ(Show(Compact(older, {snapshots, true, nullptr, 15})), "");
  // The newest says most; the older one may have its value deeper.
  const History twice = {{40, kTypeSingleDeletion, ""}, {30, kTypeSingleDeletion, ""}};
  EXPECT_EQ(Show(Compact(twice, {snapshots, true, nullptr, 15})), "Single@40 Single@30 ");
  EXPECT_EQ(Show(Compact(twice, {snapshots, true})), "Single@30 ");
  History met = twice;
  met.push_back({20, kTypeValue, "b"});
  EXPECT_EQ(Show(Compact(met, {{10}, true, nullptr, 35})), "Single@40 Single@30 Put@20 ")
      << "the older one is no trace, but without it the newer one would stand above anything";
  const History cycles = {{60, kTypeSingleDeletion, ""},
                          {50, kTypeValue, "e"},
                          {40, kTypeSingleDeletion, ""},
                          {30, kTypeValue, "d"}};
  EXPECT_EQ(Show(Compact(cycles, {snapshots, true, nullptr, 15})), "Single@60 Put@50 ");
  const History buried = {
      {40, kTypeValue, "c"}, {30, kTypeSingleDeletion, ""}, {20, kTypeValue, "b"}};
  EXPECT_EQ(Show(Compact(buried, {snapshots, true, nullptr, 15})), "Put@40 ") << "which is a trace";
}

// A key may be deleted by Delete, put once, and deleted by SingleDelete: what stays of the latter
// must not stand directly above the former, in this compaction or a later one.
TEST(DropRules, ATraceOfASingleDeleteStandsAboveItsOwnValueAlone) {
  const std::vector<SequenceNumber> snapshots = {15};
  const History newer = {{50, kTypeSingleDeletion, ""}, {40, kTypeValue, "b"}};
  const History older = {{30, kTypeDeletion, ""}};
  const History held = Compact(newer, {snapshots, false, nullptr, 15});
  for (const History& all : {Join(newer, older), Join(held, older)}) {
    for (const SequenceNumber since : {SequenceNumber{15}, kMaxSequenceNumber}) {
      const bool traces = since == 15;
      EXPECT_EQ(Show(Compact(all, {snapshots, false, nullptr, since})),
                traces ? "Single@50 Put@40 Del@30 " : "Del@30 ");
    }
    EXPECT_EQ(Show(Compact(all, {{}, true})), "");
  }
}

TEST(DropRules, SingleDeleteUnderANewerValueWaitsForItsOwnValue) {
  const History history = {{20, kTypeValue, "b"}, {10, kTypeSingleDeletion, ""}};
  EXPECT_EQ(Show(Compact(history, {{}, false})), "Put@20 Single@10 ");
  EXPECT_EQ(Show(Compact(history, {{}, true})), "Put@0 ");
}

// These histories break the rules of SingleDelete, so reading them shows nothing: the tombstone may
// still be needed deeper down.
TEST(DropRules, ABuriedSingleDeleteOfAnOperandOrADeletionGoesWhereNothingIsDeeper) {
  for (const ValueType type : {kTypeMerge, kTypeDeletion}) {
    for (const bool deeper : {false, true}) {
      DropRules rules({{}, !deeper});
      rules.StartKey();
      const auto may_exist = [deeper] { return deeper; };
      ASSERT_EQ(rules.Judge(0, kTypeValue, may_exist), DropRules::Verdict::kKeep);
      EXPECT_EQ(rules.JudgeSingleDelete(8, 0, {true, 7, type}, may_exist),
                deeper ? DropRules::Verdict::kKeep : DropRules::Verdict::kHidden);
    }
  }
}

TEST(DropRules, MergeOperandsAndTheirBaseStayTogether) {
  const History history = {
      {40, kTypeMerge, "d"}, {30, kTypeMerge, "c"}, {20, kTypeValue, "b"}, {10, kTypeValue, "a"}};
  EXPECT_EQ(Show(Compact(history, {{}, false})), "Merge@40 Merge@30 Put@20 ");
  EXPECT_EQ(Show(Compact(history, {{}, true})), "Merge@40 Merge@30 Put@0 ");
}

// Below full_history_ts_low, entries come in the order of timestamps, whatever their sequence
// numbers.
TEST(DropRules, WhatStandsFirstHidesWhatWasWrittenLater) {
  const std::vector<SequenceNumber> snapshots = {7};
  DropRules rules({.snapshots = snapshots, .bottommost = true});
  rules.StartKey();
  const auto nothing_deeper = [] { return false; };
  ASSERT_EQ(rules.Judge(rules.StripeOf(5), kTypeDeletion, nothing_deeper),
            DropRules::Verdict::kExpired);
  EXPECT_TRUE(rules.Hides(rules.StripeOf(9), kTypeValue));
  EXPECT_TRUE(rules.Hides(rules.StripeOf(4), kTypeValue));
  rules.StartKey();
  ASSERT_EQ(rules.Judge(rules.StripeOf(9), kTypeValue, nothing_deeper), DropRules::Verdict::kKeep);
  EXPECT_FALSE(rules.Hides(rules.StripeOf(5), kTypeValue));
}

}  // namespace
}  // namespace varve
