// SPDX-License-Identifier: Apache-2.0
#include "db/read/user_key_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "varve/comparator.h"
#include "varve/utilities/merge_operators.h"

#include "tests/harness/random.h"

namespace varve {
namespace {

constexpr SequenceNumber kNow = 1000;
constexpr int kVersions = 20;  // versions of one key: too many to step over

using Entries = std::vector<std::pair<std::string, std::string>>;

// Walks a list whose order was not checked, and seeks as if it were sorted, as in a damaged table.
class UncheckedList final : public InternalIterator {
 public:
  UncheckedList(const Entries* entries, const InternalKeyComparator* icmp)
      : entries_(*entries), icmp_(icmp) {}

  void SeekToFirst() override { StandOn(0); }
  void SeekToLast() override { StandOn(entries_.size() - 1); }
  void Seek(const Slice& target) override {
    const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return icmp_->Compare(entry.first, target) >= 0;
    });
    StandOn(static_cast<size_t>(at - entries_.begin()));
  }
  void SeekForPrev(const Slice& target) override {
    const auto at = std::find_if(entries_.rbegin(), entries_.rend(), [&](const auto& entry) {
      return icmp_->Compare(entry.first, target) <= 0;
    });
    StandOn(static_cast<size_t>(entries_.rend() - at) - 1);
  }
  void Next() override { StandOn(at_ + 1); }
  void Prev() override { StandOn(at_ - 1); }
  Status status() const override { return Status::OK(); }

 private:
  void StandOn(size_t at) {
    at_ = at;
    valid_ = at < entries_.size();
    if (!valid_) return;
    key_ = entries_[at].first;
    value_ = entries_[at].second;
  }

  const Entries& entries_;
  const InternalKeyComparator* const icmp_;
  size_t at_ = 0;
};

class UserKeyWalkTest : public ::testing::Test {
 protected:
  void Add(const std::string& key, SequenceNumber newest, ValueType type, int versions = 1) {
    for (int i = 0; i < versions; i++) {
      std::string internal = key;
      AppendInternalKey(&internal, Slice(), newest - static_cast<SequenceNumber>(i), type);
      entries_.emplace_back(std::move(internal), "value");
    }
  }

  // Returns what a walk shows before it ends; stops if it shows more than twice the entries.
  std::string Walk(bool forward) {
    UserKeyWalk::Settings settings;
    settings.options = &options_;
    settings.icmp = &icmp_;
    settings.merger = &merger_;
    TombstoneSet tombstones(icmp_);
    if (!tombstones_.empty()) tombstones.Add(FragmentedTombstones::Build(tombstones_, icmp_));
    UserKeyWalk walk;
    walk.Init(settings, &tombstones);
    walk.SetSource(std::make_unique<UncheckedList>(&entries_, &icmp_));
    walk.SetSequence(kNow);
    std::string shown;
    forward ? walk.SeekToFirst() : walk.SeekToLast();
    while (walk.Valid() && shown.size() <= 2 * entries_.size()) {
      shown += walk.key().ToString();
      forward ? walk.Next() : walk.Prev();
    }
    status_ = walk.status();
    return shown;
  }

  const InternalKeyComparator icmp_{BytewiseComparator()};
  const std::shared_ptr<MergeOperator> operator_ = MergeOperators::CreateStringAppendOperator();
  const MergeCaller merger_{operator_.get(), nullptr, nullptr};
  ReadOptions options_{};
  Entries entries_;
  std::vector<RangeTombstone> tombstones_;
  Status status_;
};

TEST_F(UserKeyWalkTest, AKeyOutOfOrderDoesNotLeadForwardRoundForEver) {
  for (const ValueType type : {kTypeValue, kTypeDeletion}) {
    for (const SequenceNumber newest : {kNow, kNow + kVersions - 1, kNow + kVersions}) {
      entries_.clear();
      Add("b", 1, kTypeValue);
      Add("c", 2, kTypeValue);
      Add("a", newest, type, kVersions);
      Add("d", 3, kTypeValue);
      const std::string shown = Walk(/*forward=*/true);
      EXPECT_LE(shown.size(), 6U) << shown;
      EXPECT_TRUE(status_.IsCorruption()) << shown << status_.ToString();
    }
  }
}

TEST_F(UserKeyWalkTest, AKeyOutOfOrderDoesNotLeadBackwardRoundForEver) {
  for (const ValueType type : {kTypeValue, kTypeDeletion}) {
    for (const SequenceNumber newest : {kNow, kNow + kVersions - 1, kNow + kVersions}) {
      entries_.clear();
      Add("z", newest, type, kVersions);
      Add("b", 1, kTypeValue);
      Add("c", 2, kTypeValue);
      const std::string shown = Walk(/*forward=*/false);
      EXPECT_LE(shown.size(), 6U) << shown;
      EXPECT_TRUE(status_.IsCorruption()) << shown << status_.ToString();
    }
  }
}

TEST_F(UserKeyWalkTest, ManyVersionsInOrderAreLeaptOverBothWays) {
  for (const char* key : {"a", "b", "c", "d"}) Add(key, kNow + 10, kTypeValue, kVersions);
  EXPECT_EQ(Walk(/*forward=*/true), "abcd");
  EXPECT_TRUE(status_.ok()) << status_.ToString();
  EXPECT_EQ(Walk(/*forward=*/false), "dcba");
  EXPECT_TRUE(status_.ok()) << status_.ToString();
}

TEST_F(UserKeyWalkTest, CoveredVersionsAreNotAmongTheSkippable) {
  options_.max_skippable_internal_keys = 2;
  for (const int versions : {5, kVersions}) {
    entries_.clear();
    Add("a", 1, kTypeValue);
    Add("k", 100, kTypeValue, versions);
    Add("m", 100, kTypeValue, versions);
    Add("z", 2, kTypeValue);
    tombstones_ = {{"j", "n", 101}};
    EXPECT_EQ(Walk(/*forward=*/true), "az");
    EXPECT_TRUE(status_.ok()) << status_.ToString();
    EXPECT_EQ(Walk(/*forward=*/false), "za");
    EXPECT_TRUE(status_.ok()) << status_.ToString();
  }
}

TEST_F(UserKeyWalkTest, VersionsAboveATombstoneAreAmongTheSkippable) {
  options_.max_skippable_internal_keys = 2;
  Add("a", 1, kTypeValue);
  Add("m", 100, kTypeValue, 5);
  Add("z", 2, kTypeValue);
  tombstones_ = {{"j", "n", 50}};
  EXPECT_EQ(Walk(/*forward=*/true), "am");
  EXPECT_TRUE(status_.IsIncomplete()) << status_.ToString();
  EXPECT_EQ(Walk(/*forward=*/false), "z");
  EXPECT_TRUE(status_.IsIncomplete()) << status_.ToString();
}

// The seek for the newest version ends at a key out of order, and what a step had found is missed.
TEST_F(UserKeyWalkTest, AnOlderTombstoneIsNoReasonForASeekToMissAnEntry) {
  for (const ValueType type : {kTypeValue, kTypeMerge}) {
    for (const SequenceNumber deleted_at : {SequenceNumber{0}, SequenceNumber{5}}) {
      entries_.clear();
      Add("z", 1, kTypeValue);
      Add("b", 2, kTypeValue);
      Add("m", kNow, type, kVersions);
      tombstones_.clear();
      if (deleted_at != 0) tombstones_ = {{"l", "n", deleted_at}};
      EXPECT_EQ(Walk(/*forward=*/false), "") << type << deleted_at;
      EXPECT_TRUE(status_.IsCorruption()) << type << deleted_at << status_.ToString();
    }
  }
}

// Keys with more versions than are stepped over, written in no order of their timestamps.
class TimestampedKeyWalkTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kTimes = 30;

  static std::string Stamp(uint64_t time) {
    std::string bytes;
    EncodeU64Ts(time, &bytes);
    return bytes;
  }
  void Add(const std::string& key, uint64_t time, SequenceNumber sequence, ValueType type) {
    std::string internal = key;
    AppendInternalKey(&internal, Stamp(time), sequence, type);
    entries_.emplace_back(std::move(internal), std::to_string(sequence));
  }
  void Sort() {
    std::sort(entries_.begin(), entries_.end(),
              [this](const auto& a, const auto& b) { return icmp_.Compare(a.first, b.first) < 0; });
  }

  // Returns the newest visible tombstone over a key.
  [[nodiscard]] SequenceNumber DeletedBefore(const std::string& key, const Slice& as_of,
                                             SequenceNumber now) const {
    SequenceNumber newest = 0;
    for (const RangeTombstone& t : tombstones_) {
      const bool seen = t.seq <= now && icmp_.CompareTimestamp(t.timestamp, as_of) <= 0;
      if (seen && t.start <= key && key < t.end) newest = std::max(newest, t.seq);
    }
    return newest;
  }
  // Entries are in order. The value is the base, then the operands.
  [[nodiscard]] std::vector<std::string> Expected(uint64_t time, SequenceNumber now) const {
    std::map<std::string, std::vector<std::string>> standing;  // newest first
    std::set<std::string> ended;
    const std::string as_of = Stamp(time);
    for (const auto& [key, value] : entries_) {
      const std::string bare = icmp_.KeyOf(key).ToString();
      const SequenceNumber sequence = ExtractSequence(key);
      if (ended.contains(bare) || sequence > now || sequence < DeletedBefore(bare, as_of, now) ||
          icmp_.CompareTimestamp(icmp_.TimestampOf(ExtractUserKey(key)), as_of) > 0) {
        continue;
      }
      const ValueType type = ExtractValueType(key);
      if (type == kTypeValue || type == kTypeMerge) standing[bare].push_back(value);
      if (type != kTypeMerge) ended.insert(bare);
    }
    std::vector<std::string> shown;
    for (auto& [key, values] : standing) {
      std::string text = key;
      for (size_t i = values.size(); i > 0; i--) {
        text += (i == values.size() ? "" : ",") + values[i - 1];
      }
      shown.push_back(text);
    }
    return shown;
  }
  std::vector<std::string> Walk(bool forward, uint64_t time, SequenceNumber now) {
    const std::string stamp = Stamp(time);
    const Slice as_of(stamp);
    ReadOptions options;
    options.timestamp = &as_of;
    UserKeyWalk::Settings settings;
    settings.options = &options;
    settings.icmp = &icmp_;
    settings.merger = &merger_;
    TombstoneSet tombstones(icmp_);
    tombstones.SetTimestampLimit({as_of, /*inclusive=*/true});
    if (!tombstones_.empty()) tombstones.Add(FragmentedTombstones::Build(tombstones_, icmp_));
    UserKeyWalk walk;
    walk.Init(settings, &tombstones);
    walk.SetSource(std::make_unique<UncheckedList>(&entries_, &icmp_));
    walk.SetSequence(now);
    std::vector<std::string> shown;
    forward ? walk.SeekToFirst() : walk.SeekToLast();
    while (walk.Valid() && shown.size() <= 2 * entries_.size()) {
      shown.push_back(walk.key().ToString() + walk.value().ToString());
      forward ? walk.Next() : walk.Prev();
    }
    status_ = walk.status();
    if (!forward) std::reverse(shown.begin(), shown.end());
    return shown;
  }

  const InternalKeyComparator icmp_{BytewiseComparatorWithU64Ts()};
  const std::shared_ptr<MergeOperator> operator_ = MergeOperators::CreateStringAppendOperator();
  const MergeCaller merger_{operator_.get(), nullptr, nullptr};
  Entries entries_;
  std::vector<RangeTombstone> tombstones_;
  Status status_;
};

TEST_F(TimestampedKeyWalkTest, VersionsInAnyOrderAreLeaptOverBothWays) {
  testing::Random random(24);
  SequenceNumber sequence = 0;
  for (int i = 0; i < 120; i++) {
    const std::string key(1, static_cast<char>('a' + random.Below(4)));
    const uint64_t time = random.Below(kTimes);
    sequence++;
    if (random.OneIn(15)) {
      tombstones_.push_back({key, key + "~", sequence, Stamp(time)});
    } else {
      constexpr ValueType kTypes[] = {kTypeValue, kTypeMerge, kTypeMerge, kTypeMerge,
                                      kTypeDeletionWithTimestamp};
      Add(key, time, sequence, kTypes[random.Below(5)]);
    }
  }
  Sort();
  for (uint64_t time = 0; time <= kTimes; time += 3) {
    for (SequenceNumber now = 0; now <= sequence; now += 10) {
      const std::vector<std::string> expected = Expected(time, now);
      ASSERT_EQ(Walk(/*forward=*/true, time, now), expected) << time << ' ' << now;
      ASSERT_TRUE(status_.ok()) << status_.ToString();
      ASSERT_EQ(Walk(/*forward=*/false, time, now), expected) << time << ' ' << now;
      ASSERT_TRUE(status_.ok()) << status_.ToString();
    }
  }
}

TEST_F(TimestampedKeyWalkTest, AKeyOutOfOrderEndsTheWalk) {
  const auto add_many = [this](const char* key) {
    for (uint64_t i = 0; i < kVersions; i++) Add(key, kTimes - i, 100 - i, kTypeValue);
  };
  for (const uint64_t time : {uint64_t{12}, kTimes}) {
    for (const bool forward : {true, false}) {
      entries_.clear();
      if (!forward) add_many("z");
      Add("b", 1, 1, kTypeValue);
      Add("c", 1, 2, kTypeValue);
      if (forward) add_many("a");
      if (forward) Add("d", 1, 3, kTypeValue);
      const size_t shown = Walk(forward, time, /*now=*/1000).size();
      EXPECT_LE(shown, 6U) << time << forward;
      EXPECT_TRUE(status_.IsCorruption()) << time << forward << status_.ToString();
    }
  }
}

}  // namespace
}  // namespace varve
