// SPDX-License-Identifier: Apache-2.0
#include "db/read/user_key_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "varve/comparator.h"

namespace varve {
namespace {

constexpr SequenceNumber kNow = 1000;
constexpr int kVersions = 20;  // of one key: more than are stepped over

using Entries = std::vector<std::pair<std::string, std::string>>;

// Walks a list whose order nobody checked, and seeks as if it were sorted: what a damaged table may
// come to.
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

  // What a walk shows before it ends; no more than there is, twice.
  std::string Walk(bool forward) {
    UserKeyWalk::Settings settings;
    settings.options = &options_;
    settings.icmp = &icmp_;
    TombstoneSet tombstones(icmp_);
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
  const ReadOptions options_{};
  Entries entries_;
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

}  // namespace
}  // namespace varve
