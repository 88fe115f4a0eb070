// SPDX-License-Identifier: Apache-2.0

// Tests BoundedReader: reads in sequence, fails once and for all, never leaves its input.

#include "util/coding/reader.h"

#include <gtest/gtest.h>

#include <vector>

namespace varve {
namespace {

std::string Sample() {
  std::string s;
  s.push_back('\x07');
  PutFixed16(&s, 16);
  PutFixed32(&s, 32);
  PutFixed64(&s, 64);
  PutVarint32(&s, 3232);
  PutVarint64(&s, uint64_t{1} << 60);
  PutLengthPrefixedSlice(&s, "name");
  s += "tail";
  return s;
}

bool ReadSample(const Slice& bytes) {
  BoundedReader in(bytes);
  bool equal = in.U8() == 7;
  equal &= in.Fixed16() == 16;
  equal &= in.Fixed32() == 32;
  equal &= in.Fixed64() == 64;
  equal &= in.Varint32() == 3232;
  equal &= in.Varint64() == uint64_t{1} << 60;
  equal &= in.LengthPrefixed() == Slice("name");
  equal &= in.Bytes(4) == Slice("tail");
  return equal && in.AtEnd();
}

TEST(BoundedReaderTest, ReadsWhatWasWrittenAndRefusesEveryCut) {
  const std::string sample = Sample();
  EXPECT_TRUE(ReadSample(sample));
  for (size_t cut = 0; cut < sample.size(); cut++) {
    const std::vector<char> exact(sample.begin(), sample.begin() + static_cast<ptrdiff_t>(cut));
    EXPECT_FALSE(ReadSample(Slice(exact.data(), exact.size()))) << cut;
  }
}

TEST(BoundedReaderTest, FailureIsStickyAndConsumesNothing) {
  BoundedReader in(Slice("\x01\x02\x03", 3));
  EXPECT_EQ(in.U8(), 1);
  EXPECT_EQ(in.Fixed32(), 0u);
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.offset(), 1u);
  EXPECT_EQ(in.remaining(), 0u);
  EXPECT_EQ(in.U8(), 0);
  EXPECT_EQ(in.Varint32(), 0u);
  EXPECT_TRUE(in.Bytes(0).empty());
  EXPECT_TRUE(in.rest().empty());
  EXPECT_FALSE(in.AtEnd());
}

TEST(BoundedReaderTest, HugeLengthsDoNotOverflow) {
  std::string bytes;
  PutVarint32(&bytes, UINT32_MAX);
  bytes += "abc";
  BoundedReader in(bytes);
  EXPECT_TRUE(in.LengthPrefixed().empty());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.offset(), 0u);

  BoundedReader other(Slice("abc"));
  EXPECT_TRUE(other.Bytes(UINT64_MAX).empty());
  EXPECT_FALSE(other.ok());
}

TEST(BoundedReaderTest, SkipRestAndFail) {
  BoundedReader in(Slice("abcdef"));
  in.Skip(2);
  EXPECT_EQ(in.rest(), Slice("cdef"));
  EXPECT_EQ(in.remaining(), 4u);
  in.Fail();
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
}

}  // namespace
}  // namespace varve
