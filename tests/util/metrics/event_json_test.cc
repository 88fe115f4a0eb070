// SPDX-License-Identifier: Apache-2.0
// Goal: an event is one line of valid JSON whatever is put into it. Method: exact text.

#include "util/metrics/event_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace varve {
namespace {

TEST(JsonEvent, NamesTimeJobAndEventFirst) {
  EXPECT_EQ(JsonEvent(17, "recovery_started").Finish(),
            R"({"time_micros": 17, "event": "recovery_started"})");
  EXPECT_EQ(JsonEvent(17, 3, "flush_started").Add("bytes", uint64_t{9}).Finish(),
            R"({"time_micros": 17, "job": 3, "event": "flush_started", "bytes": 9})");
}

TEST(JsonEvent, WritesEveryKindOfValue) {
  JsonEvent event(0, "e");
  event.Add("neg", -5).Add("max", UINT64_MAX).Add("yes", true).Add("pi", 3.25).Add("nan", NAN);
  event.Add("inf", INFINITY).Add("text", "t").Add("view", std::string_view("v"));
  EXPECT_EQ(event.Finish(),
            R"({"time_micros": 0, "event": "e", "neg": -5, "max": 18446744073709551615, )"
            R"("yes": true, "pi": 3.25, "nan": null, "inf": null, "text": "t", "view": "v"})");
}

TEST(JsonEvent, WritesListsAndObjects) {
  JsonEvent event(0, "e");
  event.Add("none", std::vector<uint64_t>()).Add("levels", std::vector<uint64_t>{2, 0, 7});
  event.BeginObject("inner").Add("a", 1).Add("b", "x").EndObject().Add("after", 2);
  event.BeginObject("empty").EndObject();
  EXPECT_EQ(event.Finish(), R"({"time_micros": 0, "event": "e", "none": [], "levels": [2, 0, 7], )"
                            R"("inner": {"a": 1, "b": "x"}, "after": 2, "empty": {}})");
}

TEST(JsonEvent, EscapesWhatWouldBreakTheLine) {
  JsonEvent event(0, "e");
  event.Add("a\"b", std::string_view("\\\n\x01\xff\0z", 6));
  EXPECT_EQ(event.Finish(),
            R"({"time_micros": 0, "event": "e", "a\"b": "\\\u000a\u0001\u00ff\u0000z"})");
}

}  // namespace
}  // namespace varve
