// SPDX-License-Identifier: Apache-2.0

// Tests varints: round trips at every length, and refusal of cut, overlong and overflowing input.

#include "util/coding/varint.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace varve {
namespace {

std::vector<uint64_t> InterestingNumbers() {
  std::vector<uint64_t> numbers = {0, 1, 127, 128, 300, std::numeric_limits<uint64_t>::max()};
  for (unsigned bit = 1; bit < 64; bit++) {
    const uint64_t power = uint64_t{1} << bit;
    numbers.insert(numbers.end(), {power - 1, power, power + 1});
  }
  return numbers;
}

TEST(VarintTest, RoundTripsAndNeverReadsPastTheLimit) {
  for (const uint64_t number : InterestingNumbers()) {
    SCOPED_TRACE(number);
    std::string encoded;
    PutVarint64(&encoded, number);
    EXPECT_EQ(encoded.size(), VarintLength(number));
    const char* const begin = encoded.data();
    uint64_t decoded = ~number;
    EXPECT_EQ(GetVarint64Ptr(begin, begin + encoded.size(), &decoded), begin + encoded.size());
    EXPECT_EQ(decoded, number);
    for (size_t cut = 0; cut < encoded.size(); cut++) {
      // A copy of the exact size lets a sanitizer see reads beyond it.
      const std::vector<char> exact(begin, begin + cut);
      EXPECT_EQ(GetVarint64Ptr(exact.data(), exact.data() + cut, &decoded), nullptr);
      EXPECT_EQ(decoded, number);
    }
    if (number > UINT32_MAX) continue;
    std::string encoded32;
    PutVarint32(&encoded32, static_cast<uint32_t>(number));
    EXPECT_EQ(encoded32, encoded);
    uint32_t decoded32 = 0;
    EXPECT_EQ(GetVarint32Ptr(begin, begin + encoded.size(), &decoded32), begin + encoded.size());
    EXPECT_EQ(decoded32, number);
  }
}

TEST(VarintTest, NumbersThatDoNotFitAreRefused) {
  struct Case {
    const char* name;
    std::string bytes;
    bool fits32;
    bool fits64;
  };
  const Case cases[] = {
      {"largest_32", "\xff\xff\xff\xff\x0f", true, true},
      {"bit_32_set", "\xff\xff\xff\xff\x1f", false, true},
      {"bit_34_set", "\x80\x80\x80\x80\x40", false, true},
      {"six_bytes", std::string("\x80\x80\x80\x80\x80\x00", 6), false, true},
      {"largest_64", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", false, true},
      {"bit_64_set", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", false, false},
      {"eleven_bytes", std::string("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11), false,
       false},
      {"padded_zero", std::string("\x80\x00", 2), true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    uint32_t value32 = 0;
    uint64_t value64 = 0;
    Slice input32(c.bytes);
    Slice input64(c.bytes);
    EXPECT_EQ(GetVarint32(&input32, &value32), c.fits32);
    EXPECT_EQ(GetVarint64(&input64, &value64), c.fits64);
    EXPECT_EQ(input32.size(), c.fits32 ? 0 : c.bytes.size());
    EXPECT_EQ(input64.size(), c.fits64 ? 0 : c.bytes.size());
  }
}

TEST(VarintTest, SignedNumbersMatchTheGoldenBytes) {
  struct Case {
    int64_t value;
    const char* hex;
  };
  for (const Case& c : {Case{1, "02"}, Case{-1, "01"}, Case{64, "8001"}, Case{-300, "D704"}}) {
    std::string encoded;
    PutVarsignedint64(&encoded, c.value);
    EXPECT_EQ(Slice(encoded).ToString(true), c.hex);
  }
  for (const int64_t value : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                              std::numeric_limits<int64_t>::max()}) {
    std::string encoded;
    PutVarsignedint64(&encoded, value);
    Slice input(encoded);
    int64_t decoded = 1;
    ASSERT_TRUE(GetVarsignedint64(&input, &decoded));
    EXPECT_EQ(decoded, value);
  }
}

TEST(VarintTest, LengthPrefixedSlicesStayInsideTheInput) {
  std::string encoded;
  PutLengthPrefixedSlice(&encoded, "abc");
  PutLengthPrefixedSlice(&encoded, "");
  Slice input(encoded);
  Slice part;
  ASSERT_TRUE(GetLengthPrefixedSlice(&input, &part));
  EXPECT_EQ(part, Slice("abc"));
  ASSERT_TRUE(GetLengthPrefixedSlice(&input, &part));
  EXPECT_TRUE(part.empty());
  EXPECT_FALSE(GetLengthPrefixedSlice(&input, &part));

  Slice too_short(
      "\x04"
      "abc");
  EXPECT_FALSE(GetLengthPrefixedSlice(&too_short, &part));
  EXPECT_EQ(too_short.size(), 4u);
}

TEST(VarintTest, FixedNumbersAreTakenFromTheFront) {
  const std::string bytes("\x03\x00\x00\x00\x00\x00\x00\x00\xff", 9);
  Slice input(bytes);
  uint64_t number = 0;
  ASSERT_TRUE(GetFixed64(&input, &number));
  EXPECT_EQ(number, 3u);
  EXPECT_FALSE(GetFixed64(&input, &number));
  EXPECT_EQ(input.size(), 1u);
}

}  // namespace
}  // namespace varve
