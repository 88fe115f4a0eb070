// SPDX-License-Identifier: Apache-2.0

// Goal: the parts of the metamorphic test are reliable: histories are the same after they were
// printed and read, a seed always gives the same history, and a fault is found and shrunk to the
// lines that matter. Method: an executor that is the model itself, with a fault.

#include <gtest/gtest.h>

#include <string>

#include "tests/harness/shrinker.h"
#include "tests/metamorphic/executor.h"
#include "tests/metamorphic/generator.h"
#include "tests/metamorphic/player.h"
#include "tests/metamorphic/surviving_writes.h"

namespace varve::testing {

namespace {

// Answers as the model does, except that keys deleted singly stay.
class ForgetfulExecutor final : public Executor {
 public:
  std::string Do(const Line& line, const Model& /*model*/) override {
    Line done = line;
    if (done.verb() == "write") {
      for (std::string& word : done.words) {
        if (word == "sdel") return kDone;
      }
    }
    return mine_.Means(done) ? mine_.Do(done) : "";
  }

 private:
  Model mine_;
};

}  // namespace

TEST(MetamorphicHistoryTest, TextIsReadAsItWasWritten) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    const std::string text = PrintHistory(RandomHistory(seed, 300));
    EXPECT_EQ(PrintHistory(ParseHistory(text)), text);
    EXPECT_EQ(PrintHistory(RandomHistory(seed, 300)), text);
  }
  const std::string bytes("a\0 %/;*@\xff", 9);
  EXPECT_EQ(BytesOf(WordOf(bytes)), bytes);
  EXPECT_EQ(BytesOf(WordOf("")), "");
  EXPECT_EQ(ValueOf("v*3000").size(), 3000u);
  const History parsed = ParseHistory("write a@7 put f k v ; del g k # why\n\n");
  ASSERT_EQ(parsed.size(), 1u);
  EXPECT_EQ(parsed[0].Stamp(), 7u);
  EXPECT_EQ(ChangesOf(parsed[0]).size(), 2u);
  EXPECT_EQ(WithoutPart(parsed[0], 0).Text(), "write a@7 del g k");
}

TEST(MetamorphicHistoryTest, AFaultIsShrunkToItsLines) {
  const auto fails = [](const History& history) {
    ForgetfulExecutor executor;
    return Play(history, &executor).found();
  };
  for (uint64_t seed = 1; seed <= 40; seed++) {
    const History history = RandomHistory(seed, 800);
    if (!fails(history)) continue;
    const History shortest = Shrink(history, fails, std::chrono::seconds(60));
    EXPECT_TRUE(fails(shortest));
    EXPECT_LE(shortest.size(), 8u) << PrintHistory(shortest);
    return;
  }
  FAIL() << "no history deletes anything singly";
}

TEST(MetamorphicHistoryTest, TornFamiliesAreSeen) {
  const auto state = [](const char* value) {
    auto view = std::make_shared<FamilyState>();
    if (value != nullptr) (*view)["k"] = value;
    return view;
  };
  SurvivingWrites writes;
  writes.Restart({{"f", state(nullptr)}, {"g", state(nullptr)}});
  const auto put = [](const char* family, const char* value) {
    return Change{Change::kPut, family, "k", value};
  };
  writes.NoteWrite({put("f", "1"), put("g", "1")});
  writes.NoteWrite({put("f", "2")});
  EXPECT_EQ(writes.Judge(Survival::kTogether, {{"f", state("1")}, {"g", state("1")}}), "");
  EXPECT_EQ(writes.Judge(Survival::kTogether, {{"f", state("2")}, {"g", state("1")}}), "");
  EXPECT_NE(writes.Judge(Survival::kTogether, {{"f", state("2")}, {"g", state(nullptr)}}), "");
  EXPECT_EQ(writes.Judge(Survival::kApart, {{"f", state("2")}, {"g", state(nullptr)}}), "");
  EXPECT_NE(writes.Judge(Survival::kApart, {{"f", state("3")}, {"g", state(nullptr)}}), "");
}

}  // namespace varve::testing
