// SPDX-License-Identifier: Apache-2.0

// Internal keys: bytes, parsing, order under built-in and custom comparators, key words.

#include "util/key/internal_key.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace varve {
namespace {

int Sign(int x) {
  return (x > 0) - (x < 0);
}

// Bytewise order by another object, so that it is taken for a custom one; counts its calls.
class CountingComparator : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    calls++;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  mutable int calls = 0;
};

std::string RandomKey(std::mt19937* random) {
  std::string key((*random)() % 20, '\0');
  // Few letters make long shared prefixes; the high byte tests that order is unsigned.
  for (char& c : key)
    c = "\x00\xff"
        "ab"[(*random)() % 4];
  return key;
}

TEST(InternalKeyTest, TheNumbersOfTheFormat) {
  EXPECT_EQ(kTypeRangeDeletion, 0x0f);
  EXPECT_EQ(kTypeBlobIndex, 0x11);
  EXPECT_EQ(kTypeDeletionWithTimestamp, 0x14);
  EXPECT_EQ(kTypeWideColumnEntity, 0x16);
  EXPECT_EQ(kTypeValuePreferredSeqno, 0x18);
  EXPECT_EQ(kTypeMax, 0x7f);
  EXPECT_EQ(kValueTypeForSeek, 0x18);
  EXPECT_EQ(kMaxSequenceNumber, 72057594037927935u);
}

TEST(InternalKeyTest, EncodesAsInRealFiles) {
  std::string encoded;
  AppendInternalKey(&encoded, "k1", 1, kTypeValue);
  EXPECT_EQ(Slice(encoded).ToString(true), "6B310101000000000000");
  std::string range_end;
  AppendInternalKey(&range_end, ParsedInternalKey("z", kMaxSequenceNumber, kTypeRangeDeletion));
  EXPECT_EQ(Slice(range_end).ToString(true), "7A0FFFFFFFFFFFFFFF");
}

TEST(InternalKeyTest, ParsesWhatEntriesMayHaveAndNothingElse) {
  const std::set<int> entry_types = {0x00, 0x01, 0x02, 0x07, 0x0f, 0x11, 0x14, 0x16, 0x18};
  for (int type = 0; type < 256; type++) {
    std::string encoded = "user";
    PutFixed64(&encoded, uint64_t{77} << 8 | static_cast<uint64_t>(type));
    ParsedInternalKey parsed;
    EXPECT_EQ(ParseInternalKey(encoded, &parsed), entry_types.count(type) == 1) << type;
    ASSERT_TRUE(ParseBoundaryKey(encoded, &parsed));
    EXPECT_EQ(parsed.user_key, Slice("user"));
    EXPECT_EQ(parsed.sequence, 77u);
    EXPECT_EQ(parsed.type, type);
  }
}

TEST(InternalKeyTest, ShortKeysAreRefusedWithoutShowingThem) {
  ParsedInternalKey parsed;
  for (size_t n = 0; n < 8; n++) {
    const std::string bytes(n, 'S');
    EXPECT_FALSE(ParseInternalKey(bytes, &parsed));
    EXPECT_FALSE(ParseBoundaryKey(bytes, &parsed));
    InternalKey key("x", 1, kTypeValue);
    EXPECT_FALSE(key.DecodeFrom(bytes));
    EXPECT_TRUE(key.empty());
  }
  const Status shorter = DescribeBadInternalKey("SECRET", "000007.sst");
  EXPECT_TRUE(shorter.IsCorruption());
  EXPECT_NE(shorter.ToString().find("000007.sst"), std::string::npos);
  EXPECT_EQ(shorter.ToString().find("SECRET"), std::string::npos);
  const Status unknown = DescribeBadInternalKey("SECRETxxxxxxxxxxxx", "f");
  EXPECT_NE(unknown.ToString().find("type"), std::string::npos);
  EXPECT_EQ(unknown.ToString().find("SECRET"), std::string::npos);
}

TEST(InternalKeyTest, OwningKeysRoundTrip) {
  const InternalKey key("abc", 42, kTypeMerge);
  InternalKey copy;
  EXPECT_TRUE(copy.empty());
  ASSERT_TRUE(copy.DecodeFrom(key.Encode()));
  EXPECT_TRUE(copy == key);
  EXPECT_EQ(copy.user_key(), Slice("abc"));
  EXPECT_EQ(copy.sequence(), 42u);
  EXPECT_EQ(copy.type(), kTypeMerge);
  EXPECT_EQ(UnpackSequence(ExtractTrailer(key.Encode())), 42u);
  EXPECT_EQ(UnpackType(ExtractTrailer(key.Encode())), kTypeMerge);
  copy.Clear();
  EXPECT_TRUE(copy.empty());
}

TEST(InternalKeyComparatorTest, BuiltInOrdersAreRecognisedByIdentity) {
  const CountingComparator custom;
  EXPECT_EQ(InternalKeyComparator(BytewiseComparator()).order(), KeyOrder::kBytewise);
  EXPECT_EQ(InternalKeyComparator(ReverseBytewiseComparator()).order(), KeyOrder::kReverseBytewise);
  EXPECT_EQ(InternalKeyComparator(&custom).order(), KeyOrder::kCustom);
  EXPECT_EQ(InternalKeyComparator(BytewiseComparatorWithU64Ts()).order(), KeyOrder::kBytewiseU64Ts);
  EXPECT_EQ(InternalKeyComparator(ReverseBytewiseComparatorWithU64Ts()).order(),
            KeyOrder::kReverseBytewiseU64Ts);
  EXPECT_EQ(InternalKeyComparator(BytewiseComparatorWithU64Ts()).timestamp_size(), 8u);
}

TEST(InternalKeyComparatorTest, InlinedOrderIsTheComparatorsOrder) {
  std::mt19937 random(3);
  const InternalKeyComparator bytewise(BytewiseComparator());
  const InternalKeyComparator reverse(ReverseBytewiseComparator());
  for (int i = 0; i < 20000; i++) {
    const std::string a = RandomKey(&random);
    const std::string b = i % 10 == 0 ? a : RandomKey(&random);
    const int expected = Sign(Slice(a).compare(b));
    ASSERT_EQ(Sign(bytewise.CompareUserKey(a, b)), expected);
    ASSERT_EQ(Sign(reverse.CompareUserKey(a, b)), -expected);
    ASSERT_EQ(bytewise.EqualKey(a, b), expected == 0);
    ASSERT_EQ(reverse.EqualKey(a, b), expected == 0);
  }
}

TEST(InternalKeyComparatorTest, CustomComparatorsAreCalledOnce) {
  const CountingComparator custom;
  const InternalKeyComparator comparator(&custom);
  EXPECT_LT(comparator.CompareUserKey("a", "b"), 0);
  EXPECT_EQ(custom.calls, 1);
  EXPECT_FALSE(comparator.EqualKey("a", "b"));
  EXPECT_EQ(custom.calls, 2);
  const InternalKey a("same", 5, kTypeValue);
  const InternalKey b("same", 4, kTypeValue);
  EXPECT_LT(comparator.Compare(a.Encode(), b.Encode()), 0);
  EXPECT_EQ(custom.calls, 3);
}

TEST(InternalKeyComparatorTest, NewestFirstThenLargerTypeFirst) {
  const InternalKeyComparator comparator(BytewiseComparator());
  const std::vector<InternalKey> ordered = {
      InternalKey("", 1, kTypeValue),
      InternalKey("a", kMaxSequenceNumber, kValueTypeForSeek),
      InternalKey("a", kMaxSequenceNumber, kTypeRangeDeletion),
      InternalKey("a", 9, kTypeValue),
      InternalKey("a", 9, kTypeDeletion),
      InternalKey("a", 8, kTypeMerge),
      InternalKey("a", 0, kTypeDeletion),
      InternalKey("ab", 100, kTypeValue),
      InternalKey("b", 1, kTypeValue),
  };
  for (size_t i = 0; i < ordered.size(); i++) {
    for (size_t j = 0; j < ordered.size(); j++) {
      const int expected = (i > j) - (i < j);
      EXPECT_EQ(Sign(comparator.Compare(ordered[i].Encode(), ordered[j].Encode())), expected);
      ParsedInternalKey a;
      ParsedInternalKey b;
      ASSERT_TRUE(ParseInternalKey(ordered[i].Encode(), &a));
      ASSERT_TRUE(ParseInternalKey(ordered[j].Encode(), &b));
      EXPECT_EQ(Sign(comparator.Compare(a, b)), expected);
    }
  }
}

TEST(KeyPrefixTest, TakesEightBytesAfterThePrefix) {
  struct Case {
    std::string key;
    size_t prefix;
    uint64_t word;
  };
  const Case cases[] = {
      {"", 0, 0},
      {"", 3, 0},
      {"abc", 3, 0},
      {"abc", 9, 0},
      {"a", 0, 0x6100000000000000u},
      {"abcdefg", 0, 0x6162636465666700u},
      {"abcdefgh", 0, 0x6162636465666768u},
      {"abcdefgh", 1, 0x6263646566676800u},
      {"abcdefgh", 7, 0x6800000000000000u},
      {"abcdefghi", 1, 0x6263646566676869u},
      {"abcdef", 4, 0x6566000000000000u},
      {"\xff\xfe", 0, 0xfffe000000000000u},
  };
  for (const Case& c : cases) {
    const std::vector<char> exact(c.key.begin(), c.key.end());
    EXPECT_EQ(KeyPrefix(Slice(exact.data(), exact.size()), c.prefix), c.word) << c.key << c.prefix;
  }
}

TEST(KeyPrefixTest, NeverContradictsTheOrder) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; i++) {
    const std::string prefix = RandomKey(&random);
    const std::string a = prefix + RandomKey(&random);
    const std::string b = prefix + RandomKey(&random);
    const uint64_t wa = KeyPrefix(a, prefix.size());
    const uint64_t wb = KeyPrefix(b, prefix.size());
    if (wa != wb) {
      ASSERT_EQ(wa < wb, Slice(a).compare(b) < 0);
    }
  }
}

}  // namespace
}  // namespace varve
