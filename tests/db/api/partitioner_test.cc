// SPDX-License-Identifier: Apache-2.0

// Goal: a partitioner decides where compactions end tables, and changes nothing else. Method: the
// tables that compactions and moves leave, beside what is read.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "varve/sst_partitioner.h"

#include "tests/harness/database.h"

namespace varve::testing {
namespace {

// Lets a test choose the answers, and records the requests.
class AskedPartitioner final : public SstPartitionerFactory {
 public:
  const char* Name() const override { return "asked"; }
  std::unique_ptr<SstPartitioner> CreatePartitioner(
      const SstPartitioner::Context& context) const override {
    if (throws_when_made) throw std::runtime_error("no partitioner");
    made++;
    EXPECT_LE(context.smallest_user_key.compare(context.largest_user_key), 0);
    was_full = context.is_full_compaction;
    was_manual = context.is_manual_compaction;
    return makes_none ? nullptr : std::make_unique<One>(this);
  }

  bool throws_when_made = false;
  bool throws_when_asked = false;
  bool makes_none = false;
  bool lets_move = true;
  mutable std::atomic<int> made{0};
  mutable std::atomic<bool> was_full{false};
  mutable std::atomic<bool> was_manual{false};

 private:
  class One final : public SstPartitioner {
   public:
    explicit One(const AskedPartitioner* of) : of_(of) {}
    const char* Name() const override { return "one"; }
    PartitionerResult ShouldPartition(const PartitionerRequest& request) override {
      if (of_->throws_when_asked) throw std::runtime_error("no answer");
      EXPECT_LT(request.prev_user_key->compare(*request.current_user_key), 0);
      return (*request.prev_user_key)[0] != (*request.current_user_key)[0] ? kRequired
                                                                           : kNotRequired;
    }
    bool CanDoTrivialMove(const Slice&, const Slice&) override { return of_->lets_move; }

   private:
    const AskedPartitioner* const of_;
  };
};

class PartitionerTest : public Database {
 protected:
  void SetUp() override { options_.disable_auto_compactions = true; }
  // Returns the first bytes of the bounds of each table, "aa bc", by their order.
  std::string Bounds() {
    std::vector<LiveFileMetaData> files;
    db()->GetLiveFilesMetaData(&files);
    std::vector<std::string> bounds;
    for (const LiveFileMetaData& file : files) {
      bounds.push_back(file.smallestkey.substr(0, 1) + file.largestkey.substr(0, 1));
    }
    std::sort(bounds.begin(), bounds.end());
    std::string text;
    for (const std::string& each : bounds) text += (text.empty() ? "" : " ") + each;
    return text;
  }
  Status CompactAll() { return db()->CompactRange(CompactRangeOptions(), nullptr, nullptr); }
  void MakeTwoTables() {
    MakeTable({"a1", "a2", "b1", "c1"});
    MakeTable({"a2", "a3", "c1", "c2"});
  }
};

TEST_F(PartitionerTest, TablesEndWherePrefixesDo) {
  options_.sst_partitioner_factory = NewSstPartitionerFixedPrefixFactory(1);
  EXPECT_STREQ(options_.sst_partitioner_factory->Name(), "SstPartitionerFixedPrefixFactory");
  Open();
  const Snapshot* const snapshot = db()->GetSnapshot();
  MakeTwoTables();
  Put("a2", "newest");
  Flush();
  const std::string before = Scan();
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(Bounds(), "aa bb cc");
  EXPECT_EQ(Scan(), before);
  db()->ReleaseSnapshot(snapshot);
  // The tables are partitioned already now, and a range deletion crosses borders.
  ASSERT_TRUE(db()->DeleteRange(WriteOptions(), Handle("default"), Slice("a3"), Slice("c15")).ok());
  Put("b0", "1");
  Flush();
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(Bounds(), "aa bb cc");
  EXPECT_EQ(Get("b1"), "NOT_FOUND");
  EXPECT_EQ(Get("b0"), "1");
  EXPECT_EQ(Get("c2").empty(), false);
  EXPECT_TRUE(db()->VerifyChecksum().ok());
}

TEST_F(PartitionerTest, KeysShorterThanThePrefixAreTheirOwn) {
  const auto factory = NewSstPartitionerFixedPrefixFactory(2);
  const auto partitioner = factory->CreatePartitioner(SstPartitioner::Context());
  const auto ends = [&](const Slice& before, const Slice& key) {
    return partitioner->ShouldPartition(PartitionerRequest(before, key, 0)) == kRequired;
  };
  EXPECT_TRUE(ends("a", "ab"));
  EXPECT_FALSE(ends("ab", "abc"));
  EXPECT_TRUE(ends("", "a"));
  EXPECT_TRUE(partitioner->CanDoTrivialMove("ab1", "ab2"));
  EXPECT_FALSE(partitioner->CanDoTrivialMove("ab1", "ac2"));
}

TEST_F(PartitionerTest, AMoveIsACompactionWhereItMustBe) {
  for (const bool lets_move : {true, false}) {
    auto asked = std::make_shared<AskedPartitioner>();
    asked->lets_move = lets_move;
    options_.sst_partitioner_factory = asked;
    Open();
    MakeTable({"a1", "b1", "c1"});
    ASSERT_TRUE(db()->CompactFiles(CompactionOptions(), Files(kTableFile), 1).ok());
    EXPECT_TRUE(asked->was_full && asked->was_manual);
    const std::vector<std::string> at_one = Files(kTableFile);
    EXPECT_EQ(Bounds(), "aa bb cc");  // from L0 it is no move
    CompactionOptions may_move;
    may_move.allow_trivial_move = true;
    ASSERT_TRUE(db()->CompactFiles(may_move, at_one, 3).ok());
    EXPECT_EQ(Levels(), "0,0,0,3");
    EXPECT_EQ(Files(kTableFile) == at_one, lets_move);
    EXPECT_EQ(Bounds(), "aa bb cc");
    EXPECT_EQ(Get("b1").empty(), false);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

// L0 to the base level is a move, if the partitioner agrees.
TEST_F(PartitionerTest, BackgroundMovesAskToo) {
  for (const bool lets_move : {true, false}) {
    auto asked = std::make_shared<AskedPartitioner>();
    asked->lets_move = lets_move;
    options_.sst_partitioner_factory = asked;
    options_.disable_auto_compactions = false;
    options_.level0_file_num_compaction_trigger = 1;
    Open();
    MakeTable({"a1", "b1"});
    MakeTable({"c1", "d1"});
    ASSERT_TRUE(db()->WaitForCompact(WaitForCompactOptions()).ok());
    EXPECT_EQ(Bounds(), lets_move ? "ab cd" : "aa bb cc dd");
    EXPECT_EQ(Get("d1").empty(), false);
    ASSERT_TRUE(Close().ok());
    ASSERT_TRUE(DestroyDB(kName, options_).ok());
  }
}

TEST_F(PartitionerTest, WhatMayNotMoveLeavesTablesBetweenAlone) {
  auto asked = std::make_shared<AskedPartitioner>();
  asked->lets_move = false;
  options_.sst_partitioner_factory = asked;
  options_.level0_file_num_compaction_trigger = 1;
  Open();
  MakeTable({"a5"});
  ASSERT_TRUE(CompactAll().ok());
  MakeTable({"a1"});
  MakeTable({"a9"});
  ASSERT_TRUE(db()->SetOptions({{"disable_auto_compactions", "false"}}).ok());
  const Status s = db()->WaitForCompact(WaitForCompactOptions());
  ASSERT_TRUE(s.ok()) << s.ToString();
  EXPECT_EQ(Levels(), "0,0,0,0,0,0,3");
  Put("a7", "later");
}

TEST_F(PartitionerTest, OneThatThrowsOrIsNotThereLosesNothing) {
  auto asked = std::make_shared<AskedPartitioner>();
  options_.sst_partitioner_factory = asked;
  Open();
  MakeTwoTables();
  const std::string before = Scan();
  asked->makes_none = true;
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(Bounds(), "ac");
  asked->makes_none = false;
  MakeTable({"b2"});
  asked->throws_when_asked = true;
  EXPECT_FALSE(CompactAll().ok());
  asked->throws_when_asked = false;
  asked->throws_when_made = true;
  EXPECT_FALSE(CompactAll().ok());
  asked->throws_when_made = false;
  Reopen();
  ASSERT_TRUE(CompactAll().ok());
  EXPECT_EQ(Bounds(), "aa bb cc");
  EXPECT_EQ(Get("b2").empty(), false);
  EXPECT_EQ(Get("a1").empty(), false);
}

}  // namespace
}  // namespace varve::testing
