// SPDX-License-Identifier: Apache-2.0

// Goal: the built-in orders are total, have the names that are stored, and shorten keys only to
// keys that lie where they must. Method: all strings over a small alphabet that has the extreme
// bytes, in pairs; and a few known results, so that shortening is seen to happen.

#include "varve/comparator.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "varve/convenience.h"

namespace varve {
namespace {

std::vector<std::string> AllKeys(size_t max_length) {
  const char kAlphabet[] = {'\0', 'a', 'b', '\xfe', '\xff'};
  std::vector<std::string> keys = {""};
  for (size_t first = 0, length = 0; length < max_length; ++length) {
    const size_t end = keys.size();
    for (; first < end; ++first) {
      for (const char c : kAlphabet) keys.push_back(keys[first] + c);
    }
  }
  return keys;
}

std::string WithTs(const std::string& key, uint64_t ts) {
  std::string encoded;
  EncodeU64Ts(ts, &encoded);
  return key + encoded;
}

std::string Separator(const Comparator* order, std::string start, const Slice& limit) {
  order->FindShortestSeparator(&start, limit);
  return start;
}

std::string Successor(const Comparator* order, std::string key) {
  order->FindShortSuccessor(&key);
  return key;
}

TEST(ComparatorTest, NamesAreThoseOnDisk) {
  EXPECT_STREQ(BytewiseComparator()->Name(), "leveldb.BytewiseComparator");
  EXPECT_STREQ(ReverseBytewiseComparator()->Name(), "rocksdb.ReverseBytewiseComparator");
  EXPECT_STREQ(BytewiseComparatorWithU64Ts()->Name(), "leveldb.BytewiseComparator.u64ts");
  EXPECT_STREQ(ReverseBytewiseComparatorWithU64Ts()->Name(),
               "rocksdb.ReverseBytewiseComparator.u64ts");
}

TEST(ComparatorTest, AreFoundByName) {
  const ConfigOptions config;
  for (const Comparator* order :
       {BytewiseComparator(), ReverseBytewiseComparator(), BytewiseComparatorWithU64Ts(),
        ReverseBytewiseComparatorWithU64Ts()}) {
    const Comparator* found = nullptr;
    EXPECT_TRUE(Comparator::CreateFromString(config, order->Name(), &found).ok());
    EXPECT_EQ(found, order);
    EXPECT_TRUE(Comparator::CreateFromString(config, "nullptr", &found).ok());
    EXPECT_EQ(found, nullptr);
  }
  const Comparator* untouched = BytewiseComparator();
  EXPECT_TRUE(Comparator::CreateFromString(config, "mine", &untouched).IsNotSupported());
  EXPECT_EQ(untouched, BytewiseComparator());
}

TEST(ComparatorTest, BothOrdersMirrorEachOther) {
  const std::vector<std::string> keys = AllKeys(3);
  for (const std::string& a : keys) {
    for (const std::string& b : keys) {
      const int order = BytewiseComparator()->Compare(a, b);
      EXPECT_EQ(order < 0, a < b);
      EXPECT_EQ(order == 0, a == b);
      const int reverse = ReverseBytewiseComparator()->Compare(a, b);
      EXPECT_EQ(reverse > 0, order < 0);
      EXPECT_EQ(reverse == 0, order == 0);
      EXPECT_EQ(BytewiseComparator()->Equal(a, b), a == b);
    }
  }
}

TEST(ComparatorTest, SeparatorsLieBetweenTheirKeys) {
  const std::vector<std::string> keys = AllKeys(3);
  for (const Comparator* order :
       {BytewiseComparator(), ReverseBytewiseComparator(), BytewiseComparatorWithU64Ts(),
        ReverseBytewiseComparatorWithU64Ts()}) {
    for (const std::string& a : keys) {
      for (const std::string& b : keys) {
        const bool timed = order->timestamp_size() > 0;
        const std::string start = timed ? WithTs(a, 5) : a;
        const std::string limit = timed ? WithTs(b, 5) : b;
        const std::string separator = Separator(order, start, limit);
        if (order->Compare(start, limit) >= 0) {
          EXPECT_EQ(separator, start);
          continue;
        }
        EXPECT_LE(order->Compare(start, separator), 0);
        EXPECT_LT(order->Compare(separator, limit), 0);
        EXPECT_LE(separator.size(), start.size());
      }
    }
  }
}

TEST(ComparatorTest, SuccessorsAreNotBeforeTheirKeys) {
  for (const Comparator* order : {BytewiseComparator(), ReverseBytewiseComparator()}) {
    for (const std::string& key : AllKeys(4)) {
      const std::string successor = Successor(order, key);
      EXPECT_LE(order->Compare(key, successor), 0);
      EXPECT_LE(successor.size(), key.size());
    }
  }
}

TEST(ComparatorTest, SeparatorsAreShort) {
  const Comparator* order = BytewiseComparator();
  EXPECT_EQ(Separator(order, "abcdefghi", "abzz"), "abd");
  EXPECT_EQ(Separator(order, "ab1xyz", "ab2"), "ab1y");
  EXPECT_EQ(Separator(order, "ab1xyz", "ab2q"), "ab2");
  EXPECT_EQ(Separator(order, "ab1\xff\xffz", "ab2"), "ab1\xff\xff{");
  EXPECT_EQ(Separator(order, "ab1\xff\xff", "ab2"), "ab1\xff\xff");
  EXPECT_EQ(Separator(order, "abc", "abcd"), "abc");
  EXPECT_EQ(Successor(order, "abc"), "b");
  EXPECT_EQ(Successor(order,
                      "\xff\xff"
                      "abc"),
            "\xff\xff"
            "b");
  EXPECT_EQ(Successor(order, "\xff"), "\xff");

  const Comparator* reverse = ReverseBytewiseComparator();
  EXPECT_EQ(Separator(reverse, "abzz", "abcd"), "abz");
  EXPECT_EQ(Separator(reverse, "abcdefgh", "abc"), "abcd");
  EXPECT_EQ(Separator(reverse, "abc", "abcd"), "abc");

  const Comparator* timed = BytewiseComparatorWithU64Ts();
  EXPECT_EQ(Separator(timed, WithTs("abcdefghi", 5), WithTs("abzz", 7)), WithTs("abd", UINT64_MAX));
  EXPECT_EQ(Separator(timed, WithTs("abc", 5), WithTs("abe", 7)), WithTs("abc", 5));
  EXPECT_EQ(Separator(timed, WithTs("abc", 7), WithTs("abc", 5)), WithTs("abc", 7));
}

TEST(ComparatorTest, ImmediateSuccessorsAreFoundByCounting) {
  const Comparator* order = BytewiseComparator();
  EXPECT_TRUE(order->IsSameLengthImmediateSuccessor("a", "b"));
  EXPECT_TRUE(order->IsSameLengthImmediateSuccessor("a\xff\xff", Slice("b\0\0", 3)));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("a\xff\xfe", Slice("b\0\0", 3)));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("a\xff\xff", Slice("b\0\1", 3)));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("a", "c"));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("b", "a"));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("a", "a"));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("a", "aa"));
  EXPECT_FALSE(order->IsSameLengthImmediateSuccessor("", ""));
}

TEST(U64TsComparatorTest, KeysFirstThenNewest) {
  const Comparator* order = BytewiseComparatorWithU64Ts();
  ASSERT_EQ(order->timestamp_size(), 8u);
  EXPECT_LT(order->Compare(WithTs("a", 1), WithTs("b", 9)), 0);
  EXPECT_LT(order->Compare(WithTs("a", 256), WithTs("a", 1)), 0);
  EXPECT_LT(order->Compare(WithTs("a", UINT64_MAX), WithTs("a", 0)), 0);
  EXPECT_EQ(order->Compare(WithTs("a", 7), WithTs("a", 7)), 0);
  EXPECT_EQ(order->CompareWithoutTimestamp(WithTs("a", 1), WithTs("a", 2)), 0);
  EXPECT_EQ(order->CompareWithoutTimestamp("a", false, WithTs("a", 2), true), 0);
  EXPECT_TRUE(order->EqualWithoutTimestamp(WithTs("a", 1), WithTs("a", 2)));
  EXPECT_FALSE(order->Equal(WithTs("a", 1), WithTs("a", 2)));

  const Comparator* reverse = ReverseBytewiseComparatorWithU64Ts();
  EXPECT_GT(reverse->Compare(WithTs("a", 1), WithTs("b", 9)), 0);
  EXPECT_LT(reverse->Compare(WithTs("a", 256), WithTs("a", 1)), 0);
}

TEST(U64TsComparatorTest, KeysTooShortForATimestampAreNotReadBeyondTheirEnd) {
  const std::string tiny = "abc";
  EXPECT_EQ(BytewiseComparatorWithU64Ts()->Compare(Slice(tiny.data(), 0), tiny), 0);
  EXPECT_LT(BytewiseComparatorWithU64Ts()->Compare(tiny, WithTs("a", 0)), 0);
}

TEST(U64TsComparatorTest, TimestampsCompareAndPrintAsNumbers) {
  const Comparator* order = BytewiseComparatorWithU64Ts();
  std::string small;
  std::string large;
  EncodeU64Ts(255, &small);
  EncodeU64Ts(256, &large);
  EXPECT_LT(order->CompareTimestamp(small, large), 0);
  EXPECT_GT(order->CompareTimestamp(large, small), 0);
  EXPECT_EQ(order->CompareTimestamp(large, large), 0);
  EXPECT_LT(order->CompareTimestamp(order->GetMinTimestamp(), small), 0);
  EXPECT_GT(order->CompareTimestamp(order->GetMaxTimestamp(), large), 0);
  EXPECT_EQ(order->TimestampToString(large), "256");

  uint64_t decoded = 0;
  EXPECT_TRUE(DecodeU64Ts(large, &decoded).ok());
  EXPECT_EQ(decoded, 256u);
  EXPECT_TRUE(DecodeU64Ts("short", &decoded).IsInvalidArgument());
  EXPECT_TRUE(DecodeU64Ts(MaxU64Ts(), &decoded).ok());
  EXPECT_EQ(decoded, UINT64_MAX);
}

}  // namespace
}  // namespace varve
