// SPDX-License-Identifier: Apache-2.0

// Tests what a point read does with the entries that sources offer it.

#include "util/key/point_lookup.h"

#include <gtest/gtest.h>

#include <string>

#include "util/coding/hash.h"

namespace varve {
namespace {

using State = PointLookup::State;

uint64_t Trailer(SequenceNumber seq, ValueType type) {
  return PackSequenceAndType(seq, type);
}

TEST(PointLookupTest, KeepsTheKeyWithTheTrailerOfItsSnapshot) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{120}, size_t{121}, size_t{5000}}) {
    const std::string key(size, 'k');
    const PointLookup lookup(key, 77, nullptr);
    EXPECT_EQ(lookup.key(), Slice(key));
    EXPECT_EQ(ExtractUserKey(lookup.internal_key()), Slice(key));
    EXPECT_EQ(ExtractTrailer(lookup.internal_key()), Trailer(77, kValueTypeForSeek));
    EXPECT_EQ(lookup.hash(), KeyHash64(key));
  }
}

TEST(PointLookupTest, IsAsBeforeWhenItLeavesATableWithoutTimestamps) {
  const InternalKeyComparator icmp(BytewiseComparatorWithU64Ts());
  std::string time;
  EncodeU64Ts(300, &time);
  PointLookup lookup("key", 77, nullptr, nullptr, ReadTimestamp{&icmp, time});
  const std::string before = lookup.internal_key().ToString();
  lookup.EnterKeysWithoutTimestamp();
  EXPECT_EQ(ExtractUserKey(lookup.internal_key()), Slice("key"));
  EXPECT_EQ(ExtractTrailer(lookup.internal_key()), Trailer(77, kValueTypeForSeek));
  lookup.LeaveKeysWithoutTimestamp();
  EXPECT_EQ(lookup.internal_key(), Slice(before));
}

TEST(PointLookupTest, EveryTypeEndsTheSearchInItsOwnWay) {
  const struct {
    ValueType type;
    State state;
  } cases[] = {
      {kTypeValue, State::kFound},
      {kTypeDeletion, State::kDeleted},
      {kTypeSingleDeletion, State::kDeleted},
      {kTypeMerge, State::kFailed},
      {kTypeBlobIndex, State::kReference},
      {kTypeNoop, State::kFailed},
  };
  for (const auto& c : cases) {
    PinnableSlice value;
    PointLookup lookup("k", 10, &value);
    EXPECT_TRUE(lookup.Offer(Trailer(7, c.type), "v", nullptr)) << int{c.type};
    EXPECT_EQ(lookup.state(), c.state) << int{c.type};
    EXPECT_EQ(lookup.found_seq(), 7u);
    EXPECT_EQ(lookup.status().ok(), c.state != State::kFailed);
    if (c.state == State::kFound || c.state == State::kReference) {
      EXPECT_EQ(value.ToString(), "v");
    }
  }
}

TEST(PointLookupTest, APlainReadSeesTheDefaultColumnOfAnEntity) {
  const std::string with("\x01\x02\x00\x02\x01\x61\x01\x64\x64\x31", 10);
  const std::string without("\x01\x01\x01\x61\x01\x31", 6);
  PinnableSlice value;
  PointLookup plain("k", 10, &value);
  EXPECT_TRUE(plain.Offer(Trailer(7, kTypeWideColumnEntity), with, nullptr));
  EXPECT_EQ(plain.state(), State::kFound);
  EXPECT_EQ(plain.form(), ValueForm::kPlain);
  EXPECT_EQ(value.ToString(), "dd");

  value.Reset();
  PointLookup absent("k", 10, &value);
  EXPECT_TRUE(absent.Offer(Trailer(7, kTypeWideColumnEntity), without, nullptr));
  EXPECT_EQ(absent.state(), State::kFound);
  EXPECT_TRUE(value.empty());

  PointLookup whole("k", 10, &value);
  whole.WantEntity();
  EXPECT_TRUE(whole.Offer(Trailer(7, kTypeWideColumnEntity), without, nullptr));
  EXPECT_EQ(whole.form(), ValueForm::kEntity);
  EXPECT_EQ(value.ToString(), without);

  PointLookup bad("k", 10, &value);
  EXPECT_TRUE(bad.Offer(Trailer(7, kTypeWideColumnEntity), "\x01\x07", nullptr));
  EXPECT_TRUE(bad.status().IsCorruption());
  EXPECT_NE(bad.status().ToString().find("6B"), std::string::npos) << bad.status().ToString();
}

TEST(PointLookupTest, AnEntryOlderThanACoveringTombstoneIsDeleted) {
  PinnableSlice value;
  PointLookup older("k", 10, &value);
  older.CoverWith(5);
  older.CoverWith(3);
  EXPECT_EQ(older.covering_seq(), 5u);
  EXPECT_TRUE(older.Offer(Trailer(4, kTypeValue), "v", nullptr));
  EXPECT_EQ(older.state(), State::kDeleted);

  PointLookup newer("k", 10, &value);
  newer.CoverWith(5);
  EXPECT_TRUE(newer.Offer(Trailer(6, kTypeValue), "v", nullptr));
  EXPECT_EQ(newer.state(), State::kFound);
}

TEST(PointLookupTest, OnlyACoveredSearchEndsWithoutAnEntry) {
  PointLookup lookup("k", 10, nullptr);
  EXPECT_FALSE(lookup.EndIfCovered());
  EXPECT_EQ(lookup.state(), State::kSearching);
  lookup.CoverWith(1);
  EXPECT_TRUE(lookup.EndIfCovered());
  EXPECT_EQ(lookup.state(), State::kDeleted);
}

void CountCleanup(void* counter, void* /*unused*/) {
  ++*static_cast<int*>(counter);
}

class CountingPin final : public ValuePin {
 public:
  explicit CountingPin(int* cleanups) : cleanups_(cleanups) {}

  Cleanable* Renew() override {
    renewed_++;
    share_.RegisterCleanup(&CountCleanup, cleanups_, nullptr);
    return &share_;
  }
  [[nodiscard]] int renewed() const { return renewed_; }

 private:
  int* const cleanups_;
  int renewed_ = 0;
  Cleanable share_;
};

TEST(PointLookupTest, LargeValuesArePinnedAndSmallOnesCopied) {
  for (const bool large : {false, true}) {
    const std::string stored(large ? 1000 : 10, 'v');
    int cleanups = 0;
    PinnableSlice value;
    CountingPin pin(&cleanups);
    PointLookup lookup("k", 10, &value);
    ASSERT_TRUE(lookup.Offer(Trailer(1, kTypeValue), stored, &pin));
    EXPECT_EQ(value.data() == stored.data(), large);
    EXPECT_EQ(value.ToString(), stored);
    EXPECT_EQ(pin.renewed(), large ? 1 : 0);
    EXPECT_EQ(cleanups, 0);
    value.Reset();
    EXPECT_EQ(cleanups, large ? 1 : 0);
  }
}

}  // namespace
}  // namespace varve
