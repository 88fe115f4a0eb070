// SPDX-License-Identifier: Apache-2.0

// Goal: built-in merge operators are made from their names and options, print what makes them
// again, and anything else is refused by name.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "varve/convenience.h"
#include "varve/merge_operator.h"
#include "varve/options.h"
#include "varve/utilities/merge_operators.h"

#include "util/options/options_file.h"

namespace varve {
namespace {

Status Create(const std::string& text, std::shared_ptr<MergeOperator>* op) {
  return MergeOperator::CreateFromString(ConfigOptions(), text, op);
}

// The id of what the text makes, or why it makes nothing.
std::string Made(const std::string& text) {
  std::shared_ptr<MergeOperator> op;
  const Status s = Create(text, &op);
  if (!s.ok()) return s.ToString();
  return op == nullptr ? "null" : op->GetId();
}

TEST(MergeOperatorTextTest, NamesAreRocksDbs) {
  const std::unordered_map<std::string, std::string> short_names = {
      {"put", "PutOperator"},
      {"put_v1", "PutOperator"},
      {"uint64add", "UInt64AddOperator"},
      {"int64add", "Int64AddOperator"},
      {"max", "MaxOperator"},
      {"bytesxor", "BytesXOR"},
      {"sortlist", "MergeSortOperator"}};
  for (const auto& [short_name, name] : short_names) {
    EXPECT_EQ(Made(short_name), name);
    EXPECT_EQ(Made(name), name);
    EXPECT_EQ(Made("{id=" + short_name + "}"), name);
    EXPECT_EQ(Made(" {" + name + "} "), name);
  }
  EXPECT_EQ(Made("stringappend"), "{id=StringAppendOperator;delimiter=,;}");
  EXPECT_EQ(Made("StringAppendOperator"), "{id=StringAppendOperator;delimiter=,;}");
  EXPECT_EQ(Made("stringappendtest"), "{id=StringAppendTESTOperator;delimiter=,;}");
  EXPECT_EQ(Made("StringAppendTESTOperator"), "{id=StringAppendTESTOperator;delimiter=,;}");
  EXPECT_EQ(Made(""), "null");
  EXPECT_EQ(Made("nullptr"), "null");
}

TEST(MergeOperatorTextTest, OperatorsKnowTheirShortNames) {
  for (const char* name : {"put", "uint64add", "int64add", "max", "bytesxor", "sortlist",
                           "stringappend", "stringappendtest"}) {
    std::shared_ptr<MergeOperator> op;
    ASSERT_TRUE(Create(name, &op).ok()) << name;
    EXPECT_TRUE(op->IsInstanceOf(name)) << name;
    EXPECT_TRUE(op->IsInstanceOf(op->Name())) << name;
  }
}

TEST(MergeOperatorTextTest, AppendersTakeADelimiter) {
  EXPECT_EQ(Made("{id=StringAppendOperator;delimiter=|}"),
            "{id=StringAppendOperator;delimiter=|;}");
  EXPECT_EQ(Made("id=stringappend;delimiter=ab"), "{id=StringAppendOperator;delimiter=ab;}");
  EXPECT_EQ(Made("id=stringappend; delim = a=b ;"), "{id=StringAppendOperator;delimiter=a=b;}");
  EXPECT_EQ(Made("{id=stringappend;delimiter=\\#}"), "{id=StringAppendOperator;delimiter=\\#;}");
  EXPECT_EQ(Made("{id=stringappend;delimiter=}"), "{id=StringAppendOperator;delimiter=;}");
  EXPECT_EQ(Made("{delimiter_hex=00ff;id=stringappendtest}"),
            "{id=StringAppendTESTOperator;delimiter_hex=00FF;}");
}

TEST(MergeOperatorTextTest, EveryDelimiterReadsBack) {
  const std::string nul(1, '\0');
  for (const std::string& delimiter :
       {std::string(), std::string(";"), std::string("a;b"), std::string(" "), std::string(", "),
        std::string("{"), std::string("}{"), std::string("{;}"), std::string("\n"),
        std::string("\r\n"), std::string("\\"), std::string("\\n"), std::string("#:="),
        std::string("="), std::string("\t"), nul, std::string("\xff\x01"), std::string("nullptr"),
        std::string("a\nb;")}) {
    SCOPED_TRACE(Slice(delimiter).ToString(true));
    for (const auto& op : {MergeOperators::CreateStringAppendOperator(delimiter),
                           MergeOperators::CreateStringAppendTESTOperator(delimiter)}) {
      std::shared_ptr<MergeOperator> back;
      ASSERT_TRUE(Create(op->GetId(), &back).ok()) << op->GetId();
      std::string joined;
      Slice chosen(nullptr, 0);
      MergeOperator::MergeOperationOutput out(joined, chosen);
      const Slice key("k");
      const std::vector<Slice> operands = {"a", "b"};
      ASSERT_TRUE(back->FullMergeV2(
          MergeOperator::MergeOperationInput(key, nullptr, operands, nullptr), &out));
      EXPECT_EQ(joined, "a" + delimiter + "b");
      EXPECT_STREQ(back->Name(), op->Name());
    }
  }
}

TEST(MergeOperatorTextTest, WhatNobodyKnowsIsRefusedByName) {
  std::shared_ptr<MergeOperator> op = MergeOperators::CreateMaxOperator();
  const auto refusal = [&op](const std::string& text) {
    const Status s = Create(text, &op);
    EXPECT_STREQ(op->Name(), "MaxOperator") << text;
    return s;
  };
  EXPECT_TRUE(refusal("My.Operator").IsNotSupported());
  EXPECT_TRUE(refusal("app=v1").IsNotSupported()) << "a user's operator may have any name";
  EXPECT_NE(refusal("My.Operator").ToString().find("My.Operator"), std::string::npos);
  EXPECT_TRUE(refusal("{id=Mine;x=1}").IsNotSupported());
  EXPECT_TRUE(refusal("uint64add:1").IsNotSupported());
  EXPECT_TRUE(refusal("{delimiter=x}").IsInvalidArgument());
  EXPECT_TRUE(refusal("{id=max;delimiter=x}").IsInvalidArgument());
  EXPECT_NE(refusal("{id=stringappend;delimeter=x}").ToString().find("delimeter"),
            std::string::npos);
  EXPECT_TRUE(refusal("{id=stringappend;delimiter_hex=0}").IsInvalidArgument());
  EXPECT_TRUE(refusal("{id=stringappend;delimiter_hex=zz}").IsInvalidArgument());
  EXPECT_TRUE(refusal("{id=stringappend;delimiter={a}").IsInvalidArgument());
  ConfigOptions lenient;
  lenient.ignore_unknown_options = true;
  EXPECT_TRUE(MergeOperator::CreateFromString(lenient, "{id=max;x=1}", &op).ok());
  EXPECT_TRUE(MergeOperator::CreateFromString(lenient, "{id=stringappend;x=1}", &op).ok());
}

// Returns the operator of options made from text.
std::string InOptions(const std::string& text) {
  ColumnFamilyOptions cf;
  const Status s = GetColumnFamilyOptionsFromString(ConfigOptions(), cf, text, &cf);
  if (!s.ok()) return s.ToString();
  return cf.merge_operator == nullptr ? "null" : cf.merge_operator->GetId();
}

TEST(MergeOperatorTextTest, OptionsCarryIt) {
  EXPECT_EQ(InOptions("merge_operator=max"), "MaxOperator");
  EXPECT_EQ(InOptions("num_levels=5;merge_operator={id=StringAppendOperator;delimiter=|};ttl=7"),
            "{id=StringAppendOperator;delimiter=|;}");
  ColumnFamilyOptions cf;
  ASSERT_TRUE(GetColumnFamilyOptionsFromMap(
                  ConfigOptions(), cf, {{"merge_operator", "id=stringappend;delimiter=::"}}, &cf)
                  .ok());
  EXPECT_EQ(cf.merge_operator->GetId(), "{id=StringAppendOperator;delimiter=\\:\\:;}");
  std::string printed;
  ASSERT_TRUE(GetStringFromColumnFamilyOptions(ConfigOptions(), cf, &printed).ok());
  EXPECT_NE(printed.find("merge_operator={id=StringAppendOperator;delimiter=\\:\\:;};"),
            std::string::npos);
  EXPECT_EQ(InOptions(printed), "{id=StringAppendOperator;delimiter=\\:\\:;}");
  // Operators that only code can set are dropped unless the reader says otherwise.
  EXPECT_EQ(InOptions("merge_operator=My.Operator"), "null");
  ConfigOptions strict;
  strict.ignore_unsupported_options = false;
  const Status s = GetColumnFamilyOptionsFromString(strict, cf, "merge_operator=My.Operator", &cf);
  EXPECT_TRUE(s.IsNotSupported()) << s.ToString();
  EXPECT_NE(s.ToString().find("merge_operator"), std::string::npos);
}

TEST(MergeOperatorTextTest, OptionsFilesKeepIt) {
  for (const std::string delimiter : {",", "#", ";", " ", "\n", "{"}) {
    SCOPED_TRACE(delimiter);
    ColumnFamilyOptions cf;
    cf.merge_operator = MergeOperators::CreateStringAppendOperator(delimiter);
    const std::string text = FormatOptionsFile(DBOptions(), {{kDefaultColumnFamilyName, cf}});
    OptionsFileContents contents;
    ASSERT_TRUE(ParseOptionsFile(ConfigOptions(), "OPTIONS-000001", text, &contents).ok());
    const auto& back = contents.column_families.at(0).options.merge_operator;
    ASSERT_NE(back, nullptr);
    EXPECT_EQ(back->GetId(), cf.merge_operator->GetId());
  }
}

}  // namespace
}  // namespace varve
