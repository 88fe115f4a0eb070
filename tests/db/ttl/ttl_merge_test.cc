// SPDX-License-Identifier: Apache-2.0

// Goal: a merge renews its key's lifetime, and gives the same whatever compactions have merged or
// dropped of its chain before it is read, through snapshots too. Method: as ttl_test.cc; and random
// chains of a few keys, beside a model that has a list of what was written.

#include <algorithm>
#include <random>

#include "varve/convenience.h"
#include "varve/merge_operator.h"

#include "tests/db/ttl/ttl_fixture.h"

namespace varve::testing {
namespace {

class TtlMergeTest : public TtlDatabase {
 protected:
  TtlMergeTest() {
    const Status s =
        MergeOperator::CreateFromString(ConfigOptions(), "stringappend", &options_.merge_operator);
    EXPECT_TRUE(s.ok()) << s.ToString();
  }
  void Flush() { ASSERT_TRUE(ttl_->Flush(FlushOptions()).ok()); }
  // Returns the operands of a key, oldest first: "a,b".
  std::string Operands(const std::string& key) {
    std::vector<PinnableSlice> operands(10);
    GetMergeOperandsOptions options;
    options.expected_max_number_of_operands = 10;
    int count = -1;
    const Status s = ttl_->GetMergeOperands(ReadOptions(), ttl_->DefaultColumnFamily(), key,
                                            operands.data(), &options, &count);
    if (!s.ok()) return s.IsNotFound() ? "NOT_FOUND" : s.ToString();
    std::string text;
    for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + operands[i].ToString();
    return text;
  }
};

TEST_F(TtlMergeTest, RenewsTheLifetime) {
  OpenTtl(10);
  Put("k", "1");
  Pass(8);
  Merge("k", "2");
  Pass(8);
  EXPECT_EQ(Get("k"), "1,2");
  EXPECT_EQ(Operands("k"), "1,2");
  EXPECT_EQ(ScanTtl(), "k=1,2");
  // It is the operand's time that the merged value has, not that of the compaction.
  CompactAll();
  EXPECT_EQ(Get("k"), "1,2");
  Pass(3);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  EXPECT_EQ(Operands("k"), "NOT_FOUND");
}

TEST_F(TtlMergeTest, WhatWasExpiredIsNotMergedWith) {
  OpenTtl(10);
  Put("k", "1");
  Merge("k", "2");
  Pass(11);
  Merge("k", "3");
  EXPECT_EQ(Get("k"), "3");
  EXPECT_EQ(Operands("k"), "3");
  CompactAll();
  EXPECT_EQ(Get("k"), "3");
}

// The base is in the deepest level, expired by itself; the operand that keeps it is in a memtable.
TEST_F(TtlMergeTest, ACompactionLeavesTheBaseOfAChainThatLives) {
  OpenTtl(10);
  Put("k", "1");
  Put("z", "1");
  CompactAll();
  Pass(10);
  Merge("k", "2");
  Pass(5);
  CompactRangeOptions options;
  options.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  const uint32_t id = ttl_->DefaultColumnFamily()->GetID();
  ASSERT_EQ(id, 0U);
  // This compaction knows the files alone.
  std::vector<LiveFileMetaData> files;
  ttl_->GetLiveFilesMetaData(&files);
  ASSERT_EQ(files.size(), 1U);
  ASSERT_TRUE(ttl_->CompactFiles(CompactionOptions(), {files[0].name}, 6).ok());
  EXPECT_EQ(Beneath("z"), "-");
  EXPECT_EQ(Get("k"), "1,2");
  Pass(10);
  files.clear();
  ttl_->GetLiveFilesMetaData(&files);
  ASSERT_TRUE(ttl_->CompactFiles(CompactionOptions(), {files[0].name}, 6).ok());
  EXPECT_EQ(Get("k"), "NOT_FOUND");
  files.clear();
  ttl_->GetLiveFilesMetaData(&files);
  EXPECT_TRUE(files.empty());
}

TEST_F(TtlMergeTest, ALifetimeOfItsOwnIsNotCutShort) {
  OpenTtl(10);
  ASSERT_TRUE(ttl_->PutWithTtl(WriteOptions(), "k", "1", 100).ok());
  Merge("k", "2");
  Pass(50);
  EXPECT_EQ(Get("k"), "1,2");
  Merge("k", "3");
  CompactAll();
  EXPECT_EQ(Get("k"), "1,2,3");
  Pass(51);
  EXPECT_EQ(Get("k"), "NOT_FOUND");
}

TEST_F(TtlMergeTest, OperandsAreShownWithoutTimesAndCallbacksToo) {
  OpenTtl(10);
  for (const char* operand : {"a", "b", "c"}) Merge("k", operand);
  std::vector<PinnableSlice> operands(10);
  std::vector<std::string> seen;
  GetMergeOperandsOptions options;
  options.expected_max_number_of_operands = 10;
  options.continue_cb = [&](Slice operand) {
    seen.push_back(operand.ToString());
    return seen.size() < 2;
  };
  int count = -1;
  ASSERT_TRUE(ttl_->GetMergeOperands(ReadOptions(), ttl_->DefaultColumnFamily(), "k",
                                     operands.data(), &options, &count)
                  .ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"c", "b"}));
  ASSERT_EQ(count, 2);
  EXPECT_EQ(operands[0], "b");
  EXPECT_EQ(operands[1], "c");
  options.continue_cb = nullptr;
  options.expected_max_number_of_operands = 1;
  EXPECT_TRUE(ttl_->GetMergeOperands(ReadOptions(), ttl_->DefaultColumnFamily(), "k",
                                     operands.data(), &options, &count)
                  .IsIncomplete());
  EXPECT_EQ(count, 3);
}

// One write of the model. A missing value is a deletion.
struct Written {
  bool merge;
  std::string value;
  uint32_t time;
  bool deletion;
};

// Returns what a read of the key gives at a time, by the rule alone.
std::string Model(const std::vector<Written>& writes, int32_t ttl, uint32_t now) {
  std::string value;
  uint32_t time = 0;
  bool there = false;
  for (const Written& write : writes) {
    const bool lives = there && uint64_t{time} + static_cast<uint64_t>(ttl) >= write.time;
    value = write.merge && lives ? value + "," + write.value : write.value;
    there = !write.deletion;
    time = write.time;
  }
  return there && uint64_t{time} + static_cast<uint64_t>(ttl) >= now ? value : "NOT_FOUND";
}

using Histories = std::map<std::string, std::vector<Written>>;

// Returns what a scan gives at a time.
std::string ModelScan(const Histories& model, int32_t ttl, uint32_t now) {
  std::string text;
  for (const auto& [key, writes] : model) {
    const std::string value = Model(writes, ttl, now);
    if (value != "NOT_FOUND") text += (text.empty() ? "" : " ") + key + "=" + value;
  }
  return text;
}

// A snapshot shows the values, and the time, of the moment when it was taken.
struct HeldMoment {
  const Snapshot* snapshot;
  Histories model;
  uint32_t time;
};

TEST_F(TtlMergeTest, RandomChainsReadAsTheModelSays) {
  constexpr int32_t kTtl = 20;
  std::mt19937 random(7);
  OpenTtl(kTtl);
  Histories model;
  std::vector<HeldMoment> held;
  int compactions = 0;
  for (int step = 0; step < 4000; ++step) {
    const std::string key(1, static_cast<char>('a' + random() % 6));
    const auto now = static_cast<uint32_t>(clock_->now.load());
    const std::string value = std::to_string(step);
    switch (random() % 14) {
      case 0:
        Put(key, value);
        model[key].push_back({false, value, now, false});
        break;
      case 1:
        ASSERT_TRUE(ttl_->Delete(WriteOptions(), key).ok());
        model[key].push_back({false, "", now, true});
        break;
      case 2:
      case 3:
      case 4:
      case 5:
        Merge(key, value);
        model[key].push_back({true, value, now, false});
        break;
      case 6:
      case 7:
        Pass(random() % 3 == 0 ? 15 : 4);
        break;
      case 8:
        Flush();
        break;
      case 9: {
        std::vector<LiveFileMetaData> files;
        ttl_->GetLiveFilesMetaData(&files);
        if (files.size() < 2) break;
        // The deepest, whose bases have operands in other tables; or all.
        const auto deepest =
            std::max_element(files.begin(), files.end(),
                             [](const auto& a, const auto& b) { return a.level < b.level; });
        std::vector<std::string> names = {deepest->name};
        if (random() % 2 == 0) {
          names.clear();
          for (const LiveFileMetaData& file : files) names.push_back(file.name);
        }
        compactions += ttl_->CompactFiles(CompactionOptions(), names, 6).ok() ? 1 : 0;
        break;
      }
      case 10:
        if (held.size() < 3 && random() % 2 == 0) {
          held.push_back({ttl_->GetSnapshot(), model, now});
        } else if (!held.empty()) {
          ttl_->ReleaseSnapshot(held.front().snapshot);
          held.erase(held.begin());
        }
        break;
      case 11:
        for (HeldMoment& moment : held) {
          ASSERT_EQ(ScanTtl(moment.snapshot), ModelScan(moment.model, kTtl, moment.time))
              << "at step " << step;
          ASSERT_EQ(Get(key, moment.snapshot), Model(moment.model[key], kTtl, moment.time))
              << key << " at step " << step;
        }
        break;
      default:
        ASSERT_EQ(ScanTtl(), ModelScan(model, kTtl, now)) << "at step " << step;
        for (const auto& [name, writes] : model) {
          ASSERT_EQ(Get(name), Model(writes, kTtl, now)) << name << " at step " << step;
        }
    }
  }
  for (const HeldMoment& moment : held) ttl_->ReleaseSnapshot(moment.snapshot);
  EXPECT_GT(compactions, 20);
}

}  // namespace
}  // namespace varve::testing
