// SPDX-License-Identifier: Apache-2.0
#include "util/coding/decimal.h"

#include <charconv>
#include <limits>
#include <system_error>

#include "util/base/assert.h"

namespace varve {

namespace {

constexpr int kDigitsMax = 20;
// Room for a sign, the digits before the point of the largest double, the point, and kDigitsMax.
constexpr int kTextMax = std::numeric_limits<double>::max_exponent10 + kDigitsMax + 3;

std::string Print(double value, std::chars_format form, int digits) {
  VARVE_ASSERT(digits >= 0 && digits <= kDigitsMax);
  char text[kTextMax];
  const std::to_chars_result end = std::to_chars(text, text + sizeof(text), value, form, digits);
  VARVE_ASSERT(end.ec == std::errc());
  return std::string(text, end.ptr);
}

}  // namespace

std::string FixedDigits(double value, int digits) {
  return Print(value, std::chars_format::fixed, digits);
}

std::string SignificantDigits(double value, int digits) {
  return Print(value, std::chars_format::general, digits);
}

}  // namespace varve
