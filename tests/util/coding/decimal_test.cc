// SPDX-License-Identifier: Apache-2.0

// Goal: numbers have printf's forms in the C locale, and keep them in a locale that writes a comma.
// Method: numbers at the edges beside printf; the second part runs where such a locale is
// installed.

#include "util/coding/decimal.h"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdio>
#include <limits>
#include <string>

namespace varve {
namespace {

std::string Printf(const char* format, int digits, double value) {
  char text[512];
  std::snprintf(text, sizeof(text), format, digits, value);
  return text;
}

TEST(DecimalTest, FormsArePrintfs) {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, -0.0, 0.5, -1.25, 1e-7, 123456789.0, 1e17, 1.0 / 3, 2e-310,
                             Limits::min(), Limits::max(), Limits::lowest()}) {
    for (const int digits : {0, 1, 6, 9, 17, 20}) {
      EXPECT_EQ(FixedDigits(value, digits), Printf("%.*f", digits, value));
      if (digits == 0) continue;
      EXPECT_EQ(SignificantDigits(value, digits), Printf("%.*g", digits, value));
    }
  }
}

TEST(DecimalTest, ThePointDoesNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_NUMERIC, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"}) {
    if (std::setlocale(LC_NUMERIC, name) != nullptr) break;
  }
  EXPECT_EQ(FixedDigits(0.5, 2), "0.50");
  EXPECT_EQ(SignificantDigits(0.5, 2), "0.5");
  std::setlocale(LC_NUMERIC, before.c_str());
}

}  // namespace
}  // namespace varve
