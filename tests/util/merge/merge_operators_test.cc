// SPDX-License-Identifier: Apache-2.0

// Goal: each built-in operator merges as documented, in all its forms alike, and hands out operands
// rather than copies where it can.
// Method: tables of small cases; every case is also merged in every grouping.

#include "varve/utilities/merge_operators.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "util/coding/fixed.h"

namespace varve {
namespace {

using Values = std::vector<std::string>;

// Holds the result of a full merge; nothing if it fails.
struct Merged {
  bool ok = false;
  std::string value;
  bool is_input = false;  // Handed out where it lay.
  MergeOperator::OpFailureScope scope = MergeOperator::OpFailureScope::kDefault;
};

Merged Full(const MergeOperator& op, const std::optional<std::string>& base, const Values& values) {
  const std::vector<Slice> operands(values.begin(), values.end());
  const Slice base_slice = base.has_value() ? Slice(*base) : Slice();
  const Slice key("k");
  Merged merged;
  Slice chosen(nullptr, 0);
  MergeOperator::MergeOperationOutput out(merged.value, chosen);
  const Slice* const base_or_none = base.has_value() ? &base_slice : nullptr;
  merged.ok = op.FullMergeV2(
      MergeOperator::MergeOperationInput(key, base_or_none, operands, nullptr), &out);
  merged.scope = out.op_failure_scope;
  if (chosen.data() == nullptr) return merged;
  merged.is_input = base.has_value() && chosen.data() == base->data();
  for (const std::string& value : values) merged.is_input |= chosen.data() == value.data();
  merged.value = chosen.ToString();
  return merged;
}

std::optional<std::string> Partial(const MergeOperator& op, const Values& values) {
  const std::deque<Slice> operands(values.begin(), values.end());
  std::string merged = "as it was";
  if (op.PartialMergeMulti("k", operands, &merged, nullptr)) return merged;
  EXPECT_EQ(merged, "as it was");
  return std::nullopt;
}

struct Case {
  std::optional<std::string> base;
  Values operands;
  std::string merged;
};

// Merges the newest operands first into one, then that into the rest; and the base with the
// oldest, then the rest on top of that.
void ExpectAllGroupingsAgree(const MergeOperator& op, const Case& c) {
  for (size_t split = 1; split < c.operands.size(); ++split) {
    const auto middle = c.operands.begin() + static_cast<ptrdiff_t>(split);
    const Values older(c.operands.begin(), middle);
    const Values newer(middle, c.operands.end());
    const Merged below = Full(op, c.base, older);
    ASSERT_TRUE(below.ok);
    EXPECT_EQ(Full(op, below.value, newer).value, c.merged) << "base first, split " << split;
    const std::optional<std::string> above = newer.size() == 1 ? newer.front() : Partial(op, newer);
    if (!above.has_value()) continue;
    Values rest = older;
    rest.push_back(*above);
    EXPECT_EQ(Full(op, c.base, rest).value, c.merged) << "newest first, split " << split;
    if (rest.size() == 2 && !c.base.has_value()) {
      std::string two;
      const bool combines = Partial(op, rest).has_value();
      EXPECT_EQ(op.PartialMerge("k", rest[0], rest[1], &two, nullptr), combines);
      EXPECT_EQ(two, combines ? c.merged : "");
    }
  }
}

void ExpectMerges(const std::shared_ptr<MergeOperator>& op, const std::vector<Case>& cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(std::string(op->Name()) + " case " + std::to_string(i));
    const Merged merged = Full(*op, cases[i].base, cases[i].operands);
    EXPECT_TRUE(merged.ok);
    EXPECT_EQ(merged.value, cases[i].merged);
    ExpectAllGroupingsAgree(*op, cases[i]);
  }
  EXPECT_FALSE(op->AllowSingleOperand());
  EXPECT_FALSE(op->ShouldMerge({}));
}

std::string Number(uint64_t number) {
  std::string bytes;
  PutFixed64(&bytes, number);
  return bytes;
}

TEST(MergeOperatorsTest, PutKeepsTheNewest) {
  for (const auto& op :
       {MergeOperators::CreatePutOperator(), MergeOperators::CreateDeprecatedPutOperator()}) {
    ExpectMerges(op, {{{}, {"a"}, "a"},
                      {{}, {"a", "b"}, "b"},
                      {"base", {"a", "b", ""}, ""},
                      {"", {"", "a", "b"}, "b"}});
    EXPECT_TRUE(Full(*op, "base", {"a", "b"}).is_input);
  }
}

TEST(MergeOperatorsTest, MaxHandsOutTheLargest) {
  const auto op = MergeOperators::CreateMaxOperator();
  ExpectMerges(op, {{{}, {"x"}, "x"},
                    {{}, {"", ""}, ""},
                    {{}, {"b", "a", "ab"}, "b"},
                    {"z", {"a", "b"}, "z"},
                    {"a", {"a\xff", "ab", "b"}, "b"},
                    {std::string("\x80"), {"\x7f\x7f"}, "\x80"}});
  EXPECT_TRUE(Full(*op, "z", {"a", "b"}).is_input);
  EXPECT_TRUE(Full(*op, "a", {"b"}).is_input);
  EXPECT_TRUE(Full(*op, {}, {""}).is_input);
}

TEST(MergeOperatorsTest, OfEqualValuesMaxKeepsTheOldest) {
  const auto op = MergeOperators::CreateMaxOperator();
  const std::string first = "same";
  const std::string second = "same";
  const Slice key("k");
  const std::vector<Slice> operands = {first, second};
  std::string buffer;
  Slice chosen(nullptr, 0);
  MergeOperator::MergeOperationOutput out(buffer, chosen);
  ASSERT_TRUE(
      op->FullMergeV2(MergeOperator::MergeOperationInput(key, nullptr, operands, nullptr), &out));
  EXPECT_EQ(chosen.data(), first.data());
}

TEST(MergeOperatorsTest, AddingWrapsAround) {
  const uint64_t most = UINT64_MAX;
  for (const auto& op :
       {MergeOperators::CreateUInt64AddOperator(), MergeOperators::CreateInt64AddOperator()}) {
    ExpectMerges(op, {{{}, {Number(1)}, Number(1)},
                      {{}, {Number(1), Number(2), Number(3)}, Number(6)},
                      {Number(10), {Number(1), Number(2)}, Number(13)},
                      {Number(1), {Number(most), Number(5)}, Number(5)},
                      {Number(INT64_MAX), {Number(1), Number(most)}, Number(INT64_MAX)}});
  }
}

TEST(MergeOperatorsTest, WhatIsNoNumberCountsAsZeroOrFails) {
  const std::vector<Case> cases = {{{}, {""}, Number(0)},
                                   {{}, {"1234567", Number(4)}, Number(4)},
                                   {"", {Number(4)}, Number(4)},
                                   {Number(4), {Number(1), "123456789", Number(2)}, Number(7)}};
  ExpectMerges(MergeOperators::CreateUInt64AddOperator(), cases);
  const auto strict = MergeOperators::CreateInt64AddOperator();
  for (const Case& c : cases) {
    const Merged merged = Full(*strict, c.base, c.operands);
    EXPECT_FALSE(merged.ok);
    EXPECT_EQ(merged.scope, MergeOperator::OpFailureScope::kMustMerge);
  }
  EXPECT_EQ(Partial(*strict, {Number(1), "x"}), std::nullopt);
}

TEST(MergeOperatorsTest, AppendingPutsTheDelimiterBetweenParts) {
  const std::vector<Case> with_comma = {
      {{}, {"a"}, "a"},  {{}, {""}, ""},         {{}, {"a", "b"}, "a,b"},   {{}, {"", ""}, ","},
      {"", {"a"}, ",a"}, {"", {"a", ""}, ",a,"}, {"x", {"a", "b"}, "x,a,b"}};
  ExpectMerges(MergeOperators::CreateStringAppendOperator(), with_comma);
  ExpectMerges(MergeOperators::CreateStringAppendTESTOperator(), with_comma);
  ExpectMerges(MergeOperators::CreateStringAppendOperator('|'), {{"x", {"a", "b"}, "x|a|b"}});
  for (const std::string delimiter : {"", "<=>", "\n"}) {
    const std::vector<Case> cases = {{{}, {"a", "b"}, "a" + delimiter + "b"},
                                     {"x", {"a", ""}, "x" + delimiter + "a" + delimiter}};
    ExpectMerges(MergeOperators::CreateStringAppendOperator(delimiter), cases);
    ExpectMerges(MergeOperators::CreateStringAppendTESTOperator(delimiter), cases);
  }
}

TEST(MergeOperatorsTest, OnlyOneOfTheAppendersCombinesOperands) {
  EXPECT_EQ(Partial(*MergeOperators::CreateStringAppendOperator(), {"a", "b", "c"}), "a,b,c");
  const auto apart = MergeOperators::CreateStringAppendTESTOperator();
  EXPECT_EQ(Partial(*apart, {"a", "b"}), std::nullopt);
  std::string two = "as it was";
  EXPECT_FALSE(apart->PartialMerge("k", "a", "b", &two, nullptr));
  EXPECT_EQ(two, "as it was");
}

TEST(MergeOperatorsTest, AppendingToNothingCopiesNothing) {
  EXPECT_TRUE(Full(*MergeOperators::CreateStringAppendOperator(), {}, {"a"}).is_input);
  EXPECT_TRUE(Full(*MergeOperators::CreateStringAppendTESTOperator(), {}, {"a"}).is_input);
}

TEST(MergeOperatorsTest, XorFillsShorterValuesUp) {
  ExpectMerges(MergeOperators::CreateBytesXOROperator(),
               {{{}, {"x"}, "x"},
                {{}, {"x", "yy"}, "\x01y"},
                {"", {"x", ""}, "x"},
                {"a", {"x", "y", "z"}, "\x1a"},
                {"\x01\x02\x03", {"\x01", "zzzz"}, "zxyz"},
                {{}, {"", ""}, ""}});
}

TEST(MergeOperatorsTest, ListsAreSortedIntoOne) {
  ExpectMerges(MergeOperators::CreateSortOperator(),
               {{{}, {"1,3"}, "1,3"},
                {{}, {"1,3", "2"}, "1,2,3"},
                {"1,4,9", {"1,3", "2"}, "1,1,2,3,4,9"},
                {{}, {"-3,5", "4", ""}, "-3,4,5"},
                {{}, {"3,1", "2"}, "1,2,3"},
                {{}, {"+3, 7", "007"}, "3,7,7"},
                {"",
                 {"9223372036854775807", "-9223372036854775808"},
                 "-9223372036854775808,9223372036854775807"}});
}

TEST(MergeOperatorsTest, WhatIsNoListFails) {
  const auto op = MergeOperators::CreateSortOperator();
  for (const std::string bad : {",", "1,", ",1", "1,,2", "x", "1 ", "1x", "+-1", "+", "-", " ",
                                "9223372036854775808", "1.5"}) {
    SCOPED_TRACE(bad);
    EXPECT_FALSE(Full(*op, {}, {"1", bad}).ok);
    EXPECT_FALSE(Full(*op, bad, {"1"}).ok);
    EXPECT_EQ(Partial(*op, {bad, "1"}), std::nullopt);
  }
}

}  // namespace
}  // namespace varve
