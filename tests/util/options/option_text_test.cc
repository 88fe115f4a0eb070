// SPDX-License-Identifier: Apache-2.0

// The scanner takes well-formed text apart and refuses everything else without harm.

#include "util/options/option_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace varve {
namespace {

std::string Joined(std::string_view text) {
  OptionPairs pairs;
  const Status s = SplitOptionText(text, &pairs);
  if (!s.ok()) return s.ToString().substr(0, 16);
  std::string joined;
  for (const auto& [name, value] : pairs) joined += name + "->" + value + "|";
  return joined;
}

TEST(OptionTextTest, TakesOneLevelApart) {
  EXPECT_EQ(Joined(""), "");
  EXPECT_EQ(Joined("a=1"), "a->1|");
  EXPECT_EQ(Joined(" a = 1 ; b=two words ;; "), "a->1|b->two words|");
  EXPECT_EQ(Joined("a={b=1;c={d=2;}};e=3"), "a->{b=1;c={d=2;}}|e->3|");
  EXPECT_EQ(Joined("{a=1;b=2}"), "a->1|b->2|");
  EXPECT_EQ(Joined("a=;b=1"), "a->|b->1|");
  EXPECT_EQ(Joined("url=x=y"), "url->x=y|");
}

TEST(OptionTextTest, FindsTheNameOfAnObject) {
  const auto id = [](std::string_view text) {
    std::string found = "left over";
    const Status s = ObjectId(text, &found);
    return s.ok() ? found : s.ToString().substr(0, 16);
  };
  EXPECT_EQ(id(" Name "), "Name");
  EXPECT_EQ(id("app=v1"), "app=v1");
  EXPECT_EQ(id("{id=Name}"), "Name");
  EXPECT_EQ(id("{x={y=1;};id=Name;}"), "Name");
  EXPECT_EQ(id("{Name}"), "Name");
  for (const char* none : {"", "nullptr", "{}", "{nullptr}", "{id=nullptr;x=1}"}) {
    EXPECT_EQ(id(none), "") << none;
  }
  EXPECT_EQ(id("{x=1}"), "Invalid argument");
  EXPECT_EQ(id("{id=Name"), "Invalid argument");
}

TEST(OptionTextTest, TakesTheLastIdOutOfThePairs) {
  OptionPairs pairs = {{"id", "first"}, {"a", "1"}, {"id", "last"}, {"b", "2"}};
  std::string id = "default";
  TakeId(&pairs, &id);
  EXPECT_EQ(id, "last");
  EXPECT_EQ(pairs, OptionPairs({{"a", "1"}, {"b", "2"}}));
  TakeId(&pairs, &id);
  EXPECT_EQ(id, "last");
  EXPECT_EQ(pairs.size(), 2u);
}

TEST(OptionTextTest, RefusesWhatIsNotBalancedOrNamed) {
  for (const char* text : {"a", "a;b=1", "=1", "a={b=1", "a={b=1}}", "a={b=1}x;c=2", "a=b{c}",
                           "{a=1", "a}=1", "{a=1};b=2}"}) {
    EXPECT_EQ(Joined(text), "Invalid argument") << text;
  }
}

TEST(OptionTextTest, RefusesDeepNesting) {
  const auto nested = [](int depth) {
    return "a=" + std::string(static_cast<size_t>(depth), '{') +
           std::string(static_cast<size_t>(depth), '}');
  };
  EXPECT_EQ(Joined(nested(kMaxOptionNesting)).substr(0, 4), "a->{");
  EXPECT_EQ(Joined(nested(kMaxOptionNesting + 1)), "Invalid argument");
  EXPECT_EQ(Joined(nested(1000000)), "Invalid argument");
}

TEST(OptionTextTest, RandomTextNeitherCrashesNorHangs) {
  std::mt19937 random(7);
  const std::string alphabet = "a=;{}: \\#\n1k";
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (size_t n = random() % 40; n > 0; --n) text += alphabet[random() % alphabet.size()];
    OptionPairs pairs;
    SplitOptionText(text, &pairs).PermitUncheckedError();
    EXPECT_EQ(UnescapeOptionText(EscapeOptionText(text)), text);
  }
}

TEST(OptionTextTest, SplitsLists) {
  EXPECT_EQ(SplitOptionList("").size(), 0u);
  EXPECT_EQ(SplitOptionList("a"), (std::vector<std::string_view>{"a"}));
  EXPECT_EQ(SplitOptionList("a: b:c"), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_EQ(SplitOptionList("a:"), (std::vector<std::string_view>{"a", ""}));
}

TEST(OptionTextTest, EscapesWhatWouldEndALine) {
  EXPECT_EQ(EscapeOptionText("a#b:c\\d\ne\rf"), "a\\#b\\:c\\\\d\\ne\\rf");
  EXPECT_EQ(UnescapeOptionText("trailing\\"), "trailing\\");
}

TEST(OptionTextTest, ReadsNumbersExactlyWithinTheirRange) {
  uint64_t u = 0;
  EXPECT_TRUE(ParseUnsigned("18446744073709551615", UINT64_MAX, &u));
  EXPECT_EQ(u, UINT64_MAX);
  EXPECT_TRUE(ParseUnsigned(" 64M ", UINT64_MAX, &u));
  EXPECT_EQ(u, uint64_t{64} << 20);
  EXPECT_TRUE(ParseUnsigned("3t", UINT64_MAX, &u));
  EXPECT_EQ(u, uint64_t{3} << 40);
  for (const char* bad :
       {"", "k", "-1", "+1", "1x", "1 2", "0x10", "18446744073709551616", "16777216t", "1.5"}) {
    EXPECT_FALSE(ParseUnsigned(bad, UINT64_MAX, &u)) << bad;
  }
  EXPECT_FALSE(ParseUnsigned("256", 255, &u));

  int64_t i = 0;
  EXPECT_TRUE(ParseSigned("-9223372036854775808", INT64_MIN, INT64_MAX, &i));
  EXPECT_EQ(i, INT64_MIN);
  EXPECT_TRUE(ParseSigned("9223372036854775807", INT64_MIN, INT64_MAX, &i));
  EXPECT_EQ(i, INT64_MAX);
  EXPECT_TRUE(ParseSigned("-2k", INT64_MIN, INT64_MAX, &i));
  EXPECT_EQ(i, -2048);
  EXPECT_FALSE(ParseSigned("9223372036854775808", INT64_MIN, INT64_MAX, &i));
  for (const char* bad : {"--1", "-", "- 5", "-\t5", "- ", "-+5"}) {
    EXPECT_FALSE(ParseSigned(bad, INT64_MIN, INT64_MAX, &i)) << bad;
  }
  EXPECT_FALSE(ParseSigned("-1", 0, 10, &i));
  EXPECT_FALSE(ParseSigned("3", 5, 10, &i));
}

TEST(OptionTextTest, DoublesReadBackAsTheyWere) {
  for (const double value : {0.0, 1.0, 10.0, 0.25, 0.1, 1e-9, 1e300, -2.5, 1.0 / 3.0}) {
    double back = -1;
    ASSERT_TRUE(ParseDouble(PrintDouble(value), &back)) << PrintDouble(value);
    EXPECT_EQ(back, value);
  }
  EXPECT_EQ(PrintDouble(10), "10.000000");
  double ignored;
  for (const char* bad : {"", "nan", "inf", "1e999", "1,5", "1.0x"}) {
    EXPECT_FALSE(ParseDouble(bad, &ignored)) << bad;
  }
}

}  // namespace
}  // namespace varve
