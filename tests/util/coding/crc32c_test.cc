// SPDX-License-Identifier: Apache-2.0

// Tests CRC-32C: golden values, and agreement of all implementations with a bit-by-bit one.

#include "util/coding/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace varve {
namespace {

uint32_t BitByBit(const std::string& data) {
  uint32_t state = ~0u;
  for (const char c : data) {
    state ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; i++) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~state;
}

std::string RandomText(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes(n, '\0');
  for (char& c : bytes) c = static_cast<char>(random());
  return bytes;
}

TEST(Crc32cTest, GoldenValues) {
  EXPECT_EQ(crc32c::Value("123456789", 9), 0xe3069283u);
  EXPECT_EQ(crc32c::Mask(0xe3069283u), 0xc78ab0e5u);
  EXPECT_EQ(crc32c::Unmask(0xc78ab0e5u), 0xe3069283u);
  const std::string zeros(32, '\0');
  EXPECT_EQ(crc32c::Value(zeros.data(), zeros.size()), 0x8a9136aau);
  EXPECT_EQ(crc32c::Value("", 0), 0u);
}

TEST(Crc32cTest, EveryImplementationAgrees) {
  const std::string bytes = RandomText(10000, 7);
  const crc32c::ExtendFunction candidates[] = {&crc32c::Extend, &crc32c::ExtendPortable,
                                               crc32c::FindX86Extend(), crc32c::FindArm64Extend()};
  for (const crc32c::ExtendFunction extend : candidates) {
    if (extend == nullptr) continue;
    for (size_t n = 0; n <= 700; n++) {
      // Changing starts cover all alignments.
      const std::string part = bytes.substr(n % 13, n);
      ASSERT_EQ(extend(0, bytes.data() + n % 13, n), BitByBit(part)) << n;
    }
    for (const size_t n : {767u, 768u, 769u, 3071u, 3072u, 4096u, 4101u, 6144u, 9999u}) {
      ASSERT_EQ(extend(0, bytes.data(), n), BitByBit(bytes.substr(0, n))) << n;
    }
  }
}

TEST(Crc32cTest, TwoRangesGiveTheCrcOfTheWhole) {
  const std::string bytes = RandomText(5000, 11);
  const uint32_t whole = crc32c::Value(bytes.data(), bytes.size());
  for (size_t cut = 0; cut <= bytes.size(); cut += 97) {
    const uint32_t first = crc32c::Value(bytes.data(), cut);
    EXPECT_EQ(crc32c::Extend(first, bytes.data() + cut, bytes.size() - cut), whole);
  }
}

TEST(Crc32cTest, MaskingIsReversibleAndChangesTheValue) {
  for (const uint32_t crc : {0u, 1u, 0xffffffffu, 0x12345678u}) {
    EXPECT_NE(crc32c::Mask(crc), crc);
    EXPECT_EQ(crc32c::Unmask(crc32c::Mask(crc)), crc);
  }
}

}  // namespace
}  // namespace varve
