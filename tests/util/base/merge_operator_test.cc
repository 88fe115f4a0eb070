// SPDX-License-Identifier: Apache-2.0

// Goal: a merge operator that implements one form of merging gets the others right from the base
// classes: operands in order, nothing written on failure.

#include "varve/merge_operator.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <variant>
#include <vector>

#include "util/key/merge_caller.h"

namespace varve {
namespace {

// Joins with commas, which shows the order; refuses the value "bad".
class Join final : public AssociativeMergeOperator {
 public:
  const char* Name() const override { return "Join"; }
  bool Merge(const Slice& /*key*/, const Slice* existing_value, const Slice& value,
             std::string* new_value, Logger* /*logger*/) const override {
    if (value == "bad") return false;
    *new_value = existing_value == nullptr ? "" : existing_value->ToString() + ",";
    new_value->append(value.data(), value.size());
    return true;
  }
};

class OldStyle final : public MergeOperator {
 public:
  const char* Name() const override { return "OldStyle"; }
  bool FullMerge(const Slice& /*key*/, const Slice* existing_value,
                 const std::deque<std::string>& operand_list, std::string* new_value,
                 Logger* /*logger*/) const override {
    *new_value = existing_value == nullptr ? "none" : existing_value->ToString();
    for (const std::string& operand : operand_list) *new_value += "+" + operand;
    return true;
  }
};

bool FullMerge(const MergeOperator& op, const Slice* base, const std::vector<Slice>& operands,
               std::string* result) {
  Slice existing_operand(nullptr, 0);
  MergeOperator::MergeOperationOutput out(*result, existing_operand);
  const Slice key("k");
  return op.FullMergeV2(MergeOperator::MergeOperationInput(key, base, operands, nullptr), &out);
}

TEST(MergeOperatorTest, AssociativeFoldsFromTheOldest) {
  const Join join;
  std::string result;
  EXPECT_TRUE(FullMerge(join, nullptr, {"a", "b", "c"}, &result));
  EXPECT_EQ(result, "a,b,c");
  const Slice base("base");
  EXPECT_TRUE(FullMerge(join, &base, {"a"}, &result));
  EXPECT_EQ(result, "base,a");
  const Slice empty_base("");
  EXPECT_TRUE(FullMerge(join, &empty_base, {"a"}, &result));
  EXPECT_EQ(result, ",a");
}

TEST(MergeOperatorTest, AFailedMergeReportsIt) {
  std::string result;
  EXPECT_FALSE(FullMerge(Join(), nullptr, {"a", "bad"}, &result));
}

TEST(MergeOperatorTest, PartialMergesFoldAndLeaveTheOutputOnFailure) {
  const Join join;
  const MergeOperator& op = join;
  std::string result = "before";
  EXPECT_TRUE(op.PartialMergeMulti("k", {"a", "b", "c"}, &result, nullptr));
  EXPECT_EQ(result, "a,b,c");
  result = "before";
  EXPECT_FALSE(op.PartialMergeMulti("k", {"a", "b", "bad"}, &result, nullptr));
  EXPECT_EQ(result, "before");
  EXPECT_FALSE(OldStyle().PartialMergeMulti("k", {"a", "b"}, &result, nullptr));
  EXPECT_EQ(result, "before");
}

TEST(MergeOperatorTest, TheOldFormIsCalledWithCopies) {
  std::string result;
  EXPECT_TRUE(FullMerge(OldStyle(), nullptr, {"a", "b"}, &result));
  EXPECT_EQ(result, "none+a+b");
}

// Implements the newest form alone: returns the last operand, or the base when that says "keep".
class Newest final : public MergeOperator {
 public:
  const char* Name() const override { return "Newest"; }
  bool FullMergeV3(const MergeOperationInputV3& in, MergeOperationOutputV3* out) const override {
    const Slice* const base = std::get_if<Slice>(&in.existing_value);
    if (in.operand_list.back() == "copy") {
      out->new_value = base == nullptr ? "no base" : "copy of " + base->ToString();
    } else {
      out->new_value = in.operand_list.back() == "keep" ? *base : in.operand_list.back();
    }
    return true;
  }
};

TEST(MergeOperator, TheNewestFormHasPlainValues) {
  const Newest op;
  const MergeCaller caller(&op, nullptr, nullptr);
  const Slice base("base");
  std::string buffer;
  Slice result;
  ValueForm form = ValueForm::kPlain;
  ASSERT_TRUE(caller.Full("k", &base, {"copy"}, &buffer, &result, &form).ok());
  EXPECT_EQ(result, "copy of base");
  ASSERT_TRUE(caller.Full("k", nullptr, {"copy"}, &buffer, &result, &form).ok());
  EXPECT_EQ(result, "no base");
  const std::vector<Slice> operands = {"a", "b"};
  ASSERT_TRUE(caller.Full("k", &base, operands, &buffer, &result, &form).ok());
  EXPECT_EQ(result.data(), operands[1].data());
  ASSERT_TRUE(caller.Full("k", &base, {"keep"}, &buffer, &result, &form).ok());
  EXPECT_EQ(result.data(), base.data());
}

}  // namespace
}  // namespace varve
