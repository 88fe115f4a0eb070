// SPDX-License-Identifier: Apache-2.0
#include "db/read/entry_visibility.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "varve/comparator.h"

namespace varve {
namespace {

using Verdict = EntryVisibility::Verdict;
using Place = EntryVisibility::Place;

std::string Key(const std::string& key, SequenceNumber sequence, ValueType type = kTypeValue,
                const std::string& timestamp = "") {
  std::string internal = key;
  AppendInternalKey(&internal, timestamp, sequence, type);
  return internal;
}

BatchEntry Entry(const std::string& internal_key) {
  BatchEntry entry;
  entry.Set(internal_key, "value");
  return entry;
}

std::string Time(uint64_t time) {
  std::string bytes;
  EncodeU64Ts(time, &bytes);
  return bytes;
}

TEST(EntryVisibilityTest, AReaderSeesEntriesUpToItsSequenceNumber) {
  const InternalKeyComparator icmp(BytewiseComparator());
  TombstoneSet tombstones(icmp);
  EntryVisibility visibility;
  visibility.Init(&icmp, &tombstones, nullptr);
  visibility.SetSequence(10);
  const std::string seen = Key("k", 10);
  const std::string too_new = Key("k", 11);
  const std::string deletion = Key("k", 10, kTypeDeletion);
  EXPECT_TRUE(visibility.IsVisible(Entry(seen)));
  EXPECT_TRUE(visibility.IsVisibleValue(Entry(seen)));
  EXPECT_FALSE(visibility.IsVisible(Entry(too_new)));
  EXPECT_FALSE(visibility.IsVisibleValue(Entry(too_new)));
  EXPECT_TRUE(visibility.IsVisible(Entry(deletion)));
  EXPECT_FALSE(visibility.IsVisibleValue(Entry(deletion)));
}

TEST(EntryVisibilityTest, TheNewestEntryJudgesItsKey) {
  const InternalKeyComparator icmp(BytewiseComparator());
  TombstoneSet tombstones(icmp);
  EntryVisibility visibility;
  visibility.Init(&icmp, &tombstones, nullptr);
  visibility.SetSequence(10);
  const auto judge = [&](ValueType type) {
    return visibility.Judge("k", PackSequenceAndType(5, type));
  };
  EXPECT_EQ(judge(kTypeValue), Verdict::kLive);
  EXPECT_EQ(judge(kTypeDeletion), Verdict::kDeleted);
  EXPECT_EQ(judge(kTypeSingleDeletion), Verdict::kDeleted);
  EXPECT_EQ(judge(kTypeMerge), Verdict::kOperand);
  EXPECT_EQ(judge(kTypeBlobIndex), Verdict::kReference);
  EXPECT_EQ(judge(kTypeWideColumnEntity), Verdict::kEntity);
  EXPECT_TRUE(EntryVisibility::RefusalOf(5 << 8 | 0x7e).IsCorruption());

  const std::vector<RangeTombstone> ranges{{"a", "z", 8}, {"a", "z", 11}};
  tombstones.Add(FragmentedTombstones::Build(ranges, icmp));
  EXPECT_EQ(visibility.Judge("k", PackSequenceAndType(7, kTypeValue)), Verdict::kCovered);
  EXPECT_EQ(visibility.Judge("k", PackSequenceAndType(9, kTypeValue)), Verdict::kLive);
  EXPECT_EQ(visibility.Judge("zz", PackSequenceAndType(7, kTypeValue)), Verdict::kLive);
}

TEST(EntryVisibilityTest, WithTimestampsLaterAndCoveredEntriesAreNotVisible) {
  const InternalKeyComparator icmp(BytewiseComparatorWithU64Ts());
  TombstoneSet tombstones(icmp);
  EntryVisibility visibility;
  const std::string now = Time(50);
  const Slice as_of(now);
  visibility.Init(&icmp, &tombstones, &as_of);
  tombstones.SetTimestampLimit({as_of, true});
  visibility.SetSequence(10);
  const std::string present = Key("k", 9, kTypeValue, Time(50));
  const std::string later = Key("k", 9, kTypeValue, Time(51));
  EXPECT_TRUE(visibility.has_timestamps());
  EXPECT_TRUE(visibility.IsVisible(Entry(present)));
  EXPECT_EQ(visibility.TimestampOf(Entry(present)), as_of);
  EXPECT_TRUE(visibility.IsOfLaterTime(Entry(later)));
  EXPECT_FALSE(visibility.IsVisible(Entry(later)));
  const std::vector<RangeTombstone> ranges{{"a", "z", 10, Time(50)}};
  tombstones.Add(FragmentedTombstones::Build(ranges, icmp));
  EXPECT_FALSE(visibility.IsVisible(Entry(present)));
}

TEST(EntryVisibilityTest, TargetsLieBeforeAmongAndAfterTheVersionsOfAKey) {
  const InternalKeyComparator icmp(BytewiseComparatorWithU64Ts());
  TombstoneSet tombstones(icmp);
  EntryVisibility visibility;
  const std::string now = Time(50);
  const Slice as_of(now);
  visibility.Init(&icmp, &tombstones, &as_of);
  visibility.SetSequence(10);
  const std::string newest = Key("k", kMaxSequenceNumber - 1, kTypeValue, Time(UINT64_MAX - 1));
  const std::string too_new = Key("k", 11, kTypeValue, Time(50));
  const std::string visible = Key("k", 10, kTypeValue, Time(50));
  const std::string oldest = Key("k", 1, kTypeValue, Time(1));
  std::string target;
  visibility.SetTarget("k", Place::kFirst, &target);
  EXPECT_LT(icmp.Compare(target, newest), 0);
  visibility.SetTarget("k", Place::kVisible, &target);
  EXPECT_GT(icmp.Compare(target, too_new), 0);
  EXPECT_LE(icmp.Compare(target, visible), 0);
  visibility.SetTarget("k", Place::kLast, &target);
  EXPECT_GT(icmp.Compare(target, oldest), 0);
}

}  // namespace
}  // namespace varve
