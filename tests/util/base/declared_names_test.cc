// SPDX-License-Identifier: Apache-2.0
// Goal: names of enumerators and members are those that the sources have, in the form that both
// compilers give. Method: types with and without scopes.

#include "util/base/declared_names.h"

#include <gtest/gtest.h>

#include <cstring>

namespace varve {
namespace {

enum class Scoped { kFirst, kSecond, kSixth = 5 };
enum Plain { PLAIN_ONE, PLAIN_TWO };
struct Shape {
  enum class Kind { kRound };
  int sides = 0;
  int corners = 0;
};

TEST(DeclaredNamesTest, ScopesAreLeftOut) {
  EXPECT_EQ(DeclaredName<Scoped::kSixth>(), "kSixth");
  EXPECT_EQ(DeclaredName<PLAIN_TWO>(), "PLAIN_TWO");
  EXPECT_EQ(DeclaredName<Shape::Kind::kRound>(), "kRound");
  EXPECT_EQ(DeclaredName<&Shape::corners>(), "corners");
}

TEST(DeclaredNamesTest, ANullByteFollows) {
  EXPECT_EQ(std::strlen(DeclaredName<Scoped::kFirst>().data()), 6u);
}

TEST(DeclaredNamesTest, ListsKeepTheOrder) {
  EXPECT_EQ((kEnumeratorNames<Scoped, 2>), (std::array<std::string_view, 2>{"kFirst", "kSecond"}));
  constexpr auto& kSides = kNamedValues<&Shape::sides, &Shape::corners>;
  EXPECT_EQ(kSides[0].name, "sides");
  EXPECT_EQ(kSides[1].value, &Shape::corners);
}

}  // namespace
}  // namespace varve
