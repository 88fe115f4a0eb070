// SPDX-License-Identifier: Apache-2.0

// Tests fixed-width integers: byte order, alignment, appending.

#include "util/coding/fixed.h"

#include <gtest/gtest.h>

#include "varve/slice.h"

namespace varve {
namespace {

TEST(FixedTest, BytesAreLittleEndian) {
  std::string out;
  PutFixed16(&out, 0x0102);
  PutFixed32(&out, 0x03040506);
  PutFixed64(&out, 0x0708090a0b0c0d0eu);
  EXPECT_EQ(Slice(out).ToString(true),
            "0201"
            "06050403"
            "0E0D0C0B0A090807");
}

TEST(FixedTest, DecodesAtAnyAlignment) {
  for (size_t shift = 0; shift < 8; shift++) {
    std::string buffer(24, 'x');
    char* const at = buffer.data() + shift;
    EncodeFixed64(at, 0xfedcba9876543210u);
    EXPECT_EQ(DecodeFixed64(at), 0xfedcba9876543210u);
    EXPECT_EQ(DecodeFixed32(at), 0x76543210u);
    EXPECT_EQ(DecodeFixed16(at), 0x3210u);
    EXPECT_EQ(DecodeBigEndian64(at), 0x1032547698badcfeu);
    EXPECT_EQ(buffer[shift + 8], 'x');
  }
}

}  // namespace
}  // namespace varve
