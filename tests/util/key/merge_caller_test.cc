// SPDX-License-Identifier: Apache-2.0

// Goal: an operator that fails, throws, points elsewhere or is missing gives a status that names
// the key; and its result is passed on without a copy.

#include "util/key/merge_caller.h"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "util/metrics/statistics.h"

namespace varve {
namespace {

class Scripted final : public MergeOperator {
 public:
  using Act = std::function<bool(const MergeOperationInput&, MergeOperationOutput*)>;
  explicit Scripted(Act act) : act_(std::move(act)) {}
  const char* Name() const override { return "Scripted"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    return act_(in, out);
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* /*logger*/) const override {
    if (operands.front() == "throw") throw std::runtime_error("no");
    *new_value = std::to_string(operands.size());
    return operands.front() != "refuse";
  }
  bool AllowSingleOperand() const override { return single; }

  bool single = false;

 private:
  const Act act_;
};

TEST(MergeCaller, HandsOnAnOperandWithoutACopy) {
  const Scripted last([](const auto& in, auto* out) {
    out->existing_operand = in.operand_list.back();
    out->new_value = "not this";
    return true;
  });
  const std::vector<Slice> operands = {"a", "b"};
  std::string buffer;
  Slice result;
  ValueForm form = ValueForm::kPlain;
  ASSERT_TRUE(MergeCaller(&last, nullptr, nullptr)
                  .Full("k", nullptr, operands, &buffer, &result, &form)
                  .ok());
  EXPECT_EQ(result.data(), operands[1].data());
}

TEST(MergeCaller, TakesTheNewValueAndTellsTheBaseFromNone) {
  const Scripted tell([](const auto& in, auto* out) {
    EXPECT_TRUE(out->new_value.empty());
    out->new_value =
        in.existing_value == nullptr ? "none" : "[" + in.existing_value->ToString() + "]";
    return true;
  });
  const MergeCaller caller(&tell, nullptr, nullptr);
  std::string buffer = "left over";
  Slice result;
  ValueForm form = ValueForm::kPlain;
  ASSERT_TRUE(caller.Full("k", nullptr, {"a"}, &buffer, &result, &form).ok());
  EXPECT_EQ(result, "none");
  const Slice empty;
  ASSERT_TRUE(caller.Full("k", &empty, {"a"}, &buffer, &result, &form).ok());
  EXPECT_EQ(result, "[]");
}

void ExpectFailure(const Scripted& op, const std::string& why) {
  const std::shared_ptr<Statistics> statistics = CreateDBStatistics();
  std::string buffer;
  Slice result;
  ValueForm form = ValueForm::kPlain;
  const Status s = MergeCaller(&op, nullptr, statistics.get())
                       .Full("key", nullptr, {"a"}, &buffer, &result, &form);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_EQ(s.subcode(), Status::kMergeOperatorFailed);
  EXPECT_NE(s.ToString().find("Scripted"), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find(why), std::string::npos) << s.ToString();
  EXPECT_NE(s.ToString().find("6B6579"), std::string::npos) << s.ToString();
  EXPECT_EQ(statistics->getTickerCount(NUMBER_MERGE_FAILURES), 1U);
}

TEST(MergeCaller, AFailureIsCorruptionThatNamesOperatorAndKey) {
  ExpectFailure(Scripted([](const auto&, auto*) { return false; }), "failed");
}

TEST(MergeCaller, WhatIsThrownIsCaught) {
  ExpectFailure(Scripted([](const auto&, auto*) -> bool { throw std::runtime_error("told"); }),
                "told");
  ExpectFailure(Scripted([](const auto&, auto*) -> bool { throw 1; }), "no exception");
}

#ifndef NDEBUG
TEST(MergeCaller, AResultThatIsNoOperandIsNoticed) {
  ExpectFailure(Scripted([](const auto&, auto* out) {
                  out->existing_operand = "elsewhere";
                  return true;
                }),
                "existing_operand");
}
#endif

class Columns final : public MergeOperator {
 public:
  explicit Columns(MergeOperationOutputV3::NewColumns result) : result_(std::move(result)) {}
  const char* Name() const override { return "Scripted"; }
  bool FullMergeV3(const MergeOperationInputV3& /*in*/,
                   MergeOperationOutputV3* out) const override {
    out->new_value = result_;
    return true;
  }

 private:
  const MergeOperationOutputV3::NewColumns result_;
};

// Returns the columns of an entity, or of a plain value the default column.
std::string Shown(const Slice& value, ValueForm form) {
  if (form == ValueForm::kPlain) return "plain " + value.ToString();
  WideColumns columns;
  EXPECT_TRUE(DecodeEntity(value, &columns).ok());
  std::ostringstream text;
  for (const WideColumn& column : columns) text << column << ' ';
  return text.str();
}

TEST(MergeCaller, AnOlderOperatorMergesOntoTheDefaultColumn) {
  const Scripted append([](const auto& in, auto* out) {
    out->new_value = in.existing_value->ToString() + in.operand_list.back().ToString();
    return true;
  });
  const Scripted keep([](const auto& in, auto* out) {
    out->existing_operand = in.operand_list.back();
    return true;
  });
  std::string with;
  std::string without;
  ASSERT_TRUE(EncodeEntity({{"", "d"}, {"a", "1"}}, &with).ok());
  ASSERT_TRUE(EncodeEntity({{"a", "1"}}, &without).ok());
  const struct {
    const Scripted& op;
    const std::string& base;
    const char* shown;
  } cases[] = {{append, with, ":d+ a:1 "},
               {append, without, ":+ a:1 "},
               {keep, with, ":+ a:1 "},
               {keep, without, ":+ a:1 "}};
  for (const auto& c : cases) {
    const Slice base = c.base;
    std::string buffer;
    Slice result;
    ValueForm form = ValueForm::kEntity;
    ASSERT_TRUE(
        MergeCaller(&c.op, nullptr, nullptr).Full("k", &base, {"+"}, &buffer, &result, &form).ok());
    EXPECT_EQ(ValueForm::kEntity, form);
    EXPECT_EQ(c.shown, Shown(result, form));
  }
}

TEST(MergeCaller, AnOperatorMakesColumnsOfAPlainValue) {
  const Columns two({{"b", "2"}, {"a", "1"}});
  const Slice base("plain");
  std::string buffer;
  Slice result;
  ValueForm form = ValueForm::kPlain;
  ASSERT_TRUE(
      MergeCaller(&two, nullptr, nullptr).Full("k", &base, {"+"}, &buffer, &result, &form).ok());
  EXPECT_EQ("a:1 b:2 ", Shown(result, form));
  const Columns twice({{"a", "2"}, {"a", "1"}});
  const Status s = MergeCaller(&twice, nullptr, nullptr)
                       .Full("k", &base, {"+"}, &buffer, &result, &(form = ValueForm::kPlain));
  EXPECT_EQ(s.subcode(), Status::kMergeOperatorFailed);
  EXPECT_NE(s.ToString().find("out of order"), std::string::npos) << s.ToString();
}

TEST(MergeCaller, AnIllFormedBaseIsCorruption) {
  const Scripted any([](const auto& /*in*/, auto* /*out*/) { return true; });
  const Slice base("\x01\x07");
  std::string buffer;
  Slice result;
  ValueForm form = ValueForm::kEntity;
  const Status s =
      MergeCaller(&any, nullptr, nullptr).Full("key", &base, {"+"}, &buffer, &result, &form);
  EXPECT_TRUE(s.IsCorruption());
  EXPECT_NE(s.ToString().find("6B6579"), std::string::npos) << s.ToString();
}

TEST(MergeCaller, WithoutAnOperatorSaysSo) {
  std::string buffer;
  Slice result;
  ValueForm form = ValueForm::kPlain;
  const Status s = MergeCaller().Full("key", nullptr, {"a"}, &buffer, &result, &form);
  EXPECT_TRUE(s.IsInvalidArgument());
  EXPECT_NE(s.ToString().find("merge_operator"), std::string::npos);
  EXPECT_FALSE(MergeCaller().Partial("key", {"a", "b"}, &buffer));
}

TEST(MergeCaller, ASingleOperandIsForThoseWhoWantIt) {
  Scripted op([](const auto&, auto*) { return false; });
  const MergeCaller caller(&op, nullptr, nullptr);
  std::string result;
  EXPECT_FALSE(caller.Partial("k", {"a"}, &result));
  ASSERT_TRUE(caller.Partial("k", {"a", "b"}, &result));
  EXPECT_EQ(result, "2");
  op.single = true;
  ASSERT_TRUE(caller.Partial("k", {"a"}, &result));
  EXPECT_EQ(result, "1");
  EXPECT_FALSE(caller.Partial("k", {"refuse", "b"}, &result));
  EXPECT_FALSE(caller.Partial("k", {"throw", "b"}, &result));
}

}  // namespace
}  // namespace varve
